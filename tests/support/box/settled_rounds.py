"""Rounds at the shipped box whose wagers are settled by the card pad; its journal is compared with the text."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from simulators.casino.soak import resume_play
from simulators.engine.virtual_time import run_virtual
from simulators.world.chips import player_hand
from table_controller.journal import records as rec
from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from table_controller.table.decisions import Booked, HitClaimed, WagerSettled, WagersReturned
from tests.support.box.card_pad_people import CardPadPeople, agrees
from tests.support.box.signed_on_table import SignedOnTable
from tests.support.box.true_round import all_wagers

if TYPE_CHECKING:
    from collections.abc import Callable

    from table_controller.table.decisions import Decision, Proposal
    from tests.support.oracles.settled_by_text import End, Key

# The shoe that identifies its cards, where it is no automated one.
_IDENTIFYING = {"over_under": "shoe-manual-identifying"}
# Micro-dollars in a cent.
_CENT = 10_000


class PadTable(SignedOnTable):
    """A table whose people use the card pad."""

    people: CardPadPeople

    async def before_no_more_bets(self) -> None:
        """Enter the optional wagers for which nobody asks."""
        await self.people.enter_early()


class Mismatch(NamedTuple):
    """A wager that the journal settles in another way than the text; seat 0 for envy, which all seats share."""

    seat: int
    wager: str
    text: str


class JournaledRound:
    """What the journal records about the wagers of one round: the last result of each wager and envy bonus."""

    def __init__(self) -> None:
        self.results: dict[Key, Proposal] = {}
        self.hits: dict[int, HitClaimed] = {}
        self.envy: dict[int, tuple[int, tuple[int, ...]]] = {}  # by hand: micro-dollars for each seat, and the seats
        self.lost_bets: set[int] = set()
        self.returned: list[WagersReturned] = []

    def add(self, event: ev.Event, decision: Decision) -> None:
        """Add a decision of this round."""
        if isinstance(decision, WagerSettled):
            of = decision.result.envy_of
            self.results[decision.seat, decision.result.wager, of] = decision.result
        elif isinstance(decision, HitClaimed):
            self.hits[decision.seat] = decision
        elif isinstance(decision, WagersReturned):
            self.returned.append(decision)
        elif isinstance(decision, Booked) and decision.entry.kind == "envy":
            assert isinstance(event, ev.Answer)
            assert decision.entry.seat is not None
            self.envy[decision.entry.seat] = (decision.entry.transfers[0].amount, event.seats)
        elif isinstance(decision, Booked) and decision.entry.kind == "hit_withdrawn":
            self.hits.pop(decision.entry.seat or 0, None)


class SettledTable:
    """One table: plays rounds, and compares what its journal records with the settlement of the text."""

    def __init__(
        self, game: str, seed: int, people: Callable[..., CardPadPeople] = CardPadPeople, *, identifies: bool = False
    ) -> None:
        """`identifies`: the shoe identifies the cards that it deals."""
        self.game, self.seed, self._identifies = game, seed, identifies
        self._people = people
        self.seen: Counter[str] = Counter()
        self._read = 0

    def play(self, rounds: int) -> Counter[str]:
        """Play so many rounds in virtual time; return how often each outcome was compared."""
        run_virtual(self._play(rounds))
        return self.seen

    async def _play(self, rounds: int) -> None:
        self.casino = casino = PadTable(
            self.game, seed=self.seed, choices=all_wagers(self.game, self.seed),
            people=lambda table: self._people(table, self.seed),
            models={"shoe.1": _IDENTIFYING.get(self.game, "shoe-identifying")} if self._identifies else None,
        )  # fmt: skip
        casino.people.identifies = self._identifies
        casino.people.begin_round(0)
        await casino.open("blue", "red")
        self.begin()
        try:
            for number in range(1, rounds + 1):
                casino.people.begin_round(number)
                bets = casino.people.bettors()
                for seat in bets:
                    if not casino.chips.at(player_hand(f"bet_sensor.{seat}")):
                        casino.chips.make(player_hand(f"bet_sensor.{seat}"), 20)
                try:
                    await casino.round(bets)
                finally:
                    if casino.people.failure is not None:  # it names the cause, not only that the table waits
                        raise casino.people.failure
                await resume_play(casino)  # a deck may have been removed
                state = casino.controller.table.state
                assert state.round.state == mc.IDLE, (state.round, state.prompts)
                self.compare()
        finally:
            await casino.close()
        self.seen += casino.people.seen

    def begin(self) -> None:
        """Do what comes before the first round of the open table."""

    # --- the journal against the text ---------------------------------------------------------------------------------

    def compare(self) -> None:
        """Compare the journal of the last round with the text."""
        wrong = self.mismatches()
        assert not wrong, (wrong, self.casino.people.truth)

    def mismatches(self) -> list[Mismatch]:
        """Return in what the journal of the last round differs from the text."""
        people, journaled = self.casino.people, self._journaled()
        truth = people.truth
        self.seen["void rounds"] += truth.is_void
        self.seen["hands out of the round"] += len(truth.dead)
        if truth.is_void and not (journaled.results or journaled.hits):
            return []
        ends = truth.ends()
        results = {key: result for key, result in journaled.results.items() if not {key[0], key[2]} & truth.dead}
        wrong = [_mismatch(key, result, ends.get(key)) for key, result in results.items()
                 if not self._agrees(key, result, ends.get(key))]  # fmt: skip
        due = set() if truth.is_void else {key for key in ends if people.is_recorded(key)}
        wrong += [_mismatch(key, None, ends[key]) for key in due - results.keys()]
        return wrong + self._wrong_claims(journaled, ends)

    def _agrees(self, key: Key, result: Proposal, end: End | None) -> bool:
        truth = self.casino.people.truth
        self.seen[f"{key[1]}{' envy' if key[2] else ''} {result.outcome}"] += 1
        if not result.hand and not result.line:  # stated by the dealer, or decided without any hand
            return end is not None and result.outcome == end.outcome and bool(result.clauses)
        return agrees(result, end, truth.wagers[key[0]].get(key[1], 0)) and bool(result.clauses)

    def _wrong_claims(self, journaled: JournaledRound, ends: dict[Key, End]) -> list[Mismatch]:
        """Return which claims and envy of the progressive differ from the text: hand, amounts, seats."""
        rules, truth = self.casino.edition.progressive, self.casino.people.truth
        if rules is None or (truth.is_void and not truth.settles_void):
            return []
        won = {seat: end for (seat, wager, of), end in ends.items()
               if wager == rules.wager and of is None and end.outcome == "wins"}  # fmt: skip
        wrong = [Mismatch(seat, rules.wager, f"no claim, by the text {won[seat]}")
                 for seat in won.keys() - journaled.hits.keys()]  # fmt: skip
        for seat, hit in journaled.hits.items():
            self.seen["claims"] += 1
            if not self._is_claim_right(hit, won.get(seat)):
                wrong.append(Mismatch(seat, rules.wager, f"{hit}, by the text {won.get(seat)}"))
        for of in {of for _, wager, of in ends if of is not None and wager == rules.wager} | journaled.envy.keys():
            due = {seat: end.paid * _CENT for (seat, wager, hand), end in ends.items()
                   if wager == rules.wager and hand == of}  # fmt: skip
            each, seats = journaled.envy.get(of, (0, ()))
            self.seen["progressive envy"] += len(seats)
            if due != dict.fromkeys(seats, each) and not truth.is_void:
                text = f"envy for seat {of}: {journaled.envy.get(of)}, by the text {due}"
                wrong.append(Mismatch(0, rules.wager, text))
        return wrong

    def _is_claim_right(self, hit: HitClaimed, end: End | None) -> bool:
        meter = self.casino.controller.table.context.meter
        if end is None or meter is None:
            return False
        share = hit.entry.meter_before * end.percent // 100 // _CENT * _CENT  # fractions of a cent stay in the meter
        return (meter.award(hit.hand).label, hit.fixed, hit.share) == (end.line, end.paid * _CENT, share)

    def _journaled(self) -> JournaledRound:
        """Return what the journal has recorded since the last round."""
        journaled = JournaledRound()
        for record in self.casino.disk.records[self._read :]:
            self._read = record.seq
            if record.kind == rec.STEP:
                step = rec.decode_step(rec.current_body(record.kind, record.body))
                for decision in step.decisions:
                    journaled.add(step.event, decision)
        return journaled


def _mismatch(key: Key, result: Proposal | None, end: End | None) -> Mismatch:
    seat, wager, of = key
    text = f"{key}: {'not in the journal' if result is None else result}, by the text {end}"
    return Mismatch(seat if of is None else 0, wager, text)
