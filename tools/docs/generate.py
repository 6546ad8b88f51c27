"""Writes the generated parts of the documents, each from the code or data that it describes.

python -m tools.docs           rewrite all parts, and the dissector's table
python -m tools.docs --check   change nothing; print what is out of date

A part is between `<!-- generated: NAME -->` and `<!-- end generated -->`; the text around it is written by hand.
"""

from __future__ import annotations

import argparse
import inspect
import logging
import re
import sys
import tomllib
from functools import partial
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Final

from devices import driver, service
from devices.conformance.requirements import kind_chapter, kinds_with_requirements, protocol_chapters
from devices.message_registry import KIND_MESSAGES
from firmware_bridge import commands, frame, handshake, link, rtt_estimator, seal
from simulators.engine.faults import COMMON_FAULTS, FAULTS_BY_KIND
from simulators.mutants import all_mutants
from table_controller.catalogue import catalogue
from table_controller.table.diagrams import draw_mermaid
from tools import ROOT, benchmark_figures, clause_table, coverage_figures
from tools.docs import (
    asyncapi,
    config_tables,
    core_tables,
    dissector,
    document_examples,
    hand_tables,
    money_tables,
    picture_schema,
    recordings,
    request_tables,
    rule_tables,
    uplink_tables,
)
from tools.docs.markdown import table as _table
from tools.docs.message_tables import LINK_DIRECTIONS, kinds_list, machine_table, message_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path
    from types import ModuleType

    from devices.conformance.requirements import Chapter
    from simulators.engine.faults import FaultKind

END: Final = "<!-- end generated -->"
MEND: Final = "make recording"


# --- golden bytes ----------------------------------------------------------------------------------------------------


def _hex(text: str) -> list[str]:
    return [f"    {line}" for line in wrap(" ".join(re.findall("..", text)), 96)] or ["    (empty)"]


def _golden_value(value: Any) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(map(_golden_value, value)) + "]"
    return str(value).lower() if isinstance(value, bool) else str(value).removeprefix("hex:") or "(empty)"


def _golden_file(name: str) -> dict[str, Any]:
    return tomllib.loads((ROOT / "tests" / "wire" / "golden" / f"{name}.toml").read_text("utf-8"))


def golden_payloads(file: str) -> str:
    """Return the payloads of one golden file."""
    lines = ["```text"]
    for entry in _golden_file(file)["message"]:
        given = " ".join(f"{name}={_golden_value(value)}" for name, value in entry.get("fields", {}).items())
        shown = wrap(f"{entry['name']} {given}", 110, subsequent_indent=" " * 8, break_on_hyphens=False)
        lines += [*shown, *_hex(entry["payload"])]
    return "\n".join([*lines, "```"])


def golden_link() -> str:
    """Return the link's golden file: payloads, the handshake's values, whole frames."""
    data = _golden_file("link")
    lines = ["Payloads:", "", golden_payloads("link"), "", "The handshake's values:", "", "```text"]
    for name, value in data["handshake"].items():
        lines += [name, *_hex(value)]
    lines += ["```", "", "One session, frame by frame (`wire` is stuffed and ends with the delimiter):", "", "```text"]
    for number, entry in enumerate(data["session"], 1):
        lines += [f"{number}. {entry['sender']}: {entry['about']}", *_frame(entry)]
    lines += ["```", "", "Frames outside of a session:", "", "```text"]
    for entry in data["frame"]:
        lines += [f"{entry['sender']}: {entry['about']}", *_frame(entry)]
    return "\n".join([*lines, "```"])


def _frame(entry: dict[str, Any]) -> list[str]:
    head = f"type={frame.TYPE_NAMES[entry['type']]} flags={entry['flags']} seq={entry['seq']:04x} "
    head += f"ack={entry['ack']:04x} re={entry['re']:04x} counter={entry['counter']:08x} message={entry['message']}"
    lost = "  (lost on the line)" if entry.get("lost") else ""
    return [
        f"  {head.removesuffix(' message=')}{lost}", f"  mac={entry['mac'] or 'none'} crc={entry['crc']} wire=",
        *_hex(entry["wire"]),
    ]  # fmt: skip


# --- constants -------------------------------------------------------------------------------------------------------

# The constants that an implementer needs, and their units; the reasons are their comments in the code.
_CONSTANTS: Final[dict[ModuleType, dict[str, str]]] = {
    frame: {
        "VERSION": "", "FIRST_SEQ": "hex", "FIRST_COUNTER": "hex", "NO_RE": "hex", "HEADER_SIZE": "bytes",
        "MAC_SIZE": "bytes", "CRC_SIZE": "bytes", "MAX_PAYLOAD": "bytes", "MAX_BODY": "bytes", "MAX_WIRE": "bytes",
    },
    seal: {"KEY_SIZE": "bytes", "CHALLENGE_SIZE": "bytes", "PROOF_SIZE": "bytes", "MAX_COUNTER": "hex"},
    handshake: {"FIRST_RETRY_S": "s", "MAX_RETRY_S": "s", "MAX_ATTEMPTS": "attempts"},
    link: {
        "WINDOW": "frames", "URGENT_WINDOW": "frames", "QUEUE_LIMIT": "messages", "UNACKNOWLEDGED_LIMIT_S": "s",
        "MAX_BACKOFF": "times", "REPLY_RTOS": "retransmission times", "HEARTBEAT_S": "s", "SILENCE_LIMIT_S": "s",
        "HOST_HEARTBEAT_S": "s", "PROBE_AFTER_S": "s", "PROBE_EVERY_S": "s",
    },
    rtt_estimator: {
        "ACK_DELAY_S": "s", "MIN_RTO_S": "s", "MAX_RTO_S": "s", "FIRST_RTO_S": "s", "REMEMBERED_SENDS": "frames",
    },
    commands: {"REMEMBERED": "commands", "ACCEPT_TIMEOUT_S": "s", "SETTLE_QUIET_S": "s", "MAX_ASKS": "questions"},
    driver: {"REPLY_TIMEOUT_S": "s"},
}  # fmt: skip


def _reason(module: ModuleType, name: str) -> str:
    """Return the comment at or above a constant; adjacent constants share the comment above them."""
    lines = inspect.getsource(module).splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith(f"{name}: Final"))
    if "  # " in lines[at]:
        return lines[at].partition("  # ")[2]
    while re.match(r"[A-Z_]+: Final", lines[at]):
        at -= 1
    reason: list[str] = []
    while lines[at].startswith("# "):
        reason.insert(0, lines[at][2:])
        at -= 1
    return " ".join(reason)


def constants() -> str:
    """Return the limits and times of the protocol."""
    rows = []
    for module, units in _CONSTANTS.items():
        for name, unit in units.items():
            value = getattr(module, name)
            shown = f"0x{value:0{8 if value > 0xFFFF else 4}X}" if unit == "hex" else f"{value} {unit}".strip()
            rows.append((f"`{name}`", shown, _reason(module, name)))
    return _table(("constant", "value", "why"), *rows)


# --- other parts -----------------------------------------------------------------------------------------------------


def errors() -> str:
    """Return a section for every code."""
    parts = []
    for code, entry in sorted(catalogue().items()):
        act = f"**{entry.who.capitalize()}:** {entry.act}"
        parts += [f"### {code}: {entry.title}", _wrapped(entry.meaning), _wrapped(act)]
    return "\n\n".join(parts)


def _wrapped(text: str) -> str:
    return "\n".join(wrap(text, 100, break_long_words=False, break_on_hyphens=False))


def service_diagram() -> str:
    """Return the service state machine as a picture (without loops) and as a table."""
    picture = f"```mermaid\n{draw_mermaid('service')}\n```"
    results = {(source, trigger): to for trigger, source, to in service.TRANSITIONS}
    rows = [
        (f"`{state}`", *(results.get((state, trigger), "refused") for trigger in service.TRIGGERS))
        for state in service.STATES
    ]
    meanings = [(f"`{trigger}`", service.MEANINGS[trigger]) for trigger in service.TRIGGERS]
    table = _table(("state", *(f"`{trigger}`" for trigger in service.TRIGGERS)), *rows)
    return f"{picture}\n\n{table}\n\n{_table(('trigger', 'meaning'), *meanings)}"


def faults(words: dict[str, FaultKind]) -> str:
    """Return the table of faults that can be injected."""
    rows = [
        (f"`{kind.name}`", kind.acts_on, ", ".join(f"{k}={v}" for k, v in kind.details.items()) or "none", kind.meaning)
        for kind in words.values()
    ]
    return _table(("fault", "acts on", "details and their defaults", "what happens"), *rows)


def requirements() -> str:
    """Return every requirement of the conformance kit by chapter, with the mutants that prove it."""
    proofs: dict[str, list[str]] = {}
    for mutant in all_mutants():
        proofs.setdefault(mutant.breaks, []).append(f"`{mutant.name}`: {mutant.mistake}")
    chapters = [*protocol_chapters(), *(kind_chapter(kind)[1] for kind in kinds_with_requirements())]
    return "\n\n".join(
        f"### {chapter.title}\n\n"
        + _table(("id", "requirement", "section", "mutants"), *_requirement_rows(chapter, proofs))
        for chapter in chapters
    )


def _requirement_rows(chapter: Chapter, proofs: dict[str, list[str]]) -> Iterable[tuple[str, ...]]:
    for requirement in chapter.requirements:
        marks = ["with operator"] * requirement.needs_operator + [requirement.capability] * bool(requirement.capability)
        marks += [f"not {requirement.without}"] * bool(requirement.without)
        sentence = requirement.sentence + (f" *({', '.join(marks)})*" if marks else "")
        yield requirement.id, sentence, requirement.section, "<br>".join(proofs[requirement.id])


def machine_parts(machine: ModuleType) -> dict[str, tuple[str, Callable[[], str]]]:
    """Return the generated parts of one kind's own page."""
    kind: str = machine.KIND
    page = f"docs/devices/{kind}.md"
    return {
        f"messages of {kind}": (page, partial(machine_table, machine)),
        f"faults of {kind}": (page, partial(faults, FAULTS_BY_KIND[kind])),
        f"golden bytes of {kind}": (page, partial(golden_payloads, kind)),
    }


# Name of a part -> its document, and the function that writes it.
PARTS: Final[dict[str, tuple[str, Callable[[], str]]]] = {
    "messages": ("docs/protocol.md", partial(message_table, LINK_DIRECTIONS)),
    "kinds": ("docs/protocol.md", kinds_list),
    "constants": ("docs/protocol.md", constants),
    "golden": ("docs/protocol.md", golden_link),
    "errors": ("docs/errors.md", errors),
    "service": ("docs/service.md", service_diagram),
    "faults": ("docs/faults.md", partial(faults, COMMON_FAULTS)),
    "jam": ("README.md", recordings.jam_text),
    "budgets": ("docs/benchmarks.md", benchmark_figures.budget_table),
    "coverage": (coverage_figures.PAGE, coverage_figures.stored_part),
    "clause words": ("README.md", clause_table.word_table),
    **{part: ("docs/rulebook.md", make) for part, make in rule_tables.PARTS.items()},
    **{part: ("docs/table.md", make) for part, make in core_tables.PARTS.items()},
    **{part: ("docs/hands.md", make) for part, make in hand_tables.PARTS.items()},
    **{part: ("docs/money.md", make) for part, make in money_tables.PARTS.items()},
    **{part: ("docs/uplink.md", make) for part, make in uplink_tables.PARTS.items()},
    **{part: ("docs/configuration.md", make) for part, make in config_tables.PARTS.items()},
    **{part: ("docs/documents.md", make) for part, make in document_examples.PARTS.items()},
    **{part: ("docs/box.md", make) for part, make in request_tables.PARTS.items()},
    "conform": ("docs/conformance.md", recordings.conform_text),
    "requirements": ("docs/conformance.md", requirements),
    **{part: generated for machine in KIND_MESSAGES for part, generated in machine_parts(machine).items()},
}
# Whole files that are generated.
FILES: Final[dict[str, Callable[[], str]]] = {
    "docs/demo.svg": recordings.demo_svg,
    "docs/clauses.md": clause_table.page,
    "docs/asyncapi.yaml": asyncapi.text,
    "docs/picture.schema.json": picture_schema.text,
}


def renewed(text: str, part: str) -> str | None:
    """Return a document's text with one part renewed, or None if the part's markers are missing."""
    begin = f"<!-- generated: {part} -->"
    before, opened, tail = text.partition(begin)
    _, ended, after = tail.partition(END)
    return f"{before}{begin}\n\n{PARTS[part][1]()}\n\n{END}{after}" if opened and ended else None


def _words(picture: str) -> str:
    """Return the text of a picture; its drawing may change with the drawing library."""
    return re.sub(r"<style>.*?</style>|<[^>]*>|\s+", " ", picture, flags=re.DOTALL)


def stale(root: Path = ROOT, *, mend: bool = False) -> list[str]:
    """Return a sentence for every part that is out of date; with `mend`, rewrite the parts instead."""
    sentences = []
    for part, (document, _) in PARTS.items():
        path = root / document
        old = path.read_text("utf-8") if path.exists() else ""
        new = renewed(old, part)
        if new is None:
            sentences.append(f"{document} lacks the markers of its part {part!r}; add them by hand")
        elif new != old and mend:
            path.write_text(new, "utf-8")
        elif new != old:
            sentences.append(f"{document}: the part {part!r} is out of date; run: {MEND}")
    for file, make in FILES.items():
        path, new = root / file, make()
        if mend:
            path.write_text(new, "utf-8")
        elif not path.exists() or _words(path.read_text("utf-8")) != _words(new):
            sentences.append(f"{file} is out of date; run: {MEND}")
    return sentences


def main(arguments: list[str] | None = None) -> int:
    """Rewrite every generated part; with --check only print what would change and return 1."""
    parser = argparse.ArgumentParser(prog="python -m tools.docs", description="The generated parts of the documents.")
    parser.add_argument("--check", action="store_true", help="change nothing; fail if a part is out of date")
    options = parser.parse_args(arguments)
    logging.getLogger().addHandler(logging.NullHandler())  # the recordings lose links on purpose
    sentences = stale(mend=not options.check)
    for sentence in sentences:
        print(sentence)
    other = dissector.main(["--check"] if options.check else [])
    return 1 if sentences or other else 0


if __name__ == "__main__":
    sys.exit(main())
