"""How much a long proof tries: its own count in `make proof`, many times that in `make marathon`. No tests here."""

from __future__ import annotations

import os
from typing import Final

# How many times the count of `make proof`; set by `make marathon`.
FACTOR: Final = int(os.environ.get("PITBOX_MARATHON", "1"))


def many(count: int) -> int:
    """Return how many cases to try, of a proof that tries so many in `make proof`."""
    return count * FACTOR
