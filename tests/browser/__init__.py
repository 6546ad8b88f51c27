"""Tests of the panel in a real browser."""
