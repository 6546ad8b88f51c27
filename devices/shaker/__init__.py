"""The dice shaker: its messages, its driver, and its known state."""
