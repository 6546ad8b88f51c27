"""The report of one round, read from the journal: bets, card counts, irregularities, questions, money, result.

The order of cards is not in it, because no record has it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final

from firmware_bridge.decode_errors import UNDECODABLE
from firmware_bridge.errors import ConfigurationError, RecordUnreadable
from table_controller.journal import reader, record_text
from table_controller.journal import records as rec
from table_controller.journal.accounts import last_round_before_begin
from table_controller.journal.later_records import ROUND_OPENED, add_later_records, where_retired
from table_controller.ledger.money import format_dollars
from table_controller.rulebook import GAMES, OUTCOMES, TRIGGERS, edition
from table_controller.table.dealing import place_of_position
from table_controller.table.starting_position import position_of_total

__all__ = [
    "ROUND_ENDED",
    "ROUND_OPENED",
    "UNKNOWN_TERMS",
    "RoundReport",
    "answer_text",
    "prompt_text",
    "read_round",
    "read_steps",
    "track_prompts",
]

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from table_controller.journal.chain import Record

ROUND_ENDED: Final = {"type": "StateChanged", "what": "round", "state": "idle"}
# Kinds of entries about payments to people, and their reversals.
_PAID: Final = ("award_paid", "award_returned", "hand_pay_paid", "envy", "envy_returned", "hit_withdrawn",
                "hit_reversed")  # fmt: skip
_CARDS: Final = {
    "ShuffleEnded": "shuffled", "StackInserted": "inserted into the shoe", "ShoeLoaded": "taken into the shoe",
    "DiscardsTakenIn": "taken back", "StubOut": "left as the stub", "CardsDrawn": "drawn from the shoe so far",
}  # fmt: skip


def read_steps(folder: Path) -> Iterator[tuple[Record, dict[str, Any]]]:
    """Yield every record of kind "step" or "box" with its decoded body; RecordUnreadable if one cannot be decoded."""
    for record in reader.read(folder, reader.first_place(folder).first, newest=rec.VERSION):
        try:
            if record.kind == rec.STEP:
                rec.decode_step(record.body)
            elif record.kind == rec.BOX:
                rec.decode_box(record.body)
            else:
                continue
        except UNDECODABLE as error:
            raise RecordUnreadable(f"this software did not write record {record.seq}: {error}") from error
        yield record, record_text.decode_body(record)


class RoundReport:
    """One round, built step by step. Every line begins with its time."""

    def __init__(self, number: int, terms: dict[str, Any], asked: dict[int, dict[str, Any]]) -> None:
        """`asked`: the questions that were open when the round began."""
        self.number = number
        self.terms = terms
        self.first = self.last = 0
        self.opened = self.ended = ""
        self.end = "the round has not ended in this journal"
        self.bets: list[str] = []
        self.start: list[str] = []
        self.dealt: list[str] = []
        self.irregularities: list[str] = []
        self.questions: list[str] = []
        self.paid: list[str] = []
        self.orders: list[str] = []
        self.later_findings: list[str] = []
        self._prompts = dict(asked)
        self._holds: dict[int, str] = {}
        self._seats: list[int] = []
        self._position: int | None = None
        self._places: list[int] | None = None

    # --- steps -------------------------------------------------------------------------------------------------------

    def add_step(self, record: Record, body: dict[str, Any]) -> None:
        """Add one step of the round."""
        self.first = self.first or record.seq
        self.last = record.seq
        at = f"{record_text.format_time(record.wall_ns)[11:]}  "
        event, refused = body["event"], record_text.refusal_text(body)
        if event["type"] == "OpenRound" and refused is None:
            self.opened = f"{record_text.format_time(record.wall_ns)} UTC by {record_text.person_text(event['who'])}"
        handler = self._EVENTS.get(event["type"])
        if refused is not None:
            self._not_accepted(at, event, refused)
        elif handler is not None:
            handler(self, at, event)
        for decision in body["decisions"]:
            taker = self._DECISIONS.get(decision["type"])
            if taker is not None:
                taker(self, at, decision, event)
        self.ended = record_text.format_time(record.wall_ns)[11:]

    def add_late_answer(self, record: Record, body: dict[str, Any]) -> None:
        """Add a step after the round's end: only answers to questions that the round left open."""
        at, event, refused = (
            f"{record_text.format_time(record.wall_ns)[11:]}  ",
            body["event"],
            record_text.refusal_text(body),
        )
        if event["type"] == "Answer" and event["prompt"] in self._prompts:
            if refused is None:
                self._answered(at, event)
            else:
                self._not_accepted(at, event, refused)
        for decision in body["decisions"]:
            if decision["type"] == "PromptClosed":
                self._closed(at, decision, event)

    @property
    def is_answered(self) -> bool:
        """Whether every question of the round is answered."""
        return not self._prompts

    def add_later_finding(self, record: Record, body: dict[str, Any]) -> None:
        """Add the findings of a later step that name this round, such as a deck that was incomplete all the time."""
        for decision in body["decisions"]:
            if decision["type"] == "Finding" and self.number in decision.get("rounds", ()):
                at = record_text.format_time(record.wall_ns)
                self.later_findings.append(f"{at}  record {record.seq}: {record_text.decision_text(decision)}")

    def place_text(self, number: int) -> str:
        """Return a place at the table as text."""
        return "the dealer" if number == 0 else f"seat {number}"

    def _in_order(self) -> list[int] | None:
        """Return the places in the order of the deal; None if the starting position is unknown."""
        seats = list(range(1, self.terms["seats"] + 1)) if self.terms["all_places"] else sorted(self._seats)
        places = [*seats, *([0] if self.terms["dealer_hand"] else [])]
        if self._position is None:
            return None if _begins_at_position(self.terms["game"]) else places
        first = places.index(place_of_position(self._position)) if place_of_position(self._position) in places else 0
        return places[first:] + places[:first]

    # --- events ------------------------------------------------------------------------------------------------------

    def _dice(self, at: str, event: dict[str, Any]) -> None:
        total = sum(event["values"])
        self._position = position_of_total(total)
        values = ", ".join(map(str, event["values"]))
        self.start.append(
            f"{at}dice {values}, total {total}: position {self._position}, "
            f"{self.place_text(place_of_position(self._position))}"
        )

    def _drawn(self, at: str, event: dict[str, Any]) -> None:
        self._position = event["number"]
        self.start.append(f"{at}number {event['number']} drawn: {self.place_text(place_of_position(event['number']))}")

    def _button(self, at: str, event: dict[str, Any]) -> None:
        self._position = event["number"]
        self.start.append(f"{at}the flat button is at position {event['number']}")

    def _stack(self, at: str, event: dict[str, Any]) -> None:
        if self._places is None:
            self._places = self._in_order()
        whole = event["count"] >= self.terms["hand"] or self.terms["hand"] == 1
        to = f"to {self.place_text(self._places.pop(0))}" if whole and self._places else "of the deal"
        self.dealt.append(f"{at}{_count(event['count'])} {to}, counted by {event['slot']}")

    def _released(self, at: str, event: dict[str, Any]) -> None:
        unread = f", {event['unread']} not identified" if event["unread"] else ""
        self.dealt.append(f"{at}{event['slot']} releases a hand: {event['cards']}{unread}")

    def _counted(self, at: str, event: dict[str, Any]) -> None:
        count = "not counted" if event["count"] is None else _count(event["count"])
        self.dealt.append(f"{at}{count} {_CARDS[event['type']]}, {event['slot']}")

    def _sensed(self, at: str, event: dict[str, Any]) -> None:
        chip = "a chip is on the spot" if event["bet"] else "no chip is on the spot"
        if not event.get("clear", True):
            chip = "the sensor cannot decide whether one chip is on the spot"
        self.bets.append(f"{at}seat {event['seat']} locked by its sensor: {chip}")

    def _late(self, at: str, event: dict[str, Any]) -> None:
        self.bets.append(f"{at}seat {event['seat']}: a chip was placed after the lock-out; it does not count")

    def _not_accepted(self, at: str, event: dict[str, Any], why: str) -> None:
        """Add a refused answer. Other refused entries are listed under orders by `_refused`."""
        prompt = self._prompts.get(event["prompt"]) if event["type"] == "Answer" else None
        if prompt is not None:
            who = record_text.person_text(event["who"])
            self.questions.append(f"{at}{prompt_text(prompt)}: REFUSED {answer_text(event)} ({who}): {why}")

    def _answered(self, at: str, event: dict[str, Any]) -> None:
        prompt = self._prompts.get(event["prompt"])
        if prompt is None:
            return
        answer, who = answer_text(event), record_text.person_text(event["who"])
        clauses = f"  [{', '.join(prompt['clauses'])}]" if prompt["clauses"] else ""
        self.questions.append(f"{at}{prompt_text(prompt)}: {answer} ({who}){clauses}")
        if prompt["kind"] == "seats":
            self._seats = list(event.get("seats", ()))
            seats = ", ".join(map(str, self._seats)) or "none"
            self.bets.append(f"{at}seats with a wager: {seats}, entered by {record_text.person_text(event['who'])}")
        elif prompt["kind"] == "dealt":
            for place in self._in_order() or []:
                self.dealt.append(
                    f"{at}{_count(self.terms['hand'])} to {self.place_text(place)}, confirmed by the dealer"
                )
        elif prompt["kind"] == "additional_cards":
            to = self.place_text(prompt["seat"] or 0)
            self.dealt.append(f"{at}{_count(self.terms['second'])} more to {to}, confirmed by the dealer")

    def _ordered(self, at: str, event: dict[str, Any]) -> None:
        self.orders.append(f"{at}{record_text.event_text(event)}")

    # --- decisions ---------------------------------------------------------------------------------------------------

    def _moved(self, at: str, decision: dict[str, Any], _event: dict[str, Any]) -> None:
        if decision["what"] != "round":
            return
        if decision["state"] == "void":
            self.end = f"{at}void: the round does not count"
        elif decision["state"] == "complete":
            self.end = f"{at}played to its end"
        elif decision["state"] == "betting":
            self.bets.append(f"{at}wagers open")
        elif decision["state"] == "no_more_bets":
            self.bets.append(f"{at}no more bets")

    def _prompted(self, _at: str, decision: dict[str, Any], _event: dict[str, Any]) -> None:
        self._prompts[decision["id"]] = decision

    def _closed(self, at: str, decision: dict[str, Any], _event: dict[str, Any]) -> None:
        prompt = self._prompts.pop(decision["id"], None)
        if prompt is not None and decision["choice"] is None:
            self.questions.append(f"{at}{prompt_text(prompt)}: no answer is needed any more")

    def _irregularity(self, at: str, decision: dict[str, Any], event: dict[str, Any]) -> None:
        trigger = decision["trigger"]
        text = TRIGGERS.get(trigger, record_text.to_words(trigger))
        about = ", ".join(f"{key} {decision[key]}" for key in ("slot", "deck", "seat") if decision.get(key) is not None)
        self._holds[decision["hold"]] = trigger
        self.irregularities.append(
            f"{at}{text}" + (f" ({about})" if about else "") + f"  [{', '.join(decision['clauses'])}]"
        )
        if event["type"] == "IrregularityReported":
            self.irregularities.append(f"          reported by {record_text.person_text(event['who'])}")
        for outcome in decision["outcomes"]:
            ordered = OUTCOMES.get(outcome, record_text.to_words(outcome)).partition(";")[0]
            self.irregularities.append(f"          ordered: {ordered}")

    def _cleared(self, at: str, decision: dict[str, Any], event: dict[str, Any]) -> None:
        trigger = self._holds.get(decision["hold"], f"irregularity {decision['hold']}")
        who = record_text.person_text(event["who"]) if event.get("who") else decision["credential"]
        self.irregularities.append(f"{at}{record_text.to_words(trigger)}: carried out and acknowledged by {who}")

    def _finding(self, at: str, decision: dict[str, Any], _event: dict[str, Any]) -> None:
        self.irregularities.append(f"{at}{record_text.decision_text(decision)}")

    def _refused(self, at: str, decision: dict[str, Any], event: dict[str, Any]) -> None:
        who = f" ({record_text.person_text(event['who'])})" if event.get("who") else ""
        why = "; ".join(f"{reason['text']} [{reason['clause']}]" for reason in decision["reasons"])
        self.orders.append(f"{at}refused{who}: {decision['what']}" + (f": {why}" if why else ""))

    def _accepted(self, at: str, decision: dict[str, Any], _event: dict[str, Any]) -> None:
        entry = decision["entry"]
        parts = ", ".join(f"{format_dollars(t['amount'])} to the {t['to']}" for t in entry["transfers"])
        self.bets.append(
            f"{at}seat {decision['seat']}: progressive bet of {format_dollars(decision['amount'])} accepted: {parts}; "
            f"the meter shows {format_dollars(entry['meter_after'])}  [{', '.join(entry['clauses'])}]"
        )

    def _returned(self, at: str, decision: dict[str, Any], _event: dict[str, Any]) -> None:
        bet, shows = format_dollars(decision["amount"]), format_dollars(decision["entry"]["meter_after"])
        self.paid.append(
            f"{at}seat {decision['seat']}: progressive bet of {bet} is returned, and its contribution is reversed; "
            f"the meter shows {shows}  [{', '.join(decision['clauses'])}]"
        )

    def _settled(self, at: str, decision: dict[str, Any], _event: dict[str, Any]) -> None:
        self.paid.append(
            f"{at}seat {decision['seat']}: progressive bet {decision['outcome']}  [{', '.join(decision['clauses'])}]"
        )

    def _wager_settled(self, at: str, decision: dict[str, Any], _event: dict[str, Any]) -> None:
        text, clauses = record_text.decision_text(decision), ", ".join(decision["result"]["clauses"])
        self.paid.append(f"{at}{text}  [{clauses}]")

    def _claimed(self, at: str, decision: dict[str, Any], _event: dict[str, Any]) -> None:
        entry, hand = decision["entry"], record_text.to_words(decision["hand"])
        fixed, share = format_dollars(decision["fixed"]), format_dollars(decision["share"])
        before, after = format_dollars(entry["meter_before"]), format_dollars(entry["meter_after"])
        unsure = "" if decision.get("final", True) else "; provisional"
        self.paid.append(
            f"{at}seat {decision['seat']}: {hand} claimed: {fixed} fixed and {share} of the meter, "
            f"which goes from {before} to {after}{unsure}"
        )

    def _rebooked(self, at: str, decision: dict[str, Any], _event: dict[str, Any]) -> None:
        entry, hand = decision["entry"], record_text.to_words(decision["hand"])
        fixed, share = format_dollars(decision["fixed"]), format_dollars(decision["share"])
        before, after = format_dollars(entry["meter_before"]), format_dollars(entry["meter_after"])
        unsure = "" if decision.get("final", True) else "; provisional"
        self.paid.append(
            f"{at}seat {decision['seat']}: {hand} booked again: {fixed} fixed and {share} of the meter, "
            f"which goes from {before} to {after}{unsure}"
        )

    def _booked(self, at: str, decision: dict[str, Any], _event: dict[str, Any]) -> None:
        entry = decision["entry"]
        if entry["kind"] in _PAID:
            seat = f"seat {entry['seat']}: " if entry.get("seat") is not None else ""
            document = f", {entry['document']}" if entry.get("document") else ""
            clauses = f"  [{', '.join(entry['clauses'])}]" if entry.get("clauses") else ""
            self.paid.append(f"{at}{seat}{record_text.entry_text(entry)}{document}{clauses}")

    def _wagers(self, at: str, decision: dict[str, Any], _event: dict[str, Any]) -> None:
        whose = "all wagers" if decision.get("seat") is None else f"the wagers of seat {decision['seat']}"
        but = f", but {', '.join(decision['settled'])} are settled" if decision["settled"] else ""
        but += f", but {', '.join(decision['kept'])} are collected" if decision.get("kept") else ""
        self.paid.append(f"{at}{whose} are returned{but}  [{', '.join(decision['clauses'])}]")

    _EVENTS: ClassVar[dict[str, Callable[[RoundReport, str, dict[str, Any]], None]]] = {
        "DiceRead": _dice, "NumberDrawn": _drawn, "ButtonSeen": _button, "StackOut": _stack,
        "HandReleased": _released,
        "SeatLatched": _sensed, "LateBet": _late, "Answer": _answered, "IrregularityReported": _ordered,
        "Ordered": _ordered, "SlotOrdered": _ordered, "DealerChanged": _ordered, "BoxStarted": _ordered,
        "ShoeFault": _ordered, "ShuffleFailed": _ordered, **dict.fromkeys(_CARDS, _counted),
    }  # fmt: skip
    _DECISIONS: ClassVar[dict[str, Callable[[RoundReport, str, dict[str, Any], dict[str, Any]], None]]] = {
        "StateChanged": _moved, "Prompt": _prompted, "PromptClosed": _closed, "HoldOpened": _irregularity,
        "HoldCleared": _cleared, "Finding": _finding, "RequestRefused": _refused, "BetAccepted": _accepted,
        "BetReturned": _returned, "BetSettled": _settled, "HitClaimed": _claimed, "Booked": _booked,
        "WagersReturned": _wagers, "HitRebooked": _rebooked, "WagerSettled": _wager_settled,
    }  # fmt: skip

    # --- text --------------------------------------------------------------------------------------------------------

    def sections(self) -> list[tuple[str, list[str]]]:
        """Return titles with lines; a section may be empty."""
        return [
            ("Wagers and bets (no device measures the amounts of main wagers)", self.bets),
            ("Starting position", self.start),
            ("Cards, as counts (their order is not recorded)", self.dealt),
            ("Irregularities and notes", self.irregularities),
            ("Questions and answers", self.questions),
            ("Reports, orders and refusals", self.orders),
            ("Settled and paid", self.paid),
            ("Later findings that name this round", self.later_findings),
            ("Open questions", [prompt_text(prompt) for prompt in self._prompts.values()]),
        ]

    def lines(self) -> list[str]:
        """Return the report as lines of text."""
        game = f"{self.terms['title']} ({self.terms['chapter']})"
        text = [
            f"Round {self.number} of {game}, records {self.first} to {self.last}",
            f"opened {self.opened or 'before this journal'}; last record {self.ended}",
        ]
        for title, lines in self.sections():
            if lines:
                text += ["", title, *(f"  {each}" for each in lines)]
        return [*text, "", "Result", f"  {self.end}"]


def _begins_at_position(game: str) -> bool:
    """Whether the deal of a game begins at a starting position; of a game unknown here it begins at the far left."""
    return game in GAMES and edition(game).deal.begins == "starting_position"


def _count(cards: int) -> str:
    return f"{cards} card{'' if cards == 1 else 's'}"


def answer_text(event: dict[str, Any]) -> str:
    """Return the answer as text."""
    text = str(event["choice"]).replace("_", " ")
    if event.get("number") is not None:
        text += f", {event['number']}"
    if event.get("seats"):
        text += f", seats {', '.join(map(str, event['seats']))}"
    return text


def prompt_text(prompt: dict[str, Any]) -> str:
    """Return the role and the question as text."""
    about = ", ".join(f"{key} {prompt[key]}" for key in ("deck", "seat", "slot") if prompt.get(key) is not None)
    parts = [part for part in prompt["kind"].split("/") if part != prompt["role"]]  # as opening/inspect/dealer
    return f"{prompt['role']} asked: {record_text.to_words(', '.join(parts))}" + (f" ({about})" if about else "")


def track_prompts(asked: dict[int, dict[str, Any]], decisions: list[dict[str, Any]]) -> None:
    """Update the open questions from the decisions of a step."""
    for decision in decisions:
        if decision["type"] == "Prompt":
            asked[decision["id"]] = decision
        elif decision["type"] == "PromptClosed":
            asked.pop(decision["id"], None)


def read_round(folder: Path, number: int) -> RoundReport:
    """Return the report of one round; ConfigurationError names the rounds that the journal has."""
    at = begun = last_round_before_begin(folder)
    story: RoundReport | None = None
    terms: dict[str, Any] | None = None
    asked: dict[int, dict[str, Any]] = {}
    for record, body in read_steps(folder):
        if record.kind == rec.BOX:
            terms = body.get("terms") or terms
            continue
        if ROUND_OPENED in body["decisions"]:
            at += 1
            if at == number:
                story = RoundReport(number, terms or UNKNOWN_TERMS, asked)
        if story is None:
            track_prompts(asked, body["decisions"])
        else:
            story.add_step(record, body)
            if ROUND_ENDED in body["decisions"]:
                add_later_records(folder, story, record.seq + 1)
                return story
    if story is None:
        there = f"rounds {begun + 1} to {at}" if at > begun else "no round"
        gone = where_retired(folder, number) if 0 < number <= begun else ""
        raise ConfigurationError(f"there is no round {number} in {folder}; it contains {there}{gone}")
    return story


# For a journal without recorded terms: only what was recorded is shown, nothing is derived.
UNKNOWN_TERMS: Final[dict[str, Any]] = {
    "game": "", "title": "an unnamed game", "chapter": "no terms recorded", "seats": 6, "cards": 0, "hand": 1,
    "second": 0, "all_places": False, "dealer_hand": False, "dealing": "",
}  # fmt: skip
