"""The commands as a person types them: real processes, real ptys, two terminals."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from firmware_bridge.capture import read_capture
from firmware_bridge.keys import load_key, new_key, save_approved, save_key
from simulators.casino.box_process import PITBOX
from simulators.engine.machine import approved_firmware
from table_controller.cli import INTERRUPTED, USAGE
from tests.support.box.processes import LIMIT, background, pitbox, simulator, until_state


def device(port: Path, *words: str, expect: int = 0) -> str:
    return pitbox("device", "shuffler", "--port", str(port), *words, expect=expect)


def test_a_jam_injected_half_way_is_located_by_the_driver_and_by_the_truth(tmp_path: Path) -> None:
    with simulator(tmp_path, "--speed", "2") as port:  # slow enough for a command to start meanwhile, on any computer
        with background("device", "shuffler", "--port", str(port), "shuffle") as shuffle:
            assert shuffle.stdout is not None
            for line in shuffle.stdout:
                if (shown := re.search(r"shelf─▕(\d+)▏", line)) and int(shown[1]) >= 10:  # cards are in the shelves
                    break
            pitbox("sim", "inject", "shuffler.1", "jam:segment=bridge", "--folder", str(tmp_path))
            report = shuffle.stdout.read()
            assert shuffle.wait(10) == 1
        truth = pitbox("sim", "world", "shuffler.1", "--folder", str(tmp_path))
    assert "✖bridge✖" in report
    match = re.search(r"jammed in segment bridge at card (\d+), (\d+) cards inside", report)
    assert match, report
    assert match[1] == match[2]
    assert int(match[1]) >= 10
    assert re.search(r"^ +1  shuffler.1/bridge$", truth, re.MULTILINE), truth
    assert f"{match[2]}  inside the machine in all" in truth


def test_a_technician_clears_it_and_gets_every_card_back(tmp_path: Path) -> None:
    with simulator(tmp_path, "--speed", "40", "--fault", "jam:segment=stack,card=5") as port:
        folder = ("--folder", str(tmp_path))
        assert "jammed in segment stack" in device(port, "shuffle", expect=1)
        assert "PB-423 needs clearing" in device(port, "eject", expect=1)
        assert "halted" in device(port, "status")
        assert "dark" in device(port, "sensors")
        pitbox("sim", "inject", "shuffler.1", "clear_path", *folder)
        assert "48 cards came out of the compartments; 52 are behind the gate" in device(port, "clear")
        device(port, "eject")
        assert re.search(r"cards inside +unknown", device(port, "status"))
        pitbox("sim", "inject", "shuffler.1", "clear_path", *folder)  # an inspection with nothing to take out
        device(port, "selftest")
        assert re.search(r"cards inside +0", device(port, "status"))
        pitbox("sim", "inject", "shuffler.1", "take_deck", *folder)
        assert re.search(r"53  tray", pitbox("sim", "world", "shuffler.1", *folder))
        pitbox("sim", "inject", "shuffler.1", "load", *folder)
        assert "a whole, shuffled deck" in device(port, "shuffle")


def test_every_question_and_action_prints_something_readable(tmp_path: Path) -> None:
    with simulator(tmp_path, "--speed", "40", model="shuffler-identifying") as port:
        assert "key proved" in device(port, "identify")
        assert "every sensor and motor passed" in device(port, "selftest")
        assert "deviation" in device(port, "transits")
        assert re.search(r"bad crc +0\s", device(port, "link"))
        assert "no rejected deck" in device(port, "findings")
        assert "SORT" not in device(port, "status")
        device(port, "mode", "--to", "sort")
        assert "not a shuffle" in device(port, "shuffle", expect=1)
        device(port, "stop")
        device(port, "eject")
        device(port, "reset")
        assert re.search(r"bench visits +12, this one included", device(port, "identify"))
        assert "left unverified" in device(port, "status")


def test_an_identifying_machine_reports_what_is_wrong_with_a_rejected_deck(tmp_path: Path) -> None:
    with simulator(tmp_path, "--speed", "40", "--fault", "swapped_card", model="shuffler-identifying") as port:
        assert "they are not a complete deck" in device(port, "shuffle", expect=1)
        findings = device(port, "findings")
        assert re.search(r"missing +\w\w\s", findings), findings
        assert re.search(r"extra +\w\w\s", findings), findings


def test_a_bench_command_refuses_what_belongs_to_a_table(tmp_path: Path) -> None:
    with simulator(tmp_path) as port:
        key = load_key(tmp_path / "shuffler.1.key")
        enrolled = tmp_path / "enrolled.key"
        save_key(enrolled, type(key)(key.serial, key.kind, key.key, "table 12, shuffler.1"))
        output = device(port, "status", "--key", str(enrolled), expect=4)
        assert "PB-316" in output
        assert "table 12" in output
        hold = f"p = serial.Serial({str(port)!r}, exclusive=True); print('held', flush=True); time.sleep(30)"
        holder = f"import serial, time; {hold}"
        with subprocess.Popen([sys.executable, "-c", holder], stdout=subprocess.PIPE, text=True) as held:
            assert held.stdout is not None
            assert held.stdout.readline() == "held\n"
            assert "PB-112 port busy" in device(port, "status", expect=3)
            held.kill()
        assert "idle" in device(port, "status")


@pytest.mark.parametrize(
    ("fault", "code"), [("wrong_key", "PB-311 wrong key"), ("rogue_firmware", "PB-313 firmware not approved")]
)
def test_a_device_that_cannot_be_trusted_is_never_used(tmp_path: Path, fault: str, code: str) -> None:
    with simulator(tmp_path, "--fault", fault) as port:
        assert code in device(port, "shuffle", expect=4)
        assert "53  shuffler.1/intake" in pitbox("sim", "world", "shuffler.1", "--folder", str(tmp_path))


def test_keys_that_others_can_read_or_that_are_missing_are_refused(tmp_path: Path) -> None:
    with simulator(tmp_path) as port:
        key = tmp_path / "shuffler.1.key"
        key.chmod(0o644)
        assert "chmod 600" in device(port, "status", expect=2)
        key.unlink()
        assert "--key FILE" in device(port, "status", expect=2)


def test_wrong_arguments_get_a_sentence_that_helps(tmp_path: Path) -> None:
    folder = ("--folder", str(tmp_path))
    assert "did you mean 'jam'" in pitbox("sim", "inject", "shuffler.1", "jamm", expect=2)
    assert "segment is one of feed" in pitbox("sim", "up", "shuffler", "--fault", "jam:segment=x", *folder, expect=2)
    misspelled = pitbox("sim", "up", "shuffler", "--fault", "jam:segmnt=lift", *folder, expect=2)
    assert "did you mean 'segment'" in misspelled
    assert "PB-615" in pitbox("sim", "inject", "nobody", "jam", *folder, expect=2)
    assert "no simulator runs" in pitbox("sim", "list", *folder)
    assert "PB-111 port missing" in device(tmp_path / "gone", "status", "--key", str(_key(tmp_path)), expect=3)
    assert "--to" in device(tmp_path / "gone", "mode", expect=2)
    assert "there is no code" in pitbox("explain", "PB-999", expect=2)
    assert "invalid choice" in pitbox("nonsense", expect=2)


def _key(folder: Path) -> Path:
    save_key(folder / "a.key", new_key("SN1", "shuffler"))
    save_approved(folder / "approved.toml", frozenset([approved_firmware("shuffler")]))
    return folder / "a.key"


def test_one_name_serves_one_simulator_and_is_free_again_afterwards(tmp_path: Path) -> None:
    folder = ("--folder", str(tmp_path))
    with simulator(tmp_path):
        assert "runs already" in pitbox("sim", "up", "shuffler", *folder, expect=2)
        assert "shuffler.1  SIM-0000-1  idle" in pitbox("sim", "list", *folder)
        with simulator(tmp_path, "--seed", "5", name="shuffler.2") as second:
            assert "SIM-0005-2" in device(second, "identify")
    assert not (tmp_path / "shuffler.1").is_symlink()
    assert not (tmp_path / "shuffler.1.sock").exists()
    with simulator(tmp_path):
        pass


def test_trace_prints_frames_and_keeps_them(tmp_path: Path) -> None:
    out = tmp_path / "x.pcapng"
    with simulator(tmp_path) as port:
        output = pitbox("trace", "--port", str(port), "--seconds", "2.5", "--out", str(out))
        assert "HostHello(role=bench" in output
        assert re.search(r"<- REPLY +Status\(", output)
        assert re.search(r"PING", output)
        packets = list(read_capture(out))
        assert f"{len(packets)} frames in" in output
        key = load_key(tmp_path / "shuffler.1.key").key
        assert key not in out.read_bytes()
        assert "PB-616" in pitbox("trace", "--port", str(port), "--out", str(out), expect=2)


def test_ctrl_c_stops_the_machine_and_ends_the_command(tmp_path: Path) -> None:
    with simulator(tmp_path) as port:
        with background("device", "shuffler", "--port", str(port), "shuffle") as shuffle:
            until_state(tmp_path, "shuffler.1", "feeding")
            shuffle.send_signal(signal.SIGINT)
            output, _ = shuffle.communicate(timeout=LIMIT)
        assert shuffle.returncode == 130
        assert "Stopped" in output
        assert "halted" in device(port, "status")


@pytest.mark.parametrize("lines", [1, 4, 9])
def test_a_trace_ends_when_nobody_reads_it(tmp_path: Path, lines: int) -> None:
    with simulator(tmp_path) as port:
        command = [*PITBOX, "trace", "--port", str(port), "--seconds", "20"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as trace:
            assert trace.stdout is not None
            for _ in range(lines):
                assert trace.stdout.readline()
            trace.stdout.close()
            assert trace.wait(10) is not None


def test_a_shuffle_ends_as_it_should_when_nobody_reads_its_picture(tmp_path: Path) -> None:
    with simulator(tmp_path, "--speed", "20") as port:
        command = [*PITBOX, "device", "shuffler", "--port", str(port), "shuffle"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as shuffle:
            assert shuffle.stdout is not None
            assert shuffle.stdout.readline()
            shuffle.stdout.close()
            assert shuffle.wait(20) == 0
        assert "ready" in device(port, "status")


def test_printing_the_version_imports_nothing_heavy() -> None:
    heavy = "asyncio msgspec rich serial argparse importlib.metadata"
    code = (
        "import sys; from table_controller.cli import main; main(['--version']);"
        f"print([name for name in {heavy.split()!r} if name in sys.modules])"
    )
    printed = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True, check=True, timeout=30)
    assert printed.stdout.endswith("[]\n"), printed.stdout


def _demo(*arguments: str) -> str:
    """Return the demo's text without its one measured figure."""
    return "\n".join(line for line in pitbox("demo", *arguments).splitlines() if "rounds/s" not in line)


def test_the_fast_demo_ends_by_itself_and_the_same_seed_gives_the_same_one() -> None:
    first = _demo("--fast", "--rounds", "15")
    assert first == _demo("--fast", "--rounds", "15")
    assert "15 rounds" in first
    assert "hands from a bad deck after the first check able to see it: 0" in first
    assert _demo("--fast", "--rounds", "15", "--seed", "8") != first


@pytest.mark.realtime
def test_the_demo_plays_a_table_through_the_real_service_with_a_jam_and_a_lost_card() -> None:
    shown = pitbox("demo", "--rounds", "3", "--speed", "40")
    assert "found: shuffler fault shuffler.1 deck blue" in shown
    assert "found: count wrong shuffler.1 deck red" in shown
    assert "1 card missing, counted at Shuffler 1" in shown
    assert shown.count(": complete") == 3
    assert "hands from a bad deck after the first check able to see it: 0" in shown
    assert "chips, bets and meter agreed in 3 checks" in shown


@pytest.mark.realtime
@pytest.mark.parametrize("game", ["asia_poker", "saigon_5_card", "over_under"])
def test_every_game_is_shown_through_the_real_service(game: str) -> None:
    # At 200 times the speed of a table, a loaded computer is too late for its machines, and the round is void.
    shown = pitbox("demo", "--game", game, "--rounds", "1", "--speed", "60", "--seed", "4")
    assert "round 1: complete" in shown
    assert "1 rounds, 0 void;" in shown
    assert "mishaps: 1" in shown
    assert "hands from a bad deck after the first check able to see it: 0" in shown


@pytest.mark.realtime
def test_a_demo_that_is_interrupted_leaves_nothing_behind() -> None:
    with tempfile.TemporaryDirectory(dir="/tmp") as short:  # a socket's name has 107 bytes at most
        _interrupt_demo(Path(short))


def _interrupt_demo(tmp_path: Path) -> None:
    environment = os.environ | {"TMPDIR": str(tmp_path), "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        [*PITBOX, "demo", "--speed", "50"], stdout=subprocess.PIPE, text=True, env=environment
    ) as demo:
        assert demo.stdout is not None
        assert "the box starts" in demo.stdout.readline()
        demo.terminate()
        assert demo.wait(LIMIT) == INTERRUPTED
    assert list(tmp_path.iterdir()) == []
    commands = [_command(process) for process in Path("/proc").glob("[0-9]*")]
    assert not [command for command in commands if str(tmp_path) in command]


def _command(process: Path) -> str:
    try:
        return (process / "cmdline").read_text("utf-8", "replace")
    except OSError:  # it has ended meanwhile
        return ""


@pytest.mark.parametrize("wrong", [("--speed", "0"), ("--rounds", "0"), ("--record", "/nowhere/at/all.svg")])
def test_a_demo_that_cannot_run_gives_the_reason(wrong: tuple[str, str]) -> None:
    output = subprocess.run([*PITBOX, "demo", *wrong], capture_output=True, text=True, check=False, timeout=30)
    assert output.returncode == USAGE
    assert wrong[0] in output.stderr or wrong[1] in output.stderr


def test_output_may_be_cut_off_by_its_reader() -> None:
    with subprocess.Popen([*PITBOX, "explain"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert "Traceback" not in process.stderr.read()


def test_a_stack_is_inserted_as_a_person_types_it(tmp_path: Path) -> None:
    with simulator(tmp_path, "--speed", "50", model="shuffler-inserting") as port:
        folder = ("--folder", str(tmp_path))
        assert "PB-424" in device(port, "insert", expect=1)
        device(port, "shuffle")
        assert "53 cards have left the chute" in device(port, "insert")
        assert "53  bench_shoe" in pitbox("sim", "world", "shuffler.1", *folder)
        pitbox("sim", "inject", "shuffler.1", "take_deck", *folder)
        pitbox("sim", "inject", "shuffler.1", "load", *folder)
        pitbox("sim", "inject", "shuffler.1", "chute_jam:cards=20", *folder)
        device(port, "shuffle")
        assert "PB-446" in device(port, "insert", expect=1)
        assert "33  shuffler.1/shoe_chute" in pitbox("sim", "world", "shuffler.1", *folder)


@pytest.mark.realtime
def test_a_demo_shows_a_shuffler_that_fills_the_shoe() -> None:
    shown = pitbox("demo", "--with", "shuffler-inserting", "--game", "saigon_5_card", "--rounds", "2", "--speed", "60",
                   "--faults", "none")  # fmt: skip
    assert shown.count(": complete") == 2
    assert "2 rounds, 0 void;" in shown


def test_a_batch_is_shuffled_as_a_person_types_it(tmp_path: Path) -> None:
    with simulator(tmp_path, "--speed", "200", model="shuffler-batch") as port:
        folder = ("--folder", str(tmp_path))
        output = device(port, "shuffle", "--expect", "312")
        assert "in 312  out 312  of 312" in output
        assert "a whole, shuffled batch" in output
        assert "counts, batch" in device(port, "identify")
        device(port, "eject")
        assert "312 cards into play, 312 cards into the intake" in pitbox(
            "sim", "inject", "shuffler.1", "swap_batches", *folder
        )
        pitbox("sim", "inject", "shuffler.1", "cards_left_inside:count=16", *folder)
        assert "PB-433: 312 cards went in and 296 came out" in device(port, "shuffle", expect=1)
        assert "16  shuffler.1/behind_shelves" in pitbox("sim", "world", "shuffler.1", *folder)
        assert "PB-428 not for this model" in device(port, "count", expect=1)


def test_a_batch_that_was_read_is_described_card_by_card(tmp_path: Path) -> None:
    with simulator(tmp_path, "--speed", "200", "--fault", "swapped_card", model="shuffler-batch-identifying") as port:
        assert "not a batch to deal from: the machine identified the cards" in device(port, "shuffle", expect=1)
        findings = device(port, "findings")
        assert re.search(r"missing +1 \w\w \(1 cards\)", findings), findings
        assert re.search(r"extra +1 \w\w \(1 cards\)", findings), findings


def test_a_machine_without_cycles_is_used_as_a_person_types_it(tmp_path: Path) -> None:
    with simulator(tmp_path, "--speed", "200", model="shuffler-continuous") as port:
        folder = ("--folder", str(tmp_path))
        assert "PB-439 set not counted" in device(port, "deliver", "--cards", "5", expect=1)
        assert "the whole set" in device(port, "count", "--expect", "312")
        assert "20 cards delivered; 292 inside, 20 in the chute" in device(port, "deliver", "--cards", "20")
        pitbox("sim", "inject", "shuffler.1", "draw:cards=18", *folder)
        pitbox("sim", "inject", "shuffler.1", "discard", *folder)
        assert "18 cards taken in; 310 inside, 2 outside" in device(port, "takein")
        status = device(port, "status")
        for row in (r"cards inside +310\s", r"in the chute +2\s", r"last count +312\s", r"store low +no\s"):
            assert re.search(row, status), status
        assert "PB-428 not for this model" in device(port, "shuffle", expect=1)
        pitbox("sim", "inject", "shuffler.1", "jam:segment=stack", *folder)
        jammed = device(port, "deliver", "--cards", "7", expect=1)
        assert "PB-430: jammed in segment stack at card 1, 310 cards inside" in jammed
        assert "card             1 while delivering" in jammed
        pitbox("sim", "inject", "shuffler.1", "clear_path", *folder)
        assert "309 cards came out of the compartments; 309 are behind the gate" in device(port, "clear")


def test_impossible_numbers_of_cards_are_refused_before_a_port_is_opened(tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    assert "from 1 to 400" in device(gone, "shuffle", "--expect", "401", expect=2)
    assert "--cards N belongs to the action deliver" in device(gone, "deliver", expect=2)
    assert "--cards N belongs to the action deliver" in device(gone, "shuffle", "--cards", "3", expect=2)
    with simulator(tmp_path, model="shuffler-continuous") as port:
        assert "1 to 255 can" in device(port, "deliver", "--cards", "256", expect=2)
