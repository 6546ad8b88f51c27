"""The code of Face Up Pai Gow Poker: its hands, house way if it has one, settlement, payback and posted rules."""
