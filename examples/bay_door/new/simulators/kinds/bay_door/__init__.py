"""The simulated bay door: mechanics, firmware and machine."""
