"""The state of the table for a page of one role, as plain data.

Nothing is decided here: the questions are those of the core, and the blocking reasons are those of its permits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from table_controller.journal.record_text import to_words
from table_controller.ledger.money import format_dollars
from table_controller.panel import labels
from table_controller.table import shuffling
from table_controller.table import state_machines as mc
from table_controller.table.dealing import places_dealt

if TYPE_CHECKING:
    from collections.abc import Mapping

    from table_controller.controller.shown_money import ShownMoney
    from table_controller.journal.finding_log import LoggedFinding
    from table_controller.journal.hit_log import HitLog
    from table_controller.table.core import Table
    from table_controller.table.decisions import DenialReason, Prompt
    from table_controller.table.state import Deck, Hold

_SEATS: Final = range(1, 7)
_BEFORE_THE_DEAL: Final = (mc.IDLE, mc.BETTING, mc.NO_MORE_BETS, mc.LOCKED, mc.STARTING_POSITION)
_HOUR: Final = 3600.0


def table_view(table: Table, role: str, left: Mapping[str, float], money: ShownMoney | None) -> dict[str, Any]:
    """Return the state of a table for a page of this role. `left`: seconds until each running deadline.

    `money`: the durable state of the meter.
    """
    coming = table.context.next_deck()
    reasons = table.permit("open_bets", deck=None if coming is None else coming.name)
    prompts = [_prompt(table, prompt, role) for prompt in _ordered(table, role)]
    return {
        "game": table.context.edition.title,
        "round": _round(table),
        "next": _next(table, role, prompts, reasons),
        "prompts": prompts,
        "blocked_by": [_reason(reason) for reason in reasons] if table.state.round.state == mc.IDLE else [],
        "holds": [_hold(hold) for hold in table.state.holds.values()],
        "decks": [_deck(table, deck, left) for deck in table.state.decks.values() if deck.state != mc.REMOVED],
        "two_jokers": any(step.when == "two_joker_pack" for step in table.context.edition.opening),
        "most_decks": 2 if table.context.submission.two_decks else 1,
        "dice": _dice(table, left),
        "seats": [_seat(table, seat) for seat in _SEATS if seat <= table.context.submission.seats],
        "dealer_cards": _cards(table, 0),
        "meter": meter_view(table, money),
        "meter_rules": _meter_rules(table),
        "by_shoe": table.context.shuffles_per_shoe,
        "slots": _slots(table),
        "doing": _doing(table),
    }


# --- the round --------------------------------------------------------------------------------------------------------


def _round(table: Table) -> dict[str, Any]:
    round_ = table.state.round
    start = round_.start
    return {
        "number": round_.number,
        "state": round_.state,
        "text": _phase_text(table),
        "deck": round_.deck,
        "start": start,
        "start_place": None if start is None else _place_of(start),
        "total": round_.total if round_.announced else None,  # hidden until the dealer has announced it
        "finds_start": table.state.start,
        "dealing": to_words(table.state.dealing),
        "void": round_.state == mc.VOID,
    }


def _phase_text(table: Table) -> str:
    round_ = table.state.round
    if round_.state == mc.VOID:
        return f"Round {round_.number} is void"
    return "Play is stopped" if round_.state == mc.IDLE and table.state.holds else labels.PHASES[round_.state]


def _place_of(position: int) -> int:
    """Return the place of a position number: 1 is the dealer (0 here), counted counterclockwise."""
    return 0 if position == 1 else 8 - position


def _ordered(table: Table, role: str) -> list[Prompt]:
    """Return the questions in the order of answering: this role's own first, then irregularities."""
    prompts = list(table.state.prompts.values())
    return sorted(prompts, key=lambda prompt: (prompt.role != role, prompt.hold is None, prompt.id))


def _prompt(table: Table, prompt: Prompt, role: str) -> dict[str, Any]:
    hold = table.state.holds.get(prompt.hold or 0)
    seat = prompt.seat
    if seat is None and prompt.kind == "move_button":
        seat = _place_of(table.state.button)
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
        "number": {"least": prompt.least, "most": prompt.most} if prompt.number else None,
        "seats": _seats_of(table, prompt),
        "one_seat": prompt.kind in ("first_arrival", "cover_seat"),
        "clauses": [clause for clause in prompt.clauses if clause != table.context.edition.chapter],
        "evidence": [labels.evidence(what) for what in prompt.evidence],
        "seat": prompt.seat,
        "slot": prompt.slot,
        "deck": prompt.deck,
        "hold": prompt.hold,
    }


def _because(hold: Hold) -> str:
    """Return why the question of an irregularity is asked: what happened, and where."""
    about = ", ".join(_about(hold))
    return labels.sentence(labels.meaning(hold.trigger) or to_words(hold.trigger)) + (f" ({about})" if about else "")


def _choice(table: Table, prompt: Prompt, hold: Hold | None, choice: str) -> str:
    """Return the label of an answer; the choices of a ruling also name their outcomes."""
    label = labels.answer(choice)
    if choice == "give_up" and prompt.slot is not None:
        return f"Take {labels.machine_name(prompt.slot).lower()} out of service"
    if prompt.kind == "choose" and hold is not None and choice in hold.choices:
        known = {*label.lower().split(), *to_words(choice).split(), "round", "deck"}
        orders = ", ".join(to_words(what) for what in hold.choices[choice] if not set(to_words(what).split()) <= known)
        return f"{label} ({orders})" if orders else label
    return _award(table, choice, label) if prompt.kind == "progressive" else label


def _award(table: Table, hand: str, otherwise: str = "") -> str:
    """Return a hand as the paytable of the table prints it."""
    rules = table.context.meter
    awards = () if rules is None else rules.awards
    return next((award.label for award in awards if award.hand == hand), otherwise or to_words(hand))


def _seats_of(table: Table, prompt: Prompt) -> list[int] | None:
    """Return the seats that may be chosen; None if the question has no seats."""
    if not prompt.seats:
        return None
    entered = table.state.round.seats
    if prompt.kind.startswith(("side_wagers", "progressive_envy")) and entered:
        return [seat for seat in entered if seat != prompt.seat]
    return [seat for seat in _SEATS if seat <= table.context.submission.seats]


# --- the next action --------------------------------------------------------------------------------------------------


def _next(table: Table, role: str, prompts: list[dict[str, Any]], reasons: tuple[DenialReason, ...]) -> dict[str, Any]:
    """Return the next action, who does it, and how: an answer, a button, by hand, or by a machine."""
    mine = next((prompt for prompt in prompts if prompt["mine"]), None)
    if mine is not None:
        return {"how": "prompt", "prompt": mine["id"], "text": mine["text"], "who": role}
    state = table.state.round.state
    if state == mc.BETTING:
        return {"how": "no_more_bets", "text": "No more bets", "who": "dealer"}
    hands = _hands(table)
    if hands:
        return {"how": "hands", "text": hands, "who": "dealer"}
    if prompts:
        return {"how": "wait", "text": prompts[0]["text"], "who": prompts[0]["role"]}
    doing = _doing(table)
    if doing:
        return {"how": "machine", "text": doing[0], "who": "machine"}
    if state == mc.IDLE:
        if not table.context.decks_at_table():
            return {"how": "bring", "text": "Add a deck", "who": "dealer"}
        if not reasons:
            return {"how": "open_round", "text": "Open the round", "who": "dealer"}
        return {"how": "blocked", "text": labels.sentence(reasons[0].evidence), "who": reasons[0].clears}
    return {"how": "wait", "text": labels.PHASES[state], "who": "nobody"}


def _hands(table: Table) -> str:
    """Return what the dealer must do without a question, because a machine detects when it is done."""
    state, c = table.state, table.context
    if state.round.in_slot is not None:
        return f"Deal the stack to {labels.place_name(state.round.in_slot)}"
    if any(issued.act == "arm_dice" for issued in state.commands.values()) or _dice_wait(table):
        return "Shake the dice three times, lid off"
    shuffler = c.shuffler
    free = shuffler is not None and c.is_in_service(shuffler) and state.slots[shuffler].deck is None
    if free and not state.holds and state.shuffling == "machine":
        for deck in c.decks_at_table():
            if shuffling.is_waiting(c, deck):
                return f"Put deck {deck.name} into the shuffler"
    return ""


def _dice_wait(table: Table) -> bool:
    round_ = table.state.round
    waits = round_.state == mc.STARTING_POSITION and round_.asked_start and round_.total is None
    return waits and table.state.start == "shaker" and not table.context.is_round_stopped


def _doing(table: Table) -> list[str]:
    """Return what machines do now, without duplicates."""
    texts = [
        labels.COMMANDS_UNDER_WAY.get(issued.act, "{slot} works").format(slot=labels.machine_name(issued.slot))
        for issued in table.state.commands.values()
    ]
    return list(dict.fromkeys(texts))


# --- holds and reasons ------------------------------------------------------------------------------------------------


def _reason(reason: DenialReason) -> dict[str, str]:
    return {
        "text": labels.sentence(reason.text),
        "clause": reason.clause,
        "clears": reason.clears,
        "evidence": labels.sentence(reason.evidence),
        "key": reason.key,
    }


def _hold(hold: Hold) -> dict[str, Any]:
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
    }  # fmt: skip


def _about(hold: Hold) -> list[str]:
    seat = "" if hold.seat is None else labels.place_name(hold.seat)
    machine = "" if hold.slot is None else labels.machine_name(hold.slot)
    return [part for part in (machine, hold.deck and f"deck {hold.deck}", seat) if part]


# --- decks and dice ---------------------------------------------------------------------------------------------------


def _deck(table: Table, deck: Deck, left: Mapping[str, float]) -> dict[str, Any]:
    hours = table.context.edition.change_hours[table.state.dealing]
    if deck.by_hand:
        hours = min(table.context.edition.change_hours.values())
    left_s = left.get(f"deck_age/{deck.name}/{hours}")
    expired = table.context.is_expired(deck)
    return {
        "name": deck.name,
        "state": deck.state,
        "text": to_words(deck.state),
        "place_text": labels.with_machine_names(deck.place.replace("/gate", ", behind its gate")),
        "verified": deck.verified,
        "expired": expired,
        "hours": hours,
        "left_s": 0 if expired else None if left_s is None else round(left_s),
        "age": 1.0
        if expired
        else None
        if left_s is None
        else round(min(1.0, max(0.0, 1 - left_s / (hours * _HOUR))), 3),
        "rounds": deck.rounds[-20:],
    }


def _dice(table: Table, left: Mapping[str, float]) -> dict[str, Any] | None:
    rule = table.context.edition.dice
    if table.state.start != "shaker" or rule is None:
        return None
    left_s = left.get("dice_age")
    whole = rule.max_hours * _HOUR
    age = None if left_s is None else round(min(1.0, max(0.0, 1 - left_s / whole)), 3)
    return {"text": table.state.dice, "hours": rule.max_hours, "left_s": None if left_s is None else round(left_s),
            "age": 1.0 if table.state.dice == "expired" else age}  # fmt: skip


# --- seats and money --------------------------------------------------------------------------------------------------


def _seat(table: Table, seat: int) -> dict[str, Any]:
    round_ = table.state.round
    wager = "none"
    if round_.state != mc.IDLE and seat in round_.seats:
        wager = "dead" if seat in round_.dead else "settled" if seat in round_.settled else "wager"
    return {
        "seat": seat,
        "wager": wager,
        "decided": to_words(round_.decided[seat]) if seat in round_.decided else "",
        "bet": _bet(table, seat),
        "cards": _cards(table, seat),
    }


def _bet(table: Table, seat: int) -> str:
    """Return a seat's bet for its lamp: none, open, sensed, accepted, lit, undecided."""
    bets = table.state.progressive.seats.get(seat)
    if bets is None or not table.context.has_progressive:
        return "none"
    if bets.latched:
        return {True: "lit" if bets.lit else "accepted", False: "none", None: "undecided"}[bets.bet]
    if table.state.progressive.overdue or bets.refused:
        return "undecided"
    return "sensed" if bets.placed else "open"


def _cards(table: Table, place: int) -> str:
    """Return where the cards of a place are: none, waits, slot, dealt."""
    round_ = table.state.round
    if round_.state in _BEFORE_THE_DEAL or not (round_.dealt or round_.in_slot is not None or round_.to_deal):
        return "none"
    if place == round_.in_slot:
        return "slot"
    if place in round_.to_deal:
        return "waits"
    return "dealt" if place in places_dealt(table.context) and round_.state != mc.VOID else "none"


def meter_view(table: Table, money: ShownMoney | None) -> dict[str, Any] | None:
    """Return the durable state of the meter for players; None if the table has no meter."""
    if money is None:
        return None
    meters = money.meters
    return {
        "current": meters.current,
        "text": format_dollars(meters.current),
        "pending": format_dollars(meters.pending) if meters.pending else "",
        "hits": [
            {
                "seat": hit.seat,
                "hand": _award(table, hit.hand),
                "amount": format_dollars(hit.amount),
                "state": to_words(hit.state) + ("" if money.is_final(hit) else ", provisional"),
                "final": money.is_final(hit),
            }
            for hit in money.hits
        ],
        "reserve": format_dollars(meters.reserve),
        "overflow": format_dollars(meters.overflow),
        "closed": money.closed,
        "paid": format_dollars(meters.cumulative),
    }


def last_hits(log: HitLog) -> list[dict[str, Any]]:
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
        for level, hits in log.levels.items()
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


def _meter_rules(table: Table) -> dict[str, Any] | None:
    """Return the rules of the meter."""
    rules = table.context.meter
    if rules is None:
        return None
    shown = {
        "seed": format_dollars(rules.seed),
        "rate": f"{rules.rate_bp / 100:g} %",
        "limit": format_dollars(rules.limit),
    }
    return {**shown, "seed_micro": rules.seed}


def machines_in_test_mode(table: Table) -> list[str]:
    """Return the names of the machines in test mode, which every page shows."""
    return [
        labels.machine_name(name) + (f" (fault report {slot.tested_report})" if slot.tested_report else "")
        for name, slot in table.state.slots.items()
        if slot.is_testing
    ]


def _slots(table: Table) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "kind": slot.kind,
            "state": slot.state,
            "text": labels.service_text(slot.state),
            "deck": slot.deck,
        }
        for name, slot in table.state.slots.items()
    ]
