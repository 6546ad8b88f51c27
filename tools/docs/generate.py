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
from enum import EnumMeta
from functools import partial
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Final

from msgspec import inspect as types

from devices import driver, service
from devices.conformance.requirements import kind_chapter, kinds_with_requirements, protocol_chapters
from devices.message_registry import KIND_MESSAGES, union_members
from firmware_bridge import commands, frame, handshake, link, messages, rtt_estimator, seal
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

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path
    from types import ModuleType

    from devices.conformance.requirements import Chapter
    from simulators.engine.faults import FaultKind

END: Final = "<!-- end generated -->"
MEND: Final = "make recording"


def _first_line(described: Any) -> str:
    return (inspect.getdoc(described) or "").partition("\n")[0]


# --- messages --------------------------------------------------------------------------------------------------------

_INTEGERS: Final = {
    (0, 0xFF): "u8",
    (0, 0xFFFF): "u16",
    (0, 0xFFFF_FFFF): "u32",
    (0, (1 << 63) - 1): "u63",
    (1, (1 << 63) - 1): "id",
}
_LINK_DIRECTIONS: Final[list[tuple[Any, str]]] = [
    (messages.HandshakeToDevice, "host → device, handshake"),
    (messages.HandshakeToHost, "device → host, handshake"),
    (commands.HostCommands, "host → device, request"),
    (commands.Accepted | commands.Report, "device → host, reply"),
    (commands.Settled, "device → host, reply or event"),
]


def _machine_directions(machine: ModuleType) -> list[tuple[Any, str]]:
    return [
        (machine.Actuation | machine.Question, "host → device, request"),
        (machine.Reply, "device → host, reply"),
        (machine.Event, "device → host, event"),
    ]


def _size(least: int | None, most: int | None) -> str:
    if least == most:
        return f"{most}"
    return f"{least or 0}-{'?' if most is None else most}"


def _kind(type_: types.Type) -> str:
    """Return a field's type and limits in the terms of docs/protocol.md."""
    match type_:
        case types.IntType(ge=least, le=most) if least is not None and most is not None:
            return _INTEGERS.get((least, most), f"{least}-{most}")
        case types.BoolType():
            return "bool"
        case types.NoneType():
            return "nil"
        case types.StrType():
            return f"text {_size(type_.min_length, type_.max_length)}"
        case types.BytesType():
            return f"bytes {_size(type_.min_length, type_.max_length)}"
        case types.EnumType() | types.StructType():
            return type_.cls.__name__
        case types.ListType():
            bounds = "" if type_.max_length is None else f" {_size(type_.min_length, type_.max_length)}"
            return f"array{bounds} of {_kind(type_.item_type)}"
        case types.LiteralType():
            return " or ".join(f'"{value}"' for value in type_.values)
        case types.UnionType():
            return " or ".join(_kind(option) for option in type_.types)
    raise TypeError(f"no words for {type_}")


def _fields(struct: type) -> list[types.Field]:
    info = types.type_info(struct)
    assert isinstance(info, types.StructType)
    return list(info.fields)


def _parts_of(type_: types.Type) -> Iterable[type]:
    """Yield every enumeration and inner array in a type."""
    match type_:
        case types.EnumType() | types.StructType():
            yield type_.cls
        case types.ListType():
            yield from _parts_of(type_.item_type)
        case types.UnionType():
            for option in type_.types:
                yield from _parts_of(option)


def _shape(struct: type) -> str:
    return ", ".join(f"{field.name}: {_kind(field.type)}" for field in _fields(struct)) or "none"


def _members(enum: Any) -> str:
    return ", ".join(f"{member.value} {member.name}" for member in enum)


def message_table(directions: list[tuple[Any, str]], also: tuple[EnumMeta, ...] = ()) -> str:
    """Return messages with tag, direction and fields, then their inner types. `also`: enumerations outside fields."""
    direction_of = {message: direction for union, direction in directions for message in union_members(union)}
    known = sorted(direction_of, key=messages.tag_of)
    inner = {part: None for message in known for field in _fields(message) for part in _parts_of(field.type)}
    arrays = [part for part in inner if not isinstance(part, EnumMeta) and part not in known]
    inner |= {part: None for array in arrays for field in _fields(array) for part in _parts_of(field.type)}
    # Positions in an array and bits of a byte are enumerations, too, although no field has their type.
    enums = [*(part for part in inner if isinstance(part, EnumMeta)), *(enum for enum in also if enum not in inner)]
    rows = [(messages.tag_of(m), f"`{m.__name__}`", direction_of[m], _shape(m), _first_line(m)) for m in known]
    named = [(f"`{enum.__name__}`", _members(enum), _first_line(enum)) for enum in enums]
    inside = [(f"`{a.__name__}`", _shape(a), _first_line(a)) for a in arrays]
    parts = [_table(("tag", "message", "direction", "fields, in order", "meaning"), *rows)]
    if inside:
        note = "Arrays inside messages (no tag; `Settled` inside a `Report` keeps its own):"
        parts += [note, _table(("array", "fields, in order", "meaning"), *inside)]
    if named:
        parts += ["Enumerations (on the wire: the number):", _table(("name", "values", "meaning"), *named)]
    return "\n\n".join(parts)


def machine_table(machine: ModuleType) -> str:
    """Return the messages of one kind of machine, and every enumeration of its module."""
    enums = tuple(e for e in vars(machine).values() if isinstance(e, EnumMeta) and e.__module__ == machine.__name__)
    return message_table(_machine_directions(machine), enums)


def kinds_list() -> str:
    """Return a line for each kind of machine: its page, with its title, and its tags."""
    lines = []
    for machine in KIND_MESSAGES:
        page = (ROOT / "docs" / "devices" / f"{machine.KIND}.md").read_text("utf-8")
        title = page.partition("\n")[0].removeprefix("# The ")
        tags = re.search(r"\(tags ([^)]*)\)", machine.__doc__ or "")
        assert tags is not None, f"{machine.__name__} does not begin with its tags"
        lines.append(f"- [{title}](devices/{machine.KIND}.md): tags {tags[1]}")
    return "\n".join(lines)


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
    "messages": ("docs/protocol.md", partial(message_table, _LINK_DIRECTIONS)),
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
