"""Whether firmware still knows what is inside its machine. Sees no world and counts nothing.

Doubt outlives power cuts. Counting cannot end it, because a card that hides is in no later count: only a person who
opened the resting machine, looked, and then ordered a self-test that passed.
"""

from __future__ import annotations


class Doubt:
    """`sure`: every card that went in is accounted for. Kept over power cuts."""

    def __init__(self) -> None:
        self.sure = True
        self._looked = False

    def doubt(self) -> None:
        """What is inside is not known any more."""
        self.sure = self._looked = False

    def look(self) -> None:
        """Somebody opened the machine while it rests, and can see what is inside."""
        self._looked = True

    def tested(self) -> bool:
        """A self-test passed: whoever ordered it after opening the machine has looked. Tell whether that is so."""
        self.sure |= self._looked
        return self._looked
