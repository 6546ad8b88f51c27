"""Transports for bytes: serial ports, USB, and memory."""
