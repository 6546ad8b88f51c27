"""The dealer's work at the card pad of a simulated table: enters what lies face up and judges what the box proposes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from simulators.casino.dealer import DEALER, FLOOR
from simulators.casino.technician import ACTION_TIME_S
from table_controller.rulebook.cards import NOTATION, format_cards
from table_controller.table import events as ev
from table_controller.table.decisions import Prompt
from tests.support.box.table_people import TablePeople
from tests.support.box.true_round import has_joker

if TYPE_CHECKING:
    from simulators.casino.table import CasinoTable
    from table_controller.table.decisions import Proposal
    from tests.support.oracles.settled_by_text import End, Key

# Questions that the dealer answers at the card pad, one after the other.
AT_THE_PAD: Final = (
    "settled", "dealer_set", "disputed", "side_settled", "side_disputed", "progressive", "claim_disputed", "envy_hand",
    "envy_paid", "envy_disputed", "envy_hand_disputed", "own_reveal",
)  # fmt: skip
# Share of the rounds in which the dealer enters no cards and settles by touch.
_BY_TOUCH: Final = 0.1
# Entries and answers without a pause before the dealer counts as stuck.
_MANY: Final = 600


class Entry(NamedTuple):
    """One entry at the pad: the request, and what it is about."""

    kind: str  # hand, setting, house_way, replacement, amount
    place: int
    event: ev.Event
    wager: str = ""


class CardPadPeople(TablePeople):
    """All people at one table; the dealer errs nowhere."""

    def __init__(self, casino: CasinoTable, seed: int) -> None:
        super().__init__(casino, seed)
        self.by_touch = False
        self.entered: set[tuple[str, int, str]] = set()  # what the dealer has entered in this round
        self.failure: Exception | None = None  # what ended the dealer's work
        self._works = False

    def begin_round(self, number: int) -> None:
        """Draw the next round, and whether its cards are entered."""
        super().begin_round(number)
        self.by_touch = self.rng.random() < _BY_TOUCH and not self.identifies
        self.entered = set()

    def see_decision(self, decision: Any) -> None:
        """Leave the questions of the card pad to the dealer's own work."""
        if isinstance(decision, Prompt) and decision.kind in AT_THE_PAD:
            if not self._works:
                self._works = True
                self._go(self._work())
            return
        super().see_decision(decision)

    # --- the dealer's work at the pad ---------------------------------------------------------------------------------

    async def _work(self) -> None:
        """Handle one question of the pad after the other, until none is open."""
        try:
            await self._work_through()
        except Exception as error:
            self.failure = self.failure or error
            raise
        finally:
            self._works = False

    async def _work_through(self) -> None:
        for _ in range(_MANY):
            prompt = self._next()
            if prompt is None:
                return
            await self.casino.wait(ACTION_TIME_S)
            if not await self.report_trouble() and self._is_still_asked(prompt):
                await self._at_the_pad(prompt)
        raise AssertionError(f"the dealer is stuck at {prompt}")

    def _next(self) -> Prompt | None:
        prompts = self.casino.controller.table.state.prompts.values()
        return next((prompt for prompt in prompts if prompt.kind in AT_THE_PAD), None)

    async def _at_the_pad(self, prompt: Prompt) -> None:
        if not self.casino.edition.hand.second_deal:
            self.look_at_cards()
        entry = self.missing(prompt)
        if entry is not None:
            await self.enter(entry)
            return
        match prompt.kind:
            case "own_reveal" if prompt.seat not in self.truth.surrenders:
                await self.answer_pad(prompt, "shown")
            case "settled" | "own_reveal" if "surrendered" in prompt.choices and prompt.seat in self.truth.surrenders:
                self.truth.gave_up.add(prompt.seat or 0)
                self.seen["surrendered"] += 1
                await self.answer_pad(prompt, "surrendered")
            case "settled" | "side_settled" | "progressive":
                await self._settle(prompt)
            case "disputed" | "side_disputed" | "claim_disputed" | "envy_disputed":
                await self.rule(prompt)
            case "envy_paid":
                await (self.judge(prompt) if prompt.proposals else self.pay_envy_alone(prompt))
            case "envy_hand" | "envy_hand_disputed":
                await self.judge_envy(prompt)
            case _:
                await self.answer_pad(prompt, prompt.choices[0])

    async def answer_pad(self, prompt: Prompt, choice: str) -> None:
        """Answer a question of the pad, by the person whom it asks."""
        who = FLOOR if prompt.role == "floorperson" else DEALER
        reply = await self.send(ev.Answer(prompt.id, choice, who))
        assert not reply.refused, (reply.refused, prompt)

    # --- what is not entered yet --------------------------------------------------------------------------------------

    def missing(self, prompt: Prompt) -> Entry | None:
        """Return the next entry that a question needs, in the order in which a dealer works."""
        seat = prompt.seat or 0
        claims = prompt.kind == "progressive"  # a hand wins only by its cards
        if prompt.kind not in ("settled", "progressive", "side_settled") or not (claims or self.enters_cards(seat)):
            return None
        if "surrendered" in prompt.choices and seat in self.truth.surrenders:
            return None
        settling = not self.truth.is_void and not claims
        for entry in self._entries(seat, settling=settling):
            if (entry.kind, entry.place, entry.wager) not in self.entered and not self._is_released(entry):
                return entry
        return None

    def _is_released(self, entry: Entry) -> bool:
        """Return whether the shoe released these cards, which then are those that lie there."""
        known = self.casino.controller.table.state.round.hands.get(entry.place)
        if not self.identifies or entry.kind != "hand" or known is None:
            return False
        assert sorted(known.cards) == sorted(self.truth.hands[entry.place]), (entry, known, self.truth)
        self.seen["hand identified"] += 1
        self.entered.add((entry.kind, entry.place, entry.wager))
        return True

    def enters_cards(self, seat: int) -> bool:
        """Return whether the dealer enters the cards of a seat in this round."""
        return not self.by_touch or seat in self.bettors()

    def _entries(self, seat: int, *, settling: bool) -> list[Entry]:
        truth, hand = self.truth, self.casino.edition.hand
        entries: list[Entry] = []
        if hand.dealer_hand and settling:
            entries.append(Entry("hand", 0, ev.HandEntered(0, format_cards(truth.hands[0]), DEALER)))
        if settling:
            entries += [entry for wager in truth.wagers[seat] for entry in self.amount(seat, wager)]
        if not self._is_seen(seat):
            return entries
        entries.append(Entry("hand", seat, ev.HandEntered(seat, format_cards(truth.hands[seat]), DEALER)))
        if has_joker(truth.hands[seat]) and self.casino.edition.game == "dj_wild" and truth.replacement is not None:
            entries.append(Entry("replacement", 0, ev.ReplacementEntered(NOTATION[truth.replacement], DEALER)))
        if hand.split and settling:
            entries.append(self.setting(seat))
        return entries

    def amount(self, seat: int, wager: str) -> list[Entry]:
        """Return the entry of an amount; none for a wager whose amount is fixed."""
        rules = self.casino.edition.wager(wager)
        assert rules is not None
        if rules.amount == "table_unit":
            return []
        cents = self.truth.wagers[seat][wager]
        return [Entry("amount", seat, ev.AmountEntered(wager, seat, cents, DEALER), wager)]

    def setting(self, seat: int) -> Entry:
        """Return the entry of how a hand is set."""
        if seat in self.truth.by_house_way:
            return Entry("setting", seat, ev.HouseWayAsked(seat, DEALER))
        hands = " | ".join(map(format_cards, self.truth.settings[seat]))
        return Entry("setting", seat, ev.SettingEntered(seat, hands, DEALER))

    def _is_seen(self, seat: int) -> bool:
        """Return whether the dealer turns the cards of a seat over: not those of a folded hand that nothing needs."""
        if self.truth.decided.get(seat) != "fold" or self.truth.settles_void:
            return True
        kept = {"trips"} | ({"progressive"} if self.casino.submission.folded_progressive else set())
        return bool(kept & set(self.truth.wagers[seat]))

    async def enter(self, entry: Entry) -> None:
        """Make one entry; the box accepts what is true."""
        reply = await self.send(entry.event)
        assert not reply.refused, (reply.refused, entry)
        self.entered.add((entry.kind, entry.place, entry.wager))
        self.seen[entry.kind] += 1

    async def enter_early(self) -> None:
        """While bets are open, enter the optional wagers that nobody asks for."""
        asked = self.casino.edition.surrender.barred_by if self.casino.edition.surrender is not None else ()
        for seat in self.truth.seats:
            for wager in self.truth.wagers[seat]:
                rules = self.casino.edition.wager(wager)
                if rules is not None and rules.option and wager not in asked:
                    for entry in self.amount(seat, wager):
                        await self.enter(entry)

    # --- judging ------------------------------------------------------------------------------------------------------

    async def _settle(self, prompt: Prompt) -> None:
        """Confirm what the rules decide, or settle by touch where nothing is proposed."""
        if prompt.proposals:
            await self.judge(prompt)
        elif prompt.kind == "settled":
            await self.settle_by_touch(prompt)
        elif prompt.kind == "progressive":
            known = not self._is_seen(prompt.seat or 0) or self.settles_alone(prompt.seat or 0)
            assert known, f"nothing is proposed: {prompt}, {self.truth}"
            await self.answer_pad(prompt, self.hand_of(0, prompt.seat or 0))
        else:
            await self.answer_pad(prompt, prompt.choices[0])

    async def judge(self, prompt: Prompt) -> None:
        """Compare the proposals with the table; the text decides the same."""
        wrong = self.differences(prompt)
        assert not wrong, (wrong, self.truth)
        await self.answer_pad(prompt, prompt.choices[0])

    def differences(self, prompt: Prompt) -> dict[str, str]:
        """Return the wagers whose proposal differs from the text's settlement of the real cards, and how."""
        if prompt.seat is None:
            return self._envy_differences(prompt)
        ends, seat = self.truth.ends(), prompt.seat
        placed = self.truth.wagers[seat]
        return {
            each.wager: f"{seat}: {each} and not {ends.get((seat, each.wager, None))}"
            for each in prompt.proposals
            if not agrees(each, ends.get((seat, each.wager, None)), placed.get(each.wager, 0))
        }

    def _envy_differences(self, prompt: Prompt) -> dict[str, str]:
        """Return how proposed envy differs from the text: who is paid how much for which hand."""
        rules = self.casino.edition.progressive
        sensed = "" if rules is None else rules.wager
        due = {key: end.paid for key, end in self.truth.ends().items() if key[2] is not None and key[1] != sensed}
        proposed = {(each.envy_to or 0, each.wager, each.envy_of): each.paid_cents for each in prompt.proposals}
        return {} if proposed == due else {"envy": f"{proposed} and not {due}"}

    async def settle_by_touch(self, prompt: Prompt) -> None:
        """Settle the main wager of a seat as the dealer sees it."""
        seat, wager = prompt.seat or 0, self.truth.required()
        assert self.settles_alone(seat), f"nothing is proposed: {prompt}, {self.truth}"
        outcome = self.truth.ends()[seat, wager, None].outcome
        stated: dict[str, Any] = {outcome: (seat,)}
        reply = await self.send(ev.SeatsSettled(who=DEALER, **stated))
        assert not reply.refused, (reply.refused, prompt)
        self.seen["settled by touch"] += 1

    def settles_alone(self, seat: int) -> bool:
        """Return whether the box cannot propose how a seat is settled."""
        return not self.enters_cards(seat) or seat in self.truth.gave_up

    async def rule(self, prompt: Prompt) -> None:
        """A floorperson rules about a dispute."""
        raise AssertionError(f"nobody disputes at this table: {prompt}")

    async def pay_envy_alone(self, prompt: Prompt) -> None:
        """Pay envy by the cards on the table, where not all of them are known to the box."""
        assert self.by_touch or self.truth.gave_up or self.truth.dead, f"no envy is proposed: {self.truth}"
        await self.answer_pad(prompt, prompt.choices[0])

    async def judge_envy(self, prompt: Prompt) -> None:
        """Enter whether a hand pays envy; known cards leave only what is true."""
        choice = self.envy_seen(prompt)
        assert choice in prompt.choices, (choice, prompt, self.truth)
        await self.answer_pad(prompt, choice)

    def envy_seen(self, prompt: Prompt) -> str:
        """Return whether a hand pays envy, as the dealer sees it."""
        pays = any(of == prompt.seat for _, _, of in self.truth.ends())
        lines = [choice for choice in prompt.choices if choice not in ("no", "announced", "disputed")]
        if lines:
            line = self.envied_line(prompt, prompt.seat or 0)
            return line if line != "none" else "no"
        return "announced" if pays else "no"

    def is_recorded(self, key: Key) -> bool:
        """Return whether the journal must have the result of a wager: its cards were entered, and no meter has it."""
        seat, wager, of = key
        rules = self.casino.edition.progressive
        sensed = rules is not None and wager == rules.wager
        if of is not None:  # envy of a sensor's wager is in the meter's book
            return not (sensed or self.by_touch or self.truth.gave_up or self.truth.dead)
        if sensed:
            return self.truth.decided.get(seat) != "fold" or bool(self.casino.submission.folded_progressive)
        return self.enters_cards(seat) and seat not in self.truth.gave_up


def agrees(proposal: Proposal, end: End | None, cents: int) -> bool:
    """Return whether a proposal is what the text orders; without cents its odds are compared for the real wager."""
    if end is None or (proposal.outcome, proposal.line or None) != (end.outcome, end.line):
        return False
    if proposal.outcome != "wins":
        return True
    if proposal.paid_cents is not None:
        return proposal.paid_cents == end.paid
    won, per = proposal.odds or (0, 1)
    return proposal.fixed_cents + cents * won // per == end.paid
