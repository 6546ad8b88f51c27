"""Checks the events at the table record by record: commands, permits, prompts, cards, and the resulting money."""

from __future__ import annotations

from collections import Counter
from typing import Any

from tools.export_checks.basics import FIRST, FOURTH, SECOND, Json, need, person
from tools.export_checks.hands import HandCheck
from tools.export_checks.hits import ROLES, AnsweredPrompt
from tools.export_checks.money import MoneyCause, MoneyCheck

# The states of a round that may follow each state.
NEXT = {
    "idle": ["betting"], "betting": ["no_more_bets", "void"], "no_more_bets": ["locked", "void"],
    "locked": ["starting_position", "dealing", "void"], "starting_position": ["dealing", "void"],
    "dealing": ["stub_check", "playing", "void"], "stub_check": ["playing", "void"], "playing": ["settling", "void"],
    "settling": ["complete", "void"], "complete": ["idle", "settling"], "void": ["idle"],
}  # fmt: skip
# The commands that must precede each report of a device.
REPORTS = {
    "StackOut": ("dispense",),
    "ShuffleEnded": ("shuffle",),
    "ShoeLoaded": ("load",),
    "DiscardsTakenIn": ("load",),
    "StubOut": ("give_stub",),
    "NumberDrawn": ("draw",),
    "DiceRead": ("arm_dice",),
    "DeckGivenOut": ("eject", "clear_out"),
    "StackInserted": ("insert",),
    "HandReleased": ("release_cards",),
}
CARDS = ("HandEntered", "SettingEntered", "ReplacementEntered")
DEALS = ("dispense", "start_round")
MOVES = (
    "shuffle", "eject", "insert", "load", "dispense", "start_round", "give_stub", "arm_dice", "draw",
    "return_to_service",
)  # fmt: skip
OF_THE_ROUND = ("dispense", "start_round", "give_stub", "arm_dice", "draw")
WHOLE_DECK = ("cards_together", "deck_counted", "count_deck")


class TableCheck:
    """Checks events and decisions record by record."""

    def __init__(self) -> None:
        self.terms: Json = {}
        self.digests: Json = {}
        self.was: Json = {}  # the digests for which the terms were recorded
        self.migrated: Json = {}  # the digests that the last migration led to
        self.money = MoneyCheck()
        self.commands: dict[int, Json] = {}
        self.prompts: dict[int, Json] = {}
        self.holds: dict[int, Json] = {}
        self.decks: dict[str, str] = {}
        self.ids: set[int] = set()
        self.round = 0
        self.state, self.bets = "idle", "closed"
        self.counts: Counter[str] = Counter()
        self.asked: AnsweredPrompt | None = None  # the prompt that this step answers
        self.away = 0  # cards outside a continuous shuffler
        self._new_round()

    def _new_round(self) -> None:
        self.opened: set[str] = set()
        self.locks: dict[int, str] = {}
        self.latched: dict[int, bool] = {}
        self.unreasonable: set[int] = set()  # seats whose bet was not booked
        self.seats: list[int] = []
        self.hands = HandCheck()
        self.out = 0  # cards that devices counted out, or that people confirmed as dealt
        self.aside = 0  # set aside or discarded, of the cards not counted out

    def start(self, content: Json) -> None:
        """Take the digests of a start of the box."""
        self.digests = content["digests"]

    def box(self, content: Json) -> None:
        """Check the terms of the table: they change only with the digests."""
        terms: Json = content.get("terms") or {}
        need(terms, "this start has no terms; nothing after it can be judged")
        same = not self.terms or self.was != self.digests or terms == self.terms | {"dealing": terms["dealing"]}
        need(same, "the terms changed, and the digests did not")
        edition = content.get("accounting", FIRST)
        need(edition >= self.money.book.edition, "the books go back to the rules of an earlier version")
        changed = self.money.book.entries and edition != self.money.book.edition and self.was == self.digests
        need(not changed, "the books follow other rules, and the software is the same")
        need(not self.money.book.entries or _same_meter(self.money.terms, terms["meter"]),
             "the configuration changes the paytable of a meter that holds money")  # fmt: skip
        if self.money.book.entries and edition >= SECOND:
            same_rate = all(self.money.terms[name] == terms["meter"][name] for name in ("rate_bp", "limit"))
            need(same_rate, "rate or limit of the meter changed, and no person set them")
        led = not self.counts or self.digests in (self.was, self.migrated)
        need(led, "software, edition or configuration changed, and no migration led there")
        self.terms, self.was = terms, self.digests
        self.money.use(terms["meter"] or {}, edition, str(self.digests.get("configuration")))

    def migration(self, content: Json) -> None:
        """Check a migration: between rounds, and changed devices only with two people."""
        need(self.state == "idle" and not self.holds, "versions changed while a round or an irregularity was open")
        need(content["new"] == self.digests, "a migration leads to other versions than its start names")
        self.migrated = content["new"]
        changes = content.get("changes", [])
        need(not changes or content.get("who"), "the devices changed, and no person accepted that")
        if content.get("who"):
            who, second = content["who"], content["second"]
            need((who["role"], second["role"]) == ("technician", "floorperson"),
                 f"changed devices accepted by {who['role']} and {second['role']}")  # fmt: skip
            need(person(who) != person(second), "one person alone accepted changed devices")
            self.counts["devices accepted"] += 1

    def step(self, content: Json) -> None:
        """Check one event and all its decisions."""
        event, decisions = content["event"], content["decisions"]
        kinds = Counter(d["type"] for d in decisions)
        slot = event.get("slot")
        held = slot and any(hold["slot"] == slot for hold in self.holds.values())
        excused = kinds["HoldOpened"] or kinds["Finding"] or held
        self.counts[event["type"]] += 1
        self.asked = None
        self._event(event, decisions, kinds, excused)
        cause = MoneyCause(event, decisions, self.asked, self.state)
        moved = any("entry" in d or d["type"] in ("MeterSet", "MeterPlay") for d in decisions)
        need(not (kinds["RequestRefused"] and moved), f"{event['type']} was refused, and money moved")
        for decision in decisions:
            if not self._money(decision, cause, decisions):
                handler = getattr(self, f"_{decision['type']}", None)
                if handler is not None:
                    handler(decision, event)
        if self.terms.get("meter"):
            self.money.stepped(self.round, cause)
            if ("round", "dealing") in [(d["what"], d["state"]) for d in decisions if d["type"] == "StateChanged"]:
                self._all_booked()

    def _money(self, d: Json, cause: MoneyCause, decisions: list[Json]) -> bool:
        """Check a decision about money; return False if it is not about money."""
        money, kind = self.money, d["type"]
        need("entry" not in d or self.terms.get("meter"), "money moves at a table without a meter")
        if kind == "BetAccepted":
            self._may_count(d)
            money.accepted(d)
        elif kind == "BetReturned":
            money.returned(d, cause)
        elif kind == "BetSettled":
            money.settled(d, cause, decisions)
        elif kind == "HitClaimed":
            self._fresh(d["hit"])
            need(d["round"] == self.round, f"a hit of round {d['round']} in round {self.round}")
            if money.book.edition >= FOURTH:
                meter = self.terms["meter"]
                self.hands.check_claim(d["seat"], d["hand"], self.terms["ranking"], meter["awards"])
            money.claimed(d, cause)
        elif kind == "HitRebooked":
            money.hits.rebook(d)
        elif kind == "Booked":
            money.booked(d["entry"], cause)
            if d["entry"]["kind"] == "envy" and money.book.edition >= FOURTH:
                line = money.envied_line(d["entry"])
                self.hands.check_envy(d["entry"]["seat"], line, self.terms["ranking"], self.terms["meter"]["awards"])
        elif kind == "MeterSet":
            self.terms["meter"] = money.set(d, cause, str(self.digests.get("configuration")))
        elif kind == "MeterPlay":
            money.played(d, cause)
        elif kind == "StateChanged" and d["what"].startswith("hit "):
            money.moved(d, cause)
        else:
            need("entry" not in d, f"{kind} moves money without a known cause")
            return False
        return True

    # --- events -------------------------------------------------------------------------------------------------------

    def _event(self, event: Json, decisions: list[Json], kinds: Counter[str], excused: Any) -> None:
        kind = event["type"]
        if kind in REPORTS:
            self._reported(event, excused)
        if kind == "CommandEnded":
            self._ended(event)
        elif kind == "Answer":
            self._answered(event, decisions, kinds)
        elif kind in CARDS and not kinds["RequestRefused"]:
            self._cards_entered(event)
        ours = kind == "SeatLatched" and self.locks.get(event["lock"]) == f"bet_sensor.{event['seat']}"
        if ours or kind == "EarlierLatchReported":
            self.latched.setdefault(event["seat"], event["bet"])

    def _cards_entered(self, event: Json) -> None:
        place = event.get("place")
        hit, before = self.money.hits.of_seat(self.round, place) if place else None, self.hands.cards.get(place or 0)
        self.hands.entered(event)
        same = self.hands.cards.get(place or 0) == before
        need(hit is None or same, f"the cards of seat {place} change while a hit is claimed by them")

    def _reported(self, event: Json, excused: Any) -> None:
        """Check a device's report: it was ordered, and its count is right or has its irregularity."""
        kind, slot = event["type"], event["slot"]
        ordered = [c for c in self.commands.values() if c["slot"] == slot and c["act"] in REPORTS[kind]]
        order = next((c for c in reversed(ordered) if not c["reported"]), None)
        need(order or excused, f"{slot} reports {kind} without a command")
        if order is not None:
            order["reported"] = True
        count: Any = event.get("count")
        whole = self.terms["cards"]
        if kind == "StackOut":
            self.out += count
            self.away += count
            if order is not None:
                self._counted(count, order["number"], excused or self.state == "void")
        elif kind in ("ShuffleEnded", "StackInserted", "ShoeLoaded") and count is not None:
            self._counted(count, whole, excused)
            self.away = 0
        elif kind == "DiscardsTakenIn":
            self._counted(count, self.away, excused)
            self.away = 0
        elif kind == "StubOut" and self.state == "stub_check":
            self._counted(count, whole - self.out, excused)

    def _counted(self, count: int, expected: int, excused: Any) -> None:
        self.counts["counts"] += 1
        need(count == expected or excused,
             f"{count} cards were counted where {expected} must be, and no irregularity follows")  # fmt: skip

    def _ended(self, event: Json) -> None:
        need(event["command"] in self.commands, f"command {event['command']} ended and was never ordered")
        command = self.commands[event["command"]]
        need(not command["ended"], f"command {event['command']} ended twice")
        command["ended"] = event["outcome"] != "unknown"
        by_hands = command["act"] in ("arm_dice", "eject", "clear_out", "give_stub")  # the person's act comes later
        if command["ended"] and not (by_hands and event["outcome"] == "done"):
            command["reported"] = True

    def _answered(self, event: Json, decisions: list[Json], kinds: Counter[str]) -> None:
        closed = [(d["id"], d["choice"]) for d in decisions if d["type"] == "PromptClosed"]
        closes = (event["prompt"], event["choice"]) in closed
        need(closes or kinds["RequestRefused"], "an answer was neither accepted nor refused")
        if not closes:
            return
        need(event["prompt"] in self.prompts, f"prompt {event['prompt']} was answered and is not open")
        prompt = self.prompts[event["prompt"]]
        need(event["who"]["role"] == prompt["role"], f"the {event['who']['role']} answered for the {prompt['role']}")
        need(event["choice"] in prompt["choices"], f"{event['choice']} is not one of the choices")
        kind: str = prompt["kind"]
        number: Any = event.get("number")
        self.asked = AnsweredPrompt(
            kind, prompt["seat"], event["choice"], event["who"], event.get("number"), list(event.get("seats") or ())
        )
        self.money.answered(self.round, self.asked)
        self.hands.answered(kind, prompt["seat"], event["choice"])
        if kind in WHOLE_DECK and number is not None:
            self._counted(number, self.terms["cards"], kinds["HoldOpened"])
        elif kind in ("stub", "stub_recount"):
            counts = ("stub", "stub_recount", "finding")
            again = any(d["type"] == "Prompt" and d["kind"] in counts for d in decisions)
            self._counted(number, self.terms["cards"] - self.out - self.aside, again or kinds["HoldOpened"])
        elif kind == "chips" and number is not None:
            bets = self.money.seats(self.round, "open")
            need(number == len(bets) or kinds["HoldOpened"],
                 f"{number} chips for {len(bets)} accepted bets, and no irregularity")  # fmt: skip
        elif kind == "dealt" and self.terms["dealing"] != "continuous_shuffler":
            places = self.terms["seats"] if self.terms["all_places"] else len(self.seats)
            self.out += self.terms["hand"] * (places + self.terms["dealer_hand"])
        elif kind == "seats":
            self.seats = event["seats"]
        elif kind == "replacement" or (kind == "card_discarded" and self.terms["dealing"] != "automated_shoe"):
            self.aside += 1
            self.away += 1
        elif kind == "seat_undecided":
            self.latched[prompt["seat"]] = event["choice"] == "bet"

    # --- decisions ----------------------------------------------------------------------------------------------------

    def _fresh(self, id_: int) -> None:
        need(id_ not in self.ids, f"number {id_} was given out before")
        self.ids.add(id_)

    def _Command(self, d: Json, _event: Json) -> None:  # noqa: N802 - named as the decision
        self.counts["commands"] += 1
        old = self.commands.get(d["id"])
        if old is not None and d["act"] == "lock" and (old["slot"], old["number"]) == (d["slot"], d["number"]):
            old["ended"] = False  # an unconfirmed lock is sent again unchanged
            return
        self._fresh(d["id"])
        self.commands[d["id"]] = {**d, "ended": False, "reported": False}
        if d["act"] in MOVES:
            for hold in self.holds.values():
                in_play = hold["deck"] and self.decks.get(hold["deck"]) == "in_play"
                concerned = hold["slot"] == d["slot"] or (d["act"] in OF_THE_ROUND and (in_play or hold["stops"]))
                named = f"irregularity {hold['hold']} ({hold['trigger']})"
                need(not concerned, f"{d['act']} of {d['slot']} while {named} is open")
        if d["act"] in DEALS:
            self._may_deal(d)
        elif d["act"] == "release_cards":  # a dealer's hand that is dealt face up while players decide
            shown = self.state == "settling" or (self.state == "playing" and not d["number"])
            need(shown, f"cards of place {d['number']} are ordered while the round is {self.state}")
        elif d["act"] == "open_bets":
            need(not self.holds, "bets open while an irregularity is open")
            need(self.state == "betting" and d["number"] == self.round, "bets open outside of a round's betting")
            self.opened.add(d["slot"])
        elif d["act"] == "lock":
            self.locks[d["id"]] = d["slot"]
        elif d["act"] == "light":
            bet = self.money.state_of(self.round, int(d["slot"].rpartition(".")[2]))
            need(bet == "open", f"{d['slot']} is lit, and its bet is not booked")

    def _may_deal(self, d: Json) -> None:
        late = self.terms["second"] and self.state == "settling"
        need(self.state == "dealing" or late, f"{d['act']} of {d['slot']} while the round is {self.state}")
        if self.terms["meter"]:
            need(self.bets == "verified", f"{d['act']} while the progressive bets are {self.bets}")
            locked = set(self.locks.values())
            for slot in self.opened:
                need(slot in locked, f"cards are dealt, and {slot} was never locked")
                need(int(slot.rpartition(".")[2]) in self.latched, f"cards are dealt, and {slot} was never latched")

    def _StateChanged(self, d: Json, event: Json) -> None:  # noqa: N802
        what, state = d["what"], d["state"]
        if what == "round":
            need(state in NEXT[self.state], f"the round goes from {self.state} to {state}")
            if state == "betting":
                need(not self.money.closed, "a round opens while the meter is closed to play")
                self.round += 1
                self._new_round()
                self.money.new_round()
            if state == "no_more_bets":
                need(event["type"] in ("NoMoreBets", "BoxStarted"), "no more bets without a call")
            if self.state == "complete" and state == "settling":
                need(event["type"] == "IrregularityReported", "a round is opened again without a report")
            if state == "idle":
                self.money.check_over(self.round, void=self.state == "void")
                self.money.hits.round_over()
            self.state = state
            self.counts[f"rounds {state}"] += 1
        elif what == "progressive":
            self.bets = state
        elif what.startswith("deck "):
            self.decks[what[5:]] = state

    def _Prompt(self, d: Json, _event: Json) -> None:  # noqa: N802
        self._fresh(d["id"])
        need(ROLES.get(d["kind"], d["role"]) == d["role"], f"the {d['role']} is asked {d['kind']}")
        self.prompts[d["id"]] = d

    def _WagersReturned(self, d: Json, _event: Json) -> None:  # noqa: N802
        if d.get("seat") is None and "progressive" in d["settled"]:
            self.money.settles = True

    def _PromptClosed(self, d: Json, event: Json) -> None:  # noqa: N802
        need(self.prompts.pop(d["id"], None), f"prompt {d['id']} is closed and was not open")
        answered = event["type"] == "Answer" and (event["prompt"], event["choice"]) == (d["id"], d["choice"])
        need(d["choice"] is None or answered, f"prompt {d['id']} was closed without an answer")
        self.counts["answers"] += answered

    def _HoldOpened(self, d: Json, _event: Json) -> None:  # noqa: N802
        self._fresh(d["hold"])
        under_way = self.state not in ("idle", "complete", "void")
        stops = under_way and d["slot"] is None and d["deck"] is None and d["trigger"] != "clock_back"
        self.holds[d["hold"]] = {**d, "stops": stops}
        if d["trigger"] == "unreasonable_contribution":
            self.unreasonable.add(d["seat"])
        self.counts["irregularities"] += 1

    def _HoldCleared(self, d: Json, event: Json) -> None:  # noqa: N802
        need(self.holds.pop(d["hold"], None), f"irregularity {d['hold']} is cleared and was not open")
        who = event.get("who", {}).get("credential")
        need(event["type"] == "Answer" and event["choice"] == "acknowledged" and who == d["credential"],
             f"irregularity {d['hold']} was cleared, and {d['credential']} did not acknowledge it")  # fmt: skip

    def _all_booked(self) -> None:
        """Check when cards are dealt: every latched bet is booked, or its sensor was unreasonable."""
        for seat, lies in self.latched.items():
            booked = self.money.state_of(self.round, seat) or seat in self.unreasonable
            need(not lies or booked, f"the sensor of seat {seat} latched a chip, and no bet is booked for it")

    def _may_count(self, d: Json) -> None:
        need(d["round"] == self.round, f"a bet of round {d['round']} in round {self.round}")
        need(self.latched.get(d["seat"]) is True,
             f"the bet of seat {d['seat']} counts without a latch that confirms it")  # fmt: skip


# Terms of a meter that a configuration cannot change once it holds money; two people set the rate.
_OF_THE_METER = ("table", "unit", "seed", "reseed", "reserve_bp", "awards")


def _same_meter(old: Json, new: Json | None) -> bool:
    return new is not None and all(old.get(name) == new.get(name) for name in _OF_THE_METER)
