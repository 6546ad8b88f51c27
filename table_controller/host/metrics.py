"""Formats the picture of a box as a page of Prometheus text.

Amounts are whole micro-dollars: a gauge is a 64-bit float, which is exact up to nine billion dollars.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

    from table_controller.picture.types import BoxPicture

PHASES: Final = ("running", "locked", "halted", "stopping")
CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def _line(name: str, value: float, **labels: str) -> str:
    text = ",".join(f"{key}={_quoted(each)}" for key, each in labels.items())
    return f"pitbox_{name}{{{text}}} {value}" if text else f"pitbox_{name} {value}"


def _head(name: str, about: str, kind: str = "gauge") -> list[str]:
    return [f"# HELP pitbox_{name} {about}", f"# TYPE pitbox_{name} {kind}"]


def metrics_text(box: BoxPicture) -> str:
    """Return the page."""
    return "\n".join(_lines(box)) + "\n"


def _lines(box: BoxPicture) -> Iterator[str]:
    yield from _head("info", "version, table and game")
    yield _line("info", 1, version=box.version, table=box.table, game=box.game)
    yield from _head("phase", "1 for the current phase of the box")
    for phase in PHASES:
        yield _line("phase", int(box.phase == phase), phase=phase)
    yield from _head("boot", "starts of this box", "counter")
    yield _line("boot", box.boot)
    yield from _head("up_seconds", "seconds since this start")
    yield _line("up_seconds", (box.now_ns - box.started_ns) // 1_000_000_000)
    yield from _head("journal_record", "number of the last step on disk", "counter")
    yield _line("journal_record", box.seq)
    yield from _head("dealer_signed_on", "whether a dealer is signed on")
    yield _line("dealer_signed_on", int(box.dealer is not None))
    yield from _head("slot_in_service", "whether a device is in service; its state is a label")
    for slot in box.slots:
        yield _line("slot_in_service", int(slot.state == "in_service"), slot=slot.name, state=slot.state)
    yield from _head("slot_connected", "whether a device is connected")
    for slot in box.slots:
        yield _line("slot_connected", int(slot.connected), slot=slot.name)
    yield from _head("copy_configured", "whether there is a second copy of the journal")
    yield _line("copy_configured", int(box.copy.configured))
    yield from _head("copy_behind_records", "records that the second copy lacks")
    yield _line("copy_behind_records", box.copy.behind)
    yield from _head("copy_failed", "whether the second copy is unreachable or differs")
    yield _line("copy_failed", int(box.copy.problem is not None))
    yield from _head("task_restarts", "restarts of a background task after a failure", "counter")
    for task in box.tasks:
        yield _line("task_restarts", task.restarts, task=task.name)
    yield from _surroundings(box)
    yield from _of_table(box)


def _surroundings(box: BoxPicture) -> Iterator[str]:
    yield from _head("uplink_configured", "whether a broker is configured")
    yield _line("uplink_configured", int(box.uplink is not None))
    if box.uplink is not None:
        yield from _head("uplink_connected", "whether the box is connected to the broker")
        yield _line("uplink_connected", int(box.uplink.connected))
        yield from _head("uplink_behind_records", "records that the broker has not acknowledged")
        yield _line("uplink_behind_records", box.uplink.behind)
        yield from _head("uplink_acknowledged_record", "the newest record that the broker has acknowledged", "counter")
        yield _line("uplink_acknowledged_record", box.uplink.acknowledged)
    if box.certificates:
        yield from _head("certificate_expiry_timestamp_seconds", "when a certificate expires, in seconds since 1970")
        for each in box.certificates:
            labels = {"certificate": each.name, "where": each.where}
            yield _line("certificate_expiry_timestamp_seconds", each.ends_s, **labels)
    yield from _head("notices", "notices for the technician, by code")
    for code in sorted({notice.code for notice in box.notices}):
        yield _line("notices", sum(notice.code == code for notice in box.notices), code=code)


def _of_table(box: BoxPicture) -> Iterator[str]:
    state = box.state
    if state is None:
        return
    yield from _head("round", "number of the current round", "counter")
    yield _line("round", state.round.number)
    yield from _head("round_state", "1 for the current state of the round")
    yield _line("round_state", 1, state=state.round.state)
    yield from _head("prompts", "open prompts, by role")
    for role in ("dealer", "floorperson", "technician"):
        yield _line("prompts", sum(prompt.role == role for prompt in state.prompts), role=role)
    yield from _head("holds", "open holds")
    yield _line("holds", len(state.holds))
    yield from _head("holds_escalated", "open holds that were escalated")
    yield _line("holds_escalated", sum(each.escalated > 0 for each in state.holds))
    yield from _head("round_permitted", "whether a round may be opened")
    yield _line("round_permitted", int(not state.next_round))
    if state.meters is not None:
        yield from _head("meter_microdollars", "the amounts of the progressive system")
        for name in ("current", "reserve", "overflow", "pending", "paid_by_table", "paid_by_attendant"):
            yield _line("meter_microdollars", getattr(state.meters, name), amount=name)
