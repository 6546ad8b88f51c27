"""Records in the journal every change of credentials, every manual edit of the people file, and wrong PINs.

The people file keeps each change until the journal has it. A difference from the credentials that the journal knows,
without such a change, is a manual edit, and a finding.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from contextlib import suppress
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

from firmware_bridge.errors import BadPeopleFile, TryLater
from table_controller.access import people_file
from table_controller.access.people_file import ROLES
from table_controller.journal import records as rec
from table_controller.journal.credential_roster import describe, differences, format_entries
from table_controller.table import events as ev

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from firmware_bridge.errors import CredentialRefused
    from table_controller.access.people_file import CredentialChange, PeopleFile
    from table_controller.controller.controller import Controller
    from table_controller.controller.plan import PeopleSource

log = logging.getLogger(__name__)

# How often the people file is compared with the journal (s), in addition to every sign-on.
COMPARE_EVERY_S: Final = 5.0
# Wrong PINs after the first are counted for this time (s) and then recorded as one number.
COUNT_WINDOW_S: Final = 60.0
# How often a coroutine that waits for the disk checks whether the journal has failed (s).
_PATIENCE: Final = 0.25
# A note names this many credentials and places, and counts the others.
_NAMED: Final = 8
_UNKNOWN: Final = "unknown ids"


class CredentialLog:
    """The credentials of one start. `run_in_thread` runs slow work in a thread."""

    def __init__(
        self, source: PeopleSource, controller: Controller, run_in_thread: Callable[[Callable[[], None]], Any]
    ) -> None:
        self._source = source
        self._controller = controller
        self._aside = run_in_thread
        self._seen: PeopleFile | None = None
        self._unreadable = ""
        self._waiting = 0  # notes that are not on disk yet
        self._on_disk = asyncio.Event()
        self._on_disk.set()
        self._recorded: set[str] = set()  # changes that are still in the file
        self.pins = WrongPins(controller, self._known)

    # --- changes ------------------------------------------------------------------------------------------------------

    def compare(self) -> None:
        """Record what the people file has and the journal does not: changes in their order, then manual edits."""
        if self._source.path is None:
            return
        try:
            file = self._source.read()
        except BadPeopleFile as error:
            self._cannot_read(error)
            return
        if file is self._seen:
            return
        self._seen, self._unreadable = file, ""
        is_first = self._controller.credential_roster.known is None
        self._record(file.changes)
        self._differences(file, is_first=is_first)

    def _cannot_read(self, error: BadPeopleFile) -> None:
        """Record once that the people file cannot be read, so that nobody can sign on."""
        if str(error) != self._unreadable and self._controller.credential_roster.known:
            self._note(rec.Note("people_edited", f"the people file cannot be read: {error}"))
        self._seen, self._unreadable = None, str(error)

    def _record(self, changes: Sequence[CredentialChange]) -> None:
        tokens = [change.token for change in changes]
        last = self._controller.credential_roster.change
        new = changes[tokens.index(last) + 1 :] if last in tokens else changes
        self._recorded.update(tokens)
        for is_refused, some in groupby(new, lambda change: change.what == "pin_refused"):
            for note in [_refused_note(list(some))] if is_refused else map(_change_note, some):
                self._note(note)

    def _differences(self, file: PeopleFile, *, is_first: bool) -> None:
        known = self._controller.credential_roster.known or {}
        changed = differences(known, file.listed)
        if not changed and not is_first:
            return
        if is_first:
            others = {key: one for key, one in file.listed.items() if key in changed}
            if others or self._controller.credential_roster.known is None:
                self._note(
                    rec.Note(
                        "people",
                        f"credentials in the people file before this journal: {format_entries(others)}",
                        listed=dict(others),
                    )
                )
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

    async def compare_and_drop(self) -> None:
        """Compare, wait until the journal has every change, and remove these changes from the file."""
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
            await self._aside(lambda: people_file.drop_changes(path, tokens))
            self._recorded.difference_update(tokens)
        except BadPeopleFile as error:
            log.warning("recorded changes cannot be removed from the people file: %s", error)
        self.compare()

    async def watch(self) -> None:
        """Do this regularly, until canceled."""
        while True:
            await self.compare_and_drop()
            await asyncio.sleep(COMPARE_EVERY_S)

    def _known(self, id_: str) -> str:
        """Return an id as written in the file; empty if nobody has it."""
        credential = None if self._seen is None else self._seen.people.get(id_.casefold())
        return "" if credential is None else credential.id


def _change_note(change: CredentialChange) -> rec.Note:
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
        text += "; nobody signed for it"
    user = f" by system user {change.user}" if change.user else ""
    return rec.Note(
        "people", f"{text}; entered {change.at}{user}", who=who, listed={one.id.casefold(): one}, change=change.token
    )  # fmt: skip


def _refused_note(refused: Sequence[CredentialChange]) -> rec.Note:
    tries = Counter[str]()
    for change in refused:
        tries[change.listed.id if change.listed is not None else ""] += change.times
    places = dict.fromkeys(
        f"{change.place} while the box was locked" if change.place else f"a command of system user {change.user}"
        for change in refused
    )
    return rec.Note("wrong_pins", _wrong_text(tries, 0, list(places)), change=refused[-1].token)


# --- wrong PINs -------------------------------------------------------------------------------------------------------


class WrongPins:
    """Wrong PINs of all sign-ons: the first is recorded at once, the following ones as one number a minute.

    An unknown id is counted and not recorded, because people sometimes type their PIN there.
    """

    def __init__(self, controller: Controller, known: Callable[[str], str]) -> None:
        self._controller = controller
        self._known = known
        self._tries = Counter[str]()
        self._early = 0
        self._places: dict[str, None] = {}
        self._timer: asyncio.TimerHandle | None = None

    def on_refused(self, id_: str, place: str, why: CredentialRefused) -> None:
        """Count a refused attempt."""
        if isinstance(why, TryLater):
            self._early += 1
            return
        self._tries[self._known(id_)] += 1
        if len(self._places) <= _NAMED:
            self._places[place] = None
        if self._timer is None:
            self._flush()
            self._timer = asyncio.get_running_loop().call_later(COUNT_WINDOW_S, self._due)

    def on_accepted(self, id_: str) -> None:
        """Before a sign-on is recorded, record the wrong PINs of that credential."""
        if self._tries.get(self._known(id_)):
            self._flush()

    def _due(self) -> None:
        self._timer = None
        if self._tries:
            self._flush()
            self._timer = asyncio.get_running_loop().call_later(COUNT_WINDOW_S, self._due)
        self._early = 0

    def _flush(self) -> None:
        if self._tries:
            text = _wrong_text(self._tries, self._early, list(self._places))
            self._controller.note(rec.Note("wrong_pins", text))
        self._tries, self._early, self._places = Counter[str](), 0, {}

    def close(self) -> None:
        """Record the counts and stop."""
        self._flush()
        self.cancel()

    def cancel(self) -> None:
        """Stop without recording."""
        if self._timer is not None:
            self._timer.cancel()


def keep_refused_pin(path: Path | None, id_: str, place: str) -> None:
    """Keep a wrong PIN at a box that cannot journal it; the next start that opens the journal records it."""
    if path is not None:
        with suppress(BadPeopleFile):  # a file that cannot be written: the log has the attempt
            people_file.record_refused_pin(path, id_, place=place)


def _wrong_text(tries: Counter[str], early: int, places: Sequence[str]) -> str:
    total = tries.total()
    of = [f"{count} for {id_ or _UNKNOWN}" for id_, count in tries.most_common()]
    more = f" and {len(of) - _NAMED} more credentials" if len(of) > _NAMED else ""
    where = ", ".join(places[:_NAMED]) + (" and others" if len(places) > _NAMED else "")
    waiting = f"; {early} more attempts came while the credential was blocked" if early else ""
    return f"{total} wrong PIN{'s' * (total > 1)} ({', '.join(of[:_NAMED])}{more}), from {where}{waiting}"
