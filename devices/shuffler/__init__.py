"""The card shuffler: its messages, its driver, and what is known of it."""
