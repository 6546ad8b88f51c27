"""Soaks of whole tables: every invariant holds under any faults, and the checkers detect planted mistakes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from devices.shaker.messages import Reading
from simulators.casino import soak as house_soak
from simulators.casino.dealt_hands import enter_dealt
from simulators.casino.fault_schedule import Mishap, draw_schedule, parse_mishap
from simulators.casino.soak import (
    ROUNDS_PER_TABLE,
    SoakFailure,
    SoakFigures,
    run_table,
    shrink,
    table_choices,
    tables,
)
from simulators.casino.table import CasinoTable
from simulators.cli.soak import replay_command, summary
from table_controller.cli import main
from table_controller.rulebook import GAMES
from table_controller.table import events as ev
from table_controller.table.decisions import StateChanged
from tests.support.suite import case_counts

if TYPE_CHECKING:
    from collections.abc import Callable

    from table_controller.controller.box import Box
    from table_controller.table.decisions import Decision

# `make test` plays 500 rounds; `make proof` plays more, at tables that workers share: each is one test, named by its
# game and its seed, and games take turns, so that workers get as many long ones as short ones. More rounds are more
# tables after these. `pitbox sim soak --rounds 100000` plays what there is time for.
SHORT = 100
PROOF = 20_000
SEED = 100
PROOF_SEED = 1000
TABLES = [
    (game, PROOF_SEED * (row + 1))
    for row in case_counts.draw_seeds(0, PROOF // ROUNDS_PER_TABLE // len(GAMES))
    for game in GAMES
]


def clean(game: str, rounds: int, seed: int) -> SoakFigures:
    """Play tables with random faults; fail with the shortest list of mishaps and the command that repeats them."""
    whole = SoakFigures()
    for each, length, mishaps in tables(game, rounds, seed, "storm"):
        day, failure = run_table(game, each, length, mishaps)
        whole.add(day)
        if failure is not None:
            least = shrink(failure, tries=15)
            raise AssertionError(f"{game}, seed {each}: {failure.how}; repeat: {replay_command(least)}")
    assert whole.rounds >= rounds
    assert whole.voids < whole.rounds / 2, "a table that only voids its rounds proves nothing"
    assert whole.bad_after_check == 0
    assert whole.irregularities
    return whole


@pytest.mark.parametrize("game", GAMES)
def test_every_invariant_holds_under_many_faults(game: str) -> None:
    day = clean(game, SHORT, SEED)
    assert day.power_cuts
    assert day.reconciled or game != "face_up_pai_gow"


@pytest.mark.proof
@pytest.mark.parametrize(("game", "seed"), TABLES)
def test_many_rounds_under_many_faults_are_clean(game: str, seed: int) -> None:
    day = clean(game, ROUNDS_PER_TABLE, seed)
    print(f"{game}, seed {seed}: " + "; ".join(summary(day)))


# Defects that long soaks found, reduced: game, seed, rounds, mishaps. Each is fixed.
REGRESSIONS: dict[str, tuple[str, int, int, tuple[str, ...]]] = {
    "a shuffler refuses a batch, and cannot give out what it never drew in": (
        "over_under", 1000, 3, ("1@19.176 shoe.1 jam:segment=exit", "1@35.21 shuffler.1 door:to=open")),
    "a cycle that is no shuffle counts the deck whole, and hands count it wrong": (
        "dj_wild", 2000, 5, ("1@2 house miscount:question=cards_together,by=2,way=less", "3@22 shuffler.1 sort_mode")),
    "a shoe is lost three times, and nobody asks it once more": (
        "over_under", 5003, 2, ("1@29.23 shoe.1 hang:seconds=6", "1@57.063 shoe.1 power_cut:seconds=8",
                                "2@45.764 shoe.1 unplug:seconds=20")),
    "a deck is to leave while its shuffler has no cable": (
        "saigon_5_card", 2, 3, ("1@18 shuffler.1 missing_card", "1@47 shuffler.1 unplug:seconds=20")),
    "a player takes his chip back after the lock, where nobody counts chips": (
        "dj_wild", 4000, 2, ("1@2.5276 bet_sensor.6 take_bet", "2@2.2471 bet_sensor.6 drop_chip")),
    "a dealer announces a total that no dice have": (
        "asia_poker", 2, 1, ("1@1 house miscount:question=announce,by=7,way=less",)),
    "hands that gather a batch from its shoe count the cover card, and a short batch is whole": (
        "over_under", 3000, 9, ("1@50.318 shoe.1 jam:segment=drop", "2@32.018 shuffler.1 missing_card",
                                "8@31.812 house box_power_cut:at=after,points=28")),
    "a shuffler gives a deck out, and its cable is pulled before it says so": (
        "asia_poker", 6002, 8, ("7@25.236 shuffler.1 unplug:seconds=5",)),
    "two dice fall when one lid comes off": (
        "asia_poker", 4000, 2, ("1@9.255 shaker.1 spill:die=2", "1@28.169 shaker.1 spill:die=3")),
    "a shoe gives its stub out while nobody hears it, and the next deck has a card that no count can see": (
        "face_up_pai_gow", 5000, 4, ("1@39.093 house card_swapped", "3@20.111 shoe.1 unplug:seconds=5")),
    "a dealer goes on emptying a shoe for a question that is gone, and draws from the next batch": (
        "over_under", 3002, 22, ("1@39.014 shoe.1 jam:segment=exit", "4@5.413 house card_swapped",
                                 "22@59.684 shoe.1 double_feed:offset=45")),
    "a replacement card comes out of the stub, and what is counted with it is a whole deck": (
        "dj_wild", 1000, 2, ("1@10.597 shoe.1 card_left_inside:card=13", "1@59.892 house card_aside")),
    "people count a short batch as whole, and the rounds before that count are forgotten": (
        "over_under", 3000, 5, ("1@50.318 shoe.1 jam:segment=drop", "2@24.1 shuffler.1 missing_card",
                                "3@1 house miscount:question=cards_together,by=1,way=more",
                                "4@5 shoe.1 jam:segment=drop")),
}  # fmt: skip


@pytest.mark.parametrize("name", REGRESSIONS)
def test_defects_that_long_soaks_found_stay_fixed(name: str) -> None:
    game, seed, rounds, mishaps = REGRESSIONS[name]
    day, failure = run_table(game, seed, rounds, [parse_mishap(text) for text in mishaps])
    assert failure is None, failure
    assert day.rounds == rounds
    assert day.mishaps.total() == len(mishaps), "nothing went wrong"


def test_hands_that_gather_a_batch_count_its_cards_and_not_its_cover_card() -> None:
    whole = ["1@50.318 shoe.1 jam:segment=drop"]
    short = [*whole, "2@24.1 shuffler.1 missing_card", "4@5 shoe.1 jam:segment=drop"]
    (day, failure), (bad, missed) = (
        run_table("over_under", 3000, rounds, [parse_mishap(text) for text in mishaps])
        for rounds, mishaps in ((3, whole), (5, short))
    )
    assert failure is missed is None, failure or missed
    assert not day.clauses["X8"], "a whole batch was counted wrong"
    assert bad.bad_before_check, "nothing was dealt from the short batch"
    assert bad.clauses["X8"], "a short batch was counted whole"


def test_a_shaker_that_feels_no_shake_costs_no_round() -> None:
    day, failure = run_table("asia_poker", 6002, 4, [parse_mishap("2@39.187 shaker.1 deaf")])
    assert failure is None, failure
    assert (day.rounds, day.voids, day.irregularities) == (4, 0, 0)


class CountsNothing(CasinoTable):
    """A dealer who reports the last stub's count and leaves this stub in the shoe's slot."""

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)

        async def as_before(_: object) -> int:
            return self.stub

        self.people._count_stub = as_before  # type: ignore[method-assign]


def test_a_count_is_held_for_what_went_into_the_shoe_and_not_for_what_was_left_in_its_slot() -> None:
    game, seed, rounds, mishaps = REGRESSIONS[
        "a shoe gives its stub out while nobody hears it, and the next deck has a card that no count can see"
    ]
    day, failure = run_table(game, seed, rounds, [parse_mishap(text) for text in mishaps], make=CountsNothing)
    assert failure is None, failure
    assert day.clauses["X8"], "the deck that the cards are missing from is found at its next count"
    assert day.bad_after_check == 0
    assert day.voids == 0, "no round opens for a shoe that was emptied meanwhile"


class MissesReading(CasinoTable):
    """A dealer who does not see on the screen what the shaker read."""

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        reported = self.people.see_device_event

        def unheard(slot: str, event: Any) -> None:
            if not isinstance(event, Reading):
                reported(slot, event)

        self.people.see_device_event = unheard  # type: ignore[method-assign]


@pytest.mark.parametrize("touched", [(), ("2@6.6 shaker.1 bump",)], ids=["read", "touched"])
def test_a_dealer_reads_the_dice_and_calls_no_roll_where_somebody_touched_them(touched: tuple[str, ...]) -> None:
    mishaps = [parse_mishap(text) for text in touched]
    day, failure = run_table("asia_poker", 1, 3, mishaps, make=MissesReading)
    assert failure is None, failure
    assert (day.rounds, day.voids) == (3, 0)
    assert day.irregularities == (3 if touched else 0), "two totals that nobody read, and no roll"


def test_the_same_seed_plays_the_same_table() -> None:
    mishaps = draw_schedule("saigon_5_card", 3, 8, "storm")
    days = [run_table("saigon_5_card", 3, 8, mishaps)[0] for _ in range(2)]
    assert (days[0].steps, days[0].virtual_s, days[0].clauses) == (days[1].steps, days[1].virtual_s, days[1].clauses)


def test_hits_are_claimed_and_paid_at_a_table_with_a_meter() -> None:
    day, failure = run_table("dj_wild", 1, 12, [])
    assert failure is None
    assert day.bets
    assert day.hits
    assert day.reconciled >= 12
    assert {"687a-progressive-1", "687a-progressive-2"} == {
        table_choices("dj_wild", seed)["paytables"]["progressive"] for seed in (1, 2)
    }
    assert table_choices("dj_wild", 3) == table_choices("asia_poker", 1) == {}
    assert len({table_choices("face_up_pai_gow", seed)["paytables"]["progressive"] for seed in range(7)}) == 7


def test_the_tables_of_the_proof_are_as_many_as_its_rounds_need() -> None:
    assert len(set(TABLES)) * ROUNDS_PER_TABLE == PROOF
    assert {game for game, _ in TABLES[: len(GAMES)]} == set(GAMES)


def test_a_soak_is_a_series_of_tables_with_their_own_seeds() -> None:
    row = tables("dj_wild", 2 * ROUNDS_PER_TABLE + 10, 7, "some")
    assert [(seed, rounds) for seed, rounds, _ in row] == [(7, ROUNDS_PER_TABLE), (8, ROUNDS_PER_TABLE), (9, 10)]
    assert row[0][2] != row[1][2]
    assert all(not mishaps for _, _, mishaps in tables("dj_wild", ROUNDS_PER_TABLE, 7, "none"))


# --- planted mistakes -------------------------------------------------------------------------------------------------


class MutantHouse(CasinoTable):
    """A table with a mistake: `changed` replaces an event for the box, `after` runs after a step."""

    def _attach(self, box: Box) -> None:
        super()._attach(box)
        controller = box.controller
        assert controller is not None
        submit = controller.submit

        def other(event: ev.Event) -> None:
            for each in self.changed(event):
                submit(each)

        controller.submit = other  # type: ignore[method-assign]

    def changed(self, event: ev.Event) -> list[ev.Event]:
        return [event]

    def _stepped(self, event: ev.Event, decisions: list[Decision]) -> None:
        super()._stepped(event, decisions)
        self.after(decisions)

    def after(self, decisions: list[Decision]) -> None:
        """Do nothing."""


class IgnoresCounts(MutantHouse):
    """The box reads every machine count as a whole deck."""

    def changed(self, event: ev.Event) -> list[ev.Event]:
        if isinstance(event, ev.ShuffleEnded | ev.ShoeLoaded):
            return [replace(event, count=self.edition.cards.count)]
        return [event]


class LosesACard(MutantHouse):
    """A card disappears from its place."""

    def after(self, decisions: list[Decision]) -> None:
        if StateChanged("round", "complete") in decisions:
            lying = next(ids for ids in self.world._lying.values() if ids)
            lying.pop()


class OffByOne(MutantHouse):
    """The meter shows a micro-dollar too much."""

    def after(self, decisions: list[Decision]) -> None:
        if StateChanged("round", "complete") in decisions:
            book = self.controller.table.state.money.book
            book.held["meter"] = book.held.get("meter", 0) + 1


class TakesEveryBet(MutantHouse):
    """Every latch is read as a bet, with a change number that hides the contradiction from the core."""

    def changed(self, event: ev.Event) -> list[ev.Event]:
        if not isinstance(event, ev.SeatLatched) or event.bet:
            return [event]
        return [replace(event, bet=True, sequence=event.sequence + 1)]


class PaysForNothing(MutantHouse):
    """The dealer enters cards of the least award for every losing bet, and nobody checks the hand."""

    def changed(self, event: ev.Event) -> list[ev.Event]:
        c = self.controller.table.context
        if isinstance(event, ev.HandEntered):  # the true cards, after the wrong ones: the wrong line is claimed
            asked = [prompt for prompt in c.state.prompts.values()
                     if (prompt.kind, prompt.seat) == ("progressive", event.place) and prompt.proposals]  # fmt: skip
            return [ev.Answer(asked[0].id, asked[0].choices[0], event.who)] if asked else [event]
        if not isinstance(event, ev.Answer):
            return [event]
        prompt = c.state.prompts.get(event.prompt)
        if prompt is not None and prompt.kind == "progressive" and event.choice == "no_win":
            assert c.meter is not None
            return [enter_dealt(c, prompt.seat or 0, c.meter.awards[-1].hand, event.who) or event]
        return [replace(event, choice="winning") if event.choice == "not_winning" else event]


class KeepsWagers(MutantHouse):
    """The wagers of a void round are not returned."""

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)

        async def nothing(_: object) -> None:
            return

        self.people._return_chips = nothing  # type: ignore[method-assign,assignment]


class Deaf(MutantHouse):
    """The box does not notice that a machine is gone."""

    def changed(self, event: ev.Event) -> list[ev.Event]:
        return [] if isinstance(event, ev.SlotChanged) and event.trigger in ("vanish", "doubt", "fault") else [event]


class ListsNothing(MutantHouse):
    """A round that was dealt since the last good check is not listed as affected."""

    def after(self, decisions: list[Decision]) -> None:
        for deck in self.controller.table.state.decks.values():
            deck.rounds.clear()


class FumblesTheLid(MutantHouse):
    """The task of the shaker raises where nobody awaits it: the table only stops."""

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)

        async def fumble(slot: str) -> None:
            raise RuntimeError(f"the lid of {slot} slips")

        self.people._roll = fumble  # type: ignore[method-assign]


FALLS = Mishap(2, 1.0, "house", "card_falls")
PLANTED: list[tuple[type[CasinoTable], str, str, list[Mishap]]] = [
    (IgnoresCounts, "saigon_5_card", "bad deck", [FALLS]),
    (LosesACard, "saigon_5_card", "one place", []),
    (OffByOne, "face_up_pai_gow", "meter", []),
    (TakesEveryBet, "face_up_pai_gow", "late bet", []),
    (PaysForNothing, "dj_wild", "hits", []),
    (KeepsWagers, "face_up_pai_gow", "chips and bets", [Mishap(2, 9.0, "shoe.1", "jam:segment=exit")]),
    (Deaf, "face_up_pai_gow", "service", [Mishap(1, 20.0, "bet_sensor.3", "hang:seconds=80")]),
    (ListsNothing, "saigon_5_card", "affected rounds", [FALLS]),
    (FumblesTheLid, "asia_poker", "crash", []),
]


@pytest.mark.parametrize(("house", "game", "promise", "mishaps"), PLANTED, ids=[row[0].__name__ for row in PLANTED])
def test_a_planted_mistake_is_seen(house: type[CasinoTable], game: str, promise: str, mishaps: list[Mishap]) -> None:
    day, failure = run_table(game, 1, 4, mishaps, make=house)
    assert failure is not None
    assert failure.invariant == promise, failure.how
    assert day.bad_after_check == (promise == "bad deck")
    _, none = run_table(game, 1, 4, mishaps)
    assert none is None, "the same without the mistake"


def test_a_failure_is_cut_down_to_the_mishaps_that_it_needs() -> None:
    harmless = [Mishap(1, 5.0, "shoe.1", "garbage:bytes=1"), Mishap(2, 3.0, "shuffler.1", "drop:frames=1")]
    _, failure = run_table("saigon_5_card", 1, 8, sorted([*harmless, FALLS]), make=IgnoresCounts)
    assert failure is not None
    assert len(failure.mishaps) == 3
    least = shrink(failure, make=IgnoresCounts)
    assert least.invariant == "bad deck"
    assert least.mishaps == [replace(FALLS, round=1)], "it fails as well in the first round"
    assert "--mishap '1@1 house card_falls'" in replay_command(least)


def test_a_failure_without_any_mishap_is_reported_as_such() -> None:
    _, failure = run_table("saigon_5_card", 1, 3, [Mishap(1, 5.0, "shoe.1", "garbage:bytes=1")], make=LosesACard)
    assert failure is not None
    assert shrink(failure, make=LosesACard).mishaps == []


def test_the_command_prints_a_failure_with_how_to_see_it_again(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    real: Callable[..., tuple[SoakFigures, SoakFailure | None]] = run_table

    def planted(*args: Any, **more: Any) -> tuple[SoakFigures, SoakFailure | None]:
        return real(*args, **(more | {"make": IgnoresCounts}))

    monkeypatch.setattr(house_soak, "run_table", planted)
    options = ["--game", "saigon_5_card", "--rounds", "8", "--seed", "1", "--faults", "none"]
    assert main(["sim", "soak", *options, "--mishap", str(FALLS)]) == 1
    shown = capsys.readouterr().out
    assert "saigon_5_card, seed 1, round" in shown
    assert "bad deck: round" in shown
    assert "replay: pitbox sim soak --game saigon_5_card --seed 1" in shown
    assert "--mishap '2@1 house card_falls'" in shown
