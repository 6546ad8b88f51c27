"""What may be asked over MQTT, by which role, and the answers. Pure: nothing here can reach the table.

The closed list below is all there is. None of it moves a card, a cent or an acknowledgement: an answer is made of
values that the uplink tells anyhow, and the only effect is that they are told once more.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import msgspec

from firmware_bridge.decoding import UNDECODABLE
from table_controller.uplink import messages as m

# The roles that may ask; a dealer has the panel. Which client has which role is the broker's ACL.
ROLES: Final = ("floorperson", "technician", "auditor")
# A command is a word; whoever sends more has mistaken us for something else (bytes).
MAX_PAYLOAD: Final = 1024
# What a sender may have given back to it (characters, and bytes of MQTT's correlation data).
MAX_ID: Final = 64
MAX_CORRELATION: Final = 128
MAX_TOPIC: Final = 256


class Rule(NamedTuple):
    """One command: who may ask it, what it does, and whether everything retained is told anew."""

    roles: tuple[str, ...]
    meaning: str
    reports: bool = False


COMMANDS: Final = {
    "ping": Rule(ROLES, "Answers. Nothing else happens."),
    "report_state": Rule(ROLES, "Answers, and publishes state, meters, head and health anew.", reports=True),
    "identify": Rule(("technician", "auditor"), "Answers with which box this is: game, software, journal, boot."),
}


class Asked(NamedTuple):
    """A message that came in below `command/`."""

    role: str
    command: str
    payload: bytes
    retained: bool
    response_topic: str | None
    correlation: bytes | None


class Answered(NamedTuple):
    """What is sent back, to which topic, and whether everything retained is to be told anew."""

    reply: m.Reply
    topic: str
    correlation: bytes | None
    reports: bool


_DECODER: Final = msgspec.json.Decoder(m.Command)


def allowed(role: str) -> tuple[str, ...]:
    """Return what a role may ask."""
    return tuple(name for name, rule in COMMANDS.items() if role in rule.roles)


def answer(asked: Asked, reply_topic: str, box: m.Identity, at: str) -> Answered:
    """Answer whatever came: with what was asked for, or with a refusal that names what is allowed."""
    topic, correlation = reply_topic, asked.correlation
    problem, given = _problem(asked)
    if asked.response_topic is not None:
        if _answerable(asked.response_topic, reply_topic):
            topic = asked.response_topic
        else:
            problem = f"the response topic must be {reply_topic} or below it"
    if correlation is not None and len(correlation) > MAX_CORRELATION:
        correlation, problem = None, f"correlation data is at most {MAX_CORRELATION} bytes"
    rule = COMMANDS.get(asked.command)
    done = problem is None and rule is not None
    reply = m.Reply(
        ok=done,
        command=asked.command[:MAX_ID],
        role=asked.role[:MAX_ID],
        id=given,
        at=at,
        text=rule.meaning if done and rule is not None else f"refused: {problem}",
        allowed=() if done else allowed(asked.role),
        box=box if done and asked.command == "identify" else None,
    )
    return Answered(reply, topic, correlation, done and rule is not None and rule.reports)


def _answerable(topic: str, reply_topic: str) -> bool:
    """Tell whether a sender may have its answer there: never among what the box says by itself."""
    below = topic == reply_topic or topic.startswith(f"{reply_topic}/")
    return below and len(topic) <= MAX_TOPIC and not set(topic) & set("+#\0")


def _problem(asked: Asked) -> tuple[str | None, str]:
    """Return why a message is no command that may be obeyed, and the sender's word if it can be read."""
    given, unreadable = "", None
    if len(asked.payload) > MAX_PAYLOAD:
        unreadable = f"a command's payload is at most {MAX_PAYLOAD} bytes; this one has {len(asked.payload)}"
    elif asked.payload:
        try:
            given = _DECODER.decode(asked.payload).id
        except UNDECODABLE as error:  # also of what is JSON and no command
            unreadable = f'the payload must be empty or {{"id": "a word of yours"}}: {error}'
    if len(given) > MAX_ID:
        given, unreadable = given[:MAX_ID], f"id is at most {MAX_ID} characters"
    if asked.role not in ROLES:
        return f"there is no role {asked.role[:MAX_ID]!r}", given
    if asked.command not in COMMANDS:
        return f"there is no command {asked.command[:MAX_ID]!r}", given
    if asked.role not in COMMANDS[asked.command].roles:
        return f"{asked.command} is not for the role {asked.role}", given
    if asked.retained:
        return "a retained command is an old one", given
    return unreadable, given
