"""Checks hits from the claim to the payment: each step needs its prompt, seat, role and choice.

Also computes what is owed from the valid claims in their order, independent of the order of booking.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tools.export_checks.basics import CENT, SECOND, CheckFailed, Json, Transfers, inverse, need, person

if TYPE_CHECKING:
    from tools.export_checks.book import MeterBook

UNSURE = ("claimed", "hand_confirmed", "light_seen")
OPEN = (*UNSURE, "validated", "hand_pay")
# The role that answers a prompt about money, by the prompt's kind.
ROLES = {
    "progressive": "dealer", "hit_hand": "dealer", "hit_light": "dealer", "hit_dark": "floorperson",
    "hit_validate": "floorperson", "hit_pay": "dealer", "hand_pay": "floorperson", "envy_line": "dealer",
    "progressive_envy": "dealer", "claim_disputed": "floorperson",
}  # fmt: skip
# By state: the states before it, and the answers (prompt and choice) that lead to it.
STEPS: dict[str, tuple[tuple[str, ...], tuple[tuple[str, str], ...]]] = {
    "hand_confirmed": (("claimed",), (("hit_hand", "winning"),)),
    "light_seen": (("hand_confirmed",), (("hit_light", "lit"), ("hit_dark", "bet_recorded"))),
    "validated": (("light_seen",), (("hit_validate", "table"), ("hit_validate", "hand_pay"))),
    "hand_pay": (("validated",), (("hit_validate", "hand_pay"),)),
    "paid": (("validated",), (("hit_pay", "paid"),)),
    "documented": (("hand_pay",), (("hand_pay", "documented"),)),
}
FALLS = (("hit_hand", "not_winning"), ("hit_dark", "refuse"), ("hit_validate", "refuse"))


class AnsweredPrompt(NamedTuple):
    """The prompt that this step answers, and the answer."""

    kind: str
    seat: int | None
    choice: str
    who: Json
    number: int | None
    seats: list[int]


class ClaimedHit:
    """One claim."""

    def __init__(self, d: Json, award: Json, dealer: str) -> None:
        self.id, self.key = d["hit"], (d["round"], d["seat"])
        self.hand: str = d["hand"]
        self.fixed, self.percent, self.stake = award["fixed"], award["percent"], award["stake"]
        self.share = 0
        self.booked: Transfers | None = None  # what its claim moved, possibly nothing; None: undone
        self.state = "claimed"
        self.dealers = {dealer}
        self.looked_up_by = self.validated_by = ""
        self.dark = False
        self.paid = False  # its entry is booked
        self.reversed = False  # and to be booked again in this step
        self.by_table = False
        self.paid_as = ""  # validated for payment from the table, or as a hand pay

    @property
    def amount(self) -> int:
        """The amount for the player."""
        return int(self.fixed + self.share)


class HitCheck:
    """Every hit of the journal, and what is owed for the hits of the round."""

    def __init__(self, book: MeterBook) -> None:
        self.book = book
        self.terms: Json = {}
        self.all: dict[int, ClaimedHit] = {}
        self.slips: set[int] = set()
        self.last_paid = self.last_paid_round = 0
        self.before: tuple[int, int] | None = None  # meter and reserve of the round without any claim
        self.uneven = False  # a claim was withdrawn after a later share was paid: then the order of booking counts

    def standing(self, round_: int) -> list[ClaimedHit]:
        """Return the hits of a round that were not withdrawn, in their order."""
        hits = [hit for hit in self.all.values() if hit.key[0] == round_ and hit.state != "withdrawn"]
        return sorted(hits, key=lambda hit: hit.id)

    def of_seat(self, round_: int, seat: int | None) -> ClaimedHit | None:
        """Return the valid hit of a seat."""
        return next((hit for hit in self.standing(round_) if hit.key[1] == seat), None)

    # --- claims ---------------------------------------------------------------------------------------------------

    def claim(self, d: Json, award: Json, asked: AnsweredPrompt | None) -> None:
        """Check a claim: the dealer named the hand for this seat."""
        need(asked is not None and (asked.kind, asked.seat, asked.choice) == ("progressive", d["seat"], d["hand"]),
             f"{d['hand']} is claimed for seat {d['seat']}, and the dealer did not name it")  # fmt: skip
        assert asked is not None
        need(self.of_seat(d["round"], d["seat"]) is None, f"seat {d['seat']} has two claims at once")
        hit = ClaimedHit(d, award, person(asked.who))
        if self.before is None:
            self.before = (self.book.held["meter"], self.book.held["reserve"])
        self._book_claim(hit, d, "hit")
        self.all[hit.id] = hit

    def rebook(self, d: Json) -> None:
        """Check that a claim reversed in this step is booked again by the current meter."""
        hit = self.all.get(d["hit"])
        need(hit is not None and hit.reversed and (hit.key, hit.hand) == ((d["round"], d["seat"]), d["hand"]),
             "a claim is booked again that was not reversed in this step")  # fmt: skip
        assert hit is not None
        before, hit.reversed = hit.share, False
        self._book_claim(hit, d, "hit_rebooked")
        if hit.share != before and hit.state in ("validated", "hand_pay"):
            hit.state = "to be validated again"

    def _book_claim(self, hit: ClaimedHit, d: Json, kind: str) -> None:
        held = self.book.held
        share = held["meter"] * hit.percent // 100 // CENT * CENT
        again = self.terms["reseed"] if hit.percent == 100 else 0
        reserve = min(again, held["reserve"])
        expected = {
            ("meter", "pending"): share, ("house", "pending"): hit.fixed,
            ("reserve", "meter"): reserve, ("seed", "meter"): again - reserve,
        }  # fmt: skip
        need((d["share"], d["fixed"]) == (share, hit.fixed), "the hit is worth another amount by the terms")
        need(d["entry"]["kind"] == kind and d["entry"].get("hit") == hit.id, f"a claim is booked as a {kind}")
        hit.share, hit.booked = share, self.book.check_entry(d["entry"], expected, *hit.key)

    # --- states -----------------------------------------------------------------------------------------------------

    def moved(self, id_: int, state: str, asked: AnsweredPrompt | None, *, void: bool) -> None:
        """Check a change of a hit's state: by the right answer, about this seat, in the right order."""
        hit = self.all.get(id_)
        need(hit is not None, f"hit {id_} was never claimed")
        assert hit is not None
        if state == "withdrawn":
            self._fell(hit, asked, void=void)
        elif hit.state == "to be validated again":
            need(state == "light_seen", f"hit {id_} has another amount, and is {state} without a new validation")
        else:
            self._stepped(hit, state, asked)
        hit.state = state

    def _fell(self, hit: ClaimedHit, asked: AnsweredPrompt | None, *, void: bool) -> None:
        by_word = asked is not None and asked.seat == hit.key[1] and (asked.kind, asked.choice) in FALLS
        need(hit.state in OPEN or (hit.state == "paid" and void), f"hit {hit.id} is withdrawn, and it is {hit.state}")
        need(by_word or void, f"hit {hit.id} is withdrawn, and no answer refused it")
        self.uneven = self.uneven or hit.id < self.last_paid

    def _stepped(self, hit: ClaimedHit, state: str, asked: AnsweredPrompt | None) -> None:
        need(state in STEPS and hit.state in STEPS[state][0], f"hit {hit.id} goes from {hit.state} to {state}")
        ours = asked is not None and asked.seat == hit.key[1] and (asked.kind, asked.choice) in STEPS[state][1]
        need(ours, f"hit {hit.id} is {state}, and no answer of the right role leads there")
        assert asked is not None
        if asked.kind == "hit_dark":
            need(hit.dark, f"hit {hit.id}: a bet is looked up, and its light was not dark")
        if state == "light_seen" and asked.kind == "hit_light":
            need(not hit.dark, f"hit {hit.id}: a light that was dark burns")
        if self.book.edition >= SECOND:
            self._other_person(hit, asked)
            final = state not in ("validated", "documented") or self.is_final(hit)
            need(final, f"hit {hit.id} is {state} while an earlier claim may fall")
        if state == "validated":
            hit.paid_as = asked.choice
        need(
            state != "paid" or (hit.paid_as == "table" and not hit.share),
            f"hit {hit.id} was not validated for the table",
        )

    def _other_person(self, hit: ClaimedHit, asked: AnsweredPrompt) -> None:
        who = person(asked.who)
        if asked.kind in ("hit_dark", "hit_validate", "hand_pay"):
            need(who not in hit.dealers, f"hit {hit.id}: {who} confirmed it as dealer and approves it as floorperson")
        if asked.kind == "hand_pay":
            need(who != hit.looked_up_by, f"hit {hit.id}: {who} looked its bet up and documents its payment")
        if asked.kind == "hit_pay":
            need(who not in (hit.validated_by, hit.looked_up_by), f"hit {hit.id}: {who} approved it and pays it")
        if asked.kind == "hit_validate":
            hit.validated_by = who

    def answered(self, round_: int, asked: AnsweredPrompt) -> None:
        """Remember who confirmed a hit, and a light that was dark."""
        hit = self.of_seat(round_, asked.seat)
        if asked.kind not in ROLES or hit is None or asked.kind == "progressive":
            return
        if asked.kind in ("hit_hand", "hit_light"):
            hit.dealers.add(person(asked.who))
        if asked.kind == "hit_dark":
            hit.looked_up_by = person(asked.who)
        hit.dark = hit.dark or (asked.kind, asked.choice) == ("hit_light", "dark")

    def is_final(self, hit: ClaimedHit) -> bool:
        """Return whether every earlier claim on the meter is final."""
        earlier = [other for other in self.standing(hit.key[0]) if other.id < hit.id and other.percent]
        return not hit.percent or not any(other.state in UNSURE for other in earlier)

    # --- entries ------------------------------------------------------------------------------------------------------

    def check_entry(self, entry: Json, asked: AnsweredPrompt | None) -> None:
        """Check an entry about a hit (paid, withdrawn, reversed, returned) against the hit's state."""
        kind, hit = entry["kind"], self.all.get(entry.get("hit", 0))
        need(hit is not None, f"a {kind} of a hit that was never claimed")
        assert hit is not None
        handler = {
            "award_paid": self._paid, "hand_pay_paid": self._paid, "hit_withdrawn": self._undone,
            "hit_reversed": self._undone, "award_returned": self._returned,
        }.get(kind)  # fmt: skip
        if handler is None:
            raise CheckFailed(f"there is no entry {kind}")
        self.book.check_entry(entry, handler(hit, entry, asked), *hit.key)

    def _paid(self, hit: ClaimedHit, entry: Json, asked: AnsweredPrompt | None) -> Transfers:
        by_table = entry["kind"] == "award_paid"
        expected = "paid" if by_table else "documented"
        need(hit.state == expected and not hit.paid, f"a {entry['kind']} of a hit that is {hit.state}")
        need(not by_table or not hit.share, "a share of the meter was paid from the table")
        if not by_table:
            self._slip(hit, entry, asked)
        hit.paid, hit.by_table = True, by_table
        to = "fixed_awards" if by_table else "hand_pays"
        return {("pending", to): hit.amount, ("house", "stakes_returned"): hit.stake}

    def _slip(self, hit: ClaimedHit, entry: Json, asked: AnsweredPrompt | None) -> None:
        need(entry.get("document"), "a hand pay without its slip")
        number = None if asked is None else asked.number
        need(entry["document"] == f"slip {number}",
             f"{entry['document']} is booked, and the floorperson named slip {number}")  # fmt: skip
        assert number is not None
        need(self.book.edition < SECOND or number not in self.slips, f"slip {number} has documented another hand pay")
        self.slips.add(number)
        if hit.share:
            self.last_paid, self.last_paid_round = max(self.last_paid, hit.id), hit.key[0]

    def _undone(self, hit: ClaimedHit, entry: Json, _asked: AnsweredPrompt | None) -> Transfers:
        falls = entry["kind"] == "hit_withdrawn"
        need(hit.booked is not None and not hit.paid, "a claim is undone that is not booked")
        assert hit.booked is not None
        need(not falls or hit.state == "withdrawn", f"a hit_withdrawn of a hit that is {hit.state}")
        need(falls or (hit.state in OPEN and hit.percent and not hit.reversed), "a claim is reversed that may not be")
        booked, hit.reversed = hit.booked, not falls
        hit.booked = None
        if self.book.edition < SECOND:
            return self._as_the_first_edition(hit, booked)
        exact = inverse(booked)
        if hit.id < self.last_paid:
            room = max(0, self.book.held["meter"] + hit.share - self.terms["seed"])
            for transfer in (("meter", "reserve"), ("meter", "seed")):
                exact[transfer] = min(exact.get(transfer, 0), room)
                room -= exact[transfer]
        return exact

    def _as_the_first_edition(self, hit: ClaimedHit, booked: Transfers) -> Transfers:
        """Return the transfers of the first version, in which a withdrawal did not lower the meter."""
        to_reserve = min(booked.get(("reserve", "meter"), 0), hit.share)
        to_seed = min(booked.get(("seed", "meter"), 0), hit.share - to_reserve)
        return {
            ("pending", "meter"): hit.share, ("pending", "house"): hit.fixed, ("meter", "seed"): to_seed,
            ("meter", "reserve"): to_reserve,
        }  # fmt: skip

    def _returned(self, hit: ClaimedHit, _entry: Json, _asked: AnsweredPrompt | None) -> Transfers:
        need(hit.by_table and hit.paid and hit.state == "withdrawn", "an award is returned that the table did not pay")
        hit.paid = False
        return {("fixed_awards", "house"): hit.fixed, ("stakes_returned", "house"): hit.stake}

    # --- what is owed ---------------------------------------------------------------------------------------------

    def paid_in(self, round_: int) -> bool:
        """Return whether an attendant has paid a share of the meter in this round."""
        return self.last_paid_round == round_

    def gave_back(self, round_: int, moved: Transfers) -> None:
        """Lower the meter and reserve from which claims are computed, because a bet of the round was returned."""
        self.uneven = self.uneven or (self.before is not None and bool(moved) and self.paid_in(round_))
        if self.before is not None:
            meter, reserve = self.before
            self.before = (meter - moved.get(("meter", "bets"), 0), reserve - moved.get(("reserve", "bets"), 0))

    def check_owed(self, round_: int) -> None:
        """Check after a step: each state has its entry, and the meter holds what the valid claims leave."""
        for hit in self.standing(round_):
            need(not hit.reversed and hit.state != "to be validated again", f"hit {hit.id} was reversed and left so")
            need(hit.paid is (hit.state in ("paid", "documented")), f"hit {hit.id} is {hit.state} without its entry")
        for hit in self.all.values():
            if hit.key[0] == round_ and hit.state == "withdrawn":
                need(hit.booked is None or hit.by_table, f"hit {hit.id} is withdrawn, and its claim is still booked")
        if self.before is None or self.uneven or self.book.edition < SECOND:
            return
        meter, reserve = self._left(round_)
        held = self.book.held
        need((held["meter"], held["reserve"]) == (meter, reserve),
             f"the valid claims leave {meter} in the meter, and it holds {held['meter']}")  # fmt: skip

    def _left(self, round_: int) -> tuple[int, int]:
        """Return meter and reserve after the valid claims, one after the other."""
        assert self.before is not None
        meter, reserve = self.before
        for hit in self.standing(round_):
            if not hit.percent:
                continue
            share = meter * hit.percent // 100 // CENT * CENT
            need(hit.share == share, f"hit {hit.id} is owed {share} of the meter, and {hit.share} is booked")
            again = self.terms["reseed"] if hit.percent == 100 else 0
            from_reserve = min(again, reserve)
            meter, reserve = meter - share + again, reserve - from_reserve
        return meter, reserve

    def round_over(self) -> None:
        """End the round: the next one begins with the current meter."""
        self.before, self.uneven = None, False
