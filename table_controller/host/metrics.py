"""Formats the status of a box as a page of Prometheus text.

Amounts are whole micro-dollars: a gauge is a 64-bit float, which is exact up to nine billion dollars.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

    from table_controller.host.status import BoxStatus

PHASES: Final = ("running", "locked", "halted", "stopping")
CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def _line(name: str, value: float, **labels: str) -> str:
    text = ",".join(f"{key}={_quoted(each)}" for key, each in labels.items())
    return f"pitbox_{name}{{{text}}} {value}" if text else f"pitbox_{name} {value}"


def _head(name: str, about: str, kind: str = "gauge") -> list[str]:
    return [f"# HELP pitbox_{name} {about}", f"# TYPE pitbox_{name} {kind}"]


def metrics_text(status: BoxStatus) -> str:
    """Return the page."""
    return "\n".join(_lines(status)) + "\n"


def _lines(status: BoxStatus) -> Iterator[str]:
    yield from _head("info", "version, table and game")
    yield _line("info", 1, version=status.version, table=status.table, game=status.game)
    yield from _head("phase", "1 for the current phase of the box")
    for phase in PHASES:
        yield _line("phase", int(status.phase == phase), phase=phase)
    yield from _head("boot", "starts of this box", "counter")
    yield _line("boot", status.boot)
    yield from _head("up_seconds", "seconds since this start")
    yield _line("up_seconds", (status.now_ns - status.started_ns) // 1_000_000_000)
    yield from _head("journal_record", "number of the last step on disk", "counter")
    yield _line("journal_record", status.seq)
    yield from _head("dealer_signed_on", "whether a dealer is signed on")
    yield _line("dealer_signed_on", int(status.dealer is not None))
    yield from _head("slot_in_service", "whether a device is in service; its state is a label")
    for slot in status.slots:
        yield _line("slot_in_service", int(slot.state == "in_service"), slot=slot.name, state=slot.state)
    yield from _head("slot_connected", "whether a device is connected")
    for slot in status.slots:
        yield _line("slot_connected", int(slot.connected), slot=slot.name)
    yield from _head("copy_configured", "whether there is a second copy of the journal")
    yield _line("copy_configured", int(status.copy.configured))
    yield from _head("copy_behind_records", "records that the second copy lacks")
    yield _line("copy_behind_records", status.copy.behind)
    yield from _head("copy_failed", "whether the second copy is unreachable or differs")
    yield _line("copy_failed", int(status.copy.problem is not None))
    yield from _head("task_restarts", "restarts of a background task after a failure", "counter")
    for task in status.tasks:
        yield _line("task_restarts", task.restarts, task=task.name)
    yield from _uplink_and_notices(status)
    yield from _of_table(status)


def _uplink_and_notices(status: BoxStatus) -> Iterator[str]:
    yield from _head("uplink_configured", "whether a broker is configured")
    yield _line("uplink_configured", int(status.uplink is not None))
    if status.uplink is not None:
        yield from _head("uplink_connected", "whether the box is connected to the broker")
        yield _line("uplink_connected", int(status.uplink.connected))
        yield from _head("uplink_behind_records", "records that the broker has not acknowledged")
        yield _line("uplink_behind_records", status.uplink.behind)
        yield from _head("uplink_acknowledged_record", "the newest record that the broker has acknowledged", "counter")
        yield _line("uplink_acknowledged_record", status.uplink.acknowledged)
    if status.certificates:
        yield from _head("certificate_expiry_timestamp_seconds", "when a certificate expires, in seconds since 1970")
        for each in status.certificates:
            labels = {"certificate": each.name, "where": each.where}
            yield _line("certificate_expiry_timestamp_seconds", each.ends_s, **labels)
    yield from _head("notices", "notices for the technician, by code")
    for code in sorted({notice.code for notice in status.notices}):
        yield _line("notices", sum(notice.code == code for notice in status.notices), code=code)


def _of_table(status: BoxStatus) -> Iterator[str]:
    state = status.state
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
    yield _line("round_permitted", int(not state.permits[0].reasons))
    if state.meters is not None:
        yield from _head("meter_microdollars", "the amounts of the progressive system")
        for name in ("current", "reserve", "overflow", "pending", "paid_by_table", "paid_by_attendant"):
            yield _line("meter_microdollars", getattr(state.meters, name), amount=name)
