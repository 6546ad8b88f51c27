"""Play: players decide, the dealer reveals, hands are settled in order, cards are collected.

Where known cards decide a seat's wagers, the dealer confirms what the rules decide, or disputes it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from table_controller.ledger import cards as book
from table_controller.rulebook.cards import format_cards
from table_controller.rulebook.wager_limits import citation_of
from table_controller.table import (
    boxes,
    card_release,
    dealing,
    decks,
    disputes,
    exposure,
    known_hands,
    progressive_bets,
    settling,
    side_wagers,
    starting_position,
)
from table_controller.table import state_machines as mc
from table_controller.table.decisions import DenialReason, Outcome, Proposal
from table_controller.table.exposure import may_surrender, settle_order
from table_controller.table.irregularities import close_bets, open_hold
from table_controller.table.state import Round

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from table_controller.rulebook.schema import Wager
    from table_controller.table import events as ev
    from table_controller.table.context import Context
    from table_controller.table.decisions import Prompt
    from table_controller.table.state import Deck


def player_choices(c: Context) -> tuple[str, ...]:
    """Return the choices of every player: the decision wagers, or leaving the round."""
    leaves = c.edition.surrender
    chosen = [wager.name for wager in c.edition.wagers if wager.decision]
    return (*chosen, leaves.kind) if chosen and leaves is not None else ()


def advance(c: Context) -> None:
    """Ask for the next act of players and dealer."""
    if c.is_round_stopped:
        return
    round_ = c.state.round
    if round_.state in (mc.PLAYING, mc.SETTLING):
        card_release.release(c, exposure.DEALER)  # a hand that is dealt face up, or revealed
        card_release.ask_rulings(c)
    if round_.state == mc.PLAYING:
        _play(c)
    if round_.state == mc.SETTLING and not c.state.burn_due and not round_.leaving:
        _settle(c)
    if round_.state in (mc.COMPLETE, mc.VOID):
        _finish(c)
    elif round_.state == mc.IDLE and c.shuffles_per_shoe:
        for deck in c.decks_at_table():
            if deck.state == mc.READY and c.state.shoe_over and c.is_in_place(deck) and not c.is_held(deck=deck.name):
                c.fire_deck(deck, "use")  # its cover card came out before any round: the shoe is finished
            # The cover card was burned, a floorperson ordered the shuffle, or cards are dealt from elsewhere now.
            if deck.state == mc.IN_PLAY and (c.state.shoe_over or not c.is_in_place(deck)):
                _ask_to_collect(c, deck)


def _play(c: Context) -> None:
    round_, choices = c.state.round, player_choices(c)
    waiting = [seat for seat in round_.seats if seat not in round_.dead and seat not in round_.decided]
    if not choices and not round_.hands_set:
        if boxes.ask_settings(c):
            c.ask("hands_set", "dealer", clauses=c.clauses("set_hands"))
    elif _collect_surrendered(c, [seat for seat, choice in round_.decided.items() if choice == "surrender"]):
        return
    elif choices and waiting:  # from the far left clockwise
        c.ask("decide", "dealer", *choices, seat=waiting[0], clauses=c.clauses("decide"))
    elif "fold" in round_.decided.values() and not round_.folds_taken:
        c.ask("folded", "dealer", clauses=c.clauses("folded"))
    elif c.edition.hand.dealer_hand:
        c.ask("reveal", "dealer", clauses=c.clauses("reveal"))
    else:
        c.fire_round("settle")


def _settle(c: Context) -> None:
    """Settle seat by seat: main wager, side wagers, hand; then envy, and the hands that stayed for it."""
    round_ = c.state.round
    if _collect_surrendered(c, round_.surrendered) or progressive_bets.delays_settlement(c):
        return
    counting = [seat for seat in round_.surrendered if seat not in round_.settled]
    if counting and not round_.envy:
        _count_surrendered(c, counting[0])
        return
    for seat in round_.settled:
        if not side_wagers.ask_side_settlement(c, seat):
            return
        if seat not in round_.surrendered:
            side_wagers.rack_hand(c, seat)
    waiting = [seat for seat in settle_order(c) if seat not in round_.settled and seat not in round_.surrendered]
    house_way = known_hands.dealer_hand_to_compare(c)
    if round_.contested or card_release.release(c, exposure.DEALER):
        return
    if house_way is not None:
        shown = " | ".join(format_cards(hand) for hand in house_way.hands)
        c.ask("dealer_set", "dealer", clauses=c.clauses("house_way"), shows=f"{shown}: {house_way.reason}")
    elif waiting:
        _settle_next(c, waiting[0])
    elif all(side_wagers.ask_side_settlement(c, seat) for seat in counting) and side_wagers.ask_envy(c):
        if counting:
            _count_surrendered(c, counting[0])
        elif side_wagers.ask_collection(c):
            c.fire_round("finish")


def _collect_surrendered(c: Context, seats: Iterable[int]) -> bool:
    """Ask to collect the wager of a player who surrendered; return whether one is open."""
    round_ = c.state.round
    for seat in seats:
        if seat not in (*round_.surrender_collected, *round_.settled, *round_.dead):
            c.ask("surrender_collected", "dealer", seat=seat, clauses=c.clauses("surrender_collect"))
            return True
    return False


def _count_surrendered(c: Context, seat: int) -> None:
    c.ask("surrender_count", "dealer", seat=seat, number=True, clauses=c.clauses("surrender_count"))


def _settle_next(c: Context, seat: int) -> None:
    if c.edition.hand.second_deal and seat not in c.state.round.second:
        if dealing.prepare_cards(c, c.edition.hand.second_deal):
            c.ask("additional_cards", "dealer", seat=seat, clauses=c.clauses("additional_cards"))
        return
    if seat in c.state.round.disputed:
        c.ask("disputed", "floorperson", "stands", "enter_again", "dealer_settles", seat=seat,
              clauses=c.clauses("settle"), proposals=settling.main_proposals(c, seat))  # fmt: skip
        return
    if card_release.release(c, seat):
        return
    if card_release.is_reveal_asked(c, seat):
        c.ask("own_reveal", "dealer", "shown", "surrendered", seat=seat,
              clauses=c.clauses("settle") + c.clauses("surrender"))  # fmt: skip
        return
    may, proposals = may_surrender(c, seat), settling.main_proposals(c, seat)
    choices = (*(("confirmed", "disputed") if proposals else ("settled",)), *(("surrendered",) if may else ()))
    clauses = c.clauses("settle") + c.clauses("surrender") * may + c.clauses("rack_hand") * c.deals_to_all_seats
    c.ask("settled", "dealer", *choices, seat=seat, clauses=clauses, proposals=proposals)


def reopen_round(c: Context) -> None:
    """Reopen a settled round whose cards are not collected, because an error was reported."""
    c.fire_round("reopen")
    side_wagers.return_hands_from_rack(c)


def _finish(c: Context) -> None:
    """Finish the round: close bets, and collect the cards unless the shoe deals the next round."""
    if c.has_progressive:
        close_bets(c)
    if c.state.round.state == mc.COMPLETE and c.state.start == "shaker" and not c.state.round.parked:
        return
    deck = c.deck
    if deck is None or deck.state != mc.IN_PLAY or (c.shuffles_per_shoe and not c.state.shoe_over):
        if not progressive_bets.has_open_bets(c):
            _end(c)
    else:
        _ask_to_collect(c, deck)


def _ask_to_collect(c: Context, deck: Deck) -> None:
    if c.reasons_against("collect", deck=deck.name):
        return
    if (
        c.shuffles_per_shoe
        and c.shoe is not None
        and c.state.slots[c.shoe].deck == deck.name
        and c.is_in_service(c.shoe)
    ):
        if not c.state.round.stub_ordered:  # the shoe gives out its remaining cards and counts them
            c.state.round.stub_ordered = c.try_issue_command("give_stub", c.shoe, deck=deck.name)
        if c.has_pending_command(c.shoe, "give_stub"):
            return
    choices = ("full", "not_full") if c.shuffles_per_shoe else ("done",)
    clauses = c.clauses("rack_check") + c.clauses("cover_card") if c.shuffles_per_shoe else c.clauses("rack")
    c.ask("collected", "dealer", *choices, deck=deck.name, clauses=clauses)


def _end(c: Context) -> None:
    round_, deck = c.state.round, c.deck
    if deck is not None and deck.state == mc.IN_PLAY:
        c.state.book.move(deck.name, book.SEATS, book.RACK, c.state.book.balance(deck.name, book.SEATS))
    if round_.seats_entered:
        c.state.regulars = list(round_.seats)
    if round_.counted:
        c.state.uncounted = 0
    elif c.edition.stub is not None and (round_.to_deal or round_.dealt):
        c.state.uncounted = min(c.state.uncounted + 1, c.edition.stub.every_rounds)
    if round_.state == mc.COMPLETE:
        starting_position.move_button(c)
    progressive_bets.end_round(c)
    c.fire_round("end")
    seats = round_.seats if c.edition.cut.offered else ()  # these seats are offered the next cut
    c.state.round = Round(round_.number, round_.state, seats=seats)


# --- answers ----------------------------------------------------------------------------------------------------------


def _decided(c: Context, prompt: Prompt, answer: ev.Answer) -> None:
    assert prompt.seat is not None
    c.state.round.decided[prompt.seat] = answer.choice


def _hands_set(c: Context, _prompt: Prompt, _answer: ev.Answer) -> None:
    c.state.round.hands_set = True


def _folded(c: Context, _prompt: Prompt, _answer: ev.Answer) -> None:
    c.state.round.folds_taken = True


def _revealed(c: Context, _prompt: Prompt, _answer: ev.Answer) -> None:
    c.fire_round("settle")


def _additional(c: Context, prompt: Prompt, _answer: ev.Answer) -> None:
    assert prompt.seat is not None
    c.state.round.second.append(prompt.seat)
    dealing.record_dealt(c, c.edition.hand.second_deal)
    card_release.record_more_cards(c, prompt.seat)


def _hand_shown(c: Context, prompt: Prompt, answer: ev.Answer) -> None:
    """The dealer shows a hand whose player may surrender before, or the player does."""
    assert prompt.seat is not None
    (c.state.round.shown if answer.choice == "shown" else c.state.round.surrendered).append(prompt.seat)


def _settled(c: Context, prompt: Prompt, answer: ev.Answer) -> None:
    assert prompt.seat is not None
    round_ = c.state.round
    if answer.choice == "surrendered":
        round_.surrendered.append(prompt.seat)
    elif answer.choice == "disputed":
        disputes.open_dispute(c, prompt, answer)
    else:
        _settle_seat(c, prompt.seat, prompt.proposals)


def _settle_seat(c: Context, seat: int, proposals: tuple[Proposal, ...]) -> None:
    """Record a seat as settled, with the results if its cards decided them."""
    settling.record_settled(c, seat, proposals)
    c.state.round.settled.append(seat)
    side_wagers.rack_hand(c, seat)


def _dispute_ruled(c: Context, prompt: Prompt, answer: ev.Answer) -> None:
    """A floorperson rules: the settlement stands, the cards are entered again, or the dealer settles without them."""
    seat, round_ = disputes.end_dispute(c, prompt, answer), c.state.round
    if answer.choice == "stands":
        _settle_seat(c, seat, prompt.proposals)
    elif answer.choice == "enter_again":
        round_.hands.pop(seat, None)  # not known where the dealer's cards alone, or a fold, decide
        if not round_.settled:
            round_.hands.pop(0, None)  # the dealer's hand may be the one that was entered wrong


def on_seats_settled(c: Context, event: ev.SeatsSettled) -> None:
    """Settle a wager of several seats as the dealer states; what known cards contradict is refused with its clauses."""
    stated: dict[int, Outcome] = {
        **dict.fromkeys(event.wins, "wins"), **dict.fromkeys(event.loses, "loses"),
        **dict.fromkeys(event.pushes, "pushes"),
    }  # fmt: skip
    wager = event.wager or next(each.name for each in c.edition.wagers if each.required)
    objection = _batch_objection(c, event, stated)
    contradicted = None if objection is not None else _contradicted(c, wager, stated)
    if objection is not None:
        c.refuse(objection)
    elif contradicted is not None:
        _refuse_contradiction(c, *contradicted)
    elif event.wager:
        _settle_stated(c, event.wager, stated)
    else:
        for seat in [each for each in settle_order(c) if each in stated]:
            result = Proposal(wager, stated[seat], "", c.clauses("settle"))
            _settle_seat(c, seat, settling.main_proposals(c, seat) or (result,))


def _settle_stated(c: Context, wager: str, stated: Mapping[int, Outcome]) -> None:
    """Record an optional wager of several seats as settled, by what the cards decide or else as stated."""
    for seat, outcome in stated.items():
        result = settling.decided(c, seat, wager) or Proposal(wager, outcome, "", c.clauses("side"))
        settling.record_settled(c, seat, (result,))


def _batch_objection(c: Context, event: ev.SeatsSettled, stated: Mapping[int, Outcome]) -> str | None:
    """Return why these seats may not be settled together now."""
    round_ = c.state.round
    if not stated or len(stated) != len(event.wins) + len(event.loses) + len(event.pushes):
        return "enter the result of at least one seat, each seat once"
    unruled = any(seat in round_.disputed or seat in round_.contested for seat in stated)
    if round_.state != mc.SETTLING or c.is_round_stopped or round_.leaving or unruled:
        return "no seat is to be settled now"
    if event.wager:
        return _stated_objection(c, event.wager, stated)
    if not any(prompt.kind in ("settled", "own_reveal") for prompt in c.state.prompts.values()):
        return "no seat is to be settled now"
    due = [seat for seat in settle_order(c) if seat not in (*round_.settled, *round_.surrendered)]
    if c.edition.hand.second_deal:
        due = [seat for seat in due if seat in round_.second]
    due = due[: len(stated)]
    if sorted(due) != sorted(stated):
        return f"settle seats {', '.join(map(str, due))} first{c.citation('settle')}"
    more = next((seat for seat in due[:-1] if _has_more(c, seat)), None)
    if more is not None:  # the text settles seat by seat
        return f"settle seat {more} with its optional wagers before the next seat{c.citation('side')}"
    return None


def _has_more(c: Context, seat: int) -> bool:
    """Whether a seat has a wager that is settled after its main wagers and before the next seat."""
    later = settling.is_later_wager_due(c, seat)
    return later or side_wagers.has_side_wager(c, seat) or seat in c.state.money.bets


def _stated_objection(c: Context, wager: str, stated: Mapping[int, Outcome]) -> str | None:
    """Return why an optional wager of these seats may not be settled now."""
    rule = c.edition.wager(wager)
    if rule is None or not rule.option or (c.edition.progressive is not None and c.edition.progressive.wager == wager):
        return f"{wager} is no optional wager that is settled by a stated result"
    for seat in stated:
        round_ = c.state.round
        if seat in round_.dead:
            return f"the hand of seat {seat} is out of the round{c.citation('seats')}"
        if c.edition.hand.second_deal and seat not in (*round_.second, *round_.surrendered, *round_.settled):
            return f"seat {seat} has not all its cards yet{c.citation('additional_cards')}"
        asked = (*round_.side_wagers, *settling.after_progressive(c))
        settled = seat in round_.stated.get(wager, ()) or (seat in round_.side_settled and wager in asked)
        if settled or not settling.has_wager(c, seat, wager):
            return f"seat {seat} has no {rule.title} to settle ({citation_of(c.edition.game, rule)})"
        first = _settled_before(c, wager, seat)
        if first is not None:
            return f"settle the {first.title} of seat {seat} first{c.citation('side_order')}"
    return None


def _settled_before(c: Context, wager: str, seat: int) -> Wager | None:
    """Return a side wager of a seat that the chapter settles before this one, and that is open."""
    round_ = c.state.round
    if not c.clauses("side_order") or seat in round_.side_settled:
        return None
    for rule in c.edition.wagers:
        if rule.name == wager:
            return None
        if seat in round_.side_wagers.get(rule.name, ()) and seat not in round_.stated.get(rule.name, ()):
            return rule
    return None


def _contradicted(c: Context, wager: str, stated: Mapping[int, Outcome]) -> tuple[int, Proposal, Outcome] | None:
    """Return the first stated result that the known cards contradict: seat, what they decide, what was stated."""
    for seat, outcome in stated.items():
        proposal = settling.decided(c, seat, wager)
        if proposal is not None and proposal.outcome != outcome:
            return seat, proposal, outcome
    return None


def _refuse_contradiction(c: Context, seat: int, proposal: Proposal, stated: Outcome) -> None:
    """Refuse a stated result, with every clause by which the known cards decide otherwise."""
    text = f"{proposal.hand}; the {proposal.wager} {proposal.outcome}"
    reasons = (
        DenialReason(
            "cards_contradict", clause, text, "dealer", "dispute the settlement if the cards were entered wrong"
        )
        for clause in proposal.clauses
    )
    c.refuse(f"seat {seat}: {text} and not {stated} ({', '.join(proposal.clauses)})", *reasons)


def _surrender_collected(c: Context, prompt: Prompt, _answer: ev.Answer) -> None:
    assert prompt.seat is not None
    c.state.round.surrender_collected.append(prompt.seat)


def _surrender_counted(c: Context, prompt: Prompt, answer: ev.Answer) -> None:
    """A surrendered hand is counted face down before it is racked."""
    assert prompt.seat is not None
    c.state.round.settled.append(prompt.seat)
    if answer.number != c.edition.hand.cards:
        open_hold(c, "wrong_card_count", deck=c.state.round.deck, seat=prompt.seat)
    else:
        side_wagers.rack_hand(c, prompt.seat)


def _collected(c: Context, prompt: Prompt, answer: ev.Answer) -> None:
    """The cards are in the rack; a complete batch reaches its mark, or cards are missing (O11)."""
    deck = c.state.decks[prompt.deck or ""]
    decks.collect(c, deck)
    if answer.choice == "not_full":
        deck.verified = False
        decks.record_affected_rounds(c, deck)
        open_hold(c, "count_wrong", deck=deck.name)


ANSWERS: Final[dict[str, Callable[[Context, Prompt, ev.Answer], None]]] = {
    "hands_set": _hands_set,
    "decide": _decided,
    "folded": _folded,
    "reveal": _revealed,
    "additional_cards": _additional,
    "dealer_set": known_hands.on_dealer_hand_compared,
    "own_reveal": _hand_shown,
    "settled": _settled,
    "disputed": _dispute_ruled,
    "surrender_collected": _surrender_collected,
    "surrender_count": _surrender_counted,
    "collected": _collected,
}
