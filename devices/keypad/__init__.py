"""The dealer's keypad: its messages, its driver, and its known state."""
