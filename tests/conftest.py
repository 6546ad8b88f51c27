"""Runs coroutine tests (virtual time unless marked `realtime`), seeds them, fails on leftover tasks and files."""

from __future__ import annotations

import asyncio
import gc
import inspect
import logging
import os
import signal
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings

from simulators.engine.virtual_time import VirtualLoop
from tests.support.suite import clause_evidence
from tests.support.suite.case_counts import LAP, SEED

if TYPE_CHECKING:
    from collections.abc import Iterator

# Hundreds of processes are started here, and none of them should compile what the one before it compiled.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# Started in the background by a shell, the tests and the programs that they start would ignore Ctrl-C.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# The same examples every time, so that a red run can be repeated; a loaded computer is no failure. Further laps of a
# marathon have other ones, by their own seed.
settings.register_profile("pitbox", deadline=None, derandomize=LAP == 1, database=None)
settings.load_profile("pitbox")

# How many times longer a test on the wall clock may take before it counts as hanging.
LOADED = 3

# The evidence for the clause table is collected while the tests run.
clause_evidence.watch_core()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--seed", type=int, default=SEED, help="seed of every simulated machine and line (default 1)")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run tests on the wall clock first: others compute while they wait."""
    items.sort(key=lambda item: item.get_closest_marker("realtime") is None)
    for item in items:
        if item.get_closest_marker("realtime") is not None:
            _give_time(item)


def _give_time(item: pytest.Item) -> None:
    """Give a test on the wall clock more time: a loaded computer is no failure."""
    mark = item.get_closest_marker("timeout")
    seconds = mark.args[0] if mark is not None else item.config.getoption("--timeout") or 120
    item.add_marker(pytest.mark.timeout(float(seconds) * LOADED), append=False)


def pytest_collection_finish() -> None:
    """Freeze imported objects in the garbage collector, so that its run after each test is short."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def seed(request: pytest.FixtureRequest) -> int:
    """The run's seed; a failing test prints the command that repeats it."""
    value: int = request.config.getoption("--seed")
    request.node.user_properties.append(("seed", value))
    return value


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    outcome: Any = yield
    report = outcome.get_result()
    seeds = dict(item.user_properties)
    if report.failed and "seed" in seeds:
        command = f"python -m pytest '{item.nodeid}' --seed {seeds['seed']}"
        report.sections.append(("repeat this failure", command))


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Check that the core does in a marked test what the clause table claims."""
    clauses = [clause for mark in item.iter_markers("clauses") for clause in mark.args]
    if not clauses:
        yield
        return
    seen = clause_evidence.begin()
    outcome: Any = yield
    # A failed test is no evidence.
    short = clause_evidence.end(seen, item.nodeid, clauses if outcome.excinfo is None else [])
    if short is not None:
        outcome.force_exception(AssertionError(short))


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a coroutine test on its own loop; what it leaves running is a failure."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = pyfuncitem._fixtureinfo.argnames
    arguments = {name: pyfuncitem.funcargs[name] for name in names}
    realtime = pyfuncitem.get_closest_marker("realtime") is not None
    errors: list[dict[str, Any]] = []

    async def main() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, context: errors.append(context))
        await pyfuncitem.obj(**arguments)
        leaked = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        assert not leaked, f"tasks left running: {leaked}"

    with asyncio.Runner(loop_factory=None if realtime else VirtualLoop) as runner:
        runner.run(main())
        gc.collect()
    assert not errors, f"errors that nobody saw: {errors}"
    return True


def _open_files() -> set[str]:
    result = set()
    for entry in Path("/proc/self/fd").iterdir():
        try:
            target = str(entry.readlink())
        except OSError:
            continue
        if target.startswith(("/dev/pt", "socket:", "pipe:")) or "/pitbox" in target:
            result.add(f"{entry.name} -> {target}")
    return result


@pytest.fixture(autouse=True)
def _nothing_left_over() -> Iterator[None]:
    """Fail on threads and descriptors that a test leaves behind, and restore logging."""
    threads, files = set(threading.enumerate()), _open_files()
    yield
    for thread in set(threading.enumerate()) - threads:
        thread.join(2.0)  # a port that closes in its own thread needs a moment
    left = [thread.name for thread in set(threading.enumerate()) - threads]
    assert not left, f"threads left running: {left}"
    new = _open_files() - files
    assert not new, f"descriptors left open: {new}"
    logging.getLogger().handlers[:] = [h for h in logging.getLogger().handlers if "pytest" in type(h).__module__]
