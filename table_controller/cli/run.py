"""`pitbox run`: the box of one table, until it is told to stop. Reads the configuration; the rest is elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from table_controller.cli import OK

if TYPE_CHECKING:
    import argparse

    from table_controller.table.events import Person

HELP = "run the box of one table: its machines, its journal, its people"
EXAMPLE = "pitbox run --config /etc/pitbox/table.toml"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    parser.add_argument("--config", type=Path, required=True, metavar="FILE", help="the table's table.toml")
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="the data folder (default: data beside FILE)")


def run(args: argparse.Namespace) -> int:
    """Run until SIGTERM or SIGINT."""
    import asyncio
    from functools import partial

    from firmware_bridge.handshake import Trust
    from firmware_bridge.transport.ports import open_port
    from table_controller.config import load_config
    from table_controller.controller.plan import Place, Plan
    from table_controller.controller.serve import serve
    from table_controller.rulebook import check_submission, edition

    config = load_config(args.config)
    rules = edition(config.game)
    kinds = [slot.kind for slot in config.slots]
    submission = check_submission(rules, _bench_choices(config.game, kinds))
    places = tuple(
        Place(slot.name, slot.kind, partial(open_port, slot.port),
              Trust(slot.kind, {slot.key.serial: slot.key}, config.approved), slot.port)
        for slot in config.slots
    )  # fmt: skip
    plan = Plan(config.name, rules, submission, places, _BenchPeople())
    data = args.data or args.config.resolve().parent / "data"
    data.mkdir(exist_ok=True)
    asyncio.run(serve(plan, data))
    return OK


class _BenchPeople:
    """Whoever says a role and a number, as in dealer-1: for a bench only, until a people file is configured."""

    def check(self, credential: str, pin: str) -> Person:
        from firmware_bridge.errors import NotAllowed
        from table_controller.table.events import Person

        names: Any = {"dealer": "dealer", "floor": "floorperson", "tech": "technician", "audit": "auditor"}
        role = names.get(credential.partition("-")[0])
        if role is None or pin != "0000":
            raise NotAllowed(f"{credential}: no such credential, or another PIN")
        return Person(role, credential)


def _bench_choices(game: str, kinds: list[str]) -> dict[str, Any]:
    choices: dict[str, Any] = {"adjacent_boxes": 1, "shuffler_counts": True, "two_decks": True}
    choices["dealing"] = "dealing_shoe" if game == "over_under" else "automated_shoe"
    choices["shuffler"] = "batch" if game == "over_under" else "deck"
    if game == "face_up_pai_gow" and "bet_sensor" in kinds:
        choices |= {"wagers": ["progressive"], "paytables": {"progressive": "688a-progressive-1"}}
    return choices
