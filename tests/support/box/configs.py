"""Folders with a table.toml and the files that it names: keys, approved list, certificates."""

from __future__ import annotations

import re
import subprocess
import tomllib
from typing import TYPE_CHECKING, Final

from firmware_bridge.keys import DeviceKey, new_key, save_approved, save_key
from simulators.engine.machine import approved_firmware
from table_controller.rulebook.house_ways.loader import house_way_text
from tests.support.suite.required_tools import need_tool

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def write_config(folder: Path, text: str) -> Path:
    """Write a table.toml with a key file for each of its devices and an approved list for all of them."""
    file = folder / "table.toml"
    file.write_text(text, "utf-8")
    config = tomllib.loads(text)
    kinds = config.get("device", {})
    save_approved(folder / config["table"]["approved"], frozenset(approved_firmware(kind) for kind in kinds))
    for kind, numbers in kinds.items():
        for number, device in numbers.items():
            (folder / device["key"]).parent.mkdir(exist_ok=True)
            save_key(folder / device["key"], new_key(f"{kind}-{number}", kind))
    if "house_way_table" in config.get("rules", {}):
        (folder / config["rules"]["house_way_table"]).write_text(house_way_text(config["table"]["game"]), "utf-8")
    return file


# A small table with two machines: its configuration without name, devices and further sections.
SAIGON: Final = """game = "saigon_5_card"
approved = "approved.toml"
development = true
[rules]
adjacent_boxes = 1
dealing = "automated_shoe"
shuffler = "deck"
shuffler_counts = true
two_decks = true
[data]
folder = "data"
"""


def write_saigon_config(
    folder: Path, ports: str, key: Callable[[], bytes], *, enrolled: str = "", name: str = "T1", more: str = ""
) -> Path:
    """Write a table with a shuffler and a shoe; `ports` is their ports with KIND for which, `more` what comes last."""
    save_approved(folder / "approved.toml", frozenset({approved_firmware("shuffler"), approved_firmware("shoe")}))
    devices = ""
    for kind in ("shuffler", "shoe"):
        save_key(folder / f"{kind}.key", DeviceKey(f"SN-{kind}", kind, key(), enrolled))
        devices += f'[device.{kind}.1]\nport = "{ports.replace("KIND", kind)}"\nkey = "{kind}.key"\n'
    (folder / "table.toml").write_text(f'[table]\nname = "{name}"\n{SAIGON}{devices}{more}', "utf-8")
    return folder / "table.toml"


def uncomment_all(text: str) -> str:
    """Return an example with all commented choices enabled."""
    return re.sub(r"(?m)^#(?=\[|\w+ = )", "", text)


def certificate(folder: Path, name: str) -> None:
    """Make a certificate NAME.pem that signs itself, with its key NAME.key."""
    openssl = need_tool("openssl", "openssl")
    subprocess.run(
        [openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
         "-subj", f"/CN={name}", "-keyout", folder / f"{name}.key", "-out", folder / f"{name}.pem"],
        check=True, capture_output=True, timeout=60,
    )  # fmt: skip
    (folder / f"{name}.key").chmod(0o600)
