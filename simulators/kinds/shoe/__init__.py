"""The simulated dealing shoe: mechanics, firmware and machine."""
