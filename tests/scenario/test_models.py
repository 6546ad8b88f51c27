"""Models of one kind: the hello names the model, and a driver sends it only what it understands."""

from __future__ import annotations

from typing import Any, Final

import pytest

from devices.edge_log import EDGE_LOG
from devices.shuffler import messages as m
from firmware_bridge.errors import ConfigurationError, NotCapable
from tests.support.machines.bench import over_the_ladder, shuffler_bench

MODELS: Final[dict[str, tuple[dict[str, Any], list[str]]]] = {
    "PB-S1": ({}, [m.COUNTS]),
    "PB-S1i": ({"identifies": True}, [m.COUNTS, m.IDENTIFIES]),
    "PB-B6": ({"batch": True}, [m.COUNTS, m.BATCH]),
    "PB-B6i": ({"batch": True, "identifies": True}, [m.COUNTS, m.IDENTIFIES, m.BATCH]),
    "PB-C6": ({"continuous": True}, [m.COUNTS, m.CONTINUOUS]),
}
CYCLING: Final = {"shuffle": (), "set_mode": (m.Mode.SORT,)}
CONTINUING: Final = {"take_in": (), "deliver": (5,), "count_all": ()}
NOT_FOR: Final = [
    (model, method, extra)
    for model in MODELS
    for method, extra in (CYCLING if model == "PB-C6" else CONTINUING).items()
]


@pytest.mark.parametrize("model", MODELS)
async def test_a_model_names_what_it_can(seed: int, model: str) -> None:
    options, capabilities = MODELS[model]
    async with shuffler_bench(seed, **options) as b:
        assert b.driver.reported is not None
        hello = b.driver.reported.hello
        assert (hello.kind, hello.model, hello.capabilities) == (m.KIND, model, [*capabilities, EDGE_LOG, m.JOGS])
        assert type(await b.driver.status()) is (m.Inventory if model == "PB-C6" else m.Status)
        assert b.service.state == "in_service"


@over_the_ladder
@pytest.mark.parametrize(("model", "method", "extra"), NOT_FOR)
async def test_what_is_not_for_a_model_is_not_sent_to_it(
    seed: int, rung: str, model: str, method: str, extra: tuple[Any, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    async with shuffler_bench(seed, rung, **MODELS[model][0]) as b:
        link = b.supervisor.link
        assert link is not None
        asked: list[Any] = []
        monkeypatch.setattr(link, "request", lambda message, *_, **__: asked.append(message))
        with pytest.raises(NotCapable) as refused:
            await getattr(b.driver, method)(b.next_id(), *extra)
        monkeypatch.undo()
        assert asked == []
        assert refused.value.code == "PB-428"
        assert model in str(refused.value)
        assert b.supervisor.link is link
        assert b.service.state == "in_service"
        assert not b.view.unsettled
        await b.driver.stop(b.next_id())


@pytest.mark.parametrize("cards", [-1, 0, 256])
async def test_a_delivery_of_an_impossible_size_is_not_sent(seed: int, cards: int) -> None:
    async with shuffler_bench(seed, continuous=True) as b:
        with pytest.raises(ConfigurationError, match="1 to 255"):
            await b.driver.deliver(b.next_id(), cards)
        assert b.machine.board.memory.recent() == []
        assert b.service.state == "in_service"
