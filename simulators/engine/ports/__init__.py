"""Ports for simulated machines: a pty with a stable name, a pipe in memory, or a USB device."""
