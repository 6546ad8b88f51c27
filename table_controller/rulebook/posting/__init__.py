"""The posting of a table: its wagers, odds, payout limit and special rules, from the data that settles."""
