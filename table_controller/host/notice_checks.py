"""Checks that find notices: certificates, folders, witnesses of the journal heads, segments that were not removed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from firmware_bridge.errors import HeadNotPublished, code_of
from table_controller.host.box_folders import unit_notices
from table_controller.host.certificates import configured_certificates, notices_of
from table_controller.host.notices import Notice
from table_controller.journal.store import Store

if TYPE_CHECKING:
    from pathlib import Path

    from table_controller.config import TableConfig

HEAD_STAYS: Final = code_of(HeadNotPublished.number)


def all_notices(config: TableConfig, now_s: float) -> list[Notice]:
    """Return the notices for `pitbox config check` and `pitbox doctor`; no box needs to run."""
    return [*notices_of(configured_certificates(config), now_s), *head_notices(config), *unit_notices(config)]


def head_notices(config: TableConfig) -> list[Notice]:
    """Return a notice if no head of the journal leaves this computer, so that nobody can prove a replacement."""
    if config.mqtt is not None:
        return []
    do = "configure a broker ([mqtt]) or a second copy on another disk or host (journal.copy)"
    copy = config.journal.copy
    if copy is None:
        text = "no head of the journal leaves this computer: no broker and no second copy are configured"
    elif _same_disk(config.data, copy):
        text = f"no head of the journal leaves this disk: there is no broker, and journal.copy ({copy}) is on it too"
    else:
        return []
    return [
        Notice(
            "journal heads",
            HEAD_STAYS,
            f"{text}; a person who controls it could replace the whole journal unnoticed",
            do,
        )
    ]


def retiring_notices(store: object) -> list[Notice]:
    """Return a notice if old segments of the journal could not be removed."""
    failed = store.retiring_failed if isinstance(store, Store) else None
    if failed is None:
        return []
    text = f"old segments cannot be removed from the journal: {failed}"
    return [Notice("journal.archive", failed.code, text, f"pitbox explain {failed.code}", is_failure=True)]


def _same_disk(one: Path, other: Path) -> bool:
    """Return whether both folders exist on one disk."""
    try:
        return one.stat().st_dev == other.stat().st_dev
    except OSError:
        return False
