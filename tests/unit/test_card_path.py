"""The drawn card path: cards, dark sensors and the jam are at their places."""

from __future__ import annotations

from devices.path_telemetry import OpticalLevel
from devices.shuffler import messages as m
from devices.shuffler.state import ShufflerView
from table_controller.cli.render.card_path import FAULTY, draw_path, plain_text

LEVELS = [OpticalLevel(False, 900, 500)] * len(m.Sensor)


def jam(segment: m.Segment, phase: m.Phase) -> ShufflerView:
    ended = m.Jam(1, phase, segment, 27, 27, 0, LEVELS, [0, 0, 0, 0])
    return ShufflerView(state=m.State.HALTED, phase=phase, entered=27, inside=27, behind_gate=0, ended=ended)


def test_every_segment_can_be_marked_and_the_line_keeps_its_length() -> None:
    calm = plain_text(draw_path(ShufflerView(entered=27, inside=27, behind_gate=0), 53))
    for segment in m.Segment:
        spans = draw_path(jam(segment, m.Phase.FEEDING), 53)
        name = segment.name.lower()
        assert (f"✖{name}✖", FAULTY) in spans
        assert len(plain_text(spans)) == len(calm) <= 80
        assert [style for text, style in spans if style == FAULTY] == [FAULTY]


def test_counts_and_dark_sensors_are_shown() -> None:
    view = ShufflerView(phase=m.Phase.FEEDING, entered=10, inside=10, behind_gate=0, blocked=1 << m.Sensor.BRIDGE)
    line = plain_text(draw_path(view, 53))
    assert line.startswith("intake ▕43▏")
    assert "bridge─●─lift─○" in line
    assert "▕10▏" in line
    assert line.endswith("▕ 0▏ gate")


def test_what_nobody_knows_is_a_question_mark() -> None:
    view = ShufflerView(state=m.State.CLEARING, phase=m.Phase.UNLOADING, inside=None, behind_gate=None)
    assert plain_text(draw_path(view, 53)).count("▕ ?▏") == 3


def test_three_digits_fit_into_eighty_columns() -> None:
    full = ShufflerView(phase=m.Phase.UNLOADING, entered=312, left=100, inside=212, behind_gate=100)
    line = plain_text(draw_path(full, 312))
    assert line.startswith("intake▕  0▏─feed─")
    assert "─shelf─▕212▏─unload─" in line
    assert line.endswith("▕100▏gate")
    assert len(line) <= 80


def test_a_machine_without_cycles_ends_in_its_chute_but_for_a_count() -> None:
    view = ShufflerView(continuous=True, phase=m.Phase.DELIVERING, entered=312, left=20, inside=292, in_chute=20)
    line = plain_text(draw_path(view, 312))
    assert line.startswith("intake▕  ?▏─feed─"), "nobody counts what waits in its intake"
    assert line.endswith("▕ 20▏chute")
    assert len(line) <= 80
    counting = ShufflerView(continuous=True, phase=m.Phase.UNLOADING, entered=312, left=20, inside=292, behind_gate=20)
    assert plain_text(draw_path(counting, 312)).endswith("▕ 20▏gate")


def test_a_machine_at_rest_that_has_fed_nothing_shows_no_deck_in_its_intake() -> None:
    line = plain_text(draw_path(ShufflerView(state=m.State.IDLE, inside=0, behind_gate=0), 53))
    assert line.startswith("intake ▕ ?▏")
