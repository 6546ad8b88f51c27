"""Records and fault reports that were written under former names are read, shown and upgraded under today's."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

import msgspec
import pytest

from table_controller.cli import OK, main
from table_controller.diagnosis import fault_report as reports
from table_controller.diagnosis import fault_report_store as report_store
from table_controller.journal import former_names as fn
from table_controller.journal import reader, recovery
from table_controller.journal import records as rec
from table_controller.journal.accounts import read_money_book
from table_controller.journal.recovery import recover
from tests.support import former_names as made_up
from tests.support import second_edition as second
from tools import former_names as tool
from tools import record_shapes, verify_export
from tools.export_checks import former_names as standalone

if TYPE_CHECKING:
    from pathlib import Path

EARLIER = made_up.made_up()
TABLE = made_up.led_back(EARLIER)


@pytest.fixture
def one_more_version(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every version counts one more, and version 1 is a made-up one before the second version."""
    real = fn.read_table(tool.TABLE.read_text("utf-8"))
    table = {area: {1: TABLE[area][1], **{n + 1: each for n, each in real[area].items()}} for area in TABLE}
    monkeypatch.setattr(rec, "VERSION", rec.VERSION + 1)
    monkeypatch.setattr(report_store, "VERSION", reports.VERSION + 1)
    monkeypatch.setattr(reports, "VERSION", reports.VERSION + 1)
    monkeypatch.setattr(fn, "_table", lambda: table)
    names = msgspec.to_builtins(table)[fn.RECORDS]
    monkeypatch.setattr(standalone, "_table", lambda: names)


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(list(words)) == OK
    return capsys.readouterr().out


@pytest.fixture
def journals(tmp_path: Path) -> tuple[Path, Path]:
    """A journal of the second version, and the same under the made-up names."""
    before = second.unpacked("wild", tmp_path)
    return before, made_up.renamed_journal(before, tmp_path / "renamed", EARLIER)


def test_the_made_up_names_are_other_names(journals: tuple[Path, Path]) -> None:
    bodies = b"".join(record.body for record in reader.read(journals[1], 1))
    for name in (b'"RoundBegun"', b'"badge"', b'"croupier"', b'"Question"', b'"topic"', b'"posting"', b'"heading"'):
        assert name in bodies
    for name in (b'"OpenRound"', b'"Prompt"', b'"entry"'):
        assert name not in bodies
    with pytest.raises(msgspec.DecodeError):
        made_up.steps_in(journals[1])


def test_every_step_is_read_as_if_it_had_todays_names(
    journals: tuple[Path, Path], request: pytest.FixtureRequest
) -> None:
    expected = made_up.steps_in(journals[0])
    request.getfixturevalue("one_more_version")
    assert made_up.steps_in(journals[1]) == expected


def test_rounds_lines_and_money_are_shown_the_same(
    journals: tuple[Path, Path], request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]
) -> None:
    def shown(folder: Path) -> list[str]:
        rounds = [printed(capsys, "journal", "show", str(folder), str(number)) for number in (2, 4, 5)]
        lines = printed(capsys, "journal", "tail", "-n", "9999", str(folder)).splitlines()
        return [*rounds, *(line for line in lines if " snapshot: " not in line), hits(folder)]

    def hits(folder: Path) -> str:
        return printed(capsys, "hits", "--journal", str(folder))

    expected, book = shown(journals[0]), read_money_book(journals[0])
    request.getfixturevalue("one_more_version")
    assert shown(journals[1]) == expected
    assert read_money_book(journals[1]) == book


def test_its_export_holds_the_stored_names_and_verifies(
    journals: tuple[Path, Path], tmp_path: Path, one_more_version: None, capsys: pytest.CaptureFixture[str]
) -> None:
    printed(capsys, "journal", "export", str(journals[1]), "--to", str(tmp_path / "export"))
    assert b'"RoundBegun"' in (tmp_path / "export" / "records.jsonl").read_bytes()
    assert verify_export.main([str(tmp_path / "export")]) == 0
    assert f"{second.golden()['journals']['wild']['entries']} entries" in capsys.readouterr().out


def test_its_snapshot_between_rounds_upgrades(journals: tuple[Path, Path], one_more_version: None) -> None:
    floor = second.floor_of("wild")
    store, digests = second.opened(journals[1], floor)
    result = recover(store, floor.table, digests)
    assert result.migration is not None
    assert floor.state.money.book.meters.current == second.golden()["journals"]["wild"]["meter_microdollars"]
    assert floor.round_.number > 5
    store.close()


def test_what_this_version_writes_names_its_version_and_is_not_renamed(one_more_version: None) -> None:
    note = rec.Note("service", "a note")
    assert rec.encode_body(note).startswith(b'{"v":%d,' % rec.VERSION)
    assert rec.decode_note(rec.encode_body(note)) == note
    assert rec.decode_note(b'{"kind":"service","sentence":"a note"}') == note


def test_version_one_names_no_version() -> None:
    assert fn.stamp(b'{"kind":"x"}', 1) == b'{"kind":"x"}'
    assert fn.stamp(b"{}", 3) == b'{"v":3}'
    assert [fn.version_of(body) for body in (b'{"kind":"x"}', b'{"v":2,"kind":"x"}', b'{"v":13,"k":1}')] == [1, 2, 13]


def test_a_fault_report_and_its_steps_are_read(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    folder = second.unpacked("fault_reports", tmp_path)
    expected, steps = report_store.read(folder, 1), report_store.steps_of(folder, 1)
    for name, root in (("000001.json", "report"), ("000001.steps", "step")):
        file = folder / name
        lines = [file.read_bytes()] if root == "report" else file.read_bytes().splitlines()
        again = [fn.renew(fn.FAULT_REPORTS, root, msgspec.json.decode(line), 1, 2, EARLIER) for line in lines]
        file.write_bytes(b"\n".join(map(msgspec.json.encode, again)) + b"\n")
    assert b'"stops"' in (folder / "000001.json").read_bytes()
    assert b'"duty"' in (folder / "000001.steps").read_bytes()
    request.getfixturevalue("one_more_version")
    assert msgspec.structs.replace(report_store.read(folder, 1), version=expected.version) == expected
    assert report_store.steps_of(folder, 1) == steps
    report_store.FaultReportStore(folder).note(1, steps[0])
    assert report_store.steps_of(folder, 1) == [*steps, steps[0]]


# --- the table --------------------------------------------------------------------------------------------------------


def test_the_tool_takes_what_is_kept_from_a_map_and_passes_over_the_rest() -> None:
    table, counted = tool.extended({}, {1: second.shapes()}, made_up.LINES)
    assert counted == len(made_up.LINES) - 1, "all but the line about a class that is in no file"
    types = table[fn.RECORDS][1].types
    assert types["table.decisions.BetAccepted"].fields == {"entry": "posting"}, "a field of its base"
    assert fn.read_table(tool.written(table)) == {
        area: {1: fn.Version(result[1].roots, {k: n for k, n in result[1].types.items() if n != fn.Names()})}
        for area, result in table.items()
    }
    again, _ = tool.extended(fn.read_table(tool.written(table)), {1: second.shapes()}, [])
    assert again == table, "what the table holds is kept"


def test_the_copy_for_the_verifier_is_the_table() -> None:
    assert tool.COPY.read_bytes() == tool.TABLE.read_bytes()
    shapes = {number: json.loads(path.read_text("utf-8")) for number, path in tool.SHAPES.items()}
    table, _ = tool.extended(fn.read_table(tool.TABLE.read_text("utf-8")), shapes, [])
    assert tool.TABLE.read_text("utf-8") == tool.written(table), "run: python -m tools.former_names"


# Fields whose shape changed, and what reads the former one.
RESHAPED: Final = {
    "table.state.Slot.way": "earlier_procedures",
    "table.state.SlotState.return_procedure": "earlier_procedures",
}


def wrong_names(area: str, version: int = 1) -> list[str]:
    """Return every name of an earlier version that this one does not have, also not under a name of the table."""
    before = json.loads(tool.SHAPES[version].read_text("utf-8"))[area]
    now = record_shapes.shapes()[area]
    versions = fn.read_table(tool.TABLE.read_text("utf-8")).get(area, {})
    names = versions[version].types if version in versions else {}
    wrong: list[str] = []
    seen: set[tuple[str, str]] = set()

    def compare(old: str, new: str, where: str) -> None:
        if (old, new) in seen:
            return
        seen.add((old, new))
        *marks, old_key = old.split(" ")
        *new_marks, new_key = new.split(" ")
        if marks != new_marks:
            wrong.append(f"{where}: {old} is {new or 'plain'} now")
        elif "|" in marks:
            for key in [key for key in before["types"] if key.rpartition(".")[0] == old_key]:
                if before["types"][key]["tag"]:
                    tag = names.get(key, fn.Names()).name or before["types"][key]["tag"]
                    moved = (each for each in now["types"] if each.endswith(f".{tag}"))  # to another module
                    there = f"{new_key}.{tag}"
                    compare(key, there if there in now["types"] else next(moved, there), key)
        elif new_key not in now["types"]:
            wrong.append(f"{where}: there is no {new_key}")
        else:
            compare_fields(old_key, new_key)

    def compare_fields(old_key: str, new_key: str) -> None:
        changed = names.get(old_key, fn.Names())
        there = now["types"][new_key]["fields"]
        if before["types"][old_key]["tag"] and now["types"][new_key]["tag"] != (
            changed.name or before["types"][old_key]["tag"]
        ):
            wrong.append(f"{old_key} is tagged {now['types'][new_key]['tag']} now")
        for field, about in before["types"][old_key]["fields"].items():
            name = changed.fields.get(field, field)
            if name not in there:
                wrong.append(f"{old_key}.{field}: {new_key} has no field {name}")
                continue
            values = changed.values.get(field, {})
            gone = {values.get(value, value) for value in about.get("values", ())} - set(there[name].get("values", ()))
            gone = set() if there[name].get("any_text") else gone
            wrong.extend(f"{old_key}.{field}: the value {value!r} is gone" for value in gone)
            if "inside" in about and f"{old_key}.{field}" not in RESHAPED:
                compare(about["inside"], there[name].get("inside", ""), f"{old_key}.{field}")

    for root, old in before["roots"].items():
        compare(old, now["roots"][root], root)
    return wrong


@pytest.mark.parametrize("version", tool.SHAPES)
@pytest.mark.parametrize("area", record_shapes.ROOTS)
def test_every_name_that_an_earlier_version_wrote_is_known_today(area: str, version: int) -> None:
    assert wrong_names(area, version) == [], (
        "a name in records or fault reports changed: add it with `python -m tools.former_names MAP`; names in files "
        "without a version must stay"
    )


def test_a_name_that_changed_without_an_entry_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    now: dict[str, Any] = record_shapes.shapes()
    fields = next(result["fields"] for key, result in now[fn.RECORDS]["types"].items() if key.endswith(".Transfer"))
    fields["changed"] = fields.pop(next(iter(fields)))
    monkeypatch.setattr(record_shapes, "shapes", lambda: now)
    result = wrong_names(fn.RECORDS)
    assert result
    assert all(sentence.startswith("ledger.money.Transfer.") for sentence in result)


def test_a_snapshot_of_this_version_is_left_as_it_is(tmp_path: Path) -> None:
    snapshot = reader.latest_snapshot(second.unpacked("pai_gow", tmp_path))
    assert snapshot is not None
    assert fn.renew_snapshot(snapshot.body, 1) is snapshot.body
    kept = msgspec.msgpack.decode(fn.renew_snapshot(snapshot.body, rec.VERSION), type=recovery.Snapshot)
    assert kept.version == rec.VERSION
