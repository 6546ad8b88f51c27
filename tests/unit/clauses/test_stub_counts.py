"""Two counts of one stub that differ, the dealer's and the shoe's: play waits until the floorperson has counted."""

from __future__ import annotations

import pytest

from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from table_controller.table.decisions import HoldOpened, RequestRefused
from tests.support.core.ideal_table import DEALER, FLOOR, IdealTable, decisions_of, findings
from tests.support.core.setups import table_at
from tests.support.suite.clauses import clauses

SHOE = "shoe.1"
_AUTO = {
    "asia_poker": ("575.10(c)", "575.10(d)/2"),
    "saigon_5_card": ("680a.10(d)", "680a.10(f)/2"),
    "dj_wild": ("687a.10(d)", "687a.10(f)/2"),
    "face_up_pai_gow": ("688a.10(d)", "688a.10(e)/2"),
}
_MANUAL = {
    "asia_poker": ("575.8(d)", "575.8(e)/2"),
    "saigon_5_card": ("680a.8(e)", "680a.8(g)/2"),
    "dj_wild": ("687a.8(e)#2", "687a.8(g)/2"),
    "face_up_pai_gow": ("688a.8(e)", "688a.8(f)/2"),
}
AUTO = [pytest.param(game, marks=clauses(*ids)) for game, ids in _AUTO.items()]
CASES = [
    *(pytest.param(game, "auto_blind", marks=clauses(*ids)) for game, ids in _AUTO.items()),
    *(pytest.param(game, "manual_blind", marks=clauses(*ids)) for game, ids in _MANUAL.items()),
]
# Left when seats 1, 3, 6 and the dealer have their cards.
LEFT = {"asia_poker": 4, "face_up_pai_gow": 4, "saigon_5_card": 33, "dj_wild": 33}


def counting(game: str, kind: str) -> IdealTable:
    """Return a table whose stub the shoe and the dealer count now."""
    phase = mc.STUB_CHECK if LEFT[game] == 4 else "fifth"
    return table_at(game, kind, phase)


def asked_of(floor: IdealTable) -> list[str]:
    """Return the open questions except the one about the shaker."""
    return [prompt.kind for prompt in floor.prompts() if prompt.kind != "park_shaker"]


def by_shoe(floor: IdealTable, off: int) -> None:
    """Let the shoe count that many cards more than should be left."""
    floor.step(ev.StubOut(SHOE, LEFT[floor.edition.game] + off))


@pytest.mark.parametrize(("game", "kind"), CASES)
@pytest.mark.parametrize(("shoe", "dealer"), [(1, 0), (0, 1), (0, -1), (1, -1), (-1, 0)])
def test_the_dealer_alone_never_outvotes_the_shoe(game: str, kind: str, shoe: int, dealer: int) -> None:
    floor = counting(game, kind)
    by_shoe(floor, shoe)
    decided = floor.answer_prompt("stub", number=LEFT[game] + dealer)
    assert findings(decided, "stub_counts_differ")
    assert asked_of(floor) == ["stub_recount"], "nobody plays until it is decided"
    asked = floor.prompt("stub_recount")
    assert asked.role == "floorperson"
    assert asked.number
    assert asked.clauses
    assert decisions_of(RequestRefused, floor.step(ev.Answer(asked.id, "done", DEALER, LEFT[game]))), (
        "the dealer has counted"
    )
    assert decisions_of(RequestRefused, floor.step(ev.Answer(asked.id, "done", FLOOR))), "a count is a number"
    assert floor.phase == mc.STUB_CHECK
    floor.step(ev.Answer(asked.id, "done", FLOOR, LEFT[game]))
    assert floor.round_.stub_done, "the floorperson's count decides"
    floor.settle()
    assert floor.phase == mc.IDLE


@pytest.mark.parametrize(("game", "kind"), CASES)
def test_a_stub_that_the_floorperson_counts_wrong_too_is_looked_into(game: str, kind: str) -> None:
    floor = counting(game, kind)
    by_shoe(floor, 1)
    floor.answer_prompt("stub", number=LEFT[game])
    floor.answer_prompt("stub_recount", number=LEFT[game] + 1)
    assert floor.prompt("finding").role == "dealer"
    (irregularity,) = decisions_of(HoldOpened, floor.answer_prompt("finding", "not_misdealt"))
    assert (irregularity.trigger, floor.phase) == ("stub_wrong", mc.VOID)
    assert "remove_deck" in irregularity.outcomes


@pytest.mark.parametrize(("game", "kind"), CASES)
def test_counts_that_agree_need_no_floorperson(game: str, kind: str) -> None:
    for off in (0, 1):
        floor = counting(game, kind)
        by_shoe(floor, off)
        floor.answer_prompt("stub", number=LEFT[game] + off)
        assert not floor.prompts("stub_recount")
        assert bool(floor.prompts("finding")) is bool(off), "two counts that are wrong alike are looked into"


@pytest.mark.parametrize("game", AUTO)
def test_a_stub_that_need_not_be_counted_goes_to_the_floorperson_all_the_same(game: str) -> None:
    """With a shuffler that counts, the shoe's wrong count alone makes the dealer count."""
    floor = table_at(game, "auto", mc.STUB_CHECK)
    by_shoe(floor, 1)
    floor.answer_prompt("stub", number=LEFT[game])
    assert floor.prompts("stub_recount")


@pytest.mark.parametrize("game", [pytest.param(game, marks=clauses(*ids)) for game, ids in _MANUAL.items()])
def test_a_shoe_that_counts_when_the_stub_is_racked_already_stops_the_round(game: str) -> None:
    floor = counting(game, "manual_blind")
    floor.answer_prompt("stub", number=LEFT[game])
    assert floor.round_.stub_done
    (irregularity,) = decisions_of(HoldOpened, floor.step(ev.StubOut(SHOE, LEFT[game] + 1)))
    assert (irregularity.trigger, irregularity.outcomes) == ("stub_counts_differ", ("ask_floorperson",))
    assert asked_of(floor) == ["choose"], "no play before the decision"
    assert floor.prompt("choose").role == "floorperson"
    floor.clear_holds()
    floor.settle()
    assert floor.phase == mc.IDLE


def test_a_stub_that_people_alone_count_is_counted_again_by_them() -> None:
    floor = table_at("asia_poker", "hand", mc.STUB_CHECK)
    floor.answer_prompt("stub", number=5)
    assert asked_of(floor) == ["stub"], "a stub counted wrongly is no irregularity (X5)"
    floor.answer_prompt("stub", number=4)
    assert floor.round_.stub_done
