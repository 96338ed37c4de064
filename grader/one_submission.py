"""One submission, from its bytes to its record on disk: what `python -m grader` runs, and the front
for pytest.

In: checked options and a submission. Out: the record, in result.json if it is complete, else in
result.partial.json. Whoever waits for it can watch.
"""

from __future__ import annotations

import secrets
import signal
import time
from collections.abc import Callable
from pathlib import Path

from . import interrupt
from .build.parts import trusted_parts
from .grade import Grading
from .intake.submission import Submission
from .options import SEED_BITS, Asked
from .record.model import Record, Test, Timing
from .record.store import Store
from .verdict.points import full_marks


class Run:
    """`only`: the keys of the cases and timed shapes that are asked for; None: all. `stage` is called
    when one begins, with the number of cases where there are some; `finished` for each of these."""

    def __init__(self, asked: Asked, submission: Submission, *, named: bool = False,
                 only: set[str] | None = None,
                 stage: Callable[[str, int | None], None] = lambda what, cases: None,
                 finished: Callable[[Test | Timing], None] = lambda item: None):
        self.asked, self.submission, self.named, self.only = asked, submission, named, only
        self.stage, self.finished = stage, finished
        self.store: Store | None = None
        self.stages: dict[str, float] = {}

    def run(self, until_first: bool = False) -> Record:
        """`until_first`: case that loses points. Raises MachineFault."""
        asked, started = self.asked, time.monotonic()
        self.stage("building the grader", None)
        parts = trusted_parts(asked.backend, asked.lab)
        box = asked.sandbox(parts.jail)
        self.stages["trusted parts"] = time.monotonic() - started
        seed = secrets.randbits(SEED_BITS) if asked.seed is None else asked.seed
        grading = Grading(self.submission, asked.suites, seed, box, parts, asked.jobs,
                          limit=asked.limit, began=self.stage, finished=self._keep)
        self.store = Store(asked.results, grading.record(), named=self.named)
        record = grading.run(self.only, until_first)
        self.stages |= grading.stages
        # From here to the end, so that the exit status is true about whether there is a result.
        interrupt.handle(signal.SIG_IGN)
        if record.complete:
            self.store.save_source(self.submission.source)
            self.store.save(record)
        else:
            self.store.save_partial(record)
        return record

    @property
    def keys(self) -> list[str]:
        every = [item.key for suite in self.asked.suites for item in suite.items]
        return [key for key in every if self.only is None or key in self.only]

    @property
    def with_marks(self) -> list[str]:
        """And those of what a whole suite keeps or loses."""
        return [key for suite in self.asked.suites
                for key in (*(item.key for item in suite.items), *suite.marks)]

    def choose(self, keys: set[str]) -> None:
        """Of these: a mark needs all cases of its suite."""
        needed = {case.key for suite in self.asked.suites if keys & set(suite.marks)
                  for case in suite.cases}
        self.only = None if keys >= set(self.with_marks) else keys | needed

    def _keep(self, record: Record, item: Test | Timing) -> None:
        """In case the grader is killed."""
        assert self.store
        self.finished(item)
        self.store.save_partial(record)

    def earned_all(self, record: Record) -> bool:
        """Of what was asked for."""
        if record.complete:
            return full_marks(record)
        known = {item.key: item for item in record.items}
        return all(key in known and known[key].nothing_lost for key in self.keys)

    def place(self, record: Record) -> Path | None:
        """The file that has it."""
        return self.store and (self.store.result if record.complete else self.store.partial)
