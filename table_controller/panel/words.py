"""What people read: every question, answer and state as a short sentence in the dealer's words. No rules, no state."""

from __future__ import annotations

from typing import Final

from table_controller.journal.wording import plain
from table_controller.rulebook import EVIDENCE, OUTCOMES, TRIGGERS

# Questions of the core by kind (what stands before a slash): {seat}, {deck}, {slot} and {more} are filled in.
QUESTIONS: Final[dict[str, str]] = {
    "acknowledge": "Acknowledge: {trigger}",
    "additional_cards": "Deal {place} the additional cards",
    "announce": "Announce the dice and enter their total",
    "ante_returned": "{Place}: return the Ante, collect the other wagers",
    "burn_dealer": "Burn a card: a new dealer deals",
    "burn_shoe": "Burn the first card of the shoe",
    "card_burned": "Burn one card face down",
    "card_discarded": "Lay the card into the discard rack",
    "card_kept": "Keep the card as the next one",
    "cards_refed": "Put the cards back into the shuffler",
    "cards_together": "Bring all cards of deck {deck} together",
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
    "device_cleared": "{slot}: clear the cause",
    "dice": "Dice: put new ones in",
    "envy_hand": "{Place}: does the hand bring an envy bonus?",
    "envy_line": "{Place}: which hand is paid to the others?",
    "envy_paid": "Pay the envy bonuses",
    "face_check": "Look at every face of deck {deck}",
    "finding": "The stub is wrong twice: what did you find?",
    "first_arrival": "Which player came first?",
    "folded": "Take the cards and wagers of folded hands",
    "hand_complete": "{Place}: was the hand complete when the round became void?",
    "hand_pay": "{Place}: hand pay done; enter the slip number",
    "hand_shuffle": "Shuffle deck {deck} by hand",
    "hands_collected": "Collect the hands that lie for envy",
    "hands_set": "Wait until every player has set the hand",
    "hit_dark": "{Place}: look the bet up; is it recorded?",
    "hit_hand": "{Place}: verify the hand. Does it win?",
    "hit_light": "{Place}: does the accepted light burn?",
    "hit_pay": "{Place}: pay the progressive",
    "hit_validate": "{Place}: validate the payout",
    "lammers": "{Place}: lay the envy lammer",
    "late_chip": "{Place}: give the late chip back",
    "let_out": "Let deck {deck} out of the shuffler",
    "move_button": "Move the flat button to {place}",
    "opening": "Deck {deck}: {more}",
    "optional_settled": "Settle the optional wagers",
    "park_shaker": "Cover the shaker, shake once, put it aside",
    "player_left": "{Place} has left: what becomes of the wagers?",
    "progressive": "{Place}: what is the progressive hand?",
    "progressive_envy": "{Place}: pay envy to the other seats",
    "put_in_shoe": "Put deck {deck} into the shoe",
    "rack_clear": "Clear the discard rack of deck {deck}",
    "rack_shuffled": "Shuffle and cut the rack, and put it into the shoe",
    "rack_stub": "Lay the stub into the rack, uncounted",
    "rack_unwagered": "Rack the stacks of places without a wager",
    "replacement": "Set the replacement card aside",
    "reveal": "Reveal the dealer's hand",
    "seat_reopened": "{Place}: put wager and hand back as they lay before they were settled",
    "seat_undecided": "{Place}: did a bet lie there at the lock-out?",
    "seats": "Enter the seats that have a wager",
    "settled": "Settle {place}",
    "shoe_emptied": "Empty the shoe",
    "side_settled": "Settle the side wagers of {place}",
    "side_wagers": "Enter the seats with {more}",
    "sign_seen": "{slot}: cover it, or hang the sign out of order",
    "start_game": "Press Start Game",
    "stored_deck": "Stored deck {deck}: does a player want to see it?",
    "stub": "Count the stub and enter the number",
    "stub_recount": "Dealer and shoe counted the stub differently: count it, and enter the number",
    "surrender_collected": "Collect the surrendered wager of {place}",
    "surrender_count": "Count the surrendered hand of {place}",
    "take_in_hand": "Take deck {deck} in the hand",
    "take_shaker": "Take the shaker over",
    "wagers_returned": "Return the wagers of this round",
    "wagers_reversed": "Reverse the wagers that were taken or paid",
    "which_deck": "Which deck lies in the shuffler?",
}
ANSWERS: Final[dict[str, str]] = {
    "done": "Done",
    "whole": "Whole",
    "complete": "Complete",
    "incomplete": "Incomplete",
    "not_whole": "Not whole",
    "nobody": "Nobody",
    "returned": "Given back",
    "bet": "A bet lay there",
    "no_bet": "No bet",
    "player": "This player",
    "cut": "Cut",
    "decline": "Player declines",
    "put_back": "Put back",
    "rack": "Into the rack",
    "no_win": "No win",
    "no_envy": "None",
    "winning": "It wins",
    "not_winning": "It does not win",
    "lit": "It burns",
    "dark": "It is dark",
    "bet_recorded": "Recorded",
    "refuse": "Refuse",
    "table": "Pay at the table",
    "hand_pay": "Hand pay",
    "paid": "Paid",
    "documented": "Paid and documented",
    "undisputed": "Nobody",
    "look": "A player looks",
    "abandoned": "Wagers are lost",
    "plays_on": "Hand plays on",
    "settled": "Settled",
    "surrendered": "Surrendered",
    "full": "Rack is full to its mark",
    "not_full": "Rack is not full",
    "replaced": "New dice",
    "same": "The same dice",
    "laid": "Lammer laid",
    "too_small": "Wager too small",
    "no": "No",
    "announced": "Yes, announced",
    "face_down": "Face down",
    "face_up": "Face up",
    "covered": "Covered",
    "signed": "Sign hangs",
    "give_up": "Give the device up",
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
    "idle": "Between rounds",
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
# What happens without anybody's answer: commands under way.
DOING: Final[dict[str, str]] = {
    "shuffle": "{slot} shuffles",
    "eject": "{slot} gives the deck out: take it",
    "clear_out": "{slot} lets the deck out",
    "load": "{slot} takes the cards in",
    "dispense": "{slot} deals",
    "start_round": "{slot} gets ready",
    "give_stub": "{slot} gives the stub out: take it",
    "arm_dice": "Lid on, shake the dice, lid off",
    "draw": "{slot} draws the number",
    "open_bets": "The bet sensors open",
    "lock": "The bet sensors lock",
    "light": "Lights come on",
    "return_to_service": "{slot} reports",
    "stop": "{slot} stops",
}
_OUTCOMES: Final[dict[str, str]] = {
    "return_wagers": "the wagers go back, also progressive bets in the tray (X13) and wagers already taken or paid "
    "(X18); not what is settled although the round is void",
}
# What the core finds by itself, where no rule has a name for it.
_FINDINGS: Final[dict[str, str]] = {
    "chips_differ": "the progressive chips are not as many as the bets that were accepted",
    "unreasonable_contribution": "what a progressive bet would add cannot be: it is not booked, its chip goes back, "
    "and the meter is closed to play",
    "bet_without_wager": "a progressive bet lies at a seat without a wager: it does not count and goes back",
    "stub_counts_differ": "the shoe counted another stub than people did, or than was to be left",
    "unordered_stack": "the shoe gave cards out that nobody had ordered, or gave them out twice",
    "drawn_without_deal": "cards were drawn from the shoe when none were to be dealt",
    "drawn_differs": "the shoe counted another number of cards drawn than were to be dealt",
    "unknown_cards": "cards lie in a machine, and no deck is known to be there",
    "wrong_number": "the number that was drawn is no position of this table",
    "command_failed": "a machine did not do what it was told",
    "box_restarted": "the box was started anew: what happened meanwhile, only people have seen",
}
_TITLES: Final[dict[str, str]] = {
    "other": "what no rule names",
    "dealer_hand_misset": "dealer's hand not in the house way",
}
REPORTS: Final[dict[str, str]] = {
    **{str(trigger): meaning for trigger, meaning in TRIGGERS.items()},
    "player_leaves": "a player leaves the table during the round",
    "surrender": "a player surrenders",
    "other": "something that no rule names: the round stands still, and the floorperson decides",
}
ORDERS: Final[dict[str, str]] = {
    "reshuffle": "Have a deck shuffled again",
    "recut": "Have a deck cut again",
    "remove_deck": "Remove a deck",
    "table_idle": "The table stands idle",
    "dealing_method": "Deal by another method",
    "start_method": "Find the starting position otherwise",
    "shuffle_by_hand": "Shuffle by hand",
    "shuffle_by_machine": "Shuffle by machine",
    "readmit": "Admit a player in mid-shoe",
}
_STEPS: Final[dict[str, str]] = {
    "composition": "is it complete, of one design and back colour?",
    "inspect": "inspect its faces",
    "spread": "spread it for the first player",
    "wash": "wash it",
    "stack": "stack it",
    "verify_inspection": "verify the inspection",
    "first_look": "let the first player look at it",
}
# Whoever a badge beside the question names, or the step itself does.
_NAMED: Final = ("dealer", "floorperson", "first_player")


# What the dealer says by entering the seats.
_STATEMENTS: Final[dict[str, str]] = {
    "chips_only": "only chips are wagered",
    "cash_converted": "cash was changed into chips",
    "seated": "every player is seated",
}


def place_name(place: int | None) -> str:
    """Return a place of the table for people."""
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
    """Return a question as a sentence; one that nobody has worded is its own name. `number`: one is asked for."""
    head, _, detail = kind.partition("/")
    pattern = QUESTIONS.get(head)
    if pattern is None:
        return plain(kind)
    step, _, by = detail.partition("/")
    more = _STEPS.get(step, plain(step)) + (f" ({plain(by)})" if by and by not in _NAMED else "")
    place = place_name(seat)
    if number and "enter" not in pattern and "how many" not in pattern:
        pattern += ", and enter how many"
    return pattern.format(
        place=place, Place=place.capitalize(), deck=deck or "of this round", slot=slot or "the device", more=more,
        trigger=title(trigger), offered="" if seat is None else f" by {place}",
    )  # fmt: skip


def title(trigger: str) -> str:
    """Return an irregularity in a few words."""
    return _TITLES.get(trigger) or plain(trigger)


def answer(choice: str) -> str:
    """Return an answer for a button."""
    return ANSWERS.get(choice) or plain(choice).capitalize()


def evidence(what: str) -> str:
    """Return what an answer says was seen, as a sentence."""
    texts: dict[str, str] = {str(key): text for key, text in EVIDENCE.items()}
    boxes = what.removeprefix("boxes_at_most_")
    if boxes != what:
        return f"nobody plays more than {boxes} box{'es' * (boxes != '1')}"
    return texts.get(what) or _STATEMENTS.get(what) or plain(what)


def outcome(what: str) -> str:
    """Return what a rule orders, in the rulebook's words; where those name other outcomes, without their names."""
    known: dict[str, str] = {str(key): text for key, text in OUTCOMES.items()} | _OUTCOMES
    return known.get(what) or plain(what)


def meaning(trigger: str) -> str:
    """Return what an irregularity is, as a sentence; empty if nobody has worded it."""
    return REPORTS.get(trigger) or _FINDINGS.get(trigger, "")
