"""Tables with progressive bets, played until a hit is claimed, paid or reversed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from table_controller.table.decisions import Booked
from tests.support.core.ideal_table import PEOPLE, IdealTable, decisions_of
from tests.support.core.meters import PROGRESSIVES, choices
from tests.support.oracles.table_monitor import TableMonitor

if TYPE_CHECKING:
    from table_controller.ledger.hits import Hit
    from table_controller.ledger.money import MoneyBook, MoneyEntry
    from table_controller.table.decisions import Decision


class BettingTable(IdealTable):
    """A table with bets on some seats and a monitor that checks every step."""

    def __init__(self, table: str, bets: tuple[int, ...] = (1, 3), **more: Any) -> None:
        game = PROGRESSIVES[table][0]
        super().__init__(game, **choices(table, **more))
        self.monitor = TableMonitor.of(self.edition, self.table.context.meter)
        self.start("blue", "red")
        self.bets = set(bets)

    def step(self, event: ev.Event) -> list[Decision]:
        """Submit one event, monitored."""
        decisions = super().step(event)
        self.monitor.watch(event, decisions, self.state)
        return decisions

    @property
    def book(self) -> MoneyBook:
        """The table's book of money."""
        return self.state.money.book

    def held(self) -> dict[str, int]:
        """Return the account balances, without empty accounts."""
        return {account: amount for account, amount in self.book.held.items() if amount}

    def entries(self) -> list[MoneyEntry]:
        """Return all booked entries, from the decisions."""
        return [booked.entry for _, decisions in self.log for booked in decisions_of(Booked, decisions)]

    def play_to_settling(self) -> BettingTable:
        """Play to where hands are settled."""
        self.play_to(mc.SETTLING)
        return self

    def until_asked(self, kind: str, seat: int | None = None) -> BettingTable:
        """Answer as ideal people do until a prompt of a kind (of a seat) is open."""
        for _ in range(60):
            if any(seat in (None, prompt.seat) for prompt in self.prompts(kind)):
                return self
            asked = self.prompts()
            assert asked, f"{kind} is never asked"
            for event in self.answer(asked[0]):
                self.step(event)
        raise AssertionError(f"{kind} is never asked")

    def claim(self, seat: int, hand: str) -> Hit:
        """Settle until the prompt for a seat's bet, and claim a hand."""
        self.play_to_settling().until_asked("progressive", seat)
        self.answer_prompt("progressive", hand)
        hit = self.state.money.hit_of(seat)
        assert hit is not None
        return hit

    def answer_for_seat(
        self, kind: str, seat: int, choice: str | None = None, seats: tuple[int, ...] = ()
    ) -> list[Decision]:
        """Answer the prompt of a kind for a seat. The cards of a winning hand are entered first."""
        (prompt,) = (each for each in self.prompts(kind) if each.seat == seat)
        if kind == "progressive" and choice is not None:
            self.enter_hand_for(prompt, choice)
            (prompt,) = (each for each in self.prompts(kind) if each.seat == seat)
        given = seats or (self._seats(prompt) if prompt.seats and choice is None else ())
        return self.step(ev.Answer(prompt.id, choice or prompt.choices[0], PEOPLE[prompt.role], None, given))

    def settle_others(self) -> None:
        """Answer all prompts except hand pays."""
        while asked := [prompt for prompt in self.prompts() if prompt.kind != "hand_pay"]:
            for event in self.answer(asked[0]):
                self.step(event)

    def finish(self) -> None:
        """Finish the round with ideal people."""
        self.settle()
        assert self.phase == mc.IDLE, self.prompts()
