"""Who gets one of a limited number of places: for connections, streams, clients, and the waits of wrong PINs. Pure.

One rule for all of them. Strangers share some of the places, and one network of theirs gets few. More places are kept
for addresses where somebody signed on before, and more again for the table's own screens. So nobody from outside, from
however many addresses, takes the last place. A place that is not in use now is given to the next who asks for one.
"""

from __future__ import annotations

import ipaddress
from collections import Counter
from enum import IntEnum
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

# One network of IPv4 addresses, and one of IPv6: what one attacker can easily have (bits of the prefix).
SUBNET_V4: Final = 24
SUBNET_V6: Final = 64
# The addresses of this very computer.
THIS_COMPUTER: Final = ("127.0.0.1", "::1")


class Rank(IntEnum):
    """How well the box knows who asks; a higher rank has places that no lower one gets."""

    STRANGER = 0
    KNOWN = 1
    OWN = 2


class Origin(NamedTuple):
    """Where something comes from: the address or the user, the network that it is counted with, and its rank."""

    name: str
    group: str
    rank: Rank


def origin_of(name: str, *, own: bool = False, known: bool = False) -> Origin:
    """Return the origin of an address. Any other name was given by the box itself, and is known and counted alone."""
    try:
        address = ipaddress.ip_address(name.partition("%")[0])
    except ValueError:
        return Origin(name, name, Rank.OWN if own else Rank.KNOWN)
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped
    plain = str(address)
    if own or known:
        return Origin(plain, plain, Rank.OWN if own else Rank.KNOWN)
    bits = SUBNET_V4 if address.version == 4 else SUBNET_V6
    return Origin(plain, str(ipaddress.ip_network((address, bits), strict=False)), Rank.STRANGER)


class Screens:
    """The table's own screens: this computer, and the addresses that the configuration names."""

    def __init__(self, addresses: Iterable[str] = ()) -> None:
        self._addresses = {origin_of(address).name for address in (*THIS_COMPUTER, *addresses)}

    def has(self, peer: str, local: str = "") -> bool:
        """Whether a peer is one of them. `local`: the address that it reached; only this computer has it as its own."""
        name = origin_of(peer).name
        return name in self._addresses or (bool(local) and name == origin_of(local).name)


class Seat:
    """A place that somebody has until it is released. `idle` answers whether it may be taken away; `displace` does."""

    __slots__ = ("displace", "idle", "origin")

    def __init__(self, origin: Origin, idle: Callable[[], bool] | None, displace: Callable[[], object] | None) -> None:
        self.origin = origin
        self.idle = idle
        self.displace = displace


class Quota:
    """`places`: how many there are for strangers, for them and known ones together, and for all together.

    `each`: how many of them one group gets, by rank.
    """

    def __init__(self, places: tuple[int, int, int], each: tuple[int, int, int]) -> None:
        assert list(places) == sorted(places), "a higher rank has the places of a lower one, and more"
        self.places = places
        self.each = each
        self._seats: dict[Seat, None] = {}  # the oldest first

    def __len__(self) -> int:
        """How many places are taken."""
        return len(self._seats)

    def admit(
        self, origin: Origin, *, idle: Callable[[], bool] | None = None, displace: Callable[[], object] | None = None
    ) -> Seat | None:
        """Give a place, if need be one that is idle and not of a higher rank; None if there is none."""
        if self._needs_one_of(origin):
            found = self._idle_for(origin)
            if found is None:
                return None
            del self._seats[found]
            if found.displace is not None:
                found.displace()
        seat = Seat(origin, idle, displace)
        self._seats[seat] = None
        return seat

    def release(self, seat: Seat) -> None:
        """Take a place back, if it was not taken before."""
        self._seats.pop(seat, None)

    def promote(self, seat: Seat, origin: Origin) -> bool:
        """Give a place of another rank for one that is held; False if there is none, and then nothing changes."""
        if seat.origin == origin:
            return True
        del self._seats[seat]
        if self._crowded(origin) or self._full(origin.rank):
            self._seats[seat] = None
            return False
        seat.origin = origin
        self._seats[seat] = None
        return True

    def has_room(self, origin: Origin) -> bool:
        """Whether this one would be given a place now."""
        return not self._needs_one_of(origin) or self._idle_for(origin) is not None

    def _needs_one_of(self, origin: Origin) -> bool:
        """Whether a place must be taken from somebody for this one."""
        return self._crowded(origin) or self._full(origin.rank)

    def _crowded(self, origin: Origin) -> bool:
        return sum(_kin(seat.origin, origin) for seat in self._seats) >= self.each[origin.rank]

    def _full(self, rank: Rank) -> bool:
        held = Counter(seat.origin.rank for seat in self._seats)
        return any(sum(held[low] for low in Rank if low <= high) >= self.places[high] for high in Rank if high >= rank)

    def _idle_for(self, origin: Origin) -> Seat | None:
        """Return the idle place to be taken away: its own group's if that has too many, or else of the lowest rank.

        There of the group that has most, and there the oldest.
        """
        crowded = self._crowded(origin)
        idle = [
            seat
            for seat in self._seats
            if (_kin(seat.origin, origin) if crowded else seat.origin.rank <= origin.rank)
            and seat.idle is not None
            and seat.idle()
        ]
        groups = Counter((seat.origin.rank, seat.origin.group) for seat in self._seats)
        return min(
            idle, key=lambda seat: (seat.origin.rank, -groups[seat.origin.rank, seat.origin.group]), default=None
        )


def _kin(one: Origin, other: Origin) -> bool:
    return (one.rank, one.group) == (other.rank, other.group)
