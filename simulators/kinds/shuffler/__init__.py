"""The simulated shuffler: mechanics, firmware and machine."""
