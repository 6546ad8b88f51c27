"""Irregularities as rows: trigger, phases and conditions, and the outcomes that the rule orders."""

from __future__ import annotations

from typing import Literal

import msgspec

from table_controller.rulebook.vocabulary import (
    DealingName,
    Decider,
    DecisionFact,
    DeckFact,
    DeviceFact,
    Evidence,
    Outcome,
    Phase,
    Role,
    Scope,
    ShufflerFact,
    StartFact,
    StubFinding,
    Trigger,
)


class Facts(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """The facts of the table at the moment of a trigger, which the conditions of rows use."""

    dealing: DealingName  # the dealing method of this round
    # The shuffler that last shuffled the deck, even if it has failed since; counting: it counts after every shuffle.
    shuffler: ShufflerFact
    start: StartFact = "fixed"  # how this round's starting position was found; fixed: always the far left
    device: str | None = None  # the kind of device that the trigger names; a table may have kinds that no row names
    # Whether the current round is dealt from the deck that the trigger names (or that the device holds). A deck being
    # prepared is `other`; so is every deck while no round is in play (idle, complete).
    deck: DeckFact = "in_play"
    # What the dealer found after stub_wrong: whether a hand has a wrong number of cards, and whether hands, replacement
    # card, stub and discards make a complete deck. None: not checked yet.
    finding: StubFinding | None = None
    # Whether every player has decided: raised or folded in 687a, over, under or surrender in 686a. Elsewhere: open.
    decisions: DecisionFact = "open"


class Conditions(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """When a row applies: every given condition must be met; a list is met if it contains the fact. Empty: always."""

    dealing: tuple[DealingName, ...] = ()
    shuffler: tuple[ShufflerFact, ...] = ()
    start: tuple[StartFact, ...] = ()
    device: tuple[DeviceFact, ...] = ()
    deck: tuple[DeckFact, ...] = ()
    finding: tuple[StubFinding, ...] = ()
    decisions: tuple[DecisionFact, ...] = ()
    hand_deal_over: bool = False  # true: does not apply while cards are dealt from the hand

    def are_met(self, phase: str, facts: Facts) -> bool:
        """Return whether all conditions are met."""
        return (
            (not self.dealing or facts.dealing in self.dealing)
            and (not self.shuffler or facts.shuffler in self.shuffler)
            and (not self.start or facts.start in self.start)
            and (not self.device or facts.device in self.device)
            and (not self.deck or facts.deck in self.deck)
            and (not self.finding or facts.finding in self.finding)
            and (not self.decisions or facts.decisions in self.decisions)
            and not (self.hand_deal_over and phase == "dealing" and facts.dealing == "hand")
        )


class Choice(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One possible answer of the decider, and its outcomes."""

    name: str
    outcomes: tuple[Outcome, ...]


class NumberReference(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A number that a row uses: a reference into the edition, so that it is written only once."""

    name: str
    at: str
    value: int = 0  # filled in when the edition is loaded


class IrregularityRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """One irregularity. A row with `adds` adds to the governing row; all other rows exclude one another."""

    id: str  # the clause's id, the first of merged clauses (X3), or chapter:reading if only a reading orders it
    trigger: Trigger
    also: tuple[Trigger, ...] = ()  # other triggers that report the same case (X4)
    from_phase: Phase | Literal["any"]
    until_phase: Phase | Literal["any"]  # inclusive
    when: Conditions = Conditions()
    outcomes: tuple[Outcome, ...]  # in order of execution
    scope: Scope
    decides: Decider = "rule"
    stop: bool = False  # the round stops until the decision
    choices: tuple[Choice, ...] = ()  # the decider's possible answers
    acknowledges: Role
    evidence: tuple[Evidence, ...]
    order: int = 1  # among rows of one trigger
    adds: bool = False
    numbers: tuple[NumberReference, ...] = ()
    clauses: tuple[str, ...] = ()  # the clauses whose outcome this row carries out; empty: only a reading
    see: tuple[str, ...] = ()  # readings
