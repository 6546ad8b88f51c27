"""Folders that a box writes: checked against the limits of its unit, opened by a drop-in, with any names."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from msgspec.structs import replace

from table_controller.config import TableConfig, load_config
from table_controller.host.box_folders import box_notices, drop_in, folders_of, limits_of, unit_name, why_closed
from table_controller.host.notice_checks import retiring_notices
from table_controller.journal.store import Policy, Store
from tests.support.box.configs import write_saigon_config
from tests.support.box.small_disk import remount, small_disk
from tests.support.suite.required_tools import need_tool

SHIPPED = Path(__file__).parents[2] / "deploy" / "systemd" / "pitbox@.service"


def shown() -> dict[str, str]:
    """Return the shipped unit's properties as systemctl shows them."""
    lines = SHIPPED.read_text("utf-8").splitlines()
    return dict(line.partition("=")[::2] for line in lines if "=" in line and not line.startswith("#"))


@pytest.fixture
def config(tmp_path: Path) -> TableConfig:
    more = '[journal]\ncopy = "/mnt/copy"\narchive = "/srv/old"\nkeep_days = 9\n'
    result = load_config(write_saigon_config(tmp_path, str(tmp_path / "KIND"), lambda: bytes(range(32)), more=more))
    return replace(result, data=Path("/var/lib/pitbox"), people=Path("/var/lib/pitbox/people.json"))


def test_the_shipped_unit_opens_its_own_folders_and_nothing_else() -> None:
    limits = limits_of("pitbox@table", shown())
    assert (limits.user, limits.is_strict) == ("pitbox", True)
    for opened in ("/var/lib/pitbox", "/var/lib/pitbox/two/journal", "/etc/pitbox/keys", "/run/pitbox"):
        assert why_closed(limits, Path(opened)) == "", opened
    for closed in ("/var/lib", "/var/lib/pitbox2", "/mnt/copy", "/", "/etc", "/srv"):
        assert "ProtectSystem" in why_closed(limits, Path(closed)), closed
    assert "ProtectHome" in why_closed(limits, Path("/home/pitbox/copy"))
    assert "PrivateTmp" in why_closed(limits, Path("/var/tmp/copy"))


def test_what_a_drop_in_opens_is_open_and_no_more() -> None:
    limits = limits_of("pitbox@table", shown() | {"ReadWritePaths": "-/mnt/copy '-/srv/second copy'"})
    assert why_closed(limits, Path("/mnt/copy/journal")) == ""
    assert why_closed(limits, Path("/srv/second copy")) == ""
    assert why_closed(limits, Path("/mnt/copy2")) != ""
    assert limits_of("x", {"ReadWritePaths": "'/broken"}).writable == (Path("'/broken"),)


def test_every_folder_that_the_box_writes_is_judged_once(config: TableConfig) -> None:
    named = {place.key: place.folder for place in folders_of(config)}
    assert named["journal.copy"] == Path("/mnt/copy")
    assert named["journal.archive"] == Path("/srv/old")
    assert len(set(named.values())) == len(named)


def test_a_units_name_is_that_of_its_file() -> None:
    assert unit_name(Path("/etc/pitbox/two.toml")) == "pitbox@two"
    assert unit_name(Path("/home/me/table.toml")) is None


def test_the_drop_in_names_folders_outside_and_systemd_reads_any_name(config: TableConfig, tmp_path: Path) -> None:
    strange = Path('/srv/a "b" \\c %d\n[Service]\nUser=root')
    odd = replace(config, journal=replace(config.journal, copy=strange), control=replace(
        config.control, socket=Path("/run/pitbox-7/control.sock")))  # fmt: skip
    text = drop_in(odd)
    assert "\nUser=" not in text
    assert 'ReadWritePaths="-/srv/old"' in text
    assert 'RuntimeDirectory="pitbox-7"' in text
    assert "/var/lib/pitbox" not in [line.partition("=")[2] for line in text.splitlines()]
    analyze = need_tool("systemd-analyze", "systemd")
    program = tmp_path / "pitbox"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    unit = SHIPPED.read_text("utf-8").replace("/usr/bin/pitbox", str(program)).replace("User=pitbox", "User=root")
    (tmp_path / "pitbox@table.service").write_text(unit)
    (tmp_path / "pitbox@table.service.d").mkdir()
    (tmp_path / "pitbox@table.service.d" / "folders.conf").write_text(text)
    done = subprocess.run(
        [analyze, "verify", "--man=no", str(tmp_path / "pitbox@table.service")],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    wrong = [
        line for line in (done.stdout + done.stderr).splitlines() if "folders.conf" in line or "pitbox@table" in line
    ]
    assert not wrong, "\n".join(wrong)


def test_no_drop_in_opens_a_home_folder(config: TableConfig) -> None:
    at_home = replace(config, journal=replace(config.journal, copy=Path("/home/pitbox/copy")))
    text = drop_in(at_home)
    assert "# journal.copy: a drop-in cannot open a home folder" in text
    assert 'ReadWritePaths="-/home' not in text


def test_a_box_names_the_folder_that_it_may_not_write(
    config: TableConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with small_disk(tmp_path, 64 << 10) as disk:
        here = replace(config, data=tmp_path, journal=replace(config.journal, copy=disk))
        assert box_notices(here) == []
        remount(disk, "ro")
        monkeypatch.delenv("INVOCATION_ID", raising=False)
        (notice,) = box_notices(here)
        assert (notice.what, notice.code, notice.is_failure) == ("journal.copy", "PB-855", True)
        assert "its disk is read-only" in notice.text
        monkeypatch.setenv("INVOCATION_ID", "a unit")
        (notice,) = box_notices(here)
        assert "the systemd unit does not open it" in notice.text
        assert "pitbox config unit" in notice.do
        remount(disk, "rw")


def test_segments_that_cannot_leave_are_reported(tmp_path: Path) -> None:
    (tmp_path / "journal").mkdir()
    policy = Policy(segment_bytes=1, ballast_bytes=0, keep_bytes=1, archive=tmp_path / "nowhere")
    store = Store.open(tmp_path / "journal", version=1, digests={}, policy=policy, clocks=lambda: (1, 1))
    assert retiring_notices(store) == []
    for _ in range(4):
        last = store.last()
        assert last is not None
        store.snapshot(last.seq, b"{}")
    (notice,) = retiring_notices(store)
    assert (notice.what, notice.is_failure) == ("journal.archive", True)
    assert "nowhere" in notice.text
    store.close()
    assert retiring_notices(None) == []
