"""Requirements on every machine, one module for each part of docs/protocol.md."""
