"""One module per kind of simulated machine: its world, mechanics, firmware and the hands around it, put together."""
