"""The simulated firmware of the manual shoe with a card counter: hands deal, the firmware counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from devices.shoe import messages as m
from firmware_bridge.commands import Outcome
from firmware_bridge.errors import BadFault
from simulators.kinds.shoe.counts import UncountedShoe
from simulators.kinds.shoe.shoe_base import ShoeFirmwareBase
from simulators.kinds.shoe.unit_values import UnitValues

if TYPE_CHECKING:
    from simulators.engine.faults import InjectedFault
    from simulators.kinds.shoe.mechanics import ManualShoeMechanics

# In these states the cards that hands draw were ordered.
_ORDERED: Final = (m.State.DEALING, m.State.COUNTING)


class ManualShoeFirmware(ShoeFirmwareBase):
    """The program of one manual shoe's counter."""

    _beyond = (m.Dispense, m.Jog)

    def __init__(self, mechanics: ManualShoeMechanics, *, sees_faces: bool, identifies: bool) -> None:
        self._opened: int | None = None  # the command that opened the round or the stub count
        units = UnitValues(by_hand=True) if identifies else None
        super().__init__(mechanics, UncountedShoe(), units, sees_faces=sees_faces)

    def _left(self) -> int | None:
        """The block was not counted in: the rest is known only once the well is empty."""
        return 0 if self._counts.sure and not self._lies_in(m.Place.WELL) else None

    def _card(self, phase: m.Phase) -> int:
        return self._moved + 1 if self.state in _ORDERED else super()._card(phase)

    # --- messages --------------------------------------------------------------------------------------------

    def _begin(self, message: m.Actuation) -> bool:
        match message:
            case m.Load():
                self._erase_values()
                self._counts.begin_load()
                self._change(m.State.READY)
                self.board.emit(m.Loaded(message.command, None, 0, None, None))
            case m.StartRound():
                self._end_round()
                self._open(m.State.DEALING, message.command, m.Phase.DRAWING)
                if self._units is not None:
                    self._units.begin(message.command)
            case m.CountStub():
                self._end_round()
                self._open(m.State.COUNTING, message.command, m.Phase.STUB)
            case m.ClearJam():
                self._erase_values()
                self._counts.note_inspection()  # well and throat are visible, and both are empty
                self._counts.tested()
                self._reason = m.Reason.NONE
                self._change(m.State.IDLE)
                self.board.emit(m.Cleared(message.command, 0, None))
            case _:
                return super()._begin(message)
        return True

    def _open(self, state: m.State, command: int, phase: m.Phase) -> None:
        """From now on drawn cards belong to a round or to the stub."""
        self._change(state)
        self._opened = command
        bits = sum(1 << s for s in m.Sensor if self._mechanics.blocked(s))
        self.board.emit(m.Progress(command, phase, 0, self._left(), bits))

    def _end_round(self) -> None:
        if self.state is m.State.DEALING and self._opened is not None:
            self.board.emit(m.RoundEnded(self._opened, self._moved))

    def _change(self, state: m.State) -> None:
        self.state, self._moved, self._opened = state, 0, None
        self._at_rest = m.State.IDLE if state is m.State.IDLE else m.State.READY

    def _busy(self, message: m.Actuation) -> bool:
        if isinstance(message, m.SelfTest):
            return self.state in (*_ORDERED, m.State.TESTING)
        return self.state in (m.State.COUNTING, m.State.TESTING)

    def _lacking(self, message: m.Actuation) -> m.Reason:
        match message:
            case m.Load() if self.state is not m.State.IDLE:
                return m.Reason.ALREADY_LOADED
            case m.Load() if not self._lies_in(m.Place.WELL):
                return m.Reason.NOTHING_LOADED
            case m.StartRound() if self.state is m.State.IDLE:
                return m.Reason.SHOE_EMPTY
            case m.CountStub() if self.state is m.State.IDLE:
                return m.Reason.NOTHING_TO_EJECT
            case m.ClearJam() if self._lies_in(m.Place.WELL):
                return m.Reason.ALREADY_LOADED
        return m.Reason.NONE

    # --- hands -----------------------------------------------------------------------------------------------

    def _hand_began(self, again: bool) -> None:
        super()._hand_began(again)
        if self.state is m.State.DEALING and not self._counts.draws_cover:
            self._read_value()

    def _hand_drew(self) -> None:
        ordered = self.state in _ORDERED
        self._moved += ordered
        if self._units is not None and self.state is m.State.DEALING:
            self._units.count(self._moved)
        self.board.emit(m.Drawn(ordered, self._moved if ordered else 0, self._drawn(), self._left()))

    def _drawn(self) -> int | None:
        return self._counts.drawn if self._counts.sure else None

    def _hand_rests(self) -> None:
        if self._lies_in(m.Place.WELL):
            return
        if self.state is m.State.COUNTING and self._opened is not None:
            self.board.emit(m.Stub(self._opened, self._moved, self._drawn(), self._left()))
        self._emptied()

    def _emptied(self) -> None:
        """The well is empty."""
        self._end_round()
        self._opened = None
        if self._at_rest is not None:
            self._at_rest = m.State.IDLE
            if self.state is not m.State.TESTING:
                self.state = m.State.IDLE

    def _stop(self, reason: m.Reason) -> None:
        """Stop: cards that hands draw from now on were not ordered."""
        if self.state is m.State.TESTING:
            assert self._at_rest is not None
            self._watch.stop()
            self.state = self._at_rest
            self._end(Outcome.FAILED, reason)
        elif self.state is m.State.COUNTING and self._opened is not None:
            in_path = self._counts.in_path
            self.board.emit(m.Stopped(self._opened, m.Phase.STUB, self._moved, in_path, self._left(), reason))
            self._change(m.State.READY)
        elif self.state is m.State.DEALING:
            self._end_round()
            self._change(m.State.READY)

    def _jam(self, segment: m.Segment, phase: m.Phase | None = None) -> None:
        super()._jam(segment, phase)
        self._reach_in()

    def _halt_with(self, reason: m.Reason, segment: m.Segment, phase: m.Phase) -> None:
        super()._halt_with(reason, segment, phase)
        self._reach_in()

    def _reach_in(self) -> None:
        """Hands can take a stuck card at any moment, and there is no door switch."""
        self._counts.lose_certainty()
        self._opened = None

    def hands_moved(self) -> None:
        """Hands put cards into the well, or lifted them out without passing the counter."""
        if not self.board.alive or self._throat.is_drawing:  # the counter detects a drawn card
            return
        if not self._lies_in(m.Place.WELL):
            if self.state is m.State.COUNTING:
                self.board.emit(
                    m.Fault(self._opened, m.Phase.STUB, m.Reason.LIFTED_OUT, m.Segment.DRAW, self._moved + 1,
                            self._counts.in_path, self._left())
                )  # fmt: skip
            self._emptied()
        self._note_piles()

    def inject(self, fault: InjectedFault) -> None:
        """Refuse: a manual shoe has no such fault."""
        raise BadFault(f"{fault.kind.name}: a manual shoe has neither motors nor a door")
