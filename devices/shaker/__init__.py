"""The dice shaker: its messages, its driver, and what is known of it."""
