"""How likely a line that only loses frames is taken for a dead one. Exact, by the link's own times; sends nothing.

`python -m tools.silence_chance` prints the chance that an end that has just heard the other hears nothing more for so
long that it ends the session, though both live and every frame is lost by itself with the same chance.
"""

from __future__ import annotations

from functools import cache
from typing import Final, NamedTuple

from firmware_bridge import link as lk

LOSSES: Final = (0.05, 0.1, 0.2, 0.3, 0.5)


class Times(NamedTuple):
    """When an end shows its life, knocks and gives up (s)."""

    device: float = lk.HEARTBEAT
    host: float = lk.HOST_HEARTBEAT
    anxious: float = lk.ANXIOUS
    knock: float = lk.KNOCK
    silence: float = lk.SILENCE


# What decision 0015 left behind.
BEFORE: Final = Times(device=1.0, host=1.2, anxious=1.5, knock=0.25)


def next_ping(sent: float, heard: float, heartbeat: float, times: Times) -> float:
    """Return when an end that sent and heard at these instants pings next, if it hears nothing more."""
    anxious = heard + times.anxious
    beat = sent + heartbeat
    return beat if beat <= anxious else max(anxious, sent + times.knock)


def pings(heartbeat: float, times: Times) -> list[float]:
    """Return when an end pings that hears nothing from 0 on, until it gives up."""
    found: list[float] = []
    at = next_ping(0.0, 0.0, heartbeat, times)
    while at < times.silence:
        found.append(at)
        at = next_ping(at, 0.0, heartbeat, times)
    return found


def false_silence(loss: float, times: Times, *, host: bool = True) -> float:
    """Return the chance that the host (or the device) hears nothing until it gives up, though the other end lives.

    Both have spoken and heard each other at 0. Whoever hears a ping answers it; all that it sends must be lost.
    """
    deaf, other = (times.host, times.device) if host else (times.device, times.host)
    knocks = pings(deaf, times)

    @cache
    def lost(coming: int, sent: float, heard: float) -> float:
        ping = next_ping(sent, heard, other, times)
        asked = knocks[coming] if coming < len(knocks) else times.silence
        if min(ping, asked) >= times.silence:
            return 1.0
        if ping < asked:
            return loss * lost(coming, ping, heard)
        return loss * lost(coming + 1, sent, heard) + (1 - loss) * loss * lost(coming + 1, asked, asked)

    return lost(0, 0.0, 0.0)


def main() -> None:
    """Print the chances before and now."""
    for name, times in (("before", BEFORE), ("now", Times())):
        print(f"{name}: {', '.join(f'{field} {value:g} s' for field, value in times._asdict().items())}")
        print(f"  the host's pings in silence: {' '.join(f'{at:g}' for at in pings(times.host, times))}")
        for end in ("host", "device"):
            chances = (f"{loss:.0%} {false_silence(loss, times, host=end == 'host'):.1e}" for loss in LOSSES)
            print(f"  the {end} gives up by mistake: {', '.join(chances)}")


if __name__ == "__main__":
    main()
