"""A read-only view of one table: edition, submission, state, and what follows from them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from devices.service import IN_SERVICE, SIGNED
from table_controller.ledger.meter import meter_rules
from table_controller.rulebook import Facts
from table_controller.rulebook.settlement.terms import SettlementTerms
from table_controller.rulebook.vocabulary import SHOE_DEALING
from table_controller.table import state_machines as mc
from table_controller.table.clause_index import clauses_of
from table_controller.table.state import GATE, HANDS, PLAIN_SHOE

if TYPE_CHECKING:
    from table_controller.ledger.meter import MeterRules
    from table_controller.rulebook import Edition, Submission
    from table_controller.rulebook.vocabulary import DeckFact, StubFinding
    from table_controller.table.state import Deck, Hold, TableState

SHOES: Final = SHOE_DEALING
# A manual shoe needs no electronics: with its device out of order and signed, cards are dealt from a plain shoe.
_MANUAL_SHOES: Final = ("manual_shoe", "dealing_shoe")
# The steps of a hold that concern the cards of a deck.
DECK_STEPS: Final = ("let_out", "shoe_emptied", "cards_together", "deck_counted", "deck_removed")
START_KINDS: Final = {"shaker": "shaker", "rng": "rng", "flat_button": "button"}
# The odds and the payout limit on the panel's sign page; among the signs with the page itself and the devices.
ODDS: Final = "/sign/odds"
_KIND_LABELS: Final = {
    "/sign": "sign page",
    ODDS: "odds on the sign page",
    "rng": "number generator",
    "shaker": "dice shaker",
    "button": "button sensor",
}


def slot_label(slot: str) -> str:
    """Return a slot's name for people: `shuffler.1` is Shuffler 1."""
    kind, _, number = slot.partition(".")
    return f"{_KIND_LABELS.get(kind, kind.replace('_', ' ')).capitalize()} {number}".rstrip()


class TableView:
    """What permits and rules need to know about a table."""

    def __init__(self, edition: Edition, submission: Submission, state: TableState) -> None:
        self.edition = edition
        self.submission = submission
        self.state = state
        self.deals_to_all_seats = edition.deal.to == "all_positions"
        self.shuffles_per_shoe = edition.shuffle_after == "shoe"  # one batch serves many rounds
        self.has_progressive = edition.progressive is not None and edition.progressive.wager in submission.wagers
        self._meter = meter_rules(edition, submission)
        self.terms = SettlementTerms(edition, submission)
        # The slots never change while a table is open.
        self._slot_of = {slot.kind: name for name, slot in reversed(state.slots.items())}

    @property
    def meter(self) -> MeterRules | None:
        """The rules of the meter in force: the paytable's, with the rate and limit that people set."""
        rules, money = self._meter, self.state.money
        if rules is None or (money.rate_bp is None and money.limit is None):
            return rules
        rate_bp = rules.rate_bp if money.rate_bp is None else money.rate_bp
        return replace(rules, rate_bp=rate_bp, limit=rules.limit if money.limit is None else money.limit)

    # --- which device does what --------------------------------------------------------------------------------------

    def slot_of(self, kind: str) -> str | None:
        """Return the slot of the only device of a kind."""
        return self._slot_of.get(kind)

    @property
    def shuffler(self) -> str | None:
        """The shuffler's slot."""
        return self.slot_of("shuffler")

    @property
    def shoe(self) -> str | None:
        """The slot of the shoe that cards are dealt from; None if the shoe is not a device or not in use."""
        dealing = self.state.dealing
        if dealing != self.submission.dealing or dealing not in SHOES:
            return None
        slot = self.slot_of("shoe")
        if dealing not in _MANUAL_SHOES:
            return slot
        # A round opened from a plain shoe is dealt from it, even if the device returns to service meanwhile.
        plain = self.is_round_under_way and self.deck is not None and self.deck.place == PLAIN_SHOE
        return None if plain or self.is_signed(slot) else slot

    @property
    def source(self) -> str | None:
        """The slot that cards are dealt from: a shoe, or the continuous shuffler, which serves as one (O7)."""
        return self.shuffler if self.state.dealing == "continuous_shuffler" else self.shoe

    @property
    def deals_from_shuffler(self) -> bool:
        """Whether cards are dealt from the machine that shuffles them."""
        source = self.source
        return source is not None and source == self.shuffler

    @property
    def sensors(self) -> list[str]:
        """The bet sensors' slots; the number in a name is the seat."""
        return [name for name, slot in self.state.slots.items() if slot.kind == "bet_sensor"]

    @property
    def start_slot(self) -> str | None:
        """The device that finds the starting position, if this game has one."""
        return None if self.state.start is None else self.slot_of(START_KINDS[self.state.start])

    def is_in_service(self, slot: str | None) -> bool:
        """Return whether a slot is in service."""
        return slot is not None and self.state.slots[slot].state == IN_SERVICE

    def is_signed(self, slot: str | None) -> bool:
        """Return whether a slot is out of order and covered or signed."""
        return slot is not None and self.state.slots[slot].state == SIGNED

    def has_pending_command(self, slot: str | None, *acts: str) -> bool:
        """Return whether a command to a slot (one of `acts`, if given) has not ended."""
        return bool(self.state.commands) and any(
            i.slot == slot and (not acts or i.act in acts) for i in self.state.commands.values()
        )

    # --- the meter and its signs -------------------------------------------------------------------------------------

    @property
    def is_meter_visible(self) -> bool:
        """Whether players can see the amount of the meter: every sign of the table shows it.

        The panel's page replaces a sign where the table has none, or only covered ones that are out of order. The box
        cannot know whether that page is open on a display at the table.
        """
        own = [
            name for name, slot in self.state.slots.items() if slot.kind == "meter_sign" and not self.is_signed(name)
        ]
        if own:
            return all(self.is_in_service(name) and self.state.signs.get(name) == "" for name in own)
        others = {sign: cause for sign, cause in self.state.signs.items() if sign not in (ODDS, *self.state.slots)}
        return any(not cause for cause in others.values())

    @property
    def are_odds_visible(self) -> bool:
        """Whether the panel's page shows odds and payout limit, where a sign replaces their inscription."""
        return self.state.signs.get(ODDS) == ""

    @property
    def rate_differs(self) -> bool:
        """Whether the rate in force differs from the Rules Submission's, where the regulation leaves the rate open."""
        rules, set_bp = self.edition.progressive, self.state.money.rate_bp
        open_ = self.has_progressive and rules is not None and rules.rate == "submission"
        return open_ and set_bp is not None and set_bp != self.submission.progressive_rate_bp

    # --- decks -------------------------------------------------------------------------------------------------------

    @property
    def deck(self) -> Deck | None:
        """The deck of the current round."""
        return self.state.decks.get(self.state.round.deck or "")

    def decks_at_table(self) -> list[Deck]:
        """Return the decks that are not removed."""
        return [deck for deck in self.state.decks.values() if deck.state != mc.REMOVED]

    def next_deck(self) -> Deck | None:
        """Return the deck of the next round: the one in place, or the next to be put there."""
        states = (mc.READY, mc.IN_PLAY, mc.SHUFFLED) if self.shuffles_per_shoe else (mc.READY, mc.SHUFFLED)
        coming = [deck for deck in self.state.decks.values() if deck.state in states]
        coming.sort(
            key=lambda deck: (
                not self.is_in_place(deck),
                not self.is_between_machines(deck),
                deck.name == self.state.last_deck,
            )
        )
        return coming[0] if coming else None

    def is_playable(self, deck: Deck) -> bool:
        """Return whether a deck is shuffled and cut, so that it may be dealt."""
        if deck.state == mc.READY:
            return True
        last = (
            self.is_round_under_way and deck.name == self.state.round.deck
        )  # a round that has begun is finished (O16)
        return self.shuffles_per_shoe and deck.state == mc.IN_PLAY and (last or not self.state.shoe_over)

    def is_in_place(self, deck: Deck) -> bool:
        """Return whether a deck is where the dealing method deals from."""
        return deck.place == (self.source or (PLAIN_SHOE if self.state.dealing in SHOES else HANDS))

    def is_inside_shuffler(self, deck: Deck) -> bool:
        """Return whether a deck is in the shuffler or behind its gate."""
        return self.shuffler is not None and deck.place.removesuffix(GATE) == self.shuffler

    def is_between_machines(self, deck: Deck) -> bool:
        """Return whether the shuffler is inserting a deck into the shoe, and the shoe has not confirmed it."""
        shoe = self.slot_of("shoe")
        return shoe is not None and self.state.slots[shoe].deck == deck.name and deck.place != shoe

    def change_hours(self, deck: Deck) -> int:
        """Return the change interval (h) of a deck; the shortest one if it was ever dealt by hand (X10)."""
        hours = self.edition.change_hours
        return min(hours.values()) if deck.by_hand else hours[self.state.dealing]

    def is_expired(self, deck: Deck) -> bool:
        """Return whether a deck's change interval has passed."""
        return self.change_hours(deck) in deck.passed

    def is_face_check_due(self, deck: Deck) -> bool:
        """Return whether the faces of a deck must be checked before its next shuffle."""
        every = self.submission.face_check_rounds
        return every is not None and len(deck.unseen) >= every

    def is_held(self, *, slot: str | None = None, deck: str | None = None) -> bool:
        """Return whether a hold concerns this slot or this deck."""
        return bool(self.state.holds) and any(
            (slot is not None and hold.slot == slot) or (deck is not None and self.concerns_deck(hold, deck))
            for hold in self.state.holds.values()
        )

    def concerns_deck(self, hold: Hold, deck: str) -> bool:
        """Return whether a hold concerns a deck: the one it names, or the round's if a step about its cards is open."""
        if hold.deck is not None or not hold.this_round:
            return hold.deck == deck
        return deck == self.state.round.deck and any(step in DECK_STEPS for step in hold.steps)

    # --- rules -------------------------------------------------------------------------------------------------------

    @property
    def is_round_under_way(self) -> bool:
        """Whether a round is under way: not idle, complete or void."""
        return self.state.round.state in mc.UNDER_WAY

    @property
    def are_cards_uncollected(self) -> bool:
        """Whether every wager is settled and the cards are not collected, so that a hand can still be checked.

        Never so where one shoe serves many rounds: its hands go to the rack one by one.
        """
        complete = self.state.round.state == mc.COMPLETE and not self.shuffles_per_shoe
        return complete and self.deck is not None and self.deck.state == mc.IN_PLAY

    @property
    def settles_void(self) -> bool:
        """Whether the round is void but its optional wagers are still settled (687a.13(d))."""
        return self.state.round.state == mc.VOID and any(
            hold.this_round and "settle_optional_wagers" in hold.outcomes for hold in self.state.holds.values()
        )

    @property
    def decisions_made(self) -> bool:
        """Whether every player of this round has decided: raised or folded, over or under."""
        round_ = self.state.round
        return round_.state in (mc.PLAYING, mc.SETTLING) and all(
            seat in round_.decided or seat in round_.dead for seat in round_.seats
        )

    @property
    def is_round_stopped(self) -> bool:
        """Whether a hold stops the current round."""
        return bool(self.state.holds) and any(hold.this_round for hold in self.state.holds.values())

    def facts(self, *, slot: str | None, deck: str | None, finding: StubFinding | None) -> Facts:
        """Return the facts that the rulebook's conditions use."""
        held = self.state.slots[slot].deck if slot else None
        named = deck or held or (None if slot else self.state.round.deck)
        in_hand = self.is_round_under_way or (slot is None and self.settles_void)
        which: DeckFact = "in_play" if in_hand and named == self.state.round.deck else "other"
        if (
            slot
            and self.is_round_under_way
            and named is None
            and self.state.slots[slot].kind not in ("shuffler", "shoe")
        ):
            which = "in_play"  # a device without cards serves the current round
        shuffled = self.state.decks.get(named or "") or self.deck
        return Facts(
            dealing=self.state.dealing,
            shuffler=shuffled.shuffled_by if shuffled else self.submission.shuffler_fact,
            start=self.state.start or "fixed",
            device=self.state.slots[slot].kind if slot else None,
            deck=which,
            finding=finding,
            decisions="made" if self.decisions_made else "open",
        )

    def clauses(self, duty: str) -> tuple[str, ...]:
        """Return the clauses of a duty in this edition for the dealing method in use."""
        return clauses_of(self.edition, duty, self.state.dealing, self.state.start)

    def clause(self, duty: str) -> str:
        """Return the clause that orders a duty; empty where the chapter has no such duty."""
        return next(iter(self.clauses(duty)), "")

    def citation(self, duty: str) -> str:
        """Return the clause of a duty in parentheses, to end a sentence; empty where the chapter has no such duty."""
        clause = self.clause(duty)
        return f" ({clause})" if clause else ""

    def is_lifted(self, clause: str) -> bool:
        """Return whether a device in use that is approved to reshuffle by itself lifts a clause (X12)."""
        if not self.submission.reshuffles or self.state.shuffling != "machine":
            return False
        return any(
            clause == one or clause.startswith((f"{one}/", f"{one}(")) for one in self.edition.approved_device.lifts
        )

    def is_stub_count_waived(self, deck: Deck | None) -> bool:
        """Return whether the stub of a deck need not be counted, because a shuffler counted the deck."""
        stub = self.edition.stub
        return stub is None or (
            stub.only_without_counting_shuffler and deck is not None and deck.shuffled_by == "counting"
        )
