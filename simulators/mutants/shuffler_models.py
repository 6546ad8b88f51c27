"""Mutants of the shuffler (SH) that only its models for a batch, or without cycles, can be."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final

from devices.path_telemetry import OpticalLevel
from devices.shuffler import messages as m
from simulators.mutants.mutant_tools import MutantGroup, replace_event, replace_refusal, replace_reply, replaced, wrap

if TYPE_CHECKING:
    from collections.abc import Callable

    from simulators.kinds.shuffler.continuous_machine import SimulatedContinuousShuffler
    from simulators.kinds.shuffler.machine import SimulatedShuffler

GROUP: Final = MutantGroup(m.KIND)
R: Final = m.Reason
batch = partial(GROUP.mutant, model="shuffler-batch")
continuous = partial(GROUP.mutant, model="shuffler-continuous")


# --- for a batch ------------------------------------------------------------------------------------------------------


@GROUP.mutant("SH-80", model="shuffler-batch-identifying")
def findings_of_one_deck(machine: SimulatedShuffler) -> None:
    """It reports the findings of a batch as if it were one deck."""

    def change(findings: Any) -> Any:
        return m.Findings(findings.command, b"\x01", b"\x02") if isinstance(findings, m.BatchFindings) else findings

    replace_reply(machine, m.GetFindings, change)


@batch("SH-81")
def hides_what_stayed(machine: SimulatedShuffler) -> None:
    """It reports cards that stayed inside as delivered."""
    replace_event(machine, m.Incomplete, lambda event: [replaced(event, cards_out=event.cards_in)])


@batch("SH-82")
def mixes_batches(machine: SimulatedShuffler) -> None:
    """It lays one batch upon the other behind its gate."""
    firmware: Any = machine.firmware

    def refusal(real: Callable[[Any], m.Reason], message: Any) -> m.Reason:
        reason = real(message)
        waits = reason is R.GATE_OCCUPIED and firmware._mechanics.blocked(m.Sensor.INTAKE)
        return R.NONE if waits else reason

    wrap(firmware, "_refusal", refusal)


# --- without cycles ---------------------------------------------------------------------------------------------------


@continuous("SH-84")
def continuous_level_without_threshold(machine: SimulatedContinuousShuffler) -> None:
    """A level below the threshold is not called blocked."""

    def change(sensors: m.Sensors) -> m.Sensors:
        levels = list(sensors.levels)
        levels[m.Sensor.EXIT] = OpticalLevel(False, 400, 500)
        return m.Sensors(levels, sensors.currents)

    replace_reply(machine, m.GetSensors, change)


@continuous("SH-85")
def takes_cycles_for_its_own(machine: SimulatedContinuousShuffler) -> None:
    """It accepts cycles that it cannot run."""
    board: Any = machine.board
    board._messages = m.ToDevice
    board.power_off()
    board.power_on()


@continuous("SH-86")
def takes_in_one_more(machine: SimulatedContinuousShuffler) -> None:
    """It counts one card more than it took in."""
    replace_event(machine, m.TakenIn, lambda event: [replaced(event, count=event.count + 1)])


@continuous("SH-87", also="SH-96")
def uncounted_is_too_few(machine: SimulatedContinuousShuffler) -> None:
    """It refuses a delivery from an uncounted set with a wrong reason: too few cards."""
    replace_refusal(machine, m.Deliver, R.NOT_COUNTED, R.TOO_FEW_CARDS)


@continuous("SH-88")
def counts_one_short(machine: SimulatedContinuousShuffler) -> None:
    """It counts one card fewer than it holds."""
    replace_event(machine, m.Counted, lambda event: [replaced(event, count=event.count - 1)])


@continuous("SH-89")
def delivers_one_more(machine: SimulatedContinuousShuffler) -> None:
    """It delivers a card more than was ordered."""
    firmware: Any = machine.firmware

    def begin(real: Callable[[Any], bool], message: Any) -> bool:
        ended = real(message)
        firmware._ordered_cards += isinstance(message, m.Deliver)
        return ended

    wrap(firmware, "_begin", begin)


@continuous("SH-90")
def chute_is_busy(machine: SimulatedContinuousShuffler) -> None:
    """With cards in the chute it reports that it is busy."""
    replace_refusal(machine, m.CountAll, R.CHUTE_OCCUPIED, R.BUSY)


@continuous("SH-91")
def restart_forgets_what_is_outside(machine: SimulatedContinuousShuffler) -> None:
    """After a restart it does not know any more what it gave out."""
    firmware: Any = machine.firmware

    def forget(real: Callable[[], None]) -> None:
        real()
        firmware._set.open()

    wrap(firmware, "_forget", forget)


@continuous("SH-92")
def silent_draws(machine: SimulatedContinuousShuffler) -> None:
    """It does not report that a card was drawn."""
    replace_event(machine, m.StoreChanged, lambda event: [event] if event.reason else [])


@continuous("SH-93", also="SH-95")
def outside_for_ever(machine: SimulatedContinuousShuffler) -> None:
    """Cards that came back still count as outside."""
    counted: Any = machine.firmware._set  # type: ignore[attr-defined]

    def take_back(real: Callable[[int], bool], cards: int) -> bool:
        outside = counted.outside
        fits = real(cards)
        counted.outside = outside
        return fits

    wrap(counted, "take_back", take_back)


@continuous("SH-94")
def trusts_its_chute(machine: SimulatedContinuousShuffler) -> None:
    """It does not report that its chute ran empty too soon."""
    replace_event(
        machine,
        m.StoreChanged,
        lambda event: [replaced(event, reason=R.NONE)] if event.reason is R.COUNTS_DISAGREE else [event],
    )


@continuous("SH-95")
def takes_strangers_in(machine: SimulatedContinuousShuffler) -> None:
    """All cards in its intake join its set, foreign ones too."""
    counted: Any = machine.firmware._set  # type: ignore[attr-defined]

    def take_back(real: Callable[[int], bool], cards: int) -> bool:
        if not real(cards):
            counted.outside = 0
        return True

    wrap(counted, "take_back", take_back)


@continuous("SH-96")
def delivers_after_the_door(machine: SimulatedContinuousShuffler) -> None:
    """A hand in its store does not disturb it."""
    wrap(machine.firmware._set, "disturb", lambda _: None)  # type: ignore[attr-defined]


@continuous("SH-97")
def stop_is_called_door(machine: SimulatedContinuousShuffler) -> None:
    """A delivery that was stopped is reported as ended by the door."""
    wrap(machine.firmware, "_stop", lambda real, _: real(R.DOOR_OPEN))


@continuous("SH-98")
def continuous_silent_about_power(machine: SimulatedContinuousShuffler) -> None:
    """It does not report that power was lost."""
    replace_event(machine, m.Power, lambda _: [])
