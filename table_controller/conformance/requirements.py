"""What a requirement is, how a check says no, and what the kit must know of a kind. No requirement is written here."""

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

    from table_controller.conformance.bench import Bench

    Check = Callable[[Bench], Awaitable[None]]

# A whole check may take this long (s), hands not counted; the waits inside have shorter deadlines of their own.
LIMIT: Final = 900.0


class Verdict(StrEnum):
    """What became of one requirement. Only a check that ran to its end can be a pass."""

    PASS = "pass"  # noqa: S105 - no password
    FAIL = "fail"
    NOT_CHECKED = "not checked"
    SKIPPED = "skipped"
    NOT_APPLICABLE = "not applicable"


class Failed(Exception):
    """The device does not do what a requirement asks."""

    def __init__(self, expected: str, seen: str) -> None:
        super().__init__(f"expected {expected}; seen: {seen}")
        self.expected = expected
        self.seen = seen


class NotChecked(Exception):
    """A requirement could not be checked here: no hands, no cards, a motion too quick to be seen."""


def shown(seen: Any) -> str:
    """Return what was seen as evidence. Cards are never shown."""
    if isinstance(seen, list | tuple):
        return ", ".join(map(shown, seen)) or "nothing"
    if isinstance(seen, Message) and seen.carries_cards:
        return f"{type(seen).__name__} (names cards)"
    return seen if isinstance(seen, str) else repr(seen)


def expect(met: bool, expected: str, seen: Any) -> None:
    """Fail unless something is as it must be."""
    if not met:
        raise Failed(expected, shown(seen))


def preparing(prepare: Check) -> Check:
    """Make a preparation that does not succeed leave the requirement unchecked: what went wrong has one of its own."""

    @wraps(prepare)
    async def prepared(bench: Bench) -> None:
        try:
            await prepare(bench)
        except Failed as failed:
            raise NotChecked(f"the machine could not be prepared: {failed}") from failed

    return prepared


@dataclass(frozen=True)
class Switch:
    """Two commands that a resting machine does at once and that undo each other, and how its state tells which."""

    on: Callable[[int], Message]
    off: Callable[[int], Message]
    is_on: Callable[[Any], bool]  # of the answer to the profile's question


@dataclass(frozen=True)
class Profile:
    """What the requirements of every machine must know of a kind. What a kind does not have is None.

    Every kind has a self-test and a reset, so that no requirement on commands is left out for any kind.
    """

    question: Message  # harmless, answered from memory: the machine's inventory
    answer: type[Message]
    questions: tuple[tuple[Message, tuple[type[Message], ...]], ...]  # every question, and what may answer it
    rest: Callable[[Bench], Awaitable[None]]  # bring the machine to rest, or raise NotChecked
    self_test: Callable[[int], Message]  # accepted by a resting machine, ends by itself as DONE; refused while one runs
    reset: Callable[[int], Message]  # never refused, done at once: the machine restarts
    switch: Switch | None = None
    refused: Callable[[int], Message] | None = None  # refused by a resting machine
    stop: Callable[[int], Message] | None = None  # ends all motion; sent when the kit itself is interrupted


@dataclass(frozen=True)
class Requirement:
    """One requirement. `see` is the page and section that it comes from, `needs` what must hold to check it at all."""

    id: str
    sentence: str
    page: str
    section: str
    check: Check
    needs: tuple[str, ...] = ()
    hands: bool = False  # something that only hands can do belongs to it
    limit: float = LIMIT
    capability: str = ""  # asked only of devices whose hello names it
    without: str = ""  # not asked of devices whose hello names it

    @property
    def see(self) -> str:
        """Where it is written."""
        return f"{self.page}, {self.section}"

    def not_applicable(self, capabilities: list[str]) -> str:
        """Return why it is not asked of a device with these capabilities; empty if it is asked."""
        if self.capability and self.capability not in capabilities:
            return f"its hello does not name the capability {self.capability}"
        if self.without and self.without in capabilities:
            return f"its hello names the capability {self.without}"
        return ""


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
        """All of them, by id: which is the order in which they are checked."""
        return [self._by_id[name] for name in sorted(self._by_id)]

    def requirement(
        self,
        number: int,
        section: str,
        *,
        needs: tuple[str, ...] = (),
        hands: bool = False,
        capability: str = "",
        without: str = "",
        page: str = "",
    ) -> Callable[[Check], Check]:
        """Register a check whose first line of documentation is the requirement, from a section of the chapter's page.

        Its number is for ever: a requirement that is dropped leaves its number unused.
        """
        name = f"{self.letters}-{number:02d}"
        assert name not in self._by_id, name

        def register(check: Check) -> Check:
            sentence = (check.__doc__ or "").partition("\n")[0]
            assert sentence, f"{name} says nothing"
            expected = (*self._needs, *needs)
            self._by_id[name] = Requirement(
                name, sentence, page or self._page, section, check, expected, hands, LIMIT, capability, without
            )
            return check

        return register


_HERE: Final = "table_controller.conformance"
PROTOCOL: Final = ("handshake", "framing", "sealing", "receiving", "sending", "heartbeat", "payloads", "commands")


def protocol_chapters() -> list[Chapter]:
    """Return what is asked of every machine."""
    return [import_module(f"{_HERE}.protocol.{name}").CHAPTER for name in PROTOCOL]


def kind_chapter(kind: str) -> tuple[Profile, Chapter]:
    """Return what is asked of one kind; ConfigurationError while nobody has written it."""
    known = kinds_with_requirements()
    if kind not in known:
        raise ConfigurationError(
            f"there are no conformance requirements on a {kind!r}; there are on {', '.join(known)}"
        )
    module = import_module(f"{_HERE}.kinds.{kind}")
    return module.PROFILE, module.CHAPTER


def kinds_with_requirements() -> list[str]:
    """Return the kinds of machine that requirements are written for."""
    return [kind for kind in KINDS if find_spec(f"{_HERE}.kinds.{kind}") is not None]


def requirements_of(kind: str) -> list[Requirement]:
    """Return every requirement on one kind of machine, in the order in which they are checked."""
    _, own = kind_chapter(kind)
    return [result for chapter in (*protocol_chapters(), own) for result in chapter.requirements]


def model_profile(kind: str, capabilities: list[str]) -> Profile:
    """Return how a model is handled: as its kind is, or as the module's MODELS say of a capability that it names."""
    profile, _ = kind_chapter(kind)
    models: dict[str, Profile] = getattr(import_module(f"{_HERE}.kinds.{kind}"), "MODELS", {})
    return next((result for capability, result in models.items() if capability in capabilities), profile)


def able(requirements: list[Requirement], capabilities: list[str]) -> list[Requirement]:
    """Return those that are asked of a device with these capabilities."""
    return [result for result in requirements if not result.not_applicable(capabilities)]


def chosen(requirements: list[Requirement], only: list[str]) -> list[Requirement]:
    """Return those that were asked for by id (LK-07) or by chapter (LK); all of them if nothing was."""
    if not only:
        return requirements
    expected = [word.upper() for word in only]
    for word in expected:
        if not any(word in (result.id, result.id.partition("-")[0]) for result in requirements):
            raise ConfigurationError(f"there is no requirement {word} on this kind of machine; --list shows them all")
    return [result for result in requirements if result.id in expected or result.id.partition("-")[0] in expected]
