"""Computes how likely a link ends a session by mistake because a lossy line lost every frame for too long.

`python -m tools.studies.silence_chance` prints the exact probability that one end receives nothing until its silence
limit, although both ends work and every frame is lost independently with the same probability.
"""

from __future__ import annotations

from functools import cache
from typing import Final, NamedTuple

from firmware_bridge import link as lk

LOSSES: Final = (0.05, 0.1, 0.2, 0.3, 0.5)


class LinkTimes(NamedTuple):
    """Times of a link (s): heartbeats, when an end starts to ping, ping interval, silence limit."""

    device: float = lk.HEARTBEAT_S
    host: float = lk.HOST_HEARTBEAT_S
    anxious: float = lk.PROBE_AFTER_S
    knock: float = lk.PROBE_EVERY_S
    silence: float = lk.SILENCE_LIMIT_S


# The times before decision 0015.
BEFORE: Final = LinkTimes(device=1.0, host=1.2, anxious=1.5, knock=0.25)


def next_ping(sent: float, received: float, heartbeat: float, times: LinkTimes) -> float:
    """Return when an end pings next that last sent and last received at these times, if it receives nothing more."""
    anxious = received + times.anxious
    beat = sent + heartbeat
    return beat if beat <= anxious else max(anxious, sent + times.knock)


def pings(heartbeat: float, times: LinkTimes) -> list[float]:
    """Return when an end pings that receives nothing from time 0 until it gives up."""
    times_of_pings: list[float] = []
    at = next_ping(0.0, 0.0, heartbeat, times)
    while at < times.silence:
        times_of_pings.append(at)
        at = next_ping(at, 0.0, heartbeat, times)
    return times_of_pings


def false_silence(loss: float, times: LinkTimes, *, host: bool = True) -> float:
    """Return the probability that the host (or the device) gives up although the other end works.

    Both ends have sent and received at time 0. An end that receives a ping answers; all its answers must be lost.
    """
    deaf, other = (times.host, times.device) if host else (times.device, times.host)
    knocks = pings(deaf, times)

    @cache
    def lost(coming: int, sent: float, received: float) -> float:
        ping = next_ping(sent, received, other, times)
        asked = knocks[coming] if coming < len(knocks) else times.silence
        if min(ping, asked) >= times.silence:
            return 1.0
        if ping < asked:
            return loss * lost(coming, ping, received)
        return loss * lost(coming + 1, sent, received) + (1 - loss) * loss * lost(coming + 1, asked, asked)

    return lost(0, 0.0, 0.0)


def main() -> None:
    """Print the probabilities before and now."""
    for name, times in (("before", BEFORE), ("now", LinkTimes())):
        print(f"{name}: {', '.join(f'{field} {value:g} s' for field, value in times._asdict().items())}")
        print(f"  the host's pings in silence: {' '.join(f'{at:g}' for at in pings(times.host, times))}")
        for end in ("host", "device"):
            chances = (f"{loss:.0%} {false_silence(loss, times, host=end == 'host'):.1e}" for loss in LOSSES)
            print(f"  the {end} gives up by mistake: {', '.join(chances)}")


if __name__ == "__main__":
    main()
