"""Reads the catalog of error codes from catalogue.toml. The exceptions are in firmware_bridge."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files

import msgspec


class CatalogueEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One error code: its meaning, who must act, and what to do."""

    title: str
    who: str
    meaning: str
    act: str


@cache
def catalogue() -> dict[str, CatalogueEntry]:
    """Return every code with its entry."""
    text = files("table_controller").joinpath("catalogue.toml").read_text("utf-8")
    return msgspec.convert(tomllib.loads(text), dict[str, CatalogueEntry])
