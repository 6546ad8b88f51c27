"""Reads the rename maps: one line for each module that moves and each name that changes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

_MODULE: Final = re.compile(r"module (\S+) -> (\S+)")
_NAME: Final = re.compile(r"name (\S+): ([\w.]+) -> (\w+)")


@dataclass(frozen=True)
class Move:
    """A module (`a/b.py`) or a whole folder (`a/b/`) that moves to another path."""

    old: str
    new: str


@dataclass(frozen=True)
class Rename:
    """A name that changes: the file that defines it, its qualified name, and its new last part."""

    path: str
    qualified: str
    new: str

    @property
    def old(self) -> str:
        """The last part of the qualified name: the word that is replaced."""
        return self.qualified.rpartition(".")[2]


@dataclass(frozen=True)
class Maps:
    """Every line of the maps."""

    moves: tuple[Move, ...]
    renames: tuple[Rename, ...]


class BadMap(Exception):
    """A line of a map cannot be read."""


def read_maps(files: Iterable[Path]) -> Maps:
    """Return every move and rename of the given maps; BadMap names the file and line that is wrong."""
    moves: list[Move] = []
    renames: list[Rename] = []
    for file in files:
        for number, line in enumerate(file.read_text().splitlines(), 1):
            text = line.partition("#")[0].strip()
            if not text or text.startswith("value "):
                continue
            if match := _MODULE.fullmatch(text):
                moves.append(Move(*match.groups()))
            elif match := _NAME.fullmatch(text):
                renames.append(Rename(*match.groups()))
            else:
                raise BadMap(f"{file}:{number}: neither `module A -> B` nor `name PATH: NAME -> NEW`: {line!r}")
    return Maps(tuple(moves), tuple(renames))
