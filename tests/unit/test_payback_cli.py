"""`pitbox payback`: one wager, a simulated one, and what has no payback."""

from __future__ import annotations

import pytest

from table_controller.cli import USAGE, main


def test_one_wager_on_the_command_line(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    assert main(["payback", "686a"]) == 0
    shown = capsys.readouterr().out
    assert "686a-main   98.950      98.95        0.000" in shown
    assert "686a-bonus  94.395      94.393       +0.002" in shown
    assert main(["payback", "over_under", "under_18"]) == 0
    assert "686a-bonus" not in capsys.readouterr().out
    assert main(["payback", "face_up_pai_gow", "face_up_pai_gow_poker", "--rounds", "20", "--seed", "3"]) == 0
    shown = capsys.readouterr().out
    assert "±" in shown
    assert "simulated, 20 rounds of six players, seed 3" in shown


@pytest.mark.parametrize(
    ("words", "output"),
    [
        (("687b",), "there is no game 687b"),
        (("687a", "bonus"), "DJ Wild Stud Poker has no wager bonus; it has ante"),
        (("687a", "--rounds", "1"), "--rounds 1: at least 2"),
    ],
)
def test_wagers_without_a_computed_payback(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...], output: str
) -> None:
    assert main(["payback", *words]) == USAGE
    assert output in capsys.readouterr().err
