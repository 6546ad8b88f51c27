"""`pitbox explain CODE`: prints what an error code means and what to do, from catalogue.toml."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

from firmware_bridge.errors import ConfigurationError
from table_controller.catalogue import catalogue
from table_controller.rulebook.texts import readings

if TYPE_CHECKING:
    import argparse

HELP = "print what an error code means, who must act, and how"
EXAMPLE = "pitbox explain PB-430"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    parser.add_argument("code", nargs="?", help="a code such as PB-430 (or just 430); default: list all")


def run(args: argparse.Namespace) -> int:
    """Print one entry, or the list of all."""
    entries = catalogue()
    if args.code is None:
        for code, entry in entries.items():
            print(f"{code}  {entry.title}")
        return 0
    code = args.code.upper() if args.code.upper().startswith("PB-") else f"PB-{args.code}"
    shown = entries.get(code)
    if shown is None and args.code.upper() in readings():
        id_ = args.code.upper()
        raise ConfigurationError(f"{id_} is a reading of the rules, not an error code: pitbox rules show {id_}")
    if shown is None:
        near = get_close_matches(code, entries, 1)
        raise ConfigurationError(f"there is no code {args.code}" + (f" (did you mean {near[0]}?)" if near else ""))
    print(f"{code}  {shown.title}\n")
    print(f"meaning            {shown.meaning}")
    print(f"who must act       {shown.who}")
    print(f"what to do         {shown.act}")
    return 0
