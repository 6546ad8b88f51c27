"""The code of Asia Poker: its hands, house way if it has one, settlement, payback and posted rules."""
