"""Uplink events of whole tables: as described, the same live and from the journal, and without secrets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from hypothesis import given, settings

from simulators.casino.dealer import DEALER, FLOOR
from simulators.casino.table import CasinoTable
from table_controller.journal.chain import Record
from table_controller.journal.records import DECISIONS, NOTE, Note
from table_controller.ledger.money import MoneyEntry, Transfer
from table_controller.rulebook import GAMES
from table_controller.table import decisions as d
from table_controller.table import events as ev
from table_controller.uplink.event_mapping import map_record, map_step
from table_controller.uplink.event_types import MoneyItem
from table_controller.uplink.messages import EventMessage
from table_controller.uplink.state_messages import describe_meters, describe_state
from tests.support.box.pictures import picture_of
from tests.support.box.uplinks import PREFIX
from tests.support.core.any_value import any_value
from tests.support.oracles.asyncapi_document import DOCUMENT, undescribed_messages
from tests.support.oracles.json_schema import schema_errors

if TYPE_CHECKING:
    from table_controller.controller.controller import DurableStep

# Decisions without their own event: they go to devices and people at the table, or are part of another event.
# The retained state has the next step of a return to service, and test mode.
OF_A_RETURN = {
    d.ReturnBegan, d.TechnicianAssigned, d.TechnicianLeft, d.EvidenceShown, d.StepCompleted, d.StepsUndone,
    d.TestModeChanged,
}  # fmt: skip
QUIET = {d.Command, d.Prompt, d.PromptClosed, d.Deadline, d.BetSettled, *OF_A_RETURN}


def message(published: Any) -> dict[str, Any]:
    """Return an event as it is sent."""
    recorded = EventMessage(
        journal="ab", seq=1, head="cd", at="2031-01-01T00:00:00.000000+00:00", round=published.round,
        event=published.event, by=published.by, items=published.items,
    )  # fmt: skip
    results: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(recorded))
    return results


@pytest.mark.parametrize("game", GAMES)
async def test_every_game_is_published_as_described_live_and_from_the_journal(seed: int, game: str) -> None:
    house = CasinoTable(game, seed=seed)
    live: list[DurableStep] = []
    held: dict[str, Any] = {}

    def follow(step: DurableStep) -> None:
        live.append(step)
        table = picture_of(house.box)
        if table.holds and not held:
            held.update(msgspec.json.decode(msgspec.json.encode(describe_state(table, None, "now"))))

    house.controller.followers.append(follow)
    try:
        await house.open("blue", "red")
        await house.round((1, 4) if house.controller.table.context.has_progressive else ())
        house.machines["shuffler.1"].inject("jam")
        await house.round()
        number, from_journal, sent = 0, {}, []
        for record in house.disk.records:
            published = map_record(record, number)
            number = published.round
            from_journal[record.seq] = published
            if published.items:
                sent.append(message(published))
        assert number == house.controller.table.state.round.number
        number = from_journal[live[0].seq - 1].round
        for step in live:
            published = map_step(step.event, step.decisions, number)
            number = published.round
            assert published == from_journal[step.seq]
        table = picture_of(house.box)
        state = msgspec.to_builtins(describe_state(table, None, "now"), str_keys=True)
        meters = describe_meters(table, "now")
        assert (meters is not None) is house.controller.table.context.has_progressive
        received = [(f"{PREFIX}/events", False, body) for body in sent]
        assert (
            undescribed_messages(
                [*received, (f"{PREFIX}/state", True, msgspec.json.decode(msgspec.json.encode(state)))]
            )
            == []
        )
        items = [item for body in sent for item in body["items"]]
        kinds = {item["item"] for item in items}
        assert {"round", "service"} <= kinds
        assert "irregularity_found" in kinds or game == "over_under"  # a batch is shuffled once in many rounds
        if held:
            assert undescribed_messages([(f"{PREFIX}/state", True, held)]) == []
            assert all(hold["clauses"] and hold["trigger"] for hold in held["holds"])
        assert bool(held) is ("irregularity_found" in kinds)
        assert all(item["clauses"] for item in items if item["item"] == "irregularity_found")
        text = msgspec.json.encode([sent, state]).decode()
        assert not [secret for secret in (DEALER.credential, FLOOR.credential) if f'"{secret}"' in text]
    finally:
        await house.close()


@pytest.mark.parametrize("kind", DECISIONS, ids=lambda kind: kind.__name__)
def test_every_decision_is_published_or_listed_as_internal(kind: type[d.Decision]) -> None:
    opened = ev.OpenRound(DEALER)

    @settings(max_examples=10)
    @given(any_value(kind))
    def published(decision: d.Decision) -> None:
        items = map_step(opened, [decision], 3).items
        assert bool(items) is (kind not in QUIET)
        assert any(isinstance(item, MoneyItem) for item in items) is isinstance(decision, d.Booked)

    if kind is d.StateChanged:
        assert map_step(opened, [d.StateChanged("slot shuffler.1", "absent")], 3).items
    else:
        published()


def test_people_appear_by_their_role_and_what_they_wrote_does_not_appear() -> None:
    entry = MoneyEntry(
        number=7, kind="correction", transfers=(Transfer("corrections", "meter", 5_000_000),), meter_before=1,
        meter_after=5_000_001, document="for Mrs Smith, room 812",
    )  # fmt: skip
    who, second = ev.Person("floorperson", "floor-9"), ev.Person("auditor", "audit-3")
    event = ev.MeterCorrected(5_000_000, "for Mrs Smith, room 812", who, second)
    decisions: list[d.Decision] = [
        d.Booked(entry), d.HoldCleared(4, "floor-9"), d.MeterSet(100, 5, "form 12", ("floor-9", "audit-3")),
    ]  # fmt: skip
    body = message(map_step(event, decisions, 3))
    assert (body["by"], body["round"]) == ("floorperson", 3)
    assert [item["item"] for item in body["items"]] == ["money", "irregularity_cleared", "meter_terms"]
    text = str(body)
    assert not [word for word in ("Smith", "812", "floor-9", "audit-3", "form 12") if word in text]
    note = Note("signed_on", "floor-9 (Jane Doe) signed on", who=who)
    body = message(map_record(Record(1, NOTE, 0, 0, 1, msgspec.json.encode(note), b""), 3))
    assert (body["by"], body["items"]) == ("floorperson", [{"item": "note", "kind": "signed_on"}])
    assert "Doe" not in str(body)


@pytest.mark.parametrize("kind", ["step", "start", "clock", "note", "restored", "of the future"])
def test_a_record_that_cannot_be_read_is_published_as_unreadable(kind: str) -> None:
    published = map_record(Record(9, kind, 0, 0, 1, b"\xff not JSON", b""), 5)
    assert message(published)["items"] == [{"item": "recorded", "kind": kind}]
    assert published.round == 5


def test_a_hit_and_a_command_in_doubt_are_published() -> None:
    entry = MoneyEntry(number=9, kind="hit", transfers=(), meter_before=2, meter_after=1, round=3, seat=2, hit=1)
    hit = d.HitClaimed(entry, 1, 3, 2, "royal_flush", 10, 20)
    body = message(map_step(ev.CommandEnded(12, "unknown", 430), [hit, d.StateChanged("hit 1", "claimed")], 3))
    assert [item["item"] for item in body["items"]] == ["command", "money", "hit_claimed", "hit"]
    assert body["items"][0] == {"item": "command", "command": 12, "outcome": "unknown", "code": "PB-430"}
    assert undescribed_messages([(f"{PREFIX}/events", False, body)]) == []


def test_the_message_check_rejects_what_is_not_described() -> None:
    good = message(map_step(ev.BoxStarted(3), [d.HoldCleared(4, "x")], 0))
    schema = {"$ref": "#/components/schemas/EventMessage"}
    assert schema_errors(good, schema, DOCUMENT) == []
    for change in (
        {"seq": "1"}, {"seq": True}, {"order": [1, 2]}, {"items": [{"item": "cards", "order": []}]}, {"items": None},
        {"items": [good["items"][1] | {"credential": "x"}]}, {"items": [{"item": "irregularity_cleared"}]},
    ):  # fmt: skip
        assert schema_errors(good | change, schema, DOCUMENT), change
    missing = {name: value for name, value in good.items() if name != "head"}
    assert schema_errors(missing, schema, DOCUMENT) == ["$: 'head' is a required property"]
    assert undescribed_messages([(f"{PREFIX}/events/more", False, good)]) == [f"{PREFIX}/events/more is no channel"]
    with pytest.raises(KeyError):
        schema_errors(1, {"unheard_of": 1}, DOCUMENT)
