"""Starts deploy/systemd/pitbox@.service under a real systemd and watches it: ready, alive, killed, hung, stopped.

python -m tools.systemd_unit      needs root, systemd, and a kernel that lets root make namespaces

A separate systemd is process 1 of new namespaces, with its own /etc, /run and /var/lib in memory and only our units: it
does not start, change or stop anything on this computer. The shipped sysusers file makes the user. A drop-in changes
what a bench needs: the program, a shorter watchdog, the log file. The tree, the interpreter and its packages are bound
read-only below /run, so the unit finds them at a fixed path, and home folders and /tmp stay closed to it as on a box.
Takes about half a minute.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import time
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final, NamedTuple

from firmware_bridge.keys import new_key, save_approved, save_key
from simulators.casino.table_layout import table_slots, table_toml
from simulators.engine.machine import approved_firmware

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT: Final = Path(__file__).resolve().parent.parent
UNIT: Final = "pitbox@table"
GAME: Final = "over_under"
# Seconds. Far more than any of these needs.
LIMIT: Final = 60.0
# Where the unit finds the tree and the interpreter.
BENCH: Final = "/run/bench"
DROP_IN: Final = """[Service]
ExecStart=
ExecStart={python} -m table_controller.cli run --config /etc/pitbox/%i.toml
Environment={environment}
WorkingDirectory=/
WatchdogSec=3
StandardOutput=append:/run/pitbox.log
StandardError=append:/run/pitbox.log
"""
# The new /run is filled before it covers the old one: the tree itself may be below /run, /etc or /var/lib.
INIT: Final = """set -e
mount --make-rprivate /
mount -t proc proc /proc
mount --bind /proc/sys /proc/sys && mount -o remount,ro,bind /proc/sys
run={folder}/run
mkdir $run && mount -t tmpfs -o mode=755 tmpfs $run
mkdir -p $run/units/pitbox@.service.d $run/etc
cp -a /etc/. $run/etc && mkdir -p $run/etc/pitbox
for target in basic sysinit shutdown time-sync local-fs multi-user; do
  printf '[Unit]\\nDescription=%s\\n' $target > $run/units/$target.target
done
cp {tree}/deploy/systemd/pitbox@.service $run/units/
cp {folder}/drop-in.conf $run/units/pitbox@.service.d/bench.conf
cp {folder}/table/* $run/etc/pitbox/
show() {{ mkdir -p "$run/bench/$2" && mount --bind "$1" "$run/bench/$2" && mount -o remount,ro,bind "$run/bench/$2"; }}
show {tree} tree
show {packages} packages
show {base} base
mount -n --move $run /run
mount --bind /run/etc /etc
mount -t tmpfs tmpfs /var/lib
mount -t tmpfs tmpfs /srv
systemd-sysusers {bench}/tree/deploy/systemd/pitbox.sysusers
chown -R pitbox:pitbox /etc/pitbox
cd /
export container=pitbox SYSTEMD_UNIT_PATH=/run/units
exec /lib/systemd/systemd --system --unit=basic.target --log-level=warning --log-target=null
"""
# Opens the named nodes in the control groups of a process (0: in its own); prints the error's name, or "opened".
OPENS: Final = """import errno, os, sys
pid, *nodes = sys.argv[1:]
for line in open(f"/proc/{pid}/cgroup").read().split() if pid != "0" else ():
    _, names, path = line.split(":", 2)
    base = f"/sys/fs/cgroup/{names}{path}" if names else f"/sys/fs/cgroup{path}"
    if names == "devices" or not names and os.path.exists(f"{base}/cgroup.procs"):
        open(f"{base}/cgroup.procs", "w").write(str(os.getpid()))
for node in nodes:
    try:
        os.close(os.open(node, os.O_RDWR | os.O_NONBLOCK | os.O_NOCTTY))
        print("opened")
    except OSError as error:
        print(errno.errorcode[error.errno])
"""
# A journal of tiny segments whose oldest ones leave for the archive that its table.toml names.
RETIRES: Final = """from pathlib import Path
from table_controller.config import load_config
from table_controller.journal.store import Policy, Store
archive = load_config(Path("/etc/pitbox/folders.toml")).journal.policy.archive
folder = Path("/var/lib/pitbox/retiring")
folder.mkdir(exist_ok=True)
policy = Policy(segment_bytes=1, ballast_bytes=0, keep_bytes=1, archive=archive)
store = Store.open(folder, version=1, digests={}, policy=policy, clocks=lambda: (1, 1))
for _ in range(4):
    store.snapshot(store.last().seq, b"{}")
print("retiring:", store.retiring_failed or "done", flush=True)
store.close()
"""
# The instance that runs it, with all restrictions of the unit.
RETIRING: Final = """[Service]
Type=oneshot
ExecStart=
ExecStart={python} /etc/pitbox/retires.py
Restart=no
"""
# Folders that the unit may not write without a drop-in.
COPY: Final = "/srv/second copy"
ARCHIVE: Final = "/srv/archive"
# Device nodes by number: a serial port, which the unit allows; FUSE and the kernel's log, which it does not.
NODES: Final = {"/run/ttyS0": ("4", "64"), "/run/fuse": ("10", "229"), "/run/kmsg": ("1", "11")}


# The exit code for a missing requirement, and the command that tests namespaces.
LACKING: Final = 2
NAMESPACES: Final = ("unshare", "-m", "-p", "-f", "-u", "-C", "-i", "mount", "--make-rprivate", "/")


class Interpreter(NamedTuple):
    """The folders that a unit must see to run Python: the installation, and the packages of this environment."""

    base: Path
    packages: Path

    @property
    def python(self) -> str:
        """The program, as the unit sees it."""
        program = Path(sys.executable).resolve()
        short = program.relative_to(self.base) if program.is_relative_to(self.base) else Path("bin", program.name)
        return f"{BENCH}/base/{short}"

    @property
    def environment(self) -> tuple[str, ...]:
        """The variables with which it finds its libraries, our packages and our tree."""
        paths = f"{BENCH}/tree:{BENCH}/packages"
        return f"PYTHONHOME={BENCH}/base", f"LD_LIBRARY_PATH={BENCH}/base/lib", f"PYTHONPATH={paths}"


INTERPRETER: Final = Interpreter(Path(sys.base_prefix).resolve(), Path(sysconfig.get_path("purelib")).resolve())


def init_script(folder: Path, tree: Path = ROOT, interpreter: Interpreter = INTERPRETER) -> str:
    """Return the script that process 1 runs before it becomes systemd. Paths may contain any character."""
    paths = {"folder": folder, "tree": tree, "packages": interpreter.packages, "base": interpreter.base}
    return INIT.format(bench=BENCH, **{name: shlex.quote(str(path)) for name, path in paths.items()})


def closed_to_others(*folders: Path) -> list[Path]:
    """Return the folders that the unit's user cannot read, even when they are bound to a reachable place."""
    return [folder for folder in folders if folder.stat().st_mode & 0o005 != 0o005]


class Systemd:
    """One systemd, in namespaces that end with it."""

    def __init__(self, folder: Path) -> None:
        script = folder / "init.sh"
        script.write_text(init_script(folder))
        words = " ".join(INTERPRETER.environment)
        (folder / "drop-in.conf").write_text(DROP_IN.format(python=INTERPRETER.python, environment=words))
        command = ("unshare", "-m", "-p", "-f", "-u", "-C", "-i", "--kill-child", "sh", str(script))
        self._outer = subprocess.Popen(command, stdin=subprocess.DEVNULL)  # noqa: S603 - our own words
        self._init = 0

    def python(self, *arguments: str) -> str:
        """Run the unit's own interpreter in the namespaces, as root; return its output."""
        return self.inside("env", *INTERPRETER.environment, INTERPRETER.python, *arguments)

    def inside(self, *words: str) -> str:
        """Run a command in the namespaces; return its output."""
        if not self._init:
            children = Path(f"/proc/{self._outer.pid}/task/{self._outer.pid}/children").read_text().split()
            self._init = int(children[0])
        enter = ("nsenter", "-t", str(self._init), "-m", "-p", "-C", "-u", "-i")
        done = subprocess.run(  # noqa: S603 - our own words
            [*enter, *words], capture_output=True, text=True, timeout=LIMIT, check=False
        )
        return done.stdout + done.stderr

    def show(self, name: str) -> str:
        """Return a property of our unit."""
        return self.inside("systemctl", "show", UNIT, "--value", "-p", name).strip()

    def until(self, what: str, holds: Callable[[], bool]) -> None:
        """Wait for a condition and print when it holds; raise AssertionError with the box's log if it never does."""
        began = time.monotonic()
        while True:
            with suppress(OSError, IndexError, ValueError):
                if holds():
                    print(f"{time.monotonic() - began:5.1f} s  {what}", flush=True)
                    return
            assert time.monotonic() < began + LIMIT, f"not seen: {what}\n{self.words()}"
            time.sleep(0.1)

    def write(self, path: str, text: str) -> None:
        """Write a file in the namespaces, as root."""
        self.inside("mkdir", "-p", str(Path(path).parent))
        self.inside("sh", "-c", 'printf %s "$1" > "$2"', "sh", text, path)

    def log(self) -> str:
        """Return the log of the boxes."""
        return self.inside("cat", "/run/pitbox.log")

    def words(self) -> str:
        """Return the state of the unit and the end of the box's log."""
        state = self.inside("systemctl", "status", "--no-pager", UNIT)
        return f"{state}\n{self.inside('tail', '-n', '20', '/run/pitbox.log')}"

    def close(self) -> None:
        """End it, and everything in it."""
        if self._init:
            with suppress(ProcessLookupError):
                os.kill(self._init, 9)
        self._outer.kill()
        self._outer.wait()


def lay_out(folder: Path) -> None:
    """Write a table whose machines are not connected: a box starts without them."""
    folder.mkdir()
    kinds = {slot: slot.partition(".")[0] for slot in table_slots(GAME)}
    text = table_toml(GAME, {slot: f"/dev/pitbox-{slot}" for slot in kinds})
    (folder / "table.toml").write_text(text.replace('folder = "data"', 'folder = "/var/lib/pitbox"'))
    (folder / "bad.toml").write_text("[table]\n")
    elsewhere = text.replace('folder = "data"', 'folder = "/var/lib/pitbox/folders"')
    elsewhere += f'\n[journal]\ncopy = "{COPY}"\narchive = "{ARCHIVE}"\nkeep_days = 400\n'
    (folder / "folders.toml").write_text(elsewhere)
    (folder / "retiring.toml").write_text(elsewhere)
    (folder / "retires.py").write_text(RETIRES)
    save_approved(folder / "approved.toml", frozenset(approved_firmware(kind) for kind in kinds.values()))
    for slot, kind in kinds.items():
        save_key(folder / f"{slot}.key", new_key(f"SN-{slot}", kind))


def devices(systemd: Systemd) -> None:
    """Check which device nodes the unit may open, compared with a process outside the unit."""
    for node, numbers in NODES.items():
        systemd.inside("mknod", "-m", "666", node, "c", *numbers)
    free = systemd.python("-c", OPENS, "0", "/dev/null", *NODES).split()
    held = systemd.python("-c", OPENS, systemd.show("MainPID"), "/dev/null", *NODES).split()
    if "EPERM" in free:
        print(f"         devices were not tried: this computer lets its own root open no more than {free}")
        return
    assert held[:2] == free[:2], f"a serial port is allowed: {held}, elsewhere {free}"
    assert held[2:] == ["EPERM", "EPERM"], f"nothing else is: {held}, elsewhere {free}"
    print(
        f"         a serial port is let through ({held[1]}), other devices are refused ({held[2]}; elsewhere {free[2]})"
    )


def folders(systemd: Systemd) -> None:
    """Check that the shipped unit may not write copy and archive, and may with the drop-in of `config unit`."""
    unit, pitbox = "pitbox@folders", ("-m", "table_controller.cli")
    check = (*pitbox, "config", "check", "/etc/pitbox/folders.toml")
    drop_ins = "/run/units/pitbox@retiring.service.d"
    systemd.write(f"{drop_ins}/retiring.conf", RETIRING.format(python=INTERPRETER.python))
    systemd.inside("install", "-d", "-o", "pitbox", "-g", "pitbox", "/var/lib/pitbox/folders", COPY, ARCHIVE)
    systemd.python(*pitbox, "journal", "begin-copy", COPY)
    systemd.inside("chown", "-R", "pitbox:pitbox", COPY)
    systemd.inside("systemctl", "daemon-reload")
    systemd.inside("systemctl", "start", unit)
    checked = systemd.python(*check)
    for key, folder in (("journal.copy", COPY), ("journal.archive", ARCHIVE)):
        assert f"PB-855  {key}: {unit} cannot write to {folder}" in checked, checked
        systemd.until(
            f"{key} is refused, and the log has the cause",
            lambda words=f"PB-855 {key}: this box cannot write to {folder}": words in systemd.log(),  # type: ignore[misc]
        )
    assert "pitbox config unit /etc/pitbox/folders.toml > " in checked, checked
    systemd.inside("systemctl", "start", "pitbox@retiring")
    assert f"retiring: {ARCHIVE} cannot be written (Read-only file system)" in systemd.log(), systemd.log()
    assert "contains no journal" in systemd.python(*pitbox, "journal", "verify", COPY), "nothing was written there"
    drop_in = systemd.python(*pitbox, "config", "unit", "/etc/pitbox/folders.toml")
    for name in ("folders", "retiring"):
        systemd.write(f"/run/units/pitbox@{name}.service.d/folders.conf", drop_in)
    systemd.inside("systemctl", "daemon-reload")
    systemd.inside("systemctl", "restart", unit)
    checked = systemd.python(*check)
    assert "PB-855" not in checked, f"{checked}\n{systemd.inside('systemctl', 'show', unit, '-p', 'ReadWritePaths')}"
    systemd.until(
        "with the drop-in the second copy is written",
        lambda: "intact" in systemd.python(*pitbox, "journal", "verify", COPY),
    )
    systemd.inside("systemctl", "start", "pitbox@retiring")
    systemd.until("with the drop-in the archive is written", lambda: "retiring: done" in systemd.log())
    assert systemd.inside("ls", ARCHIVE).split(), "a segment is in the archive"
    systemd.inside("chown", "root:root", ARCHIVE)
    checked = systemd.python(*check)
    assert f"PB-855  journal.archive: user pitbox of {unit} cannot write to {ARCHIVE}" in checked, checked
    print("         a folder of another user is named by config check as root")
    systemd.inside("systemctl", "stop", unit)


def watch(systemd: Systemd) -> None:
    """Start, watch, kill, hang and stop the unit; check its state after each."""
    show = systemd.show
    systemd.until("systemd answers", lambda: "basic.target" in systemd.inside("systemctl", "list-units", "--no-pager"))
    systemd.inside("systemctl", "start", "--no-block", UNIT)
    systemd.until("READY=1: the unit is active", lambda: show("ActiveState") == "active")
    assert show("StatusText") == "running", systemd.words()
    assert (show("User"), show("NotifyAccess")) == ("pitbox", "main")
    devices(systemd)
    first = show("WatchdogTimestampMonotonic")
    systemd.until("WATCHDOG=1 comes again", lambda: show("WatchdogTimestampMonotonic") != first)
    for number, (signal, what) in enumerate((("KILL", "killed"), ("STOP", "hung: the watchdog ended it")), start=1):
        old = show("MainPID")
        systemd.inside("kill", f"-{signal}", old)
        systemd.until(
            f"{what}, and started again",
            lambda n=number, was=old: (
                (show("NRestarts"), show("ActiveState"), show("MainPID") != was)  # type: ignore[misc]
                == (str(n), "active", True)
            ),
        )
    systemd.inside("systemctl", "stop", UNIT)
    systemd.until("SIGTERM: stopped", lambda: show("ActiveState") == "inactive")
    assert (show("Result"), show("ExecMainStatus")) == ("success", "0"), systemd.words()
    verified = systemd.python("-m", "table_controller.cli", "journal", "verify", "/var/lib/pitbox/journal")
    assert "intact" in verified, verified
    print(f"         the journal of three starts: {verified.splitlines()[0]}")
    folders(systemd)
    other = "pitbox@bad"
    systemd.inside("systemctl", "start", other)
    code = systemd.inside("systemctl", "show", other, "--value", "-p", "ExecMainStatus", "-p", "NRestarts").split()
    assert sorted(code) == ["0", "2"], f"a wrong configuration is not tried again: {code}"
    print("         a wrong configuration ends with 2 and is not started again")


def lacks() -> str:
    """Return what this computer lacks and how to get it, or ""."""
    tools = ("unshare", "nsenter", "systemctl", "systemd-sysusers")
    if missing := [tool for tool in tools if shutil.which(tool) is None]:
        return f"{', '.join(missing)}: not installed (apt install systemd util-linux)"
    if os.geteuid() != 0:
        return "only root may start a systemd of its own (run this as root)"
    tried = subprocess.run(NAMESPACES, capture_output=True, text=True, timeout=LIMIT, check=False)  # noqa: S603 - ours
    if tried.returncode != 0:
        return f"this system does not let its root make namespaces: {tried.stderr.strip()}"
    if closed := closed_to_others(ROOT, *INTERPRETER):
        names = " ".join(map(shlex.quote, map(str, closed)))
        return f"the unit's user may not read the program that it runs (chmod -R o+rX {names})"
    return ""


def main() -> int:
    """Run the checks; return 0 if all passed, 2 with a sentence if this computer lacks something."""
    if lacking := lacks():
        print(lacking)
        return LACKING
    with TemporaryDirectory(prefix="pitbox-systemd-") as name:
        folder = Path(name)
        lay_out(folder / "table")
        systemd = Systemd(folder)
        try:
            watch(systemd)
        except AssertionError as unseen:
            print(unseen)
            return 1
        finally:
            systemd.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
