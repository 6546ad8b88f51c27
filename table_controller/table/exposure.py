"""When the procedure has exposed the cards of a place, and whose hand is shown next.

Before that no card of the place may be known: the dealer may not enter it, and a shoe may not release it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

from table_controller.table import settling, side_wagers
from table_controller.table import state_machines as mc

if TYPE_CHECKING:
    from table_controller.table.view import TableView

DEALER: Final = 0  # the dealer's place
# Why the cards of a place are not exposed.
Obstacle = Literal["no_hand", "returned", "surrendered", "incomplete", "face_down"]


def obstacle(v: TableView, place: int) -> Obstacle | None:
    """Return why the cards of a place may not be known yet; None if they may."""
    round_ = v.state.round
    if place == DEALER:
        if not v.edition.hand.dealer_hand:
            return "no_hand"
    elif place not in round_.seats or place in round_.dead:
        return "no_hand"
    elif place in round_.incomplete:
        return "returned"
    elif not v.edition.hand.player_face_up and place in round_.surrendered:
        return "surrendered"
    if place and v.edition.hand.second_deal and place not in round_.second:
        return "incomplete"
    return None if _is_exposed(v, place) else "face_down"


def is_surrendered(v: TableView, place: int) -> bool:
    """Whether the hand of a place was surrendered. A shoe never releases it, also where it lies face up (686a.7(g))."""
    return place in v.state.round.surrendered or v.state.round.decided.get(place) == "surrender"


def _is_exposed(v: TableView, place: int) -> bool:
    """Whether the procedure exposed the cards of a place: a dealer's hand that is dealt face up, or the reveal."""
    state = v.state.round.state
    face_up = place == DEALER and v.edition.hand.dealer_face_up
    return state == mc.SETTLING or (state == mc.PLAYING and face_up) or v.settles_void


def exposure_objection(v: TableView, place: int) -> str | None:
    """Return why the cards of a place may not be known yet, with the clause; None if they may."""
    match obstacle(v, place):
        case "no_hand" if place == DEALER:
            return f"{v.edition.title} has no dealer's hand"
        case "no_hand":
            return f"seat {place} has no hand in this round{v.citation('seats')}"
        case "returned":
            return f"the hand of seat {place} is incomplete; its wagers are returned{v.citation('seats')}"
        case "surrendered":
            return f"the hand of seat {place} was surrendered and stays face down{v.citation('surrender_count')}"
        case "incomplete":
            return f"seat {place} has not all its cards yet{v.citation('additional_cards')}"
        case "face_down":
            whose = "the dealer's cards" if place == DEALER else f"the cards of seat {place}"
            return f"{whose} are not exposed yet{v.citation('reveal')}"
        case None:
            return None


# --- whose hand is shown next -----------------------------------------------------------------------------------------


def settle_order(v: TableView) -> list[int]:
    """Return the seats in play in the order of settlement; seats that get cards late come last."""
    order = v.edition.settle_order
    far_right = order.start == "far_right"
    if v.submission.settings.get("settle_direction") == "far_left_clockwise":
        far_right = False
    live = [seat for seat in v.state.round.seats if seat not in v.state.round.dead]
    live.sort(reverse=far_right)
    late = v.state.round.late
    return [*(seat for seat in live if seat not in late), *(seat for seat in live if seat in late)] if late else live


def unsettled_seats(v: TableView) -> list[int]:
    """Return the seats whose main wagers are not settled, in order; players who surrendered are not among them."""
    round_ = v.state.round
    return [seat for seat in settle_order(v) if seat not in round_.settled and seat not in round_.surrendered]


def may_surrender(v: TableView, seat: int) -> bool:
    """Whether a seat may surrender: after the dealer set, before its own hand is shown, and without a side wager."""
    rule, round_ = v.edition.surrender, v.state.round
    if rule is None or rule.window != "after_dealer_set_before_own_reveal" or round_.state != mc.SETTLING:
        return False
    shown = (*round_.settled, *round_.surrendered, *round_.reopened, *round_.shown, *round_.hands)
    return seat not in shown and not side_wagers.has_side_wager(v, seat)


def is_folded_away(v: TableView, place: int) -> bool:
    """Whether the hand of a place was folded and collected: it has no wager that a fold leaves standing."""
    rule = v.edition.surrender
    if rule is None or v.state.round.decided.get(place) != "fold":
        return False
    kept = [wager.name for wager in v.edition.wagers if wager.option and wager.name not in rule.loses]
    return not any(settling.has_wager(v, place, name) for name in kept)
