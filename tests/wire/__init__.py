"""Tests of the bytes on the wire: golden bytes, and decoders given malformed input."""
