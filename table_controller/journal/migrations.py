"""Named ways from the state of one version to that of another. Taken between rounds, from a snapshot, never in replay.

An upgrade that changes what the core's state means adds its migration here. What has none is refused, with what to do.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

import msgspec

from firmware_bridge.errors import VersionsDiffer
from table_controller.table import machines as mc
from table_controller.table.core import Table
from table_controller.table.state import State

if TYPE_CHECKING:
    from collections.abc import Mapping

SOFTWARE: Final = "software"
EDITION: Final = "edition"
CONFIGURATION: Final = "configuration"

_OUT: Final = (
    "start the software and configuration that wrote the journal once more, end the round, stop the box in order, "
    "and then change them"
)


class Migration(msgspec.Struct, frozen=True):
    """One way: its name, which digests it may see changed, and how it makes the new state, or says why it cannot."""

    name: str
    changes: frozenset[str]
    apply: Callable[[State, Table], State]


def _same_places(state: State, table: Table) -> State:
    """Take the state as it is: every device stands where it stood, and the methods in use are still offered."""
    wanted = {name: slot.kind for name, slot in table.state.slots.items()}
    if {name: slot.kind for name, slot in state.slots.items()} != wanted:
        raise VersionsDiffer(f"the configuration has other devices than the journal; {_OUT}")
    if (state.dealing, state.shuffling, state.start) != (
        table.state.dealing,
        table.state.shuffling,
        table.state.start,
    ):
        raise VersionsDiffer(f"the configuration deals, shuffles or starts in another way than the journal; {_OUT}")
    return state


# In the order in which they are tried: the first whose changes cover what has changed.
MIGRATIONS: Final[tuple[Migration, ...]] = (
    Migration("compatible configuration", frozenset({CONFIGURATION}), _same_places),
)


def changed(old: Mapping[str, str], new: Mapping[str, str]) -> frozenset[str]:
    """Return which digests differ."""
    return frozenset(name for name in {*old, *new} if old.get(name) != new.get(name))


def migrate(
    state: State,
    table: Table,
    old: Mapping[str, str],
    new: Mapping[str, str],
    *,
    migrations: tuple[Migration, ...] = MIGRATIONS,
) -> tuple[str, State]:
    """Return the state for the new version and the name of the migration that made it; VersionsDiffer if none may."""
    differs = changed(old, new)
    if state.round.state != mc.IDLE or state.commands or state.holds:
        raise VersionsDiffer(f"{_names(differs)} changed while a round or an irregularity was open; {_OUT}")
    for migration in migrations:
        if differs <= migration.changes:
            return migration.name, migration.apply(state, table)
    raise VersionsDiffer(f"{_names(differs)} changed, and no migration leads there; {_OUT}")


def _names(differs: frozenset[str]) -> str:
    return " and ".join(sorted(differs))
