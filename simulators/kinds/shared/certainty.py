"""Whether the firmware's counts of its cards are certain.

Uncertainty survives power cuts. A count cannot end it, because later counts miss a hidden card too. It ends when a
person opened the idle machine, looked inside, and then ran a self-test that passed.
"""

from __future__ import annotations


class Certainty:
    """`sure`: every card that went in is accounted for. Persistent."""

    def __init__(self) -> None:
        self.sure = True
        self._looked = False

    def lose_certainty(self) -> None:
        """The cards inside are no longer certain."""
        self.sure = self._looked = False

    def note_inspection(self) -> None:
        """A person opened the idle machine and can see inside."""
        self._looked = True

    def tested(self) -> bool:
        """A self-test passed; return whether the machine was opened before, which restores certainty."""
        self.sure |= self._looked
        return self._looked
