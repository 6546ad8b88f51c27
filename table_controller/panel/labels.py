"""The labels of the panel: every question, answer and state as a short text for people."""

from __future__ import annotations

from typing import Final

from table_controller.journal.record_text import plain_text, to_words
from table_controller.rulebook import EVIDENCE, OUTCOMES, TRIGGERS
from table_controller.table.view import slot_label

# Questions of the core by kind (the part before a slash): {place}, {deck}, {slot} and others are filled in.
QUESTIONS: Final[dict[str, str]] = {
    "acknowledge": "Acknowledge: {trigger}",
    "additional_cards": "Deal {place} the additional cards",
    "announce": "Announce the dice and enter their total",
    "ante_returned": "{Place}: return the Ante, collect the other wagers",
    "burn_dealer": "Burn a card: a new dealer deals",
    "burn_shoe": "Burn the first card of the shoe",
    "card_burned": "Burn one card face down",
    "card_discarded": "Put the card into the discard rack",
    "card_kept": "Keep the card as the next one",
    "cards_differ": "{Place}: the shoe's cards differ from the entered cards. Which hold?",
    "cards_refed": "Put the cards back into the shuffler",
    "cards_together": "Keep all {color}cards together",
    "chips": "Collect the progressive chips and enter how many",
    "choose": "Decide: {trigger}",
    "collected": "Collect the cards of deck {deck} into the rack",
    "count_deck": "Count deck {deck} and enter the number",
    "cover_back": "Put the cover card back: how many cards below it?",
    "cover_seat": "Before whom did the cover card come out?",
    "cover_shaker": "Cover the shaker before the next roll",
    "cut": "Cut deck {deck}{offered}: how many cards from the top?",
    "dealer_hand_reset": "Set the dealer's hand again in the house way",
    "dealt": "Deal the cards, beginning with {place}",
    "decide": "{Place}: what does the player choose?",
    "deck_counted": "Count deck {deck} whole and enter the number",
    "deck_removed": "Take deck {deck} off the table",
    "device_cleared": "{slot}: clear the {fault}",
    "dice": "Put in new dice",
    "envy_disputed": "The dealer disputes the envy bonuses. What holds?",
    "envy_hand": "{Place}: does the hand win an envy bonus?",
    "envy_hand_disputed": "{Place}: the dealer disputes the known hand. Does it win an envy bonus?",
    "envy_line": "{Place}: which hand is paid to the others?",
    "envy_paid": "Pay the envy bonuses",
    "face_check": "Look at every face of deck {deck}",
    "finding": "The stub count is wrong twice: what did you find?",
    "first_arrival": "Which player came first?",
    "claim_disputed": "{Place}: the dealer disputes the progressive hand. What holds?",
    "dealer_set": "Compare how the dealer's hand is set",
    "disputed": "{Place}: the dealer disputes this settlement. What holds?",
    "folded": "Take the cards and wagers of folded hands",
    "hand_complete": "{Place}: was the hand complete when the round became void?",
    "hand_placed": "{Place}: wait until this hand is set and placed face down, before the player's other hand",
    "hand_pay": "{Place}: hand pay done; enter the slip number",
    "hand_shuffle": "Shuffle deck {deck} by hand",
    "hands_collected": "Collect the hands that were kept for envy",
    "hands_set": "Wait until every player has set the hand",
    "hit_dark": "{Place}: look up the bet. Is it recorded?",
    "hit_hand": "{Place}: verify the hand. Does it win?",
    "hit_light": "{Place}: is the light on?",
    "hit_pay": "{Place}: pay the progressive",
    "hit_validate": "{Place}: confirm jackpot",
    "lammers": "{Place}: place the Envy lammer",
    "larger_wager": "Boxes of one player, {place} and next: which wager is larger?",
    "late_chip": "{Place}: return the late chip",
    "let_out": "Eject deck {deck} from the shuffler",
    "marker": "Mark the starting position: {place}",
    "move_button": "Move the flat button to {place}",
    "opening": "Deck {deck}: {more}",
    "optional_settled": "Settle the optional wagers",
    "own_reveal": "{Place}: show the hand, or enter that the player surrenders",
    "park_shaker": "Cover the shaker, shake once, put it aside",
    "player_left": "{Place} has left: what happens to the wagers?",
    "players": "Who plays several boxes? Enter all boxes of one player",
    "progressive": "{Place}: what is the progressive hand?",
    "progressive_envy": "{Place}: pay envy to the other seats",
    "put_in_shoe": "Put deck {deck} into the shoe",
    "qualifying": "{Place}: Qualifying Wager of at least $5? If yes, place the Envy lammer",
    "rack_clear": "Clear the discard rack of deck {deck}",
    "rack_shuffled": "Shuffle and cut the rack, and put it into the shoe",
    "rack_stub": "Put the stub into the rack, uncounted",
    "rack_unwagered": "Rack the stacks of places without a wager",
    "replacement": "Set the replacement card aside",
    "reveal": "Reveal the dealer's hand",
    "seat_reopened": "{Place}: put wager and hand back as they were before settlement",
    "seat_undecided": "{Place}: was a bet on the spot at the lock-out?",
    "seats": "Enter the seats that have a wager",
    "settled": "Settle {place}",
    "shoe_emptied": "Empty the shoe",
    "side_disputed": "{Place}: the dealer disputes these side wagers. What holds?",
    "side_settled": "Settle the side wagers of {place}",
    "side_wagers": "Enter the seats with {more}",
    "sign_seen": "{slot}: cover it, or put up the out-of-order sign",
    "start_game": "Press Start Game",
    "stored_deck": "Stored deck {deck}: does a player ask to see it?",
    "stub": "Count the stub and enter the number",
    "stub_recount": "Dealer and shoe counted the stub differently: count it, and enter the number",
    "surrender_collected": "Collect the surrendered wager of {place}",
    "surrender_count": "Count the surrendered hand of {place}",
    "take_in_hand": "Take deck {deck} in your hand",
    "take_shaker": "Take over the shaker",
    "wagers_returned": "Return the wagers of this round",
    "wagers_reversed": "Reverse the wagers that were taken or paid",
    "which_deck": "Which deck is in the shuffler?",
}
ANSWERS: Final[dict[str, str]] = {
    "done": "Done",
    "whole": "Whole",
    "complete": "Complete",
    "incomplete": "Incomplete",
    "not_whole": "Not whole",
    "nobody": "Nobody",
    "returned": "Returned",
    "bet": "There was a bet",
    "no_bet": "No bet",
    "player": "This player",
    "cut": "Cut",
    "decline": "Player declines",
    "put_back": "Put back",
    "rack": "Into the rack",
    "no_win": "No win",
    "no_envy": "None",
    "winning": "Winner",
    "not_winning": "Not a winner",
    "lit": "On",
    "dark": "Off",
    "bet_recorded": "Recorded",
    "refuse": "Not a winner",
    "table": "Pay at the table",
    "hand_pay": "Hand pay",
    "paid": "Paid",
    "documented": "Paid and documented",
    "undisputed": "Nobody",
    "look": "A player looks",
    "abandoned": "Wagers are lost",
    "plays_on": "Hand stays in play",
    "settled": "Settled",
    "confirmed": "Confirm",
    "disputed": "Dispute",
    "stands": "It stands",
    "enter_again": "Enter the cards again",
    "dealer_settles": "The dealer settles",
    "ranked_otherwise": "The rule ranks it otherwise: the dealer names it",
    "cards_mixed": "The cards are mixed: the dealer names it",
    "surrendered": "Surrendered",
    "shown": "Shown",
    "released": "The shoe's cards",
    "entered": "The entered cards",
    "full": "Rack is full to its mark",
    "not_full": "Rack is not full",
    "replaced": "New dice",
    "same": "The same dice",
    "laid": "Lammer placed",
    "yes": "Yes, lammer placed",
    "equal": "Equal",
    "no": "No",
    "announced": "Yes, announced",
    "face_down": "Face down",
    "face_up": "Face up",
    "covered": "Covered",
    "signed": "Sign is up",
    "give_up": "Take it out of service",
    "acknowledged": "Acknowledge",
    "remove": "Remove the deck",
    "reverify": "Count and keep it",
    "recount": "Count again",
    "void": "Void the round",
    "void_and_remove": "Void the round, remove the deck",
    "continue": "Continue the round",
    "play": "Play on",
    "late_cards": "Deal the cards late",
    "not_misdealt": "No misdeal",
    "misdealt_total_right": "Misdeal, total right",
    "misdealt_total_wrong": "Misdeal, total wrong",
}
PHASES: Final[dict[str, str]] = {
    "idle": "Ready for the next round",
    "betting": "Place your bets",
    "no_more_bets": "No more bets",
    "locked": "Bets are locked",
    "starting_position": "Starting position",
    "dealing": "Dealing",
    "stub_check": "Stub",
    "playing": "Players decide",
    "settling": "Settling",
    "complete": "Round complete",
    "void": "Round is void",
}
# Texts of the commands that machines execute now.
COMMANDS_UNDER_WAY: Final[dict[str, str]] = {
    "shuffle": "{slot} shuffles",
    "eject": "{slot} ejects the deck: take it",
    "insert": "{slot} inserts the stack into the shoe",
    "clear_out": "{slot} ejects the deck",
    "load": "{slot} loads the cards",
    "dispense": "{slot} deals",
    "start_round": "{slot} gets ready",
    "give_stub": "{slot} ejects the stub: take it",
    "arm_dice": "Lid on, shake the dice, lid off",
    "draw": "{slot} draws the number",
    "open_bets": "The bet sensors open",
    "lock": "The bet sensors lock",
    "light": "Lights come on",
    "return_to_service": "{slot} reports",
    "release_cards": "{slot} releases the cards of a hand",
    "stop": "{slot} stops",
}
_OUTCOMES: Final[dict[str, str]] = {
    "return_wagers": "return the wagers, including progressive bets in the tray (X13) and wagers already taken or paid "
    "(X18), except those that are settled although the round is void",
}
# Irregularities that the core detects itself and that no rule names.
_FINDINGS: Final[dict[str, str]] = {
    "chips_differ": "the number of progressive chips differs from the number of accepted bets",
    "unreasonable_contribution": "the contribution of a progressive bet is impossible: it is not booked, the chip is "
    "returned, and the meter is closed to play",
    "bet_without_wager": "there is a progressive bet at a seat without a wager: it does not count and is returned",
    "stub_counts_differ": "the shoe's count of the stub differs from the dealer's count, or from the expected stub",
    "unordered_stack": "the shoe dealt cards without an order, or dealt them twice",
    "drawn_without_deal": "cards were drawn from the shoe when no cards were due",
    "drawn_differs": "the number of cards drawn from the shoe differs from the number of cards due",
    "unknown_cards": "there are cards in a machine, and no deck is recorded there",
    "wrong_number": "the drawn number is not a position of this table",
    "command_failed": "a machine did not execute a command",
    "cards_contradict": "the shoe identified cards that cannot be in the hand: they are not used",
    "box_restarted": "the box was restarted: people must check what happened in the meantime",
}
_TITLES: Final[dict[str, str]] = {
    "other": "something else",
    "dealer_hand_misset": "dealer's hand not set in the house way",
}
REPORTS: Final[dict[str, str]] = {
    **{str(trigger): meaning for trigger, meaning in TRIGGERS.items()},
    "player_leaves": "a player leaves the table during the round",
    "surrender": "a player surrenders",
    "other": "something else: the round stops, and the floorperson decides",
}
ORDERS: Final[dict[str, str]] = {
    "reshuffle": "Shuffle a deck again",
    "recut": "Cut a deck again",
    "remove_deck": "Remove a deck",
    "table_idle": "Table is idle",
    "dealing_method": "Change the dealing method",
    "start_method": "Change how the starting position is found",
    "shuffle_by_hand": "Shuffle by hand",
    "shuffle_by_machine": "Shuffle by machine",
    "readmit": "Admit a player in mid-shoe",
}
_STEPS: Final[dict[str, str]] = {
    "composition": "is it complete, with one design and back color?",
    "inspect": "inspect its faces",
    "spread": "spread it for the first player",
    "wash": "wash it",
    "stack": "stack it",
    "verify_inspection": "verify the inspection",
    "first_look": "let the first player look at it",
}
# Roles that the badge of the question, or the step itself, already names.
_NAMED: Final = ("dealer", "floorperson", "first_player")


# Facts that the dealer confirms by entering the seats.
_STATEMENTS: Final[dict[str, str]] = {
    "chips_only": "only chips are wagered",
    "cash_converted": "cash was changed into chips",
    "seated": "every player is seated",
}


# Service states of a device.
_SERVICE: Final[dict[str, str]] = {
    "absent": "Not connected",
    "unverified": "Not verified",
    "in_service": "In service",
    "faulted": "Out of service",
    "cleared": "Fault cleared",
    "out_of_order_unsigned": "Out of order, no sign yet",
    "out_of_order_signed": "Out of order",
    "locked": "The box is locked",
}
# Titles of the steps of a return to service, by the name of the step.
STEP_TITLES: Final[dict[str, str]] = {
    "clear": "Clear the jam",
    "path_empty": "Path is empty",
    "sensor_test": "Test the sensors",
    "motor_jog": "Jog each motor",
    "one_card": "Run one card",
    "full_deck": "Run the full deck",
    "count": "Count the deck",
    "return": "Return to service",
}


def machine_name(slot: str) -> str:
    """Return a machine by the name on its label: "Shoe 1" for the slot shoe.1."""
    return slot_label(slot)


def with_machine_names(text: str) -> str:
    """Return a text with the names of machines in place of slots, and words in place of keys."""
    return plain_text(text)


def sentence(text: str) -> str:
    """Return a text with a capital, the names of machines, and no keys."""
    text = plain_text(text)
    return text[:1].upper() + text[1:]


def service_text(state: str) -> str:
    """Return the service state of a device."""
    return _SERVICE.get(state) or to_words(state).capitalize()


def place_name(place: int | None) -> str:
    """Return the name of a place at the table."""
    return "nobody" if place is None else "the dealer" if place == 0 else f"seat {place}"


def question(
    kind: str,
    *,
    seat: int | None = None,
    deck: str | None = None,
    slot: str | None = None,
    trigger: str = "",
    number: bool = False,
) -> str:
    """Return a question as a sentence, or its kind in words. `number`: the answer has a number."""
    head, _, detail = kind.partition("/")
    pattern = QUESTIONS.get(head)
    if pattern is None:
        return to_words(kind)
    step, _, by = detail.partition("/")
    more = _STEPS.get(step, to_words(step)) + (f" ({to_words(by)})" if by and by not in _NAMED else "")
    place = place_name(seat)
    if number and "enter" not in pattern and "how many" not in pattern:
        pattern += ", and enter how many"
    return pattern.format(
        place=place, Place=place.capitalize(), deck=deck or "of this round", color=f"{deck} " if deck else "",
        slot="the device" if slot is None else machine_name(slot), more=more,
        fault="jam" if (slot or "").startswith(("shuffler", "shoe")) else "fault",
        trigger=title(trigger), offered="" if seat is None else f" by {place}",
    )  # fmt: skip


def title(trigger: str) -> str:
    """Return an irregularity in a few words."""
    return _TITLES.get(trigger) or to_words(trigger)


def answer(choice: str) -> str:
    """Return an answer for a button."""
    return ANSWERS.get(choice) or to_words(choice).capitalize()


def evidence(what: str) -> str:
    """Return the evidence that an answer confirms, as a sentence."""
    texts: dict[str, str] = {str(key): text for key, text in EVIDENCE.items()}
    boxes = what.removeprefix("boxes_at_most_")
    if boxes != what:
        return f"nobody plays more than {boxes} box{'es' * (boxes != '1')}"
    return texts.get(what) or _STATEMENTS.get(what) or to_words(what)


def outcome(what: str) -> str:
    """Return the text of an outcome."""
    known: dict[str, str] = {str(key): text for key, text in OUTCOMES.items()} | _OUTCOMES
    return known.get(what) or to_words(what)


def meaning(trigger: str) -> str:
    """Return an irregularity as a sentence; empty if it has none."""
    return REPORTS.get(trigger) or _FINDINGS.get(trigger, "")
