"""What the grader prints: progress while it runs, the tables and the score at the end.

In: the record, complete or partial. Out: text on a stream, at most as wide as the terminal, for the person who
runs the grader: hidden cases are shown in full. What students see of them is made by record/student.py and the
exporters. All text that came out of a submission, a compiler or a test case goes through harmless().
"""

import os
import re
import shlex
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path, PurePath
from typing import Any, TextIO

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from ..criteria.correct import headline
from ..record.model import Mark, Record, Test, Timing, at
from ..text import counted, harmless, printable
from ..verdict.points import totals
from .lines import (Item, beside, fraction, milliseconds, not_timed, of_repair, points, protection, ratio,
                    reason as reason_of)

PIPED_WIDTH = 80
WIDEST = 120  # longer lines are hard to read
NARROWEST = 40
OUTPUT_LINES = 10
COMPILER_LINES = 14  # and one above them
INDENT = 4
GAP = "  "  # between columns
PLACE = re.compile(r"(?<![\w./-])kernel\.cu(?=:\d|: In |$)")
PRINTED = "output"
"""The member that holds what a submission printed, which stays as it is; a compiler's words are of a build."""
STYLES = {"passed": "green", "partial": "yellow", "failed": "red", "skipped": "dim"}


def console_for(stream: TextIO) -> Console:
    """Color on a terminal only, and not with NO_COLOR; at most 80 columns where there is none."""
    terminal = stream.isatty()
    columns = shutil.get_terminal_size((PIPED_WIDTH, 24)).columns
    columns = max(min(columns, WIDEST if terminal else PIPED_WIDTH), NARROWEST)
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(errors="replace")  # a terminal without UTF-8 ends no grade
    return Console(file=stream, width=columns, force_terminal=terminal, highlight=False,
                   markup=False, emoji=False)


# ---- the submission's own name -------------------------------------------------------------------


def with_given_name(record: Record) -> tuple[Record, str]:
    """A submission is graded as kernel.cu, and `make grade KERNEL=mine.cu` is about mine.cu."""
    name = PurePath(record.submission.path).name
    if name == "kernel.cu" or not name.endswith(".cu"):
        return record, "kernel.cu"
    said = renamed(record.model_dump(), name)
    said["build"]["output"] = renamed(record.build.output, name)
    return Record.model_validate(said), name


def renamed(value: Any, name: str) -> Any:
    if isinstance(value, str):
        return PLACE.sub(lambda _: name, value)
    if isinstance(value, list):
        return [renamed(each, name) for each in value]
    if isinstance(value, dict):
        return {key: each if key == PRINTED else renamed(each, name) for key, each in value.items()}
    return value


# ---- while it runs -------------------------------------------------------------------------------


class Watched:
    """A progress line on standard error, if that is a terminal."""

    def __init__(self) -> None:
        moves = sys.stderr.isatty() and os.environ.get("TERM") != "dumb" and not os.environ.get("NO_COLOR")
        self._bar = Progress(
            TextColumn("{task.description}"), BarColumn(bar_width=24), MofNCompleteColumn(),
            TimeElapsedColumn(), console=console_for(sys.stderr), transient=True, disable=not moves,
        )  # fmt: skip
        self._task = self._bar.add_task("getting ready", total=None)
        self._bar.start()

    def stage(self, what: str, cases: int | None = None) -> None:
        self._bar.update(self._task, description=what, total=cases)

    def finished(self, item: Item) -> None:
        how = item.status if isinstance(item, Test) else item.state
        self._bar.update(self._task, advance=1, description=f"{item.name}: {how}")

    def end(self) -> None:
        self._bar.stop()


# ---- at the end ----------------------------------------------------------------------------------


def show(record: Record, where: Path | None, stream: TextIO, only: set[str] | None = None,
         given: Sequence[str] | None = ()) -> None:
    """Why nothing was run; the tables of all cases and shapes, or of those whose keys are in
    `only`; the first finding; the score; what to run next. `where`: the record's file. `given`: what says
    to make which kernel this is. No line is wider than the console."""
    console = console_for(stream)
    record, kernel = with_given_name(record)
    items = [item for item in record.items if only is None or item.key in only]
    tests = [item for item in items if isinstance(item, Test)]
    marks = [item for item in items if isinstance(item, Mark)]
    timings = [item for item in items if isinstance(item, Timing)]
    timed = [timing for timing in timings if timing.state != "not-timed"]
    sizes = " ".join(next((item.params for item in record.items if item.params), ["size"]))
    blocks = [about_build(record, kernel, console), about_refusal(record, console),
              table_of(["case", sizes, "result", "points"], [*tests, *marks], record, console),
              table_of(["speed", sizes, "time", beside(timed), "ratio", "points"], timed, record, console),
              about_device(timed, console), about_finding(record, tests, console)]
    for block in blocks:
        if block:
            console.print(block, "", sep="\n")
    untimed = not_timed(timings) and f"{not_timed(timings)} With a GPU: BACKEND=cuda."
    for line in filter(None, [untimed, about_blocks(tests),
                              *(f"note: {harmless(note)}" for note in record.submission.notes),
                              f"protection: {harmless(protection(record))}",
                              f"seed: {record.seed} (the same seed gives the same grade)"]):
        console.print(paragraph(line, console))
    if where:
        place = os.path.relpath(where)
        shown = place if not place.startswith(os.pardir + os.sep) else str(where)
        # Left whole, however long it is: half of a path is of no use.
        console.print(f"record: {harmless(printable(shown))}", soft_wrap=True)
    got, possible = map(points, totals(items))
    score = f"score: {points(record.score)} of {points(record.max_score)}" if record.complete and only is None else \
        f"{got} of {possible} points in {counted(len(items), 'case')}; no grade, because not all cases were run"
    console.print(paragraph(score, console, style="bold"))
    if given is not None and (command := next_command(record, tests, given)):
        console.print(f"next: {harmless(command)}", soft_wrap=True)


def next_command(record: Record, tests: list[Test], given: Sequence[str]) -> str:
    """What shows the first mistake of a public case again; empty: there is none."""
    test = next((test for test in tests if test.params and test.status != "skipped"
                 and not test.hidden and not test.nothing_lost), None)
    if test is None or not record.was_run:
        return ""
    program, sizes = f"{record.lab.name}-check", " ".join(map(str, (test.params or {}).values()))
    how = f"--fill {test.fill} --seed {test.seed}" if test.finding else "--counts"
    return f"{shlex.join(['make', program, *given])} && ./{program} {sizes} {how}"


def about_blocks(tests: list[Test]) -> str:
    """Where not all blocks of a checked run were watched."""
    seen = [test.blocks for test in tests if test.blocks]
    if not seen:
        return ""
    watched, blocks = sum(each.watched for each in seen), sum(each.all for each in seen)
    return f"note: {watched} of {counted(blocks, 'block')} watched in {counted(len(seen), 'case')} " \
        "with more blocks than the result needs: all that write, and a sample of the others"


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


def table_of(head: list[str], items: list[Item], record: Record, console: Console) -> Text | None:
    """A reason is in its case's row where it fits; else, like every hint, on lines below it."""
    if not items:
        return None
    rows = [list(map(Text, head)), *map(cells_of, items)]
    widths = [max(cell.cell_len for cell in column) for column in zip(*rows, strict=True)]
    others = sum(widths[1:]) + len(GAP) * (len(widths) - 1)
    widths[0] = min(widths[0], max(console.width - others, 1))
    room = console.width - widths[0] - others - len(GAP)
    rows[0] = [Text(word, "bold") for word in head]
    block = [row_of(rows[0], widths, "reason" if room >= len("reason") else ""), Text("─" * console.width)]
    said: set[str] = set()  # a hint once
    first: dict[str, str] = {}  # a reason of several lines, too: the case in which it is said
    for item, cells in zip(items, rows[1:], strict=True):
        if cells[0].cell_len > widths[0]:  # a line of its own
            block.append(paragraph(cells[0], console))
            cells[0] = Text("")
        reason = harmless(reason_of(item)) if record.was_run else ""  # else it is printed above
        beside = Text(reason).cell_len <= room
        again = first.setdefault(reason, item.name) if reason and not beside else item.name
        if again != item.name:
            reason = f"as in {again}"
            beside = len(reason) <= room
        block.append(row_of(cells, widths, reason if beside else ""))
        if reason and not beside:
            block.append(paragraph(reason, console, INDENT))
        if item.hint and item.hint not in said and record.was_run:
            block.append(paragraph(f"hint: {harmless(item.hint)}", console, INDENT))
            said.add(item.hint)
    return Text("\n").join(block)


def cells_of(item: Item) -> list[Text]:
    name, shape = item.name, " ".join(map(str, (item.params or {}).values()))
    result, more = item.status, []
    if isinstance(item, Mark):
        name, shape, result = item.title, item.suite, "kept" if item.nothing_lost else "lost"
    elif isinstance(item, Timing):
        result = milliseconds(item.times) or item.state
        more = [milliseconds(item.beside_times), ratio(item)]
    return [Text(name), Text(shape), Text("" if of_repair(item) else result, STYLES[item.status]),
            *map(Text, more), Text(fraction(item))]


def row_of(cells: list[Text], widths: list[int], reason: str) -> Text:
    """Names and the result of a case are on the left of their columns, numbers on the right."""
    padded = [cell.copy() for cell in cells]
    left = 2 if len(cells) > 4 else 3
    for number, (cell, width) in enumerate(zip(padded, widths, strict=True)):
        cell.align("left" if number < left else "right", width)
    return Text(GAP).join([*padded, Text(reason)] if reason else padded)


def about_device(timed: list[Timing], console: Console) -> Text | None:
    found = next((timing for timing in timed if timing.device and timing.samples), None)
    return found and paragraph(f"timed on {harmless(found.device or '')}, medians of "
                               f"{found.samples} calls, alternating with {found.beside}", console)


def about_build(record: Record, kernel: str, console: Console) -> Text | None:
    """The compiler's words; or ours, where it said none."""
    build = record.build
    if build.ok or record.refusal:
        return None
    said = build.output.splitlines()
    if not any(build.message in line for line in said):
        said = [at(build.file, build.line, build.message), *said]
    return Text("\n").join([Text(f"{harmless(kernel)} does not compile:", "bold red"),
                            *quoted(said, COMPILER_LINES, console)])


def about_refusal(record: Record, console: Console) -> Text | None:
    if not (refusal := record.refusal):
        return None
    what = at(refusal.file, refusal.line, f"refused: the submission {refusal.tried}")
    return with_hint([paragraph(harmless(what), console, style="bold red")], refusal.hint, console)


def about_finding(record: Record, tests: list[Test], console: Console) -> Text | None:
    """The first finding, as `make check` prints it; of a public case if there is one."""
    found = sorted((test for test in tests if test.finding), key=lambda test: test.hidden)
    if record.refusal or not found:
        return None
    test, finding = found[0], found[0].finding
    assert finding is not None
    details = finding.below
    shape = " ".join(f"{name}={value}" for name, value in (test.params or {}).items())
    if not any(shape in line for line in details):
        details.append(f"{shape}, fill {test.fill}, seed {test.seed}")
    block = [paragraph(harmless(headline(finding.mistake)), console, style="bold"),
             *(paragraph(harmless(line), console, INDENT) for line in details)]
    block = [with_hint(block, finding.mistake.hint, console)]
    if test.output:
        block += [Text("    it printed:"), *quoted(test.output.splitlines(), OUTPUT_LINES, console)]
    return Text("\n").join(block)


def with_hint(block: list[Text], hint: str | None, console: Console) -> Text:
    more = [paragraph(f"hint: {harmless(hint)}", console, INDENT)] if hint else []
    return Text("\n").join([*block, *more])


def quoted(said: list[str], most: int, console: Console) -> list[Text]:
    """With a bar in front of each line, so that none can begin with a command to a CI runner;
    `most` lines as they are printed."""
    bar = Text(" " * INDENT + "| ")
    shown = [part for line in said[:most]
             for part in wrapped(Text(harmless(line)), console, console.width - bar.cell_len)]
    if len(shown) > most or len(said) > most:
        shown = [*shown[:most - 1], Text("... (the rest is left out)")]
    return [bar + line for line in shown]
