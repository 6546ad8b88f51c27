"""Every paytable's expected payback: computed, published, and the difference."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from table_controller.rulebook.games.asia_poker import payback
from table_controller.rulebook.games.dj_wild import hands as dj_wild
from table_controller.rulebook.games.dj_wild import payback as second_hand
from table_controller.rulebook.games.face_up_pai_gow import payback as pai_gow
from table_controller.rulebook.games.over_under import payback as over_under
from table_controller.rulebook.games.saigon import payback as saigon
from table_controller.rulebook.hands.ranking import HandClass, class_of
from table_controller.rulebook.payback import hand_counts, simulation
from table_controller.rulebook.payback.published import Published, published
from table_controller.rulebook.settlement.terms import first_line, line_pay
from table_controller.rulebook.texts import paytables
from table_controller.rulebook.registry import GAMES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from table_controller.rulebook.texts import Pay, Paytable, PaytableLine

    Tick = Callable[[int], None]


class Figure(msgspec.Struct, frozen=True, kw_only=True):
    """One expected payback: the returned share of the wagered amount."""

    game: str
    wager: str
    table: str
    computed: Fraction
    half_width: Fraction | None = None  # of the 95 % interval, where it was simulated
    method: str  # what was counted or dealt
    assuming: str = ""
    published: Published | None = None

    @property
    def difference(self) -> Fraction | None:
        """Computed less published."""
        return None if self.published is None else self.computed - self.published.value


class Effort(msgspec.Struct, frozen=True):
    """How many rounds to simulate where exact counting is not possible."""

    rounds: int
    seed: int


class Study(NamedTuple):
    """Figures that one computation yields together."""

    title: str
    wagers: dict[str, tuple[str, ...]]  # by game
    steps: Callable[[Effort], int]
    run: Callable[[Effort, Tick], Iterator[Figure]]


def select_studies(game: str | None = None, wager: str | None = None) -> list[Study]:
    """Return the studies of all games, of one game, or of one of its wagers."""
    return [
        study
        for study in STUDIES
        if game is None or (game in study.wagers and (wager is None or wager in study.wagers[game]))
    ]


def compute_figures(study: Study, effort: Effort, tick: Tick) -> Iterator[Figure]:
    """Yield a study's figures."""
    for figure in study.run(effort, tick):
        yield msgspec.structs.replace(figure, published=published().get(figure.table))


# --- how a line counts ------------------------------------------------------------------------------------------------


def return_per_unit(pay: Pay) -> Fraction:
    """Return how much of one unit is returned at odds, the wager included."""
    if pay.push:
        return Fraction(1)
    assert pay.odds is not None
    return 1 + Fraction(*pay.odds)


def line_chances(table: Paytable, tally: Mapping[int, int]) -> list[tuple[PaytableLine, Fraction]]:
    """Return every line with its chance; a hand counts for the first line that fits."""
    lines: Counter[str] = Counter()
    for held, multiplicity in tally.items():
        line = first_line(table, held)
        if line is not None:
            lines[line.label] += multiplicity
    total = sum(tally.values())
    return [(line, Fraction(lines[line.label], total)) for line in table.lines]


def _of(game: str, wager: str) -> Iterator[Paytable]:
    yield from (table for table in paytables(game) if wager in table.wagers)


def _single(game: str, wager: str, tally: Mapping[int, int], method: str) -> Iterator[Figure]:
    """Yield the figures of wagers at odds on one hand."""
    for table in _of(game, wager):
        back = sum(
            (chance * return_per_unit(line_pay(line)) for line, chance in line_chances(table, tally)), Fraction(0)
        )
        yield Figure(game=game, wager=wager, table=table.id, computed=back, method=method)


def _envy(table: Paytable, tally: Mapping[int, int], unit: int) -> Fraction:
    """Return the payback of envy for one other seat, as a share of a wager of `unit` cents."""
    return sum(
        (chance * Fraction(line.envy_cents or 0, unit) for line, chance in line_chances(table, tally)), Fraction(0)
    )


def _progressive(table: Paytable, tally: Mapping[int, int], *, rate: Fraction, stake: bool) -> Fraction:
    """Return a progressive's payback: fixed pays, the contribution to the meter, and the seed when it is won (F25)."""
    assert table.unit_cents is not None
    assert table.seed_cents is not None
    back = rate
    for line, chance in line_chances(table, tally):
        pay = line_pay(line)
        won = Fraction(pay.fixed_cents or 0, table.unit_cents) + (Fraction(*pay.odds) if pay.odds else 0)
        seed = Fraction(table.seed_cents, table.unit_cents) if pay.meter_percent == 100 else 0
        back += chance * (won + seed + stake)
    return back


# --- the studies ------------------------------------------------------------------------------------------------------

_THREE: Final = "exact, 312 cards"
_FIVE: Final = "exact, all 2,869,685 hands"
_NATURAL: Final = "exact, all 2,598,960 natural hands"
_SEVEN: Final = "exact, all 154,143,080 hands"
_PAIRS: Final = "exact, all pairs of hands"


def _over_under(_: Effort, tick: Tick) -> Iterator[Figure]:
    required = over_under.required_wagers()
    yield Figure(
        game="over_under", wager="ante", table="686a-main", computed=required.returned / required.wagered,
        method=_THREE, assuming="best play; both wagers together",
    )  # fmt: skip
    (table,) = _of("over_under", "bonus")

    def pays(total: int) -> Fraction:
        line = first_line(table, 0, total=total)
        return Fraction(0) if line is None else return_per_unit(line_pay(line))

    back = over_under.bonus(pays)
    yield Figure(game="over_under", wager="bonus", table=table.id, computed=back, method=_THREE)
    tick(1)


def _five_cards(_: Effort, tick: Tick) -> Iterator[Figure]:
    tallies = hand_counts.five_cards(tick)
    yield from _single("saigon_5_card", "bonus", tallies.limited, _FIVE)
    total = tallies.dj_wild.total()
    for table in _of("dj_wild", "trips"):
        back = Fraction(0)
        for (reached, column), multiplicity in tallies.dj_wild.items():
            line = first_line(table, dj_wild.class_features(reached))
            back += Fraction(multiplicity, total) * return_per_unit(line_pay(line, column)) if line else 0
        yield Figure(game="dj_wild", wager="trips", table=table.id, computed=back, method=_FIVE)
    for table in _of("dj_wild", "progressive"):
        back = _progressive(table, tallies.natural, rate=Fraction(0), stake=False)
        yield Figure(
            game="dj_wild", wager="progressive", table=table.id, computed=back,
            method=_NATURAL, assuming="no rate, stake or envy",
        )  # fmt: skip


def _seven_cards(_: Effort, tick: Tick) -> Iterator[Figure]:
    tallies = hand_counts.seven_cards(tick)
    game = "face_up_pai_gow"
    yield from _single("asia_poker", "bonus", tallies.limited, _SEVEN)
    for figure, table in zip(_single(game, "fortune", tallies.limited, _SEVEN), _of(game, "fortune"), strict=True):
        yield msgspec.structs.replace(figure, assuming="no envy")
        envy = 5 * _envy(table, tallies.limited, 500)
        yield msgspec.structs.replace(figure, computed=figure.computed + envy, assuming="$5, envy for 5 others")
    for table in _of(game, "progressive"):
        tally = tallies.fully_wild if table.fully_wild_joker else tallies.limited
        rate = Fraction((table.rate_percent or 0) + (table.reserve_percent or 0), 100)
        back = _progressive(table, tally, rate=rate, stake=bool(table.stake_returned))
        assert table.unit_cents is not None
        envy = _envy(table, tallies.limited, table.unit_cents)
        figure = Figure(game=game, wager="progressive", table=table.id, computed=back, method=_SEVEN)
        yield msgspec.structs.replace(figure, assuming="no envy") if envy else figure
        if envy:
            yield msgspec.structs.replace(figure, computed=back + envy, assuming="envy for 1 other")


def _saigon_ante(_: Effort, tick: Tick) -> Iterator[Figure]:
    chances_ = saigon.ante_chances()
    whole, half = (return_per_unit(line_pay(line)) for line in next(_of("saigon_5_card", "ante")).lines)
    yield Figure(
        game="saigon_5_card", wager="ante", table="680a-ante",
        computed=chances_.wins * whole + chances_.wins_half * half + chances_.pushes,
        method=_PAIRS, assuming="both take the highest Point Count",
    )  # fmt: skip
    tick(1)


def _ace_high(_: Effort, tick: Tick) -> Iterator[Figure]:
    chances_ = pai_gow.ace_high_chances()
    chances = {
        "both_ace_high": chances_.both,
        "dealer_ace_high_with_joker": chances_.dealer_with_joker,
        "dealer_ace_high_no_joker": chances_.dealer_no_joker,
    }
    for table in _of("face_up_pai_gow", "ace_high"):
        back = sum((chances[line.hand] * return_per_unit(line_pay(line)) for line in table.lines), Fraction(0))
        yield Figure(game="face_up_pai_gow", wager="ace_high", table=table.id, computed=back, method=_PAIRS)
    tick(1)


def _dj_wild(_: Effort, tick: Tick) -> Iterator[Figure]:
    """Yield the main wagers with the best decision for every hand, and Bad Beat by the wording and two-way."""
    (blind,) = _of("dj_wild", "blind")
    dealer_hands = second_hand.DEALER_HANDS
    net = wagered = hands = 0
    beaten: Counter[HandClass] = Counter()
    for facing in second_hand.compare_with_dealer(tick):
        reached = class_of(facing.strength)
        line = first_line(blind, dj_wild.class_features(reached))
        assert line is not None
        odds = line_pay(line).odds or (0, 1)
        raised = facing.lower * (3 + odds[0]) - facing.higher * 4  # Ante 1, Raise 2, Blind 1
        folded = -2 * dealer_hands
        net += facing.multiplicity * max(raised, folded)
        wagered += facing.multiplicity * dealer_hands * (4 if raised > folded else 2)
        hands += facing.multiplicity
        beaten[reached] += facing.multiplicity * facing.higher
    yield Figure(
        game="dj_wild", wager="ante", table="687a-main", computed=1 + Fraction(net, wagered),
        method=_PAIRS, assuming="best play, Blind equal to Ante; all three together",
    )  # fmt: skip
    for table in _of("dj_wild", "bad_beat"):
        back = Fraction(0)
        for reached, multiplicity in beaten.items():
            paid = first_line(table, dj_wild.class_features(reached))
            back += Fraction(multiplicity, hands * dealer_hands) * return_per_unit(line_pay(paid)) if paid else 0
        figure = Figure(game="dj_wild", wager="bad_beat", table=table.id, computed=back, method=_PAIRS)
        yield msgspec.structs.replace(figure, assuming="the player's hand")
        yield msgspec.structs.replace(figure, computed=2 * back, assuming="either hand")


def _simulated(
    mean: simulation.SimulatedPayback, effort: Effort, game: str, wager: str, table: str, assuming: str
) -> Figure:
    return Figure(
        game=game, wager=wager, table=table, computed=Fraction(mean.payback), half_width=Fraction(mean.half_width),
        method=f"simulated, {mean.rounds:,} rounds of six players, seed {effort.seed}", assuming=assuming,
    )  # fmt: skip


def _asia_main(effort: Effort, tick: Tick) -> Iterator[Figure]:
    simulated = payback.asia_main(effort.rounds, effort.seed, tick)
    yield _simulated(simulated, effort, "asia_poker", "asia_poker", "575-main", "all by standard_4_2_1")


def _face_up_main(effort: Effort, tick: Tick) -> Iterator[Figure]:
    simulated = pai_gow.face_up_main(effort.rounds, effort.seed, tick)
    assuming = "dealer by standard_5_2, best play"
    yield _simulated(simulated, effort, "face_up_pai_gow", "face_up_pai_gow_poker", "688a-main", assuming)


def _steps(number: int) -> Callable[[Effort], int]:
    return lambda _: number


STUDIES: Final = (
    Study("three cards", {"over_under": ("ante", "over_23", "under_18", "bonus")}, _steps(1), _over_under),
    Study(
        "five cards", {"saigon_5_card": ("bonus",), "dj_wild": ("trips", "progressive")},
        _steps(hand_counts.FIVE_STEPS), _five_cards,
    ),
    Study(
        "seven cards", {"asia_poker": ("bonus",), "face_up_pai_gow": ("fortune", "progressive")},
        _steps(hand_counts.SEVEN_STEPS), _seven_cards,
    ),
    Study("Saigon's Ante", {"saigon_5_card": ("ante",)}, _steps(1), _saigon_ante),
    Study("Ace High", {"face_up_pai_gow": ("ace_high",)}, _steps(1), _ace_high),
    Study(
        "two hands of DJ Wild", {"dj_wild": ("ante", "blind", "raise", "bad_beat")},
        _steps(second_hand.STEPS), _dj_wild,
    ),
    Study("Asia Poker dealt out", {"asia_poker": ("asia_poker",)}, lambda effort: effort.rounds, _asia_main),
    Study(
        "Face Up Pai Gow dealt out", {"face_up_pai_gow": ("face_up_pai_gow_poker",)},
        lambda effort: effort.rounds, _face_up_main,
    ),
)  # fmt: skip


def figures_of_wager(all_figures: Iterable[Figure], game: str | None, wager: str | None) -> list[Figure]:
    """Return the figures of a game or wager in printed order; wagers that are settled together share one."""
    together = {"over_23": "ante", "under_18": "ante", "blind": "ante", "raise": "ante"}
    order = [table.id for each in GAMES for table in paytables(each)]
    chosen = [
        figure
        for figure in all_figures
        if game is None or (figure.game == game and (wager is None or figure.wager == together.get(wager, wager)))
    ]
    return sorted(chosen, key=lambda figure: order.index(figure.table))
