"""House ways as tables: they set every hand as the former code did, and a table that is wrong is refused by name."""

from __future__ import annotations

import random
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, Any

import pytest

from firmware_bridge.errors import BadHand, BadHouseWay, BadSubmission
from table_controller.config import examine, load_config
from table_controller.config.example import example
from table_controller.journal.migrations import CONFIGURATION
from table_controller.journal.versions import digests_of
from table_controller.rulebook import check_submission, edition
from table_controller.rulebook.cards import JOKER, parse_cards
from table_controller.rulebook.game_rules import game_rules
from table_controller.rulebook.house_ways.loader import house_way_text, own_house_way
from table_controller.rulebook.house_ways.proof import objections, rank_hands
from table_controller.rulebook.house_ways.setting_form import GROUP_WORDS, hand_facts
from table_controller.rulebook.house_ways.table import decode
from table_controller.rulebook.submission import prove_house_way
from tests.support.box.configs import write_config
from tests.support.core.settled_rounds import seat as a_seat
from tests.support.core.settled_rounds import settle_round, terms
from tests.support.oracles import former_house_ways
from tests.support.suite.case_counts import count_cases
from tests.support.suite.clauses import clauses

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from table_controller.rulebook.house_ways.choose import HouseWay

PAI_GOW = "face_up_pai_gow"
ASIA = "asia_poker"
SAIGON = "saigon_5_card"
POLICIES = {PAI_GOW: "standard_5_2", ASIA: "standard_4_2_1", SAIGON: "highest_point_count"}
EVERY_POLICY = pytest.mark.parametrize("game", POLICIES)
HANDS = count_cases(1)

# A short table, right in every point.
SHORT = """game = "face_up_pai_gow"
name = "own"
prefer = ["low", "high"]
[[rule]]
cards = ["no pair", "one pair"]
where_possible = true
set = { high = "complete" }
reason = "Straights and flushes stay whole"
[[rule]]
reason = "The strongest low hand that is lawful"
"""


def policy_of(game: str) -> HouseWay:
    return game_rules(game).house_ways[POLICIES[game]]


def former(game: str) -> Callable[..., tuple[tuple[int, ...], ...]]:
    function: Callable[..., tuple[tuple[int, ...], ...]] = getattr(former_house_ways, POLICIES[game])
    return function


@cache
def hands_with(*groups: str) -> list[tuple[int, ...]]:
    return [cards for cards in rank_hands(7) if hand_facts(cards).groups in groups]


def in_drawn_suits(rng: random.Random, cards: Sequence[int]) -> tuple[int, ...]:
    """The same ranks in other suits, most of them of one suit."""
    suits = rng.sample(range(4), 4)
    held: dict[int, int] = {}
    hand = []
    for card in cards:
        if card != JOKER:
            at = held[card >> 2] = held.get(card >> 2, -1) + 1
            hand.append(card & ~3 | suits[(at + (rng.random() < 0.2)) % 4])
    if len(set(hand)) < len(hand):  # two of a rank came to the same suit
        hand = [card & ~3 | suits[[c >> 2 for c in hand[:at]].count(card >> 2)] for at, card in enumerate(hand)]
    return (*hand, *(card for card in cards if card == JOKER))


# --- the tables of the editions ---------------------------------------------------------------------------------------


@EVERY_POLICY
def test_a_table_sets_hands_exactly_as_the_former_code_did(game: str, seed: int) -> None:
    rng = random.Random(seed)
    policy, before = policy_of(game), former(game)
    for _ in range(2500):
        cards = tuple(rng.sample(range(53), policy.form.cards))
        assert policy.set_hands(cards) == before(cards)


@pytest.mark.parametrize(("game", "name"), [(game, name) for game in POLICIES for name in policy_of(game).ranks])
@pytest.mark.parametrize("rank", ["2", "8", "K"])
def test_a_chosen_rank_sets_hands_as_the_former_code_did(game: str, name: str, rank: str, seed: int) -> None:
    rng = random.Random(seed)
    policy, before, chosen = policy_of(game), former(game), {name: rank}
    groups = {"fours": "four of a kind", "two_p": "two pair", "high_": "two pair", "with_": "two pair"}[name[:5]]
    for cards in rng.sample(hands_with(groups), 300):
        assert policy.set_hands(cards, chosen) == before(cards, chosen)


@pytest.mark.proof
@EVERY_POLICY
def test_a_table_sets_every_choice_of_ranks_as_the_former_code_did(game: str, seed: int) -> None:
    rng = random.Random(seed)
    policy, before = policy_of(game), former(game)
    tried = 0
    for cards in rank_hands(policy.form.cards):
        hand = rng.choice((cards, in_drawn_suits(rng, cards)))
        assert policy.set_hands(hand) == before(hand)
        tried += HANDS
    assert tried == (67_600 if policy.form.cards == 7 else 7_995)


@EVERY_POLICY
def test_the_table_of_an_edition_sets_every_hand_and_has_no_idle_rule(game: str) -> None:
    policy = policy_of(game)
    assert objections(policy.form, policy.table) == ()


@clauses("575.11(c)", "688a.11(c)")
@pytest.mark.parametrize(
    ("game", "cards", "rule", "reason"),
    [
        (PAI_GOW, "9d 9h 4d 4h As 5c 3s", 14, "Two pair, both low, with an ace: keep both in the high hand"),
        (PAI_GOW, "Jd Jh 4d 4h As 6c 3s", 15, "A high pair and a small pair, with an ace: keep both in the high hand"),
        (PAI_GOW, "Ad Ah As Kh 7d 4s 2c", 10, "Three aces: two in the high hand, one leads the low hand"),
        (ASIA, "8s 8h 8d 8c As Kh 5d", 3, "Four of a kind: split it, a pair in the high hand and a pair in the medium"),
        (SAIGON, "As Ad 3h 4c Jk", 1, "Three cards make 10, 20 or 30: they qualify"),
        (SAIGON, "2s 2d 2h 3c 4d", 2, "No three cards make 10, 20 or 30: the hand does not qualify"),
    ],
)
def test_the_rule_and_its_reason_are_given_with_the_hands(game: str, cards: str, rule: int, reason: str) -> None:
    done = terms(game).house_way(parse_cards(cards))
    assert (done.rule, done.reason[: len(reason)]) == (rule, reason)
    assert done.hands == terms(game).set_by_house_way(parse_cards(cards))


@clauses("575.13(i)", "688a.13(h)")
@pytest.mark.parametrize(
    ("game", "setting", "again"),
    [
        (PAI_GOW, "Kd Kh 7c 4s 2h | As 9s", None),
        (PAI_GOW, "Kd 9s 7c 4s 2h | As Kh", "One pair"),
        (PAI_GOW, "9d 9h 4d 4h 3s | As 5c", None),
        (PAI_GOW, "9d 9h As 5c 3s | 4d 4h", "Two pair, both low, with an ace"),
        (PAI_GOW, "As Kd Qh 9c 8s | 3h 3d", "One pair"),  # foul
        (PAI_GOW, "9d 9h As 5c 3s 4d | 4h", "Two pair, both low, with an ace"),  # six and one
        (PAI_GOW, "Ad Ac 9h 5s 3c | As Kd", None),  # of three aces any may lead the low hand
        (PAI_GOW, "As Ac 9h 5s 3c | Ad Kd", None),
        (PAI_GOW, "As Ac Kd 5s 3c | Ad 9h", "Three aces"),
        (ASIA, "Kd Kh 7c 4s | As 2d | 9h", "One pair"),
        (ASIA, "Kd Kh 4s 2d | As 7c | 9h", None),
        (SAIGON, "As 2d 7c | Kd 9h", None),
        (SAIGON, "As 2d Kd | 7c 9h", "Three cards make 10, 20 or 30"),  # it does not qualify, and could
    ],
)
def test_a_dealers_setting_is_compared_with_the_house_way(game: str, setting: str, again: str | None) -> None:
    hands = tuple(parse_cards(hand) for hand in setting.split("|"))
    again_set = terms(game).misset(hands)
    if again is None:
        assert again_set is None
    else:
        assert again_set is not None
        assert again_set.reason.startswith(again)
        assert terms(game).misset(again_set.hands) is None
        assert sorted(card for hand in again_set.hands for card in hand) == sorted(
            card for hand in hands for card in hand
        )


# --- a table of one's own ---------------------------------------------------------------------------------------------


def test_a_table_of_ones_own_settles_a_round() -> None:
    """A pair of 9s stays with a pair of 4s only in the edition's table: the player's pair of 5s beats the low hand."""
    dealer, player = "9d 9h 4d 4h As 5c 3s", "Kd Kh Qs Js 2d | 5s 5h"
    own = house_way_text(PAI_GOW).replace('two_pair_kept_with_ace_to = "T"', 'two_pair_kept_with_ace_to = "5"')
    own = own.replace('with_second_pair_to = "6"', 'with_second_pair_to = "3"').replace("standard_5_2", "own")
    results = {}
    for table in (None, own):
        at = terms(PAI_GOW, house_way_table=table)
        (result, *_) = settle_round(at, a_seat(1, player, face_up_pai_gow_poker=500), dealer=dealer)
        results[table] = (result.outcome, at.house_way(parse_cards(dealer)).rule)
    assert results == {None: ("pushes", 14), own: ("wins", 16)}


def test_a_short_table_of_ones_own_is_named_in_the_submission() -> None:
    submission = check_submission(edition(PAI_GOW), {"adjacent_boxes": 1, "house_way_table": SHORT})
    assert submission.house_way == "own"
    with pytest.raises(BadSubmission, match="house_way = standard_5_2: the dealer sets by"):
        check_submission(edition(PAI_GOW), {"adjacent_boxes": 1, "house_way_table": SHORT, "house_way": "standard_5_2"})
    with pytest.raises(BadSubmission, match="house_way_table: the dealer sets no hands"):
        check_submission(edition("dj_wild"), {"adjacent_boxes": 1, "house_way_table": SHORT})


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("game =", "gme =", "the table: there is no word gme; did you mean game?"),
        ('"face_up_pai_gow"', '"asia_poker"', "game must be \"face_up_pai_gow\", and it is 'asia_poker'"),
        ('name = "own"', "name = 7", "name must be a text of one line"),
        ('"low", "high"', '"lo"', "prefer: there is no lo; did you mean low?"),
        ("where_possible", "when_possible", "rule 1: there is no word when_possible; did you mean where_possible?"),
        ("where_possible = true", "where_possible = 1", "rule 1: where_possible must be true or false"),
        ('"no pair", "one pair"', '"two pairs"', "rule 1: cards are never 'two pairs'; did you mean two pair?"),
        ('high = "complete"', 'hihg = "complete"', "rule 1: set: there is no word hihg; did you mean high?"),
        ('high = "complete"', 'high = "complet"', "rule 1: high is never complet; did you mean complete?"),
        ('high = "complete"', 'high = "pair of fourth"', "after of comes first, second, third or a rank"),
        ('high = "complete"', 'high = "flush of A"', "no one rank leads flush"),
        ('high = "complete"', "high = 5", "rule 1: high is never 5"),
        ('{ high = "complete" }', '"complete"', "rule 1: set must be a table"),
        ("where_possible = true", 'first = "1-6"', "rule 1: first: 1 is not a rank or the name of one"),
        ("where_possible = true", 'first = "K-6"', "rule 1: first: K-6 has no rank; write the lower one first"),
        ("where_possible = true", 'first = "low_one"', "rule 1: first: low_one is not a rank"),
        ('reason = "Straights and flushes stay whole"', "", "rule 1: reason must be a text of one line"),
        ("[[rule]]", "[rule", "not TOML"),
        ("[[rule]]", f"deep = {'[' * 5000}", "not TOML: maximum recursion depth"),
        ('name = "own"', 'name = "standard_5_2"', "standard_5_2 is the edition's table; give your own another name"),
        ('prefer = ["low", "high"]', 'ranks = { to = "11" }', "ranks: to = '11' is not a rank"),
        (SHORT[SHORT.index("[[rule]]") :], "rule = 3", "a table has 1 to 200 rules"),
    ],
)
def test_a_table_that_cannot_be_read_is_refused_with_the_place(old: str, new: str, message: str) -> None:
    assert old in SHORT
    with pytest.raises(BadHouseWay) as refused:
        prove_house_way(PAI_GOW, SHORT.replace(old, new, 1))
    assert refused.value.code == "PB-625"
    assert message in str(refused.value)
    with pytest.raises(BadSubmission, match="house_way_table: "):
        check_submission(edition(PAI_GOW), {"adjacent_boxes": 1, "house_way_table": SHORT.replace(old, new, 1)})


def rules_of(*rules: str, game: str = PAI_GOW) -> str:
    """A table of these rules; each is conditions and setting."""
    written = "".join(f'[[rule]]\n{rule}\nreason = "why not"\n' for rule in rules)
    return f'game = "{game}"\nname = "own"\n{written}'


def without(game: str, number: int) -> str:
    """The edition's table without one of its rules."""
    head, *rules = house_way_text(game).replace(POLICIES[game], "own").split("[[rule]]")
    return "[[rule]]".join((head, *(rule for at, rule in enumerate(rules, 1) if at != number)))


BROKEN = {
    "no rule": (rules_of('cards = ["one pair"]'), "no rule sets "),
    "only with the joker": (rules_of("joker = true"), "no rule sets "),
    "only where possible": (rules_of('where_possible = true\nset = { low = "pair" }'), "no rule sets "),
    "foul": (rules_of('cards = ["one pair"]\nset = { low = "pair" }', ""), "is foul: the high hand ranks at least"),
    "not there": (rules_of('set = { high = "full house" }'), "these cards cannot be set so"),
    "a flush is no high card": (
        rules_of('cards = ["no pair"]\nwhere_possible = true\nset = { high = ["straight", "straight flush"] }',
                 'cards = ["no pair"]\nset = { high = "high card" }', ""),
        "rule 2 and Ac Kc Qc Jc 9c 8c 7c: these cards cannot be set so",
    ),
    "aces and joker of one suit": (
        rules_of('cards = ["one pair"]\nset = { high = "pair of first" }', ""), "rule 1 and ",
    ),
    "twice the same": (rules_of("joker = true", "joker = true", ""), "rule 2 can never apply: the rules before it"),
    "after everything": (rules_of("", 'cards = ["one pair"]'), "rule 2 can never apply: the rules before it"),
    "never fits": (rules_of('cards = ["five aces"]\nfirst = "K"', ""), "rule 1 can never apply: no hand fits"),
    "never possible": (
        rules_of('cards = ["no pair"]\nwhere_possible = true\nset = { low = "pair" }', ""),
        "rule 1 can never apply: no cards that reach it can be set so",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_a_table_that_does_not_set_every_hand_lawfully_is_refused_with_a_hand(name: str) -> None:
    text, message = BROKEN[name]
    with pytest.raises(BadHouseWay) as refused:
        prove_house_way(PAI_GOW, text)
    assert message in str(refused.value)


@pytest.mark.parametrize(("game", "last"), [(PAI_GOW, 19), (ASIA, 14), (SAIGON, 2)])
def test_a_table_without_its_last_rule_leaves_a_hand_over(game: str, last: int) -> None:
    with pytest.raises(BadHouseWay, match=r"no rule sets .* \(") as refused:
        prove_house_way(game, without(game, last))
    named = str(refused.value).partition("no rule sets ")[2].partition(" (")[0]
    with pytest.raises(BadHand, match="does not set"):
        own_house_way(policy_of(game).form, without(game, last)).set_hands(parse_cards(named))


@pytest.mark.parametrize("number", [2, 8, 11, 16, 17])
def test_the_proof_agrees_with_hands_dealt_at_random(number: int, seed: int) -> None:
    """Without one of its rules a table sets every hand of thousands, or the proof names one that it does not set."""
    rng = random.Random(seed)
    form, text = policy_of(PAI_GOW).form, without(PAI_GOW, number)
    policy = own_house_way(form, text)
    objected = objections(form, policy.table, {"fours_kept_to": "6"})
    failing = [cards for cards in dealt(rng) if not sets(policy, cards)]
    assert not failing or objected
    for objection in objected:
        named = objection.partition("no rule sets ")[2] or objection.partition(" and ")[2]
        cards = parse_cards(named.partition(" (")[0].partition(":")[0])
        assert not sets(policy, cards), objection


def dealt(rng: random.Random) -> Iterator[tuple[int, ...]]:
    """Hands as they are dealt, and hands with many equal cards and with long suits."""
    equal = hands_with(*GROUP_WORDS[:9])
    drawn = (in_drawn_suits(rng, hand) for hand in rng.sample(equal, 150))
    suited = (tuple(rng.sample([*range(at, 52, 4), *rng.sample(range(52), 2), JOKER], 7)) for at in range(4))
    whole = (tuple(rng.sample(range(53), 7)) for _ in range(100))
    return (hand for hand in chain(drawn, suited, whole) if len(set(hand)) == 7)


def sets(policy: HouseWay, cards: Sequence[int]) -> bool:
    try:
        hands = policy.set_hands(cards)
    except BadHand:
        return False
    return sorted(card for hand in hands for card in hand) == sorted(cards)


# --- table.toml -------------------------------------------------------------------------------------------------------


def config_with(folder: Path, data: bytes | None, game: str = PAI_GOW) -> Path:
    file = write_config(folder, example(game).replace("#house_way_table =", "house_way_table =", 1))
    own = folder / "house-way.toml"
    own.unlink(missing_ok=True)
    if data is not None:
        own.write_bytes(data)
    return file


def test_a_table_toml_names_the_certificate_holders_own_table(tmp_path: Path) -> None:
    config = load_config(config_with(tmp_path, SHORT.encode()))
    assert (config.submission.house_way, config.submission.house_way_table) == ("own", SHORT)
    changed = SHORT.replace('"no pair", "one pair"', '"one pair"')
    (tmp_path / "house-way.toml").write_text(changed, "utf-8")
    other = load_config(tmp_path / "table.toml")
    assert other.submission.house_way_table == changed
    digests = [digests_of(each.edition, each.submission, each.kinds)[CONFIGURATION] for each in (config, other)]
    assert digests[0] != digests[1], "the journal tells which table set the hands"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (None, "No such file or directory"),
        (b"name = '\xff'", "not UTF-8: byte 9 cannot be read"),
        (b"", "a table has 1 to 200 rules"),
        (SHORT.replace("where_possible", "whre_possible").encode(), "did you mean where_possible?"),
        (SHORT.partition("[[rule]]\nreason")[0].encode(), "no rule sets "),
        (rules_of('cards = ["one pair"]\nset = { low = "pair" }', "").encode(), "is foul"),
    ],
)  # fmt: skip
def test_a_table_toml_whose_house_way_cannot_be_used_is_refused(
    tmp_path: Path, data: bytes | None, message: str
) -> None:
    problems: Any = examine(config_with(tmp_path, data)).problems
    assert {problem.code for problem in problems} == {"PB-625"}
    assert all(str(tmp_path / "house-way.toml") in str(problem) for problem in problems)
    assert any(message in str(problem) for problem in problems)


def test_bytes_that_are_no_text_are_named() -> None:
    with pytest.raises(BadHouseWay, match="not UTF-8: byte 1 cannot be read"):
        decode(b"\x80")
