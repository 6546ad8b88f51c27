"""What tests share: running coroutines, a bench with one machine, the ladder of transports. No tests here."""
