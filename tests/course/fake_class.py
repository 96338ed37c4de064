"""A class whose submissions say what becomes of them: a copy of the project in which `python -m
grader` is a program of a few milliseconds that does what kernel.cu says.

    Class(tmp_path).add("alice", "score 3", "sleep 0.1")
"""

from __future__ import annotations

import csv
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from conftest import REPOSITORY
from forks import Python, python

MAX_SCORE = 40

# Each line of kernel.cu is an order. What it counts is kept beside the results.
ACTOR = '''
import hashlib, json, os, pathlib, signal, sys, time
words = dict(word.split("=", 1) for word in sys.argv[1:])
kernel = pathlib.Path(words["--submission"]).read_bytes()
place = pathlib.Path(words["--results"]) / words["--name"]
calls = pathlib.Path(os.environ["FAKE_CALLS"])
with open(calls, "a") as file:
    file.write(f"{place.parent.name} begun\\n")
record = json.loads(pathlib.Path(__file__).with_name("template.json").read_text())
record["seed"] = int(words["--seed"])
record["submission"]["sha256"] = hashlib.sha256(kernel).hexdigest()
bumped = pathlib.Path(__file__).with_name("other_points")
for line in kernel.decode().splitlines():
    order, _, value = line.partition(" ")
    tried = place / f"tried-{order}"
    count = int(tried.read_text()) if tried.exists() else 0
    if order == "score":
        record["score"] = float(value) + (1 if bumped.exists() else 0)
    elif order == "loses":  # CASE SHARE WHY
        case, share, why = value.split(" ", 2)
        for test in record["tests"]:
            if test["name"] == case:
                lost = dict(score=test["max_score"] * (1 - float(share)), reason=why)
                test |= lost | {"status": "failed"}
                test["criteria"][0] |= lost | {"passed": False}
    elif order == "sleep":
        time.sleep(float(value))
    elif order in ("fault", "killed", "full") and count < int(value or 1):
        tried.write_text(str(count + 1))
        if order == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        print("grade: no sandbox works here", file=sys.stderr)
        sys.exit(3)
if record["tests"]:
    record["score"] = sum(test["score"] for test in record["tests"])
for name in ("student.json", "result.json"):
    temporary = place / "written"
    temporary.write_text(json.dumps(record))
    os.replace(temporary, place / name)
with open(calls, "a") as file:
    file.write(f"{place.parent.name} graded\\n")
sys.exit(0 if record["score"] >= record["max_score"] else 1)
'''

TEMPLATE = '''
import json, sys
from course.probe import look
from grader.build.parts import of_grader
from grader.cases.read import of_cases
from grader.options import check
from grader.record.model import VERSION
asked = check({"suite": sys.argv[2], "results": sys.argv[1]})
tests = [dict(name=case.name, suite=case.suite, hidden=False, title=case.title, m=case.m, k=case.k,
              n=case.n, score=case.points, max_score=case.points, reason="", fill=case.fill, seed=1,
              status="passed", criteria=[dict(name="correct", score=case.points, passed=True,
                                              max_score=case.points, reason="")])
         for suite in asked.suites for case in suite.cases if sys.argv[2] != "public"]
build = dict(ok=True, message="", file=None, line=0, output="")
print(json.dumps(dict(
    complete=True, submission=dict(name="x", path="kernel.cu", sha256="", bytes=1, notes=[]),
    suites=[suite.name for suite in asked.suites], cases=of_cases(asked.suites),
    grader=of_grader(), version=VERSION, seed=7, score=0,
    max_score=sum(test["max_score"] for test in tests) or 40, build=build, refusal=None,
    tests=tests, protection="none", protection_note="",
    backend="cpu", compiler=look(asked, 0).compiler, started="2026-11-20T10:00:00Z", seconds=1)))
'''


def make_project(folder: Path) -> Path:
    """The grader with another `python -m grader`; everything else is the checkout's own."""
    folder.mkdir()
    for name in ("grader", "course"):
        shutil.copytree(REPOSITORY / name, folder / name,
                        ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("Makefile", "make", "support.c", "support.h", "lab", "engine",
                 "testcases"):
        (folder / name).symlink_to(REPOSITORY / name)
    (folder / "grader/__main__.py").write_text(ACTOR)
    (folder / "template.py").write_text(TEMPLATE)
    (folder / "empty class").mkdir()
    use_cases(folder)
    return folder


def course_python(project: Path) -> Python:
    return python(project, "course.__main__", "course.probe")


def use_cases(project: Path, suite: Path | str = "public") -> None:
    """What each result is of from now on; of the cases of a file each has all points, but for those
    that a submission `loses`."""
    made = course_python(project).run(
        [str(project / "template.py"), str(project / "empty class"), str(suite)], environment(project))
    assert made.returncode == 0, made.stderr
    (project / "grader/template.json").write_text(made.stdout)


def environment(folder: Path, more: Mapping[str, str] = {}) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SLURM_")}
    return {**kept, "COLUMNS": "80", "FAKE_CALLS": str(folder / "calls"),
            "PYTHONDONTWRITEBYTECODE": "1", **more}


class Class:
    """`project`: make_project(). `folder`: of the class, which holds submissions/."""

    def __init__(self, project: Path, folder: Path, more: Mapping[str, str] = {}):
        self.project, self.folder, self.results = project, folder, folder / "results"
        (folder / "submissions").mkdir(parents=True)
        self.calls = folder / "calls"
        self.temporary = folder / "temporary"
        self.temporary.mkdir()
        self.suite = "public"
        self.environment = environment(project, {
            "FAKE_CALLS": str(self.calls), "TMPDIR": str(self.temporary), **more})

    def add(self, name: str, *orders: str) -> None:
        path = self.folder / "submissions" / name
        path.mkdir()
        (path / "kernel.cu").write_text("".join(f"{line}\n" for line in orders))

    def fill(self, count: int, draw: random.Random, seconds: float = 0.05) -> dict[str, str]:
        """So many students; the points that each has to get."""
        expected = {}
        for number in range(count):
            name, score = f"student {number:03}", draw.randint(0, MAX_SCORE)
            self.add(name, f"score {score}", f"sleep {draw.uniform(0, 2 * seconds):.3f}",
                     f"comment {number}")
            expected[name] = str(score)
        return expected

    def command(self, *words: str, what: str = "grade") -> list[str]:
        return [sys.executable, "-B", "-m", "course", what, "--class", str(self.folder),
                "--suite", self.suite, *words]

    def start(self, *words: str, what: str = "grade", **options: Any) -> subprocess.Popen[str]:
        return subprocess.Popen(
            self.command(*words, what=what), cwd=self.project, env=self.environment, text=True,
            stdin=subprocess.DEVNULL, start_new_session=True,
            **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options)

    def run(self, *words: str, what: str = "grade") -> subprocess.CompletedProcess[str]:
        return course_python(self.project).run(self.command(*words, what=what)[2:], self.environment)

    def gradebook(self) -> dict[str, dict[str, str]]:
        with open(self.results / "gradebook.csv", newline="") as file:
            return {row["student"]: row for row in csv.DictReader(file)}

    def points(self) -> dict[str, str]:
        return {name: row["points"] for name, row in self.gradebook().items()}

    def counted(self, what: str) -> dict[str, int]:
        """How often each was `begun` or `graded`."""
        lines = self.calls.read_text().splitlines() if self.calls.exists() else []
        names = [line.rpartition(" ")[0] for line in lines if line.endswith(what)]
        return {name: names.count(name) for name in names}


def interrupt(process: subprocess.Popen[str], number: signal.Signals) -> int:
    """Send it to this process alone, as the kernel's or a user's `kill` would; its status."""
    process.send_signal(number)
    process.communicate(timeout=60)
    return process.returncode


def wait_for(condition: Any, seconds: float = 30.0) -> None:
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "it did not happen in time"
        time.sleep(0.02)


def json_of(path: Path) -> Any:
    return json.loads(path.read_text())


def only(found: Sequence[Any]) -> Any:
    [one] = found
    return one
