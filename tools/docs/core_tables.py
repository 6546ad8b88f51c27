"""The generated parts of docs/table.md: state machines, reasons, steps of a hold, and a recorded refusal."""

from __future__ import annotations

from functools import partial
from textwrap import fill
from typing import TYPE_CHECKING, Final, get_args

from table_controller import rulebook
from table_controller.table import diagrams
from table_controller.table import events as ev
from table_controller.table.clause_index import clauses_of
from table_controller.table.decisions import (
    Actuation,
    Command,
    HoldCleared,
    HoldOpened,
    Order,
    Prompt,
    RequestRefused,
    StateChanged,
)
from table_controller.table.hold_steps import STEP_QUESTIONS
from table_controller.table.irregularities import STEPS_OF_OUTCOME
from table_controller.table.permits import REASONS
from tests.support.core.ideal_table import DEALER, FLOOR, IdealTable
from tools.docs.markdown import table

if TYPE_CHECKING:
    from collections.abc import Callable

    from table_controller.table.decisions import Decision

# Steps whose role or answers depend on the ruling.
_BY_RULING: Final = {
    "choose": ("the person that the ruling names; the dealer enters a player's choice", "the choices of the ruling"),
    "acknowledge": (
        "the role that the ruling names",
        "`acknowledged`, which confirms that the person saw the named evidence",
    ),
}
_ALWAYS: Final = {
    "optional_settled": "`settle_optional_wagers`",
    "hand_complete": "`settle_optional_wagers` in the middle of the deal, seat by seat",
    "replacement": "`settle_optional_wagers` where no card replaces the joker yet",
    "dealer_hand_reset": "`reset_dealer_hand`",
    "seat_reopened": "`reset_dealer_hand`, for every seat that was settled before",
    "choose": "an outcome that lets a person decide: `ask_floorperson`, `player_may_void`, `player_option_dead_hand`",
    "device_cleared": "any hold about a faulted device",
    "deck_counted": "`reshuffle` where the ruling requires that the deck is verified again",
    "wagers_reversed": "`return_wagers` of a void round, for every seat with a wager that was taken or paid",
    "cards_refed": "a deck that leaves a continuous shuffler in the middle of a round",
    "acknowledge": "every hold, as its last step",
}


def machine(name: str) -> str:
    """Return one state machine: its picture, and every pair of state and trigger."""
    triggers, rows = diagrams.transition_table(name)
    shown = [(f"`{state}`", *to) for state, *to in rows]
    heads = ("state", *(f"`{trigger}`" for trigger in triggers))
    return f"```mermaid\n{diagrams.draw_mermaid(name)}\n```\n\n{table(heads, *shown)}"


def picture(name: str) -> str:
    """Return the picture of one state machine."""
    return f"```mermaid\n{diagrams.draw_mermaid(name)}\n```"


def _duty(duty: str) -> str:
    """Return a duty with the clause of each chapter and dealing method."""
    cited: dict[str, None] = {}
    for game in rulebook.GAMES:
        edition = rulebook.edition(game)
        for method in edition.deal.methods:
            start = edition.starts[0].name if edition.starts else None
            cited |= dict.fromkeys(clauses_of(edition, duty, method.name, start)[:1])
    return f"`{duty}`: {', '.join(cited)}"


def reasons() -> str:
    """Return every reason of every permit."""
    acts = [f"`{act}`" for act in get_args(Actuation)]
    orders = [f"`{order}`" for order in get_args(Order)]
    rows = [
        (f"`{row.key}`", ", ".join(row.acts), row.text, _duty(row.duty), row.clears, row.evidence) for row in REASONS
    ]
    heads = ("key", "blocks", "because", "duty and its clauses", "who clears it", "how")
    closed = fill(f"Actuations: {', '.join(acts)}. People's orders, by the same rows: {', '.join(orders)}.", 100)
    return f"{closed}\n\n{table(heads, *rows)}"


def steps() -> str:
    """Return every step of a hold: what orders it, who must answer, and the choices."""
    by: dict[str, list[str]] = {step: [] for step in STEP_QUESTIONS}
    for outcome, ordered in STEPS_OF_OUTCOME.items():
        for step in ordered:
            by[step].append(f"`{outcome}`")
    rows = []
    for step, (role, choices) in STEP_QUESTIONS.items():
        asked, answers = _BY_RULING.get(step, (role, ", ".join(f"`{choice}`" for choice in choices)))
        why = "; ".join([*([", ".join(by[step])] if by[step] else []), *([_ALWAYS[step]] if step in _ALWAYS else [])])
        rows.append((f"`{step}`", why, asked, answers))
    return table(("step", "ordered by", "asked of", "answers"), *rows)


# --- a recorded refusal -----------------------------------------------------------------------------------------------


def refusal() -> str:
    """Return a recorded case: a shuffler jams with the second deck and the dealer tries to open a round."""
    floor = IdealTable("face_up_pai_gow").start("blue")
    floor.bets = {1}
    floor.override = lambda d: [] if isinstance(d, Command) and d.act == "shuffle" else None
    floor.play(ev.DeckReceived("red", DEALER))
    floor.play(ev.CardsInserted("shuffler.1"))
    lines: list[str] = []

    def happens(sentence: str, event: ev.Event) -> None:
        lines.append(sentence)
        lines.extend(f"    {line}" for decision in floor.step(event) for line in _decision_lines(decision))

    happens("shuffler.1 reports a fault", ev.SlotChanged("shuffler.1", "fault"))
    happens("shuffler.1 reports the cause: a jam, 7 cards inside", ev.ShuffleFailed("shuffler.1", 430, 7))
    (shuffle,) = floor.state.commands
    happens("shuffler.1 ends its command: failed", ev.CommandEnded(shuffle, "failed", 430))
    happens("dealer D1 opens a round", ev.OpenRound(DEALER))
    prompt = floor.prompts()[0]
    wrong = ev.Answer(prompt.id, prompt.choices[0], FLOOR if prompt.role == "dealer" else DEALER, 53)
    happens(f"{wrong.who.role} {wrong.who.credential} answers prompt {prompt.id}", wrong)
    while floor.state.holds:
        prompt = floor.prompts()[0]
        (right,) = floor.answer(prompt)
        assert isinstance(right, ev.Answer)
        number = "" if right.number is None else f", {right.number}"
        happens(f"{right.who.role} {right.who.credential} answers prompt {prompt.id}: {right.choice}{number}", right)
    return "\n".join(["```text", *lines, "```"])


def _decision_lines(decision: Decision) -> list[str]:
    match decision:
        case HoldOpened():
            orders = f"{', '.join(decision.outcomes)} ({', '.join(decision.clauses)})"
            return [f"irregularity: {decision.trigger} (deck {decision.deck}), orders {orders}"]
        case Prompt():
            answers = " | ".join(decision.choices) + ", with a number" * decision.number
            return [f"prompt {decision.id} for the {decision.role}: {decision.kind} [{answers}]"]
        case HoldCleared():
            return [f"hold cleared: acknowledged by {decision.credential}"]
        case Command():
            return [f"command {decision.id} to {decision.slot}: {decision.act}"]
        case StateChanged() if decision.what.startswith(("slot", "deck")):
            return [f"{decision.what} is {decision.state}"]
        case RequestRefused():
            lines = [f"refused: {decision.what}"]
            for reason in decision.reasons:
                lines.append(f"  {reason.key}: {reason.text} ({reason.clause})")
                lines.append(f"      the {reason.clears} must clear it, by: {reason.evidence}")
            return lines
    return []


# Name of a part -> the function that writes it.
PARTS: Final[dict[str, Callable[[], str]]] = {
    "machine of the round": partial(machine, "round"),
    "machine of a deck": partial(machine, "deck"),
    "machine of the progressive": partial(machine, "progressive"),
    "machine of a slot": partial(picture, "service"),
    "reasons of permits": reasons,
    "steps of a hold": steps,
    "a refusal": refusal,
}
