"""Irregularities as rows: trigger, phases and conditions, and what the rule then orders. The lookup is elsewhere."""

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
    Finding,
    Outcome,
    Phase,
    Role,
    Scope,
    ShufflerFact,
    StartFact,
    Trigger,
)


class Facts(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What the core knows of the table at the moment of a trigger: the whole vocabulary that rows may ask about."""

    dealing: DealingName  # the dealing method of this round
    # The shuffler in use when the deck was last shuffled, also if it has failed since; counting: after every shuffle.
    shuffler: ShufflerFact
    start: StartFact = "fixed"  # how this round's starting position was found; fixed: always the far left
    device: DeviceFact | None = None  # the kind of device that the trigger names
    # Whether the round in play has or gets its cards from the deck that the trigger names (or that the device holds).
    # The deck that is being prepared is `other`; so is every deck while no round is in play (idle, complete).
    deck: DeckFact = "in_play"
    # What the dealer found after stub_wrong: whether a hand has a wrong number of cards, and whether hands, replacement
    # card, stub and discards together make a whole deck. None: not looked at yet.
    finding: Finding | None = None
    # Whether every player has decided: raised or folded in 687a, over, under or surrender in 686a. Elsewhere: open.
    decisions: DecisionFact = "open"


class Conditions(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """When a row holds: every condition given must hold; a list holds when the fact is one of it. Empty: always."""

    dealing: tuple[DealingName, ...] = ()
    shuffler: tuple[ShufflerFact, ...] = ()
    start: tuple[StartFact, ...] = ()
    device: tuple[DeviceFact, ...] = ()
    deck: tuple[DeckFact, ...] = ()
    finding: tuple[Finding, ...] = ()
    decisions: tuple[DecisionFact, ...] = ()
    hand_deal_over: bool = False  # true: not while the cards are being dealt from the hand (phase and dealing say so)

    def hold(self, phase: str, facts: Facts) -> bool:
        """Return whether all of them hold."""
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
    """One answer that the decider may give, and what it orders."""

    name: str
    outcomes: tuple[Outcome, ...]


class Number(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A number that a row speaks of: a reference into the edition, so that it is written in one place only."""

    name: str
    at: str
    value: int = 0  # filled in when the edition is loaded


class Row(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """One irregularity. A row with `adds` adds to the row that governs; all others exclude one another."""

    id: str  # the clause's id; of merged clauses (X3) the first; chapter:reading where a reading alone orders it
    trigger: Trigger
    also: tuple[Trigger, ...] = ()  # other names under which the same case may be told, and this row governs (X4)
    from_phase: Phase | Literal["any"]
    until_phase: Phase | Literal["any"]  # inclusive
    when: Conditions = Conditions()
    outcomes: tuple[Outcome, ...]  # in the order in which they are carried out
    scope: Scope
    decides: Decider = "rule"
    stop: bool = False  # the round stands still until the decision is there
    choices: tuple[Choice, ...] = ()  # what the decider may answer
    acknowledges: Role
    evidence: tuple[Evidence, ...]
    order: int = 1  # among rows of one trigger
    adds: bool = False
    numbers: tuple[Number, ...] = ()
    clauses: tuple[str, ...] = ()  # the clauses with an outcome that this row carries; empty: a reading alone
    see: tuple[str, ...] = ()  # readings
