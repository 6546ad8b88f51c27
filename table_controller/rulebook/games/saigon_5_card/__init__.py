"""The code of Saigon 5 Card: its hands, house way if it has one, settlement, payback and posted rules."""
