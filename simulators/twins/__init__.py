"""Firmware twins: what the firmware of each machine does, byte for byte. They see sensors, never the world's truth."""
