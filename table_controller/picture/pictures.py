"""The pictures of one box: the table's is built once for each step on disk; the box's is read when asked.

While the core is ahead of the disk, or evidence of a fault is taken, a picture of that moment is built and not kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from devices.service import IN_SERVICE
from firmware_bridge.version import VERSION
from table_controller.access.request_json import PROTOCOL
from table_controller.controller.lock_window import LockWindow
from table_controller.picture import types as p
from table_controller.picture.build import picture_of_table

if TYPE_CHECKING:
    from devices.driver import Driver
    from firmware_bridge.errors import PitboxError
    from table_controller.controller.box import Box
    from table_controller.controller.slot import AnySlot


class Pictures:
    """The pictures of one box."""

    def __init__(self, box: Box) -> None:
        self._box = box
        self._kept: p.TablePicture | None = None
        self._key: tuple[int, bool] | None = None  # the step of the kept picture, and whether the box has halted
        self._lock_window: LockWindow | None = None

    def forget(self) -> None:
        """Build the next picture again, because something other than a step has changed: a note, an older finding."""
        self._key = None

    def table(self) -> p.TablePicture | None:
        """Return the picture of the table; None if the box is locked."""
        controller = self._box.controller
        if controller is None:
            return None
        is_halted = controller.halted is not None
        key, is_settled = (controller.durable_seq, is_halted), is_halted or controller.is_on_disk
        if is_settled and self._key == key:
            return self._kept
        escalation = self._box.escalation
        built = picture_of_table(
            controller.table,
            controller.durable_seq,
            controller.shown_money,
            on_disk=is_settled and not is_halted,
            escalated=None if escalation is None else escalation.escalation_counts,
            last_hits=controller.last_hits.levels,
            findings=controller.findings.list_by_severity(),
        )
        if is_settled:
            self._kept, self._key = built, key
        return built

    def is_locking(self) -> bool:
        """Return whether bet sensors are being locked now; then no view is renewed, so that the event loop is free."""
        controller = self._box.controller
        if controller is None or controller.halted is not None:
            return False
        if self._lock_window is None:
            self._lock_window = LockWindow()
        return self._lock_window.is_open(controller.table.state)

    def box(self) -> p.BoxPicture:
        """Return the picture of the whole box."""
        box, table = self._box, self.table()
        controller, dealer, around = box.controller, box.dealer(), box.notice_watch
        return p.BoxPicture(
            protocol=PROTOCOL,
            version=VERSION,
            table=box.plan.name,
            game=box.plan.edition.game,
            phase=_phase(box),
            cause=problem_of(box.cause),
            boot=box.boot,
            seq=0 if controller is None else controller.durable_seq,
            started_ns=box.started_ns,
            now_ns=box.clock.now()[0],
            dealer=None if dealer is None else dealer.credential,
            slots=self.machines(table),
            copy=self.copy(),
            tasks=list(box.tasks.states.values()),
            checks=box.checks,
            digests=box.digests,
            state=table,
            unverified=box.plan.is_development,
            notices=around.notices,
            certificates=around.certificates,
            uplink=None if around.uplink is None else around.uplink(),
            left_s={} if controller is None else controller.time_left(),
        )

    def machines(self, table: p.TablePicture | None) -> list[p.MachinePicture]:
        """Return the picture of every device. `table`: the picture of the table now."""
        return [_machine(self._box, slot, table) for slot in self._box.slots.values()]

    def copy(self) -> p.CopyPicture:
        """Return the picture of the second copy."""
        copy = self._box.copy_state
        problem = None if copy.problem is None else p.ProblemPicture(*copy.problem)
        reached = 0 if copy.ack is None else copy.ack.seq
        return p.CopyPicture(copy.configured, copy.sentence, reached, copy.behind, problem)


def problem_of(error: PitboxError | None) -> p.ProblemPicture | None:
    """Return an error for people."""
    return None if error is None else p.ProblemPicture(error.code, str(error))


def _phase(box: Box) -> str:
    if box.is_stopping:
        return "stopping"
    if box.safe_mode is not None:
        return "locked"
    return "running" if box.cause is None else "halted"


def _machine(box: Box, slot: AnySlot, table: p.TablePicture | None) -> p.MachinePicture:
    known = p.SlotPicture(slot.kind.name, box.service_state(slot.name)) if table is None else table.slots[slot.name]
    hello = slot.driver.reported.hello if slot.driver.reported is not None else None
    # The machine may be good, but the box is locked.
    state = p.LOCKED if known.state == IN_SERVICE and box.cause is not None else known.state
    return p.MachinePicture(
        name=slot.name,
        kind=slot.kind.name,
        state=state,
        connected=slot.view.connected,
        port=next(place.port for place in box.plan.slots if place.name == slot.name),
        serial="" if hello is None else hello.serial,
        firmware="" if hello is None else hello.firmware,
        deck=known.deck,
        cause=problem_of(slot.cause),
        link=link_of(slot.driver),
        testing=known.testing,
        next_step=known.next_step,
        model="" if hello is None else hello.model,
        phase=slot.supervisor.phase.value,
        failures=slot.supervisor.failures,
    )


def link_of(driver: Driver) -> p.LinkPicture | None:
    """Return the quality of the link of a driver; None without a link."""
    link = driver.link
    if link is None:
        return None
    counted, framed = link.counters, link.wire.framer.counters
    return p.LinkPicture(
        round_trip_us=round(link.round_trip_s * 1e6),
        sent=counted.sent,
        received=counted.received,
        retransmitted=counted.retransmitted,
        gaps=counted.gaps,
        noise=framed.bad_stuffing + framed.bad_crc + framed.bad_header + framed.too_long,
        dropped=framed.bytes_dropped,
        late_replies=counted.late_replies,
    )
