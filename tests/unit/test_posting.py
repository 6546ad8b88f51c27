"""The posting of a table shows every wager offered and every line that settlement pays, and nothing else."""

from __future__ import annotations

import json
import random
import re
from itertools import product
from typing import TYPE_CHECKING, Any, Final

import msgspec
import pytest

from table_controller import rulebook
from table_controller.cli import USAGE, main
from table_controller.config import load_config
from table_controller.config.example import example
from table_controller.rulebook import registry, texts
from table_controller.rulebook.cards import JOKER, NOTATION, format_cards, parse_cards
from table_controller.rulebook.game_rules import game_rules
from table_controller.rulebook.games.over_under import hands as over_under
from table_controller.rulebook.posting.build import build_posting, dollars
from table_controller.rulebook.posting.render import posting_html, posting_text
from table_controller.rulebook.settlement.dealt_round import Seat
from table_controller.rulebook.settlement.terms import SettlementTerms
from tests.support.box.configs import write_config
from tests.support.core.settled_rounds import only_result, seat, settle_round, terms

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from table_controller.rulebook.posting.parts import Posting
    from table_controller.rulebook.settlement.dealt_round import WagerResult

# A line as settlement pays it: wager, line as printed, push, share of the meter, cents.
Paid = tuple[str, str, bool, int, int]

# Seven cards for every line of a bonus, a Fortune and a progressive table.
SEVEN: Final = (
    "8s 8h 8d 8c Ks Kh Kd", "As Ah Ad Ac Jk 9h 4d", "As Ks Qs Js Ts 4d 3h", "As Ks Qs Js Jk 4d 3h",
    "9s 8s 7s 6s 5s Kd Qh", "9s 8s 7s 6s Jk Kd Qh", "Ks Kh Kd Kc 9s 7d 3h", "9s 8h 7d 6c 4s 3h 2d",
    "Ks Kh Kd 9c 9s 7d 3h", "Ks Qs 9s 7s 3s 4d 2h", "Ks Kh Kd 9c 7s 4d 2h", "9s 8h 7d 6c 5s Kd 2h",
    "9s 8s 7s 6s 5s 4s 3s", "9s 8s 7s 6s 5s 4s Jk", "As Ks Qs Js Ts Kd Qd", "Ks Kh 9d 9c 7s 7h 2d",
    "Ks Kh Kd Kc Jk 7d 3h", "Ks Kh Kd Jk 9s 7d 3h", "As Kd Qh Jc 9s 7d 5h", "Jk Kd Qh Tc 9s 7d 5h",
    "Ks Qd Jh 9c 8s 4d 3h", "Jk Kh Kd 9c 7s 4d 2h",
)  # fmt: skip
# Five cards, with and without wild ones.
FIVE: Final = (
    "2s 2h 2d 2c Jk", "As Ks Qs Js Ts", "As Ks Qs Js 2d", "As Ks Qs Js Jk", "9s 9h 9d 9c 2s", "9s 9h 9d 9c Jk",
    "9s 8s 7s 6s 5s", "9s 8s 7s 6s 2d", "9s 8s 7s 6s Jk", "9s 9h 9d 9c Ks", "9s 9h 9d 2c Ks", "9s 9h 9d Ks Kh",
    "9s 9h 2d Ks Kh", "Ks Qs 9s 7s 3s", "Ks Qs 9s 7s 2d", "Ks Qs 9s 7s Jk", "9s 8h 7d 6c 5s", "9s 8h 7d 6c 2d",
    "9s 8h 7d 6c Jk", "9s 9h 9d Ks 3h", "9s 9h 2d Ks 3h", "9s 9h Jk Ks 3h", "9s 9h Ks Kh 3d", "As Ah Ad Ac Jk",
    "Ks Qh 9d 7c 3s", "9s 9h Ks 7d 3h", "Th 9h 4d 6c 5s", "Ts 9h 2d 8c 5s", "3s 3h 4d Tc Jh",
)  # fmt: skip


def submissions() -> Iterator[tuple[str, dict[str, Any]]]:
    """Every paytable of every optional wager, and every answer to a reading that changes what is paid."""
    for game in rulebook.GAMES:
        wagers = [wager for wager in rulebook.edition(game).wagers if wager.option]
        most = max((len(wager.tables) for wager in wagers), default=0)
        for number in range(most):
            yield game, {"paytables": {wager.name: wager.tables[number % len(wager.tables)] for wager in wagers}}
    yield "asia_poker", {"settings": {"bonus_lines": "nine_high_or_better"}}
    yield "dj_wild", {"settings": {"bad_beat_pays": "either_hand", "stake_returned": "yes"}}
    yield "dj_wild", {"settings": {"progressive_wilds": "twos"}, "folded_progressive": True}
    yield "face_up_pai_gow", {"settings": {"envy_wagers": "fortune"}}
    yield "face_up_pai_gow", {"most_wagers_cents": {"fortune": 400}}


SUBMISSIONS: Final = list(submissions())
IDS: Final = [f"{game}-{number}" for number, (game, _) in enumerate(SUBMISSIONS)]


# --- what settlement pays ---------------------------------------------------------------------------------------------


def as_set(game: str, cards: str) -> str:
    """Cards with the bars of a setting; the first house way sets them."""
    policies = game_rules(game).house_ways
    if not policies:
        return cards
    return " | ".join(format_cards(hand) for hand in next(iter(policies.values())).set_hands(parse_cards(cards), {}))


def pairs_of_hands(game: str, rng: random.Random) -> Iterator[tuple[str, str]]:
    """Cards of a player and of the dealer that have no card in common: the listed ones, and others at random."""
    number = rulebook.edition(game).hand.cards
    listed = {1: NOTATION, 5: FIVE, 7: SEVEN}[number]
    for one, other in product(listed, listed):
        if not {*one.split()} & {*other.split()}:
            yield one, other
    for cards in listed:
        left = [card for card in range(JOKER + 1) if NOTATION[card] not in cards.split()]
        for _ in range(4):
            yield cards, format_cards(rng.sample(left, number))
            yield format_cards(rng.sample(left, number)), cards


def amounts(at: SettlementTerms) -> dict[str, int]:
    """An amount for every wager of a hand that plays on, except those that the player's decision adds."""
    chosen = {}
    for wager in at.edition.wagers:
        if at.offers(wager.name) and not wager.decision:
            unit = at.table(wager.name).unit_cents
            most = at.submission.most_wagers_cents.get(wager.name, 500)
            chosen[wager.name] = most if unit is None else unit
    return chosen


def results_of(game: str, at: SettlementTerms, rng: random.Random) -> Iterator[WagerResult]:
    """The results of many rounds, so that every line that can be paid is paid."""
    wagers = amounts(at)
    if game == "over_under":
        for total in range(6, 34):
            cards = cards_of_total(total)
            for decided in ("over_23", "under_18"):
                yield from settle_round(at, seat(1, cards, **wagers, **{decided: wagers["ante"]}))
        return
    if game == "dj_wild":
        wagers["raise"] = 2 * wagers["ante"]
    for own, dealer in pairs_of_hands(game, rng):
        left = [card for card in range(JOKER) if NOTATION[card] not in (*own.split(), *dealer.split())]
        other = format_cards(rng.sample(left, len(own.split())))
        replacement = next((NOTATION[card] for card in left if NOTATION[card] not in other.split()), "")
        seats = [seat(2, as_set(game, own), **wagers), seat(5, as_set(game, other), **wagers)]
        yield from settle_round(
            at, *seats, dealer=as_set(game, dealer), replacement="" if game != "dj_wild" else replacement
        )


def cards_of_total(total: int) -> str:
    """Three cards of an Over/Under hand with this total."""
    values = {value: rank for rank, value in enumerate(over_under.VALUES)}
    for three in product(sorted(values), repeat=3):
        if sum(three) == total:
            return " ".join(NOTATION[values[value] * 4 + place] for place, value in enumerate(three))
    raise AssertionError(total)


def paid_lines(results: Iterator[WagerResult]) -> set[Paid]:
    """The lines that settlement paid, envy marked by the name of its wager."""
    lines = set()
    for result in results:
        if result.line is not None and result.outcome in ("wins", "pushes"):
            name = result.wager if result.envy_of is None else f"{result.wager} envy"
            lines.add((name, result.line, result.outcome == "pushes", result.meter_percent, result.paid_cents))
    return lines


# --- what the posting shows -------------------------------------------------------------------------------------------


def posted_lines(posting: Posting, wagers: dict[str, int]) -> set[Paid]:
    """The lines of the posting, with what they pay for a wager of these amounts."""
    lines = set()
    for wager in posting.wagers:
        for line in wager.lines:
            for head, text in zip(wager.columns, line.pays, strict=True):
                if text != "n/a":
                    name = f"{wager.wager} envy" if head == "Envy" else wager.wager
                    lines.add((name, line.hand, *read_pay(text, wagers[wager.wager])))
    return lines


def read_pay(text: str, cents: int) -> tuple[bool, int, int]:
    """A printed pay as push, share of the meter and cents."""
    if text == "Push":
        return True, 0, 0
    if odds := re.fullmatch(r"([\d,]+) to (\d+)", text):
        return False, 0, cents * int(odds[1].replace(",", "")) // int(odds[2])
    share = re.search(r"(\d+)% of meter", text)
    fixed = re.search(r"\$([\d,]+)(?:\.(\d\d))?", text)
    paid = 0 if fixed is None else int(fixed[1].replace(",", "")) * 100 + int(fixed[2] or 0)
    return False, 0 if share is None else int(share[1]), paid


@pytest.mark.parametrize(("game", "choices"), SUBMISSIONS, ids=IDS)
def test_every_line_that_settlement_pays_is_posted_and_nothing_else(
    game: str, choices: dict[str, Any], seed: int
) -> None:
    at = terms(game, **choices)
    wagers = amounts(at)
    for wager in at.edition.wagers:
        if wager.decision:
            wagers[wager.name] = (2 if wager.amount == "twice_ante" else 1) * wagers["ante"]
    posting = build_posting(at)
    assert [wager.wager for wager in posting.wagers] == [
        each.name for each in at.edition.wagers if at.offers(each.name)
    ]
    paid = paid_lines(results_of(game, at, random.Random(seed)))
    posted = posted_lines(posting, wagers)
    assert paid - posted == set(), "paid, and not posted"
    assert posted - paid == set(), "posted, and never paid"
    cited = [rule.clause for rule in posting.rules] + [wager.clause for wager in posting.wagers]
    assert all(rulebook.clause(clause).duty for clause in cited)


@pytest.mark.parametrize("game", rulebook.GAMES)
def test_a_wager_that_is_not_offered_is_not_posted(game: str) -> None:
    edition = rulebook.edition(game)
    shown = build_posting(SettlementTerms(edition, rulebook.default_submission(edition)))
    options = [wager for wager in edition.wagers if wager.option]
    assert [wager.wager for wager in shown.wagers] == [each.name for each in edition.wagers if not each.option]
    assert not any(wager.title in text for wager in options for text in shown.texts())


@pytest.mark.parametrize(
    ("game", "name", "old", "new", "cards", "wager", "paid"),
    [
        ("over_under", "686a/paytables.toml", "totals = [6, 33], pay = { odds = [50, 1] }",
         "totals = [6, 33], pay = { odds = [47, 1] }", "2s 2h 2d", "bonus", "47 to 1"),
        ("saigon_5_card", "680a/paytables.toml", "odds = [8, 1]",
         "odds = [9, 1]", "9s 9h Ks | Kh 3d", "bonus", "9 to 1"),
    ],
)  # fmt: skip
def test_one_changed_line_changes_settlement_and_posting_together(
    game: str, name: str, old: str, new: str, cards: str, wager: str, paid: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    committed = registry.read

    def changed(asked: str) -> bytes:
        data = committed(asked)
        if asked != name:
            return data
        assert data.count(old.encode()) == 1
        return data.replace(old.encode(), new.encode())

    def settled_and_posted() -> tuple[int, list[tuple[str, ...]], str]:
        at = terms(game)
        bets = amounts(at) | ({"over_23": 500} if game == "over_under" else {})
        dealer = "Ts 9d 4d | 6c 5s" if game == "saigon_5_card" else ""
        result = only_result(settle_round(at, seat(1, cards, **bets), dealer=dealer), wager)
        posting = build_posting(at)
        (posted,) = (each for each in posting.wagers if each.wager == wager)
        return (
            result.paid_cents // 500,
            [line.pays for line in posted.lines if line.hand == result.line],
            posting.number,
        )

    before, shown, number = settled_and_posted()
    assert shown == [(f"{before} to 1",)]
    monkeypatch.setattr(texts, "read", changed)
    texts.paytables.cache_clear()
    try:
        after, shown, other = settled_and_posted()
    finally:
        monkeypatch.undo()
        texts.paytables.cache_clear()
    assert (f"{after} to 1", shown) == (paid, [(paid,)])
    assert after != before
    assert other != number


# --- limit, surrender and special rules -------------------------------------------------------------------------------


@pytest.mark.parametrize("game", ["asia_poker", "saigon_5_card"])
def test_the_payout_limit_that_cuts_payments_is_posted(game: str) -> None:
    least = dict.fromkeys(amounts(terms(game)), 500)
    at = terms(game, payout_limit_cents=7_654_321, least_wagers_cents=least)
    limit = build_posting(at).limit
    assert limit is not None
    assert "$76,543.21" in limit.text
    assert at.edition.payout_limit is not None
    assert limit.clause == at.edition.payout_limit.clause
    assert limit.text in build_posting(at).texts()
    aces = "As Ah Ad Ac | Jk 9h | 4d" if game == "asia_poker" else "As Ah Ad | Ac Jk"
    dealer = "Ks Kh 8d 7c | Qd Jc | 6d" if game == "asia_poker" else "Ts 9d 4d | 6c 5s"
    rich = dict.fromkeys(least, 2_000_000)
    paid = sum(result.paid_cents for result in settle_round(at, seat(1, aces, **rich), dealer=dealer))
    assert dollars(paid) == "$76,543.21"
    assert build_posting(terms(game)).limit is None


@pytest.mark.parametrize("folded_progressive", [False, True])
@pytest.mark.parametrize("game", ["asia_poker", "over_under", "dj_wild", "face_up_pai_gow"])
def test_what_a_player_who_gives_up_loses_is_posted(game: str, folded_progressive: bool) -> None:
    more = {"folded_progressive": folded_progressive} if game == "dj_wild" else {}
    at = terms(game, **more)
    rule = at.edition.surrender
    assert rule is not None
    wagers = {name: cents for name, cents in amounts(at).items() if name not in rule.barred_by}
    cards = {"over_under": "2s 2h 2d", "dj_wild": "9s 9h 9d 4c 3s"}.get(game, "As Kd Qh Jc 9s 6d 3h")
    dealer = {"over_under": "", "dj_wild": "Ks Qh 9c 7c 3h"}.get(game, as_set(game, "Ks Qd Jh 9c 8s 4d 2h"))
    results = settle_round(at, Seat(number=1, cards=parse_cards(cards), wagers=wagers, fate="gave_up"), dealer=dealer)
    losing = [result.wager for result in results if result.outcome == "loses"]
    lost = [wager.title for wager in at.edition.wagers if wager.name in losing]
    texts_ = [posted.text for posted in build_posting(at).rules]
    (loses,) = [text for text in texts_ if text.startswith(f"A player who {rule.kind}s loses the")]
    titles = [wager.title for wager in at.edition.wagers if wager.title in loses]
    assert titles == lost
    for wager in at.edition.wagers:
        if wager.name in rule.barred_by:
            assert any(wager.title in text and f"may not {rule.kind}" in text for text in texts_)


def test_over_under_posts_its_three_inscriptions_and_which_totals_win() -> None:
    shown = [rule.text for rule in build_posting(terms("over_under")).rules]
    assert shown[:3] == [
        "All bets pay even money except for Bonus Bets.", "House wins on 18 to 23.", "Aces are always counted as 11.",
    ]  # fmt: skip
    spans = {"over_23": "Over 23 wins with a total of", "under_18": "Under 18 wins with a total of"}
    at = terms("over_under")
    for decided, words in spans.items():
        (text,) = [text for text in shown if text.startswith(words)]
        low, high = map(int, re.findall(r"\d+", text.removeprefix(words)))
        for total in range(6, 34):
            results = settle_round(at, seat(1, cards_of_total(total), ante=500, **{decided: 500}))
            assert (only_result(results, "ante").outcome == "wins") is (low <= total <= high)


def test_pai_gow_posts_that_an_ace_high_of_the_dealer_pushes() -> None:
    at = terms("face_up_pai_gow")
    rules = build_posting(at).rules
    assert rules[0].clause == "688a.2(b)(8)"
    assert "Ace High Pai Gow" in rules[0].text
    bet = {"face_up_pai_gow_poker": 500}
    dealer = as_set("face_up_pai_gow", "As Kd Qh Jc 9s 7d 5h")
    results = settle_round(at, seat(1, as_set("face_up_pai_gow", "Ks Qd Jh 9c 8s 4d 2h"), **bet), dealer=dealer)
    assert only_result(results, "face_up_pai_gow_poker").outcome == "pushes"


def test_a_choice_of_the_certificate_holder_changes_the_special_rules() -> None:
    def rules(game: str, **choices: Any) -> str:
        return " ".join(rule.text for rule in build_posting(terms(game, **choices)).rules)

    assert "A-2-3-4 is the second highest straight." in rules("asia_poker")
    assert "A-2-3-4 is the lowest straight." in rules("asia_poker", wheel_lowest_straight=True)
    assert "the 2s are not wild" in rules("dj_wild")
    assert "the 2s are wild" in rules("dj_wild", settings={"progressive_wilds": "twos"})
    assert "pays the player's hand" in rules("dj_wild")
    assert "pays the lower of the two hands" in rules("dj_wild", settings={"bad_beat_pays": "either_hand"})


# --- as text and as a page --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("game", rulebook.GAMES)
def test_text_and_page_show_every_text_of_the_posting(game: str) -> None:
    posting = build_posting(terms(game))
    text, page = posting_text(posting), posting_html(posting, "Table <7>", "<style></style>")
    assert "Table &lt;7&gt;" in page
    for each in posting.texts():
        assert each in text
        assert each.replace("'", "&#x27;") in page
    assert posting.number in text
    assert posting.number in page
    assert page.count("<article>") == len(posting.wagers)


def test_the_number_changes_with_every_text() -> None:
    posting = build_posting(terms("over_under"))
    same = msgspec.json.decode(msgspec.json.encode(posting), type=type(posting))
    assert same.number == posting.number
    other = msgspec.structs.replace(posting, rules=posting.rules[:-1])
    assert other.number != posting.number


# --- on the command line ----------------------------------------------------------------------------------------------


def test_the_command_prints_the_posting_of_a_table_and_of_a_game(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["rules", "posting", "686a"]) == 0
    simplest = capsys.readouterr().out
    assert "House wins on 18 to 23." in simplest
    assert "6 or 33" not in simplest
    path = write_config(tmp_path, example("dj_wild"))
    config = load_config(path)
    posting = build_posting(SettlementTerms(config.edition, config.submission))
    assert main(["rules", "posting", "--config", str(path)]) == 0
    assert capsys.readouterr().out == posting_text(posting)
    assert main(["rules", "posting", "--config", str(path), "--html"]) == 0
    page = capsys.readouterr().out
    assert page.startswith("<!doctype html>")
    assert f"<p>{config.name}</p>" in page
    assert "@page" in page, "the page brings its style"
    assert main(["rules", "posting", "--config", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["number"] == posting.number


def test_a_posting_needs_one_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", "posting", "686a", "--config", str(tmp_path / "table.toml")]) == USAGE
    assert "not both" in capsys.readouterr().err
    assert main(["rules", "posting", "687"]) == USAGE
    assert "687a" in capsys.readouterr().err
    assert main(["rules", "posting", "--config", str(tmp_path / "none.toml")]) == USAGE
    assert "none.toml is missing" in capsys.readouterr().err
