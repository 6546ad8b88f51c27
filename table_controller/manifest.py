"""What this box runs, component by component with its digest, and what differs between two such lists. Only reads.

A component is a name, what version it calls itself, and a digest, so that two manifests compare line by line. The
software's own digest, the edition's and the configuration's are those that the journal names its records by.
"""

from __future__ import annotations

import base64
import platform
import re
import sqlite3
import ssl
import sys
from hashlib import sha256
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from firmware_bridge.decoding import UNDECODABLE
from firmware_bridge.errors import ConfigurationError
from firmware_bridge.version import VERSION
from table_controller.journal.migrations import CONFIGURATION, EDITION
from table_controller.journal.versions import PACKAGES, digests_of, software_digest, sources
from table_controller.rulebook import GAMES, edition

if TYPE_CHECKING:
    from collections.abc import Iterator

    from table_controller.config import TableConfig

FORMAT: Final = 1
# The text of table.toml: a port that was changed changes it, and no choice.
FILE: Final = "configuration/file"
# Installed beside the rest on a bench, left out of a production box.
_TOOLS: Final = ("simulators",)
# Written by whatever installed a distribution, not by whoever made it.
_INSTALLERS: Final = ("INSTALLER", "REQUESTED", "direct_url.json")


class Component(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One part: its name (group/name), what version it calls itself, and the digest of what is really there (hex)."""

    name: str
    version: str
    digest: str
    altered: tuple[str, ...] = ()  # files of a distribution that are not what was installed


class Manifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Every component, in order."""

    format: int
    pitbox: str
    components: tuple[Component, ...]


def manifest(config: TableConfig | None = None) -> Manifest:
    """Look at what is installed, and at a configuration if there is one."""
    found = [Component("software", VERSION, software_digest())]
    for package in (*PACKAGES, *_TOOLS):
        if find_spec(package) is not None:
            found += _package(package)
    found += [_edition(game) for game in GAMES]
    found += _system()
    found += _distributions()
    if config is not None:
        found += configuration(config)
    return Manifest(FORMAT, VERSION, tuple(found))


def _package(package: str) -> Iterator[Component]:
    whole, parts = sha256(), []
    for name, data in sources(package):
        digest = sha256(data).hexdigest()
        whole.update(f"{name} {digest}\n".encode())
        parts.append(Component(f"file/{name}", "", digest))
    yield Component(f"package/{package}", f"{len(parts)} files", whole.hexdigest())
    yield from parts


def _edition(game: str) -> Component:
    rules = edition(game)
    return Component(f"edition/{rules.chapter}", f"{rules.title}, {rules.dated}", rules.digest)


def _system() -> list[Component]:
    executable = Path(sys.executable).resolve()
    return [
        Component(
            "system/python", f"{platform.python_implementation()} {platform.python_version()}", _file(executable)
        ),
        Component("system/sqlite", sqlite3.sqlite_version, ""),
        Component("system/openssl", ssl.OPENSSL_VERSION, ""),
        Component("system/kernel", f"{platform.system()} {platform.release()} {platform.machine()}", ""),
    ]


def configuration(config: TableConfig) -> list[Component]:
    """Return what a table.toml adds to the manifest."""
    named = digests_of(config.edition, config.submission, config.kinds)
    approved = sorted(msgspec.json.encode(entry) for entry in config.approved)
    return [
        Component(FILE, config.path.name, _file(config.path)),
        Component("configuration/choices", "as the journal names it", named[CONFIGURATION]),
        Component("configuration/edition", "as the journal names it", named[EDITION]),
        Component("configuration/approved", f"{len(approved)} firmwares", sha256(b"\n".join(approved)).hexdigest()),
    ]


def _file(path: Path) -> str:
    try:
        return sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""


# --- what others made -------------------------------------------------------------------------------------------------


def _distributions() -> list[Component]:
    """Every installed distribution: those that we need, those that they need, and what else could be imported."""
    installed = {_plain(found.name): found for found in metadata.distributions()}
    own = installed.pop("pitbox", None)
    needed: set[str] = set()
    ahead = [] if own is None else _required(own)
    while ahead:
        name = ahead.pop()
        if name in installed and name not in needed:
            needed.add(name)
            ahead += _required(installed[name])
    return [
        _distribution("dependency" if name in needed else "other", installed[name])
        for name in sorted(installed, key=lambda name: (name not in needed, name))
    ]


def _required(distribution: metadata.Distribution) -> list[str]:
    """Return what a distribution needs without its extras."""
    wanted = [line for line in distribution.requires or () if not re.search(r"\bextra\s*==", line)]
    return [_plain(re.split(r"[^A-Za-z0-9._-]", line.strip(), maxsplit=1)[0]) for line in wanted]


def _distribution(group: str, distribution: metadata.Distribution) -> Component:
    """A distribution's digest is that of its own record of files.

    Left out is what depends on where it was installed and by what: launchers name the interpreter's path.
    """
    record = sorted(
        f"{file} {file.hash.value}\n"
        for file in distribution.files or ()
        if file.hash is not None and ".." not in file.parts and file.name not in _INSTALLERS
    )
    digest = sha256("".join(record).encode()).hexdigest() if record else ""
    return Component(
        f"{group}/{_plain(distribution.name)}", distribution.version, digest, tuple(_altered(distribution))
    )


def _altered(distribution: metadata.Distribution) -> Iterator[str]:
    """The files that are not what the distribution's own record says."""
    for file in distribution.files or ():
        if file.hash is None or file.hash.mode != "sha256":
            continue
        try:
            data = Path(str(file.locate())).read_bytes()
        except OSError:
            yield str(file)
            continue
        if base64.urlsafe_b64encode(sha256(data).digest()).rstrip(b"=").decode() != file.hash.value:
            yield str(file)


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


# --- two of them ------------------------------------------------------------------------------------------------------


def read_manifest(path: Path) -> Manifest:
    """Read a manifest that was written as JSON."""
    try:
        found = msgspec.json.decode(path.read_bytes(), type=Manifest)
    except OSError as error:
        raise ConfigurationError(f"{path}: {error.strerror}") from error
    except UNDECODABLE as error:
        raise ConfigurationError(
            f"{path}: not a manifest ({error}); take it away, or write it anew: pitbox version --manifest --json"
        ) from error
    if found.format != FORMAT:
        raise ConfigurationError(f"{path}: format {found.format}, and this software knows format {FORMAT}")
    return found


def differences(old: Manifest, new: Manifest) -> list[str]:
    """Return a line for each component that was added (+), removed (-) or changed (~)."""
    before, after = ({each.name: each for each in made.components} for made in (old, new))
    lines = []
    for name in dict.fromkeys((*before, *after)):
        was, is_ = before.get(name), after.get(name)
        if was is None and is_ is not None:
            lines.append(f"+ {name} {_short(is_)}")
        elif is_ is None and was is not None:
            lines.append(f"- {name} {_short(was)}")
        elif was is not None and is_ is not None and was != is_:
            lines.append(f"~ {name} {_short(was)} -> {_short(is_)}")
    return lines


def _short(component: Component) -> str:
    said = f"{component.version} {component.digest[:16]}".strip()
    return f"{said} altered: {', '.join(component.altered)}" if component.altered else said


def as_json(made: Manifest) -> bytes:
    """Return a manifest as it is kept and compared."""
    return msgspec.json.format(msgspec.json.encode(made), indent=1) + b"\n"


def lines(made: Manifest, *, files: bool = False) -> list[str]:
    """Return a manifest for people; single files of ours only if wanted."""
    shown: list[Any] = [each for each in made.components if files or not each.name.startswith("file/")]
    wide = max(len(each.name) for each in shown)
    told = [f"{each.name:{wide}s}  {each.digest or '-':64s}  {each.version}".rstrip() for each in shown]
    for each in shown:
        told += [f"ALTERED since it was installed: {each.name}: {file}" for file in each.altered]
    return told
