"""Renames modules and names all over the tree, by the maps in `maps/`. See `python -m tools.rename --help`."""
