"""Published incidents at card tables, replayed: the fault is made in the world, and the box has to find it.

An incident is a table, a fault, and rounds played until the box has found it and people have done what it asked. The
result is counted from the truth: rounds dealt from an incomplete deck, and the rounds dealt from each deck between its
last good check and the failed one. `attempts` holds what people and devices try.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from firmware_bridge.handshake import Trust
from simulators.casino import bypass_attempts
from simulators.casino.device_bench import trust_for
from simulators.casino.table import CasinoTable
from simulators.kinds.models import make_machine
from table_controller.table import state_machines as mc
from table_controller.table.decisions import Finding, HoldOpened, StateChanged

# Rounds before the fault, and at most after it.
BEFORE: Final = 2
AFTER: Final = 60
# At tables whose machines only count: rounds between face checks of a deck.
FACES: Final = 4

Listed = tuple[tuple[str, tuple[int, ...]], ...]  # a deck that was found wrong, and the affected rounds


class Incident(msgspec.Struct, frozen=True):
    """One published case."""

    id: str
    description: str
    published_hands: str  # hands dealt from bad cards in the published case
    game: str
    inject: Callable[[CasinoTable], None]
    expected_triggers: tuple[str, ...]  # triggers, one of which the box must find
    expected_findings: tuple[str, ...] = ()  # findings that the box must also record
    models: dict[str, str] = {}
    choices: dict[str, Any] = {}
    decks: tuple[str, ...] = ("blue", "red")
    before_response: Callable[[CasinoTable], Awaitable[bypass_attempts.BypassAttempts]] | None = (
        None  # what staff do before they follow the box
    )
    limit: str = ""  # what no check of this table can detect, and the countermeasure


class IncidentResult(msgspec.Struct, frozen=True):
    """The result of a replayed incident, by the true places of the cards."""

    id: str
    description: str
    published_hands: str
    rounds: int = 0  # dealt in all
    before: tuple[int, ...] = ()  # rounds dealt from bad cards before the first check that could detect it
    after: tuple[int, ...] = ()  # and after it: must be none
    listed: Listed = ()  # the rounds that the box listed as affected, finding by finding
    truth: Listed = ()  # the rounds that it should have listed
    linked: tuple[str, ...] = ()  # decks whose findings the box linked
    clauses: tuple[str, ...] = ()
    noticed: bool = False
    attempts: int = 0  # events that tried to bypass the box
    passed: int = 0  # attempts that were not refused: must be none
    findings: tuple[str, ...] = ()  # kinds of findings that the box recorded
    limit: str = ""
    special_result: str = ""  # the result, for incidents without bad cards

    @property
    def is_good(self) -> bool:
        """Whether the result is as required."""
        return self.noticed and not self.after and self.listed == self.truth and not self.passed

    @property
    def result_text(self) -> str:
        """The result in words."""
        if self.special_result:
            return self.special_result
        text = f"{len(self.after)} rounds after the first check able to see it, {len(self.before)} before"
        return text + (f"; {self.attempts} attempts, {self.passed} passed" if self.attempts else "")


def _shuffler(fault: str) -> Callable[[CasinoTable], None]:
    """Return a function that injects a fault into the shuffler."""

    def happen(casino: CasinoTable) -> None:
        casino.machines["shuffler.1"].inject(fault)

    return happen


def _lose_from_rack(casino: CasinoTable) -> None:
    """A card of the deck that was just dealt falls under the rail before it goes back into the machine."""
    casino.on_collect = casino.lose_one


def _swap_in_rack(casino: CasinoTable) -> None:
    """One card is replaced by a copy of another: the count stays right."""
    casino.on_collect = casino.swap_one


def _cover_swapped(casino: CasinoTable) -> None:
    """A playing card is used as the cover card: it stays aside when the deck goes back."""
    casino.on_collect = lambda back: casino.lose_one(back, "set_aside")


_COUNTS_ONLY: Final = (
    f"a machine that only counts cannot detect a wrong face; every {FACES} rounds a floorperson checks every face"
)
INCIDENTS: Final = (
    Incident("cards_left_inside", "16 cards stay inside a six-deck shuffler", "122", "over_under",
             _shuffler("cards_left_inside:count=16"), ("shuffler_fault", "count_wrong")),
    Incident("card_migrates", "a card wanders from one six-deck set into the other", "60", "over_under",
             _shuffler("card_migrates"), ("count_wrong",), ("migrated",)),
    Incident("sort_mode", "a shuffler is left in SORT mode", "16", "saigon_5_card", _shuffler("sort_mode"),
             ("shuffler_fault",)),
    Incident("ignored_light", "staff ignore a red light three times", "many", "face_up_pai_gow",
             _shuffler("jam:segment=lift,card=20"), ("shuffler_fault",),
             before_response=bypass_attempts.ignore_warning_light),
    Incident("damaged_card", "the shuffler tears a card and play goes on one card short", "42", "face_up_pai_gow",
             _shuffler("torn_card:segment=bridge,card=11"), ("shuffler_fault", "count_wrong")),
    Incident("right_count_wrong_card", "a queen is missing and a jack extra; the count is right", "420",
             "face_up_pai_gow", _swap_in_rack, ("count_wrong",), ("wrong_cards",),
             {"shuffler.1": "shuffler-identifying"}),
    Incident("right_count_wrong_card/counted", "the same, with a shuffler that only counts", "420", "saigon_5_card",
             _swap_in_rack, ("count_wrong",), ("wrong_cards",), choices={"face_check_rounds": FACES},
             limit=_COUNTS_ONLY),
    Incident("card_under_rail", "52 reported, the 53rd under the rail", "-", "dj_wild", _lose_from_rack,
             ("count_wrong", "shuffler_fault")),
    Incident("cover_card_swapped", "a playing card is used as the cut card", "1 round", "asia_poker", _cover_swapped,
             ("count_wrong", "shuffler_fault")),
)  # fmt: skip


async def replay(incident: Incident, seed: int = 1) -> IncidentResult:
    """Play an incident from before the fault until the box has found it and the table plays on, or cannot."""
    casino = CasinoTable(incident.game, seed=seed, models=incident.models, choices=incident.choices)
    tried = bypass_attempts.BypassAttempts()
    try:
        await casino.open(*incident.decks)
        for _ in range(BEFORE):
            await casino.round()
        mark = len(casino.step_log)
        incident.inject(casino)
        if incident.before_response is not None:
            tried = await incident.before_response(casino)
        spare = iter(("green", "white", "grey"))
        for _ in range(AFTER):
            await casino.round()
            if _complete(casino, mark, incident):
                break
            if any(deck.state == mc.REMOVED for deck in casino.controller.table.state.decks.values()):
                await _replace(casino, spare)
        await casino.round()
        return _judge(casino, mark, incident, tried)
    finally:
        await casino.close()


async def _replace(casino: CasinoTable, spare: Any) -> None:
    """Bring a new deck for a removed one."""
    state = casino.controller.table.state
    here = [deck for deck in state.decks.values() if deck.state != mc.REMOVED]
    if len(here) < 2 and state.round.state == mc.IDLE and not state.holds:
        await casino.bring_deck(next(spare))


def _findings(casino: CasinoTable, mark: int) -> list[Finding]:
    return [d for _, decisions in casino.step_log[mark:] for d in decisions if isinstance(d, Finding)]


def _find_trigger(casino: CasinoTable, mark: int, triggers: tuple[str, ...]) -> HoldOpened | None:
    triggers_found = (d for _, decisions in casino.step_log[mark:] for d in decisions if isinstance(d, HoldOpened))
    return next((d for d in triggers_found if d.trigger in triggers), None)


def _complete(casino: CasinoTable, mark: int, incident: Incident) -> bool:
    """Return whether the box has found everything that it must find."""
    kinds = {finding.kind for finding in _findings(casino, mark)}
    return _find_trigger(casino, mark, incident.expected_triggers) is not None and kinds >= set(
        incident.expected_findings
    )


def _dealt_when_found(casino: CasinoTable, mark: int, triggers: tuple[str, ...]) -> int:
    """Return the number of the last round dealt before the box found it."""
    dealt = 0
    numbers = [number for number, _, _ in casino.dealt_rounds]
    for at, (_, decisions) in enumerate(casino.step_log):
        dealt += decisions.count(StateChanged("round", mc.DEALING))
        if at >= mark and any(isinstance(d, HoldOpened) and d.trigger in triggers for d in decisions):
            return numbers[dealt - 1] if dealt else 0
    return 0


def _judge(casino: CasinoTable, mark: int, incident: Incident, tried: bypass_attempts.BypassAttempts) -> IncidentResult:
    bad = [number for number, _, whole in casino.dealt_rounds if not whole]
    finding = _find_trigger(casino, mark, incident.expected_triggers)
    first = _dealt_when_found(casino, mark, incident.expected_triggers)
    kept = _findings(casino, mark)
    return IncidentResult(
        incident.id, incident.description, incident.published_hands, len(casino.dealt_rounds),
        before=tuple(n for n in bad if n <= first),
        after=tuple(n for n in bad if n > first or not finding),
        listed=tuple((f.deck or "", f.rounds) for f in kept if f.kind == "affected_rounds"),
        truth=tuple(casino.truth.failed_checks),
        linked=tuple(sorted({f.deck or "" for f in kept if f.kind == "migrated"})),
        clauses=finding.clauses if finding else (),
        noticed=_complete(casino, mark, incident),
        attempts=tried.attempted, passed=tried.passed,
        findings=tuple(sorted({f.kind for f in kept})),
        limit=incident.limit,
    )  # fmt: skip


# --- incidents without bad cards --------------------------------------------------------------------------------------


async def replay_late_bet(seed: int) -> IncidentResult:
    """Players place chips around the call of no more bets: accepted ones are collected, the others returned."""
    casino = CasinoTable("face_up_pai_gow", seed=seed)
    try:
        await casino.open("blue", "red")
        went = await bypass_attempts.place_late_bets(casino)
        right = went.collected == len(went.accepted) and sorted(went.accepted + went.returned) == list(went.placed)
        result = (
            f"{went.collected} chips collected for {len(went.accepted)} accepted bets, {len(went.returned)} returned"
        )
        return IncidentResult(
            "late_bet",
            LATE_BET,
            "-",
            len(casino.dealt_rounds),
            noticed=bool(went.returned) and went.dealt,
            passed=int(not right),
            attempts=len(went.placed),
            special_result=result,
        )
    finally:
        await casino.close()


async def replay_rogue(seed: int) -> IncidentResult:
    """Put a shuffler with a wrong key at the table, then one with unapproved firmware."""
    results, passed = [], 0
    for wrong in ("key", "firmware"):
        casino = CasinoTable("saigon_5_card", seed=seed, trust={"shuffler.1": _distrust(seed, wrong)})
        try:
            went = await bypass_attempts.try_rogue_device(casino, "shuffler.1")
        finally:
            await casino.close()
        results.append(f"wrong {wrong}: {'served' if went.served else 'never in service'} ({went.cause})")
        passed += went.served or went.opened or "shuffler_missing" not in went.reasons
    return IncidentResult(
        "rogue_shuffler", ROGUE, "-", noticed=not passed, attempts=2, passed=passed, special_result="; ".join(results)
    )


def _distrust(seed: int, wrong: str) -> Trust:
    """Return the trust of a table that enrolled another board under this serial number, or approved other firmware."""
    right = trust_for(make_machine("shuffler", "shuffler.1", seed=seed))
    if wrong == "firmware":
        other = frozenset(replace(each, digest=bytes(len(each.digest))) for each in right.approved)
        return Trust(right.kind, right.keys, other)
    keys = {serial: replace(key, key=bytes(len(key.key))) for serial, key in right.keys.items()}
    return Trust(right.kind, keys, right.approved)


LATE_BET: Final = 'progressive bets land while "no more bets" is announced'
ROGUE: Final = "a shuffler with a wrong key, or with unapproved firmware"
# Every incident by its id: description, and the function that replays it.
REPLAYS: Final[dict[str, tuple[str, Callable[[int], Coroutine[Any, Any, IncidentResult]]]]] = {
    **{incident.id: (incident.description, partial(replay, incident)) for incident in INCIDENTS},
    "late_bet": (LATE_BET, replay_late_bet),
    "rogue_shuffler": (ROGUE, replay_rogue),
}
