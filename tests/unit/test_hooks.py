"""The hooks of pre-commit and the templates: each hook runs a check of `make check` with the project's own tools."""

from __future__ import annotations

import yaml

from tools.lock import ROOT


def test_every_hook_is_local_and_runs_a_command_of_make_check() -> None:
    config = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text("utf-8"))
    check = (ROOT / "Makefile").read_text("utf-8").partition("\ncheck:")[2].partition("\n\n")[0]
    checks = {
        line.strip().removeprefix("$(BIN)/").replace(" --check .", "").removesuffix(" .")
        for line in check.splitlines()[1:]
    }
    hooks = [hook for repo in config["repos"] for hook in repo["hooks"]]
    assert [repo["repo"] for repo in config["repos"]] == ["local"]
    assert {hook["language"] for hook in hooks} == {"system"}
    entries = {hook["entry"].removeprefix(".venv/bin/").replace(" --force-exclude", "") for hook in hooks}
    assert entries <= checks
    assert len(entries) == len(hooks)


def test_the_templates_of_issues_have_what_a_form_needs() -> None:
    forms = [path for path in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml") if path.name != "config.yml"]
    assert len(forms) == 2
    for form in forms:
        content = yaml.safe_load(form.read_text("utf-8"))
        assert content.keys() >= {"name", "description", "body"}
        ids = [part["id"] for part in content["body"] if part["type"] != "markdown"]
        assert len(ids) == len(set(ids))
        assert all(part["attributes"]["label"] for part in content["body"] if part["type"] != "markdown")
