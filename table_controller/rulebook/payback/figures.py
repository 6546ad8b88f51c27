"""Every paytable's expected payback: computed, published, and the difference."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

import msgspec

from table_controller.rulebook.game_rules import provided
from table_controller.rulebook.payback.published import published
from table_controller.rulebook.payback.study import Study
from table_controller.rulebook.registry import GAMES
from table_controller.rulebook.texts import paytables

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from table_controller.rulebook.payback.study import Effort, Figure, Tick


def studies_of(game: str) -> tuple[Study, ...]:
    """Return the studies of a game: STUDIES of `games/<game>/payback.py`."""
    studies: tuple[Study, ...] = provided(
        game, lambda: import_module(f"table_controller.rulebook.games.{game}.payback"), "STUDIES", tuple
    )
    assert all(isinstance(study, Study) for study in studies), f"STUDIES of {game} has something else than studies"
    return studies


def select_studies(game: str | None = None, wager: str | None = None) -> list[Study]:
    """Return the studies of all games, of one game, or of one of its wagers."""
    return [
        study
        for each in ((game,) if game else GAMES)
        for study in studies_of(each)
        if wager is None or wager in study.wagers
    ]


def compute_figures(study: Study, effort: Effort, tick: Tick) -> Iterator[Figure]:
    """Yield a study's figures."""
    for figure in study.run(effort, tick):
        yield msgspec.structs.replace(figure, published=published().get(figure.table))


def figures_of_wager(all_figures: Iterable[Figure], game: str | None, wager: str | None) -> list[Figure]:
    """Return the figures of a game or wager in printed order; wagers that are settled together share one."""
    shares = {} if game is None else {by: of for study in studies_of(game) for by, of in study.shares.items()}
    order = [table.id for each in GAMES for table in paytables(each)]
    chosen = [
        figure
        for figure in all_figures
        if game is None or (figure.game == game and (wager is None or figure.wager == shares.get(wager, wager)))
    ]
    return sorted(chosen, key=lambda figure: order.index(figure.table))
