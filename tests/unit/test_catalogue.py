"""One catalogue: every error and every reason of a device has its entry, and every entry its error."""

from __future__ import annotations

from devices.message_registry import KIND_MESSAGES
from devices.shuffler.messages import Reason
from firmware_bridge import errors
from firmware_bridge.errors import PitboxError, code_of
from table_controller.catalogue import catalogue


def tree(root: type[PitboxError]) -> list[type[PitboxError]]:
    own = [root] if root.__module__ == errors.__name__ else []
    return own + [result for child in root.__subclasses__() for result in tree(child)]


def test_every_error_and_every_reason_has_an_entry_and_every_entry_has_one_of_them() -> None:
    codes = [code_of(error.number) for error in tree(PitboxError)]
    assert len(codes) == len(set(codes)), "two errors share a number"
    names: dict[int, str] = {}
    for machine in KIND_MESSAGES:
        for reason in machine.Reason:
            # Machines of several kinds may have a reason in common: then number, name and meaning are the same.
            assert names.setdefault(reason.value, reason.name) == reason.name, f"two reasons share {reason.value}"
    reasons = [code_of(number) for number in names if number]
    assert not set(reasons) & set(codes)
    assert {*codes, *reasons} == set(catalogue())


def test_every_entry_has_a_text_and_entries_are_sorted_by_code() -> None:
    entries = catalogue()
    assert list(entries) == sorted(entries)
    for code, entry in entries.items():
        assert all((entry.title, entry.who, entry.meaning, entry.act)), code
        assert entry.meaning.endswith("."), code
        assert entry.act.endswith("."), code


def test_a_devices_fault_shows_the_devices_own_code() -> None:
    assert errors.CommandFailed("x", Reason.JAM).code == "PB-430"
    assert errors.PortBusy("x").code == "PB-112"
