"""A full table whose every step is checked: by the monitor, by a replica of the core, and by its ledgers.

The checks do not use the core's permits. A failed check is an AssertionError with the events so far.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec

from devices.service import ABSENT, CLEARED, FAULTED, IN_SERVICE, SIGNED, UNSIGNED, UNVERIFIED
from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from table_controller.table.core import Table
from table_controller.table.decisions import Command, Prompt, PromptClosed, RequestRefused, StateChanged
from tests.support.core.ideal_table import DEALER, FLOOR, TECH, IdealTable, signs_report
from tests.support.oracles.card_monitor import CardMonitor
from tests.support.oracles.table_monitor import TableMonitor

if TYPE_CHECKING:
    from collections.abc import Iterator

    from table_controller.rulebook.vocabulary import DeviceFact
    from table_controller.table.decisions import Decision

_ENCODER: Final = msgspec.msgpack.Encoder()
# Limit of events that ideal people need to the next complete round.
PATIENCE: Final = 600
_COMPLETE: Final = StateChanged("round", mc.COMPLETE)
# Decisions that may come with a refusal: an answered prompt that is asked again.
_WITH_REFUSAL: Final = (RequestRefused, Prompt, PromptClosed)


class JudgedTable(IdealTable):
    """A table with checks after every step."""

    def __init__(self, game: str, slots: dict[str, DeviceFact] | None = None, **choices: Any) -> None:
        super().__init__(game, slots, **choices)
        self.replica = self._fresh()
        self.cards = CardMonitor(self)
        self.monitor = TableMonitor.of(self.edition, self.table.context.meter)
        self.open: dict[int, str] = {}  # commands that have not ended, with their slots
        self.ended: dict[int, str] = {}
        self.locks: dict[int, str] = {}  # locks that were sent, with their slots
        self.last_id = 0

    def _fresh(self) -> Table:
        """Return a new table of the same kind."""
        fresh = Table(self.table.context.edition, self.table.context.submission, self.slots)
        fresh.context.reasons = self.table.context.reasons
        return fresh

    # --- judging ------------------------------------------------------------------------------------------------------

    def step(self, event: ev.Event) -> list[Decision]:
        """Submit one event; AssertionError if a check fails."""
        before, seen = self.table.snapshot(), self.cards.look()
        try:
            decisions = super().step(event)
            self.monitor.watch(event, decisions, self.state)
            self.cards.watch(seen, event, decisions)
            self._same_from(before, event, decisions)
            self._refusals(before, decisions)
            self._commands(event, decisions, before)
            self._question(event)
        except Exception as error:
            raise AssertionError(f"{error!r} at {event} after\n{self.story()}") from error
        return decisions

    def story(self) -> str:
        """Return the events so far, one per line."""
        lines = [f"  {event}" for event, _ in self.log]
        return "\n".join(line for at, line in enumerate(lines) if not at or line != lines[at - 1])

    def _same_from(self, before: bytes, event: ev.Event, decisions: list[Decision]) -> None:
        """Check that a table restored from the snapshot decides the same and ends in the same state, bit for bit."""
        self.replica.restore(before)
        assert self.replica.snapshot() == before, "a snapshot does not come back as it was"
        again = self.replica.step(event)
        assert _ENCODER.encode(again) == _ENCODER.encode(decisions), "restored, the table decides otherwise"
        assert self.replica.snapshot() == self.table.snapshot(), "restored, the table ends in another state"

    def _refusals(self, before: bytes, decisions: list[Decision]) -> None:
        """Check that a refusal changes nothing; at most a prompt is asked again."""
        refused = [d for d in decisions if isinstance(d, RequestRefused)]
        if refused and len(refused) == len(decisions):
            assert self.table.snapshot() == before, f"{refused} changed something"
        elif refused:
            assert all(isinstance(d, _WITH_REFUSAL) for d in decisions), f"refused, and yet: {decisions}"
        for refusal in refused:
            assert refusal.what
            assert all(r.clause and r.text and r.clears and r.evidence for r in refusal.reasons)

    def _commands(self, event: ev.Event, decisions: list[Decision], before: bytes) -> None:
        """Check that each command has its own id and one end; `unknown` is not an end."""
        if isinstance(event, ev.CommandEnded):
            if event.command not in self.open:
                assert not decisions, f"command {event.command} ended twice, or never was: {decisions}"
                assert self.table.snapshot() == before
            elif event.outcome == "unknown":
                assert self.state.commands[event.command].unknown
            else:
                self.ended[event.command] = event.outcome
                del self.open[event.command]
        for decision in decisions:
            if isinstance(decision, Command):
                # A lock that is not confirmed is sent again, unchanged, to a sensor that reconnects.
                again = decision.act == "lock" and self.locks.get(decision.id) == decision.slot
                self.locks |= {decision.id: decision.slot} if decision.act == "lock" else {}
                assert again or decision.id > self.last_id, "a command's id was used before"
                self.open[decision.id] = decision.slot
            if isinstance(decision, Command | Prompt):
                self.last_id = max(self.last_id, decision.id)
        given_up = [slot for slot in self.state.slots if self.state.slots[slot].state in (UNSIGNED, SIGNED)]
        self.open = {id_: slot for id_, slot in self.open.items() if slot not in given_up or id_ in self.state.commands}
        assert set(self.state.commands) == set(self.open), "a command was lost, or came back"

    def _question(self, event: ev.Event) -> None:
        """Check one of the open prompts, another one after each step, for answers of its role."""
        if self.state.prompts and not (isinstance(event, ev.Answer) and len(self.log) % 2):
            asked = list(self.state.prompts.values())
            self.answerable(asked[len(self.log) % len(asked)])

    def answerable(self, prompt: Prompt) -> None:
        """Check that the role of a prompt has an answer, and that each answer closes the prompt."""
        now = self.table.snapshot()
        closed = 0
        for answer in self.answers(prompt):
            self.replica.restore(now)
            decisions = self.replica.step(answer)
            closes = PromptClosed(prompt.id, answer.choice) in decisions
            assert closes or prompt.seats, f"{prompt} is not answered by {answer}: {decisions}"
            closed += closes
        assert closed, f"nobody can answer {prompt}"

    def answers(self, prompt: Prompt) -> Iterator[ev.Answer]:
        """Yield one answer of its role for each choice of a prompt."""
        for choice in prompt.choices:
            first = choice == prompt.choices[0]
            number = max(prompt.least, min(prompt.most, self._number(prompt))) if prompt.number and first else None
            seats = self._seats(prompt) if prompt.seats and first else ()
            yield ev.Answer(prompt.id, choice, self.person_for(prompt), number, seats)

    def check_end(self) -> None:
        """Check at the end that every prompt has an answer, and that a new table replays to the same state."""
        for prompt in self.prompts():
            self.answerable(prompt)
        fresh = self._fresh()
        for at, (event, decisions) in enumerate(self.log):
            again = fresh.step(event)
            assert _ENCODER.encode(again) == _ENCODER.encode(decisions), f"replayed, event {at} {event}: {again}"
        assert fresh.snapshot() == self.table.snapshot()

    # --- good play ----------------------------------------------------------------------------------------------------

    def ideal_events(self) -> list[ev.Event]:
        """Return what good people and working devices do next, in any state."""
        state = self.state
        for id_, issued in state.commands.items():
            if issued.unknown:
                return [ev.CommandEnded(id_, "failed")]
            return self.answer(Command(id_, issued.slot, issued.act, issued.number))
        for name, slot in state.slots.items():
            if slot.state not in (IN_SERVICE, FAULTED, CLEARED) or not state.holds:
                back = self._towards_service(name, slot.state)
                if back is not None:
                    return [back]
        if not self.table.context.is_meter_visible and (showing := signs_report(self.table)):
            return showing
        for prompt in state.prompts.values():
            return self.answer(prompt)
        return self._hands_do()

    def _towards_service(self, name: str, state: str) -> ev.Event | None:
        match state:
            case s if s == ABSENT:
                return ev.SlotChanged(name, "appear")
            case s if s == UNVERIFIED:
                return ev.SlotChanged(name, "verify")
            case s if s == FAULTED:
                return ev.SlotOrdered(name, "clear", TECH)
            case s if s == CLEARED:
                return (
                    None if self.table.permit("return_to_service", name) else ev.SlotOrdered(name, "acknowledge", FLOOR)
                )
            case s if s in (UNSIGNED, SIGNED) and not self.state.holds:
                return ev.SlotOrdered(name, "repair", TECH)
        return None

    def _hands_do(self) -> list[ev.Event]:
        """Return actions without a prompt: take a stack, roll dice, load the shuffler, open and close a round."""
        state, c = self.state, self.table.context
        round_ = state.round
        if round_.in_slot is not None and c.shoe is not None and c.is_round_under_way:
            return [ev.StackTaken(c.shoe)]
        if round_.state == mc.STARTING_POSITION and state.start == "shaker" and round_.total is None:
            return [ev.DiceRead("shaker.1", self.dice)]
        if state.progressive.state == mc.LOCKING and not state.progressive.overdue:
            return [ev.Due("lock")]
        if round_.state == mc.BETTING:
            return [ev.NoMoreBets(DEALER)]
        self._hands()
        if self._queue:
            return [self._queue.popleft()]
        return self._renewed() if round_.state == mc.IDLE else []

    def _renewed(self) -> list[ev.Event]:
        """Return actions between rounds: restore methods, replace decks, open a round."""
        state, c = self.state, self.table.context
        reasons = self.reasons_against_opening()
        if state.shuffling == "hand" and c.submission.shuffler != "none" and not c.reasons_against("use", c.shuffler):
            return [ev.Ordered("shuffle_by_machine", FLOOR)]
        if state.dealing != c.submission.dealing:
            return [ev.Ordered("dealing_method", FLOOR, method=c.submission.dealing)]
        if state.start != c.submission.start:
            return [ev.Ordered("start_method", FLOOR, method=c.submission.start)]
        for deck in c.decks_at_table():
            if c.is_expired(deck) or not deck.verified:
                return [ev.Ordered("remove_deck", FLOOR, deck=deck.name)]
        missing = [name for name in ("blue", "red")[: 2 if c.submission.two_decks else 1] if not self._here(name)]
        if missing and len(c.decks_at_table()) < (2 if c.submission.two_decks else 1):
            return [ev.DeckReceived(missing[0], DEALER)]
        if "deck_used_last" in reasons:  # it is in the place of the other deck
            return [ev.Ordered("reshuffle", FLOOR, deck=state.last_deck)]
        return [ev.OpenRound(DEALER)]

    def _here(self, deck: str) -> bool:
        return deck in self.state.decks and self.state.decks[deck].state != mc.REMOVED

    def play_events(self, events: int) -> None:
        """Play so many events of good people and working devices."""
        for _ in range(events):
            for event in self.ideal_events():
                self.step(event)

    def play_to_complete_round(self) -> None:
        """Bring the table to a complete round with good people and working devices."""
        for _ in range(PATIENCE):
            todo = self.ideal_events()
            assert todo, f"nobody knows what to do:\n{self.obstacles_text()}\n{self.story()}"
            for event in todo:
                if _COMPLETE in self.step(event):
                    return
        raise AssertionError(f"no round is completed:\n{self.obstacles_text()}\n{self.story()}")

    def obstacles_text(self) -> str:
        """Return what blocks the table."""
        return (
            f"{self.phase}: {self.reasons_against_opening()}\n{self.prompts()}\n{self.state.holds}\n{self.state.decks}"
        )
