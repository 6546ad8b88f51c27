"""Known cards: what the dealer enters of hands that are face up, and why an entry is refused.

An entry is refused before the procedure exposed the cards, and where it is impossible: a card that cannot be there, a
card twice, a hand of the wrong size, a setting that is none. What is entered is only known; nobody assumes the rest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from firmware_bridge.errors import BadHand
from table_controller.rulebook import cards as notation
from table_controller.rulebook.settlement.check import check
from table_controller.rulebook.settlement.dealt_round import DealtRound
from table_controller.rulebook.wager_limits import citation_of, has_own_amount, wager_objection
from table_controller.table import boxes, card_release, settling
from table_controller.table import state_machines as mc
from table_controller.table.exposure import exposure_objection
from table_controller.table.state import Hand

if TYPE_CHECKING:
    from collections.abc import Callable

    from table_controller.rulebook.house_ways.choose import SetByRule
    from table_controller.table import events as ev
    from table_controller.table.context import Context
    from table_controller.table.decisions import Prompt

_DEALER: Final = 0  # the dealer's place
_ABOUT_ENVY: Final = ("envy_hand", "envy_line")  # prompts about the envy of a hand


# --- why the cards of a place may not be entered now ------------------------------------------------------------------


def entry_objection(c: Context, place: int) -> str | None:
    """Return why what is known of a place may not be entered or changed."""
    return _objection(c, place, late=_may_enter_late(c, place))


def replacement_objection(c: Context, place: int) -> str | None:
    """Return why the card that replaces the joker of a place may not be entered or changed."""
    is_first = c.state.round.replacement_card is None and _waits_for_cards(c, place)
    return _objection(c, place, late=is_first or _may_enter_late(c, place))


def may_enter(c: Context, place: int) -> bool:
    """Whether anything about the cards of a place may be entered now, at least the card that replaces its joker."""
    if entry_objection(c, place) is None:
        return True
    hand = c.state.round.hands.get(place)
    return hand is not None and notation.JOKER in hand.cards and replacement_objection(c, place) is None


def _objection(c: Context, place: int, *, late: bool) -> str | None:
    """Return why an entry about a place is refused; `late`: it may be made after the seat's main wager is settled."""
    objection = exposure_objection(c, place)
    if objection is not None:
        return objection
    round_ = c.state.round
    if place in round_.contested:
        return f"the cards of {card_release.place_name(place)} differ from the shoe's; a floorperson decides first"
    if place in round_.disputed:
        return f"the settlement of seat {place} is disputed; a floorperson rules first"
    if place in round_.settled and not late:
        return f"seat {place} is settled; report an error to the floorperson{c.citation('settle')}"
    if place == _DEALER and place in round_.hands and round_.settled:
        return f"seat {round_.settled[0]} is settled by the dealer's hand; report an error to the floorperson"
    return None


def _may_enter_late(c: Context, place: int) -> bool:
    """Whether the cards of a settled seat may be entered: a progressive bet or envy waits for them.

    They change nothing that is settled: they were not known, or a claim by them was withdrawn. Only what people entered
    is corrected.
    """
    hand = c.state.round.hands.get(place)
    if hand is None:
        return _waits_for_cards(c, place)
    return place in c.state.round.claims_fell and hand.by not in c.state.slots and _waits_for_cards(c, place)


def _waits_for_cards(c: Context, place: int) -> bool:
    """Whether a progressive bet of a seat is open, or the dealer is asked whether its hand pays envy."""
    bet = c.state.money.bets.get(place)
    if bet is not None:
        return bet.state == "open"
    return any(prompt.seat == place and prompt.kind in _ABOUT_ENVY for prompt in c.state.prompts.values())


# --- entries ----------------------------------------------------------------------------------------------------------


def _try_entry(
    c: Context, place: int, enter: Callable[[], None],
    why_not: Callable[[Context, int], str | None] = entry_objection,
) -> None:  # fmt: skip
    """Make an entry; undo and refuse it if the round that is then known is impossible."""
    objection = why_not(c, place)
    if objection is not None:
        c.refuse(objection)
        return
    round_ = c.state.round
    hands, replacement = dict(round_.hands), round_.replacement_card
    try:
        enter()
        settling.check_known(c, settling.dealt_round(c))
    except BadHand as error:
        round_.hands, round_.replacement_card = hands, replacement
        c.refuse(str(error))
        return
    card_release.compare(c, place)


def on_hand_entered(c: Context, event: ev.HandEntered) -> None:
    """Record the cards of a place. Other cards than before forget how they were set."""
    if event.who.role == "floorperson":
        _correct(c, event)
        return

    def enter() -> None:
        deck, round_ = c.edition.cards, c.state.round
        cards = notation.parse_hand(event.cards, c.edition.hand.cards, jokers=deck.jokers, copies=deck.decks)
        if before is None or sorted(before.cards) != sorted(cards):
            _check_not_claimed(c, event.place)
            round_.hands[event.place] = Hand(cards, event.who.credential)

    before = c.state.round.hands.get(event.place)
    _try_entry(c, event.place, enter)
    _note_correction(c, event, before)


def _correct(c: Context, event: ev.HandEntered) -> None:
    """A floorperson corrects cards by which something is settled; they may be in the way of another hand's cards.

    What is settled stays; a finding has both hands, and whether the settlement would be another one.
    """
    round_, place = c.state.round, event.place
    before, settled = round_.hands.get(place), [seat for seat in round_.settled if place in (_DEALER, seat)]
    if before is None or not settled or before.by in c.state.slots:
        c.refuse("only the dealer enters this; a floorperson corrects cards by which a seat is settled")
        return
    deck, results = c.edition.cards, settling.results_by_cards(c, settled)
    try:
        cards = notation.parse_hand(event.cards, c.edition.hand.cards, jokers=deck.jokers, copies=deck.decks)
        round_.hands[place] = Hand(cards, event.who.credential)
        settling.check_known(c, settling.dealt_round(c))
        hit, claimed = c.state.money.hit_of(place), settling.claimed_hand(c, place)
        if hit is not None and (claimed is None or claimed[0] != hit.hand):
            _check_not_claimed(c, place)
    except BadHand as error:
        round_.hands[place] = before
        c.refuse(str(error))
        return
    whose = "the dealer" if place == _DEALER else f"seat {place}"
    was, is_ = notation.format_cards(before.cards), notation.format_cards(cards)
    same = settling.results_by_cards(c, settled) == results
    text = f"round {round_.number}, {whose}: {was} by {before.by} is now {is_} by {event.who.credential}"
    c.record_finding("settled_cards_corrected", f"{text}{'' if same else '; check what was settled by them'}")


def _check_not_claimed(c: Context, place: int) -> None:
    """Raise BadHand if a hit stands by the cards of a place, also where its main wager is settled again."""
    if c.state.money.hit_of(place) is not None:
        raise BadHand(f"a hit is claimed by the cards of seat {place}; withdraw that claim first{c.citation('claim')}")


def _note_correction(c: Context, event: ev.HandEntered, before: Hand | None) -> None:
    """Record that the cards of a withdrawn claim were corrected."""
    round_ = c.state.round
    now = round_.hands.get(event.place)
    if before is None or now is None or now is before or event.place not in round_.claims_fell:
        return
    was, is_ = notation.format_cards(before.cards), notation.format_cards(now.cards)
    text = f"round {round_.number}, seat {event.place}: {was} by {before.by} is now {is_} by {now.by}"
    c.record_finding("claimed_cards_corrected", text)


def on_setting_entered(c: Context, event: ev.SettingEntered) -> None:
    """Record how the hands of a place are set; its cards are known by it too. The dealer's are set in the house way."""

    def enter() -> None:
        hands = tuple(notation.parse_cards(part) for part in event.hands.split("|"))
        cards = tuple(card for hand in hands for card in hand)
        known = c.state.round.hands.get(event.place)
        if known is not None and sorted(known.cards) != sorted(cards):
            raise BadHand(f"its cards are {notation.format_cards(known.cards)}; each card is set once")
        c.state.round.hands[event.place] = Hand(cards, event.who.credential, hands)
        settling.check_known(c, settling.dealt_round(c))  # before the house way is asked about these hands
        again = c.terms.misset(hands) if event.place == _DEALER else None
        if again is not None:
            right = " | ".join(notation.format_cards(hand) for hand in again.hands)
            raise BadHand(f"set the dealer's hand again: {right}; {again.reason}{c.citation('house_way')}")

    _try_setting(c, event.place, enter)


def on_house_way_asked(c: Context, event: ev.HouseWayAsked) -> None:
    """Set a player's hand in the house way, because the player asked the dealer to."""

    def enter() -> None:
        known = c.state.round.hands.get(event.seat)
        if known is None:
            raise BadHand(f"the cards of seat {event.seat} are not known; enter them first")
        setting = c.terms.set_by_house_way(known.cards)
        c.state.round.hands[event.seat] = msgspec.structs.replace(known, setting=setting, is_house_way=True)

    _try_setting(c, event.seat, enter)


def _try_setting(c: Context, place: int, enter: Callable[[], None]) -> None:
    """Make an entry about how hands are set, where the game has that and it is this hand's turn."""
    if not c.edition.hand.split:
        c.refuse(f"nobody sets hands in {c.edition.title}")
        return
    early = boxes.setting_objection(c, place)
    if early is not None:
        c.refuse(early)
        return
    _try_entry(c, place, enter)


def dealer_hand_to_compare(c: Context) -> SetByRule | None:
    """Return how the house way sets the dealer's known cards, while nobody compared that and nothing is settled."""
    round_ = c.state.round
    hand = round_.hands.get(_DEALER)
    if hand is None or hand.setting is not None or not c.edition.hand.split or round_.settled:
        return None
    return c.terms.house_way(hand.cards)


def on_dealer_hand_compared(c: Context, _prompt: Prompt, answer: ev.Answer) -> None:
    """The dealer's hand lies as the house way sets it."""
    hand = c.state.round.hands[_DEALER]
    setting = c.terms.set_by_house_way(hand.cards)
    c.state.round.hands[_DEALER] = Hand(hand.cards, answer.who.credential, setting, is_house_way=True)


def on_replacement_entered(c: Context, event: ev.ReplacementEntered) -> None:
    """Record the card that replaces a joker (687a.11(f)(1)): it was placed by hand."""
    with_joker = [place for place, hand in c.state.round.hands.items() if place and notation.JOKER in hand.cards]

    def enter() -> None:
        _check_not_claimed(c, with_joker[0])
        c.state.round.replacement_card = _single_card(c, event.card)

    if not with_joker:
        c.refuse("no player's known hand has the joker; enter that hand first")
    elif event.who.role == "floorperson":
        _correct_replacement(c, event, with_joker[0])
    else:
        _try_entry(c, with_joker[0], enter, replacement_objection)


def _claim_by_cards(c: Context, place: int) -> str | None:
    known = settling.claimed_hand(c, place)
    return None if known is None else known[0]


def _single_card(c: Context, card: str) -> int:
    deck = c.edition.cards
    return notation.parse_hand(card, 1, jokers=deck.jokers, copies=deck.decks)[0]


def _correct_replacement(c: Context, event: ev.ReplacementEntered, place: int) -> None:
    """A floorperson corrects the replacement card of a settled bet; it may be in the way of another hand's cards.

    What is settled stays; a finding has both cards, and whether the bet would be settled otherwise.
    """
    round_ = c.state.round
    before, claimed = round_.replacement_card, _claim_by_cards(c, place)
    if before is None or replacement_objection(c, place) is None:
        c.refuse("only the dealer enters this; a floorperson corrects a card by which a seat is settled")
        return
    try:
        round_.replacement_card = _single_card(c, event.card)
        settling.check_known(c, settling.dealt_round(c))
        same = _claim_by_cards(c, place) == claimed
        if not same:
            _check_not_claimed(c, place)
    except BadHand as error:
        round_.replacement_card = before
        c.refuse(str(error))
        return
    was, is_ = notation.format_cards((before,)), notation.format_cards((round_.replacement_card,))
    text = f"round {round_.number}, replacement card of seat {place}: {was} is now {is_} by {event.who.credential}"
    c.record_finding("settled_cards_corrected", f"{text}{'' if same else '; check what was settled by it'}")


def on_amount_entered(c: Context, event: ev.AmountEntered) -> None:
    """Record the amount of a seat's wager, if it is within the table's limits and the seat may have the wager."""
    objection = _amount_objection(c, event)
    if objection is not None:
        c.refuse(objection)
        return
    round_ = c.state.round
    before = round_.amounts
    entered = {**before, event.wager: {**before.get(event.wager, {}), event.seat: event.cents}}
    follows = _follows_from(c, event.wager)
    round_.amounts = {
        wager: {seat: cents for seat, cents in of.items() if wager not in follows or seat != event.seat}
        for wager, of in entered.items()
    }
    try:  # `void`: the seat's player need not have decided yet
        alone = DealtRound(seats=(settling.known_seat(c, event.seat),))
        check(c.terms, alone, void=True, partial=True)
    except BadHand as error:
        round_.amounts = before
        c.refuse(str(error))


def _follows_from(c: Context, wager: str) -> tuple[str, ...]:
    """Return the wagers whose amount follows from this one: entered again, it decides theirs again."""
    others = (each for each in c.edition.wagers if wager == "ante" and each.name != wager)
    return tuple(
        each.name for each in others if each.amount != "table_unit" and not has_own_amount(each, c.submission.settings)
    )


def _amount_objection(c: Context, event: ev.AmountEntered) -> str | None:
    round_ = c.state.round
    if not c.is_round_under_way:
        return "no round is under way"
    wager = c.edition.wager(event.wager)
    objection = wager_objection(c.submission, event.wager, event.cents)
    if objection is not None or wager is None:
        return objection
    if wager.option and event.wager not in round_.side_wagers and round_.state in (mc.BETTING, mc.NO_MORE_BETS):
        return None if event.seat <= c.submission.seats else f"there is no seat {event.seat}{c.citation('seats')}"
    cited = citation_of(c.edition.game, wager)
    if event.seat not in round_.seats:
        alone = f" and so no {wager.title} ({cited})" if wager.option else ""
        return f"seat {event.seat} has no main wager{c.citation('seats')}{alone}"
    if not settling.has_wager(c, event.seat, event.wager):
        late = (
            f", and no wager is placed any more ({c.edition.close_clause}, {cited})" if wager.option else f" ({cited})"
        )
        return f"seat {event.seat} has no {wager.title}{late}"
    if event.seat in round_.settled and not _is_side_open(c, event):
        return f"seat {event.seat} is settled; report an error to the floorperson{c.citation('settle')}"
    if event.seat in round_.disputed:
        return f"the settlement of seat {event.seat} is disputed; a floorperson rules first"
    return None


def _is_side_open(c: Context, event: ev.AmountEntered) -> bool:
    """Whether an amount is of an optional wager that is settled after the main wager, and not settled yet."""
    round_ = c.state.round
    stated = event.seat in round_.stated.get(event.wager, ())
    side = event.wager in round_.side_wagers or event.wager in settling.after_progressive(c)
    return side and event.seat not in round_.side_settled and not stated
