"""Tests: unit, wire (golden bytes), scenario (driver over the transport ladder), crash (processes that die)."""
