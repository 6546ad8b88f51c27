"""The physical world: cards, chips and dice with exactly one place each, and the card path that moves cards."""
