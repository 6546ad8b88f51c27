"""The flat button: its messages, its driver, and what is known of it."""
