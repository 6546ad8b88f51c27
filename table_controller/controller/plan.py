"""The plan of a box: the rules of the table, its slots and its people, as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

from table_controller.journal.table_terms import NO_SITE, SiteTerms

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from firmware_bridge.handshake import Trust
    from firmware_bridge.wire import Transport
    from table_controller.access.people_file import CredentialHolder, PeopleFile
    from table_controller.host.quota import Origin
    from table_controller.rulebook import Edition, Submission

# A hold that nobody has cleared after this time (s) is escalated: long enough for a floorperson to come and decide. The
# configuration can change it.
ESCALATE_AFTER_S: Final = 300.0


class PeopleSource(Protocol):
    """The credentials of a table. `path` is the people file, if there is one."""

    @property
    def path(self) -> Path | None:
        """The people file."""

    def read(self) -> PeopleFile:
        """Return the current file, the same object until it changes; raise BadPeopleFile if it cannot be read."""

    def check(self, id_: str, pin: str, place: Origin | str = "") -> CredentialHolder:
        """Return the holder; raise CredentialRefused if the id or the PIN is wrong. Slow."""

    def is_known_address(self, name: str) -> bool:
        """Return whether somebody signed on from this address before."""

    def stored_id(self, id_: str) -> str | None:
        """Return an id as it is written in the people file; None if nobody has it."""

    def is_valid(self, id_: str, role: str, proof: str = "") -> bool:
        """Return whether a credential still has this role and the PIN that `proof` names. Fast; needs no thread."""


@dataclass(frozen=True, slots=True)
class SlotPlan:
    """The plan of one slot: its kind of device, how to open its port, and what the device must prove."""

    name: str
    kind: str
    open_port: Callable[[], Awaitable[Transport]]
    trust: Trust
    port: str = ""  # the address of the port, for people
    key_file: Path | None = None  # key file of the enrolled device; None: its device cannot be exchanged


@dataclass(frozen=True, slots=True)
class Plan:
    """The plan of a box. `group` is the system group that may use the control socket in addition to the owner."""

    name: str
    edition: Edition
    submission: Submission
    slots: tuple[SlotPlan, ...]
    people: PeopleSource
    escalate_after_s: float = ESCALATE_AFTER_S
    former_revocation_list: Path | None = (
        None  # list of revoked keys of earlier software; a start copies it to the journal
    )
    socket_group: str | None = None
    is_development: bool = False  # runs without an approval; every page shows UNVERIFIED
    site: SiteTerms = NO_SITE  # what documents print
