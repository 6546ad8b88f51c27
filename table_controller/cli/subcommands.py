"""Adds the subcommands of a command, each with its help and an example."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    Handler = Callable[[argparse.Namespace], int]


class Subcommands:
    """The subcommands of `pitbox NAME`; `run` calls the handler of the typed one."""

    def __init__(self, parser: argparse.ArgumentParser, name: str) -> None:
        self._name = name
        self._form = parser.formatter_class
        self._parsers = parser.add_subparsers(title="what to do", metavar="WHAT", required=True)

    def add(self, what: str, about: str, example: str, do: Handler) -> argparse.ArgumentParser:
        """Add one subcommand; `example` begins with its word."""
        subparser = self._parsers.add_parser(
            what, help=about, description=about, epilog=f"example: pitbox {self._name} {example}",
            formatter_class=self._form,
        )  # fmt: skip
        subparser.set_defaults(do=do)
        return subparser


def run(args: argparse.Namespace) -> int:
    """Run the typed subcommand."""
    done: int = args.do(args)
    return done
