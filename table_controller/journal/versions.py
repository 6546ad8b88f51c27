"""The digests of software, edition and configuration that a journal records at each start."""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

import msgspec

from table_controller.journal.migrations import CONFIGURATION, EDITION, SOFTWARE

if TYPE_CHECKING:
    from collections.abc import Mapping

    from table_controller.rulebook import Edition, Submission

# The packages that decide at a table; tools and simulators do not.
PACKAGES: Final = ("firmware_bridge", "devices", "table_controller")
_SUFFIXES: Final = (".py", ".toml")
# The conformance kit decides nothing, and a production box has none.
_LEFT_OUT: Final = ("__pycache__", "conformance")


def digests_of(edition: Edition, submission: Submission, slots: Mapping[str, str]) -> dict[str, str]:
    """Return the digests for a `start` record, in hex."""
    return {
        SOFTWARE: software_digest(),
        EDITION: _digest(edition),
        CONFIGURATION: _digest([submission, sorted(slots.items())]),
    }


def _digest(what: Any) -> str:
    return sha256(msgspec.json.encode(what, order="deterministic", enc_hook=_plain)).hexdigest()


def _plain(value: Any) -> Any:
    """Encode what msgspec does not: sets as sorted lists, other objects by their repr."""
    return sorted(value) if isinstance(value, frozenset | set) else repr(value)


@cache
def software_digest() -> str:
    """Return the digest of every source and data file of the packages that decide at a table."""
    whole = sha256()
    for package in PACKAGES:
        for name, data in source_files(package):
            whole.update(f"{name} {len(data)}\n".encode())
            whole.update(data)
    return whole.hexdigest()


def source_files(package: str) -> list[tuple[str, bytes]]:
    """Return the name and content of every source and data file of a package, in order."""
    return sorted(_sources(files(package), package))


def _sources(folder: Any, name: str) -> list[tuple[str, bytes]]:
    sources: list[tuple[str, bytes]] = []
    for entry in folder.iterdir():
        if entry.is_dir():
            if entry.name not in _LEFT_OUT:
                sources += _sources(entry, f"{name}/{entry.name}")
        elif entry.name.endswith(_SUFFIXES):
            sources.append((f"{name}/{entry.name}", entry.read_bytes()))
    return sources
