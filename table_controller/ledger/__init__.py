"""Exact double-entry books: the cards of the decks and the money of the meter."""
