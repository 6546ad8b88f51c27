"""What every simulated machine runs on: virtual time, device clock, faults, hosts, control."""
