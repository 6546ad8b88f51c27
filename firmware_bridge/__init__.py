"""Bytes: framing, the reliable authenticated link, transports and capture. Knows no cards."""
