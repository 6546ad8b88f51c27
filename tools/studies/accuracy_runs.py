"""Runs one fault of the simulators through wire and driver in virtual time.

Returns the fault report and the truth of the simulated world; `tools.studies.accuracy` compares them.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from random import Random
from typing import TYPE_CHECKING, Any, Final

from devices.kinds import SHOE, SHUFFLER
from firmware_bridge.errors import PitboxError
from simulators.casino.device_bench import DeviceBench
from simulators.engine.ports.memory import MemoryPort
from simulators.engine.virtual_time import run_virtual
from simulators.kinds.shoe.machine import SimulatedManualShoe, SimulatedShoe
from simulators.kinds.shuffler.continuous_machine import SimulatedContinuousShuffler
from simulators.kinds.shuffler.machine import SimulatedShuffler
from simulators.world.cards import DECK_53, World
from table_controller.maintenance.fault_recorder import FaultRecorder
from table_controller.maintenance.frame_ring import FrameRing
from tools.studies.accuracy_cases import CARDS, Case, CaseOutcome, CaseTruth

if TYPE_CHECKING:
    from collections.abc import Callable


_SENSOR: Final = {"unload": "exit"}  # sensors that do not have the name of the segment that they end


def happen(case: Case) -> CaseOutcome:
    """Run a case; the same case gives the same outcome, bit for bit."""
    return run_virtual(_happen(case))


# --- a machine, its driver, its fault recorder ------------------------------------------------------------------------


class _Run:
    """One machine with its driver and its fault recorder."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.rng = Random(f"accuracy {case.name}")
        seed = self.rng.randrange(10_000)
        machine, kind = _make(case.model, seed)
        self.ring = FrameRing(asyncio.get_running_loop().time)
        self.device: DeviceBench[Any, Any, Any] = DeviceBench(
            machine, kind, MemoryPort(machine).open, capture=self.ring, on_event=self._on_event
        )
        self.freezer = FaultRecorder(
            machine.slot, kind, self.device.driver, self.ring, facts=lambda: {"expected": CARDS}, wall_ns=lambda: 0
        )
        self.on_card: Callable[[int, int], None] | None = None  # (leg, how many cards have arrived)
        self.truth: CaseTruth | None = None
        self._arrived: Counter[int] = Counter()
        layout = self.mechanics.layout
        self._last_sensors = {
            layout.end_sensors[layout.segments(resting - 1)]: layout.leg(resting) for resting in layout.last_segments
        }
        self._firmware = self.mechanics.on_edge
        self.mechanics.on_edge = self._edge

    @property
    def mechanics(self) -> Any:
        return self.device.machine.mechanics

    def _on_event(self, event: Any) -> None:
        self.freezer.handle_device_event(event)
        if self.truth is None and self.freezer.is_recording:  # the instant of the fault
            self.truth = self.look()

    def _edge(self, sensor: Any, blocked: bool) -> None:
        """Count a card that clears the last sensor of a leg as arrived, whether or not the firmware reports it."""
        self._firmware(sensor, blocked)
        leg = self._last_sensors.get(sensor)
        if leg is None or blocked or self.device.machine.firmware.state.name == "HALTED":
            return
        self._arrived[leg] += 1
        if self.on_card is not None:
            asyncio.get_running_loop().call_soon(self.on_card, leg, self._arrived[leg])

    def begin_counting(self) -> None:
        """Count arrivals from here on."""
        self._arrived.clear()

    def look(self) -> CaseTruth:
        world, mechanics = self.device.machine.world, self.mechanics
        on_path = {s.name.lower(): world.count(mechanics.segment_place(s)) for s in mechanics.layout.segments}
        path = sum(on_path.values())
        segments = frozenset(name for name, cards in on_path.items() if cards)
        if self.case.model in ("shoe", "manual"):
            out = world.count(mechanics.delivery) if self.case.model == "shoe" else 0
            hidden = world.count(mechanics.behind_well)
            return CaseTruth(segments, path, mechanics.left() + path, out, hidden)
        hidden = world.count(mechanics.behind_shelves)
        return CaseTruth(segments, path, mechanics.inside(), world.count(mechanics.gate), hidden)

    @property
    def looks_like_a_card(self) -> bool:
        """Whether a motor has seized in mid-motion, which looks like a stuck card."""
        return self.case.fault == "seized" and self.on_card is not None

    async def do(self, method: str, *args: Any) -> bool:
        """Run a command; return False if it failed."""
        try:
            await getattr(self.device.driver, method)(self.device.next_id(), *args)
        except PitboxError:
            return False
        return True

    def inject(self, text: str) -> None:
        self.device.inject(text)


def _make(model: str, seed: int) -> tuple[Any, Any]:
    """Return a machine with one deck in its intake (or well), and its kind."""
    world = World()
    match model:
        case "shuffler":
            machine: Any = SimulatedShuffler(seed=seed, world=world)
        case "batch":
            machine = SimulatedShuffler(seed=seed, world=world, batch=True)
        case "continuous":
            machine = SimulatedContinuousShuffler(seed=seed, world=world)
        case "shoe":
            machine = SimulatedShoe(seed=seed, world=world)
        case _:
            machine = SimulatedManualShoe(seed=seed, world=world)
    place = machine.mechanics.well if model == "manual" else machine.mechanics.intake
    world.make_deck(place, "blue", DECK_53)
    return machine, SHOE if model in ("shoe", "manual") else SHUFFLER


async def _happen(case: Case) -> CaseOutcome:
    run = _Run(case)
    run.device.supervisor.start()
    await run.device.until_reported()
    run.device.machine.firmware.hands_moved()
    try:
        await _SCRIPTS[case.model](run)
        await run.freezer.close()
        truth = run.truth or run.look()
        report = run.freezer.reports[-1] if run.freezer.reports else None
        return CaseOutcome(case, report, truth)
    finally:
        await run.freezer.close()
        await run.device.close()


# --- faults -----------------------------------------------------------------------------------------------------------


def _prepare(run: _Run, leg_cards: int) -> None:
    """Prepare the fault: at a random card, on the leg of its segment, after some good motions."""
    fault, segment, rng = run.case.fault, run.case.segment, run.rng
    card = rng.randint(6, leg_cards)
    match fault:
        case "jam":
            run.inject(f"jam:segment={segment},card={card}")
        case "bent":
            run.inject(f"bent_card:segment={segment},card={card},percent={rng.uniform(12, 22):.1f}")
        case "foreign":
            run.inject(f"foreign_object:segment={segment},card={card}")
        case "torn":
            run.inject(f"torn_card:segment={segment},card={card}")
        case "double" | "pair":
            offset = rng.uniform(29, 80) if fault == "double" else rng.uniform(0, 18)
            where = f"segment={segment}," if run.case.model in ("shoe", "manual") else ""
            run.inject(f"double_feed:{where}card={card},offset={offset:.1f}")
        case "slipped":
            run.inject(f"card_left_inside:card={card}")
        case "many":
            run.inject(f"cards_left_inside:count={rng.randint(2, 9)},card={card}")
        case "migrated":
            run.inject(f"card_migrates:card={card}")
        case "seized":
            _seize(run, segment, card)
        case "slip":
            run.inject(f"slip:segment={segment},percent={rng.uniform(30, 50):.0f}")
        case "wear":
            run.on_card = _wearing(run, segment)
        case "dust" | "hasty":
            run.on_card = _at_card(run, segment, card)


def _at_card(run: _Run, segment: str, card: int) -> Callable[[int, int], None]:
    """Inject dust or bad firmware timing while a card of the right leg moves."""
    leg = run.mechanics.layout.leg(run.mechanics.layout.segments[segment.upper()])
    sensor, rng, done = _SENSOR.get(segment, segment), run.rng, False
    text = (
        f"dust:sensor={sensor},percent={rng.uniform(46, 85):.1f}"
        if run.case.fault == "dust"
        else f"hasty:segment={segment},percent={rng.uniform(60, 95):.1f}"
    )
    later = rng.uniform(0, 0.25)

    def on_card(at: int, arrived: int) -> None:
        nonlocal done
        if at == leg and arrived == card and not done:
            done = True
            asyncio.get_running_loop().call_later(later, run.inject, text)

    return on_card


def _seize(run: _Run, motor: str, card: int) -> None:
    """Seize a motor, at random before or during the next motion, on the first leg on which it moves cards."""
    if run.rng.random() < 0.5:
        run.inject(f"seized:motor={motor}")
        return
    layout = run.mechanics.layout
    leg = min(layout.leg(segment) for segment, mover in layout.segment_motors.items() if mover.name.lower() == motor)

    def on_card(at: int, arrived: int) -> None:
        if at == leg and arrived == card:
            run.inject(f"seized:motor={motor}")

    run.on_card = on_card


def _wearing(run: _Run, segment: str) -> Callable[[int, int], None]:
    """Wear a roller by two percent with every card until cards arrive too late."""
    leg = run.mechanics.layout.leg(run.mechanics.layout.segments[segment.upper()])
    factor, pace = 1.0, run.rng.uniform(1.015, 1.022)

    def on_card(at: int, _arrived: int) -> None:
        nonlocal factor
        if at == leg:
            factor *= pace
            run.inject(f"wear:segment={segment},percent={(factor - 1) * 100:.2f}")

    return on_card


async def _cycles(run: _Run) -> None:
    """Run a shuffler with cycles: a good cycle, then cycles with the fault."""
    await run.do("shuffle")
    await _reload(run)
    run.begin_counting()
    _prepare(run, 50)
    for _ in range(4):
        if not await run.do("shuffle"):
            break
        await _reload(run)
    if run.case.fault == "migrated":  # the first cycle misses the card; it appears in a later one
        await run.freezer.close()
        run.inject("clear_path")
        await run.do("clear_jam")
        await _reload(run)
        run.truth = None
        await run.do("shuffle")
    if run.looks_like_a_card and not await _cleared(run):
        await _reload(run)
        await run.do("shuffle")


async def _cleared(run: _Run) -> bool:
    """Clear the path as people would for a stuck card; return True if the seized motor jams again."""
    await run.freezer.close()
    run.on_card = run.truth = None
    run.inject("clear_path")
    await run.do("clear_jam")
    await run.freezer.close()
    return len(run.freezer.reports) > 1


async def _reload(run: _Run) -> None:
    await run.do("eject")
    run.inject("take_deck")
    run.inject("load")


async def _store(run: _Run) -> None:
    """Run a continuous shuffler: fill and count, then count with the fault."""
    await run.do("take_in")
    await run.do("count_all")
    run.begin_counting()
    _prepare(run, 50)
    for _ in range(2):  # a card that slips on its way in is missed by the next count
        if not await run.do("count_all"):
            break
    if run.looks_like_a_card and not await _cleared(run):
        await _reload(run)
        if await run.do("take_in"):
            await run.do("count_all")


async def _shoe(run: _Run) -> None:
    """Run an automated shoe: deal one deck without a fault, then decks with the fault."""
    await _deal(run)
    run.begin_counting()
    segment = run.case.segment
    inward = segment in ("feed", "store", "")
    _prepare(run, 50 if inward else 7)
    for _ in range(6):
        if run.freezer.reports or not await _deal(run):
            break
    if run.looks_like_a_card and not await _cleared(run):
        run.inject("take")
        run.inject("gather")
        run.inject("load")
        await _deal(run)


async def _deal(run: _Run) -> bool:
    """Load, deal stacks of seven, eject the stub, gather; return False as soon as a command fails."""
    if not await run.do("load"):
        return False
    for cards in (7, 7, 7, 7, 7, 7, 7):
        if not await run.do("dispense", cards):
            return False
        run.inject("take")
    if not await run.do("count_stub"):
        return False
    run.inject("take")
    run.inject("gather")
    run.inject("load")
    return not run.freezer.is_recording


async def _manual(run: _Run) -> None:
    """Run a manual shoe: a person draws card by card."""
    await run.do("load")
    await run.do("start_round")
    run.begin_counting()
    _prepare(run, 30)
    for _ in range(45):
        if run.truth is not None:
            break
        try:
            run.inject("draw:cards=1")
        except PitboxError:
            await asyncio.sleep(6.0)
            break
        await asyncio.sleep(1.0)
    await asyncio.sleep(6.0)


_SCRIPTS: Final = {
    "shuffler": _cycles, "batch": _cycles, "continuous": _store, "shoe": _shoe, "manual": _manual,
}  # fmt: skip
