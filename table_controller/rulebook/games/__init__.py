"""The code of the games, a folder for each: hands, house way, settlement, payback, posted rules."""
