"""Test mode of a machine that serves: a technician begins it where the permits allow it, and leaves it. No wire.

There is no fault here, and so no dossier: a machine whose fault has one is tested on its way back, in `ways`. From its
first instant until somebody leaves it the machine does not serve, the table hears nothing of its cards, and everybody
is shown that it is tested. What holds it is a step of the table (`WayBack` without a dossier), so a box that was
switched off meanwhile goes on with it. Then the mode is as it was, the machine is empty as it was, and it serves again
once its report is good, as every machine does that was in doubt. A fault in the middle latches as any other.
"""

from __future__ import annotations

import logging
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from devices.shoe import messages as sh
from devices.shuffler import messages as sf
from devices.shuffler.messages import Mode
from firmware_bridge.errors import NotAllowed, PitboxError, StepRefused
from table_controller.controller.numbers import ServiceNumbers
from table_controller.journal import records as rec
from table_controller.table import events as ev

if TYPE_CHECKING:
    from collections.abc import Callable

    from table_controller.controller.box import Box
    from table_controller.table.decisions import Reason

log = logging.getLogger(__name__)

# Machines that move cards: all that others can be asked, they are asked while they serve.
KINDS: Final = (sf.KIND, sh.KIND)
# What is next for a machine that is tested; the mode that it is brought back to is the last word.
_STEP: Final = "test: a technician leaves test mode"
_MODE: Final = "; it goes back to mode "
# By this number of a dossier: none.
NO_DOSSIER: Final = 0


class TestMode:
    """Test mode of one box's machines."""

    __test__ = False  # no test of ours, whatever it is called

    def __init__(self, box: Box) -> None:
        self._box = box
        box.on_told.append(self._told)

    def alone(self, slot: str) -> bool:
        """Tell whether a machine is tested without a dossier."""
        return self._box.testing.get(slot) == NO_DOSSIER

    def against(self, slot: str) -> tuple[Reason, ...] | None:
        """Return every reason against testing a machine now, none means granted; None where test mode is not begun.

        So it is of machines that move no cards, that are tested already, or that do not serve.
        """
        box = self._box
        if box.controller is None or box.slots[slot].kind.name not in KINDS or slot in box.testing:
            return None
        table = box.controller.table
        return table.permit("test", slot, table.state.slots[slot].deck) if table.context.serves(slot) else None

    async def begin(self, slot: str, who: ev.Person) -> None:
        """Take a machine that serves into test mode; NotAllowed with every reason against it, StepRefused for cards."""
        self._check(slot)
        driver, controller = self._box.slots[slot].driver, self._box.running()
        status = await driver.look()
        _must_be_empty("begin_test", slot, status)
        mode = mode_in(status)
        await controller.noted(rec.Note("service", "begin_test: ordered", who=who, slot=slot))
        self._check(slot)
        self._box.testing[slot] = NO_DOSSIER
        self._box.slots[slot].service.take("doubt", unsettled=False)
        controller.submit(ev.WayBack(slot, NO_DOSSIER, _STEP + (_MODE + mode if mode else ""), testing=True))
        controller.submit(ev.SlotChanged(slot, "doubt"))

    def _check(self, slot: str) -> None:
        reasons = self.against(slot)
        if reasons is None:
            raise NotAllowed(f"begin_test {slot}: only a machine that moves cards, serves and is not tested yet")
        if reasons:
            raise NotAllowed(f"begin_test {slot}: " + "; ".join(f"{r.text} [{r.clause}], {r.clears}" for r in reasons))

    async def leave(self, slot: str, who: ev.Person) -> None:
        """Leave test mode: the mode is set as it was, and the table reads the machine anew.

        StepRefused if cards are in it, or it moves. A machine that halted, or whose link is gone, is left as it is: its
        fault has latched, or its report will tell.
        """
        if not self.alone(slot):
            raise NotAllowed(f"leave_test {slot}: nobody has begun test mode here; a dossier's way has its own end")
        controller, found = self._box.running(), self._box.slots[slot]
        try:
            _must_be_empty("leave_test", slot, await found.driver.look())
        except StepRefused:
            raise
        except PitboxError as silent:
            log.info("leave_test %s: it does not answer, %s", slot, silent)
        with suppress(PitboxError):  # then it starts in its own mode
            await restore(found.driver, self._mode(slot), ServiceNumbers(self._box.clock).fresh)
        await controller.noted(rec.Note("service", "leave_test: ordered", who=who, slot=slot))
        self._end(slot)
        with suppress(PitboxError):  # else it reports when its link is back
            await found.driver.report()

    def _mode(self, slot: str) -> str:
        controller = self._box.controller
        way = None if controller is None else controller.table.state.slots[slot].way
        return "" if way is None else way.step.partition(_MODE)[2]

    def _end(self, slot: str) -> None:
        """The table hears the machine again."""
        controller = self._box.controller
        self._box.testing.pop(slot, None)
        way = None if controller is None else controller.table.state.slots[slot].way
        if controller is None or way is None:
            return
        if way.step.startswith(_STEP):
            controller.submit(ev.WayBack(slot, NO_DOSSIER, ""))
        elif way.testing:  # something was found meanwhile, and its own steps hold the machine now
            controller.submit(ev.WayBack(slot, way.dossier, way.step))

    def _told(self, slot: str, event: Any) -> None:
        """A fault of a machine that is tested is a fault: it latches, and its own way back begins."""
        if self.alone(slot) and self._box.slots[slot].kind.trigger(event) == "fault":
            self._end(slot)
            if self._box.controller is not None:
                self._box.controller.submit(ev.SlotChanged(slot, "fault"))


def mode_in(status: Any) -> str:
    """Return the mode that a status tells; empty if a machine has none."""
    mode = getattr(status, "mode", None)
    return "" if mode is None else str(mode.name.lower())


async def mode_of(driver: Any) -> str:
    """Return the mode that a machine is in; empty if it has none, or does not answer."""
    with suppress(PitboxError):
        return mode_in(await driver.status())
    return ""


async def restore(driver: Any, mode: str, fresh: Callable[[], int]) -> None:
    """Bring a machine back to the mode in which it was, if it has any."""
    if mode and await mode_of(driver) != mode:
        await driver.set_mode(fresh(), Mode[mode.upper()])


def _must_be_empty(call: str, slot: str, status: Any) -> None:
    """Raise StepRefused for a machine that moves, or has cards in it: it is as it was only if it had none."""
    found = _shuffler(status) if isinstance(status, sf.Status) else _shoe(status)
    if found:
        raise StepRefused(f"{call} {slot}: {found}")


def _shuffler(status: sf.Status) -> str:
    """Return what keeps a shuffler from being as it was; one that halted is let go: its report will say so."""
    match status.state:
        case sf.State.HALTED | sf.State.DOUBTFUL:
            return ""
        case sf.State.READY:
            return "cards lie behind its gate; have them ejected, and take them out"
        case sf.State.IDLE if status.cards_in_intake:
            return "cards lie in its intake; take them out"
        case sf.State.IDLE:
            return "cards are inside; have them cleared out" if status.inside else ""
        case _:
            return "it has not ended what it was ordered"


def _shoe(status: sh.Status) -> str:
    """Return what keeps a shoe from being as it was; as above."""
    if status.state in (sh.State.HALTED, sh.State.DOUBTFUL):
        return ""
    if status.state not in (sh.State.IDLE, sh.State.READY, sh.State.DEALING):
        return "it has not ended what it was ordered"
    places = (("intake", status.in_intake), ("well", status.in_well), ("slot", status.in_slot))
    lying = next((place for place, cards in places if cards), "")
    return f"cards lie in its {lying}; take them out" if lying else ""
