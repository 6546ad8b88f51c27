"""Players with several boxes: which boxes are theirs, which wager is larger, and whose hand is set first.

The dealer enters the players before the round is locked, where the answer matters: for the order in which hands are set
(575.7(f), 688a.7(f)), for envy, and for a payout limit per player. Then the hands are set in that order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

    from table_controller.table import events as ev
    from table_controller.table.context import Context
    from table_controller.table.decisions import Prompt
    from table_controller.table.state import Round, TableState

EQUAL: Final = "equal"
_SEAT: Final = "seat_"  # a choice that names a seat


# --- who has which boxes ----------------------------------------------------------------------------------------------


def ask_players(c: Context) -> bool:
    """Ask for the boxes of each player who has several, and for the larger wager; return whether nothing is open."""
    round_ = c.state.round
    if not _is_asked(c):
        return True
    if not round_.players_entered and _adjacent_pair(round_):
        c.ask("players", "dealer", "done", "nobody", seats=True, clauses=c.clauses("boxes"))
        return False
    return not c.clauses("set_order") or _ask_larger(c)


def _is_asked(c: Context) -> bool:
    """Whether one player may have several boxes, and something depends on it."""
    limit = c.edition.payout_limit
    per_player = limit is not None and limit.scope == "player_round" and c.submission.payout_limit_cents is not None
    pays_envy = c.edition.envy is not None and any(name in c.submission.wagers for name in c.edition.envy.wagers)
    return c.submission.adjacent_boxes > 1 and (bool(c.clauses("set_order")) or per_player or pays_envy)


def _adjacent_pair(round_: Round) -> bool:
    """Whether two adjacent boxes are left that may be one player's."""
    alone = [seat for seat in round_.seats if seat not in round_.players]
    return any(seat + 1 in alone for seat in alone)


def _ask_larger(c: Context) -> bool:
    """Ask which wager of each player with two boxes is larger, where the amounts are not entered."""
    round_, every = c.state.round, True
    wager = next(each.name for each in c.edition.wagers if each.required)
    for player in sorted(set(round_.players.values())):
        if player in round_.set_first:
            continue
        boxes = _boxes(round_, player)
        cents = [round_.amounts.get(wager, {}).get(seat) for seat in boxes]
        if None not in cents:
            larger = max(boxes, key=lambda seat: (round_.amounts[wager][seat], seat))
            round_.set_first[player] = larger
            continue
        choices = (*(f"{_SEAT}{seat}" for seat in boxes), EQUAL)
        c.ask("larger_wager", "dealer", *choices, seat=player, clauses=c.clauses("set_order"))
        every = False
    return every


def _boxes(round_: Round, player: int) -> list[int]:
    """Return the boxes of a player in a counterclockwise rotation: seat 6 is farthest to the dealer's right."""
    return sorted((seat for seat, of in round_.players.items() if of == player), reverse=True)


def check_players(c: Context, _prompt: Prompt, answer: ev.Answer) -> str | None:
    """Return an objection unless the seats are the adjacent boxes of one player."""
    if answer.choice == "nobody":
        return None
    seats, round_, most = sorted(answer.seats), c.state.round, c.submission.adjacent_boxes
    clause = c.clause("boxes")
    if not 2 <= len(seats) <= most:
        return f"enter the boxes of one player, 2 to {most} ({clause})"
    if seats != list(range(seats[0], seats[0] + len(seats))):
        return f"seats {', '.join(map(str, seats))} are not adjacent ({clause})"
    for seat in seats:
        if seat not in round_.seats:
            return f"seat {seat} has no main wager ({c.clause('seats')})"
        if seat in round_.players:
            return f"seat {seat} is entered for another player already ({clause})"
    return None


def _players_entered(c: Context, _prompt: Prompt, answer: ev.Answer) -> None:
    """Record the boxes of one player; the question is open until no other player has several."""
    round_ = c.state.round
    if answer.choice == "nobody":
        round_.players_entered = True
        return
    round_.players |= dict.fromkeys(answer.seats, min(answer.seats))


def _larger_entered(c: Context, prompt: Prompt, answer: ev.Answer) -> None:
    """Record which hand is set first: that of the larger wager, or of the first box counterclockwise if equal."""
    assert prompt.seat is not None
    boxes = _boxes(c.state.round, prompt.seat)
    c.state.round.set_first[prompt.seat] = (
        boxes[0] if answer.choice == EQUAL else int(answer.choice.removeprefix(_SEAT))
    )


# --- in which order hands are set -------------------------------------------------------------------------------------


def next_to_set(state: TableState) -> dict[int, int]:
    """Return every seat whose hand may not be set yet, with the seat that its player must set before it."""
    round_ = state.round
    waiting: dict[int, int] = {}
    for player, first in round_.set_first.items():
        order = [first, *(seat for seat in _boxes(round_, player) if seat != first)]
        due = [seat for seat in order if seat not in round_.hands_placed and seat not in round_.dead]
        waiting |= dict.fromkeys(due[1:], due[0] if due else 0)
    return waiting


def setting_objection(c: Context, seat: int) -> str | None:
    """Return why the hand of a seat may not be set yet, with the clause; None if it may."""
    before = next_to_set(c.state).get(seat)
    if before is None:
        return None
    return f"this player sets the hand of seat {before} before that of seat {seat} ({c.clause('set_order')})"


def ask_settings(c: Context) -> bool:
    """Have each player with two boxes set them one by one; return whether all of these hands are set."""
    round_, waiting = c.state.round, next_to_set(c.state)
    ordered = [seat for seat, player in round_.players.items() if player in round_.set_first]
    due = [seat for seat in ordered if seat not in round_.hands_placed and seat not in round_.dead]
    for seat in due:
        if seat not in waiting:
            c.ask("hand_placed", "dealer", seat=seat, clauses=c.clauses("set_order"))
    return not due


def _hand_placed(c: Context, prompt: Prompt, _answer: ev.Answer) -> None:
    """A hand was set and placed face down; it may not be changed."""
    assert prompt.seat is not None
    c.state.round.hands_placed.append(prompt.seat)


ANSWERS: Final[dict[str, Callable[[Context, Prompt, ev.Answer], None]]] = {
    "players": _players_entered,
    "larger_wager": _larger_entered,
    "hand_placed": _hand_placed,
}
CHECKS: Final[dict[str, Callable[[Context, Prompt, ev.Answer], str | None]]] = {"players": check_players}
