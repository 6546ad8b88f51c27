"""Journals what happens to credentials: who changed one, what was edited by hand, and how many wrong PINs were tried.

A change waits in the people file, in the same file as its result, until the journal has it. What differs from the
journal's roll without such a change was edited by hand, and is a finding.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

from firmware_bridge.errors import BadPeopleFile, TryLater
from table_controller import people
from table_controller.journal import records as rec
from table_controller.journal.roll import describe, differences, listing
from table_controller.people import ROLES
from table_controller.table import events as ev

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from firmware_bridge.errors import CredentialRefused
    from table_controller.controller.loop import Controller
    from table_controller.controller.plan import People
    from table_controller.people import Change, PeopleFile

log = logging.getLogger(__name__)

# The people file is compared with the journal so often (s), and at every sign-on.
COMPARE_EVERY: Final = 5.0
# Wrong PINs after the first are counted for so long (s) before the journal has their number.
COUNTED_FOR: Final = 60.0
# Whoever waits for a disk looks so often (s) whether the journal has failed meanwhile.
_PATIENCE: Final = 0.25
# A note names so many credentials and places, and counts the others.
_NAMED: Final = 8
_UNKNOWN: Final = "ids that nobody has"


class CredentialLog:
    """The credentials of one start. `aside` does slow work while the table goes on."""

    def __init__(self, source: People, controller: Controller, aside: Callable[[Callable[[], None]], Any]) -> None:
        self._source = source
        self._controller = controller
        self._aside = aside
        self._seen: PeopleFile | None = None
        self._unreadable = ""
        self._waiting = 0  # notes that are not on disk
        self._on_disk = asyncio.Event()
        self._on_disk.set()
        self._recorded: set[str] = set()  # changes that are still in the file
        self.pins = WrongPins(controller, self._known)

    # --- changes ------------------------------------------------------------------------------------------------------

    def compare(self) -> None:
        """Record what the people file says and the journal does not know: changes in their order, then differences."""
        if self._source.path is None:
            return
        try:
            found = self._source.read()
        except BadPeopleFile as error:
            self._cannot_read(error)
            return
        if found is self._seen:
            return
        self._seen, self._unreadable = found, ""
        is_first = self._controller.roll.known is None
        self._record(found.changes)
        self._differences(found, is_first=is_first)

    def _cannot_read(self, error: BadPeopleFile) -> None:
        """Record once that a file that the journal knew cannot be read; nobody signs on with it."""
        if str(error) != self._unreadable and self._controller.roll.known:
            self._note(rec.Note("people_edited", f"the people file cannot be read: {error}"))
        self._seen, self._unreadable = None, str(error)

    def _record(self, changes: Sequence[Change]) -> None:
        tokens = [change.token for change in changes]
        last = self._controller.roll.change
        new = changes[tokens.index(last) + 1 :] if last in tokens else changes
        self._recorded.update(tokens)
        for is_refused, some in groupby(new, lambda change: change.what == "pin_refused"):
            for note in [_refused_note(list(some))] if is_refused else map(_change_note, some):
                self._note(note)

    def _differences(self, found: PeopleFile, *, is_first: bool) -> None:
        known = self._controller.roll.known or {}
        changed = differences(known, found.listed)
        if not changed and not is_first:
            return
        if is_first:
            rest = {key: one for key, one in found.listed.items() if key in changed}
            if rest or self._controller.roll.known is None:
                self._note(rec.Note("people", f"the people file listed before: {listing(rest)}", listed=dict(rest)))
            return
        text = f"the people file was edited by hand: {describe(known, changed)}"
        log.error("%s", text)
        self._note(rec.Note("people_edited", text, listed=changed))

    def _note(self, note: rec.Note) -> None:
        self._waiting += 1
        self._on_disk.clear()
        self._controller.note(note, self._durable)

    def _durable(self) -> None:
        self._waiting -= 1
        if not self._waiting:
            self._on_disk.set()

    async def settle(self) -> None:
        """Compare, wait until the journal has it, and remove from the file the changes that it has."""
        self.compare()
        while not self._on_disk.is_set():
            if self._controller.halted is not None:
                return  # the next start records them
            try:
                async with asyncio.timeout(_PATIENCE):
                    await self._on_disk.wait()
            except TimeoutError:
                continue
        path, tokens = self._source.path, sorted(self._recorded)
        if path is None or not tokens:
            return
        try:
            await self._aside(lambda: people.drop_changes(path, tokens))
            self._recorded.difference_update(tokens)
        except BadPeopleFile as error:
            log.warning("changes that the journal has stay in the people file: %s", error)
        self.compare()

    async def watch(self) -> None:
        """Do so now and then, until cancelled."""
        while True:
            await self.settle()
            await asyncio.sleep(COMPARE_EVERY)

    def _known(self, id_: str) -> str:
        """Return an id as the file writes it; empty if nobody has it."""
        found = None if self._seen is None else self._seen.people.get(id_.casefold())
        return "" if found is None else found.id


def _change_note(change: Change) -> rec.Note:
    assert change.listed is not None
    one = change.listed
    own = "" if one.person == one.id else f" of person {one.person}"
    text = {
        "added": f"{one.id} was added as {one.role}{own}",
        "pin_changed": f"{one.id} ({one.role}) has another PIN",
        "revoked": f"{one.id} ({one.role}) was revoked",
    }[change.what]
    who = None
    if change.by and change.by_role in ROLES:
        who = ev.Person(change.by_role, change.by)  # type: ignore[arg-type]
    else:
        text += " by nobody who signed on"
    user = f" by the system's user {change.user}" if change.user else ""
    return rec.Note(
        "people", f"{text}; entered {change.at}{user}", who=who, listed={one.id.casefold(): one}, change=change.token
    )  # fmt: skip


def _refused_note(refused: Sequence[Change]) -> rec.Note:
    tries = Counter[str]()
    for change in refused:
        tries[change.listed.id if change.listed is not None else ""] += change.times
    places = dict.fromkeys(f"a command of the system's user {change.user}" for change in refused)
    return rec.Note("wrong_pins", _wrong_text(tries, 0, list(places)), change=refused[-1].token)


# --- wrong PINs -------------------------------------------------------------------------------------------------------


class WrongPins:
    """Wrong PINs at every way in: the first is journaled at once, those that follow as one number a minute.

    An id that nobody has is counted and not written down: people type a PIN in its place now and then.
    """

    def __init__(self, controller: Controller, known: Callable[[str], str]) -> None:
        self._controller = controller
        self._known = known
        self._tries = Counter[str]()
        self._early = 0
        self._places: dict[str, None] = {}
        self._timer: asyncio.TimerHandle | None = None

    def refused(self, id_: str, place: str, why: CredentialRefused) -> None:
        """Take one try that was refused."""
        if isinstance(why, TryLater):
            self._early += 1
            return
        self._tries[self._known(id_)] += 1
        if len(self._places) <= _NAMED:
            self._places[place] = None
        if self._timer is None:
            self._flush()
            self._timer = asyncio.get_running_loop().call_later(COUNTED_FOR, self._due)

    def proved(self, id_: str) -> None:
        """Somebody signed on: what was counted for that credential before is journaled first."""
        if self._tries.get(self._known(id_)):
            self._flush()

    def _due(self) -> None:
        self._timer = None
        if self._tries:
            self._flush()
            self._timer = asyncio.get_running_loop().call_later(COUNTED_FOR, self._due)
        self._early = 0

    def _flush(self) -> None:
        if self._tries:
            text = _wrong_text(self._tries, self._early, list(self._places))
            self._controller.note(rec.Note("wrong_pins", text))
        self._tries, self._early, self._places = Counter[str](), 0, {}

    def close(self) -> None:
        """Journal what was counted, and count no more."""
        self._flush()
        self.cancel()

    def cancel(self) -> None:
        """Count no more."""
        if self._timer is not None:
            self._timer.cancel()


def _wrong_text(tries: Counter[str], early: int, places: Sequence[str]) -> str:
    total = tries.total()
    of = [f"{count} for {id_ or _UNKNOWN}" for id_, count in tries.most_common()]
    more = f" and {len(of) - _NAMED} more credentials" if len(of) > _NAMED else ""
    where = ", ".join(places[:_NAMED]) + (" and others" if len(places) > _NAMED else "")
    waiting = f"; {early} more tries came before their wait was over" if early else ""
    return f"{total} wrong PIN{'s' * (total > 1)} ({', '.join(of[:_NAMED])}{more}), from {where}{waiting}"
