"""`pitbox explain CODE`: what an error code means and what to do. The texts are in the catalogue."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

from firmware_bridge.errors import ConfigurationError
from table_controller.catalogue import catalogue
from table_controller.rulebook.texts import readings

if TYPE_CHECKING:
    import argparse

HELP = "tell what an error code means, who must act, and how"
EXAMPLE = "pitbox explain PB-430"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    parser.add_argument("code", nargs="?", help="a code such as PB-430 (or just 430); without one, all are listed")


def run(args: argparse.Namespace) -> int:
    """Print one entry, or the list of all."""
    entries = catalogue()
    if args.code is None:
        for code, entry in entries.items():
            print(f"{code}  {entry.title}")
        return 0
    code = args.code.upper() if args.code.upper().startswith("PB-") else f"PB-{args.code}"
    found = entries.get(code)
    if found is None and args.code.upper() in readings():
        id_ = args.code.upper()
        raise ConfigurationError(f"{id_} is a reading of the text, not an error code: pitbox rules show {id_}")
    if found is None:
        near = get_close_matches(code, entries, 1)
        raise ConfigurationError(f"there is no code {args.code}" + (f" (did you mean {near[0]}?)" if near else ""))
    print(f"{code}  {found.title}\n")
    print(f"what is the case   {found.meaning}")
    print(f"who must act       {found.who}")
    print(f"what to do         {found.act}")
    return 0
