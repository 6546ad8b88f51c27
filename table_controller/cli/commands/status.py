"""`pitbox status`: writes the status of a running box line by line, or as JSON."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from table_controller.cli import LOCKED, OK
from table_controller.cli.box_link import add_box_arguments, connect_box

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from table_controller.journal.finding_log import LoggedFinding
    from table_controller.picture.types import BoxPicture, HoldPicture, MachinePicture, TablePicture
    from table_controller.table.decisions import Prompt

HELP = "print the state of a running box: round, decks, slots, holds and who may clear them"
EXAMPLE = "pitbox status --config table.toml"
# Results of the self-check that people see without --json.
_SHOWN_CHECKS = ("journal", "manifest")
# At most so many important findings are printed.
_FINDINGS = 8


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    add_box_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print everything as JSON")


def run(args: argparse.Namespace) -> int:
    """Ask the box and print; the exit code is 7 if the box is locked."""
    with connect_box(args) as caller:
        answer = caller.request("status")
    if args.json:
        import msgspec

        sys.stdout.write(msgspec.json.format(msgspec.json.encode(answer), indent=2).decode() + "\n")
    else:
        from table_controller.picture.types import picture_in

        print("\n".join(status_lines(picture_in(answer))))
    return OK if answer["cause"] is None else LOCKED


def status_lines(box: BoxPicture) -> Iterator[str]:
    """Yield the picture of a box as lines of text, the most important first."""
    yield f"{box.table} ({box.game}), software {box.version}, start {box.boot}: {box.phase}"
    if box.unverified:
        yield "UNVERIFIED: a development table; its software is not approved"
    if box.cause is not None:
        yield f"LOCKED by {box.cause.code}: {box.cause.text}"
        yield f"what to do: pitbox explain {box.cause.code}"
    yield from (f"{what}: {result}" for what, result in box.checks if what in _SHOWN_CHECKS)
    if box.state is not None:
        yield from _table(box.state, box.dealer)
    yield from (_machine(machine) for machine in box.slots)
    yield box.copy.words
    if box.uplink is not None:
        connection = "connected" if box.uplink.connected else f"NOT CONNECTED. {box.uplink.code}: {box.uplink.text}"
        yield f"The broker has record {box.uplink.acknowledged}, {box.uplink.behind} to go; {connection}"
    for notice in box.notices:
        yield f"{'FAILURE' if notice.is_failure else 'note'}: {notice.sentence}"
    for task in box.tasks:
        if task.restarts:
            yield f"task {task.name}: {task.state}, restarted {task.restarts} times; {task.error}"
        elif task.error:
            yield f"task {task.name}: {task.error}"


def _machine(machine: MachinePicture) -> str:
    cause = machine.cause
    why = f"  {cause.code}: {cause.text}" if cause and not machine.connected else ""
    deck = f"  deck {machine.deck}" if machine.deck else ""
    from table_controller.panel import labels

    fault_report = f" (fault report {machine.testing})" if machine.testing else ""
    test = "" if machine.testing is None else f"  IN TEST MODE{fault_report}"
    state = labels.service_text(machine.state)
    return f"  {machine.name:14s} {state:25s} {machine.serial:10s}{deck}{test}{why}"


def _table(table: TablePicture, dealer: str | None) -> Iterator[str]:
    from table_controller.journal.record_text import plain_text, to_words

    signed_on = f"dealer {dealer}" if dealer else "no dealer is signed on"
    yield f"round {table.round.number}: {to_words(table.round.state)}; {signed_on}"
    for name, deck in table.decks.items():
        place = plain_text(deck.place.replace("/", ", "))
        yield f"deck {name}: {to_words(deck.state)}, {place}{'' if deck.verified else ', not verified'}"
    if table.meters is not None:
        from table_controller.ledger.money import format_dollars

        yield ", ".join(
            f"{name} {format_dollars(getattr(table.meters, name))}"
            for name in ("current", "reserve", "overflow", "pending")
        )
    yield from (_hold(each) for each in table.holds)
    yield from _findings(table.findings)
    for prompt in table.prompts:
        yield f"prompt for the {prompt.role}: {prompt_text(prompt, trigger_of(table, prompt))}"
    for reason in table.next_round:
        yield plain_text(f"no round: {reason.text} [{reason.clause}]; {reason.clears}: {reason.evidence}")


def _hold(each: HoldPicture) -> str:
    from table_controller.panel import labels

    hold = each.hold
    slot = None if hold.slot is None else labels.machine_name(hold.slot)
    known = (slot, hold.deck and f"deck {hold.deck}", hold.seat and f"seat {hold.seat}")
    about = ", ".join(one for one in known if one)
    waits = f"waits for the {hold.acknowledges}"
    waits += f"; ESCALATED {each.escalated} times" if each.escalated else ""
    return f"IRREGULARITY {hold.id}: {labels.title(hold.trigger)} ({about or 'the table'}), {waits}"


def _findings(findings: Sequence[LoggedFinding]) -> Iterator[str]:
    """Yield the important findings, except open irregularities, which have their own lines."""
    important = [one for one in findings if one.severity == "important" and one.what != "irregularity"]
    if not important:
        return
    from table_controller.journal.record_text import format_time, plain_text

    for one in important[:_FINDINGS]:
        rounds = f"; rounds {', '.join(map(str, one.rounds[-8:]))}" if one.rounds else ""
        yield f"FINDING {format_time(one.wall_ns)}, record {one.seq}: {plain_text(one.text)}{rounds}"
    if len(important) > _FINDINGS:
        yield f"and {len(important) - _FINDINGS} more findings: pitbox status --json"


def prompt_text(prompt: Prompt, trigger: str = "") -> str:
    """Return a prompt with its number, and its choices as `pitbox answer` takes them, each with its meaning.

    `trigger`: the irregularity of the prompt's hold.
    """
    from table_controller.panel import labels

    question = labels.question(
        prompt.kind, seat=prompt.seat, deck=prompt.deck, slot=prompt.slot, trigger=trigger, number=prompt.number
    )
    choices = " | ".join(f"{choice} ({labels.answer(choice)})" for choice in prompt.choices)
    asks = " (with a number)" if prompt.number else " (with seats)" if prompt.seats else ""
    return f"{prompt.id} {question}: {choices}{asks}"


def trigger_of(table: TablePicture, prompt: Prompt) -> str:
    """Return the irregularity of a prompt's hold; "" if it has none."""
    return next((each.hold.trigger for each in table.holds if each.hold.id == prompt.hold), "")
