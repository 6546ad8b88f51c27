"""Where a twin is plugged in: a pty with a stable name, or a pipe in memory."""
