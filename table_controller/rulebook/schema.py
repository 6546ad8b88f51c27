"""The facts of an edition: cards, seats, deal, wagers, limits. Irregularities are in `irregularity_rows`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec

from table_controller.rulebook.irregularity_rows import IrregularityRow
from table_controller.rulebook.vocabulary import DealingName, Trigger


class EditionPart(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Base of the parts of an edition; unknown fields are errors."""


class CardsRule(EditionPart, frozen=True, kw_only=True):
    """The deck or batch in play."""

    decks: int
    per_deck: int  # cards, jokers included
    jokers: int  # per deck, in play
    count: int  # cards of the whole deck or batch; cover cards are not counted
    cover_cards_least: int
    cover_cards_most: int | None = None  # None: the regulation gives no limit
    two_joker_pack: Literal["torn_and_boxed", "one_joker_only", "not_stated", "none"]
    clause: str
    see: tuple[str, ...] = ()


class SecondSet(EditionPart, frozen=True, kw_only=True):
    """A second deck or batch, prepared in the shuffler while the first is in play."""

    allowed_with: Literal["automated_shuffler", "batch_shuffler"]
    required: bool  # with that shuffler
    alternate: Literal["round", "shoe"]
    clause: str
    see: tuple[str, ...] = ()


class Seats(EditionPart, frozen=True, kw_only=True):
    """Betting positions."""

    least: int
    most: int
    clause: str
    see: tuple[str, ...] = ()


class HandRule(EditionPart, frozen=True, kw_only=True):
    """The cards of one hand."""

    cards: int
    first_deal: int
    second_deal: int  # cards dealt after the players have decided
    dealer_hand: bool
    player_face_up: bool
    dealer_face_up: bool
    split: tuple[int, ...]  # sizes of the hands that are set, highest first; empty: the hand is not split


class DealingMethod(EditionPart, frozen=True, kw_only=True):
    """One dealing method."""

    name: DealingName
    unit: Literal["card", "stack"]
    stack: int  # cards in one unit
    needs_automated_shuffler: bool = False
    shuffler_clause: str | None = None  # the clause that requires the shuffler
    clause: str
    see: tuple[str, ...] = ()


class DealRule(EditionPart, frozen=True, kw_only=True):
    """Who gets cards, in which order, by which methods."""

    to: Literal["all_positions", "wagered_seats"]
    begins: Literal["starting_position", "far_left"]
    direction: Literal["clockwise"]
    dealer_turn: Literal["in_rotation", "last", "none"]
    methods: tuple[DealingMethod, ...]
    replacement_card: Mapping[DealingName, Literal["never", "offered", "bet"]]  # one card face down after the deal
    clause: str
    see: tuple[str, ...] = ()


class StubRule(EditionPart, frozen=True, kw_only=True):
    """How many cards must be left after the deal, and when they are counted."""

    expected: int | None = (
        None  # cards, minus those discarded in this deal; None: the complete deck minus the dealt cards
    )
    every_rounds: int
    only_without_counting_shuffler: bool
    clauses: tuple[str, ...]
    see: tuple[str, ...] = ()


class CountRule(EditionPart, frozen=True, kw_only=True):
    """The count that a device or the rack must show, and what happens if it does not."""

    expected: int  # cards
    on_wrong: Literal["remove_deck", "ask_floorperson"]
    clause: str | None = None  # None: no clause; a reading decides
    see: tuple[str, ...] = ()


class StartMethod(EditionPart, frozen=True, kw_only=True):
    """One method for the starting position; the dealer is number one, counted counterclockwise over seven places."""

    name: Literal["shaker", "rng", "flat_button"]
    needs: tuple[Literal["automated_shuffler", "automated_shoe"], ...] = ()
    least: int  # smallest result
    most: int  # largest result
    advances: Literal["never", "completed_round"] = "never"  # a button moves; dice and numbers are drawn each round
    clause: str
    see: tuple[str, ...] = ()


class DiceRule(EditionPart, frozen=True, kw_only=True):
    """The shaker's dice."""

    number: int
    least_shakes: int
    shakes_after_deal: int
    max_hours: int
    clause: str  # shaking
    age_clause: str
    see: tuple[str, ...] = ()


class CutRule(EditionPart, frozen=True, kw_only=True):
    """The cut of the cards."""

    by: Literal["dealer", "player_then_dealer"]
    when: tuple[Literal["manual_shuffle", "machine_shuffle", "preshuffled"], ...]
    offered: tuple[Literal["first_arrival", "cover_card_seat", "far_right"], ...]  # then counterclockwise
    least_from_top: int  # cards
    least_from_bottom: int | None = None
    cover_above_bottom: int | None = None  # cards below the cover card that is put back
    cover_put_back: Literal["never", "may", "must"]
    clause: str
    see: tuple[str, ...] = ()


class BurnRule(EditionPart, frozen=True, kw_only=True):
    """Cards burned unseen."""

    per_shoe: int
    per_dealer: int
    after_emergency: int
    clause: str | None = None
    see: tuple[str, ...] = ()


class Wager(EditionPart, frozen=True, kw_only=True):
    """One wager of the game."""

    name: str
    title: str
    required: bool  # to be dealt in
    decision: bool = False  # placed by the player's decision in the round
    needs: tuple[str, ...] = ()
    amount: Literal["free", "equal_to_ante", "twice_ante", "table_unit", "submission"] = "free"
    placed: Literal["before_close", "after_first_card", "after_examining"] = "before_close"
    option: bool = False  # offered only if the Rules Submission includes it
    tables: tuple[str, ...] = ()  # possible paytables; of several, the submission selects one
    clause: str
    see: tuple[str, ...] = ()


class Surrender(EditionPart, frozen=True, kw_only=True):
    """How a player may leave the round."""

    kind: Literal["surrender", "fold"]
    window: Literal["after_dealer_set_before_own_reveal", "decision_after_first_card", "decision_after_examining"]
    barred_by: tuple[str, ...]  # wagers
    loses: tuple[str, ...]
    cards_counted: bool  # the collected cards are counted face down before they are racked
    clause: str
    see: tuple[str, ...] = ()


class SettleOrder(EditionPart, frozen=True, kw_only=True):
    """The order in which players, and each player's side wagers, are settled."""

    start: Literal["far_right", "far_left"]
    direction: Literal["clockwise", "counterclockwise"]
    side_wagers: tuple[str, ...]
    clause: str
    see: tuple[str, ...] = ()


class ProgressiveRules(EditionPart, frozen=True, kw_only=True):
    """What the progressive wager requires of the table."""

    wager: str
    lockout: bool  # at no more bets
    start_key: bool  # the Start Game key latches, lights and locks
    collected_before_deal: bool
    chips_equal_bets: bool  # the chips collected are compared with the bets accepted
    seat_light: bool  # the light of a winning seat is checked
    floor_validation: bool
    meter_share_from_tray: bool
    fold_survival: Literal["submission", "none"]  # submission: it decides whether folded hands keep the bet
    rate: Literal["printed", "submission"]  # the rate of progression
    stake_returned: Literal["printed", "submission"]
    clauses: tuple[str, ...]
    see: tuple[str, ...] = ()


class EnvyRule(EditionPart, frozen=True, kw_only=True):
    """Who is paid for another player's hand."""

    wagers: tuple[str, ...]  # the wagers that open envy
    least_cents: int | None = None  # None: not stated
    hand: str | None = None
    lammer: bool
    clause: str | None = None
    see: tuple[str, ...] = ()


class PayoutLimit(EditionPart, frozen=True, kw_only=True):
    """A cap that the certificate holder may set."""

    scope: Literal["player_hand", "player_round"]
    floor_cents: int  # or, if higher, the most that one player could win at the minimum wager
    clause: str
    see: tuple[str, ...] = ()


class AdjacentBoxes(EditionPart, frozen=True, kw_only=True):
    """How many adjacent boxes one player may play."""

    most: int | None = None  # None: the submission states it
    must_state: bool  # the submission must state it
    clause: str


class OpeningStep(EditionPart, frozen=True, kw_only=True):
    """One step from delivery to the shuffle."""

    name: Literal["inspect", "verify_inspection", "spare_joker", "spread", "first_look", "wash", "stack"]
    who: tuple[Literal["dealer", "floorperson", "first_player"], ...]
    when: Literal["delivered", "two_joker_pack"] = "delivered"
    clause: str


class Preshuffled(EditionPart, frozen=True, kw_only=True):
    """What does not apply to cards that arrive inspected and shuffled."""

    skips: tuple[str, ...]  # opening steps
    clause: str
    see: tuple[str, ...] = ()


class IdleTableRule(EditionPart, frozen=True, kw_only=True):
    """What happens to the cards of an idle table, once the first player has seen them."""

    repeats: tuple[str, ...]  # opening steps
    shuffler_keeps_stored: bool  # a deck in the shuffler is shown only if a player asks
    clause: str
    see: tuple[str, ...] = ()


class ApprovedDevice(EditionPart, frozen=True, kw_only=True):
    """A device approved to reshuffle by itself, and the clauses that it lifts (X12)."""

    counts: bool
    lifts: tuple[str, ...]
    clause: str
    see: tuple[str, ...] = ()


class Setting(EditionPart, frozen=True, kw_only=True):
    """A named setting for another answer to a reading."""

    name: str
    values: tuple[str, ...]
    default: str | None = None  # None: no default; the wager that needs it is refused until it is stated
    needs: str | None = None  # the wager that it belongs to
    reading: str
    meaning: str


class TableWarning(EditionPart, frozen=True, kw_only=True):
    """A warning about a paytable, which may still be selected."""

    table: str
    reading: str
    meaning: str


class Edition(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, eq=False):
    """One dated text of a chapter. Compared and hashed by identity, because each is loaded once."""

    game: str
    chapter: str
    title: str
    status: Literal["temporary", "adopted", "proposed"]
    dated: str  # the effective date, or the rulemaking that proposed it
    see: tuple[str, ...] = ()
    shuffle_after: Literal["round", "shoe"]
    wagers_close: Literal["no_more_bets", "first_card"]
    close_clause: str
    verbal_cash: bool  # with the dealer's confirmation
    change_hours: Mapping[DealingName, int]
    change_clauses: Mapping[DealingName, str]
    precedence: tuple[Trigger, ...]  # of simultaneous triggers, highest first
    submission_choices: tuple[
        Literal["mid_shoe_entry_ban", "start_marker", "wheel_lowest_straight_flush", "wheel_lowest_straight"], ...
    ]
    cards: CardsRule
    second_set: SecondSet | None = None
    seats: Seats
    hand: HandRule
    deal: DealRule
    stub: StubRule | None = None
    count: CountRule
    starts: tuple[StartMethod, ...] = ()
    dice: DiceRule | None = None
    cut: CutRule
    burn: BurnRule
    wagers: tuple[Wager, ...]
    surrender: Surrender | None = None
    settle_order: SettleOrder
    progressive: ProgressiveRules | None = None
    envy: EnvyRule | None = None
    payout_limit: PayoutLimit | None = None
    adjacent_boxes: AdjacentBoxes
    opening: tuple[OpeningStep, ...]
    preshuffled: Preshuffled
    idle: IdleTableRule
    approved_device: ApprovedDevice
    settings: tuple[Setting, ...] = ()
    warnings: tuple[TableWarning, ...] = ()
    irregularities: tuple[IrregularityRow, ...]
    digest: str = ""  # of the edition's data, filled in when it is loaded

    @property
    def tables(self) -> tuple[str, ...]:
        """The ids of all paytables."""
        return tuple(dict.fromkeys(table for wager in self.wagers for table in wager.tables))

    def method(self, name: str) -> DealingMethod | None:
        """Return a dealing method of this game, or None."""
        return next((method for method in self.deal.methods if method.name == name), None)

    def wager(self, name: str) -> Wager | None:
        """Return a wager of this game, or None."""
        return next((wager for wager in self.wagers if wager.name == name), None)
