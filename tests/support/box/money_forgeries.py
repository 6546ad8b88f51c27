"""Journal exports with forged money and a recomputed hash chain, which only the money rules can detect."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any, Final

from simulators.casino.dealt_hands import enter_dealt
from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from tests.support.box.export_forgeries import ForgedExport, Forgery
from tests.support.box.journal_prefixes import resume_play
from tests.support.box.recorded_table import RecordedTable
from tests.support.core.ideal_table import DEALER

if TYPE_CHECKING:
    from pathlib import Path

GAME: Final = "dj_wild"
WITHOUT_BET: Final = 6  # a seat whose known hand pays envy


def played(folder: Path) -> RecordedTable:
    """A table with hand pays, an award, envy, a withdrawn claim, a ruling, a void round and a correction."""
    table = RecordedTable(folder, GAME, quick=True).open_table()
    table.round((1, 3, 6))
    table.hit_round(0)
    table.hit_round(3)
    _fallen(table)
    table.void_round()
    table.correct_meter(1_230_000)
    table.round((1, 3))
    _ruled(table)
    table.store.close()
    return table


def _ruled(table: RecordedTable) -> None:
    """A floorperson rules that the dealer names seat 1's hand against its cards; a hand without a bet pays envy."""
    floor = table.floor
    table._open((1, 3))
    floor.play_to(mc.SETTLING)
    while not [prompt for prompt in floor.prompts("progressive") if prompt.seat == 1]:
        for event in floor.answer(floor.prompts()[0]):
            floor.step(event)
    floor.rule_claim(1)
    floor.name_hand(1, "full_house")
    for _ in range(60):
        asked = [prompt for prompt in floor.prompts("envy_line") if prompt.seat == WITHOUT_BET]
        if asked:
            break
        for event in floor.answer(floor.prompts()[0]):
            floor.step(event)
    entry = enter_dealt(floor.table.context, WITHOUT_BET, "straight_flush", DEALER)
    assert entry is not None
    floor.step(entry)
    resume_play(floor)


def _fallen(table: RecordedTable) -> None:
    """One seat claims the whole meter, then another a share of it; then the first claim falls."""
    floor = table.floor
    table._open((1, 3))
    floor.play_to(mc.SETTLING)
    hits = floor.state.money.hits
    for _ in range(60):
        if len(hits) == 2:
            break
        prompt = next(p for p in floor.prompts() if not p.kind.startswith(("hit_", "hand_pay")))
        if prompt.kind == "progressive":
            assert prompt.seat is not None
            rules = floor.table.context.meter
            assert rules is not None
            floor.name_hand(prompt.seat, rules.awards[len(hits)].hand)
        else:
            for event in floor.answer(prompt):
                floor.step(event)
    first = min(hits.values(), key=lambda hit: hit.id)
    (asked,) = (p for p in floor.prompts("hit_hand") if p.seat == first.seat)
    floor.step(ev.Answer(asked.id, "not_winning", DEALER))
    resume_play(floor)


# --- finding ----------------------------------------------------------------------------------------------------------


def _asked(e: ForgedExport, kind: str, number: int = 0) -> tuple[int, dict[str, Any], dict[str, Any]]:
    """Return the place of the n-th accepted answer to a question of a kind, its event and the question."""
    prompts = {
        d["id"]: d
        for r in e.records
        if r["kind"] == "step"
        for d in r["content"]["decisions"]
        if d["type"] == "Prompt" and d["kind"] == kind
    }
    answers = [
        (n, r["content"]["event"], prompts[r["content"]["event"]["prompt"]])
        for n, r in enumerate(e.records)
        if r["kind"] == "step" and r["content"]["event"]["type"] == "Answer"
        if r["content"]["event"]["prompt"] in prompts
    ]
    return answers[number]


def _question(e: ForgedExport, place: int) -> dict[str, Any]:
    """Return the question that the event of a record answers."""
    (prompt,) = [
        d for r in e.records if r["kind"] == "step" for d in r["content"]["decisions"]
        if d["type"] == "Prompt" and d["id"] == e.step_event(place)["prompt"]
    ]  # fmt: skip
    question: dict[str, Any] = prompt
    return question


def _change_answer(e: ForgedExport, place: int, choice: str) -> None:
    """Change an answer, both in the event and in the record that closes its question."""
    event = e.step_event(place)
    for decision in e.decided(place):
        if decision["type"] == "PromptClosed" and decision["id"] == event["prompt"]:
            decision["choice"] = choice
    event["choice"] = choice


def _renumber(e: ForgedExport, above: int, by: int) -> None:
    for record in e.records:
        for d in record["content"].get("decisions", ()) if record["kind"] == "step" else ():
            if d.get("entry", {}).get("number", 0) > above:
                d["entry"]["number"] += by


def _claim_step(e: ForgedExport) -> tuple[int, list[dict[str, Any]]]:
    """Return the place of the step in which a claim falls under a later one, and its decisions."""
    place, _ = e.decision("HitRebooked")
    return place, e.decided(place)


# --- answers that do not fit the money --------------------------------------------------------------------------------


def _paid_after_not_winning(e: ForgedExport) -> int:
    place, _, _ = _asked(e, "hit_hand")
    _change_answer(e, place, "not_winning")
    return place


def _validation_dropped(e: ForgedExport) -> int:
    place, event, _ = _asked(e, "hit_validate")
    e.decided(place)[:] = [
        d for d in e.decided(place) if not (d["type"] == "StateChanged" and d["what"].startswith("hit "))
    ]
    assert event["choice"] == "hand_pay"
    return _asked(e, "hand_pay")[0]


def _confirmation_dropped(e: ForgedExport) -> int:
    place, _, _ = _asked(e, "hit_hand")
    e.decided(place)[:] = [
        d for d in e.decided(place) if not (d["type"] == "StateChanged" and d["what"].startswith("hit "))
    ]
    return _asked(e, "hit_light")[0]


def _dark_light_passes(e: ForgedExport) -> int:
    place, _, _ = _asked(e, "hit_light")
    _change_answer(e, place, "dark")
    return place


def _validation_refused(e: ForgedExport) -> int:
    place, _, _ = _asked(e, "hit_validate")
    _change_answer(e, place, "refuse")
    return place


def _other_slip(e: ForgedExport) -> int:
    place, paid = e.entry("hand_pay_paid")
    paid["entry"]["document"] = "slip 987654"
    return place


def _other_number(e: ForgedExport) -> int:
    place, event, _ = _asked(e, "hand_pay")
    event["number"] += 1
    return place


def _slip_again(e: ForgedExport) -> int:
    first, _ = e.entry("hand_pay_paid")
    place, paid = e.entry("hand_pay_paid", 1)
    number = e.step_event(first)["number"]
    e.step_event(place)["number"], paid["entry"]["document"] = number, f"slip {number}"
    return place


def _other_hand(e: ForgedExport) -> int:
    """The dealer confirmed another line than the one that is booked: question, answer and claim disagree."""
    place, claimed = e.decision("HitClaimed")
    prompt = _question(e, place)
    other = "three_of_a_kind" if claimed["hand"] != "three_of_a_kind" else "straight"
    prompt["choices"] = [other if choice == claimed["hand"] else choice for choice in prompt["choices"]]
    _change_answer(e, place, other)
    return place


def _lost_is_won(e: ForgedExport) -> int:
    """The dealer named a hand, and the bet is booked as lost."""
    place, settled = e.decision("BetSettled", outcome="lost")
    prompt = _question(e, place)
    prompt["choices"] = ["royal_flush"]
    _change_answer(e, place, "royal_flush")
    assert settled["seat"] == prompt["seat"]
    return place


def _claimed_by_nobody(e: ForgedExport) -> int:
    place, claimed = e.decision("HitClaimed")
    prompt = _question(e, place)
    prompt["choices"] = ["no_win" if choice == claimed["hand"] else choice for choice in prompt["choices"]]
    _change_answer(e, place, "no_win")
    return place


def _fallen_by_nobody(e: ForgedExport) -> int:
    place, _ = _claim_step(e)
    _change_answer(e, place, "winning")
    return place


def _other_hit_paid(e: ForgedExport) -> int:
    _, first = e.entry("hand_pay_paid")
    place, paid = e.entry("award_paid")
    paid["entry"]["hit"] = first["entry"]["hit"]
    return place


def _dealer_documents(e: ForgedExport) -> int:
    """The question itself is put to the dealer."""
    _place, event, prompt = _asked(e, "hand_pay")
    prompt["role"] = event["who"]["role"] = "dealer"
    return next(n for n, r in enumerate(e.records) if r["kind"] == "step" and prompt in r["content"]["decisions"])


def _dealer_validates(e: ForgedExport) -> int:
    _place, event, prompt = _asked(e, "hit_validate")
    prompt["role"] = event["who"]["role"] = "dealer"
    return next(n for n, r in enumerate(e.records) if r["kind"] == "step" and prompt in r["content"]["decisions"])


def _table_pays_hand_pay(e: ForgedExport) -> int:
    """What was validated as a hand pay is paid from the table."""
    place, paid = e.entry("award_paid")
    prompt, hit = e.step_event(place)["prompt"], paid["entry"]["hit"]
    for n, record in enumerate(e.records[:place]):
        for d in record["content"].get("decisions", ()) if record["kind"] == "step" else ():
            if d == {"type": "StateChanged", "what": f"hit {hit}", "state": "validated"}:
                _change_answer(e, n, "hand_pay")
    assert prompt
    return place


# --- the cards of a claim ---------------------------------------------------------------------------------------------


def _claimed_cards(e: ForgedExport) -> tuple[int, int, dict[str, Any]]:
    """Return the places of the first claim and of the entry of its cards, and that event."""
    claim, hit = e.decision("HitClaimed")
    entered = max(
        n for n, r in enumerate(e.records[:claim])
        if r["kind"] == "step" and r["content"]["event"]["type"] == "HandEntered"
        and r["content"]["event"]["place"] == hit["seat"]
    )  # fmt: skip
    return claim, entered, e.step_event(entered)


def _lower_cards(e: ForgedExport) -> int:
    """The entered cards are not the line that is claimed."""
    claim, _, event = _claimed_cards(e)
    event["cards"] = "2c 3d 5h 7s 9c"
    return claim


def _no_cards(e: ForgedExport) -> int:
    """Nobody entered cards: the record of the entry is gone."""
    claim, entered, _ = _claimed_cards(e)
    asked = {d["id"] for d in e.decided(entered) if d["type"] == "Prompt"}
    e.records[entered]["content"]["event"] = {
        "type": "HandEntered", "place": 0, "cards": "2c 3d 5h 7s 9c", "who": {"role": "dealer", "credential": "D1"},
    }  # fmt: skip
    assert asked
    return claim


def _refused_cards(e: ForgedExport) -> int:
    """The box refused the entry."""
    claim, entered, _ = _claimed_cards(e)
    e.decided(entered).append({"type": "RequestRefused", "what": "no", "reasons": []})
    return claim


def _joker_not_replaced(e: ForgedExport) -> int:
    claim, _, event = _claimed_cards(e)
    event["cards"] = " ".join(["Jk", *event["cards"].split()[1:]])
    return claim


def _cards_after_claim(e: ForgedExport) -> int:
    """Other cards of a seat are entered while its hit stands."""
    claim, entered, _ = _claimed_cards(e)
    again = deepcopy(e.records[entered])
    again["content"]["decisions"] = []
    again["content"]["event"]["cards"] = "2c 3d 5h 7s 9c"
    e.records.insert(claim + 1, again)
    return claim + 1


def _ruling(e: ForgedExport) -> tuple[int, int]:
    """Return the places of a floorperson's ruling against the cards, and of the claim after it."""
    place, _, _ = _asked(e, "claim_disputed")
    return place, next(n for n, r in enumerate(e.records) if n > place and r["kind"] == "step"
                       and any(d["type"] == "HitClaimed" for d in r["content"]["decisions"]))  # fmt: skip


def _ruled_otherwise(e: ForgedExport) -> int:
    """The floorperson ruled that the cards decide, and another line is claimed."""
    place, claim = _ruling(e)
    _change_answer(e, place, "stands")
    return claim


def _envy_of_other_cards(e: ForgedExport) -> int:
    """Envy is paid for a hand without a bet whose entered cards are no line."""
    entered = e.event("HandEntered", place=WITHOUT_BET)
    e.step_event(entered)["cards"] = "2c 3d 5h 7s 9c"
    return next(n for n, r in enumerate(e.records) if r["kind"] == "step" for d in r["content"]["decisions"]
                if d.get("entry", {}).get("kind") == "envy" and d["entry"]["seat"] == WITHOUT_BET)  # fmt: skip


def _dealer_rules(e: ForgedExport) -> int:
    _place, event, prompt = _asked(e, "claim_disputed")
    prompt["role"] = event["who"]["role"] = "dealer"
    return next(n for n, r in enumerate(e.records) if r["kind"] == "step" and prompt in r["content"]["decisions"])


# --- people -----------------------------------------------------------------------------------------------------------


def _dealers_correct(e: ForgedExport) -> int:
    place = e.event("MeterCorrected")
    e.step_event(place)["who"]["role"] = e.step_event(place)["second"]["role"] = "dealer"
    return place


def _one_human(e: ForgedExport) -> int:
    """Two credentials of one person."""
    place = e.event("MeterCorrected")
    e.step_event(place)["second"]["person"] = e.step_event(place)["who"]["credential"]
    return place


def _other_document(e: ForgedExport) -> int:
    place, corrected = e.entry("correction")
    corrected["entry"]["document"] = "memo 8"
    return place


def _dealer_is_floorperson(e: ForgedExport) -> int:
    """Who claimed the hand validates it, with a second credential."""
    dealer = e.step_event(e.decision("HitClaimed")[0])["who"]["credential"]
    place, event, _ = _asked(e, "hit_validate")
    event["who"]["person"] = dealer
    return place


def _claimant_documents(e: ForgedExport) -> int:
    dealer = e.step_event(e.decision("HitClaimed")[0])["who"]["credential"]
    place, event, _ = _asked(e, "hand_pay")
    event["who"]["person"] = dealer
    return place


# --- envy -------------------------------------------------------------------------------------------------------------


def _envy_inflated(e: ForgedExport) -> int:
    place, paid = e.entry("envy")
    paid["entry"]["transfers"][0]["amount"] *= 2
    return place


def _envy_to_one_more(e: ForgedExport) -> int:
    place, paid = e.entry("envy")
    paid["entry"]["transfers"].append(deepcopy(paid["entry"]["transfers"][0]))
    return place


def _envy_without_bet(e: ForgedExport) -> int:
    place, _ = e.entry("envy")
    e.step_event(place)["seats"] = [5]
    return place


def _envy_for_own_hand(e: ForgedExport) -> int:
    place, paid = e.entry("envy")
    e.step_event(place)["seats"] = [paid["entry"]["seat"]]
    return place


def _envy_unasked(e: ForgedExport) -> int:
    place, paid = e.entry("envy")
    paid["entry"]["seat"] = 6
    return place


# --- amounts ----------------------------------------------------------------------------------------------------------


def _not_booked_again(e: ForgedExport) -> int:
    """A claim falls, and the later one keeps the amount that it had under it: the winner is paid too little."""
    place, decisions = _claim_step(e)
    (fallen,) = [d for d in decisions if d.get("entry", {}).get("kind") == "hit_withdrawn"]
    gone = [d for d in decisions if d["type"] == "HitRebooked" or d.get("entry", {}).get("kind") == "hit_reversed"]
    first, last = min(d["entry"]["number"] for d in [*gone, fallen]), max(d["entry"]["number"] for d in gone)
    (again,) = [d for d in gone if d["type"] == "HitRebooked"]
    (before,) = [d for d in gone if d["type"] != "HitRebooked"]
    decisions[:] = [d for d in decisions if d not in gone]
    entry = fallen["entry"]
    moved = entry["meter_after"] - entry["meter_before"]
    entry |= {"number": first, "meter_before": before["entry"]["meter_before"]}
    entry["meter_after"] = entry["meter_before"] + moved
    assert first < last
    _renumber(e, last, -2)
    e.shift_meter(first, entry["meter_after"] - again["entry"]["meter_after"])
    return place


def _booked_again_for_less(e: ForgedExport) -> int:
    place, decisions = _claim_step(e)
    (again,) = [d for d in decisions if d["type"] == "HitRebooked"]
    again["share"] -= 10_000
    return place


def _withdrawn_by_old_rule(e: ForgedExport) -> int:
    """The meter keeps the re-seed of a claim that fell."""
    place, decisions = _claim_step(e)
    (fallen,) = [d for d in decisions if d.get("entry", {}).get("kind") == "hit_withdrawn"]
    entry = fallen["entry"]
    entry["transfers"] = [t for t in entry["transfers"] if t["to"] != "seed"]
    entry["meter_after"] = entry["meter_before"] + sum(t["amount"] for t in entry["transfers"] if t["to"] == "meter")
    return place


def _returned_in_play(e: ForgedExport) -> int:
    """Bets go back in a round that nobody declared void."""
    place, _ = e.decision("BetReturned")
    e.decided(place)[:] = [
        d for d in e.decided(place)
        if d["type"] != "WagersReturned" and not (d["type"] == "StateChanged" and d["what"] == "round")
    ]  # fmt: skip
    return place


def _old_books(e: ForgedExport) -> int:
    """A later start record claims the booking rules of the first version."""
    place = max(n for n, r in enumerate(e.records) if r["kind"] == "box")
    copy = deepcopy(e.records[place])
    copy["content"]["accounting"] = 1
    e.records.insert(place + 1, copy)
    return place + 1


def _other_paytable(e: ForgedExport) -> int:
    """One edit of the configuration moves the meter changes the paytable."""
    start = max(n for n, r in enumerate(e.records) if r["kind"] == "start")
    digests = e.records[start]["content"]["digests"] | {"configuration": "00" * 32}
    again, box = deepcopy(e.records[start]), deepcopy(next(r for r in e.records[start:] if r["kind"] == "box"))
    again["content"]["digests"] = digests
    e.manifest["digests"].append(digests)
    box["content"]["terms"]["meter"]["table"] = "687a-progressive-2"
    again["boot"] = box["boot"] = e.records[-1]["boot"] + 1
    e.records += [again, box]
    return len(e.records) - 1


def _other_devices(e: ForgedExport, people: tuple[str, str, str] | None) -> int:
    """Other devices from the next start on, accepted by nobody or by the wrong people (two roles and a name)."""
    start = max(n for n, r in enumerate(e.records) if r["kind"] == "start")
    old = e.records[start]["content"]["digests"]
    new = old | {"configuration": "00" * 32}
    again, box = deepcopy(e.records[start]), deepcopy(next(r for r in e.records[start:] if r["kind"] == "box"))
    meter = [r["content"] for r in e.records if r["kind"] == "box"][-1]["terms"]["meter"]
    box["content"]["terms"]["meter"] = meter
    again["content"]["digests"] = new
    e.manifest["digests"].append(new)
    added = [again]
    if people is not None:
        first, second, name = people
        body: dict[str, Any] = {"name": "devices_accepted", "old": old, "new": new, "changes": ["added: keypad.1"]}
        if first:
            body["who"] = {"role": first, "credential": "X1", "person": "p"}
            body["second"] = {"role": second, "credential": "X2", "person": name}
        added.append({**deepcopy(box), "kind": "migration", "content": body})
    for record in (*added, box):
        record["boot"] = e.records[-1]["boot"] + 1
    e.records += [*added, box]
    return len(e.records) - (1 if people is None else 2)


def _document_again(e: ForgedExport) -> int:
    """One document moves money twice."""
    place = e.event("MeterCorrected")
    step = e.records[place]["content"]
    again = deepcopy(e.records[place])
    entry = next(d["entry"] for d in again["content"]["decisions"] if "entry" in d)
    by = entry["meter_after"] - entry["meter_before"]
    last = next(d["entry"] for r in reversed(e.records) if r["kind"] == "step"
                for d in reversed(r["content"]["decisions"]) if "entry" in d)  # fmt: skip
    entry |= {
        "number": last["number"] + 1,
        "meter_before": last["meter_after"],
        "meter_after": last["meter_after"] + by,
    }
    again["content"]["event"]["document"] = f"  {step['event']['document'].upper()} "
    entry["document"] = again["content"]["event"]["document"]
    again["boot"] = e.records[-1]["boot"]
    e.records.append(again)
    return len(e.records) - 1


MONEY_FORGERIES: Final = (
    Forgery("paid after not winning", _paid_after_not_winning, "no answer of the right role leads there"),
    Forgery("validation dropped", _validation_dropped, "goes from light_seen to documented"),
    Forgery("confirmation dropped", _confirmation_dropped, "goes from claimed to light_seen"),
    Forgery("dark light passes", _dark_light_passes, "no answer of the right role leads there"),
    Forgery("validation refused and paid", _validation_refused, "no answer of the right role leads there"),
    Forgery("booked slip differs", _other_slip, "and the floorperson named slip"),
    Forgery("named slip differs", _other_number, "and the floorperson named slip"),
    Forgery("one slip for two hand pays", _slip_again, "has documented another hand pay"),
    Forgery("another hand than was said", _other_hand, "the dealer did not name it"),
    Forgery("winning hand booked as lost", _lost_is_won, "is lost, and no answer states it"),
    Forgery("claimed by nobody", _claimed_by_nobody, "no hand is claimed for it|the dealer did not name it"),
    Forgery("other cards than the line", _lower_cards, "and its cards 2c 3d 5h 7s 9c are no line"),
    Forgery("claimed without cards", _no_cards, "nobody entered its cards"),
    Forgery("claimed by cards that were refused", _refused_cards, "nobody entered its cards"),
    Forgery("joker without its replacement card", _joker_not_replaced, "by a joker without its replacement card"),
    Forgery("cards entered after the claim", _cards_after_claim, "change while a hit is claimed by them"),
    Forgery("envy of other cards than the line", _envy_of_other_cards, "envy is paid for straight_flush of seat 6"),
    Forgery("claimed against the ruling", _ruled_otherwise, "and its cards .* are no line"),
    Forgery("dealer rules", _dealer_rules, "the dealer is asked claim_disputed"),
    Forgery("withdrawn by nobody", _fallen_by_nobody, "no answer refused it"),
    Forgery("another hit is paid", _other_hit_paid, "award_paid of a hit that is documented"),
    Forgery("dealer documents", _dealer_documents, "the dealer is asked hand_pay"),
    Forgery("dealer validates", _dealer_validates, "the dealer is asked hit_validate"),
    Forgery("table pays a hand pay", _table_pays_hand_pay, "was not validated for the table"),
    Forgery("dealers correct the meter", _dealers_correct, "a correction by dealer and dealer"),
    Forgery("one human with two credentials corrects", _one_human, "one person alone"),
    Forgery("other document", _other_document, "a correction without its document"),
    Forgery("claimant validates", _dealer_is_floorperson, "confirmed it as dealer and approves it"),
    Forgery("claimant documents", _claimant_documents, "confirmed it as dealer and approves it"),
    Forgery("envy inflated", _envy_inflated, "an amount that its line does not pay"),
    Forgery("envy to one more", _envy_to_one_more, "an amount that its line does not pay"),
    Forgery("envy to a seat without a bet", _envy_without_bet, "other bettors are"),
    Forgery("envy for the own hand", _envy_for_own_hand, "other bettors are"),
    Forgery("envy for another hand", _envy_unasked, "the dealer did not confirm that it was paid"),
    Forgery("later claim not booked again", _not_booked_again, "is owed|the valid claims leave"),
    Forgery("later claim booked again for less", _booked_again_for_less, "worth another amount"),
    Forgery("withdrawn by the old rule", _withdrawn_by_old_rule, "by the terms it moves"),
    Forgery("bets go back in play", _returned_in_play, "neither round nor hand is void"),
    Forgery("books of the first version again", _old_books, "rules of an earlier version"),
    Forgery("another paytable for the meter", _other_paytable, "changes the paytable"),
    Forgery("other devices without a migration", lambda e: _other_devices(e, None), "no migration led there"),
    Forgery("other devices by nobody", lambda e: _other_devices(e, ("", "", "")), "no person accepted that"),
    Forgery(
        "other devices by a dealer",
        lambda e: _other_devices(e, ("technician", "dealer", "q")),
        "by technician and dealer",
    ),
    Forgery(
        "other devices by one person",
        lambda e: _other_devices(e, ("technician", "floorperson", "P")),
        "one person alone accepted",
    ),
    Forgery("a document used twice", _document_again, "has moved money before"),
)
