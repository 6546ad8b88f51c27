"""`pitbox device KIND ACTION`: operate one device on the bench. Refuses a device that is enrolled at a table.

`table_controller.cli.kinds` has the actions of each kind of machine; this module has the actions that all share.
"""

from __future__ import annotations

import asyncio
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

import msgspec

from devices.bench_link import add_link_arguments, bench_driver
from devices.kinds import KINDS, AnyKind, kind_named
from table_controller.cli.render.screen import Screen
from table_controller.table.view import slot_label

if TYPE_CHECKING:
    import argparse

    from devices.driver import Driver
    from devices.driver_events import Reported

HELP = "operate one device on the bench: status, sensors, self-test, a shuffle with a live picture"
EXAMPLE = "pitbox device shuffler --port /dev/ttyUSB0 --key SN123.key status"

# Actions of every kind of machine.
COMMON_ACTIONS: Final = {
    "identify": "serial number, firmware, last commands",
    "link": "round trip time, retransmissions, noise",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments, a page for each kind."""
    kinds = parser.add_subparsers(title="kinds of device", metavar="KIND", required=True, dest="kind")
    for name in KINDS:
        module = _module(name)
        actions = COMMON_ACTIONS | module.ACTIONS
        page = kinds.add_parser(
            name,
            help=f"operate one {slot_label(name).lower()}",
            description=f"operate one {slot_label(name).lower()} on the bench",
            epilog="actions:\n"
            + "\n".join(f"  {action:10s} {what}" for action, what in actions.items())
            + f"\n\nexample: pitbox device {name} --port /dev/ttyUSB0 --key SN123.key identify",
            formatter_class=parser.formatter_class,
        )
        page.add_argument("action", choices=list(actions), metavar="ACTION", help=", ".join(actions))
        add_link_arguments(page)
        module.add_arguments(page)


def _module(kind: str) -> Any:
    return import_module(f"table_controller.cli.kinds.{kind}")


def run(args: argparse.Namespace) -> int:
    """Connect, run one action, and print that the device is left unverified."""
    _module(args.kind).check(args)
    return asyncio.run(_bench_session(args, kind_named(args.kind)))


async def _bench_session(args: argparse.Namespace, kind: AnyKind) -> int:
    module = _module(kind.name)
    with Screen() as screen:
        session = module.BenchSession(args, screen)
        async with bench_driver(args, session.on_event, kind=kind.name) as driver:
            try:
                result = _common(args.action, driver, screen)
                if result is None:
                    result = await session.run_action(driver)
            except asyncio.CancelledError:  # Ctrl-C stops all motion: fingers may be inside
                if args.action in module.MOVING:
                    await session.stop(driver)
                raise
        screen.line("The device is left unverified: a table verifies it again before it goes into service.", "dim")
        return int(result)


def _common(action: str, driver: Driver, screen: Screen) -> int | None:
    """Run an action of every kind; return None if the action belongs to one kind."""
    if action == "identify":
        assert driver.reported is not None
        screen.table(_identity(driver.reported))
    elif action == "link":
        screen.table(_link(driver))
    else:
        return None
    return 0


def _identity(reported: Reported) -> list[tuple[str, ...]]:
    hello, report = reported.hello, reported.report
    return [
        ("kind", hello.kind),
        ("serial number", f"{hello.serial} (key proved)"),
        ("model", hello.model),
        ("firmware", f"{hello.firmware} (on the approved list)"),
        ("digest", hello.digest.hex()),
        ("capabilities", ", ".join(hello.capabilities)),
        ("boot id", f"{hello.boot_id:08x}"),
        ("up for", f"{report.uptime_s} s"),
        ("bench visits", f"{report.bench_visits}, this one included"),
        ("last commands", ", ".join(f"{c.command} {c.outcome.name.lower()}" for c in report.commands[-4:]) or "none"),
    ]


def _link(driver: Driver) -> list[tuple[str, ...]]:
    link = driver.require_link()
    counted = msgspec.structs.asdict(link.counters) | msgspec.structs.asdict(link.wire.framer.counters)
    counted |= {"forged": link.forged, "replayed": link.replayed}
    trip = f"{link.round_trip_s * 1000:.1f} ms, retransmitted after {link.rto_s * 1000:.0f} ms"
    return [("round trip", trip), *((name.replace("_", " "), str(count)) for name, count in counted.items())]
