"""688a.11(d) and (h): with a Qualifying Wager at the table hands stay, are announced, paid for and collected last."""

from __future__ import annotations

from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from table_controller.table.decisions import Prompt
from tests.support.core.ideal_table import DEALER, IdealTable, decisions_of
from tests.support.core.two_games import ALL_WAGERS, PAI_GOW, leave_unanswered, make_table
from tests.support.suite.clauses import clauses


def settling(*stops: str, fortune: tuple[int, ...] = (3,)) -> IdealTable:
    """Return a table that settles seats 1, 3 and 6, seat 3 with a qualifying Fortune Wager."""
    table = make_table(PAI_GOW, **ALL_WAGERS).start("blue")
    table.side = {"fortune": fortune}
    table.override = leave_unanswered(*stops)
    table.round()
    assert table.phase == mc.SETTLING
    return table


def rack(table: IdealTable) -> int:
    return table.state.book.balance("blue", "rack")


@clauses("688a.11(h)(2)(i)(B)/2", "688a.11(h)(2)(i)(C)", "688a.11(h)(4)(i)(C)", "688a.11(h)/2")
def test_every_hand_is_judged_and_one_that_brings_envy_is_announced_and_stays_face_up() -> None:
    table = settling("settled", "side_settled", "envy_hand", "envy_paid")
    before = rack(table)
    judged = []
    for seat, brings in ((6, "announced"), (3, "announced"), (1, "no")):
        assert table.prompt("settled").seat == seat
        table.answer_prompt("settled")
        if seat == 3:
            table.answer_prompt("side_settled")
        asked = table.prompt("envy_hand")
        judged.append(asked.seat)
        assert (asked.role, asked.choices) == ("dealer", ("no", "announced"))
        expected = {"688a.11(h)(2)(i)(B)/2", "688a.11(h)(2)(i)(C)", "688a.11(h)(4)(i)(C)", "688a.11(h)/2"}
        assert expected <= set(asked.clauses)
        assert not table.prompts("settled"), "the next hand waits"
        table.answer_prompt("envy_hand", brings)
        assert rack(table) == before, "no hand is racked"
    assert judged == [6, 3, 1], "with and without a Fortune Wager"
    assert table.round_.envy_hands == [6, 3]


@clauses("688a.11(h)(2)(iii)", "688a.11(g)")
def test_hands_are_collected_after_envy_was_paid_and_not_before() -> None:
    table = settling("envy_hand", "envy_paid", "hands_collected")
    before = rack(table)
    for _ in range(3):
        table.answer_prompt("envy_hand", "announced")
        table.settle()
    paid = table.prompt("envy_paid")
    assert (paid.role, paid.clauses) == ("dealer", ("688a.11(h)(2)(ii)",))
    assert not table.prompts("hands_collected")
    assert table.phase == mc.SETTLING
    table.answer_prompt("envy_paid")
    asked = table.prompt("hands_collected")
    assert asked.clauses == ("688a.11(h)(2)(iii)", "688a.11(g)")
    assert rack(table) == before
    table.answer_prompt("hands_collected")
    assert (rack(table), table.state.book.balance("blue", "seats")) == (53, 0)
    assert table.phase == mc.COMPLETE


@clauses("688a.11(h)(2)(iii)")
def test_without_a_hand_that_brings_envy_nothing_is_paid_and_the_hands_are_still_collected_last() -> None:
    table = settling("hands_collected")
    asked = [p.kind for _, decided in table.log for p in decisions_of(Prompt, decided)]
    assert "envy_paid" not in asked
    assert asked[-1] == "hands_collected"
    assert len(table.round_.settled) == 3


@clauses("688a.11(g)")
def test_without_a_qualifying_wager_no_hand_is_judged() -> None:
    table = make_table(PAI_GOW, **ALL_WAGERS).start("blue")
    table.side = {"ace_high": (1, 3)}
    asked = [p.kind for p in decisions_of(Prompt, table.round())]
    assert not {"envy_hand", "envy_paid", "hands_collected"} & set(asked)


@clauses("688a.11(d)/3", "688a.11(d)/2")
def test_a_surrendered_hand_stays_until_envy_is_settled_and_is_counted_then() -> None:
    table = settling("settled", "envy_hand", "surrender_count", "hands_collected")
    assert table.prompt("settled").seat == 6
    table.answer_prompt("settled", "surrendered")
    assert not table.prompts("surrender_count"), "its cards lie there still"
    order = []
    for _ in range(40):
        open_ = [p for p in table.prompts() if p.kind != "collected"]
        if not open_ or open_[0].kind == "hands_collected":
            break
        order.append((open_[0].kind, open_[0].seat))
        for event in table.answer(open_[0]):
            table.step(event)
    assert order == [
        ("surrender_collected", 6), ("settled", 3), ("side_settled", 3), ("envy_hand", 3), ("settled", 1),
        ("envy_hand", 1), ("envy_hand", 6), ("surrender_count", 6),
    ]  # fmt: skip
    assert table.prompt("hands_collected")
    table.step(ev.Answer(table.prompt("hands_collected").id, "done", DEALER))
    assert rack(table) == 53


# --- the order of (h): Ace High, Fortune, then the progressive --------------------------------------------------------


def _asked_of(table: IdealTable, seat: int) -> list[str]:
    """Answer everything correctly; return the questions about a seat's wagers, in order."""
    table.settle()
    kinds = ("settled", "side_settled", "progressive")
    return [
        p.kind for _, decided in table.log for p in decisions_of(Prompt, decided) if p.seat == seat and p.kind in kinds
    ]


@clauses("688a.11(h)/1", "688a.11(i)", "688a.11(h)(4)(i)(A)")
def test_ace_high_and_fortune_are_settled_before_the_progressive_of_the_same_seat() -> None:
    table = make_table(PAI_GOW, **ALL_WAGERS).start("blue")
    table.side, table.bets = {"ace_high": (1,), "fortune": (3,)}, {1, 3, 6}
    table.override = leave_unanswered("side_settled", "progressive")
    table.round()
    assert table.phase == mc.SETTLING
    assert [p.seat for p in table.prompts("progressive")] == [6], "nothing else was wagered there"
    table.answer_prompt("progressive", "no_win")
    table.settle()
    assert (table.prompt("side_settled").seat, table.prompts("progressive")) == (3, []), "Fortune comes first"
    table.answer_prompt("side_settled")
    assert (table.prompt("progressive").seat, table.prompts("side_settled")) == (3, [])
    table.answer_prompt("progressive", "no_win")
    table.settle()
    assert (table.prompt("side_settled").seat, table.prompts("progressive")) == (1, []), "and so does Ace High"
    table.override = lambda _: None
    assert _asked_of(table, 1) == ["settled", "side_settled", "progressive"]
    assert _asked_of(table, 3) == ["settled", "side_settled", "progressive"]
    assert _asked_of(table, 6) == ["settled", "progressive"]
    assert table.phase == mc.IDLE


@clauses("688a.11(g)", "688a.11(i)")
def test_a_hand_stays_until_the_progressive_of_its_seat_is_settled_too() -> None:
    table = make_table(
        PAI_GOW, **ALL_WAGERS | {"paytables": ALL_WAGERS["paytables"] | {"progressive": "688a-progressive-1"}}
    )
    table.start("blue")
    table.side, table.bets = {"ace_high": (6,)}, {6}
    table.override = leave_unanswered("side_settled", "progressive")
    table.round()
    before = rack(table)
    table.answer_prompt("side_settled")
    assert rack(table) == before, "its progressive bet still needs the hand"
    table.answer_prompt("progressive", "no_win")
    assert rack(table) == before + 7
