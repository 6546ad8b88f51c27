"""`pitbox config`: check a table.toml, print an example, its schema or a systemd drop-in, accept changed devices."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING

from table_controller.cli import FAULT, OK, USAGE
from table_controller.cli.commands import config_accept
from table_controller.rulebook.registry import GAMES

if TYPE_CHECKING:
    import argparse

    from table_controller.config import TableConfig
    from table_controller.host.notices import Notice

HELP = "check a table's configuration; print an example, its schema or systemd drop-in; accept changed devices"
EXAMPLE = "pitbox config check /etc/pitbox/table.toml"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Describe the command's arguments."""
    commands = parser.add_subparsers(title="what to do", metavar="WHAT", required=True)
    about = "read a table.toml and every file it names; print every error (exit code 2), every failure that does not "
    about += "keep a box from starting (1), or what the file means (0)"
    check = commands.add_parser(
        "check", help=about, description=about, epilog="example: pitbox config check table.toml",
        formatter_class=parser.formatter_class,
    )  # fmt: skip
    check.add_argument("file", type=Path, nargs="?", metavar="FILE", help="default: /etc/pitbox/table.toml")
    check.set_defaults(do=_check)
    about = "print a table.toml with every key and its meaning"
    example = commands.add_parser(
        "example", help=about, description=about, formatter_class=parser.formatter_class,
        epilog="example: pitbox config example --game saigon_5_card > table.toml",
    )  # fmt: skip
    example.add_argument("--game", choices=GAMES, default="face_up_pai_gow", help="default: face_up_pai_gow")
    example.set_defaults(do=_example)
    about = "print the JSON Schema of table.toml, for editors"
    schema = commands.add_parser(
        "schema", help=about, description=about, epilog="example: pitbox config schema > table.schema.json",
        formatter_class=parser.formatter_class,
    )  # fmt: skip
    schema.set_defaults(do=_schema)
    about = "print a systemd drop-in that lets the box write to the folders that its table.toml names"
    unit = commands.add_parser(
        "unit", help=about, description=about, formatter_class=parser.formatter_class,
        epilog="example: pitbox config unit > /etc/systemd/system/pitbox@table.service.d/folders.conf",
    )  # fmt: skip
    unit.add_argument("file", type=Path, nargs="?", metavar="FILE", help="default: /etc/pitbox/table.toml")
    unit.set_defaults(do=_unit)
    accepting = commands.add_parser(
        "accept", help=config_accept.HELP, description=config_accept.HELP, epilog=f"example: {config_accept.EXAMPLE}",
        formatter_class=parser.formatter_class,
    )  # fmt: skip
    config_accept.add_arguments(accepting)
    accepting.set_defaults(do=config_accept.run)


def run(args: argparse.Namespace) -> int:
    """Run the typed subcommand."""
    done: int = args.do(args)
    return done


def _check(args: argparse.Namespace) -> int:
    from table_controller.config import default_path, examine
    from table_controller.config.check import host_problems, host_warnings
    from table_controller.host.notice_checks import all_notices

    examined = examine(args.file or default_path())
    problems, warnings = list(examined.problems), list(examined.warnings)
    notices: list[Notice] = []
    if examined.config is not None:
        problems += host_problems(examined.config)
        warnings += host_warnings(examined.config)
        notices = all_notices(examined.config, time.time())
    for problem in problems:
        print(f"{problem.code}  {problem}")
    failures = [notice for notice in notices if notice.is_failure]
    for notice in failures:
        print(f"{notice.code}  {notice.text}\n        {notice.do}")
    warnings += [notice.sentence for notice in notices if not notice.is_failure]
    for warning in warnings:
        print(f"note    {warning}")
    if problems or examined.config is None:
        print(f"{len(problems)} problem{'s' if len(problems) > 1 else ''}: a box does not start with this file")
        return USAGE
    print("\n".join(_meaning(examined.config)))
    if failures:
        print(f"{examined.config.path}: a box starts with this file, but {len(failures)} things that it names fail")
        return FAULT
    print(f"{examined.config.path} can be used")
    return OK


def _meaning(config: TableConfig) -> list[str]:
    """Return what the file means, line by line."""
    from table_controller.host.addresses import panel_addresses
    from table_controller.journal.migrations import EDITION
    from table_controller.journal.versions import digests_of

    submission, rules, policy = config.submission, config.edition, config.journal.policy
    kept = [f"{policy.keep_days} days"] if policy.keep_days else []
    kept += [f"{policy.keep_bytes >> 20} MB"] if policy.keep_bytes else []
    broker = "none" if config.mqtt is None else f"{config.mqtt.host}:{config.mqtt.port} as {config.mqtt.prefix}"
    panel = " or ".join(panel_addresses(config.panel))
    in_journal = digests_of(rules, submission, config.kinds)[EDITION]
    rows = {
        "table": f"{config.name} ({config.site.id}/{config.id})",
        "edition": f"{rules.title}, chapter {rules.chapter}, {rules.dated}, digest {in_journal} in the journal, "
        f"{rules.digest} in the manifest",
        "rules": f"dealing {submission.dealing}, shuffler {submission.shuffler}"
        + (f", start {submission.start}" if submission.start else "")
        + f", wagers {', '.join(submission.wagers) or 'no optional ones'}",
        "devices": ", ".join(config.kinds),
        "journal": f"{config.journal.folder}, kept {' or '.join(kept) or 'for ever'}",
        "copy": str(config.journal.copy or "none"),
        "broker": broker + (" with TLS" if config.mqtt is not None and config.mqtt.tls else ""),
        "panel": panel if config.panel.enabled else "none",
        "control": str(config.control.socket),
        "people": str(config.people),
    }
    return [f"{name:8s}{what}" for name, what in rows.items()]


def _example(args: argparse.Namespace) -> int:
    from table_controller.config.example import example

    print(example(args.game), end="")
    return OK


def _unit(args: argparse.Namespace) -> int:
    from table_controller.config import default_path, load_config
    from table_controller.host.box_folders import drop_in

    print(drop_in(load_config(args.file or default_path())), end="")
    return OK


def _schema(_args: argparse.Namespace) -> int:
    from table_controller.config.schema import schema

    print(json.dumps(schema(), indent=2))
    return OK
