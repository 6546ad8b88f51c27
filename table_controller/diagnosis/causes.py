"""Ranks the causes of a fault, each with its evidence. A cause is sure only if no other fits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from table_controller.diagnosis.findings import Cause, Diagnosis, Why
from table_controller.diagnosis.locate import came_late, is_slow, locate
from table_controller.diagnosis.readings import Readings, Thresholds

if TYPE_CHECKING:
    from table_controller.diagnosis.dossier import Dossier

# Causes that table staff may clear without a technician: one stuck card does not mean that the machine is faulty.
STAFF: Final = (Why.STUCK_CARD, Why.BENT_CARD, Why.TORN_CARD, Why.DOUBLE_FEED, Why.LEFT_CARD, Why.INTERRUPTED)


def diagnose(report: Dossier, thresholds: Thresholds | None = None) -> Diagnosis:
    """Return the diagnosis of a fault report: place, card counts and causes."""
    t = thresholds or Thresholds()
    r = Readings(report, t)
    where, cards = locate(r, t)
    causes = tuple(_causes(r, t)) or (Cause(Why.UNKNOWN, None, ("no evidence supports any cause",)),)
    return Diagnosis(where, cards, causes, staff=causes[0].why in STAFF and report.halt.what != "counts_disagree")


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
            return [Cause(Why.INTERRUPTED, None, (f"the machine reported {halt.said}",), sure=True)]


def _of_self_test(r: Readings) -> list[Cause]:
    halt = r.dossier.halt
    alone = len(halt.bad_sensors) + len(halt.bad_motors) == 1
    held = "it was switched on without a card at its rollers, and did not turn"
    return [
        *(Cause(Why.SEIZED_MOTOR, motor, (held,), sure=alone) for motor in halt.bad_motors),
        *(Cause(Why.DUST, sensor, (_margin(r, sensor),), sure=alone) for sensor in halt.bad_sensors),
    ]


# --- a path that is dark before anything moves ------------------------------------------------------------------------


def _of_dark_path(r: Readings) -> list[Cause]:
    dark = r.dark_path()
    asked = f"the machine refused {r.dossier.halt.refused}: its path is dark"
    if not r.dossier.levels:
        return [Cause(Why.UNKNOWN, None, (asked, "the machine sent no sensor level"))]
    if not dark:
        clear = "no sensor is dark any more: somebody drew or removed a card"
        return [Cause(Why.INTERRUPTED, None, (asked, clear)), Cause(Why.LEFT_CARD, None, (asked,))]
    # Staff can remove a card; it is a machine fault only if no card covers a sensor.
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
        late = f"a card reached sensor {r.skipped(segment)} after the machine had stopped waiting for it"
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
        return [Cause(Why.STUCK_CARD, segment, ("every card is out, and the stack behind the gate was not lifted",))]
    return _of_no_grip(r, t, segment)


def _of_blind_sensor(r: Readings, segment: str, sensor: str) -> list[Cause]:
    strained = [s.motor for s in r.leg.stretches[r.leg.place(segment) :] if r.strained(s.motor)]
    dark = f"sensor {sensor} is dark and detected no leading edge: it was dark before"
    beyond = r.skipped(segment)
    if beyond:
        dark = f"sensor {beyond} detected the card, sensor {sensor} before it did not"
    dust = Cause(Why.DUST, sensor, (dark, _margin(r, sensor)), sure=beyond is not None)
    if not strained:
        free = all(r.runs_free(s.motor) for s in r.leg.stretches[r.leg.place(segment) :])
        return [_alone(dust) if free else dust, Cause(Why.FOREIGN_OBJECT, sensor, (dark,))]
    work = f"motor {strained[0]} is under load"
    return [
        Cause(Why.FOREIGN_OBJECT, segment, (dark, work)),
        Cause(Why.STUCK_CARD, segment, (work,)),
        dust,
    ]


def _alone(cause: Cause) -> Cause:
    """Return the same cause, marked as sure."""
    return Cause(cause.why, cause.at, cause.evidence, sure=True)


def _of_stuck_card(r: Readings, t: Thresholds, segment: str) -> list[Cause]:
    stretch = r.leg.stretches[r.leg.place(segment)]
    drawn = r.dossier.current(stretch.motor)
    work = (f"motor {stretch.motor} drew {drawn} mA: it is under load",) if not r.by_hand else ()
    slow = r.slowness(segment)
    stuck = Cause(Why.STUCK_CARD, segment, (*work, "the card did not arrive in time"))
    if slow is None:
        return [stuck, Cause(Why.BENT_CARD, segment, ("its speed is not known",))]
    came = f"the card was {slow:.2f} times as slow as the cards before it"
    if slow >= t.slow:
        return [Cause(Why.BENT_CARD, segment, (*work, came)), stuck]
    return [Cause(Why.STUCK_CARD, segment, (*work, came)), Cause(Why.FOREIGN_OBJECT, segment, work)]


def _seized(r: Readings, segment: str, motor: str) -> Cause:
    """Return a seized motor as a cause. It is never sure: a stuck first card gives the same readings."""
    drawn = f"motor {motor} drew {r.dossier.current(motor)} mA, its current when it does not turn"
    moves = ", ".join(s.segment for leg in r.path.legs for s in leg.stretches if s.motor == motor)
    still = f"no card has passed through {segment} since the motion began (the motor moves: {moves})"
    again = ("the motion before also ended in a jam",) if r.again else ()
    return Cause(Why.SEIZED_MOTOR, motor, (drawn, still, *again, "jog the motor to see whether it turns"))


def _of_no_grip(r: Readings, t: Thresholds, segment: str) -> list[Cause]:
    stretch = r.leg.stretches[r.leg.place(segment)]
    drawn = r.dossier.current(stretch.motor)
    free = "the machine sent no current" if drawn is None else f"motor {stretch.motor} ran free ({drawn} mA)"
    waited, drift = r.waited(segment), r.drifted(segment)
    worn: tuple[str, ...] = (free,)
    if drift is not None:
        worn += (f"the last card through it took {drift:.2f} times the shortest time",)
    if waited is None:
        return [
            Cause(Why.WORN_ROLLER, segment, worn),
            Cause(Why.FIRMWARE_TIMING, segment, ("the usual transit time there is not known",)),
        ]
    wait = f"the machine waited {waited:.2f} times the usual time"
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
    came = "" if transit is None else f"it passed {segment} in {transit:.2f} times the usual time"
    pair = Cause(Why.DOUBLE_FEED, segment, tuple(filter(None, (long, came))), sure=slow is False)
    if slow:
        before = r.lately(segment)
        others = (
            "no earlier cards are known" if before is None else f"earlier cards took {before:.2f} times the usual time"
        )
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
    came = "" if transit is None else f"it passed {segment} in {transit:.2f} times the usual time: "
    return f"{came}a card that the machine had stopped waiting for, or the next one"


# --- counts that disagree ---------------------------------------------------------------------------------------------


def _of_counts(r: Readings) -> list[Cause]:
    d = r.dossier
    counted = next((halt for halt in d.halts if halt.counted_in is not None and halt.segment is None), None)
    first = r.path.legs[1].stretches[0].segment
    spread = r.spread(first)
    if r.gives_up() and spread is not None:
        slow = f"cards passed {first} in up to {spread:.2f} times the shortest time; late cards counted as none"
        return [Cause(Why.WORN_ROLLER, first, (slow,)), Cause(Why.SLIPPED_CARD, None, ("the counts disagree",))]
    hidden = r.path.legs[0].hidden
    if counted is None or counted.counted_in is None or counted.counted_out is None:
        return [Cause(Why.SLIPPED_CARD, hidden, ("a card is not in its expected place",))]
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
    """Return how many cards earlier motions left inside, by their counts, that are not found yet."""
    missed = 0
    for end in r.dossier.ends:
        if end.said in ("Incomplete", "Unbalanced") and end.counted_in is not None and end.counted_out is not None:
            missed = max(0, missed + end.counted_in - end.counted_out)
    return missed


def _margin(r: Readings, sensor: str) -> str:
    level = r.dossier.level(sensor)
    if level is None:
        return f"the machine sent no level of sensor {sensor}"
    side = "below" if level.level < level.threshold else "above"
    return f"its level is {level.level}, {level.margin} {side} the threshold of {level.threshold}"
