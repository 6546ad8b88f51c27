"""What really happens in one round: cards, settings, wagers, decisions. Its settlement is written from the text."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from simulators.casino.table_layout import default_choices
from table_controller.rulebook import edition, paytables
from table_controller.rulebook.cards import JOKER, NOTATION
from tests.support.oracles.settled_by_text import Played, PlayedBox, settle_by_text

if TYPE_CHECKING:
    from random import Random

    from table_controller.rulebook import Edition, Submission
    from tests.support.oracles.settled_by_text import End, Key

    Setting = tuple[tuple[int, ...], ...]

# Share of the seats that have an optional wager; of the seats that surrender or fold where they may.
OPTIONAL = 0.6
GIVES_UP = 0.15
# The payout limit of a table that has one: the least that the text allows (cents).
LIMIT_CENTS = 5_000_000
LEAST_CENTS = 100


def all_wagers(game: str, seed: int) -> dict[str, Any]:
    """Return the choices of a table that offers every wager; its paytables and settings follow from the seed."""
    rules = edition(game)
    offered = [wager.name for wager in rules.wagers if wager.option]
    printed = {name: [table.id for table in paytables(game) if name in table.wagers] for name in offered}
    chosen: dict[str, Any] = {
        "wagers": offered, "paytables": {name: ids[seed % len(ids)] for name, ids in printed.items()},
        "adjacent_boxes": 1,
    }  # fmt: skip
    if rules.progressive is not None and rules.progressive.rate == "submission":
        chosen |= {"progressive_rate_bp": 1500, "folded_progressive": bool(seed % 2)}
        open_settings = [each for each in rules.settings if each.needs == "progressive" and each.default is None]
        chosen["settings"] = {each.name: each.values[-1] for each in open_settings}
    if rules.payout_limit is not None:
        chosen["payout_limit_cents"] = LIMIT_CENTS
        chosen["least_wagers_cents"] = {wager.name: LEAST_CENTS for wager in rules.wagers}
    return default_choices(game) | chosen


@dataclass
class TrueRound:
    """One round as it really is."""

    edition: Edition = field(repr=False)
    submission: Submission = field(repr=False)
    seats: tuple[int, ...]
    wagers: dict[int, dict[str, int]]  # by seat, in cents; decision wagers are added when they are placed
    surrenders: frozenset[int]  # who will surrender as soon as that is possible
    hands: dict[int, tuple[int, ...]] = field(default_factory=dict)
    settings: dict[int, Setting] = field(default_factory=dict)
    by_house_way: set[int] = field(default_factory=set)  # players who ask the dealer to set their hand
    decided: dict[int, str] = field(default_factory=dict)
    gave_up: set[int] = field(default_factory=set)
    dead: set[int] = field(default_factory=set)
    replacement: int | None = None
    is_void: bool = False
    settles_void: bool = False  # the round is void, and its optional wagers are settled on the cards alone

    def ends(self) -> dict[Key, End]:
        """Return how every wager and every envy bonus ends by the text; nothing for a hand that is out."""
        boxes = tuple(self._box(seat) for seat in self.seats if seat not in self.dead)
        played = Played(
            self.edition.game, boxes, dict(self.submission.paytables), _written(self.hands.get(0, ())),
            tuple(map(_written, self.settings.get(0, ()))),
            None if self.replacement is None else NOTATION[self.replacement], bool(self.submission.folded_progressive),
        )  # fmt: skip
        return self._limited(settle_by_text(played))

    def _limited(self, ends: dict[Key, End]) -> dict[Key, End]:
        """Cut what a hand is paid to the payout limit, in the order of settlement (575.12(c), 680a.12(d))."""
        if self.submission.payout_limit_cents is None:
            return ends
        left = dict.fromkeys(self.seats, self.submission.payout_limit_cents)
        cut: dict[Key, End] = {}
        for key, end in ends.items():
            paid = min(end.paid, left[key[0]])
            left[key[0]] -= paid
            cut[key] = end._replace(paid=paid)
        return cut

    def _box(self, seat: int) -> PlayedBox:
        cards, setting = self.hands.get(seat, ()), self.settings.get(seat, ())
        gave_up = seat in self.gave_up and not self.settles_void
        return PlayedBox(seat, _written(cards), self.wagers[seat], tuple(map(_written, setting)), gave_up)

    def required(self) -> str:
        """Return the name of the main wager."""
        return next(wager.name for wager in self.edition.wagers if wager.required)

    def decide(self, seat: int, choice: str) -> None:
        """A player places a decision wager, or gives up."""
        self.decided[seat] = choice
        self.gave_up.discard(seat)
        for other in self.edition.wagers:
            if other.decision:
                self.wagers[seat].pop(other.name, None)
        wager = self.edition.wager(choice)
        if wager is None:
            self.gave_up.add(seat)
        else:
            ante = self.wagers[seat]["ante"]
            self.wagers[seat][choice] = 2 * ante if wager.amount == "twice_ante" else ante

    def deal(self, place: int, cards: tuple[int, ...]) -> None:
        """Cards lie at a place."""
        self.hands[place] = self.hands.get(place, ()) + cards


def draw_round(rng: Random, rules: Edition, submission: Submission, *, lavish: bool) -> TrueRound:
    """Draw who plays, with which wagers; `lavish`: some wagers are so large that a payout limit cuts them."""
    seats = tuple(sorted(rng.sample(range(1, submission.seats + 1), rng.randint(1, submission.seats))))
    wagers: dict[int, dict[str, int]] = {}
    for seat in seats:
        ante = 200 * rng.randint(1, 50) * (50 if lavish and rng.random() < 0.2 else 1)
        placed = wagers[seat] = {wager.name: ante for wager in rules.wagers if wager.required}
        for wager in rules.wagers:
            if wager.name in submission.wagers and rng.random() < OPTIONAL:
                placed[wager.name] = _optional_cents(rng, submission, wager.name, lavish=lavish)
    surrenders = frozenset(seat for seat in seats if rng.random() < GIVES_UP)
    return TrueRound(rules, submission, seats, wagers, surrenders)


def _optional_cents(rng: Random, submission: Submission, name: str, *, lavish: bool) -> int:
    table = next(table for table in paytables(submission.game) if table.id == submission.paytables[name])
    if table.unit_cents is not None:
        return table.unit_cents
    return 100 * rng.choice((3, 5, 6, 10, 5_000 if lavish else 4))


def set_hands(rng: Random, cards: tuple[int, ...], split: tuple[int, ...]) -> Setting:
    """Set a hand as a player may who does not think: often foul."""
    mixed, hands = rng.sample(cards, len(cards)), []
    for size in split:
        hands.append(tuple(mixed[:size]))
        mixed = mixed[size:]
    return tuple(hands)


def _written(cards: tuple[int, ...]) -> tuple[str, ...]:
    return tuple(NOTATION[card] for card in cards)


def has_joker(cards: tuple[int, ...]) -> bool:
    """Return whether a hand has the joker."""
    return JOKER in cards
