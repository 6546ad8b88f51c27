"""The controller of one table. So far: the command line and the catalogue of error codes."""
