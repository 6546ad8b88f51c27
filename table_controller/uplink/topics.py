"""The topics of one table, all below its prefix, and their messages."""

from __future__ import annotations

from typing import Final, NamedTuple

from table_controller.uplink import messages as m


class Channel(NamedTuple):
    """One topic that the box publishes."""

    name: str
    message: type[m.UplinkMessage]
    retained: bool
    meaning: str


CHANNELS: Final = {
    channel.name: channel
    for channel in (
        Channel(
            "status",
            m.StatusMessage,
            True,
            "Whether the box is online: published at connect, at an orderly stop, or as its last will.",
        ),
        Channel(
            "state",
            m.StateMessage,
            True,
            "The table: the round, open prompts and holds, every device, why it is blocked.",
        ),
        Channel("events", m.EventMessage, False, "Journal records in order; a repeated event has the same number."),
        Channel("meters", m.MetersMessage, True, "The amounts of the meter; at most once in `meters_every_s` seconds."),
        Channel("head", m.HeadMessage, True, "The journal's newest record and its hash, as proof against rewriting."),
        Channel("health", m.HealthMessage, True, "Links, disk, second copy, clock and the uplink itself."),
    )
}
COMMAND: Final = "command"
REPLY: Final = "reply"


class Topics:
    """The topic names under one prefix."""

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix
        self.status, self.state, self.events, self.meters, self.head, self.health = (
            f"{prefix}/{name}" for name in CHANNELS
        )
        self.commands = f"{prefix}/{COMMAND}/#"
        self._command = f"{prefix}/{COMMAND}/"

    def reply(self, role: str) -> str:
        """Return the reply topic of a role; a response topic must be this one or below it."""
        return f"{self.prefix}/{REPLY}/{role}"

    def command(self, topic: str) -> tuple[str, str]:
        """Return the role and the command in a topic, which may both be invalid."""
        role, _, name = topic.removeprefix(self._command).partition("/")
        return role, name
