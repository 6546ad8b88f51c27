"""The table core: pure state machines. `Table.step(event)` returns decisions.

It does no I/O, reads no clock and uses no randomness.
"""
