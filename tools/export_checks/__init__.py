"""The checks of `verify_export.py`, by subject. Uses only Python's standard library and no code of the box."""
