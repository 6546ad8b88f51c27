"""Support for tests of frames, links and captures."""
