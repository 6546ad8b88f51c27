"""Face Up Pai Gow Poker (chapter 688a)."""
