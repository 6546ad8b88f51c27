"""Checks the money of one meter: bets, hits, envy and changes by people, each with the answer that caused it."""

from __future__ import annotations

from tools.export_checks.basics import SECOND, WHOLE, Json, Transfers, inverse, need
from tools.export_checks.book import MeterBook
from tools.export_checks.envy import EnvyCheck, EnvyReversal
from tools.export_checks.hits import AnsweredPrompt, HitCheck
from tools.export_checks.people import by_hand, check_people, parameters

# Choices after which a bet is lost without a prompt.
LEAVES = ("fold", "abandoned")


class AcceptedBet:
    """One accepted bet: what it moved, and its state."""

    def __init__(self, moved: Transfers) -> None:
        self.moved = moved
        self.state = "open"


class MoneyCause:
    """Why money moves in a step: the answered prompt, and what the step declares void."""

    def __init__(self, event: Json, decisions: list[Json], asked: AnsweredPrompt | None, state: str) -> None:
        self.event, self.asked, self.state = event, asked, state
        void = state == "void"
        self.all_void = void or any(
            d["type"] == "StateChanged" and (d["what"], d["state"]) == ("round", "void") for d in decisions
        )
        self.void_seats = {d.get("seat") for d in decisions if d["type"] == "WagersReturned"} - {None}
        self.void_seats |= {
            d.get("seat") for d in decisions if d["type"] == "HoldOpened" and d["trigger"] == "bet_without_wager"
        }
        self.fallen = {
            int(d["what"].rpartition(" ")[2])
            for d in decisions
            if d["type"] == "StateChanged" and d["what"].startswith("hit ") and d["state"] == "withdrawn"
        }
        whole = [d for d in decisions if d["type"] == "WagersReturned" and d.get("seat") is None]
        self.returns_all = any("progressive" not in d["settled"] for d in whole)
        self.is_unreasonable = any(
            d["type"] == "Finding" and d["kind"] == "unreasonable_contribution" for d in decisions
        )

    def voids(self, seat: int | None) -> bool:
        """Return whether this step makes a seat's hand void."""
        return self.all_void or seat in self.void_seats


class MoneyCheck:
    """Recomputes the book of one meter."""

    def __init__(self) -> None:
        self.book = MeterBook()
        self.hits = HitCheck(self.book)
        self.envy = EnvyCheck()
        self.terms: Json = {}
        self.bets: dict[tuple[int, int], AcceptedBet] = {}  # by round and seat
        self.gone: set[int] = set()  # seats that folded or left
        self.left: set[int] = set()  # seats that left: they are paid no envy
        self.settles = False  # the round is void, but its bets are settled
        self.closed = ""
        self.rate_set_under: str | None = None  # the configuration that had the rate in force

    def use(self, terms: Json, edition: int, configuration: str) -> None:
        """Use these terms from now on."""
        self.terms = self.hits.terms = terms
        self.book.edition = edition
        if self.rate_set_under is None or not self.book.entries:
            self.rate_set_under = configuration

    def new_round(self) -> None:
        """Begin a round."""
        self.envy, self.gone, self.left, self.settles = EnvyCheck(), set(), set(), False
        self.hits.round_over()

    def answered(self, round_: int, asked: AnsweredPrompt) -> None:
        """Remember the parts of an answer that later payments depend on."""
        self.hits.answered(round_, asked)
        self.envy.answered(asked)
        if asked.choice in LEAVES and asked.seat is not None:
            self.gone.add(asked.seat)
            self.left |= {asked.seat} if asked.choice == "abandoned" else set()

    # --- bets ---------------------------------------------------------------------------------------------------------

    def state_of(self, round_: int, seat: int) -> str:
        """Return the state of a bet; empty if there is none."""
        bet = self.bets.get((round_, seat))
        return "" if bet is None else bet.state

    def seats(self, round_: int, *states: str) -> set[int]:
        """Return the seats of a round whose bets are in these states."""
        return {seat for (number, seat), bet in self.bets.items() if number == round_ and bet.state in states}

    def accepted(self, d: Json) -> None:
        """Check an accepted bet: it counts once and adds its parts."""
        t, key = self.terms, (d["round"], d["seat"])
        need(self.state_of(*key) in ("", "returned"), f"the bet of seat {key[1]} counts twice")
        part = t["unit"] * t["rate_bp"] // WHOLE
        to_meter = min(part, max(0, t["limit"] - self.book.held["meter"]))
        over, to_reserve = part - to_meter, t["unit"] * t["reserve_bp"] // WHOLE
        if self.book.edition < SECOND:  # then it was set aside for the next seed
            over, to_reserve = 0, to_reserve + over
        to_house = t["unit"] - to_meter - to_reserve - over
        expected = {
            ("bets", "meter"): to_meter, ("bets", "reserve"): to_reserve, ("bets", "overflow"): over,
            ("bets", "house"): to_house,
        }  # fmt: skip
        need(d["amount"] == t["unit"] and d["entry"]["kind"] == "bet", "a bet is one unit, booked as a bet")
        self.bets[key] = AcceptedBet(self.book.check_entry(d["entry"], expected, *key))

    def returned(self, d: Json, cause: MoneyCause) -> None:
        """Check a returned bet: its round or its hand is void, and it takes back what it added."""
        key = (d["round"], d["seat"])
        bet = self.bets.get(key)
        need(bet is not None and bet.state != "returned", "a bet is returned that is not valid")
        assert bet is not None
        need(
            d["clauses"] and d["entry"]["kind"] == "bet_returned", "a bet is returned without the clause that orders it"
        )
        need(cause.voids(d["seat"]), f"the bet of seat {d['seat']} is returned, and neither round nor hand is void")
        need(d["amount"] == self.terms["unit"], "a bet is returned with another amount")
        exact = self.book.edition >= SECOND and not self.hits.paid_in(d["round"])
        moved = self.book.check_entry(d["entry"], inverse(bet.moved) if exact else self._from_above_seed(bet), *key)
        self.hits.gave_back(d["round"], moved)
        bet.state = "returned"

    def _from_above_seed(self, bet: AcceptedBet) -> Transfers:
        """Return the transfers of a returned bet that leave the meter its seed (after a paid share; first version)."""
        held, to_meter = self.book.held, bet.moved.get(("bets", "meter"), 0)
        from_meter = min(to_meter, max(0, held["meter"] - self.terms["seed"]))
        over = bet.moved.get(("bets", "overflow"), 0)
        from_reserve = min(bet.moved.get(("bets", "reserve"), 0) + to_meter - from_meter, held["reserve"])
        from_house = self.terms["unit"] - from_meter - from_reserve - over
        return {
            ("meter", "bets"): from_meter, ("reserve", "bets"): from_reserve, ("overflow", "bets"): over,
            ("house", "bets"): from_house,
        }  # fmt: skip

    def settled(self, d: Json, cause: MoneyCause, decisions: list[Json]) -> None:
        """Check a settled bet: won by a claimed hand, or lost by an answer of the dealer or the player."""
        seat, asked = d["seat"], cause.asked
        bet = self.bets.get((d["round"], seat))
        need(bet is not None and bet.state != "returned", "a bet is settled that is not valid")
        assert bet is not None
        named = asked is not None and (asked.kind, asked.seat) == ("progressive", seat)
        if d["outcome"] == "won":
            claims = [x for x in decisions if x["type"] == "HitClaimed" and x["seat"] == seat]
            need(named and len(claims) == 1, f"the bet of seat {seat} is won, and no hand is claimed for it")
        else:
            no_win = named and asked is not None and asked.choice == "no_win"
            need(no_win or seat in self.gone, f"the bet of seat {seat} is lost, and no answer states it")
        bet.state = d["outcome"]

    # --- hits and other entries -------------------------------------------------------------------------------------

    def claimed(self, d: Json, cause: MoneyCause) -> None:
        """Check a claim for a bet that was won."""
        awards: list[Json] = [award for award in self.terms["awards"] if award["hand"] == d["hand"]]
        need(awards, f"no line pays {d['hand']}")
        need(self.state_of(d["round"], d["seat"]) == "won", "a hit is claimed for a bet that was not won")
        self.hits.claim(d, awards[0], cause.asked)

    def moved(self, d: Json, cause: MoneyCause) -> None:
        """Check a hit's new state; a withdrawn claim leaves its bet open."""
        id_ = int(d["what"].rpartition(" ")[2])
        hit = self.hits.all.get(id_)
        self.hits.moved(id_, d["state"], cause.asked, void=hit is not None and cause.voids(hit.key[1]))
        if d["state"] == "withdrawn" and hit is not None and not cause.voids(hit.key[1]):
            self.bets[hit.key].state = "open"

    def booked(self, entry: Json, cause: MoneyCause) -> None:
        """Check every other entry: seed, payments, withdrawals, changes by people."""
        kind, round_, seat = entry["kind"], entry.get("round", 0), entry.get("seat")
        if kind == "seed":
            need(not self.book.entries, "a meter is opened once")
            expected = {("seed", "meter"): self.terms["seed"]}
        elif kind in ("correction", "reset", "transfer"):
            expected = by_hand(self.book, self.terms, entry, cause.event, cause.state)
        elif kind == "envy":
            expected = self._envy(entry, cause)
        elif kind == "envy_returned":
            expected = self.envy.give_back(entry, self._falls(cause))
        else:
            self.hits.check_entry(entry, cause.asked)
            return
        self.book.check_entry(entry, expected, round_, seat)

    def _envy(self, entry: Json, cause: MoneyCause) -> Transfers:
        settled = self.seats(entry.get("round", 0), "lost", "won")
        return self.envy.pay(entry, cause.asked, self._bet_line(entry), self.terms["awards"], settled - self.left)

    def _bet_line(self, entry: Json) -> str | None:
        """Return the line by which a hand pays envy as its own bet was settled; None: it has no bet."""
        of = entry.get("seat")
        hit = self.hits.of_seat(entry.get("round", 0), of)
        settled = self.seats(entry.get("round", 0), "lost", "won")
        return hit.hand if hit is not None else ("" if of in settled else None)

    def envied_line(self, entry: Json) -> str:
        """Return the line by which a hand pays envy: by its own bet, or as the dealer named it."""
        line = self._bet_line(entry)
        return self.envy.lines.get(entry["seat"], "") if line is None else line

    def _falls(self, cause: MoneyCause) -> EnvyReversal:
        seats = {self.hits.all[id_].key[1] for id_ in cause.fallen if id_ in self.hits.all}
        return EnvyReversal(cause.returns_all, {seat for seat in cause.void_seats if seat is not None}, seats)

    def stepped(self, round_: int, cause: MoneyCause) -> None:
        """Check after a step: amounts owed are booked, and envy that the step takes back is returned."""
        self.hits.check_owed(round_)
        self.envy.check_fallen(self._falls(cause))

    # --- by hand ------------------------------------------------------------------------------------------------------

    def set(self, d: Json, cause: MoneyCause, configuration: str) -> Json:
        """Check that two people set the rate of the configuration, or the limit."""
        second = self.book.edition >= SECOND
        need(not second or self.closed == "people", "parameters change while the meter is open to play")
        before = self.terms
        self.terms = self.hits.terms = parameters(self.book, self.terms, d, cause.event, cause.state)
        if second and self.terms["rate_bp"] != before["rate_bp"]:
            need(configuration != self.rate_set_under, "the rate changed, and the configuration did not")
            self.rate_set_under = configuration
        self._accounts(d.get("accounts"))
        return self.terms

    def played(self, d: Json, cause: MoneyCause) -> None:
        """Check that the meter is closed to play, or opened again."""
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

    def _accounts(self, written: Json | None) -> None:
        held = {name: amount for name, amount in self.book.held.items() if amount}
        given = {name: amount for name, amount in (written or {}).items() if amount}
        need(given == held or (not written and self.book.edition < SECOND),
             "the recorded accounts are not those of the book")  # fmt: skip

    # --- the end of a round -----------------------------------------------------------------------------------------

    def check_over(self, round_: int, *, void: bool) -> None:
        """Check the end of a round: bets settled, hits paid or withdrawn, bets of a void round returned."""
        hits = [hit.key[1] for hit in self.hits.standing(round_) if not hit.paid]
        left = sorted(self.seats(round_, "open")) + hits
        need(not left, f"round {round_} is over, and bets or hits of seats {left} are not settled")
        if void and not self.settles:
            documented = {hit.key[1] for hit in self.hits.standing(round_) if hit.state == "documented"}
            kept = sorted(self.seats(round_, "lost", "won") - documented)
            need(
                not kept,
                f"round {round_} is void, and the bets of seats {kept} were not returned: they are not settled",
            )
