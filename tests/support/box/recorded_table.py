"""Tables with a journal on a real disk: rounds, mishaps, hits, restarts."""

from __future__ import annotations

import shutil
from random import Random
from typing import TYPE_CHECKING, Any, Final

from simulators.casino.dealt_hands import enter_dealt
from table_controller import rulebook
from table_controller.journal import records as rec
from table_controller.journal.recovery import encode_snapshot, recover
from table_controller.journal.store import Policy, Store
from table_controller.journal.table_terms import terms_of
from table_controller.journal.timers import Timers
from table_controller.journal.versions import digests_of
from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from table_controller.table.decisions import Command, Decision, Prompt, RequestRefused
from tests.support.box.journal_prefixes import restart, resume_play
from tests.support.box.journals import copy_as_cut
from tests.support.core.ideal_table import AUDITOR, DEALER, FLOOR, PEOPLE, WILD_PROGRESSIVE, IdealTable

if TYPE_CHECKING:
    from pathlib import Path

    from table_controller.journal.chain import Record

# Further choices of each game.
GAMES: Final[dict[str, dict[str, Any]]] = {
    game: WILD_PROGRESSIVE if game == "dj_wild" else {} for game in rulebook.GAMES
}
PROGRESSIVE: Final = ("dj_wild", "face_up_pai_gow")
# An evening in 2031, and a second for every record (ns).
_EVENING: Final = 1_931_544_000_000_000_000
_SECOND: Final = 1_000_000_000


class RecordedTable:
    """One table with a journal in `folder`; `floor` is the table of the current boot."""

    def __init__(self, folder: Path, game: str, *, every: int = 60, quick: bool = False, **choices: Any) -> None:
        self.folder, self.game, self.choices = folder, game, GAMES[game] | choices
        self._every, self._since, self._ticks = every, 0, 0
        self._policy = Policy(segment_bytes=1 << 20 if quick else 120_000, ballast_bytes=0)
        self._timers = Timers()
        self.floor: IdealTable
        self.store: Store
        self._begin(first=True)

    def _begin(self, *, first: bool) -> None:
        floor = IdealTable(self.game, **self.choices)
        context = floor.table.context
        self.digests = digests_of(context.edition, context.submission, dict(floor.slots))
        self.store = Store.open(
            self.folder, version=rec.VERSION, digests=self.digests, policy=self._policy, clocks=self._clocks
        )
        if not first:
            recovered = recover(self.store, floor.table, self.digests)
            self._timers = recovered.timers
            if recovered.migration is not None:
                self._append(rec.MIGRATION, rec.encode_body(recovered.migration))
        body = rec.BoxRecord(
            "test",
            f"kernel {self.store.boot}",
            set=True,
            back=False,
            terms=terms_of(context),
            accounting=rec.ACCOUNTING,
        )
        self._append(rec.BOX, rec.encode_body(body))
        step = floor.table.step

        def recorded(event: ev.Event) -> list[Decision]:
            decisions = step(event)
            self._step(floor, event, decisions)
            return decisions

        floor.table.step = recorded  # type: ignore[method-assign]
        self.floor = floor

    def _clocks(self) -> tuple[int, int]:
        self._ticks += 1
        return _EVENING + self._ticks * _SECOND, self._ticks * _SECOND

    def _append(self, kind: str, body: bytes) -> Record:
        (record,) = self.store.append([(kind, *self._clocks(), self.store.boot, body)])
        return record

    def _step(self, floor: IdealTable, event: ev.Event, decisions: list[Decision]) -> None:
        record = self._append(rec.STEP, rec.encode_step(event, decisions))
        stamp = rec.Timestamp(record.wall_ns, record.mono_ns, f"kernel {self.store.boot}")
        if isinstance(event, ev.Due):
            self._timers.remove(event.timer)
        self._timers.add_step(decisions, stamp)
        self._since += 1
        if self._since >= self._every and floor.phase == mc.IDLE:
            self._since = 0
            self.store.snapshot(record.seq, encode_snapshot(floor.table, self._timers, self.digests, stamp))

    # --- what happens at the table ------------------------------------------------------------------------------------

    def open_table(self) -> RecordedTable:
        """Start the table and bring two decks."""
        self.floor.step(ev.BoxStarted(self.store.boot))
        self.floor.start("blue", "red")
        resume_play(self.floor)
        return self

    def round(self, bets: tuple[int, ...] = (1, 3)) -> None:
        """Play a round without irregularities."""
        self._open(bets)
        resume_play(self.floor)
        assert self.floor.phase == mc.IDLE

    def _open(self, bets: tuple[int, ...]) -> None:
        self.floor.bets = set(bets)
        number = self.floor.round_.number
        decided = self.floor.play(ev.OpenRound(DEALER))
        assert self.floor.round_.number == number + 1, [d for d in decided if isinstance(d, RequestRefused)]

    def hit_round(self, line: int) -> None:
        """Play a round in which seat 1 claims a line of the paytable by its cards; 0 is the first."""
        context = self.floor.table.context
        assert context.meter is not None
        hand = context.meter.awards[line].hand

        def claims(decision: Decision) -> list[ev.Event] | None:
            if isinstance(decision, Prompt) and decision.kind == "progressive" and decision.seat == 1:
                if hand in decision.choices:
                    return [ev.Answer(decision.id, hand, PEOPLE["dealer"])]
                entry = enter_dealt(context, 1, hand, PEOPLE["dealer"])
                assert entry is not None
                return [entry]
            return None

        self.floor.override = claims
        self.round()
        self.floor.override = lambda _: None

    def short_deck(self) -> None:
        """Play a round in which a count finds a card missing; people find it again."""
        cards = self.floor.edition.cards.count

        def counts(decision: Decision) -> list[ev.Event] | None:
            if isinstance(decision, Command) and decision.act == "shuffle":
                self.floor.override = lambda _: None
                ended = ev.ShuffleEnded(decision.slot, cards - 1, shuffled=True)
                return [ended, ev.CommandEnded(decision.id, "done")]
            return None

        self.floor.override = counts
        self.round()
        self.floor.override = lambda _: None

    def void_round(self) -> None:
        """Play a round that becomes void: the shoe fails, or the floorperson voids it after a report."""
        self._open((1, 3))
        self.floor.play_to(mc.DEALING)
        if self.floor.state.dealing == "automated_shoe":
            self.floor.step(ev.ShoeFault("shoe.1", 430))
        else:
            self.floor.declare("other")
        for prompt in self.floor.prompts("choose"):
            self.floor.step(ev.Answer(prompt.id, "void", FLOOR))
        resume_play(self.floor)

    def half_round(self) -> None:
        """Play a round to the middle of its deal."""
        self._open((1, 6))
        self.floor.play_to(mc.DEALING)

    def correct_meter(self, amount: int) -> None:
        """Correct the meter with two people."""
        self.floor.step(ev.MeterCorrected(amount, "memo 7", FLOOR, AUDITOR, "malfunction", "sensor_fault"))

    def kill_and_restart(self) -> None:
        """Kill the box, start it again and resume play."""
        image = copy_as_cut(self.folder, self.folder.with_name(f"{self.folder.name}.killed"))
        self.store.close()
        shutil.rmtree(self.folder)
        image.rename(self.folder)
        self._begin(first=False)
        restart(self.floor, self.store.boot, Random(self.store.boot))
        resume_play(self.floor)

    def restart(self) -> None:
        """Stop the box in order and start it again."""
        self.store.close()
        self._begin(first=False)
        restart(self.floor, self.store.boot, Random(self.store.boot))
        resume_play(self.floor)

    def play_everything(self) -> RecordedTable:
        """Play some of everything."""
        self.open_table()
        self.round()
        if self.game in PROGRESSIVE:
            self.hit_round(0)  # 100 % of the meter
            self.hit_round(3)
        self.short_deck()
        self.void_round()
        if self.game in PROGRESSIVE:
            self.correct_meter(-1_230_000)
        self.half_round()
        self.kill_and_restart()
        self.round()
        self.restart()
        self.round(())
        self.store.close()
        return self
