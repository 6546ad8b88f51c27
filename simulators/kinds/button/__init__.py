"""The simulated button: mechanics, firmware and machine."""
