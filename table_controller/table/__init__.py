"""The table core: pure state machines. `step(event)` gives decisions.

No I/O, no clock, no randomness, no devices' bytes.
"""
