"""Asia Poker (chapter 575)."""
