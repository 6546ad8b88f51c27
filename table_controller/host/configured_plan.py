"""Builds the plan of a box from the configuration of its table. Opens no port."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from firmware_bridge.handshake import Trust
from firmware_bridge.transport.ports import open_port
from table_controller.access.pin_check import PinChecker
from table_controller.controller.plan import Plan, SlotPlan
from table_controller.journal.table_terms import SiteTerms
from table_controller.maintenance.key_files import FORMER_LIST

if TYPE_CHECKING:
    from table_controller.config import SlotConfig, TableConfig


def plan_of(config: TableConfig) -> Plan:
    """Return the plan of a configured table, with real ports and its people file."""
    places = tuple(_place(slot, config) for slot in config.slots)
    people = PinChecker(config.people)
    return Plan(
        config.name,
        config.edition,
        config.submission,
        places,
        people,
        escalate_after_s=config.escalate_after_s,
        socket_group=config.control.group,
        former_revocation_list=config.data / FORMER_LIST,
        is_development=config.development,
        site=_site(config),
    )


def _site(config: TableConfig) -> SiteTerms:
    return SiteTerms(
        site=config.site.name,
        development=config.development,
        table=config.name,
        zone=config.documents.time_zone,
        reporting_cents=config.documents.reporting_threshold_cents,
        makers={slot.name: slot.maker for slot in config.slots if slot.maker},
    )


def _place(slot: SlotConfig, config: TableConfig) -> SlotPlan:
    trust = Trust(slot.kind, {slot.key.serial: slot.key}, config.approved)
    return SlotPlan(slot.name, slot.kind, partial(open_port, slot.port), trust, slot.port, slot.key_file)
