"""Ranks the causes of a fault, each with its evidence. A cause is sure only if no other fits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from table_controller.diagnosis.findings import CauseKind, Diagnosis, FaultCause
from table_controller.diagnosis.location import came_late, is_slow, locate
from table_controller.diagnosis.measurements import Measurements, Thresholds

if TYPE_CHECKING:
    from table_controller.diagnosis.fault_report import FaultReport

# Causes that table staff may clear without a technician: one stuck card does not mean that the machine is faulty.
CLEARED_BY_STAFF: Final = (
    CauseKind.STUCK_CARD,
    CauseKind.BENT_CARD,
    CauseKind.TORN_CARD,
    CauseKind.DOUBLE_FEED,
    CauseKind.LEFT_CARD,
    CauseKind.INTERRUPTED,
)


def diagnose(report: FaultReport, thresholds: Thresholds | None = None) -> Diagnosis:
    """Return the diagnosis of a fault report: place, card counts and causes."""
    t = thresholds or Thresholds()
    r = Measurements(report, t)
    where, cards = locate(r, t)
    causes = tuple(_causes(r, t)) or (FaultCause(CauseKind.UNKNOWN, None, ("no evidence supports any cause",)),)
    return Diagnosis(
        where, cards, causes, staff=causes[0].why in CLEARED_BY_STAFF and report.halt.what != "counts_disagree"
    )


def _causes(r: Measurements, t: Thresholds) -> list[FaultCause]:
    halt = r.report.halt
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
            return [FaultCause(CauseKind.WRONG_COUNT, r.leg.start, ("the machine counted too many cards",))]
        case "chute_jam":
            return [FaultCause(CauseKind.STUCK_CARD, None, ("the stack did not leave the chute into the shoe",))]
        case _:
            return [FaultCause(CauseKind.INTERRUPTED, None, (f"the machine reported {halt.message}",), sure=True)]


def _of_self_test(r: Measurements) -> list[FaultCause]:
    halt = r.report.halt
    alone = len(halt.bad_sensors) + len(halt.bad_motors) == 1
    held = "it was switched on without a card at its rollers, and did not turn"
    return [
        *(FaultCause(CauseKind.SEIZED_MOTOR, motor, (held,), sure=alone) for motor in halt.bad_motors),
        *(FaultCause(CauseKind.DUST, sensor, (_margin(r, sensor),), sure=alone) for sensor in halt.bad_sensors),
    ]


# --- a path that is dark before anything moves ------------------------------------------------------------------------


def _of_dark_path(r: Measurements) -> list[FaultCause]:
    dark = r.dark_path()
    asked = f"the machine refused {r.report.halt.refused}: its path is dark"
    if not r.report.levels:
        return [FaultCause(CauseKind.UNKNOWN, None, (asked, "the machine sent no sensor level"))]
    if not dark:
        clear = "no sensor is dark any more: somebody drew or removed a card"
        return [
            FaultCause(CauseKind.INTERRUPTED, None, (asked, clear)),
            FaultCause(CauseKind.LEFT_CARD, None, (asked,)),
        ]
    # Staff can remove a card; it is a machine fault only if no card covers a sensor.
    sensor = next((each for each in dark if not r.dim(each)), dark[0])
    seen = f"sensor {sensor} was dark before anything moved"
    margin = _margin(r, sensor)
    came = (f"a card came to sensor {sensor} and did not go",) if r.left_on(sensor) else ()
    left = FaultCause(CauseKind.LEFT_CARD, sensor, (seen, *came, margin))
    dust = FaultCause(CauseKind.DUST, sensor, (seen, margin))
    foreign = FaultCause(CauseKind.FOREIGN_OBJECT, sensor, (f"dark: {', '.join(dark)}", margin))
    if not r.dim(sensor):
        return [left, foreign, dust]
    return [dust, foreign, left] if len(dark) == 1 else [foreign, dust, left]


# --- a card that did not arrive ---------------------------------------------------------------------------------------


def _of_jam(r: Measurements, t: Thresholds) -> list[FaultCause]:
    segment = r.report.halt.segment
    assert segment is not None, "a jam names its segment"
    sensor = r.leg.next_sensor(segment)
    stretch = r.leg.stretches[r.leg.index_of(segment)]
    strained = r.strained(stretch.motor)
    if sensor is not None and r.blind(sensor):
        return _of_blind_sensor(r, segment, sensor)
    if r.skipped(segment):
        late = f"a card reached sensor {r.skipped(segment)} after the machine had stopped waiting for it"
        first = r.leg.stretches[0].segment
        return [
            FaultCause(CauseKind.WORN_ROLLER, first, (late,)),
            FaultCause(CauseKind.FIRMWARE_TIMING, first, (late,)),
        ]
    entry = r.leg.before(segment)
    if sensor is None and entry is not None and r.dim(entry):
        level = f"sensor {entry} is dark, but not as dark as under a card"
        dust = FaultCause(CauseKind.DUST, entry, (level, _margin(r, entry)), sure=r.clearly_dim(entry))
        return [dust, FaultCause(CauseKind.STUCK_CARD, segment, (f"a card may cover sensor {entry}",))]
    if r.seized(segment):
        return [_seized(r, segment, stretch.motor), *_of_stuck_card(r, t, segment)]
    if strained or r.by_hand:
        return _of_stuck_card(r, t, segment)
    if sensor is None and r.report.account.inside == 0 and r.dark(r.leg.before(segment)) is False:
        return [
            FaultCause(
                CauseKind.STUCK_CARD, segment, ("every card is out, and the stack behind the gate was not lifted",)
            )
        ]
    return _of_no_grip(r, t, segment)


def _of_blind_sensor(r: Measurements, segment: str, sensor: str) -> list[FaultCause]:
    strained = [s.motor for s in r.leg.stretches[r.leg.index_of(segment) :] if r.strained(s.motor)]
    dark = f"sensor {sensor} is dark and detected no leading edge: it was dark before"
    beyond = r.skipped(segment)
    if beyond:
        dark = f"sensor {beyond} detected the card, sensor {sensor} before it did not"
    dust = FaultCause(CauseKind.DUST, sensor, (dark, _margin(r, sensor)), sure=beyond is not None)
    if not strained:
        free = all(r.runs_free(s.motor) for s in r.leg.stretches[r.leg.index_of(segment) :])
        return [_alone(dust) if free else dust, FaultCause(CauseKind.FOREIGN_OBJECT, sensor, (dark,))]
    work = f"motor {strained[0]} is under load"
    return [
        FaultCause(CauseKind.FOREIGN_OBJECT, segment, (dark, work)),
        FaultCause(CauseKind.STUCK_CARD, segment, (work,)),
        dust,
    ]


def _alone(cause: FaultCause) -> FaultCause:
    """Return the same cause, marked as sure."""
    return FaultCause(cause.why, cause.at, cause.evidence, sure=True)


def _of_stuck_card(r: Measurements, t: Thresholds, segment: str) -> list[FaultCause]:
    stretch = r.leg.stretches[r.leg.index_of(segment)]
    drawn = r.report.current(stretch.motor)
    work = (f"motor {stretch.motor} drew {drawn} mA: it is under load",) if not r.by_hand else ()
    slow = r.slowness(segment)
    stuck = FaultCause(CauseKind.STUCK_CARD, segment, (*work, "the card did not arrive in time"))
    if slow is None:
        return [stuck, FaultCause(CauseKind.BENT_CARD, segment, ("its speed is not known",))]
    came = f"the card was {slow:.2f} times as slow as the cards before it"
    if slow >= t.slow:
        return [FaultCause(CauseKind.BENT_CARD, segment, (*work, came)), stuck]
    return [
        FaultCause(CauseKind.STUCK_CARD, segment, (*work, came)),
        FaultCause(CauseKind.FOREIGN_OBJECT, segment, work),
    ]


def _seized(r: Measurements, segment: str, motor: str) -> FaultCause:
    """Return a seized motor as a cause. It is never sure: a stuck first card gives the same readings."""
    drawn = f"motor {motor} drew {r.report.current(motor)} mA, its current when it does not turn"
    moves = ", ".join(s.segment for leg in r.path.legs for s in leg.stretches if s.motor == motor)
    still = f"no card has passed through {segment} since the motion began (the motor moves: {moves})"
    again = ("the motion before also ended in a jam",) if r.jammed_before else ()
    return FaultCause(CauseKind.SEIZED_MOTOR, motor, (drawn, still, *again, "jog the motor to see whether it turns"))


def _of_no_grip(r: Measurements, t: Thresholds, segment: str) -> list[FaultCause]:
    stretch = r.leg.stretches[r.leg.index_of(segment)]
    drawn = r.report.current(stretch.motor)
    free = "the machine sent no current" if drawn is None else f"motor {stretch.motor} ran free ({drawn} mA)"
    waited, drift = r.waited(segment), r.drifted(segment)
    worn: tuple[str, ...] = (free,)
    if drift is not None:
        worn += (f"the last card through it took {drift:.2f} times the shortest time",)
    if waited is None:
        return [
            FaultCause(CauseKind.WORN_ROLLER, segment, worn),
            FaultCause(CauseKind.FIRMWARE_TIMING, segment, ("the usual transit time there is not known",)),
        ]
    wait = f"the machine waited {waited:.2f} times the usual time"
    hasty = FaultCause(CauseKind.FIRMWARE_TIMING, segment, (free, wait), sure=waited < 1 and drift is not None)
    roller = FaultCause(CauseKind.WORN_ROLLER, segment, (*worn, wait), sure=drift is not None and drift >= t.drift)
    return [hasty, roller] if waited < t.hasty else [roller, hasty]


# --- pieces that were too long or too short ---------------------------------------------------------------------------


def _of_long_pulse(r: Measurements, t: Thresholds) -> list[FaultCause]:
    segment = r.report.halt.segment
    assert segment is not None, "a pulse has its segment"
    sensor = r.leg.next_sensor(segment)
    assert sensor is not None, "a pulse has its sensor"
    pulse, transit = r.pulse(sensor), r.transit(segment)
    long = f"sensor {sensor} was dark {pulse:.2f} times as long as usual" if pulse else "the pulse was too long"
    slow = is_slow(r, sensor, segment, t)
    if came_late(r, segment, t):
        return [
            FaultCause(CauseKind.WORN_ROLLER, segment, (long, _given_up(r, segment))),
            FaultCause(CauseKind.DOUBLE_FEED, segment, (long,)),
        ]
    came = "" if transit is None else f"it passed {segment} in {transit:.2f} times the usual time"
    pair = FaultCause(CauseKind.DOUBLE_FEED, segment, tuple(filter(None, (long, came))), sure=slow is False)
    if slow:
        before = r.lately(segment)
        others = (
            "no earlier cards are known" if before is None else f"earlier cards took {before:.2f} times the usual time"
        )
        bent = FaultCause(CauseKind.BENT_CARD, segment, (long, came, others))
        worn = FaultCause(CauseKind.WORN_ROLLER, segment, (came, others))
        both = [worn, bent] if before is not None and before >= t.slow else [bent, worn]
        return [*both, FaultCause(CauseKind.DOUBLE_FEED, segment, (long,))]
    return [pair, FaultCause(CauseKind.BENT_CARD, segment, (long,))]


def _of_short_pulse(r: Measurements, t: Thresholds) -> list[FaultCause]:
    segment = r.report.halt.segment
    assert segment is not None, "a pulse has its segment"
    torn = FaultCause(CauseKind.TORN_CARD, segment, ("the pulse was shorter than a card, and the card did not follow",))
    if came_late(r, segment, t):
        return [FaultCause(CauseKind.WORN_ROLLER, segment, (_given_up(r, segment),)), torn]
    return [torn, FaultCause(CauseKind.FOREIGN_OBJECT, segment, ("the pulse was shorter than a card",))]


def _given_up(r: Measurements, segment: str) -> str:
    transit = r.transit(segment)
    came = "" if transit is None else f"it passed {segment} in {transit:.2f} times the usual time: "
    return f"{came}a card that the machine had stopped waiting for, or the next one"


# --- counts that disagree ---------------------------------------------------------------------------------------------


def _of_counts(r: Measurements) -> list[FaultCause]:
    d = r.report
    counted = next((halt for halt in d.halts if halt.counted_in is not None and halt.segment is None), None)
    first = r.path.legs[1].stretches[0].segment
    spread = r.spread(first)
    if r.gives_up() and spread is not None:
        slow = f"cards passed {first} in up to {spread:.2f} times the shortest time; late cards counted as none"
        return [
            FaultCause(CauseKind.WORN_ROLLER, first, (slow,)),
            FaultCause(CauseKind.SLIPPED_CARD, None, ("the counts disagree",)),
        ]
    hidden = r.path.legs[0].hidden
    if counted is None or counted.counted_in is None or counted.counted_out is None:
        return [FaultCause(CauseKind.SLIPPED_CARD, hidden, ("a card is not in its expected place",))]
    went_in, came_out = counted.counted_in, counted.counted_out
    counts = f"{went_in} cards were counted in, {came_out} out"
    slipped = FaultCause(CauseKind.SLIPPED_CARD, hidden, (counts,))
    pair = FaultCause(CauseKind.UNSEEN_PAIR, r.path.legs[0].stretches[0].segment, (counts,))
    if came_out < went_in:
        out = FaultCause(CauseKind.UNSEEN_PAIR, first, (counts, "or two came out as one"))
        return [slipped, out]
    if came_out == went_in:
        return [slipped, pair]
    missed = _missed_before(r)
    if missed:
        left = f"an earlier motion counted {missed} more in than out"
        return [FaultCause(CauseKind.MIGRATED_CARD, hidden, (counts, left)), pair]
    return [pair, FaultCause(CauseKind.MIGRATED_CARD, hidden, (counts,))]


def _missed_before(r: Measurements) -> int:
    """Return how many cards earlier motions left inside, by their counts, that are not found yet."""
    missed = 0
    for end in r.report.ends:
        if end.message in ("Incomplete", "Unbalanced") and end.counted_in is not None and end.counted_out is not None:
            missed = max(0, missed + end.counted_in - end.counted_out)
    return missed


def _margin(r: Measurements, sensor: str) -> str:
    level = r.report.level(sensor)
    if level is None:
        return f"the machine sent no level of sensor {sensor}"
    side = "below" if level.level < level.threshold else "above"
    return f"its level is {level.level}, {level.margin} {side} the threshold of {level.threshold}"
