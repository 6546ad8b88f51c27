"""What `verify_export.py` checks, subject by subject. Python's standard library alone, and none of the box's code."""
