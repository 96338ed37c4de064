"""Grades what is missing by a job array of Slurm: QUEUE=slurm.

Slurm is the engine; the files are the truth (results.py). One array of chunks is submitted, and when
none of its tasks is left in the queue, what has no result yet makes the next one. A job that the
scheduler does not know is asked for twice before it counts as gone, and sacct is needed nowhere: many
clusters have no accounting. Where Slurm says why a task ended early (a time limit, no memory, a dead
node), so does the note on each submission that it left.

    RESULTS/run/job.json       the array that grades this class, until it has ended: a run that was
                               killed is taken up again, not submitted twice
    RESULTS/run/chunks.json    what each of its tasks grades
    RESULTS/run/probe.json     what the first job, which grades nothing, says of its node
    RESULTS/run/stop           Ctrl-C was pressed: they begin no further submission
    RESULTS/run/*.out          what they print

Commands and their options: the man pages of sbatch, squeue, sacct, scancel and scontrol (Slurm 20.11
and newer).
"""

import json
import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

from ..errors import BadInput, MachineFault
from ..files import PRIVATE, faults_of, write
from ..interrupt import Stop
from ..process import completed
from ..record import RESULT, read_record
from ..text import one_line, printable
from .grader import PROJECT, About, about_in
from .results import RUN, UNFINISHED, Job, Results, done, last_try, note_fault, tries, write_json
from .worker import MOST_TRIES, Grade, Watch

TASK_SECONDS = 60.0
"""The work of a task: starting one takes seconds, and clusters advise against arrays that start more than
some ten tasks a minute."""
USUAL_SECONDS = 10.0
"""Of a grade, where none of the class's is known."""
MOST_IN_CHUNK = 50
JOB, CHUNKS, PROBE, STOP = "job.json", "chunks.json", "probe.json", "stop"
PROBE_SAYS, OUTPUT = "probe.out", "%A_%a.out"
FIRST_POLL_SECONDS, POLL_SECONDS = 0.5, 5.0
"""Between two questions to the scheduler: a small class does not wait, a large one does not bother
it."""
COMMAND_SECONDS = 60.0
ASKED_TWICE = 2
LATE_FILES_SECONDS = 20.0
"""So long a network file system may take to show here what a node has written."""
MOST_ROUNDS_WITHOUT_RESULT = 3
ALIVE = ("PENDING", "CONFIGURING", "RUNNING", "SUSPENDED", "COMPLETING", "STOPPED", "REQUEUED",
         "REQUEUE_HOLD", "REQUEUE_FED", "RESIZING", "SIGNALING", "STAGE_OUT", "SPECIAL_EXIT",
         "RESV_DEL_HOLD")
"""Job states of squeue's man page in which a task may still do something."""
WHY = {
    "TIMEOUT": "its task reached the time limit of Slurm; SLURM='--time=...' sets a longer one",
    "OUT_OF_MEMORY": "its task ran out of memory; SLURM='--mem=...' asks for more",
    "NODE_FAIL": "the node of its task failed",
    "BOOT_FAIL": "the node of its task failed",
    "DEADLINE": "its task reached its deadline in Slurm",
    "PREEMPTED": "its task was preempted",
    "FAILED": "its task failed; {} has what it printed",
}
"""Other states, in which a task has ended too early."""
MOST_ERROR_CHARACTERS = 600


@dataclass(frozen=True)
class Array:
    """A job array that was submitted."""

    job: str
    """Its number; empty while sbatch has not answered."""
    name: str
    """Unique: by it the array is found again if sbatch's answer was lost."""
    run: str


class Cluster:
    """Slurm's commands. `given`: options of the user's for sbatch."""

    def __init__(self, given: Sequence[str] = ()):
        self.given = tuple(given)

    def ask(self, *command: str) -> str:
        """What it prints. Raises MachineFault."""
        try:
            ended = completed(command, timeout=COMMAND_SECONDS)
        except FileNotFoundError:
            raise MachineFault(f"{command[0]} is not installed here; QUEUE=slurm is for a machine "
                               "that submits to Slurm") from None
        except (OSError, subprocess.TimeoutExpired) as error:
            raise MachineFault(f"{command[0]}: {one_line(str(error))}") from None
        if ended.returncode:
            lines = [line.removeprefix(f"{command[0]}: ").removeprefix("error: ")
                     for line in ended.stderr.splitlines() if line.strip()]
            raise MachineFault(one_line("; ".join(lines), MOST_ERROR_CHARACTERS)
                               or f"status {ended.returncode}")
        return ended.stdout

    def submit(self, name: str, tasks: int, script: Path, output: str, cpus: int,
               gpu: bool) -> str:
        """The array's number. Raises MachineFault in sbatch's words."""
        one_gpu = ["--gres=gpu:1"] if gpu else []
        printed = self.ask("sbatch", "--parsable", f"--job-name={name}", f"--array=0-{tasks - 1}",
                           f"--output={output}", "--open-mode=append", "--requeue",
                           f"--cpus-per-task={cpus}", *one_gpu, f"--chdir={PROJECT}", *self.given,
                           str(script))
        return printed.strip().partition(";")[0]

    def states(self, array: Array) -> dict[str, str]:
        """Of its tasks, by their numbers; empty where the scheduler does not know it (any more).
        Raises MachineFault where there is no answer."""
        try:
            printed = self.ask("squeue", "--noheader", "--array", "--states=all",
                               f"--jobs={array.job}", "--format=%K %T")
        except MachineFault as error:
            if "Invalid job id" in str(error):
                return {}
            raise
        return dict(line.split()[:2] for line in printed.splitlines() if line.strip())

    def accounted(self, array: Array) -> dict[str, str]:
        """The same of tasks that the scheduler has forgotten; empty where there is no accounting."""
        with suppress(MachineFault):
            printed = self.ask("sacct", "--noheader", "--parsable2", "--allocations",
                               f"--jobs={array.job}", "--format=JobID,State")
            return dict(re.findall(r"^\d+_(\d+)\|(\w+)", printed, re.MULTILINE))
        return {}

    def number(self, name: str) -> str:
        """Of the array of this name; empty: there is none."""
        printed = self.ask("squeue", "--noheader", "--states=all", f"--name={name}", "--format=%F")
        return (printed.split() or [""])[0]

    def cancel(self, array: Array, *options: str) -> None:
        if array.job:
            with suppress(MachineFault):  # it may have ended by itself
                self.ask("scancel", *options, array.job)

    def largest_array(self) -> int:
        found = re.search(r"^MaxArraySize\s*=\s*(\d+)", self.ask("scontrol", "show", "config"),
                          re.MULTILINE)
        return max(int(found[1]), 1) if found else 1


class Runs:
    """The arrays of one class, one after the other."""

    def __init__(self, results: Results, cluster: Cluster, workers: int):
        self.results, self.cluster, self.workers = results, cluster, workers
        self.folder = results.folder / RUN
        self.job_file = self.folder / JOB

    # ---- one array -------------------------------------------------------------------------------

    def present(self) -> Array | None:
        """The one that a run before this left, and which may be working. Raises MachineFault."""
        try:
            array = Array(**json.loads(self.job_file.read_bytes()))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, TypeError) as error:
            raise MachineFault(f"{self.job_file}: cannot be read ({one_line(str(error))}); if no job "
                               "of this class is in the queue, remove it") from None
        if not array.job:
            array = Array(self.cluster.number(array.name), array.name, array.run)
        return array if array.job and alive(self.cluster.states(array).values()) else None

    def submit(self, jobs: Sequence[Job], grade: Grade) -> Array:
        """As many of them as the cluster takes at once. Raises MachineFault."""
        tasks = min(self.tasks_for(len(jobs)), self.cluster.largest_array())
        jobs = jobs[:tasks * MOST_IN_CHUNK]
        chunks = [jobs[len(jobs) * i // tasks:len(jobs) * (i + 1) // tasks] for i in range(tasks)]
        name = f"course-{os.urandom(6).hex()}"
        script = self.script("task.sh", "course.jobs.task", shlex.quote(str(self.folder / CHUNKS)),
                             '"$SLURM_ARRAY_TASK_ID"', str(self.workers))
        with faults_of(self.folder / STOP):
            (self.folder / STOP).unlink(missing_ok=True)
        write_json(self.folder / CHUNKS, self.chunks(chunks, grade))
        write_json(self.job_file, asdict(Array("", name, grade.run)))
        number = self.submit_tasks(name, len(chunks), script, grade.key.backend == "cuda")
        array = Array(number, name, grade.run)
        write_json(self.job_file, asdict(array))
        return array

    def tasks_for(self, count: int) -> int:
        """About a minute's work each, by the times of the class's last grades."""
        known = []
        for path in self.results.folder.rglob(RESULT):
            with suppress(BadInput):
                known.append(read_record(path).seconds)
        seconds = median(known) if known else USUAL_SECONDS
        each = TASK_SECONDS * self.workers / max(seconds, TASK_SECONDS / MOST_IN_CHUNK)
        return -(-count // max(1, min(MOST_IN_CHUNK, int(each))))

    def submit_tasks(self, name: str, tasks: int, script: Path, gpu: bool,
                     output: str = OUTPUT) -> str:
        """Fewer of them where a limit on jobs refuses them all: Slurm's words for limits differ."""
        while True:
            try:
                return self.cluster.submit(name, tasks, script, self.output(output), self.workers,
                                           gpu)
            except MachineFault as error:
                if tasks == 1:
                    self.job_file.unlink(missing_ok=True)
                    raise MachineFault(f"sbatch: {error}") from None
                tasks //= 2

    def output(self, name: str) -> str:
        """In names of files, % is Slurm's."""
        return f"{str(self.folder).replace('%', '%%')}/{name}"

    def script(self, name: str, module: str, *words: str) -> Path:
        """Slurm's copy of it runs in the project's folder; `exec`, so that its signals arrive.
        `words` are the shell's. Raises MachineFault."""
        path = self.folder / name
        with faults_of(path):
            for folder in (self.results.folder, self.folder):
                folder.mkdir(mode=PRIVATE, exist_ok=True)
            write(path, f"#!/bin/sh\nexec {shlex.quote(sys.executable)} -B -m {module} "
                        f"{' '.join(words)}\n".encode())
        return path

    def machine(self) -> tuple[str, str | None] | None:
        """Compiler and architecture of the array that is there. None: there is none. Raises
        MachineFault."""
        if not self.present():
            return None
        try:
            key = json.loads((self.folder / CHUNKS).read_bytes())["key"]
            return key["compiler"], key["architecture"]
        except (OSError, ValueError, TypeError, KeyError):
            return None

    def probe(self, options: Sequence[str], gpu: bool) -> tuple[str, str | None]:
        """What a node says of itself, in a job of its own. Raises MachineFault."""
        answer = self.folder / PROBE
        answer.unlink(missing_ok=True)
        script = self.script("probe.sh", "course.jobs.grader", shlex.quote(str(answer)),
                             *map(shlex.quote, options))
        name = f"course-{os.urandom(6).hex()}"
        array = Array(self.submit_tasks(name, 1, script, gpu, PROBE_SAYS), name, "")
        unknown, poll = 0, FIRST_POLL_SECONDS
        try:
            while not (node := read(answer)) and unknown < ASKED_TWICE:
                with suppress(MachineFault):
                    unknown = 0 if alive(self.cluster.states(array).values()) else unknown + 1
                time.sleep(poll)
                poll = min(poll * 1.2, POLL_SECONDS)
        finally:
            self.cluster.cancel(array)  # also what still ends
        node = node or read(answer)
        if not node:
            raise MachineFault(f"the probe, job {array.job}, ended without an answer; "
                               f"{self.folder / PROBE_SAYS} has what it printed")
        if node.fault:
            raise MachineFault(f"{node.host}: {node.fault}".removeprefix(": "))
        return node.compiler, node.architecture

    def chunks(self, chunks: Sequence[Sequence[Job]], grade: Grade) -> dict[str, Any]:
        return {"key": asdict(grade.key), "run": grade.run, "options": grade.options,
                "chunks": [[[str(job.directory), job.sha256] for job in chunk]
                           for chunk in chunks]}

    # ---- until all is done -----------------------------------------------------------------------

    def run(self, jobs: Sequence[Job], grade: Grade, stop: Stop, watch: Watch) -> None:
        """Until each has a result, or the machine has failed often enough; or until `stop` is
        asked. Raises MachineFault, also if somebody else cancels the array meanwhile."""
        array, rounds, ended_before = self.present(), 0, set[str]()
        if array:
            grade = Grade(grade.key, array.run, grade.options)  # its tries go on
            ended_before = tasks_in(self.cluster.states(array), "CANCELLED", "COMPLETING")
        while True:
            left = [job for job in jobs if not done(job, grade.key)]
            to_try = [job for job in left if tries(job, grade.run) < MOST_TRIES]
            if array is None:
                if not to_try or stop.asked or rounds == MOST_ROUNDS_WITHOUT_RESULT:
                    break
                array = self.submit(to_try, grade)
            states = self.wait(array, left, grade, stop, watch)
            canceled = bool(tasks_in(states, "CANCELLED") - ended_before)
            still_left = settled(left, grade, 0 if canceled else LATE_FILES_SECONDS)
            if still_left and not stop.asked:
                if canceled:
                    raise MachineFault("the job array was canceled; the same command grades the rest")
                self.explain(array, states, still_left, grade)
            array, ended_before = None, set()
            rounds = rounds + 1 if len(still_left) == len(left) else 0
        with faults_of(self.job_file):
            self.job_file.unlink(missing_ok=True)

    def wait(self, array: Array, jobs: Sequence[Job], grade: Grade, stop: Stop,
             watch: Watch) -> dict[str, str]:
        """Until none of its tasks can do anything any more; the last states that were seen."""
        waiting, unknown, held_back = list(jobs), 0, False
        seen, poll = dict[str, str](), FIRST_POLL_SECONDS
        while unknown < ASKED_TWICE:
            if stop.at_once:
                self.cluster.cancel(array)
            elif stop.asked and not held_back:
                self.cluster.cancel(array, "--state=PENDING")
                write_json(self.folder / STOP, array.name)
                held_back = True
            try:
                states = self.cluster.states(array)
                seen |= states
                unknown = 0 if alive(states.values()) else unknown + 1
                if states and unknown and len(states) == len(tasks_in(states, "CANCELLED")):
                    unknown = ASKED_TWICE  # whoever did it will not undo it
            except MachineFault:
                pass  # the scheduler restarts; the tasks go on meanwhile
            for job in [job for job in waiting if done(job, grade.key)]:
                waiting.remove(job)
                watch([], job)
            watch([], None)
            pause(poll, stop)
            poll = min(poll * 1.2, POLL_SECONDS)
        return seen

    def explain(self, array: Array, states: dict[str, str], left: Sequence[Job],
                grade: Grade) -> None:
        """Writes down why their tasks ended before they had a result. Raises MachineFault."""
        with faults_of(self.folder / CHUNKS):
            chunks = json.loads((self.folder / CHUNKS).read_bytes())["chunks"]
        task = {Path(directory): str(number) for number, chunk in enumerate(chunks)
                for directory, _ in chunk}
        left = [job for job in left if job.directory in task and said(job, grade) in ("", UNFINISHED)]
        if any(states.get(task[job.directory], ALIVE[0]) in ALIVE for job in left):
            states = states | self.cluster.accounted(array)
        for job in left:
            number = task[job.directory]
            if why := WHY.get(states.get(number, "")):
                output = self.folder / OUTPUT.replace("%A", array.job).replace("%a", number)
                note_fault(job, grade.run, why.format(printable(str(output))))


def read(path: Path) -> About | None:
    """None: there is none yet."""
    try:
        return about_in(path.read_bytes())
    except OSError:
        return None


def alive(states: Iterable[str]) -> bool:
    return any(state in ALIVE for state in states)


def tasks_in(states: Mapping[str, str], *which: str) -> set[str]:
    return {task for task, state in states.items() if state in which}


def pause(seconds: float, stop: Stop) -> None:
    """Shorter when a signal comes."""
    until, asked, at_once = time.monotonic() + seconds, stop.asked, stop.at_once
    while time.monotonic() < until and (asked, at_once) == (stop.asked, stop.at_once):
        time.sleep(min(0.2, seconds))


def settled(jobs: Sequence[Job], grade: Grade, seconds: float = LATE_FILES_SECONDS,
            sleep: Callable[[float], None] = time.sleep) -> list[Job]:
    """Those without a result, when its file has had time to appear. A try that has ended is written
    down, so only where neither is there is anything to wait for."""
    left = [job for job in jobs if not done(job, grade.key)]
    waited = 0.0
    while waited < seconds and any(said(job, grade) == UNFINISHED for job in left):
        sleep(0.5)
        waited += 0.5
        left = [job for job in left if not done(job, grade.key)]
    return left


def said(job: Job, grade: Grade) -> str:
    """Of its last try in this run: why there is no result; "" where it has not begun."""
    last = last_try(job)
    return last.message if last and last.run == grade.run else ""
