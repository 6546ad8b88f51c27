"""The conformance kit: checks a device at a port, real or simulated, against requirements with stable ids.

`protocol` has the requirements on every machine, `kinds` those on each kind; `runner` checks them, `report` writes the
report.
"""
