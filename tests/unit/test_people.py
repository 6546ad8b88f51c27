"""The people file and the check of PINs: nothing is lost, guessing fails, and guessing locks nobody out."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import msgspec
import pytest

from firmware_bridge.errors import BadPeopleFile, ConfigurationError, CredentialRefused, TryLater
from table_controller.access import people_file
from table_controller.access.people_file import Cost
from table_controller.access.pin_check import (
    FORGET_AFTER_S,
    LONGEST_WAIT_S,
    NETWORK_PLACES,
    PLACES,
    REMEMBERED,
    UNKNOWN_ID_WAITS,
    UNKNOWN_PLACES,
    PinChecker,
)
from table_controller.host.quota import origin_of

if TYPE_CHECKING:
    from pathlib import Path

# A real hash that takes no time.
CHEAP = Cost(n=2, r=1, p=1)


class PinBench:
    """A people file with cheap hashes, a clock that is set by hand, and a count of hashes."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "people.json"
        self.now = 100.0
        self.hashes = 0
        people_file.add_credential(self.path, "F17", "floorperson", "739164", cost=CHEAP)
        people_file.add_credential(self.path, "D4", "dealer", "481516", person="4711", cost=CHEAP)
        self.checker = PinChecker(self.path, clock=lambda: self.now, hasher=self._hash)

    def _hash(self, pin: str, salt: bytes, cost: Cost) -> bytes:
        self.hashes += 1
        assert cost == CHEAP, "an id that nobody has costs as much as those of the file"
        return people_file.pin_hash(pin, salt, cost)

    def refused(self, id_: str, pin: str, place: str = "") -> float:
        """Try a PIN; return the wait in seconds, 0 if the PIN was checked."""
        try:
            self.checker.check(id_, pin, place)
        except TryLater as error:
            return error.seconds
        except CredentialRefused:
            return 0.0
        raise AssertionError("it was let in")


@pytest.fixture
def bench(tmp_path: Path) -> PinBench:
    return PinBench(tmp_path)


# --- the file ---------------------------------------------------------------------------------------------------------


def test_a_credential_is_added_checked_changed_and_revoked(bench: PinBench) -> None:
    result = bench.checker.check("F17", "739164")
    assert (result.id, result.person, result.role) == ("F17", "F17", "floorperson")
    result = bench.checker.check("d4", "481516")
    assert (result.id, result.person, result.role) == ("D4", "4711", "dealer")
    people_file.set_pin(bench.path, "F17", "208642", cost=CHEAP)
    bench.refused("F17", "739164")
    bench.now += 1
    assert bench.checker.check("F17", "208642").id == "F17"
    assert people_file.revoke_credential(bench.path, "F17").revoked
    with pytest.raises(CredentialRefused) as revoked:
        bench.checker.check("F17", "208642")
    with pytest.raises(CredentialRefused) as unknown:
        bench.checker.check("F18", "208642")
    assert str(revoked.value).replace("F17", "F18") == str(unknown.value), "whether an id exists is not revealed"


def test_an_id_is_never_given_twice(bench: PinBench) -> None:
    with pytest.raises(ConfigurationError, match="D4 was added on"):
        people_file.add_credential(bench.path, "d4", "dealer", "918273", cost=CHEAP)
    people_file.revoke_credential(bench.path, "D4")
    with pytest.raises(ConfigurationError, match="D4 was revoked on"):
        people_file.add_credential(bench.path, "D4", "dealer", "918273", cost=CHEAP)
    with pytest.raises(ConfigurationError, match="D4 was revoked on"):
        people_file.set_pin(bench.path, "D4", "918273", cost=CHEAP)
    with pytest.raises(ConfigurationError, match="there is no credential D5"):
        people_file.revoke_credential(bench.path, "D5")


def test_two_credentials_of_one_person_are_distinguished_from_two_people(bench: PinBench) -> None:
    people_file.add_credential(bench.path, "A4", "auditor", "481516", person="f17", cost=CHEAP)
    floorperson, dealer, auditor = (
        bench.checker.check(id_, pin) for id_, pin in (("F17", "739164"), ("D4", "481516"), ("A4", "481516"))
    )
    assert floorperson.is_same_person(auditor)
    assert not floorperson.is_same_person(dealer)


@pytest.mark.parametrize("pin", ["", "12345", "123456", "987654", "000000", "abcdef", "7" * 65, "73\n9164", "floor.9"])
def test_a_pin_that_is_short_or_first_guessed_is_refused(bench: PinBench, pin: str) -> None:
    with pytest.raises(ConfigurationError, match="a PIN"):
        people_file.add_credential(bench.path, "Floor.9", "floorperson", pin, cost=CHEAP)
    assert "floor.9" not in people_file.load_credentials(bench.path)


@pytest.mark.parametrize(("id_", "role"), [("", "dealer"), ("D 5", "dealer"), ("D5", "owner"), ("x" * 33, "dealer")])
def test_a_bad_id_or_role_is_refused(bench: PinBench, id_: str, role: str) -> None:
    with pytest.raises(ConfigurationError):
        people_file.add_credential(bench.path, id_, role, "739164", cost=CHEAP)
    with pytest.raises(ConfigurationError, match="cannot be the number of a person"):
        people_file.add_credential(bench.path, "D5", "dealer", "739164", person="Jane Doe", cost=CHEAP)


def test_the_file_is_its_owners_alone_and_holds_no_pin(bench: PinBench) -> None:
    assert bench.path.stat().st_mode & 0o777 == 0o600
    assert b"739164" not in bench.path.read_bytes()
    bench.path.chmod(0o640)
    with pytest.raises(BadPeopleFile, match="chmod 600"):
        people_file.load_credentials(bench.path)
    with pytest.raises(BadPeopleFile, match="chmod 600"):
        bench.checker.check("F17", "739164")
    bench.path.chmod(0o600)
    assert bench.checker.check("F17", "739164").id == "F17"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (b'"format": 1', b'"format": 2', "format 2"),
        (b'"role": "dealer"', b'"role": "king"', "not a people file"),
        (b'"id": "D4"', b'"id": "f17"', "f17 is in the file twice"),
        (b'"n": 2', b'"n": 3', "damaged"),
        (b'"n": 2', b'"n": 2097152', "not a people file"),
        (b'"salt": "', b'"salt": "zz', "damaged"),
        (b"{", b"", "not a people file"),
        (b"{", b"\xff", "not a people file"),
    ],
)
def test_a_damaged_file_is_refused_whole(bench: PinBench, old: bytes, new: bytes, message: str) -> None:
    data = bench.path.read_bytes()
    assert old in data
    bench.path.write_bytes(data.replace(old, new, 1) if old != b'"id": "D4"' else data.replace(old, new))
    with pytest.raises(BadPeopleFile, match=message):
        people_file.load_credentials(bench.path)


def test_no_file_lets_nobody_in(tmp_path: Path) -> None:
    with pytest.raises(BadPeopleFile, match=r"the folder .* is missing"):
        people_file.add_credential(tmp_path / "no/people.json", "F17", "floorperson", "739164", cost=CHEAP)
    with pytest.raises(BadPeopleFile, match="No such file"):
        PinChecker(tmp_path / "people.json").check("F17", "739164")


def test_a_pipe_is_no_people_file_and_nobody_waits_for_it(bench: PinBench) -> None:
    bench.path.unlink()
    os.mkfifo(bench.path, 0o600)
    with pytest.raises(BadPeopleFile, match="not a file"):
        people_file.load_credentials(bench.path)


def test_who_signed_on_before_holds_a_credential_until_it_is_revoked(bench: PinBench) -> None:
    checker = PinChecker(bench.path)
    people_file.add_credential(bench.path, "T9", "technician", "271828", cost=Cost(2, 1, 1))
    assert checker.is_valid("T9", "technician")
    assert not checker.is_valid("T9", "floorperson")
    assert not checker.is_valid("T8", "technician")
    people_file.revoke_credential(bench.path, "T9")
    assert not checker.is_valid("T9", "technician")


def test_a_file_that_cannot_be_exchanged_stays_as_it_was(bench: PinBench, monkeypatch: pytest.MonkeyPatch) -> None:
    before = bench.path.read_bytes()

    def full(_fd: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(BadPeopleFile, match="No space left"):
        people_file.revoke_credential(bench.path, "D4")
    assert bench.path.read_bytes() == before
    assert sorted(path.name for path in bench.path.parent.iterdir()) == [".people.json.lock", "people.json"]


@pytest.mark.realtime
def test_two_processes_at_once_lose_nothing(bench: PinBench) -> None:
    program = (
        "import sys; from pathlib import Path; from table_controller.access import people_file\n"
        "for n in range(20): people_file.add_credential(Path(sys.argv[1]), f'{sys.argv[2]}{n}', 'dealer', '739164',"
        " cost=people_file.Cost(n=2, r=1, p=1))"
    )
    running = [subprocess.Popen([sys.executable, "-c", program, str(bench.path), who]) for who in "AB"]
    assert [process.wait(60) for process in running] == [0, 0]
    assert set(people_file.load_credentials(bench.path)) == {"f17", "d4"} | {
        f"{who}{n}" for who in "ab" for n in range(20)
    }


# --- guessing ---------------------------------------------------------------------------------------------------------


def test_ten_thousand_wrong_pins_cost_few_hashes_and_the_right_one_gets_in_after_its_wait(bench: PinBench) -> None:
    for guess in range(10_000):
        bench.refused("F17", f"{guess:06d}", "panel")
        bench.now += 0.01
    assert bench.hashes <= 8, "100 s of guessing: looked at were those at 0, 1, 3, 7, 15, 31 and 63 s"
    # Others sign on meanwhile, and the same person elsewhere.
    assert bench.checker.check("D4", "481516", "panel").id == "D4"
    assert bench.checker.check("F17", "739164", "console").id == "F17"
    wait = bench.refused("F17", "739164", "panel")
    assert 0 < wait <= LONGEST_WAIT_S
    bench.now += wait
    assert bench.checker.check("F17", "739164", "panel").id == "F17"
    assert bench.refused("F17", "000001", "panel") == 0.0, "after the right PIN the count begins anew"


def test_the_wait_doubles_up_to_a_minute_and_tries_before_its_end_do_not_lengthen_it(bench: PinBench) -> None:
    waits = []
    for _ in range(10):
        assert bench.refused("F17", "000001") == 0.0
        waits.append(bench.refused("F17", "000001"))
        bench.now += waits[-1] / 2
        assert bench.refused("F17", "000001") == pytest.approx(waits[-1] / 2)
        bench.now += waits[-1] / 2
    assert waits == [1, 2, 4, 8, 16, 32, 60, 60, 60, 60]


def test_guesses_from_everywhere_are_bounded_together(bench: PinBench) -> None:
    for hour_second in range(3600):
        bench.refused("F17", f"{hour_second:06d}", f"10.0.0.{hour_second}")
        bench.now += 1
    assert bench.hashes <= (PLACES + 1) * (3600 / LONGEST_WAIT_S + 7)
    assert bench.checker.check("D4", "481516", "panel").id == "D4"


def test_wrong_pins_from_many_networks_keep_neither_the_tables_screen_nor_a_known_address_out(bench: PinBench) -> None:
    assert bench.checker.check("F17", "739164", "10.5.5.5").id == "F17"
    assert bench.checker.check("D4", "481516", "10.6.6.6").id == "D4"
    screen = origin_of("127.0.0.1", own=True)
    for second in range(3600):
        for network in range(12):
            bench.refused("F17", f"{second:06d}", f"10.1.{network}.{second % 250}")
        bench.now += 1
    assert bench.hashes <= 2 + (UNKNOWN_PLACES + 1) * (3600 / LONGEST_WAIT_S + 7)
    assert bench.refused("F17", "739164", "10.99.0.1") > 0, "strangers wait for each other"
    assert bench.checker.check("F17", "739164", screen).id == "F17"
    assert bench.checker.check("F17", "739164", "10.5.5.5").id == "F17", "accepted there before"
    assert bench.checker.check("F17", "739164", "10.6.6.6").id == "F17", "somebody was accepted there before"
    assert bench.checker.check("F17", "739164", "user 1000").id == "F17", "a command on the box itself"
    bench.refused("F17", "000001", "10.5.5.5")
    assert bench.refused("F17", "739164", "10.5.5.5") > 0, "who is known waits after a wrong PIN, too"


def test_a_whole_network_of_ipv6_addresses_is_no_more_than_two(bench: PinBench) -> None:
    for number in range(1, 200):
        bench.refused("F17", "000001", f"2001:db8::{number:x}")
    assert bench.hashes == NETWORK_PLACES + 1
    assert bench.checker.check("F17", "739164", "2001:db8:0:1::1").id == "F17", "another network"


def test_the_tables_of_tries_and_of_addresses_have_a_limit(bench: PinBench) -> None:
    for number in range(3000):
        bench.refused(f"N{number % 40}", "000001", f"10.{number % 200}.{number % 7}.1")
        bench.refused("F17", "000001", f"10.{number % 200}.{number % 7}.1")
        bench.now += 1
    assert len(bench.checker._tries) <= (UNKNOWN_ID_WAITS + 2) * (PLACES + 1)
    assert len(bench.checker._places) <= UNKNOWN_ID_WAITS + 2
    bench.now += 2 * FORGET_AFTER_S
    for number in range(100):
        bench.checker.check("D4", "481516", f"10.77.{number}.1")
    assert sum(map(len, bench.checker._accepted.values())) == REMEMBERED
    assert not bench.checker.is_known_address("10.77.0.1"), "the last ones are remembered"
    assert bench.checker.is_known_address("10.77.99.1")


def test_a_place_that_made_no_try_for_long_gives_its_wait_to_another(bench: PinBench) -> None:
    for network in range(9):
        bench.refused("F17", "000001", f"10.1.{network}.1")
    bench.now += FORGET_AFTER_S + 1
    assert bench.refused("F17", "000001", "10.2.0.1") == 0.0
    assert bench.refused("F17", "000001", "10.2.0.1") == 1.0, "it has a wait of its own, which begins anew"


@pytest.mark.realtime
def test_tries_that_wait_for_their_hash_leave_room_for_the_tables_own(tmp_path: Path) -> None:
    path = tmp_path / "people.json"
    people_file.add_credential(path, "A1", "dealer", "739164", cost=CHEAP)
    go, entered = threading.Event(), threading.Semaphore(0)

    def slow(pin: str, salt: bytes, cost: Cost) -> bytes:
        entered.release()
        go.wait(30)
        return people_file.pin_hash(pin, salt, cost)

    checker = PinChecker(path, hasher=slow, parallel=8)
    done: list[str] = []

    def tried(place: str, *, own: bool = False) -> None:
        try:
            done.append(checker.check("A1", "739164", origin_of(place, own=own)).id)
        except TryLater:
            done.append("later")

    threads = [threading.Thread(target=tried, args=(f"10.1.{number}.1",)) for number in range(8)]
    for thread in threads[:2]:
        thread.start()
        assert entered.acquire(timeout=30)
    for thread in threads[2:]:
        thread.start()
        thread.join(30)
    assert done == ["later"] * 6, "strangers fill no queue"
    own = threading.Thread(target=tried, args=("127.0.0.1",), kwargs={"own": True})
    own.start()
    assert entered.acquire(timeout=30), "the table's own screen is looked at"
    go.set()
    for thread in (*threads, own):
        thread.join(30)
    assert sorted(done) == ["A1"] * 3 + ["later"] * 6


def test_ids_that_nobody_has_cost_as_much_as_others_and_no_memory(bench: PinBench) -> None:
    assert bench.refused("X1", "739164") == 0.0
    assert bench.hashes == 1
    assert bench.refused("X1", "739164") == 1.0
    for number in range(5000):
        bench.refused(f"N{number}", "739164")
    assert bench.hashes <= UNKNOWN_ID_WAITS
    assert len(bench.checker._tries) <= UNKNOWN_ID_WAITS
    assert bench.checker.check("F17", "739164").id == "F17"


def test_odd_input_is_only_wrong(bench: PinBench) -> None:
    for id_, pin in (("F17", ""), ("F17", "x" * 1_000_000), ("F17", "\ud800"), ("\ud800", "1"), ("", ""), ("?1", "1")):
        assert bench.refused(id_, pin) == 0.0
        bench.now += LONGEST_WAIT_S


@pytest.mark.realtime
def test_one_hash_at_a_time_is_computed_for_a_credential_and_few_altogether(tmp_path: Path) -> None:
    path = tmp_path / "people.json"
    for id_ in ("A1", "A2", "A3"):
        people_file.add_credential(path, id_, "dealer", "739164", cost=CHEAP)
    inside, most, go, entered = 0, 0, threading.Event(), threading.Semaphore(0)
    lock = threading.Lock()

    def slow(pin: str, salt: bytes, cost: Cost) -> bytes:
        nonlocal inside, most
        with lock:
            inside += 1
            most = max(most, inside)
        entered.release()
        go.wait(30)
        with lock:
            inside -= 1
        return people_file.pin_hash(pin, salt, cost)

    checker = PinChecker(path, hasher=slow)
    done: list[str] = []
    threads = [
        threading.Thread(target=lambda id_=id_: done.append(checker.check(id_, "739164").id))
        for id_ in ("A1", "A2", "A3")
    ]
    threads[0].start()
    assert entered.acquire(timeout=30)
    with pytest.raises(TryLater):
        checker.check("A1", "739164")
    for thread in threads[1:]:
        thread.start()
    go.set()
    for thread in threads:
        thread.join(30)
    assert (sorted(done), most) == (["A1", "A2", "A3"], 1)


@pytest.mark.realtime
def test_real_hashes_are_memory_hard(tmp_path: Path) -> None:
    path = tmp_path / "people.json"
    people_file.add_credential(path, "T1", "technician", "739164")
    (entry,) = msgspec.json.decode(path.read_bytes())["people"]
    cost = entry["cost"]
    assert 128 * cost["n"] * cost["r"] == 16 << 20
    checker = PinChecker(path)
    with pytest.raises(CredentialRefused):
        checker.check("T1", "739165")
    with pytest.raises(TryLater):
        checker.check("T1", "739164")
    assert PinChecker(path).check("T1", "739164").role == "technician"
