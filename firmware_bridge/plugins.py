"""Optional parts of pitbox: found by entry point, and absent when their package is not installed."""

from __future__ import annotations

from importlib.metadata import entry_points
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

# Groups of entry points, as in pyproject.toml.
COMMANDS: Final = "pitbox.commands"
PORTS: Final = "pitbox.ports"


def installed_plugins(group: str) -> dict[str, EntryPoint]:
    """Return the entry points of a group by name, without those whose module is not installed.

    A production wheel may leave packages out and still list their entry points.
    """
    return {point.name: point for point in entry_points(group=group) if _is_installed(point.module)}


def _is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # the package that would hold it is missing
        return False
