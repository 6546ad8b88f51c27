"""What is asked of each kind of machine besides the protocol: one module a kind, found by its name.

Each has PROFILE (what the requirements of every machine must know of the kind) and CHAPTER (its own requirements).
"""
