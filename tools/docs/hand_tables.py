"""The generated parts of docs/hands.md, from the figures that tools.studies.hand_figures recorded."""

from __future__ import annotations

from fractions import Fraction
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Final

from table_controller.rulebook.payback.published import published
from tools.docs.markdown import table
from tools.studies.hand_figures import stored

if TYPE_CHECKING:
    from collections.abc import Callable


@cache
def _data() -> Any:
    return stored()


def counts(name: str, heads: tuple[str, str], other: str) -> str:
    """Return one table of counts with its sums."""
    rows = _data()["counts"][name]
    lines = [
        (other if word == "other" else word.replace("_", " "), *(f"{number:,}" for number in (*pair, sum(pair))))
        for word, pair in rows.items()
    ]
    sums = [sum(pair[side] for pair in rows.values()) for side in (0, 1)]
    total = ("**all hands**", *(f"**{number:,}**" for number in (*sums, sum(sums))))
    return table(("hand", *heads, "together"), *lines, total)


def paybacks() -> str:
    """Return every computed figure with the published one."""
    rows = []
    for row in _data()["paybacks"]:
        computed = Fraction(row["computed"])
        stated = published().get(row["table"])
        spread = "" if row["half_width"] is None else f" ± {_percent(Fraction(row['half_width']))}"
        rows.append(
            (
                f"`{row['table']}`", row["assuming"], f"{_percent(computed)}{spread}",
                "" if stated is None else stated.percent,
                "" if stated is None else _percent(computed - stated.value, "+"),
                row["method"], "" if stated is None else stated.note,
            )
        )  # fmt: skip
    heads = ("paytable", "assuming", "computed %", "published %", "difference", "method", "note")
    return table(heads, *rows)


def _percent(share: Fraction, sign: str = "") -> str:
    shown = f"{float(100 * share):{sign}.3f}"
    return "0.000" if shown.strip("+-") == "0.000" else shown


def sources() -> str:
    """Return the sources of the published figures."""
    by_source: dict[str, list[str]] = {}
    for each in published().values():
        by_source.setdefault(each.source, []).append(f"`{each.table}`")
    return table(("source", "paytables"), *((source, ", ".join(names)) for source, names in by_source.items()))


_JOKER: Final = ("without joker", "with joker")

# Name of a part -> the function that writes it.
PARTS: Final[dict[str, Callable[[], str]]] = {
    "counts of DJ Wild": partial(counts, "dj_wild", ("natural", "with wild"), ""),
    "counts of five cards": partial(counts, "five_limited", _JOKER, "less than a pair"),
    "counts of seven cards": partial(counts, "seven_limited", _JOKER, "less than a pair"),
    "counts of seven cards, fully wild": partial(counts, "seven_fully_wild", _JOKER, "less than a straight"),
    "counts of the Asia Poker bonus": partial(counts, "seven_asia", _JOKER, "no line"),
    "paybacks": paybacks,
    "sources": sources,
}
