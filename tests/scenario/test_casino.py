"""Whole tables through simulators, wire, drivers, controller and core: rounds, and published incidents."""

from __future__ import annotations

import asyncio

import pytest

from simulators.casino.bypass_attempts import CHIP_DELAYS_S
from simulators.casino.dealer import DEALER, FLOOR
from simulators.casino.incidents import FACES, INCIDENTS, REPLAYS, IncidentResult
from simulators.casino.table import CasinoTable
from table_controller.cli import USAGE, main
from table_controller.rulebook import GAMES
from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from table_controller.table.decisions import HoldOpened, Prompt


@pytest.mark.parametrize("game", GAMES)
async def test_rounds_of_every_game_go_through_the_whole_stack(seed: int, game: str) -> None:
    house = CasinoTable(game, seed=seed)
    try:
        await house.open("blue", "red")
        bets = (1, 4) if house.controller.table.context.has_progressive else ()
        for number in (1, 2, 3):
            await house.round(bets)
            assert house.controller.table.state.round.number == number
            assert house.controller.table.state.round.state == mc.IDLE
        assert [whole for _, _, whole in house.dealt_rounds] == [True, True, True]
        irregularities = [d for _, decisions in house.step_log for d in decisions if isinstance(d, HoldOpened)]
        assert irregularities == []
        assert house.notes == []
    finally:
        await house.close()


@pytest.mark.parametrize("game", ["asia_poker", "face_up_pai_gow"])
@pytest.mark.parametrize("phase", [mc.STARTING_POSITION, mc.DEALING, mc.STUB_CHECK])
async def test_after_a_round_void_over_open_dice_the_next_roll_needs_no_floorperson(
    seed: int, game: str, phase: str
) -> None:
    house = CasinoTable(game, seed=seed)
    try:
        await house.open("blue", "red")
        state = house.controller.table.state
        open_dice = lambda: state.round.state == phase and state.lid_off  # noqa: E731
        house.people.choices = {"choose": "void"}
        playing = asyncio.get_running_loop().create_task(house.round(()))
        await house.until(open_dice)
        house.controller.submit(ev.IrregularityReported("other", DEALER))
        await playing
        await house.until_quiescent()
        await house.round(())
        assert (state.round.number, state.round.state, house.people.returned) == (2, mc.IDLE, [1])
        irregularities = [d for _, decisions in house.step_log for d in decisions if isinstance(d, HoldOpened)]
        assert irregularities[0].trigger == "other"
        assert [d for d in irregularities if d.slot == "shaker.1"] == [], (
            "no roll is refused, and nobody has to let play go on"
        )
        assert "cover_shaker" in [prompt.kind for prompt in house.people.prompts_seen]
    finally:
        await house.close()


async def test_a_whole_shoe_is_dealt_collected_and_followed_by_the_other_batch(seed: int) -> None:
    house = CasinoTable("over_under", seed=seed)
    try:
        await house.open("blue", "red")
        while len({deck for _, deck, _ in house.dealt_rounds}) < 2:
            await house.round()
            assert len(house.dealt_rounds) < 60, "the shoe does not come to an end"
        assert all(whole for _, _, whole in house.dealt_rounds)
        assert [d for _, decisions in house.step_log for d in decisions if isinstance(d, HoldOpened)] == []
    finally:
        await house.close()


async def test_a_deck_that_never_left_its_unplugged_shuffler_is_noticed_and_comes_out(seed: int) -> None:
    house = CasinoTable("saigon_5_card", seed=seed)
    try:
        await house.open("blue", "red")
        state = house.controller.table.state
        (stored,) = (deck for deck in state.decks.values() if deck.place == "shuffler.1/gate")

        async def text(prompt: Prompt) -> None:
            assert prompt.deck == stored.name, "they report it, and nobody goes to the machine"

        house.people._remove = text  # type: ignore[method-assign]
        house.machines["shuffler.1"].inject("unplug:seconds=20")
        await house.wait(2.0)
        house.controller.submit(ev.Ordered("remove_deck", FLOOR, deck=stored.name))
        await house.until(lambda: state.decks[stored.name].state == mc.REMOVED)
        assert house.count_inside("shuffler.1", stored.name)
        await house.wait(25.0)
        await house.until_quiescent()
        irregularities = [d.trigger for _, decisions in house.step_log for d in decisions if isinstance(d, HoldOpened)]
        assert irregularities == ["removal_ordered", "unknown_cards"]
        assert not house.count_inside("shuffler.1", stored.name)
        assert state.slots["shuffler.1"].state == "in_service"
        assert not state.holds
    finally:
        await house.close()


# --- incidents --------------------------------------------------------------------------------------------------------


_REPLAYED: dict[tuple[str, int], IncidentResult] = {}


async def replayed(name: str, seed: int) -> IncidentResult:
    """Replay an incident once and cache the result."""
    if (name, seed) not in _REPLAYED:
        _REPLAYED[name, seed] = await REPLAYS[name][1](seed)
    return _REPLAYED[name, seed]


@pytest.mark.parametrize("name", [incident.id for incident in INCIDENTS])
async def test_no_hand_is_dealt_from_bad_cards_after_the_first_check_that_can_see_it(seed: int, name: str) -> None:
    outcome = await replayed(name, seed)
    assert outcome.noticed
    assert outcome.after == ()
    assert outcome.listed == outcome.truth, "the rounds listed are not those dealt since the last good check"
    assert set(outcome.before) <= {number for _, rounds in outcome.listed for number in rounds}
    assert outcome.clauses
    assert outcome.is_good


async def test_cards_left_inside_are_reported_by_number_and_every_round_since_the_last_count_is_listed(
    seed: int,
) -> None:
    outcome = await replayed("cards_left_inside", seed)
    decks = dict(outcome.listed)
    assert list(decks) == ["blue"]
    assert decks["blue"] == tuple(range(1, outcome.rounds + 1)), "a shoe is counted when it is shuffled, not before"
    assert outcome.rounds > 10


async def test_a_card_that_migrates_is_caught_in_both_sets_and_the_findings_are_linked(seed: int) -> None:
    outcome = await replayed("card_migrates", seed)
    assert len(dict(outcome.listed)) == 2
    assert outcome.linked == tuple(sorted(dict(outcome.listed)))


async def test_no_bypass_attempt_succeeds_while_staff_ignore_a_light(seed: int) -> None:
    outcome = await replayed("ignored_light", seed)
    assert outcome.attempts > 100
    assert outcome.passed == 0


async def test_a_face_that_no_count_can_see_is_found_when_faces_are_looked_at(seed: int) -> None:
    read = await replayed("right_count_wrong_card", seed)
    assert read.before == (), "a machine that reads faces sees it at its next cycle"
    counted = await replayed("right_count_wrong_card/counted", seed)
    assert counted.before, "a count cannot see it: that is the limit"
    ((deck, rounds),) = counted.listed
    assert (deck, len(rounds)) == ("blue", FACES)
    assert {"faces_seen", "wrong_cards"} <= set(counted.findings)
    assert "cannot detect" in counted.limit


async def test_chips_collected_are_bets_accepted_whenever_they_land(seed: int) -> None:
    outcome = await replayed("late_bet", seed)
    assert outcome.is_good
    assert outcome.attempts == len(CHIP_DELAYS_S)
    assert outcome.rounds == 1


async def test_a_device_that_is_not_what_it_claims_never_serves(seed: int) -> None:
    outcome = await replayed("rogue_shuffler", seed)
    assert outcome.is_good
    assert outcome.special_result == "wrong key: never in service (PB-311); wrong firmware: never in service (PB-313)"


# --- the command ------------------------------------------------------------------------------------------------------


def test_the_command_prints_the_published_incident_and_our_outcome(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    assert main(["sim", "incidents", "card_under_rail", "rogue_shuffler", "right_count_wrong_card/counted"]) == 0
    shown = capsys.readouterr().out
    assert "1 of 3  card_under_rail: 52 reported" in shown
    (row,) = [line for line in shown.splitlines() if line.startswith("card_under_rail ")]
    assert "0 rounds after the first check able to see it" in row
    assert "blue: 3" in row
    assert "687a.5(b)" in row
    assert "cannot detect a wrong face" in shown
    assert "3 of 3 ended as required" in shown


def test_the_command_fails_when_a_replay_does_not_go_as_it_must(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def badly(_seed: int) -> IncidentResult:
        return IncidentResult("sort_mode", "as theirs went", "16", 3, after=(3,), noticed=True)

    monkeypatch.setitem(REPLAYS, "sort_mode", ("as theirs went", badly))
    assert main(["sim", "incidents", "sort_mode"]) == 1
    assert "0 of 1 ended as required; not sort_mode" in capsys.readouterr().out
    assert main(["sim", "incidents", "no_such"]) == USAGE
    assert "there is no incident 'no_such'; there are cards_left_inside" in capsys.readouterr().err
