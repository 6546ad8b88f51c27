"""The budgets of the design page that the benchmarks measure: what is limited, how, and against which floor or peer."""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

# Which measured values are good: those below the limit, or those above it.
Better = Literal["lower", "higher"]


class Budget(NamedTuple):
    """One limit. A budget in the unit `x` is a ratio to its floor or peer, measured in the same run."""

    benchmark: str  # the module of `benchmarks` that measures it
    what: str
    better: Better
    limit: float
    unit: str = "x"
    reference: str = ""  # the floor or the peer

    def is_met(self, measured: float) -> bool:
        """Whether a measured value is within the budget."""
        return measured <= self.limit if self.better == "lower" else measured >= self.limit

    def text(self) -> str:
        """Return the limit, such as `<= 1.25 x`."""
        return f"{'<=' if self.better == 'lower' else '>='} {self.limit:g} {self.unit}"


_CODED_FAN: Final = "floor: bare fan-out with codec and MAC"

BUDGETS: Final = {
    "link": Budget("link", "authenticated request and reply over a pty, p50", "lower", 1.25,
                   reference="floor: bare echo with codec and MAC"),
    "link, peer": Budget("link", "the same request and reply", "lower", 1.0, reference="peer: pymodbus"),
    "bridge": Budget("lockout", "six sensors locked, bridge alone", "lower", 1.3, reference=_CODED_FAN),
    "lock-out": Budget("lockout", "six sensors locked, shipped box", "lower", 1.8, reference=_CODED_FAN),
    "press": Budget("press", "press until six sensors are locked, whole service", "lower", 1.8, reference=_CODED_FAN),
    "press, p50": Budget("press", "the same press, p50", "lower", 1.0, "ms"),
    "panel": Budget("panel", "the same press with ten panels, p50", "lower", 1.2, reference="floor: no panel"),
    "codec": Budget("codec", "frames encoded and decoded a second", "higher", 3.0, reference="peer: pymodbus"),
    "bet": Budget("journal", "durable bet", "lower", 1.2, reference="floor: bare SQLite WAL FULL"),
    "bet, syncs": Budget("journal", "syncs of a commit", "lower", 1.0, "syncs"),
    "eight bets": Budget("journal", "eight durable bets at once", "lower", 1.3, reference="floor: one durable bet"),
    "eight bets, rate": Budget("journal", "bets a second, eight at once", "higher", 5.0, reference="floor: one each"),
    "core": Budget("core", "core, per event", "lower", 2.5, reference="floor: bare Machine trigger"),
    "core, growth": Budget("core", "step at 20,000 rounds", "lower", 1.2, reference="floor: step at 1,000 rounds"),
    "core, year": Budget("core", "a year of steps, 500,000 rounds", "lower", 15.0, "minutes"),
    "settling": Budget("settling", "core, settling six seats with all wagers", "lower", 5.0, "ms"),
    "rounds": Budget("rounds", "full stack in virtual time, the five games", "higher", 60.0, "rounds/s"),
    "rounds, game": Budget("rounds", "full stack in virtual time, each game", "higher", 45.0, "rounds/s"),
    "mqtt": Budget("mqtt", "MQTT QoS 1 round trip", "lower", 1.3, reference="floor: aiomqtt with TCP_NODELAY"),
    "version": Budget("service", "pitbox --version", "lower", 1.5, reference="floor: import asyncio"),
    "ready": Budget("service", "pitbox run until ready", "lower", 1.5, "s"),
    "memory": Budget("service", "pitbox run, resident", "lower", 64.0, "MB"),
    "hands": Budget("hands", "seven-card hands ranked a second", "higher", 3.0, reference="peer: treys"),
}  # fmt: skip
