"""What technicians use: fault reports, return to service, test mode, wear, enrollment, doctor."""
