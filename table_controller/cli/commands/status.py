"""`pitbox status`: writes the status of a running box line by line, or as JSON."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from table_controller.cli import LOCKED, OK
from table_controller.cli.box_link import add_box_arguments, connect_box

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

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
        status = caller.request("status")
    if args.json:
        import msgspec

        sys.stdout.write(msgspec.json.format(msgspec.json.encode(status), indent=2).decode() + "\n")
    else:
        print("\n".join(status_lines(status)))
    return OK if status["cause"] is None else LOCKED


def status_lines(status: dict[str, Any]) -> Iterator[str]:
    """Yield a status as lines of text, the most important first."""
    software = f"software {status['version']}, start {status['boot']}"
    yield f"{status['table']} ({status['game']}), {software}: {status['phase']}"
    if status.get("unverified"):
        yield "UNVERIFIED: a development table; its software is not approved"
    if status["cause"] is not None:
        yield f"LOCKED by {status['cause']['code']}: {status['cause']['text']}"
        yield f"what to do: pitbox explain {status['cause']['code']}"
    yield from (f"{what}: {result}" for what, result in status["checks"] if what in _SHOWN_CHECKS)
    if status["state"] is not None:
        yield from _table(status, status["state"])
    for slot in status["slots"]:
        cause = slot["cause"]
        why = f"  {cause['code']}: {cause['text']}" if cause and not slot["connected"] else ""
        deck = f"  holds {slot['deck']}" if slot["deck"] else ""
        test = "" if slot.get("testing") is None else f"  IN TEST MODE{_fault_report(slot['testing'])}"
        yield f"  {slot['name']:14s} {slot['state']:22s} {slot['serial']:10s}{deck}{test}{why}"
    yield status["copy"]["words"]
    uplink = status.get("uplink")
    if uplink is not None:
        connection = "connected" if uplink["connected"] else f"NOT CONNECTED. {uplink['code']}: {uplink['text']}"
        yield f"The broker has record {uplink['acknowledged']}, {uplink['behind']} to go; {connection}"
    for notice in status.get("notices", ()):
        yield f"{'FAILURE' if notice['is_failure'] else 'note'}: {notice['code']} {notice['text']}; {notice['do']}"
    for task in status["tasks"]:
        if task["restarts"]:
            yield f"task {task['name']}: {task['state']}, restarted {task['restarts']} times; {task['error']}"
        elif task["error"]:
            yield f"task {task['name']}: {task['error']}"


def _fault_report(number: int) -> str:
    return f" (fault report {number})" if number else ""


def _table(status: dict[str, Any], state: dict[str, Any]) -> Iterator[str]:
    round_ = state["round"]
    dealer = f"dealer {status['dealer']}" if status["dealer"] else "no dealer is signed on"
    yield f"round {round_['number']}: {round_['state']}; {dealer}"
    for name, deck in state["decks"].items():
        yield f"deck {name}: {deck['state']}, {deck['place']}{'' if deck['verified'] else ', not verified'}"
    if state["meters"] is not None:
        from table_controller.ledger.money import format_dollars

        yield ", ".join(
            f"{name} {format_dollars(state['meters'].get(name, 0))}"
            for name in ("current", "reserve", "overflow", "pending")
        )
    for each in state["holds"]:
        hold = each["hold"]
        about = ", ".join(str(hold[key]) for key in ("slot", "deck", "seat") if hold[key] is not None)
        waits = f"waits for the {hold['acknowledges']}"
        waits += f"; ESCALATED {each['escalated']} times" if each["escalated"] else ""
        yield f"IRREGULARITY {hold['id']}: {hold['trigger']} ({about or 'the table'}), {waits}"
    yield from _findings(state.get("findings", ()))
    for prompt in state["prompts"]:
        yield f"prompt for the {prompt['role']}: {prompt_text(prompt)}"
    opening = next(permit for permit in state["permits"] if permit["act"] == "open_bets")
    for reason in opening["reasons"]:
        yield f"no round: {reason['text']} [{reason['clause']}]; {reason['clears']}: {reason['evidence']}"


def _findings(findings: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield the important findings, except open irregularities, which have their own lines."""
    important = [one for one in findings if one["severity"] == "important" and one["what"] != "irregularity"]
    if not important:
        return
    from table_controller.journal.record_text import format_time

    for one in important[:_FINDINGS]:
        rounds = f"; rounds {', '.join(map(str, one['rounds'][-8:]))}" if one["rounds"] else ""
        yield f"FINDING {format_time(one['wall_ns'])}, record {one['seq']}: {one['text']}{rounds}"
    if len(important) > _FINDINGS:
        yield f"and {len(important) - _FINDINGS} more findings: pitbox status --json"


def prompt_text(prompt: dict[str, Any]) -> str:
    """Return a prompt with its number and its choices."""
    about = ", ".join(f"{key} {prompt[key]}" for key in ("slot", "deck", "seat") if prompt[key] is not None)
    asks = " (with a number)" if prompt["number"] else " (with seats)" if prompt["seats"] else ""
    return f"{prompt['id']} {prompt['kind']}{f' ({about})' if about else ''}: {' | '.join(prompt['choices'])}{asks}"
