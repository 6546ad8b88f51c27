"""A dealer who errs: some entries at the card pad are wrong, and what becomes of each error is counted.

An error is caught by the box (refused at once, or contradicted by a later entry), or by the dealer, who compares what
the box proposes with the table, with a given attention. Otherwise it is harmless, or it slips through: a settlement in
the journal differs from the text.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace

from simulators.casino.dealer import DEALER, FLOOR
from table_controller.rulebook.cards import JOKER, format_cards, parse_cards
from table_controller.table import events as ev
from tests.support.box.card_pad_people import CardPadPeople
from tests.support.box.settled_rounds import SettledTable

if TYPE_CHECKING:
    from simulators.casino.table import CasinoTable
    from table_controller.table.decisions import Prompt
    from tests.support.box.card_pad_people import Entry
    from tests.support.box.settled_rounds import Mismatch
    from tests.support.box.signed_on_table import Reply

# What became of an error.
REFUSED: Final = "refused by the box at once"
CONTRADICTED: Final = "contradicted by a later entry"
COMPARED: Final = "seen when the dealer compared the proposal"
CORRECTED: Final = "overwritten before the settlement"
RULED: Final = "ruled wrong by the floorperson"
HARMLESS: Final = "harmless"
SLIPPED: Final = "slipped through"
CAUGHT: Final = (REFUSED, CONTRADICTED, COMPARED, CORRECTED, RULED)
# Share of the seats whose result the dealer states by touch although the box proposes it.
_STATES: Final = 0.2
# How the pad lays out the cards: ranks in one direction, suits in the other.
_SUITS: Final = 4


@dataclass
class Slip:
    """One error: what was entered wrong, about which place or wager, and what became of it."""

    kind: str
    place: int
    wager: str = ""
    end: str = ""


class ErringDealer(CardPadPeople):
    """All people at one table; one of so many entries of the dealer is wrong."""

    def __init__(self, casino: CasinoTable, seed: int, *, one_in: int = 50, attention: float = 1.0) -> None:
        super().__init__(casino, seed)
        self.one_in, self.attention = one_in, attention
        self.slips: list[Slip] = []
        self.counted: Counter[tuple[str, str]] = Counter()  # errors by kind and by what became of them
        self.unknown: set[tuple[int, str]] = set()  # wagers that the box does not know, because of an error
        self.alone: set[int] = set()  # seats that the dealer settles alone
        self.wrong_shown: set[tuple[int, str]] = set()  # seats and wagers with a wrong proposal in this round
        self._ruled: set[int] = set()
        self._named_seats: dict[int, tuple[int, ...]] = {}  # by question

    def begin_round(self, number: int) -> None:
        """Draw the next round."""
        super().begin_round(number)
        self.slips, self.unknown, self.alone, self._ruled = [], set(), set(), set()
        self.wrong_shown = set()

    def count_slips(self, mismatches: list[Mismatch]) -> None:
        """Count what became of the errors of a round: what nobody caught is harmless only if the journal is right."""
        wrong = {mismatch.seat for mismatch in mismatches}
        for slip in self.slips:
            concerned = slip.place in wrong or 0 in wrong or (bool(wrong) and slip.place == 0)
            self.counted[slip.kind, slip.end or (SLIPPED if concerned else HARMLESS)] += 1

    def _errs(self) -> bool:
        return self.rng.randrange(self.one_in) == 0

    def _notices(self) -> bool:
        return self.rng.random() < self.attention

    def _open(self, *kinds: str, place: int | None = None) -> list[Slip]:
        """Return the errors that nobody has caught, of these kinds and about a place."""
        return [slip for slip in self.slips if not slip.end and (not kinds or slip.kind.split(":")[0] in kinds)
                and place in (None, slip.place)]  # fmt: skip

    # --- entries ------------------------------------------------------------------------------------------------------

    async def enter(self, entry: Entry) -> None:
        """Make one entry, sometimes a wrong one."""
        entry = entry._replace(event=self._as_the_pad_shows(entry.event))
        wrong = self._wrong_entry(entry) if self._errs() else None
        if wrong is None:
            await self._enter_rightly(entry)
            return
        slip, event = wrong
        self.slips.append(slip)
        reply = await self.send(event)
        if reply.refused:
            slip.end = REFUSED
        elif slip.kind not in ("hand: another seat's place", "amount: another seat", "amount: another wager"):
            self.entered.add((entry.kind, entry.place, entry.wager))  # as the dealer sees it

    async def _enter_rightly(self, entry: Entry) -> None:
        reply = await self.send(entry.event)
        if reply.refused:
            await self._look_for_the_error(entry, reply)
            return
        self.entered.add((entry.kind, entry.place, entry.wager))
        self.seen[entry.kind] += 1
        for slip in self._open(entry.kind, place=entry.place):
            if slip.wager == entry.wager:
                slip.end = CORRECTED

    async def _look_for_the_error(self, entry: Entry, reply: Reply) -> None:
        """A true entry is refused: something that was entered before is wrong. Find it, and enter it rightly."""
        self.seen["true entries refused"] += 1
        if entry.kind == "amount":
            await self._amount_contradicted(entry)
            return
        is_wrong = False
        for _ in range(2):  # of two wrong hands, the first may be in the way of the second
            for place, hand in list(self.casino.controller.table.state.round.hands.items()):
                if sorted(hand.cards) != sorted(self.truth.hands[place]):
                    is_wrong = True
                    right = ev.HandEntered(place, format_cards(self.truth.hands[place]), DEALER)
                    again = await self.send(right)
                    self.entered.discard(("setting", place, ""))
                    if again.refused and self._is_fixed(place):  # a floorperson corrects what a seat is settled by
                        again = await self.send(replace(right, who=FLOOR))
                        self.seen["corrected by a floorperson"] += not again.refused
                        self.alone |= {entry.place} if again.refused else set()
        if self.casino.controller.table.state.round.replacement_card not in (None, self.truth.replacement):
            is_wrong = True
            await self._correct_replacement(entry.place)
        assert is_wrong or self._open(), (reply.refused, entry, self.truth)
        for slip in self._open("hand", "setting", "replacement"):
            slip.end = CONTRADICTED

    async def _correct_replacement(self, place: int) -> None:
        """Enter the replacement card rightly; a floorperson corrects that of a settled bet."""
        assert self.truth.replacement is not None
        right = ev.ReplacementEntered(format_cards([self.truth.replacement]), DEALER)
        if (await self.send(right)).refused:
            again = await self.send(replace(right, who=FLOOR))
            self.seen["corrected by a floorperson"] += not again.refused
            self.alone |= {place} if again.refused else set()

    def _is_fixed(self, place: int) -> bool:
        """Return whether the cards of a place cannot be corrected any more: a seat is settled by them."""
        settled = self.casino.controller.table.state.round.settled
        return place in settled or (place == 0 and bool(settled))

    async def _amount_contradicted(self, entry: Entry) -> None:
        """The box does not know a wager that lies there, or another amount is wrong, which its refusal names."""
        seat, known = entry.place, self.casino.controller.table.state.round.amounts
        wrong = [name for name, cents in self.truth.wagers[seat].items()
                 if name != entry.wager and known.get(name, {}).get(seat, cents) != cents]  # fmt: skip
        for name in wrong:
            again = await self.send(ev.AmountEntered(name, seat, self.truth.wagers[seat][name], DEALER))
            if not again.refused:  # the amount that was refused fits now
                break
        else:
            self.entered.add((entry.kind, seat, entry.wager))
            if not wrong:
                self.unknown.add((seat, entry.wager))
        for slip in self._open("amount", "seats", place=seat):
            slip.end = CONTRADICTED

    def _as_the_pad_shows(self, event: ev.Event) -> ev.Event:
        """Return a setting as it is touched: made of the cards that the pad shows, right or wrong."""
        if not isinstance(event, ev.SettingEntered):
            return event
        known = self.casino.controller.table.state.round.hands.get(event.place)
        real = self.truth.hands[event.place]
        if known is None or sorted(known.cards) == sorted(real):
            return event
        touched = [card for hand in self.truth.settings[event.place][1:] for card in hand]
        if not set(touched) <= set(known.cards):  # a card to touch is not there
            return event
        others = [card for card in known.cards if card not in touched]
        hands = (tuple(others), *self.truth.settings[event.place][1:])
        return replace(event, hands=" | ".join(map(format_cards, hands)))

    # --- errors -------------------------------------------------------------------------------------------------------

    def _wrong_entry(self, entry: Entry) -> tuple[Slip, ev.Event] | None:
        """Return a wrong entry in place of a right one; None where none is possible."""
        match entry.event:
            case ev.HandEntered():
                return self._wrong_hand(entry.event)
            case ev.SettingEntered():
                return self._wrong_setting(entry.event)
            case ev.ReplacementEntered():
                card = self._neighbor(parse_cards(entry.event.card)[0])
                return Slip("replacement: neighbor card", 0), replace(entry.event, card=format_cards([card]))
            case ev.AmountEntered():
                return self._wrong_amount(entry.event)
        return None

    def _wrong_hand(self, event: ev.HandEntered) -> tuple[Slip, ev.Event]:
        cards = list(parse_cards(event.cards))
        at, drawn = self.rng.randrange(len(cards)), self.rng.random()
        others = [place for place in self.truth.hands if place not in (event.place, *self.truth.dead)]
        if drawn < 0.25 and others:
            place = self.rng.choice(others)
            return Slip("hand: another seat's place", place), replace(event, place=place)
        if drawn < 0.35:
            del cards[at]
            return Slip("hand: card left out", event.place), replace(event, cards=format_cards(cards))
        if drawn < 0.45:
            cards[at] = cards[at - 1]
            return Slip("hand: same card twice", event.place), replace(event, cards=format_cards(cards))
        cards[at] = self._neighbor(cards[at])
        return Slip("hand: neighbor card", event.place), replace(event, cards=format_cards(cards))

    def _neighbor(self, card: int) -> int:
        """Return the card next to this one on the pad."""
        if card == JOKER:
            return self.rng.randrange(JOKER)
        near = [card - _SUITS, card + _SUITS, card ^ 1]
        return self.rng.choice([each for each in near if 0 <= each < JOKER])

    def _wrong_setting(self, event: ev.SettingEntered) -> tuple[Slip, ev.Event]:
        hands = [list(parse_cards(part)) for part in event.hands.split("|")]
        one, other = self.rng.sample(range(len(hands)), 2)
        if self.rng.random() < 0.2:
            hands[other].append(hands[one].pop())
            kind = "setting: hands of a wrong size"
        else:
            at, to = self.rng.randrange(len(hands[one])), self.rng.randrange(len(hands[other]))
            hands[one][at], hands[other][to] = hands[other][to], hands[one][at]
            kind = "setting: two cards exchanged"
        return Slip(kind, event.place), replace(event, hands=" | ".join(map(format_cards, hands)))

    def _wrong_amount(self, event: ev.AmountEntered) -> tuple[Slip, ev.Event]:
        drawn = self.rng.random()
        seats = [seat for seat in self.truth.seats if seat not in (event.seat, *self.truth.dead)]
        wagers = [wager.name for wager in self.casino.edition.wagers
                  if wager.name != event.wager and wager.name in self.casino.submission.paytables]  # fmt: skip
        if drawn < 0.25 and seats:
            seat = self.rng.choice(seats)
            return Slip("amount: another seat", seat, event.wager), replace(event, seat=seat)
        if drawn < 0.5 and wagers:
            wager = self.rng.choice(wagers)
            return Slip("amount: another wager", event.seat, wager), replace(event, wager=wager)
        cents = self.rng.choice((10 * event.cents, event.cents + 100, max(50, event.cents // 2)))
        return Slip("amount: wrong chips", event.seat, event.wager), replace(event, cents=cents)

    def name_seats(self, prompt: Prompt) -> tuple[int, ...]:
        """Return the seats with a side wager, sometimes one too many or too few."""
        named = super().name_seats(prompt)
        if not prompt.kind.startswith("side_wagers/"):
            return named
        return self._named_seats.setdefault(prompt.id, self._some_seats(prompt, named))

    def _some_seats(self, prompt: Prompt, named: tuple[int, ...]) -> tuple[int, ...]:
        if prompt.id in self._named_seats or not self._errs():
            return named
        seat, wager = self.rng.choice(self.truth.seats), prompt.kind.partition("/")[2]
        more = seat not in named
        self.slips.append(Slip("seats: one too many" if more else "seats: one too few", seat, wager))
        return tuple(sorted({*named, seat} if more else set(named) - {seat}))

    # --- judging ------------------------------------------------------------------------------------------------------

    async def judge(self, prompt: Prompt) -> None:
        """Compare the proposals with the table; dispute what differs, if it is noticed."""
        seat, wrong = prompt.seat or 0, self.differences(prompt)
        self.wrong_shown |= {(seat, wager) for wager in wrong}
        if wrong and (seat in self._ruled or self._notices()):  # a dealer who disputed once looks again
            await self._object(prompt)
        elif "disputed" in prompt.choices and self._errs():
            self.slips.append(Slip("confirmation: disputed although right", seat))
            await self.answer_pad(prompt, "disputed")
        elif prompt.kind == "settled" and self.rng.random() < _STATES:
            await self._state(prompt)
        else:
            await self.answer_pad(prompt, prompt.choices[0])

    async def judge_envy(self, prompt: Prompt) -> None:
        """Enter whether a hand pays envy; dispute a known hand that lies there otherwise, if that is noticed."""
        seat, choice = prompt.seat or 0, self.envy_seen(prompt)
        if choice not in prompt.choices:
            self.wrong_shown.add((0, "envy"))
            choice = prompt.choices[0]
            if self._notices():
                choice = "disputed"
                self.alone.add(0)  # the dealer pays the envy of this round alone
                for slip in self._open(place=seat):
                    slip.end = COMPARED
        await self.answer_pad(prompt, choice)

    async def pay_envy_alone(self, prompt: Prompt) -> None:
        """Pay envy by the cards on the table."""
        self.alone.add(0)
        await self.answer_pad(prompt, prompt.choices[0])

    async def _object(self, prompt: Prompt) -> None:
        """Correct an amount that is wrong; dispute everything else."""
        seat = prompt.seat or 0
        amounts = [slip for slip in self._open("amount", place=seat) if (seat, slip.wager) not in self.unknown]
        placed = [slip for slip in amounts if slip.wager in self.truth.wagers[seat]]
        if placed:
            for slip in placed:
                slip.end = COMPARED
                self.entered.discard(("amount", seat, slip.wager))
            return
        for slip in self._open(place=seat) + self._open(place=0):
            slip.end = COMPARED
        if "disputed" in prompt.choices:
            await self.answer_pad(prompt, "disputed")
        else:  # a floorperson let it stand before
            await self.answer_pad(prompt, prompt.choices[0])

    async def _state(self, prompt: Prompt) -> None:
        """State the result of a seat's main wager by touch, sometimes a wrong one."""
        seat = prompt.seat or 0
        right = self.truth.ends()[seat, self.truth.required(), None].outcome
        stated = self.rng.choice([each for each in ("wins", "loses", "pushes") if each != right])
        errs = self._errs()
        by_touch: dict[str, Any] = {stated if errs else right: (seat,)}
        reply = await self.send(ev.SeatsSettled(who=DEALER, **by_touch))
        if errs:
            self.slips.append(Slip("result: another one stated", seat, end=REFUSED if reply.refused else ""))
        elif reply.refused:  # the cards that the box knows decide otherwise
            for slip in self._open(place=seat) + self._open(place=0):
                slip.end = CONTRADICTED
            await self.answer_pad(prompt, "disputed")

    async def rule(self, prompt: Prompt) -> None:
        """A floorperson compares a disputed proposal with the table."""
        seat = prompt.seat or 0
        if prompt.proposals and not self.differences(prompt):
            for slip in self._open("confirmation", place=seat):
                slip.end = RULED
            await self.answer_pad(prompt, "stands")
        elif "enter_again" in prompt.choices and seat not in self._ruled:
            self._ruled.add(seat)
            await self.answer_pad(prompt, "enter_again")
            known = self.casino.controller.table.state.round.hands
            for place in (0, seat):
                if place not in known:
                    self.entered -= {("hand", place, ""), ("setting", place, "")}
        elif prompt.kind == "claim_disputed":  # the dealer names the hand
            await self.answer_pad(prompt, "ranked_otherwise")
        else:
            self.alone.add(seat)
            await self.answer_pad(prompt, "dealer_settles")

    def settles_alone(self, seat: int) -> bool:
        """Return whether the box cannot propose how a seat is settled."""
        return super().settles_alone(seat) or seat in self.alone or bool(self.slips)

    def enters_cards(self, seat: int) -> bool:
        """Return whether the dealer enters the cards of a seat in this round."""
        return seat not in self.alone and super().enters_cards(seat)

    def is_recorded(self, key: Any) -> bool:
        """Return whether the journal must have the result of a wager."""
        seat, wager, of = key
        if of is not None and 0 in self.alone:  # the dealer pays the envy alone
            return False
        return not {seat, of} & self.alone and (seat, wager) not in self.unknown and super().is_recorded(key)


class ErringTable(SettledTable):
    """A table whose dealer errs; counts what became of every error."""

    def __init__(self, game: str, seed: int, *, one_in: int = 50, attention: float = 1.0) -> None:
        super().__init__(game, seed, partial(ErringDealer, one_in=one_in, attention=attention))
        self.counted: Counter[tuple[str, str]] = Counter()
        self.slipped: list[tuple[list[Mismatch], list[Slip]]] = []  # mismatches of a round, and its errors

    def compare(self) -> None:
        """Compare the journal of the last round with the text; count the errors."""
        people = self.casino.people
        assert isinstance(people, ErringDealer)
        wrong = self.mismatches()
        assert people.slips or not wrong, (wrong, people.truth)
        people.count_slips(wrong)
        if wrong:
            self.slipped.append((wrong, people.slips))
        self.counted = people.counted
