"""A class whose submissions say what becomes of them: a project of course/ and fake_grader.py alone.

    with Class(make_project(tmp_path_factory.getbasetemp()), tmp_path / "the class") as pupils:
        pupils.add("alice", "score 3", "sleep 0.1")
"""

import compileall
import csv
import functools
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

from forks import python

REPOSITORY = Path(__file__).resolve().parent.parent.parent
MAX_SCORE = 40

POLLS, OFTEN = "POLL_SECONDS = 0.5, 5.0", "POLL_SECONDS = 0.2, 0.4"
WARM = """from course.pages.render import environment
for name in environment().list_templates(["j2"]):
    environment().get_template(name)
"""
"""Compiles the pages' templates, which takes most of the time of a short run."""


@functools.cache
def make_project(folder: Path) -> Path:
    """One for all tests. It asks Slurm more often than it would ask one that others use."""
    folder /= "a project"
    (folder / "grader").mkdir(parents=True)
    shutil.copytree(REPOSITORY / "course", folder / "course", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(Path(__file__).with_name("fake_grader.py"), folder / "grader/__main__.py")
    (folder / "warm.py").write_text(WARM)
    slurm = folder / "course/jobs/slurm.py"
    assert POLLS in slurm.read_text()
    slurm.write_text(slurm.read_text().replace(POLLS, OFTEN))
    compileall.compile_dir(folder, quiet=1)  # else each of its processes would do so
    return folder


def forks(project: Path) -> Any:
    return python(project, "course.__main__", "warm")


class Class:
    """`folder`: of the class, which holds submissions/."""

    def __init__(self, project: Path, folder: Path, more: Mapping[str, str] = {}):
        self.project, self.folder, self.results = project, folder, folder / "results"
        (folder / "submissions").mkdir(parents=True)
        self.calls = folder / "calls"
        self.temporary = folder / "temporary"
        self.temporary.mkdir()
        self.suite = "public"
        kept = {name: value for name, value in os.environ.items() if not name.startswith("SLURM_")}
        self.environment = {**kept, "COLUMNS": "80", "PYTHONDONTWRITEBYTECODE": "1", "TMPDIR": str(self.temporary),
                            "FAKE_CALLS": str(self.calls), **more}

    def __enter__(self) -> "Class":
        return self

    def __exit__(self, *_: object) -> None:
        assert not list(self.temporary.iterdir()), "temporary files are left"

    def add(self, name: str, *orders: str) -> None:
        """`name`: of a student, or with / and a time, of an attempt."""
        path = self.folder / "submissions" / name
        path.mkdir(parents=True, exist_ok=True)
        (path / "kernel.cu").write_text("".join(f"{line}\n" for line in orders))

    def fill(self, count: int, draw: random.Random, seconds: float = 0.05) -> dict[str, str]:
        """So many students; the points that each has to get."""
        expected = {}
        for number in range(count):
            name, score = f"student {number:03}", draw.randint(0, MAX_SCORE)
            self.add(name, f"score {score}", f"sleep {draw.uniform(0, 2 * seconds):.3f}", f"comment {number}")
            expected[name] = str(score)
        return expected

    def command(self, *words: str, what: str = "grade") -> list[str]:
        return [sys.executable, "-B", "-m", "course", what, "--class", str(self.folder),
                "--suite", self.suite, *words]

    def start(self, *words: str, what: str = "grade", **options: Any) -> Any:
        command = self.command(*words, what=what)
        if not options:
            return forks(self.project).start(command[2:], self.environment)
        return subprocess.Popen(
            command, cwd=self.project, env=self.environment, text=True,
            stdin=subprocess.DEVNULL, start_new_session=True,
            **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options)

    def run(self, *words: str, what: str = "grade") -> subprocess.CompletedProcess[str]:
        command = self.command(*words, what=what)
        return forks(self.project).run(command[2:], self.environment)

    def settings(self, text: str) -> None:
        (self.folder / "class.toml").write_text(text)

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


def interrupt(process: Any, number: signal.Signals) -> int:
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
