"""The conformance kit: requirements with stable ids, checked on whatever answers at a port. No simulator is known here.

`protocol` holds what is asked of every machine, `kinds` what is asked of each kind; `runner` checks and `report` tells.
"""
