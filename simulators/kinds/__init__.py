"""Simulated machines by kind: mechanics, firmware, and the whole machine with the hands around it."""
