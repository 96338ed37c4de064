"""Grades a class: each submission in a directory, one after the other, each in its own process.

    python -m grader.batch --submissions DIR --suite all --results results

In: a directory or zip that holds kernel.cu, or a .cu file, for each submission; its name is the
result's, and where that is another's, too, a hash is added. Submissions do not affect each other: of
one that hangs or cannot be read, a note is written, and the next one is graded. A fault of the
machine is tried once more, a student's never.

Out: results/NAME/result.json for each result, results/scores.csv for all of them. Nothing of
earlier runs is lost: rows of others stay in scores.csv, results stay where there is no new one, and
a directory with results of other cases, or of other submissions of the same names, is refused. Exit
status: 0 all were graded, for whatever points; 2 some could not be read, or an option cannot be
used; 3 the machine was at fault at least once.
"""

from __future__ import annotations

import signal

from . import interrupt

if __name__ == "__main__":
    interrupt.handle(signal.SIG_DFL)

import argparse  # noqa: E402
import csv  # noqa: E402
import hashlib  # noqa: E402
import io  # noqa: E402
import os  # noqa: E402
import sys  # noqa: E402
import textwrap  # noqa: E402
from collections import Counter  # noqa: E402
from dataclasses import asdict, dataclass, fields, replace  # noqa: E402
from pathlib import Path  # noqa: E402

from .build import trusted_parts  # noqa: E402
from .errors import BadInput, MachineFault  # noqa: E402
from .escape import harmless, one_line  # noqa: E402
from .files import KERNEL, listed, of_the_system, printable  # noqa: E402
from .intake import LONGEST_NAME, directory_name  # noqa: E402
from .options import SHARED, Asked, check  # noqa: E402
from .record import Record  # noqa: E402
from .score import totals  # noqa: E402
from .process import completed  # noqa: E402
from .store import HASH_LENGTH, PRIVATE, RESULT, alone_in, faults_of, read_record, write  # noqa: E402
from .wording import points, timed, to_look_at, whole  # noqa: E402

PROJECT = Path(__file__).resolve().parent.parent
SCORES = "scores.csv"
WIDTH = 80


@dataclass(frozen=True)
class Row:
    """Of scores.csv; the members are its columns. Points are empty where there is no grade."""

    submission: str
    score: str = ""
    max_score: str = ""
    speed: str = ""
    max_speed: str = ""
    """Of the points, those for speed; empty where nothing was timed."""
    note: str = ""
    """On the submission as a whole: refused, does not build; or why there is no grade."""


COLUMNS = [column.name for column in fields(Row)]


def submissions_in(directory: Path) -> tuple[list[tuple[str, Path]], list[str]]:
    """Names and paths, sorted by name; and what else is there. A directory that holds kernel.cu is
    one submission itself. Raises BadInput."""
    try:
        entries = sorted(directory.iterdir())
    except OSError as error:
        raise BadInput(f"{directory}: {error.strerror}; it holds one directory, .cu file or zip "
                       "a submission") from None
    entries = [entry for entry in entries if not of_the_system(entry.name)]
    if any(entry.name.lower() == KERNEL for entry in entries):  # one submission alone
        return [(name_among(beside(directory), directory), directory)], []
    taken = [entry for entry in entries if is_submission(entry)]
    if not taken:
        raise BadInput(f"{directory}: holds no submissions (directories, .cu files or zips)")
    return ([(name_among(taken, entry), entry) for entry in taken],
            [entry.name for entry in entries if entry not in taken])


def is_submission(entry: Path) -> bool:
    return entry.suffix.lower() in (".cu", ".zip") or entry.is_dir()


def beside(directory: Path) -> list[Path]:
    """Itself and the others of its class, as far as they can be seen."""
    try:
        return [entry for entry in directory.parent.iterdir() if is_submission(entry)]
    except OSError:
        return [directory]


def name_among(entries: list[Path], entry: Path) -> str:
    """The name of the folder for this entry's results. Where several entries would get the same
    name (`alice`, `alice `, alice.zip), or that of one of our own files, a hash of the entry's
    whole name is appended; the one that already has exactly this name keeps it."""
    name = directory_name(own_name(entry))
    same = [own_name(each) for each in entries if directory_name(own_name(each)) == name]
    reserved = name.casefold().startswith(SCORES)
    if not reserved and (len(same) == 1 or (own_name(entry), Counter(same)[name]) == (name, 1)):
        return name
    digest = hashlib.sha256(os.fsencode(entry.name)).hexdigest()[:HASH_LENGTH]
    room = LONGEST_NAME - HASH_LENGTH - 1
    return f"{name.encode()[:room].decode('utf-8', 'ignore').rstrip()}-{digest}"


def own_name(entry: Path) -> str:
    return entry.name if entry.is_dir() else entry.stem


def refuse_other_results(results: Path, found: list[tuple[str, Path]], asked: Asked) -> None:
    """One directory of results is for one class and one set of cases: no earlier result is replaced
    by one of something else, or listed beside it in scores.csv. Raises BadInput."""
    wanted = [suite.name for suite in asked.suites]
    paths = dict(found)
    for name in dict.fromkeys([*paths, *map(name_in, rows_of(results / SCORES))]):
        place = results / name / RESULT
        if not place.exists():
            continue
        earlier = read_record(place)
        others = "RESULTS=... names another place for the new ones"
        if earlier.suites != wanted or earlier.backend != asked.backend:
            raise BadInput(f"{place}: graded on {', '.join(earlier.suites)} ({earlier.backend}), "
                           f"not on {', '.join(wanted)} ({asked.backend}); {others}")
        path = Path(earlier.submission.path)
        if name in paths and Path(printable(str(paths[name].parent))) not in path.parents:
            raise BadInput(f"{place}: the result of another submission, {path}; {others}")


def grade(name: str, path: Path, results: Path, options: list[str]) -> tuple[int, Row]:
    """The grader's exit status, and the row. Raises BadInput if the result cannot be read."""
    command = [sys.executable, "-m", "grader", f"--submission={path}", f"--name={name}",
               f"--results={results}", *options]
    for _ in range(2):
        try:
            done = completed(command, cwd=PROJECT)
        except OSError as error:
            return 3, Row(cell(name), note=f"the grader cannot be started: {error.strerror}")
        if done.returncode in (0, 1, 2):
            break
    result = results / name / RESULT
    if done.returncode in (0, 1):
        record = read_record(result)
        return done.returncode, row_of(record, name, "; ".join(filter(None, [*whole(record), to_look_at(record)])))
    said = (done.stderr.strip().splitlines() or [f"the grader ended with {done.returncode}"])[-1]
    said = one_line(said.removeprefix("grade: "))
    status = 2 if done.returncode == 2 else 3
    if result.exists():  # of these cases: see refuse_other_results
        return status, row_of(read_record(result), name, f"points of an earlier run; now: {said}")
    return status, Row(cell(name), note=cell(said))


def row_of(record: Record, name: str, note: str) -> Row:
    speed = [points(sum_) for sum_ in totals(timed(record))] if timed(record) else ["", ""]
    return Row(cell(name), points(record.score), points(record.max_score), *speed,
               cell(one_line(note)))


def rows_of(path: Path) -> dict[str, Row]:
    """The rows of scores.csv by their first cell; none where there is no such file. Raises
    BadInput."""
    try:
        with open(path, newline="", encoding="utf-8") as file:
            head, *rows = list(csv.reader(file)) or [[]]
    except FileNotFoundError:
        return {}
    except (ValueError, csv.Error):
        head, rows = [], []
    if head != COLUMNS or any(len(row) != len(COLUMNS) for row in rows):
        raise BadInput(f"{path}: was changed, or not made here; rename it, or name another place "
                       "with RESULTS=...")
    return {row[0]: Row(*row) for row in rows}


def write_row(path: Path, row: Row) -> None:
    """Replaces or adds one submission's row; one process at a time, where two work in the same
    directory. A run that is killed leaves the file as it was."""
    with alone_in(path.parent):
        rows = rows_of(path) | {row.submission: row}
        text = io.StringIO(newline="")
        table = csv.DictWriter(text, COLUMNS, lineterminator="\n")
        table.writeheader()
        table.writerows(asdict(rows[key]) for key in sorted(rows))
        write(path, text.getvalue().encode())


def cell(text: str) -> str:
    """A spreadsheet would read text that begins like this as a formula. No two texts give one
    cell."""
    return "'" + text if text.startswith(("=", "+", "-", "@", "\t", "\r", "'")) else text


def name_in(text: str) -> str:
    """The name in such a cell: cell() undone."""
    return text.removeprefix("'")


def arguments(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m grader.batch", allow_abbrev=False)
    parser.add_argument("--submissions", required=True,
                        help="a directory: one directory, .cu file or zip a submission")
    for name, how in SHARED.items():
        parser.add_argument(name, **how)
    return parser.parse_args(words)


def passed_on(given: argparse.Namespace) -> list[str]:
    """The options given, for each submission's grader."""
    return [word for name in SHARED if name != "--results"
            for value in [getattr(given, name.removeprefix("--"))] if value is not None
            for word in (f"{name}={value}",)]


def prepare(given: argparse.Namespace) -> tuple[Path, list[tuple[str, Path]]]:
    """Everything that concerns the whole class is checked before its first submission: options,
    cases, paths, earlier results, and whether the grader works here. Raises BadInput and
    MachineFault."""
    asked = check(vars(given))
    if not given.submissions:
        raise BadInput("--submissions (SUBMISSIONS with make): the path is empty")
    results = asked.results.resolve()
    found, ignored = submissions_in(Path(given.submissions).resolve())
    refuse_other_results(results, found, asked)
    asked.sandbox(trusted_parts(asked.backend).jail)
    with faults_of(results):
        results.mkdir(mode=PRIVATE, parents=True, exist_ok=True)
    if ignored:
        say(f"ignored: {listed(ignored)}")
    return results, found


def say(line: str) -> None:
    print(textwrap.fill(harmless(line), WIDTH, subsequent_indent="    ", break_long_words=False,
                        break_on_hyphens=False), flush=True)


def grade_class(given: argparse.Namespace) -> int:
    results, found = prepare(given)
    status = 0
    for number, (name, path) in enumerate(found, 1):
        try:
            ended, row = grade(name, path, results, passed_on(given))
        except BadInput as error:
            ended, row = 3, Row(cell(name), note=cell(one_line(str(error))))
        if name != own_name(path):
            row = replace(row, note="; ".join(filter(None, [row.note, f"of {one_line(printable(path.name))}"])))
        write_row(results / SCORES, row)
        got = f"{row.score} of {row.max_score} points" if row.score else "no grade"
        note = f": {row.note}" if row.note else ""
        say(f"[{number}/{len(found)}] {one_line(name)}: {got}{note}")
        status = max(status, ended if ended > 1 else 0)
    return status


def main(words: list[str]) -> int:
    given = arguments(words)
    try:
        with interrupt.raised():
            return grade_class(given)
    except KeyboardInterrupt:
        scores = Path(given.results) / SCORES
        kept = f"; what was graded so far is in {scores}" if scores.exists() else ""
        print(f"interrupted{kept}", file=sys.stderr)
        return interrupt.STATUS
    except (BadInput, MachineFault) as error:
        print(error, file=sys.stderr)
        return 2 if isinstance(error, BadInput) else 3
    except OSError as error:
        print(f"{error.filename}: {error.strerror}", file=sys.stderr)
        return 3


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
