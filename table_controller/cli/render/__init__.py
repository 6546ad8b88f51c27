"""Text and pictures that the commands print."""
