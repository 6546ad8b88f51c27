"""The simulated keypad: mechanics, firmware and machine."""
