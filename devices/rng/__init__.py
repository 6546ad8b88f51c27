"""The number generator: its messages, its driver, and its known state."""
