"""The games of this software, found by their folders: a data folder with an edition is a game.

`data/<chapter>/` holds a game's rules as data, `games/<game>/` its hands and wagers as code. Nothing else lists games.
"""

from __future__ import annotations

import re
import tomllib
from importlib.resources import files
from typing import TYPE_CHECKING, Final

from firmware_bridge.errors import BadRulebook

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

EDITION: Final = "edition.toml"
_DATA: Final = files("table_controller.rulebook").joinpath("data")
# A game's name: part of table.toml, of commands and of the folder with its code.
_NAME: Final = re.compile(r"[a-z][a-z0-9_]*")


def read(name: str) -> bytes:
    """Return one data file, such as 688a/edition.toml."""
    return _DATA.joinpath(*name.split("/")).read_bytes()


def chapters_in(data: Traversable) -> dict[str, str]:
    """Return the chapter of each game, in the order of the chapters; BadRulebook if an edition names no game."""
    folders = [folder for folder in data.iterdir() if folder.is_dir() and folder.joinpath(EDITION).is_file()]
    chapters: dict[str, str] = {}
    for folder in sorted(folders, key=lambda folder: _order(folder.name)):
        game = _game_of(folder)
        if game in chapters:
            raise BadRulebook(f"the chapters {chapters[game]} and {folder.name} both name the game {game}")
        chapters[game] = folder.name
    return chapters


def _order(chapter: str) -> tuple[int, str]:
    """Return the place of a chapter: 575 before 680a before 1000."""
    digits = re.match(r"\d*", chapter)
    number = digits[0] if digits else ""
    return int(number or 0), chapter.removeprefix(number)


def _game_of(folder: Traversable) -> str:
    """Return the game that an edition names. Only the keys before its first table are parsed."""
    head, _, _ = folder.joinpath(EDITION).read_text("utf-8").partition("\n[")
    try:
        game = tomllib.loads(head).get("game")
    except tomllib.TOMLDecodeError as error:
        raise BadRulebook(f"{folder.name}/{EDITION} cannot be read: {error}") from error
    if not isinstance(game, str) or not _NAME.fullmatch(game):
        raise BadRulebook(f'{folder.name}/{EDITION} must begin with the name of its game, as in game = "new_game"')
    return game


CHAPTERS: Final = chapters_in(_DATA)
GAMES: Final = tuple(CHAPTERS)
