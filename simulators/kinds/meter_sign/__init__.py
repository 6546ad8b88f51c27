"""The simulated meter sign: mechanics, firmware and machine."""
