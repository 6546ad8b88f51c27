"""The dealing shoe: what it says, how it is commanded, what is known of it."""
