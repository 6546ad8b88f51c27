"""Digests over everything that simulated tables journal, without names: the same before and after names change.

python -m tools.digests                compares with the files in tests/digests; exit 1 if one differs
python -m tools.digests --write        writes the files; give the reason in the commit
python -m tools.digests --game GAME    the soak of one game; a new game writes a file of its own
python -m tools.digests --rounds 2000  a longer soak of each game, printed only

A soak of each game and every incident run on the shipped box in virtual time, from fixed seeds. Of each step and note
in the journal the values count, in their order. Numbers and clauses stay as they are. Names of types and words count
by when they first came, so another word for the same thing gives the same digest. Sentences do not count.
"""

from __future__ import annotations

import argparse
import json
import logging
import re
import sys
from contextlib import contextmanager
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from simulators.casino.incidents import REPLAYS
from simulators.casino.soak import SoakFigures, run_table, tables
from simulators.casino.table import CasinoTable
from simulators.engine.virtual_time import run_virtual
from table_controller.journal import records as rec
from table_controller.rulebook import GAMES
from table_controller.rulebook.registry import CHAPTERS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# A file for each chapter of the regulations, with the soak of its game, and one for the incidents.
FOLDER: Final = Path(__file__).parent.parent / "tests" / "digests"
_INCIDENTS: Final = "incidents"
# Rounds of each game in the stored digests, and their seed.
ROUNDS: Final = 60
SEED: Final = 7
# A clause of the regulations, as 688a.9(b)(1): no name.
_CLAUSE: Final = re.compile(r"\d{3}a?\.\d+(\(\w+\))*")
# More words than this are a sentence, and so is what begins with an article; "deck blue" is a name and counts.
_WORDS: Final = 2
_ARTICLES: Final = ("a", "an", "the")


class Canonical:
    """Turns values into plain data without names. Words are numbered as they come, so one object reads one stream."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def _number(self, word: str) -> str:
        return f"#{self._numbers.setdefault(word, len(self._numbers))}"

    def text(self, text: str) -> Any:
        """Return a clause as it is, words by their numbers, and nothing for a sentence."""
        if _CLAUSE.fullmatch(text):
            return text
        words = text.split(" ")
        is_sentence = len(words) > _WORDS or words[0] in _ARTICLES
        return None if is_sentence else [self._number(f"word {word}") for word in words]

    def value(self, value: Any) -> Any:
        """Return any value; an object is the number of its type and the fields that it has, in their order."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, msgspec.Struct):
            fields = [self.value(each) for each in map(partial(getattr, value), value.__struct_fields__)
                      if each is not msgspec.UNSET]  # fmt: skip
            return [self._number(f"type {type(value).__name__}"), *fields]
        if isinstance(value, dict):
            return [[self.value(key), self.value(each)] for key, each in value.items()]
        if isinstance(value, list | tuple):
            return [self.value(each) for each in value]
        if isinstance(value, set | frozenset):
            return len(value)
        return value.hex() if isinstance(value, bytes) else value


@contextmanager
def _tables_created() -> Iterator[list[CasinoTable]]:
    """Collect every simulated table that is created meanwhile."""
    houses: list[CasinoTable] = []
    original = CasinoTable.__init__

    def noted(self: CasinoTable, *arguments: Any, **options: Any) -> None:
        original(self, *arguments, **options)
        houses.append(self)

    CasinoTable.__init__ = noted  # type: ignore[method-assign]
    try:
        yield houses
    finally:
        CasinoTable.__init__ = original  # type: ignore[method-assign]


def digest(houses: list[CasinoTable], result: Any) -> dict[str, Any]:
    """Return the digest over the journals of some tables and over what came out, and how much was read."""
    canonical, whole, count = Canonical(), sha256(), 0
    for house in houses:
        for record in house.disk.records:
            if record.kind == rec.STEP:
                step = rec.decode_step(record.body)
                content = [canonical.value(step.event), canonical.value(step.decisions)]
            elif record.kind == rec.NOTE:
                content = canonical.value(rec.decode_note(record.body))
            else:
                continue
            whole.update(json.dumps([record.wall_ns, content]).encode() + b"\n")
            count += 1
    whole.update(json.dumps(canonical.value(result)).encode())
    return {"records": count, "digest": whole.hexdigest()}


def soak(game: str, rounds: int) -> dict[str, Any]:
    """Play tables of a game with everything that goes wrong there."""
    day = SoakFigures()
    with _tables_created() as houses:
        for seed, length, mishaps in tables(game, rounds, SEED, "storm"):
            one, failure = run_table(game, seed, length, mishaps)
            if failure is not None:
                raise AssertionError(f"{game}: {failure.how}")
            day.add(one)
    return digest(houses, [day.rounds, day.voids, day.steps, day.bets, day.hits, day.power_cuts, day.irregularities])


def incident(name: str) -> dict[str, Any]:
    """Replay one incident."""
    with _tables_created() as houses:
        result = run_virtual(REPLAYS[name][1](SEED))
    return digest(houses, [result.is_good, result.rounds, result.before, result.after, result.listed, result.clauses])


Digests = dict[str, dict[str, Any]]


def measured(rounds: int = ROUNDS, game: str | None = None) -> dict[str, Digests]:
    """Return every digest by the name of its file: the soak of each chapter, and the incidents in their order.

    With a game, only its soak.
    """
    soaks = {CHAPTERS[each]: {"soak": soak(each, rounds)} for each in (GAMES if game is None else (game,))}
    if game is not None:
        return soaks
    return soaks | {_INCIDENTS: {f"incident {number}": incident(name) for number, name in enumerate(REPLAYS, 1)}}


def stored(names: Iterable[str] | None = None) -> dict[str, Digests]:
    """Return the stored digests, of all files or of those with these names; nothing for a file that is missing."""
    paths = FOLDER.glob("*.json") if names is None else [FOLDER / f"{name}.json" for name in names]
    return {path.stem: json.loads(path.read_text("utf-8")) for path in sorted(paths) if path.is_file()}


def write(now: dict[str, Digests]) -> None:
    """Write the digests, each into its file."""
    FOLDER.mkdir(exist_ok=True)
    for name, digests in now.items():
        (FOLDER / f"{name}.json").write_text(json.dumps(digests, indent=1) + "\n", "utf-8")


def differences(before: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """Return a sentence for every digest that differs."""
    changed = [name for name in {**before, **now} if before.get(name) != now.get(name)]
    return [f"{name}: {now.get(name, 'not there')}, before {before.get(name, 'not there')}" for name in changed]


def main(arguments: list[str] | None = None) -> int:
    """Compare, write or print."""
    parser = argparse.ArgumentParser(prog="python -m tools.digests", description="digests of soak and incidents")
    parser.add_argument("--write", action="store_true", help="write the digests of now")
    parser.add_argument("--rounds", type=int, help="rounds of each game; the digests are only printed")
    parser.add_argument("--game", choices=GAMES, help="only the soak of this game")
    args = parser.parse_args(arguments)
    logging.getLogger().addHandler(logging.NullHandler())  # machines fail here on purpose
    now = measured(args.rounds or ROUNDS, args.game)
    if args.rounds:
        print(json.dumps(now, indent=1))
        return 0
    if args.write:
        write(now)
        return 0
    wrong = differences(stored(None if args.game is None else now), now)
    for sentence in wrong:
        print(sentence)
    print(f"digests: {len(now)} compared, {len(wrong)} differ")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
