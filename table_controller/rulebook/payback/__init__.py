"""Expected paybacks from the rules alone, to be laid beside the published ones. Nothing of a round in play is here."""
