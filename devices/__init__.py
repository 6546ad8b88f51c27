"""One folder per kind of machine, each with the files messages, driver and state."""
