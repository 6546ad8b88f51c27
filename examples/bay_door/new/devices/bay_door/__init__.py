"""The bay door: its messages, its driver, and what is known of it."""
