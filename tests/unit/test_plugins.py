"""Optional parts: commands and ports whose package is not installed are absent, with a plain message."""

from __future__ import annotations

from importlib.metadata import EntryPoint
from typing import TYPE_CHECKING

import pytest

from firmware_bridge import plugins
from firmware_bridge.errors import BadPort
from firmware_bridge.transport.ports import check_port, open_port
from firmware_bridge.transport.usb import find_ports
from table_controller.cli import USAGE, main

if TYPE_CHECKING:
    from collections.abc import Callable

USBIP_PORT = "usbip://127.0.0.1:3240/1209:0001:SN-1"


def listed(monkeypatch: pytest.MonkeyPatch, *points: EntryPoint) -> None:
    """Have the installation list these entry points and no others."""

    def of_group(*, group: str) -> list[EntryPoint]:
        return [point for point in points if point.group == group]

    monkeypatch.setattr(plugins, "entry_points", of_group)


@pytest.fixture
def without_optional_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    """An installation whose metadata still lists what its wheel left out."""
    listed(
        monkeypatch,
        EntryPoint("conform", "no_such_package.conform", plugins.COMMANDS),
        EntryPoint("sim", "firmware_bridge.no_such_module", plugins.COMMANDS),
        EntryPoint("usbip", "no_such_package.usbip.backend", plugins.PORTS),
    )


def test_an_installation_from_the_whole_source_has_all_optional_parts() -> None:
    assert {"conform", "demo", "panel", "replay", "sim"} <= plugins.installed_plugins(plugins.COMMANDS).keys()
    assert plugins.installed_plugins(plugins.PORTS).keys() == {"usbip"}


@pytest.mark.usefixtures("without_optional_packages")
def test_an_entry_point_whose_package_is_missing_is_absent() -> None:
    assert plugins.installed_plugins(plugins.COMMANDS) == {}
    assert plugins.installed_plugins(plugins.PORTS) == {}


@pytest.mark.usefixtures("without_optional_packages")
def test_a_command_whose_package_is_missing_is_unknown_and_not_in_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["conform", "--list"])
    assert ended.value.code == USAGE
    assert "invalid choice: 'conform'" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["--help"])
    shown = capsys.readouterr().out
    assert "doctor" in shown
    assert "conform" not in shown


@pytest.mark.usefixtures("without_optional_packages")
@pytest.mark.parametrize("use", [check_port, lambda _: find_ports(("127.0.0.1", 3240))])
def test_without_the_usbip_client_its_ports_are_refused_by_name(use: Callable[[str], object]) -> None:
    with pytest.raises(BadPort, match="this installation was made without them"):
        use(USBIP_PORT)


@pytest.mark.realtime
@pytest.mark.usefixtures("without_optional_packages")
async def test_without_the_usbip_client_its_ports_cannot_be_opened() -> None:
    with pytest.raises(BadPort, match="this installation was made without them"):
        await open_port(USBIP_PORT)


def test_an_error_inside_an_installed_part_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    listed(monkeypatch, EntryPoint("usbip", "firmware_bridge.plugins:no_such_attribute", plugins.PORTS))
    with pytest.raises(AttributeError):
        check_port(USBIP_PORT)
