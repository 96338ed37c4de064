"""What the grader prints: progress while it runs, the table and the score at the end.

For whoever runs the grader, so hidden cases are shown in full; what students get of them is made
by feedback.py and the exporters. All text that came out of a submission, a compiler or a test case
goes through harmless().
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import TextIO

from rich import box
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from . import score, verdict
from .feedback import harmless
from .intake import printable
from .outcome import Finding
from .record import Record, Test, Times, Timing

PIPED_WIDTH = 80
WIDEST = 120  # lines longer than this are hard to read
OUTPUT_LINES = 10
STYLES = {"passed": "green", "partial": "yellow", "failed": "red", "skipped": "dim"}


def console_for(stream: TextIO) -> Console:
    """Colour on a terminal only, and not with NO_COLOR; 80 columns where there is none."""
    terminal = stream.isatty()
    columns = min(shutil.get_terminal_size((PIPED_WIDTH, 24)).columns, WIDEST)
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(errors="replace")  # a terminal without UTF-8 ends no grade
    return Console(file=stream, width=columns if terminal else PIPED_WIDTH, force_terminal=terminal,
                   highlight=False, markup=False, emoji=False, soft_wrap=False)


# ---- while it runs -------------------------------------------------------------------------------


class Watched:
    """A line on standard error that moves, if that is a terminal."""

    def __init__(self, stream: TextIO | None = None):
        stream = stream or sys.stderr
        moves = stream.isatty() and os.environ.get("TERM") != "dumb"
        self._bar = Progress(
            TextColumn("{task.description}"), BarColumn(bar_width=24), MofNCompleteColumn(),
            TimeElapsedColumn(), console=console_for(stream), transient=True, disable=not moves,
        )  # fmt: skip
        self._task = self._bar.add_task("getting ready", total=None)
        self._bar.start()

    def stage(self, what: str, cases: int | None = None) -> None:
        self._bar.update(self._task, description=what, total=cases)

    def finished(self, item: Test | Timing) -> None:
        how = item.status if isinstance(item, Test) else item.state
        self._bar.update(self._task, advance=1, description=f"{item.name}: {how}")

    def end(self) -> None:
        self._bar.stop()


# ---- at the end ----------------------------------------------------------------------------------


def show(record: Record, where: Path | None, stream: TextIO, only: set[str] | None = None) -> None:
    """The table of all cases, or those whose keys are in `only`; then what there is to say."""
    console = console_for(stream)
    tests = [t for t in record.tests if only is None or f"{t.suite}/{t.name}" in only]
    timings = [t for t in record.performance if only is None or f"{t.suite}/{t.name}" in only]
    if tests:
        console.print(table_of(tests, record), "", sep="\n")
    timed = [t for t in timings if t.state != "not-timed"]
    if timed:
        console.print(table_of_speed(timed), "", sep="\n")
        console.print(about_speed(timed, record), soft_wrap=True)
    for block in (about_build(record), about_refusal(record), about_finding(record, tests)):
        if block:
            console.print(block, soft_wrap=True)
    for note in record.submission.notes:
        console.print(f"note: {harmless(note)}", soft_wrap=True)
    console.print(last_lines(record, [*tests, *timings], where, everything=only is None),
                  soft_wrap=True)


def table_of(tests: list[Test], record: Record) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), show_edge=False)
    table.add_column("case", no_wrap=True)
    table.add_column("m k n", no_wrap=True)
    table.add_column("result", no_wrap=True)
    table.add_column("points", justify="right", no_wrap=True)
    table.add_column("reason, hint", overflow="fold")
    said: set[str] = set()  # a hint once
    for test in tests:
        reason = Text(harmless(test.reason))
        if test.hint and test.hint not in said and not record.refusal:
            reason.append(f"\nhint: {harmless(test.hint)}", "dim")
            said.add(test.hint)
        shape = f"{test.m} {test.k} {test.n}" if test.m else ""
        table.add_row(Text(test.name), shape, Text(test.status, STYLES[test.status]),
                      f"{number(test.score)}/{number(test.max_score)}", reason)
    return table


def table_of_speed(timings: list[Timing]) -> Table:
    """Medians; beside them what counts, cuBLAS's time over the kernel's."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), show_edge=False)
    table.add_column("speed", overflow="fold")  # the only one that gives way
    table.add_column("m k n", no_wrap=True)
    for name in ("time", "cuBLAS", "ratio", "points"):
        table.add_column(name, justify="right", no_wrap=True)
    for timing in timings:
        shape = f"{timing.m} {timing.k} {timing.n}" if timing.m else ""
        full = timing.score >= timing.max_score
        table.add_row(Text(timing.name), shape,
                      Text(milliseconds(timing.times) if timing.times else timing.state,
                           "" if timing.times else "red"),
                      milliseconds(timing.cublas_times), ratio(timing),
                      Text(f"{number(timing.score)}/{number(timing.max_score)}",
                           "green" if full else "yellow" if timing.score else "red"))
    return table


def milliseconds(times: Times | None) -> str:
    return f"{times.median * 1e3:.3f} ms" if times else ""


def ratio(timing: Timing) -> str:
    return f"{timing.ratio:.3f}" if timing.ratio is not None else ""


def about_speed(timings: list[Timing], record: Record) -> Text:
    """The reasons, a line each, and each hint once."""
    block, said = Text(), set()
    for timing in timings:
        if not timing.reason:
            continue
        block.append(f"{timing.name}: {harmless(timing.reason)}\n")
        if timing.hint and timing.hint not in said and not record.refusal:
            block.append(f"    hint: {harmless(timing.hint)}\n", "dim")
            said.add(timing.hint)
    device = next((timing.device for timing in timings if timing.device), None)
    samples = {timing.samples for timing in timings if timing.samples}
    if device:
        counted = f", medians of {min(samples)} calls" if samples else ""
        block.append(f"timed on {harmless(device)}{counted}, alternating with cuBLAS\n")
    return block


def not_timed(timings: list[Timing]) -> str:
    """One line for all that no GPU was there for; empty where there is none."""
    count = sum(timing.state == "not-timed" for timing in timings)
    shapes = "1 shape" if count == 1 else f"{count} shapes"
    if not count:
        return ""
    return f"speed: {shapes} {score.NO_GPU} (BACKEND=cuda uses one); this costs no points"


def about_build(record: Record) -> Text | None:
    """The compiler's words, where it said more than its first error."""
    if record.build.ok or record.refusal:
        return None
    lines = record.build.output.splitlines() or [record.build.message]
    return quoted_lines("kernel.cu does not compile:", lines, OUTPUT_LINES)


def about_refusal(record: Record) -> Text | None:
    if not record.refusal:
        return None
    refusal = record.refusal
    place = f"{harmless(refusal.file)}:{refusal.line}: " if refusal.file and refusal.line else ""
    block = Text(f"{place}refused: the submission {harmless(refusal.tried)}\n", "bold red")
    if refusal.hint:
        block.append(f"    hint: {harmless(refusal.hint)}\n", "not bold default")
    return block


def about_finding(record: Record, tests: list[Test]) -> Text | None:
    """The first finding, as `make check` prints it; of a public case if there is one."""
    found = [test for test in tests if test.finding]
    found.sort(key=lambda test: test.hidden)
    if record.refusal or not found:
        return None
    test, finding = found[0], found[0].finding
    assert finding is not None
    block = Text(f"{harmless(verdict.headline(finding))}\n", "bold")
    for line in details(test, finding):
        block.append(f"    {harmless(line)}\n", "not bold")
    if finding.hint:
        block.append(f"    hint: {harmless(finding.hint)}\n", "not bold")
    if test.output:
        block.append_text(quoted_lines("    it printed:", test.output.splitlines(), OUTPUT_LINES))
    return block


def details(test: Test, finding: Finding) -> list[str]:
    shape = f"m={test.m} k={test.k} n={test.n}"
    lines = list(finding.detail)
    if not any(shape in line for line in lines):
        lines.append(f"{shape}, fill {test.fill}, seed {test.seed}")
    return lines


def quoted_lines(title: str, lines: list[str], most: int) -> Text:
    """A bar in front of each, so that none of them can begin with a runner's command."""
    block = Text(f"{title}\n")
    for line in lines[:most]:
        block.append(f"    | {harmless(line)}\n", "not bold dim")
    if len(lines) > most:
        block.append(f"    | ... and {len(lines) - most} more lines\n", "not bold dim")
    return block


def last_lines(record: Record, items: list[Test | Timing], where: Path | None,
               everything: bool) -> Text:
    untimed = not_timed([item for item in items if isinstance(item, Timing)])
    block = Text(f"{untimed}\n" if untimed else "")
    block.append(f"protection: {harmless(record.protection_note) or record.protection}\n")
    block.append(f"seed: {record.seed} (the same seed gives the same grade)\n")
    if where:
        place = os.path.relpath(where)
        shown = place if not place.startswith(os.pardir + os.sep) else str(where)
        block.append(f"record: {harmless(printable(shown))}\n")
    if record.complete and everything:
        block.append(f"score: {number(record.score)} of {number(record.max_score)}", "bold")
        return block
    got, possible = score.totals(items)
    block.append(f"{number(got)} of {number(possible)} points in {len(items)} cases; "
                 "no grade, because not all cases were run", "bold")
    return block


def number(points: float) -> str:
    return f"{round(points, 2):g}"
