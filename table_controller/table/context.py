"""What one step reads and writes: a view of the table, and the decisions that the step collects."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from table_controller.table import state_machines as mc
from table_controller.table.decisions import (
    Command,
    Deadline,
    Finding,
    Prompt,
    PromptClosed,
    RequestRefused,
    StateChanged,
)
from table_controller.table.permits import REASONS, Resource, applying_reasons
from table_controller.table.state import IssuedCommand
from table_controller.table.view import TableView

if TYPE_CHECKING:
    from table_controller.rulebook import Edition, Submission
    from table_controller.rulebook.settlement.dealt_round import DealtRound
    from table_controller.table.decisions import (
        Actuation,
        DealtCards,
        Decision,
        DenialReason,
        FailSafe,
        Order,
        Proposal,
    )
    from table_controller.table.permits import ReasonRow
    from table_controller.table.state import Deck, TableState


class Context(TableView):
    """A table view plus the decisions of the current step, collected in order in `out`."""

    def __init__(self, edition: Edition, submission: Submission, state: TableState) -> None:
        super().__init__(edition, submission, state)
        self.out: list[Decision] = []
        self.needed_prompts: set[int] = set()  # ids of the prompts that this pass found necessary
        self.reasons = REASONS
        self._of: tuple[ReasonRow, ...] = ()
        self._rows: dict[str, tuple[ReasonRow, ...]] = {}
        # The last known round that was found possible, and whether it was void; only so that it is checked once.
        self.possible_round: tuple[DealtRound, bool] | None = None

    def reasons_against(
        self,
        act: Actuation | Order,
        slot: str | None = None,
        deck: str | None = None,
        *,
        seat: int | None = None,
        cards: int = 0,
    ) -> tuple[DenialReason, ...]:
        """Return every reason why an act is not permitted now."""
        return applying_reasons(self, Resource(slot, deck, seat, cards), self._rows_of(act))

    def is_blocked(
        self, act: Actuation | Order, slot: str | None, deck: str | None, cards: int = 0, seat: int | None = None
    ) -> bool:
        """Return whether any reason blocks an act, without building the reasons."""
        resource = Resource(slot, deck, seat, cards)
        for row in self._rows_of(act):  # noqa: SIM110 - asked several times in a step: a generator would cost as much again
            if row.applies(self, resource):
                return True
        return False

    def has_reason(self, key: str, act: Actuation | Order, deck: str) -> bool:
        """Return whether one given reason blocks an act on a deck."""
        resource = Resource(None, deck)
        for row in self._rows_of(act):
            if row.key == key:
                return row.applies(self, resource)
        return False

    def _rows_of(self, act: str) -> tuple[ReasonRow, ...]:
        """Return the rows that can block an act; cached."""
        if self._of is not self.reasons:
            self._of, self._rows = self.reasons, {}
        rows = self._rows.get(act)
        if rows is None:
            rows = self._rows[act] = tuple(row for row in self.reasons if act in row.acts)
        return rows

    # --- deciding ----------------------------------------------------------------------------------------------------

    def fresh_id(self) -> int:
        """Return an id that no prompt, hold or command had before."""
        self.state.next_id += 1
        return self.state.next_id - 1

    def fire_round(self, trigger: str) -> None:
        """Fire a trigger of the round."""
        mc.fire(mc.ROUND, self.state.round, trigger)
        self.out.append(StateChanged("round", self.state.round.state))

    def fire_deck(self, deck: Deck, trigger: str) -> None:
        """Fire a trigger of a deck."""
        mc.fire(mc.DECK, deck, trigger)
        self.out.append(StateChanged(f"deck {deck.name}", deck.state))

    def fire_progressive(self, trigger: str) -> None:
        """Fire a trigger of the progressive."""
        mc.fire(mc.PROGRESSIVE, self.state.progressive, trigger)
        self.out.append(StateChanged("progressive", self.state.progressive.state))

    def fire_slot(self, slot: str, trigger: str) -> None:
        """Fire a trigger of a slot's service state."""
        before = self.state.slots[slot].state
        mc.fire(mc.SERVICE, self.state.slots[slot], trigger)
        if self.state.slots[slot].state != before:
            self.out.append(StateChanged(f"slot {slot}", self.state.slots[slot].state))

    def ask(
        self,
        kind: str,
        role: str,
        *choices: str,
        clauses: tuple[str, ...] = (),
        slot: str | None = None,
        deck: str | None = None,
        seat: int | None = None,
        number: bool = False,
        seats: bool = False,
        hold: int | None = None,
        least: int = 0,
        most: int = 9999,
        evidence: tuple[str, ...] = (),
        proposals: tuple[Proposal, ...] = (),
        shows: str = "",
    ) -> None:
        """Ask a person. A prompt that is open already stays open while each pass asks for it again."""
        choices = choices or ("done",)
        for old in self.state.prompts.values():
            if old.kind == kind and old.hold == hold and old.deck == deck and old.seat == seat and old.slot == slot:
                same = old.choices == choices and old.number == number and old.most == most
                if same and (old.proposals, old.shows) == (proposals, shows):
                    self.needed_prompts.add(old.id)
                    return
                self.close_prompt(old)  # the same question now has other answers
                break
        id_ = self.fresh_id()
        prompt = Prompt(
            id_, kind, role, choices, clauses, slot, deck, seat, number, seats, hold, least, most, evidence, proposals,
            shows,
        )  # fmt: skip
        self.state.prompts[id_] = prompt
        self.needed_prompts.add(id_)
        self.out.append(prompt)

    def close_prompt(self, prompt: Prompt, choice: str | None = None) -> None:
        """Close a prompt that is answered or no longer needed."""
        del self.state.prompts[prompt.id]
        self.out.append(PromptClosed(prompt.id, choice))

    def close_unneeded_prompts(self) -> None:
        """Close every prompt that no pass of this step asked for again."""
        if not self.state.prompts.keys() <= self.needed_prompts:
            for prompt in [p for p in self.state.prompts.values() if p.id not in self.needed_prompts]:
                self.close_prompt(prompt)

    def issue_command(self, act: Actuation | FailSafe, slot: str, *, deck: str | None = None, number: int = 0,
                safe: bool = False, dealt: DealtCards | msgspec.UnsetType = msgspec.UNSET) -> int:  # fmt: skip
        """Issue a command to a device. The caller has checked the permit, or the command is fail-safe."""
        id_ = self.fresh_id()
        self.state.commands[id_] = IssuedCommand(slot, act, number, deck)
        self.out.append(Command(id_, slot, act, number, safe, dealt))
        return id_

    def try_issue_command(self, act: Actuation, slot: str, *, deck: str | None = None, number: int = 0) -> bool:
        """Issue a command if it is permitted; return whether it was."""
        if self.is_blocked(act, slot, deck, number):
            return False
        self.issue_command(act, slot, deck=deck, number=number)
        return True

    def refuse(self, what: str, *reasons: DenialReason) -> None:
        """Record that a request was refused, and why."""
        self.out.append(RequestRefused(what, reasons))

    def set_timer(self, name: str, seconds: float | None) -> None:
        """Set a timer that sends `Due(name)` after so many seconds; None cancels it."""
        self.out.append(Deadline(name, seconds))

    def record_finding(self, kind: str, text: str, deck: str | None = None, rounds: tuple[int, ...] = ()) -> None:
        """Record a fact that people must be able to look up later."""
        self.out.append(Finding(kind, text, deck, rounds))
