"""The code of DJ Wild Stud Poker: its hands, settlement, payback and posted rules."""
