"""A support bundle that is safe to send: files are decoded and written again, never copied.

Data that cannot be decoded is left out, so the bundle has no key, PIN, card or patron. MANIFEST.json lists its files
with digests, and what was left out and why.
"""

from __future__ import annotations

import io
import tarfile
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final

import msgspec

from devices.message_registry import LINK_MESSAGES, union_members
from firmware_bridge import frame as fr
from firmware_bridge.capture import Blanker, CaptureFile, read_capture, read_tag
from firmware_bridge.decode_errors import UNDECODABLE
from firmware_bridge.errors import PitboxError
from firmware_bridge.version import VERSION
from table_controller.controller.kinds import CONTROLLER_KINDS
from table_controller.diagnosis import fault_report_store
from table_controller.diagnosis.fault_report import encode
from table_controller.journal import reader
from table_controller.journal import records as rec
from table_controller.journal.record_text import decode_body
from table_controller.maintenance.wear import WEAR_FOLDER, WearStore

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from table_controller.config import TableConfig

# Only payloads of the link and of machines without bets, seats and amounts are kept; of others only the header.
_SHOWN: Final = tuple(
    message
    for union in (
        *LINK_MESSAGES,
        *(
            union
            for kind in CONTROLLER_KINDS.values()
            if not kind.is_private
            for union in (kind.device.messages.ToDevice, kind.device.messages.ToHost)
        ),
    )
    for message in union_members(union)
)
# Events of the journal that are included, with their fields. No bets, hits, money or texts of answers.
_EVENTS: Final[dict[str, tuple[str, ...]]] = {
    "SlotChanged": ("slot", "trigger", "reason"),
    "ReturnStepChanged": ("slot", "fault_report", "step", "testing"),  # in journals of record versions 1 and 2
    "MachineHalted": ("slot", "what"),
    "FaultDiagnosed": ("slot", "fault_report", "what", "requires"),
    "EvidenceReported": ("slot", "evidence"),
    "ReturnTaken": ("slot", "fault_report", "mode"),
    "ReturnLeft": ("slot", "fault_report"),
    "StepReported": ("slot", "fault_report", "step"),
    "TestModeOrdered": ("slot", "act", "obstacle", "mode"),
    "SlotOrdered": ("slot", "act"),
    "ShuffleEnded": ("slot", "count", "shuffled", "rejected"),
    "ShuffleFailed": ("slot", "reason", "inside"),
    "ShoeLoaded": ("slot", "count"),
    "ShoeEmpty": ("slot",),
    "ShoeFault": ("slot", "reason"),
    "StackOut": ("slot", "count"),
    "StubOut": ("slot", "count"),
    "DiscardsTakenIn": ("slot", "count"),
    "DeckGivenOut": ("slot",),
    "StackInserted": ("slot", "count"),
    "CardsInserted": ("slot",),
    "IntakeEmptied": ("slot",),
    "CardsBehindGate": ("slot",),
    "CommandEnded": ("command", "outcome", "reason"),
    "BoxStarted": ("boot", "clock_back"),
    "BoxHalted": ("code",),
}
_DECISIONS: Final[dict[str, tuple[str, ...]]] = {
    "StateChanged": ("what", "state"),
    "HoldOpened": ("hold", "trigger", "outcomes", "clauses", "slot"),
    "HoldCleared": ("hold",),
    "Command": ("id", "slot", "act", "safe"),
    "ReturnBegan": ("report", "slot", "service", "expected", "has_door", "motors"),
    "StepCompleted": ("report", "step"),
    "StepsUndone": ("report", "step", "why"),
    "TestModeChanged": ("slot", "testing", "mode"),
}
# State changes of money are not included.
_QUIET: Final = ("progressive", "hit ")
# How many of the newest records, and of the newest reports and captures.
_STEPS: Final = 20_000
_NEWEST: Final = 20
_MOST_CAPTURE: Final = 32 << 20


class BundleEntry(msgspec.Struct, frozen=True):
    """One file of the bundle."""

    name: str
    about: str
    size: int
    sha256: str


class BundleManifest(msgspec.Struct, frozen=True):
    """The content of a bundle, and what was left out."""

    pitbox: str
    safe: str
    files: list[BundleEntry]
    left_out: list[str]


class Bundle:
    """Collects files in memory; `archive` returns the bundle. The same files give the same bytes."""

    def __init__(self) -> None:
        self._files: dict[str, tuple[str, bytes]] = {}
        self.left_out: list[str] = []

    def add(self, name: str, about: str, data: bytes) -> None:
        """Add one file."""
        self._files[name] = (about, data)

    def add_json(self, name: str, about: str, what: Any) -> None:
        """Add an object as JSON."""
        self.add(name, about, msgspec.json.format(msgspec.json.encode(what), indent=1) + b"\n")

    def manifest(self) -> BundleManifest:
        """Return the manifest."""
        files = [
            BundleEntry(name, about, len(data), sha256(data).hexdigest())
            for name, (about, data) in sorted(self._files.items())
        ]
        safe = "no keys, no PINs, no people's credentials, no card payloads, no bets, no money"
        return BundleManifest(VERSION, safe, files, self.left_out)

    def archive(self) -> bytes:
        """Return the bundle as a gzipped tar archive."""
        manifest = msgspec.json.format(msgspec.json.encode(self.manifest()), indent=1) + b"\n"
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w:gz", compresslevel=6) as tar:
            for name, data in [("MANIFEST.json", manifest), *((n, d) for n, (_, d) in sorted(self._files.items()))]:
                info = tarfile.TarInfo(f"pitbox-bundle/{name}")
                info.size = len(data)
                info.mode = 0o644
                tar.addfile(info, io.BytesIO(data))
        return out.getvalue()


def collect(data: Path, config: TableConfig | None, into: Bundle) -> None:
    """Add everything harmless from the data folder of a box."""
    if config is not None:
        into.add_json("configuration.json", "table.toml as decoded, without keys and passwords", _plain(config))
    _journal(data, into)
    for wear in WearStore(data / WEAR_FOLDER).all():
        into.add_json(f"wear/{_safe_name(wear.serial)}.json", "wear history of one machine, integers only", wear)
    _fault_reports(fault_report_store.folder_in(data), into)
    _captures(data, into)
    known = {"journal", WEAR_FOLDER, fault_report_store.folder_in(data).name, "captures"}
    others = [path for path in data.iterdir() if path.name not in known and path.suffix != ".pcapng"]
    if others:
        into.left_out.append(f"{len(others)} other files of the data folder, such as credentials and sockets")


def _safe_name(text: str) -> str:
    return "".join(c if c.isascii() and (c.isalnum() or c in "-_.") else "_" for c in text)[:40]


def _plain(config: TableConfig) -> dict[str, Any]:
    """Return the useful parts of a configuration, without secrets and hosts."""
    return {
        "table": config.id,
        "game": config.game,
        "edition": config.edition.dated,
        "slots": [
            {"slot": s.name, "port": s.port, "serial": s.key.serial, "enrolled": bool(s.key.enrolled)}
            for s in config.slots
        ],
        "approved": sorted(f"{a.kind} {a.version} {a.digest.hex()}" for a in config.approved),
        "journal": {
            "copy": config.journal.copy is not None,
            "segment_bytes": config.journal.policy.segment_bytes,
            "ballast_bytes": config.journal.policy.ballast_bytes,
        },
        "mqtt": None if config.mqtt is None else {"tls": config.mqtt.tls, "port": config.mqtt.port},
        "panel": {"enabled": config.panel.enabled, "tls": config.panel.cert is not None},
    }


# --- the journal ------------------------------------------------------------------------------------------------------


def _journal(data: Path, into: Bundle) -> None:
    folder = data / "journal"
    try:
        if not folder.is_dir() or not reader.segments(folder):
            into.left_out.append("journal: there is none")
            return
        first, last = reader.bounds(folder)
        lines = list(_steps(folder, max(first, last - _STEPS), last))
    except (PitboxError, OSError) as error:
        into.left_out.append(f"journal: it cannot be read ({getattr(error, 'code', type(error).__name__)})")
        return
    into.add("journal/machines.jsonl", "events of machines and their decisions, from the newest records",
             b"".join(msgspec.json.encode(line) + b"\n" for line in lines))  # fmt: skip
    into.left_out.append("journal: everything else, with bets, money and credentials; `pitbox journal export` has it")


def _steps(folder: Path, first: int, last: int) -> Iterator[dict[str, Any]]:
    for record in reader.read(folder, first, last):
        opening = {"seq": record.seq, "wall_ns": record.wall_ns, "kind": record.kind}
        step = decode_body(record)
        if record.kind != rec.STEP:
            if record.kind in ("box", "clock", "start", "stop"):
                yield opening
            continue
        if not isinstance(step, dict) or step["event"].get("type") not in _EVENTS:
            continue
        event = _picked(step["event"], _EVENTS)
        role = (step["event"].get("who") or {}).get("role")
        decisions = [
            _picked(each, _DECISIONS)
            for each in step["decisions"]
            if each.get("type") in _DECISIONS and not str(each.get("what", "")).startswith(_QUIET)
        ]
        yield {**opening, "event": event, "decisions": decisions, **({"by": role} if role in _ROLES else {})}


_ROLES: Final = ("dealer", "floorperson", "technician", "auditor")


def _picked(what: dict[str, Any], known: dict[str, tuple[str, ...]]) -> dict[str, Any]:
    fields = known[what["type"]]
    return {"type": what["type"], **{key: what[key] for key in fields if key in what}}


# --- reports and captures ---------------------------------------------------------------------------------------------


def _fault_reports(folder: Path, into: Bundle) -> None:
    blanker = Blanker(_SHOWN)
    for number in fault_report_store.numbers(folder)[-_NEWEST:]:
        try:
            report = fault_report_store.read(folder, number)
        except PitboxError:
            into.left_out.append(f"fault report {number}: it cannot be read")
            continue
        opening, frames = (
            tuple(
                msgspec.structs.replace(each, data=_blanked(each.data, blanker))
                for each in kept
                if _harmless(each.data[fr.HEADER_SIZE :])
            )
            for kept in (report.opening, report.frames)
        )
        into.add(f"fault-reports/{number:06d}.json", "the recorded evidence of one fault", encode(
            msgspec.structs.replace(report, opening=opening, frames=frames)
        ))  # fmt: skip


def _blanked(signed: bytes, blanker: Blanker) -> bytes:
    payload = signed[fr.HEADER_SIZE :]
    return signed[: fr.HEADER_SIZE] + blanker.blank(payload) if blanker.blank_reason(payload) else signed


def _captures(data: Path, into: Bundle) -> None:
    paths = [*data.glob("*.pcapng"), *(data / "captures").glob("*.pcapng")]
    for number, path in enumerate(sorted(paths, key=lambda each: each.stat().st_mtime)[-_NEWEST:], 1):
        try:
            if path.stat().st_size > _MOST_CAPTURE:
                into.left_out.append(f"capture {number}: larger than {_MOST_CAPTURE >> 20} MB")
                continue
            into.add(
                f"captures/{number:02d}.pcapng", "frames, card payloads blanked, comments dropped", _rewritten(path)
            )
        except PitboxError:
            into.left_out.append(f"capture {number}: it cannot be read")


def _rewritten(path: Path) -> bytes:
    """Return a capture written again, with payloads blanked, no matter which program wrote it."""
    out = io.BytesIO()
    at = 0

    def now() -> int:
        return at

    file = CaptureFile(out, _SHOWN, now)
    for packet in read_capture(path):
        at = packet.time_ns
        if _harmless(packet.frame.payload):
            file.port(packet.slot if _is_slot(packet.slot) else "port")(
                packet.outgoing, packet.frame.signed, packet.frame.mac
            )
    return out.getvalue()


def _is_slot(name: str) -> bool:
    kind, _, number = name.rpartition(".")
    return kind.replace("_", "").isalpha() and number.isdigit()


_BY_TAG: Final = {message.__struct_config__.tag: message for message in _SHOWN}


def _harmless(payload: bytes) -> bool:
    """Return whether a payload will be blanked or is a complete message; anything else could hold any data."""
    tag, end = read_tag(payload)
    if not payload or tag not in _BY_TAG or _BY_TAG[tag].carries_cards:
        return True  # it will be blanked
    try:
        msgspec.msgpack.decode(payload, type=_BY_TAG[tag])
    except UNDECODABLE:
        return not any(payload[end:])
    return True
