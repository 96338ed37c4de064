"""Grades what a course platform handed in: run by Gradescope's run_autograder, by Autolab's
Makefile and by Classroom 50's autograder.py.

In: a submission and a suite. Out, in each of the three cases that the platforms know:

- graded, for whatever points: the result in the platform's format, exit 0;
- nothing that can be graded (no kernel.cu, not text): a result with 0 points that says so, exit 0;
- the machine is at fault, or a case is: no result, one line on standard error, exit 3.
"""

import argparse
import hashlib
import os
import subprocess
import sys
from datetime import datetime, timezone
from pathlib import Path

from .. import ROOT
from ..build.parts import described
from ..cases.model import Suite
from ..cases.read import load_suites
from ..errors import BadInput, MachineFault
from ..intake.submission import read_submission
from ..lab import Lab
from ..record import model
from ..record.model import Build, Record, Submission
from ..record.store import OF_STUDENTS, RESULT, read_record
from . import autolab, classroom50, gradescope
from .__main__ import add_platform_options


def grade(submission: Path | None, suite: str, results: Path, protection: str, *, details: bool
          ) -> tuple[Record, Record]:
    """The record of this submission, and what students see of it. `results` is a directory for the
    grader's own files; with `details`, everything that the grader said about a fault of the machine is printed. Raises
    MachineFault."""
    try:
        lab = described()
        suites = load_suites(lab, suite)
    except BadInput as error:
        raise MachineFault(f"the cases cannot be used: {error}") from None
    submission = submission or lab.home / "kernel.cu"
    try:
        read_submission(submission)
    except BadInput as error:
        where = f"{submission.parent}/"  # the platform's own directories mean nothing to a student
        return (nothing_to_grade(str(error).replace(where, ""), suites, lab),) * 2
    command = [sys.executable, "-m", "grader", "--submission", str(submission), "--suite", suite,
               "--results", str(results), "--name", "submission", "--protection", protection]
    # Students read this program's output on Autolab, so the grader's table is not for it.
    done = subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, errors="replace", check=False)
    path = results / "submission" / RESULT
    if done.returncode not in (0, 1) or not path.exists():  # 1 is Python's own status, too
        if details:
            print(done.stderr, file=sys.stderr)
        said = done.stderr.strip().splitlines() or [f"the grader ended with {done.returncode}"]
        raise MachineFault(said[-1])
    try:
        return read_record(path), read_record(path.with_name(OF_STUDENTS))
    except BadInput as error:
        raise MachineFault(str(error)) from None


def nothing_to_grade(why: str, suites: list[Suite], lab: Lab) -> Record:
    """The record of a submission of no bytes that does not build: 0 points, for whoever reads it."""
    return Record(
        complete=True,
        submission=Submission(name="submission", path="kernel.cu",
                              sha256=hashlib.sha256().hexdigest(), bytes=0, notes=[]),
        suites=list(dict.fromkeys("hidden" if suite.hidden else suite.name for suite in suites)),
        seed=0, score=0,
        max_score=sum(suite.worth for suite in suites),
        build=Build(ok=False, message=why, file=None, line=0, output=""),
        refusal=None, tests=[], protection="none", protection_note="nothing was run",
        lab=model.Lab(name=lab.name, title=lab.title), version=lab.version,
        backend="cpu", compiler="", seconds=0,
        started=datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
    )


def arguments(words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m grader.exporters.hand_in")
    parser.add_argument("platform", choices=["gradescope", "autolab", "classroom50"])
    parser.add_argument("--submission", type=Path, help="kernel.cu, or its directory; default: kernel.cu")
    parser.add_argument("--suite", default="all")
    parser.add_argument("--results", type=Path, required=True, help="for the grader's own files")
    parser.add_argument("--protection", default="auto")
    add_platform_options(parser)
    parser.add_argument("-o", "--output", type=Path, required=True,
                        help="the file that the platform reads; for classroom50, a directory")
    return parser.parse_args(words)


def main(words: list[str]) -> int:
    asked = arguments(words)
    try:
        only_instructors_read = asked.platform == "gradescope"
        record, seen = grade(asked.submission and asked.submission.resolve(), asked.suite, asked.results.resolve(),
                             asked.protection, details=only_instructors_read)
        if asked.platform == "classroom50":
            classroom50.write(seen, asked.output, os.environ)
        else:
            asked.output.write_text(gradescope.export(record, seen, asked.hidden_cases)
                                    if asked.platform == "gradescope" else autolab.export(seen, asked.problem),
                                    encoding="utf-8")
        return 0
    except (BadInput, MachineFault) as error:
        print(f"not graded: {error}", file=sys.stderr)
    except OSError as error:
        print(f"not graded: {error.filename}: {error.strerror}", file=sys.stderr)
    return 3


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
