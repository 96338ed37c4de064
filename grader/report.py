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
from rich.console import Console, RenderableType
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
NARROWEST = 40
OUTPUT_LINES = 10
COMPILER_LINES = 14  # and one above them
INDENT = 4
GAP = "  "  # between columns
STYLES = {"passed": "green", "partial": "yellow", "failed": "red", "skipped": "dim"}


def console_for(stream: TextIO) -> Console:
    """Colour on a terminal only, and not with NO_COLOR; at most 80 columns where there is none."""
    terminal = stream.isatty()
    columns = shutil.get_terminal_size((PIPED_WIDTH, 24)).columns
    columns = max(min(columns, WIDEST if terminal else PIPED_WIDTH), NARROWEST)
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(errors="replace")  # a terminal without UTF-8 ends no grade
    return Console(file=stream, width=columns, force_terminal=terminal, highlight=False,
                   markup=False, emoji=False)


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
    """Why nothing was run; the table of all cases, or those whose keys are in `only`; the first
    finding. No line is wider than the console."""
    console = console_for(stream)
    tests = [t for t in record.tests if only is None or f"{t.suite}/{t.name}" in only]
    timings = [t for t in record.performance if only is None or f"{t.suite}/{t.name}" in only]
    timed = [t for t in timings if t.state != "not-timed"]
    blocks: list[RenderableType | None] = [
        about_build(record, console), about_refusal(record, console),
        table_of(tests, record, console) if tests else None,
        table_of_speed(timed) if timed else None, about_speed(timed, record, console),
        about_finding(record, tests, console)]
    for block in blocks:
        if block:
            console.print(block, "", sep="\n")
    for note in record.submission.notes:
        console.print(paragraph(f"note: {harmless(note)}", console))
    console.print(last_lines(record, [*tests, *timings], where, console,
                             everything=only is None), soft_wrap=True)


def paragraph(text: str | Text, console: Console, indent: int = 0, style: str = "") -> Text:
    """A line; what does not fit goes on in the next ones, further to the right."""
    line = Text(text, style) if isinstance(text, str) else text
    room = console.width - indent
    if line.cell_len <= room:
        return Text(" " * indent).append_text(line)
    parts = wrapped(line, console, room - INDENT)
    return Text(" " * indent).append_text(Text(f"\n{' ' * (indent + INDENT)}").join(parts))


def wrapped(line: Text, console: Console, width: int) -> list[Text]:
    parts = list(line.wrap(console, width))
    for part in parts:
        part.rstrip()
    return parts


def lines(*paragraphs: Text) -> Text:
    return Text("\n").join(paragraphs)


def told_above(record: Record) -> bool:
    """Whether one reason holds for all cases, and is printed once."""
    return record.refusal is not None or not record.build.ok


def table_of(tests: list[Test], record: Record, console: Console) -> Text:
    """A reason stands in its case's row where it fits; else, as every hint, in lines of its own."""
    head = [Text(word, "bold") for word in ("case", "m k n", "result", "points")]
    rows = [[Text(test.name), Text(f"{test.m} {test.k} {test.n}" if test.m else ""),
             Text(test.status, STYLES[test.status]),
             Text(f"{number(test.score)}/{number(test.max_score)}")] for test in tests]
    widths = [max(cell.cell_len for cell in column) for column in zip(head, *rows, strict=True)]
    gaps = len(GAP) * (len(widths) - 1)
    widths[0] = min(widths[0], max(console.width - sum(widths[1:]) - gaps, 1))
    room = console.width - sum(widths) - gaps - len(GAP)
    block = [row_of(head, widths, "reason" if room >= len("reason") else ""),
             Text("─" * console.width)]
    said: set[str] = set()  # a hint once
    for test, cells in zip(tests, rows, strict=True):
        if cells[0].cell_len > widths[0]:  # a line of its own
            block.append(paragraph(cells[0], console))
            cells[0] = Text("")
        reason = "" if told_above(record) else harmless(test.reason)
        beside = Text(reason).cell_len <= room
        block.append(row_of(cells, widths, reason if beside else ""))
        if reason and not beside:
            block.append(paragraph(reason, console, INDENT))
        if test.hint and test.hint not in said and not told_above(record):
            block.append(paragraph(f"hint: {harmless(test.hint)}", console, INDENT))
            said.add(test.hint)
    return lines(*block)


def row_of(cells: list[Text], widths: list[int], reason: str) -> Text:
    """The last cell is a number, so it is set to the right."""
    padded = [cell.copy() for cell in cells]
    for cell, width in zip(padded, widths, strict=True):
        cell.align("right" if cell is padded[-1] else "left", width)
    return Text(GAP).join([*padded, Text(reason)] if reason else padded)


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


def about_speed(timings: list[Timing], record: Record, console: Console) -> Text | None:
    """The reasons, and each hint once."""
    block, said = [], set()
    for timing in timings:
        if not timing.reason or told_above(record):
            continue
        block.append(paragraph(f"{timing.name}: {harmless(timing.reason)}", console))
        if timing.hint and timing.hint not in said:
            block.append(paragraph(f"hint: {harmless(timing.hint)}", console, INDENT))
            said.add(timing.hint)
    device = next((timing.device for timing in timings if timing.device), None)
    samples = {timing.samples for timing in timings if timing.samples}
    if device:
        counted = f", medians of {min(samples)} calls" if samples else ""
        block.append(paragraph(f"timed on {harmless(device)}{counted}, alternating with cuBLAS",
                               console))
    return lines(*block) if block else None


def not_timed(timings: list[Timing]) -> str:
    """One line for all that no GPU was there for; empty where there is none."""
    count = sum(timing.state == "not-timed" for timing in timings)
    shapes = "1 shape" if count == 1 else f"{count} shapes"
    if not count:
        return ""
    return f"speed: {shapes} {score.NO_GPU} (BACKEND=cuda uses one); this costs no points"


def about_build(record: Record, console: Console) -> Text | None:
    """The compiler's words; or ours, where it said none."""
    build = record.build
    if build.ok or record.refusal:
        return None
    title = Text("kernel.cu does not compile:", "bold red")
    said = build.output.splitlines()
    if not any(build.message in line for line in said):
        said = [verdict.at(build.file, build.line, build.message), *said]
    return lines(title, quoted_lines(said, COMPILER_LINES, console))


def about_refusal(record: Record, console: Console) -> Text | None:
    if not record.refusal:
        return None
    refusal = record.refusal
    place = f"{harmless(refusal.file)}:{refusal.line}: " if refusal.file and refusal.line else ""
    block = [paragraph(f"{place}refused: the submission {harmless(refusal.tried)}", console,
                       style="bold red")]
    if refusal.hint:
        block.append(paragraph(f"hint: {harmless(refusal.hint)}", console, INDENT))
    return lines(*block)


def about_finding(record: Record, tests: list[Test], console: Console) -> Text | None:
    """The first finding, as `make check` prints it; of a public case if there is one."""
    found = [test for test in tests if test.finding]
    found.sort(key=lambda test: test.hidden)
    if record.refusal or not found:
        return None
    test, finding = found[0], found[0].finding
    assert finding is not None
    block = [paragraph(harmless(verdict.headline(finding)), console, style="bold")]
    block += [paragraph(harmless(line), console, INDENT) for line in details(test, finding)]
    if finding.hint:
        block.append(paragraph(f"hint: {harmless(finding.hint)}", console, INDENT))
    if test.output:
        block += [Text("    it printed:"),
                  quoted_lines(test.output.splitlines(), OUTPUT_LINES, console)]
    return lines(*block)


def details(test: Test, finding: Finding) -> list[str]:
    shape = f"m={test.m} k={test.k} n={test.n}"
    lines = list(finding.detail)
    if not any(shape in line for line in lines):
        lines.append(f"{shape}, fill {test.fill}, seed {test.seed}")
    return lines


def quoted_lines(said: list[str], most: int, console: Console) -> Text:
    """With a bar in front of each, so that none of them can begin with a runner's command; `most`
    lines as they are printed."""
    bar = Text("    | ")
    shown = [part for line in said[:most]
             for part in wrapped(Text(harmless(line)), console, console.width - bar.cell_len)]
    if len(shown) > most or len(said) > most:
        shown = [*shown[:most - 1], Text("... (the rest is left out)")]
    return lines(*(bar + line for line in shown))


def last_lines(record: Record, items: list[Test | Timing], where: Path | None, console: Console,
               everything: bool) -> Text:
    """A path is left whole, however long it is: half of one is of no use to anybody."""
    untimed = not_timed([item for item in items if isinstance(item, Timing)])
    block = [paragraph(untimed, console)] if untimed else []
    block += [paragraph(f"protection: {harmless(record.protection_note) or record.protection}",
                        console),
              paragraph(f"seed: {record.seed} (the same seed gives the same grade)", console)]
    if where:
        place = os.path.relpath(where)
        shown = place if not place.startswith(os.pardir + os.sep) else str(where)
        block.append(Text(f"record: {harmless(printable(shown))}"))
    if record.complete and everything:
        block.append(Text(f"score: {number(record.score)} of {number(record.max_score)}", "bold"))
        return lines(*block)
    got, possible = score.totals(items)
    block.append(paragraph(f"{number(got)} of {number(possible)} points in {len(items)} cases; "
                           "no grade, because not all cases were run", console, style="bold"))
    return lines(*block)


def number(points: float) -> str:
    return f"{round(points, 2):g}"
