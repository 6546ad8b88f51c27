"""What a page of one role shows of the table, selected from its picture, as plain data with labels for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec

from table_controller.journal.record_text import result_text, to_words
from table_controller.ledger.money import format_dollars
from table_controller.panel import labels
from table_controller.table import state_machines as mc
from table_controller.table.decks import age_timer
from table_controller.table.starting_position import DICE_TIMER

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from table_controller.journal.finding_log import LoggedFinding
    from table_controller.journal.hit_log import LoggedHit
    from table_controller.picture.types import (
        DeckPicture,
        HitPicture,
        HoldPicture,
        PlacePicture,
        TablePicture,
        TaskPicture,
    )
    from table_controller.table.decisions import DenialReason, Prompt, Proposal
    from table_controller.table.state import Hold

_HOUR: Final = 3600.0
# What the dealer does without a prompt.
_TASKS: Final = {
    "deal_stack": "Deal the stack to {place}",
    "shake_dice": "Shake the dice three times, lid off",
    "load_shuffler": "Put deck {deck} into the shuffler",
}


def table_view(table: TablePicture, role: str, left: Mapping[str, float]) -> dict[str, Any]:
    """Return what a page of this role shows. `left`: seconds until each running deadline."""
    prompts = [_prompt(table, prompt, role) for prompt in _ordered(table, role)]
    return {
        "game": table.rules.title,
        "round": _round(table),
        "next": _next(table, role, prompts),
        "prompts": prompts,
        "blocked_by": [reason_view(reason) for reason in table.next_round] if table.round.state == mc.IDLE else [],
        "holds": [_hold(hold) for hold in table.holds],
        "decks": [_deck(deck, left) for deck in table.decks.values() if deck.state != mc.REMOVED],
        "two_jokers": table.rules.two_jokers,
        "most_decks": table.rules.most_decks,
        "dice": _dice(table, left),
        "seats": [_seat(place) for place in table.places if place.place],
        "dealer_cards": table.places[0].cards,
        "pad": _pad(table),
        "optional": _optional(table),
        "meter": meter_view(table),
        "meter_rules": _meter_rules(table),
        "by_shoe": table.rules.one_shuffle_per_shoe,
        "slots": _slots(table),
        "doing": _doing(table),
    }


# --- the round --------------------------------------------------------------------------------------------------------


def _round(table: TablePicture) -> dict[str, Any]:
    round_ = table.round
    start = round_.start
    return {
        "number": round_.number,
        "state": round_.state,
        "text": _phase_text(table),
        "deck": round_.deck,
        "start": start,
        "start_place": None if start is None else _place_of(start),
        "total": round_.total if round_.announced else None,  # hidden until the dealer has announced it
        "finds_start": table.start,
        "dealing": to_words(table.dealing),
        "void": round_.state == mc.VOID,
    }


def _phase_text(table: TablePicture) -> str:
    round_ = table.round
    if round_.state == mc.VOID:
        return f"Round {round_.number} is void"
    return "Play is stopped" if round_.state == mc.IDLE and table.holds else labels.PHASES[round_.state]


def _place_of(position: int) -> int:
    """Return the place of a position number: 1 is the dealer (0 here), counted counterclockwise."""
    return 0 if position == 1 else 8 - position


def _ordered(table: TablePicture, role: str) -> list[Prompt]:
    """Return the questions in the order of answering: this role's own first, then irregularities."""
    return sorted(table.prompts, key=lambda prompt: (prompt.role != role, prompt.hold is None, prompt.id))


def _prompt(table: TablePicture, prompt: Prompt, role: str) -> dict[str, Any]:
    hold = next((each.hold for each in table.holds if each.hold.id == prompt.hold), None)
    seat = prompt.seat
    if seat is None and prompt.kind == "move_button":
        seat = _place_of(table.button)
    return {
        "id": prompt.id,
        "kind": prompt.kind,
        "text": labels.question(
            prompt.kind,
            seat=seat,
            deck=prompt.deck,
            slot=prompt.slot,
            trigger=hold.trigger if hold else "",
            number=prompt.number,
        ),
        "role": prompt.role,
        "mine": prompt.role == role,
        "why": "" if hold is None else _because(hold),
        "choices": [{"key": choice, "text": _choice(table, prompt, hold, choice)} for choice in prompt.choices],
        "number": _number(table, prompt),
        "seats": _seats_of(table, prompt),
        "one_seat": prompt.kind in ("first_arrival", "cover_seat"),
        "clauses": [clause for clause in prompt.clauses if clause != table.rules.chapter],
        "evidence": [labels.evidence(what) for what in prompt.evidence],
        "shows": prompt.shows,
        "proposals": [_proposal(each) for each in prompt.proposals],
        "seat": prompt.seat,
        "slot": prompt.slot,
        "deck": prompt.deck,
        "hold": prompt.hold,
    }


def _proposal(proposal: Proposal) -> dict[str, Any]:
    """Return what the rules decide about a wager: the sentence to confirm or dispute, and its clauses."""
    return {"text": labels.sentence(result_text(msgspec.to_builtins(proposal))), "clauses": list(proposal.clauses)}


def _number(table: TablePicture, prompt: Prompt) -> dict[str, int] | None:
    """Return the limits of the number that a prompt asks for, and for a hand pay the next free slip number."""
    if not prompt.number:
        return None
    limits = {"least": prompt.least, "most": prompt.most}
    if prompt.kind == "hand_pay" and table.meters is not None:
        limits["proposed"] = table.meters.next_slip
    return limits


def _because(hold: Hold) -> str:
    """Return why the question of an irregularity is asked: what happened, and where."""
    about = ", ".join(_about(hold))
    return labels.sentence(labels.meaning(hold.trigger) or to_words(hold.trigger)) + (f" ({about})" if about else "")


def _choice(table: TablePicture, prompt: Prompt, hold: Hold | None, choice: str) -> str:
    """Return the label of an answer; the choices of a ruling also name their outcomes."""
    label = labels.answer(choice)
    if choice == "give_up" and prompt.slot is not None:
        return f"Take {labels.machine_name(prompt.slot).lower()} out of service"
    if prompt.kind == "choose" and hold is not None and choice in hold.choices:
        known = {*label.lower().split(), *to_words(choice).split(), "round", "deck"}
        orders = ", ".join(to_words(what) for what in hold.choices[choice] if not set(to_words(what).split()) <= known)
        return f"{label} ({orders})" if orders else label
    return _award(table, choice, label) if prompt.kind == "progressive" else label


def _award(table: TablePicture, hand: str, otherwise: str = "") -> str:
    """Return a hand as the paytable of the table prints it."""
    return table.rules.hands.get(hand) or otherwise or to_words(hand)


def _seats_of(table: TablePicture, prompt: Prompt) -> list[int] | None:
    """Return the seats that may be chosen; None if the question has no seats."""
    if not prompt.seats:
        return None
    entered = table.round.seats
    if prompt.kind.startswith(("side_wagers", "progressive_envy", "players")) and entered:
        return [seat for seat in entered if seat != prompt.seat]
    return list(range(1, table.rules.seats + 1))


# --- the next action --------------------------------------------------------------------------------------------------


def _next(table: TablePicture, role: str, prompts: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the next action, who does it, and how: an answer, a button, by hand, or by a machine."""
    mine = next((prompt for prompt in prompts if prompt["mine"]), None)
    if mine is not None:
        return {"how": "prompt", "prompt": mine["id"], "text": mine["text"], "who": role}
    state, reasons = table.round.state, table.next_round
    if state == mc.BETTING:
        return {"how": "no_more_bets", "text": "No more bets", "who": "dealer"}
    if table.task is not None:
        return {"how": "hands", "text": _task(table.task), "who": "dealer"}
    if prompts:
        return {"how": "wait", "text": prompts[0]["text"], "who": prompts[0]["role"]}
    doing = _doing(table)
    if doing:
        return {"how": "machine", "text": doing[0], "who": "machine"}
    if state == mc.IDLE:
        if all(deck.state == mc.REMOVED for deck in table.decks.values()):
            return {"how": "bring", "text": "Add a deck", "who": "dealer"}
        if not reasons:
            return {"how": "open_round", "text": "Open the round", "who": "dealer"}
        return {"how": "blocked", "text": labels.sentence(reasons[0].evidence), "who": reasons[0].clears}
    return {"how": "wait", "text": labels.PHASES[state], "who": "nobody"}


def _task(task: TaskPicture) -> str:
    return _TASKS[task.do].format(place=labels.place_name(task.place), deck=task.deck)


def _doing(table: TablePicture) -> list[str]:
    """Return what machines do now, without duplicates."""
    texts = [
        labels.COMMANDS_UNDER_WAY.get(work.act, "{slot} works").format(slot=labels.machine_name(work.slot))
        for work in table.work
    ]
    return list(dict.fromkeys(texts))


# --- holds and reasons ------------------------------------------------------------------------------------------------


def reason_view(reason: DenialReason) -> dict[str, str]:
    """Return a reason why something is not permitted."""
    return {
        "text": labels.sentence(reason.text),
        "clause": reason.clause,
        "clears": reason.clears,
        "evidence": labels.sentence(reason.evidence),
        "key": reason.key,
    }


def _hold(each: HoldPicture) -> dict[str, Any]:
    hold = each.hold
    return {
        "id": hold.id,
        "text": labels.sentence(labels.title(hold.trigger)),
        "meaning": labels.meaning(hold.trigger),
        "about": _about(hold),
        "slot": hold.slot,
        "clauses": list(hold.clauses),
        "clears": hold.acknowledges,
        "outcomes": [labels.outcome(outcome) for outcome in hold.outcomes],
        "steps": [labels.question(step, deck=hold.deck, slot=hold.slot, seat=hold.seat, trigger=hold.trigger)
                  for step in hold.steps],
        "round": hold.this_round,
        "escalated": each.escalated,
    }  # fmt: skip


def _about(hold: Hold) -> list[str]:
    seat = "" if hold.seat is None else labels.place_name(hold.seat)
    machine = "" if hold.slot is None else labels.machine_name(hold.slot)
    return [part for part in (machine, hold.deck and f"deck {hold.deck}", seat) if part]


# --- decks and dice ---------------------------------------------------------------------------------------------------


def _place_text(place: str) -> str:
    """Return where a deck is, for people."""
    for part, text in (("/gate", ", behind its gate"), ("/intake", ", at its entry")):
        place = place.replace(part, text)
    return labels.with_machine_names(place)


def _deck(deck: DeckPicture, left: Mapping[str, float]) -> dict[str, Any]:
    left_s = left.get(age_timer(deck.name, deck.hours))
    return {
        "name": deck.name,
        "state": deck.state,
        "text": to_words(deck.state),
        "place_text": _place_text(deck.place),
        "verified": deck.verified,
        "expired": deck.expired,
        "hours": deck.hours,
        "left_s": 0 if deck.expired else None if left_s is None else round(left_s),
        "age": 1.0 if deck.expired else _age(left_s, deck.hours),
        "rounds": deck.rounds[-20:],
    }


def _age(left_s: float | None, hours: int) -> float | None:
    """Return the used part of an interval, from 0 to 1; None if no deadline runs."""
    return None if left_s is None else round(min(1.0, max(0.0, 1 - left_s / (hours * _HOUR))), 3)


def _dice(table: TablePicture, left: Mapping[str, float]) -> dict[str, Any] | None:
    hours = table.rules.dice_hours
    if table.start != "shaker" or hours is None:
        return None
    left_s = left.get(DICE_TIMER)
    return {"text": table.dice, "hours": hours, "left_s": None if left_s is None else round(left_s),
            "age": 1.0 if table.dice == "expired" else _age(left_s, hours)}  # fmt: skip


# --- seats and money --------------------------------------------------------------------------------------------------


def _pad(table: TablePicture) -> dict[str, Any]:
    """Return what the card pad needs: the places whose cards may be entered or are known, and what a hand is here."""
    rules = table.rules
    places = [
        {"place": each.place, "name": f"Seat {each.place}" if each.place else "Dealer", "cards": each.hand.split(),
         "setting": each.setting, "may": each.may_enter}
        for each in table.places if each.may_enter or each.hand
    ]  # fmt: skip
    return {
        "places": places,
        "hand": rules.hand_cards,
        "split": list(rules.split),
        "joker": rules.joker,
        "wagers": rules.wagers,
    }


def _optional(table: TablePicture) -> list[dict[str, Any]]:
    """Return the optional wagers that may be entered now: the seats that have each, of those that may have it."""
    round_ = table.round
    seats = round_.seats if round_.seats_entered else range(1, table.rules.seats + 1)
    return [
        {"wager": wager, "title": table.rules.wagers[wager], "seats": list(having), "from": list(seats)}
        for wager, having in table.optional.items()
    ]


def _seat(place: PlacePicture) -> dict[str, Any]:
    return {
        "seat": place.place,
        "wager": place.wager,
        "decided": to_words(place.decided),
        "bet": place.bet,
        "cards": place.cards,
    }


def meter_view(table: TablePicture) -> dict[str, Any] | None:
    """Return the meter; None if the table has none."""
    meters = table.meters
    if meters is None:
        return None
    return {
        "current": meters.current,
        "text": format_dollars(meters.current),
        "pending": format_dollars(meters.pending) if meters.pending else "",
        "hits": [_hit(table, hit) for hit in meters.hits],
        "reserve": format_dollars(meters.reserve),
        "overflow": format_dollars(meters.overflow),
        "closed": meters.closed,
        "paid": format_dollars(meters.paid),
    }


def _hit(table: TablePicture, hit: HitPicture) -> dict[str, Any]:
    return {
        "seat": hit.seat,
        "hand": _award(table, hit.hand),
        "amount": format_dollars(hit.amount),
        "state": to_words(hit.state) + ("" if hit.final else ", provisional"),
        "final": hit.final,
    }


def public_meter_view(table: TablePicture) -> dict[str, Any] | None:
    """Return the meter as players see it: nothing of a hit before a floorperson has validated it."""
    meters = table.meters
    if meters is None:
        return None
    return {
        "current": meters.public_current,
        "text": format_dollars(meters.public_current),
        "pending": format_dollars(meters.public_pending) if meters.public_pending else "",
        "hits": [_hit(table, hit) for hit in meters.hits if hit.public],
        "closed": meters.closed,
    }


def last_hits(levels: Mapping[str, Sequence[LoggedHit]]) -> list[dict[str, Any]]:
    """Return the last hits of each level, the newest first; `at` is the wall clock (ms)."""
    return [
        {
            "level": to_words(level),
            "hits": [
                {
                    "at": hit.claimed_ns // 1_000_000,
                    "round": hit.round,
                    "seat": hit.seat,
                    "amount": format_dollars(hit.amount),
                    "state": to_words(hit.state),
                }
                for hit in reversed(hits)
            ],
        }
        for level, hits in levels.items()
    ]


def finding_view(logged: LoggedFinding) -> dict[str, Any]:
    """Return a finding for the floor page; `at` is the wall clock (ms)."""
    return {
        "seq": logged.seq,
        "at": logged.wall_ns // 1_000_000,
        "what": logged.what,
        "kind": logged.kind,
        "severity": logged.severity,
        "text": labels.with_machine_names(logged.text),
        "rounds": list(logged.rounds),
        "clauses": list(logged.clauses),
    }


def _meter_rules(table: TablePicture) -> dict[str, Any] | None:
    """Return the rules of the meter."""
    meters = table.meters
    if meters is None:
        return None
    return {
        "seed": format_dollars(meters.seed),
        "rate": f"{meters.rate_bp / 100:g} %",
        "limit": format_dollars(meters.limit),
        "seed_micro": meters.seed,
    }


def machines_in_test_mode(table: TablePicture) -> list[str]:
    """Return the names of the machines in test mode, which every page shows."""
    return [
        labels.machine_name(name) + (f" (fault report {slot.testing})" if slot.testing else "")
        for name, slot in table.slots.items()
        if slot.testing is not None
    ]


def _slots(table: TablePicture) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "kind": slot.kind,
            "state": slot.state,
            "text": labels.service_text(slot.state),
            "deck": slot.deck,
        }
        for name, slot in table.slots.items()
    ]
