"""People at a box, in memory and virtual time: who may sign on, who acts for whom, and what two people must sign."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import msgspec

from table_controller.access import people_file
from table_controller.journal import records as rec
from table_controller.journal.chain import STOP
from table_controller.table import events as ev
from tests.support.box.boxes import CHEAP, DirectClient, running

if TYPE_CHECKING:
    from pathlib import Path


async def test_requests_need_a_sign_on_and_nobody_acts_for_another_person(tmp_path: Path) -> None:
    async with running(tmp_path) as (_, _box, talk):
        assert (await talk.submit("open_round")).startswith("PB-813")
        assert (await talk.ask("sign_on", credential="D1", pin="000000")).startswith("PB-320")
        await asyncio.sleep(2.0)
        await talk.sign_on("D1")
        claimed = await talk.submit("open_round", who={"role": "floorperson", "credential": "F1"})
        assert claimed.startswith("PB-814")
        assert (await talk.submit("open_round", by="F1")).startswith("PB-813 F1 is not signed on")
        assert (await talk.submit("SlotChanged", slot="shoe.1", trigger="verify")).startswith("PB-814")
        assert (await talk.submit("deck")).startswith("PB-814")
        assert (await talk.submit("deck", deck="blue", color="blue")).startswith("PB-814")
        answer = await talk.submit("open_round")
        assert answer["decisions"][0]["type"] == "RequestRefused"


async def test_five_wrong_pins_end_what_a_connection_may_do(tmp_path: Path) -> None:
    async with running(tmp_path) as (_, box, talk):
        for _ in range(5):
            assert "PB-32" in await talk.ask("sign_on", credential="D1", pin="000000")
        assert (await talk.ask("sign_on", credential="D2", pin="271828")).startswith("PB-813")
        other = DirectClient(box)
        await other.sign_on("D2")


async def test_a_revoked_credential_is_refused_though_it_was_signed_on(tmp_path: Path) -> None:
    async with running(tmp_path) as (_, box, talk):
        await talk.sign_on("D1", "F1")
        people_file.revoke_credential(tmp_path / "people.json", "D1")
        assert (await talk.submit("open_round", by="D1")).startswith("PB-813 the credential D1 was revoked")
        assert box.presence is not None
        assert box.presence.dealer is None
        assert (await talk.submit("open_round", by="D1")).startswith("PB-813 D1 is not signed on")
        (tmp_path / "people.json").unlink()
        assert (await talk.submit("order", order="table_idle", by="F1"))["seq"], "a file that is gone revokes nobody"


async def test_another_pin_ends_every_sign_on_by_the_old_one_and_only_those(tmp_path: Path) -> None:
    async with running(tmp_path) as (_, box, talk):
        file = tmp_path / "people.json"
        await talk.sign_on("D1", "F1")
        people_file.set_pin(file, "D1", "314159", cost=CHEAP)
        assert (await talk.ask("status"))["dealer"] is None, "a person who knows only the old PIN does not deal"
        assert box.dealer() is None
        anew = DirectClient(box)
        assert (await anew.ask("sign_on", credential="D1", pin="314159"))["credential"] == "D1"
        assert (await talk.submit("open_round", by="D1")).startswith("PB-813 the credential D1 has a new PIN")
        assert (await talk.ask("status"))["dealer"] == "D1", "the new sign-on is not ended with the old one"
        assert (await anew.submit("open_round"))["seq"]
        assert (await talk.submit("order", order="table_idle", by="F1"))["seq"]
        kept = msgspec.json.decode(file.read_bytes())
        kept["people"] = [each for each in kept["people"] if each["id"] != "F1"]  # taken out of the file by hand
        file.write_bytes(msgspec.json.encode(kept))
        assert (await talk.submit("order", order="table_idle", by="F1")).startswith(
            "PB-813 the credential F1 was revoked"
        )


async def test_a_nonsense_event_is_refused_and_the_table_can_still_be_saved(tmp_path: Path) -> None:
    async with running(tmp_path, "over_under") as (bench, box, talk):
        await talk.sign_on("D1")
        assert box.controller is not None
        before = box.controller.newest_seq
        nonsense: tuple[dict[str, Any], ...] = (
            {"do": "cover_card", "seat": 10**30},
            {"do": "report", "trigger": "other", "seat": -(10**30)},
            {"do": "answer", "prompt": 1, "choice": "x", "seats": [10**30]},
            {"do": "answer", "prompt": 1, "choice": "x", "seats": list(range(1000))},
            {"do": "deck", "deck": "blue\n2031-03-17 04:00:00  7  answer by floorperson F1"},
            {"do": "deck", "deck": "\x1b[2J"},
            {"do": "report", "trigger": "x" * 60_000},
        )
        for request in nonsense:
            assert (await talk.ask(**request)).startswith("PB-814"), request
        assert box.controller.newest_seq == before
        assert (await talk.ask("follow"))["seq"] == before
        await box.stop()
        assert bench.records()[-1].kind == STOP


async def test_the_cover_card_is_reported_by_a_permitted_person_whom_the_record_names(
    tmp_path: Path,
) -> None:
    async with running(tmp_path, "over_under") as (bench, box, talk):
        await talk.sign_on("T1", "A1", "D1")
        assert box.controller is not None
        table = box.controller.table

        def over() -> bool:
            return table.state.shoe_over

        for by in ("T1", "A1"):
            refused = await talk.submit("cover_card", seat=3, by=by)
            assert refused.startswith(f"PB-813 this is for the dealer or the floorperson; {by} is "), refused
        assert not over()
        assert (await talk.submit("cover_card", slot="shoe.1", by="T1")).startswith("PB-814"), (
            "nobody speaks for a shoe"
        )
        assert (await talk.submit("cover_card", who=None, by="T1")).startswith("PB-814")
        await talk.submit("cover_card", seat=3, by="D1")
        assert over()
        events = [rec.decode_step(r.body).event for r in bench.records() if r.kind == rec.STEP]
        named = [event.who.credential for event in events if isinstance(event, ev.CoverCardOut) and event.who]
        assert named == ["D1"]


async def test_no_round_opens_without_the_tables_own_dealer(tmp_path: Path) -> None:
    async with running(tmp_path) as (bench, box, talk):
        await talk.sign_on("D1")
        assert (await talk.ask("status"))["dealer"] == "D1"
        other = await DirectClient(box).sign_on("D2")
        changed = [rec.decode_step(r.body).event for r in bench.records() if r.kind == rec.STEP]
        assert ev.DealerChanged(ev.Person("dealer", "D2")) in changed
        assert (await talk.submit("open_round")).startswith("PB-813 another dealer, D2, is signed on")
        assert (await other.submit("open_round"))["decisions"][0][
            "type"
        ] == "RequestRefused"  # by the table, with reasons
        assert (await talk.submit("no_more_bets"))["decisions"], "closing bets is accepted from anybody"
        await other.ask("sign_off", credential="D2")
        assert (await talk.submit("open_round")).startswith("PB-813 no dealer")
        assert [note.who.credential for note in bench.notes("signed_on") if note.who] == ["D1", "D2"]
        await box.stop()
        again = await bench.start()
        assert again.presence is not None
        assert (again.presence.dealer, again.presence.last_dealer) == (None, "D2")
        await DirectClient(again).sign_on("D2")
        events = [rec.decode_step(r.body).event for r in bench.records() if r.kind == rec.STEP]
        assert sum(isinstance(event, ev.DealerChanged) for event in events) == 1, "the same dealer is no change"


async def test_a_request_that_requires_two_people_is_made_by_two_people(tmp_path: Path) -> None:
    async with running(tmp_path) as (_, box, talk):
        await talk.sign_on("F1", "A1", "A9")
        amount = {"amount": 1_000_000, "document": "memo 7", "ground": "malfunction", "reason": "sensor_fault"}
        assert (await talk.submit("correct_meter", **amount, by="F1")).startswith("PB-814")
        assert (await talk.submit("correct_meter", **amount, by="F1", second="A9")).startswith(
            "PB-813 F1 and A9 belong"
        )
        one_signs = await talk.submit("order", order="table_idle", by="F1", second="A1")
        assert one_signs.startswith("PB-814 order is signed by one person"), one_signs
        before = box.pictures.box().state
        answer = await talk.submit("correct_meter", **amount, by="F1", second="A1")
        after = box.pictures.box().state
        assert before is not None
        assert after is not None
        assert before.meters is not None
        assert after.meters is not None
        assert after.meters.current == before.meters.current + 1_000_000, answer
