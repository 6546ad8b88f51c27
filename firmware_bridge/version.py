"""The version of pitbox, alone in a file so that printing it imports nothing else."""

VERSION = "0.1.0"
