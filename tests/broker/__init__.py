"""Tests of the uplink with a real Mosquitto broker."""
