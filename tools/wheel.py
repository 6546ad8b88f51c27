"""Builds the wheel of pitbox, without network and without a trace in the repository.

python -m tools.wheel                 write the whole wheel to build/wheel/whole
python -m tools.wheel --production    leave out the simulators and the conformance kit; write to build/wheel/production
python -m tools.wheel --to FOLDER     write to another folder

The source is a copy of the files that git tracks, as they are in the work tree. Both wheels have the same file name and
list the same entry points: `pitbox` leaves out a command or a kind of port whose package is not installed.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from tools import ROOT

# Folders that a production box does without.
BENCH_FOLDERS: Final = ("simulators/", "devices/conformance/")


class BuildFailed(Exception):
    """git or pip failed; the text is its output."""


def tracked_files(*, production: bool = False) -> list[str]:
    """Return the files that git tracks and that exist; for production without those of the bench."""
    listed = _run(["git", "ls-files", "-z"], ROOT).split("\0")
    excluded = BENCH_FOLDERS if production else ()
    return [name for name in listed if name and not name.startswith(excluded) and (ROOT / name).is_file()]


def build(folder: Path, *, production: bool = False) -> Path:
    """Build the wheel into a folder and return its path. A wheel of the same name is replaced."""
    with tempfile.TemporaryDirectory(prefix="pitbox-wheel-") as temporary:
        source, built = Path(temporary, "source"), Path(temporary, "built")
        for name in tracked_files(production=production):
            target = source / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, target)
        pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-cache-dir"]
        offline = ["--no-index", "--no-deps", "--no-build-isolation"]
        _run([*pip, *offline, "--wheel-dir", str(built), str(source)], Path(temporary))
        (wheel,) = built.glob("*.whl")
        folder.mkdir(parents=True, exist_ok=True)
        return Path(shutil.copy(wheel, folder))


def _run(command: list[str], folder: Path) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)  # noqa: S603 - our own
    if done.returncode:
        raise BuildFailed(f"{' '.join(command[:4])} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def main() -> int:
    """Build a wheel and print its path."""
    parser = argparse.ArgumentParser(prog="python -m tools.wheel", description="Build the wheel of pitbox.")
    parser.add_argument("--production", action="store_true", help="leave out the simulators and the conformance kit")
    parser.add_argument("--to", type=Path, metavar="FOLDER", help="write to this folder instead of build/wheel/…")
    args = parser.parse_args()
    folder = args.to or ROOT / "build" / "wheel" / ("production" if args.production else "whole")
    try:
        print(build(folder, production=args.production))
    except BuildFailed as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
