"""One table as the core's functions see it: edition, choices, state, and the decisions of the step that runs. No rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from devices.service import IN_SERVICE, SIGNED
from table_controller.rulebook import Facts
from table_controller.table import machines as mc
from table_controller.table.decisions import (
    Command,
    Deadline,
    Decision,
    Finding,
    Moved,
    Prompt,
    PromptClosed,
    Refused,
)
from table_controller.table.duties import clause_of
from table_controller.table.permits import REASONS, Resource, permit

if TYPE_CHECKING:
    from table_controller.rulebook import Edition, Submission
    from table_controller.table.state import Deck, State

# Questions that may wait while a round opens: they concern the next deck, or nobody's cards.
HARMLESS: Final = ("opening", "hand_shuffle", "cut", "which_deck")


class Context:
    """Everything that a step reads and writes. `out` collects its decisions in their order."""

    def __init__(self, edition: Edition, submission: Submission, state: State) -> None:
        self.edition = edition
        self.submission = submission
        self.state = state
        self.out: list[Decision] = []
        self.reasons = REASONS
        self.harmless = HARMLESS
        self.everybody = edition.deal.to == "all_positions"

    # --- which device does what --------------------------------------------------------------------------------------

    def slot_of(self, kind: str) -> str | None:
        """Return the slot of the only device of a kind."""
        return next((name for name, slot in self.state.slots.items() if slot.kind == kind), None)

    @property
    def shuffler(self) -> str | None:
        """The shuffler's slot."""
        return self.slot_of("shuffler")

    @property
    def shoe(self) -> str | None:
        """The shoe's slot."""
        return self.slot_of("shoe")

    @property
    def sensors(self) -> list[str]:
        """The bet sensors' slots; the number in a name is the seat."""
        return [name for name, slot in self.state.slots.items() if slot.kind == "bet_sensor"]

    @property
    def start_slot(self) -> str | None:
        """The device that finds the starting position, if this game has one."""
        if not self.edition.starts:
            return None
        return self.slot_of({"shaker": "shaker", "rng": "rng", "flat_button": "button"}[self.state.start])

    @property
    def uses_shoe(self) -> bool:
        """Whether cards are dealt from a shoe that is a device."""
        return self.state.dealing in ("automated_shoe", "manual_shoe", "dealing_shoe")

    @property
    def progressive(self) -> bool:
        """Whether progressive bets are offered."""
        return "progressive" in self.submission.wagers and self.edition.progressive is not None

    @property
    def counting(self) -> bool:
        """Whether a shuffler that counts is in use: then its count stands for the stub's."""
        return self.state.shuffling == "machine" and self.submission.shuffler_counts

    @property
    def count_overdue(self) -> bool:
        """Whether so many rounds were dealt uncounted that the next may not begin."""
        stub = self.edition.stub
        if stub is None or stub.every_rounds in (None, 1) or (stub.only_without_counting_shuffler and self.counting):
            return False
        return self.state.uncounted >= (stub.every_rounds or 0)

    # --- decks -------------------------------------------------------------------------------------------------------

    def next_deck(self, *states: str) -> Deck | None:
        """Return the deck of the next round: ready, and not the one used last where two alternate."""
        ready = [deck for deck in self.state.decks.values() if deck.state in (states or (mc.READY,))]
        ready.sort(key=lambda deck: not self.in_place(deck.name))  # the one that is there already comes first
        alternate = self.edition.second_set is not None and len(self.decks_at_table()) > 1
        return next((deck for deck in ready if not alternate or deck.name != self.state.last_deck), None)

    def decks_at_table(self) -> list[Deck]:
        """Return the decks that were not removed."""
        return [deck for deck in self.state.decks.values() if deck.state != mc.REMOVED]

    def in_place(self, deck: str | None) -> bool:
        """Tell whether a deck is where the dealing method deals from."""
        if deck not in self.state.decks:
            return False
        place = self.state.decks[deck].place
        return place == (self.shoe if self.uses_shoe and self.shoe else "hands")

    # --- rules -------------------------------------------------------------------------------------------------------

    def facts(self, *, device: str | None, other_deck: bool, finding: str | None) -> Facts:
        """Return the facts that the rulebook's conditions may ask for."""
        counting = "counting" if self.counting else "not_counting"
        return Facts(
            dealing=self.state.dealing,  # type: ignore[arg-type]
            shuffler=counting if self.state.shuffling == "machine" else "none",  # type: ignore[arg-type]
            start=self.state.start or "fixed",  # type: ignore[arg-type]
            device=device,  # type: ignore[arg-type]
            deck="other" if other_deck else "in_play",
            finding=finding,  # type: ignore[arg-type]
        )

    def clause_of(self, duty: str) -> str:
        """Return the clause of a duty in this edition."""
        return clause_of(self.edition, duty, self.state.dealing, self.state.start)

    def reasons_against(self, act: str, **resource: object) -> tuple[object, ...]:
        """Return why something may not be done now."""
        return permit(self, act, Resource(**resource))  # type: ignore[arg-type]

    # --- deciding ----------------------------------------------------------------------------------------------------

    def fresh_id(self) -> int:
        """Return a number that no prompt, hold or command had before."""
        self.state.next_id += 1
        return self.state.next_id - 1

    def moved(self, what: str, state: str) -> None:
        """Say that something is in another state."""
        self.out.append(Moved(what, state))

    def fire_round(self, trigger: str) -> None:
        """Move the round."""
        mc.fire(mc.ROUND, self.state.round, trigger)
        self.moved("round", self.state.round.state)

    def fire_deck(self, deck: Deck, trigger: str) -> None:
        """Move a deck."""
        mc.fire(mc.DECK, deck, trigger)
        self.moved(f"deck {deck.name}", deck.state)

    def fire_progressive(self, trigger: str) -> None:
        """Move the progressive."""
        mc.fire(mc.PROGRESSIVE, self.state.progressive, trigger)
        self.moved("progressive", self.state.progressive.state)

    def ask(self, kind: str, role: str, *choices: str, clauses: tuple[str, ...] = (), **about: object) -> None:
        """Ask a person, unless this very question is open already."""
        for open_prompt in self.state.prompts.values():
            same = (open_prompt.kind, open_prompt.hold, open_prompt.deck, open_prompt.seat, open_prompt.slot)
            if same == (kind, *(about.get(name) for name in ("hold", "deck", "seat", "slot"))):
                return
        prompt = Prompt(self.fresh_id(), kind, role, choices or ("done",), clauses, **about)  # type: ignore[arg-type]
        self.state.prompts[prompt.id] = prompt
        self.out.append(prompt)

    def close_prompt(self, prompt: Prompt, choice: str | None = None) -> None:
        """A prompt is answered, or has lost its cause."""
        del self.state.prompts[prompt.id]
        self.out.append(PromptClosed(prompt.id, choice))

    def drop_prompts(self, *kinds: str) -> None:
        """Questions of these kinds have lost their cause."""
        for prompt in [p for p in self.state.prompts.values() if p.kind in kinds]:
            self.close_prompt(prompt)

    def command(self, act: str, slot: str, *, number: int = 0, safe: bool = False) -> int:
        """Have a device do something; the caller has the permit, or it makes things safe."""
        from table_controller.table.state import Issued

        id_ = self.fresh_id()
        self.state.commands[id_] = Issued(slot, act, number)
        self.out.append(Command(id_, slot, act, number, safe))
        return id_

    def try_command(self, act: str, slot: str, *, deck: str | None = None, number: int = 0) -> bool:
        """Have a device do something if it is permitted; tell whether it was."""
        if permit(self, act, Resource(slot=slot, deck=deck, cards=number)):
            return False
        self.command(act, slot, number=number)
        return True

    def refuse(self, what: str, *reasons: object) -> None:
        """Say why something was not done."""
        self.out.append(Refused(what, tuple(reasons)))  # type: ignore[arg-type]

    def timer(self, name: str, seconds: float | None) -> None:
        """Ask for `Due(name)` after so long; None forgets it."""
        self.out.append(Deadline(name, seconds))

    def finding(self, kind: str, text: str, deck: str | None = None, rounds: tuple[int, ...] = ()) -> None:
        """Keep something that people must be able to find again."""
        self.out.append(Finding(kind, text, deck, rounds))

    def usable(self, slot: str | None) -> bool:
        """Tell whether a slot serves."""
        return slot is not None and self.state.slots[slot].state == IN_SERVICE

    def signed(self, slot: str | None) -> bool:
        """Tell whether a slot is out of order and covered or signed."""
        return slot is not None and self.state.slots[slot].state == SIGNED
