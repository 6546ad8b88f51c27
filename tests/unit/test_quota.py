"""Connection places: strangers, from however many networks, never take the last one."""

from __future__ import annotations

from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from table_controller.host.quota import Admission, Origin, Quota, Rank, Screens, origin_of

PLACES, EACH = (4, 6, 8), (2, 3, 8)


@pytest.mark.parametrize(
    ("one", "other", "together"),
    [
        ("10.1.2.3", "10.1.2.254", True),
        ("10.1.2.3", "10.1.3.3", False),
        ("2001:db8:1:2::1", "2001:db8:1:2:ffff::9", True),
        ("2001:db8:1:2::1", "2001:db8:1:3::1", False),
        ("::ffff:10.1.2.3", "10.1.2.9", True),
        ("fe80::1%eth0", "fe80::2%eth1", True),
        ("127.0.0.9", "127.0.0.10", True),
    ],
)
def test_addresses_are_counted_by_their_network(one: str, other: str, together: bool) -> None:
    assert (origin_of(one).group == origin_of(other).group) is together
    assert origin_of(one).rank is Rank.STRANGER


def test_a_known_address_and_a_screen_are_counted_alone_and_so_is_a_name_that_the_box_gave() -> None:
    assert origin_of("10.1.2.3", known=True) == Origin("10.1.2.3", "10.1.2.3", Rank.KNOWN)
    assert origin_of("::ffff:10.1.2.3", own=True) == Origin("10.1.2.3", "10.1.2.3", Rank.OWN)
    assert origin_of("user 1000") == Origin("user 1000", "user 1000", Rank.KNOWN)


def test_the_tables_own_screens_are_this_computer_and_those_that_are_configured() -> None:
    screens = Screens(["10.4.7.21", "2001:db8::0:5"])
    assert all(screens.includes(peer) for peer in ("127.0.0.1", "::1", "::ffff:127.0.0.1", "10.4.7.21", "2001:db8::5"))
    assert not any(screens.includes(peer, "10.4.7.1") for peer in ("127.0.0.2", "10.4.7.22", "2001:db8::6", "local"))
    assert screens.includes("10.4.7.1", "10.4.7.1"), "a browser on the box itself, at the box's address on the network"


def strangers(quota: Quota, number: int) -> list[Admission | None]:
    return [quota.admit(origin_of(f"10.0.{n}.1")) for n in range(number)]


def test_strangers_share_their_places_and_one_network_gets_few_of_them() -> None:
    quota = Quota(PLACES, EACH)
    near = [quota.admit(origin_of(f"10.9.9.{n}")) for n in range(9)]
    assert sum(seat is not None for seat in near) == 2
    assert sum(seat is not None for seat in strangers(quota, 9)) == 2, "four altogether"
    known = [quota.admit(origin_of(f"10.0.0.{n}", known=True)) for n in range(9)]
    assert sum(seat is not None for seat in known) == 2
    own = [quota.admit(origin_of("127.0.0.1", own=True)) for _ in range(9)]
    assert (sum(seat is not None for seat in own), len(quota)) == (2, 8)


def test_a_place_that_is_given_back_is_free_once() -> None:
    quota = Quota(PLACES, EACH)
    seats = [seat for seat in strangers(quota, 4) if seat is not None]
    quota.release(seats[0])
    quota.release(seats[0])
    assert quota.admit(origin_of("10.1.0.1")) is not None
    assert quota.admit(origin_of("10.2.0.1")) is None


def test_an_idle_place_gives_way_the_oldest_of_the_largest_network_first_and_never_to_a_lower_rank() -> None:
    quota = Quota((3, 3, 3), (2, 3, 3))
    gone: list[str] = []
    busy: set[str] = set()

    def come(address: str, *, known: bool = False) -> Admission | None:
        return quota.admit(
            origin_of(address, known=known), idle=lambda: address not in busy, displace=lambda: gone.append(address)
        )

    come("10.1.1.1")
    come("10.2.2.1")
    come("10.2.2.2")
    assert come("10.3.3.3") is not None
    assert gone == ["10.2.2.1"], "its network had most"
    assert come("10.4.4.4", known=True) is not None
    assert gone == ["10.2.2.1", "10.1.1.1"], "then the oldest"
    busy |= {"10.2.2.2", "10.3.3.3"}
    assert come("10.5.5.5") is None, "an idle place of a higher rank stays"
    assert len(gone) == 2
    assert come("10.6.6.6", known=True) is not None
    assert gone[-1] == "10.4.4.4"


def test_a_network_with_too_many_gives_way_to_itself_alone() -> None:
    quota = Quota((9, 9, 9), (2, 9, 9))
    gone: list[str] = []
    for address in ("10.1.1.1", "10.2.2.1", "10.2.2.2", "10.2.2.3"):
        quota.admit(origin_of(address), idle=lambda: True, displace=partial(gone.append, address))
    assert gone == ["10.2.2.1"]


def test_a_place_is_promoted_only_if_the_higher_rank_has_one() -> None:
    quota = Quota((2, 2, 3), (2, 1, 3))
    seats = [seat for seat in strangers(quota, 2) if seat is not None]
    known = origin_of("10.0.0.1", known=True)
    assert quota.promote(seats[0], known)
    assert quota.promote(seats[0], known), "it is"
    assert not quota.promote(seats[1], known), "one of each"
    assert seats[1].origin.rank is Rank.STRANGER
    assert quota.admit(origin_of("10.8.0.1")) is None, "a promoted place is not a free one"


ORIGINS = st.builds(
    lambda net, host, rank: origin_of(f"10.0.{net}.{host}", known=rank == 1, own=rank == 2),
    st.integers(0, 6), st.integers(1, 4), st.integers(0, 2),
)  # fmt: skip


@given(st.lists(st.tuples(ORIGINS, st.booleans(), st.booleans()), max_size=60))
def test_every_rank_keeps_its_places_under_any_requests(steps: list[tuple[Origin, bool, bool]]) -> None:
    quota = Quota(PLACES, EACH)
    held: list[Admission] = []
    for origin, idle, goes in steps:
        seat = quota.admit(origin, idle=partial(bool, idle))
        if seat is not None:
            held.append(seat)
        if goes and held:
            quota.release(held.pop(0))
        now = [one.origin for one in quota._seats]
        for high in Rank:
            assert sum(one.rank <= high for one in now) <= PLACES[high]
        for one in now:
            assert sum((two.rank, two.group) == (one.rank, one.group) for two in now) <= EACH[one.rank]
    strangers_only = Quota(PLACES, EACH)
    for origin, _, _ in steps:
        if origin.rank is Rank.STRANGER:
            strangers_only.admit(origin)
    assert strangers_only.admit(origin_of("127.0.0.1", own=True)) is not None
    assert strangers_only.admit(origin_of("10.77.0.1", known=True)) is not None
