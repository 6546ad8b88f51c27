"""Keypad and meter sign, joined to a running table: keys give answers, the sign shows amounts on disk."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from simulators.casino.dealer import DEALER
from simulators.casino.table import CasinoTable
from table_controller.access.keypad import Keypad
from table_controller.controller.meter_sign import sign_amounts
from table_controller.ledger.money import CENT
from table_controller.table import events as ev
from table_controller.table import state_machines as mc

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    import pytest

    from table_controller.table.decisions import Prompt

PAD, SIGN = "keypad.1", "meter_sign.1"
# The questions answered at the keypad; all others are answered at the screen.
_ENTERED = ("seats", "stub", "chips", "start_game")


class Joined(CasinoTable):
    """A table with a keypad and a sign; the dealer's entries come by its keys."""

    def __init__(self, seed: int) -> None:
        super().__init__("face_up_pai_gow", seed=seed, models={PAD: "keypad", SIGN: "meter-sign"})
        self.by_keys: list[str] = []

    @property
    def pad(self) -> Keypad:
        """Return the keypad's part of the box."""
        (pad,) = (joined for joined in self.box._joined if isinstance(joined, Keypad))
        return pad

    def dealer_leaves(self) -> None:
        assert self.box.presence is not None
        self.box.presence.sign_off(DEALER)

    def press(self, *keys: str) -> None:
        for key in keys:
            self.machines[PAD].inject(f"press:key={key}")

    async def enter(self, prompt: Prompt) -> None:
        """Answer a question at the keypad instead of the screen."""
        self.by_keys.append(prompt.kind)
        if prompt.kind != "start_game":  # a lamp; the others are entered when the keypad asks them, one after the other
            await self.until(lambda: self.pad._asked.get(PAD, (0, 0))[0] == prompt.id)
        await self.wait(1.0)
        if prompt.kind == "seats":
            self.press(*(f"seat_{seat}" for seat in self.seats), "confirm")
        elif prompt.kind == "start_game":
            self.press("start_game")
        else:
            count = self.stub if prompt.kind == "stub" else await self.people._collect_chips(prompt)
            self.press(*(f"digit_{digit}" for digit in str(count)), "enter")


@asynccontextmanager
async def _open(seed: int) -> AsyncIterator[Joined]:
    house = Joined(seed)
    house.machines[PAD].inject("turn:to=dealer")
    answer = house.people._answer
    house.people._answer = lambda p: house.enter(p) if p.kind in _ENTERED else answer(p)  # type: ignore[method-assign,assignment]
    try:
        await house.open("blue", "red")
        yield house
    finally:
        await house.close()


def _glass(house: Joined) -> tuple[int, int, int]:
    view: Any = house.slots[SIGN].view
    return view.requested.value, view.requested.pending, view.requested.won


async def test_a_whole_round_is_entered_at_the_keypad_and_the_sign_shows_the_meter(seed: int) -> None:
    async with _open(seed) as house:
        before = sign_amounts(house.controller).value
        await house.round((1, 4))
        assert house.controller.table.state.round.state == mc.IDLE
        assert {"seats", "stub", "chips"} <= set(house.by_keys)
        entries = [event for event, _ in house.step_log if isinstance(event, ev.Answer)]
        assert all(event.who.role in ("dealer", "floorperson") for event in entries)
        shown = sign_amounts(house.controller).value
        assert shown == house.controller.table.state.money.book.meters.current // CENT == before + 56
        assert _glass(house) == (shown, 0, 0)


async def test_the_lock_out_key_closes_the_bets_also_when_nobody_is_signed_on(seed: int) -> None:
    async with _open(seed) as house:
        house.dealer_leaves()
        house.controller.submit(ev.OpenRound(DEALER))
        await house.wait(2.0)
        assert house.controller.table.state.round.state == mc.BETTING
        house.press("lock_out")
        await house.wait(1.0)
        assert house.controller.table.state.round.state != mc.BETTING
        (called,) = (event for event, _ in house.step_log if isinstance(event, ev.NoMoreBets))
        assert called.who == ev.Person("dealer", PAD)


async def test_a_lock_out_from_before_the_bets_opened_closes_nothing(seed: int) -> None:
    async with _open(seed) as house:
        house.machines[PAD].inject("unplug:seconds=3")
        await house.wait(0.5)
        house.press("lock_out")
        await house.wait(1.0)
        house.controller.submit(ev.OpenRound(DEALER))
        await house.wait(6.0)
        assert house.slots[PAD].view.connected
        assert house.controller.table.state.round.state == mc.BETTING


async def test_without_a_dealer_no_entry_is_taken(seed: int) -> None:
    async with _open(seed) as house:
        house.dealer_leaves()
        house.controller.submit(ev.OpenRound(DEALER))
        await house.wait(1.0)
        house.controller.submit(ev.NoMoreBets(DEALER))
        await house.wait(30.0)
        assert "seats" in house.by_keys
        assert not house.controller.table.state.round.seats_entered
        assert any(prompt.kind == "seats" for prompt in house.controller.table.state.prompts.values())


async def test_a_hit_is_claimed_at_the_panel_and_the_keypad_shows_where(seed: int) -> None:
    async with _open(seed) as house:
        people, pad = house.people, house.machines[PAD]
        people.choices["progressive"] = "four_of_a_kind"
        shown, answer = [], people._answer

        async def at_the_pad(prompt: Prompt) -> None:
            """Press every key while the keypad shows the prompt; then answer it elsewhere."""
            if prompt.kind == "progressive":
                await house.wait(1.0)
                shown.append((prompt.seat, pad.mechanics.display_text[:3]))  # type: ignore[attr-defined]
                house.press("seat_1", "confirm", "digit_1", "enter")
                await house.wait(1.0)
                assert prompt.id in house.controller.table.state.prompts, "no key claims a hit or loses a bet"
            await answer(prompt)

        people._answer = at_the_pad  # type: ignore[method-assign]
        await house.round((1, 4))
        assert [seat for seat, _ in shown] == [4, 4, 1, 1], "before its cards are entered, and after"
        assert {lines for seat, lines in shown if seat == 4} == {
            ("PROGRESSIVE: SEAT 4", "enter its hand", "at the panel")
        }
        paid = house.controller.table.state.money.book.meters
        assert paid.paid_by_table + paid.paid_by_attendant > 0


async def test_a_sign_that_was_away_shows_the_newest_amount_when_it_is_back(seed: int) -> None:
    async with _open(seed) as house:
        house.machines[SIGN].inject("unplug:seconds=200")
        await house.round((1, 4))
        await house.wait(300.0)
        assert house.slots[SIGN].view.connected
        assert _glass(house)[0] == sign_amounts(house.controller).value


async def test_a_table_where_nothing_happens_keeps_its_sign_fresh(seed: int, caplog: pytest.LogCaptureFixture) -> None:
    async with _open(seed) as house:
        sign: Any = house.machines[SIGN]
        await house.wait(60.0)
        before, first = house.controller.newest_seq, sign.firmware._sequence
        for _ in range(30):
            await house.wait(4.0)
            assert not sign.firmware._glass.stale
        assert house.controller.newest_seq == before, "no event and no change"
        assert sign.firmware._sequence > first
    assert "does not show the meter" not in caplog.text
