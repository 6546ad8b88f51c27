"""The commands over MQTT, the roles that may send them, and the replies. Nothing here can reach the table.

The list is closed. No command moves a card, a cent or an acknowledgment: a reply has only values that the uplink
publishes anyway, and the only effect is that they are published again.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import msgspec

from firmware_bridge.decode_errors import UNDECODABLE
from table_controller.uplink import messages as m

# The roles that may send commands; a dealer has the panel. The broker's ACL gives clients their roles.
ROLES: Final = ("floorperson", "technician", "auditor")
# Largest payload of a command (bytes).
MAX_PAYLOAD: Final = 1024
# Limits of what a reply returns to its sender: characters of the id, bytes of MQTT's correlation data.
MAX_ID: Final = 64
MAX_CORRELATION: Final = 128
MAX_TOPIC: Final = 256


class CommandRule(NamedTuple):
    """One command: who may send it, what it does, and whether it republishes the retained topics."""

    roles: tuple[str, ...]
    meaning: str
    republishes: bool = False


COMMANDS: Final = {
    "ping": CommandRule(ROLES, "Replies. Nothing else happens."),
    "report_state": CommandRule(
        ROLES, "Replies, and publishes state, meters, head and health again.", republishes=True
    ),
    "identify": CommandRule(
        ("technician", "auditor"), "Replies with the identity of the box: game, software, journal, boot."
    ),
}


class CommandRequest(NamedTuple):
    """A message on a topic below `command/`."""

    role: str
    command: str
    payload: bytes
    retained: bool
    response_topic: str | None
    correlation: bytes | None


class CommandAnswer(NamedTuple):
    """The reply, its topic, and whether to republish the retained topics."""

    reply: m.ReplyMessage
    topic: str
    correlation: bytes | None
    republishes: bool


_DECODER: Final = msgspec.json.Decoder(m.CommandMessage)


def allowed_commands(role: str) -> tuple[str, ...]:
    """Return the commands that a role may send."""
    return tuple(name for name, rule in COMMANDS.items() if role in rule.roles)


def answer(asked: CommandRequest, reply_topic: str, box: m.Identity, at: str) -> CommandAnswer:
    """Return the reply to any message: the result, or a refusal that names the allowed commands."""
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
    reply = m.ReplyMessage(
        ok=done,
        command=asked.command[:MAX_ID],
        role=asked.role[:MAX_ID],
        id=given,
        at=at,
        text=rule.meaning if done and rule is not None else f"refused: {problem}",
        allowed=() if done else allowed_commands(asked.role),
        box=box if done and asked.command == "identify" else None,
    )
    return CommandAnswer(reply, topic, correlation, done and rule is not None and rule.republishes)


def _answerable(topic: str, reply_topic: str) -> bool:
    """Return whether a response topic is allowed: never one of the box's own topics."""
    below = topic == reply_topic or topic.startswith(f"{reply_topic}/")
    return below and len(topic) <= MAX_TOPIC and not set(topic) & set("+#\0")


def _problem(asked: CommandRequest) -> tuple[str | None, str]:
    """Return why a message is refused (None if it is not), and the sender's id if it can be read."""
    given, unreadable = "", None
    if len(asked.payload) > MAX_PAYLOAD:
        unreadable = f"a command's payload is at most {MAX_PAYLOAD} bytes; this one has {len(asked.payload)}"
    elif asked.payload:
        try:
            given = _DECODER.decode(asked.payload).id
        except UNDECODABLE as error:  # also for JSON that is no command
            unreadable = f'the payload must be empty or {{"id": "your own id"}}: {error}'
    if len(given) > MAX_ID:
        given, unreadable = given[:MAX_ID], f"id is at most {MAX_ID} characters"
    if asked.role not in ROLES:
        return f"there is no role {asked.role[:MAX_ID]!r}", given
    if asked.command not in COMMANDS:
        return f"there is no command {asked.command[:MAX_ID]!r}", given
    if asked.role not in COMMANDS[asked.command].roles:
        return f"{asked.command} is not for the role {asked.role}", given
    if asked.retained:
        return "a retained command is out of date", given
    return unreadable, given
