"""Pins every package that `make demo`, `make test`, `make check` and `make docs` install, with hashes.

python -m tools.lock            exit 1 if a lock file and pyproject.toml disagree
python -m tools.lock --renew    resolve again and write requirements/*.txt (needs uv; `make lock` installs it)

pip installs a pinned package only if its file has one of the listed hashes, from any index. The hashes cover the files
of every platform, so one lock serves x86_64 and aarch64, CPython 3.11 and newer. No lock file names an index.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any, Final, NamedTuple

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT: Final = Path(__file__).resolve().parent.parent
FOLDER: Final = "requirements"
RENEW: Final = "make lock"
# Lock file -> the extras of pyproject.toml that it holds in addition to the runtime dependencies and the build backend.
EXTRAS: Final = {"demo": (), "dev": ("test", "check", "bench", "docs")}
# Holds what only `make lock` and `make hooks` need: the resolver and pre-commit.
TOOLS: Final = "tools"
_HEAD: Final = """\
# Written by `make lock` from pyproject.toml. Do not edit.
# Install: pip install --require-hashes -r {path}
"""
_PIN: Final = re.compile(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)")
_INDEX: Final = re.compile(r"^\s*(-i|-f|--index-url|--extra-index-url|--find-links|--trusted-host)\b|://", re.MULTILINE)


class Pin(NamedTuple):
    """One package of a lock file."""

    name: str  # normalized
    version: Version
    hashes: int


def pins(text: str) -> dict[str, Pin]:
    """Return the pinned packages of a lock file, by normalized name."""
    results: dict[str, Pin] = {}
    name = ""
    for line in text.splitlines():
        if match := _PIN.match(line):
            name = canonicalize_name(match[1])
            results[name] = Pin(name, Version(match[2]), 0)
        elif name and line.strip().startswith("--hash=sha256:"):
            results[name] = results[name]._replace(hashes=results[name].hashes + 1)
    return results


def requirements(project: dict[str, Any], file: str) -> list[Requirement]:
    """Return what pyproject.toml requires of a lock file."""
    extras = project["project"].get("optional-dependencies", {})
    if file == TOOLS:
        return [Requirement(line) for line in extras[TOOLS]]
    lines = [*project["project"]["dependencies"], *project["build-system"]["requires"]]
    return [Requirement(line) for line in [*lines, *(line for extra in EXTRAS[file] for line in extras[extra])]]


def disagreements(root: Path) -> list[str]:
    """Return a sentence for every point in which the lock files and pyproject.toml disagree."""
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))
    wrong = []
    locked: dict[str, dict[str, Pin]] = {}
    for file in (*EXTRAS, TOOLS):
        path = root / FOLDER / f"{file}.txt"
        if not path.exists():
            wrong.append(f"{FOLDER}/{file}.txt does not exist")
            continue
        text = path.read_text("utf-8")
        locked[file] = pins(text)
        if _INDEX.search(text):
            wrong.append(f"{FOLDER}/{file}.txt names an index; pip's own configuration chooses the index")
        wrong += [f"{FOLDER}/{file}.txt: {sentence}" for sentence in _wrong_pins(locked[file], project, file)]
    wrong += [
        f"{name} is {pin.version} in {FOLDER}/demo.txt and {locked['dev'][name].version} in {FOLDER}/dev.txt"
        for name, pin in locked.get("demo", {}).items()
        if name in locked.get("dev", {}) and locked["dev"][name].version != pin.version
    ]
    return wrong


def _wrong_pins(locked: dict[str, Pin], project: dict[str, Any], file: str) -> list[str]:
    wrong = [f"{pin.name} has no hash" for pin in locked.values() if not pin.hashes]
    for needed in requirements(project, file):
        pin = locked.get(canonicalize_name(needed.name))
        if pin is None:
            wrong.append(f"{needed.name} is missing")
        elif not needed.specifier.contains(pin.version):
            wrong.append(f"{pin.name} {pin.version} is outside {needed.specifier}")
    return wrong


def renew(root: Path) -> None:
    """Resolve every lock file again with uv. Packages may move to newer versions within their ranges."""
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))
    python = project["project"]["requires-python"].removeprefix(">=")
    for file in (*EXTRAS, TOOLS):
        path = root / FOLDER / f"{file}.txt"
        command = [str(Path(sys.executable).with_name("uv")), "pip", "compile", "-", "--universal", "--generate-hashes",
                   "--python-version", python, "--no-header", "--upgrade", "--quiet"]  # fmt: skip
        # The lock of the tests starts from the lock of the demo, so that both hold the same versions.
        demo = root / FOLDER / "demo.txt"
        command += ["--constraints", str(demo)] if file == "dev" else []
        names = "\n".join(str(needed) for needed in requirements(project, file))
        done = subprocess.run(command, input=names, capture_output=True, text=True, check=True)  # noqa: S603 - our words
        # uv's comments would only name standard input.
        lines = [line for line in done.stdout.splitlines() if not line.strip().startswith(("# via", "#   "))]
        path.parent.mkdir(exist_ok=True)
        path.write_text("\n".join([_HEAD.format(path=f"{FOLDER}/{file}.txt") + lines[0], *lines[1:]]) + "\n", "utf-8")


def main(arguments: list[str] | None = None) -> int:
    """Check or renew the lock files; return 1 if they disagree with pyproject.toml."""
    parser = argparse.ArgumentParser(prog="python -m tools.lock", description="pinned packages with hashes")
    parser.add_argument("--renew", action="store_true", help="resolve again and write the lock files")
    if parser.parse_args(arguments).renew:
        renew(ROOT)
    wrong = disagreements(ROOT)
    for sentence in wrong:
        print(f"lock: {sentence}. Run: {RENEW}")
    if not wrong:
        counts = ", ".join(
            f"{len(pins((ROOT / FOLDER / f'{file}.txt').read_text('utf-8')))} in {file}" for file in EXTRAS
        )
        print(f"lock: every requirement is pinned within its range ({counts})")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
