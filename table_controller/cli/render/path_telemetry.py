"""Tables of a card path's telemetry, for every machine that has a card path: sensors, motors, transit times."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from enum import IntEnum

    from devices.path_telemetry import OpticalLevel, TransitTimes

Rows = list[tuple[str, ...]]


def count_text(cards: int | None) -> str:
    """Return a count of cards as text."""
    return "unknown" if cards is None else str(cards)


def sensor_table(
    sensors: type[IntEnum], levels: list[OpticalLevel], motors: type[IntEnum], currents: list[int]
) -> tuple[Rows, tuple[str, ...]]:
    """Return levels and margins of every fitted sensor, and the current of every motor."""
    fitted = ((s, v) for s, v in zip(sensors, levels, strict=True) if v.threshold)
    rows: Rows = [
        (s.name.lower(), "dark" if v.blocked else "clear", str(v.level), str(v.threshold), str(v.margin))
        for s, v in fitted
    ]
    rows += [(f"motor {motor.name.lower()}", f"{currents[motor]} mA", "", "", "") for motor in motors]
    return rows, ("", "now", "level", "threshold", "margin")


def transit_table(segments: type[IntEnum], transits: list[TransitTimes]) -> tuple[Rows, tuple[str, ...]]:
    """Return how long cards took through each segment."""
    rows: Rows = [
        (s.name.lower(), str(t.cards), *(f"{us / 1000:.1f}" for us in (t.mean, t.least, t.most, t.deviation, t.last)))
        for s, t in zip(segments, transits, strict=True)
    ]
    return rows, ("segment", "cards", "mean ms", "least", "most", "deviation", "last")


def dark_sensors(sensors: Iterable[IntEnum], levels: list[OpticalLevel]) -> str:
    """Return the names of the sensors that are blocked."""
    return ", ".join(sensor.name.lower() for sensor in sensors if levels[sensor].blocked) or "none"


def strained_motor(motors: type[IntEnum], currents: list[int]) -> str:
    """Return the motor with the highest current, with that current."""
    hardest = max(motors, key=lambda motor: currents[motor])
    return f"{hardest.name.lower()}, {currents[hardest]} mA"


def failed_parts(sensors: type[IntEnum], bad_sensors: int, motors: type[IntEnum], bad_motors: int) -> str:
    """Return the result of a self-test as a sentence."""
    bad = [sensor.name.lower() for sensor in sensors if bad_sensors >> sensor & 1]
    bad += [f"motor {motor.name.lower()}" for motor in motors if bad_motors >> motor & 1]
    return "not passed: " + ", ".join(bad) if bad else "every sensor and motor passed"
