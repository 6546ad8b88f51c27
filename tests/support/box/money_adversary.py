"""A table with six seats whose people err, cheat and are interrupted at random; a second ledger checks every step.

The journal is real and on disk: after a power cut the table recovers from it, and at the end the auditor's tool checks
its export.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, Final

from simulators.casino.dealt_hands import enter_dealt
from table_controller.journal.export import export
from table_controller.ledger.money import ACCOUNTS
from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from table_controller.table.decisions import Command
from table_controller.table.hits import NO_WIN
from tests.support.box.journal_prefixes import _late_news, _mend, restart, resume_play
from tests.support.box.journals import copy_as_cut, quick_folder
from tests.support.box.recorded_table import RecordedTable
from tests.support.core.ideal_table import AUDITOR, DEALER, FLOOR, OTHER_FLOOR, PEOPLE, TECH, next_change
from tests.support.core.meters import PROGRESSIVES, choices
from tests.support.oracles.second_ledger import SecondLedger
from tools import verify_export

if TYPE_CHECKING:
    from collections.abc import Iterator

    from table_controller.ledger.meter import MeterRules
    from table_controller.ledger.money import Meters
    from table_controller.table.decisions import Decision, Prompt

MONEY: Final = ("progressive", "hit_hand", "hit_light", "hit_dark", "hit_validate", "hit_pay", "hand_pay")
# Weights of answers about money, of ten; other prompts are answered correctly.
CHOICE_WEIGHTS: Final = {"not_winning": 2, "dark": 3, "refuse": 2, "no_win": 3, "nobody": 2, "disputed": 1}
# One person with a second credential in every role.
CHEATS: Final = tuple(
    ev.Person(role, f"X{role}", person="D1") for role in ("dealer", "floorperson", "technician", "auditor")
)
MISHAPS: Final = ("wrong_card_count", "player_card_exposed", "other", "cards_revealed_before_raise")


class MoneyAdversary(RecordedTable):
    """One table; `play_rounds` plays rounds at it."""

    def __init__(self, folder: Path, table: str, seed: int) -> None:
        self.rng = Random(f"{table} {seed}")
        self._watched: SecondLedger | None = None
        self._slip = 0
        super().__init__(folder, PROGRESSIVES[table][0], quick=True, **choices(table))
        rules = self.floor.table.context.meter
        assert rules is not None
        printed = self.floor.edition.progressive
        assert printed is not None
        self.second_ledger = SecondLedger(rules, rate_is_open=printed.rate == "submission")
        self.open_table()
        self._watched = self.second_ledger

    def _begin(self, *, first: bool) -> None:
        super()._begin(first=first)
        step = self.floor.table.step

        def watched(event: ev.Event) -> list[Decision]:
            if self._watched is None:
                return step(event)
            state = self.floor.state
            prompt = state.prompts.get(event.prompt) if isinstance(event, ev.Answer) else None
            is_idle = state.round.state == mc.IDLE
            decisions = step(event)
            self._watched.apply_step(event, prompt, decisions, is_idle=is_idle)
            self._compare()
            return decisions

        self.floor.table.step = watched  # type: ignore[method-assign]

    def _compare(self) -> None:
        state = self.floor.state
        held = {account: state.money.book.balance(account) for account in ACCOUNTS}
        self.second_ledger.check(held, state.money.closed, is_idle=state.round.state == mc.IDLE)

    # --- a round ------------------------------------------------------------------------------------------------------

    def play_rounds(self, rounds: int) -> None:
        """Play so many rounds, with acts on the meter in between."""
        for _ in range(rounds):
            self._between()
            self._round()
        resume_play(self.floor)
        self.store.close()

    def _round(self) -> None:
        floor, rng = self.floor, self.rng
        floor.bets = {seat for seat in range(1, 7) if rng.random() < 0.5}
        floor.seats = tuple(sorted(floor.bets | {seat for seat in range(1, 7) if rng.random() < 0.4})) or (1,)
        if rng.random() < 0.1:
            floor.seats = tuple(seat for seat in floor.seats if rng.random() < 0.7) or (2,)  # a bet without a wager
        if self.second_ledger.closed and rng.random() < 0.9:
            self._open_again()
        self.floor.step(ev.OpenRound(DEALER))
        if rng.random() < 0.02 and floor.phase == mc.BETTING:
            self._chatter()
        for _ in range(1500):
            floor = self.floor
            if floor.phase == mc.IDLE and not floor.state.holds and not floor.state.commands:
                return
            chance = rng.random()
            if chance < 0.004:
                self._cut_power()
            elif chance < (0.06 if floor.state.money.envy else 0.02) and floor.phase not in (mc.IDLE, mc.BETTING):
                self._mishap()
            elif chance < 0.04:
                self._deed()
            else:
                self._one_thing()
        raise AssertionError(f"the round does not end: {self.floor.phase} {self.floor.prompts()}")

    def _one_thing(self) -> None:
        """Answer one prompt, end one command of a device, or go on as the dealer."""
        floor, rng = self.floor, self.rng
        todo: list[tuple[str, Any]] = [("prompt", prompt) for prompt in floor.prompts()]
        todo += [("command", (id_, issued)) for id_, issued in floor.state.commands.items()]
        if floor.phase == mc.BETTING:
            floor.step(ev.NoMoreBets(DEALER))
            return
        if not todo:
            floor._queue.clear()
            floor._hands()
            if floor._queue:
                floor.step(floor._queue.popleft())
            else:
                _mend(floor)
                _late_news(floor)
                if floor.state.progressive.state == mc.LOCKING:
                    floor.step(ev.Due("lock"))
            return
        what, about = rng.choice(todo)
        if what == "command":
            id_, issued = about
            for event in floor.answer(Command(id_, issued.slot, issued.act, issued.number)):
                floor.step(event)
        else:
            self._answer(about)

    def _answer(self, prompt: Prompt) -> None:
        floor, rng = self.floor, self.rng
        if prompt.kind not in MONEY:
            for event in floor.answer(prompt):
                other = [c for c in prompt.choices if c != prompt.choices[0]]
                strange = isinstance(event, ev.Answer) and other and not prompt.number and rng.random() < 0.15
                if strange and isinstance(event, ev.Answer):
                    event = ev.Answer(event.prompt, rng.choice(other), event.who, None, event.seats)  # noqa: PLW2901
                floor.step(event)
            return
        if prompt.kind == "progressive" and (entry := self._cards(prompt)) is not None:
            floor.step(entry)
            return
        weights = [CHOICE_WEIGHTS.get(choice, 10) for choice in prompt.choices]
        (choice,) = rng.choices(prompt.choices, weights)
        if prompt.kind == "progressive" and rng.random() < 0.05:  # a line that the box does not offer
            choice = rng.choice(self.second_ledger.rules.awards).hand
        number = None
        if prompt.number:
            self._slip += rng.random() < 0.8  # sometimes a slip that was used before
            number = max(1, self._slip)
        who = rng.choice((FLOOR, OTHER_FLOOR)) if prompt.role == "floorperson" else PEOPLE[prompt.role]
        if rng.random() < 0.1:
            who = rng.choice(CHEATS)
        floor.step(ev.Answer(prompt.id, choice, who, number))

    def _cards(self, prompt: Prompt) -> ev.HandEntered | None:
        """Return the entry of cards that win, or of others after a withdrawn claim; None: the prompt is answered.

        The whole meter and large shares come more often.
        """
        rng, round_, seat = self.rng, self.floor.round_, prompt.seat or 0
        hands = [NO_WIN, *(award.hand for award in self.second_ledger.rules.awards)]
        known = seat in round_.hands
        if seat in round_.claims_ruled or (known and (seat not in round_.claims_fell or rng.random() < 0.3)):
            return None
        (hand,) = rng.choices(hands, [3, *(10 if n < 3 else 2 for n in range(len(hands) - 1))])
        if hand == NO_WIN and not known:
            return None
        return enter_dealt(self.floor.table.context, seat, hand, DEALER, rng)

    def _mishap(self) -> None:
        trigger, seat = self.rng.choice(MISHAPS), self.rng.choice(self.floor.seats)
        self.floor.step(ev.IrregularityReported(trigger, DEALER, seat=seat))

    def _cut_power(self) -> None:
        """Kill the box and start it again from its disk."""
        image = copy_as_cut(self.folder, self.folder.with_name(f"{self.folder.name}.killed"))
        old = self.floor
        self.store.close()
        shutil.rmtree(self.folder)
        image.rename(self.folder)
        self._begin(first=False)
        self.floor.bets, self.floor.seats = old.bets, old.seats
        self._compare()
        restart(self.floor, self.store.boot, self.rng)
        self.second_ledger.seen.add("power cut")

    # --- between rounds -----------------------------------------------------------------------------------------------

    def _between(self) -> None:
        for _ in range(self.rng.randrange(3)):
            self._deed()
        if self.rng.random() < 0.2 and not self.second_ledger.closed:
            self._tighten()
        over = self.floor.state.money.book.meters.overflow
        if over and self.rng.random() < 0.3:
            amount = self.rng.randrange(1, over + 1)
            self.floor.step(ev.OverflowTransferred(amount, f"memo over {amount}", FLOOR, AUDITOR))

    def _tighten(self) -> None:
        """Two people lower the limit, so that one or two bets fit."""
        held = max(self.floor.state.money.book.meters.current, self.second_ledger.rules.seed)
        limit = -(-held // 10_000) + self.rng.choice((0, 0, 1, 20, 40))
        self.floor.step(ev.MeterClosed("memo close", FLOOR, AUDITOR))
        self.floor.step(ev.MeterParameters("memo set", TECH, AUDITOR, None, limit))
        self._open_again()

    def _chatter(self) -> None:
        """A sensor reports more changes than hands can make: its bet is not booked, and the meter is closed."""
        seat, state = self.rng.randrange(1, 7), self.floor.state
        first = next_change(state, seat)
        for number in range(first, first + 102):
            self.floor.step(ev.BetSensed(seat, number, placed=(number - first) % 2 == 1))

    def _open_again(self) -> None:
        second = TECH if self.second_ledger.closed == "unreasonable" else AUDITOR
        self.floor.step(ev.MeterOpened("memo open", FLOOR, second))

    def _deed(self) -> None:
        self.floor.step(draw_meter_act(self.rng, self.floor.state.money.book.meters, self.second_ledger.rules))


def draw_meter_act(rng: Random, meter: Meters, rules: MeterRules) -> ev.Event:
    """Return a random act on the meter, mostly an allowed one."""
    usual, strange = rng.random() < 0.85, [rng.choice([FLOOR, TECH, *CHEATS]) for _ in range(2)]
    who, second = (FLOOR, AUDITOR) if usual else strange
    chance = rng.random()
    document = f"memo {int(chance * 60)}" if chance < 0.95 else "  "  # sometimes one that was used before
    ground, reason = rng.choice(
        [("malfunction", "sensor_fault"), ("malfunction", "journal_lost"), ("transfer", "to_other_meter"),
         ("transfer", "from_other_meter"), ("theft", "sensor_fault"), ("transfer", "sensor_fault")]
    )  # fmt: skip
    counterpart = rng.choice(("their memo", "their memo", ""))
    amount = rng.choice([-meter.current, -meter.current - 1, rng.randrange(-(10**10), 10**10), 0, 7, 10**16])
    over = rng.choice([meter.overflow, meter.overflow + 1, meter.overflow // 2, 0, -5])
    room = max(meter.current, rules.seed) // 10_000
    limit = rng.choice([room, room + 1, room + 2, room + 100, room - 1, 10**10, 9_999_999_999])
    technician = TECH if usual else who
    rate, submitted = rng.choice([None, None, rules.rate_bp, 7]), rng.choice(("RS-7", ""))
    deeds: list[ev.Event] = [
        ev.MeterCorrected(amount, document, who, second, ground, reason, counterpart),
        ev.MeterReset(document, who, second, ground, reason, counterpart),
        ev.MeterClosed(document, who, second),
        ev.MeterOpened(document, who, second),
        ev.OverflowTransferred(over, document, who, second),
        ev.MeterParameters(document, technician, second, rate, limit, submitted),
        ev.MeterParameters(document, technician, second, None, limit),
    ]
    return rng.choice(deeds)


def attack(folder: Path, table: str, seed: int, rounds: int) -> set[str]:
    """Play random rounds of one table; the auditor's tool must accept the export. Returns what happened."""
    adversary = MoneyAdversary(folder / "journal", table, seed)
    try:
        adversary.play_rounds(rounds)
        export(adversary.folder, folder / "export")
        verify_export.check(folder / "export", None)
    except Exception as failed:
        repeat = f"python -m tests.support.box.money_adversary {table} {seed} {rounds}"
        raise AssertionError(f"{failed}; repeat: {repeat}") from failed
    return adversary.second_ledger.seen


def attacks(table: str, seeds: Iterator[int] | range, rounds: int) -> set[str]:
    """Attack with every seed; return what happened in all of them."""
    seen: set[str] = set()
    for seed in seeds:
        with quick_folder() as folder:
            seen |= attack(folder, table, seed, rounds)
    return seen


if __name__ == "__main__":
    with quick_folder() as place:
        print(sorted(attack(Path(place), sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))))
