"""Runs the requirements against a device: identifies it, then checks one requirement after another."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import msgspec

from devices.conformance.operators import NoOperator
from devices.conformance.raw_host import LINE_ALLOWANCE_S, ReceivedFrame
from devices.conformance.report import make_result
from devices.conformance.requirements import NotChecked, RequirementFailed, RequirementVerdict, model_profile
from firmware_bridge import frame as fr
from firmware_bridge import seal
from firmware_bridge.decode_errors import UNDECODABLE
from firmware_bridge.errors import LinkSilent, PitboxError, UnknownSerial, WrongKind
from firmware_bridge.handshake import FIRST_RETRY_S, MAX_ATTEMPTS, MAX_RETRY_S, check_firmware
from firmware_bridge.messages import DeviceHello, tag_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from devices.conformance.bench import ConformanceBench
    from devices.conformance.report import RequirementResult
    from devices.conformance.requirements import Requirement


async def identify_device(bench: ConformanceBench) -> DeviceHello | None:
    """Identify the device; return its hello, None if it is malformed. Sets the capabilities and profile of the bench.

    Raises the errors of every bench command: no answer, another kind, an unknown serial number, firmware that is not
    approved. A wrong proof is left to the requirements.
    """
    received = await _anybody(bench)
    fields: list[Any] = msgspec.msgpack.decode(received.frame.payload)
    kind, serial = [*fields[1:], None, None][:2]
    if isinstance(kind, str) and kind != bench.trust.kind:
        raise WrongKind(f"the key file is for a {bench.trust.kind}, a {kind} ({serial}) answers")
    if isinstance(serial, str) and serial != bench.key.serial:
        raise UnknownSerial(f"the key file is for {bench.key.serial}, {serial} answers")
    hello = received.message
    if not isinstance(hello, DeviceHello):
        return None
    await _check_firmware(bench, hello)
    bench.capabilities = hello.capabilities
    bench.profile = model_profile(bench.trust.kind, hello.capabilities)
    return hello


async def _anybody(bench: ConformanceBench) -> ReceivedFrame:
    """Repeat a hello until something like a hello answers."""
    probe = bench.raw_host()
    payload, wait = probe.fresh_hello(), FIRST_RETRY_S
    for _ in range(MAX_ATTEMPTS):
        probe.send_unsealed(payload)
        received = await probe.wait_until(_is_hello, wait)
        if received is not None:
            await probe.listen(LINE_ALLOWANCE_S)  # its proof must not look like the answer to a later hello
            return received
        wait = min(MAX_RETRY_S, wait * 2)
    raise LinkSilent(f"no device answered the handshake in {MAX_ATTEMPTS} attempts")


async def _check_firmware(bench: ConformanceBench, hello: DeviceHello) -> None:
    """Check the firmware if the device proves its key; otherwise the requirements will fail."""
    try:
        greeting = await bench.raw_host().greet()
    except RequirementFailed:
        return
    if greeting.proof == seal.device_proof(bench.key.key, greeting.bound):
        check_firmware(hello, bench.trust)


def _is_hello(received: ReceivedFrame) -> bool:
    if received.frame.type != fr.HANDSHAKE or received.frame.flags & fr.SEALED:
        return False
    try:
        decoded = msgspec.msgpack.decode(received.frame.payload)
    except UNDECODABLE:
        return False
    return isinstance(decoded, list) and decoded[:1] == [tag_of(DeviceHello)]


class Runner:
    """One run. `lines` gets each result; `before` and `after` are called around each check."""

    def __init__(
        self,
        bench: ConformanceBench,
        requirements: list[Requirement],
        before: Callable[[Requirement], None] = lambda _: None,
        after: Callable[[RequirementResult], None] = lambda _: None,
    ) -> None:
        self.results: list[RequirementResult] = []
        self.ended_early = ""
        self._bench = bench
        self._requirements = requirements
        self._before = before
        self._after = after
        self._verdicts: dict[str, RequirementVerdict] = {}

    async def run(self) -> None:
        """Check all requirements. If canceled, or if the device is lost, the others are `not checked`."""
        try:
            for requirement in self._requirements:
                self._before(requirement)
                self._note(await self._line(requirement))
        except asyncio.CancelledError:
            self.ended_early = "interrupted"
            raise
        except Exception as bug:
            self.ended_early = f"the kit itself failed: {bug!r}"
            raise
        finally:
            for requirement in self._requirements[len(self.results) :]:
                self._note(
                    self._unasked(requirement)
                    or make_result(requirement, RequirementVerdict.NOT_CHECKED, why=self.ended_early)
                )

    def _note(self, line: RequirementResult) -> None:
        self.results.append(line)
        self._verdicts[line.id] = line.verdict
        self._after(line)

    def _unasked(self, requirement: Requirement) -> RequirementResult | None:
        why = requirement.why_not_applicable(self._bench.capabilities)
        return make_result(requirement, RequirementVerdict.NOT_APPLICABLE, why=why) if why else None

    async def _line(self, requirement: Requirement) -> RequirementResult:
        unasked = self._unasked(requirement)
        if unasked is not None:
            return unasked
        if self.ended_early:
            return make_result(requirement, RequirementVerdict.NOT_CHECKED, why=self.ended_early)
        for verdict, becomes in (
            (RequirementVerdict.FAIL, RequirementVerdict.SKIPPED),
            (RequirementVerdict.SKIPPED, RequirementVerdict.SKIPPED),
            (RequirementVerdict.NOT_CHECKED, RequirementVerdict.NOT_CHECKED),
        ):
            for need in requirement.needs:
                if self._verdicts.get(need) is verdict:
                    return make_result(requirement, becomes, why=f"needs {need}: {verdict}")
        if requirement.needs_operator and isinstance(self._bench.operator, NoOperator):
            return make_result(requirement, RequirementVerdict.NOT_CHECKED, why="needs an operator")
        return await self._check(requirement)

    async def _check(self, requirement: Requirement) -> RequirementResult:
        loop, tape = asyncio.get_running_loop(), self._bench.transcript
        tape.restart()
        began = loop.time()

        def line(verdict: RequirementVerdict, **more: Any) -> RequirementResult:
            return make_result(requirement, verdict, loop.time() - began, **more)

        try:
            async with asyncio.timeout(requirement.limit) as deadline:
                self._bench.deadline = deadline
                await requirement.check(self._bench)
        except NotChecked as why:
            return line(RequirementVerdict.NOT_CHECKED, why=str(why))
        except RequirementFailed as failed:
            expected, seen = failed.expected, failed.seen
        except TimeoutError:
            if not deadline.expired():
                raise
            expected, seen = f"an end within {requirement.limit:g} s", "none"
        except PitboxError as error:
            expected, seen = "the session to go on", f"{error.code} {error}"
        else:
            return line(RequirementVerdict.PASS)
        if tape.lost is not None:
            self.ended_early = f"the device was lost at {requirement.id}: {tape.lost.code} {tape.lost}"
            return line(RequirementVerdict.NOT_CHECKED, why=self.ended_early)
        failed_line = line(RequirementVerdict.FAIL, expected=expected, seen=seen, transcript=tape.lines())
        await self._still_there(requirement)
        return failed_line

    async def _still_there(self, failed: Requirement) -> None:
        """After a failure, check that the device still answers; otherwise the run ends."""
        try:
            await _anybody(self._bench)
        except PitboxError as error:
            self.ended_early = f"the device was lost after {failed.id}: {error.code} {error}"


async def stop_motion(bench: ConformanceBench) -> None:
    """Stop the machine after an interrupted run, if it can be reached."""
    try:
        async with asyncio.timeout(5.0 + LINE_ALLOWANCE_S):
            await bench.stop()
    except (RequirementFailed, PitboxError, TimeoutError):
        return
