"""Over/Under (chapter 686a)."""
