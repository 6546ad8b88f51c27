"""Shared test support, in folders by subject."""
