"""For each actuation a table that permits it, and for each permit reason one change that forbids it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from msgspec import structs

from devices.service import CLEARED, FAULTED, IN_SERVICE, SIGNED, UNSIGNED, UNVERIFIED
from table_controller.ledger.hits import Hit
from table_controller.ledger.meter import Bet
from table_controller.ledger.money import DOLLAR
from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from table_controller.table.decisions import Command, DealtCards, Prompt, ReturnBegan
from table_controller.table.return_progress import ReturnProgress
from table_controller.table.state import GATE, RACK, TRAY, Deck, Hold, IssuedCommand, ShoeHand, SlotState
from table_controller.table.view import ODDS
from tests.support.core.ideal_table import DEALER, IdealTable
from tests.support.core.setups import BURNED, HIT, NEW_DEALER, NEW_SHOE, table_at

if TYPE_CHECKING:
    from collections.abc import Callable

    from table_controller.table.decisions import Decision, DenialReason

ASIA: Final = "asia_poker"
SAIGON: Final = "saigon_5_card"
OVER: Final = "over_under"
PAI_GOW: Final = "face_up_pai_gow"
WILD: Final = "dj_wild"
SHOE: Final = "shoe.1"
SHUFFLER: Final = "shuffler.1"
SHAKER: Final = "shaker.1"


class RequestedAct(NamedTuple):
    """An actuation at a table: what, and of which device, deck, seat and how many cards."""

    floor: IdealTable
    act: str
    slot: str | None = None
    deck: str | None = None
    seat: int | None = None
    cards: int = 0

    def reasons(self) -> tuple[DenialReason, ...]:
        """Every reason against the actuation."""
        act: Any = self.act
        return self.floor.table.permit(act, self.slot, self.deck, seat=self.seat, cards=self.cards)

    def keys(self) -> set[str]:
        """The keys of the reasons against the actuation."""
        return {reason.key for reason in self.reasons()}


def _ended(floor: IdealTable) -> IdealTable:
    """Every command was carried out, and no device has reported anything else."""
    floor.state.commands.clear()
    return floor


def _until(floor: IdealTable, *events: ev.Event, act: str) -> IdealTable:
    """Play on until a device gets a command that it has not begun."""
    is_commanded: Callable[[Decision], bool] = lambda one: isinstance(one, Command) and one.act == act  # noqa: E731
    floor.play(*events, until=is_commanded)
    return _ended(floor)


def _inserted(game: str = PAI_GOW, kind: str = "auto") -> IdealTable:
    """After a round the deck was put into the shuffler."""
    floor = table_at(game, kind, "complete")
    return _until(floor, *(event for prompt in floor.prompts() for event in floor.answer(prompt)), act="shuffle")


def _shuffled() -> IdealTable:
    return _until(_inserted(), ev.ShuffleEnded(SHUFFLER, 53, shuffled=True), act="eject")


def _insertable() -> IdealTable:
    """After a round the deck is shuffled, and the shuffler has not begun to insert it into the shoe."""
    return _until(_inserted(PAI_GOW, "insert"), ev.ShuffleEnded(SHUFFLER, 53, shuffled=True), act="insert")


def _stored(floor: IdealTable) -> IdealTable:
    """The next deck is shuffled and behind the gate of the shuffler, and the shoe is empty."""
    for name, place in (("red", TRAY), ("blue", SHUFFLER + GATE)):
        if name in floor.state.decks:
            floor.deck(name).place = place
            floor.state.book.move_all(name, place if place == TRAY else f"{SHUFFLER}/store")
    floor.state.slots[SHUFFLER].deck, floor.state.slots[SHOE].deck = "blue", None
    return floor


def _taken_out(floor: IdealTable) -> IdealTable:
    """The next deck is in front of the dealer, who has not put it into the shoe yet."""
    deck = floor.deck()
    deck.place, floor.state.slots[SHOE].deck = TRAY, None
    floor.state.book.move_all("blue", TRAY)
    return floor


def _named() -> IdealTable:
    """The deck in the shuffler is wrong and has to come out."""
    floor = table_at(PAI_GOW, "two", "idle")
    floor.step(ev.IrregularityReported("count_wrong", DEALER, deck="red"))
    return _ended(floor)


def _latched() -> IdealTable:
    """Seat 1 has a progressive bet, and every sensor has confirmed; no light was ordered yet."""
    floor = table_at(PAI_GOW, "auto", "betting")
    floor.bets = {1}
    floor.step(ev.BetSensed(1, 1, placed=True))
    for one in floor.step(ev.NoMoreBets(DEALER)):
        for event in floor.answer(one) if isinstance(one, Command) else ():
            floor.step(event)
    return _ended(floor)


def _signed(floor: IdealTable, slot: str) -> IdealTable:
    floor.state.slots[slot].state = SIGNED
    return floor


def _cleared(floor: IdealTable, slot: str) -> IdealTable:
    floor.state.slots[slot].state = CLEARED
    return floor


def _closed(floor: IdealTable) -> IdealTable:
    """Two people closed the meter to play."""
    floor.state.money.closed = mc.BY_PEOPLE
    return floor


def _void_but_settled(floor: IdealTable) -> IdealTable:
    """The round is void and not cleared yet; its optional wagers are settled all the same (X13)."""
    floor.state.round.state, floor.state.money.settles = mc.VOID, True
    floor.state.holds[903] = Hold(903, "other", ("rule 2",), ["acknowledge"], deck="blue", this_round=True)
    return floor


# One table for each actuation, which permits it.
GRANTED: Final[dict[str, Callable[[], RequestedAct]]] = {
    "shuffle": lambda: RequestedAct(_inserted(), "shuffle", SHUFFLER, "blue"),
    "shuffle seen": lambda: RequestedAct(_inserted(SAIGON, "faces"), "shuffle", SHUFFLER, "blue"),
    "eject": lambda: RequestedAct(_shuffled(), "eject", SHUFFLER, "blue"),
    "insert": lambda: RequestedAct(_insertable(), "insert", SHUFFLER, "blue"),
    "insert stored": lambda: RequestedAct(_stored(table_at(PAI_GOW, "insert", "idle")), "insert", SHUFFLER, "blue"),
    "insert a batch": lambda: RequestedAct(_stored(table_at(OVER, "insert", "idle")), "insert", SHUFFLER, "blue"),
    "insert uncounted": lambda: RequestedAct(
        _stored(table_at(SAIGON, "insert_blind", "idle")), "insert", SHUFFLER, "blue"
    ),
    "load": lambda: RequestedAct(_taken_out(table_at(PAI_GOW, "auto", "idle")), "load", SHOE, "blue"),
    "load a batch": lambda: RequestedAct(_taken_out(table_at(OVER, "shoe", "idle")), "load", SHOE, "blue"),
    "load uncounted": lambda: RequestedAct(_taken_out(table_at(SAIGON, "auto_blind", "idle")), "load", SHOE, "blue"),
    "take back": lambda: RequestedAct(_round_over("continuous"), "load", SHUFFLER, "blue"),
    "dispense": lambda: RequestedAct(_ended(table_at(PAI_GOW, "auto", "dealing")), "dispense", SHOE, "blue", cards=7),
    "dispense from store": lambda: RequestedAct(
        _ended(table_at(OVER, "continuous", BURNED)), "dispense", SHUFFLER, "blue", cards=3
    ),
    "dispense to burn": lambda: RequestedAct(
        _ended(table_at(OVER, "continuous", NEW_SHOE)), "dispense", SHUFFLER, "blue", cards=1
    ),
    "dispense for a dealer": lambda: RequestedAct(
        _ended(table_at(OVER, "continuous", NEW_DEALER)), "dispense", SHUFFLER, "blue", cards=1
    ),
    "start_round": lambda: RequestedAct(_ended(table_at(PAI_GOW, "manual", "dealing")), "start_round", SHOE, "blue"),
    "start a batch": lambda: RequestedAct(_ended(table_at(OVER, "shoe", "dealing")), "start_round", SHOE, "blue"),
    "give_stub": lambda: RequestedAct(_ended(table_at(PAI_GOW, "auto", "stub_check")), "give_stub", SHOE, "blue"),
    "arm_dice": lambda: RequestedAct(
        _ended(table_at(PAI_GOW, "auto", "starting_position")), "arm_dice", SHAKER, "blue"
    ),
    "draw": lambda: RequestedAct(_ended(table_at(PAI_GOW, "rng", "starting_position")), "draw", "rng.1", "blue"),
    "open_bets": lambda: RequestedAct(table_at(PAI_GOW, "auto", "idle"), "open_bets", deck="blue"),
    "open by hand": lambda: RequestedAct(table_at(PAI_GOW, "hand", "idle"), "open_bets", deck="blue"),
    "open with button": lambda: RequestedAct(table_at(ASIA, "button", "idle"), "open_bets", deck="blue"),
    "open a batch": lambda: RequestedAct(table_at(OVER, "shoe", "idle"), "open_bets", deck="blue"),
    "open uncounted": lambda: RequestedAct(table_at(SAIGON, "auto_blind", "idle"), "open_bets", deck="blue"),
    "open seen": lambda: RequestedAct(table_at(SAIGON, "faces", "idle"), "open_bets", deck="blue"),
    "open of two": lambda: RequestedAct(table_at(PAI_GOW, "two", "idle"), "open_bets", deck="blue"),
    "clear_out": lambda: RequestedAct(_named(), "clear_out", SHUFFLER, "red"),
    "light": lambda: RequestedAct(_latched(), "light", "bet_sensor.1", seat=1),
    "release_cards": lambda: RequestedAct(_dealt_by_shoe(PAI_GOW, "auto", 6), "release_cards", SHOE, seat=6),
    "release of the dealer": lambda: RequestedAct(
        _dealt_by_shoe(PAI_GOW, "auto", 0, "playing"), "release_cards", SHOE, seat=0
    ),
    "release of three": lambda: RequestedAct(_dealt_by_shoe(OVER, "shoe", 1), "release_cards", SHOE, seat=1),
    "release of a raise": lambda: RequestedAct(_dealt_by_shoe(WILD, "wild", 6), "release_cards", SHOE, seat=6),
    "unlock": lambda: RequestedAct(table_at(PAI_GOW, "auto", "idle"), "unlock", "bet_sensor.1"),
    "pay": lambda: RequestedAct(table_at(PAI_GOW, "auto", HIT), "pay", seat=1),
    "pay all the same": lambda: RequestedAct(_void_but_settled(table_at(PAI_GOW, "auto", HIT)), "pay", seat=1),
    "return_to_service": lambda: RequestedAct(
        _cleared(table_at(PAI_GOW, "auto", "idle"), SHAKER), "return_to_service", SHAKER
    ),
    "test": lambda: RequestedAct(table_at(PAI_GOW, "auto", "idle"), "test", SHAKER),
    "method": lambda: RequestedAct(_signed(table_at(PAI_GOW, "auto", "idle"), SHOE), "method", SHOE),
    "use": lambda: RequestedAct(table_at(PAI_GOW, "auto", "idle"), "use", SHOE),
    "collect": lambda: RequestedAct(table_at(PAI_GOW, "auto", "complete"), "collect", deck="blue"),
    "correct_meter": lambda: RequestedAct(table_at(PAI_GOW, "auto", "idle"), "correct_meter"),
    "reset_meter": lambda: RequestedAct(table_at(PAI_GOW, "auto", "idle"), "reset_meter"),
    "change_meter": lambda: RequestedAct(_closed(table_at(PAI_GOW, "auto", "idle")), "change_meter"),
    "close_meter": lambda: RequestedAct(table_at(PAI_GOW, "auto", "idle"), "close_meter"),
    "open_meter": lambda: RequestedAct(_closed(table_at(PAI_GOW, "auto", "idle")), "open_meter"),
    "transfer_overflow": lambda: RequestedAct(table_at(PAI_GOW, "auto", "idle"), "transfer_overflow"),
    "open with posted odds": lambda: RequestedAct(_posted(), "open_bets", deck="blue"),
    "open for a submitted rate": lambda: RequestedAct(table_at(WILD, "wild", "idle"), "open_bets", deck="blue"),
}  # fmt: skip


def _dealt_by_shoe(game: str, kind: str, seat: int, phase: str = "settling") -> IdealTable:
    """A shoe that identifies cards dealt the hand of a place, and it is that hand's turn to be shown."""
    floor = _ended(table_at(game, kind, phase))
    floor.state.slots[SHOE].identifies = True
    round_ = floor.state.round
    round_.dealt_hands[seat] = ShoeHand(DealtCards(1))
    round_.shown = round_.second = [seat]
    if game == WILD:
        round_.decided[seat] = "raise"
    return floor


def _of_hand(**values: Any) -> Callable[[RequestedAct], None]:
    """The hand that a shoe dealt is in another state."""

    def tweak(asked: RequestedAct) -> None:
        for name, value in values.items():
            setattr(asked.floor.state.round.dealt_hands[asked.seat or 0], name, value)

    return tweak


def _unidentified(asked: RequestedAct) -> None:
    _slot(asked).identifies = False


def _posted() -> IdealTable:
    """The sign page replaces the inscription of the odds and of the payout limit."""
    limit: dict[str, Any] = {"payout_limit_cents": 5_000_000, "least_wagers_cents": {"asia_poker": 500}}
    return IdealTable(ASIA, posted_on_sign=["odds", "payout_limit"], two_decks=False, **limit).start("blue")


def _limit_alone(asked: RequestedAct) -> None:
    """Only the payout limit is on the sign, and no sign shows it."""
    submission = asked.floor.table.context.submission
    asked.floor.table.context.submission = structs.replace(submission, posted_on_sign=("payout_limit",))
    asked.floor.state.signs[ODDS] = "stale"


def _odds_alone(asked: RequestedAct) -> None:
    """Only the odds are on the sign, and no sign shows them."""
    submission = asked.floor.table.context.submission
    asked.floor.table.context.submission = structs.replace(submission, posted_on_sign=("odds",))
    asked.floor.state.signs[ODDS] = "stale"


def _round_over(kind: str) -> IdealTable:
    """A round was played from a continuous shuffler, and its discards are in the rack."""
    floor = table_at(OVER, kind, "settling")
    floor.loads_shuffler = False
    floor.settle()
    return _ended(floor)


# --- the reasons against it -------------------------------------------------------------------------------------------


def _slot(asked: RequestedAct) -> SlotState:
    return asked.floor.state.slots[asked.slot or SHOE]


def _of(name: str) -> Callable[[RequestedAct], None]:
    """A device is not in service: what it last did is in doubt."""

    def tweak(asked: RequestedAct) -> None:
        asked.floor.state.slots[name].state = UNVERIFIED

    return tweak


def _set(**values: Any) -> Callable[[RequestedAct], None]:
    """The table's state is another."""

    def tweak(asked: RequestedAct) -> None:
        for name, value in values.items():
            setattr(asked.floor.state, name, value)

    return tweak


def _money(**values: Any) -> Callable[[RequestedAct], None]:
    """What is kept of the meter is another."""

    def tweak(asked: RequestedAct) -> None:
        for name, value in values.items():
            setattr(asked.floor.state.money, name, value)

    return tweak


def _sign(cause: str) -> Callable[[RequestedAct], None]:
    """No sign shows the meter."""

    def tweak(asked: RequestedAct) -> None:
        asked.floor.state.signs = dict.fromkeys(asked.floor.state.signs, cause)

    return tweak


def _round(**values: Any) -> Callable[[RequestedAct], None]:
    def tweak(asked: RequestedAct) -> None:
        for name, value in values.items():
            setattr(asked.floor.state.round, name, value)

    return tweak


def _deck(**values: Any) -> Callable[[RequestedAct], None]:
    def tweak(asked: RequestedAct) -> None:
        for name, value in values.items():
            setattr(asked.floor.state.decks[asked.deck or "blue"], name, value)

    return tweak


def _service(state: str) -> Callable[[RequestedAct], None]:
    def tweak(asked: RequestedAct) -> None:
        _slot(asked).state = state

    return tweak


def _during_return_to_service(asked: RequestedAct) -> None:
    _slot(asked).return_procedure = ReturnProgress(
        ReturnBegan(4, asked.slot or SHOE, "F1", service=False, expected=53, has_door=True)
    )


def _busy(asked: RequestedAct) -> None:
    asked.floor.state.commands[900] = IssuedCommand(asked.slot or SHOE, "stop")


def _unsigned(asked: RequestedAct) -> None:
    asked.floor.state.slots["keypad.1"] = SlotState("keypad", UNSIGNED)


def _irregular(asked: RequestedAct) -> None:
    """Something is not cleared, of this device and deck, and of the round in hand."""
    hold = Hold(901, "other", ("rule 2",), ["acknowledge"], slot=asked.slot, deck=asked.deck, this_round=True)
    asked.floor.state.holds[901] = hold


def _second(asked: RequestedAct, state: str = mc.READY, place: str = TRAY) -> None:
    asked.floor.state.decks["red"] = Deck("red", state, place, verified=True)


def _used_last(asked: RequestedAct) -> None:
    """The other deck waits in the shuffler, as it should."""
    _second(asked, mc.SHUFFLED, SHUFFLER)
    asked.floor.state.last_deck = "blue"
    asked.floor.deck().place, asked.floor.state.slots[SHOE].deck = TRAY, None


def _outside(asked: RequestedAct) -> None:
    asked.floor.deck("red").place = TRAY


def _two_by_hand(asked: RequestedAct) -> None:
    _second(asked)
    asked.floor.state.shuffling = "hand"


def _alone(asked: RequestedAct) -> None:
    asked.floor.state.decks["red"].state = mc.REMOVED


def _in_rack(asked: RequestedAct) -> None:
    _second(asked, mc.RACK, RACK)


def _occupied(asked: RequestedAct) -> None:
    asked.floor.state.slots[SHOE].deck = "red"


def _not_submitted(asked: RequestedAct) -> None:
    """The Rules Submission has no shuffler that inserts its stack."""
    submission = asked.floor.table.context.submission
    asked.floor.table.context.submission = structs.replace(submission, inserts_into_shoe=False)


def _shoe_commanded(asked: RequestedAct) -> None:
    asked.floor.state.commands[900] = IssuedCommand(SHOE, "stop")


def _deck_inside(asked: RequestedAct) -> None:
    _slot(asked).deck = "blue"


def _asking(asked: RequestedAct) -> None:
    asked.floor.state.prompts[902] = Prompt(902, "late_chip", "dealer", ("returned",), seat=1)


def _other_round(asked: RequestedAct) -> None:
    """The round in hand is dealt from the other deck."""
    _second(asked, mc.IN_PLAY, SHOE)
    asked.floor.state.round.deck = "red"
    if not asked.floor.table.context.is_round_under_way:
        asked.floor.state.round.state = mc.PLAYING


def _unnamed(asked: RequestedAct) -> None:
    asked.floor.state.holds.clear()


def _unlatched(asked: RequestedAct) -> None:
    asked.floor.state.progressive.seats[1].bet = False


def _unbooked(asked: RequestedAct) -> None:
    del asked.floor.state.money.bets[1]


def _unclaimed(asked: RequestedAct) -> None:
    asked.floor.state.money.hits.clear()


def _hit(asked: RequestedAct) -> Hit:
    """The hit of seat 1, at the table or put there."""
    hits = asked.floor.state.money.hits
    return next(iter(hits.values()), None) or hits.setdefault(904, Hit(904, 1, 1, "royal_flush", 500 * DOLLAR, 0, 0))


def put_hit_in(state: str) -> Callable[[RequestedAct], None]:
    """Put a hit of seat 1 into this state."""

    def tweak(asked: RequestedAct) -> None:
        _hit(asked).state = state

    return tweak


def _claimed_before(asked: RequestedAct) -> None:
    """The hit wins a part of the meter, and so does an earlier claim that nobody has validated."""
    _hit(asked).share = DOLLAR
    asked.floor.state.money.hits[1] = Hit(1, 1, 6, "five_aces", 0, DOLLAR, 0, percent=10)


def _share_of_meter(asked: RequestedAct) -> None:
    """The hit wins a part of the meter, and not a fixed award alone."""
    _hit(asked).share = DOLLAR


def _unsettled(asked: RequestedAct) -> None:
    """Nobody has decided what the progressive bet of seat 1 became."""
    asked.floor.state.money.bets[1] = Bet(1, DOLLAR, DOLLAR, 0)


def _bets_locked(asked: RequestedAct) -> None:
    asked.floor.state.progressive.state = mc.BETS_LOCKED


OBJECTIONS: Final[dict[str, Callable[[RequestedAct], None]]] = {
    "slot_not_in_service": _service(UNVERIFIED),
    "device_busy": _busy,
    "dead_device_unsigned": _unsigned,
    "device_not_signed": _service(IN_SERVICE),
    "device_not_back": _service(SIGNED),
    "shuffler_missing": _of(SHUFFLER),
    "shoe_missing": _of(SHOE),
    "start_device_missing": _of(SHAKER),
    "sensor_missing": _of("bet_sensor.6"),
    "hand_without_shuffler": _set(shuffling="hand"),
    "button_barred": _set(shuffling="hand"),
    "not_cleared": _service(FAULTED),
    "steps_open": _during_return_to_service,
    "holds_cards": _deck_inside,
    "irregularity": _irregular,
    "any_irregularity": _irregular,
    "not_stacked": _deck(state=mc.STACKED),
    "deck_not_shuffled": _deck(state=mc.IN_DEVICE),
    "stored_deck": _other_round,
    "deck_not_ready": _deck(state=mc.SHUFFLED),
    "deck_not_named": _unnamed,
    "deck_not_in_play": _other_round,
    "deck_unverified": _deck(verified=False),
    "deck_expired": _deck(passed=[4, 8, 24]),
    "faces_due": _deck(unseen=[1, 2, 3]),
    "deck_used_last": _used_last,
    "other_deck_outside": _outside,
    "two_decks_barred": _two_by_hand,
    "second_batch_missing": _alone,
    "look_due": _deck(look_due=True),
    "shoe_occupied": _occupied,
    "insertion_barred": _not_submitted,
    "no_shoe_to_fill": _of(SHOE),
    "shoe_busy": _shoe_commanded,
    "not_in_place": _deck(place=TRAY),
    "rack_taken": _in_rack,
    "shoe_over": _set(shoe_over=True),
    "burn_due": _set(burn_shoe=1),
    "dealer_burn_due": _set(burn_dealer=1),
    "count_due": _set(uncounted=5),
    "round_open": _round(state=mc.COMPLETE),
    "prompt_open": _asking,
    "bets_not_verified": _bets_locked,
    "seats_not_entered": _round(seats_entered=False),
    "dice_not_fresh": _set(dice="expired"),
    "shaker_unattended": _set(shaker_for="D2"),
    "not_starting": _round(state=mc.LOCKED),
    "start_unknown": _round(start=None),
    "not_dealing": _round(state=mc.PLAYING),
    "stack_not_taken": _round(in_slot=1),
    "wrong_stack": _round(to_deal=[]),
    "deal_not_over": _round(state=mc.DEALING),
    "not_identifying": _unidentified,
    "no_dealt_hand": _round(dealt_hands={}),
    "release_ended": _of_hand(ended=True),
    "hand_not_in_play": _round(dead=[6, 1]),
    "hand_surrendered": _round(surrendered=[6]),
    "hand_incomplete": _round(second=[]),
    "cards_face_down": _round(state=mc.STUB_CHECK),
    "not_its_turn": _round(late=[6, 1]),
    "own_reveal_due": _round(shown=[]),
    "hand_folded": _round(decided={6: "fold"}),
    "hand_settled": _round(hands_racked=[6, 1]),
    "not_latched": _unlatched,
    "not_booked": _unbooked,
    "bets_latched": _round(state=mc.BETTING),
    "not_settling": _round(state=mc.PLAYING),
    "pay_irregular": _irregular,
    "not_claimed": _unclaimed,
    "hand_not_confirmed": put_hit_in(mc.HIT_CLAIMED),
    "light_not_seen": put_hit_in(mc.HIT_CONFIRMED),
    "not_validated": put_hit_in(mc.HIT_LIGHT_SEEN),
    "amount_provisional": _claimed_before,
    "not_from_table": _share_of_meter,
    "hand_pay_open": put_hit_in(mc.HIT_HAND_PAY),
    "bets_not_settled": _unsettled,
    "copy_not_reached": _set(copy_awaited=True),
    "meter_in_play": _round(state=mc.COMPLETE),
    "odds_not_posted": _odds_alone,
    "limit_not_posted": _limit_alone,
    "meter_not_seen": _sign("stale"),
    "meter_closed": _money(closed=mc.UNREASONABLE),
    "rate_differs": _money(rate_bp=1_499),
    "meter_not_closed": _money(closed=""),
}
