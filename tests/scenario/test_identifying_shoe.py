"""A shoe that identifies cards, over every rung of the ladder: units, releases, and when it forgets.

Its releases are compared with the cards of the simulated world. test_shoe_secrecy.py shows that they reveal no order.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Final

import pytest

from devices.driver_events import LinkDown
from devices.shoe import messages as m
from devices.shoe.state import ReleaseDropped
from firmware_bridge.commands import Outcome
from firmware_bridge.errors import (
    BadFault,
    BadMessage,
    CommandFailed,
    CommandIdReused,
    CommandRefused,
    LinkClosed,
    OutcomeUnknown,
)
from firmware_bridge.handshake import Trust
from simulators.casino.device_bench import trust_for
from simulators.kinds.shoe.machine import SimulatedManualShoe, SimulatedShoe
from simulators.world.table import LAYOUT
from tests.scenario.test_manual_shoe import draw
from tests.support.machines.bench import over_the_ladder
from tests.support.machines.card_checks import ask_until_answered, run_command, until_moving
from tests.support.machines.shoes import ManualShoe, Shoe, manual_shoe_bench, shoe_bench

if TYPE_CHECKING:
    from collections.abc import Callable

R: Final = m.Reason
BY_HAND: Final = pytest.mark.parametrize("by_hand", [False, True], ids=["automated", "manual"])


def bench_of(by_hand: bool, seed: int, rung: str = "clean", **options: Any) -> Any:
    """Return the bench of an identifying shoe."""
    return (manual_shoe_bench if by_hand else shoe_bench)(seed, rung, identifies=True, **options)


async def stack(b: Shoe, cards: int = 7, *, is_taken: bool = True) -> tuple[int, list[int]]:
    """Deal a stack; return the id that dealt it and its true cards."""
    ids: list[int] = []

    def dispense(command: int) -> Any:
        ids.append(command)
        return b.driver.dispense(command, cards)

    await run_command(b, dispense)
    true = sorted(card.face for card in b.machine.world.at(b.machine.mechanics.delivery))
    if is_taken:
        b.inject("take")
    return ids[0], true


async def begin_round(b: ManualShoe) -> int:
    """Open a round; return its id."""
    ids: list[int] = []

    def start(command: int) -> Any:
        ids.append(command)
        return b.driver.start_round(command)

    await run_command(b, start)
    return ids[0]


async def dealt(b: Any) -> tuple[int, int, list[int]]:
    """Deal a unit on either model; return its id, its card number, and its true cards."""
    if isinstance(b.machine, SimulatedShoe):
        dealt_by, true = await stack(b)
        return dealt_by, 0, true
    opened = await begin_round(b)
    await draw(b, 3)
    return opened, 2, [b.machine.world.at(LAYOUT)[-2].face]


async def released(b: Any, dealt_by: int, card: int = 0) -> m.CardsReleased:
    """Release a unit; on a lossy line, until an answer comes: nothing moves, so it may be ordered again."""
    for _ in range(20):
        count = len(b.events_of(m.CardsReleased))
        try:
            await b.driver.release_cards(b.next_id(), dealt_by, card)
        except OutcomeUnknown:
            await ask_until_answered(b, b.driver.report)
            continue
        release: m.CardsReleased = b.events_of(m.CardsReleased)[-1]
        assert len(b.events_of(m.CardsReleased)) == count + 1
        assert (release.dealt_by, release.card) == (dealt_by, card)
        return release
    raise AssertionError("never released")


async def expect_refused(b: Any, reason: m.Reason, dealt_by: int, card: int = 0) -> None:
    """The shoe refuses to release a unit, and sends no card."""
    before = len(b.events_of(m.CardsReleased))
    with pytest.raises(CommandRefused) as refusal:
        await run_command(b, lambda command: b.driver.release_cards(command, dealt_by, card))
    assert refusal.value.reason == reason
    assert len(b.events_of(m.CardsReleased)) == before
    assert not b.events_of(ReleaseDropped)


# --- releases --------------------------------------------------------------------------------------------------


@over_the_ladder
async def test_each_stack_is_released_with_its_true_cards_in_ascending_order(seed: int, rung: str) -> None:
    async with bench_of(False, seed, rung) as b:
        stacks = [await stack(b, 7) for _ in range(7)]
        await run_command(b, b.driver.count_stub)
        for dealt_by, true in reversed(stacks):  # in any order, and after the stub
            release = await released(b, dealt_by)
            assert (list(release.cards), release.unread) == (true, 0)
        assert b.service.state == "in_service"
        seen = [value for _, true in stacks for value in true]
        assert len(set(seen)) == 49


@over_the_ladder
async def test_each_card_of_a_round_drawn_by_hand_is_released_by_itself(seed: int, rung: str) -> None:
    async with bench_of(True, seed, rung) as b:
        await draw(b, 1)  # a burned card: it belongs to no round
        opened = await begin_round(b)
        await draw(b, 5)
        true = [card.face for card in b.machine.world.at(LAYOUT)[-5:]]
        for number in (4, 1, 5):  # while the round is open
            release = await released(b, opened, number)
            assert (list(release.cards), release.unread) == ([true[number - 1]], 0)
        await run_command(b, b.driver.stop)
        await draw(b, 1)  # drawn in error: no unit either
        assert list((await released(b, opened, 2)).cards) == [true[1]]
        await expect_refused(b, R.NO_SUCH_UNIT, opened, 6)


async def drawn_hand(b: ManualShoe, *, numbers: tuple[int, ...] = (5, 1, 3)) -> tuple[int, tuple[int, ...], list[int]]:
    """Draw a round; return its id, some of its cards, and their true values in the order of those numbers."""
    opened = await begin_round(b)
    await draw(b, 5)
    true = [card.face for card in b.machine.world.at(LAYOUT)[-5:]]
    return opened, numbers, [true[number - 1] for number in numbers]


@over_the_ladder
async def test_several_drawn_cards_are_released_in_one_event_without_their_order(seed: int, rung: str) -> None:
    async with bench_of(True, seed, rung) as b:
        opened, numbers, true = await drawn_hand(b)
        for _ in range(20):  # on a lossy line, until an answer comes
            ids = [b.next_id() for _ in numbers]
            try:
                settled = await b.driver.release_drawn(ids[0], opened, numbers)
            except OutcomeUnknown:
                await ask_until_answered(b, b.driver.report)
                continue
            break
        assert settled.command == ids[0]
        (release,) = b.events_of(m.CardsReleased)
        assert (release.command, release.dealt_by, release.card, release.unread) == (ids[0], opened, 0, 0)
        assert list(release.cards) == sorted(true)


async def test_no_card_of_several_is_published_if_one_is_refused_or_lost(seed: int) -> None:
    async with bench_of(True, seed) as b:
        opened, _, true = await drawn_hand(b)
        with pytest.raises(CommandRefused) as refusal:
            await b.driver.release_drawn(b.next_id(), opened, (1, 6))
        assert refusal.value.reason == R.NO_SUCH_UNIT
        ids = [b.next_id() for _ in range(4)]
        b.inject("unplug:seconds=2")
        with pytest.raises((OutcomeUnknown, LinkClosed)):
            await b.driver.release_drawn(ids[1], opened, (1, 3, 5))
        await b.until_reported()
        assert not b.events_of(m.CardsReleased)
        assert not b.events_of(ReleaseDropped)
        ids = [b.next_id() for _ in range(4)]
        await b.driver.release_drawn(ids[1], opened, (1, 3, 5))
        assert list(b.events_of(m.CardsReleased)[0].cards) == sorted(true)


@over_the_ladder
async def test_a_withheld_answer_about_one_of_several_is_learned_by_asking(seed: int, rung: str) -> None:
    async with bench_of(True, seed, rung) as b:
        opened, numbers, true = await drawn_hand(b)
        b.inject("withhold:message=ReleaseCards")
        for _ in range(20):
            try:
                await b.driver.release_drawn([b.next_id() for _ in numbers][0], opened, numbers)  # noqa: RUF015 - all ids
            except OutcomeUnknown:
                await ask_until_answered(b, b.driver.report)
                continue
            break
        assert list(b.events_of(m.CardsReleased)[0].cards) == sorted(true)


async def test_unread_cards_of_several_are_counted_together(seed: int) -> None:
    async with bench_of(True, seed) as b:
        b.inject("card_unread:card=1")
        b.inject("card_unread:card=3")
        opened, numbers, true = await drawn_hand(b)
        ids = [b.next_id() for _ in numbers]
        await b.driver.release_drawn(ids[0], opened, numbers)
        (release,) = b.events_of(m.CardsReleased)
        assert (list(release.cards), release.unread) == ([true[0]], 2)


@over_the_ladder
@BY_HAND
async def test_an_answer_that_is_withheld_is_learned_by_asking_and_the_unit_can_be_ordered_again(
    seed: int, rung: str, by_hand: bool
) -> None:
    async with bench_of(by_hand, seed, rung) as b:
        dealt_by, card, true = await dealt(b)
        b.inject("withhold:message=ReleaseCards")
        truth = b.machine.true_counts()
        settled = await run_command(b, lambda command: b.driver.release_cards(command, dealt_by, card))
        assert settled.outcome is Outcome.DONE
        assert list(b.events_of(m.CardsReleased)[-1].cards) == true, "the cards came before the answer"
        assert list((await released(b, dealt_by, card)).cards) == true
        assert b.machine.true_counts() == truth


@BY_HAND
async def test_the_same_id_again_releases_nothing_again(seed: int, by_hand: bool) -> None:
    async with bench_of(by_hand, seed) as b:
        dealt_by, card, _ = await dealt(b)
        command = b.next_id()
        for _ in range(2):
            await b.driver.release_cards(command, dealt_by, card)
        assert len(b.events_of(m.CardsReleased)) == 1
        with pytest.raises(CommandRefused) as reused:
            await b.driver.stop(command)
        assert reused.value.reason == CommandIdReused.number


@over_the_ladder
@BY_HAND
async def test_a_lost_link_costs_no_unit(seed: int, rung: str, by_hand: bool) -> None:
    """Ids name units, so no lost event can make box and shoe mean different cards."""
    async with bench_of(by_hand, seed, rung) as b:
        dealt_by, card, true = await dealt(b)
        b.inject("unplug:seconds=2")
        await b.until(lambda event: isinstance(event, LinkDown))
        await b.until_reported()
        assert list((await released(b, dealt_by, card)).cards) == true


async def test_a_stack_whose_events_were_lost_is_released_by_its_own_id(seed: int) -> None:
    """A counter of stacks would be one behind, and would release the cards of another place."""
    async with bench_of(False, seed) as b:
        first, true = await stack(b)
        lost = b.next_id()
        dealing = b.driver.dispense(lost, 7)
        await until_moving(b)
        b.inject("unplug:seconds=30")
        with pytest.raises(OutcomeUnknown):
            await dealing
        await b.until_reported()
        assert (await b.driver.outcome(lost)).outcome is Outcome.DONE
        assert len(b.events_of(m.Dispensed)) == 1, "nobody was told of the second"
        second = sorted(card.face for card in b.machine.world.at(b.machine.mechanics.delivery))
        b.inject("take")
        third, others = await stack(b)
        for dealt_by, cards in ((first, true), (lost, second), (third, others)):
            assert list((await released(b, dealt_by)).cards) == cards


# --- what is refused ---------------------------------------------------------------------------------------------


@over_the_ladder
async def test_a_unit_that_was_not_dealt_is_refused(seed: int, rung: str) -> None:
    async with bench_of(False, seed, rung) as b, bench_of(True, seed, rung) as by_hand:
        dealt_by, _, _ = await dealt(b)
        load = b.events_of(m.Loaded)[0].command
        for wrong, card in ((load, 0), (dealt_by + 1000, 0), (2**63 - 1, 0), (dealt_by, 1), (dealt_by, 0xFFFF)):
            await expect_refused(b, R.NO_SUCH_UNIT, wrong, card)
        opened, _, _ = await dealt(by_hand)
        for wrong, card in ((opened, 0), (opened, 4), (opened + 1000, 1)):
            await expect_refused(by_hand, R.NO_SUCH_UNIT, wrong, card)


@over_the_ladder
async def test_nothing_is_released_while_cards_move_or_a_stack_waits_in_the_slot(seed: int, rung: str) -> None:
    async with bench_of(False, seed, rung) as b:
        first, _ = await stack(b)
        second, true = await stack(b, is_taken=False)
        await expect_refused(b, R.SLOT_OCCUPIED, second)
        assert (await released(b, first)).unread == 0, "the stack before it was taken"
        b.inject("take")
        assert list((await released(b, second)).cards) == true


@BY_HAND
async def test_during_motion_a_release_is_refused(seed: int, by_hand: bool) -> None:
    async with bench_of(by_hand, seed) as b:
        dealt_by, card, _ = await dealt(b)
        if by_hand:
            b.inject("draw")
            await asyncio.sleep(0.05)
            await expect_refused(b, R.PATH_BLOCKED, dealt_by, card)
            await b.until(lambda event: isinstance(event, m.Drawn))
            await b.driver.count_stub(b.next_id())
            await expect_refused(b, R.BUSY, dealt_by, card)
        else:
            moving = b.driver.dispense(b.next_id(), 10)
            await until_moving(b)
            await expect_refused(b, R.BUSY, dealt_by, card)
            await moving
        assert not b.events_of(m.CardsReleased)


async def test_an_unfinished_stack_is_no_unit(seed: int) -> None:
    async with bench_of(False, seed) as b:
        first, _ = await stack(b, 10)
        for _ in range(4):
            await stack(b, 10)
        b.inject("door:to=open")  # then it does not know that three are left
        b.inject("door:to=closed")
        short = b.next_id()
        with pytest.raises(CommandFailed):
            await b.driver.dispense(short, 10)
        await expect_refused(b, R.NO_SUCH_UNIT, short)
        await expect_refused(b, R.UNIT_FORGOTTEN, first)


@over_the_ladder
@pytest.mark.parametrize(
    ("fault", "reason"),
    [("card_misread:card=3", R.CARD_TWICE), ("card_read_twice:card=3", R.READS_DISAGREE)],
)
async def test_a_stack_that_the_reader_got_wrong_is_not_released(
    seed: int, rung: str, fault: str, reason: m.Reason
) -> None:
    async with bench_of(False, seed, rung) as b:
        b.inject(fault)
        wrong, _ = await stack(b)
        right, true = await stack(b)
        await expect_refused(b, reason, wrong)
        assert list((await released(b, right)).cards) == true
        assert b.service.state == "in_service", "people enter the cards of the other stack"


async def test_a_card_that_is_twice_in_the_deck_is_not_released_with_any_of_its_stacks(seed: int) -> None:
    async with bench_of(False, seed, loaded=False) as b:
        world, intake = b.machine.world, b.machine.mechanics.intake
        copied = world.at(intake)[-1]
        world.move(world.at(intake)[0], LAYOUT)
        world.insert(world.make(copied.face, "red", intake), 10)
        await b.driver.load(b.next_id())
        first, second, third = [(await stack(b))[0] for _ in range(3)]
        await expect_refused(b, R.CARD_TWICE, first)
        await expect_refused(b, R.CARD_TWICE, second)
        await released(b, third)


@over_the_ladder
@BY_HAND
async def test_a_card_that_cannot_be_read_is_only_counted(seed: int, rung: str, by_hand: bool) -> None:
    async with bench_of(by_hand, seed, rung) as b:
        b.inject("card_unread:card=2")
        dealt_by, card, true = await dealt(b)
        release = await released(b, dealt_by, card)
        assert release.unread == 1
        assert len(release.cards) == len(true) - 1
        assert set(release.cards) <= set(true)


async def test_a_card_that_is_face_up_shows_its_back_to_the_reader(seed: int) -> None:
    async with bench_of(False, seed, loaded=False) as b:
        b.inject("face_up:depth=3")
        await b.driver.load(b.next_id())
        dealt_by, true = await stack(b)
        release = await released(b, dealt_by)
        assert (len(release.cards), release.unread) == (6, 1)
        assert set(release.cards) < set(true)


async def test_a_cover_card_is_no_card_of_its_stack(seed: int) -> None:
    async with bench_of(False, seed, loaded=False) as b:
        b.inject("cover_card:depth=3")
        await b.driver.load(b.next_id())
        dealt_by, true = await stack(b)
        assert -1 in true
        release = await released(b, dealt_by)
        assert ([-1, *release.cards], release.unread) == (true, 0)


# --- when it forgets ---------------------------------------------------------------------------------------------


async def _restart(b: Any) -> None:
    b.inject("reboot")
    await b.until(lambda event: isinstance(event, LinkDown))
    await b.until_reported()


async def _power_cut(b: Any) -> None:
    b.inject("power_cut:seconds=2")
    await b.until(lambda event: isinstance(event, LinkDown))
    await b.until_reported()


async def _jam_and_clear(b: Any) -> None:
    b.inject("jam:segment=exit,card=2" if isinstance(b.machine, SimulatedShoe) else "jam:segment=exit")
    if isinstance(b.machine, SimulatedShoe):
        with pytest.raises(CommandFailed):
            await b.driver.dispense(b.next_id(), 7)
        b.inject("clear_path")
    else:
        b.inject("draw")
        await b.until(lambda event: isinstance(event, m.Jam))
        b.inject("clear_path")
        b.inject("lift")
    await run_command(b, b.driver.clear_jam)
    if isinstance(b.machine, SimulatedShoe):
        b.inject("take")


async def _stop_in_motion(b: Any) -> None:
    moving = b.driver.dispense(b.next_id(), 10)
    await until_moving(b)
    await b.driver.stop(b.next_id())
    with pytest.raises(CommandFailed):
        await moving
    b.inject("clear_path")
    await run_command(b, b.driver.clear_jam)
    b.inject("take")


async def _open_door(b: Any) -> None:
    b.inject("door:to=open")
    b.inject("door:to=closed")


async def _load_again(b: Any) -> None:
    if isinstance(b.machine, SimulatedShoe):
        await run_command(b, b.driver.count_stub)
        b.inject("take")
    else:
        b.inject("lift")
    b.inject("gather")
    b.inject("load")
    await run_command(b, b.driver.load)


async def _next_round(b: Any) -> None:
    await begin_round(b)
    await draw(b, 3)


FORGETS: Final[dict[str, tuple[bool, Callable[[Any], Any]]]] = {
    "a restart": (False, _restart),
    "a power cut": (False, _power_cut),
    "a jam": (False, _jam_and_clear),
    "a stop in motion": (False, _stop_in_motion),
    "an open door": (False, _open_door),
    "another block": (False, _load_again),
    "a restart of a manual shoe": (True, _restart),
    "a power cut of a manual shoe": (True, _power_cut),
    "a jam in a manual shoe": (True, _jam_and_clear),
    "another block of a manual shoe": (True, _load_again),
    "the next round": (True, _next_round),
}


@over_the_ladder
@pytest.mark.parametrize("how", FORGETS)
async def test_values_are_erased_and_the_unit_is_refused_as_forgotten(seed: int, rung: str, how: str) -> None:
    by_hand, forget = FORGETS[how]
    async with bench_of(by_hand, seed, rung) as b:
        dealt_by, card, _ = await dealt(b)
        await forget(b)
        assert not b.machine.firmware._units._units or how == "the next round"
        await expect_refused(b, R.UNIT_FORGOTTEN, dealt_by, card)


@BY_HAND
async def test_a_bench_tool_gets_nothing_that_a_table_dealt(seed: int, by_hand: bool) -> None:
    async with bench_of(by_hand, seed) as b:
        dealt_by, card, _ = await dealt(b)
        known = trust_for(b.machine)
        b.supervisor.trust = Trust(known.kind, known.keys, known.approved, role="bench")
        b.inject("unplug:seconds=1")
        await b.until(lambda event: isinstance(event, LinkDown))
        await b.until_reported()
        await expect_refused(b, R.UNIT_FORGOTTEN, dealt_by, card)


async def test_a_stop_at_rest_and_a_self_test_forget_nothing(seed: int) -> None:
    """A box that starts again stops the shoe first; the round goes on."""
    async with bench_of(False, seed) as b:
        dealt_by, true = await stack(b)
        await b.driver.stop(b.next_id())
        await b.driver.self_test(b.next_id())
        assert list((await released(b, dealt_by)).cards) == true


# --- a shoe that breaks the rules --------------------------------------------------------------------------------


SENT_UNASKED: Final = {
    "nobody ordered anything": lambda command, dealt_by: m.CardsReleased(99, dealt_by, 0, bytes([1, 2]), 0),
    "another unit": lambda command, dealt_by: m.CardsReleased(command, dealt_by + 1, 0, bytes([1, 2]), 0),
    "in drawn order": lambda command, dealt_by: m.CardsReleased(command, dealt_by, 0, bytes([9, 2]), 0),
    "no card": lambda command, dealt_by: m.CardsReleased(command, dealt_by, 0, bytes([2, 53]), 0),
    "nothing": lambda command, dealt_by: m.CardsReleased(command, dealt_by, 0, b"", 0),
    "more than a stack": lambda command, dealt_by: m.CardsReleased(command, dealt_by, 0, bytes(range(10)), 1),
}


@pytest.mark.parametrize("how", SENT_UNASKED)
async def test_values_that_nobody_ordered_are_dropped_and_the_machine_is_faulted(
    seed: int, how: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(0)
    async with bench_of(False, seed) as b:
        dealt_by, _ = await stack(b)
        real = b.machine.firmware._begin

        def begin(message: Any) -> bool:
            if isinstance(message, m.ReleaseCards):
                b.machine.board.emit(SENT_UNASKED[how](message.command, message.dealt_by))
                return True
            return real(message)  # type: ignore[no-any-return]

        b.machine.firmware._begin = begin
        with pytest.raises(OutcomeUnknown):
            await b.driver.release_cards(b.next_id(), dealt_by)
        assert not b.events_of(m.CardsReleased)
        assert len(b.events_of(ReleaseDropped)) == 1
        assert isinstance(b.events_of(LinkDown)[0].cause, BadMessage)
        assert b.service.state == "faulted"
        for text in (*(record.getMessage() for record in caplog.records), *map(str, b.events)):
            assert "cards=b" not in text


async def test_a_second_release_for_one_order_is_dropped(seed: int) -> None:
    async with bench_of(False, seed) as b:
        dealt_by, _ = await stack(b)
        emit = b.machine.board.emit

        def twice(event: Any, **how: Any) -> None:
            for _ in range(2 if isinstance(event, m.CardsReleased) else 1):
                emit(event, **how)

        b.machine.board.emit = twice
        with pytest.raises(OutcomeUnknown):
            await b.driver.release_cards(b.next_id(), dealt_by)
        assert (len(b.events_of(m.CardsReleased)), len(b.events_of(ReleaseDropped))) == (1, 1)
        assert b.service.state == "faulted"


# --- the model -----------------------------------------------------------------------------------------------------


@BY_HAND
@pytest.mark.parametrize("fault", ["card_unread", "card_misread", "card_read_twice"])
async def test_a_shoe_without_a_reader_has_no_reader_faults(seed: int, by_hand: bool, fault: str) -> None:
    machine: Any = (SimulatedManualShoe if by_hand else SimulatedShoe)(seed=seed)
    with pytest.raises(BadFault, match="reads no card values"):
        machine.inject(fault)
    assert m.IDENTIFIES not in machine.board.identity.capabilities


@BY_HAND
async def test_an_identifying_shoe_names_it_and_its_status_shows_no_value(seed: int, by_hand: bool) -> None:
    async with bench_of(by_hand, seed) as b, (manual_shoe_bench if by_hand else shoe_bench)(seed) as plain:
        assert b.driver.reported.hello.model == ("PB-D0i" if by_hand else "PB-D1i")
        assert b.driver.reported.hello.capabilities[-1] == m.IDENTIFIES
        await dealt(b)
        await dealt(plain)
        assert await b.driver.status() == await plain.driver.status()
        assert b.view == plain.view
