"""The simulated firmware of the continuous shuffler: it stores cards, takes discards in, delivers, and counts its set.

It knows only its sensors; tests compare its counts with the true places of the cards.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec

from devices.shuffler import messages as m
from firmware_bridge.commands import Outcome
from simulators.kinds.shuffler.continuous_mechanics import LIFTING
from simulators.kinds.shuffler.counts import CountedSet
from simulators.kinds.shuffler.shuffler_base import ShufflerFirmwareBase

if TYPE_CHECKING:
    from random import Random

    from firmware_bridge.messages import Message
    from simulators.kinds.shuffler.continuous_mechanics import ContinuousMechanics
    from simulators.kinds.shuffler.mechanics import ShufflerSize

# Cards that fit into the chute.
CHUTE_ROOM: Final = 30
# With fewer stored cards than two decks, an observer of the table can guess the next cards too well.
LOW_STORE: Final = 104


class ContinuousFirmware(ShufflerFirmwareBase):
    """The program of a shuffler without cycles."""

    _mechanics: ContinuousMechanics

    def __init__(self, mechanics: ContinuousMechanics, rng: Random, size: ShufflerSize) -> None:
        super().__init__(mechanics, rng, size)
        self._set = CountedSet()
        self._look_at_chute()
        self._ordered_cards = 0  # cards to deliver
        self._counting = False
        self._came_out: int | None = None  # in a count: number of cards that came out, once all are out
        mechanics.on_draw = self._drawn

    def _forget(self) -> None:
        super()._forget()
        if self._at_rest is None:
            self._set.open()
        self._look_at_chute()

    def _look_at_chute(self) -> None:
        """Draws without power leave the number unknown, unless the chute is empty."""
        self._in_chute: int | None = None if self._mechanics.chute_dark() else 0

    # --- messages --------------------------------------------------------------------------------------------

    def _status(self) -> m.Inventory:
        return m.Inventory(
            **msgspec.structs.asdict(super()._status()),
            in_chute=self._in_chute,
            outside=self._set.outside,
            counted=self._set.counted,
            low=self._low,
        )

    @property
    def _low(self) -> bool:
        return sum(self._counts.stored) < LOW_STORE

    def _refusal(self, message: Any) -> m.Reason:
        reason = super()._refusal(message)
        if reason:
            return reason
        match message:
            case m.CountAll() if self._mechanics.chute_dark():
                return m.Reason.CHUTE_OCCUPIED
            case m.Deliver() if self._set.counted is None:
                return m.Reason.NOT_COUNTED
            case m.Deliver() if message.cards > sum(self._counts.stored):
                return m.Reason.TOO_FEW_CARDS
            case m.Deliver() if self._in_chute is None or self._in_chute + message.cards > CHUTE_ROOM:
                return m.Reason.CHUTE_OCCUPIED
            case _:
                return m.Reason.NONE

    def _begin(self, message: Any) -> bool:
        if isinstance(message, m.TakeIn | m.CountAll | m.Deliver):
            self._set_out(message.command)
        match message:
            case m.TakeIn() | m.CountAll():
                self._counting, self._came_out = isinstance(message, m.CountAll), None
                self._feed_all()
            case m.Deliver():
                self._ordered_cards = message.cards
                self.state = m.State.DELIVERING
                self._begin_phase(m.Phase.DELIVERING)
                self._deliver_next()
            case _:
                return super()._begin(message)
        return False

    def _seen(self) -> None:
        """It reads no faces."""

    # --- taking in and counting --------------------------------------------------------------------------------

    def _fed(self) -> None:
        self._stop_motion()
        command, counts = self._command, self._counts
        if self._came_out is not None:
            self._end_count(self._came_out)
            return
        if not self._set.take_back(counts.fed):
            counts.lose_certainty()
            self._break_off(m.Reason.COUNTS_DISAGREE, m.Incomplete(command, counts.fed, self._set.outside or 0))
        elif self._counting:
            self._unload_all()
        else:
            self.state = self._at_rest = m.State.IDLE
            self.board.emit(m.TakenIn(command, counts.fed, counts.inside, self._set.outside))
            self.board.settle(command, Outcome.DONE)

    def _emptied_out(self) -> None:
        """In a count all cards are out now: if the numbers agree, feed them all again."""
        counts = self._counts
        if not counts.agree:
            counts.lose_certainty()
            self._break_off(m.Reason.COUNTS_DISAGREE, m.Incomplete(self._command, counts.entered, counts.left))
            return
        self._came_out = counts.left
        self._mechanics.lift_tray()
        self._watch.alarm(LIFTING * 1.1, self._lifted)

    def _lifted(self) -> None:
        if self.stalled:
            return
        if self._mechanics.blocked(m.Sensor.GATE):
            self._jam(m.Segment.DROP)
            return
        self._behind_gate = 0
        self._counts.begin()
        self._note_intake()
        self._feed_all()

    def _end_count(self, came_out: int) -> None:
        command, counts = self._command, self._counts
        self._cycles += 1
        if counts.entered != came_out:
            counts.lose_certainty()
            self._break_off(m.Reason.COUNTS_DISAGREE, m.Incomplete(command, counts.entered, came_out))
            return
        counts.recounted()
        self.state = self._at_rest = m.State.IDLE
        duration = round((self._clock.now - self._started) * 1000)
        self.board.emit(m.Counted(command, came_out, self._set.close(came_out), duration))
        self.board.settle(command, Outcome.DONE)

    # --- delivering --------------------------------------------------------------------------------------------

    def _deliver_next(self) -> None:
        if self.stalled:
            return
        counts = self._counts
        if counts.left < self._ordered_cards:
            (self._shelf,) = self._rng.choices(range(self._size.compartments), counts.stored)
            self._mechanics.deliver(self._shelf)
            self._watch.expect(m.Segment.UNLOAD)
            return
        self._report_last_progress()
        self._stop_motion()
        self._set.give(counts.left)
        self.state = self._at_rest = m.State.IDLE
        self.board.emit(
            m.Delivered(self._command, counts.left, counts.inside, self._set.outside, self._in_chute, self._low)
        )
        self.board.settle(self._command, Outcome.DONE)

    def _dropped(self) -> None:
        if self.state is not m.State.DELIVERING:
            super()._dropped()
            return
        if self._in_chute is not None:
            self._in_chute += 1
        self._arrived()
        self._deliver_next()

    def _lost_sight(self, segment: m.Segment) -> None:
        super()._lost_sight(segment)
        if self.state is m.State.DELIVERING:
            self._in_chute = None

    def _nothing_came(self) -> None:
        if self.state is not m.State.DELIVERING:
            super()._nothing_came()
            return
        self._counts.mark_empty(self._shelf)  # a stored card is missing
        self._halt_with(m.Reason.COUNTS_DISAGREE, m.Segment.UNLOAD)

    def _break_off(self, reason: m.Reason, event: Message) -> None:
        delivering = self.state is m.State.DELIVERING
        self._set.open()
        if delivering:
            self._report_last_progress()
            self.board.emit(m.StoreChanged(self._counts.inside, self._in_chute, m.Reason.NONE))
        super()._break_off(reason, event)

    def _start_clearing(self, command: int) -> None:
        self._set.open()
        super()._start_clearing(command)

    # --- hands -------------------------------------------------------------------------------------------------

    def _drawn(self) -> None:
        """A card was drawn from the chute; compare the rest with the sensor at its mouth."""
        if not self.board.alive:
            return
        dark, reason = self._mechanics.chute_dark(), m.Reason.NONE
        if self._in_chute is not None:
            self._in_chute -= 1
            if self._in_chute < 0 or (self._in_chute > 0) is not dark:
                self._reason = reason = m.Reason.COUNTS_DISAGREE
        if reason or not dark:
            self._look_at_chute()
        self.board.emit(m.StoreChanged(self._counts.inside, self._in_chute, reason))

    def door(self, *, is_open: bool) -> None:
        """The door switch changed; hands may have taken stored cards even while nothing moved."""
        opened = is_open and not self._mechanics.door_open
        at_rest = self._at_rest is not None
        super().door(is_open=is_open)
        if opened and at_rest and any(self._counts.stored):
            self._set.disturb()
            self._reason = m.Reason.DOOR_OPEN
            if self.board.alive:
                self.board.emit(m.StoreChanged(None, self._in_chute, m.Reason.DOOR_OPEN))
