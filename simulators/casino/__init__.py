"""Simulated casino tables with the real box: people, faults, checkers, demo, incidents and soak."""
