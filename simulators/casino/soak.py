"""Soak: many rounds at simulated tables in virtual time, with mishaps, watched by checkers.

A soak is a series of tables of limited length, each with its own seed. If a table fails, its list of mishaps is reduced
to those that cause the failure.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import nullcontext, suppress
from random import Random
from time import process_time
from typing import TYPE_CHECKING, Any, Final

import msgspec

from simulators.casino.checkers import InvariantBroken, TableCheckers
from simulators.casino.dealer import FLOOR, SimulatedPeople
from simulators.casino.fault_schedule import Mishap, draw_schedule, inject_mishap
from simulators.casino.table import CasinoTable
from simulators.casino.table_layout import default_choices, keypad_and_sign, progressive_choices
from simulators.casino.winning_players import WinningPlayers
from simulators.engine.virtual_time import run_virtual
from simulators.world.chips import player_hand
from table_controller.table import events as ev
from table_controller.table import state_machines as mc

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from simulators.casino.fault_schedule import FaultLevel

# Rounds of one table: about five hours of play. The next table has another seed.
ROUNDS_PER_TABLE: Final = 250
BETTORS: Final = (1, 2, 4, 6)
# Share of hands with a bet that win: far more than by chance, so that a table sees every paytable line.
WIN_SHARE: Final = 0.04
# Tries to open a round before a table counts as stuck: a try takes some ten seconds, and mishaps of two rounds may take
# a machine's cable and power for a minute each.
MAX_TRIES: Final = 24
# Time limit until a table is idle (s): shuffling six decks takes two and a half minutes.
QUIESCENCE_TIMEOUT_S: Final = 1500.0
# One in so many tables also has a keypad: each link costs a tenth of a table's time.
KEYPAD_TABLE_EVERY: Final = 4
# Chips that a player without chips buys.
_STAKE: Final = 20
# Numbers of last rounds whose mishaps are tried alone when a failure is reduced, and rounds to which the first mishap
# may move.
_BACK: Final = (1, 2, 4, 8, 16)
_FIRST: Final = (1, 2, 3, 4, 5, 6)
_COLORS: Final = ("green", "violet", "orange", "grey", "white", "black")


class SoakFigures(msgspec.Struct):
    """Figures of one table, or of several."""

    rounds: int = 0
    voids: int = 0
    steps: int = 0
    bets: int = 0
    hits: int = 0  # claims, right or wrong
    power_cuts: int = 0
    irregularities: int = 0
    clauses: Counter[str] = msgspec.field(default_factory=Counter)
    mishaps: Counter[str] = msgspec.field(default_factory=Counter)
    bad_before_check: int = 0  # rounds from bad cards before any check could detect them
    bad_after_check: int = 0  # and after such a check: must be none
    reconciled: int = 0
    cpu_s: float = 0.0  # of processor time
    virtual_s: float = 0.0  # of virtual time

    def add(self, other: SoakFigures) -> None:
        """Add the figures of another table."""
        for name in self.__struct_fields__:
            mine, theirs = getattr(self, name), getattr(other, name)
            setattr(self, name, mine + theirs)


class SoakFailure(msgspec.Struct, frozen=True):
    """A failure of one table."""

    game: str
    seed: int
    rounds: int  # played until the failure
    invariant: str
    how: str
    mishaps: list[Mishap]


class SoakTable:
    """One table of a soak."""

    def __init__(
        self, game: str, seed: int, mishaps: Sequence[Mishap], make: Callable[..., CasinoTable] = CasinoTable
    ) -> None:
        """`make` builds the table; a faulty one shows whether the checkers detect it."""
        self.figures = SoakFigures()
        self.round = 0
        self._game, self._seed, self._make = game, seed, make
        self._mishaps: dict[int, list[Mishap]] = {}
        for mishap in mishaps:
            self._mishaps.setdefault(mishap.round, []).append(mishap)
        self._timers: list[asyncio.TimerHandle] = []
        self._unseen: list[dict[str, Any]] = []

    async def play(self, rounds: int, on_round: Callable[[], None] | None = None) -> SoakFigures:
        """Play so many rounds; Broken if a check fails, or the table cannot go on."""
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, context: self._unseen.append(context))
        began = process_time()
        casino = self._make(
            self._game, seed=self._seed, choices=table_choices(self._game, self._seed), people=self._people,
            models=keypad_and_sign(self._game) if self._seed % KEYPAD_TABLE_EVERY == 0 else None,
        )  # fmt: skip
        casino.people.is_thorough, casino.patience = True, QUIESCENCE_TIMEOUT_S
        checkers = TableCheckers(casino)
        casino.watchers.append(checkers.step)
        whole = False
        try:
            await casino.open("blue", "red")
            while checkers.rounds.opened < rounds:
                await self._round(casino, checkers)
                if on_round is not None:
                    on_round()
            whole = True
        finally:
            for timer in self._timers:
                timer.cancel()
            self._note(casino, checkers)
            with nullcontext() if whole else suppress(AssertionError):  # the first failure is more informative
                await casino.close()
            self.figures.cpu_s = process_time() - began
            self.figures.virtual_s = loop.time()
        return self.figures

    def _people(self, casino: CasinoTable) -> SimulatedPeople:
        """Return the people of the table; with a meter, players win now and then."""
        return WinningPlayers(casino, self._seed, WIN_SHARE) if casino.submission.wagers else SimulatedPeople(casino)

    async def _round(self, casino: CasinoTable, checkers: TableCheckers) -> None:
        """Open a round, play it to its end, and check everything."""
        self.round += 1
        rng = Random(f"{self._seed} {self.round}")
        loop = asyncio.get_running_loop()
        for mishap in self._mishaps.get(self.round, ()):
            self._timers.append(loop.call_later(mishap.moment * casino.pace, self._happen, casino, mishap))
        opened = checkers.rounds.opened
        for _ in range(MAX_TRIES):
            bets = tuple(seat for seat in BETTORS if rng.random() < 0.7)
            await self._try(casino, checkers, bets if casino.controller.table.context.has_progressive else ())
            if checkers.rounds.opened > opened:
                break
        else:
            raise InvariantBroken("stuck", f"no round can be opened: {_why(casino)}")
        self._timers = [timer for timer in self._timers if timer.when() > loop.time()]

    async def _try(self, casino: CasinoTable, checkers: TableCheckers, bets: tuple[int, ...]) -> None:
        opened = checkers.rounds.opened
        try:
            await casino.round(bets)
            await resume_play(casino)
        except TimeoutError as late:
            raise InvariantBroken("stuck", f"{late}; {_why(casino)}") from late
        finally:
            self._raised()  # more informative than a timeout
        if checkers.rounds.opened == opened or checkers.rounds.voids.keys() & {
            casino.controller.table.state.round.number
        }:
            _take_back(casino)
        checkers.check_after_round()
        for seat in BETTORS if bets else ():
            if not casino.chips.at(player_hand(f"bet_sensor.{seat}")):
                casino.chips.make(player_hand(f"bet_sensor.{seat}"), _STAKE)

    def _raised(self) -> None:
        """Raise an exception that no task awaited: of the box, or of the people at the table."""
        for context in self._unseen:
            error = context.get("exception")
            raise InvariantBroken("crash", f"{context['message']}: {error!r}") from error

    def _happen(self, casino: CasinoTable, mishap: Mishap) -> None:
        word = mishap.fault.partition(":")[0]
        self.figures.mishaps[word if inject_mishap(casino, mishap) else "(could not happen)"] += 1

    def _note(self, casino: CasinoTable, checkers: TableCheckers) -> None:
        day = self.figures
        day.rounds, day.voids = checkers.rounds.opened, len(checkers.rounds.voids)
        day.steps, day.irregularities = checkers.figures["steps"], checkers.figures["irregularities"]
        day.clauses, day.power_cuts = checkers.clauses, casino.disk.cuts
        day.bets, day.reconciled = checkers.money.accepted.total(), checkers.money.reconciled
        day.hits = 0 if checkers.money.oracle is None else checkers.money.oracle.claims
        day.bad_before_check = len(checkers.decks.bad_rounds)
        day.bad_after_check = sum(broken.invariant == "bad deck" for broken in checkers.broken)


def table_choices(game: str, seed: int) -> dict[str, Any]:
    """Return the choices of a table: one of the chapter's printed progressive paytables, if it has any.

    Every third table of a game that offers none by default has no progressive.
    """
    return {} if "wagers" not in default_choices(game) and seed % 3 == 0 else progressive_choices(game, seed)


def _take_back(casino: CasinoTable) -> None:
    """Players take back chips from closed sensors: no round was opened, or it was void."""
    for slot, machine in casino.machines.items():
        chips = casino.chips.at(f"{slot}/spot") if slot.startswith("bet_sensor.") else []
        if chips:
            machine.inject(f"take_bet:chips={len(chips)}")


async def resume_play(casino: CasinoTable) -> None:
    """Bring the table to an idle state: restore power, play an open round, bring new decks."""
    for _ in range(MAX_TRIES):
        if casino.is_box_down:
            await casino.power_up()
        await casino.until_quiescent()
        if casino.is_box_down:
            continue
        if casino.controller.table.state.round.state == mc.BETTING:
            await casino.round()
            continue
        if (
            casino.controller.table.state.round.state == mc.IDLE
            and not await _new_deck(casino)
            and not casino.is_box_down
        ):
            return
    if casino.is_box_down or casino.controller.table.state.round.state != mc.IDLE:
        raise InvariantBroken("stuck", f"the round stays {casino.controller.table.state.round.state}; {_why(casino)}")


async def _new_deck(casino: CasinoTable) -> bool:
    """Remove an expired deck, or bring a missing one; return whether there was one."""
    decks = casino.controller.table.state.decks
    for name in sorted(casino.people.expired):
        casino.people.expired.discard(name)
        if name in decks and decks[name].state != mc.REMOVED:
            casino.controller.submit(ev.Ordered("remove_deck", FLOOR, deck=name))
            return True
    if sum(deck.state != mc.REMOVED for deck in decks.values()) >= 2:
        return False
    names = (*_COLORS, *(f"pack {number}" for number in range(len(decks) + 1)))
    await casino.bring_deck(next(name for name in names if name not in decks))
    return True


def _why(casino: CasinoTable) -> str:
    """Return what the table waits for, as its screen shows it."""
    if casino.is_box_down:
        return "the box has no power"
    table = casino.controller.table
    reasons = [reason.key for reason in table.permit("open_bets")]
    kinds = [prompt.kind for prompt in table.state.prompts.values()]
    slots = {name: slot.state for name, slot in table.state.slots.items() if slot.state != "in_service"}
    decks = {deck.name: (deck.state, deck.place) for deck in table.state.decks.values() if deck.state != mc.REMOVED}
    holds = [hold.trigger for hold in table.state.holds.values()]
    return (
        f"reasons {reasons}, questions {kinds}, holds {holds}, slots {slots}, decks {decks}, notes {casino.notes[-3:]}"
    )


# --- one table, and what it takes to fail -----------------------------------------------------------------------------


def run_table(
    game: str,
    seed: int,
    rounds: int,
    mishaps: Sequence[Mishap],
    on_round: Callable[[], None] | None = None,
    make: Callable[..., CasinoTable] = CasinoTable,
) -> tuple[SoakFigures, SoakFailure | None]:
    """Play one table in virtual time."""
    table = SoakTable(game, seed, mishaps, make)
    try:
        return run_virtual(table.play(rounds, on_round)), None
    except InvariantBroken as broken:
        until = [mishap for mishap in mishaps if mishap.round <= table.round]
        return table.figures, SoakFailure(game, seed, table.round, broken.invariant, str(broken), until)


def shrink(failure: SoakFailure, tries: int = 120, make: Callable[..., CasinoTable] = CasinoTable) -> SoakFailure:
    """Return the same failure with as few mishaps as possible, found by replays with the same seed.

    Mostly the last mishaps cause it; a failure that also happens in the first rounds is replayed faster.
    """

    def fails(mishaps: list[Mishap], rounds: int = failure.rounds) -> SoakFailure | None:
        _, smaller = run_table(failure.game, failure.seed, rounds, mishaps, make=make)
        return smaller if smaller is not None and smaller.invariant == failure.invariant else None

    least, parts = failure, 2
    nothing = fails([])
    if nothing is not None:
        return nothing
    for back in _BACK:
        late = [mishap for mishap in failure.mishaps if mishap.round > failure.rounds - back]
        smaller = fails(late) if 0 < len(late) < len(failure.mishaps) and tries > 0 else None
        tries -= 1
        if smaller is not None:
            least = smaller
            break
    while tries > 0 and len(least.mishaps) > 1:
        size = -(-len(least.mishaps) // parts)
        for start in range(0, len(least.mishaps), size):
            tries -= 1
            smaller = fails(least.mishaps[:start] + least.mishaps[start + size :])
            if smaller is not None:
                least, parts = smaller, max(2, parts - 1)
                break
        else:
            if size == 1:
                break
            parts = min(len(least.mishaps), parts * 2)
    for first in _FIRST:
        sooner = least.mishaps[0].round - first
        if sooner > 0:
            moved = [msgspec.structs.replace(mishap, round=mishap.round - sooner) for mishap in least.mishaps]
            smaller = fails(moved, least.rounds - sooner + 1)
            if smaller is not None:
                return smaller
    return least


def tables(
    game: str, rounds: int, seed: int, level: FaultLevel, more: Mapping[str, str] | None = None
) -> list[tuple[int, int, list[Mishap]]]:
    """Return the tables of a soak: seed, rounds and mishaps of each."""
    days = [min(ROUNDS_PER_TABLE, rounds - start) for start in range(0, rounds, ROUNDS_PER_TABLE)]
    return [(seed + at, length, draw_schedule(game, seed + at, length, level, more)) for at, length in enumerate(days)]
