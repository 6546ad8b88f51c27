"""The shipped box settles optional wagers by cards whose seats the dealer touched, without any amount."""

from __future__ import annotations

from table_controller.access import requests as r
from tests.scenario.test_clauses_on_box import box_of
from tests.unit.clauses.test_wagers_entered import WILD, offered


async def test_touched_seats_have_the_wager_in_what_the_box_proposes() -> None:
    async with box_of(WILD, seats=(3, 6), decided="raise", **offered(WILD, "trips", "bad_beat")) as pad:
        refusal = await pad.refused(r.EnterOptionalWagerRequest(wager="ante", seats=(3,)))
        assert refusal.what.startswith("the Ante Wager is no optional wager")
        await pad.accepted(r.EnterOptionalWagerRequest(wager="trips", seats=(3, 6)))
        await pad.accepted(r.EnterOptionalWagerRequest(wager="trips", seats=(3,)))
        await pad.accepted(r.EnterOptionalWagerRequest(wager="bad_beat", seats=(3, 6)))
        await pad.accepted(r.EnterOptionalWagerRequest(wager="bad_beat"))
        await pad.deal()
        late = await pad.refused(r.EnterOptionalWagerRequest(wager="trips", seats=(3, 6)))
        assert "no wager is placed any more" in late.what
        await pad.dealer_hand("Ks Qh 8d 6c 3h")
        for seat, cards in ((3, "9s 9h 9d 7s 4s"), (6, "Ts Th 5d 7h 2c")):
            await pad.accepted(r.EnterHandRequest(place=seat, cards=cards))
        results = await pad.confirm_all()
        assert {(seat, wager) for seat, wager in results if wager in ("trips", "bad_beat")} == {(3, "trips")}
        assert results[3, "trips"].outcome == "wins"
