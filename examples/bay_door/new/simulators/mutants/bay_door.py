"""Mutants of the bay door (BD): openings that are lost, and a lamp that always passes."""

from __future__ import annotations

from typing import Final

from devices.bay_door import messages as m
from simulators.mutants.mutant_tools import MutantGroup, assigned, event, no_event, other_answer, refusal

GROUP: Final = MutantGroup(m.KIND)
row: Final = GROUP.row

row("PL-12", "status-is-an-opening", "Asked for its status it reports an opening.",
    other_answer(m.GetStatus, lambda _, status: m.Opened(status.openings)))  # fmt: skip
row("BD-01", "lamp-result-is-kept", "A self-test ends without reporting whether the lamp passed.",
    no_event(m.SelfTested), also="BD-12")  # fmt: skip
row("BD-02", "lamp-test-in-a-test", "It begins a self-test while one runs.",
    refusal(m.SelfTest, m.Reason.BUSY), also="CM-06")  # fmt: skip
row("BD-10", "counts-no-opening", "It reports every opening with the number 0.",
    event(m.Opened, openings=0))  # fmt: skip
row("BD-11", "closed-after-a-restart", "After a restart it is closed until it is opened again.",
    assigned("board._on_boot", after={"firmware._open": False}))  # fmt: skip
row("BD-12", "lamp-always-passes", "Its self-test does not look at the lamp.",
    event(m.SelfTested, lamp=True))  # fmt: skip
