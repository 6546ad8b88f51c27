"""Cards that a shoe identifies: which cards it dealt to which place, when they are released, and what follows.

The table orders the cards of one place once the procedure exposed them. They are then known like cards that the dealer
enters. Where the shoe and the dealer differ, a floorperson decides; without the shoe the dealer enters the cards.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from firmware_bridge.errors import BadHand
from table_controller.rulebook import cards as notation
from table_controller.table import exposure, settling
from table_controller.table.decisions import DealtCards
from table_controller.table.irregularities import open_hold
from table_controller.table.state import Hand, ShoeHand
from table_controller.table.view import slot_label

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from table_controller.table import events as ev
    from table_controller.table.context import Context
    from table_controller.table.decisions import Prompt
    from table_controller.table.state import IssuedCommand

RELEASE: Final = "release_cards"
# How often the cards of one unit are ordered, where the answer is lost.
_MOST_ORDERS: Final = 3
_CARD_TWICE: Final = 455
_READS_DISAGREE: Final = 456
# Why a shoe refuses, by the number of the error; the shoe's own text is in the catalog.
_REFUSALS: Final = {
    453: "it dealt no such cards",
    454: "it has erased their values",
    _CARD_TWICE: "it identified one card twice",
    _READS_DISAGREE: "it identified more cards than it counted",
}
_NOT_OBTAINED: Final = "; the dealer enters them"


# --- which cards a shoe dealt to which place --------------------------------------------------------------------------


def on_shoe_identifies(c: Context, event: ev.ShoeIdentifies) -> None:
    """The shoe identifies the cards that it deals."""
    c.state.slots[event.slot].identifies = True


def record_stack(c: Context, slot: str, place: int, command: int) -> None:
    """Record that a shoe dealt a whole stack to a place."""
    if c.state.slots[slot].identifies and not c.state.round.order_lost:
        c.state.round.dealt_hands[place] = ShoeHand(DealtCards(command))


def record_first_deal(c: Context, places: Sequence[int]) -> None:
    """Record which cards of a manual shoe's round were dealt to each place, by the order that the text prescribes."""
    each, method = c.edition.hand.first_deal, c.edition.method(c.state.dealing)
    if not _is_order_known(c) or method is None:
        return
    first = c.state.round.drawn - each * len(places) + 1
    for at, place in enumerate(places):
        by_stack = [first + at * each + n for n in range(each)]
        by_card = [first + at + n * len(places) for n in range(each)]
        _add(c, place, by_stack if method.unit == "stack" else by_card)


def record_more_cards(c: Context, seat: int) -> None:
    """Record that the last cards of a manual shoe's round were dealt to a seat."""
    more, drawn = c.edition.hand.second_deal, c.state.round.drawn
    if _is_order_known(c):
        _add(c, seat, range(drawn - more + 1, drawn + 1))


def _add(c: Context, place: int, numbers: Sequence[int]) -> None:
    round_ = c.state.round
    before = round_.dealt_hands[place].dealt.cards if place in round_.dealt_hands else ()
    round_.dealt_hands[place] = ShoeHand(DealtCards(round_.counted_by, (*before, *numbers)))


def _is_order_known(c: Context) -> bool:
    """Whether a manual shoe that identifies cards has counted every card of this round, and each has its place."""
    round_, shoe = c.state.round, c.shoe
    counted = round_.counting and not round_.order_lost and not round_.slip and not round_.discarded
    known = counted and shoe is not None and c.state.slots[shoe].identifies
    return known and round_.drawn == round_.dealt + round_.burned


def forget_place(c: Context, place: int | None) -> None:
    """Forget what a shoe dealt to a place, because a card was taken away or added by hand; None: to any place."""
    round_ = c.state.round
    if place is None or place not in round_.dealt_hands:
        round_.dealt_hands.clear()
        round_.order_lost = True
    else:
        del round_.dealt_hands[place]


def forget_if_drawn_early(c: Context) -> None:
    """Forget the order of a round in which a card was burned after a part of the deal was drawn."""
    round_ = c.state.round
    if round_.counting and round_.drawn != round_.dealt + round_.burned + round_.discarded:
        forget_place(c, None)


# --- the order to release ---------------------------------------------------------------------------------------------


def release(c: Context, place: int) -> bool:
    """Order the cards of a place, if that is permitted; return whether they are awaited."""
    round_, shoe = c.state.round, c.shoe
    hand = round_.dealt_hands.get(place)
    if hand is None or shoe is None:
        return False
    if any(i.act == RELEASE and i.number == place and not i.unknown for i in c.state.commands.values()):
        return True
    if c.is_blocked(RELEASE, shoe, None, seat=place):
        return False
    c.issue_command(RELEASE, shoe, number=place, dealt=hand.dealt)
    c.state.next_id += max(0, len(hand.dealt.cards) - 1)  # each card of a round is ordered with an id of its own
    return True


def is_reveal_asked(c: Context, seat: int) -> bool:
    """Whether only the dealer's word is missing that the hand of a seat is shown, and not surrendered."""
    if seat not in c.state.round.dealt_hands or seat in c.state.round.hands:
        return False
    reasons = c.reasons_against(RELEASE, c.shoe, seat=seat)
    return [reason.key for reason in reasons] == ["own_reveal_due"]


# --- what the shoe answers --------------------------------------------------------------------------------------------


def on_cards_released(c: Context, event: ev.HandReleased) -> None:
    """Take over the cards that were ordered; any others are not used."""
    issued = c.state.commands.get(event.command)
    hand = None
    if issued is not None and issued.act == RELEASE and issued.slot == event.slot and not issued.is_result_reported:
        hand = c.state.round.dealt_hands.get(issued.number)
    if issued is None or hand is None or hand.ended or hand.dealt.dealt_by != event.dealt_by:
        text = f"{slot_label(event.slot)} released cards that nobody ordered; they are not used"
        c.record_finding("cards_not_ordered", text)
        return
    issued.is_result_reported = hand.ended = True
    if exposure.obstacle(c, issued.number) is not None:
        return  # the round, or the hand, became void while the shoe answered
    try:
        hand.cards = tuple(sorted(notation.parse_cards(event.cards)))
    except BadHand as error:
        _contradict(c, issued, str(error))
        return
    _take_over(c, issued, hand, event.unread)


def _take_over(c: Context, issued: IssuedCommand, hand: ShoeHand, unread: int) -> None:
    """The cards of a place are released: they are known from now on, if they can be its cards."""
    round_, place, size = c.state.round, issued.number, c.edition.hand.cards
    deck = c.edition.cards
    if len(hand.cards) + unread != size:
        _contradict(c, issued, f"{len(hand.cards)} cards and {unread} that it could not identify; a hand has {size}")
        return
    wrong = [*notation.excess_cards(hand.cards, jokers=deck.jokers, copies=deck.decks)]
    if wrong:
        _contradict(c, issued, "; ".join(wrong))
        return
    if unread:
        _not_obtained(c, issued, f"it could not identify {unread} of them", "cards_unread")
    elif place not in round_.hands:
        round_.hands[place] = Hand(hand.cards, issued.slot)
        try:
            settling.check_known(c, settling.dealt_round(c))
        except BadHand as error:
            del round_.hands[place]
            _contradict(c, issued, str(error))
            return
    compare(c, place)


def _contradict(c: Context, issued: IssuedCommand, why: str) -> None:
    """The shoe's cards cannot be: they are not used, and the round stops until a floorperson has decided."""
    hand = c.state.round.dealt_hands[issued.number]
    shown = f" ({notation.format_cards(hand.cards)})" if hand.cards else ""
    hand.ended, hand.cards = True, ()
    _not_obtained(c, issued, f"{why}{shown}", "cards_contradict")
    seat = issued.number or None
    open_hold(c, "cards_contradict", slot=issued.slot, deck=c.state.round.deck, seat=seat)


def _not_obtained(c: Context, issued: IssuedCommand, why: str, kind: str = "cards_not_released") -> None:
    text = f"{slot_label(issued.slot)}, the cards of {place_name(issued.number)}: {why}{_NOT_OBTAINED}"
    c.record_finding(kind, text, c.state.round.deck)


def place_name(place: int) -> str:
    """Return a place for a sentence."""
    return f"seat {place}" if place else "the dealer"


def on_release_ended(c: Context, issued: IssuedCommand, outcome: str, reason: int) -> None:
    """An order ended. A refusal is final. An answer that was lost is ordered again with a new id: nothing moves."""
    hand = c.state.round.dealt_hands.get(issued.number)
    if hand is None or hand.ended or issued.is_result_reported:
        return
    if outcome == "failed":
        hand.ended = True
        why = f"{_REFUSALS.get(reason, 'it did not release them')} (PB-{reason})"
        if reason in (_CARD_TWICE, _READS_DISAGREE):
            _contradict(c, issued, why)
        else:
            _not_obtained(c, issued, why)
        return
    hand.lost += 1
    if hand.lost == _MOST_ORDERS:
        hand.ended = True
        _not_obtained(c, issued, "its answers were lost")


# --- shoe and dealer --------------------------------------------------------------------------------------------------


def compare(c: Context, place: int) -> None:
    """Compare the entered cards of a place with those that the shoe released; if they differ, neither is used yet."""
    round_, shoe = c.state.round, c.slot_of("shoe")
    dealt, hand = round_.dealt_hands.get(place), round_.hands.get(place)
    if dealt is None or hand is None or hand.by == shoe or not dealt.ended or shoe is None:
        return
    if Counter(dealt.cards) <= Counter(hand.cards):
        return
    round_.shown += [place] * (place not in round_.shown)  # it cannot be surrendered any more
    round_.contested[place] = [Hand(dealt.cards, shoe), round_.hands.pop(place)]
    c.record_finding("cards_differ", f"{place_name(place)}: {_readings(c, place)}", round_.deck)


def _readings(c: Context, place: int) -> str:
    released, entered = c.state.round.contested[place]
    by_shoe, by_dealer = notation.format_cards(released.cards), notation.format_cards(entered.cards)
    return f"{slot_label(released.by)} released {by_shoe}; the dealer entered {by_dealer}"


def ask_rulings(c: Context) -> bool:
    """Ask a floorperson which cards hold, where shoe and dealer differ; return whether one is open."""
    for place in c.state.round.contested:
        whole = len(c.state.round.contested[place][0].cards) == c.edition.hand.cards
        choices = (*(("released",) if whole else ()), "entered", "enter_again")
        c.ask("cards_differ", "floorperson", *choices, seat=place, clauses=c.clauses("settle"),
              shows=_readings(c, place))  # fmt: skip
    return bool(c.state.round.contested)


def _ruled(c: Context, prompt: Prompt, answer: ev.Answer) -> None:
    """A floorperson decided which cards hold; those of the shoe are not compared again."""
    assert prompt.seat is not None
    round_, place = c.state.round, prompt.seat
    readings, kept = _readings(c, place), {}
    kept["released"], kept["entered"] = round_.contested.pop(place)
    round_.dealt_hands.pop(place, None)
    text = f"{place_name(place)}: {readings}: {answer.choice} by {answer.who.credential}"
    if answer.choice in kept:
        round_.hands[place] = kept[answer.choice]
        try:
            settling.check_known(c, settling.dealt_round(c))
        except BadHand as error:  # cards of another place were entered meanwhile
            del round_.hands[place]
            text += f"; not possible: {error}"
    c.record_finding("cards_ruled", text, round_.deck)


ANSWERS: Final[dict[str, Callable[[Context, Prompt, ev.Answer], None]]] = {"cards_differ": _ruled}
