"""The dealer's keypad: its messages, its driver, and what is known of it."""
