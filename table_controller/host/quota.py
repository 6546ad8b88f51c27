"""Limits the number of connections, streams, clients and PIN blocks, with places reserved by rank.

Unknown origins share some places, and one unknown network gets few of them. More places are for addresses of earlier
sign-ons, and more again for the screens of the table, so that outsiders with many addresses cannot take all places. An
idle place is given to the next origin that needs one.
"""

from __future__ import annotations

import ipaddress
from collections import Counter
from enum import IntEnum
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

# The size of one network, IPv4 and IPv6: what one attacker can easily have (bits of the prefix).
SUBNET_V4: Final = 24
SUBNET_V6: Final = 64
# The loopback addresses.
THIS_COMPUTER: Final = ("127.0.0.1", "::1")


class Rank(IntEnum):
    """How well the box knows an origin; a higher rank has places that a lower one cannot get."""

    STRANGER = 0
    KNOWN = 1
    OWN = 2


class Origin(NamedTuple):
    """The origin of a connection: its address or system user, the group that it counts for, and its rank."""

    name: str
    group: str
    rank: Rank


def origin_of(name: str, *, own: bool = False, known: bool = False) -> Origin:
    """Return the origin of an address. Any other name comes from the box itself: it is known and its own group."""
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
    """The screens of the table: this computer, and the addresses in the configuration."""

    def __init__(self, addresses: Iterable[str] = ()) -> None:
        self._addresses = {origin_of(address).name for address in (*THIS_COMPUTER, *addresses)}

    def includes(self, peer: str, local: str = "") -> bool:
        """Return whether a peer is one of them. `local`: the address that it reached, which is this computer."""
        name = origin_of(peer).name
        return name in self._addresses or (bool(local) and name == origin_of(local).name)


class Admission:
    """A place until its release. `idle` returns whether it may be taken away; `displace` takes it away."""

    __slots__ = ("displace", "is_idle", "origin")

    def __init__(self, origin: Origin, idle: Callable[[], bool] | None, displace: Callable[[], object] | None) -> None:
        self.origin = origin
        self.is_idle = idle
        self.displace = displace


class Quota:
    """`places`: the number for unknown origins, for unknown and known ones together, and for all.

    `each`: how many of them one group gets, by rank.
    """

    def __init__(self, places: tuple[int, int, int], each: tuple[int, int, int]) -> None:
        assert list(places) == sorted(places), "a higher rank has at least the places of a lower one"
        self.places = places
        self.each = each
        self._seats: dict[Admission, None] = {}  # the oldest first

    def __len__(self) -> int:
        """Return how many places are in use."""
        return len(self._seats)

    def admit(
        self, origin: Origin, *, idle: Callable[[], bool] | None = None, displace: Callable[[], object] | None = None
    ) -> Admission | None:
        """Return a place, if necessary an idle one of the same or a lower rank; None if there is none."""
        if self._needs_one_of(origin):
            idle_seat = self._idle_for(origin)
            if idle_seat is None:
                return None
            del self._seats[idle_seat]
            if idle_seat.displace is not None:
                idle_seat.displace()
        seat = Admission(origin, idle, displace)
        self._seats[seat] = None
        return seat

    def release(self, seat: Admission) -> None:
        """Release a place."""
        self._seats.pop(seat, None)

    def promote(self, seat: Admission, origin: Origin) -> bool:
        """Change the rank of a place; return False and change nothing if that rank has no room."""
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
        """Return whether this origin would get a place now."""
        return not self._needs_one_of(origin) or self._idle_for(origin) is not None

    def _needs_one_of(self, origin: Origin) -> bool:
        """Return whether an idle place must be taken away for this origin."""
        return self._crowded(origin) or self._full(origin.rank)

    def _crowded(self, origin: Origin) -> bool:
        return sum(_kin(seat.origin, origin) for seat in self._seats) >= self.each[origin.rank]

    def _full(self, rank: Rank) -> bool:
        held = Counter(seat.origin.rank for seat in self._seats)
        return any(sum(held[low] for low in Rank if low <= high) >= self.places[high] for high in Rank if high >= rank)

    def _idle_for(self, origin: Origin) -> Admission | None:
        """Return the idle place to take away: of its own group if that is full, otherwise of the lowest rank.

        Among these the largest group, and in it the oldest place.
        """
        crowded = self._crowded(origin)
        idle = [
            seat
            for seat in self._seats
            if (_kin(seat.origin, origin) if crowded else seat.origin.rank <= origin.rank)
            and seat.is_idle is not None
            and seat.is_idle()
        ]
        groups = Counter((seat.origin.rank, seat.origin.group) for seat in self._seats)
        return min(
            idle, key=lambda seat: (seat.origin.rank, -groups[seat.origin.rank, seat.origin.group]), default=None
        )


def _kin(one: Origin, other: Origin) -> bool:
    return (one.rank, one.group) == (other.rank, other.group)
