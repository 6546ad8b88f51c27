"""The code of Over/Under: its hands, house way if it has one, settlement, payback and posted rules."""
