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


def missing_plugins(group: str) -> dict[str, str]:
    """Return, by the name of each entry point whose module is not installed, the outermost package that is missing."""
    missing = {point.name: _missing_package(point.module) for point in entry_points(group=group)}
    return {name: package for name, package in missing.items() if package is not None}


def _missing_package(module: str) -> str | None:
    parts = module.split(".")
    packages = (".".join(parts[:count]) for count in range(1, len(parts) + 1))
    return next((package for package in packages if not _is_installed(package)), None)


def _is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # the package that would hold it is missing
        return False
