"""Simulated machines for bench and tests: their firmware, the physical world, ports, whole tables, and the demo."""
