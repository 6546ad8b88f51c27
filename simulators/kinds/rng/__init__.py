"""The simulated number generator: mechanics, firmware and machine."""
