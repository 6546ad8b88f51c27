"""The journal: the durable, hash-chained log of every event and decision of one table, and its recovery."""
