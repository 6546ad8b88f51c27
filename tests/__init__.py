"""Tests: unit, wire (golden bytes), scenario, crash (killed processes), broker (MQTT), browser, hardware."""
