"""`pitbox device keypad`: the actions of a dealer keypad and the text of its answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from devices.bench_link import bench_command_id
from devices.driver_events import OutcomeLost
from devices.keypad import messages as m
from devices.keypad.state import DriverEvent, KeypadView, check_freshness, fold, seats_of
from firmware_bridge.errors import UsageError, code_of
from table_controller.cli.link_watch import LinkWatch, add_watch_arguments, check_watch

if TYPE_CHECKING:
    import argparse

    from devices.keypad.driver import KeypadDriver
    from table_controller.cli.render.screen import Screen

ACTIONS: Final = {
    "status": "the current prompt, the key switch, pressed keys",
    "watch": "show presses and entries as they come",
    "show": "show lines (--line) and ask for an entry (--ask)",
    "lamps": "light these lamps and no others (--on)",
    "selftest": "test keys, lamps and display",
    "reset": "restart the firmware",
}
# A keypad has no moving parts.
MOVING: Final = ()


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments that only a keypad has."""
    parser.add_argument(
        "--line", action="append", default=[], metavar="TEXT", help="with show: a line; repeatable, up to 4"
    )
    parser.add_argument(
        "--ask", type=_typed, choices=_choices(m.KeypadPrompt), default="nothing", help="with show: which entry"
    )
    parser.add_argument(
        "--on", action="append", type=_typed, default=[], choices=_choices(m.Lamp), help="with lamps: which"
    )
    add_watch_arguments(parser)


def _choices(words: type[m.KeypadPrompt] | type[m.Lamp]) -> list[str]:
    return [word.name.lower().replace("_", "-") for word in words]


def _typed(text: str) -> str:
    """Return a typed choice; with underscores it is the spelling of earlier versions."""
    return text.replace("_", "-")


def _member(choice: str) -> str:
    return choice.replace("-", "_").upper()


def check(args: argparse.Namespace) -> None:
    """Refuse arguments that do not fit the action, before a port is opened."""
    if args.action != "show" and (args.line or args.ask != "nothing"):
        raise UsageError("--line and --ask belong to the action show")
    if args.action != "lamps" and args.on:
        raise UsageError("--on belongs to the action lamps")
    check_watch(args)


class BenchSession:
    """One bench session with a keypad: shows every press."""

    def __init__(self, args: argparse.Namespace, screen: Screen) -> None:
        self.view = KeypadView()
        self._args = args
        self._screen = screen
        self._watch = LinkWatch()

    def on_event(self, event: DriverEvent) -> None:
        """Show an event of the driver."""
        self.view = fold(self.view, event)
        self._watch.on_event(event)
        if isinstance(event, m.KeypadAction) and self._args.action == "watch":
            old = check_freshness(event)
            self._screen.line(f"{event.press:5d} {_act(event)}", "yellow" if old else "bold")
            if old is not None:
                self._screen.line(f"      {old.code}: {old}", "red")
        elif isinstance(event, m.Fault):
            self._screen.line(f"{code_of(event.reason)}: {_name(event.key)} is stuck", "bold red")
        elif isinstance(event, m.SelfTested):
            bad = [f"key {_name(key)}" for key in m.Key if event.bad_keys >> key & 1]
            bad += [f"lamp {_name(lamp)}" for lamp in m.Lamp if event.bad_lamps >> lamp & 1]
            bad += [] if event.display else ["display"]
            self._screen.line("not passed: " + ", ".join(bad) if bad else "keys, lamps and display passed")
        elif isinstance(event, OutcomeLost):
            self._screen.line(f"the outcome of command {event.command} is unknown", "bold red")

    async def stop(self, driver: KeypadDriver) -> None:
        """Do nothing: there are no moving parts."""

    async def run_action(self, driver: KeypadDriver) -> int:
        """Run the typed action; return the exit code."""
        args, screen, command = self._args, self._screen, bench_command_id()
        match args.action:
            case "status":
                screen.table(_status(await driver.status()))
                return 0
            case "watch":
                await self._watch.wait(args.seconds)
                return 0
            case "show":
                await driver.show(command, m.KeypadPrompt[_member(args.ask)], args.line)
            case "lamps":
                await driver.set_lamps(command, *(m.Lamp[_member(name)] for name in args.on))
            case _:
                await {"selftest": driver.self_test, "reset": driver.reset}[args.action](command)
        screen.line(f"{args.action}: done", "green")
        return 0


def _name(word: m.Key | m.Lamp) -> str:
    return word.name.lower().replace("_", " ")


def _act(act: m.KeypadAction) -> str:
    match act:
        case m.Pressed():
            what = f"{_name(act.key)} (key switch on {act.switch.name.lower()})"
        case m.SeatsEntered():
            what = f"seats in the round: {', '.join(map(str, seats_of(act))) or 'none'}"
        case m.CountEntered():
            what = f"{act.prompt.name.lower().replace('_', ' ')}: {act.count}"
        case m.Turned():
            what = f"key switch turned to {act.switch.name.lower()}"
    return f"{what}, {act.age_ms / 1000:.1f} s ago" if act.age_ms else what


def _status(status: m.Status) -> list[tuple[str, ...]]:
    reason = f"{code_of(status.reason)} {status.reason.name.lower()}" if status.reason else "none"
    return [
        ("state", status.state.name.lower()),
        ("key switch", status.switch.name.lower()),
        ("prompt", status.prompt.name.lower().replace("_", " ")),
        ("last press", str(status.press)),
        ("remembered", str(status.press + 1 - status.oldest)),
        ("lamps", ", ".join(_name(lamp) for lamp in m.Lamp if status.lamps >> lamp & 1) or "none"),
        ("keys down", ", ".join(_name(key) for key in m.Key if status.held >> key & 1) or "none"),
        ("stuck keys", ", ".join(_name(key) for key in m.Key if status.stuck >> key & 1) or "none"),
        ("last fault", reason),
    ]
