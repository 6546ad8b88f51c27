"""Checks the permit of a command again at the moment of sending."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from table_controller.table import state_machines as mc
from table_controller.table.betting import seat_of
from table_controller.table.state import HANDS

if TYPE_CHECKING:
    from table_controller.table.core import Table
    from table_controller.table.decisions import Actuation, Command


def still_permitted(table: Table, command: Command) -> bool:
    """Return whether an earlier decided command is still permitted. The command itself does not count as open."""
    state = table.state
    issued = state.commands.get(command.id)
    if issued is None:
        return False  # it has ended already
    if command.act == "open_bets":  # its permit opened the round: that round must still take bets
        return state.progressive.state == mc.OPEN and state.round.number == command.number
    all_commands = state.commands
    state.commands = {id_: other for id_, other in all_commands.items() if id_ != command.id}
    try:
        act = cast("Actuation", command.act)
        if act == "light":
            return not table.permit(act, command.slot, seat=seat_of(command.slot))
        if act == "release_cards":
            return not table.permit(act, command.slot, seat=command.number)
        deck = None
        if act != "return_to_service":
            deck = issued.deck or table.deck_at(command.slot) or _expected_deck(table, command)
        return not table.permit(act, command.slot, deck, cards=command.number)
    finally:
        state.commands = all_commands


def _expected_deck(table: Table, command: Command) -> str | None:
    """Return the deck that a machine without one is about to get, or the deck of the current round."""
    state = table.state
    if command.act == "load":
        return next((deck.name for deck in state.decks.values() if deck.place == HANDS), None)
    return state.round.deck
