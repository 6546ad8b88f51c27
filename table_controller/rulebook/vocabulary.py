"""The rulebook's closed vocabularies, each word with its meaning."""

from __future__ import annotations

from typing import Final, Literal

Phase = Literal[
    "idle", "betting", "no_more_bets", "locked", "starting_position", "dealing", "stub_check", "playing", "settling",
    "complete",
]  # fmt: skip
# In the order in which a round goes through them. A void round is complete.
PHASES: Final[tuple[Phase, ...]] = (
    "idle", "betting", "no_more_bets", "locked", "starting_position", "dealing", "stub_check", "playing", "settling",
    "complete",
)  # fmt: skip

Trigger = Literal[
    "dice_not_flat", "die_out_of_shaker", "wrong_start_announced", "wrong_start_dealt", "player_card_exposed",
    "dealer_card_exposed", "card_exposed_hand_deal", "cards_revealed_before_raise", "face_up_card_first",
    "face_up_card_more", "card_drawn_in_error", "wrong_card_count", "dealer_hand_misset", "shuffler_fault",
    "shoe_fault", "device_unusable", "shoe_short", "additional_cards_missed", "stub_wrong", "count_wrong",
]  # fmt: skip
TRIGGERS: Final[dict[Trigger, str]] = {
    "dice_not_flat": "the lid is off and a die is not flat on the shaker's floor",
    "die_out_of_shaker": "the lid is off and a die has left the shaker",
    "wrong_start_announced": "a wrong starting position was announced; no card is dealt yet",
    "wrong_start_dealt": "the first card or stack went to the wrong position because the start was announced wrong",
    "player_card_exposed": "the dealer exposes a player's card before its proper reveal",
    "dealer_card_exposed": "a card of the dealer's hand is exposed before the dealer's reveal",
    "card_exposed_hand_deal": "a card is exposed while the cards are dealt from the hand",
    "cards_revealed_before_raise": "a player's or the dealer's card is revealed before the last raise or fold",
    "face_up_card_first": "a card is face up in the shoe or the deck, the first of this deal",
    "face_up_card_more": "another card is face up in this deal, or several at once",
    "card_drawn_in_error": "a card was drawn in error; its face was not exposed",
    "wrong_card_count": "a hand, or the stack of a position without a wager, has too many or too few cards",
    "dealer_hand_misset": "the dealer's hand was not set in the house way",
    "shuffler_fault": "the shuffler jams, stops, or does not finish its cycle",
    "shoe_fault": "the automated shoe jams, stops, or does not deal all cards",
    "device_unusable": "a device malfunctions and cannot be used",
    "shoe_short": "too few cards are left in the shoe to finish the round",
    "additional_cards_missed": "a player was passed over when the two additional cards were dealt",
    "stub_wrong": "the stub was counted twice and is wrong",
    "count_wrong": "a device or the rack does not show the number of cards of a complete deck or batch",
}

Outcome = Literal[
    "void_round", "return_wagers", "reshuffle", "reshuffle_with_dealt", "remove_deck", "hold_deck", "discard_card",
    "use_as_next_card", "no_roll_reshake", "player_may_void", "player_option_dead_hand", "reset_dealer_hand",
    "settle_optional_wagers", "sign_out_of_order", "finish_after_reshuffle", "continue_round", "ask_floorperson",
]  # fmt: skip
OUTCOMES: Final[dict[Outcome, str]] = {
    "void_round": "all hands of the round are void",
    "return_wagers": "the wagers are returned, also progressive bets in the tray (X13) and wagers taken or paid "
    "(X18), except those settled by settle_optional_wagers; scope seat: the wagers of that hand only",
    "reshuffle": "the deck is shuffled again before any of its cards is dealt",
    "reshuffle_with_dealt": "the cards in the device and the cards already dealt are shuffled together",
    "remove_deck": "the deck leaves the table; a new deck is opened",
    "hold_deck": "the deck is not shuffled or dealt until the floorperson decides",
    "discard_card": "the card goes to the discard rack, out of this round",
    "use_as_next_card": "the card is used as the next card",
    "no_roll_reshake": "the result is ignored and the dice are shaken again",
    "player_may_void": "that player chooses: play on, or void the hand and get its wagers back (X4)",
    "player_option_dead_hand": "that player chooses: get the cards late, or a dead hand with its wagers returned (O9)",
    "reset_dealer_hand": "the dealer's hand is set again in the house way",
    "settle_optional_wagers": "Progressive and Trips Wagers of complete hands are settled although the round is void, "
    "before any wager is returned",
    "sign_out_of_order": "the device is covered or signed before another method is allowed",
    "finish_after_reshuffle": "only the discard rack is shuffled and cut, one card is burned face down, the round is "
    "finished from it; dealt cards stay",
    "continue_round": "the round continues",
    "ask_floorperson": "the floorperson decides; the answer is journaled",
}
# Of several outcomes for one deck, the first one in this list is carried out.
DECK_OUTCOMES: Final[tuple[Outcome, ...]] = ("remove_deck", "hold_deck", "reshuffle_with_dealt", "reshuffle")

Scope = Literal["seat", "deck", "device", "round", "wagers"]
SCOPES: Final[dict[Scope, str]] = {
    "seat": "one seat and its wagers",
    "deck": "the deck or batch that the trigger names; another deck and its round continue",
    "device": "the device that the trigger names and the cards in it",
    "round": "the whole current round",
    "wagers": "wagers alone; the cards stay",
}

Decider = Literal["rule", "dealer", "floorperson", "player"]
DECIDERS: Final[dict[Decider, str]] = {
    "rule": "the regulation leaves no choice; the controller carries it out and reports it",
    "dealer": "the dealer",
    "floorperson": "the floorperson, by credential",
    "player": "the player of the seat; the dealer enters the answer",
}

Role = Literal["dealer", "floorperson"]

Evidence = Literal[
    "card_burned", "cards_counted", "cards_removed", "deck_removed", "deck_verified", "dice_inside",
    "discard_confirmed", "first_card_seen", "hand_confirmed", "hand_reset", "hands_complete", "hands_counted",
    "next_card_placed",
    "no_roll_called", "path_clear", "rack_shuffled", "recount", "sign_seen", "start_corrected", "table_seen",
    "wagers_returned", "wagers_reversed",
]  # fmt: skip
EVIDENCE: Final[dict[Evidence, str]] = {
    "card_burned": "one card went to the discard rack face down",
    "cards_counted": "the cards taken from the device were counted and make a complete deck with the others",
    "cards_removed": "every card was taken out of the device",
    "deck_removed": "the deck has left the table",
    "deck_verified": "the deck was completed or found complete, and counted again",
    "dice_inside": "all dice are inside the shaker again",
    "discard_confirmed": "the card is in the discard rack and counts as discarded (X2)",
    "first_card_seen": "the person who acknowledges saw where the first card or stack is",
    "hand_confirmed": "the hand was checked and is as reported",
    "hand_reset": "the dealer's hand is set in the house way",
    "hands_complete": "the complete hands were confirmed seat by seat (W19)",
    "hands_counted": "the cards of every position were counted",
    "next_card_placed": "the card is next to be dealt, its face unseen",
    "no_roll_called": "the dealer called no roll",
    "path_clear": "the device's card path was seen empty",
    "rack_shuffled": "the cards of the discard rack were shuffled and cut",
    "recount": "the cards were counted a second time",
    "sign_seen": "a cover or an out-of-order sign is on the device",
    "start_corrected": "the right starting position was announced",
    "table_seen": "cards and wagers were checked before anything was moved",
    "wagers_returned": "the wagers are back with their players",
    "wagers_reversed": "wagers already taken or paid were put back, seat by seat (X18)",
}

DealingName = Literal["manual_shoe", "hand", "automated_shoe", "dealing_shoe", "continuous_shuffler"]
# Those that deal from a shoe.
SHOE_DEALING: Final[tuple[DealingName, ...]] = ("manual_shoe", "dealing_shoe", "automated_shoe")
ShufflerFact = Literal["none", "not_counting", "counting"]
StartFact = Literal["shaker", "rng", "flat_button", "fixed"]
# The kinds of device that rows of irregularities may name.
DeviceFact = Literal["shuffler", "shoe", "shaker", "rng", "button", "bet_sensor", "keypad", "meter_sign"]
DeckFact = Literal["in_play", "other"]
StubFinding = Literal["not_misdealt", "misdealt_total_right", "misdealt_total_wrong"]
DecisionFact = Literal["open", "made"]
