"""Defines requirements, their verdicts and chapters, and the profile of a kind."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import wraps
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

from devices.kinds import KINDS
from firmware_bridge.errors import ConfigurationError
from firmware_bridge.messages import Message

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from devices.conformance.bench import ConformanceBench

    Preparation = Callable[[ConformanceBench], Awaitable[None]]
    # Gets the bench, and a session if it begins in a state that a preparation brings about.
    Check = Callable[..., Awaitable[None]]

# Time limit (s) of a whole check, without the operator's time; waits inside have shorter deadlines.
CHECK_LIMIT_S: Final = 900.0


class RequirementVerdict(StrEnum):
    """The verdict on one requirement. Only a completed check can pass."""

    PASS = "pass"  # noqa: S105 - no password
    FAIL = "fail"
    NOT_CHECKED = "not checked"
    SKIPPED = "skipped"
    NOT_APPLICABLE = "not applicable"


class RequirementFailed(Exception):
    """The device does not meet a requirement."""

    def __init__(self, expected: str, seen: str) -> None:
        super().__init__(f"expected {expected}; seen: {seen}")
        self.expected = expected
        self.seen = seen


class NotChecked(Exception):
    """A requirement could not be checked: no operator, no cards, or a motion too quick to observe."""


def evidence_text(seen: Any) -> str:
    """Return observed values as text for the report. Cards are never shown."""
    if isinstance(seen, list | tuple):
        return ", ".join(map(evidence_text, seen)) or "nothing"
    if isinstance(seen, Message) and seen.carries_cards:
        return f"{type(seen).__name__} (names cards)"
    return seen if isinstance(seen, str) else repr(seen)


def expect(met: bool, expected: str, seen: Any) -> None:
    """Raise Failed unless `met`."""
    if not met:
        raise RequirementFailed(expected, evidence_text(seen))


def preparation(prepare: Preparation) -> Preparation:
    """Turn a failed preparation into NotChecked: the failure itself has its own requirement."""

    @wraps(prepare)
    async def prepared(bench: ConformanceBench) -> None:
        try:
            await prepare(bench)
        except RequirementFailed as failed:
            raise NotChecked(f"the machine could not be prepared: {failed}") from failed

    return prepared


@dataclass(frozen=True)
class SwitchCommands:
    """Two commands that an idle machine does at once and that undo each other, and how its status shows which is on."""

    on: Callable[[int], Message]
    off: Callable[[int], Message]
    is_on: Callable[[Any], bool]  # from the answer to the profile's question


@dataclass(frozen=True)
class KindProfile:
    """What the requirements on every machine need of a kind. None for what a kind lacks.

    Every kind has a self-test and a reset, so that no requirement on commands is left out for any kind.
    """

    question: Message  # requests the machine's inventory; has no effect
    answer: type[Message]
    questions: tuple[tuple[Message, tuple[type[Message], ...]], ...]  # every request, and its possible answers
    bring_to_idle: Callable[
        [ConformanceBench], Awaitable[None]
    ]  # brings the machine to its idle state, or raises NotChecked
    self_test: Callable[[int], Message]  # accepted by an idle machine, ends by itself as DONE; refused while one runs
    reset: Callable[[int], Message]  # never refused, done at once: the machine restarts
    switch: SwitchCommands | None = None
    refused: Callable[[int], Message] | None = None  # refused by an idle machine
    stop: Callable[[int], Message] | None = None  # ends all motion; sent when the kit itself is interrupted


@dataclass(frozen=True)
class Requirement:
    """One requirement, from a `section` of a `page`. `needs` lists requirements that must pass first."""

    id: str
    sentence: str
    page: str
    section: str
    check: Check
    needs: tuple[str, ...] = ()
    needs_operator: bool = False  # needs an operator
    limit: float = CHECK_LIMIT_S
    capability: str = ""  # applies only to devices with this capability, or with all of several
    without: str = ""  # does not apply to devices with this capability

    @property
    def source(self) -> str:
        """Its page and section."""
        return f"{self.page}, {self.section}"

    def why_not_applicable(self, capabilities: list[str]) -> str:
        """Return why it does not apply to a device with these capabilities; empty if it applies."""
        for needed in self.capability.split():
            if needed not in capabilities:
                return f"its hello does not list the capability {needed}"
        if self.without and self.without in capabilities:
            return f"its hello lists the capability {self.without}"
        return ""


def _in_session(at: Preparation, check: Check) -> Check:
    """Return a check that first brings the machine to a state and opens a session."""

    @wraps(check)
    async def checked(bench: ConformanceBench) -> None:
        await at(bench)
        async with bench.session() as visit:
            await check(bench, visit)

    return checked


class Chapter:
    """Requirements whose ids begin with the same letters."""

    def __init__(self, letters: str, title: str, page: str, needs: tuple[str, ...] = ()) -> None:
        self.letters = letters
        self.title = title
        self._by_id: dict[str, Requirement] = {}
        self._page = page
        self._needs = needs

    @property
    def requirements(self) -> list[Requirement]:
        """All requirements by id, which is the order of checking."""
        return [self._by_id[name] for name in sorted(self._by_id)]

    def requirement(
        self,
        number: int,
        section: str,
        *,
        needs: tuple[str, ...] = (),
        needs_operator: bool = False,
        capability: str = "",
        without: str = "",
        page: str = "",
        at: Preparation | None = None,
    ) -> Callable[[Check], Check]:
        """Register a check; the first line of its docstring is the requirement, from a section of the chapter's page.

        `at` brings the machine to the state in which the check begins; the check then also gets a session. Numbers are
        permanent: the number of a dropped requirement stays unused.
        """
        name = f"{self.letters}-{number:02d}"
        assert name not in self._by_id, name

        def register(check: Check) -> Check:
            sentence = (check.__doc__ or "").partition("\n")[0]
            assert sentence, f"{name} has no docstring"
            expected = (*self._needs, *needs)
            self._by_id[name] = Requirement(
                name,
                sentence,
                page or self._page,
                section,
                check if at is None else _in_session(at, check),
                expected,
                needs_operator,
                CHECK_LIMIT_S,
                capability,
                without,
            )
            return check

        return register


_HERE: Final = "devices.conformance"
PROTOCOL_CHAPTERS: Final = (
    "handshake",
    "framing",
    "sealing",
    "receiving",
    "retransmission",
    "heartbeat",
    "payloads",
    "commands",
)


def protocol_chapters() -> list[Chapter]:
    """Return the chapters for every machine."""
    return [import_module(f"{_HERE}.protocol.{name}").CHAPTER for name in PROTOCOL_CHAPTERS]


def kind_chapter(kind: str) -> tuple[KindProfile, Chapter]:
    """Return profile and chapter of one kind; ConfigurationError if there are none."""
    known = kinds_with_requirements()
    if kind not in known:
        raise ConfigurationError(
            f"there are no conformance requirements on a {kind!r}; there are on {', '.join(known)}"
        )
    module = import_module(f"{_HERE}.kinds.{kind}")
    return module.PROFILE, module.CHAPTER


def kinds_with_requirements() -> list[str]:
    """Return the kinds of machine that have requirements."""
    return [kind for kind in KINDS if find_spec(f"{_HERE}.kinds.{kind}") is not None]


def requirements_of(kind: str) -> list[Requirement]:
    """Return every requirement on one kind of machine, in the order of checking."""
    _, own = kind_chapter(kind)
    return [result for chapter in (*protocol_chapters(), own) for result in chapter.requirements]


def model_profile(kind: str, capabilities: list[str]) -> KindProfile:
    """Return the profile of a model: its kind's, or the one in MODELS for a capability that it has."""
    profile, _ = kind_chapter(kind)
    models: dict[str, KindProfile] = getattr(import_module(f"{_HERE}.kinds.{kind}"), "MODELS", {})
    return next((result for capability, result in models.items() if capability in capabilities), profile)


def select_requirements(requirements: list[Requirement], only: list[str]) -> list[Requirement]:
    """Return the requirements selected by id (LK-07) or chapter (LK); all if none is selected."""
    if not only:
        return requirements
    expected = [word.upper() for word in only]
    for word in expected:
        if not any(word in (result.id, result.id.partition("-")[0]) for result in requirements):
            raise ConfigurationError(f"there is no requirement {word} on this kind of machine; --list shows them all")
    return [result for result in requirements if result.id in expected or result.id.partition("-")[0] in expected]
