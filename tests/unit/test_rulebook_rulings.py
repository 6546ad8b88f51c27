"""Rulings of each chapter, copied from its text case by case: trigger, phase, facts -> outcomes and clauses."""

from __future__ import annotations

import msgspec
import pytest

from table_controller import rulebook
from table_controller.rulebook import Facts, find_ruling

SHORT = {
    "VOID": "void_round return_wagers reshuffle",
    "REMOVE": "void_round return_wagers remove_deck",
    "HOLD": "void_round return_wagers hold_deck ask_floorperson",
    "EMPTY": "void_round return_wagers reshuffle_with_dealt",
}

ASIA_AND_PAI_GOW = """
shuffler_fault idle -> reshuffle : shuffler
shuffler_fault settling shuffler=not_counting -> reshuffle : shuffler
shoe_fault betting dealing=automated_shoe -> EMPTY : shoe
shoe_fault dealing dealing=automated_shoe -> EMPTY : shoe
shoe_fault settling dealing=automated_shoe -> EMPTY : shoe + X18
shoe_fault dealing dealing=automated_shoe deck=other -> reshuffle continue_round : P1
shoe_fault idle dealing=manual_shoe deck=other -> reshuffle continue_round : P1
shoe_fault dealing dealing=manual_shoe -> ask_floorperson : none
device_unusable betting device=shuffler -> sign_out_of_order : unusable
device_unusable playing device=shoe -> sign_out_of_order : unusable
device_unusable playing device=shaker -> ask_floorperson : none
dice_not_flat starting_position start=shaker -> no_roll_reshake : flat
dice_not_flat starting_position start=rng -> ask_floorperson : none
dice_not_flat dealing start=shaker -> ask_floorperson : none
die_out_of_shaker starting_position start=shaker -> no_roll_reshake : out
wrong_start_announced starting_position start=rng -> continue_round : X7/1
wrong_start_announced dealing start=rng -> ask_floorperson : none
wrong_start_dealt dealing start=shaker -> VOID : start
wrong_start_dealt settling start=shaker -> VOID : start + X18
wrong_start_dealt playing start=rng -> ask_floorperson : X7/2
player_card_exposed dealing dealing=manual_shoe -> player_may_void continue_round : player
player_card_exposed dealing dealing=automated_shoe -> player_may_void continue_round : player
player_card_exposed dealing dealing=hand -> VOID : by_hand
player_card_exposed playing dealing=hand -> player_may_void continue_round : player
player_card_exposed settling -> ask_floorperson : X4
card_exposed_hand_deal dealing dealing=hand -> VOID : by_hand
card_exposed_hand_deal dealing dealing=manual_shoe -> ask_floorperson : none
face_up_card_first dealing dealing=manual_shoe -> discard_card continue_round : face_up/1
face_up_card_first dealing dealing=automated_shoe -> discard_card ask_floorperson : face_up/1 + X2
face_up_card_more dealing dealing=hand -> VOID : face_up/2
face_up_card_first stub_check dealing=hand -> ask_floorperson : none
card_drawn_in_error dealing dealing=hand -> use_as_next_card continue_round : drawn
card_drawn_in_error betting dealing=manual_shoe -> use_as_next_card continue_round : drawn
wrong_card_count dealing -> VOID : number
wrong_card_count playing -> VOID : number
wrong_card_count settling -> VOID : number + X18
wrong_card_count complete -> ask_floorperson : none
dealer_hand_misset playing -> reset_dealer_hand continue_round : misset
dealer_hand_misset settling -> reset_dealer_hand continue_round : misset + X18
stub_wrong stub_check dealing=manual_shoe finding=misdealt_total_right -> VOID : stub_shoe/1
stub_wrong stub_check dealing=manual_shoe finding=misdealt_total_wrong -> HOLD : stub_shoe/1 + X5
stub_wrong stub_check dealing=manual_shoe finding=not_misdealt -> REMOVE : stub_shoe/2
stub_wrong stub_check dealing=hand finding=misdealt_total_right -> VOID : stub_hand/1
stub_wrong stub_check dealing=hand finding=misdealt_total_wrong -> HOLD : stub_hand/1 + X5
stub_wrong stub_check dealing=hand finding=not_misdealt -> REMOVE : stub_hand/2
stub_wrong stub_check dealing=automated_shoe finding=misdealt_total_right -> VOID : stub_auto/1
stub_wrong stub_check dealing=automated_shoe finding=misdealt_total_wrong -> HOLD : stub_auto/1 + X5
stub_wrong stub_check dealing=automated_shoe finding=not_misdealt -> REMOVE : stub_auto/2
stub_wrong stub_check dealing=hand -> ask_floorperson : none
count_wrong betting -> hold_deck ask_floorperson : X8
count_wrong dealing shuffler=not_counting -> hold_deck ask_floorperson : X8
cards_revealed_before_raise playing -> ask_floorperson : none
shoe_short dealing -> ask_floorperson : none
"""

ASIA = """
wrong_start_dealt dealing dealing=automated_shoe start=flat_button -> ask_floorperson : X7/2
dealer_card_exposed dealing dealing=manual_shoe -> VOID : dealer
dealer_card_exposed playing dealing=hand -> VOID : dealer
dealer_card_exposed dealing dealing=hand -> VOID : by_hand
dealer_card_exposed settling -> ask_floorperson : none
"""

# The dealer's cards lie face up here (F13).
PAI_GOW = """
dealer_card_exposed dealing -> ask_floorperson : none
"""

SAIGON_AND_DJ_WILD = """
shuffler_fault dealing -> reshuffle : shuffler
shoe_fault dealing dealing=automated_shoe -> EMPTY : shoe
shoe_fault settling dealing=automated_shoe -> EMPTY : shoe + X18
shoe_fault dealing dealing=automated_shoe deck=other -> reshuffle continue_round : P1
device_unusable idle device=shoe -> sign_out_of_order : unusable
face_up_card_first dealing dealing=manual_shoe -> discard_card continue_round : face_up/1
face_up_card_first dealing dealing=automated_shoe -> discard_card ask_floorperson : face_up/1 + X2
face_up_card_more dealing dealing=manual_shoe -> VOID : face_up/2
card_drawn_in_error dealing -> use_as_next_card continue_round : drawn
wrong_card_count playing -> VOID : number
wrong_card_count settling -> VOID : number + X18
stub_wrong stub_check dealing=manual_shoe shuffler=none finding=misdealt_total_right -> VOID : stub_shoe/1
stub_wrong stub_check dealing=manual_shoe shuffler=none finding=misdealt_total_wrong -> REMOVE : stub_shoe/2
stub_wrong stub_check dealing=manual_shoe shuffler=not_counting finding=not_misdealt -> REMOVE : stub_shoe/2
stub_wrong stub_check dealing=hand shuffler=not_counting finding=misdealt_total_right -> VOID : stub_hand/1
stub_wrong stub_check dealing=hand shuffler=not_counting finding=misdealt_total_wrong -> REMOVE : stub_hand/2
stub_wrong stub_check dealing=automated_shoe shuffler=none finding=misdealt_total_right -> VOID : stub_auto/1
stub_wrong stub_check dealing=automated_shoe shuffler=none finding=not_misdealt -> REMOVE : stub_auto/2
stub_wrong stub_check dealing=manual_shoe shuffler=counting finding=not_misdealt -> ask_floorperson : none
count_wrong idle shuffler=counting -> remove_deck : count
count_wrong dealing shuffler=counting deck=other -> remove_deck : count
count_wrong dealing shuffler=not_counting -> ask_floorperson : none
dealer_hand_misset settling -> ask_floorperson : none
dice_not_flat starting_position -> ask_floorperson : none
"""

SAIGON = """
player_card_exposed dealing -> ask_floorperson : none
dealer_card_exposed playing -> ask_floorperson : none
card_exposed_hand_deal dealing dealing=hand -> ask_floorperson : none
"""

REVEALED = "void_round settle_optional_wagers return_wagers reshuffle"
DJ_WILD = f"""
cards_revealed_before_raise playing -> {REVEALED} : revealed
cards_revealed_before_raise stub_check -> {REVEALED} : revealed
cards_revealed_before_raise playing decisions=made -> ask_floorperson : none
player_card_exposed playing decisions=made -> ask_floorperson : none
dealer_card_exposed playing decisions=made -> ask_floorperson : none
cards_revealed_before_raise dealing -> {REVEALED} : revealed + W19
cards_revealed_before_raise settling -> ask_floorperson : none
player_card_exposed playing -> {REVEALED} : revealed
dealer_card_exposed dealing -> {REVEALED} : revealed + W19
card_exposed_hand_deal dealing dealing=hand -> {REVEALED} : revealed + W19
"""

OVER_UNDER = """
face_up_card_first betting -> discard_card continue_round : face_up/1
face_up_card_first dealing -> discard_card continue_round : face_up/1
face_up_card_first settling -> discard_card continue_round : face_up/1
face_up_card_more playing -> discard_card continue_round : face_up/2
shoe_short betting -> finish_after_reshuffle : short
shoe_short dealing -> finish_after_reshuffle : short
shoe_short settling -> finish_after_reshuffle : short
additional_cards_missed playing -> player_option_dead_hand continue_round : missed
additional_cards_missed dealing -> ask_floorperson : none
shuffler_fault dealing shuffler=not_counting -> reshuffle : shuffler
shuffler_fault dealing dealing=continuous_shuffler -> reshuffle ask_floorperson : shuffler + O10
shuffler_fault idle dealing=continuous_shuffler deck=other -> reshuffle : shuffler
device_unusable idle device=shuffler -> sign_out_of_order : unusable
device_unusable idle device=shoe -> ask_floorperson : none
count_wrong complete -> hold_deck ask_floorperson : O11
wrong_card_count playing -> ask_floorperson : none
card_drawn_in_error dealing -> ask_floorperson : none
shoe_fault dealing -> ask_floorperson : none
stub_wrong stub_check finding=not_misdealt -> ask_floorperson : none
"""

# Short name -> the chapter's own clauses.
CLAUSES = {
    "asia_poker": {
        "flat": "13(a)", "out": "13(b)", "start": "13(c)", "player": "13(d)", "dealer": "13(e)", "face_up": "13(f)",
        "drawn": "13(g)", "number": "13(h) 13(k)", "misset": "13(i)", "by_hand": "13(j)", "shuffler": "13(l)",
        "shoe": "13(m)", "unusable": "13(n)", "stub_shoe": "8(e)", "stub_hand": "9(d)", "stub_auto": "10(d)",
    },
    "face_up_pai_gow": {
        "flat": "13(a)", "out": "13(b)", "start": "13(c)", "player": "13(d)", "face_up": "13(e)", "drawn": "13(f)",
        "number": "13(g) 13(j)", "misset": "13(h)", "by_hand": "13(i)", "shuffler": "13(k)", "shoe": "13(l)",
        "unusable": "13(m)", "stub_shoe": "8(f)", "stub_hand": "9(e)", "stub_auto": "10(e)",
    },
    "saigon_5_card": {
        "face_up": "13(a)", "drawn": "13(b)", "number": "13(c)", "shuffler": "13(d)", "shoe": "13(e)",
        "unusable": "13(f)", "stub_shoe": "8(g)", "stub_hand": "9(f)", "stub_auto": "10(f)", "count": "5(b)",
    },
    "dj_wild": {
        "face_up": "13(a)", "drawn": "13(b)", "number": "13(c)", "revealed": "13(d)", "shuffler": "13(e)",
        "shoe": "13(f)", "unusable": "13(g)", "stub_shoe": "8(g)", "stub_hand": "9(f)#2", "stub_auto": "10(f)",
        "count": "5(b)",
    },
    "over_under": {"face_up": "9(a)", "short": "9(b)", "missed": "9(c)", "shuffler": "9(d)", "unusable": "9(e)"},
}  # fmt: skip

CASES = [
    (game, line)
    for game, text in (
        ("asia_poker", ASIA_AND_PAI_GOW + ASIA),
        ("face_up_pai_gow", ASIA_AND_PAI_GOW + PAI_GOW),
        ("saigon_5_card", SAIGON_AND_DJ_WILD + SAIGON),
        ("dj_wild", SAIGON_AND_DJ_WILD + DJ_WILD),
        ("over_under", OVER_UNDER),
    )
    for line in text.split("\n")
    if line
]


def sources(game: str, cited: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the clauses and the rows that a case rests on."""
    chapter = rulebook.edition(game).chapter
    clauses: list[str] = []
    rows: list[str] = []
    for name in cited.split(" + "):
        word, slash, part = name.partition("/")
        if word in CLAUSES[game]:
            own = [f"{chapter}.{clause}{slash}{part}" for clause in CLAUSES[game][word].split()]
            clauses += own
            rows.append(own[0])
        elif name != "none":
            rows.append(f"{chapter}:{name}")
    return tuple(clauses), tuple(rows)


@pytest.mark.parametrize(("game", "line"), CASES)
def test_a_case_is_ruled_as_the_chapter_orders(game: str, line: str) -> None:
    case, _, remaining = line.partition(" -> ")
    ordered, _, cited = remaining.partition(" : ")
    trigger, phase, *known = case.split()
    edition = rulebook.edition(game)
    start = edition.starts[0].name if edition.starts else "fixed"
    facts = {"dealing": edition.deal.methods[0].name, "shuffler": "counting", "start": start}
    facts |= dict(fact.split("=") for fact in known)
    ruling = find_ruling(edition, trigger, phase, Facts(**facts))  # type: ignore[arg-type]
    clauses, rows = sources(game, cited)
    assert " ".join(ruling.outcomes) == SHORT.get(ordered, ordered)
    assert ruling.clauses == clauses
    assert ruling.rows == rows


def test_the_cases_above_reach_every_row() -> None:
    reached = {(game, row) for game, line in CASES for row in sources(game, line.partition(" : ")[2])[1]}
    known = {(game, row.id) for game in CLAUSES for row in rulebook.edition(game).irregularities}
    assert reached == known


# Short name, phases, scope, who decides (! the round stops until then), who acknowledges, with what evidence.
WHO = """
flat        starting_position  device rule         dealer       no_roll_called
out         starting_position  device rule         dealer       no_roll_called dice_inside
X7/1        starting_position  round  rule         dealer       start_corrected
start       dealing..settling  round  rule         floorperson  first_card_seen wagers_returned
X7/2        dealing..settling  round  floorperson! floorperson  first_card_seen
player      dealing..playing   seat   player!      dealer       hand_confirmed
X4          settling           seat   floorperson! floorperson  hand_confirmed
dealer      dealing..playing   round  rule         floorperson  hand_confirmed wagers_returned
by_hand     dealing            round  rule         floorperson  hand_confirmed wagers_returned
revealed    dealing..playing   round  rule         floorperson  hand_confirmed wagers_returned
W19         dealing            wagers rule         floorperson  hands_complete
face_up/1   dealing            round  rule         floorperson  discard_confirmed
X2          dealing            round  floorperson! floorperson  hand_confirmed
face_up/2   dealing            round  rule         floorperson  wagers_returned
drawn       betting..dealing   round  rule         dealer       next_card_placed
number      dealing..settling  round  rule         floorperson  hands_counted wagers_returned
X18         settling           wagers rule         floorperson  wagers_reversed
misset      playing..settling  round  rule         dealer       hand_reset
stub_shoe/1 stub_check         round  rule         floorperson  recount hands_counted wagers_returned
stub_hand/1 stub_check         round  rule         floorperson  recount hands_counted wagers_returned
stub_auto/1 stub_check         round  rule         floorperson  recount hands_counted wagers_returned
stub_shoe/2 stub_check         round  rule         floorperson  recount hands_counted wagers_returned deck_removed
stub_hand/2 stub_check         round  rule         floorperson  recount hands_counted wagers_returned deck_removed
stub_auto/2 stub_check         round  rule         floorperson  recount hands_counted wagers_returned deck_removed
X5          stub_check         deck   floorperson  floorperson  deck_verified
X8          any                deck   floorperson  floorperson  recount deck_verified
O11         any                deck   floorperson  floorperson  recount deck_verified
count       any                deck   rule         floorperson  deck_removed
shuffler    any                device rule         floorperson  cards_removed path_clear cards_counted
O10         dealing..settling  round  floorperson! floorperson  table_seen
shoe        betting..settling  round  rule         floorperson  cards_removed path_clear cards_counted wagers_returned
P1          any                device rule         floorperson  cards_removed path_clear cards_counted
unusable    any                device rule         floorperson  sign_seen
short       betting..settling  deck   rule         floorperson  rack_shuffled card_burned
missed      playing..settling  seat   player!      floorperson  hand_confirmed
"""
# In Over/Under the rule on a face-up card knows no moment, and no clause calls the floorperson for it.
WHO_OVER_UNDER = """
face_up/1   betting..settling  round  rule         dealer       discard_confirmed
face_up/2   betting..settling  round  rule         dealer       discard_confirmed
"""
GO_ON = ("continue_round",)
VOID = ("void_round", "return_wagers", "reshuffle")
CHOICES: dict[str, dict[str, tuple[str, ...]]] = {
    "X7/2": {"void": VOID, "continue": GO_ON},
    "O10": {"void": VOID, "continue": GO_ON},
    "X2": {"complete_stack": GO_ON, "void": VOID},
    "player": {"play": GO_ON, "void": ("return_wagers", "continue_round")},
    "X4": {"play": GO_ON, "void": ("return_wagers", "continue_round")},
    "missed": {"late_cards": GO_ON, "dead_hand": ("return_wagers", "continue_round")},
    "X5": {"reverify": ("reshuffle",), "remove": ("remove_deck",)},
    "X8": {"reverify": ("reshuffle",), "remove": ("remove_deck",)},
    "O11": {"reverify": ("reshuffle",), "remove": ("remove_deck",)},
}
ALSO = {
    ("asia_poker", "by_hand"): ("player_card_exposed", "dealer_card_exposed"),
    ("face_up_pai_gow", "by_hand"): ("player_card_exposed",),
    ("dj_wild", "revealed"): ("player_card_exposed", "dealer_card_exposed", "card_exposed_hand_deal"),
    ("dj_wild", "W19"): ("player_card_exposed", "dealer_card_exposed", "card_exposed_hand_deal"),
    ("asia_poker", "X18"): ("wrong_start_dealt", "shoe_fault", "dealer_hand_misset"),
    ("face_up_pai_gow", "X18"): ("wrong_start_dealt", "shoe_fault", "dealer_hand_misset"),
    ("saigon_5_card", "X18"): ("shoe_fault",),
    ("dj_wild", "X18"): ("shoe_fault",),
}
# Conditions of rows that no clause states.
ASKED = {
    "X2": {"dealing": ("automated_shoe",)},
    "X5": {"finding": ("misdealt_total_wrong",)},
    "X18": {"deck": ("in_play",)},
    "revealed": {"decisions": ("open",)},
    "P1": {"deck": ("other",)},
    "O10": {"dealing": ("continuous_shuffler",), "deck": ("in_play",)},
    "shoe": {"dealing": ("automated_shoe",), "deck": ("in_play",)},
    "unusable": {"device": ("shuffler", "shoe")},
    "player": {"hand_deal_over": True},
    "dealer": {"hand_deal_over": True},
}


@pytest.mark.parametrize("game", CLAUSES)
def test_when_a_row_holds_who_decides_and_who_sees_to_it(game: str) -> None:
    lines = [line.split() for line in (WHO + (WHO_OVER_UNDER if game == "over_under" else "")).split("\n") if line]
    known = {words[0]: words[1:] for words in lines}
    names = {row: name for name in known for row in sources(game, name)[1]}
    for row in rulebook.edition(game).irregularities:
        name = names[row.id]
        phases, scope, decides, acknowledges, *evidence = known[name]
        first, _, last = phases.partition("..")
        assert (row.from_phase, row.until_phase) == (first, last or first), row.id
        assert (row.scope, row.decides, row.stop) == (scope, decides.rstrip("!"), decides.endswith("!")), row.id
        assert (row.acknowledges, list(row.evidence)) == (acknowledges, evidence), row.id
        assert {choice.name: choice.outcomes for choice in row.choices} == CHOICES.get(name, {}), row.id
        assert row.also == ALSO.get((game, name), ()), row.id
        assert row.adds == (name in {"X2", "X5", "X18", "O10", "W19"}), row.id
        if name in ASKED and (game, name) != ("over_under", "unusable"):
            assert msgspec.to_builtins(row.when) == ASKED[name], row.id


def ruling_of(game: str, trigger: str, phase: str, **facts: str) -> rulebook.Ruling:
    edition = rulebook.edition(game)
    reported = {"dealing": edition.deal.methods[0].name, "shuffler": "counting"} | facts
    return find_ruling(edition, trigger, phase, Facts(**reported))  # type: ignore[arg-type]


def test_who_decides_who_acknowledges_and_with_what() -> None:
    jam = ruling_of("face_up_pai_gow", "shoe_fault", "dealing", dealing="automated_shoe")
    assert (jam.decides, jam.acknowledges, jam.stop) == ("rule", "floorperson", False)
    assert jam.evidence == ("cards_removed", "path_clear", "cards_counted", "wagers_returned")
    signed = ruling_of("dj_wild", "device_unusable", "idle", device="shuffler")
    assert (signed.scope, signed.evidence) == ("device", ("sign_seen",))
    exposed = ruling_of("asia_poker", "player_card_exposed", "playing")
    assert (exposed.decides, exposed.scope, exposed.stop) == ("player", "seat", True)
    assert [(choice.name, choice.outcomes) for choice in exposed.choices] == [
        ("play", ("continue_round",)),
        ("void", ("return_wagers", "continue_round")),
    ]
    missed = ruling_of("over_under", "additional_cards_missed", "settling")
    assert (missed.decides, missed.acknowledges) == ("player", "floorperson")
    assert [choice.name for choice in missed.choices] == ["late_cards", "dead_hand"]


def test_a_held_deck_stops_no_round_and_the_floorperson_has_two_ways_out() -> None:
    for game in ("asia_poker", "over_under", "face_up_pai_gow"):
        held = ruling_of(game, "count_wrong", "dealing", deck="other")
        assert (held.scope, held.decides, held.stop) == ("deck", "floorperson", False)
        assert [choice.outcomes for choice in held.choices] == [("reshuffle",), ("remove_deck",)]
        assert "recount" in held.evidence


def test_an_added_question_comes_before_going_on() -> None:
    asked = ruling_of("dj_wild", "face_up_card_first", "dealing", dealing="automated_shoe")
    assert asked.stop
    assert asked.decides == "floorperson"
    assert [choice.name for choice in asked.choices] == ["complete_stack", "void"]
    assert asked.evidence == ("discard_confirmed", "hand_confirmed")


def test_a_void_found_while_settling_asks_for_the_reversal() -> None:
    before = ruling_of("saigon_5_card", "wrong_card_count", "playing")
    after = ruling_of("saigon_5_card", "wrong_card_count", "settling")
    assert "wagers_reversed" not in before.evidence
    assert after.evidence == (*before.evidence, "wagers_reversed")
    assert after.outcomes == before.outcomes


def test_numbers_are_taken_from_the_facts() -> None:
    stub = ruling_of("face_up_pai_gow", "stub_wrong", "stub_check", finding="not_misdealt")
    assert [(number.name, number.value) for number in stub.numbers] == [("expected", 4), ("total", 53)]
    count = ruling_of("over_under", "count_wrong", "complete")
    assert [(number.name, number.at, number.value) for number in count.numbers] == [("expected", "count.expected", 312)]
    hands = ruling_of("dj_wild", "wrong_card_count", "playing")
    assert [(number.name, number.value) for number in hands.numbers] == [("expected", 5)]
