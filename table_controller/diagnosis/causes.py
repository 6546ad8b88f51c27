"""Why it happened: causes in order, each with what speaks for it. Pure; sure only where nothing else fits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from table_controller.diagnosis.findings import Cause, Diagnosis, Why
from table_controller.diagnosis.locate import came_late, is_slow, locate
from table_controller.diagnosis.readings import Readings, Thresholds

if TYPE_CHECKING:
    from table_controller.diagnosis.dossier import Dossier

# What the people of a table may clear by themselves: a card that sticks once says nothing about the machine.
STAFF: Final = (Why.STUCK_CARD, Why.BENT_CARD, Why.TORN_CARD, Why.DOUBLE_FEED, Why.LEFT_CARD, Why.INTERRUPTED)


def diagnose(dossier: Dossier, thresholds: Thresholds | None = None) -> Diagnosis:
    """Return where, how many and why."""
    t = thresholds or Thresholds()
    r = Readings(dossier, t)
    where, cards = locate(r, t)
    causes = tuple(_causes(r, t)) or (Cause(Why.UNKNOWN, None, ("no evidence speaks for any cause",)),)
    return Diagnosis(where, cards, causes, staff=causes[0].why in STAFF and dossier.halt.what != "counts_disagree")


def _causes(r: Readings, t: Thresholds) -> list[Cause]:
    halt = r.dossier.halt
    match halt.what:
        case "jam":
            return _of_jam(r, t)
        case "double_feed":
            return _of_long_pulse(r, t)
        case "short_card":
            return _of_short_pulse(r, t)
        case "counts_disagree":
            return _of_counts(r)
        case "self_test":
            return _of_self_test(r)
        case "path_blocked":
            return _of_dark_path(r)
        case "too_many_cards":
            return [Cause(Why.WRONG_COUNT, r.leg.start, ("the machine counted more cards than it holds",))]
        case _:
            return [Cause(Why.INTERRUPTED, None, (f"the machine said {halt.said}",), sure=True)]


def _of_self_test(r: Readings) -> list[Cause]:
    halt = r.dossier.halt
    alone = len(halt.bad_sensors) + len(halt.bad_motors) == 1
    held = "it was switched on with nothing in reach of its rollers, and did not turn"
    return [
        *(Cause(Why.SEIZED_MOTOR, motor, (held,), sure=alone) for motor in halt.bad_motors),
        *(Cause(Why.DUST, sensor, (_margin(r, sensor),), sure=alone) for sensor in halt.bad_sensors),
    ]


# --- a path that is dark before anything moves ------------------------------------------------------------------------


def _of_dark_path(r: Readings) -> list[Cause]:
    dark = r.dark_path()
    asked = f"the machine refused {r.dossier.halt.refused}: its path is dark"
    if not r.dossier.levels:
        return [Cause(Why.UNKNOWN, None, (asked, "no level was told"))]
    if not dark:
        clear = "no sensor is dark any more: somebody drew a card, or took one away"
        return [Cause(Why.INTERRUPTED, None, (asked, clear)), Cause(Why.LEFT_CARD, None, (asked,))]
    # A card anywhere is people's to take out; only where none covers a sensor is it the machine.
    sensor = next((each for each in dark if not r.dim(each)), dark[0])
    seen = f"sensor {sensor} was dark before anything moved"
    margin = _margin(r, sensor)
    came = (f"a card came to sensor {sensor} and did not go",) if r.left_on(sensor) else ()
    left = Cause(Why.LEFT_CARD, sensor, (seen, *came, margin))
    dust = Cause(Why.DUST, sensor, (seen, margin))
    foreign = Cause(Why.FOREIGN_OBJECT, sensor, (f"dark: {', '.join(dark)}", margin))
    if not r.dim(sensor):
        return [left, foreign, dust]
    return [dust, foreign, left] if len(dark) == 1 else [foreign, dust, left]


# --- a card that did not arrive ---------------------------------------------------------------------------------------


def _of_jam(r: Readings, t: Thresholds) -> list[Cause]:
    segment = r.dossier.halt.segment
    assert segment is not None, "a jam names its segment"
    sensor = r.leg.next_sensor(segment)
    stretch = r.leg.stretches[r.leg.place(segment)]
    strained = r.strained(stretch.motor)
    if sensor is not None and r.blind(sensor):
        return _of_blind_sensor(r, segment, sensor)
    if r.skipped(segment):
        late = f"a card came to sensor {r.skipped(segment)} after it was given up"
        first = r.leg.stretches[0].segment
        return [Cause(Why.WORN_ROLLER, first, (late,)), Cause(Why.FIRMWARE_TIMING, first, (late,))]
    entry = r.leg.before(segment)
    if sensor is None and entry is not None and r.dim(entry):
        level = f"sensor {entry} is dark, but not as dark as under a card"
        dust = Cause(Why.DUST, entry, (level, _margin(r, entry)), sure=r.clearly_dim(entry))
        return [dust, Cause(Why.STUCK_CARD, segment, (f"a card may cover sensor {entry}",))]
    if r.seized(segment):
        return [_seized(r, segment, stretch.motor), *_of_stuck_card(r, t, segment)]
    if strained or r.by_hand:
        return _of_stuck_card(r, t, segment)
    if sensor is None and r.dossier.account.inside == 0 and r.dark(r.leg.before(segment)) is False:
        return [Cause(Why.STUCK_CARD, segment, ("every card is out, and what lies behind the gate was not lifted",))]
    return _of_no_grip(r, t, segment)


def _of_blind_sensor(r: Readings, segment: str, sensor: str) -> list[Cause]:
    strained = [s.motor for s in r.leg.stretches[r.leg.place(segment) :] if r.strained(s.motor)]
    dark = f"sensor {sensor} is dark and no leading edge came to it: it was dark before"
    beyond = r.skipped(segment)
    if beyond:
        dark = f"sensor {beyond} saw the card, sensor {sensor} before it did not"
    dust = Cause(Why.DUST, sensor, (dark, _margin(r, sensor)), sure=beyond is not None)
    if not strained:
        free = all(r.runs_free(s.motor) for s in r.leg.stretches[r.leg.place(segment) :])
        return [_alone(dust) if free else dust, Cause(Why.FOREIGN_OBJECT, sensor, (dark,))]
    work = f"motor {strained[0]} works against something"
    return [
        Cause(Why.FOREIGN_OBJECT, segment, (dark, work)),
        Cause(Why.STUCK_CARD, segment, (work,)),
        dust,
    ]


def _alone(cause: Cause) -> Cause:
    """Return the same cause as the one that fits alone."""
    return Cause(cause.why, cause.at, cause.evidence, sure=True)


def _of_stuck_card(r: Readings, t: Thresholds, segment: str) -> list[Cause]:
    stretch = r.leg.stretches[r.leg.place(segment)]
    drawn = r.dossier.current(stretch.motor)
    work = (f"motor {stretch.motor} drew {drawn} mA: it works against something",) if not r.by_hand else ()
    slow = r.slowness(segment)
    stuck = Cause(Why.STUCK_CARD, segment, (*work, "it did not come in time"))
    if slow is None:
        return [stuck, Cause(Why.BENT_CARD, segment, ("nothing tells how fast it came",))]
    came = f"on its way it took {slow:.2f} times as long as the cards before it"
    if slow >= t.slow:
        return [Cause(Why.BENT_CARD, segment, (*work, came)), stuck]
    return [Cause(Why.STUCK_CARD, segment, (*work, came)), Cause(Why.FOREIGN_OBJECT, segment, work)]


def _seized(r: Readings, segment: str, motor: str) -> Cause:
    """Nothing that is read at a halt tells a seized motor from a card that sticks first of all: it is never sure."""
    drawn = f"motor {motor} drew {r.dossier.current(motor)} mA, what it draws when it does not turn"
    moves = ", ".join(s.segment for leg in r.path.legs for s in leg.stretches if s.motor == motor)
    still = f"no card has gone on through {segment} since the motion began (it moves: {moves})"
    again = ("the motion before ended in a jam, too",) if r.again else ()
    return Cause(Why.SEIZED_MOTOR, motor, (drawn, still, *again, "a jog tells whether it turns"))


def _of_no_grip(r: Readings, t: Thresholds, segment: str) -> list[Cause]:
    stretch = r.leg.stretches[r.leg.place(segment)]
    drawn = r.dossier.current(stretch.motor)
    free = "no current was told" if drawn is None else f"motor {stretch.motor} ran free ({drawn} mA)"
    waited, drift = r.waited(segment), r.drifted(segment)
    worn: tuple[str, ...] = (free,)
    if drift is not None:
        worn += (f"the last card through it took {drift:.2f} times the least time",)
    if waited is None:
        return [
            Cause(Why.WORN_ROLLER, segment, worn),
            Cause(Why.FIRMWARE_TIMING, segment, ("nobody knows how long cards usually take there",)),
        ]
    wait = f"the machine waited {waited:.2f} times the usual"
    hasty = Cause(Why.FIRMWARE_TIMING, segment, (free, wait), sure=waited < 1 and drift is not None)
    roller = Cause(Why.WORN_ROLLER, segment, (*worn, wait), sure=drift is not None and drift >= t.drift)
    return [hasty, roller] if waited < t.hasty else [roller, hasty]


# --- pieces that were too long or too short ---------------------------------------------------------------------------


def _of_long_pulse(r: Readings, t: Thresholds) -> list[Cause]:
    segment = r.dossier.halt.segment
    assert segment is not None, "a pulse has its segment"
    sensor = r.leg.next_sensor(segment)
    assert sensor is not None, "a pulse has its sensor"
    pulse, transit = r.pulse(sensor), r.transit(segment)
    long = f"sensor {sensor} was dark {pulse:.2f} times as long as usual" if pulse else "the pulse was too long"
    slow = is_slow(r, sensor, segment, t)
    if came_late(r, segment, t):
        return [
            Cause(Why.WORN_ROLLER, segment, (long, _given_up(r, segment))),
            Cause(Why.DOUBLE_FEED, segment, (long,)),
        ]
    came = "" if transit is None else f"it came through {segment} in {transit:.2f} times the usual"
    pair = Cause(Why.DOUBLE_FEED, segment, tuple(filter(None, (long, came))), sure=slow is False)
    if slow:
        before = r.lately(segment)
        others = "nobody knows of others" if before is None else f"those before it took {before:.2f} times the usual"
        bent = Cause(Why.BENT_CARD, segment, (long, came, others))
        worn = Cause(Why.WORN_ROLLER, segment, (came, others))
        both = [worn, bent] if before is not None and before >= t.slow else [bent, worn]
        return [*both, Cause(Why.DOUBLE_FEED, segment, (long,))]
    return [pair, Cause(Why.BENT_CARD, segment, (long,))]


def _of_short_pulse(r: Readings, t: Thresholds) -> list[Cause]:
    segment = r.dossier.halt.segment
    assert segment is not None, "a pulse has its segment"
    torn = Cause(Why.TORN_CARD, segment, ("the pulse was shorter than a card, and the card did not follow",))
    if came_late(r, segment, t):
        return [Cause(Why.WORN_ROLLER, segment, (_given_up(r, segment),)), torn]
    return [torn, Cause(Why.FOREIGN_OBJECT, segment, ("the pulse was shorter than a card",))]


def _given_up(r: Readings, segment: str) -> str:
    transit = r.transit(segment)
    came = "" if transit is None else f"it came through {segment} in {transit:.2f} times the usual: "
    return f"{came}a card that was given up before, or the one after it"


# --- counts that disagree ---------------------------------------------------------------------------------------------


def _of_counts(r: Readings) -> list[Cause]:
    d = r.dossier
    counted = next((halt for halt in d.halts if halt.counted_in is not None and halt.segment is None), None)
    first = r.path.legs[1].stretches[0].segment
    spread = r.spread(first)
    if r.gives_up() and spread is not None:
        slow = f"cards came through {first} in up to {spread:.2f} times the least time; late ones were taken for none"
        return [Cause(Why.WORN_ROLLER, first, (slow,)), Cause(Why.SLIPPED_CARD, None, ("the counts disagree",))]
    hidden = r.path.legs[0].hidden
    if counted is None or counted.counted_in is None or counted.counted_out is None:
        return [Cause(Why.SLIPPED_CARD, hidden, ("a card is not where it was put",))]
    went_in, came_out = counted.counted_in, counted.counted_out
    counts = f"{went_in} cards were counted in, {came_out} out"
    slipped = Cause(Why.SLIPPED_CARD, hidden, (counts,))
    pair = Cause(Why.UNSEEN_PAIR, r.path.legs[0].stretches[0].segment, (counts,))
    if came_out < went_in:
        out = Cause(Why.UNSEEN_PAIR, first, (counts, "or two came out as one"))
        return [slipped, out]
    if came_out == went_in:
        return [slipped, pair]
    missed = _missed_before(r)
    if missed:
        left = f"an earlier motion counted {missed} more in than out"
        return [Cause(Why.MIGRATED_CARD, hidden, (counts, left)), pair]
    return [pair, Cause(Why.MIGRATED_CARD, hidden, (counts,))]


def _missed_before(r: Readings) -> int:
    """Return how many cards earlier motions left inside, by their counts, and nobody has found since."""
    missed = 0
    for end in r.dossier.ends:
        if end.said in ("Incomplete", "Unbalanced") and end.counted_in is not None and end.counted_out is not None:
            missed = max(0, missed + end.counted_in - end.counted_out)
    return missed


def _margin(r: Readings, sensor: str) -> str:
    level = r.dossier.level(sensor)
    if level is None:
        return f"no level of sensor {sensor} was told"
    side = "below" if level.level < level.threshold else "above"
    return f"its level is {level.level}, {level.margin} {side} the threshold of {level.threshold}"
