"""Every combination of facts that a table of a game can have: the cases of its irregularities."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, get_args

from table_controller.rulebook.irregularity_rows import Facts
from table_controller.rulebook.validation import decision_facts
from table_controller.rulebook.vocabulary import (
    DeckFact,
    DeviceFact,
    ShufflerFact,
    StartFact,
    StubFinding,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from table_controller.rulebook.schema import Edition


def all_facts(edition: Edition) -> Iterator[Facts]:
    """Yield every combination of facts possible at a table of this game."""
    starts: tuple[StartFact, ...] = tuple(start.name for start in edition.starts) or ("fixed",)
    findings: tuple[StubFinding | None, ...] = (None, *get_args(StubFinding))
    devices: tuple[DeviceFact | None, ...] = (None, *get_args(DeviceFact))
    shufflers: tuple[ShufflerFact, ...] = get_args(ShufflerFact)
    decks: tuple[DeckFact, ...] = get_args(DeckFact)
    methods = [method.name for method in edition.deal.methods]
    for dealing, shuffler, start, device, deck, finding, decisions in product(
        methods, shufflers, starts, devices, decks, findings, decision_facts(edition)
    ):
        yield Facts(dealing=dealing, shuffler=shuffler, start=start, device=device, deck=deck, finding=finding,
                    decisions=decisions)  # fmt: skip
