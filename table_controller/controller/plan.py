"""What a box is built from: the table's rules, its places, its people. Data only; nothing is opened here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from firmware_bridge.handshake import Trust
    from firmware_bridge.wire import Transport
    from table_controller.people import PeopleFile, Person
    from table_controller.quota import Origin
    from table_controller.rulebook import Edition, Submission

# A hold that nobody has cleared after so long (s) is escalated: long enough for a floorperson to come and decide. The
# configuration may say otherwise.
ESCALATE_AFTER: Final = 300.0


class People(Protocol):
    """Who may say something at this table. `path` is the people file, if there is one."""

    @property
    def path(self) -> Path | None:
        """The people file."""

    def read(self) -> PeopleFile:
        """Return the file as it is now, the same object as long as it does not change; BadPeopleFile if it is bad."""

    def check(self, id_: str, pin: str, place: Origin | str = "") -> Person:
        """Return the person; CredentialRefused if there is none, or the PIN is another. May take a while."""

    def known_address(self, name: str) -> bool:
        """Whether somebody signed on at this address before."""

    def known_id(self, id_: str) -> str | None:
        """Return a credential as it is written in the people file; None if nobody has it."""

    def holds(self, id_: str, role: str, proof: str = "") -> bool:
        """Tell whether somebody who signed on in this role still has that credential, and the PIN that proved it.

        Takes no time worth a thread.
        """


@dataclass(frozen=True, slots=True)
class Place:
    """One slot before it is filled: which kind of device, how its port is opened, and what it must prove."""

    name: str
    kind: str
    open_port: Callable[[], Awaitable[Transport]]
    trust: Trust
    port: str = ""  # its address, for people
    key_file: Path | None = None  # where the key of the enrolled device lies, if another one may be enrolled


@dataclass(frozen=True, slots=True)
class Plan:
    """A table before its box runs. `group` is the system group that may use the control socket besides the owner."""

    name: str
    edition: Edition
    submission: Submission
    places: tuple[Place, ...]
    people: People
    escalate_after: float = ESCALATE_AFTER
    revoked: Path | None = None  # the list of revoked keys that software before kept; a start takes it over
    group: str | None = None
    development: bool = False  # nobody approved what runs here; every page shows UNVERIFIED
