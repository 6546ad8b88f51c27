"""How a command that does several things describes each: a word, what it does, an example. No command of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    Do = Callable[[argparse.Namespace], int]


class Subcommands:
    """The page of one command, `pitbox NAME`, and a page for each WHAT; `run` does the one that was typed."""

    def __init__(self, parser: argparse.ArgumentParser, name: str) -> None:
        self._name = name
        self._form = parser.formatter_class
        self._parsers = parser.add_subparsers(title="what to do", metavar="WHAT", required=True)

    def add(self, what: str, about: str, example: str, do: Do) -> argparse.ArgumentParser:
        """Describe one; `example` begins with its word."""
        made = self._parsers.add_parser(
            what, help=about, description=about, epilog=f"example: pitbox {self._name} {example}",
            formatter_class=self._form,
        )  # fmt: skip
        made.set_defaults(do=do)
        return made


def run(args: argparse.Namespace) -> int:
    """Do what was asked for."""
    done: int = args.do(args)
    return done
