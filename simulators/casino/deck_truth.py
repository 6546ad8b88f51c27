"""What really happened at a simulated table, recorded independently of the box: checks and rounds of each deck.

Decks are identified by the backs of the cards in a machine, not by the box's records. Of the box only its prompts are
read, to interpret answers.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from table_controller.table.decisions import Prompt, RequestRefused, StateChanged

if TYPE_CHECKING:
    from simulators.casino.table import CasinoTable
    from table_controller.table.decisions import Decision


_DEALING: Final = StateChanged("round", mc.DEALING)


class DeckTruth:
    """`dealt_since_check`: the rounds dealt from each deck after its last good check; `failed_checks`: each failed one.

    `dealt_before_check`: the rounds before that check, if hands made it: people err, so another check must confirm it.
    """

    def __init__(self, casino: CasinoTable) -> None:
        self.casino = casino
        self.dealt_since_check: dict[str, list[int]] = {}
        self.dealt_before_check: dict[str, list[int]] = {}
        self.dealt_since_face_check: dict[str, list[int]] = {}  # the same, after its last face check
        self.failed_checks: list[tuple[str, tuple[int, ...]]] = []
        self._asked: dict[int, Prompt] = {}
        self._dispensed = 0  # in this round, by the count of the shoe

    def deck_back_in(self, slot: str) -> str:
        """Return the back of most cards in a machine."""
        world = self.casino.world
        backs = Counter([c.back for p in world.census() if p.startswith(slot) for c in world.at(p) if c.face >= 0])
        return backs.most_common(1)[0][0] if backs else ""

    def apply_step(self, event: ev.Event, decisions: list[Decision]) -> None:
        """Apply one step of the table."""
        if RequestRefused not in map(type, decisions):  # a refused answer is no check
            self._check(event)
        for decision in decisions:
            if isinstance(decision, Prompt):
                self._asked[decision.id] = decision
            elif decision == _DEALING:
                self._dispensed = 0
                back = self.deck_back_in("shoe.1")
                for kept in (self.dealt_since_check, self.dealt_since_face_check):
                    kept.setdefault(back, []).append(self.casino.controller.table.state.round.number)

    def _check(self, event: ev.Event) -> None:
        whole = self.casino.edition.cards.count
        match event:
            case ev.ShuffleEnded() if event.count is not None and event.shuffled:
                self._record_check(self.deck_back_in(event.slot), right=event.count == whole and not event.rejected)
            case ev.ShoeLoaded() if event.count is not None and event.count != whole:
                self._record_check(self.deck_back_in(event.slot), right=False)
            case ev.StackOut():
                self._dispensed += event.count
            case ev.Answer() if event.prompt in self._asked:
                self._answered(event, self._asked[event.prompt], whole)

    def _answered(self, event: ev.Answer, prompt: Prompt, whole: int) -> None:
        deck = prompt.deck or self.casino.controller.table.state.round.deck or self.deck_back_in("shoe.1")
        match prompt.kind:
            case "stub" | "stub_recount" if event.number is not None and event.number + self._dispensed == whole:
                self._record_check(self.deck_back_in("shoe.1") or deck, right=True, hands=True)
            case "cards_together" | "deck_counted" | "count_deck" if event.number is not None:
                self._record_check(deck, right=event.number == whole, hands=True)
            case "face_check":
                rounds = self.dealt_since_face_check.pop(deck, [])
                self._record_check(deck, right=event.choice == "whole", rounds=rounds)
            case "collected" if event.choice == "not_full":
                self._record_check(deck, right=False)

    def _record_check(self, deck: str, *, right: bool, rounds: list[int] | None = None, hands: bool = False) -> None:
        before, since = self.dealt_before_check.get(deck, []), self.dealt_since_check.get(deck, [])
        if right:
            self.dealt_before_check[deck] = (since or before) if hands else []
            self.dealt_since_check[deck] = []
        else:
            listed = before + since if rounds is None else rounds
            self.failed_checks.append((deck, tuple(listed)))
