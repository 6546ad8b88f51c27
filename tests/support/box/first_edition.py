"""Files of the first version: journals, an export, fault reports, a capture, a configuration.

The files are in tests/fixtures/first_edition; its README explains how they were made. They are copied before they are
opened, because reading a journal leaves a lock file.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Final

import tests
from table_controller.journal import records as rec
from table_controller.journal.store import Policy, Store
from table_controller.journal.versions import digests_of

if TYPE_CHECKING:
    from tests.support.core.ideal_table import IdealTable

FILES: Final = Path(tests.__file__).parent / "fixtures" / "first_edition"
EXPORT: Final = FILES / "export"
CAPTURE: Final = FILES / "capture.pcapng"
CONFIGURATION: Final = FILES / "table.toml"
GAME: Final = "face_up_pai_gow"
# The meter of that version after its last step, in micro-dollars.
METER: Final = 10_002_070_000


def copied(name: str, folder: Path) -> Path:
    """Copy one of the fixtures into a folder and return its path."""
    return Path(shutil.copytree(FILES / name, folder / name.replace("/", "-")))


def opened(folder: Path, floor: IdealTable) -> tuple[Store, dict[str, str]]:
    """Open a journal for writing as a box of this version does."""
    context = floor.table.context
    digests = digests_of(context.edition, context.submission, dict(floor.slots))
    policy = Policy(segment_bytes=1 << 20, ballast_bytes=0)
    return Store.open(folder, version=rec.VERSION, digests=digests, policy=policy), digests
