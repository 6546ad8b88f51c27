"""The commands of `pitbox`, one module each."""
