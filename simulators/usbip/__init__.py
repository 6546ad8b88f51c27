"""Simulated USB devices and the USB/IP server that exports them on loopback."""
