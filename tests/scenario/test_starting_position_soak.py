"""Thousands of random actions and faults: every report is right at its time, and no roll or draw has two results."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any, Final

import pytest

from devices.shaker import messages as shaker_messages
from simulators.engine.virtual_time import run_virtual
from simulators.kinds.button import firmware as button_twin
from simulators.kinds.rng.firmware import RngFirmware
from simulators.kinds.shaker import firmware as shaker_twin
from simulators.kinds.shaker.firmware import ShakerFirmware
from tests.support.machines.machine_soak import RUNGS, play_soak, seeded_soak  # noqa: F401 - a fixture
from tests.support.machines.start_device_soak import SOAKS
from tests.support.machines.start_devices import BENCHES
from tests.support.suite.case_counts import count_cases

if TYPE_CHECKING:
    from collections import Counter

pytestmark = pytest.mark.usefixtures("seeded_soak")
STEPS: Final = count_cases(4000)


async def soak(kind: str, seed: int, run: int, steps: int) -> Counter[str]:
    bench = BENCHES[kind](seed * 100 + run, RUNGS[run % 4])
    return await play_soak(bench, lambda b: SOAKS[kind](b, Random(f"{kind} {seed} {run}")), steps)


@pytest.mark.parametrize("run", [0, 2])
@pytest.mark.parametrize("kind", SOAKS)
async def test_some_random_steps_never_leave_a_wrong_state(seed: int, kind: str, run: int) -> None:
    figures = await soak(kind, seed, run, 250)
    assert figures["looks"] > 250
    assert figures["times in service"] > 3
    if kind == "shaker":
        assert figures["readings"] > 2, "to read nothing is no art"
    elif kind == "rng":
        assert figures["numbers"] > 5
    else:
        assert figures["looks that found a place"] > figures["looks"] / 5


def test_the_same_seed_plays_the_same_soak_again(seed: int) -> None:
    first, again, other = (run_virtual(soak("shaker", seed, run, 60)) for run in (2, 2, 3))
    assert first == again != other


@pytest.mark.proof
@pytest.mark.parametrize("run", range(4))
@pytest.mark.parametrize("kind", SOAKS)
async def test_many_random_steps_never_leave_a_wrong_state(seed: int, kind: str, run: int) -> None:
    figures = await soak(kind, seed, run, STEPS)
    print(f"{kind}, {RUNGS[run]}: {dict(sorted(figures.items()))}; wrong beliefs: 0")
    assert figures["times in service"] > STEPS / 50


# Mistakes that firmware could make: where, what it would do instead, and whose soak it must not survive.
MISTAKES: Final[dict[str, tuple[str, Any, str, Any]]] = {
    "a leaning die counts as flat": ("shaker", shaker_twin, "FLAT_TILT", 30),
    "a weight is rounded to the nearest number of dice": ("shaker", shaker_twin, "WEIGHT_TOLERANCE", 40),
    "two shakes are enough": ("shaker", shaker_messages, "LEAST_SHAKES", 2),
    "an open roll goes on after a restart": ("shaker", ShakerFirmware, "boot", lambda twin: twin._forget()),
    "a number is shown without reading it back": ("rng", RngFirmware, "_read_back", lambda _: None),
    "an interrupted draw is finished after the start": (
        "rng",
        RngFirmware,
        "power_lost",
        lambda twin: twin._draws.update({last.command: 3 for last in twin.board.memory.recent()[-1:]}),
    ),
    "a weak level is a place": ("button", button_twin, "PRESENT", 320),
    "a place stays until another is clear": ("button", button_twin.ButtonFirmware, "_changed", lambda _: None),
}


@pytest.mark.proof
@pytest.mark.parametrize("mistake", MISTAKES)
async def test_a_planted_mistake_does_not_survive_the_soak(
    seed: int, monkeypatch: pytest.MonkeyPatch, mistake: str
) -> None:
    kind, owner, name, instead = MISTAKES[mistake]
    monkeypatch.setattr(owner, name, instead)
    with pytest.raises(AssertionError):
        await soak(kind, seed, 0, STEPS)
