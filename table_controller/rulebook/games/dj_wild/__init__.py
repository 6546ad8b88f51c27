"""DJ Wild Stud Poker (chapter 687a)."""
