"""The manifest of a box: every component with its version and digest, and the differences between two manifests.

The digests of software, edition and configuration are the same as in the records of the journal.
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

from firmware_bridge.decode_errors import UNDECODABLE
from firmware_bridge.errors import ConfigurationError
from firmware_bridge.version import VERSION
from table_controller.journal.migrations import CONFIGURATION, EDITION
from table_controller.journal.versions import PACKAGES, digests_of, software_digest, source_files
from table_controller.rulebook import GAMES, edition

if TYPE_CHECKING:
    from collections.abc import Iterator

    from table_controller.config import TableConfig

FORMAT: Final = 1
# The text of table.toml: a changed port changes this digest and not that of the choices.
CONFIGURATION_FILE: Final = "configuration/file"
# Installed on a bench, left out of a production box.
_TOOLS: Final = ("simulators",)
# Written by the installer of a distribution, not by its author.
_INSTALLERS: Final = ("INSTALLER", "REQUESTED", "direct_url.json")


class Component(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One component: its name (group/name), its version, and the digest of its installed content (hex)."""

    name: str
    version: str
    digest: str
    altered: tuple[str, ...] = ()  # files of a distribution that changed after the installation


class Manifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Every component, in order."""

    format: int
    pitbox: str
    components: tuple[Component, ...]


def build_manifest(config: TableConfig | None = None) -> Manifest:
    """Return the manifest of the installation, and of a configuration if one is given."""
    components = [Component("software", VERSION, software_digest())]
    for package in (*PACKAGES, *_TOOLS):
        if find_spec(package) is not None:
            components += _package(package)
    components += [_edition(game) for game in GAMES]
    components += _system()
    components += _distributions()
    if config is not None:
        components += configuration_components(config)
    return Manifest(FORMAT, VERSION, tuple(components))


def _package(package: str) -> Iterator[Component]:
    whole, parts = sha256(), []
    for name, data in source_files(package):
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


def configuration_components(config: TableConfig) -> list[Component]:
    """Return the components of a table.toml."""
    named = digests_of(config.edition, config.submission, config.kinds)
    approved = sorted(msgspec.json.encode(entry) for entry in config.approved)
    return [
        Component(CONFIGURATION_FILE, config.path.name, _file(config.path)),
        Component("configuration/choices", "as in the journal", named[CONFIGURATION]),
        Component("configuration/edition", "as in the journal", named[EDITION]),
        Component("configuration/approved", f"{len(approved)} firmwares", sha256(b"\n".join(approved)).hexdigest()),
    ]


def _file(path: Path) -> str:
    try:
        return sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""


# --- distributions of others ------------------------------------------------------------------------------------------


def _distributions() -> list[Component]:
    """Return every installed distribution: first the dependencies of pitbox, then all others."""
    installed = {_plain(distribution.name): distribution for distribution in metadata.distributions()}
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
    """Return the names of the requirements of a distribution, without extras."""
    requirements = [line for line in distribution.requires or () if not re.search(r"\bextra\s*==", line)]
    return [_plain(re.split(r"[^A-Za-z0-9._-]", line.strip(), maxsplit=1)[0]) for line in requirements]


def _distribution(group: str, distribution: metadata.Distribution) -> Component:
    """Return the component of a distribution; its digest covers its own record of files.

    Files that depend on the place or the tool of the installation are left out.
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
    """Yield the files that differ from the record of the distribution."""
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


# --- comparison -------------------------------------------------------------------------------------------------------


def read_manifest(path: Path) -> Manifest:
    """Read a manifest from a JSON file."""
    try:
        content = msgspec.json.decode(path.read_bytes(), type=Manifest)
    except OSError as error:
        raise ConfigurationError(f"{path}: {error.strerror}") from error
    except UNDECODABLE as error:
        raise ConfigurationError(
            f"{path}: not a manifest ({error}); remove it, or write it again: pitbox version --manifest --json"
        ) from error
    if content.format != FORMAT:
        raise ConfigurationError(f"{path}: format {content.format}; this software reads format {FORMAT}")
    return content


def differences(old: Manifest, new: Manifest) -> list[str]:
    """Return a line for each component that was added (+), removed (-) or changed (~)."""
    before, after = ({each.name: each for each in each_manifest.components} for each_manifest in (old, new))
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
    text = f"{component.version} {component.digest[:16]}".strip()
    return f"{text} altered: {', '.join(component.altered)}" if component.altered else text


def manifest_json(manifest: Manifest) -> bytes:
    """Return a manifest as JSON."""
    return msgspec.json.format(msgspec.json.encode(manifest), indent=1) + b"\n"


def manifest_lines(manifest: Manifest, *, files: bool = False) -> list[str]:
    """Return a manifest as lines for people; `files` adds the single files of pitbox."""
    shown: list[Any] = [each for each in manifest.components if files or not each.name.startswith("file/")]
    wide = max(len(each.name) for each in shown)
    text = [f"{each.name:{wide}s}  {each.digest or '-':64s}  {each.version}".rstrip() for each in shown]
    for each in shown:
        text += [f"ALTERED since the installation: {each.name}: {file}" for file in each.altered]
    return text
