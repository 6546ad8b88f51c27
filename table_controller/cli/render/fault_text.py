"""A diagnosis as lines of text: the rule first, then where, how many cards, why, and the steps."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from table_controller.cli.render.card_path import CARDS, CLEAR, DARK, FAULTY
from table_controller.diagnosis.card_paths import BY_HAND, PATHS
from table_controller.diagnosis.return_evidence import requirements_of
from table_controller.table.return_progress import ReturnProgress, began, replay, required_evidence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from table_controller.cli.render.card_path import StyledText as Styled
    from table_controller.diagnosis.card_paths import Leg
    from table_controller.diagnosis.fault_report import FaultReport
    from table_controller.diagnosis.findings import CardCounts, CardRange, Diagnosis
    from table_controller.table.return_progress import ReturnDecision
    from table_controller.table.return_steps import ReturnStep

# The rule of every table; it also holds for a fault report that was written on a bench and names no clause.
_EVERYWHERE: Final = (
    "the dealer waits: no card is dealt and no round is opened from this machine until it is back in service"
)
# So many reasons that block the next action; the panel shows all.
_MOST_REASONS: Final = 5


def heading(d: FaultReport) -> str:
    """Return number, time, machine and kind of a fault, on one line."""
    at = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(d.at_ns / 1e9))
    what = d.halt.what.replace("_", " ")
    where = f" in {d.halt.segment}" if d.halt.segment else ""
    m = d.machine
    known = " ".join(filter(None, (m.model, m.serial, f"firmware {m.firmware}" if m.firmware else "")))
    return f"fault report {d.number}  {at}  {m.slot}: {what}{where}  {known}".rstrip()


def rule_lines(d: FaultReport) -> Iterator[str]:
    """Yield what the table must do by rule."""
    yield _EVERYWHERE
    if d.orders or d.clauses:
        yield "ordered: " + ", ".join(order.replace("_", " ") for order in d.orders) + _cited(d.clauses)
    reasons = [
        (reason, clause)
        for permit in sorted(d.permits, key=lambda permit: permit.on != d.machine.slot)
        for reason, clause in zip(permit.reasons, permit.clauses, strict=False)
    ]
    for reason, clause in tuple(dict.fromkeys(reasons))[:_MOST_REASONS]:
        yield reason + _cited((clause,))


def _cited(clauses: tuple[str, ...]) -> str:
    return f" [{', '.join(clauses)}]" if clauses else ""


# --- where ------------------------------------------------------------------------------------------------------------


def draw_fault(d: FaultReport, diagnosis: Diagnosis) -> list[Styled]:
    """Return the machine's card path with the segment marked: ✖ where it is, ? where it may be."""
    path = PATHS[d.machine.kind]
    by_hand = BY_HAND in d.machine.capabilities
    legs: tuple[Leg, ...] = path.legs[1:] if by_hand else path.legs
    cards = diagnosis.cards
    spans: list[Styled] = [(legs[0].start + " ", "")]
    if not by_hand:
        spans.append((_box(cards.waiting), CARDS))
    for number, leg in enumerate(legs):
        if number or by_hand:
            spans.append((_box(_at_rest_inside(cards)), CARDS))
        for stretch in leg.stretches:
            if by_hand and stretch.segment == "draw":
                pass
            elif stretch.segment in diagnosis.where.segments:
                mark = "✖" if len(diagnosis.where.segments) == 1 else "?"
                spans.append((f"{mark}{stretch.segment}{mark}", FAULTY))
            else:
                spans.append((f"─{stretch.segment}─", CLEAR))
            if stretch.sensor is not None:
                level = d.level(stretch.sensor)
                bad = stretch.sensor in diagnosis.where.sensors
                dark = level is not None and level.blocked
                spans.append(("●" if dark else "○", FAULTY if bad else DARK if dark else CLEAR))
    return [*spans, (_box(cards.out), CARDS), (" drawn" if by_hand else " " + legs[-1].end_place, "")]


def _at_rest_inside(cards: CardCounts) -> CardRange | None:
    """Return the cards in the store: those inside that are not on the path."""
    if cards.inside is None:
        return None
    least, most = cards.inside.least - cards.path.most, cards.inside.most - cards.path.least
    return type(cards.path)(max(0, least), max(0, most))


def _box(cards: CardRange | None) -> str:
    text = "?" if cards is None else str(cards.least) if cards.exact else f"{cards.least}-{cards.most}"
    return f"▕{text:>2}▏"


def where_lines(diagnosis: Diagnosis) -> Iterator[str]:
    """Yield the segment and the sensors around it."""
    where = diagnosis.where
    if len(where.segments) == 1:
        yield f"in segment {where.segments[0]}"
    elif where.segments:
        yield f"in one of the segments {', '.join(where.segments)}: the sensors cannot distinguish them"
    if where.at_rest:
        yield f"{'or at rest' if where.segments else 'at rest'}: {where.at_rest}"
    if where.hidden:
        yield f"nothing is on the path; missing cards can be {where.hidden}, where no sensor looks"
    if where.past or where.before:
        yield f"last sensor passed: {where.past or 'none'}; first not reached: {where.before or 'none'}"
    if where.sensors:
        named = ", ".join(where.sensors)
        yield f"dark: sensor {named}" if where.segments else f"sensor {named}; no card is on the path"


def cards_line(cards: CardCounts) -> str:
    """Return the account: in + path + out = expected."""
    parts = [
        ("in the intake", cards.waiting), ("at rest inside", _at_rest_inside(cards)), ("on the path", cards.path),
        ("out", cards.out),
    ]  # fmt: skip
    known = " + ".join(f"{span} {name}" for name, span in parts if span is not None)
    inside = "unknown" if cards.inside is None else str(cards.inside)
    likely = ""
    if cards.inside is not None and not cards.inside.exact and cards.likely in cards.inside:
        likely = f", most likely {cards.likely}"
    expected = f" = {cards.expected} expected" if cards.expected is not None and cards.out is not None else ""
    return f"{inside} inside{likely}: {known}{expected}"


# --- why, and return to service ---------------------------------------------------------------------------------------


def cause_lines(diagnosis: Diagnosis) -> Iterator[str]:
    """Yield the causes, the likeliest first, each with its evidence."""
    for number, cause in enumerate(diagnosis.causes, 1):
        at = f" ({cause.at})" if cause.at else ""
        sure = "" if cause.sure else "; others fit, too" if number == 1 and len(diagnosis.causes) > 1 else ""
        yield f"{number}. {cause.why.value}{at}{sure}"
        for each in cause.evidence:
            yield f"     {each}"


def step_lines(procedure: ReturnProgress) -> Iterator[str]:
    """Yield the steps with their marks (done, next, open) and the evidence that each needs."""
    if procedure.began.service and not procedure.technician and procedure.next is not None:
        yield "a technician must begin  [--step begin]; the machine returns to service after the last step"
    for step in procedure.steps:
        mark = "☑" if step in procedure.done else "▶" if step is procedure.next else "☐"
        yield f"{mark} {_name(step):12s} {step.value}  [{required_evidence(procedure, step)}]"


def progress_of(
    d: FaultReport, diagnosis: Diagnosis, open_: ReturnProgress | None, lines: list[ReturnDecision]
) -> ReturnProgress:
    """Return the return to service of a fault report: open at a box, else by its lines, else before it began."""
    before = ReturnProgress(began(d.number, d.machine.slot, "", requirements_of(d, service=not diagnosis.staff)))
    return open_ or replay(lines) or before


def _name(step: ReturnStep) -> str:
    return step.name.lower().replace("_", " ")
