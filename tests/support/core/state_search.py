"""Searches every state that a tiny table can reach, breadth first; `search_moves` defines the possible events.

A monitor checks every step. Some steps are taken twice from the same snapshot and must decide the same.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from table_controller.table import state_machines as mc
from table_controller.table.decisions import StateChanged
from tests.support.oracles.table_monitor import TableMonitor

if TYPE_CHECKING:
    from table_controller.table import events as ev
    from table_controller.table.core import Table
    from table_controller.table.decisions import Decision
    from tests.support.core.search_moves import SearchModel
    from tests.support.core.search_trouble import SearchMove

_ENCODER: Final = msgspec.msgpack.Encoder()
_MONITOR: Final = msgspec.msgpack.Decoder(TableMonitor)
_OPENED: Final = StateChanged("round", mc.BETTING)
# One move in so many is taken twice; a prime, so that the choice varies between states.
_TWICE: Final = 7
# States of a round that has ended.
_OVER: Final = (mc.VOID, mc.COMPLETE)
_LEFT_OUT: Final = ("prompts", "holds", "commands", "next_id", "book", "money")


def canonical_state(table: Table, monitor: TableMonitor) -> bytes:
    """Return a canonical form of a state, without numbers that only count up.

    The card ledger is left out: it decides only texts, and the cards that a continuous shuffler expects.
    """
    state = table.state
    holds = {id_: at for at, id_ in enumerate(state.holds)}
    prompts = sorted(
        (p.kind, p.role, p.deck or "", p.seat or -1, p.slot or "", holds.get(p.hold or 0, -1), p.choices, p.number)
        for p in state.prompts.values()
    )
    commands = [
        (i.slot, i.act, i.number if i.act == "dispense" else 0, i.deck or "", i.unknown)
        for i in state.commands.values()
    ]
    commands.sort(key=lambda command: (command[0], command[4]))  # each device's in their order
    kept = msgspec.to_builtins(state)
    for name in _LEFT_OUT:
        del kept[name]
    money = state.money  # amounts only grow; the next states follow from what is open
    kept["money"] = (
        sorted((seat, bet.state) for seat, bet in money.bets.items()),
        [
            (hit.seat, hit.hand, hit.state, hit.dark, hit.id <= money.book.last_paid)
            for hit in money.hits.values() if hit.state != "withdrawn"
        ],
        money.settles, sorted(money.envied.items()), money.envy_paid, bool(money.envy),
    )  # fmt: skip
    if state.dealing == "continuous_shuffler":
        kept["rack"] = [state.book.balance(deck, "rack") > 0 for deck in state.decks]
    if not table.context.submission.mid_shoe_entry_ban:
        del kept["regulars"]
    round_ = kept["round"]
    round_["number"] = round_["counted_by"] = 0  # no shoe of a search identifies cards
    for seats in ("claims_fell", "claims_stand"):  # sets, in the order of events
        round_[seats] = sorted(round_[seats])
    round_["face_up"] = min(round_["face_up"], 2)
    # Only an unknown difference between counted and dealt cards of a manual shoe matters.
    missed = round_["dealt"] + round_["discarded"] + round_["burned"] - round_["drawn"] - round_["slip"]
    round_["drawn"] = missed if state.round.counting else 0
    round_["dealt"], round_["discarded"], round_["burned"] = round_["dealt"] > 0, round_["discarded"] > 0, 0
    round_["slip"] = 0
    if state.round.state in _OVER:
        kept["round"] = (
            state.round.state, state.round.deck, state.round.seats, state.round.counted, state.round.parked,
            bool(state.round.to_deal or state.round.dealt),
        )  # fmt: skip
        if table.context.settles_void:  # complete hands, and whether there is a replacement card for the joker
            round_state = state.round
            kept["round"] += (
                round_state.to_deal,
                round_state.in_slot,
                round_state.incomplete,
                round_state.replacement,
                round_state.stub is None,
            )
    for deck in kept["decks"].values():
        deck["rounds"] = deck["doubted"] = 0
        deck["confirmed"] = sorted(deck["confirmed"])
        del deck["persons"]
    for bets in kept["progressive"]["seats"].values():
        bets["lock"] = bets["lock"] > 0
    held = [
        (
            h.trigger,
            h.steps,
            h.slot,
            h.deck,
            h.seat,
            h.this_round,
            list(h.choices),
            "settle_optional_wagers" in h.outcomes,
        )
        for h in state.holds.values()
    ]
    return _ENCODER.encode((kept, prompts, commands, held, monitor.key()))


def replay_moves(model: SearchModel, *story: str) -> list[Decision]:
    """Make moves by their names, monitored; return the decisions of the last one."""
    monitor = model.prepared()
    decided: list[Decision] = []
    for name in story:
        known = {move.name.strip(): move for move in model.moves()}
        assert name in known, f"{name} cannot happen now; there are: {', '.join(known)}"
        waiting: deque[ev.Event] = deque(known[name].events)
        decided = []
        while waiting or (waiting := deque(model.immediate_events())):
            event = waiting.popleft()
            decisions = model.table.step(event)
            monitor.watch(event, decisions, model.table.state)
            decided += decisions
    return decided


class SearchNode(NamedTuple):
    """A visited state: its snapshot, and how it was reached."""

    snapshot: bytes
    monitor: bytes
    parent: int
    move: str


class StateSearch:
    """Visits every state that a model can reach, or so many."""

    def __init__(self, model: SearchModel, most: int = 50_000) -> None:
        self.model = model
        self.most = most
        self.nodes: list[SearchNode] = []
        self.good_predecessors: list[list[int]] = []  # per state: its predecessors by good moves
        self.opening_states: set[int] = set()  # states from which a round was opened
        self.known: dict[bytes, int] = {}
        self._seen: dict[tuple[bytes, bytes], int] = {}  # exact states, for a quick lookup
        self.steps = 0
        self.moves = 0
        self.repeated = 0  # moves that were taken twice
        self.is_exhausted = False  # the search is complete

    def run(self) -> StateSearch:
        """Search until nothing new is found, or the bound on states is reached."""
        table = self.model.table
        self._visit(-1, "", self.model.prepared(), trouble=False)
        at = 0
        while at < len(self.nodes) < self.most:
            node = self.nodes[at]
            table.restore(node.snapshot)
            for move in list(self.model.moves()):
                table.restore(node.snapshot)
                monitor = _MONITOR.decode(node.monitor)
                decided = self._make_move(move, monitor, at)
                self._visit(at, move.name, monitor, trouble=move.trouble)
                self.moves += 1
                if self.moves % _TWICE == 0:
                    self._again(move, node, decided)
            at += 1
        self.is_exhausted = at == len(self.nodes)
        return self

    def _make_move(self, move: SearchMove, monitor: TableMonitor | None, at: int) -> list[Decision]:
        """Make a move with the immediate reactions of devices; return all decisions."""
        table = self.model.table
        waiting: deque[ev.Event] = deque(move.events)
        decided: list[Decision] = []
        try:
            while waiting or (waiting := deque(self.model.immediate_events())):
                event = waiting.popleft()
                decisions = table.step(event)
                self.steps += 1
                decided += decisions
                if monitor is not None:
                    monitor.watch(event, decisions, table.state)
                if _OPENED in decisions:
                    self.opening_states.add(at)
        except Exception as error:
            raise AssertionError(f"{error!r} after\n{self.story(at)}\n-> {move.name}") from error
        return decided

    def _again(self, move: SearchMove, node: SearchNode, decided: list[Decision]) -> None:
        """Check that the same events from the same snapshot give the same decisions and state, byte for byte."""
        table = self.model.table
        after = table.snapshot()
        table.restore(node.snapshot)
        assert self._make_move(move, None, node.parent) == decided, f"{move.name}: other decisions the second time"
        assert table.snapshot() == after, f"{move.name}: another state the second time"
        self.repeated += 1

    def _visit(self, parent: int, move: str, monitor: TableMonitor, *, trouble: bool) -> None:
        """Record the current state of the table."""
        exact = self.model.table.snapshot(), _ENCODER.encode(monitor)
        known = self._seen.get(exact)
        if known is None:
            known = self._seen[exact] = self._number(canonical_state(self.model.table, monitor), exact, parent, move)
        if parent >= 0 and not trouble:
            self.good_predecessors[known].append(parent)

    def _number(self, key: bytes, exact: tuple[bytes, bytes], parent: int, move: str) -> int:
        """Return a state's number, the next one if it is new."""
        known = self.known.get(key)
        if known is None:
            known = self.known[key] = len(self.nodes)
            self.nodes.append(SearchNode(*exact, parent, move))
            self.good_predecessors.append([])
        return known

    def story(self, at: int) -> str:
        """Return how a state was reached, one move per line."""
        moves = []
        while at > 0:
            moves.append(self.nodes[at].move)
            at = self.nodes[at].parent
        return "\n".join(reversed(moves))

    def stuck(self) -> list[int]:
        """Return the states from which no good moves lead to another round."""
        way_out = set(self.opening_states)
        waiting = deque(way_out)
        while waiting:
            for before in self.good_predecessors[waiting.popleft()]:
                if before not in way_out:
                    way_out.add(before)
                    waiting.append(before)
        return [at for at in range(len(self.nodes)) if at not in way_out]
