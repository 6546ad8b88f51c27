"""Dual authorization while no box runs: two different people, each with the required role, prove their PINs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from firmware_bridge.errors import RestoreRefused
from table_controller.cli.pins import authenticate, people_file

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from table_controller.access.people_file import CredentialHolder


def add_signer_arguments(parser: argparse.ArgumentParser, roles: Sequence[str]) -> None:
    """Add the arguments that name the two people."""
    for role in roles:
        parser.add_argument(f"--{role}", metavar="CRED", help=f"the credential of the {role} who signs")


def named_signers(args: argparse.Namespace, roles: Sequence[str], what: str) -> dict[str, str]:
    """Return the named credentials by role; raise RestoreRefused unless there are two. Asks for no PIN."""
    by = {role: (getattr(args, role) or "").strip() for role in roles}
    missing = [role for role, credential in by.items() if not credential]
    if missing:
        raise RestoreRefused(f"two people must sign for {what}; the {' and the '.join(missing)} is missing")
    if len({credential.casefold() for credential in by.values()}) < len(by):
        raise RestoreRefused(f"two people must sign for {what}; {by[roles[-1]]} is one person")
    return by


def authenticate_signers(args: argparse.Namespace, by: dict[str, str], what: str) -> dict[str, CredentialHolder]:
    """Check the PINs of both people; each must have the required role, and they must be two different people."""
    from table_controller.access.pin_check import PinChecker

    checker = PinChecker(people_file(args))
    signers = {role: authenticate(args, checker, id_) for role, id_ in by.items()}
    for role, who in signers.items():
        if who.role != role:
            raise RestoreRefused(f"a {role} must sign for {what}; {who.id} is a {who.role}")
    one, other = signers.values()
    if one.is_same_person(other):
        raise RestoreRefused(f"two people must sign for {what}; these credentials belong to one person")
    return signers
