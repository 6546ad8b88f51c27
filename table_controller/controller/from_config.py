"""Builds the plan of a box from the configuration of its table. Opens no port."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from firmware_bridge.handshake import Trust
from firmware_bridge.transport.ports import open_port
from table_controller.controller.key_files import REVOKED
from table_controller.controller.plan import Place, Plan
from table_controller.people_check import Checker

if TYPE_CHECKING:
    from table_controller.config import SlotConfig, TableConfig


def plan_of(config: TableConfig) -> Plan:
    """Return the plan of a configured table, with real ports and its people file."""
    places = tuple(_place(slot, config) for slot in config.slots)
    people = Checker(config.people)
    return Plan(
        config.name,
        config.edition,
        config.submission,
        places,
        people,
        escalate_after=config.escalate_after_s,
        group=config.control.group,
        revoked=config.data / REVOKED,
        development=config.development,
    )


def _place(slot: SlotConfig, config: TableConfig) -> Place:
    trust = Trust(slot.kind, {slot.key.serial: slot.key}, config.approved)
    return Place(slot.name, slot.kind, partial(open_port, slot.port), trust, slot.port, slot.key_file)
