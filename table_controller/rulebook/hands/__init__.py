"""What hands are worth, game by game: pure functions from cards. What is paid for them is `settlement`'s."""
