"""Scripts of rulings: for each kind, what happens at once and which prompts follow.

A script is written from the text of the regulations. It lists the steps in order: prompts as `role kind answers`, with
`#` for a number, and the changes of round, deck and wagers. `{seen}` is the acknowledgment's evidence, `{deck}` the
deck, and `{rest}` its place afterwards: in the rack if it was dealt, otherwise stacked.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class Script(NamedTuple):
    """One script. `stops`: the current round waits until the ruling is done; False: the round goes on."""

    orders: str
    at_once: str
    branches: dict[str, str]  # by the choice that a person makes; "" without a choice
    stops: bool = True
    evidence: str = ""
    cites: str = ""


_GONE: Final = "round: void; all wagers go back"
_ACK: Final = "floorperson acknowledge{seen}"
_DEALER: Final = "dealer acknowledge{seen}"
_BACK: Final = "dealer wagers_returned"
_TOGETHER: Final = "dealer cards_together; deck {deck}: {rest}"
_COUNTED: Final = "dealer cards_together #; deck {deck}: {rest}"
_REMOVED: Final = "floorperson deck_removed; deck {deck}: removed"
_VERIFIED: Final = "floorperson deck_counted whole/remove #; deck {deck}: stacked"
_OUT: Final = "floorperson let_out"
_REFED: Final = "dealer cards_refed; floorperson choose void/continue"
_CLEARED: Final = "floorperson device_cleared done/give_up"


def _steps(*steps: str) -> str:
    return "; ".join(step for step in steps if step)


def _void(*, late: bool = False, deck: str = _TOGETHER) -> str:
    """Return the steps of a void round: reversed payments, then wagers, then cards."""
    return _steps("floorperson wagers_reversed" if late else "", _BACK, deck, _ACK)


def _choose(names: str, then: dict[str, str], role: str = "floorperson") -> dict[str, str]:
    return {name: f"{role} choose {names}; {then[name]}" for name in names.split("/")}


def _ask(*, void: str = _GONE) -> dict[str, str]:
    return _choose(
        "continue/void/void_and_remove",
        {
            "continue": _ACK,
            "void": _steps(void, _void()),
            "void_and_remove": _steps(void, _void(deck=_REMOVED)),
        },
    )


def _count(names: str, verified: str, removed: str) -> dict[str, str]:
    return _choose(names, {"reverify": _steps(verified, _ACK), "remove": _steps(removed, _ACK)})


_STACK: Final = "dealer card_discarded; floorperson choose complete_stack/void"
_VOIDED: Final = "void_round return_wagers reshuffle"
_HOLD: Final = "hold_deck ask_floorperson"
_COUNT: Final = "reverify/remove"

BEHAVIOURS: Final[dict[str, Script]] = {
    # The report is refused, or has no effect.
    "REFUSED": Script("", "", {}),
    "NOTHING": Script("", "", {}),
    # Rounds that are void.
    "VOID": Script(_VOIDED, _GONE, {"": _void()}),
    "VOID_COUNTED": Script(_VOIDED, _GONE, {"": _void(deck=_COUNTED)}),
    "VOID_LATE": Script(_VOIDED, _GONE, {"": _void(late=True)}),
    "VOID_BUT": Script(
        "void_round settle_optional_wagers return_wagers reshuffle",
        "round: void; all wagers go back but progressive trips",
        {"": _steps("dealer optional_settled", _void())},
    ),
    # In the deal: of complete hands only, and at these tables nobody has such a wager.
    "VOID_HANDS": Script(
        "void_round settle_optional_wagers return_wagers reshuffle",
        "round: void; all wagers go back but progressive trips",
        {"": _void()},
    ),
    "REMOVE": Script("void_round return_wagers remove_deck", _GONE, {"": _void(deck=_REMOVED)}),
    "HOLD": Script(
        f"void_round return_wagers {_HOLD}",
        f"{_GONE}; deck {{deck}}: held",
        {name: _steps(_BACK, steps) for name, steps in _count(_COUNT, _VERIFIED, _REMOVED).items()},
    ),
    "EMPTY": Script(
        "void_round return_wagers reshuffle_with_dealt",
        _GONE,
        {"": _steps(_BACK, "dealer shoe_emptied", _COUNTED, _ACK)},
    ),
    "EMPTY_LATE": Script(
        "void_round return_wagers reshuffle_with_dealt",
        _GONE,
        {"": _steps("floorperson wagers_reversed", _BACK, "dealer shoe_emptied", _COUNTED, _ACK)},
    ),
    "EMPTY_FAULTED": Script(
        "void_round return_wagers reshuffle_with_dealt",
        _GONE,
        {"": _steps(_BACK, "dealer shoe_emptied", _COUNTED, _CLEARED, _ACK)},
    ),
    # No rule applies: stop, and the floorperson decides.
    "ASK": Script("ask_floorperson", "", _ask(), evidence="table_seen", cites="rule 2"),
    "ASK_BAD_DECK": Script(
        "ask_floorperson",
        "",
        _choose(
            "void/void_and_remove",
            {
                "void": _steps(_GONE, _void(deck=_COUNTED)),
                "void_and_remove": _steps(_GONE, _void(deck=_REMOVED)),
            },
        ),
        evidence="table_seen",
        cites="rule 2",
    ),
    "ASK_DECK": Script(
        "ask_floorperson",
        "",
        _choose("reshuffle/remove", {"reshuffle": _steps(_TOGETHER, _ACK), "remove": _steps(_REMOVED, _ACK)}),
        stops=False,
        evidence="table_seen",
        cites="rule 2",
    ),
    "ASK_BAD_STORED": Script(
        "ask_floorperson",
        "",
        _choose(
            "reshuffle/remove",
            {
                "reshuffle": _steps(_OUT, _COUNTED, _ACK),
                "remove": _steps(_OUT, _REMOVED, _ACK),
            },
        ),
        stops=False,
        evidence="table_seen",
        cites="rule 2",
    ),
    "ASK_BAD_FREE": Script(
        "ask_floorperson",
        "",
        _choose("reshuffle/remove", {"reshuffle": _steps(_COUNTED, _ACK), "remove": _steps(_REMOVED, _ACK)}),
        stops=False,
        evidence="table_seen",
        cites="rule 2",
    ),
    "ASK_IDLE": Script(
        "ask_floorperson",
        "",
        _choose("continue", {"continue": _ACK}),
        stops=False,
        evidence="table_seen",
        cites="rule 2",
    ),
    "ASK_FAULTED": Script(
        "ask_floorperson",
        "",
        {name: text.replace(_ACK, _steps(_CLEARED, _ACK)) for name, text in _ask().items()},
        evidence="table_seen",
        cites="rule 2",
    ),
    # The starting position.
    "NO_ROLL": Script("no_roll_reshake", "", {"": _DEALER}),
    "CORRECT": Script("continue_round", "", {"": _DEALER}),
    "ASK_START": Script(
        "ask_floorperson", "", _choose("void/continue", {"void": _steps(_GONE, _void()), "continue": _ACK})
    ),
    "ASK_START_LATE": Script(
        "ask_floorperson", "", _choose("void/continue", {"void": _steps(_GONE, _void(late=True)), "continue": _ACK})
    ),
    # Single cards and hands.
    "PLAYER": Script(
        "player_may_void continue_round",
        "",
        _choose("play/void", {"play": _DEALER, "void": _steps("wagers of seat 3 go back", _BACK, _DEALER)}, "dealer"),
    ),
    # The player has seen all cards: no rule says who may void the hand then.
    "PLAYER_LATE": Script(
        "ask_floorperson",
        "",
        _choose("play/void", {"play": _ACK, "void": _steps("wagers of seat 3 go back", _BACK, _ACK)}),
    ),
    "MISSED": Script(
        "player_option_dead_hand continue_round",
        "",
        _choose(
            "late_cards/dead_hand",
            {
                "late_cards": _ACK,
                "dead_hand": _steps("wagers of seat 3 go back", _BACK, _ACK),
            },
            "dealer",
        ),
    ),
    "DISCARD": Script("discard_card continue_round", "", {"": _steps("dealer card_discarded", _ACK)}),
    "DISCARD_DEALER": Script("discard_card continue_round", "", {"": _steps("dealer card_discarded", _DEALER)}),
    "DISCARD_STACK": Script(
        "discard_card ask_floorperson",
        "",
        {"complete_stack": _steps(_STACK, _ACK), "void": _steps(_STACK, _GONE, _void())},
    ),
    "NEXT": Script("use_as_next_card continue_round", "", {"": _steps("dealer card_kept", _DEALER)}),
    "RESET": Script("reset_dealer_hand continue_round", "", {"": _steps("dealer dealer_hand_reset", _DEALER)}),
    "RESET_LATE": Script("reset_dealer_hand continue_round", "", {"": _steps("dealer dealer_hand_reset", _ACK)}),
    "REOPEN": Script(
        "reset_dealer_hand continue_round",
        "",
        {"": _steps("dealer dealer_hand_reset", "floorperson seat_reopened", _ACK)},
    ),
    "FINISH": Script("finish_after_reshuffle", "", {"": _steps("dealer rack_shuffled", "dealer card_burned", _ACK)}),
    # A deck that is not whole.
    "COUNT": Script(_HOLD, "deck {deck}: held", _count(_COUNT, _VERIFIED, _REMOVED), stops=False),
    "COUNT_STORED": Script(
        _HOLD, "deck {deck}: held", _count(_COUNT, _steps(_OUT, _VERIFIED), _steps(_OUT, _REMOVED)), stops=False
    ),
    "COUNT_WAITING": Script(
        _HOLD,
        "deck {deck}: held",
        _count(_COUNT, _VERIFIED, _steps("floorperson deck_removed", _GONE, "deck {deck}: removed", _BACK)),
    ),
    "COUNT_DEALT": Script(
        _HOLD, "deck {deck}: held", _count(_COUNT, _steps(_GONE, _BACK, _VERIFIED), _steps(_GONE, _BACK, _REMOVED))
    ),
    "TAKE_AWAY": Script("remove_deck", "", {"": _steps(_REMOVED, _ACK)}, stops=False),
    "TAKE_STORED": Script("remove_deck", "", {"": _steps(_OUT, _REMOVED, _ACK)}, stops=False),
    "TAKE_WAITING": Script(
        "remove_deck", "", {"": _steps("floorperson deck_removed", _GONE, "deck {deck}: removed", _BACK, _ACK)}
    ),
    "TAKE_DEALT": Script("remove_deck", _GONE, {"": _void(deck=_REMOVED)}),
    # Machines.
    "RESHUFFLE": Script("reshuffle", "", {"": _steps(_OUT, _COUNTED, _ACK)}, stops=False),
    "RESHUFFLE_FAULTED": Script("reshuffle", "", {"": _steps(_COUNTED, _CLEARED, _ACK)}, stops=False),
    "RESHUFFLE_DEAD": Script("reshuffle", "", {"": _steps(_COUNTED, _ACK)}, stops=False),
    "LOOK": Script("reshuffle", "", {"": _ACK}, stops=False),
    "EMPTIED": Script("reshuffle continue_round", "", {"": _steps(_COUNTED, _ACK)}, stops=False),
    "EMPTIED_FAULTED": Script("reshuffle continue_round", "", {"": _steps(_COUNTED, _CLEARED, _ACK)}, stops=False),
    "LOOK_ON": Script("reshuffle continue_round", "", {"": _ACK}, stops=False),
    "SIGN": Script("sign_out_of_order", "", {"": _steps("floorperson sign_seen covered/signed", _ACK)}, stops=False),
    "SIGN_STOPS": Script("sign_out_of_order", "", {"": _steps("floorperson sign_seen covered/signed", _ACK)}),
    # A continuous shuffler holds the batch of the round.
    "RESHUFFLE_STOPS": Script("reshuffle", "", {"": _steps(_OUT, _COUNTED, _ACK)}),
    "REFEED": Script(
        "reshuffle ask_floorperson",
        "",
        {
            "void": _steps(_REFED, _GONE, _BACK, _OUT, _COUNTED, _ACK),
            "continue": _steps(_REFED, _ACK),
        },
    ),
    "REFEED_FAULTED": Script(
        "reshuffle ask_floorperson",
        "",
        {
            "void": _steps(_REFED, _GONE, _BACK, _COUNTED, _CLEARED, _ACK),
            "continue": _steps(_REFED, _CLEARED, _ACK),
        },
    ),
}
