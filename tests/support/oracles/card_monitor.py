"""Watches known cards from outside: when they may be known, and what is settled by them.

Each wager of a seat is settled once in a round, unless the dealer's hand was set wrong and its main wager is settled
again. Only a floorperson corrects cards that settled something, on record: what is settled stays, and what is settled
later follows the cards as corrected. Results agree with the settlement that is written from the text alone
(`settled_by_text`), and nothing is known of a hand before the procedure exposed it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import msgspec

from table_controller.rulebook.cards import JOKER, NOTATION
from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from table_controller.table.decisions import Finding, Proposal, RequestRefused, WagerSettled
from table_controller.table.state import Hand, Round
from tests.support.oracles.settled_by_text import Played, PlayedBox, settle_by_text

if TYPE_CHECKING:
    from table_controller.table.decisions import Decision
    from tests.support.core.ideal_table import IdealTable

_ENTRIES = (ev.HandEntered, ev.SettingEntered, ev.HouseWayAsked, ev.ReplacementEntered)
_COPY = msgspec.msgpack.Encoder()
_ROUND = msgspec.msgpack.Decoder(Round)


class SeenRound(NamedTuple):
    """The round before a step, and whether its optional wagers are settled although it is void."""

    round: Round
    settles_void: bool


class CardMonitor:
    """Judges every step of a table about known cards."""

    def __init__(self, table: IdealTable) -> None:
        self.table = table
        self.number = -1
        self.settled: dict[tuple[int, str, int | None], Proposal] = {}
        self.compared = 0  # results that the text confirmed

    def look(self) -> SeenRound:
        """Return the round as it is before a step."""
        return SeenRound(_ROUND.decode(_COPY.encode(self.table.round_)), self.table.table.context.settles_void)

    def watch(self, before: SeenRound, event: ev.Event, decisions: list[Decision]) -> None:
        """Judge one step."""
        round_ = self.table.round_
        if round_.number != self.number:
            self.number, self.settled = round_.number, {}
            assert not round_.hands or round_.number == before.round.number, "cards of an earlier round are known"
        corrected = self._corrected(before, event, decisions)
        self._exposed(before, event, corrected)
        self._replaced(before, event, corrected)
        for seat in set(before.round.settled) - set(round_.settled):  # to be settled again
            self.settled = {
                key: each for key, each in self.settled.items() if key[0] != seat or self._is_optional(key[1])
            }
        for seat, bet in self.table.state.money.bets.items():
            if bet.state == "open":  # a claim that was withdrawn is made again
                self.settled.pop((seat, "progressive", None), None)
        for decision in decisions:
            if isinstance(decision, WagerSettled):
                self._settled(before, decision)
        if any(isinstance(decision, RequestRefused) for decision in decisions):
            assert not any(isinstance(decision, WagerSettled) for decision in decisions), "refused, and yet settled"
        for place, hand in round_.hands.items():
            assert len(hand.cards) == self.table.edition.hand.cards, f"place {place} has {len(hand.cards)} cards"

    def _is_optional(self, wager: str) -> bool:
        rule = self.table.edition.wager(wager)
        return rule is not None and rule.option

    def _corrected(self, before: SeenRound, event: ev.Event, decisions: list[Decision]) -> bool:
        """Whether known cards were corrected that settled something: by a floorperson, and that stays settled."""
        kinds = [each.kind for each in decisions if isinstance(each, Finding)]
        if "settled_cards_corrected" not in kinds:
            return False
        known, round_ = before.round, self.table.round_
        assert isinstance(event, (ev.HandEntered, ev.ReplacementEntered)), f"{event} corrected settled cards"
        assert event.who.role == "floorperson", f"{event.who} corrected settled cards"
        assert not any(isinstance(each, WagerSettled) for each in decisions), "corrected, and settled again"
        assert round_.settled == known.settled, "corrected, and not settled any more"
        assert round_.side_settled == known.side_settled, "corrected, and not settled any more"
        if isinstance(event, ev.HandEntered):
            assert event.place in known.hands, f"the cards of place {event.place} were not known"
            assert known.hands[event.place].by not in self.table.state.slots, "a shoe's cards were corrected"
            assert known.settled if event.place == 0 else event.place in known.settled, "nothing was settled by them"
        return True

    def _replaced(self, before: SeenRound, event: ev.Event, corrected: bool) -> None:
        """The card that replaces a joker is changed only by an entry; for a settled bet, as a correction."""
        was, round_ = before.round.replacement_card, self.table.round_
        over = round_.number != before.round.number or (round_.replacement_card is None and not round_.hands)
        if was is None or over or round_.replacement_card == was:
            return
        assert isinstance(event, ev.ReplacementEntered), f"{event} changed the replacement card"
        settled = {place for place, hand in round_.hands.items() if JOKER in hand.cards and place in round_.settled}
        late = corrected or settled <= set(before.round.claims_fell)
        assert late, f"the replacement card of seats {settled} changed after it was settled"

    def _exposed(self, before: SeenRound, event: ev.Event, corrected: bool) -> None:
        """Cards are known only by an entry or by an identifying shoe, after the procedure exposed them."""
        known = before.round.hands
        new = [place for place, hand in self.table.round_.hands.items() if known.get(place) != hand]
        compared = isinstance(event, ev.Answer) and new == [0]
        released = isinstance(event, ev.HandReleased) and not set(new) & set(known)
        ruled = isinstance(event, ev.Answer) and set(new) <= set(before.round.contested)
        by_people = compared or ruled or isinstance(event, _ENTRIES)
        assert not new or by_people or released, f"{event} made cards known"
        if corrected:
            assert new == ([event.place] if isinstance(event, ev.HandEntered) else []), f"{event} changed {new}"
            return
        for place in new:
            face_up = place == 0 and self.table.edition.hand.dealer_face_up and before.round.state == mc.PLAYING
            assert before.round.state == mc.SETTLING or face_up or before.settles_void, (
                f"cards of place {place} are known in {before.round.state}"
            )
            late = place not in known or place in before.round.claims_fell  # for its progressive bet, or its envy
            assert late or place not in before.round.settled, f"the cards of seat {place} changed after it was settled"

    def _settled(self, before: SeenRound, decision: WagerSettled) -> None:
        result, seat = decision.result, decision.seat
        key = (seat, result.wager, result.envy_of)
        assert key not in self.settled, f"{key} is settled twice"
        assert seat in before.round.seats, f"seat {seat} has no wager"
        assert seat not in before.round.dead, f"seat {seat} is out of the round, and its {result.wager} is settled"
        assert result.clauses, f"{result} cites nothing"
        self.settled[key] = result
        self._by_text(before, seat, result)

    def _by_text(self, before: SeenRound, seat: int, result: Proposal) -> None:
        """Compare a result with the text, where all that it depends on is known."""
        if result.envy_of is not None or seat in before.round.dealer_settles:
            return
        played = self._played(before.round, seat, result)
        if played is None:
            return
        end = settle_by_text(played)[seat, result.wager, None]
        assert result.outcome == end.outcome, f"seat {seat}: {result}; the text: {end}"
        if result.paid_cents is not None and before.round.amounts.get(result.wager, {}).get(seat) is not None:
            limit = self.table.table.context.submission.payout_limit_cents
            right = result.paid_cents == end.paid if limit is None else result.paid_cents <= min(end.paid, limit)
            assert right, f"seat {seat}: {result}; the text: {end}"
        self.compared += 1

    def _played(self, round_: Round, seat: int, result: Proposal) -> Played | None:
        """Return the seat's box with all that is known; None if something is not known."""
        context, edition = self.table.table.context, self.table.edition
        own, dealer = round_.hands.get(seat), round_.hands.get(0)
        gave_up = round_.decided.get(seat) == "fold" or seat in round_.surrendered
        if own is None or (edition.hand.dealer_hand and dealer is None):
            return None
        if edition.hand.split and (own.setting is None or tuple(map(len, own.setting)) != edition.hand.split):
            return None  # hands of other sizes are foul: no subject of the text's settlement
        if result.wager == "progressive" and JOKER in own.cards and round_.replacement_card is None:
            return None
        cents = round_.amounts.get(result.wager, {}).get(seat, 0)
        wagers = {
            wager.name: 0 for wager in edition.wagers if wager.decision and round_.decided.get(seat) == wager.name
        }
        box = PlayedBox(seat, _written(own.cards), {**wagers, result.wager: cents}, _hands(own), gave_up)
        dealt = dealer.cards if dealer is not None else ()
        set_so = dealer.setting if dealer is not None else None
        if dealt and edition.hand.split and set_so is None:
            set_so = context.terms.set_by_house_way(dealt)
        replacement = None if round_.replacement_card is None else NOTATION[round_.replacement_card]
        return Played(
            edition.game, (box,), dict(context.submission.paytables), _written(dealt),
            tuple(map(_written, set_so or ())), replacement, bool(context.submission.folded_progressive),
        )  # fmt: skip


def _written(cards: tuple[int, ...]) -> tuple[str, ...]:
    return tuple(NOTATION[card] for card in cards)


def _hands(hand: Hand) -> tuple[tuple[str, ...], ...]:
    return tuple(map(_written, hand.setting or ()))
