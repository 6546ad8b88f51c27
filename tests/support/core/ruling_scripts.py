"""Scripts of rulings: for each kind, what happens at once and which prompts follow.

A script is written from the text of the regulations. It lists the steps in order: prompts as `role kind answers`, with
`#` for a number, and the changes of round, deck and wagers. `{seen}` is the acknowledgment's evidence, `{deck}` the
deck, and `{rest}` its place afterwards: in the rack if it was dealt, otherwise stacked.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class RulingScript(NamedTuple):
    """One script. `stops_round`: the current round waits until the ruling is done; False: the round goes on."""

    orders: str
    at_once: str
    branches: dict[str, str]  # by the choice that a person makes; "" without a choice
    stops_round: bool = True
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

RULING_SCRIPTS: Final[dict[str, RulingScript]] = {
    # The report is refused, or has no effect.
    "REFUSED": RulingScript("", "", {}),
    "NOTHING": RulingScript("", "", {}),
    # Rounds that are void.
    "VOID": RulingScript(_VOIDED, _GONE, {"": _void()}),
    "VOID_COUNTED": RulingScript(_VOIDED, _GONE, {"": _void(deck=_COUNTED)}),
    "VOID_LATE": RulingScript(_VOIDED, _GONE, {"": _void(late=True)}),
    "VOID_BUT": RulingScript(
        "void_round settle_optional_wagers return_wagers reshuffle",
        "round: void; all wagers go back but progressive trips",
        {"": _steps("dealer optional_settled", _void())},
    ),
    # In the deal: of complete hands only, and at these tables nobody has such a wager.
    "VOID_HANDS": RulingScript(
        "void_round settle_optional_wagers return_wagers reshuffle",
        "round: void; all wagers go back but progressive trips",
        {"": _void()},
    ),
    "REMOVE": RulingScript("void_round return_wagers remove_deck", _GONE, {"": _void(deck=_REMOVED)}),
    "HOLD": RulingScript(
        f"void_round return_wagers {_HOLD}",
        f"{_GONE}; deck {{deck}}: held",
        {name: _steps(_BACK, steps) for name, steps in _count(_COUNT, _VERIFIED, _REMOVED).items()},
    ),
    "EMPTY": RulingScript(
        "void_round return_wagers reshuffle_with_dealt",
        _GONE,
        {"": _steps(_BACK, "dealer shoe_emptied", _COUNTED, _ACK)},
    ),
    "EMPTY_LATE": RulingScript(
        "void_round return_wagers reshuffle_with_dealt",
        _GONE,
        {"": _steps("floorperson wagers_reversed", _BACK, "dealer shoe_emptied", _COUNTED, _ACK)},
    ),
    "EMPTY_FAULTED": RulingScript(
        "void_round return_wagers reshuffle_with_dealt",
        _GONE,
        {"": _steps(_BACK, "dealer shoe_emptied", _COUNTED, _CLEARED, _ACK)},
    ),
    # No rule applies: stop, and the floorperson decides.
    "ASK": RulingScript("ask_floorperson", "", _ask(), evidence="table_seen", cites="rule 2"),
    "ASK_BAD_DECK": RulingScript(
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
    "ASK_DECK": RulingScript(
        "ask_floorperson",
        "",
        _choose("reshuffle/remove", {"reshuffle": _steps(_TOGETHER, _ACK), "remove": _steps(_REMOVED, _ACK)}),
        stops_round=False,
        evidence="table_seen",
        cites="rule 2",
    ),
    "ASK_BAD_STORED": RulingScript(
        "ask_floorperson",
        "",
        _choose(
            "reshuffle/remove",
            {
                "reshuffle": _steps(_OUT, _COUNTED, _ACK),
                "remove": _steps(_OUT, _REMOVED, _ACK),
            },
        ),
        stops_round=False,
        evidence="table_seen",
        cites="rule 2",
    ),
    "ASK_BAD_FREE": RulingScript(
        "ask_floorperson",
        "",
        _choose("reshuffle/remove", {"reshuffle": _steps(_COUNTED, _ACK), "remove": _steps(_REMOVED, _ACK)}),
        stops_round=False,
        evidence="table_seen",
        cites="rule 2",
    ),
    "ASK_IDLE": RulingScript(
        "ask_floorperson",
        "",
        _choose("continue", {"continue": _ACK}),
        stops_round=False,
        evidence="table_seen",
        cites="rule 2",
    ),
    "ASK_FAULTED": RulingScript(
        "ask_floorperson",
        "",
        {name: text.replace(_ACK, _steps(_CLEARED, _ACK)) for name, text in _ask().items()},
        evidence="table_seen",
        cites="rule 2",
    ),
    # The starting position.
    "NO_ROLL": RulingScript("no_roll_reshake", "", {"": _DEALER}),
    "CORRECT": RulingScript("continue_round", "", {"": _DEALER}),
    "ASK_START": RulingScript(
        "ask_floorperson", "", _choose("void/continue", {"void": _steps(_GONE, _void()), "continue": _ACK})
    ),
    "ASK_START_LATE": RulingScript(
        "ask_floorperson", "", _choose("void/continue", {"void": _steps(_GONE, _void(late=True)), "continue": _ACK})
    ),
    # Single cards and hands.
    "PLAYER": RulingScript(
        "player_may_void continue_round",
        "",
        _choose("play/void", {"play": _DEALER, "void": _steps("wagers of seat 3 go back", _BACK, _DEALER)}, "dealer"),
    ),
    # The player has seen all cards: no rule names who may void the hand then.
    "PLAYER_LATE": RulingScript(
        "ask_floorperson",
        "",
        _choose("play/void", {"play": _ACK, "void": _steps("wagers of seat 3 go back", _BACK, _ACK)}),
    ),
    "MISSED": RulingScript(
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
    "DISCARD": RulingScript("discard_card continue_round", "", {"": _steps("dealer card_discarded", _ACK)}),
    "DISCARD_DEALER": RulingScript("discard_card continue_round", "", {"": _steps("dealer card_discarded", _DEALER)}),
    "DISCARD_STACK": RulingScript(
        "discard_card ask_floorperson",
        "",
        {"complete_stack": _steps(_STACK, _ACK), "void": _steps(_STACK, _GONE, _void())},
    ),
    "NEXT": RulingScript("use_as_next_card continue_round", "", {"": _steps("dealer card_kept", _DEALER)}),
    "RESET": RulingScript("reset_dealer_hand continue_round", "", {"": _steps("dealer dealer_hand_reset", _DEALER)}),
    "RESET_LATE": RulingScript("reset_dealer_hand continue_round", "", {"": _steps("dealer dealer_hand_reset", _ACK)}),
    "REOPEN": RulingScript(
        "reset_dealer_hand continue_round",
        "",
        {"": _steps("dealer dealer_hand_reset", "floorperson seat_reopened", _ACK)},
    ),
    "FINISH": RulingScript(
        "finish_after_reshuffle", "", {"": _steps("dealer rack_shuffled", "dealer card_burned", _ACK)}
    ),
    # A deck that is not whole.
    "COUNT": RulingScript(_HOLD, "deck {deck}: held", _count(_COUNT, _VERIFIED, _REMOVED), stops_round=False),
    "COUNT_STORED": RulingScript(
        _HOLD, "deck {deck}: held", _count(_COUNT, _steps(_OUT, _VERIFIED), _steps(_OUT, _REMOVED)), stops_round=False
    ),
    "COUNT_WAITING": RulingScript(
        _HOLD,
        "deck {deck}: held",
        _count(_COUNT, _VERIFIED, _steps("floorperson deck_removed", _GONE, "deck {deck}: removed", _BACK)),
    ),
    "COUNT_DEALT": RulingScript(
        _HOLD, "deck {deck}: held", _count(_COUNT, _steps(_GONE, _BACK, _VERIFIED), _steps(_GONE, _BACK, _REMOVED))
    ),
    "TAKE_AWAY": RulingScript("remove_deck", "", {"": _steps(_REMOVED, _ACK)}, stops_round=False),
    "TAKE_STORED": RulingScript("remove_deck", "", {"": _steps(_OUT, _REMOVED, _ACK)}, stops_round=False),
    "TAKE_WAITING": RulingScript(
        "remove_deck", "", {"": _steps("floorperson deck_removed", _GONE, "deck {deck}: removed", _BACK, _ACK)}
    ),
    "TAKE_DEALT": RulingScript("remove_deck", _GONE, {"": _void(deck=_REMOVED)}),
    # Machines.
    "RESHUFFLE": RulingScript("reshuffle", "", {"": _steps(_OUT, _COUNTED, _ACK)}, stops_round=False),
    "RESHUFFLE_FAULTED": RulingScript("reshuffle", "", {"": _steps(_COUNTED, _CLEARED, _ACK)}, stops_round=False),
    "RESHUFFLE_DEAD": RulingScript("reshuffle", "", {"": _steps(_COUNTED, _ACK)}, stops_round=False),
    "LOOK": RulingScript("reshuffle", "", {"": _ACK}, stops_round=False),
    "EMPTIED": RulingScript("reshuffle continue_round", "", {"": _steps(_COUNTED, _ACK)}, stops_round=False),
    "EMPTIED_FAULTED": RulingScript(
        "reshuffle continue_round", "", {"": _steps(_COUNTED, _CLEARED, _ACK)}, stops_round=False
    ),
    "LOOK_ON": RulingScript("reshuffle continue_round", "", {"": _ACK}, stops_round=False),
    "SIGN": RulingScript(
        "sign_out_of_order", "", {"": _steps("floorperson sign_seen covered/signed", _ACK)}, stops_round=False
    ),
    "SIGN_STOPS": RulingScript("sign_out_of_order", "", {"": _steps("floorperson sign_seen covered/signed", _ACK)}),
    # A continuous shuffler holds the batch of the round.
    "RESHUFFLE_STOPS": RulingScript("reshuffle", "", {"": _steps(_OUT, _COUNTED, _ACK)}),
    "REFEED": RulingScript(
        "reshuffle ask_floorperson",
        "",
        {
            "void": _steps(_REFED, _GONE, _BACK, _OUT, _COUNTED, _ACK),
            "continue": _steps(_REFED, _ACK),
        },
    ),
    "REFEED_FAULTED": RulingScript(
        "reshuffle ask_floorperson",
        "",
        {
            "void": _steps(_REFED, _GONE, _BACK, _COUNTED, _CLEARED, _ACK),
            "continue": _steps(_REFED, _CLEARED, _ACK),
        },
    ),
}
