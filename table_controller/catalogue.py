"""Reads the catalogue of error codes. The texts are in catalogue.toml, the exceptions in firmware_bridge."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files

import msgspec


class Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a code means, who must act, and how."""

    title: str
    who: str
    meaning: str
    act: str


@cache
def catalogue() -> dict[str, Entry]:
    """Return every code with its entry."""
    text = files("table_controller").joinpath("catalogue.toml").read_text("utf-8")
    return msgspec.convert(tomllib.loads(text), dict[str, Entry])
