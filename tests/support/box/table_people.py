"""People at a simulated table who know what really lies on it: players, floorpersons, and the dealer's hands.

They send requests over the control socket. In some rounds a person reports an irregularity. How the dealer works at the
card pad is in `card_pad_people`.
"""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from random import Random
from typing import TYPE_CHECKING, Any, Final

from devices.cards import card_name
from simulators.casino.dealer import DEALER
from simulators.casino.winning_players import WinningPlayers
from simulators.world.cards import COVER
from simulators.world.table import LAYOUT, TRAY
from table_controller.rulebook.cards import parse_cards
from table_controller.table import dealing
from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from table_controller.table.decisions import WagersReturned
from table_controller.table.hits import NO_WIN
from tests.support.box.true_round import TrueRound, draw_round, has_joker, set_hands
from tests.support.oracles.settled_by_text import LOSES

if TYPE_CHECKING:
    from simulators.casino.table import CasinoTable
    from table_controller.table.decisions import Prompt
    from tests.support.box.signed_on_table import Reply

# Share of the seats whose player asks for the house way; whose hand is set as the house way would.
_ASKS: Final = 0.3
_SETS_WELL: Final = 0.4
# Share of the rounds in which something is reported, and what people can report in which phase.
_TROUBLE: Final = 0.15
REPORTS: Final[dict[str, tuple[tuple[str, str], ...]]] = {
    "asia_poker": (
        ("player_card_exposed", mc.PLAYING), ("player_card_exposed", mc.SETTLING), ("dealer_card_exposed", mc.PLAYING),
        ("wrong_card_count", mc.SETTLING), ("dealer_hand_misset", mc.SETTLING), ("other", mc.SETTLING),
        ("face_up_card_first", mc.DEALING), ("player_leaves", mc.PLAYING),
    ),
    "saigon_5_card": (
        ("wrong_card_count", mc.PLAYING), ("wrong_card_count", mc.SETTLING), ("other", mc.SETTLING),
        ("face_up_card_first", mc.DEALING), ("player_leaves", mc.PLAYING),
    ),
    "over_under": (
        ("additional_cards_missed", mc.SETTLING), ("face_up_card_first", mc.PLAYING), ("other", mc.PLAYING),
        ("player_leaves", mc.PLAYING),
    ),
    "dj_wild": (
        ("cards_revealed_before_raise", mc.PLAYING), ("wrong_card_count", mc.SETTLING), ("other", mc.SETTLING),
        ("face_up_card_first", mc.DEALING), ("player_leaves", mc.PLAYING),
    ),
    "face_up_pai_gow": (
        ("player_card_exposed", mc.PLAYING), ("player_card_exposed", mc.SETTLING), ("wrong_card_count", mc.SETTLING),
        ("dealer_hand_misset", mc.SETTLING), ("other", mc.SETTLING), ("face_up_card_first", mc.DEALING),
        ("player_leaves", mc.PLAYING),
    ),
}  # fmt: skip
# Cards of a suit, which follow each other in the numbers of cards.
_IN_A_SUIT: Final = 13
_OF_A_SEAT: Final = ("player_card_exposed", "additional_cards_missed", "player_leaves")


class TablePeople(WinningPlayers):
    """All people at one table, without the dealer's work at the card pad."""

    def __init__(self, casino: CasinoTable, seed: int) -> None:
        super().__init__(casino, seed)
        self.truth: TrueRound
        self.seen: Counter[str] = Counter()
        self.identifies = False  # the shoe identifies the cards that it deals

    # --- a round ------------------------------------------------------------------------------------------------------

    def begin_round(self, number: int) -> None:
        """Draw the next round."""
        self.rng = Random(f"{self.seed} round {number}")
        casino = self.casino
        self.truth = draw_round(self.rng, casino.edition, casino.submission, lavish=number % 10 == 0)
        casino.seats = self.truth.seats
        self.trouble = self._draw_trouble()

    def _draw_trouble(self) -> tuple[str, str, int] | None:
        """Return what is reported in this round, if anything: trigger, phase, and after how many questions there."""
        if self.rng.random() >= _TROUBLE:
            return None
        reports = REPORTS[self.casino.edition.game]
        if self.identifies:  # a stack with a card less or more is no longer known card by card
            reports = tuple(report for report in reports if report[1] != mc.DEALING)
        return (*self.rng.choice(reports), self.rng.randrange(6))

    async def report_trouble(self) -> bool:
        """Report the irregularity of this round when its time has come; return whether it was reported now."""
        if self.trouble is None or self.trouble[1] != self.phase:
            return False
        trigger, phase, wait = self.trouble
        self.trouble = (trigger, phase, wait - 1) if wait else None
        live = [seat for seat in self.truth.seats if seat not in self.truth.dead]
        if wait or not live:
            return False
        seat = self.rng.choice(live) if trigger in _OF_A_SEAT else None
        reply = await self.send(ev.IrregularityReported(trigger, DEALER, seat=seat))
        self.seen[f"reported {trigger}{' and refused' if reply.refused else ''}"] += 1
        return not reply.refused

    async def _obey(self, prompt: Prompt) -> None:
        if prompt.hold is None:
            await self.report_trouble()
        if self._is_still_asked(prompt):
            await super()._obey(prompt)

    def bettors(self) -> tuple[int, ...]:
        """Return the seats with a chip on their sensor."""
        rules = self.casino.edition.progressive
        return () if rules is None else tuple(
            seat for seat in self.truth.seats if rules.wager in self.truth.wagers[seat]
        )  # fmt: skip

    async def send(self, event: ev.Event) -> Reply:
        """Send a request over the control socket."""
        desk: Any = self.casino
        reply: Reply = await desk.desk.send(event)
        return reply

    def submit_answer(self, answer: ev.Answer) -> None:
        """Send an answer over the control socket; one that came too late is refused."""
        self._go(self.send(answer))

    # --- what they see ------------------------------------------------------------------------------------------------

    def see_decision(self, decision: Any) -> None:
        """Remember which wagers were returned."""
        if isinstance(decision, WagersReturned):
            self._on_returned(decision)
        super().see_decision(decision)

    def _on_returned(self, returned: WagersReturned) -> None:
        if returned.seat is not None:
            self.truth.dead.add(returned.seat)
        else:
            self.truth.is_void, self.truth.settles_void = True, bool(returned.settled)

    def hand_of(self, _number: int, seat: int) -> str:
        """Return the paytable's hand of a seat by its real cards."""
        rules = self.casino.edition.progressive
        assert rules is not None
        end = self.truth.ends().get((seat, rules.wager, None), LOSES)
        awards = self._rules.awards
        return next((award.hand for award in awards if award.label == end.line), NO_WIN)

    def choose(self, prompt: Prompt) -> str:
        """Answer for players and floorpersons."""
        seat = prompt.seat or 0
        if prompt.kind == "decide":
            self.truth.decide(seat, self._decision(prompt, seat))
            self.seen["folded or surrendered"] += seat in self.truth.gave_up
            return self.truth.decided[seat]
        if prompt.kind == "qualifying":
            return "yes" if self._qualifies(seat) else "no"
        if prompt.kind.startswith("side_wagers/"):
            return "done" if self.name_seats(prompt) else "nobody"
        if prompt.kind == "envy_line":
            return self.envied_line(prompt, seat)
        if prompt.kind == "choose":
            return self.rng.choice(prompt.choices)
        if prompt.kind == "player_left" and "abandoned" in prompt.choices:
            self.truth.dead.add(seat)
        return super().choose(prompt)

    def name_seats(self, prompt: Prompt) -> tuple[int, ...]:
        """Return the seats with a side wager; for other questions, as everybody does."""
        name = prompt.kind.partition("/")[2]
        if prompt.kind.startswith("side_wagers/"):
            return tuple(seat for seat in self.truth.seats if name in self.truth.wagers[seat])
        if prompt.kind == "progressive_envy":
            return tuple(seat for seat in super().name_seats(prompt) if seat not in self.truth.dead)
        return super().name_seats(prompt)

    def _decision(self, prompt: Prompt, seat: int) -> str:
        leaves = self.casino.edition.surrender
        assert leaves is not None
        stays = [choice for choice in prompt.choices if choice != leaves.kind]
        return leaves.kind if seat in self.truth.surrenders else self.rng.choice(stays)

    def _qualifies(self, seat: int) -> bool:
        envy = self.casino.edition.envy
        assert envy is not None
        placed = self.truth.wagers[seat]
        return any(placed.get(name, 0) >= (envy.least_cents or 0) for name in envy.wagers)

    def envied_line(self, prompt: Prompt, seat: int) -> str:
        """Return the line by which a hand pays envy of the progressive."""
        rules = self.casino.edition.progressive
        assert rules is not None
        lines = [end.line for (_, wager, of), end in self.truth.ends().items() if of == seat and wager == rules.wager]
        hand = next((award.hand for award in self._rules.awards if award.label in lines), "")
        return hand if hand in prompt.choices else "none"

    # --- cards on the layout ------------------------------------------------------------------------------------------

    async def _put_in_shoe(self, prompt: Prompt) -> None:
        """Load the shoe; in some rounds the cards lie so that high hands are frequent."""
        if self.casino.edition.cards.decks == 1 and self.rng.random() < 0.5:
            with suppress(TimeoutError):
                await self.casino.until(lambda: not self.casino.world.count("shuffler.1/presented"), 5.0)
            self.casino.put_alone_in_tray(prompt.deck or "")
            cards = self.casino.world.at(TRAY)
            cards.sort(key=lambda card: (card.face // _IN_A_SUIT, self.rng.random() < 0.2))
            for card in cards:
                self.casino.world.move(card, TRAY)
        await super()._put_in_shoe(prompt)

    def look_at_cards(self) -> None:
        """See which cards lie at which place, once all of them are dealt."""
        truth, table = self.truth, self.casino.controller.table
        hand = self.casino.edition.hand
        if truth.hands:
            return
        faces = self._on_the_layout()
        for at, place in enumerate(dealing.deal_order(table.context)):
            cards = faces[at * hand.cards : (at + 1) * hand.cards]
            if place in (0, *truth.seats):
                truth.deal(place, cards)
        dealt = {card for cards in truth.hands.values() for card in cards}
        left = [card for card in faces if card not in dealt] + [c for c in range(52) if c not in dealt]
        truth.replacement = next(card for card in left if not has_joker((card,)))
        if hand.split:
            self._set_all()

    def _set_all(self) -> None:
        truth, hand = self.truth, self.casino.edition.hand
        terms = self.casino.controller.table.context.terms
        for place, cards in truth.hands.items():
            drawn = self.rng.random()
            well = place == 0 or drawn < _ASKS + _SETS_WELL
            truth.settings[place] = terms.set_by_house_way(cards) if well else set_hands(self.rng, cards, hand.split)
            if place and drawn < _ASKS:
                truth.by_house_way.add(place)

    async def _deal_by_hand(self, prompt: Prompt) -> None:
        """Draw the first cards; where players get more cards later, remember whose these are."""
        await super()._deal_by_hand(prompt)
        if self.casino.edition.hand.second_deal:
            drawn = self._drawn(len(self.truth.seats))
            for seat, face in zip(self.truth.seats, drawn, strict=True):
                self.truth.deal(seat, (face,))

    async def _more_cards(self, prompt: Prompt) -> None:
        more, seat = self.casino.edition.hand.second_deal, prompt.seat or 0
        if len(self.truth.hands[seat]) <= more:  # they may lie there when the question is asked again
            await super()._more_cards(prompt)
            self.truth.deal(seat, self._drawn(more))

    def _drawn(self, cards: int) -> tuple[int, ...]:
        return self._on_the_layout()[-cards:]

    def _on_the_layout(self) -> tuple[int, ...]:
        """Return the dealt cards in their order, as the rulebook numbers them."""
        dealt = [card_name(card.face) for card in self.casino.world.at(LAYOUT) if card.face != COVER]
        return parse_cards(" ".join(dealt))

    @property
    def phase(self) -> str:
        """The state of the round."""
        return self.casino.controller.table.state.round.state
