"""Shows and scenarios that join simulated machines with the real drivers."""
