"""The shipped Box in virtual time, with power cuts and acts on the meter; a second ledger checks its journal."""

from __future__ import annotations

import json
from collections import Counter
from random import Random
from typing import TYPE_CHECKING, Final

from simulators.casino.disk import Disk
from table_controller.journal.export import ExportManifest, write_export
from table_controller.ledger.money import ACCOUNTS
from table_controller.table import events as ev
from table_controller.table import state_machines as mc
from table_controller.table.decisions import Booked, MeterPlay, Prompt, StateChanged
from tests.support.box.money_adversary import draw_meter_act
from tests.support.box.power_cuts import PowerCutTable, cut_at_next_claim, cut_at_random_point, new_decks, steps
from tests.support.core.ideal_table import AUDITOR, FLOOR, TECH
from tests.support.core.meters import PROGRESSIVES, choices
from tests.support.oracles.second_ledger import SecondLedger
from tools import verify_export

if TYPE_CHECKING:
    from pathlib import Path

    from table_controller.journal.chain import Record
    from table_controller.ledger.meter import MeterRules

TABLES: Final = ("687a-progressive-2", "688a-progressive-1", "688a-progressive-4")
ROUNDS: Final = 6


async def play(table: str, seed: int, rounds: int) -> tuple[list[Record], MeterRules, bool]:
    """Play rounds with power cuts and acts on the meter; return the records on disk and the initial meter rules."""
    rng = Random(f"{table} {seed}")
    house = PowerCutTable(
        PROGRESSIVES[table][0], seed=seed, disk=Disk(seed), snapshot_every=120, choices=choices(table)
    )
    try:
        await house.open("blue", "red")
        context = house.controller.table.context
        rules, printed = context.meter, context.edition.progressive
        assert rules is not None
        assert printed is not None
        for _ in range(rounds):
            await change_meter_by_hand(house, rng, rules)
            cut_at_random_point(house, rng) if rng.random() < 0.5 else cut_at_next_claim(house, rng)
            await house.round(tuple(seat for seat in (1, 2, 4, 6) if rng.random() < 0.8))
            await resume_play(house)
            await new_decks(house)
        house.disk.cut_at = house.mains.cut_at = house.on_claim = None
        await house.round((1, 2))
        return list(house.disk.records), rules, printed.rate == "submission"
    finally:
        await house.close()


async def change_meter_by_hand(house: PowerCutTable, rng: Random, rules: MeterRules) -> None:
    """Apply acts on the meter, and leave it open with little room below its limit."""
    for _ in range(rng.randrange(1, 4)):
        house.controller.submit(draw_meter_act(rng, house.controller.table.state.money.book.meters, rules))
        await house.wait(0.2)
        if house.is_box_down:
            return
    state = house.controller.table.state
    limit = -(-max(state.money.book.meters.current, rules.seed) // 10_000) + rng.choice((0, 30, 10_000))
    set_limit: list[ev.Event] = [
        ev.MeterClosed("m", FLOOR, AUDITOR),
        ev.MeterParameters("m", TECH, AUDITOR, None, limit),
    ]
    set_limit += [ev.MeterOpened("m", FLOOR, AUDITOR), ev.MeterOpened("m", FLOOR, TECH)]
    for event in set_limit:
        house.controller.submit(event)
    await house.wait(0.5)


async def resume_play(house: PowerCutTable) -> None:
    while house.is_box_down:
        house.disk.cut_at = house.mains.cut_at = None
        await house.power_up()
        await house.until_quiescent()
        if house.mains.is_on and house.controller.table.state.round.state == mc.BETTING:
            await house.round()


def audit(records: list[Record], rules: MeterRules, *, rate_is_open: bool) -> set[str]:
    """Check a journal with the second ledger, accounts summed from its transfers; return what happened."""
    book, held = SecondLedger(rules, rate_is_open=rate_is_open), Counter(dict.fromkeys(ACCOUNTS, 0))
    prompts: dict[int, Prompt] = {}
    state, closed, seeded = mc.IDLE, "", False
    for step in steps(records):
        prompt = prompts.get(step.event.prompt) if isinstance(step.event, ev.Answer) else None
        is_idle = state == mc.IDLE
        for each in step.decisions:
            if isinstance(each, Prompt):
                prompts[each.id] = each
            elif isinstance(each, MeterPlay):
                closed = "" if each.open else each.cause
            elif isinstance(each, StateChanged) and each.what == "round":
                state = each.state
            elif isinstance(each, Booked):
                for one in each.entry.transfers:
                    held[one.source] -= one.amount
                    held[one.to] += one.amount
                seeded = seeded or each.entry.kind == "seed"
        if seeded:
            book.apply_step(step.event, prompt, step.decisions, is_idle=is_idle)
            book.check(dict(held), closed, is_idle=state == mc.IDLE)
    return book.seen | {f"boot {records[-1].boot}"}


def exported(records: list[Record], folder: Path) -> Path:
    journal = json.loads(records[0].body)["journal"]
    write_export(ExportManifest(first=1, head_before="00" * 32, journal=journal), records, folder)
    return folder


async def check(table: str, seed: int, folder: Path) -> set[str]:
    records, rules, rate_is_open = await play(table, seed, ROUNDS)
    seen = audit(records, rules, rate_is_open=rate_is_open)
    verify_export.check(exported(records, folder), None)
    return seen
