"""Changes of source text, collected first and applied at once, so that positions stay true."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


class Edits:
    """Replacements by file, line and column (UTF-16 units)."""

    def __init__(self) -> None:
        self._by_file: dict[str, dict[tuple[int, int, int], str]] = defaultdict(dict)
        self.conflicts: list[str] = []

    def replace(self, path: str, line: int, start: int, end: int, new: str) -> None:
        """Replace a range of one line; two different replacements of one range are a conflict."""
        place = (line, start, end)
        before = self._by_file[path].setdefault(place, new)
        if before != new:
            self.conflicts.append(f"{path}:{line + 1}:{start}: {before} or {new}?")

    def apply(self, root: Path) -> int:
        """Write every changed file; return how many replacements were made."""
        total = 0
        for path, places in self._by_file.items():
            file = root / path
            lines = file.read_text().split("\n")
            for (line, start, end), new in sorted(places.items(), reverse=True):
                wide = lines[line].encode("utf-16-le")
                changed = wide[: start * 2] + new.encode("utf-16-le") + wide[end * 2 :]
                lines[line] = changed.decode("utf-16-le")
                total += 1
            file.write_text("\n".join(lines))
        return total


def text_at(root: Path, path: str, line: int, start: int, end: int) -> str:
    """Return what stands at a range of one line."""
    wide = (root / path).read_text().split("\n")[line].encode("utf-16-le")
    return wide[start * 2 : end * 2].decode("utf-16-le")
