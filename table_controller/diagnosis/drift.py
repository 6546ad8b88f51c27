"""Drift of a machine that moves cards, told from its own statistics before it jams. Pure: integers in, warnings out.

A machine tells sums since power-up; a `Look` is one such telling. Looks become windows of some hundred cards, and a
segment is compared with itself as it was when it was last mended. Weather, a new deck and cold grease slow all segments
alike, so what all of them do is taken out: only what one segment does alone is drift. No clock, no machine, no file.
"""

from __future__ import annotations

from math import isqrt
from typing import Final, Literal

import msgspec

Signal = Literal["transit", "spread", "margin"]

# Parts in a million are the unit of everything that is compared.
PPM: Final = 1_000_000
# Cards of a window: four decks. Fewer are noise (3 % a card), more are late news.
WINDOW: Final = 212
# A machine tells whole microseconds of a mean over all its cards: of n cards the sum is known to n/2. A window of n/100
# keeps that below 50 us, a thousandth of a transit.
_SHARE: Final = 100
# Windows that say what a segment was when it was mended.
BASE: Final = 5
# Windows that trends are drawn through: a short one for what comes fast, a long one for what comes slowly.
TRENDS: Final = (5, 12)
KEPT: Final = 48  # windows kept, about 10,000 cards: what a person wants to see


class SegmentLook(msgspec.Struct, frozen=True):
    """A segment as its machine tells it since power-up: cards, mean and deviation of their transit times (us)."""

    cards: int
    mean: int
    deviation: int


class Look(msgspec.Struct, frozen=True):
    """One telling of a machine. `margins`: by sensor, how far it is from a misreading; None while it is covered.

    `boot` tells one run of its firmware from another.
    """

    segments: tuple[SegmentLook, ...]
    margins: tuple[int | None, ...]
    boot: int = 0


class Window(msgspec.Struct, frozen=True):
    """What passed between two looks: up to which card, mean (us) and variance (us^2) by segment, margins by sensor."""

    at: int
    means: tuple[int, ...]  # 0: no card passed here
    variances: tuple[int, ...]
    margins: tuple[int | None, ...]


class Wear(msgspec.Struct, frozen=True):
    """The running history of one machine, known by its serial number. Grows no further than `KEPT` windows."""

    serial: str
    slot: str = ""  # where it was seen last
    cards: int = 0  # through the machine, since this history began
    mended: int = 0  # at which of them it was last mended
    last: Look | None = None  # where the open window began
    base: tuple[Window, ...] = ()
    windows: tuple[Window, ...] = ()
    light: tuple[tuple[int, int], ...] = ()  # of the open window, by sensor: the sum of its margins, and how many


class Limits(msgspec.Struct, frozen=True):
    """From where on drift is told. Fitted on simulated histories; `python -m tools.drift_figures --fit` does it."""

    transit: int = 300_000  # ppm over its own base: here a segment jams
    spread: int = 150_000  # ppm of the mean that a card's time varies: so much slips before it jams
    least: int = 8_000  # ppm of drift that nothing but wear makes
    least_spread: int = 200_000
    sure: int = 4  # standard errors that a trend is away from none
    horizon: int = 2_000  # cards: what may fail later than this is no news yet
    margin: int = 0  # where a sensor is blind
    least_margin: int = 10  # levels that a margin has sunk


DEFAULT: Final = Limits()


class Warned(msgspec.Struct, frozen=True):
    """What drifts, how far, and how many cards are left by its trend. `fewest`: if it goes on as fast as it may be."""

    signal: Signal
    part: int  # number of the segment, or of the sensor
    now: int  # ppm over its base, or levels of margin
    left: int
    fewest: int


# --- taking looks -----------------------------------------------------------------------------------------------------


def take(wear: Wear, look: Look) -> Wear:
    """Return the history after a look. A machine that was switched off tells its statistics from zero again."""
    replace = msgspec.structs.replace
    last = wear.last
    if last is None or _restarted(last, look):
        zero = SegmentLook(0, 0, 0)
        last = Look(tuple(zero for _ in look.segments), look.margins, look.boot)
        if wear.last is None:  # what it did before this history began is not known to be good
            return replace(wear, last=look)
        wear = replace(wear, last=last)
    wear = replace(wear, light=_lit(wear.light, look.margins))
    passed = max(now.cards - then.cards for now, then in zip(look.segments, last.segments, strict=True))
    most_cards = max(segment.cards for segment in look.segments)
    if passed < max(WINDOW, most_cards // _SHARE):
        return wear
    window = _window(wear.cards + passed, last, look, wear.light)
    if len(wear.base) < BASE:
        wear = replace(wear, base=(*wear.base, window))
    return replace(wear, cards=window.at, last=look, windows=(*wear.windows, window)[-KEPT:], light=())


def mended(wear: Wear) -> Wear:
    """Return the history of a machine whose rollers or sensors people have seen to: from here on its base is new."""
    return msgspec.structs.replace(wear, mended=wear.cards, last=None, base=(), windows=(), light=())


def _restarted(last: Look, look: Look) -> bool:
    return look.boot != last.boot or any(
        now.cards < then.cards for now, then in zip(look.segments, last.segments, strict=True)
    )


def _lit(light: tuple[tuple[int, int], ...], margins: tuple[int | None, ...]) -> tuple[tuple[int, int], ...]:
    """Add a look's margins: one reading of light is noisy, those of a window together are less so."""
    before = light if len(light) == len(margins) else ((0, 0),) * len(margins)
    return tuple(
        (total, looks) if margin is None else (total + margin, looks + 1)
        for (total, looks), margin in zip(before, margins, strict=True)
    )


def _window(at: int, last: Look, look: Look, light: tuple[tuple[int, int], ...]) -> Window:
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


def _sum(sample: SegmentLook) -> int:
    """Twice the sum of all transit times: what is told is rounded down, by half a microsecond on the average."""
    return sample.cards * (2 * sample.mean + 1) if sample.cards else 0


def _squares(sample: SegmentLook) -> int:
    return sample.cards * (sample.deviation * sample.deviation + sample.mean * sample.mean + sample.mean)


# --- what the windows say ---------------------------------------------------------------------------------------------


def excess(wear: Wear, segment: int) -> list[tuple[int, int]]:
    """Return by how much (ppm) a segment alone is slower than its base, window by window, with the card it is up to."""
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
    """Return how much (ppm of the mean) the cards' times vary, beyond the base: cards that slip and are gripped again.

    Machines of this protocol count no retries; a retry that succeeds is a card that took half as long again.
    """
    if len(wear.base) < BASE:
        return []
    usual = sum(_relative(window, segment) for window in wear.base) // BASE
    return [
        (window.at, isqrt(max(0, _relative(window, segment) - usual)))
        for window in wear.windows
        if window.means[segment]
    ]


def margins(wear: Wear, sensor: int) -> list[tuple[int, int]]:
    """Return a sensor's margin, window by window."""
    return [(w.at, m) for w in wear.windows if (m := w.margins[sensor]) is not None]


def _relative(window: Window, segment: int) -> int:
    mean = window.means[segment]
    return window.variances[segment] * PPM * PPM // (mean * mean) if mean else 0


def _base_means(wear: Wear) -> list[int]:
    if len(wear.base) < BASE:
        return []
    return [sum(window.means[s] for window in wear.base) // BASE for s in range(len(wear.base[0].means))]


def _median(values: list[int]) -> int:
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) // 2


# --- trends and warnings ----------------------------------------------------------------------------------------------


class Trend(msgspec.Struct, frozen=True):
    """A line through the newest windows: where it stands now, and how much it rises in a million cards, at most."""

    now: int
    rise: int
    most: int  # the rise and two standard errors
    sure: int  # standard errors from no rise at all, 0 if it does not rise


def trend(points: list[tuple[int, int]]) -> Trend | None:
    """Return the least-squares line through points, exactly; None if they are too few to have one."""
    n = len(points)
    if n < min(TRENDS):
        return None
    end = points[-1][0]
    xs, ys = [x - end for x, _ in points], [y for _, y in points]
    sx, sy = sum(xs), sum(ys)
    across = n * sum(x * x for x in xs) - sx * sx
    along = n * sum(x * y for x, y in zip(xs, ys, strict=True)) - sx * sy
    if not across:
        return None
    up = n * sum(y * y for y in ys) - sy * sy
    residual = max(1, up * across - along * along)  # n * across * the squares that the line leaves
    rise = along * PPM // across
    error = isqrt(residual * PPM * PPM // (n - 2)) // across
    now = (sy * across - along * sx) // (n * across)
    return Trend(now, rise, rise + 2 * error, isqrt(along * along * (n - 2) // residual) if along > 0 else 0)


class Line(msgspec.Struct, frozen=True):
    """The trend of one signal of one part; `usual` is where it began, 0 for what is told as an excess."""

    signal: Signal
    part: int
    trend: Trend
    usual: int = 0


def lines(wear: Wear) -> list[Line]:
    """Return the trend of everything that can drift; nothing until the base is known."""
    if len(wear.base) < BASE:
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


def _lines(signal: Signal, part: int, points: list[tuple[int, int]], usual: int) -> list[Line]:
    drawn = [trend(points[-windows:]) for windows in TRENDS if len(points) >= windows]
    return [Line(signal, part, line, usual) for line in drawn if line is not None]


def judge(wear: Wear, limits: Limits = DEFAULT) -> list[Warned]:
    """Return what drifts by its newest windows, the most urgent first, each part once."""
    warnings: dict[tuple[bool, int], Warned] = {}
    for warned in sorted(filter(None, (warning(line, limits) for line in lines(wear))), key=lambda each: each.left):
        warnings.setdefault((warned.signal == "margin", warned.part), warned)
    return list(warnings.values())


def warning(line: Line, limits: Limits) -> Warned | None:
    """Warn of a line that rises for sure, is above what nothing else makes, and meets its limit before the horizon."""
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
        return Warned(line.signal, line.part, now, 0, 0)
    if at.sure < limits.sure or at.rise <= 0:
        return None
    left, fewest = ((limit - at.now) * PPM // rise for rise in (at.rise, at.most))
    return Warned(line.signal, line.part, now, left, fewest) if left <= limits.horizon else None
