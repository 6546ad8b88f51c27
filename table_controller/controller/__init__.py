"""Joins devices, core, journal and people. So far: the slots of a table. Rules and money are not here."""
