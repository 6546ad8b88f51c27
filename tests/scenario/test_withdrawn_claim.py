"""A claim that is withdrawn at a running table, through wire, drivers and controller: the later winner is paid."""

from __future__ import annotations

from typing import Any

from simulators.casino.dealer import FLOOR, SimulatedPeople
from simulators.casino.journal_money_oracle import JournalMoneyOracle
from simulators.casino.table import CasinoTable
from table_controller.ledger.meter import share_of_bet
from table_controller.ledger.money import CENT, DOLLAR, HAND_PAYS, METER, format_dollars
from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from table_controller.table.decisions import HitClaimed, HitRebooked, Prompt
from tests.support.core.ideal_table import AUDITOR

WRONG, WINNER = 6, 4


class Mistaken(SimulatedPeople):
    """People at the table: the dealer claims the whole meter for two seats, and the earlier claim proves wrong."""

    def __init__(self, house: CasinoTable) -> None:
        super().__init__(house)
        rules = house.controller.table.context.meter
        assert rules is not None
        self.whole = next(award.hand for award in rules.awards if award.percent == 100)
        self.fallen = False

    def hand_actions(self) -> dict[str, Any]:
        """Check the wrong hand last."""
        return super().hand_actions() | {"hit_hand": self._look}

    async def _look(self, prompt: Prompt) -> None:
        if prompt.seat == WRONG:
            await self.casino.until(lambda: self._state_of(WINNER) == mc.HIT_LIGHT_SEEN)
            await self.casino.wait(5.0)  # gives people time to validate or pay the winner

    def _state_of(self, seat: int) -> str:
        hit = self.casino.controller.table.state.money.hit_of(seat)
        return "" if hit is None else hit.state

    def choose(self, prompt: Prompt) -> str:
        """Return how people judge the hands."""
        if prompt.kind == "progressive":
            return "no_win" if prompt.seat == WRONG and self.fallen else self.whole
        if prompt.kind == "hit_hand" and prompt.seat == WRONG:
            self.fallen = True
            return "not_winning"
        return super().choose(prompt)


async def test_a_winner_behind_a_wrong_claim_is_paid_the_whole_meter_at_a_running_table(seed: int) -> None:
    house = CasinoTable("face_up_pai_gow", seed=seed)
    try:
        await house.open("blue", "red")
        people = house.people = Mistaken(house)
        people.false_numbers["hand_pay"] = 4711  # the number of the slip
        table = house.controller.table
        rules = table.context.meter
        assert rules is not None
        await house.until(lambda: table.state.money.book.entries > 0)
        target = 101_000 * DOLLAR + 8 * CENT - 2 * share_of_bet(rules.unit, rules.rate_bp)
        house.controller.submit(
            ev.MeterCorrected(
                target - table.state.money.book.balance(METER), "MC-1", FLOOR, AUDITOR, "malfunction", "sensor_fault"
            )
        )
        await house.until(lambda: table.state.money.book.balance(METER) == target)
        await house.round((WINNER, WRONG))
        decided = [decision for _, decisions in house.step_log for decision in decisions]
        claims = [
            (each.seat, format_dollars(each.share), each.final) for each in decided if isinstance(each, HitClaimed)
        ]
        assert claims == [(WRONG, "$101,000.08", True), (WINNER, format_dollars(rules.reseed), False)]
        (again,) = [each for each in decided if isinstance(each, HitRebooked)]
        assert (again.seat, format_dollars(again.share), again.final) == (WINNER, "$101,000.08", True)
        asked = [each.seat for each in decided if isinstance(each, Prompt) and each.kind == "hit_validate"]
        assert asked == [WINNER]
        assert decided.index(again) < next(
            at for at, each in enumerate(decided) if isinstance(each, Prompt) and each.kind == "hit_validate"
        )
        book = table.state.money.book
        assert format_dollars(book.balance(HAND_PAYS)) == "$101,000.08"
        reported = JournalMoneyOracle(rules)
        for event, decisions in house.step_log:
            reported.apply_step(event, decisions)
        assert {account: book.balance(account) for account in reported.accounts()} == reported.accounts()
        assert people.fallen
    finally:
        await house.close()
