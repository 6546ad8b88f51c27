"""Documents of a live table: at the panel by role, from its export, with machines, makers, slips and wrong decks."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from simulators.casino import power
from simulators.casino.dealer import DEALER, FLOOR
from simulators.casino.panel import PINS, people_file
from simulators.casino.table import MAKER, CasinoTable
from simulators.casino.winning_players import WinningPlayers
from table_controller.access.pin_check import PinChecker
from table_controller.cli import OK, main
from table_controller.documents.archive import read_document
from table_controller.documents.registry import DOCUMENTS
from table_controller.documents.search import Selection
from table_controller.panel.app import app_of
from table_controller.panel.panel import Panel
from table_controller.rulebook.cards import format_cards
from table_controller.table import events as ev
from tests.scenario.test_panel import staged
from tests.support.box.asgi import AsgiBrowser
from tests.support.box.documents import export_of, html_words, pdf_words
from tests.support.box.panel_threads import check_inline, run_inline

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    import pytest

GAME = "face_up_pai_gow"


@asynccontextmanager
async def table_of(rounds: int, seed: int = 3, wins: float = 1.0, **options: Any) -> AsyncIterator[CasinoTable]:
    """A table where many hands win, after some rounds."""
    house = CasinoTable(GAME, seed=seed, people=lambda house: WinningPlayers(house, seed, wins=wins), **options)
    try:
        await house.open("blue", "red")
        for _ in range(rounds):
            await house.round((1, 2, 4, 6))
        yield house
    finally:
        await house.close()


@asynccontextmanager
async def panel_of(house: CasinoTable, folder: Path, **options: Any) -> AsyncIterator[Any]:
    """A panel of the table; yields what signs a person on."""
    check = check_inline(PinChecker(people_file(folder), clock=asyncio.get_running_loop().time))
    panel = Panel(house.box, check, name="table 7", in_thread=run_inline, **options)

    async def person(id_: str) -> AsgiBrowser:
        browser = AsgiBrowser(app_of(panel))
        assert (await browser.sign_on(id_, PINS[id_])).status == 200
        return browser

    try:
        yield person
    finally:
        panel.close()
        await asyncio.sleep(1.0)


def facts_of(folder: Path, name: str, key: str = "", record: int | None = None) -> dict[str, str]:
    document = read_document(folder, DOCUMENTS[name], Selection(key, record))
    return {fact.label: fact.text for section in document.sections for fact in section.facts}


async def test_each_document_is_for_its_roles_only(tmp_path: Path) -> None:
    async with table_of(2) as house, panel_of(house, tmp_path) as person:
        people = {id_: await person(id_) for id_ in ("dealer-1", "floor-1", "tech-1", "audit-1")}
        roles = {"dealer-1": "dealer", "floor-1": "floorperson", "tech-1": "technician", "audit-1": "auditor"}
        for kind in DOCUMENTS.values():
            for id_, browser in people.items():
                answer = await browser.get(f"/document/{kind.name}")
                allowed = roles[id_] in kind.roles
                assert answer.status in ((200, 404) if allowed else (403,)), (kind.name, id_, answer.body)
            nobody = next(iter(people.values()))._app
            assert (await AsgiBrowser(nobody).get(f"/document/{kind.name}")).status == 401
        assert (await people["dealer-1"].get("/documents")).status == 403
        assert (await AsgiBrowser(nobody).get("/documents")).status == 401
        listed = (await people["floor-1"].get("/documents")).body.decode()
        assert "Hand-pay slip: Slip " in listed
        assert "Deck-check receipt: Shuffler 1, deck red" in listed
        assert "Hand-pay" not in (await people["tech-1"].get("/documents")).body.decode()


async def test_every_document_of_a_development_table_shows_that_nobody_approved_what_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(power, "SIMULATED_SITE", replace(power.SIMULATED_SITE, development=True))
    async with table_of(2) as house, panel_of(house, tmp_path, unverified=True) as person:
        floor = await person("floor-1")
        await house.until_quiescent()
        assert b">UNVERIFIED</div>" in (await floor.get("/documents")).body
        export = export_of(house, tmp_path / "export")
        for kind in ("hand-pay", "deck-receipt", "deck-check", "dice", "hits"):
            page = await floor.get(f"/document/{kind}")
            assert b">UNVERIFIED</div>" in page.body, kind
            assert "UNVERIFIED:" in html_words(page.body.decode())
            pdf = await floor.get(f"/document/{kind}?format=pdf")
            assert "UNVERIFIED:" in pdf_words(pdf.body, tmp_path)
            assert main(["document", kind, "--data", str(export)]) == OK
            assert "UNVERIFIED: " in capsys.readouterr().out


async def test_the_page_at_the_panel_equals_the_file_from_an_export(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with table_of(3) as house, panel_of(house, tmp_path) as person:
        floor = await person("floor-1")
        await house.until_quiescent()
        for kind in ("hand-pay", "deck-receipt", "deck-check", "dice", "hits"):
            page = await floor.get(f"/document/{kind}")
            assert page.status == 200, page.body
            pdf = await floor.get(f"/document/{kind}?format=pdf")
            assert pdf.headers["content-type"] == "application/pdf"
            export = export_of(house, tmp_path / kind)
            for suffix in ("html", "pdf"):
                out = tmp_path / f"{kind}.{suffix}"
                assert main(["document", kind, "--data", str(export), "--out", str(out)]) == OK
            assert html_words(page.body.decode()) == html_words((tmp_path / f"{kind}.html").read_text("utf-8"))
            assert pdf.body == (tmp_path / f"{kind}.pdf").read_bytes()
            assert page.headers["cache-control"] == "no-store"
            assert "script-src 'self'" in page.headers["content-security-policy"]
    capsys.readouterr()


async def test_a_slip_states_amount_hand_people_and_whether_the_threshold_is_reached(tmp_path: Path) -> None:
    async with table_of(4) as house:
        people = house.people
        assert isinstance(people, WinningPlayers)
        by_hand = {number: paid for paid, number in people.documents.items()}
        assert len(by_hand) >= 2, "this seed has several hand pays"
        folder = export_of(house, tmp_path / "export")
        for number, (round_, seat) in by_hand.items():
            document = read_document(folder, DOCUMENTS["hand-pay"], Selection(str(number)))
            facts = {fact.label: fact.text for fact in document.sections[0].facts}
            amount = people.paid[round_, seat].amount
            assert facts["Amount"] == f"${amount // 1_000_000:,}.{amount // 10_000 % 100:02d}"
            assert facts["Round and seat"] == f"Round {round_}, seat {seat}"
            cards = people._cards_in(round_)[seat].cards
            assert facts["Cards"] == format_cards(cards), "the cards by which the hit was claimed"
            (sentence,) = document.sections[1].sentences
            reached = amount >= 1_200_000_000
            assert ("reaches the reporting threshold of $1,200.00" in sentence) == reached
            assert ("below the reporting threshold of $1,200.00" in sentence) != reached
            table = document.sections[2].table
            assert table is not None
            assert [row[3].partition(":")[0] for row in table.rows][-2:] == [
                "Jackpot confirmed", "Paid, slip number entered",
            ]  # fmt: skip
            assert document.place == "Riverside Hall · simulated table · Face Up Pai Gow Poker (688a)"
            assert " EST (" in facts["Documented"] or " EDT (" in facts["Documented"]


async def test_the_next_slip_is_proposed_and_a_used_one_is_refused(tmp_path: Path) -> None:
    async with table_of(4) as house:
        used = sorted(house.people.documents.values())  # type: ignore[attr-defined]
        pictures = house.box.pictures.table()
        assert pictures is not None
        assert pictures.meters is not None
        assert pictures.meters.next_slip == max(used) + 1
        assert not any(house.controller.table.state.money.book.has_slip(max(used) + 1 + each) for each in range(9))


async def test_a_deck_receipt_names_maker_people_and_first_count_and_the_check_names_the_machine(
    tmp_path: Path,
) -> None:
    async with table_of(1) as house:
        folder = export_of(house, tmp_path / "export")
        receipt = read_document(folder, DOCUMENTS["deck-receipt"], Selection("Blue "))
        facts = {fact.label: fact.text for fact in receipt.sections[0].facts}
        assert (facts["Maker"], facts["Back color"], facts["Cards"]) == (MAKER, "blue", "53 cards")
        assert facts["Received by"] == f"Dealer {DEALER.credential}"
        table = receipt.sections[1].table
        assert table is not None
        assert f"Floorperson {FLOOR.credential}" in {row[-1] for row in table.rows}
        assert receipt.sections[2].sentences[0].startswith("Shuffler 1 counted 53 of 53 cards: ")
        hello = house.box.slots["shuffler.1"].driver.reported
        assert hello is not None
        check = facts_of(folder, "deck-check")
        assert (check["Machine"], check["Maker"]) == ("Shuffler 1", "Example Gaming")
        assert (check["Model"], check["Serial number"]) == (hello.hello.model, hello.hello.serial)
        assert (check["Count"], check["Result"]) == ("53 of 53 cards", "accepted")


async def test_the_check_of_a_rejected_deck_names_what_is_missing_and_extra_and_no_other_check_does(
    tmp_path: Path,
) -> None:
    async with table_of(1, wins=0.0, models={"shuffler.1": "shuffler-identifying"}) as house:
        good = facts_of(export_of(house, tmp_path / "good"), "deck-check")
        assert "Missing" not in good
        house.on_collect = house.swap_one
        for _ in range(3):
            await house.round()
        folder = export_of(house, tmp_path / "export")
        rejected = [
            record.seq for record in house.disk.records if b'"rejected":true' in record.body
        ]  # fmt: skip
        assert rejected, "the machine read a wrong deck"
        facts = facts_of(folder, "deck-check", record=rejected[0])
        assert facts["Result"] == "rejected: the machine read a wrong deck"
        assert facts["Missing"].count(" of ") == facts["Extra"].count(" of ") == 1
        assert facts["Missing"] != facts["Extra"]


async def test_an_incident_report_has_the_clause_the_people_the_outcome_and_names_an_open_hold(
    tmp_path: Path,
) -> None:
    async with staged(tmp_path, GAME) as stage:
        stage.house.controller.submit(ev.OpenRound(DEALER))
        stage.house.controller.submit(ev.IrregularityReported("other", DEALER))
        await asyncio.sleep(1)
        floor = await stage.person("floor-1")
        hold = next(iter(stage.state.holds))
        page = (await floor.get(f"/document/incident?hold={hold}")).body.decode()
        assert "The hold is still open at record" in page
        assert f"Dealer {DEALER.credential}" in page
        while prompts := [one for one in stage.state.prompts.values() if one.hold == hold]:
            who = DEALER if prompts[0].role == "dealer" else FLOOR
            stage.house.controller.submit(ev.Answer(prompts[0].id, prompts[0].choices[0], who))
        await asyncio.sleep(1)
        assert hold not in stage.state.holds
        page = (await floor.get(f"/document/incident?hold={hold}")).body.decode()
        assert "acknowledged and cleared the hold" in page
        assert f"Floorperson {FLOOR.credential}" in page
        for query, status in (("hold=77", 404), ("hold=x", 409), ("record=x", 409), ("record=1", 404)):
            answer = await floor.get(f"/document/incident?{query}")
            assert (answer.status, b"PB-62" in answer.body) == (status, True)
        assert (await floor.get("/document/menu")).status == 404


async def test_a_door_and_a_test_are_in_the_service_log(tmp_path: Path) -> None:
    async with table_of(0) as house:
        house.machines["shuffler.1"].inject("door:to=open")
        await asyncio.sleep(2)
        house.machines["shuffler.1"].inject("door:to=closed")
        await asyncio.sleep(2)
        document = read_document(export_of(house, tmp_path / "export"), DOCUMENTS["service-log"], Selection())
        table = document.sections[0].table
        assert table is not None
        texts = [row[-1] for row in table.rows if row[-3] == "Shuffler 1"]
        assert texts[-2:] == ["The door was opened", "The door was closed"]
