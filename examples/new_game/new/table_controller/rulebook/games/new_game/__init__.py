"""The code of the example game: its hands, settlement, payback and posted rules."""
