"""People at a simulated table whose players win: they claim, err, look at lights, pay, and record their payments.

The cards of a round follow from its seed and number, one deck for all seats, so a repeated question gets the same
answer. The dealer enters the cards of a hand before naming it. People pay the amounts on the screen, once.
"""

from __future__ import annotations

from itertools import count
from random import Random
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from devices.bet_sensor.messages import Light
from devices.shoe.messages import IDENTIFIES
from simulators.casino.dealer import DEALER, SimulatedPeople
from simulators.casino.dealt_hands import deal_hand
from table_controller.rulebook.cards import format_cards
from table_controller.table import events as ev
from table_controller.table.hits import NO_ENVY, NO_WIN

if TYPE_CHECKING:
    from simulators.casino.table import CasinoTable
    from table_controller.ledger.hits import Hit
    from table_controller.rulebook.cards import Card
    from table_controller.table.decisions import Prompt

# Shares of bettors' hands that win, of claims that the dealer first names wrongly, of validations that the floorperson
# refuses, and of interrupted rounds that are voided: high enough for every path within some rounds.
WIN_SHARE: Final = 0.5
ERROR_SHARE: Final = 0.15
REFUSAL_SHARE: Final = 0.1
VOID_SHARE: Final = 0.3


class DealtHand(NamedTuple):
    """The cards of a seat, and the line of the paytable that they are."""

    hand: str
    cards: tuple[Card, ...]


class Payment(NamedTuple):
    """A payment for a hand (micro-dollars), by table or by hand."""

    hand: str
    method: str
    amount: int


class WinningPlayers(SimulatedPeople):
    """All people at one table. `paid` and `envy`: what was really paid, by round and seat."""

    def __init__(self, casino: CasinoTable, seed: int, wins: float = WIN_SHARE) -> None:
        super().__init__(casino)
        self.seed, self.win_share = seed, wins
        self.paid: dict[tuple[int, int], Payment] = {}
        self.envy: dict[
            tuple[int, int], tuple[int, ...]
        ] = {}  # by round and seat of the hand: the seats that were paid for it
        self.documents: dict[tuple[int, int], int] = {}
        self.paid_twice: list[tuple[int, int]] = []  # hands whose payment was requested twice, in different amounts
        self._slip = count(1)
        self._by_cards: dict[tuple[int, int], str] = {}  # by round and seat: the hand that an identifying shoe released
        self._dealt: dict[int, dict[int, DealtHand]] = {}  # the cards of the seats, by round

    def hand_of(self, number: int, seat: int) -> str:
        """Return the true hand of a seat in a round: a paytable line, or NO_WIN.

        Where the shoe identifies cards, it is what they are; nobody claims a hand that it did not release.
        """
        if self._is_identified:
            return self._by_cards.get((number, seat), NO_WIN)
        return self._cards_in(number)[seat].hand

    def _cards_in(self, number: int) -> dict[int, DealtHand]:
        """Return the cards of every seat in a round. A hand that the cards left cannot be is another one."""
        if number not in self._dealt:
            dealt: dict[int, DealtHand] = {}
            for seat in range(1, self.casino.controller.table.context.submission.seats + 1):
                used = {card for other in dealt.values() for card in other.cards}
                dealt[seat] = self._deal(self._rng("hand", number, seat), used)
            self._dealt[number] = dealt
        return self._dealt[number]

    def _deal(self, rng: Random, used: set[Card]) -> DealtHand:
        hands = [award.hand for award in self._rules.awards]
        first = rng.choice(hands) if rng.random() < self.win_share else NO_WIN
        others = rng.sample(hands, len(hands))
        for hand in (first, *others, NO_WIN) if first != NO_WIN else (NO_WIN, *others):
            cards = deal_hand(self.casino.controller.table.context, hand, used, rng)
            if cards is not None:
                return DealtHand(hand, cards)
        raise AssertionError(f"no hand can be dealt from what {len(used)} cards leave")

    def hand_actions(self) -> dict[str, Any]:
        """Add payments, and taking back the payments of a void round."""
        return super().hand_actions() | {
            "hit_pay": self._pay_from_table,
            "hand_pay": self._pay_by_hand,
            "progressive_envy": self._pay_envy,
            "wagers_returned": self._take_back,
        }

    def choose(self, prompt: Prompt) -> str:
        """Return the true choice, or sometimes an error that is found later."""
        number, seat = self._here(prompt)
        if self._is_identified and prompt.kind == "progressive" and prompt.proposals:
            self._by_cards[number, seat] = prompt.choices[0]
        if self._is_identified and prompt.kind == "progressive":
            return prompt.choices[0]
        if prompt.kind == "envy_line" and len(prompt.choices) == 1:  # known cards decide it
            return prompt.choices[0]
        if prompt.kind == "progressive":
            return self._named(prompt)
        if prompt.kind == "hit_hand":
            hit = self._hit(prompt)
            return "winning" if hit is not None and hit.hand == self.hand_of(number, seat) else "not_winning"
        if prompt.kind == "hit_light":
            spot: Any = self.casino.machines[f"bet_sensor.{seat}"]
            return "lit" if spot.spot.light is Light.ACCEPTED else "dark"
        if prompt.kind == "hit_validate":
            refuses = self._rng("refuses", prompt.id).random() < REFUSAL_SHARE
            return "refuse" if refuses else self._rng("way", number, seat).choice(prompt.choices[:-1])
        if prompt.kind == "envy_line":
            hand = self.hand_of(number, seat)
            return hand if hand in prompt.choices else NO_ENVY
        if prompt.kind == "choose" and "void" in prompt.choices:
            by_hand = any(paid.method == "hand" for (of, _), paid in self.paid.items() if of == number)
            voids = not by_hand and self._rng("void", prompt.id).random() < VOID_SHARE
            return "void" if voids else prompt.choices[0]  # a round with a hand pay is not voided
        return super().choose(prompt)

    def name_seats(self, prompt: Prompt) -> tuple[int, ...]:
        """Return the seats for a prompt; envy goes to every other seat with a bet."""
        if prompt.kind == "progressive_envy":
            return tuple(seat for seat in self._bettors() if seat != prompt.seat)
        return super().name_seats(prompt)

    # --- what they know -----------------------------------------------------------------------------------------------

    def _rng(self, *what: object) -> Random:
        return Random(f"{self.seed} {what}")

    @property
    def _is_identified(self) -> bool:
        """Whether the shoe of this table identifies the cards that it deals."""
        shoe = self.casino.machines.get("shoe.1")
        return shoe is not None and IDENTIFIES in shoe.board.identity.capabilities

    @property
    def _rules(self) -> Any:
        rules = self.casino.controller.table.context.meter
        assert rules is not None
        return rules

    def _here(self, prompt: Prompt) -> tuple[int, int]:
        return self.casino.controller.table.state.round.number, prompt.seat or 0

    def _hit(self, prompt: Prompt) -> Hit | None:
        """Return the hit as the screen shows it."""
        return self.casino.controller.table.state.money.hit_of(prompt.seat)

    def _bettors(self) -> list[int]:
        """Return the seats with a bet in this round, by the chips in the tray."""
        number = self.casino.controller.table.state.round.number
        return sorted(int(slot.rpartition(".")[2]) for _, slot in self.collected.get(number, []))

    def _named(self, prompt: Prompt) -> str:
        """Return the true hand, or sometimes a wrong one until that claim is withdrawn."""
        wrong = self._wrong(prompt)
        return self.hand_of(*self._here(prompt)) if wrong is None else wrong.hand

    def _wrong(self, prompt: Prompt) -> DealtHand | None:
        """Return the wrong cards that the dealer enters for a seat at first; None: none, or no longer."""
        number, seat = key = self._here(prompt)
        corrected = seat in self.casino.controller.table.state.round.claims_fell
        if corrected or self._rng("errs", *key).random() >= ERROR_SHARE:
            return None
        rng, dealt = self._rng("error", *key), self._cards_in(number)
        hand = rng.choice([award.hand for award in self._rules.awards])
        used = {card for other, each in dealt.items() if other != seat for card in each.cards}
        cards = deal_hand(self.casino.controller.table.context, hand, used, rng)
        return None if cards is None else DealtHand(hand, cards)

    def cards_of(self, prompt: Prompt, hand: str) -> ev.HandEntered | None:
        """Return the entry of a seat's cards: its own, or sometimes wrong ones at first."""
        number, seat = self._here(prompt)
        dealt = self._wrong(prompt) or self._cards_in(number)[seat]
        assert dealt.hand == hand
        return ev.HandEntered(seat, format_cards(dealt.cards), DEALER)

    # --- what they do -------------------------------------------------------------------------------------------------

    async def _pay_from_table(self, prompt: Prompt) -> None:
        self._hand_out(prompt, "table")

    async def _pay_by_hand(self, prompt: Prompt) -> int:
        self._hand_out(prompt, "hand")
        return self.documents.setdefault(self._here(prompt), next(self._slip))

    def _hand_out(self, prompt: Prompt, method: str) -> None:
        """Pay the amount on the screen, once, even after a power cut."""
        hit = self._hit(prompt)
        if hit is not None:
            now, key = Payment(hit.hand, method, hit.amount), self._here(prompt)
            if self.paid.setdefault(key, now) != now:
                self.paid_twice.append(key)

    async def _pay_envy(self, prompt: Prompt) -> None:
        self.envy[self._here(prompt)] = self.name_seats(prompt)

    async def _take_back(self, prompt: Prompt) -> None:
        """Take back the payments and chips of a void round; documented hand pays are kept."""
        state = self.casino.controller.table.state
        number = state.round.number
        for key in [key for key in self.paid if key[0] == number]:
            hit = state.money.hit_of(key[1])
            if hit is not None:  # documented before, or settled although the round is void
                self.standing_bets.add(key)
            else:
                del self.paid[key]
        for key in [key for key in self.envy if key[0] == number]:
            del self.envy[key]
        await self._return_chips(prompt)
