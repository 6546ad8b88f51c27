"""Requirements on each kind of machine: one module for each kind, found by its name.

Each has PROFILE (what the requirements on every machine need of the kind) and CHAPTER (its own requirements).
"""
