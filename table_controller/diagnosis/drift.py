"""Detects drift of a machine that moves cards from its own statistics, before it jams.

A machine reports sums since power-up; a sample is one such report. Samples become windows of some hundred cards, and
each segment is compared with its state after the last repair. Weather, a new deck and cold grease slow all segments
alike, so the common change is removed: only the change of one segment alone is drift.
"""

from __future__ import annotations

from math import isqrt
from typing import Final, Literal

import msgspec

Signal = Literal["transit", "spread", "margin"]

# Ratios are compared in parts per million.
PPM: Final = 1_000_000
# Cards of a window: four decks. Fewer are too noisy (3 % a card), more delay the warning.
WINDOW_CARDS: Final = 212
# A machine reports the mean of all its n cards in whole microseconds, so the sum is known to n/2. A window of n/100
# keeps the error below 50 us, a thousandth of a transit.
_SHARE: Final = 100
# Windows of the base, right after a repair.
BASE_WINDOWS: Final = 5
# Windows of a trend: a short one for fast changes, a long one for slow changes.
TREND_WINDOWS: Final = (5, 12)
MAX_WINDOWS: Final = 48  # stored windows, about 10,000 cards


class SegmentSample(msgspec.Struct, frozen=True):
    """A segment's statistics since power-up: cards, mean and deviation of their transit times (us)."""

    cards: int
    mean: int
    deviation: int


class PathSample(msgspec.Struct, frozen=True):
    """One report of a machine. `margins`: by sensor, the distance from a misreading; None while it is covered.

    `boot` identifies the run of its firmware.
    """

    segments: tuple[SegmentSample, ...]
    margins: tuple[int | None, ...]
    boot: int = 0


class Window(msgspec.Struct, frozen=True):
    """The cards between two samples: the last card, mean (us) and variance (us^2) by segment, margins by sensor."""

    at: int
    means: tuple[int, ...]  # 0: no card passed here
    variances: tuple[int, ...]
    margins: tuple[int | None, ...]


class Wear(msgspec.Struct, frozen=True):
    """The wear history of one machine, identified by its serial number; at most `MAX_WINDOWS` windows."""

    serial: str
    slot: str = ""  # its last slot
    cards: int = 0  # through the machine, since this history began
    mended: int = 0  # the card count at the last repair
    last: PathSample | None = None  # the sample at the start of the open window
    base: tuple[Window, ...] = ()
    windows: tuple[Window, ...] = ()
    light: tuple[tuple[int, int], ...] = ()  # of the open window, by sensor: the sum of its margins, and how many


class Limits(msgspec.Struct, frozen=True):
    """Limits of drift warnings, fitted on simulated histories by `python -m tools.studies.drift_figures --fit`."""

    transit: int = 300_000  # ppm over its own base: here a segment jams
    spread: int = 150_000  # ppm of the mean that transit times vary: cards slip this much before a jam
    least: int = 8_000  # ppm: only wear causes more drift than this
    least_spread: int = 200_000
    sure: int = 4  # standard errors between a trend and no trend
    horizon: int = 2_000  # cards: a later failure needs no warning yet
    margin: int = 0  # where a sensor is blind
    least_margin: int = 10  # levels that a margin has fallen


DEFAULT: Final = Limits()


class DriftWarning(msgspec.Struct, frozen=True):
    """A drifting part, how far it has drifted, and the cards left by its trend; `fewest`: in the worst case."""

    signal: Signal
    part: int  # number of the segment, or of the sensor
    now: int  # ppm over its base, or levels of margin
    left: int
    fewest: int


# --- samples ----------------------------------------------------------------------------------------------------------


def add_sample(wear: Wear, look: PathSample) -> Wear:
    """Return the history with one more sample. After a power-up, a machine's statistics start at zero."""
    replace = msgspec.structs.replace
    last = wear.last
    if last is None or _restarted(last, look):
        zero = SegmentSample(0, 0, 0)
        last = PathSample(tuple(zero for _ in look.segments), look.margins, look.boot)
        if wear.last is None:  # earlier statistics are not known to be good
            return replace(wear, last=look)
        wear = replace(wear, last=last)
    wear = replace(wear, light=_lit(wear.light, look.margins))
    passed = max(now.cards - then.cards for now, then in zip(look.segments, last.segments, strict=True))
    most_cards = max(segment.cards for segment in look.segments)
    if passed < max(WINDOW_CARDS, most_cards // _SHARE):
        return wear
    window = _window(wear.cards + passed, last, look, wear.light)
    if len(wear.base) < BASE_WINDOWS:
        wear = replace(wear, base=(*wear.base, window))
    return replace(wear, cards=window.at, last=look, windows=(*wear.windows, window)[-MAX_WINDOWS:], light=())


def restart_after_repair(wear: Wear) -> Wear:
    """Return the history after a repair of rollers or sensors: it begins with a new base."""
    return msgspec.structs.replace(wear, mended=wear.cards, last=None, base=(), windows=(), light=())


def _restarted(last: PathSample, look: PathSample) -> bool:
    return look.boot != last.boot or any(
        now.cards < then.cards for now, then in zip(look.segments, last.segments, strict=True)
    )


def _lit(light: tuple[tuple[int, int], ...], margins: tuple[int | None, ...]) -> tuple[tuple[int, int], ...]:
    """Add a sample's margins; the average over a window is less noisy than one reading."""
    before = light if len(light) == len(margins) else ((0, 0),) * len(margins)
    return tuple(
        (total, looks) if margin is None else (total + margin, looks + 1)
        for (total, looks), margin in zip(before, margins, strict=True)
    )


def _window(at: int, last: PathSample, look: PathSample, light: tuple[tuple[int, int], ...]) -> Window:
    means, variances = [], []
    for now, then in zip(look.segments, last.segments, strict=True):
        cards = now.cards - then.cards
        if cards <= 0:
            means.append(0)
            variances.append(0)
            continue
        mean = (_sum(now) - _sum(then)) // (2 * cards)
        squares = _squares(now) - _squares(then)
        means.append(max(0, mean))
        variances.append(max(0, squares // cards - mean * mean))
    margins = tuple(total // looks if looks else None for total, looks in light)
    return Window(at, tuple(means), tuple(variances), margins)


def _sum(sample: SegmentSample) -> int:
    """Return twice the sum of all transit times; the reported mean is rounded down by half a microsecond on average."""
    return sample.cards * (2 * sample.mean + 1) if sample.cards else 0


def _squares(sample: SegmentSample) -> int:
    return sample.cards * (sample.deviation * sample.deviation + sample.mean * sample.mean + sample.mean)


# --- series of windows ------------------------------------------------------------------------------------------------


def excess(wear: Wear, segment: int) -> list[tuple[int, int]]:
    """Return how much (ppm) a segment alone is slower than its base, for each window with its last card."""
    bases = _base_means(wear)
    if not bases or not bases[segment]:
        return []
    points = []
    for window in wear.windows:
        ratios = [PPM * mean // base for mean, base in zip(window.means, bases, strict=True) if mean and base]
        if not window.means[segment] or not ratios:
            continue
        common = _median(ratios)
        points.append((window.at, PPM * (PPM * window.means[segment] // bases[segment]) // common - PPM))
    return points


def spread(wear: Wear, segment: int) -> list[tuple[int, int]]:
    """Return how much (ppm of the mean) transit times vary beyond the base, because cards slip.

    Machines of this protocol do not count retries; a successful retry takes half as long again.
    """
    if len(wear.base) < BASE_WINDOWS:
        return []
    usual = sum(_relative(window, segment) for window in wear.base) // BASE_WINDOWS
    return [
        (window.at, isqrt(max(0, _relative(window, segment) - usual)))
        for window in wear.windows
        if window.means[segment]
    ]


def margins(wear: Wear, sensor: int) -> list[tuple[int, int]]:
    """Return a sensor's margin for each window."""
    return [(w.at, m) for w in wear.windows if (m := w.margins[sensor]) is not None]


def _relative(window: Window, segment: int) -> int:
    mean = window.means[segment]
    return window.variances[segment] * PPM * PPM // (mean * mean) if mean else 0


def _base_means(wear: Wear) -> list[int]:
    if len(wear.base) < BASE_WINDOWS:
        return []
    return [sum(window.means[s] for window in wear.base) // BASE_WINDOWS for s in range(len(wear.base[0].means))]


def _median(values: list[int]) -> int:
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) // 2


# --- trends and warnings ----------------------------------------------------------------------------------------------


class Trend(msgspec.Struct, frozen=True):
    """A line through the newest windows: its present value and its rise in a million cards."""

    now: int
    rise: int
    most: int  # the rise and two standard errors
    sure: int  # standard errors between this rise and none; 0 if it does not rise


def trend(points: list[tuple[int, int]]) -> Trend | None:
    """Return the exact least-squares line through points; None if there are too few."""
    n = len(points)
    if n < min(TREND_WINDOWS):
        return None
    end = points[-1][0]
    xs, ys = [x - end for x, _ in points], [y for _, y in points]
    sx, sy = sum(xs), sum(ys)
    across = n * sum(x * x for x in xs) - sx * sx
    along = n * sum(x * y for x, y in zip(xs, ys, strict=True)) - sx * sy
    if not across:
        return None
    up = n * sum(y * y for y in ys) - sy * sy
    residual = max(1, up * across - along * along)  # n * across * the sum of squared residuals
    rise = along * PPM // across
    error = isqrt(residual * PPM * PPM // (n - 2)) // across
    now = (sy * across - along * sx) // (n * across)
    return Trend(now, rise, rise + 2 * error, isqrt(along * along * (n - 2) // residual) if along > 0 else 0)


class TrendLine(msgspec.Struct, frozen=True):
    """The trend of one signal of one part; `usual` is its base value, 0 for an excess."""

    signal: Signal
    part: int
    trend: Trend
    usual: int = 0


def trend_lines(wear: Wear) -> list[TrendLine]:
    """Return the trends of all parts; none until the base is complete."""
    if len(wear.base) < BASE_WINDOWS:
        return []
    drawn = []
    for segment in range(len(wear.base[0].means)):
        drawn += _lines("transit", segment, excess(wear, segment), 0)
        drawn += _lines("spread", segment, spread(wear, segment), 0)
    for sensor in range(len(wear.base[0].margins)):
        clean = [margin for window in wear.base if (margin := window.margins[sensor]) is not None]
        usual = sum(clean) // len(clean) if clean else 0
        drawn += _lines("margin", sensor, [(at, usual - margin) for at, margin in margins(wear, sensor)], usual)
    return drawn


def _lines(signal: Signal, part: int, points: list[tuple[int, int]], usual: int) -> list[TrendLine]:
    drawn = [trend(points[-windows:]) for windows in TREND_WINDOWS if len(points) >= windows]
    return [TrendLine(signal, part, line, usual) for line in drawn if line is not None]


def judge(wear: Wear, limits: Limits = DEFAULT) -> list[DriftWarning]:
    """Return the drift warnings by the newest windows, the most urgent first, each part once."""
    warnings: dict[tuple[bool, int], DriftWarning] = {}
    for warned in sorted(
        filter(None, (warning_for(line, limits) for line in trend_lines(wear))), key=lambda each: each.left
    ):
        warnings.setdefault((warned.signal == "margin", warned.part), warned)
    return list(warnings.values())


def warning_for(line: TrendLine, limits: Limits) -> DriftWarning | None:
    """Return a warning if a line surely rises, is above the least drift, and reaches its limit before the horizon."""
    limit, least = {
        "transit": (limits.transit, limits.least),
        "spread": (limits.spread, limits.least_spread),
        "margin": (line.usual - limits.margin, limits.least_margin),
    }[line.signal]
    at = line.trend
    now = line.usual - at.now if line.signal == "margin" else at.now
    if at.now < least:
        return None
    if at.now >= limit:
        return DriftWarning(line.signal, line.part, now, 0, 0)
    if at.sure < limits.sure or at.rise <= 0:
        return None
    left, fewest = ((limit - at.now) * PPM // rise for rise in (at.rise, at.most))
    return DriftWarning(line.signal, line.part, now, left, fewest) if left <= limits.horizon else None
