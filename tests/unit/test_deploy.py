"""The systemd unit: its command exists, its readiness is sent, and systemd finds no errors in it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from table_controller import cli
from table_controller.config.example import example
from tests.support.suite.required_tools import need_tool

DEPLOY = Path(__file__).parents[2] / "deploy" / "systemd"
UNIT = DEPLOY / "pitbox@.service"


def settings() -> dict[str, list[str]]:
    results: dict[str, list[str]] = {}
    for line in UNIT.read_text("utf-8").splitlines():
        if line and not line.startswith(("#", "[")):
            key, _, value = line.partition("=")
            results.setdefault(key, []).append(value)
    return results


def test_the_unit_starts_a_command_that_is_ours_and_waits_for_its_word() -> None:
    unit = settings()
    program, command, *_ = unit["ExecStart"][0].split()
    assert program.endswith("/pitbox")
    assert command in cli._OWN
    assert unit["Type"] == ["notify"]
    assert 2 <= int(unit["WatchdogSec"][0]) <= 30
    assert {int(code) for code in unit["RestartPreventExitStatus"][0].split()} == {cli.USAGE, cli.TRUST, cli.NO_BOX}


def test_the_service_can_touch_its_machines_and_its_folder_and_little_else() -> None:
    unit = settings()
    assert unit["ProtectSystem"] == ["strict"]
    assert unit["StateDirectory"] == ["pitbox"]
    assert unit["CapabilityBoundingSet"] == [""]
    assert unit["NoNewPrivileges"] == ["yes"]
    assert unit["DevicePolicy"] == ["closed"]
    assert {device.partition(" ")[0] for device in unit["DeviceAllow"]} == {
        "char-ttyUSB", "char-ttyACM", "char-ttyS", "char-usb_device",
    }  # fmt: skip
    assert "AF_UNIX" in unit["RestrictAddressFamilies"][0]


def test_an_adapter_that_is_plugged_in_later_is_allowed_since_its_driver_was_there_when_the_unit_started() -> None:
    unit = settings()
    loaded = {"char-ttyUSB": "usbserial", "char-ttyACM": "cdc_acm"}  # the others are in every kernel
    for device, driver in loaded.items():
        assert f"{device} rw" in unit["DeviceAllow"]
        assert all(any(f"modprobe@{driver}.service" in line for line in unit[key]) for key in ("Wants", "After"))


def test_systemd_finds_nothing_wrong_with_the_unit(tmp_path: Path) -> None:
    analyze = need_tool("systemd-analyze", "systemd")
    program = tmp_path / "pitbox"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    text = UNIT.read_text("utf-8").replace("/usr/bin/pitbox", str(program)).replace("User=pitbox", "User=root")
    (tmp_path / "pitbox@table.service").write_text(text)
    done = subprocess.run(
        [analyze, "verify", "--man=no", str(tmp_path / "pitbox@table.service")],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    entries = [line for line in (done.stdout + done.stderr).splitlines() if "pitbox@table" in line]
    assert not entries, "\n".join(entries)


def test_the_brokers_acl_has_a_block_for_the_user_that_the_example_logs_in_as() -> None:
    lines = example("face_up_pai_gow").splitlines()
    given = {key: json.loads(value) for key, _, value in (line.lstrip("#").partition(" = ") for line in lines)
             if key in ("username", "client_id", "prefix")}  # fmt: skip
    acl = (DEPLOY.parent / "mosquitto" / "acl").read_text("utf-8")
    assert f"user {given['username']}\n" in acl
    assert given["username"] == given["client_id"]
    assert f"topic write {given['prefix']}/riverside/table-7/events" in acl
