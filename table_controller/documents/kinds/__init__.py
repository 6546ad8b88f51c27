"""The kinds of documents, each in its own module."""
