"""Named ways from the state of one version to that of another. Taken between rounds, from a snapshot, never in replay.

An upgrade that changes what the core's state means adds its migration here. What has none is refused, with what to do.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from hashlib import sha256
from typing import TYPE_CHECKING, Final

import msgspec

from firmware_bridge.errors import VersionsDiffer
from table_controller.journal.device_change import differences, other_devices
from table_controller.journal.meter_terms import check_meter
from table_controller.ledger.meter import MeterRules, meter_rules
from table_controller.table import machines as mc
from table_controller.table.core import Table
from table_controller.table.state import STATE_VERSION, State

if TYPE_CHECKING:
    from collections.abc import Mapping

SOFTWARE: Final = "software"
EDITION: Final = "edition"
CONFIGURATION: Final = "configuration"

# For what an orderly stop mends: afterwards the change is accepted.
BACK_FIRST: Final = (
    "start the software and configuration that wrote the journal once more, end the round, stop the box in order, "
    "and then change them"
)
_ACCEPT: Final = (
    "put the old table.toml back; or have a technician and a floorperson accept the change while the box is stopped "
    "(pitbox config accept)"
)
# For what no migration does: an orderly stop does not help, and nobody should try it with players waiting.
_NEVER: Final = (
    "no stop in order changes that: put the old lines back into table.toml, or the old software; or move this journal "
    "away as evidence and have a technician and a floorperson begin another one, with every meter at its seed (pitbox "
    "journal begin)"
)


class Migration(msgspec.Struct, frozen=True):
    """One way: its name, which digests it may see changed, and how it makes the new state, or says why it cannot.

    `schemas`: the schemas of older states that it reads; empty: only a state of this software's own schema.
    `people`: only where two people accept it.
    """

    name: str
    changes: frozenset[str]
    apply: Callable[[State, Table], State]
    schemas: frozenset[str] = frozenset()
    people: bool = False


def _same_places(state: State, table: Table) -> State:
    """Take the state as it is: every device stands where it stood, and the methods in use are still offered."""
    found = differences(state, table)
    if found:
        raise VersionsDiffer(f"the configuration has other devices than the journal: {'; '.join(found)}; {_ACCEPT}")
    return state


# The schema of the first edition's state (commit 898cef7). Every field that came since has a default that is right
# between rounds, so its snapshot is read as it is. Its editions and submissions have other rows, too: the devices, the
# methods and the terms of the meter must be the same all the same.
FIRST_EDITION: Final = "1/f834f2505b0fba83"
# The schema of the state before it held revoked keys and used documents (commit 64bc5df); both begin empty.
BEFORE_REVOCATIONS: Final = "2/ee3cd87fcd486b95"
# The schema of the state before its names changed to those of the glossary (commit 0d2e06f): `former_names` reads it.
SECOND_EDITION: Final = "2/4dbe0d6689fe2f8d"

# In the order in which they are tried: the first whose changes cover what has changed, and which reads the schema.
MIGRATIONS: Final[tuple[Migration, ...]] = (
    Migration("compatible configuration", frozenset({CONFIGURATION}), _same_places),
    Migration("same_state", frozenset({SOFTWARE}), _same_places),
    Migration("devices_accepted", frozenset({CONFIGURATION}), other_devices, people=True),
    Migration(
        "second_edition",
        frozenset({SOFTWARE, EDITION, CONFIGURATION}),
        _same_places,
        frozenset({FIRST_EDITION}),
    ),
    Migration(
        "revocations_journaled",
        frozenset({SOFTWARE, EDITION, CONFIGURATION}),
        _same_places,
        frozenset({BEFORE_REVOCATIONS}),
    ),
    Migration(
        "plain_names",
        frozenset({SOFTWARE, EDITION, CONFIGURATION}),
        _same_places,
        frozenset({SECOND_EDITION}),
    ),
)


@cache
def state_schema() -> str:
    """Return what tells the core's state from another version's: its number, which stands for meaning, and its shape.

    The shape is taken from the types themselves, so nobody can forget to count it up.
    """
    shape = msgspec.json.encode(msgspec.json.schema(State), order="deterministic")
    return f"{STATE_VERSION}/{sha256(shape).hexdigest()[:16]}"


def changed(old: Mapping[str, str], new: Mapping[str, str]) -> frozenset[str]:
    """Return which digests differ."""
    return frozenset(name for name in {*old, *new} if old.get(name) != new.get(name))


def migrate(
    state: State,
    table: Table,
    old: Mapping[str, str],
    new: Mapping[str, str],
    *,
    schema: str,
    meter: MeterRules | None,
    accepted: bool = False,
    migrations: tuple[Migration, ...] = MIGRATIONS,
) -> tuple[str, State]:
    """Return the state for the new version and the name of the migration that made it; VersionsDiffer if none may.

    `schema` is that of the software that kept the state, `meter` the terms of its meter as they were submitted then;
    `accepted`: two people accept what differs.
    """
    differs = changed(old, new)
    readers = [each for each in migrations if schema in _schemas(each)]
    if not readers:
        raise VersionsDiffer(
            f"{_names(differs)} changed, and the state has schema {schema or 'unknown'} where this software has "
            f"{state_schema()}: no migration leads there; put back the software that wrote the journal"
        )
    if state.round.state != mc.IDLE or state.commands or state.holds:
        raise VersionsDiffer(
            f"{_names(differs)} changed while a round or an irregularity was open ({_open(state)}); {BACK_FIRST}"
        )
    for migration in readers:
        if differs <= migration.changes and migration.people is accepted:
            check_meter(state, meter, meter_rules(table.context.edition, table.context.submission))
            return migration.name, migration.apply(state, table)
    alone = [each for each in sorted(differs) if any({each} <= migration.changes for migration in readers)]
    if len(alone) < len(differs):
        never = _names(differs - set(alone))
        raise VersionsDiffer(f"{_names(differs)} changed, and no migration leads to another {never}; {_NEVER}")
    raise VersionsDiffer(
        f"{_names(differs)} changed, and no migration leads to both at once; put one of them back, start, stop the box "
        "in order, and then change the other one"
    )


def _schemas(migration: Migration) -> frozenset[str]:
    """Return the schemas that a migration reads; what leads here from another schema does not read this one."""
    return migration.schemas - {state_schema()} if migration.schemas else frozenset({state_schema()})


def _open(state: State) -> str:
    """Name what was open when the box was stopped: each must have ended before anything changes."""
    found = [f"round {state.round.number} was under way"] if state.round.state != mc.IDLE else []
    found += [f"{len(state.holds)} irregularities were not cleared"] if state.holds else []
    found += [f"{len(state.commands)} commands to machines had not ended"] if state.commands else []
    return " and ".join(found)


def _names(differs: frozenset[str]) -> str:
    return " and ".join(sorted(differs))
