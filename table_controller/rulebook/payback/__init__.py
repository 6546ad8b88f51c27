"""Expected paybacks, computed from the rules, to compare with the published ones."""
