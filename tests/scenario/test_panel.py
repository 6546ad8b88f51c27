"""The panel without a browser: page content, permissions, and protection against everybody else."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from firmware_bridge.errors import StepRefused
from simulators.casino.panel import PINS, make_silent_table, people_file
from table_controller.access import people_file as people
from table_controller.panel.app import app_of
from table_controller.panel.panel import Panel
from table_controller.panel.sessions import IDLE_S
from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from tests.support.box.asgi import ORIGIN, AsgiBrowser
from tests.support.box.panel_threads import run_inline

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    import pytest

    from simulators.casino.table import CasinoTable


class PanelStage:
    def __init__(self, house: CasinoTable, hands: Any, panel: Panel) -> None:
        self.house, self.hands, self.panel = house, hands, panel
        self.app = app_of(panel)

    async def person(self, id_: str, place: str = "127.0.0.1") -> AsgiBrowser:
        browser = AsgiBrowser(self.app, place=place)
        assert (await browser.sign_on(id_, PINS[id_])).status == 200
        return browser

    @property
    def state(self) -> Any:
        return self.house.controller.table.state


@asynccontextmanager
async def staged(
    folder: Path, game: str = "asia_poker", *, ready: bool = True, **options: Any
) -> AsyncIterator[PanelStage]:
    house, hands = make_silent_table(game, people_file(folder))
    hands.is_silent = False
    panel = Panel(house.box, house.box.check_person, name="table 7", in_thread=run_inline, **options)
    stage = PanelStage(house, hands, panel)
    try:
        await house.open(*(("blue", "red") if ready else ()))
        hands.is_silent = True
        yield stage
    finally:
        panel.close()
        await asyncio.sleep(1.0)
        await house.close()


def credentials_of_events(stage: PanelStage) -> list[str]:
    people = [getattr(event, "who", None) for event, _ in stage.house.step_log]
    return [who.credential for who in people if who is not None]


# --- what is shown ----------------------------------------------------------------------------------------------------


async def test_a_dealer_opens_a_round_and_everybody_sees_it(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        dealer, floor = await stage.person("dealer-1"), await stage.person("floor-1")
        before = await dealer.stream("/api/stream", lambda events: any(e.get("event") == "state" for e in events))
        assert before[-1]["data"]["next"]["how"] == "open_round"
        assert before[-1]["data"]["blocked_by"] == []
        answer = await dealer.submit("open_round")
        assert answer.json == {"ok": True, "seq": stage.house.controller.durable_seq}
        shown = await floor.stream("/api/stream", lambda events: any(e.get("event") == "state" for e in events))
        assert shown[-1]["data"]["round"]["state"] == mc.BETTING
        assert int(shown[-1]["id"]) == shown[-1]["data"]["seq"] == stage.house.controller.durable_seq


async def test_every_message_is_the_whole_picture_so_a_stream_that_comes_late_is_right(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        dealer = await stage.person("dealer-1")
        await dealer.submit("open_round")
        await dealer.submit("no_more_bets")
        late = await dealer.stream("/api/stream", lambda events: any(e.get("event") == "state" for e in events))
        again = await dealer.stream("/api/stream", lambda events: any(e.get("event") == "state" for e in events))
        assert late[-1]["data"] == again[-1]["data"]
        prompt = late[-1]["data"]["prompts"][0]
        assert prompt["kind"] == "seats"
        assert prompt["mine"]
        assert [choice["key"] for choice in prompt["choices"]] == ["done", "nobody"]


async def test_an_idle_stream_sends_keepalives_and_a_closed_panel_ends_it(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        dealer = await stage.person("dealer-1")
        beats = await dealer.stream(
            "/api/stream", lambda events: sum(e.get("event") == "beat" for e in events) == 2, 60
        )
        assert beats[-1]["event"] == "beat"
        following = asyncio.create_task(dealer.stream("/api/stream", lambda _: False, 60))
        await asyncio.sleep(0.1)
        assert len(stage.panel.live.streams) == 1
        stage.panel.close()
        events = await following
        assert events[0] == {"status": 200}
        assert not stage.panel.live.streams


async def test_machines_are_streamed_only_to_pages_that_request_them(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        technician = await stage.person("tech-1")
        events = await technician.stream(
            "/api/stream?machines", lambda events: any(e.get("event") == "machines" for e in events)
        )
        machines = {one["name"]: one for one in next(e["data"] for e in events if e.get("event") == "machines")}
        assert machines["shuffler.1"]["state"] == "in_service"
        assert machines["shuffler.1"]["link"]["sent"] > 0
        assert "intake" in "".join(text for text, _ in machines["shuffler.1"]["path"])
        plain = await technician.stream("/api/stream", lambda events: any(e.get("event") == "beat" for e in events))
        assert not any(event.get("event") == "machines" for event in plain)


async def test_the_sign_is_for_everybody_and_shows_the_meter_only(tmp_path: Path) -> None:
    async with staged(tmp_path, "face_up_pai_gow") as stage:
        player = AsgiBrowser(stage.app, place="10.0.0.9")
        events = await player.stream("/api/sign", lambda events: any(e.get("event") == "state" for e in events))
        shown = events[-1]["data"]
        assert shown["meter"]["current"] == stage.state.money.book.meters.current
        assert "prompts" not in shown
        assert "slots" not in shown


# --- who may act ------------------------------------------------------------------------------------------------------


async def test_nobody_acts_or_looks_without_signing_on(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        stranger = AsgiBrowser(stage.app)
        before = stage.house.controller.newest_seq
        assert (await stranger.submit("open_round")).status == 401
        assert (await stranger.get("/api/stream")).status == 401
        assert (await stranger.get("/api/session")).json["role"] is None
        stranger.cookies["pitbox"] = "guessed"
        assert (await stranger.submit("open_round")).status == 401
        assert stage.house.controller.newest_seq == before


async def test_a_role_does_what_is_its_own_and_nothing_else(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        technician, floor = await stage.person("tech-1"), await stage.person("floor-1")
        before = stage.house.controller.newest_seq
        by = {"id": "floor-1", "pin": PINS["floor-1"]}
        assert (await technician.submit("open_round")).status == 403
        assert (await floor.submit("open_round", by=by)).status == 403
        assert (await technician.submit("order", order="table_idle")).status == 403
        dealer = await stage.person("dealer-1")
        assert (await dealer.submit("order", order="table_idle")).status == 403
        assert (await dealer.submit("slot", slot="shuffler.1", act="give_up")).status == 403
        assert stage.house.controller.newest_seq == before


async def test_a_floorpersons_decision_needs_the_pin_each_time(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        floor = await stage.person("floor-1")
        refused = await floor.submit("slot", slot="shuffler.1", act="give_up")
        assert (refused.status, refused.json["pin"]) == (403, True)
        wrong = await floor.submit("slot", slot="shuffler.1", act="give_up", by={"id": "floor-1", "pin": "000001"})
        assert wrong.status == 401
        await asyncio.sleep(2.0)  # a wrong PIN waits
        taken = await floor.submit(
            "slot", slot="shuffler.1", act="give_up", by={"id": "floor-1", "pin": PINS["floor-1"]}
        )
        assert taken.status == 200
        assert credentials_of_events(stage)[-1] == "floor-1"


async def test_a_floorperson_acknowledges_at_the_dealers_own_screen(tmp_path: Path) -> None:
    async with staged(tmp_path, ready=False) as stage:
        dealer = await stage.person("dealer-1")
        stage.house.world.make_deck("tray", "blue")
        assert (await dealer.submit("deck", deck="blue")).status == 200
        prompt = next(iter(stage.state.prompts.values()))
        while prompt.role == "dealer":
            assert (await dealer.submit("answer", prompt=prompt.id, choice=prompt.choices[0])).status == 200
            prompt = next(iter(stage.state.prompts.values()))
        assert (await dealer.submit("answer", prompt=prompt.id, choice=prompt.choices[0])).status == 403
        by = {"id": "floor-1", "pin": PINS["floor-1"]}
        assert (await dealer.submit("answer", prompt=prompt.id, choice=prompt.choices[0], by=by)).status == 200
        assert credentials_of_events(stage)[-1] == "floor-1"
        assert (await dealer.get("/api/session")).json["id"] == "dealer-1"


async def test_two_panels_cannot_both_answer_one_question(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        one, two = await stage.person("dealer-1"), await stage.person("dealer-1", "10.0.0.8")
        await one.submit("open_round")
        await one.submit("no_more_bets")
        prompt = next(iter(stage.state.prompts.values()))
        answers = await asyncio.gather(
            one.submit("answer", prompt=prompt.id, choice="done", seats=[1, 2]),
            two.submit("answer", prompt=prompt.id, choice="done", seats=[5, 6]),
        )
        assert sorted(answer.status for answer in answers) == [200, 409]
        assert stage.state.round.seats == ((1, 2) if answers[0].status == 200 else (5, 6))
        taken = [
            event for event, _ in stage.house.step_log if isinstance(event, ev.Answer) and event.prompt == prompt.id
        ]
        assert len(taken) == 1


async def test_a_replayed_request_is_taken_once(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        dealer = await stage.person("dealer-1")
        body = {"n": 7, "do": "report", "trigger": "count_wrong", "deck": "blue"}
        first = await dealer.post("/api/request", body, x_pitbox_page=dealer.page)
        assert first.status == 200
        before = stage.house.controller.newest_seq
        assert (await dealer.post("/api/request", body, x_pitbox_page=dealer.page)).status == 409
        assert stage.house.controller.newest_seq == before
        assert (await dealer.submit("no_more_bets", n=60)).json["seq"] == before + 1, "taken, and refused by the core"
        assert "seq" not in (await dealer.post("/api/request", body, x_pitbox_page=dealer.page)).json
        too_old = await dealer.post("/api/request", body | {"n": 8}, x_pitbox_page=dealer.page)
        assert "seq" not in too_old.json
        assert stage.house.controller.newest_seq == before + 1


async def test_another_sites_request_is_refused(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        dealer = await stage.person("dealer-1")
        before = stage.house.controller.newest_seq
        body = {"n": 1, "do": "open_round"}
        page = {"x_pitbox_page": dealer.page}
        assert (await dealer.post("/api/request", body, **page, origin="https://evil.example")).status == 403
        assert (await dealer.post("/api/request", body, **page, sec_fetch_site="cross-site")).status == 403
        assert (await dealer.post("/api/request", body)).status == 403, "without the page's secret"
        assert (await dealer.post("/api/request", body, x_pitbox_page="x" * 32)).status == 403
        dealer.origin = None
        assert (await dealer.post("/api/request", body, **page)).status == 403, "without an origin"
        rebound = AsgiBrowser(stage.app, host="evil.example:8080", origin="http://evil.example:8080")
        rebound.cookies = dealer.cookies
        assert (await rebound.post("/api/request", body, **page)).status == 403, "another name for this computer"
        assert (await rebound.get("/api/session")).status == 403
        assert stage.house.controller.newest_seq == before
        dealer.origin = ORIGIN
        assert (await dealer.post("/api/request", body, **page)).status == 200


async def test_ten_thousand_wrong_pins_let_nobody_in_and_keep_nobody_out(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        guesser = AsgiBrowser(stage.app, place="10.0.0.66")
        statuses = set()
        for guess in range(10_000):
            answer = await guesser.post("/api/sign_on", {"who": {"id": "floor-1", "pin": f"{guess:06d}"}})
            statuses.add(answer.status)
        assert statuses == {401, 429}
        assert len(stage.panel.sessions) == 0
        await stage.person("floor-1", "10.0.0.7")  # guessing at one place keeps nobody out at another
        assert len(stage.panel.sessions) == 1


async def test_a_session_ends_by_idleness_and_by_signing_off(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        floor, dealer = await stage.person("floor-1"), await stage.person("dealer-1")
        following = asyncio.create_task(floor.stream("/api/stream", lambda _: False, 4 * IDLE_S["floorperson"]))
        await asyncio.sleep(IDLE_S["floorperson"] + 10)
        events = await following
        assert events[-1]["event"] == "gone"
        assert (await floor.get("/api/session")).json["role"] is None
        assert (await dealer.post("/api/sign_off", {}, x_pitbox_page=dealer.page)).status == 200
        assert (await dealer.submit("open_round")).status == 401


async def test_a_stream_whose_client_was_gone_before_it_began_is_left(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:

        async def receive() -> Any:
            return {"type": "http.disconnect"}

        async def send(_message: Any) -> None:
            await asyncio.sleep(0)  # a client that has not read what came before

        for _ in range(60):
            await stage.app(AsgiBrowser(stage.app)._scope("GET", "/api/sign", {}), receive, send)
        assert not stage.panel.live.streams
        events = await AsgiBrowser(stage.app).stream("/api/sign", lambda events: len(events) > 2)
        assert events[0]["status"] == 200


async def test_cookie_headers_and_limits(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        dealer = await stage.person("dealer-1")
        cookie = dealer.set_cookie.lower()
        assert "httponly" in cookie
        assert "samesite=strict" in cookie
        assert "secure" not in cookie, "loopback without TLS"
        page = await dealer.get("/dealer")
        policy = page.headers["content-security-policy"]
        assert "unsafe" not in policy
        assert "default-src 'none'" in policy
        assert b"<script>" not in page.body
        assert b"style=" not in page.body
        assert (await dealer.get("/static/../panel.py")).status == 404
        assert (await dealer.ask("POST", "/api/request", b"x" * 5000, x_pitbox_page=dealer.page)).status == 413
        assert (await dealer.ask("POST", "/api/request", b"\xff{", x_pitbox_page=dealer.page)).status == 400
        assert (await dealer.submit("meter_gift")).status == 400
        dealer.page = ""
        assert (await dealer.post("/api/sign_off", {})).status == 401


async def test_with_tls_the_cookie_is_secure(tmp_path: Path) -> None:
    async with staged(tmp_path, secure=True, local=False) as stage:
        dealer = AsgiBrowser(stage.app, host="table7.example", origin="https://table7.example", place="10.0.0.3")
        assert (await dealer.sign_on("dealer-1", PINS["dealer-1"])).status == 200
        assert dealer.set_cookie.startswith("__Host-pitbox=")
        assert "secure" in dealer.set_cookie.lower()
        assert (await AsgiBrowser(stage.app, place="10.0.0.3").get("/metrics")).status == 401
        assert (await dealer.get("/metrics")).status == 200


async def test_a_program_on_another_computer_reads_the_metrics_with_the_token_and_only_with_it(tmp_path: Path) -> None:
    async with staged(tmp_path, secure=True, local=False, metrics_token="a token of 16 ch") as stage:
        far = AsgiBrowser(stage.app, host="table7.example", place="10.0.0.3")
        refused = await far.get("/metrics")
        assert refused.status == 401
        assert refused.headers["www-authenticate"] == "Bearer"
        for wrong in (
            "Bearer",
            "Bearer ",
            "Bearer a token of 16 cx",
            "Basic a token of 16 ch",
            "a token of 16 ch",
            "Bearer \xff",
        ):
            assert (await far.ask("GET", "/metrics", authorization=wrong)).status == 401, wrong
        right = await far.ask("GET", "/metrics", authorization="Bearer a token of 16 ch")
        assert right.status == 200
        assert b"pitbox_steps_total" in right.body
        assert (await far.ask("GET", "/api/stream", authorization="Bearer a token of 16 ch")).status == 401
    (tmp_path / "without").mkdir()
    async with staged(tmp_path / "without", secure=True, local=False) as stage:
        far = AsgiBrowser(stage.app, host="table7.example", place="10.0.0.3")
        for empty in ("Bearer", "Bearer ", "Bearer None"):
            assert (await far.ask("GET", "/metrics", authorization=empty)).status == 401, (
                "without a token none is right"
            )


async def test_another_sites_page_reads_no_metrics_through_a_browser_on_the_box(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        assert (await AsgiBrowser(stage.app).get("/metrics")).status == 200
        assert (await AsgiBrowser(stage.app, host="rebound.example").get("/metrics")).status == 403
        assert (await AsgiBrowser(stage.app, place="::ffff:127.0.0.1").get("/metrics")).status == 200
    (tmp_path / "beyond").mkdir()
    async with staged(tmp_path / "beyond", secure=True, local=False) as stage:  # it listens on other addresses, too
        assert (await AsgiBrowser(stage.app, host="127.0.0.1:8080").get("/metrics")).status == 200
        assert (await AsgiBrowser(stage.app, host="rebound.example:8080").get("/metrics")).status == 401


async def test_a_refusal_of_the_core_is_shown_with_every_reason(tmp_path: Path) -> None:
    async with staged(tmp_path, ready=False) as stage:
        dealer = await stage.person("dealer-1")
        answer = await dealer.submit("open_round")
        assert answer.status == 409
        assert {reason["clears"] for reason in answer.json["reasons"]} >= {"dealer"}
        assert all(reason["clause"] for reason in answer.json["reasons"])


async def test_a_halted_box_is_shown_and_accepts_nothing(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        dealer = await stage.person("dealer-1")
        stage.house.controller.journal_failed(OSError(28, "No space left on device"))
        refused = await dealer.submit("open_round")
        assert (refused.status, refused.json["code"]) == (503, "PB-815")
        shown = await dealer.stream("/api/stream", lambda events: any(e.get("event") == "state" for e in events))
        assert shown[-1]["data"]["halted"]["code"] == "PB-719"


async def test_two_credentials_of_one_person_are_not_two_people(tmp_path: Path) -> None:
    async with staged(tmp_path, "face_up_pai_gow") as stage:
        floor = await stage.person("floor-1")
        by, second = ({"id": id_, "pin": PINS[id_]} for id_ in ("floor-1", "audit-1"))
        why = {"document": "slip 4", "ground": "malfunction", "reason": "sensor_fault"}
        alone = await floor.submit("correct_meter", amount=10_000, **why, by=by)
        assert alone.status == 403
        before = stage.state.money.book.meters.current
        groundless = await floor.submit(
            "correct_meter", amount=10_000, **why | {"ground": "gift"}, by=by, second=second
        )
        assert groundless.status == 409
        both = await floor.submit("correct_meter", amount=10_000, **why, by=by, second=second)
        assert both.status == 200
        assert stage.state.money.book.meters.current == before + 10_000


async def test_the_meter_is_reset_and_set_by_the_two_people_whom_the_rules_name(tmp_path: Path) -> None:
    async with staged(tmp_path, "face_up_pai_gow") as stage:
        floor, technician = await stage.person("floor-1"), await stage.person("tech-1")
        by, second = ({"id": id_, "pin": PINS[id_]} for id_ in ("floor-1", "audit-1"))
        other = {"id": "tech-1", "pin": PINS["tech-1"]}
        why = {"document": "slip 1", "ground": "malfunction", "reason": "sensor_fault"}
        assert (await floor.submit("reset_meter", **why, by=by)).status == 403, "one person is not two"
        assert (await floor.submit("reset_meter", **why, by=by, second=other)).status == 409
        assert (await floor.submit("reset_meter", **why, by=by, second=second)).status == 200
        assert (await floor.submit("set_meter", document="m 2", limit_cents=10**9, by=by, second=second)).status == 403
        body = {"document": "m 2", "limit_cents": 2 * 10**9, "by": other, "second": second}
        assert (await technician.submit("set_meter", **body)).status == 409, "the meter is open to play"
        assert (await floor.submit("close_meter", document="c 1", by=by, second=second)).status == 200
        assert (await technician.submit("set_meter", **body)).status == 200
        assert (await floor.submit("open_round", by=by)).status == 403
        assert (await floor.submit("order", order="table_idle", by=by, second=second)).status == 409, "one signs"
        assert (await floor.submit("open_meter", document="o 1", by=by, second=second)).status == 200
        assert (await floor.submit("transfer_overflow", amount=1, document="t 1", by=by, second=second)).status == 409
        assert stage.state.money.limit == 2 * 10**9 * 10_000
        by_hand: list[Any] = [e for e, _ in stage.house.step_log if isinstance(e, ev.MeterReset | ev.MeterParameters)]
        assert [event.who.credential for event in by_hand] == ["floor-1", "floor-1", "tech-1", "tech-1"], "refused, too"


async def test_the_cover_card_is_reported_by_the_dealer_and_recorded_with_the_persons_name(tmp_path: Path) -> None:
    async with staged(tmp_path, "over_under") as stage:
        dealer, technician = await stage.person("dealer-1"), await stage.person("tech-1")
        assert (await technician.submit("cover_card")).status == 403
        assert (await dealer.submit("cover_card", seat=3)).status == 200
        text = stage.house.step_log[-1][0]
        assert text == ev.CoverCardOut(seat=3, who=ev.Person("dealer", "dealer-1"))


async def test_an_answer_refused_over_the_socket_is_refused_here_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Strict:
        def check_dealer(self, event: ev.Event) -> None:
            if isinstance(event, ev.OpenRound):
                raise StepRefused("fault report 1: count is not done")

    async with staged(tmp_path) as stage:
        dealer = await stage.person("dealer-1")
        monkeypatch.setattr(stage.panel.box, "presence", Strict())
        answer = await dealer.submit("open_round")
        assert (answer.status, answer.json["text"]) == (409, "fault report 1: count is not done")
        assert stage.state.round.state == mc.IDLE


async def test_a_revoked_dealer_who_is_signed_on_does_nothing_more(tmp_path: Path) -> None:
    async with staged(tmp_path) as stage:
        dealer = await stage.person("dealer-1")
        people.revoke_credential(tmp_path / "people.json", "dealer-1")
        answer = await dealer.submit("open_round")
        assert (answer.status, answer.json["code"]) == (403, "PB-813")
        assert stage.state.round.state == mc.IDLE
