"""Tests that need parts that most computers lack; skipped without them."""
