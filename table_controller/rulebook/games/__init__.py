"""One folder per game: its hands, its house way, how its wagers are settled, and what they pay back."""
