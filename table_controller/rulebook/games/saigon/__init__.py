"""Saigon 5 Card (chapter 680a)."""
