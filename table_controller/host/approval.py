"""The approval of the software and configuration of a table: the manifest, and the record of the two people.

The manifest is next to the configuration, the record in the data folder. A box plays only while both exist and agree. A
development table runs without them, and every page shows UNVERIFIED.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Final

import msgspec

from firmware_bridge.decode_errors import UNDECODABLE
from firmware_bridge.errors import NoManifest, SoftwareNotApproved
from table_controller.host.manifest import build_manifest, manifest_json
from table_controller.host.private_file import replace_file

if TYPE_CHECKING:
    from pathlib import Path

    from table_controller.config import TableConfig

FORMAT: Final = 1
# Next to the configuration; `pitbox approve` writes it.
MANIFEST: Final = "manifest.json"
# In the data folder, next to the journal.
RECORD: Final = "approval.json"
# Roles that approve: the person who installed the software, and the person responsible for what a table may run.
APPROVERS: Final = ("technician", "auditor")
APPROVE_COMMAND: Final = "pitbox approve --config {} --technician CRED --auditor CRED"


class Approval(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Who approved which manifest (SHA-256 of the file, hex), and when (RFC 3339)."""

    format: int
    manifest: str
    technician: str
    auditor: str
    at: str

    @property
    def sentence(self) -> str:
        """The approval in one sentence, for people and the journal."""
        by = f"technician {self.technician} and auditor {self.auditor}"
        return f"{by} approved manifest {self.manifest[:16]} at {self.at}"


def manifest_path(config: TableConfig) -> Path:
    """Return the path of the approved manifest of a table."""
    return config.path.parent / MANIFEST


def approve(config: TableConfig, technician: str, auditor: str, at: str) -> Approval:
    """Write the manifest of the current installation, then the record of the approval. Both are on disk on return."""
    data = manifest_json(build_manifest(config))
    approval = Approval(FORMAT, sha256(data).hexdigest(), technician, auditor, at)
    replace_file(manifest_path(config), data)
    replace_file(config.data / RECORD, msgspec.json.format(msgspec.json.encode(approval), indent=1) + b"\n")
    return approval


def read_approval(config: TableConfig) -> Approval | None:
    """Return the record of the approval; None without one. Raise SoftwareNotApproved if it cannot be read."""
    path = config.data / RECORD
    try:
        return msgspec.json.decode(path.read_bytes(), type=Approval)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise SoftwareNotApproved(f"{path}: {error.strerror}") from error
    except UNDECODABLE as error:
        how = APPROVE_COMMAND.format(config.path)
        raise SoftwareNotApproved(
            f"{path} is not a record of an approval ({error}); two people must approve again: {how}"
        ) from (error)


def check_approval(config: TableConfig) -> Approval | None:
    """Return the approval of this table; None for a development table. Raise NoManifest or SoftwareNotApproved."""
    approval = read_approval(config)
    path, how = manifest_path(config), APPROVE_COMMAND.format(config.path)
    if config.development:
        if approval is None:
            return None
        raise SoftwareNotApproved(
            f"{config.path} has table.development = true, but this table was approved for play: {approval.sentence}; "
            f"remove the key, or give the development table its own data folder"
        )
    try:
        digest = sha256(path.read_bytes()).hexdigest()
    except FileNotFoundError:
        lost = "" if approval is None else f", but {approval.sentence}"
        raise NoManifest(f"{path} is missing{lost}; two people must approve the installation: {how}") from None
    except OSError as error:
        raise NoManifest(f"{path}: {error.strerror}") from error
    if approval is None:
        raise NoManifest(f"nobody approved {path}; two people must approve the installation: {how}")
    if digest != approval.manifest:
        raise SoftwareNotApproved(f"{path} is not the file that two people approved: {approval.sentence}")
    return approval
