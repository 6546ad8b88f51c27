"""Broken data is found on loading, and every error is named."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from firmware_bridge.errors import BadRulebook
from table_controller.rulebook import loader, texts

DATA = Path(loader.__file__).parent / "data"
PAI_GOW = (DATA / "688a" / "edition.toml").read_text("utf-8")

ROW = """
[[irregularities]]
id = "688a:P1/2"
trigger = "shoe_fault"
from_phase = "dealing"
until_phase = "dealing"
outcomes = ["continue_round"]
scope = "round"
acknowledges = "dealer"
evidence = ["path_clear"]
order = 9
see = ["P1"]
"""


def broken(old: str, new: str, text: str = PAI_GOW) -> str:
    """Load the edition with one change; return the errors."""
    assert old in text
    with pytest.raises(BadRulebook) as caught:
        loader.parse(text.replace(old, new, 1).encode())
    return str(caught.value)


def with_row(old: str, new: str) -> str:
    return broken("order = 9", "order = 9", PAI_GOW + ROW.replace(old, new, 1))


def test_the_data_as_it_is_loads() -> None:
    assert loader.parse(PAI_GOW.encode()).game == "face_up_pai_gow"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('outcomes = ["no_roll_reshake"]', 'outcomes = ["try_again"]', "Invalid enum value 'try_again'"),
        ('trigger = "dice_not_flat"', 'trigger = "dice_crooked"', "Invalid enum value 'dice_crooked'"),
        ('clause = "688a.3(a)"\n', "", "missing required field `clause`"),
        ("per_deck = 53", "per_deck = 53\nsuits = 4", "unknown field `suits`"),
        ("evidence = ", "evidance = ", "unknown field `evidance`"),
        ("per_deck = 53", 'per_deck = "53"', "Expected `int`, got `str`"),
        ("game =", "game", "cannot be read"),
        ("count = 53", "count = 52", "cards.count is 52, but 1 x 53 cards are used"),
        ("split = [5, 2]", "split = [4, 2]", "hand.split [4, 2] does not make 7"),
        ("expected = 4", "expected = 5", "49 cards dealt and a stub of 5 do not make 53"),
        ("least = 6\nmost = 6", "least = 7\nmost = 6", "seats: least must be"),
        ("hand = 4\n", "", "change_hours must name exactly the dealing methods"),
        ('barred_by = ["ace_high"', 'barred_by = ["aces"', "no wager is called aces"),
        ('repeats = ["spread"', 'repeats = ["inspect_again"', "no opening step is called inspect_again"),
        ('default = "counted"', 'default = "ignored"', "the default ignored is not one of its values"),
        ('"dealer_hand_misset",\n', "", "precedence must name every trigger once: ['dealer_hand_misset']"),
        ('table = "688a-progressive-6"', 'table = "688a-progressive-8"', "no wager is paid by 688a-progressive-8"),
        ("first_deal = 7", "first_deal = 6", "6 and 0 cards do not make 7"),
        ('at = "dice.number"', 'at = "dice.sides"', "dice.sides is not a number of this edition"),
        ('clauses = ["688a.13(a)"]', 'clauses = ["575.13(a)"]', "575.13(a) is not a clause of chapter 688a"),
        ('clauses = ["688a.13(a)"]', "", "row 688a.13(a) cites neither a clause nor a reading"),
        ('id = "688a.13(b)"', 'id = "688a.13(z)"', "row 688a.13(z) must be called 688a.13(b), its first clause"),
        ('when = { dealing = ["automated_shoe"], deck = ["in_play"] }', "", "overlap for shoe_fault"),
        ("order = 2\n", "", "two rows of wrong_start_dealt have the same order"),
        ('until_phase = "settling"', 'until_phase = "betting"', "from_phase is after until_phase"),
        ('from_phase = "any"', 'from_phase = "idle"', "from_phase and until_phase must both be any"),
    ],
)  # fmt: skip
def test_errors_in_an_edition_are_named(old: str, new: str, message: str) -> None:
    assert message in broken(old, new)


def test_errors_in_a_row_are_named() -> None:
    assert "rows 688a.13(l) and 688a:P1/2 overlap for shoe_fault" in with_row("order = 9", "order = 9")
    assert "row 688a:P1 appears twice" in with_row("688a:P1/2", "688a:P1")
    assert "its id must begin with 688a:" in with_row("688a:P1/2", "P1/2")
    assert "row 688a:P1/2 orders nothing" in with_row('["continue_round"]', "[]")
    assert "belong together" in with_row('["continue_round"]', '["ask_floorperson"]')
    assert "the player decides, but no choices are given" in with_row(
        'scope = "round"', 'scope = "seat"\ndecides = "player"'
    )
    assert "rows 688a.13(m) and 688a:P1/2 overlap for device_unusable" in with_row(
        'trigger = "shoe_fault"', 'trigger = "device_unusable"'
    )


def test_an_overlap_is_not_hidden_by_another_name_or_by_the_hand_deal() -> None:
    """`also` and hand_deal_over are part of the comparison."""
    also = with_row('trigger = "shoe_fault"', 'trigger = "dealer_card_exposed"\nalso = ["card_exposed_hand_deal"]')
    assert "rows 688a.13(i) and 688a:P1/2 overlap for card_exposed_hand_deal" in also
    problem = broken("when = { hand_deal_over = true }\n", "")
    assert "rows 688a.13(d) and 688a.13(i) overlap for player_card_exposed" in problem


def test_all_errors_are_named_at_once() -> None:
    text = PAI_GOW.replace("split = [5, 2]", "split = [4, 2]")
    problem = broken("expected = 4", "expected = 5", text)
    assert "hand.split" in problem
    assert "stub of 5" in problem


def test_the_digest_depends_on_the_content_only() -> None:
    digest = loader.parse(PAI_GOW.encode()).digest
    assert len(digest) == 32
    assert loader.parse(("# a comment\n" + PAI_GOW).encode()).digest == digest
    assert loader.parse(PAI_GOW.replace("max_hours = 24", "max_hours = 23").encode()).digest != digest
    assert loader.parse(PAI_GOW.replace('title = "Face', 'title = "Open').encode()).digest != digest


@pytest.fixture
def damaged(monkeypatch: pytest.MonkeyPatch) -> dict[str, tuple[str, str]]:
    """Read the files with one change each: name -> (old, new)."""
    changed: dict[str, tuple[str, str]] = {}

    def read(name: str) -> bytes:
        text = (DATA / name).read_text("utf-8")
        if name in changed:
            old, new = changed[name]
            assert old in text
            text = text.replace(old, new, 1)
        return text.encode()

    monkeypatch.setattr(texts, "read", read)
    for name in ("clause_vocabulary", "readings"):  # read again here, and cleared from the cache afterward
        monkeypatch.setattr(texts, name, cache(getattr(texts, name).__wrapped__))
    return changed


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        ("575/clauses.toml", 'kind = "settle"', 'kind = "sette"', "575.1:Copy hand: there is no kind sette"),
        ("575/clauses.toml", 'trigger = "config"', 'trigger = "confog"', "there is no trigger confog"),
        ("575/clauses.toml", 'devices = ["shaker"', 'devices = ["dice"', "there is no device dice"),
        ("575/clauses.toml", 'outcome = ["void_round"', 'outcome = ["undo"', "Invalid enum value 'undo'"),
        ("575/clauses.toml", 'see = ["A9"]', 'see = ["A99"]', "there is no reading A99"),
        ("575/clauses.toml", 'start = ["shaker"]', 'start = ["cup"]', "applies_when start cannot be cup"),
        ("575/clauses.toml", "applies_when = { option", "applies_when = { options", "applies_when options cannot be"),
        ("575/clauses.toml", '"575.2(b)"', '"575.2(a)"', "575.2(a) appears twice"),
        ("575/clauses.toml", '"575.2(b)"', '"576.2(b)"', "576.2(b) is not of chapter 575"),
        ("575/clauses.toml", 'enforce = "compute"', 'enforce = "hope"', "Invalid enum value 'hope'"),
        ("575/clauses.toml", "[[clauses]]", "[[clause]]", "575/clauses.toml"),
        ("575/clauses.toml", 'id = "', 'id = ', "575/clauses.toml cannot be read"),
        ("readings.toml", 'id = "X2"', 'id = "X1"', "X1 appears twice"),
        ("readings.toml", "ruling = true", 'ruling = "yes"', "Expected `bool`"),
        ("words.toml", "[device]", "[devices]", "words.toml cannot be read"),
    ],
)  # fmt: skip
def test_errors_in_clauses_are_named(
    damaged: dict[str, tuple[str, str]], name: str, old: str, new: str, message: str
) -> None:
    damaged[name] = (old, new)
    with pytest.raises(BadRulebook) as caught:
        texts.clauses.__wrapped__("asia_poker")
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("pay = { odds = [1, 1] }", "pay = { odds = [1, 1], push = true }", "and nothing else"),
        ("pay = { odds = [1, 1] }", "envy_cents = 5", "one pay, or one by wild cards"),
        ("odds = [1, 1]", "odds = [1, 1, 1]", "Expected `array` of length 2"),
        ('id = "575-bonus-A"', 'id = "575-main"', "575-main appears twice"),
        ('see = ["A3"', 'see = ["A33"', "there is no reading A33"),
    ],
)
def test_errors_in_paytables_are_named(damaged: dict[str, tuple[str, str]], old: str, new: str, message: str) -> None:
    damaged["575/paytables.toml"] = (old, new)
    with pytest.raises(BadRulebook) as caught:
        texts.paytables.__wrapped__("asia_poker")
    assert message in str(caught.value)
