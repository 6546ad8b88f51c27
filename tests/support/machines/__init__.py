"""Support for tests of simulated machines."""
