"""Tests that kill processes, cut power and lose disks."""
