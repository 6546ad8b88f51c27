"""The journal: what happened, in order, on disk, chained by hash. Bytes only: it cannot read what records say."""
