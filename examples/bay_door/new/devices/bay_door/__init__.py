"""The bay door: its messages, its driver, and its known state."""
