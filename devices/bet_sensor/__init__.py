"""A seat's bet sensor: its messages, its driver, and its known state."""
