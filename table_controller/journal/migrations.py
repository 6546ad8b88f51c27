"""Named migrations from the state of one version to the next: applied between rounds, from a snapshot, never in replay.

An upgrade that changes the meaning of the core's state adds its migration here. A change without a migration is refused
with instructions.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from hashlib import sha256
from typing import TYPE_CHECKING, Final

import msgspec

from firmware_bridge.errors import VersionsDiffer
from table_controller.journal.device_migration import change_devices, differences
from table_controller.journal.meter_terms import check_meter
from table_controller.ledger.meter import MeterRules, meter_rules
from table_controller.table import state_machines as mc
from table_controller.table.core import Table
from table_controller.table.state import STATE_VERSION, TableState

if TYPE_CHECKING:
    from collections.abc import Mapping

SOFTWARE: Final = "software"
EDITION: Final = "edition"
CONFIGURATION: Final = "configuration"

# Advice for changes that are accepted after an orderly stop.
REVERT_FIRST: Final = (
    "start the box once more with the software and configuration that wrote the journal, end the round, stop the box "
    "in order, and then change them"
)
_ACCEPT: Final = (
    "put the old table.toml back; or have a technician and a floorperson accept the change while the box is stopped "
    "(pitbox config accept)"
)
# Advice for changes that no migration covers, where an orderly stop does not help.
_NEVER: Final = (
    "an orderly stop does not help: put back the old lines in table.toml, or the old software; or move this journal "
    "away as evidence and have a technician and a floorperson begin another one, with every meter at its seed (pitbox "
    "journal begin)"
)


class Migration(msgspec.Struct, frozen=True):
    """One migration: its name, the digests that may change, and the function that makes the new state or raises.

    `schemas`: the schemas of older states that it reads; empty: only this software's own schema.
    `needs_two_people`: only if two people accept it.
    """

    name: str
    changes: frozenset[str]
    apply: Callable[[TableState, Table], TableState]
    schemas: frozenset[str] = frozenset()
    needs_two_people: bool = False


def _same_places(state: TableState, table: Table) -> TableState:
    """Return the state unchanged; raises VersionsDiffer if the devices or methods differ."""
    changes = differences(state, table)
    if changes:
        raise VersionsDiffer(f"the configuration has other devices than the journal: {'; '.join(changes)}; {_ACCEPT}")
    return state


# The schema of the first version's state (commit 898cef7). Every field added since has a default that is right between
# rounds, so its snapshot decodes unchanged. Its editions and submissions have other rows too, but the devices, the
# methods and the terms of the meter must be the same.
FIRST_EDITION: Final = "1/f834f2505b0fba83"
# The schema of the state before it had revoked keys and used documents (commit 64bc5df); both begin empty.
BEFORE_REVOCATIONS: Final = "2/ee3cd87fcd486b95"
# The schema of the state before its names changed to those of the glossary (commit 0d2e06f): `former_names` reads it.
SECOND_EDITION: Final = "2/4dbe0d6689fe2f8d"
# The schema of the state while it had the next step of a return to service as text (commit 73fda2b4):
# `earlier_procedures` reads it.
THIRD_EDITION: Final = "2/9abaf35d3f937e4d"

# In the order of trial: the first that reads the schema and covers all changed digests is applied.
MIGRATIONS: Final[tuple[Migration, ...]] = (
    Migration("compatible configuration", frozenset({CONFIGURATION}), _same_places),
    Migration("same_state", frozenset({SOFTWARE}), _same_places),
    Migration("devices_accepted", frozenset({CONFIGURATION}), change_devices, needs_two_people=True),
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
    Migration(
        "typed_return_to_service",
        frozenset({SOFTWARE, EDITION, CONFIGURATION}),
        _same_places,
        frozenset({THIRD_EDITION}),
    ),
)


@cache
def state_schema() -> str:
    """Return the identity of the core's state format: its version number, and a digest of its types.

    The digest changes with the types, so it needs no manual update.
    """
    shape = msgspec.json.encode(msgspec.json.schema(TableState), order="deterministic")
    return f"{STATE_VERSION}/{sha256(shape).hexdigest()[:16]}"


def changed_digests(old: Mapping[str, str], new: Mapping[str, str]) -> frozenset[str]:
    """Return the names of the digests that differ."""
    return frozenset(name for name in {*old, *new} if old.get(name) != new.get(name))


def migrate(
    state: TableState,
    table: Table,
    old: Mapping[str, str],
    new: Mapping[str, str],
    *,
    schema: str,
    meter: MeterRules | None,
    accepted: bool = False,
) -> tuple[str, TableState]:
    """Return the name of the migration and the new state; VersionsDiffer if no migration applies.

    `schema` is the schema of the old state, `meter` the submitted terms of its meter; `accepted`: two people accept
    the differences.
    """
    differs = changed_digests(old, new)
    readers = [each for each in MIGRATIONS if schema in _schemas(each)]
    if not readers:
        raise VersionsDiffer(
            f"{_names(differs)} changed, and the state has schema {schema or 'unknown'} where this software has "
            f"{state_schema()}: no migration covers it; put back the software that wrote the journal"
        )
    if state.round.state != mc.IDLE or state.commands or state.holds:
        raise VersionsDiffer(
            f"{_names(differs)} changed while a round or an irregularity was open ({_open(state)}); {REVERT_FIRST}"
        )
    for migration in readers:
        if differs <= migration.changes and migration.needs_two_people is accepted:
            check_meter(state, meter, meter_rules(table.context.edition, table.context.submission))
            return migration.name, migration.apply(state, table)
    alone = [each for each in sorted(differs) if any({each} <= migration.changes for migration in readers)]
    if len(alone) < len(differs):
        never = _names(differs - set(alone))
        raise VersionsDiffer(f"{_names(differs)} changed, and no migration covers a change of {never}; {_NEVER}")
    raise VersionsDiffer(
        f"{_names(differs)} changed, and no migration covers both at once; put one of them back, start the box, stop "
        "it in order, and then change the other one"
    )


def _schemas(migration: Migration) -> frozenset[str]:
    """Return the schemas that a migration reads; what leads here from another schema does not read this one."""
    return migration.schemas - {state_schema()} if migration.schemas else frozenset({state_schema()})


def _open(state: TableState) -> str:
    """Return what was open when the box was stopped."""
    items = [f"round {state.round.number} was under way"] if state.round.state != mc.IDLE else []
    items += [f"{len(state.holds)} irregularities were not cleared"] if state.holds else []
    items += [f"{len(state.commands)} commands to machines had not ended"] if state.commands else []
    return " and ".join(items)


def _names(differs: frozenset[str]) -> str:
    return " and ".join(sorted(differs))
