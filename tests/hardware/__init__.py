"""Tests that need what most computers lack: skipped unless it is there."""
