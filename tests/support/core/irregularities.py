"""How irregularities are reported at a table, and what follows until people have cleared them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from devices.service import IN_SERVICE
from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from table_controller.table.decisions import Command, HoldOpened, RequestRefused, StateChanged, WagersReturned
from tests.support.core.ideal_table import AUDITOR, DEALER, FLOOR, PEOPLE, decisions_of
from tests.support.core.ruling_scripts import RULING_SCRIPTS
from tests.support.core.setups import KINDS, kind_of, restored_copy, table_at

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from table_controller.table.decisions import Decision, Prompt
    from tests.support.core.ideal_table import IdealTable

SEAT: Final = 3
SHOE: Final = "shoe.1"
SHUFFLER: Final = "shuffler.1"
SHAKER: Final = "shaker.1"
# What moves a card, or what decides where the first one goes.
MOVES: Final = ("shuffle", "eject", "insert", "load", "dispense", "start_round", "give_stub", "arm_dice", "draw")
_MOST_STEPS: Final = 20  # more than any ruling asks for
_NEEDS_SEAT: Final = ("player_card_exposed", "additional_cards_missed")


# --- how it arrives ---------------------------------------------------------------------------------------------------


def _declared(floor: IdealTable, trigger: str) -> list[Decision]:
    """Report it as the dealer, for a seat if the trigger needs one."""
    seat = SEAT if trigger in _NEEDS_SEAT else None
    return floor.step(ev.IrregularityReported(trigger, DEALER, seat=seat))


def _at_seat(floor: IdealTable, trigger: str) -> list[Decision]:
    return floor.step(ev.IrregularityReported(trigger, DEALER, seat=SEAT))


def _no_roll(floor: IdealTable, trigger: Any) -> list[Decision]:
    return floor.step(ev.NoRollReported(SHAKER, trigger))


def _announced(floor: IdealTable, _trigger: str) -> list[Decision]:
    floor.step(ev.DiceRead(SHAKER, floor.dice))
    return floor.answer_prompt("announce", number=sum(floor.dice) + 1)


def _seen_face_up(floor: IdealTable, _trigger: str) -> list[Decision]:
    return floor.step(ev.FaceUpSeen(SHOE))


def _seen_again(floor: IdealTable, trigger: str) -> list[Decision]:
    """A second face-up card, after the first was cleared."""
    _seen_face_up(floor, trigger)
    floor.clear_holds()
    floor.step(ev.StackTaken(SHOE))
    return _seen_face_up(floor, trigger)


def _declared_again(floor: IdealTable, trigger: str) -> list[Decision]:
    _at_seat(floor, "face_up_card_first")
    floor.clear_holds()
    return _at_seat(floor, trigger)


def _surrendered(floor: IdealTable, _trigger: str) -> list[Decision]:
    """A surrendered hand is counted, and a card is missing."""
    floor.answer_prompt("settled", "surrendered")
    floor.answer_prompt("surrender_collected")
    return floor.answer_prompt("surrender_count", number=floor.edition.hand.cards - 1)


def _stub(finding: str) -> Callable[[IdealTable, str], list[Decision]]:
    def arrives(floor: IdealTable, _trigger: str) -> list[Decision]:
        """A wrong stub by the count of shoe and people; then a floorperson names the finding."""
        if floor.phase == mc.STUB_CHECK and not floor.prompts("stub"):
            floor.step(ev.StubOut(SHOE, 3))
        while floor.prompts("stub"):
            floor.answer_prompt("stub", number=3)
        return floor.answer_prompt("finding", finding)

    return arrives


def _shoe_jam(floor: IdealTable, _trigger: str) -> list[Decision]:
    return floor.step(ev.ShoeFault(SHOE, 3))


def _short_stack(floor: IdealTable, _trigger: str) -> list[Decision]:
    return floor.step(ev.StackOut(SHOE, floor.edition.hand.cards - 1))


def _shoe_fault(floor: IdealTable, _trigger: str) -> list[Decision]:
    return floor.step(ev.SlotChanged(SHOE, "fault"))


def _late_shoe_jam(floor: IdealTable, trigger: str) -> list[Decision]:
    """The shoe lost its link before it gave its stub out; it is back, hands took the stub, and now it jams."""
    goal = floor.phase
    floor.table.restore(table_at(floor.edition.game, kind_of(floor), mc.STUB_CHECK).table.snapshot())
    for id_ in list(floor.state.commands):
        floor.step(ev.CommandEnded(id_, "unknown"))
    for id_ in list(floor.state.commands):
        floor.step(ev.CommandEnded(id_, "revoked"))
    floor.play_to(goal)
    floor.step(ev.SlotChanged(SHOE, "verify"))
    return _shoe_jam(floor, trigger)


def _jam(floor: IdealTable, _trigger: str) -> list[Decision]:
    return floor.step(ev.ShuffleFailed(SHUFFLER, 3, None))


def _cycle_jam(floor: IdealTable, trigger: str) -> list[Decision]:
    """A deck is shuffled again by order of a floorperson and jams the shuffler."""
    floor.order("reshuffle", deck="red" if "red" in floor.state.decks else "blue")
    floor.clear_holds()
    floor.step(ev.CardsInserted(SHUFFLER))
    return _jam(floor, trigger)


def _again_jam(floor: IdealTable, trigger: str) -> list[Decision]:
    """The deck of a round that has no card yet was counted, is shuffled again, and jams the shuffler."""
    floor.step(ev.IrregularityReported("count_wrong", DEALER, deck="blue"))
    floor.clear_holds()
    floor.step(ev.CardsInserted(SHUFFLER))
    return _jam(floor, trigger)


def _jam_given_up(floor: IdealTable, trigger: str) -> list[Decision]:
    """The shuffler jams and is taken out of service."""
    _jam(floor, trigger)
    return floor.step(ev.SlotOrdered(SHUFFLER, "give_up", FLOOR))


def _shuffler_fault(floor: IdealTable, _trigger: str) -> list[Decision]:
    return floor.step(ev.SlotChanged(SHUFFLER, "fault"))


def _given_up(slot: str) -> Callable[[IdealTable, str], list[Decision]]:
    return lambda floor, _: floor.step(ev.SlotOrdered(slot, "give_up", FLOOR))


def _declared_of(slot: str) -> Callable[[IdealTable, str], list[Decision]]:
    return lambda floor, trigger: floor.step(ev.IrregularityReported(trigger, DEALER, slot=slot))


def _counted(deck: str) -> Callable[[IdealTable, str], list[Decision]]:
    return lambda floor, trigger: floor.step(ev.IrregularityReported(trigger, DEALER, deck=deck))


def _cycle_count(floor: IdealTable, _trigger: str) -> list[Decision]:
    """A shuffler that counts finds a card too few in the deck that it shuffles."""
    floor.order("reshuffle", deck="red" if "red" in floor.state.decks else "blue")
    floor.clear_holds()
    floor.step(ev.CardsInserted(SHUFFLER))
    return floor.step(ev.ShuffleEnded(SHUFFLER, floor.edition.cards.count - 1, shuffled=True))


ARRIVALS: Final[dict[str, Callable[[IdealTable, str], list[Decision]]]] = {
    "declared": _declared,
    "at_seat": _at_seat,
    "no_roll": _no_roll,
    "announced": _announced,
    "seen": _seen_face_up,
    "seen_again": _seen_again,
    "declared_again": _declared_again,
    "surrendered": _surrendered,
    "not_misdealt": _stub("not_misdealt"),
    "total_right": _stub("misdealt_total_right"),
    "total_wrong": _stub("misdealt_total_wrong"),
    "shoe_jam": _shoe_jam,
    "short_stack": _short_stack,
    "shoe_fault": _shoe_fault,
    "late_jam": _late_shoe_jam,
    "jam": _jam,
    "cycle_jam": _cycle_jam,
    "fault": _shuffler_fault,
    "shuffler": _given_up(SHUFFLER),
    "shoe": _given_up(SHOE),
    "shaker": _given_up(SHAKER),
    "rng": _given_up("rng.1"),
    "sensor": _given_up("bet_sensor.2"),
    "button": _given_up("button.1"),
    "keypad": _given_up("keypad.1"),
    "sign": _given_up("meter_sign.1"),
    "jam_given_up": _jam_given_up,
    "again_jam": _again_jam,
    "declared_shuffler": _declared_of(SHUFFLER),
    "declared_shoe": _declared_of(SHOE),
    "blue": _counted("blue"),
    "red": _counted("red"),
    "cycle_count": _cycle_count,
}


# --- what follows -----------------------------------------------------------------------------------------------------


def prompt_text(prompt: Prompt) -> str:
    """Return a prompt as one line: role, kind, choices or evidence."""
    words = [prompt.role, prompt.kind]
    if prompt.choices not in (("done",), ("acknowledged",)):
        words.append("/".join(prompt.choices))
    if prompt.number:
        words.append("#")
    return " ".join([*words, *(f"+{seen}" for seen in prompt.evidence)])


def _next(floor: IdealTable, hold: int) -> Prompt:
    """Return the prompt of a hold; first end commands of devices that still move its cards."""
    if not any(p.hold == hold for p in floor.prompts()):
        for id_, issued in list(floor.state.commands.items()):
            if issued.act == "shuffle":
                floor.step(ev.CommandEnded(id_, "done"))
            else:
                for event in floor.answer(Command(id_, issued.slot, issued.act, issued.number)):
                    floor.step(event)
    (prompt,) = (p for p in floor.prompts() if p.hold == hold)
    return prompt


def _others_refused(floor: IdealTable, prompt: Prompt) -> None:
    """Check that other roles and unknown choices are refused."""
    for role, person in {**PEOPLE, "auditor": AUDITOR}.items():
        if role != prompt.role:
            decided = floor.step(ev.Answer(prompt.id, prompt.choices[0], person, 1, (1,)))
            assert [type(one) for one in decided] == [RequestRefused], (role, decided)
    decided = floor.step(ev.Answer(prompt.id, "deal_anyway", PEOPLE[prompt.role], 1, (1,)))
    assert [type(one) for one in decided] == [RequestRefused], decided


def press_on(floor: IdealTable) -> list[Decision]:
    """Return the decisions if people ignore the irregularity, on a copy of the table."""
    other = restored_copy(floor, floor.table.snapshot())
    decided: list[Decision] = []
    events: list[ev.Event] = [ev.NoMoreBets(DEALER), ev.StackTaken(SHOE)]
    for prompt in other.prompts():
        if prompt.hold is None:
            events += other.answer(prompt)
    for id_, issued in other.state.commands.items():
        events += other.answer(Command(id_, issued.slot, issued.act, issued.number))
    for event in [*events, ev.OpenRound(DEALER)]:
        if not isinstance(event, ev.StackTaken) or SHOE in other.state.slots:
            decided += other.step(event)
    return decided


def follow_ruling(floor: IdealTable, irregularity: HoldOpened, choice: str, *, press: bool) -> list[str]:
    """Answer the prompts of a hold one by one; return the prompts and their effects."""
    lines: list[str] = []
    while irregularity.hold in floor.state.holds:
        assert len(lines) < _MOST_STEPS, f"an irregularity that does not end: {lines}"
        prompt = _next(floor, irregularity.hold)
        assert prompt.clauses == irregularity.clauses, prompt
        lines.append(prompt_text(prompt))
        if press:
            _others_refused(floor, prompt)
            _stands_still(floor)
        events = floor.answer(prompt)
        if prompt.kind == "choose":
            events = [ev.Answer(prompt.id, choice, PEOPLE[prompt.role])]
        decided = [one for event in events for one in floor.step(event)]
        for command in decisions_of(Command, decided):
            if command.act in ("clear_out", "stop"):
                decided += [one for event in floor.answer(command) for one in floor.step(event)]
        lines += moves_text(decided)
    return lines


def _stands_still(floor: IdealTable) -> None:
    """Check that people who ignore the irregularity get no card and open no round."""
    decided = press_on(floor)
    round_ = [one.state for one in decisions_of(StateChanged, decided) if one.what == "round"]
    cards = [one for one in decisions_of(Command, decided) if one.act in MOVES]
    (opened,) = (one for one in decisions_of(RequestRefused, decided[-1:]))
    if floor.table.context.is_round_stopped:
        assert set(round_) <= {mc.NO_MORE_BETS}, f"the round went on: {round_}"  # closing the bets is always safe
        assert [one for one in cards if floor.table.deck_at(one.slot) == floor.round_.deck] == [], cards
    else:
        assert mc.VOID not in round_, "a round that is not concerned was voided"
    assert {"any_irregularity", "round_open"} & {reason.key for reason in opened.reasons}, opened


def moves_text(decided: list[Decision]) -> list[str]:
    """Return the changes of round, decks and wagers."""
    lines = []
    for one in decided:
        if isinstance(one, StateChanged) and one.what.startswith(("round", "deck")):
            lines.append(f"{one.what}: {one.state}")
        elif isinstance(one, WagersReturned):
            who = "all wagers" if one.seat is None else f"wagers of seat {one.seat}"
            lines.append(" but ".join([f"{who} go back", *([" ".join(one.settled)] if one.settled else [])]))
    return [line for line in lines if line != "round: idle"]  # checked at the end


# --- tables of cases --------------------------------------------------------------------------------------------------


class IrregularityCase(NamedTuple):
    """One case: a trigger at tables of some kinds in some phases, the expected script, evidence and clauses."""

    game: str
    trigger: str
    how: str
    kinds: tuple[str, ...]
    phases: tuple[str, ...]
    behavior: str
    evidence: tuple[str, ...]
    cites: tuple[str, ...]

    @property
    def id(self) -> str:
        """The case in one word."""
        return "-".join([self.trigger, self.how, *self.kinds, *self.phases[:1]])


class CaseCell(NamedTuple):
    """One case at one table in one phase, with one choice."""

    case: IrregularityCase
    kind: str
    phase: str
    choice: str


def parse(game: str, text: str) -> list[IrregularityCase]:
    """Parse headings `= SCRIPT evidence : clauses`, each followed by lines `trigger how | kinds | phases`."""
    cases: list[IrregularityCase] = []
    behavior = ""
    evidence: tuple[str, ...] = ()
    cites: tuple[str, ...] = ()
    for line in text.strip().splitlines():
        if line.startswith("="):
            then, _, cited = line.removeprefix("=").partition(":")
            behavior, *seen = then.split()
            script = RULING_SCRIPTS[behavior]
            evidence = tuple(seen) or tuple(script.evidence.split())
            cites = (script.cites,) if script.cites else tuple(cited.split())
        else:
            (trigger, how), kinds, phases = (part.split() for part in line.split("|"))
            cases.append(IrregularityCase(game, trigger, how, tuple(kinds), tuple(phases), behavior, evidence, cites))
    return cases


def cells(case: IrregularityCase) -> Iterator[CaseCell]:
    """Every table, phase and choice of a case."""
    for kind in case.kinds:
        for phase in case.phases:
            for choice in RULING_SCRIPTS[case.behavior].branches or ("",):
                yield CaseCell(case, kind, phase, choice)


def check(cell: CaseCell, *, whole: bool = True) -> None:
    """Bring a table to the phase, trigger the irregularity, and compare what follows with the script.

    `whole`: also try to ignore it at every step, and play on afterwards.
    """
    case, script = cell.case, RULING_SCRIPTS[cell.case.behavior]
    floor = table_at(case.game, cell.kind, cell.phase)
    before = {deck.name: deck.state for deck in floor.state.decks.values()}
    under_way = floor.table.context.is_round_under_way
    decided = ARRIVALS[case.how](floor, case.trigger)
    every = decisions_of(HoldOpened, decided)
    matching = [one for one in every if one.trigger == case.trigger]
    if not script.orders:
        assert every == []
        assert bool(decisions_of(RequestRefused, decided)) is (case.behavior == "REFUSED"), decided
        return
    assert len(matching) == 1, f"{case.trigger} was not found: {decided}"
    hold = floor.state.holds[matching[0].hold]
    assert " ".join(matching[0].outcomes) == script.orders
    assert matching[0].clauses == case.cites
    assert hold.this_round is script.stops_round, "whether the round stands still"
    deck = hold.deck or floor.round_.deck or "blue"
    place = mc.RACK if before.get(deck) == mc.IN_PLAY else mc.STACKED
    seen = "".join(f" +{each}" for each in case.evidence)
    words = {"deck": deck, "rest": place, "seen": seen}
    if script.at_once or len(every) == 1:  # with two irregularities the other one may have voided the round
        assert moves_text(decided) == _expected_lines(script.at_once, words)
    assert follow_ruling(floor, matching[0], cell.choice, press=whole) == _expected_lines(
        script.branches[cell.choice], words
    )
    if whole:
        _goes_on(floor, cell, under_way=under_way, void="round: void" in script.at_once + script.branches[cell.choice])


def _expected_lines(text: str, words: dict[str, str]) -> list[str]:
    return [line for line in text.format(**words).split("; ") if line]


def _goes_on(floor: IdealTable, cell: CaseCell, *, under_way: bool, void: bool) -> None:
    """Check that the cleared round can be played to its end, and that another one can open."""
    floor.clear_holds()
    for id_, issued in list(floor.state.commands.items()):
        if issued.act == "return_to_service":
            floor.step(ev.CommandEnded(id_, "done"))
            floor.step(ev.SlotChanged(issued.slot, "verify"))
    if any(slot.state != IN_SERVICE for slot in floor.state.slots.values()):
        return  # devices out of order are tested elsewhere
    decided = floor.settle()
    if floor.phase == mc.BETTING:
        decided += floor.play(ev.NoMoreBets(DEALER))
    ended = [one.state for one in decisions_of(StateChanged, decided) if one.what == "round"]
    assert floor.phase == mc.IDLE
    assert (mc.COMPLETE in ended) is (under_way and not void), ended
    decks_needed = len(KINDS[cell.case.game][cell.kind].decks)
    if len(floor.table.context.decks_at_table()) < decks_needed:
        floor.play(ev.DeckReceived("green", DEALER))
    decided_open = floor.step(ev.OpenRound(DEALER))
    assert floor.phase == mc.BETTING, decided_open
