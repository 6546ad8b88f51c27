"""Log lines that strangers can cause: the first at once, the others as counts, and none lost."""

from __future__ import annotations

import asyncio
import logging
import re
from typing import TYPE_CHECKING

from firmware_bridge.errors import BadPeopleFile, CredentialRefused, TryLater
from table_controller.host.quota import origin_of
from table_controller.host.repeated_log import MOST_CAUSES, WINDOW_S, RepeatedLog, ServerLog, log_refused_pin

if TYPE_CHECKING:
    import pytest

log = logging.getLogger("repeated")


def counted(caplog: pytest.LogCaptureFixture) -> int:
    """Return how many events are logged: each first line is one, and each count adds its number."""
    match = [re.search(r": (\d+) more", record.getMessage()) for record in caplog.records]
    return sum(1 if one is None else int(one[1]) for one in match)


async def test_the_first_is_loud_the_others_are_a_number_each_minute_and_quiet_is_forgotten(
    caplog: pytest.LogCaptureFixture,
) -> None:
    repeated = RepeatedLog(log)
    for _ in range(100):
        repeated.warn("refused", "F17", "F17 was refused")
    assert [record.getMessage() for record in caplog.records] == ["F17 was refused"]
    await asyncio.sleep(WINDOW_S + 1)
    assert caplog.records[-1].getMessage() == "F17 was refused: 99 more within a minute"
    for _ in range(5):
        repeated.warn("refused", "F17", "F17 was refused")
    assert len(caplog.records) == 2, "a flood that goes on is one line a minute"
    await asyncio.sleep(WINDOW_S)
    assert (len(caplog.records), counted(caplog)) == (3, 105)
    await asyncio.sleep(2 * WINDOW_S)
    assert len(caplog.records) == 3
    repeated.warn("refused", "F17", "F17 was refused")
    assert caplog.records[-1].getMessage() == "F17 was refused", "after a quiet minute it is loud again"
    repeated.flush()


async def test_any_number_of_causes_has_few_lines_and_no_count_is_lost(caplog: pytest.LogCaptureFixture) -> None:
    repeated = RepeatedLog(log)
    for _ in range(3):
        for number in range(1000):
            repeated.warn("refused", number, f"{number} was refused")
    repeated.warn("dropped", 1, "1 was dropped")
    assert len(repeated._causes) <= MOST_CAUSES + 2
    await asyncio.sleep(WINDOW_S / 2)
    repeated.flush()
    assert not repeated._causes
    assert len(caplog.records) <= 2 * (MOST_CAUSES + 2)
    assert counted(caplog) == 3001
    await asyncio.sleep(2 * WINDOW_S)
    assert counted(caplog) == 3001, "nothing is written twice"


async def test_a_refused_pin_names_the_credential_only_if_somebody_has_it(caplog: pytest.LogCaptureFixture) -> None:
    repeated = RepeatedLog(log)
    for address in ("10.1.1.1", "10.1.1.2", "10.1.2.1"):
        log_refused_pin(repeated, CredentialRefused("wrong"), "F17", origin_of(address))
    log_refused_pin(repeated, CredentialRefused("wrong"), None, origin_of("10.1.1.1"))
    log_refused_pin(repeated, TryLater("wait", 3.0), "F17", "user 1000")
    log_refused_pin(repeated, BadPeopleFile("it is not there"), None, "user 1000")
    events = [record.getMessage() for record in caplog.records]
    assert events == [
        "a PIN for the credential F17 was refused, from 10.1.1.1 of 10.1.1.0/24",
        "a PIN for the credential F17 was refused, from 10.1.2.1 of 10.1.2.0/24",
        "a PIN for an unknown credential was refused, from 10.1.1.1 of 10.1.1.0/24",
        "a PIN for the credential F17 came too soon, from user 1000",
        "PINs cannot be checked: PB-622: it is not there",
    ]
    assert caplog.records[-1].levelno == logging.ERROR
    repeated.flush()
    assert counted(caplog) == 6


async def test_a_web_servers_warnings_are_counted_and_its_errors_are_not(caplog: pytest.LogCaptureFixture) -> None:
    repeated = RepeatedLog(log)
    server = ServerLog(logging.getLogger("server"), repeated)
    for _ in range(50):
        server.warning("Invalid HTTP request received.")
    for _ in range(2):
        server.error("a bug", exc_info=ValueError("x"))
    repeated.flush()
    assert [record.levelname for record in caplog.records] == ["WARNING", "ERROR", "ERROR", "WARNING"]
