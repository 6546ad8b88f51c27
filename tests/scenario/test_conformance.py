"""The conformance kit: passes good machines, fails every mutant at its requirement, and survives devices that fail."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import pytest

from devices.conformance.operators import NoOperator
from devices.conformance.requirements import (
    NotChecked,
    Requirement,
    RequirementFailed,
    RequirementVerdict,
    kind_chapter,
    kinds_with_requirements,
    protocol_chapters,
    requirements_of,
)
from devices.conformance.runner import Runner
from devices.kinds import KINDS
from devices.shuffler import messages as m
from firmware_bridge.errors import FirmwareNotApproved, LinkSilent, UnknownSerial, WrongKind
from firmware_bridge.keys import DeviceKey
from simulators.kinds.models import MODELS
from simulators.mutants import all_mutants
from simulators.mutants.mutant_tools import wrap
from tests.support.machines.conformance import MachineOperator, asked_of, examine, failures, on_bench, with_verdict

if TYPE_CHECKING:
    from collections.abc import Callable

    from devices.conformance.bench import ConformanceBench
    from devices.conformance.operators import ManualStep
    from simulators.engine.machine import SimulatedMachine
    from simulators.mutants.mutant_tools import DeviceMutant

MUTANTS = {mutant.name: mutant for mutant in all_mutants()}


def _model(mutant: DeviceMutant) -> str:
    """Return the model of a mutant; a protocol mutant fits any model."""
    return mutant.model or mutant.kind.replace("_", "-") or "shuffler"


# --- good machines pass, mutants fail -----------------------------------------------------------------------------


GOOD: Final = [
    "shuffler", "shuffler-identifying", "shoe", "shoe-manual", "shaker", "rng", "button", "bet-sensor", "keypad",
    "meter-sign", "shoe-identifying", "shoe-manual-identifying", "shuffler-inserting",
]  # fmt: skip


@pytest.mark.parametrize("model", GOOD)
@pytest.mark.parametrize("line", ["", "split", "slow:baud=115200"])
async def test_a_good_machine_passes_everything(seed: int, model: str, line: str) -> None:
    run = await examine(model, seed=seed, faults=[line] if line else [])
    assert with_verdict(run.results, RequirementVerdict.PASS) == {line.id for line in run.results}, failures(run)
    assert not run.ended_early


@pytest.mark.parametrize(
    "model", ["shuffler-batch", "shuffler-batch-identifying", "shuffler-batch-inserting", "shuffler-continuous"]
)
async def test_a_good_machine_with_six_decks_passes_everything(seed: int, model: str) -> None:
    run = await examine(model, seed=seed)
    assert with_verdict(run.results, RequirementVerdict.PASS) == {line.id for line in run.results}, failures(run)


@pytest.mark.parametrize(
    ("model", "asked", "not_asked"),
    [
        ("shuffler", {"SH-11", "CM-08"}, {"SH-70", "SH-75", "SH-80", "SH-81", "SH-88"}),
        ("shuffler-inserting", {"SH-11", "SH-70", "SH-75"}, {"SH-80", "SH-81"}),
        ("shuffler-batch-identifying", {"SH-11", "CM-08", "SH-80", "SH-81"}, {"SH-88"}),
        ("shuffler-continuous", {"SH-88", "CM-08", "CM-09", "PL-09", "PL-12"}, {"SH-11", "SH-80", "SH-81"}),
        ("shoe", {"SO-01", "SO-14"}, {"SO-60", "SO-70", "SO-75"}),
        ("shoe-manual", {"SO-01", "SO-60"}, {"SO-14", "SO-70", "SO-75"}),
        ("shoe-identifying", {"SO-14", "SO-70", "SO-75"}, {"SO-60"}),
        ("shoe-manual-identifying", {"SO-60", "SO-70"}, {"SO-14", "SO-75"}),
    ],
)
async def test_a_model_is_checked_for_what_it_can_do(model: str, asked: set[str], not_asked: set[str]) -> None:
    async with on_bench(model) as (_, machine):
        ids = {requirement.id for requirement in asked_of(machine)}
    assert asked <= ids
    assert not not_asked & ids


@pytest.mark.parametrize("model", MODELS)
async def test_every_model_is_asked_every_requirement_of_the_protocol(seed: int, model: str) -> None:
    every = {requirement.id for chapter in protocol_chapters() for requirement in chapter.requirements}
    async with on_bench(model, seed=seed) as (bench, machine):
        run = Runner(bench, [one for one in requirements_of(machine.kind) if one.id in every])
        await run.run()
    assert with_verdict(run.results, RequirementVerdict.PASS) == every, failures(run)


# Six mutants that fit every kind, and defects that the kit once missed.
BROKEN: Final = {
    "remembers-one": "CM-12",
    "id-alone": "CM-10",
    "forgets-with-the-power": "CM-16",
    "repeats-reset": "CM-08",
    "forgets-refusals": "CM-06",
    "events-are-requests": "PL-09",
}
BLIND_SPOTS: Final = {
    "holds-over-sessions": "LK-12",
    "restart-finishes-commands": "CM-17",
    "power-loss-finishes-commands": "CM-18",
    "small-buffer": "FR-14",
    "buffer-one-short": "FR-14",
    "no-lone-acknowledgment": "LK-13",
    "copy-for-every-report": "RT-12",
    "obeys-sealed-hellos": "SE-10",
    "obeys-sealed-hellos-of-nobody": "SE-10",
}


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("name", BROKEN | BLIND_SPOTS)
async def test_a_broken_device_is_found_in_every_model(seed: int, model: str, name: str) -> None:
    breaks = (BROKEN | BLIND_SPOTS)[name]
    run = await examine(model, seed=seed, mutant=name, only=[breaks])
    assert breaks in with_verdict(run.results, RequirementVerdict.FAIL), failures(run)


@pytest.mark.proof
@pytest.mark.parametrize("kind", ["button", "rng"])
@pytest.mark.parametrize("name", BLIND_SPOTS)
async def test_a_defect_that_the_kit_once_missed_fails_only_its_own_requirement(
    seed: int, kind: str, name: str
) -> None:
    run = await examine(kind, seed=seed, mutant=name)
    also = {"restart-finishes-commands": {"CM-18"}}.get(name, set())
    assert with_verdict(run.results, RequirementVerdict.FAIL) == {BLIND_SPOTS[name]} | also, failures(run)


async def test_power_that_goes_just_after_a_self_test_ended_is_cut_again(seed: int) -> None:
    """That self-test is rightly DONE, though its Settled was never received."""
    cuts: list[str] = []

    class Unlucky(MachineOperator):
        """The first cut comes when a self-test has just ended and its Settled is on its way."""

        async def request_now(self, step: ManualStep) -> None:
            cuts.append(step.sentence)
            if len(cuts) > 1:
                await self.perform(step)
                return

            def settle(real: Callable[..., None], *given: object) -> None:
                real(*given)
                if len(cuts) == 1:
                    cuts.append("just after its end")
                    self._machine.inject("power_cut:seconds=1")

            wrap(self._machine.board, "settle", settle)

    run = await examine("button", seed=seed, only=["CM-18"], hands=Unlucky)
    assert with_verdict(run.results, RequirementVerdict.PASS) >= {"CM-18"}, failures(run)
    assert len(cuts) == 3


# --- what is left out ---------------------------------------------------------------------------------------------


async def test_what_a_model_cannot_do_has_a_line_of_its_own_and_its_reason(seed: int) -> None:
    async with on_bench("shuffler-continuous", seed=seed) as (bench, machine):
        run = Runner(bench, requirements_of(machine.kind))
        await run.run()
    whys = {line.id: line.why for line in run.results if line.verdict is RequirementVerdict.NOT_APPLICABLE}
    assert whys["SH-80"] == "its hello does not list the capability identifies"
    assert whys["SH-11"] == "its hello lists the capability continuous"
    assert with_verdict(run.results, RequirementVerdict.PASS) == {line.id for line in run.results} - whys.keys(), (
        failures(run)
    )


async def test_what_does_not_apply_is_not_called_unchecked_when_the_device_is_lost(seed: int) -> None:
    async with on_bench(seed=seed) as (bench, machine):
        run = Runner(
            bench,
            requirements_of(machine.kind),
            before=lambda requirement: _at("HS-03", "unplug:seconds=0")(requirement, machine),
        )
        await run.run()
    assert next(line.verdict for line in run.results if line.id == "SH-88") is RequirementVerdict.NOT_APPLICABLE
    assert next(line.verdict for line in run.results if line.id == "SH-11") is RequirementVerdict.NOT_CHECKED


@pytest.mark.parametrize("name", MUTANTS)
async def test_a_mutant_fails_the_requirement_that_it_breaks(name: str) -> None:
    mutant = MUTANTS[name]
    run = await examine(_model(mutant), mutant=name, only=[mutant.breaks])
    assert mutant.breaks in with_verdict(run.results, RequirementVerdict.FAIL), failures(run)
    (line,) = (line for line in run.results if line.id == mutant.breaks)
    assert line.expected
    assert line.seen
    assert line.transcript, "no evidence of what passed on the line"


@pytest.mark.proof
@pytest.mark.parametrize("name", MUTANTS)
async def test_a_mutant_fails_exactly_the_requirements_it_lists(seed: int, name: str) -> None:
    mutant = MUTANTS[name]
    run = await examine(_model(mutant), seed=seed, mutant=name)
    assert with_verdict(run.results, RequirementVerdict.FAIL) == {mutant.breaks, *mutant.also}, failures(run)


@pytest.mark.parametrize("kind", kinds_with_requirements())
def test_every_requirement_has_a_mutant_that_breaks_it(kind: str) -> None:
    known = {requirement.id for requirement in requirements_of(kind)}
    broken = {mutant.breaks for mutant in all_mutants() if mutant.kind in ("", kind)}
    assert known <= broken, f"nothing proves that these can fail: {sorted(known - broken)}"


def test_mutants_have_names_of_their_own_and_break_what_exists() -> None:
    assert len(MUTANTS) == len(all_mutants())
    known = {requirement.id for kind in kinds_with_requirements() for requirement in requirements_of(kind)}
    for mutant in all_mutants():
        assert {mutant.breaks, *mutant.also} <= known, mutant.name
        assert mutant.breaks not in mutant.also, mutant.name


@pytest.mark.parametrize("kind", kinds_with_requirements())
async def test_a_mistake_in_the_protocol_is_found_in_every_kind(seed: int, kind: str) -> None:
    mistakes = [mutant for mutant in all_mutants() if not mutant.kind]
    assert len(mistakes) > 50
    for mutant in mistakes:
        run = await examine(kind.replace("_", "-"), seed=seed, mutant=mutant.name, only=[mutant.breaks])
        assert mutant.breaks in with_verdict(run.results, RequirementVerdict.FAIL), f"{mutant.name}: {failures(run)}"


# --- what is written about requirements -----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", kinds_with_requirements())
def test_requirements_need_only_what_is_checked_before_them(kind: str) -> None:
    seen: set[str] = set()
    for requirement in requirements_of(kind):
        assert requirement.id not in seen
        assert set(requirement.needs) <= seen, requirement.id
        seen.add(requirement.id)


# --- hands ------------------------------------------------------------------------------------------------------------


async def test_without_hands_nothing_that_needs_them_passes_or_moves(seed: int) -> None:
    run = await examine(seed=seed, hands=lambda _: NoOperator())
    assert not with_verdict(run.results, RequirementVerdict.FAIL), failures(run)
    left_out = with_verdict(run.results, RequirementVerdict.NOT_CHECKED)
    assert {line.id for line in run.results if line.hands} <= left_out
    checked = with_verdict(run.results, RequirementVerdict.PASS)
    assert {"HS-10", "CM-08", "SH-11", "SH-24"} <= checked
    assert checked | left_out == {line.id for line in run.results}


@pytest.mark.parametrize("kind", kinds_with_requirements())
async def test_every_kind_can_be_checked_without_hands(seed: int, kind: str) -> None:
    run = await examine(kind.replace("_", "-"), seed=seed, hands=lambda _: NoOperator())
    passed, left_out = (
        with_verdict(run.results, RequirementVerdict.PASS),
        with_verdict(run.results, RequirementVerdict.NOT_CHECKED),
    )
    assert {line.id for line in run.results if line.hands} <= left_out
    assert passed | left_out == {line.id for line in run.results}, failures(run)
    own = {requirement.id for requirement in kind_chapter(kind)[1].requirements}
    assert passed & own, "nothing of its own can be checked without hands"


async def test_hands_that_cannot_do_it_leave_it_unchecked(seed: int) -> None:
    class Clumsy(MachineOperator):
        async def perform(self, step: ManualStep) -> None:
            raise NotChecked(f"could not be done by hand: {step.sentence}")

        request_now = perform

    run = await examine(seed=seed, only=["SH-40", "SH-50"], hands=Clumsy)
    assert with_verdict(run.results, RequirementVerdict.NOT_CHECKED) == {"SH-40", "SH-50"}
    assert "open the door" in next(line.why for line in run.results if line.id == "SH-40")


# --- devices that are lost, hang, restart ---------------------------------------------------------------------------


def _at(name: str, fault: str) -> Callable[[Requirement, SimulatedMachine], None]:
    """Let something happen when one requirement's turn comes."""

    def during(requirement: Requirement, machine: SimulatedMachine) -> None:
        if requirement.id == name:
            machine.inject(fault)

    return during


async def test_a_device_that_is_unplugged_leaves_the_rest_unchecked(seed: int) -> None:
    run = await examine(seed=seed, during=_at("LK-03", "unplug:seconds=0"))
    ids = [line.id for line in run.results]
    before, after = ids[: ids.index("LK-03")], ids[ids.index("LK-03") :]
    assert with_verdict(run.results, RequirementVerdict.PASS) == set(before)
    assert with_verdict(run.results, RequirementVerdict.NOT_CHECKED) == set(after)
    assert "LK-03" in run.ended_early
    assert "PB-113" in run.ended_early


async def test_a_device_that_hangs_fails_where_it_hung_and_leaves_the_rest_unchecked(seed: int) -> None:
    run = await examine(seed=seed, during=_at("SE-02", "hang:seconds=0"))
    assert with_verdict(run.results, RequirementVerdict.FAIL) == {"SE-02"}
    assert "PB-114" in run.ended_early
    assert {"SE-03", "LK-01", "SH-63"} <= with_verdict(run.results, RequirementVerdict.NOT_CHECKED)


@pytest.mark.parametrize("name", ["HS-05", "LK-09", "RT-07", "CM-11", "SH-11", "SH-42"])
async def test_a_device_that_restarts_in_the_middle_is_checked_to_the_end(seed: int, name: str) -> None:
    run = await examine(seed=seed, during=_at(name, "reboot"))
    assert not run.ended_early
    assert with_verdict(run.results, RequirementVerdict.FAIL) <= {name}
    assert "SH-63" in with_verdict(run.results, RequirementVerdict.PASS)


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("bet-sensor", "BS-04"),
        ("bet-sensor", "BS-25"),
        ("shaker", "DS-03"),
        ("shaker", "DS-26"),
        ("shoe", "SO-15"),
        ("shoe-manual", "SO-61"),
        ("keypad", "KP-11"),
        ("meter-sign", "MS-12"),
        ("shuffler-continuous", "SH-89"),
        ("rng", "RN-02"),
        ("rng", "RN-20"),
        ("button", "FB-03"),
        ("button", "FB-11"),
    ],
)
async def test_a_power_cut_in_the_middle_spoils_no_other_check(seed: int, model: str, name: str) -> None:
    run = await examine(model, seed=seed, during=_at(name, "power_cut:seconds=2"))
    assert not run.ended_early
    assert with_verdict(run.results, RequirementVerdict.FAIL) <= {name}, failures(run)
    assert run.results[-1].verdict is RequirementVerdict.PASS


async def test_an_interrupted_run_has_a_verdict_for_every_requirement(seed: int) -> None:
    async with on_bench(seed=seed) as (bench, machine):
        run = Runner(bench, asked_of(machine))
        task = asyncio.create_task(run.run())
        await asyncio.sleep(20.0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert len(run.results) == len(asked_of(machine))
    assert run.ended_early == "interrupted"
    assert run.results[-1].verdict is RequirementVerdict.NOT_CHECKED
    assert run.results[-1].why == "interrupted"


# --- checks that misbehave ------------------------------------------------------------------------------------------


async def _verdicts(*checks: Requirement) -> list[tuple[str, str]]:
    async with on_bench() as (bench, _):
        run = Runner(bench, list(checks))
        await run.run()
    return [(line.verdict, line.why or line.expected) for line in run.results]


def _requirement(name: str, check: object, **more: object) -> Requirement:
    return replace(requirements_of("shuffler")[0], id=name, check=check, needs=(), **more)  # type: ignore[arg-type]


async def _good(_: ConformanceBench) -> None:
    return


async def _bad(_: ConformanceBench) -> None:
    raise RequirementFailed("something", "something else")


async def _unable(_: ConformanceBench) -> None:
    raise NotChecked("no cards")


async def _endless(_: ConformanceBench) -> None:
    await asyncio.Event().wait()


async def test_a_check_that_never_ends_is_ended_and_fails() -> None:
    assert await _verdicts(_requirement("XX-01", _endless, limit=3.0), _requirement("XX-02", _good)) == [
        ("fail", "an end within 3 s"),
        ("pass", ""),
    ]


async def test_what_needs_a_failed_requirement_is_skipped_and_what_needs_an_unchecked_one_is_not_checked() -> None:
    verdicts = await _verdicts(
        _requirement("XX-01", _bad),
        replace(_requirement("XX-02", _good), needs=("XX-01",)),
        replace(_requirement("XX-03", _good), needs=("XX-02",)),
        _requirement("XX-04", _unable),
        replace(_requirement("XX-05", _good), needs=("XX-04",)),
        replace(_requirement("XX-06", _good), needs=("XX-04", "XX-01")),
        replace(_requirement("XX-07", _good), needs=("not asked for",)),
    )
    assert verdicts == [
        ("fail", "something"),
        ("skipped", "needs XX-01: fail"),
        ("skipped", "needs XX-02: skipped"),
        ("not checked", "no cards"),
        ("not checked", "needs XX-04: not checked"),
        ("skipped", "needs XX-01: fail"),
        ("pass", ""),
    ]


async def test_a_defect_of_the_kit_is_raised_and_the_rest_is_not_checked() -> None:
    async def broken(_: ConformanceBench) -> None:
        raise ZeroDivisionError

    async with on_bench() as (bench, _):
        run = Runner(bench, [_requirement("XX-01", broken), _requirement("XX-02", _good)])
        with pytest.raises(ZeroDivisionError):
            await run.run()
    assert [line.verdict for line in run.results] == [RequirementVerdict.NOT_CHECKED, RequirementVerdict.NOT_CHECKED]
    assert "the kit itself failed" in run.ended_early


# --- who answers ----------------------------------------------------------------------------------------------------


async def test_a_device_that_does_not_match_the_key_file_is_reported_before_any_check(seed: int) -> None:
    with pytest.raises(UnknownSerial, match="key file is for SN-1"):
        await examine(seed=seed, key_for=lambda key: DeviceKey("SN-1", key.kind, key.key))
    with pytest.raises(WrongKind, match="a shuffler"):
        await examine(seed=seed, key_for=lambda key: DeviceKey(key.serial, "shoe", key.key))
    with pytest.raises(FirmwareNotApproved):
        await examine(seed=seed, faults=["rogue_firmware"])
    with pytest.raises(LinkSilent):
        await examine(seed=seed, faults=["hang:seconds=0"])


async def test_a_wrong_key_fails_the_proof_and_skips_what_needs_a_session(seed: int) -> None:
    run = await examine(seed=seed, faults=["wrong_key"])
    assert with_verdict(run.results, RequirementVerdict.FAIL) == {"HS-03"}
    assert "PB-311" in next(line.seen for line in run.results if line.id == "HS-03")
    assert {"HS-04", "LK-01", "SH-01"} <= with_verdict(run.results, RequirementVerdict.SKIPPED)


async def test_no_key_and_no_card_is_in_the_evidence(seed: int) -> None:
    async with on_bench("shuffler-identifying", seed=seed, mutant="findings-outlive-the-deck") as (bench, machine):
        run = Runner(bench, asked_of(machine, ["SH-80"]))
        await run.run()
        text = failures(run)
        assert "SH-80" in text
        assert "Findings (payload blanked" in text
        assert "Findings(command" not in text
        assert bench.key.key.hex() not in text


async def test_a_device_that_names_cards_out_of_turn_is_found_and_its_cards_are_not_shown(seed: int) -> None:
    async with on_bench(seed=seed) as (bench, machine):
        wrap(machine.board, "_handle", lambda *_: m.Findings(1, bytes([11, 12]), b""))
        run = Runner(bench, asked_of(machine, ["PL-12", "SH-01"]))
        await run.run()
    assert {"PL-12", "SH-01"} <= with_verdict(run.results, RequirementVerdict.FAIL) | with_verdict(
        run.results, RequirementVerdict.NOT_CHECKED
    )
    text = failures(run)
    assert "Findings (names cards)" in text
    assert "0b0c" not in text
    assert "x0b" not in text


def test_every_kind_of_machine_has_its_own_requirements() -> None:
    assert kinds_with_requirements() == list(KINDS)
