"""A shuffler with disturbances: random faults, hands and hosts, and checks against the truth.

`shuffler_soak` plays machines with cycles, `continuous_soak` a continuous one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from devices.shuffler import messages as m
from tests.support.machines.card_checks import check_reported_cards, run_command
from tests.support.machines.disturbed_machine import DisturbedMachine

if TYPE_CHECKING:
    from tests.support.machines.bench import ShufflerTestBench

SEGMENTS: Final = ["feed", "bridge", "lift", "shelf", "unload", "stack", "drop"]
SENSED: Final = ["feed", "bridge", "lift", "unload", "stack"]


class DisturbedShuffler(DisturbedMachine):
    """The faults of a shuffler, its checks, and how it is emptied and searched."""

    b: ShufflerTestBench

    # --- what goes wrong ---------------------------------------------------------------------------------------

    def mishaps(self, card: int) -> list[str]:
        """Return faults of cards and mechanics before a motion; `card` is the affected card."""
        rng = self.rng
        return [
            f"jam:segment={rng.choice(SEGMENTS)},card={card}",
            f"torn_card:segment={rng.choice(SENSED)},card={card}",
            f"double_feed:card={card},offset={rng.choice([0, 10, 30, 60])}",
            f"card_left_inside:card={card}",
            "missing_card",
            "foreign_card",
            "swapped_card",
            "sort_mode",
            f"wear:segment={rng.choice(SEGMENTS)},percent={rng.choice([10, 20, 300])}",
            f"dust:sensor={rng.choice(SENSED[:3])},percent={rng.choice([10, 30, 40, 60])}",
            "withhold:message=StartCycle",
        ]

    def choose(self, most_cards: int) -> tuple[list[str], list[str]]:
        """Draw up to two faults; inject those of cards and mechanics now, and return the others for later."""
        rng, before, during = self.rng, [], []
        card = rng.randint(1, most_cards)
        for _ in range(rng.choices([0, 1, 2], [2, 5, 3])[0]):
            if rng.random() < 0.55:
                fault = rng.choice(self.mishaps(card))
                self.b.inject(fault)
                before.append(fault)
            else:
                fault = rng.choice(self.disturbances())
                during.append(fault)
            self.figures[fault.partition(":")[0]] += 1
        return before, during

    # --- what must be true -------------------------------------------------------------------------------------

    def check_firmware(self) -> None:
        """Check that the firmware's count is true or unknown; an undetected pair is the stated limit."""
        machine = self.b.machine
        machine.world.check()
        self.figures["looks"] += 1
        if machine.board.alive:
            self.check_status(machine.firmware.handle(m.GetStatus()))  # type: ignore[arg-type]

    def check_status(self, status: m.Status) -> None:
        """Compare a status with the truth."""
        self.true_or_unknown(status.inside)

    def true_or_unknown(self, reported: int | None) -> None:
        """Compare a reported number of cards inside with the truth."""
        inside = self.b.machine.mechanics.inside()
        if reported is None:
            self.figures["looks that found it unknown"] += 1
        elif reported != inside:
            unseen = inside - reported
            assert 0 < unseen <= self._doubles, f"{reported} cards are reported inside, the truth is {inside}"
            self.figures["looks while a pair counted as one, unseen"] += 1

    async def check_idle(self) -> None:
        """Check that view and firmware of an idle machine agree with the truth."""
        b = self.b
        self.check_firmware()
        self.true_or_unknown(b.view.inside)
        if not self._doubles:
            await check_reported_cards(b)
        if b.machine.mechanics.inside() == 0:
            self._doubles = 0
        if b.service.is_in_service:
            assert not b.view.unsettled
            assert b.view.state in (m.State.IDLE, m.State.READY)
            kept = b.view.continuous and b.view.inside is not None
            assert self._doubles or kept or b.machine.mechanics.inside() == 0

    # --- return to service --------------------------------------------------------------------------------------------

    def repair(self) -> None:
        """A technician changes rollers, wipes sensors and closes the door."""
        b = self.b
        for segment in SEGMENTS:
            b.inject(f"wear:segment={segment},percent=0")
        for sensor in SENSED[:3]:
            b.inject(f"dust:sensor={sensor},percent=0")
        b.inject("door:to=closed")

    async def bring_out(self, state: str) -> bool:
        """Clear an interrupted machine; eject a deck."""
        b = self.b
        if state in ("HALTED", "DOUBTFUL"):
            b.inject("clear_path")
            await run_command(b, b.driver.clear_jam)
        elif state == "READY":
            await run_command(b, b.driver.eject)
        else:
            return True
        return False

    async def search(self) -> m.Status:
        """Open and search the idle machine; check that it is empty afterwards."""
        status: m.Status = await super().search()
        assert status.inside == self.b.machine.mechanics.inside() == 0
        return status
