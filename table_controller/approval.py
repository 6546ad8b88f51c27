"""Which software and configuration two people approved for a table: the manifest, and the record of who approved it.

The manifest lies beside the configuration, the record in the data folder. A box serves players only while both are
there and agree; a development table serves without them and is marked UNVERIFIED wherever it is shown.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Final

import msgspec

from firmware_bridge.decoding import UNDECODABLE
from firmware_bridge.errors import NoManifest, SoftwareNotApproved
from table_controller.manifest import as_json, manifest
from table_controller.private_file import replace_file

if TYPE_CHECKING:
    from pathlib import Path

    from table_controller.config import TableConfig

FORMAT: Final = 1
# Lies beside the configuration; `pitbox approve` writes it.
MANIFEST: Final = "manifest.json"
# Lies in the data folder, beside the journal.
RECORD: Final = "approval.json"
# Who approves: whoever installed the software, and whoever answers for what a table may run.
APPROVERS: Final = ("technician", "auditor")
HOW: Final = "pitbox approve --config {} --technician CRED --auditor CRED"


class Approval(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Who approved which manifest (SHA-256 of the file, hex), and when (RFC 3339)."""

    format: int
    manifest: str
    technician: str
    auditor: str
    at: str

    @property
    def sentence(self) -> str:
        """What the journal and people are shown of it."""
        by = f"technician {self.technician} and auditor {self.auditor}"
        return f"manifest {self.manifest[:16]} was approved by {by} at {self.at}"


def manifest_path(config: TableConfig) -> Path:
    """Return where the approved manifest of a table lies."""
    return config.path.parent / MANIFEST


def approve(config: TableConfig, technician: str, auditor: str, at: str) -> Approval:
    """Write the manifest of what is installed now, and then the record of who approved it. Both are on disk after."""
    made = as_json(manifest(config))
    approval = Approval(FORMAT, sha256(made).hexdigest(), technician, auditor, at)
    replace_file(manifest_path(config), made)
    replace_file(config.data / RECORD, msgspec.json.format(msgspec.json.encode(approval), indent=1) + b"\n")
    return approval


def read_approval(config: TableConfig) -> Approval | None:
    """Return the record of the approval; None if nobody approved. SoftwareNotApproved if it cannot be read."""
    path = config.data / RECORD
    try:
        return msgspec.json.decode(path.read_bytes(), type=Approval)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise SoftwareNotApproved(f"{path}: {error.strerror}") from error
    except UNDECODABLE as error:
        how = HOW.format(config.path)
        raise SoftwareNotApproved(f"{path} is not a record of an approval ({error}); two people write it: {how}") from (
            error
        )


def check_approval(config: TableConfig) -> Approval | None:
    """Return the approval that this table runs under; None for a development table. Raise if there is none."""
    approval = read_approval(config)
    path, how = manifest_path(config), HOW.format(config.path)
    if config.development:
        if approval is None:
            return None
        raise SoftwareNotApproved(
            f"{config.path} has table.development = true, and this table was approved for play: {approval.sentence}; "
            f"remove the key, or give the development table a data folder of its own"
        )
    try:
        found = sha256(path.read_bytes()).hexdigest()
    except FileNotFoundError:
        lost = "" if approval is None else f", although {approval.sentence}"
        raise NoManifest(f"{path} is missing{lost}; two people approve what is installed: {how}") from None
    except OSError as error:
        raise NoManifest(f"{path}: {error.strerror}") from error
    if approval is None:
        raise NoManifest(f"nobody approved {path}; two people approve what is installed: {how}")
    if found != approval.manifest:
        raise SoftwareNotApproved(f"{path} is not the file that two people approved: {approval.sentence}")
    return approval
