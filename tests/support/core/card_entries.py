"""Entries of known cards, amounts and results, drawn at random: right ones, slips, impossible ones, and garbage.

A drawn dealer knows the cards on the table and mostly enters them. Otherwise somebody enters other cards, at any time
and in any role.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from table_controller.rulebook.cards import JOKER, NOTATION, format_cards
from table_controller.table import events as ev
from tests.support.core.ideal_table import AUDITOR, DEALER, FLOOR, TECH

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

    from table_controller.rulebook import Edition
    from table_controller.table.decisions import Prompt
    from table_controller.table.state import Round, TableState
    from tests.support.core.ideal_table import IdealTable

_PEOPLE: Final = (DEALER,) * 12 + (FLOOR, TECH, AUDITOR)
# Texts that are no cards, or no hand, and what programs often fail at.
GARBAGE: Final = (
    "|", "||", "| |", "|||||", "As", "As | Ah", "Jk Jk", "Jk | Jk | Jk", "10s", "AsAh", "\u212as", "\u202eAs",
    "\U0001f0a1", "As\u3000Ah\u2003Ks", "%s {0} \\", "'; --", "0", "-1", "nan", "\u0661", "x" * 64, "As " * 21 + "K",
)  # fmt: skip
_AMOUNTS: Final = (1, 2, 3, 99, 100, 101, 250, 499, 500, 501, 1000, 2500, 100_000, 200_000, 10**12)


class CardEntries:
    """Draws entries for a table; it deals new cards for every round."""

    def __init__(self, rng: random.Random, edition: Edition, look: Callable[[], TableState]) -> None:
        self.rng = rng
        self.edition = edition
        self._look = look
        self.round = -1
        self.hands: dict[int, tuple[int, ...]] = {}
        self.spare: list[int] = []

    @property
    def _now(self) -> Round:
        return self._look().round

    def _deal(self) -> None:
        """Deal every place its cards once per round; high hands are frequent."""
        if self.round == self._now.number:
            return
        self.round = self._now.number
        deck = self.edition.cards
        cards = [*range(52)] * deck.decks + [JOKER] * deck.jokers
        self.rng.shuffle(cards)
        if deck.decks == 1 and self.rng.random() < 0.5:
            cards.sort(key=lambda card: (card & 3, self.rng.random() < 0.2))
        size = self.edition.hand.cards
        self.hands = {place: tuple(cards[place * size : (place + 1) * size]) for place in range(7)}
        self.spare = cards[7 * size :]

    def draw(self) -> ev.Event:
        """Return an entry."""
        self._deal()
        rng, who = self.rng, self.rng.choice(_PEOPLE)
        seats = self._now.seats or tuple(range(1, 7))
        place = rng.choice((0, *seats, *seats, rng.randrange(7)))
        kind = rng.choice(
            ("hand", "hand", "hand", "setting", "setting", "house_way", "replacement", "amount", "optional", "settle")
        )
        if kind == "hand":
            return ev.HandEntered(place, self._cards(place), who)
        if kind == "setting":
            return ev.SettingEntered(place, self._setting(place), who)
        if kind == "house_way":
            return ev.HouseWayAsked(place or 1, who)
        if kind == "replacement":
            return ev.ReplacementEntered(self._text(NOTATION[rng.choice([*self.spare, JOKER])]), who)
        if kind == "amount":
            return self._amount(place or 1, who)
        if kind == "optional":
            return self._optional(who)
        return self._result(who)

    def settle(self) -> ev.Event:
        """Return a result of the next seats, or of a drawn wager."""
        self._deal()
        return self._result(DEALER)

    def true_entries(self) -> list[ev.Event]:
        """Return right entries of all places: what a careful dealer enters after the reveal."""
        self._deal()
        events: list[ev.Event] = []
        for place in (0, *self._now.seats):
            events.append(ev.HandEntered(place, format_cards(self.hands[place]), DEALER))
            if place and self.edition.hand.split:
                events.append(ev.SettingEntered(place, self._set(self.hands[place]), DEALER))
        if JOKER not in self.spare and self.spare:
            events.append(ev.ReplacementEntered(NOTATION[self.spare[0]], DEALER))
        return events

    def _text(self, right: str) -> str:
        return self.rng.choice(GARBAGE) if self.rng.random() < 0.1 else right

    def _cards(self, place: int) -> str:
        cards = list(self.hands[place])
        if self.rng.random() < 0.25:  # a slip: another card, which may lie elsewhere
            cards[0] = self.rng.choice([*self.spare, *self.hands[(place + 1) % 7]] or cards)
        if self.rng.random() < 0.05:
            cards = cards[: self.rng.randrange(len(cards))]
        return self._text(format_cards(cards))

    def _setting(self, place: int) -> str:
        known = self._now.hands.get(place)
        cards = known.cards if known is not None and self.rng.random() < 0.8 else self.hands[place]
        return self._text(self._set(cards))

    def _set(self, cards: tuple[int, ...]) -> str:
        """Return cards in hands: in their order, mixed, or of any sizes."""
        mixed, hands = self.rng.sample(cards, len(cards)), []
        sizes = self.edition.hand.split or (len(cards),)
        if self.rng.random() < 0.15:
            sizes = tuple(self.rng.randrange(len(cards) + 1) for _ in sizes[1:])
            sizes = (*sizes, max(0, len(cards) - sum(sizes)))
        for size in sizes:
            hands.append(mixed[:size])
            mixed = mixed[size:]
        return " | ".join(map(format_cards, hands))

    def _amount(self, seat: int, who: ev.Person) -> ev.Event:
        wager = self.rng.choice([*(each.name for each in self.edition.wagers), "nothing"])
        return ev.AmountEntered(wager, seat, self.rng.choice(_AMOUNTS), who)

    def _optional(self, who: ev.Person) -> ev.Event:
        wager = self.rng.choice([*(each.name for each in self.edition.wagers), "nothing"])
        seats = tuple(self.rng.randrange(8) for _ in range(self.rng.randrange(4)))
        return ev.OptionalWagerEntered(wager, seats, who)

    def _result(self, who: ev.Person) -> ev.Event:
        rng, round_ = self.rng, self._now
        wagers = [each.name for each in self.edition.wagers if each.option]
        wager = rng.choice(["", *wagers])
        due: list[int] = list(round_.seats)
        if not wager:
            asked = [each.seat for each in self._look().prompts.values() if each.kind == "settled"]
            due = [seat for seat in due if seat not in round_.settled] if rng.random() < 0.3 else [
                seat for seat in asked if seat is not None]  # fmt: skip
        stated: dict[str, list[int]] = {"wins": [], "loses": [], "pushes": []}
        for seat in due or [rng.randint(1, 6)]:
            if wager == "" or rng.random() < 0.5:
                stated[rng.choice(("wins", "loses", "pushes"))].append(seat)
        return ev.SeatsSettled(who, tuple(stated["wins"]), tuple(stated["loses"]), tuple(stated["pushes"]), wager)


def draw_answer(rng: random.Random, prompt: Prompt, table: IdealTable) -> ev.Answer:
    """Return a valid answer to a prompt, any of its choices; the first one as ideal people give it."""
    choice = rng.choice(prompt.choices)
    for event in table.answer(prompt) if choice == prompt.choices[0] else []:
        if isinstance(event, ev.Answer):
            return event
    people: dict[str, Any] = {"dealer": DEALER, "floorperson": FLOOR, "technician": TECH}
    return ev.Answer(prompt.id, choice, people[prompt.role], prompt.least if prompt.number else None)
