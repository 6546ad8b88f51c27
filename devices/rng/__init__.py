"""The number generator: its messages, its driver, and what is known of it."""
