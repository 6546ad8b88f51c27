"""Ranking of hands, shared by the games."""
