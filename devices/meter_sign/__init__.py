"""The meter sign: its messages, its driver, and what is known of it."""
