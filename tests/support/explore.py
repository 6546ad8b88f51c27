"""Every state that a tiny table can reach, breadth first; people and devices do whatever they can. No tests here.

A move is one thing that somebody or something does: an answer, an order, a device's event with the end of its command.
Trouble (faults, wrong counts, links that fall, reports of irregularities) is made only while fewer irregularities are
open than the bound allows; everything else always. So the search ends, and what it visits is all there is.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import msgspec

from devices.service import SIGNED, UNSIGNED
from table_controller.table import booking, dealing, stub
from table_controller.table import events as ev
from table_controller.table import machines as mc
from table_controller.table.decisions import Moved, Prompt
from tests.support.core import DEALER, FLOOR, PEOPLE, TECH
from tests.support.monitor import Monitor

if TYPE_CHECKING:
    from collections.abc import Iterator

    from table_controller.table.core import Table
    from table_controller.table.decisions import Decision
    from table_controller.table.state import Issued

DECKS: Final = ("blue", "red")
_ENCODER: Final = msgspec.msgpack.Encoder()
_MONITOR: Final = msgspec.msgpack.Decoder(Monitor)


class Move(NamedTuple):
    """What may happen next. Trouble is bounded; the rest is a way on.

    `opened`: people then open the deck without a word.
    """

    name: str
    events: tuple[ev.Event, ...]
    trouble: bool = False
    opened: bool = False


class Bounds(msgspec.Struct, frozen=True):
    """How much trouble there is: open irregularities, kinds of trouble, and rounds before the search stands still."""

    holds: int = 1
    states: int = 50_000
    declared: tuple[str, ...] = ()
    slots: tuple[str, ...] = ()  # whose links fall and who fault
    orders: bool = True
    ages: bool = True
    variety: bool = False  # also other seats, other results, other choices of players
    opening: bool = False  # a deck's opening step by step
    ready: bool = True  # begin where the decks are opened and shuffled


class Model:
    """A table and everything that may happen to it."""

    def __init__(self, table: Table, bounds: Bounds) -> None:
        self.table = table
        self.bounds = bounds
        self.whole = table.context.edition.cards.count
        self.decks = DECKS[: 2 if table.context.submission.two_decks else 1]

    def prepared(self) -> Monitor:
        """Bring the table to where its decks wait for the first round, all devices in service; return who watched."""
        monitor = Monitor.of(self.table.context.edition)
        if not self.bounds.ready:
            return monitor

        def take(*events: ev.Event) -> None:
            for event in events:
                monitor.watch(event, self.table.step(event), self.table.state)

        for slot in self.table.state.slots:
            take(ev.SlotChanged(slot, "appear"), ev.SlotChanged(slot, "verify"))
        for deck in self.decks:
            take(ev.DeckReceived(deck, DEALER))
            while True:
                moves = [m for m in (*self._prompted(), *self._commanded(), *self._hands()) if m.name != "open round"]
                moves = [m for m in moves if not m.trouble and not m.name.startswith("deck ")]
                if not moves:
                    break
                take(*moves[0].events)
        return monitor

    # --- what may happen ----------------------------------------------------------------------------------------------

    def _prompted(self) -> Iterator[Move]:
        for prompt in list(self.table.state.prompts.values()):
            yield from self._answers(prompt)

    def _commanded(self) -> Iterator[Move]:
        for id_, issued in list(self.table.state.commands.items()):
            yield from self._ends(id_, issued)

    def moves(self) -> Iterator[Move]:
        """Yield everything that may happen in the state that the table is in."""
        state = self.table.state
        trouble = len(state.holds) < self.bounds.holds
        yield from self._prompted()
        yield from self._commanded()
        yield from self._hands()
        yield from self._slots()
        yield from self._orders()
        if trouble:
            yield from self._trouble()

    def _answers(self, prompt: Prompt) -> Iterator[Move]:
        who = PEOPLE[prompt.role]
        plain = not self.bounds.variety and prompt.kind in ("decide", "settled", "cover_back", "sign_seen")
        choices = prompt.choices
        if prompt.kind == "progressive":  # nothing, the whole meter, and what the table pays least for
            choices = (*choices[:2], choices[-1]) if self.bounds.variety else choices[:2]
        for choice in choices[:1] if plain else choices:
            first = choice == prompt.choices[0]
            for number, bad in self._numbers(prompt) if prompt.number and first else [(None, False)]:
                if bad and len(self.table.state.holds) >= self.bounds.holds + 1:
                    continue
                for seats in self._seats(prompt) if prompt.seats and first else [()]:
                    event = ev.Answer(prompt.id, choice, who, number, seats)
                    yield Move(f"{prompt.kind}={choice} {number or ''}{seats or ''}", (event,), bad)

    def _numbers(self, prompt: Prompt) -> list[tuple[int, bool]]:
        c = self.table.context
        match prompt.kind:
            case "announce":
                total = c.state.round.total or 0
                return [(total, False), (3 if total != 3 else 4, True)]
            case "stub":
                right = stub.expected(c)
                return [(right, False), (right + 1, True)]
            case "chips":
                right = len(c.state.progressive.accepted)
                return [(right, False), (right + 1, True)]
            case "surrender_count":
                return [(c.edition.hand.cards, False), (c.edition.hand.cards + 1, True)]
            case "cards_together" | "count_deck":
                return [(self.whole, False), (self.whole - 1, True)]
        return [(prompt.least, False)]

    def _seats(self, prompt: Prompt) -> list[tuple[int, ...]]:
        if prompt.kind == "first_arrival":
            return [(2,)]
        if prompt.kind == "progressive_envy":
            return [booking.envy_seats(self.table.context, prompt.seat or 0)]
        return [(1, 2), (2,)] if self.bounds.variety else [(1, 2)]

    def _ends(self, id_: int, issued: Issued) -> Iterator[Move]:
        done = ev.CommandEnded(id_, "done")
        for name, events in self._good(issued):
            yield Move(f"{issued.slot} {issued.act}: {name}", (*events, done))
        if issued.unknown:
            yield Move(f"{issued.slot} {issued.act}: asked, done", (done,))
            yield Move(f"{issued.slot} {issued.act}: asked, failed", (ev.CommandEnded(id_, "failed"),))
            return
        if issued.slot in self.bounds.slots and len(self.table.state.holds) < self.bounds.holds:
            for name, events in self._bad(issued):
                yield Move(
                    f"{issued.slot} {issued.act}: {name}", (*events, ev.CommandEnded(id_, "failed")), trouble=True
                )
            yield Move(f"{issued.slot} {issued.act}: unknown", (ev.CommandEnded(id_, "unknown"),), trouble=True)
            yield Move(f"{issued.slot} {issued.act}: revoked", (ev.CommandEnded(id_, "revoked"),), trouble=True)

    def _good(self, issued: Issued) -> Iterator[tuple[str, tuple[ev.Event, ...]]]:
        c, slot = self.table.context, issued.slot
        automated = c.state.dealing == "automated_shoe"
        match issued.act:
            case "shuffle":
                count = self.whole if c.submission.shuffler_counts else None
                yield "done", (ev.ShuffleEnded(slot, count, shuffled=True),)
            case "eject" | "clear_out":
                yield "done", (ev.GivenOut(slot),)
            case "load" if c.state.dealing == "continuous_shuffler":
                yield "done", (ev.TakenIn(slot, c.state.book.at(c.state.slots[slot].deck or "", "rack")),)
            case "load":
                yield "done", (ev.ShoeLoaded(slot, self.whole if automated else None),)
            case "dispense":
                taken = (ev.StackTaken(slot),) if automated else ()
                yield "done", (ev.StackOut(slot, issued.number), *taken)
            case "give_stub" if automated:
                yield "done", (ev.StubOut(slot, stub.expected(c) + c.state.round.replacement),)
            case "start_round":
                yield "done", (ev.CardsDrawn(slot, dealing.first_deal(c)),)
            case "draw":
                yield "one", (ev.NumberDrawn(slot, 1),)
                if self.bounds.variety:
                    yield "seven", (ev.NumberDrawn(slot, 7),)
            case "lock":
                seat = int(slot.rpartition(".")[2])
                for bet in (True, False):
                    yield f"bet={bet}", (ev.SeatLatched(seat, issued.number, self._lock(slot), 1, bet),)
            case "return_to_service":
                yield "done", ()
            case _:
                yield "done", ()

    def _lock(self, slot: str) -> int:
        return next(id_ for id_, i in self.table.state.commands.items() if i.slot == slot and i.act == "lock")

    def _bad(self, issued: Issued) -> Iterator[tuple[str, tuple[ev.Event, ...]]]:
        slot = issued.slot
        fault = ev.SlotChanged(slot, "fault")
        match issued.act:
            case "shuffle":
                yield "short", (ev.ShuffleEnded(slot, self.whole - 1, shuffled=True),)
                yield "sorted", (ev.ShuffleEnded(slot, self.whole, shuffled=False),)
                yield "rejected", (ev.ShuffleEnded(slot, self.whole, shuffled=True, rejected=True),)
                yield "jam", (fault, ev.ShuffleFailed(slot, 430, 1))
            case "load":
                yield "short", (ev.ShoeLoaded(slot, self.whole - 1),)
                yield "jam", (fault, ev.ShoeFault(slot, 430))
            case "dispense":
                yield "short", (ev.StackOut(slot, issued.number - 1),)
                yield "jam", (fault, ev.ShoeFault(slot, 430))
            case "give_stub":
                yield "one more", (ev.StubOut(slot, stub.expected(self.table.context) + 1),)
                yield "jam", (fault, ev.ShoeFault(slot, 430))
            case "draw":
                yield "nine", (ev.NumberDrawn(slot, 9),)
            case "stop" | "lock":
                return
            case _:
                yield "failed", ()

    def _hands(self) -> Iterator[Move]:
        """What dealer and hands do by themselves."""
        state, c = self.table.state, self.table.context
        if state.round.state == mc.IDLE:
            yield Move("open round", (ev.OpenRound(DEALER),))
        if state.round.state == mc.BETTING:
            yield Move("no more bets", (ev.NoMoreBets(DEALER),))
        shuffler = state.slots.get("shuffler.1")
        if shuffler is not None and not shuffler.intake:
            waiting = [d for d in state.decks.values() if d.state in (mc.STACKED, mc.RACK)]
            back = state.dealing == "continuous_shuffler" and state.round.state == mc.IDLE
            back = back and any(state.book.at(d.name, "rack") for d in state.decks.values() if d.state == mc.IN_PLAY)
            if (waiting and shuffler.deck is None and state.shuffling == "machine") or back:
                yield Move("cards into the shuffler", (ev.CardsInserted("shuffler.1"),))
        if state.round.state == mc.STARTING_POSITION and state.round.asked_start and state.round.total is None:  # noqa: SIM102 - the two ask different things
            if state.start == "shaker" and not c.in_flight("shaker.1"):
                yield Move("dice: 7", (ev.DiceRead("shaker.1", (1, 2, 4)),))
                if self.bounds.variety:
                    yield Move("dice: 8", (ev.DiceRead("shaker.1", (1, 3, 4)),))
        for prompt in state.prompts.values():
            if prompt.kind == "move_button" and prompt.slot is not None:
                yield Move("button moved", (ev.ButtonSeen(prompt.slot, state.button),))
        for deck in self.decks:
            known = state.decks.get(deck)
            if known is None or known.state == mc.REMOVED:
                yield Move(f"deck {deck}", (ev.DeckReceived(deck, DEALER),), opened=not self.bounds.opening)
        if c.by_shoe and state.round.state == mc.DEALING and not state.shoe_over:
            yield Move("cover card", (ev.CoverCardOut("shoe.1", 2),))

    def _slots(self) -> Iterator[Move]:
        """The way back of devices, and people's orders about them."""
        for name, slot in self.table.state.slots.items():
            if slot.state == "absent":
                yield Move(f"{name} appears", (ev.SlotChanged(name, "appear"),))
            if slot.state == "unverified":
                yield Move(f"{name} reports well", (ev.SlotChanged(name, "verify"),))
            if slot.state == "faulted":
                yield Move(f"{name} cleared", (ev.SlotOrdered(name, "clear", TECH),))
            if slot.state == "cleared":
                yield Move(f"{name} acknowledged", (ev.SlotOrdered(name, "acknowledge", FLOOR),))
            if slot.state == UNSIGNED:
                yield Move(f"{name} signed", (ev.SlotOrdered(name, "sign", FLOOR),))
            if slot.state in (UNSIGNED, SIGNED):
                yield Move(f"{name} repaired", (ev.SlotOrdered(name, "repair", TECH),))

    def _orders(self) -> Iterator[Move]:
        """What a floorperson orders: always what leads on, and anything else only if the bounds say so."""
        state, c = self.table.state, self.table.context
        orders: list[dict[str, Any]] = [{"order": "table_idle"}] if self.bounds.orders else []
        for deck in c.decks_at_table():
            two = state.shuffling == "hand" and len(c.decks_at_table()) > 1
            if self.bounds.orders or deck.passed or not deck.verified or two:
                orders.append({"order": "remove_deck", "deck": deck.name})
            if self.bounds.orders:
                orders += [{"order": what, "deck": deck.name} for what in ("recut", "reshuffle")]
        if state.shuffling == "machine":
            orders.append({"order": "shuffle_by_hand"})
        elif c.submission.shuffler != "none":
            orders.append({"order": "shuffle_by_machine"})
        orders += [
            {"order": "dealing_method", "method": m.name} for m in c.edition.deal.methods if m.name != state.dealing
        ]
        orders += [{"order": "start_method", "method": s.name} for s in c.edition.starts if s.name != state.start]
        for order in orders:
            yield Move(f"order {' '.join(order.values())}", (ev.Ordered(who=FLOOR, **order),))

    def _trouble(self) -> Iterator[Move]:
        state = self.table.state
        for name in self.bounds.slots:
            slot = state.slots[name]
            told = [id_ for id_, issued in state.commands.items() if issued.slot == name]
            if slot.state in ("unverified", "in_service"):
                lost = [ev.CommandEnded(id_, "unknown") for id_ in told]
                failed = [ev.CommandEnded(id_, "failed") for id_ in told]
                yield Move(f"{name} vanishes", (ev.SlotChanged(name, "vanish"), *lost), trouble=True)
                yield Move(f"{name} faults", (ev.SlotChanged(name, "fault"), *failed), trouble=True)
            if slot.state not in (UNSIGNED, SIGNED):
                yield Move(f"{name} given up", (ev.SlotOrdered(name, "give_up", FLOOR),), trouble=True)
        for trigger in self.bounds.declared:
            for deck in self.decks if trigger == "count_wrong" else ("",):
                event = ev.Declared(trigger, DEALER, seat=2, deck=deck or None)
                yield Move(f"declared {trigger} {deck}", (event,), trouble=True)
        if state.round.state == mc.STARTING_POSITION and state.start == "shaker" and "shaker.1" in self.bounds.slots:
            yield Move("no roll", (ev.NoRoll("shaker.1", "dice_not_flat"),), trouble=True)
        if state.progressive.state == mc.LOCKING:
            yield Move("lock due", (ev.Due("lock"),), trouble=True)
        if state.progressive.state != mc.CLOSED:
            yield Move("late bet", (ev.LateBet(1), ev.BetSensed(1, 99, placed=True)), trouble=True)
            yield Move("late latch", (ev.SeatLatched(1, state.round.number, 0, 99, bet=True),), trouble=True)
        if self.bounds.ages:
            for old in self.table.context.decks_at_table():
                for hours in sorted(set(self.table.context.edition.change_hours.values())):
                    if hours not in old.passed and (not old.passed or max(old.passed) < hours):
                        yield Move(
                            f"{old.name} is {hours} h old", (ev.Due(f"deck_age/{old.name}/{hours}"),), trouble=True
                        )
            if state.start == "shaker" and state.dice == "fresh":
                yield Move("dice are old", (ev.Due("dice_age"),), trouble=True)


# --- telling states apart ---------------------------------------------------------------------------------------------


def canonical(table: Table, monitor: Monitor) -> bytes:
    """Return what tells a state from others: numbers that only count up are left out or counted from zero."""
    state = table.state
    holds = {id_: at for at, id_ in enumerate(state.holds)}
    prompts = sorted(
        (p.kind, p.role, p.deck or "", p.seat or -1, p.slot or "", holds.get(p.hold or 0, -1), p.choices, p.least)
        for p in state.prompts.values()
    )
    commands = sorted(
        (i.slot, i.act, i.number if i.act == "dispense" else 0, i.deck or "", i.unknown)
        for i in state.commands.values()
    )
    kept = msgspec.to_builtins(state)
    for name in ("prompts", "holds", "commands", "next_id", "book", "money"):
        del kept[name]
    if state.dealing == "continuous_shuffler":  # it counts what comes back
        kept["rack"] = [state.book.at(deck, "rack") for deck in state.decks]
    money = state.money  # amounts only grow; the next states follow from what is open
    kept["money"] = (
        sorted((seat, bet.state) for seat, bet in money.bets.items()),
        sorted((hit.seat, hit.hand, hit.state, hit.dark) for hit in money.hits.values() if hit.state != "withdrawn"),
        money.settles, sorted(money.envied.items()), money.envy_paid, bool(money.envy),
    )  # fmt: skip
    round_ = state.round
    kept["round"]["number"] = 0
    kept["round"]["face_up"] = min(round_.face_up, 2)
    if round_.state in (mc.VOID, mc.COMPLETE):  # nothing else of it is asked for any more
        kept["round"] = (round_.state, round_.deck, round_.seats, round_.counted, bool(round_.to_deal or round_.dealt))
    for deck in kept["decks"].values():
        deck["rounds"] = len(deck["rounds"]) > 0
        deck["confirmed"] = sorted(deck["confirmed"])
    for bets in kept["progressive"]["seats"].values():
        bets["lock"] = bets["lock"] > 0
    held = [(h.trigger, h.steps, h.slot, h.deck, h.seat, h.this_round, sorted(h.choices)) for h in state.holds.values()]
    return msgspec.msgpack.encode((kept, prompts, commands, held, monitor.key()))


class Node(NamedTuple):
    """A state that was visited: how to come back to it, and how it was reached."""

    snapshot: bytes
    monitor: bytes
    parent: int
    move: str


class Search:
    """Visits every state that a model can reach within its bounds."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.nodes: list[Node] = []
        self.ways: list[list[int]] = []  # per state: the states that lead to it without trouble
        self.opens: list[int] = []  # states from which a round was opened
        self.known: dict[bytes, int] = {}
        self.steps = 0
        self.whole = True  # every state was expanded

    def run(self) -> None:
        """Search until nothing new is found, or the bound on states is reached."""
        table = self.model.table
        self._visit(-1, "", self.model.prepared(), trouble=False)
        waiting = deque([0])
        while waiting:
            at = waiting.popleft()
            node = self.nodes[at]
            table.restore(node.snapshot)
            moves = list(self.model.moves())
            for move in moves:
                table.restore(node.snapshot)
                monitor = _MONITOR.decode(node.monitor)
                self._take(move, monitor, at)
                new = self._visit(at, move.name, monitor, trouble=move.trouble)
                if new is not None:
                    waiting.append(new)
            if len(self.nodes) >= self.model.bounds.states:
                self.whole = not waiting
                return

    def _take(self, move: Move, monitor: Monitor, at: int) -> None:
        table = self.model.table
        waiting = deque(move.events)
        while waiting:
            event = waiting.popleft()
            try:
                decisions: list[Decision] = table.step(event)
                self.steps += 1
                monitor.watch(event, decisions, table.state)
            except Exception as error:
                raise AssertionError(f"{error!r} after\n{self.story(at)}\n-> {move.name}") from error
            if Moved("round", mc.BETTING) in decisions:
                self.opens.append(at)
            if move.opened:
                asked = [p for p in decisions if isinstance(p, Prompt) and p.kind.startswith("opening/")]
                waiting.extend(ev.Answer(p.id, p.choices[0], PEOPLE[p.role]) for p in asked)

    def _visit(self, parent: int, move: str, monitor: Monitor, *, trouble: bool) -> int | None:
        """Remember the state that the table is in; return its number if it is new."""
        key = canonical(self.model.table, monitor)
        known = self.known.get(key)
        if known is None:
            known = self.known[key] = len(self.nodes)
            self.nodes.append(Node(self.model.table.snapshot(), _ENCODER.encode(monitor), parent, move))
            self.ways.append([])
            fresh = known
        else:
            fresh = None
        if parent >= 0 and not trouble:
            self.ways[known].append(parent)
        return fresh

    def story(self, at: int) -> str:
        """Return how a state was reached, one move per line."""
        moves = []
        while at > 0:
            moves.append(self.nodes[at].move)
            at = self.nodes[at].parent
        return "\n".join(reversed(moves))

    def stuck(self) -> list[int]:
        """Return the states from which nobody can lead the table to another round without trouble."""
        way_out = set(self.opens)
        waiting = deque(way_out)
        while waiting:
            for before in self.ways[waiting.popleft()]:
                if before not in way_out:
                    way_out.add(before)
                    waiting.append(before)
        return [at for at in range(len(self.nodes)) if at not in way_out]
