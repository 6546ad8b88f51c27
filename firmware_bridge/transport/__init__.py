"""Ways for bytes to travel: serial and memory. What the bytes mean is not known here."""
