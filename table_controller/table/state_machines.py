"""The state machines of a table: which state follows which trigger.

Synchronous `transitions` without automatic transitions, ignored triggers or callbacks; a model is any struct with a
`state` field.
"""

from __future__ import annotations

import logging
from typing import Any, Final

from transitions import Machine, MachineError

from devices import service

# It warns about every convenience method that it does not bind.
logging.getLogger("transitions.core").setLevel(logging.ERROR)

# --- the round -------------------------------------------------------------------------------------------------------

IDLE: Final = "idle"
BETTING: Final = "betting"
NO_MORE_BETS: Final = "no_more_bets"
LOCKED: Final = "locked"
STARTING_POSITION: Final = "starting_position"
DEALING: Final = "dealing"
STUB_CHECK: Final = "stub_check"
PLAYING: Final = "playing"
SETTLING: Final = "settling"
COMPLETE: Final = "complete"
VOID: Final = "void"

ROUND_STATES: Final = (
    IDLE, BETTING, NO_MORE_BETS, LOCKED, STARTING_POSITION, DEALING, STUB_CHECK, PLAYING, SETTLING, COMPLETE, VOID,
)  # fmt: skip
# The states in which a round is under way and an irregularity can void it.
UNDER_WAY: Final = (BETTING, NO_MORE_BETS, LOCKED, STARTING_POSITION, DEALING, STUB_CHECK, PLAYING, SETTLING)

ROUND_TRANSITIONS: Final = [
    ["open", IDLE, BETTING],
    ["close", BETTING, NO_MORE_BETS],
    ["lock", NO_MORE_BETS, LOCKED],  # bets latched, chips verified, seats entered
    ["find_start", LOCKED, STARTING_POSITION],
    ["deal", LOCKED, DEALING],
    ["deal", STARTING_POSITION, DEALING],
    ["check_stub", DEALING, STUB_CHECK],
    ["play", DEALING, PLAYING],  # games without a stub check
    ["play", STUB_CHECK, PLAYING],
    ["settle", PLAYING, SETTLING],
    ["finish", SETTLING, COMPLETE],
    ["reopen", COMPLETE, SETTLING],  # an error is reported before the cards are collected
    *(["void", state, VOID] for state in UNDER_WAY),
    ["end", COMPLETE, IDLE],
    ["end", VOID, IDLE],
]

# --- a deck (or a batch of six) ---------------------------------------------------------------------------------------

RECEIVED: Final = "received"
INSPECTED: Final = "inspected"
SHOWN: Final = "shown"
STACKED: Final = "stacked"  # waits for its shuffle
IN_DEVICE: Final = "in_device"
SHUFFLED: Final = "shuffled"  # waits for its cut
READY: Final = "ready"  # shuffled, and cut where it must be
IN_PLAY: Final = "in_play"
RACK: Final = "rack"
HELD: Final = "held"  # not dealt until a floorperson acts
REMOVED: Final = "removed"

DECK_STATES: Final = (
    RECEIVED, INSPECTED, SHOWN, STACKED, IN_DEVICE, SHUFFLED, READY, IN_PLAY, RACK, HELD, REMOVED,
)  # fmt: skip
_AT_THE_TABLE: Final = tuple(state for state in DECK_STATES if state != REMOVED)

DECK_TRANSITIONS: Final = [
    # Opening.
    ["inspect", RECEIVED, INSPECTED],
    ["show", INSPECTED, SHOWN],
    ["stack", SHOWN, STACKED],
    ["preshuffled", RECEIVED, SHUFFLED],
    # Shuffle and cut. A deck that left the machine unshuffled, or must be shuffled again, is a stack.
    ["insert", STACKED, IN_DEVICE],
    ["insert", RACK, IN_DEVICE],
    ["verify", IN_DEVICE, READY],
    ["verify_uncut", IN_DEVICE, SHUFFLED],
    ["hand_shuffle", STACKED, SHUFFLED],
    ["hand_shuffle", RACK, SHUFFLED],
    ["cut", SHUFFLED, READY],
    ["recut", READY, SHUFFLED],
    *(["take_out", state, STACKED] for state in (IN_DEVICE, SHUFFLED, READY, RACK)),
    # Play.
    ["use", READY, IN_PLAY],
    ["collect", IN_PLAY, RACK],
    # An idle table: the cards are spread for players or, where the regulation requires it, inspected again.
    *(["spread", state, INSPECTED] for state in (STACKED, SHUFFLED, READY, RACK)),
    *(["open_again", state, RECEIVED] for state in (STACKED, SHUFFLED, READY, RACK, IN_PLAY)),
    # A wrong deck. Once released it is a stack: it must be shuffled before it is dealt.
    *(["hold", state, HELD] for state in _AT_THE_TABLE),
    ["release", HELD, STACKED],
    *(["remove", state, REMOVED] for state in _AT_THE_TABLE),
]

# --- the progressive bets of a round ----------------------------------------------------------------------------------

CLOSED: Final = "closed"
OPEN: Final = "open"
LOCKING: Final = "locking"
BETS_LOCKED: Final = "locked"
COLLECTED: Final = "collected"
VERIFIED: Final = "verified"

PROGRESSIVE_STATES: Final = (CLOSED, OPEN, LOCKING, BETS_LOCKED, COLLECTED, VERIFIED)
PROGRESSIVE_TRANSITIONS: Final = [
    ["open", CLOSED, OPEN],
    ["lock", OPEN, LOCKING],
    ["latched", LOCKING, BETS_LOCKED],  # every seat confirmed, or a floorperson decided
    ["collect", BETS_LOCKED, COLLECTED],
    ["verify", COLLECTED, VERIFIED],  # chips = bets
    ["recount", COLLECTED, BETS_LOCKED],
    *(["settle", state, CLOSED] for state in (LOCKING, BETS_LOCKED, COLLECTED, VERIFIED)),
    ["settle", OPEN, CLOSED],
]

# --- a hit of the progressive -----------------------------------------------------------------------------------------

HIT_CLAIMED: Final = "claimed"  # its amount has left the meter
HIT_CONFIRMED: Final = "hand_confirmed"
HIT_LIGHT_SEEN: Final = "light_seen"
HIT_VALIDATED: Final = "validated"  # by a floorperson
HIT_PAID: Final = "paid"  # from the table
HIT_HAND_PAY: Final = "hand_pay"  # the cards stay on the table
HIT_DOCUMENTED: Final = "documented"
HIT_WITHDRAWN: Final = "withdrawn"
# Why a meter is closed to play.
BY_PEOPLE: Final = "people"
UNREASONABLE: Final = "unreasonable"

HIT_STATES: Final = (
    HIT_CLAIMED, HIT_CONFIRMED, HIT_LIGHT_SEEN, HIT_VALIDATED, HIT_PAID, HIT_HAND_PAY, HIT_DOCUMENTED, HIT_WITHDRAWN,
)  # fmt: skip
# Not validated yet: a person's answer can withdraw the claim.
HIT_UNVALIDATED: Final = (HIT_CLAIMED, HIT_CONFIRMED, HIT_LIGHT_SEEN)
# Not paid yet.
HIT_OPEN: Final = (HIT_CLAIMED, HIT_CONFIRMED, HIT_LIGHT_SEEN, HIT_VALIDATED, HIT_HAND_PAY)
HIT_TRANSITIONS: Final = [
    ["confirm", HIT_CLAIMED, HIT_CONFIRMED],
    ["see_light", HIT_CONFIRMED, HIT_LIGHT_SEEN],
    ["validate", HIT_LIGHT_SEEN, HIT_VALIDATED],
    ["pay", HIT_VALIDATED, HIT_PAID],
    ["hand_pay", HIT_VALIDATED, HIT_HAND_PAY],
    ["document", HIT_HAND_PAY, HIT_DOCUMENTED],
    *(["withdraw", state, HIT_WITHDRAWN] for state in HIT_OPEN),  # the claim was wrong, or the round is void
    ["take_back", HIT_PAID, HIT_WITHDRAWN],  # the round is void
    *(["revalidate", state, HIT_LIGHT_SEEN] for state in (HIT_VALIDATED, HIT_HAND_PAY)),  # its amount changed
]


def _machine(states: tuple[str, ...], transitions: list[list[str]]) -> Machine:
    return Machine(
        model=None,
        states=list(states),
        transitions=transitions,
        initial=states[0],
        auto_transitions=False,
        ignore_invalid_triggers=False,
        send_event=False,
    )


ROUND: Final = _machine(ROUND_STATES, ROUND_TRANSITIONS)
DECK: Final = _machine(DECK_STATES, DECK_TRANSITIONS)
PROGRESSIVE: Final = _machine(PROGRESSIVE_STATES, PROGRESSIVE_TRANSITIONS)
HIT: Final = _machine(HIT_STATES, HIT_TRANSITIONS)
SERVICE: Final = service.MACHINE

# For the docs and for the test of every pair of state and trigger.
MACHINES: Final[dict[str, tuple[Machine, tuple[str, ...], list[list[str]]]]] = {
    "round": (ROUND, ROUND_STATES, ROUND_TRANSITIONS),
    "deck": (DECK, DECK_STATES, DECK_TRANSITIONS),
    "progressive": (PROGRESSIVE, PROGRESSIVE_STATES, PROGRESSIVE_TRANSITIONS),
    "hit": (HIT, HIT_STATES, HIT_TRANSITIONS),
    "service": (SERVICE, tuple(service.STATES), service.TRANSITIONS),
}


def fire(machine: Machine, model: Any, trigger: str) -> None:
    """Fire a trigger of a model; MachineError if its state does not allow it."""
    machine.events[trigger].trigger(model)


def can_fire(machine: Machine, model: Any, trigger: str) -> bool:
    """Return whether a model's state allows a trigger."""
    return model.state in machine.events[trigger].transitions


__all__ = ["DECK", "HIT", "MACHINES", "PROGRESSIVE", "ROUND", "SERVICE", "MachineError", "can_fire", "fire"]
