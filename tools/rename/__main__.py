"""Renames modules and names by the maps. The tree must be clean in git; look at the difference, then commit.

python -m tools.rename tools/rename/maps/box.txt                 names first, then modules
python -m tools.rename --only names tools/rename/maps/*.txt

Needs `pip install basedpyright`, in any environment: --server names its `basedpyright-langserver`.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path
from typing import Final

from tools.rename.language_server import SERVER, LanguageServer
from tools.rename.maps import Maps, read_maps
from tools.rename.mentions import rename_mentions
from tools.rename.moves import move_modules
from tools.rename.names import rename_names
from tools.rename.strings import rename_strings

ROOT: Final = Path(__file__).resolve().parent.parent.parent
# Written by earlier versions, or the record of a rename: they keep their words.
KEPT: Final = ("tests/fixtures/", "tools/rename/maps/", "CHANGELOG.md", "tests/wire/golden/")


def main(arguments: list[str] | None = None) -> int:
    """Rename; 0 if every line of the maps was carried out."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.rename", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("maps", nargs="+", type=Path)
    parser.add_argument("--only", choices=("names", "modules"), help="one half of the work")
    parser.add_argument("--server", default=SERVER, help="the language server (default: %(default)s on the path)")
    args = parser.parse_args(arguments)
    maps = read_maps(args.maps)
    problems = [] if args.only == "modules" else _names(maps, args.server)
    if args.only != "names":
        print(f"{move_modules(ROOT, _files(), maps.moves)} files moved")
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


def _files() -> list[str]:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)  # noqa: S607 - git
    return [path for path in listed.stdout.splitlines() if not path.startswith(KEPT) and (ROOT / path).is_file()]


def _names(maps: Maps, server: str) -> list[str]:
    sources = [path for path in _files() if path.endswith(".py")]
    with LanguageServer(ROOT, server, sys.executable) as running:
        count, problems = rename_names(ROOT, sources, running, maps.renames, _progress)
    strings, doubts = rename_strings(ROOT, sources, maps.renames)
    problems += doubts
    mentions = rename_mentions(ROOT, _files(), maps.renames)
    print(f"\n{count} replacements, {strings} of strings; mentions in {mentions} files")
    return problems


def _progress(text: str) -> None:
    print(f"\r\x1b[K{text[:110]}", end="", flush=True)


if __name__ == "__main__":
    sys.exit(main())
