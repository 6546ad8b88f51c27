"""Exact books, double entry: the cards of the decks and the money of the meter. Pure; knows no device."""
