"""`pitbox hand`: the best hand, the line, the clause and the amount; one hand or one a line."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from firmware_bridge.errors import BadHand
from table_controller import rulebook
from table_controller.cli import USAGE, main
from table_controller.rulebook.cards import format_cards, parse_cards
from table_controller.rulebook.settlement.appraise_hand import AppraisalRequest, appraise_hand
from tests.support.core.settled_rounds import terms

ROYAL = "As Ks Qs Js Ts Kd Qd"


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "300")


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["hand", *words]) == 0
    return capsys.readouterr().out


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["hand", *words]) == USAGE
    out = capsys.readouterr()
    assert out.out == ""
    return out.err


def test_a_claimed_progressive_hit(capsys: pytest.CaptureFixture[str]) -> None:
    shown = printed(capsys, "face_up_pai_gow", ROYAL, "--wager", "progressive", "--paytable", "4")
    for part in (
        "Face Up Pai Gow Poker (688a)",
        "royal flush plus royal match",
        "688a-progressive-4  Royal Flush + Royal Match",
        "wins $5,000.00 and 20 % of the meter; the wager is returned as well",
        "688a.12(d)/1",
        "F21",
    ):
        assert part in shown


def test_every_paytable_of_a_wager_side_by_side(capsys: pytest.CaptureFixture[str]) -> None:
    shown = printed(capsys, "688a", "9s 9h 7d 7c 5s 5d Qd", "--wager", "fortune")
    assert shown.count("688a-fortune-") == 6
    assert shown.count("no line") == 5
    assert "688a-fortune-1  Three Pair  pushes" in shown


def test_the_hand_alone_with_its_setting(capsys: pytest.CaptureFixture[str]) -> None:
    shown = printed(capsys, "575", "As Ah 6d 3c | Ts 9s | Ad")
    assert "foul   575.11(f)(1)(iv): Foul: medium hand not above low hand loses" in shown
    shown = printed(capsys, "saigon_5_card", "Jk 8s 6d 5h 2c")
    assert "qualifies, Point Count 10; ace high with 8-6-5-2" in shown
    assert "foul" not in printed(capsys, "688a", "7s 7h Ks Qs Js | 7d 7c")


def test_an_amount_and_a_setting(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("dj_wild", "9s 9h Jk 7s 4s", "--wager", "progressive", "--paytable", "2", "--replacement", "9d")
    assert "wins $45.00; the wager is not returned" in printed(capsys, *words)
    assert "Assumed; the Rules Submission must state it (--set): envy_paid_to" in printed(capsys, *words)
    output = printed(capsys, *words, "--set", "stake_returned=yes")
    assert "wins $45.00; the wager is returned as well" in output
    assert "stake_returned =" not in output
    trips = printed(capsys, "dj_wild", "9s 9h 9d 7s 4s", "--wager", "trips", "--paytable", "DJWT-04", "--bet", "2.50")
    assert "wins $15.00" in trips


def test_a_wager_against_the_dealer(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("688a", "As Ah 8d 6c 3s | Ad Jd", "--wager", "face_up_pai_gow_poker")
    assert "wins $5.00" in printed(capsys, *words, "--dealer", "Ks Kh 9d 7c 4s Qd Jc")
    assert "needs the dealer's hand: enter it (688a.11(c))" in refused(capsys, *words)
    wheel = ("575", "Ac 2c 3c 4s | 5s 5h | 2h", "--wager", "asia_poker", "--dealer", "Kh Qd Jh Th 3d 3s 2d")
    assert "wins" in printed(capsys, *wheel)
    assert "loses" in printed(capsys, *wheel, "--set", "wheel_lowest_straight=yes")


@pytest.mark.parametrize(
    ("words", "output"),
    [
        (("688a", "As As 2d 3c 4h 5s 6d"), "PB-621 bad hand: As appears 2 times, the cards in use have 1"),
        (("688a", "As 2d 3c"), "3 cards; a hand has 7"),
        (("688a", "As 2d 3c 4h 5s 6d 1x"), "'1x' is not a card"),
        (("688b", ROYAL), "there is no game 688b (nearest: 688a"),
        (("688a", ROYAL, "--wager", "trips"), "Face Up Pai Gow Poker has no wager trips; it has face_up_pai_gow_poker"),
        (("688a", ROYAL, "--wager", "fortune", "--paytable", "9"), "9 is not a paytable of fortune; use one of 688a-"),
        (("688a", ROYAL, "--wager", "progressive", "--paytable", "4", "--bet", "1"), "100 cents must be 500"),
        (("688a", ROYAL, "--wager", "fortune", "--bet", "five"), "'five' is not an amount; write 5 or 2.50"),
        (("688a", ROYAL, "--wager", "fortune", "--set", "x"), "--set x: write NAME=VALUE"),
        (("688a", ROYAL, "--wager", "fortune", "--set", "x=y"), "settings: there is no x"),
        (("687a", "9s 9h Jk 7s 4s", "--wager", "progressive"),
         "needs the replacement card for the joker: enter it (687a.11(f)(1))"),
        (("687a", "9s 9h Jk 7s 4s", "--wager", "progressive", "--replacement", "9d 8d"), "2 replacement cards"),
        (("686a", "2s 3s 4s", "--wager", "ante"), "ask about over_23 or under_18"),
        (("575", "As Ah Qs Qh Ts 6d 3c", "--wager", "asia_poker", "--dealer", "Ks Kh 9d 7c Qd Jc 8d"),
         "the Asia Poker Wager needs the hands as the player set them (575.11(b)), such as As Ah 6d 3c | Qs Qh | Ts"),
        (("680a", "Ks Kh 4s Kd 3s", "--wager", "ante", "--dealer", "9s 8h 3d 9h 2s"),
         "needs the hands as the player set them (680a.11(b)(1)), such as "),
        (("688a", "As Ah 8d 6c 3s Ad Jd", "--wager", "face_up_pai_gow_poker", "--dealer", "Ks Kh 9d 7c 4s Qd Jc"),
         "needs the hands as the player set them (688a.11(b)), such as "),
        (("687a", "9s 9h | Jk 7s 4s"), "DJ Wild Stud Poker sets no hands"),
        (("688a",), "name a game and its cards"),
        ((), "name a game and its cards"),
    ],
)  # fmt: skip
def test_impossible_questions_are_refused(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...], output: str
) -> None:
    assert output in refused(capsys, *words)


def streamed(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, lines: str, *words: str
) -> tuple[int, list[Any]]:
    monkeypatch.setattr("sys.stdin", io.StringIO(lines))
    code = main(["hand", *words, "--json"])
    return code, [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_one_hand_a_line(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    lines = (
        '{"game": "686a", "cards": "As Ah Ad", "wager": "bonus"}\n\n{"game": "dj_wild", "cards": "2s 2h 2d 2c Jk"}\n'
    )
    code, (bonus, wild) = streamed(capsys, monkeypatch, lines)
    assert code == 0
    assert bonus["results"][0]["paid_cents"] == 25_000
    assert bonus["results"][0]["clauses"] == ["686a.7(k)", "686a.8(b)", "686a.3(d)"]
    assert wild["hand"] == "five wilds, with wild"


def test_lines_of_cards_take_the_game_from_the_command(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    code, answers = streamed(
        capsys, monkeypatch, f"{ROYAL}\n{ROYAL}\n", "688a", "--wager", "fortune", "--paytable", "1"
    )
    assert code == 0
    assert [each["results"][0]["line"] for each in answers] == ["Royal Flush + Royal Match"] * 2


def test_a_bad_line_is_answered_and_the_next_goes_on(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = '{"game": "686a"}\n{"game": "x", "cards": ""}\nAs\n{"cards\n{"game": "686a", "cards": "As Ah Ad"}\n'
    code, answers = streamed(capsys, monkeypatch, lines)
    assert code == USAGE
    assert [each.get("error", {}).get("code") for each in answers] == ["PB-621", "PB-856", "PB-621", "PB-621", None]
    assert answers[-1]["hand"] == "total 33"


def test_one_hand_as_data(capsys: pytest.CaptureFixture[str]) -> None:
    parsed = json.loads(printed(capsys, "688a", ROYAL, "--json"))
    assert parsed["cards"] == ROYAL
    assert parsed["holds"][0] == "royal_flush_plus_royal_match"


@pytest.mark.parametrize("game", rulebook.GAMES)
def test_every_wager_of_every_game_can_be_asked_about(game: str) -> None:
    edition = rulebook.edition(game)
    hands = {3: ("2s 3s 4s", None), 5: ("9s 9h 9d 7s 4s", "Ks Kh 8d 6c 3s"), 7: (ROYAL, "2s 2h 8d 6c 3s 9d Jc")}
    size = edition.hand.cards
    cards, dealer = hands.get(size) or (format_cards(range(size)), format_cards(range(size, 2 * size)))
    if edition.hand.split:
        setting = terms(game).set_by_house_way(parse_cards(cards))
        cards = " | ".join(format_cards(hand) for hand in setting)
    for wager in edition.wagers:
        if (game, wager.name) == ("over_under", "ante"):
            continue
        answer = appraise_hand(AppraisalRequest(game=game, cards=cards, wager=wager.name, dealer=dealer))
        assert len(answer.results) == len(wager.tables)
        assert all(result.wager == wager.name for result in answer.results)


def test_an_unknown_game_in_data() -> None:
    with pytest.raises(BadHand, match="there is no game poker; the games are asia_poker"):
        appraise_hand(AppraisalRequest(game="poker", cards=ROYAL))
