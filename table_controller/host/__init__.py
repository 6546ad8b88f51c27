"""The box as a process on a computer: start and stop, log, metrics, status, self-check, folders."""
