"""The code of Over/Under: its hands, settlement, payback and posted rules."""
