"""The meter sign: its messages, its driver, and its known state."""
