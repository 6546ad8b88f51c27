"""Simulated machines for bench and tests: firmware twins, the physical world below them, hosts, and the demo."""
