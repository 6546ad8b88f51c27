"""Tests that go through the chapters clause by clause; what they share is in tests/support."""
