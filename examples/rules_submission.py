"""A Rules Submission: checks examples/rules_submission.toml with the shipped command, then a copy with one mistake.

    python examples/rules_submission.py

It prints the end of `pitbox config check` for both files:

    As submitted: exit code 0
      rules   dealing manual_shoe, shuffler none, wagers bad_beat
      table.toml can be used
    With cards dealt from the hand: exit code 2
      PB-619  table.toml: rules.dealing = hand needs an automated shuffler (687a.9(a)(1))
      1 problem: a box does not start with this file

Each objection names the key, the reason and the clause. docs/rulebook.md explains the choices.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

SUBMISSION: Final = Path(__file__).with_suffix(".toml")
PITBOX: Final = (sys.executable, "-m", "table_controller.cli")


def check(title: str, text: str) -> None:
    """Check one table.toml in a folder of its own; print the exit code and what concerns the rules."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "table.toml").write_text(text, "utf-8")
        (folder / "approved.toml").touch()  # no firmware is approved yet; that is a note, not a mistake
        (folder / "data").mkdir()
        key = str(folder / "keypad.1.key")
        subprocess.run([*PITBOX, "keys", "new", "keypad", "K-1001", "--out", key], check=True, capture_output=True)
        done = subprocess.run(
            [*PITBOX, "config", "check", "table.toml"], cwd=folder, capture_output=True, text=True, check=False
        )
    print(f"{title}: exit code {done.returncode}")
    for line in (done.stdout + done.stderr).splitlines():
        if line.startswith(("PB-", "rules ", "table.toml can")) or "problem" in line:
            print(f"  {line}")


def main() -> int:
    """Check the submission and a copy with a mistake."""
    text = SUBMISSION.read_text("utf-8")
    check("As submitted", text)
    check("With cards dealt from the hand", text.replace('dealing = "manual_shoe"', 'dealing = "hand"'))
    return 0


if __name__ == "__main__":
    sys.exit(main())
