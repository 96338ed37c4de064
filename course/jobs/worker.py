"""Grades submissions, each in a grader's process of its own, so many at a time; on this machine, or in
one task of a job array. What comes of them is in their folders (results.py)."""

import signal
import subprocess
import tempfile
import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import IO

from ..errors import MachineFault
from ..interrupt import Stop
from ..process import end, started
from ..text import printable
from .grader import GRADED, INTERRUPTED, NOT_TAKEN, PROJECT, last_line, of_one
from .results import (HAND_IN, Job, Key, begin, done, forget_try, note_fault, note_not_taken,
                      record_of, tries)

MOST_TRIES = 3
"""Of a submission in one run, where the machine is at fault."""
REFRESH_SECONDS = 0.5


@dataclass(frozen=True)
class Grade:
    """How each of them is graded."""

    key: Key
    run: str
    options: tuple[str, ...]
    """Of `python -m grader`."""
    environment: dict[str, str] = field(default_factory=dict)


@dataclass
class Running:
    job: Job
    process: subprocess.Popen[bytes]
    said: IO[bytes]


Watch = Callable[[Sequence[Job], "Job | None"], None]
"""Called when one begins or ends, and every now and then: the jobs that run, and the one that has
ended."""


def run(jobs: Iterable[Job], workers: int, grade: Grade, stop: Stop, watch: Watch,
        most_tries: int = MOST_TRIES) -> None:
    """Until each has a result, or was tried `most_tries` times; or until `stop` is asked, and what
    runs has ended. Whatever ends this ends what runs. Raises MachineFault where a folder cannot be
    written."""
    waiting, running = deque(jobs), list[Running]()
    ended: SimpleQueue[Running] = SimpleQueue()
    try:
        while not stop.at_once and (running or waiting and not stop.asked):
            while waiting and len(running) < workers and not stop.asked:
                job = waiting.popleft()
                if not done(job, grade.key):  # a job array's earlier task may have been late
                    running.append(start(job, grade, ended))
                    watch(jobs_of(running), None)
                else:
                    watch(jobs_of(running), job)
            try:
                one = ended.get(timeout=REFRESH_SECONDS if running else 0)
            except Empty:
                watch(jobs_of(running), None)
            else:
                running.remove(one)
                if not settle(one, grade) and tries(one.job, grade.run) < most_tries:
                    waiting.append(one.job)
                watch(jobs_of(running), one.job)
    finally:
        for one in running:
            end(one.process)
            one.said.close()
            forget_try(one.job)  # it was this run that ended it


def jobs_of(running: Sequence[Running]) -> list[Job]:
    return [one.job for one in running]


def start(job: Job, grade: Grade, ended: SimpleQueue[Running]) -> Running:
    """Raises MachineFault."""
    begin(job, grade.run)
    said = tempfile.TemporaryFile()
    command = of_one(job.hand_in, job.directory.parent, job.directory.name, grade.options)
    try:
        process = started(command, cwd=PROJECT, stdout=subprocess.DEVNULL, stderr=said,
                          env=grade.environment or None)
    except OSError as error:
        raise MachineFault(f"the grader cannot be started: {error.strerror}") from error
    one = Running(job, process, said)

    def wait() -> None:
        process.wait()
        ended.put(one)

    threading.Thread(target=wait, daemon=True).start()
    return one


def settle(one: Running, grade: Grade) -> bool:
    """Whether it is done now; where not, the reason is written down. Raises MachineFault."""
    end(one.process)  # what it may have left running
    status, said = one.process.returncode, said_by(one)
    if status == NOT_TAKEN:
        note_not_taken(one.job, grade.key, said)
        forget_try(one.job)
        return True
    record = record_of(one.job) if status in GRADED else None
    differs = grade.key.differs(record) if record else ""
    if record and not differs:
        forget_try(one.job)
        return True
    note_fault(one.job, grade.run, why(status, said, differs))
    return False


def why(status: int, said: str, differs: str) -> str:
    if differs:
        return f"graded with a different {differs} than the rest of the class; see course/README.md"
    if status < 0:
        return f"the grader was killed ({signal.Signals(-status).name}); is there enough memory?"
    if status == INTERRUPTED:
        return "the grader was interrupted"
    return said or f"the grader ended with status {status} and left no result"


def said_by(one: Running) -> str:
    """Its last line, in which our own folder is of no interest, least of all to students."""
    one.said.seek(0)
    said = last_line(one.said.read().decode(errors="replace"))
    one.said.close()
    return said.replace(f"{printable(str(one.job.directory))}/{HAND_IN}/", "").replace(
        f"{printable(str(one.job.directory))}/", "")
