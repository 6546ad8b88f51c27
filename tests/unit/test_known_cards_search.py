"""Random days at tables where somebody enters known cards, amounts and results at any time, right and wrong ones."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any, Final

import pytest

from table_controller.rulebook import TRIGGERS
from table_controller.table import events as ev
from table_controller.table import exposure, known_hands, settling
from table_controller.table import state_machines as mc
from table_controller.table.decisions import Finding
from table_controller.table.state import Hand
from tests.support.core.card_entries import CardEntries, draw_answer
from tests.support.core.ideal_table import DEALER, FLOOR, WILD_PROGRESSIVE
from tests.support.core.two_games import ALL_WAGERS, BONUS
from tests.support.oracles.judged_table import JudgedTable
from tests.support.suite.case_counts import draw_seeds

if TYPE_CHECKING:
    from table_controller.table.context import Context

_WILD: Final[dict[str, Any]] = {
    **WILD_PROGRESSIVE,
    "wagers": ["progressive", "trips", "bad_beat"],
    "paytables": {
        "progressive": "687a-progressive-1",
        "trips": "687a-trips-DJWT-04",
        "bad_beat": "687a-badbeat-DJWBB-01",
    },
}
# name -> game, choices
TABLES: Final[dict[str, tuple[str, dict[str, Any]]]] = {
    "asia_poker": ("asia_poker", {**BONUS, "adjacent_boxes": 2}),
    "asia_poker, payout limit": (
        "asia_poker",
        {
            **BONUS,
            "adjacent_boxes": 2,
            "payout_limit_cents": 5_000_000,
            "least_wagers_cents": {"asia_poker": 100, "bonus": 100},
        },
    ),
    "saigon_5_card": (
        "saigon_5_card",
        {
            "wagers": ["bonus"],
            "paytables": {"bonus": "680a-bonus-A"},
            "payout_limit_cents": 5_000_000,
            "least_wagers_cents": {"ante": 200, "bonus": 100},
        },
    ),
    "over_under": ("over_under", {"wagers": ["bonus"], "paytables": {"bonus": "686a-bonus"}}),
    "dj_wild": ("dj_wild", _WILD),
    "dj_wild, equal Blind": ("dj_wild", {**_WILD, "settings": {**_WILD["settings"], "blind_amount": "equal_to_ante"}}),
    "face_up_pai_gow": ("face_up_pai_gow", {**ALL_WAGERS, "adjacent_boxes": 2}),
}


def play_day(name: str, seed: int, steps: int) -> JudgedTable:
    """Play a day of so many acts; then good people must be able to complete a round."""
    game, choices = TABLES[name]
    rng = random.Random(f"{name} {seed}")
    table = JudgedTable(game, None, **choices)
    entries = CardEntries(rng, table.edition, lambda: table.state)
    table.start("blue", "red")
    for _ in range(steps):
        _act(rng, table, entries)
    table.check_end()
    table.play_to_complete_round()
    return table


def _act(rng: random.Random, table: JudgedTable, entries: CardEntries) -> None:
    """Let somebody do something: mostly what leads on, often an entry, sometimes trouble."""
    if table.phase in (mc.IDLE, mc.BETTING):
        table.seats = tuple(sorted(rng.sample(range(1, 7), rng.randint(1, 4))))
        table.bets = {seat for seat in table.seats if rng.random() < 0.6}
        offered = table.table.context.submission.wagers
        table.side = {name: tuple(seat for seat in table.seats if rng.random() < 0.6) for name in offered}
        table.boxes = [pair for pair in ((1, 2), (4, 5)) if set(pair) <= set(table.seats) and rng.random() < 0.7]
    chance = rng.random()
    settling = table.phase in (mc.SETTLING, mc.PLAYING) or table.state.money.settles
    if chance < (0.45 if settling else 0.05):
        table.step(entries.draw())
    elif chance < 0.5 and settling:
        for event in entries.true_entries():
            table.step(event)
    elif chance < 0.53 and settling:
        table.step(entries.settle())
    elif chance < 0.75 and table.state.prompts:
        table.step(draw_answer(rng, rng.choice(list(table.state.prompts.values())), table))
    elif chance > 0.98:
        table.step(_trouble(rng, table))
    elif chance > 0.975:
        table.step(ev.BoxStarted(1 + (table.state.next_id >> 32)))
    else:
        table.play_events(1 if settling else 6)


def _trouble(rng: random.Random, table: JudgedTable) -> ev.Event:
    """Return an irregularity, a device that fails, an order, or a new dealer."""
    seat = rng.choice((None, *table.round_.seats))
    if table.round_.settled and rng.random() < 0.4:  # its seats are settled again
        return ev.IrregularityReported("dealer_hand_misset", DEALER)
    kind = rng.randrange(5)
    if kind < 3:
        trigger = rng.choice((*TRIGGERS, "player_leaves", "surrender", "other"))
        return ev.IrregularityReported(trigger, rng.choice((DEALER, FLOOR)), seat, table.round_.deck)
    if kind == 3:
        return ev.SlotChanged(rng.choice(list(table.slots)), rng.choice(("vanish", "fault", "doubt")))
    return ev.DealerChanged(DEALER)


@pytest.mark.parametrize("name", TABLES)
def test_no_entry_of_cards_breaks_a_table(name: str) -> None:
    for seed in range(2):
        play_day(name, seed, 150)


@pytest.mark.proof
@pytest.mark.parametrize("name", TABLES)
def test_no_entry_of_cards_breaks_a_table_on_many_days(name: str) -> None:
    for seed in draw_seeds(1000, 15):
        play_day(name, seed, 250)


# --- the search can fail ----------------------------------------------------------------------------------------------


def _nobody_notes_it(*_: object) -> None:
    """Leave a result unnoted."""


def _correct_silently(c: Context, event: ev.HandEntered) -> None:
    """Correct the cards of a settled seat without a finding."""
    hand = c.state.round.hands.get(event.place)
    if hand is not None and event.place in c.state.round.settled:
        changed = (*hand.cards[1:], next(card for card in range(52) if card not in hand.cards))
        c.state.round.hands[event.place] = Hand(changed, event.who.credential)


def _correct_and_settle_again(c: Context, event: ev.HandEntered) -> None:
    """Correct cards as it is right, and forget that the seat is settled."""
    _CORRECT(c, event)
    round_ = c.state.round
    if any(isinstance(each, Finding) and each.kind == "settled_cards_corrected" for each in c.out):
        round_.settled = [seat for seat in round_.settled if seat != event.place]


_CORRECT: Final = known_hands._correct
MISTAKES: Final[dict[str, tuple[object, str, object, str]]] = {
    "a result is not noted": (settling, "_note_settled", _nobody_notes_it, "is settled twice"),
    "cards are known at once": (exposure, "_is_exposed", lambda *_: True, "are known in"),
    "a settled seat is entered again": (known_hands, "_may_enter_late", lambda *_: True, "after it was settled"),
    "a correction leaves no trace": (known_hands, "_correct", _correct_silently, "after it was settled"),
    "a correction settles again": (known_hands, "_correct", _correct_and_settle_again, "not settled any more"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_planted_mistake_is_found(mistake: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module, name, wrong, expected = MISTAKES[mistake]
    monkeypatch.setattr(module, name, wrong)
    with pytest.raises(AssertionError, match=expected):
        _play_days("asia_poker", 12)


def _play_days(name: str, days: int) -> None:
    for seed in range(days):
        play_day(name, seed, 150)
