"""How a command has two people answer for what it does while no box runs: both proved, in their roles, and two."""

from __future__ import annotations

from typing import TYPE_CHECKING

from firmware_bridge.errors import RestoreRefused
from table_controller.cli.pins import people_file, prove

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from table_controller.people import Person


def add_two_arguments(parser: argparse.ArgumentParser, roles: Sequence[str]) -> None:
    """Describe how they are named."""
    for role in roles:
        parser.add_argument(f"--{role}", metavar="CRED", help=f"the credential of the {role} who answers for it")


def named(args: argparse.Namespace, roles: Sequence[str], what: str) -> dict[str, str]:
    """Return the credentials that were named, by role; RestoreRefused unless there are two. Nobody is asked yet."""
    by = {role: (getattr(args, role) or "").strip() for role in roles}
    missing = [role for role, credential in by.items() if not credential]
    if missing:
        raise RestoreRefused(f"{what} is answered for by two people; the {' and the '.join(missing)} is missing")
    if len({credential.casefold() for credential in by.values()}) < len(by):
        raise RestoreRefused(f"{what} is answered for by two people; {by[roles[-1]]} is one")
    return by


def proved(args: argparse.Namespace, by: dict[str, str], what: str) -> dict[str, Person]:
    """Have both people prove their credentials; each must have its role, and they must be two."""
    from table_controller.people_check import Checker

    checker = Checker(people_file(args))
    found = {role: prove(args, checker, id_) for role, id_ in by.items()}
    for role, who in found.items():
        if who.role != role:
            raise RestoreRefused(f"{what} is answered for by a {role}, and {who.id} is a {who.role}")
    one, other = found.values()
    if one.same(other):
        raise RestoreRefused(f"{what} is answered for by two people; these credentials are one person's")
    return found
