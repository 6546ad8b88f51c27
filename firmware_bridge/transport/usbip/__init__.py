"""USB over TCP by the USB/IP protocol, as a client: its packets, one connection, a pyusb backend. No server here."""
