"""The flat button: its messages, its driver, and its known state."""
