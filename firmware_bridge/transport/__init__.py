"""Ways for bytes to travel: serial, USB and memory. What the bytes mean is not known here."""
