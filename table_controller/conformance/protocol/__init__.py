"""What is asked of every machine, a module for each part of docs/protocol.md. What a kind does is in `kinds`."""
