"""`pitbox conform` as a person types it: real processes, real ptys, a real terminal for its questions."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import signal
import subprocess
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Final

import pytest

from devices.conformance.requirements import requirements_of
from firmware_bridge.keys import DeviceKey, load_key, save_key
from simulators.casino.box_process import PITBOX
from tests.support.box.processes import LIMIT, background, pitbox, simulator, until_state

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.realtime


def conform(port: Path, *words: str, expect: int = 0) -> str:
    return pitbox("conform", "--port", str(port), *words, expect=expect)


def read_report(folder: Path) -> dict[str, Any]:
    parsed: dict[str, Any] = json.loads((folder / "conformance.json").read_text("utf-8"))
    return parsed


def verdicts(folder: Path) -> dict[str, str]:
    return {line["id"]: line["verdict"] for line in read_report(folder)["requirements"]}


def test_some_requirements_on_a_good_machine(tmp_path: Path) -> None:
    out = tmp_path / "report"
    with simulator(tmp_path, "--speed", "20") as port:
        words = ("--only", "HS-01", "--only", "FR-04", "--only", "CM-16", "--only", "SH-41", "--out", str(out))
        output = conform(port, "--hands", str(tmp_path), *words)
        assert "✓ HS-01  pass" in output
        assert "✓ SH-41  pass" in output
        assert "not fully checked: 4 of " in output  # some requirements are never conformance
        assert "not requested because --only names others" in output
        assert "left unverified" in output
        assert "contains a report already" in conform(port, "--no-hands", *words, expect=2)
    assert set(verdicts(out).values()) == {"pass"}
    assert read_report(out)["device"]["serial"] == "SIM-0000-1"
    assert read_report(out)["only"] == ["HS-01", "FR-04", "CM-16", "SH-41"]
    assert load_key(tmp_path / "shuffler.1.key").key.hex() not in (out / "conformance.json").read_text("utf-8")
    assert "SIM-0000-1" in (out / "conformance.html").read_text("utf-8")


def test_a_mutant_on_a_pty_is_found_and_the_evidence_is_in_the_report(tmp_path: Path) -> None:
    out = tmp_path / "report"
    with simulator(tmp_path, "--mutant", "no-crc") as port:
        output = conform(port, "--no-hands", "--only", "FR-04", "--only", "SH-40", "--out", str(out), expect=1)
    assert "✗ FR-04  fail" in output
    assert "expected no answer to a frame whose CRC does not fit" in output
    assert "? SH-40  not checked" in output
    assert verdicts(out) == {"FR-04": "fail", "SH-40": "not checked"}
    (line, _) = read_report(out)["requirements"]
    assert any("-> 42 bytes that are not a frame" in frame for frame in line["transcript"])
    assert any("<- HANDSHAKE DeviceHello" in frame for frame in line["transcript"])


def test_a_machine_without_a_switch_is_asked_about_its_memory_too(tmp_path: Path) -> None:
    out = tmp_path / "report"
    with simulator(tmp_path, "--mutant", "remembers-one", name="button.1", model="button") as port:
        output = conform(port, "--no-hands", "--only", "CM-12", "--out", str(out), expect=1)
    assert "✗ CM-12  fail" in output
    assert f"does not conform: 0 of {len(requirements_of('button'))} requirements passed, 1 failed" in output
    assert verdicts(out) == {"CM-12": "fail"}


def test_requirements_that_no_hands_leaves_out_are_not_requested(tmp_path: Path) -> None:
    with simulator(tmp_path) as port:
        output = conform(port, "--no-hands", "--only", "SH-40", "--out", str(tmp_path / "report"))
        assert "not fully checked: 0 of " in output
        assert "1 not checked because it needs an operator (SH-40)" in output


def test_selecting_only_requirements_that_do_not_apply_checks_nothing(tmp_path: Path) -> None:
    out = tmp_path / "report"
    with simulator(tmp_path) as port:
        output = conform(port, "--no-hands", "--only", "SH-80", "--out", str(out), expect=1)
    assert "- SH-80  not applicable" in output
    assert "1 not applicable because its hello does not list the capability identifies (SH-80)" in output
    assert read_report(out)["verdict"] == "not fully checked"


def test_the_line_below_the_verdict_is_the_same_on_the_screen_and_in_both_files(tmp_path: Path) -> None:
    out = tmp_path / "report"
    with simulator(tmp_path) as port:
        output = conform(port, "--no-hands", "--only", "PL-12", "--only", "SH-80", "--only", "SH-40", "--out", str(out))
    summary = read_report(out)["summary"]
    assert summary in output.replace("\n", " ")
    assert summary.partition(": ")[2] in (out / "conformance.html").read_text("utf-8")
    assert read_report(out)["listed"] == len(requirements_of("shuffler"))
    assert {left["what"]: left["count"] for left in read_report(out)["left_out"]} == {
        "not checked": 1,
        "not applicable": 1,
        "not requested": read_report(out)["listed"] - 3,
    }


def test_unusable_arguments_get_a_sentence_that_helps(tmp_path: Path) -> None:
    out = ("--out", str(tmp_path / "report"))
    assert "--port" in pitbox("conform", expect=2)
    assert "PB-111" in conform(tmp_path / "gone", "--key", "x", *out, expect=3)
    with simulator(tmp_path) as port:
        key, hands = tmp_path / "shuffler.1.key", ("--no-hands", *out)
        assert "PB-112" in _while_held(port, *hands)
        assert "no requirement LK-99" in conform(port, "--only", "LK-99", *hands, expect=2)
        assert "need a terminal" in conform(port, *out, expect=2)
        assert "PB-615" in conform(port, "--hands", str(tmp_path / "elsewhere"), *out, expect=2)
        assert "not allowed with" in conform(port, "--hands", str(tmp_path), *hands, expect=2)
        known = load_key(key)
        others = {
            "PB-316": (DeviceKey(known.serial, known.kind, known.key, "table 1"), 4),
            "PB-312": (DeviceKey("SN-1", known.kind, known.key), 4),
            "there are no conformance requirements": (DeviceKey(known.serial, "toaster", known.key), 2),
        }
        for number, (sentence, (other, code)) in enumerate(others.items()):
            save_key(tmp_path / f"{number}.key", other)
            assert sentence in conform(port, "--key", str(tmp_path / f"{number}.key"), *hands, expect=code)
        assert not (tmp_path / "report" / "conformance.json").exists()
        save_key(tmp_path / "wrong.key", DeviceKey(known.serial, known.kind, bytes(32)))
        output = conform(port, "--key", str(tmp_path / "wrong.key"), "--only", "HS-03", *hands, expect=1)
        assert "✗ HS-03  fail" in output
        assert "PB-311" in output
    assert "has no mutant 'no-crd' (did you mean 'no-crc'?)" in pitbox(
        "sim", "up", "shuffler", "--mutant", "no-crd", "--folder", str(tmp_path), expect=2
    )


def _while_held(port: Path, *words: str) -> str:
    with background("trace", "--port", str(port), "--seconds", "20") as trace:
        assert trace.stdout is not None
        assert trace.stdout.readline()
        return conform(port, *words, expect=3)


def test_the_list_names_every_requirement() -> None:
    output = pitbox("conform", "--list")
    for words in ("HS-01  A HostHello", "LK-07  ", "SH-40  Opening and closing the door", "(with operator)"):
        assert words in output
    assert "SH-80" in pitbox("conform", "--list", "shuffler")
    assert "'toaster'" in pitbox("conform", "--list", "toaster", expect=2)


def test_a_device_that_is_lost_in_the_middle_leaves_a_report(tmp_path: Path) -> None:
    out = tmp_path / "report"
    command = ("conform", "--port", str(tmp_path / "shuffler.1"), "--no-hands", "--out", str(out))
    with simulator(tmp_path), background(*command) as run:
        assert run.stdout is not None
        for line in run.stdout:
            if "HS-08" in line:
                break
        pitbox("sim", "inject", "shuffler.1", "unplug:seconds=0", "--folder", str(tmp_path))
        output = run.stdout.read()
        assert run.wait(LIMIT) == 3
    assert "the device was lost at" in output
    assert verdicts(out)["HS-08"] == "pass"
    assert verdicts(out)["SH-63"] == "not checked"
    assert "PB-113" in read_report(out)["lost"]


def test_ctrl_c_stops_the_machine_and_leaves_a_report(tmp_path: Path) -> None:
    out = tmp_path / "report"
    with simulator(tmp_path) as port:
        words = ("--no-hands", "--only", "SH-10", "--only", "SH-25", "--out", str(out))
        with background("conform", "--port", str(port), *words) as run:
            until_state(tmp_path, "shuffler.1", "feeding")
            run.send_signal(signal.SIGINT)
            output, _ = run.communicate(timeout=LIMIT)
        assert run.returncode == 130
        assert "Traceback" not in output
        assert "halted" in pitbox("device", "shuffler", "--port", str(port), "status")
    assert verdicts(out) == {"SH-10": "not checked", "SH-25": "not checked"}
    assert read_report(out)["lost"] == "interrupted"


class _Terminal:
    """A person at a terminal who reads the request, acts and presses Enter."""

    def __init__(self, *words: str) -> None:
        self._mine, theirs = pty.openpty()
        self._text = ""
        self.process = subprocess.Popen(
            [*PITBOX, *words], stdin=theirs, stdout=theirs, stderr=theirs, env={**os.environ, "TERM": "xterm"}
        )
        os.close(theirs)

    def until(self, words: str) -> str:
        """Read until this text; return everything up to it."""
        late = time.monotonic() + LIMIT
        while words not in self._text:
            assert time.monotonic() < late, f"no {words!r} in: {self._text[-2000:]}"
            if select.select([self._mine], [], [], 0.2)[0]:
                try:
                    self._text += re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\r", "", os.read(self._mine, 4096).decode())
                except OSError:  # the other end has gone
                    assert words in self._text, f"no {words!r} in: {self._text[-2000:]}"
        before, _, self._text = self._text.partition(words)
        return before

    def type(self, text: str) -> None:
        os.write(self._mine, text.encode())

    def close(self) -> int:
        code = self.process.wait(LIMIT)
        os.close(self._mine)
        return code


def test_a_person_is_asked_at_the_terminal_and_a_bar_shows_how_far_it_is(tmp_path: Path) -> None:
    out = tmp_path / "report"
    with simulator(tmp_path) as port:
        person = _Terminal("conform", "--port", str(port), "--only", "SH-40", "--only", "SH-41", "--out", str(out))
        try:
            for step, fault in (("open", "open"), ("close", "closed")):
                person.until(f"please {step} the door, then press Enter")
                pitbox("sim", "inject", "shuffler.1", f"door:to={fault}", "--folder", str(tmp_path))
                person.type("\n")
            person.until("please open the door, then press Enter")
            person.type("no\n")  # a person who cannot
            assert "1/2" in person.until("? SH-41  not checked")
            person.until("could not be done by hand: open the door")
            person.until("not fully checked: 1 of ")
            person.until("1 not checked because it could")
            person.until("by hand (SH-41)")
        finally:
            code = person.close()
    assert code == 1
    assert verdicts(out) == {"SH-40": "pass", "SH-41": "not checked"}
    assert read_report(out)["hands"] == "a person"


@pytest.mark.proof
@pytest.mark.timeout(600)
@pytest.mark.parametrize("model", ["shuffler", "shuffler-identifying"])
def test_the_whole_kit_on_a_pty(tmp_path: Path, model: str) -> None:
    out = tmp_path / "report"
    with simulator(tmp_path, "--speed", "8", model=model) as port:
        done = subprocess.run(
            [*PITBOX, "conform", "--port", str(port), "--hands", str(tmp_path), "--out", str(out)],
            capture_output=True, text=True, timeout=400, check=False,
        )  # fmt: skip
    assert done.returncode == 0, done.stdout
    assert (
        read_report(out)["counts"]["pass"] + read_report(out)["counts"]["not applicable"] == read_report(out)["listed"]
    )
    assert read_report(out)["verdict"] == "conforms in all that applies"


# One of each other kind, and how fast its simulator runs: the age of a press is measured by the kit's own clock.
OTHERS: Final = {
    "button": 4,
    "rng": 4,
    "shoe": 4,
    "shoe-manual": 4,
    "shaker": 4,
    "bet-sensor": 4,
    "keypad": 1,
    "meter-sign": 4,
}


@pytest.mark.proof
@pytest.mark.timeout(1000)
def test_the_whole_kit_on_a_pty_for_every_other_kind(tmp_path: Path) -> None:
    """All at once: a run waits for more than two minutes, and computes for less than one second of them."""
    with ExitStack() as running:
        runs = {}
        for model, speed in OTHERS.items():
            folder = tmp_path / model
            folder.mkdir()
            name = f"{model.partition('-manual')[0].replace('-', '_')}.1"
            port = running.enter_context(simulator(folder, "--speed", str(speed), name=name, model=model))
            words = ("--port", str(port), "--hands", str(folder), "--out", str(folder / "report"))
            runs[model] = running.enter_context(background("conform", *words))
        printed = "".join(run.communicate(timeout=900)[0] for run in runs.values())
    wrong = [line for line in printed.splitlines() if not line.startswith(("✓", "-"))]
    assert {model: run.returncode for model, run in runs.items()} == dict.fromkeys(OTHERS, 0), wrong
    expected = dict.fromkeys(OTHERS, "conforms")
    expected |= dict.fromkeys(("shoe", "shoe-manual"), "conforms in all that applies")  # each is spared the other's
    assert {model: read_report(tmp_path / model / "report")["verdict"] for model in OTHERS} == expected
