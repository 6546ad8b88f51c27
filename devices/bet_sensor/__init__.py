"""A seat's bet sensor: its messages, its driver, and what is known of it."""
