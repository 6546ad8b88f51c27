"""The simulated dice shaker: mechanics, firmware and machine."""
