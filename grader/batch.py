"""Grades a class: each submission in a directory, one after the other, by a grader of its own.

    python -m grader.batch --submissions DIR --suite all --results results

A submission is a directory that holds kernel.cu, or a .cu file; its name is the result's. What
happens to one says nothing about the next: one that hangs, or cannot be read, is written down, and
the class goes on. A fault of the machine is tried once more, a student's never. Results of earlier
runs stay where nothing new comes out.

results/NAME/result.json holds each result, results/scores.csv all of them. Exit status: 0 all were
graded, for whatever points; 2 some could not be read, or an option cannot be used; 3 the machine
was at fault at least once.
"""

from __future__ import annotations

import argparse
import csv
import io
import os
import sys
from dataclasses import dataclass
from pathlib import Path

from .errors import BadInput
from .exporters.reading import read_record
from .exporters.text import one_line, points, timed, whole
from .intake import directory_name
from .record import Record
from .score import totals
from .start import completed

PROJECT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Graded:
    name: str
    status: int
    score: str
    max_score: str
    speed: str
    max_speed: str
    """Of the points, those for speed; empty where nothing was timed."""
    said: str
    """Of the submission as a whole: refused, does not build; or why there is no grade."""


def submissions_in(directory: Path) -> list[tuple[str, Path]]:
    """Sorted by name. Files whose names begin with a dot are nobody's submission."""
    try:
        entries = sorted(directory.iterdir())
    except OSError as error:
        raise BadInput(f"{directory}: {error.strerror}; it holds one directory or .cu file "
                       "a submission") from None
    named = [(directory_name(entry.stem if entry.suffix == ".cu" else entry.name), entry)
             for entry in entries
             if not entry.name.startswith(".") and (entry.suffix == ".cu" or entry.is_dir())]
    names = [name for name, _ in named]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise BadInput(f"{directory}: two submissions are called {twice}; rename one")
    if not named:
        raise BadInput(f"{directory}: holds no submissions (directories or .cu files)")
    return named


def grade(name: str, path: Path, results: Path, options: list[str]) -> Graded:
    command = [sys.executable, "-m", "grader", "--submission", str(path), "--name", name,
               "--results", str(results), *options]
    for _ in range(2):
        try:
            done = completed(command, cwd=PROJECT)
        except OSError as error:
            return Graded(name, 3, "", "", "", "",
                          f"the grader cannot be started: {error.strerror}")
        if done.returncode in (0, 1, 2):
            break
    if done.returncode in (0, 1):
        record = read_record(results / name / "result.json")
        return Graded(name, done.returncode, points(record.score), points(record.max_score),
                      *of_speed(record), "; ".join(whole(record)))
    said = (done.stderr.strip().splitlines() or [f"the grader ended with {done.returncode}"])[-1]
    return Graded(name, 2 if done.returncode == 2 else 3, "", "", "", "", one_line(said))


def of_speed(record: Record) -> tuple[str, str]:
    score, possible = totals(timed(record))
    return (points(score), points(possible)) if timed(record) else ("", "")


def write_scores(path: Path, graded: list[Graded]) -> None:
    """The whole file after each submission, by rename: a run that is killed leaves what it had."""
    text = io.StringIO(newline="")
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(["submission", "score", "max_score", "speed", "max_speed", "note"])
    rows.writerows([cell(one.name), one.score, one.max_score, one.speed, one.max_speed,
                    cell(one.said)] for one in graded)
    unfinished = path.with_name(path.name + ".new")
    unfinished.write_text(text.getvalue(), encoding="utf-8")
    os.replace(unfinished, path)


def cell(text: str) -> str:
    """A spreadsheet takes text that begins like this for a formula."""
    return "'" + text if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text


def arguments(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m grader.batch")
    parser.add_argument("--submissions", type=Path, required=True,
                        help="a directory: one directory or .cu file a submission")
    parser.add_argument("--results", type=Path, default=Path("results"))
    for option in ("--suite", "--seed", "--protection", "--backend", "--jobs"):
        parser.add_argument(option, help="as for `python -m grader`")
    return parser.parse_args(words)


def passed_on(asked: argparse.Namespace) -> list[str]:
    given = {name: getattr(asked, name) for name in
             ("suite", "seed", "protection", "backend", "jobs")}
    return [word for name, value in given.items() if value for word in (f"--{name}", value)]


def main(words: list[str]) -> int:
    asked = arguments(words)
    results = asked.results.resolve()
    graded: list[Graded] = []
    try:
        found = submissions_in(asked.submissions.resolve())
        results.mkdir(parents=True, exist_ok=True)
        for number, (name, path) in enumerate(found, 1):
            one = grade(name, path, results, passed_on(asked))
            graded.append(one)
            write_scores(results / "scores.csv", graded)
            got = f"{one.score} of {one.max_score} points" if one.score else "no grade"
            said = f": {one.said}" if one.said else ""
            print(f"[{number}/{len(found)}] {one_line(one.name)}: {got}{said}", flush=True)
    except BadInput as error:
        print(error, file=sys.stderr)
        return 2
    except OSError as error:
        print(f"{error.filename}: {error.strerror}", file=sys.stderr)
        return 3
    return max((one.status for one in graded if one.status > 1), default=0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
