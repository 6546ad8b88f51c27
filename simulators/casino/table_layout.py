"""The layout of a simulated table, as it follows from the edition: the model in each slot, and the `table.toml`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from firmware_bridge.errors import UsageError
from simulators.kinds.models import MODELS, make_machine
from simulators.world.cards import DECK_53, SIX_DECKS, World
from simulators.world.chips import Chips
from table_controller.access.people_file import Cost, add_credential, load_credentials
from table_controller.rulebook import edition, paytables

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from simulators.engine.machine import SimulatedMachine

SEATS: Final = 6
_PROGRESSIVE: Final = {f"bet_sensor.{seat}": "bet-sensor" for seat in range(1, SEATS + 1)} | {
    "meter_sign.1": "meter-sign"
}
# The devices that find the starting position, where the game has one.
START_DEVICES: Final = {"dice": {"shaker.1": "shaker"}, "rng": {"rng.1": "rng"}, "button": {"button.1": "button"}}
# The same by the names that a Rules Submission has for them.
_START_NAMES: Final = {"dice": "shaker", "rng": "rng", "button": "flat_button"}
_ONE_DECK: Final = {"shuffler.1": "shuffler", "shoe.1": "shoe", "keypad.1": "keypad"}
_BATCH: Final = {"shuffler.1": "shuffler-batch", "shoe.1": "shoe-manual", "keypad.1": "keypad"}
# The rate of progression (hundredths of a percent) where the chapter leaves it to the certificate holder.
_RATE_BP: Final = 1500

# The people of a simulated table and their PIN. Not secret: these credentials work at a bench only.
BENCH_PEOPLE: Final = {
    "dealer-1": "dealer", "floor-1": "floorperson", "floor-2": "floorperson", "tech-1": "technician",
    "audit-1": "auditor",
}  # fmt: skip
BENCH_PIN: Final = "271828"


def table_slots(game: str, start: str | None = None) -> dict[str, str]:
    """Return the slots of a game's table and the model in each; `start` is how the starting position is found."""
    rules = edition(game)
    methods = [each.name for each in rules.starts]
    allowed = [name for name, method in _START_NAMES.items() if method in methods]
    if start is not None and start not in allowed:
        known = f"it takes {' or '.join(allowed)}" if allowed else "it has no starting position to find"
        raise UsageError(f"--start {start} is not for {game}: {known}")
    slots = (_BATCH if rules.cards.decks > 1 else _ONE_DECK) | (_PROGRESSIVE if rules.progressive else {})
    return slots | (START_DEVICES[start or allowed[0]] if allowed else {})


def slots_of_models(models: Iterable[str]) -> dict[str, str]:
    """Return a slot for each model that a table has in addition to its own, or instead: the first one of its kind."""
    for model in models:
        if model not in MODELS:
            raise UsageError(f"there is no model {model!r}; models: {', '.join(MODELS)}")
    return {f"{MODELS[model].machine.kind}.1": model for model in models}


def fit_models(game: str, more: Mapping[str, str]) -> dict[str, str]:
    """Return the models for a game's table: a shuffler that inserts its stack has the size of the game's decks.

    A shoe that identifies cards is an automated or a manual one, as the table's own.
    """
    shuffler = inserting_models(game) if "inserting" in more.get("shuffler.1", "") else {}
    return dict(more) | shuffler | (identifying_shoe(game) if "identifying" in more.get("shoe.1", "") else {})


def identifying_shoe(game: str) -> dict[str, str]:
    """Return the slot and the model of a shoe that identifies the cards that it deals at a game's table."""
    return {"shoe.1": f"{table_slots(game)['shoe.1']}-identifying"}


def default_choices(game: str) -> dict[str, Any]:
    """Return the choices for a simulated table: every machine that the game can have, and a progressive if the
    chapter prints all its terms.
    """
    rules = edition(game)
    methods = [method.name for method in rules.deal.methods]
    chosen: dict[str, Any] = {
        "dealing": "automated_shoe" if "automated_shoe" in methods else methods[0],
        "shuffler": "batch" if rules.cards.decks > 1 else "deck",
        "shuffler_counts": True,
        "two_decks": rules.second_set is not None,
    }
    is_printed = rules.progressive is not None and rules.progressive.rate == "printed"
    return chosen | (progressive_choices(game, 0) if is_printed else {})


def keypad_and_sign(game: str) -> dict[str, str]:
    """Return the keypad and meter sign slots of a game's table; no round depends on these devices."""
    return {slot: model for slot, model in table_slots(game).items() if slot.startswith(("keypad", "meter_sign"))}


def progressive_choices(game: str, number: int) -> dict[str, Any]:
    """Return the choices that offer a progressive, with the printed paytable of this number (modulo their count).

    Empty where the game's chapter has no progressive.
    """
    rules = edition(game).progressive
    if rules is None:
        return {}
    printed = [table.id for table in paytables(game) if rules.wager in table.wagers]
    chosen: dict[str, Any] = {"wagers": [rules.wager], "paytables": {rules.wager: printed[number % len(printed)]}}
    if rules.rate == "submission":
        chosen["progressive_rate_bp"] = _RATE_BP
    if rules.fold_survival == "submission":
        chosen["folded_progressive"] = True
    open_settings = [each for each in edition(game).settings if each.needs == rules.wager and each.default is None]
    return chosen | ({"settings": {each.name: each.values[-1] for each in open_settings}} if open_settings else {})


def inserting_models(game: str) -> dict[str, str]:
    """Return the model of the shuffler at a table whose shuffler inserts its stack into the shoe."""
    return {"shuffler.1": "shuffler-batch-inserting" if edition(game).cards.decks > 1 else "shuffler-inserting"}


def choices_of_models(game: str, models: Mapping[str, str]) -> dict[str, Any]:
    """Return the choices that go with the models of a table: with a chute, the shuffler inserts its stack.

    Where a stack is cut after every shuffle, only a device that is approved to reshuffle may do so.
    """
    if "inserting" not in models.get("shuffler.1", ""):
        return {}
    needs_approval = "machine_shuffle" in edition(game).cut.when
    return {"inserts_into_shoe": True} | ({"reshuffles": True} if needs_approval else {})


def join_chutes(machines: Iterable[SimulatedMachine]) -> None:
    """Let the chute of the shuffler end in the dealing shoe of its table, as the technician installs it."""
    by_kind: dict[str, Any] = {machine.kind: machine for machine in machines}
    shuffler, shoe = by_kind.get("shuffler"), by_kind.get("shoe")
    if shuffler is not None and shoe is not None:
        shuffler.mechanics.shoe_chute.join(shoe.entry, shoe.firmware.hands_moved)


def make_machines(slots: dict[str, str], **options: Any) -> list[SimulatedMachine]:
    """Build the machines of a table in one world, so that cards and chips can move between them."""
    world, chips = World(), Chips()
    shuffler = slots.get("shuffler.1")
    if shuffler is not None:  # the first deck, or batch, is in the intake
        world.make_deck("shuffler.1/intake", "blue", SIX_DECKS if "batch" in shuffler else DECK_53)
    machines = [
        make_machine(model, slot, world=world, **({"chips": chips} if model == "bet-sensor" else {}), **options)
        for slot, model in slots.items()
    ]
    join_chutes(machines)
    return machines


def table_toml(
    game: str, ports: dict[str, str], start: str | None = None, choices: Mapping[str, Any] | None = None
) -> str:
    """Return the configuration of this table, given the port of each slot; keys and approved list are in its folder.

    `choices`: further choices of the certificate holder.
    """
    chosen = {"adjacent_boxes": 1} | default_choices(game) | dict(choices or {})
    lines = ["# A simulated table; the same file with other ports drives real devices.", "", "[table]"]
    lines += [f'name = "bench {game}"', f'game = "{game}"', 'approved = "approved.toml"']
    lines += ["development = true  # this software is not approved for play: pages show UNVERIFIED", "", "[rules]"]
    lines += [f"{key} = {_toml(choice)}" for key, choice in chosen.items()]
    if start is not None:
        lines += [f'start = "{_START_NAMES[start]}"']
    lines += ["", "[data]", 'folder = "data"']
    for slot, port in ports.items():
        lines += ["", f"[device.{slot}]", f'port = "{port}"', f'key = "{slot}.key"']
    return "\n".join(lines) + "\n"


def write_bench_people(folder: Path) -> None:
    """Write bench people into a simulated table's data folder: one in each role, all with the bench PIN."""
    folder.mkdir(exist_ok=True)
    for id_, role in BENCH_PEOPLE.items():
        if not (folder / "people.json").exists() or id_.casefold() not in load_credentials(folder / "people.json"):
            add_credential(folder / "people.json", id_, role, BENCH_PIN, cost=Cost(n=1 << 10))


def _toml(value: Any) -> str:
    """Return a choice as TOML; all but tables are written as in JSON."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_toml(each)}" for key, each in value.items()) + " }"
    return json.dumps(value)
