"""The registry: a folder with an edition is a game, in the order of the chapters; what is wrong is named."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

from firmware_bridge.errors import BadRulebook
from table_controller.rulebook import duties, game_rules, loader, registry
from table_controller.rulebook.game_rules import GameRules, provided
from table_controller.rulebook.payback.figures import studies_of
from table_controller.rulebook.payback.study import Study

DATA = Path(registry.__file__).parent / "data"


def with_edition(folder: Path, chapter: str, text: str) -> Path:
    (folder / chapter).mkdir()
    (folder / chapter / "edition.toml").write_text(text)
    return folder


def test_the_games_are_the_data_folders_in_the_order_of_their_chapters() -> None:
    folders = {path.name for path in DATA.iterdir() if path.is_dir()}
    assert set(registry.CHAPTERS.values()) == folders
    five = ("asia_poker", "saigon_5_card", "over_under", "dj_wild", "face_up_pai_gow")
    assert tuple(game for game in registry.GAMES if game in five) == five


def test_chapters_are_ordered_by_number_and_files_are_no_games(tmp_path: Path) -> None:
    for chapter in ("1000", "688a", "575", "688b"):
        with_edition(tmp_path, chapter, f'game = "game_{chapter}"\n\n[cards]\nthis is read later')
    (tmp_path / "readings.toml").write_text("")
    (tmp_path / "notes").mkdir()
    assert list(registry.chapters_in(tmp_path).values()) == ["575", "688a", "688b", "1000"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[game]\nname = 1", "999a/edition.toml must begin with the name of its game"),
        ('game = "New Game"', "999a/edition.toml must begin with the name of its game"),
        ("game = 5", "999a/edition.toml must begin with the name of its game"),
        ("game", "999a/edition.toml cannot be read"),
        ('game = "dj_wild"', "the chapters 687a and 999a both name the game dj_wild"),
    ],
)
def test_an_edition_without_its_own_name_is_refused(tmp_path: Path, text: str, message: str) -> None:
    with_edition(tmp_path, "687a", 'game = "dj_wild"')
    with pytest.raises(BadRulebook, match=message):
        registry.chapters_in(with_edition(tmp_path, "999a", text))


def test_an_edition_in_the_folder_of_another_chapter_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loader, "read", lambda _: registry.read("688a/edition.toml"))
    with pytest.raises(BadRulebook, match=r"687a/edition.toml is the edition of chapter 688a"):
        loader.edition.__wrapped__("dj_wild")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("seats = 7", "687a/duties.toml cannot be read"),
        ('load.hand = ["687a.9(a)(2)"]', "load must name exactly the dealing methods"),
    ],
)
def test_duties_that_fit_no_dealing_method_are_refused(
    monkeypatch: pytest.MonkeyPatch, text: str, message: str
) -> None:
    monkeypatch.setattr(duties, "read", lambda _: text.encode())
    with pytest.raises(BadRulebook, match=message):
        duties.duties.__wrapped__("dj_wild")


@pytest.mark.parametrize("game", registry.GAMES)
def test_every_game_has_its_code(game: str) -> None:
    rules = game_rules.game_rules(game)
    assert isinstance(rules, GameRules)
    wagers = {wager.name for wager in loader.edition(game).wagers}
    assert {*rules.collected_first, *rules.settled_in_void_round} <= wagers
    orders = {outcome for row in loader.edition(game).irregularities for outcome in row.outcomes}
    assert bool(rules.settled_in_void_round) is ("settle_optional_wagers" in orders)
    assert all(isinstance(study, Study) for study in studies_of(game))


def test_a_game_without_its_code_is_refused_with_the_missing_file() -> None:
    def missing() -> ModuleType:
        raise ModuleNotFoundError(name="table_controller.rulebook.games.dj_wild.rules")

    def other() -> ModuleType:
        raise ModuleNotFoundError(name="numpy")

    with pytest.raises(
        BadRulebook, match=r"chapter 687a has no code: table_controller/rulebook/games/dj_wild/rules.py"
    ):
        provided("dj_wild", missing, "RULES", GameRules)
    with pytest.raises(ModuleNotFoundError):
        provided("dj_wild", other, "RULES", GameRules)
    with pytest.raises(BadRulebook, match="empty must define RULES, a GameRules"):
        provided("dj_wild", lambda: ModuleType("empty"), "RULES", GameRules)
    with pytest.raises(KeyError):
        game_rules.game_rules("blackjack")
