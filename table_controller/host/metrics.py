"""Formats metrics as Prometheus text, and the picture of a box as a page of them.

Amounts are whole micro-dollars: a gauge is a 64-bit float, which is exact up to nine billion dollars.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from table_controller.picture.types import BoxPicture

PHASES: Final = ("running", "locked", "halted", "stopping")
CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
# A value and its labels.
Sample = tuple[float, dict[str, str]]


def metric(name: str, about: str, samples: float | Iterable[Sample], kind: str = "gauge") -> Iterator[str]:
    """Yield the lines of one metric; a single value has no labels."""
    yield f"# HELP pitbox_{name} {about}"
    yield f"# TYPE pitbox_{name} {kind}"
    for value, labels in [(samples, {})] if isinstance(samples, int | float) else samples:
        text = ",".join(f"{key}={_quoted(label)}" for key, label in labels.items())
        yield f"pitbox_{name}{{{text}}} {value}" if text else f"pitbox_{name} {value}"


def counter(name: str, about: str, samples: float | Iterable[Sample]) -> Iterator[str]:
    """Yield the lines of a metric that only grows."""
    return metric(name, about, samples, "counter")


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def metrics_text(box: BoxPicture) -> str:
    """Return the page."""
    return "\n".join(_lines(box)) + "\n"


def _lines(box: BoxPicture) -> Iterator[str]:
    labels = {"version": box.version, "table": box.table, "game": box.game}
    yield from metric("info", "version, table and game", [(1, labels)])
    phases = [(int(box.phase == phase), {"phase": phase}) for phase in PHASES]
    yield from metric("phase", "1 for the current phase of the box", phases)
    yield from counter("boot", "starts of this box", box.boot)
    yield from metric("up_seconds", "seconds since this start", (box.now_ns - box.started_ns) // 1_000_000_000)
    yield from counter("journal_record", "number of the last step on disk", box.seq)
    yield from metric("dealer_signed_on", "whether a dealer is signed on", int(box.dealer is not None))
    in_service = [(int(slot.state == "in_service"), {"slot": slot.name, "state": slot.state}) for slot in box.slots]
    yield from metric("slot_in_service", "whether a device is in service; its state is a label", in_service)
    connected = [(int(slot.connected), {"slot": slot.name}) for slot in box.slots]
    yield from metric("slot_connected", "whether a device is connected", connected)
    yield from metric("copy_configured", "whether there is a second copy of the journal", int(box.copy.configured))
    yield from metric("copy_behind_records", "records that the second copy lacks", box.copy.behind)
    unreachable = int(box.copy.problem is not None)
    yield from metric("copy_failed", "whether the second copy is unreachable or differs", unreachable)
    restarts = [(task.restarts, {"task": task.name}) for task in box.tasks]
    yield from counter("task_restarts", "restarts of a background task after a failure", restarts)
    yield from _uplink_and_notices(box)
    yield from _of_table(box)


def _uplink_and_notices(box: BoxPicture) -> Iterator[str]:
    uplink = box.uplink
    yield from metric("uplink_configured", "whether a broker is configured", int(uplink is not None))
    if uplink is not None:
        yield from metric("uplink_connected", "whether the box is connected to the broker", int(uplink.connected))
        yield from metric("uplink_behind_records", "records that the broker has not acknowledged", uplink.behind)
        acknowledged = "the newest record that the broker has acknowledged"
        yield from counter("uplink_acknowledged_record", acknowledged, uplink.acknowledged)
    if box.certificates:
        ends = [(each.ends_s, {"certificate": each.name, "where": each.where}) for each in box.certificates]
        about = "when a certificate expires, in seconds since 1970"
        yield from metric("certificate_expiry_timestamp_seconds", about, ends)
    codes = [notice.code for notice in box.notices]
    by_code = [(codes.count(code), {"code": code}) for code in sorted(set(codes))]
    yield from metric("notices", "notices for the technician, by code", by_code)


def _of_table(box: BoxPicture) -> Iterator[str]:
    state = box.state
    if state is None:
        return
    yield from counter("round", "number of the current round", state.round.number)
    yield from metric("round_state", "1 for the current state of the round", [(1, {"state": state.round.state})])
    roles = [prompt.role for prompt in state.prompts]
    by_role = [(roles.count(role), {"role": role}) for role in ("dealer", "floorperson", "technician")]
    yield from metric("prompts", "open prompts, by role", by_role)
    yield from metric("holds", "open holds", len(state.holds))
    escalated = sum(each.escalated > 0 for each in state.holds)
    yield from metric("holds_escalated", "open holds that were escalated", escalated)
    yield from metric("round_permitted", "whether a round may be opened", int(not state.next_round))
    if state.meters is not None:
        names = ("current", "reserve", "overflow", "pending", "paid_by_table", "paid_by_attendant")
        amounts = [(getattr(state.meters, name), {"amount": name}) for name in names]
        yield from metric("meter_microdollars", "the amounts of the progressive system", amounts)
