"""What is seen while a class is graded: on a terminal a table that stays where it is, with the time
left; elsewhere a line for each submission. Names are data, so all of them go through harmless()."""

from __future__ import annotations

import os
import sys
import time
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from rich.console import Group, RenderableType
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from .console import console_for
from .jobs.results import Job, Key, last_try, not_taken, record_of
from .text import harmless, one_line, points

ROWS = 8
"""Of those that have ended; so the table keeps its height."""


class Shown:
    """`names`: of the jobs' directories."""

    def __init__(self, names: Mapping[Path, str], key: Key, what: str):
        self.names, self.key, self.what = names, key, what
        self.console = console_for(sys.stderr)
        self.moves = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self.count, self.ended = 0, deque[tuple[str, str, str]](maxlen=ROWS)
        self.began: dict[Path, float] = {}
        self._bar = Progress(
            TextColumn("{task.description}"), BarColumn(bar_width=24), MofNCompleteColumn(),
            TimeRemainingColumn(), TextColumn("left"), console=self.console)
        self._task = self._bar.add_task(what, total=len(names))
        self._live = Live(console=self.console, transient=True, auto_refresh=False,
                          vertical_overflow="crop")

    def __enter__(self) -> Shown:
        if self.moves:
            self._live.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        if self.moves:
            self._live.stop()

    def __call__(self, running: Sequence[Job], ended: Job | None) -> None:
        """worker.Watch."""
        now = time.monotonic()
        self.began = {job.directory: self.began.get(job.directory, now) for job in running}
        if ended:
            self.end(ended)
        if self.moves:
            self._live.update(self.picture(now), refresh=True)

    def end(self, job: Job) -> None:
        name, got, said = self.row(job)
        again = not got
        self.count += not again
        self._bar.update(self._task, completed=self.count)
        self.ended.append((name, got or "no result", said))
        if not self.moves:
            number = f"[{self.count}/{len(self.names)}] " if got else ""
            print(f"{number}{name}: {got or 'no result'}{': ' + said if said else ''}", flush=True)

    def row(self, job: Job) -> tuple[str, str, str]:
        """The name, the points (or that there is nothing to grade; or ""), and what there is to say."""
        name = harmless(one_line(self.names.get(job.directory, job.directory.parent.name), 60))
        record = record_of(job)
        if record and not self.key.differs(record):
            got = f"{points(record.score)} of {points(record.max_score)} points"
            return name, got, harmless(one_line("; ".join(record.whole), 200))
        if why := not_taken(job, self.key):
            return name, "unusable", harmless(why)
        last = last_try(job)
        return name, "", harmless(last.message if last else "stopped")

    def picture(self, now: float) -> RenderableType:
        table = Table.grid(padding=(0, 2), expand=True)
        for width in (28, 20):
            table.add_column(max_width=width, no_wrap=True, overflow="ellipsis")
        table.add_column(ratio=1, no_wrap=True, overflow="ellipsis")  # what a long remark gives way with
        for name, got, said in self.ended:
            table.add_row(name, got, Text(said, "dim"))
        for _ in range(ROWS - len(self.ended)):
            table.add_row("", "", "")
        for directory, began in self.began.items():
            name = harmless(one_line(self.names.get(directory, directory.parent.name), 60))
            table.add_row(Text(name, "bold"), Text(f"{now - began:.0f} s", "bold"), "")
        return Group(self._bar, table)

    def say(self, text: str) -> None:
        """A line between."""
        place: Any = self._live.console if self.moves else self.console
        place.print(harmless(text))
