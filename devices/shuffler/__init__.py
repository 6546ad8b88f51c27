"""The card shuffler: its messages, its driver, and its known state."""
