#!/usr/bin/env python3
"""Checks an export of a table's journal (`pitbox journal export`). One file, Python's standard library, none of the box's code.

    python3 verify_export.py EXPORT [--against HEAD]

Exit code 0: everything below holds. 1: the first record that does not hold is named. 2: there is no export to read.

What is checked:
 1. Manifest: format, number of records, digest of the file, heads before and after.
 2. Chain: every head is BLAKE2b-256 of the head before it and the whole record; numbers have no gap; the readable content is the
    body; a record's boot is that of the last start, and starts count up by one; digests are those of the manifest.
    A chain that was made anew after a change holds, too. Only --against, with a head that left the box, can see that.
 3. Commands: a device did something only after a recorded order to it; every order has its own number and ends at most once.
 4. Permits, as far as an export can judge them: no machine moves while an open irregularity names it, the deck in play, or stops
    the round; no bets open while any irregularity is open; cards are dealt only after no more bets and, with a meter, after every
    opened sensor was ordered locked and latched (or a floorperson decided) and the chips were verified; a light only for an accepted bet.
 5. Questions: every answer that counted was one of the choices, by the role that was asked; an irregularity ends only by the
    acknowledgement that was asked for it.
 6. Cards: every count of a stack, a shuffle, a load, discards taken back, a stub, a whole deck or collected chips, whoever
    counted, against what must be there. A wrong one must have its irregularity, or be
    counted again, in the same record.
 7. Money, in whole micro-dollars: entries without a gap, accounts that sum to zero and are never overdrawn; what each bet, hit, return,
    payment and correction did, worked out again from the terms; every bet accepted once, after its latch, and settled or returned
    before the round is over; a meter that falls only by a hit, a documented correction, or a bet of a void round.

What is not: whether what was recorded is true; permits that need the whole state (they are proved where the rules are). An export that
does not begin with record 1 is checked for 1 and 2 alone, and says so.
"""  # noqa: E501 - a page that is read, not code

from __future__ import annotations

import argparse
import base64
import json
import struct
import sys
from collections import Counter
from hashlib import blake2b, sha256
from pathlib import Path
from typing import Any

Json = dict[str, Any]
Ways = dict[tuple[str, str], int]  # (from, to) -> micro-dollars

FORMAT = "pitbox export 1"
CENT = 10_000  # micro-dollars
WHOLE = 10_000  # hundredths of a percent
ACCOUNTS = (
    "bets", "seed", "meter", "reserve", "house", "pending", "fixed_awards", "hand_pays", "envy", "stakes_returned",
    "corrections", "overflow",
)  # fmt: skip
# On what ground people may change a meter by hand.
GROUNDS = {
    "malfunction": ("sensor_fault", "device_fault", "software_fault", "dealing_error", "journal_lost"),
    "transfer": ("to_other_meter", "from_other_meter"),
}
NEVER_BELOW_ZERO = ("meter", "reserve", "overflow", "pending", "fixed_awards", "hand_pays", "envy", "stakes_returned")
LOWERS_METER = ("hit", "correction", "reset", "bet_returned")
# Which state of a round may follow which.
NEXT = {
    "idle": ["betting"], "betting": ["no_more_bets", "void"], "no_more_bets": ["locked", "void"],
    "locked": ["starting_position", "dealing", "void"], "starting_position": ["dealing", "void"],
    "dealing": ["stub_check", "playing", "void"], "stub_check": ["playing", "void"], "playing": ["settling", "void"],
    "settling": ["complete", "void"], "complete": ["idle"], "void": ["idle"],
}  # fmt: skip
# Which order must stand before a device reports what it did.
REPORTS = {
    "StackOut": ("dispense",), "ShuffleEnded": ("shuffle",), "ShoeLoaded": ("load",), "TakenIn": ("load",),
    "StubOut": ("give_stub",), "NumberDrawn": ("draw",), "DiceRead": ("arm_dice",), "GivenOut": ("eject", "clear_out"),
}  # fmt: skip
DEALS = ("dispense", "start_round")
MOVES = ("shuffle", "eject", "load", "dispense", "start_round", "give_stub", "arm_dice", "draw", "return_to_service")
OF_THE_ROUND = ("dispense", "start_round", "give_stub", "arm_dice", "draw")
WHOLE_DECK = ("cards_together", "deck_counted", "count_deck")


class Bad(Exception):
    """Something does not hold; says what."""


def need(holds: Any, why: str) -> None:
    """Go on only if it holds."""
    if not holds:
        raise Bad(why)


# --- 1 and 2: the file and the chain ----------------------------------------------------------------------------------


def head_after(before: bytes, record: Json, body: bytes) -> bytes:
    """Return the head after a record, as docs/journal.md defines it."""
    kind, numbers = record["kind"].encode(), [record[name] for name in ("seq", "wall_ns", "mono_ns", "boot")]
    fixed = struct.pack(">32sQqqQHQ", before, *numbers, len(kind), len(body))
    return blake2b(fixed + kind + body, digest_size=32, person=b"pitbox journal 1").digest()


class Chain:
    """Follows the records one by one: numbers, heads, contents, boots, digests."""

    def __init__(self, manifest: Json, against: str | None) -> None:
        self.manifest, self.against = manifest, against
        self.seq = manifest["first"] - 1
        self.head = bytes.fromhex(manifest["head_before"])
        self.boot: int | None = None
        self.seen = against is None or self.head.hex() == against

    def take(self, record: Json) -> Any:
        """Check one record and return its content."""
        need(record["seq"] == self.seq + 1, f"record {self.seq + 1} is missing or out of its place")
        self.seq = record["seq"]
        body = base64.b64decode(record["body"], validate=True)
        self.head = head_after(self.head, record, body)
        need(self.head.hex() == record["head"], "its head is not what its content and the record before it give")
        content = json.loads(body)
        need(content == record["content"], "the readable content is not what was chained")
        self._boot(record, content)
        self.seen = self.seen or record["head"] == self.against
        return content

    def _boot(self, record: Json, content: Json) -> None:
        if record["kind"] == "genesis":
            need((record["seq"], record["boot"]) == (1, 0), "a journal begins once")
            need(content["journal"] == self.manifest["journal"], "the manifest names another journal")
        elif record["kind"] == "start":
            need(self.boot is None or record["boot"] == self.boot + 1, "the starts of the box do not count up by one")
            need(content["digests"] in self.manifest["digests"], "the manifest does not name these digests")
        else:
            need(self.boot in (None, record["boot"]), "its boot is not that of the last start")
        self.boot = record["boot"]

    def end(self, count: int) -> None:
        """Compare the end with the manifest."""
        need((self.seq, count) == (self.manifest["last"], self.manifest["count"]), "the manifest counts other records")
        need(self.head.hex() == self.manifest["head_after"], "the manifest names another last head")
        need(self.seen, "no record has the head that left the box: cut short, or made anew after it")


# --- 7: money ---------------------------------------------------------------------------------------------------------


class Money:
    """The book of one meter, worked out again."""

    def __init__(self) -> None:
        self.terms: Json = {}
        self.held = dict.fromkeys(ACCOUNTS, 0)
        self.entries = 0
        self.bets: dict[tuple[int, int], list[Any]] = {}  # (round, seat) -> [to the meter, to the reserve, state]
        self.over: dict[tuple[int, int], int] = {}  # (round, seat) -> what did not fit under the limit
        self.hits: dict[int, Json] = {}  # id -> what was claimed
        self.told: Counter[str] = Counter()

    def book(self, entry: Json, wanted: Ways, round_: int, seat: int | None) -> None:
        """Take one entry: it must move exactly what is wanted, and break no promise."""
        self.entries += 1
        need(entry["number"] == self.entries, f"entry {entry['number']} is not the next one, {self.entries}")
        need(entry["meter_before"] == self.held["meter"],
             "the meter before the entry is not what it was after the last one")  # fmt: skip
        moved: Counter[tuple[str, str]] = Counter()
        for one in entry["transfers"]:
            need(type(one["amount"]) is int and one["amount"] > 0, f"{one['amount']!r} is no amount")
            need(one["source"] in ACCOUNTS and one["to"] in ACCOUNTS, "there is no such account")
            moved[one["source"], one["to"]] += one["amount"]
            self.held[one["source"]] -= one["amount"]
            self.held[one["to"]] += one["amount"]
        wanted = {way: amount for way, amount in wanted.items() if amount}
        need(dict(moved) == wanted, f"{entry['kind']} moved {dict(moved)}; by the terms it moves {wanted}")
        need(sum(self.held.values()) == 0, "the accounts do not sum to zero")
        need(all(self.held[name] >= 0 for name in NEVER_BELOW_ZERO), "an account paid what it did not hold")
        need(entry["meter_after"] == self.held["meter"], "the meter after the entry is not what the accounts give")
        fell = entry["meter_after"] < entry["meter_before"]
        need(not fell or entry["kind"] in LOWERS_METER, f"the meter falls by a {entry['kind']}")
        need(entry.get("round", 0) == round_ and entry.get("seat") == seat, "the entry names another round or seat")
        self.told[entry["kind"]] += 1

    def accepted(self, d: Json) -> None:
        """A bet counts, once, and adds its parts."""
        t, key = self.terms, (d["round"], d["seat"])
        need(key not in self.bets or self.bets[key][2] == "returned", f"the bet of seat {key[1]} counts twice")
        part = t["unit"] * t["rate_bp"] // WHOLE
        to_meter = min(part, max(0, t["limit"] - self.held["meter"]))
        apart = t.get("keeps_overflow", False)  # earlier software put it to the reserve
        over = part - to_meter if apart else 0
        to_reserve = t["unit"] * t["reserve_bp"] // WHOLE + (0 if apart else part - to_meter)
        rest = t["unit"] - to_meter - to_reserve - over
        wanted = {
            ("bets", "meter"): to_meter, ("bets", "reserve"): to_reserve, ("bets", "overflow"): over,
            ("bets", "house"): rest,
        }  # fmt: skip
        need(d["amount"] == t["unit"] and d["entry"]["kind"] == "bet", "a bet is one unit, booked as a bet")
        self.book(d["entry"], wanted, *key)
        self.bets[key], self.over[key] = [to_meter, to_reserve, "open"], over

    def returned(self, d: Json) -> None:
        """A bet goes back with what it added, never from below the seed."""
        key = (d["round"], d["seat"])
        bet = self.bets.get(key, [0, 0, "returned"])
        need(bet[2] != "returned", "a bet goes back that does not stand")
        need(d["clauses"] and d["entry"]["kind"] == "bet_returned", "a bet goes back without the clause that orders it")
        from_meter = min(bet[0], max(0, self.held["meter"] - self.terms["seed"]))
        from_reserve = min(bet[1] + bet[0] - from_meter, self.held["reserve"])
        over = self.over.get(key, 0)
        rest = self.terms["unit"] - from_meter - from_reserve - over
        wanted = {
            ("meter", "bets"): from_meter, ("reserve", "bets"): from_reserve, ("overflow", "bets"): over,
            ("house", "bets"): rest,
        }  # fmt: skip
        self.book(d["entry"], wanted, *key)
        bet[2] = "returned"

    def award(self, hand: str) -> Json:
        """Return what a hand pays by the terms."""
        found: list[Json] = [award for award in self.terms["awards"] if award["hand"] == hand]
        need(found, f"no line pays {hand}")
        return found[0]

    def claimed(self, d: Json) -> None:
        """A hit takes its share out of the meter as it stands; one that wins it whole seeds it again."""
        award, key = self.award(d["hand"]), (d["round"], d["seat"])
        need(self.bets.get(key, [0, 0, ""])[2] == "won", "a hit is claimed for a bet that was not won")
        share = self.held["meter"] * award["percent"] // 100 // CENT * CENT
        again = self.terms["reseed"] if award["percent"] == 100 else 0
        reserve = min(again, self.held["reserve"])
        wanted = {
            ("meter", "pending"): share, ("house", "pending"): award["fixed"],
            ("reserve", "meter"): reserve, ("seed", "meter"): again - reserve,
        }  # fmt: skip
        need((d["share"], d["fixed"]) == (share, award["fixed"]), "the hit is worth another amount by the terms")
        need(d["entry"]["kind"] == "hit", "a claim is booked as a hit")
        self.book(d["entry"], wanted, *key)
        self.hits[d["hit"]] = {
            "key": key, "share": share, "fixed": award["fixed"], "stake": award["stake"], "reserve": reserve,
            "seed": again - reserve, "state": "claimed",
        }  # fmt: skip

    def booked(self, entry: Json, event: Json) -> None:
        """Everything else: seed, payments, what falls, what people do by hand."""
        kind, round_, seat = entry["kind"], entry.get("round", 0), entry.get("seat")
        if kind == "seed":
            need(not self.entries, "a meter is opened once")
            wanted = {("seed", "meter"): self.terms["seed"]}
        elif kind in ("correction", "reset", "transfer"):
            wanted = self._by_hand(kind, entry, event)
        elif kind == "envy":
            each = {award["envy"] for award in self.terms["awards"] if award["envy"]}
            need({one["amount"] for one in entry["transfers"]} <= each, "envy of an amount that no line pays")
            wanted = {("house", "envy"): sum(one["amount"] for one in entry["transfers"])}
        elif kind == "envy_returned":
            wanted = {("envy", "house"): sum(one["amount"] for one in entry["transfers"])}
        else:
            hit = self.hits.get(entry.get("hit", 0), {"key": None})
            need(hit["key"] == (round_, seat), f"a {kind} of a hit that was never claimed")
            wanted = self._of_hit(kind, entry, hit)
        self.book(entry, wanted, round_, seat)

    def _by_hand(self, kind: str, entry: Json, event: Json) -> Ways:
        entered = {"correction": "MeterCorrected", "reset": "MeterReset", "transfer": "OverflowTransferred"}
        need(event["type"] == entered[kind], f"a {kind} that nobody entered")
        need(event["who"]["credential"] != event["second"]["credential"], "one person alone touched the meter")
        need(entry.get("document") and entry["document"] == event["document"], f"a {kind} without its document")
        by = self.terms["seed"] - self.held["meter"] if kind == "reset" else event["amount"]
        if self.terms.get("keeps_overflow", False):
            need(by <= 0 or self.held["meter"] + by <= self.terms["limit"], f"a {kind} takes the meter above its limit")
            if kind != "transfer":
                self._grounded(kind, event, by)
        if kind == "transfer":
            return {("overflow", "meter"): by}
        if by < 0:
            return {("meter", "corrections"): -by}
        return {("corrections" if kind == "correction" else "seed", "meter"): by}

    def _grounded(self, kind: str, event: Json, by: int) -> None:
        """A meter changes by hand only on a ground of the list, and a transfer is documented on both sides."""
        ground, reason = event.get("ground", ""), event.get("reason", "")
        need(reason in GROUNDS.get(ground, ()), f"a {kind} on no ground: {ground or 'none'}, {reason or 'no reason'}")
        if ground == "transfer":
            need(event.get("counterpart", "").strip(), f"a {kind} by transfer without the other meter's document")
            need((by < 0) == (reason == "to_other_meter"), f"a {kind} by {reason} goes the other direction")

    def _of_hit(self, kind: str, entry: Json, hit: Json) -> Ways:
        was, amount = hit["state"], hit["share"] + hit["fixed"]
        if kind == "hit_withdrawn":
            need(was == "claimed", "a hit is withdrawn that is not open")
            hit["state"] = "withdrawn"
            to_reserve = min(hit["reserve"], hit["share"])
            to_seed = min(hit["seed"], hit["share"] - to_reserve)
            return {
                ("pending", "meter"): hit["share"], ("pending", "house"): hit["fixed"], ("meter", "seed"): to_seed,
                ("meter", "reserve"): to_reserve,
            }  # fmt: skip
        if kind == "award_returned":
            need(was == "by table", "what the table did not pay comes back to it")
            hit["state"] = "withdrawn"
            return {("fixed_awards", "house"): hit["fixed"], ("stakes_returned", "house"): hit["stake"]}
        need(kind in ("award_paid", "hand_pay_paid") and was == "claimed", f"a {kind} of a hit that is {was}")
        by_table = kind == "award_paid"
        need(not by_table or not hit["share"], "a share of the meter was paid from the table")
        need(by_table or entry.get("document"), "a hand pay without its slip")
        hit["state"] = "by table" if by_table else "by attendant"
        to = "fixed_awards" if by_table else "hand_pays"
        return {("pending", to): amount, ("house", "stakes_returned"): hit["stake"]}

    def open_of(self, round_: int) -> list[int]:
        """Return the seats whose bets stand and are not settled, and whose hits are not paid."""
        bets = [seat for (number, seat), bet in self.bets.items() if number == round_ and bet[2] == "open"]
        hits = [hit["key"] for hit in self.hits.values() if hit["state"] == "claimed"]
        return bets + [seat for number, seat in hits if number == round_]


# --- 3 to 6: what happened at the table -------------------------------------------------------------------------------


class Table:
    """Follows events and decisions, record by record."""

    def __init__(self) -> None:
        self.terms: Json = {}
        self.meter_closed = False
        self.digests: Json = {}
        self.was: Json = {}
        self.money = Money()
        self.commands: dict[int, Json] = {}
        self.prompts: dict[int, Json] = {}
        self.holds: dict[int, Json] = {}
        self.decks: dict[str, str] = {}
        self.ids: set[int] = set()
        self.round = 0
        self.state, self.bets = "idle", "closed"
        self.told: Counter[str] = Counter()
        self.away = 0  # cards out of a continuous shuffler that it has not taken back
        self._new_round()

    def _new_round(self) -> None:
        self.opened: set[str] = set()
        self.locks: dict[int, str] = {}
        self.latched: dict[int, bool] = {}
        self.seats: list[int] = []
        self.out = 0  # cards that devices counted out, or that people said they dealt
        self.aside = 0  # laid aside or discarded, of what was not counted out

    def start(self, content: Json) -> None:
        """A start of the box names the digests."""
        self.was, self.digests = self.digests, content["digests"]

    def box(self, content: Json) -> None:
        """And what the table plays by: other terms only with other digests."""
        terms: Json = content.get("terms") or {}
        need(terms, "this start does not say what the table plays by; nothing after it can be judged")
        same = not self.terms or self.was != self.digests or terms == self.terms | {"dealing": terms["dealing"]}
        need(same, "the terms changed, and the digests did not")
        self.terms, self.money.terms = terms, terms["meter"]

    def step(self, content: Json) -> None:
        """One event and everything that was decided on it."""
        event, decisions = content["event"], content["decisions"]
        kinds = Counter(d["type"] for d in decisions)
        slot = event.get("slot")
        held = slot and any(hold["slot"] == slot for hold in self.holds.values())
        excused = kinds["Found"] or kinds["Finding"] or held
        self.told[event["type"]] += 1
        self._event(event, decisions, kinds, excused)
        for decision in decisions:
            if decision["type"] == "BetReturned":
                self.money.returned(decision)
            elif decision["type"] == "Booked":
                self.money.booked(decision["entry"], event)
            elif (handler := getattr(self, f"_{decision['type']}", None)) is not None:
                handler(decision, event)

    # --- events -------------------------------------------------------------------------------------------------------

    def _event(self, event: Json, decisions: list[Json], kinds: Counter[str], excused: Any) -> None:
        kind = event["type"]
        if kind in REPORTS:
            self._reported(event, excused)
        if kind == "CommandEnded":
            self._ended(event)
        elif kind == "Answer":
            self._answered(event, decisions, kinds)
        ours = kind == "SeatLatched" and self.locks.get(event["lock"]) == f"bet_sensor.{event['seat']}"
        if ours or kind == "LatchStands":
            self.latched.setdefault(event["seat"], event["bet"])

    def _reported(self, event: Json, excused: Any) -> None:
        """A device did something: it was ordered, and the count is what must be there, or the record says otherwise."""
        kind, slot = event["type"], event["slot"]
        ordered = [c for c in self.commands.values() if c["slot"] == slot and c["act"] in REPORTS[kind]]
        order = next((c for c in reversed(ordered) if not c["told"]), None)
        need(order or excused, f"{slot} reports {kind}, and nobody ordered it")
        if order is not None:
            order["told"] = True
        count: Any = event.get("count")
        whole = self.terms["cards"]
        if kind == "StackOut":
            self.out += count
            self.away += count
            if order is not None:
                self._counted(count, order["number"], excused or self.state == "void")
        elif kind in ("ShuffleEnded", "ShoeLoaded") and count is not None:
            self._counted(count, whole, excused)
            self.away = 0
        elif kind == "TakenIn":
            self._counted(count, self.away, excused)
            self.away = 0
        elif kind == "StubOut" and self.state == "stub_check":
            self._counted(count, whole - self.out, excused)

    def _counted(self, count: int, wanted: int, excused: Any) -> None:
        self.told["counts"] += 1
        need(count == wanted or excused,
             f"{count} cards were counted where {wanted} must be, and no irregularity follows")  # fmt: skip

    def _ended(self, event: Json) -> None:
        need(event["command"] in self.commands, f"command {event['command']} ended and was never ordered")
        command = self.commands[event["command"]]
        need(not command["ended"], f"command {event['command']} ended twice")
        command["ended"] = event["outcome"] != "unknown"
        by_hands = command["act"] in ("arm_dice", "eject", "clear_out", "give_stub")  # what hands do then comes later
        if command["ended"] and not (by_hands and event["outcome"] == "done"):
            command["told"] = True

    def _answered(self, event: Json, decisions: list[Json], kinds: Counter[str]) -> None:
        closed = [(d["id"], d["choice"]) for d in decisions if d["type"] == "PromptClosed"]
        closes = (event["prompt"], event["choice"]) in closed
        need(closes or kinds["Refused"], "an answer was neither taken nor refused")
        if not closes:
            return
        need(event["prompt"] in self.prompts, f"question {event['prompt']} was answered and is not open")
        prompt = self.prompts[event["prompt"]]
        need(event["who"]["role"] == prompt["role"], f"the {event['who']['role']} answered for the {prompt['role']}")
        need(event["choice"] in prompt["choices"], f"{event['choice']} is none of the choices")
        kind: str = prompt["kind"]
        number: Any = event.get("number")
        if kind in WHOLE_DECK and number is not None:
            self._counted(number, self.terms["cards"], kinds["Found"])
        elif kind in ("stub", "stub_recount"):
            counts = ("stub", "stub_recount", "finding")
            again = any(d["type"] == "Prompt" and d["kind"] in counts for d in decisions)
            self._counted(number, self.terms["cards"] - self.out - self.aside, again or kinds["Found"])
        elif kind == "chips" and number is not None:
            bets = [seat for (n, seat), bet in self.money.bets.items() if n == self.round and bet[2] == "open"]
            need(number == len(bets) or kinds["Found"],
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
        self.told["commands"] += 1
        old = self.commands.get(d["id"])
        if old is not None and d["act"] == "lock" and (old["slot"], old["number"]) == (d["slot"], d["number"]):
            old["ended"] = False  # a lock that nobody confirmed goes out once more as it was; it only closes
            return
        self._fresh(d["id"])
        self.commands[d["id"]] = {**d, "ended": False, "told": False}
        if d["act"] in MOVES:
            for hold in self.holds.values():
                in_play = hold["deck"] and self.decks.get(hold["deck"]) == "in_play"
                concerned = hold["slot"] == d["slot"] or (d["act"] in OF_THE_ROUND and (in_play or hold["stops"]))
                named = f"irregularity {hold['hold']} ({hold['trigger']})"
                need(not concerned, f"{d['act']} of {d['slot']} while {named} is open")
        if d["act"] in DEALS:
            self._may_deal(d)
        elif d["act"] == "open_bets":
            need(not self.holds, "bets open while an irregularity is open")
            need(self.state == "betting" and d["number"] == self.round, "bets open outside of a round's betting")
            self.opened.add(d["slot"])
        elif d["act"] == "lock":
            self.locks[d["id"]] = d["slot"]
        elif d["act"] == "light":
            bet = self.money.bets.get((self.round, int(d["slot"].rpartition(".")[2])), [0, 0, ""])
            need(bet[2] == "open", f"{d['slot']} is lit, and its bet is not booked")

    def _may_deal(self, d: Json) -> None:
        late = self.terms["second"] and self.state == "settling"
        need(self.state == "dealing" or late, f"{d['act']} of {d['slot']} while the round is {self.state}")
        if self.terms["meter"]:
            need(self.bets == "verified", f"{d['act']} while the progressive bets are {self.bets}")
            locked = set(self.locks.values())
            for slot in self.opened:
                need(slot in locked, f"cards are dealt, and {slot} was never locked")
                need(int(slot.rpartition(".")[2]) in self.latched, f"cards are dealt, and nobody latched {slot}")

    def _Moved(self, d: Json, event: Json) -> None:  # noqa: N802
        what, state = d["what"], d["state"]
        if what == "round":
            need(state in NEXT[self.state], f"the round goes from {self.state} to {state}")
            if state == "betting":
                need(not self.meter_closed, "a round opens while the meter is closed to play")
                self.round += 1
                self._new_round()
            if state == "no_more_bets":
                need(event["type"] in ("NoMoreBets", "BoxStarted"), "nobody called no more bets")
            if state == "idle":
                left = self.money.open_of(self.round)
                need(not left, f"round {self.round} is over, and bets or hits of seats {left} are not settled")
            self.state = state
            self.told[f"rounds {state}"] += 1
        elif what == "progressive":
            self.bets = state
        elif what.startswith("deck "):
            self.decks[what[5:]] = state

    def _Prompt(self, d: Json, _event: Json) -> None:  # noqa: N802
        self._fresh(d["id"])
        self.prompts[d["id"]] = d

    def _PromptClosed(self, d: Json, event: Json) -> None:  # noqa: N802
        need(self.prompts.pop(d["id"], None), f"question {d['id']} is closed and was not open")
        answered = event["type"] == "Answer" and (event["prompt"], event["choice"]) == (d["id"], d["choice"])
        need(d["choice"] is None or answered, f"question {d['id']} was answered by nobody")
        self.told["answers"] += answered

    def _Found(self, d: Json, _event: Json) -> None:  # noqa: N802
        self._fresh(d["hold"])
        under_way = self.state not in ("idle", "complete", "void")
        stops = under_way and d["slot"] is None and d["deck"] is None and d["trigger"] != "clock_back"
        self.holds[d["hold"]] = {**d, "stops": stops}
        self.told["irregularities"] += 1

    def _Cleared(self, d: Json, event: Json) -> None:  # noqa: N802
        need(self.holds.pop(d["hold"], None), f"irregularity {d['hold']} is cleared and was not open")
        who = event.get("who", {}).get("credential")
        need(event["type"] == "Answer" and event["choice"] == "acknowledged" and who == d["credential"],
             f"irregularity {d['hold']} was cleared, and {d['credential']} did not acknowledge it")  # fmt: skip

    # --- money --------------------------------------------------------------------------------------------------------

    def _BetAccepted(self, d: Json, _event: Json) -> None:  # noqa: N802
        need(d["round"] == self.round, f"a bet of round {d['round']} in round {self.round}")
        need(self.latched.get(d["seat"]) is True,
             f"the bet of seat {d['seat']} counts, and no latch says that it lay there")  # fmt: skip
        self.money.accepted(d)

    def _BetSettled(self, d: Json, _event: Json) -> None:  # noqa: N802
        bet = self.money.bets.get((d["round"], d["seat"]), [0, 0, "returned"])
        need(bet[2] != "returned", "a bet is settled that does not stand")
        bet[2] = d["outcome"]

    def _HitClaimed(self, d: Json, _event: Json) -> None:  # noqa: N802
        self._fresh(d["hit"])
        self.money.claimed(d)

    def _MeterPlay(self, d: Json, event: Json) -> None:  # noqa: N802
        """The meter is closed to play, or open again: by two people, and with its accounts as they are."""
        need(d["accounts"] == self.money.held, "the accounts in the record of a closed meter are not those of the book")
        if event["type"] in ("MeterClosed", "MeterOpened"):
            need(event["who"]["credential"] != event["second"]["credential"], "one person alone closed or opened it")
            need(
                d["document"] and d["document"] == event["document"], "the meter was closed or opened without document"
            )
        else:
            need(not d["open"], "nobody opened the meter, and it is open")
        self.meter_closed = not d["open"]

    def _MeterSet(self, d: Json, event: Json) -> None:  # noqa: N802
        need(event["type"] == "MeterParameters" and self.state == "idle", "parameters of the meter change out of turn")
        need(len(set(d["credentials"])) == 2 and d["document"], "parameters change without two people and a document")
        if d.get("accounts"):  # earlier software kept none, and did not close the meter first
            need(self.meter_closed, "parameters of the meter change while it is open to play")
            need(d["accounts"] == self.money.held, "the accounts in the record are not those of the book")
            need(d["submission"] or d["rate_bp"] == self.money.terms["rate_bp"],
                 "the rate changes without a Rules Submission")  # fmt: skip
        self.terms["meter"] = self.money.terms = self.money.terms | {"rate_bp": d["rate_bp"], "limit": d["limit"]}


# --- all of it --------------------------------------------------------------------------------------------------------


def check(folder: Path, against: str | None) -> list[str]:
    """Check an export; return what was checked, in lines. Bad names the record and what is wrong."""
    manifest = json.loads((folder / "manifest.json").read_bytes())
    need(manifest["format"] == FORMAT, f"the manifest has another format than {FORMAT!r}")
    whole = sha256()
    chain, table, count = Chain(manifest, against), Table(), 0
    judged = manifest["first"] == 1
    with (folder / manifest["file"]).open("rb") as lines:
        for count, line in enumerate(lines, 1):
            whole.update(line)
            try:
                record = json.loads(line)
                content = chain.take(record)
                if judged and record["kind"] in ("start", "box", "step"):
                    getattr(table, record["kind"])(content)
            except Bad as bad:
                raise Bad(f"record {manifest['first'] + count - 1}: {bad}") from None
            except (KeyError, TypeError, ValueError, AttributeError, struct.error) as error:
                raise Bad(f"record {manifest['first'] + count - 1}: it cannot be read ({error!r})") from None
    chain.end(count)
    need(whole.hexdigest() == manifest["sha256"], "the file's digest is not the manifest's")
    told = [
        f"chain     {count} records, {manifest['first']} to {manifest['last']}, {len(manifest['boots'])} boots",
        f"          head {chain.head.hex()}",
    ]
    told += [f"          the head {against} is among them"] if against else []
    if not judged:
        return [*told, "not judged: commands, permits, cards and money, for the export does not begin with record 1"]
    saw, money = table.told, table.money
    title = table.terms.get("title", "nothing")
    paid = ", ".join(f"{number} {kind}" for kind, number in sorted(money.told.items())) or "none"
    return [
        *told,
        f"table     {title}: {table.round} rounds, {saw['rounds void']} void",
        f"commands  {saw['commands']} ordered, {saw['CommandEnded']} ends, each of an order and none twice",
        f"permits   {saw['irregularities']} irregularities, {len(table.holds)} open; nothing moved against one",
        f"questions {saw['answers']} answers, each by the role that was asked",
        f"cards     {saw['counts']} counts, each right or with its irregularity",
        f"money     {money.entries} entries ({paid}); accounts sum to zero; meter {money.held['meter']} micro-dollars",
    ]


def main(words: list[str] | None = None) -> int:
    """Check and print."""
    parser = argparse.ArgumentParser(description="Checks an export of a table's journal; its first page says how.")
    parser.add_argument("export", type=Path, help="the folder with manifest.json")
    parser.add_argument("--against", metavar="HEAD", help="a head that left the box")
    args = parser.parse_args(words)
    try:
        lines = check(args.export, args.against)
    except Bad as bad:
        print(f"DOES NOT HOLD: {bad}")
        return 1
    except (OSError, KeyError, TypeError, ValueError) as error:
        print(f"no export can be read there: {error!r}", file=sys.stderr)
        return 2
    print("\n".join([*lines, "everything holds"]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
