"""The topics of one table, all below its prefix, and which message goes where. Nothing is sent here."""

from __future__ import annotations

from typing import Final, NamedTuple

from table_controller.uplink import messages as m


class Channel(NamedTuple):
    """One topic that the box writes."""

    name: str
    message: type[m.Body]
    retained: bool
    meaning: str


CHANNELS: Final = {
    channel.name: channel
    for channel in (
        Channel("status", m.Status, True, "Whether the box is there: its birth, its last will, its own farewell."),
        Channel("state", m.State, True, "The table as it stands: the round, what is open, every device, why it waits."),
        Channel("events", m.Told, False, "What was journaled, in its order; a repeat carries the same number."),
        Channel("meters", m.Meters, True, "The meter's amounts; at most once in `meters_every_s` seconds."),
        Channel("head", m.Head, True, "The journal's newest record and its hash, so that nobody rewrites the past."),
        Channel("health", m.Health, True, "Links, disk, second copy, clock and the uplink itself."),
    )
}
COMMAND: Final = "command"
REPLY: Final = "reply"


class Topics:
    """The names under one prefix."""

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix
        self.status, self.state, self.events, self.meters, self.head, self.health = (
            f"{prefix}/{name}" for name in CHANNELS
        )
        self.commands = f"{prefix}/{COMMAND}/#"
        self._command = f"{prefix}/{COMMAND}/"

    def reply(self, role: str) -> str:
        """Return where a role is answered; a response topic must be this one or below it."""
        return f"{self.prefix}/{REPLY}/{role}"

    def command(self, topic: str) -> tuple[str, str]:
        """Return role and command that a topic names; either may be nonsense."""
        role, _, name = topic.removeprefix(self._command).partition("/")
        return role, name
