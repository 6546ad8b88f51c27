"""The simulated firmware of the shufflers with cycles, for a deck or a batch: all cards in, then all cards out.

It knows only its sensors; tests compare its counts with the true places of the cards.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from devices.cards import CARD_NUMBERS
from devices.shuffler import messages as m
from firmware_bridge.commands import Outcome
from simulators.kinds.shuffler.mechanics import ONE_BATCH, ONE_DECK
from simulators.kinds.shuffler.shuffler_base import ShufflerFirmwareBase

if TYPE_CHECKING:
    from random import Random

    from simulators.engine.faults import InjectedFault
    from simulators.kinds.shuffler.mechanics import ShufflerMechanics, ShufflerSize


class ShufflerFirmware(ShufflerFirmwareBase):
    """The program of a shuffler with cycles."""

    def __init__(
        self, mechanics: ShufflerMechanics, rng: Random, *, identifies: bool, size: ShufflerSize = ONE_DECK
    ) -> None:
        super().__init__(mechanics, rng, size)
        self._identifies = identifies
        self._forget_deck()

    def _forget(self) -> None:
        super()._forget()
        self._forget_deck()

    def _forget_deck(self) -> None:
        self._faces: Counter[int] = Counter()
        self._findings: m.Findings | m.BatchFindings | None = None

    # --- messages --------------------------------------------------------------------------------------------

    def _findings_reply(self) -> m.Findings | m.BatchFindings | m.NoFindings:
        return self._findings or super()._findings_reply()

    def _begin(self, message: Any) -> bool:
        match message:
            case m.StartCycle():
                self._set_out(message.command)
                self._forget_deck()
                self._feed_all()
                return False
            case m.SetMode():
                self.mode = message.mode
                return True
            case _:
                return super()._begin(message)

    def _ejected(self, command: int) -> None:
        self._findings = None
        super()._ejected(command)

    def inject(self, fault: InjectedFault) -> None:
        """Apply a fault of the firmware or of its switches."""
        if fault.kind.name == "sort_mode":
            self.mode = m.Mode.SORT
        else:
            super().inject(fault)

    # --- a cycle ---------------------------------------------------------------------------------------------

    def _seen(self) -> None:
        """Read the card's face; in SORT mode, route it to the compartment of its suit."""
        face = self._mechanics.read_face()
        if face is not None and self._identifies:
            self._faces[face] += 1
        if face is not None and self.mode is m.Mode.SORT:
            self._shelf = self._counts.room_for(face // 13)
            self._mechanics.route(self._shelf, bottom=False)

    def _fed(self) -> None:
        self._unload_all()

    def _emptied_out(self) -> None:
        command, counts = self._command, self._counts
        self._cycles += 1
        if not counts.agree:
            counts.lose_certainty()
            self._break_off(m.Reason.COUNTS_DISAGREE, m.Incomplete(command, counts.entered, counts.left))
            return
        self.state = self._at_rest = m.State.READY
        rejected = self._judge_faces(command)
        duration = round((self._clock.now - self._started) * 1000)
        self.board.emit(m.Completed(command, counts.left, duration, self.mode, rejected))
        self.board.settle(command, Outcome.DONE)

    def _judge_faces(self, command: int) -> bool:
        if not self._identifies:
            return False
        whole = Counter(self._size.full_set)
        missing, extra = whole - self._faces, self._faces - whole
        if not missing and not extra:
            return False
        if self._size is ONE_BATCH:
            tallies = ([wrong[card] for card in CARD_NUMBERS] for wrong in (missing, extra))
            self._findings = m.BatchFindings(command, *tallies)
        else:
            self._findings = m.Findings(command, bytes(sorted(missing.elements())), bytes(sorted(extra.elements())))
        return True
