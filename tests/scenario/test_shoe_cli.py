"""`pitbox device shoe` and `pitbox sim` as a person types them: real processes, a real pty."""

from __future__ import annotations

import re
import signal
from typing import TYPE_CHECKING

from tests.support.box.processes import LIMIT, background, pitbox, simulator, until_state

if TYPE_CHECKING:
    from pathlib import Path


def device(port: Path, *words: str, expect: int = 0) -> str:
    return pitbox("device", "shoe", "--port", str(port), *words, expect=expect)


def sim(folder: Path, *words: str) -> str:
    return pitbox("sim", words[0], "shoe.1", *words[1:], "--folder", str(folder))


def test_a_deal_of_stacks_and_its_stub(tmp_path: Path) -> None:
    with simulator(tmp_path, "--speed", "40", name="shoe.1", model="shoe") as port:
        assert "PB-444 shoe empty" in device(port, "dispense", "--cards", "7", expect=1)
        output = device(port, "load")
        assert "─store─▕53▏─draw─" in output
        assert "the cards are in the shoe" in output
        output = device(port, "dispense", "--cards", "7")
        assert "▕46▏─draw─○─exit─○─drop─ ▕ 7▏ slot" in output
        assert "the stack that was ordered" in output
        assert "PB-442 slot occupied" in device(port, "dispense", "--cards", "7", expect=1)
        assert "7 cards taken from the slot" in sim(tmp_path, "inject", "take")
        assert "46 cards; 0 left" in device(port, "stub")
        truth = sim(tmp_path, "world")
        assert re.search(r"^  7  layout$", truth, re.MULTILINE), truth
        assert re.search(r"^  0  left in the shoe in all$", truth, re.MULTILINE), truth


def test_a_jam_is_shown_cleared_and_looked_for(tmp_path: Path) -> None:
    with simulator(
        tmp_path, "--speed", "40", "--fault", "jam:segment=exit,card=3", name="shoe.1", model="shoe"
    ) as port:
        device(port, "load")
        output = device(port, "dispense", "--cards", "7", expect=1)
        assert "✖exit✖" in output
        assert "PB-430: jammed in segment exit at card 3, 1 on the path, 50 left" in output
        assert re.search(r"strained motor +transport", output)
        assert "PB-423 needs clearing" in device(port, "dispense", "--cards", "7", expect=1)
        assert "1 card taken off the path" in sim(tmp_path, "inject", "clear_path")
        assert "50 cards came out of the well" in device(port, "clear")
        sim(tmp_path, "inject", "clear_path")  # an inspection with nothing to take out
        assert "every sensor and motor passed" in device(port, "selftest")
        assert re.search(r"sure +yes", device(port, "status"))


def test_a_round_and_a_stub_drawn_by_hand(tmp_path: Path) -> None:
    with simulator(tmp_path, "--speed", "40", name="shoe.1", model="shoe-manual") as port:
        assert "PB-428 not for this model" in device(port, "dispense", "--cards", "7", expect=1)
        assert "the cards are in the shoe" in device(port, "load")
        for action, cards, end in (
            (("round", "--cards", "49"), 49, "49 cards drawn"),
            (("stub",), 4, "all accounted for"),
        ):
            with background("device", "shoe", "--port", str(port), *action) as doing:
                assert doing.stdout is not None
                for line in doing.stdout:
                    if "draw" in line or "run the remaining cards" in line:
                        break
                sim(tmp_path, "inject", f"draw:cards={cards}")
                output = doing.stdout.read()
                assert doing.wait(20) == 0, output
            assert end in output
        status = device(port, "status")
        assert re.search(r"drawn since loading +53", status)
        assert "motor" not in device(port, "identify")
        levels = device(port, "sensors")
        assert "intake" not in levels
        assert "well" in levels


def test_every_question_and_action_prints_something_readable_and_mistakes_help(tmp_path: Path) -> None:
    with simulator(tmp_path, "--speed", "40", name="shoe.1", model="shoe") as port:
        device(port, "load")
        assert "deviation" in device(port, "transits")
        assert "margin" in device(port, "sensors")
        assert "PB-441 stack of the wrong size" in device(port, "dispense", "--cards", "11", expect=1)
        assert "--cards N belongs to" in device(port, "dispense", expect=2)
        assert "--expect takes" in device(port, "load", "--expect", "0", expect=2)
        assert "PB-428" in device(port, "round", "--cards", "7", expect=1)
        assert "53 cards came out in all, 52 expected" in device(port, "stub", "--expect", "52", expect=1)
        device(port, "reset")
        assert "PB-314 wrong kind" in pitbox("device", "shuffler", "--port", str(port), "status", expect=4)
    faults = pitbox("sim", "faults", "shoe")
    assert "cover_card:depth=40" in faults
    assert "sort_mode" not in faults


def test_ctrl_c_stops_the_machine_and_ends_the_command(tmp_path: Path) -> None:
    with simulator(tmp_path, "--speed", "1", name="shoe.1", model="shoe") as port:
        with background("device", "shoe", "--port", str(port), "load") as load:
            until_state(tmp_path, "shoe.1", "loading")
            load.send_signal(signal.SIGINT)
            output, _ = load.communicate(timeout=LIMIT)
        assert load.returncode == 130
        assert "Stopped" in output
        assert "halted" in device(port, "status")
