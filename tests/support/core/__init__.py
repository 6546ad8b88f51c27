"""Support for tests of the table core."""
