"""Locates the card of a fault and counts the cards inside; a range where sensors cannot decide.

Two assumptions (docs/diagnosis.md): a pulse of one card's length is one card, unless counts prove otherwise; and at
most one pair passes undetected in one motion.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from table_controller.diagnosis.findings import CardCounts, CardRange, FaultPlace

if TYPE_CHECKING:
    from table_controller.diagnosis.measurements import Measurements, Thresholds


NONE: Final = CardRange(0, 0)
# Where a stack sticks that the shuffler inserts into the shoe.
SHOE_CHUTE: Final = "the chute into the shoe"
# Most cards that move at once where late ones count as none: the machine waits three times the usual time for each.
UNDER_WAY: Final = 3


def locate(r: Measurements, t: Thresholds) -> tuple[FaultPlace, CardCounts]:
    """Return the place of the fault and the card counts."""
    match r.report.halt.what:
        case "jam":
            return _jam(r)
        case "double_feed":
            return _double(r, t)
        case "short_card":
            return _short(r, t)
        case "counts_disagree":
            return _counts(r)
        case "self_test":
            return FaultPlace(sensors=r.report.halt.bad_sensors), _cards(r, NONE)
        case "path_blocked":
            return _blocked(r)
        case "too_many_cards":
            return FaultPlace(at_rest=r.leg.end_place), _cards(r, NONE)
        case "chute_jam":
            return FaultPlace(at_rest=SHOE_CHUTE), _cards(r, NONE)
        case _:
            return _interrupted(r)


def place_of(r: Measurements, segment: str) -> FaultPlace:
    """Return a single segment with the sensors before and after it."""
    return FaultPlace((segment,), r.leg.before(segment), r.leg.next_sensor(segment))


# --- a card that did not arrive ---------------------------------------------------------------------------------------


def _jam(r: Measurements) -> tuple[FaultPlace, CardCounts]:
    leg, segment = r.leg, r.report.halt.segment
    assert segment is not None, "a jam names its segment"
    end = leg.next_sensor(segment)
    if beyond := r.skipped(segment):
        if r.blind(end):  # the next sensor detected it: the one between is blind
            return place_of(r, leg.after(beyond).segment), _cards(r, CardRange(1, 1))
        return _given_up(r)
    if (end is not None and r.blind(end)) or (end is None and r.perhaps_dim(leg.before(segment))):
        return _past_a_blind_sensor(r, segment)
    if end is None and _is_tray(r, segment):
        return FaultPlace((segment,), leg.before(segment), None, at_rest=leg.end_place), _cards(r, NONE)
    first = leg.index_of(segment) == 0
    # Without load on the motor, it is unknown whether the roller took the card from its pile.
    took = not first or bool(r.strained(leg.stretches[0].motor)) or r.by_hand
    return place_of(r, segment), _cards(r, CardRange(1, 1) if took else CardRange(0, 1), left_pile=took)


def _is_tray(r: Measurements, segment: str) -> bool:
    """Return whether the tray did not move: the sensor before the last segment is clear and every card is out."""
    return r.report.account.inside == 0 and r.dark(r.leg.before(segment)) is False


def _past_a_blind_sensor(r: Measurements, segment: str) -> tuple[FaultPlace, CardCounts]:
    """No sensor shows whether the card passed; the loaded motors limit how far it can be."""
    leg = r.leg
    stretches = leg.stretches[leg.index_of(segment) :]
    strained = [stretch.segment for stretch in stretches if r.strained(stretch.motor)]
    if strained:
        last = leg.index_of(strained[-1])
        possible = tuple(s.segment for s in leg.stretches[leg.index_of(segment) : last + 1])
        return FaultPlace(possible, leg.before(segment), leg.next_sensor(segment)), _cards(r, CardRange(1, 1))
    possible = tuple(stretch.segment for stretch in stretches)
    where = FaultPlace(possible, leg.before(segment), leg.next_sensor(segment), at_rest=leg.end_place)
    return where, _cards(r, CardRange(0, 1), may_be_out=1)


# --- a path that is dark before anything moves ------------------------------------------------------------------------


def _blocked(r: Measurements) -> tuple[FaultPlace, CardCounts]:
    """A dark sensor has an object on either side of it; a sensor that is surely only dim has none."""
    dark = r.dark_path()
    covered = tuple(sensor for sensor in dark if not r.clearly_dim(sensor))
    lie = covered if dark else tuple(sensor for leg in r.path.legs for sensor in leg.sensors)
    segments = tuple(
        stretch.segment for leg in r.path.legs for i, stretch in enumerate(leg.stretches)
        if stretch.sensor in lie or (i and leg.stretches[i - 1].sensor in lie)
    )  # fmt: skip
    most = len(covered) if dark else 1
    account, may = r.report.account, CardRange(0, most)
    if account.inside is None:
        inside = None if account.expected is None else CardRange(0, account.expected)
        return FaultPlace(segments, sensors=dark), CardCounts(may, inside, None, None, account.expected)
    # The object may be outside the box's count (put in later), or part of it (missing from its pile).
    inside = CardRange(max(0, account.inside - most), account.inside + most)
    out = None if account.out is None else CardRange(account.out, account.out)
    likely = None if inside.exact else account.inside
    return FaultPlace(segments, sensors=dark), CardCounts(may, inside, out, None, account.expected, likely)


# --- pieces that were too long or too short ---------------------------------------------------------------------------


def is_slow(r: Measurements, sensor: str, segment: str, t: Thresholds) -> bool | None:
    """Return whether a long pulse was one slow card, whose transit also took longer. None if not measured."""
    pulse, transit = r.pulse(sensor), r.transit(segment)
    if r.by_hand:
        return False  # the machine compares length and distance itself
    if pulse is None or transit is None:
        return None
    return transit > t.slow and transit * t.long > pulse


def too_early(r: Measurements, segment: str, t: Thresholds) -> bool:
    """Return whether a card arrived sooner than possible: then it is not the expected one."""
    transit = None if r.by_hand else r.transit(segment)
    return transit is not None and transit < t.early


def came_late(r: Measurements, segment: str, t: Thresholds) -> bool:
    """Return whether a card may be a late one that counted as none: it came too early, or the store is slow."""
    return too_early(r, segment, t) or (r.leg.gives_up and r.gives_up())


def _given_up(r: Measurements) -> tuple[FaultPlace, CardCounts]:
    """A late card arrived while the next ones move: they can be anywhere on the leg.

    A card directly behind another was counted as one with it.
    """
    segments = tuple(stretch.segment for stretch in r.leg.stretches)
    return FaultPlace(segments, at_rest=r.leg.end_place), _cards(r, CardRange(0, UNDER_WAY), may_be_out=UNDER_WAY)


def _double(r: Measurements, t: Thresholds) -> tuple[FaultPlace, CardCounts]:
    leg, segment = r.leg, r.report.halt.segment
    assert segment is not None, "a pulse has its segment"
    sensor = leg.next_sensor(segment)
    assert sensor is not None, "a pulse has its sensor"
    slow = is_slow(r, sensor, segment, t)
    pieces = CardRange(2, 2) if slow is False else CardRange(1, 1) if slow else CardRange(1, 2)
    reached = r.reached(sensor)
    following = leg.after(reached)
    more = CardRange(pieces.least - 1, pieces.most - 1) if leg is r.path.legs[0] else NONE
    if came_late(r, segment, t):
        return _given_up(r)
    if following.sensor is None and reached == sensor:  # its trailing edge is past the last sensor: it has stopped
        return FaultPlace((), sensor, None, at_rest=leg.end_place), _at_rest(r, pieces, more)
    return place_of(r, following.segment), _cards(r, pieces, more=more)


def _at_rest(r: Measurements, pieces: CardRange, more: CardRange) -> CardCounts:
    """Return the counts with cards that passed the last sensor and are not counted yet."""
    if r.leg is r.path.legs[0]:
        return _cards(r, NONE, more=more)
    account = r.report.account
    inside = None if account.inside is None else CardRange(account.inside - pieces.most, account.inside - pieces.least)
    out = None if account.out is None else CardRange(account.out + pieces.least, account.out + pieces.most)
    return CardCounts(NONE, inside, out, None, account.expected)


def _short(r: Measurements, t: Thresholds) -> tuple[FaultPlace, CardCounts]:
    """A torn piece passed the sensor; the rest of the card is still before it."""
    segment = r.report.halt.segment
    assert segment is not None, "a pulse has its segment"
    if came_late(r, segment, t):
        return _given_up(r)
    return place_of(r, segment), _cards(r, CardRange(1, 1))


# --- counts that disagree ---------------------------------------------------------------------------------------------


def _counts(r: Measurements) -> tuple[FaultPlace, CardCounts]:
    d = r.report
    counted = next((halt for halt in d.halts if halt.counted_in is not None and halt.segment is None), None)
    hidden = r.path.legs[0].hidden
    if counted is None or counted.counted_in is None or counted.counted_out is None:
        return FaultPlace(hidden=hidden), _cards(r, NONE)
    went_in, came_out, expected = counted.counted_in, counted.counted_out, d.account.expected
    if d.account.keeps and came_out > went_in:  # all cards that came out had gone in: two of them were counted as one
        return FaultPlace(), CardCounts(NONE, CardRange(went_in, came_out), None, None, expected, came_out)
    short = [went_in - came_out] + ([] if expected is None or d.account.keeps else [expected - came_out])
    most = max(0, *short)
    least = max(0, min(short) - 1)
    if came_out > went_in and most == 0:
        return FaultPlace(), CardCounts(NONE, NONE, CardRange(came_out, came_out), NONE, expected)
    inside = CardRange(least, most)
    out = CardRange(came_out, came_out + most - least)
    likely = max(0, went_in - came_out)
    if r.gives_up():  # late cards may still move, or came out behind another and were not counted
        leg = r.path.legs[1]
        inside, out = (
            CardRange(max(0, least - UNDER_WAY), most),
            CardRange(came_out, came_out + most - least + UNDER_WAY),
        )
        where = FaultPlace(tuple(s.segment for s in leg.stretches), at_rest=leg.end_place, hidden=hidden)
        return where, CardCounts(CardRange(0, min(most, UNDER_WAY)), inside, out, NONE, expected, likely)
    return FaultPlace(hidden=hidden), CardCounts(NONE, inside, out, NONE, expected, likely)


def _interrupted(r: Measurements) -> tuple[FaultPlace, CardCounts]:
    """The motion was stopped: the moving card is after the last sensor that detected it, or there was none."""
    d, leg = r.report, r.leg
    if d.halt.what == "power_lost" or (d.halt.leg is None and not d.edges):
        return FaultPlace(), _cards(r, CardRange(0, 1))
    newest = d.edges[-1] if d.edges else None
    if newest is None or newest.sensor not in leg.sensors:
        return FaultPlace(tuple(s.segment for s in leg.stretches), at_rest=leg.end_place), _cards(
            r, CardRange(0, 1), may_be_out=1
        )
    stretch = leg.after(newest.sensor)
    if newest.blocked or stretch.sensor is not None:
        return place_of(r, stretch.segment), _cards(r, CardRange(1, 1))
    first = leg.stretches[0].segment  # the last card has stopped; the next may have been drawn
    return FaultPlace((first,), None, leg.next_sensor(first), at_rest=leg.start), _cards(
        r, CardRange(0, 1), left_pile=False
    )


def _cards(
    r: Measurements, path: CardRange, *, more: CardRange = NONE, may_be_out: int = 0, left_pile: bool = True
) -> CardCounts:
    """Return the card counts for a number of cards on the path.

    `more`: cards in no count. `may_be_out`: cards that may have come out undetected. Not `left_pile`: the card may
    still be on the pile.
    """
    account = r.report.account
    outward = r.leg is r.path.legs[1]
    if account.inside is None:
        most = account.expected
        inside = None if most is None else CardRange(path.least, most)
        return CardCounts(path, inside, None, None, account.expected)
    least, most = account.inside + more.least, account.inside + more.most
    went_in = r.report.halt.counted_in
    if outward:
        least -= may_be_out
        if account.expected is not None and went_in is not None and not account.keeps:
            most += max(
                0, account.expected - went_in
            )  # fewer went in than expected: an undetected pair, or an incomplete deck
    elif not left_pile:
        least -= 1
    inside = CardRange(max(0, least), most)
    out = None if account.out is None else CardRange(account.out, account.out + (may_be_out if outward else 0))
    waiting = None
    if account.expected is not None and not account.keeps and out is not None and not r.by_hand:
        waiting = CardRange(
            max(0, account.expected - inside.most - out.most), max(0, account.expected - inside.least - out.least)
        )
        if outward:
            waiting = NONE
    likely = None if may_be_out else account.inside + more.least
    return CardCounts(path, inside, out, waiting, account.expected, likely)
