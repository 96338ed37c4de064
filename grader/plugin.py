"""The pytest plugin: options, one item a case, and the record at the end.

In: pytest's options. Out: result.json, or result.partial.json, and the exit status.

    pytest_collection      reads the submission and the cases, and makes an item of each case
    pytest_runtestloop     builds the submission and runs the cases in threads; each item waits for
                           its case; at the end, writes the record

BadInput and MachineFault (errors.py) end the session at once, with exit status 2 or 3.
"""

from __future__ import annotations

import contextlib
import secrets
import signal
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from . import ROOT, interrupt, options
from .build.parts import trusted_parts
from .cases.model import Case, Performance
from .errors import BadInput, MachineFault
from .grade import Grading
from .intake.submission import Submission, read_submission
from .record.model import Record, Test, Timing
from .record.store import Store
from .report import terminal
from .verdict.points import full_marks

FULL_MARKS, LESS, BAD_INPUT, MACHINE_FAULT = 0, 1, 2, 3


@dataclass
class State:
    """Of one pytest session."""

    quiet: bool = False
    """`python -m grader`: pytest itself prints nothing."""
    seed: int = 0
    submission: Submission | None = None
    options: options.Asked | None = None
    grading: Grading | None = None
    store: Store | None = None
    watched: terminal.Watched | None = None
    record: Record | None = None
    """The last one known."""
    fault: BadInput | MachineFault | None = None
    asked: set[str] | None = None
    """Keys of the cases and timed shapes that were selected; None: all."""
    selected: int = 0
    stages: dict[str, float] = field(default_factory=dict)

    @property
    def status(self) -> int | None:
        """None: pytest's own."""
        if self.fault:
            return BAD_INPUT if isinstance(self.fault, BadInput) else MACHINE_FAULT
        if self.record is None:
            return None
        if self.record.complete:
            return FULL_MARKS if full_marks(self.record) else LESS
        wanted = [item for item in self.record.items
                  if self.asked is None or item.key in self.asked]
        all_known = len(wanted) == self.selected
        return FULL_MARKS if all_known and all(item.nothing_lost for item in wanted) else LESS


STATE = pytest.StashKey[State]()


def state_of(config: pytest.Config) -> State:
    return config.stash.setdefault(STATE, State())


# ---- options -------------------------------------------------------------------------------------


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("grader", "grading a submission (docs/grading.md)")
    add = group.addoption
    add("--submission", default=str(ROOT / "kernel.cu"), metavar="PATH",
        help="a .cu file, or a folder or zip that holds it; default: this project's kernel.cu")
    add("--name", metavar="NAME", help="of that directory; default: from the submission's path")
    for name, how in options.SHARED.items():
        add(name, **how)


# ---- collecting: cases become items --------------------------------------------------------------


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    config, state = session.config, state_of(session.config)
    with ending(session):
        state.options = options.check({name.removeprefix("--"): config.getoption(name)
                                       for name in options.SHARED})
        state.submission = read_submission(config.getoption("submission"), config.getoption("name"))
    given = state.options.seed
    state.seed = secrets.randbits(options.SEED_BITS) if given is None else given


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    given = state_of(metafunc.config).options
    for name, kind in (("case", Case), ("performance", Performance)):
        if given and name in metafunc.fixturenames:
            items = [item for suite in given.suites for item in suite.items
                     if isinstance(item, kind)]
            metafunc.parametrize(name, [item.key for item in items],
                                 ids=[f"{item.suite}-{item.name}" for item in items])


@pytest.fixture
def grading(request: pytest.FixtureRequest) -> Grading:
    found = state_of(request.config).grading
    assert found is not None
    return found


# ---- running -------------------------------------------------------------------------------------


@pytest.hookimpl(wrapper=True)
def pytest_runtestloop(session: pytest.Session) -> Iterator[None]:
    if session.config.option.collectonly or session.testsfailed or not session.items:
        return (yield)
    state = state_of(session.config)
    state.watched = terminal.Watched()
    try:
        with ending(session):
            begin(session, state)
            done = yield
            conclude(state)
        return done
    except session.Failed:  # -x, --maxfail
        with ending(session):
            conclude(state, broken_off=True)
        raise
    finally:
        if state.grading:
            state.grading.stop(wait=False)
        state.watched.end()


def begin(session: pytest.Session, state: State) -> None:
    """Everything before the first case runs. Pytest has selected the items by now. Raises BadInput
    and MachineFault."""
    option, started = session.config.getoption, time.monotonic()
    assert state.watched and state.submission and state.options
    asked = state.options
    state.watched.stage("building the grader")
    parts = trusted_parts(asked.backend)
    box = asked.sandbox(parts.jail)
    state.stages["trusted parts"] = time.monotonic() - started
    state.grading = Grading(
        state.submission, asked.suites, state.seed, box, parts, asked.jobs, limit=asked.limit,
        finished=lambda record, item: finished(state, record, item),
    )  # fmt: skip
    state.store = Store(asked.results, state.grading.record(),
                        named=option("name") is not None)
    keys = [key for key in map(key_of, session.items) if key]
    total = sum(len(suite.items) for suite in asked.suites)
    state.asked, state.selected = (set(keys) if len(keys) < total else None), len(keys)
    state.watched.stage("compiling kernel.cu")
    state.grading.start(state.asked)
    state.watched.stage("running", cases=len(keys))


def finished(state: State, record: Record, item: Test | Timing) -> None:
    """Of each case and timed shape: keeps the record so far, in case the grader is killed."""
    if not state.fault and state.store and state.watched:
        state.watched.finished(item)
        state.record = record
        state.store.save_partial(record)


def conclude(state: State, broken_off: bool = False) -> None:
    """Writes the record: to result.json only if it is complete. Raises MachineFault."""
    assert state.grading and state.store
    if broken_off and not state.grading.decided:
        state.grading.stop()
        record = state.grading.record()
    else:
        record = state.grading.finish()
    state.stages |= state.grading.stages
    # From here to the end, so that the exit status is true about whether there is a result.
    interrupt.handle(signal.SIG_IGN)
    if record.complete:
        state.store.save(record)
    else:
        state.store.save_partial(record)
    state.record = record


def key_of(item: pytest.Item) -> str | None:
    callspec = getattr(item, "callspec", None)
    params = callspec.params if callspec else {}
    return params.get("case") or params.get("performance")


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Iterator[None]:
    """A fault of the machine fails no case."""
    with ending(pyfuncitem.session):
        return (yield)


# ---- the end -------------------------------------------------------------------------------------


@contextlib.contextmanager
def ending(session: pytest.Session) -> Iterator[None]:
    """Ends the session at once on BadInput and MachineFault."""
    try:
        yield
    except (BadInput, MachineFault) as error:
        state = state_of(session.config)
        state.fault = error
        pytest.exit(f"grade: {error}", returncode=state.status)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """A complete record decides, also about what pytest did not see: a submission that was refused
    after cases had passed. So does a fault of the machine at the end."""
    status = state_of(session.config).status
    if status is not None and session.exitstatus in (0, 1):
        session.exitstatus = status


def pytest_unconfigure(config: pytest.Config) -> None:
    """Restores the signals for the rest of the process; __main__.py does so itself."""
    if not state_of(config).quiet and signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGHUP, signal.SIG_DFL)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """With plain pytest; `python -m grader` prints the report itself."""
    state = state_of(config)
    if state.quiet or state.fault or not state.record:
        return
    terminalreporter.ensure_newline()
    terminal.show(state.record, place(state), sys.stdout, state.asked)


def place(state: State) -> Path | None:
    """The file of the record that was written last."""
    if not state.store or not state.record:
        return None
    return state.store.result if state.record.complete else state.store.partial
