"""USB over TCP: a USB/IP client with its packets, one connection, and a pyusb backend."""
