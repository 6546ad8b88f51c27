"""Builds the picture of a table from the state of its core. No I/O, no clock: the same state gives the same picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from table_controller.controller.kinds import CONTROLLER_KINDS
from table_controller.controller.kinds.controller_kind import COMMON_PERMITS
from table_controller.controller.shown_money import is_public
from table_controller.picture import types as p
from table_controller.rulebook.cards import format_cards
from table_controller.table import known_hands, optional_wagers, return_to_service, shuffling
from table_controller.table import state_machines as mc
from table_controller.table.betting import seat_of
from table_controller.table.dealing import places_dealt
from table_controller.table.decisions import Prompt
from table_controller.table.return_progress import ReturnProgress, TestMode
from table_controller.table.state import Hold, IssuedCommand, Progressive, Round, SlotState

if TYPE_CHECKING:
    from collections.abc import Mapping

    from table_controller.controller.shown_money import ShownMoney
    from table_controller.journal.finding_log import LoggedFinding
    from table_controller.journal.hit_log import LoggedHit
    from table_controller.table.core import Table

_BEFORE_THE_DEAL: Final = (mc.IDLE, mc.BETTING, mc.NO_MORE_BETS, mc.LOCKED, mc.STARTING_POSITION)


class _Copied(msgspec.Struct):
    """The parts of the state that a picture keeps."""

    dealing: str
    shuffling: str
    start: str | None
    slots: dict[str, SlotState]
    decks: dict[str, p.DeckPicture]
    round: Round
    progressive: Progressive
    prompts: dict[int, Prompt]
    holds: dict[int, Hold]
    commands: dict[int, IssuedCommand]
    dice: str
    button: int
    signs: dict[str, str]


_COPY: Final = msgspec.msgpack.Decoder(_Copied)


def picture_of_table(
    table: Table,
    seq: int,
    money: ShownMoney | None,
    *,
    on_disk: bool = True,
    escalated: Mapping[int, int] | None = None,
    last_hits: Mapping[str, list[LoggedHit]] | None = None,
    findings: list[LoggedFinding] | None = None,
) -> p.TablePicture:
    """Return the picture of a table now. `seq` and `money` belong to its last step on disk."""
    state = _COPY.decode(table.snapshot())  # a copy: later steps change the state of the core
    for deck in state.decks.values():
        deck.hours = table.context.change_hours(deck)
        deck.expired = table.context.is_expired(deck)
    times = escalated or {}
    return p.TablePicture(
        seq=seq,
        on_disk=on_disk,
        rules=_rules(table),
        round=state.round,
        under_way=table.context.is_round_under_way,
        decks=state.decks,
        progressive=state.progressive,
        places=[_place(table, place) for place in range(table.context.submission.seats + 1)],
        prompts=list(state.prompts.values()),
        holds=[p.HoldPicture(hold, times.get(hold.id, 0)) for hold in state.holds.values()],
        permits=_permits(table),
        slots={name: _slot(table, name) for name in state.slots},
        work=[p.WorkPicture(issued.slot, issued.act) for issued in state.commands.values()],
        task=_task(table),
        meters=_meters(money, state.signs),
        dealing=state.dealing,
        shuffling=state.shuffling,
        start=state.start,
        commands=len(state.commands),
        dice=state.dice,
        button=state.button,
        last_hits=dict(last_hits or {}),
        findings=findings or [],
        optional=optional_wagers.seats_by_wager(table.context),
    )


def _rules(table: Table) -> p.RulesPicture:
    c = table.context
    meter = c.meter
    return p.RulesPicture(
        game=c.edition.game,
        title=c.edition.title,
        chapter=c.edition.chapter,
        seats=c.submission.seats,
        most_decks=2 if c.submission.two_decks else 1,
        two_jokers=any(step.when == "two_joker_pack" for step in c.edition.opening),
        one_shuffle_per_shoe=c.shuffles_per_shoe,
        cards=c.edition.cards.count,
        first_deal=c.edition.hand.first_deal,
        dice_hours=None if c.edition.dice is None else c.edition.dice.max_hours,
        hands={} if meter is None else {award.hand: award.label for award in meter.awards},
        hand_cards=c.edition.hand.cards,
        split=tuple(c.edition.hand.split),
        joker=c.edition.cards.jokers > 0,
        wagers={wager.name: wager.title for wager in c.edition.wagers if wager.name in c.submission.paytables},
    )


def _permits(table: Table) -> list[p.PermitPicture]:
    """Return the permits of every possible next actuation: of the round, then of each slot."""
    coming = table.context.next_deck()
    deck = None if coming is None else coming.name
    permits = [p.PermitPicture("open_bets", table.permit("open_bets", deck=deck), deck=deck)]
    for name, slot in table.state.slots.items():
        held = table.deck_at(name)
        kind = CONTROLLER_KINDS[slot.kind]
        seat = seat_of(name) if kind.is_at_seats else None
        permits += [
            p.PermitPicture(act, table.permit(act, name, held, seat=seat), name, held)
            for act in (*kind.permits, *COMMON_PERMITS)
            if act != "insert" or table.context.submission.inserts_into_shoe  # else no deck ever goes that way
        ]
    return permits


def _slot(table: Table, name: str) -> p.SlotPicture:
    slot = table.state.slots[name]
    procedure = slot.return_procedure
    following = "" if procedure is None else procedure.next_text
    returning = procedure if isinstance(procedure, ReturnProgress) else None
    return p.SlotPicture(slot.kind, slot.state, slot.deck, slot.tested_report, following, returning, _test(table, name))


def _test(table: Table, name: str) -> p.TestPicture | None:
    if isinstance(table.state.slots[name].return_procedure, TestMode):
        return p.TestPicture("leave")
    if not return_to_service.can_be_tested(table.context, name):
        return None
    return p.TestPicture("begin", return_to_service.reasons_against_test(table.context, name))


# --- places -----------------------------------------------------------------------------------------------------------


def _place(table: Table, place: int) -> p.PlacePicture:
    round_ = table.state.round
    hand, may_enter = round_.hands.get(place), known_hands.may_enter(table.context, place)
    known = "" if hand is None else format_cards(hand.cards)
    if place == 0:
        return p.PlacePicture(0, _cards(table, 0), hand=known, may_enter=may_enter)
    setting = () if hand is None or hand.setting is None else hand.setting
    return p.PlacePicture(
        place, _cards(table, place), _wager(round_, place), _bet(table, place), round_.decided.get(place, ""),
        known, " | ".join(format_cards(cards) for cards in setting), may_enter,
    )  # fmt: skip


def _wager(round_: Round, seat: int) -> str:
    if round_.state == mc.IDLE or seat not in round_.seats:
        return "none"
    return "dead" if seat in round_.dead else "settled" if seat in round_.settled else "wager"


def _bet(table: Table, seat: int) -> str:
    bets = table.state.progressive.seats.get(seat)
    if bets is None or not table.context.has_progressive:
        return "none"
    if bets.latched:
        return {True: "lit" if bets.lit else "accepted", False: "none", None: "undecided"}[bets.bet]
    if table.state.progressive.overdue or bets.refused:
        return "undecided"
    return "sensed" if bets.placed else "open"


def _cards(table: Table, place: int) -> str:
    round_ = table.state.round
    if round_.state in _BEFORE_THE_DEAL or not (round_.dealt or round_.in_slot is not None or round_.to_deal):
        return "none"
    if place == round_.in_slot:
        return "slot"
    if place in round_.to_deal:
        return "waits"
    return "dealt" if place in places_dealt(table.context) and round_.state != mc.VOID else "none"


# --- work without a prompt --------------------------------------------------------------------------------------------


def _task(table: Table) -> p.TaskPicture | None:
    state, c = table.state, table.context
    if state.round.in_slot is not None:
        return p.TaskPicture("deal_stack", place=state.round.in_slot)
    if any(issued.act == "arm_dice" for issued in state.commands.values()) or _is_roll_awaited(table):
        return p.TaskPicture("shake_dice")
    shuffler = c.shuffler
    free = shuffler is not None and c.is_in_service(shuffler) and state.slots[shuffler].deck is None
    if free and not state.holds and state.shuffling == "machine":
        for deck in c.decks_at_table():
            if shuffling.is_waiting(c, deck):
                return p.TaskPicture("load_shuffler", deck=deck.name)
    return None


def _is_roll_awaited(table: Table) -> bool:
    round_ = table.state.round
    waits = round_.state == mc.STARTING_POSITION and round_.asked_start and round_.total is None
    return waits and table.state.start == "shaker" and not table.context.is_round_stopped


# --- money ------------------------------------------------------------------------------------------------------------


def _meters(money: ShownMoney | None, signs: dict[str, str]) -> p.MeterPicture | None:
    if money is None:
        return None
    rules = money.rules
    hits = tuple([
        p.HitPicture(hit.seat, hit.hand, hit.amount, hit.state, money.is_final(hit), is_public(hit.state))
        for hit in money.hits
    ])  # fmt: skip
    public = money.public
    return p.MeterPicture(
        **msgspec.structs.asdict(money.meters), closed=money.closed, seed=rules.seed, signs=signs,
        entry=money.entries, rate_bp=rules.rate_bp, limit=rules.limit, hits=hits, next_slip=money.next_slip,
        public_current=public.current, public_reserve=public.reserve, public_pending=public.pending,
    )  # fmt: skip
