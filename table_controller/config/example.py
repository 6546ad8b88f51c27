"""An example `table.toml` for each game, with every key and its meaning, generated from the sections.

A line with `#` and a key is an optional setting: without the `#` it is valid too.
"""

from __future__ import annotations

import json
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Final, get_type_hints

import msgspec

from table_controller.config.devices import devices_needed
from table_controller.config.sections import DEVICE, RULE_MEANINGS, RULES, SECTION_NAMES, SECTIONS, DeviceSection
from table_controller.config.walk import allowed, meaning
from table_controller.controller.kinds import CONTROLLER_KINDS
from table_controller.rulebook import check_submission, edition
from table_controller.rulebook.duties import duty_clauses
from table_controller.rulebook.game_rules import game_rules
from table_controller.rulebook.house_ways.loader import house_way_text
from table_controller.rulebook.wager_limits import has_own_amount

if TYPE_CHECKING:
    from table_controller.config.sections import Section
    from table_controller.rulebook import Edition

_WIDTH: Final = 118
# The minimum wager and the payout limit in the examples (cents).
_LEAST: Final = 500
_MOST: Final = 100_000
_LIMIT: Final = 25_000_000
_PROGRESSIVE: Final = "progressive"
# The file of the house way's table in the examples; `pitbox rules house-way GAME --toml` prints one.
HOUSE_WAY_FILE: Final = "house-way.toml"


def example(game: str) -> str:
    """Return the file as text."""
    rules = edition(game)
    lines = _comment(f"table.toml for {rules.title}, chapter {rules.chapter} ({rules.dated}).")
    lines += _comment("Paths are relative to this file. A key behind a # is not set; its value is valid.")
    for name in SECTION_NAMES:
        lines.append("")
        if name == RULES:
            lines += _rules(rules)
        elif name == DEVICE:
            lines += _devices(rules)
        else:
            lines += _section(name, SECTIONS[name], rules)
    return "\n".join(lines) + "\n"


def _comment(text: str) -> list[str]:
    return [f"# {line}" for line in wrap(text, _WIDTH)]


# --- sections ---------------------------------------------------------------------------------------------------------


def _section(name: str, kind: type[Section], rules: Edition) -> list[str]:
    """Return the lines of a section; only required sections and keys are active."""
    off = "" if name == "table" else "#"
    lines = [*_comment((kind.__doc__ or "").partition("\n")[0]), f"{off}[{name}]"]
    hints = get_type_hints(kind, include_extras=True)
    for field in msgspec.structs.fields(kind):
        hint = hints[field.name]
        value = field.default if field.default not in (None, msgspec.NODEFAULT) else _example_of(hint)
        if (name, field.name) == ("table", "game"):
            value = rules.game
        if (name, field.name) == ("table", "edition"):
            value = rules.dated
        allowed_text = allowed(hint)
        lines += _comment(
            meaning(hint) + ("" if allowed_text.startswith(("a path", "a text", "true")) else f" ({allowed_text})")
        )
        lines.append(f"{'' if field.required else '#'}{off if field.required else ''}{field.name} = {toml(value)}")
    return lines


def _example_of(hint: Any) -> Any:
    return next(meta.examples[0] for meta in hint.__metadata__ if getattr(meta, "examples", None))


def _devices(rules: Edition) -> list[str]:
    submission = check_submission(rules, example_choices(rules)[0])
    needed = devices_needed(rules, submission)
    slots = [
        f"{kind}.{n}"
        for kind in needed
        for n in range(1, submission.seats + 1 if CONTROLLER_KINDS[kind].is_at_seats else 2)
    ] + ["keypad.1"]
    slots += ["shoe.1"] if "shoe" not in needed else []
    slots += ["meter_sign.1"] if "bet_sensor" in needed else []
    lines = _comment((DeviceSection.__doc__ or "").partition("\n")[0])
    hints = get_type_hints(DeviceSection, include_extras=True)
    lines += [line for name, hint in hints.items() for line in _comment(f"{name}: {meaning(hint)}")]
    for number, slot in enumerate(slots):
        lines += ["", f"[{DEVICE}.{slot}]"]
        lines += [f'port = "/dev/ttyUSB{number}"', f'key = "keys/{slot}.key"', '#maker = "Example Gaming"']
    return lines


# --- the Rules Submission ---------------------------------------------------------------------------------------------


def example_choices(rules: Edition) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the choices of the example, and further lawful choices, which are also lawful all together."""
    batch = rules.second_set is not None and rules.second_set.allowed_with == "batch_shuffler"
    chosen: dict[str, Any] = {
        "dealing": "dealing_shoe" if batch else "automated_shoe",
        "shuffler": "batch" if batch else "deck",
        "shuffler_counts": True,
        "two_decks": True,
        "adjacent_boxes": 1,
    }
    if rules.starts:
        chosen["start"] = rules.starts[0].name
    if rules.progressive is not None:
        chosen |= _progressive(rules)
    offered = chosen.get("wagers", [])
    further: dict[str, Any] = {"seats": rules.seats.most, "reshuffles": True, "inserts_into_shoe": True,
                               "face_check_rounds": 100}  # fmt: skip
    if not rules.approved_device.counts:
        further["approved_procedure"] = "approval 4711"
    played = [wager for wager in rules.wagers if not wager.option or wager.name in offered]
    further["least_wagers_cents"] = {wager.name: _LEAST for wager in played}
    free = [wager for wager in played if has_own_amount(wager, {})]
    further["most_wagers_cents"] = {wager.name: _MOST for wager in free}
    if rules.payout_limit is not None:
        further["payout_limit_cents"] = _LIMIT
    posted = {"odds": "odds_posted"} | ({} if rules.payout_limit is None else {"payout_limit": "limit_posted"})
    posted = {name: duty for name, duty in posted.items() if duty_clauses(rules.game, duty)}
    further |= {"posted_on_sign": list(posted)} if posted else {}
    further |= dict.fromkeys(rules.submission_choices, True)
    for name, house_way in list(game_rules(rules.game).house_ways.items())[:1]:
        further |= {"house_way": name, "house_way_ranks": dict(house_way.ranks)}
        further["house_way_table"] = house_way_text(rules.game)
    if "settings" not in chosen:
        further["settings"] = _settings(rules, offered)
    if "wagers" not in chosen:  # written as an empty list: none of them is offered
        further |= {"wagers": [], "paytables": {played[0].name: played[0].tables[0]}}
    return chosen, further


def _progressive(rules: Edition) -> dict[str, Any]:
    """Offer the progressive, with every choice that the text then requires."""
    assert rules.progressive is not None
    name = rules.progressive.wager
    wager = rules.wager(name)
    assert wager is not None
    offer: dict[str, Any] = {"wagers": [name], "paytables": {name: wager.tables[0]}}
    if rules.progressive.rate == "submission":
        offer["progressive_rate_bp"] = 2500
    if rules.progressive.fold_survival == "submission":
        offer["folded_progressive"] = False
    offer["settings"] = _settings(rules, [name])
    return offer


def _settings(rules: Edition, offered: list[str]) -> dict[str, str]:
    return {
        setting.name: setting.default or setting.values[0]
        for setting in rules.settings
        if setting.needs is None or setting.needs in offered
    }


def _rules(rules: Edition) -> list[str]:
    chosen, further = example_choices(rules)
    lines = [*_comment("The choices of the Rules Submission, within what the edition permits."), f"[{RULES}]"]
    elsewhere = []
    for key, means in RULE_MEANINGS.items():
        if key in chosen:
            lines += [*_comment(means + _lawful(rules, key)), f"{key} = {toml(chosen[key])}"]
        elif key in further:
            value = HOUSE_WAY_FILE if key == "house_way_table" else further[key]
            lines += [*_comment(means + _lawful(rules, key)), f"#{key} = {toml(value)}"]
        else:
            elsewhere.append(key)
    return lines + _comment(f"No choice in this game: {', '.join(elsewhere)}.") if elsewhere else lines


def _lawful(rules: Edition, key: str) -> str:
    """Return the names that a choice accepts in this game, if it accepts names."""
    names: dict[str, list[str]] = {
        "dealing": [method.name for method in rules.deal.methods],
        "start": [start.name for start in rules.starts],
        "wagers": [wager.name for wager in rules.wagers if wager.option],
        "settings": [f"{setting.name} = {'/'.join(setting.values)}" for setting in rules.settings],
        "house_way": list(game_rules(rules.game).house_ways),
    }
    return f" ({', '.join(names[key])})" if names.get(key) else ""


def toml(value: Any) -> str:
    """Return a value as TOML; everything except tables is written as in JSON."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {toml(each)}" for key, each in value.items()) + " }"
    return json.dumps(value, ensure_ascii=False)
