"""The code of DJ Wild Stud Poker: its hands, house way if it has one, settlement, payback and posted rules."""
