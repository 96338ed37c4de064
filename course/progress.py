"""What is seen while a class is graded: a line for each submission that has ended, and on a terminal a bar below
them, with the time left. Names are data, so all of them go through harmless()."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from .console import console_for
from .jobs.results import Job, Key, last_try, not_taken, record_of
from .text import harmless, one_line, points

LONGEST_DESCRIPTION = 30


class Shown:
    """`names`: of the jobs' directories."""

    def __init__(self, names: Mapping[Path, str], key: Key, what: str):
        self.names, self.key, self.what, self.count = names, key, what, 0
        self.moves = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self._bar = Progress(
            TextColumn("{task.description}"), BarColumn(bar_width=24), MofNCompleteColumn(), TimeRemainingColumn(),
            TextColumn("left"), console=console_for(sys.stderr), transient=True, disable=not self.moves)
        self._task = self._bar.add_task(what, total=len(names))

    def __enter__(self) -> Shown:
        self._bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self._bar.stop()

    def __call__(self, running: Sequence[Job], ended: Job | None) -> None:
        """worker.Watch."""
        if ended:
            self.end(ended)
        doing = ", ".join([self.what, *map(self.name, running)])
        self._bar.update(self._task, completed=self.count, description=shortened(doing))

    def end(self, job: Job) -> None:
        got, said = self.result(job)
        self.count += bool(got)
        number = f"[{self.count}/{len(self.names)}] " if got else ""
        line = f"{number}{self.name(job)}: {got or 'no result'}{': ' + said if said else ''}"
        if self.moves:
            self.say(line)
        else:
            print(line, flush=True)

    def name(self, job: Job) -> str:
        return harmless(one_line(self.names.get(job.directory, job.directory.parent.name), 60))

    def result(self, job: Job) -> tuple[str, str]:
        """The points (or that there is nothing to grade; or ""), and what there is to say."""
        record = record_of(job)
        if record and not self.key.differs(record):
            got = f"{points(record.score)} of {points(record.max_score)} points"
            return got, harmless(one_line("; ".join(record.whole), 200))
        if why := not_taken(job, self.key):
            return "unusable", harmless(why)
        last = last_try(job)
        return "", harmless(last.message if last else "stopped")

    def say(self, text: str) -> None:
        """A line of its own."""
        self._bar.console.print(harmless(text))


def shortened(text: str) -> str:
    return text if len(text) <= LONGEST_DESCRIPTION else f"{text[:LONGEST_DESCRIPTION - 3]}..."
