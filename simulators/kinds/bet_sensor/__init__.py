"""The simulated bet sensor: mechanics, firmware and machine."""
