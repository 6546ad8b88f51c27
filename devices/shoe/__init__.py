"""The dealing shoe: its messages, its driver, and its known state."""
