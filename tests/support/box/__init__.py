"""Support for tests of the running box."""
