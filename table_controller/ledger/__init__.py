"""Exact books, double entry: the cards of the decks (and, to come, the money of the meters). Pure; knows no device."""
