"""The money of one meter: bets, hits, envy and what people do by hand, each tied to the answer that caused it."""

from __future__ import annotations

from tools.export_checks.basics import SECOND, WHOLE, Json, Ways, inverse, need
from tools.export_checks.book import Book
from tools.export_checks.envy import Envy, Falls
from tools.export_checks.hits import Asked, Hits
from tools.export_checks.people import by_hand, check_people, parameters

# What leaves a hand without its bet: it is lost without a question.
LEAVES = ("fold", "abandoned")


class Bet:
    """One accepted bet: what it moved, and what became of it."""

    def __init__(self, moved: Ways) -> None:
        self.moved = moved
        self.state = "open"


class Cause:
    """Why money moves in a step: the question that was answered, and what the step declares void."""

    def __init__(self, event: Json, decisions: list[Json], asked: Asked | None, state: str) -> None:
        self.event, self.asked, self.state = event, asked, state
        void = state == "void"
        self.all_void = void or any(
            d["type"] == "Moved" and (d["what"], d["state"]) == ("round", "void") for d in decisions
        )
        self.void_seats = {d.get("seat") for d in decisions if d["type"] == "WagersReturned"} - {None}
        self.void_seats |= {
            d.get("seat") for d in decisions if d["type"] == "Found" and d["trigger"] == "bet_without_wager"
        }
        self.fallen = {
            int(d["what"].rpartition(" ")[2])
            for d in decisions
            if d["type"] == "Moved" and d["what"].startswith("hit ") and d["state"] == "withdrawn"
        }
        whole = [d for d in decisions if d["type"] == "WagersReturned" and d.get("seat") is None]
        self.returns_all = any("progressive" not in d["settled"] for d in whole)
        self.is_unreasonable = any(
            d["type"] == "Finding" and d["kind"] == "unreasonable_contribution" for d in decisions
        )

    def voids(self, seat: int | None) -> bool:
        """Tell whether this step makes a seat's hand void."""
        return self.all_void or seat in self.void_seats


class Money:
    """The book of one meter, worked out again."""

    def __init__(self) -> None:
        self.book = Book()
        self.hits = Hits(self.book)
        self.envy = Envy()
        self.terms: Json = {}
        self.bets: dict[tuple[int, int], Bet] = {}  # by round and seat
        self.gone: set[int] = set()  # seats that folded or left
        self.left: set[int] = set()  # seats that left: nobody is there who could be paid envy
        self.settles = False  # the round is void, and its bets are settled all the same
        self.closed = ""
        self.rate_set_under: str | None = None  # the configuration that had the rate in force

    def use(self, terms: Json, edition: int, configuration: str) -> None:
        """Go on by these terms."""
        self.terms = self.hits.terms = terms
        self.book.edition = edition
        if self.rate_set_under is None or not self.book.entries:
            self.rate_set_under = configuration

    def new_round(self) -> None:
        """A round begins."""
        self.envy, self.gone, self.left, self.settles = Envy(), set(), set(), False
        self.hits.round_over()

    def answered(self, round_: int, asked: Asked) -> None:
        """Remember what an answer says that money later depends on."""
        self.hits.answered(round_, asked)
        self.envy.answered(asked)
        if asked.choice in LEAVES and asked.seat is not None:
            self.gone.add(asked.seat)
            self.left |= {asked.seat} if asked.choice == "abandoned" else set()

    # --- bets ---------------------------------------------------------------------------------------------------------

    def state_of(self, round_: int, seat: int) -> str:
        """Return what became of a bet; empty if there is none."""
        bet = self.bets.get((round_, seat))
        return "" if bet is None else bet.state

    def seats(self, round_: int, *states: str) -> set[int]:
        """Return the seats of a round whose bets are in these states."""
        return {seat for (number, seat), bet in self.bets.items() if number == round_ and bet.state in states}

    def accepted(self, d: Json) -> None:
        """A bet counts, once, and adds its parts."""
        t, key = self.terms, (d["round"], d["seat"])
        need(self.state_of(*key) in ("", "returned"), f"the bet of seat {key[1]} counts twice")
        part = t["unit"] * t["rate_bp"] // WHOLE
        to_meter = min(part, max(0, t["limit"] - self.book.held["meter"]))
        over, to_reserve = part - to_meter, t["unit"] * t["reserve_bp"] // WHOLE
        if self.book.edition < SECOND:  # then it was set aside for the next seed
            over, to_reserve = 0, to_reserve + over
        rest = t["unit"] - to_meter - to_reserve - over
        wanted = {
            ("bets", "meter"): to_meter, ("bets", "reserve"): to_reserve, ("bets", "overflow"): over,
            ("bets", "house"): rest,
        }  # fmt: skip
        need(d["amount"] == t["unit"] and d["entry"]["kind"] == "bet", "a bet is one unit, booked as a bet")
        self.bets[key] = Bet(self.book.take(d["entry"], wanted, *key))

    def returned(self, d: Json, cause: Cause) -> None:
        """A bet goes back with what it added, because its round or its hand is void."""
        key = (d["round"], d["seat"])
        bet = self.bets.get(key)
        need(bet is not None and bet.state != "returned", "a bet goes back that does not stand")
        assert bet is not None
        need(d["clauses"] and d["entry"]["kind"] == "bet_returned", "a bet goes back without the clause that orders it")
        need(cause.voids(d["seat"]), f"the bet of seat {d['seat']} goes back, and neither round nor hand is void")
        need(d["amount"] == self.terms["unit"], "a bet goes back with another amount")
        exact = self.book.edition >= SECOND and not self.hits.paid_in(d["round"])
        moved = self.book.take(d["entry"], inverse(bet.moved) if exact else self._from_above_seed(bet), *key)
        self.hits.gave_back(d["round"], moved)
        bet.state = "returned"

    def _from_above_seed(self, bet: Bet) -> Ways:
        """Where a share was paid since, and in the first edition always, the meter keeps its seed."""
        held, to_meter = self.book.held, bet.moved.get(("bets", "meter"), 0)
        from_meter = min(to_meter, max(0, held["meter"] - self.terms["seed"]))
        over = bet.moved.get(("bets", "overflow"), 0)
        from_reserve = min(bet.moved.get(("bets", "reserve"), 0) + to_meter - from_meter, held["reserve"])
        rest = self.terms["unit"] - from_meter - from_reserve - over
        return {
            ("meter", "bets"): from_meter, ("reserve", "bets"): from_reserve, ("overflow", "bets"): over,
            ("house", "bets"): rest,
        }  # fmt: skip

    def settled(self, d: Json, cause: Cause, decisions: list[Json]) -> None:
        """A bet is won because a hand is claimed for it, or lost because the dealer or the player said so."""
        seat, asked = d["seat"], cause.asked
        bet = self.bets.get((d["round"], seat))
        need(bet is not None and bet.state != "returned", "a bet is settled that does not stand")
        assert bet is not None
        named = asked is not None and (asked.kind, asked.seat) == ("progressive", seat)
        if d["outcome"] == "won":
            claims = [x for x in decisions if x["type"] == "HitClaimed" and x["seat"] == seat]
            need(named and len(claims) == 1, f"the bet of seat {seat} is won, and no hand is claimed for it")
        else:
            no_win = named and asked is not None and asked.choice == "no_win"
            need(no_win or seat in self.gone, f"the bet of seat {seat} is lost, and nobody said so")
        bet.state = d["outcome"]

    # --- hits and the rest ------------------------------------------------------------------------------------------

    def claimed(self, d: Json, cause: Cause) -> None:
        """A hand is claimed for a bet that was won."""
        found: list[Json] = [award for award in self.terms["awards"] if award["hand"] == d["hand"]]
        need(found, f"no line pays {d['hand']}")
        need(self.state_of(d["round"], d["seat"]) == "won", "a hit is claimed for a bet that was not won")
        self.hits.claim(d, found[0], cause.asked)

    def moved(self, d: Json, cause: Cause) -> None:
        """A hit comes into another state; a claim that fell leaves its bet open."""
        id_ = int(d["what"].rpartition(" ")[2])
        hit = self.hits.all.get(id_)
        self.hits.moved(id_, d["state"], cause.asked, void=hit is not None and cause.voids(hit.key[1]))
        if d["state"] == "withdrawn" and hit is not None and not cause.voids(hit.key[1]):
            self.bets[hit.key].state = "open"

    def booked(self, entry: Json, cause: Cause) -> None:
        """Everything else: seed, payments, what falls, what people do by hand."""
        kind, round_, seat = entry["kind"], entry.get("round", 0), entry.get("seat")
        if kind == "seed":
            need(not self.book.entries, "a meter is opened once")
            wanted = {("seed", "meter"): self.terms["seed"]}
        elif kind in ("correction", "reset", "transfer"):
            wanted = by_hand(self.book, self.terms, entry, cause.event, cause.state)
        elif kind == "envy":
            wanted = self._envy(entry, cause)
        elif kind == "envy_returned":
            wanted = self.envy.give_back(entry, self._falls(cause))
        else:
            self.hits.take(entry, cause.asked)
            return
        self.book.take(entry, wanted, round_, seat)

    def _envy(self, entry: Json, cause: Cause) -> Ways:
        of = entry.get("seat")
        hit = self.hits.of_seat(entry.get("round", 0), of)
        settled = self.seats(entry.get("round", 0), "lost", "won")
        hand = hit.hand if hit is not None else ("" if of in settled else None)
        return self.envy.pay(entry, cause.asked, hand, self.terms["awards"], settled - self.left)

    def _falls(self, cause: Cause) -> Falls:
        seats = {self.hits.all[id_].key[1] for id_ in cause.fallen if id_ in self.hits.all}
        return Falls(cause.returns_all, {seat for seat in cause.void_seats if seat is not None}, seats)

    def stepped(self, round_: int, cause: Cause) -> None:
        """After a step: what is owed is booked, and no envy stays that it takes back."""
        self.hits.check_owed(round_)
        self.envy.check_fallen(self._falls(cause))

    # --- by hand ------------------------------------------------------------------------------------------------------

    def set(self, d: Json, cause: Cause, configuration: str) -> Json:
        """Two people set the rate, which the configuration has, or the limit."""
        second = self.book.edition >= SECOND
        need(not second or self.closed == "people", "parameters change while the meter is open to play")
        before = self.terms
        self.terms = self.hits.terms = parameters(self.book, self.terms, d, cause.event, cause.state)
        if second and self.terms["rate_bp"] != before["rate_bp"]:
            need(configuration != self.rate_set_under, "the rate changed, and the configuration did not")
            self.rate_set_under = configuration
        self._accounts(d.get("accounts"))
        return self.terms

    def played(self, d: Json, cause: Cause) -> None:
        """The meter is closed to play, or open again."""
        if d["open"]:
            need(self.closed, "the meter is opened, and it is open already")
            need(d["cause"] == self.closed, "the meter is opened, and it was closed for another cause")
            other = "technician" if self.closed == "unreasonable" else None
            check_people("open", cause.event, cause.state, second_role=other)
        else:
            need(not self.closed, "the meter is closed, and it is closed already")
            if d["cause"] == "people":
                check_people("close", cause.event, cause.state)
            else:
                unreasonable = cause.is_unreasonable and cause.event["type"] != "MeterClosed"
                need(unreasonable, "the meter is closed by nobody, and nothing was unreasonable")
        if d["open"] or d["cause"] == "people":
            named = [cause.event["who"]["credential"], cause.event["second"]["credential"]]
            need((list(d["credentials"]), d["document"]) == (named, cause.event["document"]),
                 "closing or opening of the meter names other people or another document")  # fmt: skip
        self._accounts(d["accounts"])
        self.closed = "" if d["open"] else d["cause"]

    def _accounts(self, told: Json | None) -> None:
        held = {name: amount for name, amount in self.book.held.items() if amount}
        given = {name: amount for name, amount in (told or {}).items() if amount}
        need(given == held or (not told and self.book.edition < SECOND),
             "the accounts that were written down are not those of the book")  # fmt: skip

    # --- the end of a round -----------------------------------------------------------------------------------------

    def check_over(self, round_: int, *, void: bool) -> None:
        """A round is over: its bets are settled, its hits paid or withdrawn; the bets of a void one went back."""
        hits = [hit.key[1] for hit in self.hits.standing(round_) if not hit.paid]
        left = sorted(self.seats(round_, "open")) + hits
        need(not left, f"round {round_} is over, and bets or hits of seats {left} are not settled")
        if void and not self.settles:
            stands = {hit.key[1] for hit in self.hits.standing(round_) if hit.state == "documented"}
            kept = sorted(self.seats(round_, "lost", "won") - stands)
            need(
                not kept, f"round {round_} is void, and the bets of seats {kept} did not go back: they are not settled"
            )
