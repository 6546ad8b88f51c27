"""One round of the real service with an identifying shoe: no file, log or bundle names a card before its release."""

from __future__ import annotations

import re
import tarfile
from typing import TYPE_CHECKING, Final

import msgspec
import pytest

from simulators.casino.service_table import ServiceTable
from simulators.casino.table_layout import identifying_shoe
from table_controller.journal.export import export
from table_controller.table import events as ev
from tests.support.box.processes import pitbox
from tools import verify_export

if TYPE_CHECKING:
    from pathlib import Path

GAME: Final = "saigon_5_card"
_CARD: Final = rb"(?:[2-9TJQKA][cdhs]|Jk)"
# Two cards or more in a row, as every text that names a hand has them.
CARDS: Final = re.compile(rb"\b" + _CARD + rb"(?: " + _CARD + rb")+\b")


@pytest.mark.realtime
async def test_no_file_names_a_card_before_its_release_and_no_bundle_ever(tmp_path: Path) -> None:
    table = ServiceTable(GAME, tmp_path, seed=1, speed=60, more=identifying_shoe(GAME))
    try:
        await table.open("blue", "red")
        port = str(tmp_path / "shoe.1")
        assert "PB-112" in pitbox("device", "shoe", "--port", port, "--key", f"{port}.key", "identify", expect=3)
        await table.round()
    finally:
        await table.close()
    hands = released_hands(table)
    out = tmp_path / "bundle.tar.gz"
    pitbox("bundle", "--config", str(tmp_path / "table.toml"), "--out", str(out))
    assert not {name for name, text in texts_of(tmp_path, out).items() if CARDS.search(text)}
    export(tmp_path / "data" / "journal", tmp_path / "export")
    assert verify_export.main([str(tmp_path / "export")]) == 0, "the independent checks know these records"
    named = named_hands(b"".join(file.read_bytes() for file in (tmp_path / "data" / "journal").iterdir()))
    assert named
    assert all(any(cards <= hand for hand in hands) for cards in named), "the journal has only what was released"


def named_hands(text: bytes) -> set[frozenset[bytes]]:
    """Return every hand that a text names."""
    return {frozenset(hand.split()) for hand in CARDS.findall(text)}


def released_hands(table: ServiceTable) -> set[frozenset[bytes]]:
    """Return the released hands. No step before the first of them names a card; no later one names another hand."""
    steps = [msgspec.json.encode(step) for step in table.step_log]
    released = [(at, each.cards) for at, (each, _) in enumerate(table.step_log) if isinstance(each, ev.HandReleased)]
    assert len(released) == 1 + len(table.seats)
    assert not [step for step in steps[: released[0][0]] if CARDS.search(step)]
    hands = {frozenset(cards.encode().split()) for _, cards in released}
    named = set().union(*(named_hands(step) for step in steps))
    assert named
    assert all(any(cards <= hand for hand in hands) for cards in named)
    return hands


def texts_of(folder: Path, bundle: Path) -> dict[str, bytes]:
    """Return every file of a table but its journal, and every file of its support bundle."""
    with tarfile.open(bundle) as packed:
        inside = {member.name: packed.extractfile(member) for member in packed.getmembers() if member.isfile()}
        texts = {name: file.read() for name, file in inside.items() if file is not None}
    assert len(texts) > 3
    files = [file for file in folder.rglob("*") if file.is_file() and "journal" not in file.parts and file != bundle]
    return texts | {str(file): file.read_bytes() for file in files}
