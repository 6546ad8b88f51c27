"""What can be found out about machines afterwards, from what they said: statistics. No device is asked here."""
