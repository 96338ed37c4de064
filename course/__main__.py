"""Grades a class: python -m course grade|regrade --class FOLDER [options]

    grade     grades what has no result yet, or one of an earlier version of the cases, the grader or
              the compiler; then writes the tables, the gradebooks and the pages
    regrade   grades that again beside the present results, and shows what would change;
              with --accept, takes the new results instead of the present ones

Results are files: a run that was interrupted goes on where it was. Exit status: 0 everything that
could be taken was graded; 2 an option or a file cannot be used; 3 the machine was at fault for some,
which have no grade; 130 interrupted.
"""

import signal

from . import interrupt

if __name__ == "__main__":
    interrupt.handle(signal.SIG_DFL)

import argparse  # noqa: E402
import os  # noqa: E402
import secrets  # noqa: E402
import shlex  # noqa: E402
import shutil  # noqa: E402
import sys  # noqa: E402
from collections.abc import Sequence  # noqa: E402
from dataclasses import dataclass, replace  # noqa: E402
from pathlib import Path  # noqa: E402

from . import output, regrade  # noqa: E402
from .console import console_for, paragraph  # noqa: E402
from .errors import BadInput, MachineFault  # noqa: E402
from .files import faults_of, write  # noqa: E402
from .gather import Class, gather  # noqa: E402
from .hand_ins import unread  # noqa: E402
from .jobs.grader import PASSED_ON, about, mistakes_in  # noqa: E402
from .model import Standing  # noqa: E402
from .policy import attempts_to_grade  # noqa: E402
from .progress import Shown  # noqa: E402
from .record import OF_STUDENTS, RESULT, SOURCE  # noqa: E402
from .jobs.results import (NOT_TAKEN, SEED_BITS, Job, Key, Results, done, forget_try, keep,  # noqa: E402
                      refuse_full_disk, refuse_other_cases)
from .scratch import scratch  # noqa: E402
from .settings import WHOLE, Settings, read_settings  # noqa: E402
from .jobs.slurm import Cluster, Runs  # noqa: E402
from .text import counted, harmless, quoted, refuse  # noqa: E402
from .jobs import worker  # noqa: E402
from .jobs.worker import Grade  # noqa: E402

RESULT_BYTES = 1 << 20
"""More than a submission's results take."""
REGRADE, CHANGES = "regrade", "changes.csv"
QUEUES = ("local", "slurm")
MOST_LISTED = 10
MOST_JOBS = 1024
GRADED, BAD_INPUT, MACHINE_FAULT = 0, 2, 3


def main(words: Sequence[str]) -> int:
    given = arguments(words)
    try:
        with interrupt.raised():
            return {"grade": grade_class, "regrade": regrade_class}[given.what](given)
    except KeyboardInterrupt:
        say("interrupted; what was graded is kept, and the same command grades the rest")
        return interrupt.status()
    except (BadInput, MachineFault) as error:
        say(str(error))
        return BAD_INPUT if isinstance(error, BadInput) else MACHINE_FAULT


def arguments(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m course", allow_abbrev=False)
    parser.add_argument("what", choices=["grade", "regrade"])
    parser.add_argument("--class", dest="folder", required=True, metavar="FOLDER",
                        help="what the class handed in, and its class.toml")
    parser.add_argument("--results", metavar="DIR", help="default: results in the class's folder")
    parser.add_argument("--seed", metavar="N", help="the seed of the inputs; default: drawn once for a class")
    parser.add_argument("--jobs", metavar="N", help="submissions that run at the same time; default: one per core")
    for name, what in PASSED_ON.items():
        parser.add_argument(name, metavar=name[2:].upper(), help=f"the grader's: {what}")
    parser.add_argument("--queue", default="local", metavar="WHERE",
                        help="local, on this machine (default), or slurm, as a job array")
    parser.add_argument("--slurm", default="", metavar="OPTIONS",
                        help="options for sbatch: '--partition=day --account=ee147'")
    parser.add_argument("--accept", action="store_true",
                        help="regrade: replace the results by the new ones")
    return parser.parse_args(words)


# ---- what both do first --------------------------------------------------------------------------


@dataclass(frozen=True)
class Asked:
    """By the command line and class.toml together."""

    settings: Settings
    seed: int | None
    jobs: int
    """At a time."""
    words: tuple[str, ...]
    """Options of the grader's."""
    gpu: bool
    slurm: tuple[str, ...]
    """Options of sbatch."""


def asked_for(given: argparse.Namespace) -> Asked:
    """What the command line says goes before class.toml. Raises BadInput, a line for each mistake."""
    if not given.folder:
        raise BadInput(f"{variable('class')}: the path is empty; it names a folder with what a class "
                       "has handed in")
    settings = read_settings(Path(given.folder), Path(given.results) if given.results else None)
    mistakes: list[str] = []
    if given.queue not in QUEUES:
        mistakes.append(f"{variable('queue')}: {quoted(given.queue)} is not one of {', '.join(QUEUES)}")
    elif given.slurm and given.queue != "slurm":
        mistakes.append(f"{variable('slurm')}: is for --queue=slurm (QUEUE=slurm)")
    slurm: list[str] = []
    try:
        slurm = shlex.split(given.slurm)
    except ValueError as error:
        mistakes.append(f"{variable('slurm')}: {quoted(given.slurm)}: {error}")
    seed = number(given, "seed", 0, 2**SEED_BITS - 1, mistakes)
    jobs = number(given, "jobs", 1, MOST_JOBS, mistakes)
    if given.results == "":
        mistakes.append(f"{variable('results')}: the path is empty")
    words = {name: getattr(given, name[2:]) for name in PASSED_ON}
    for name in ("lab", "suite", "backend"):
        if words[f"--{name}"] is None:
            words[f"--{name}"] = getattr(settings, name)
    if words["--suite"] and words["--suite"] not in WHOLE:
        words["--suite"] = os.path.abspath(words["--suite"])
    passed_on = tuple(f"{name}={word}" for name, word in words.items() if word is not None)
    if mistakes:
        refuse([*mistakes, *mistakes_in(passed_on)])
    usual = 1 if given.queue == "slurm" else len(os.sched_getaffinity(0))
    return Asked(settings, settings.seed if seed is None else seed, jobs or usual, passed_on,
                 words["--backend"] == "cuda", tuple(slurm))


def number(given: argparse.Namespace, name: str, least: int, most: int,
           mistakes: list[str]) -> int | None:
    text = getattr(given, name)
    try:
        found = None if text is None else int(text, 0)
    except ValueError:
        found = least - 1
    if found is not None and not least <= found <= most:
        mistakes.append(f"{variable(name)}: {quoted(text)} is not a whole number from {least} to {most}")
    return found


def variable(name: str) -> str:
    """As the command and make call it."""
    return f"--{name} ({name.upper()} with make)"


def key_of(given: argparse.Namespace, asked: Asked, the_class: Class, seed: int) -> Key:
    """Of every result; and a look at the machine that grades. Raises BadInput and MachineFault."""
    results = the_class.results
    here = about([*asked.words, f"--results={results.folder}"])
    refuse_full_disk(asked.settings.results, RESULT_BYTES * len(the_class.to_grade()))
    compiler, architecture = here.compiler, here.architecture
    if given.queue == "slurm":
        runs = Runs(results, Cluster(asked.slurm), asked.jobs)
        compiler, architecture = runs.machine() or runs.probe(
            [*asked.words, f"--results={results.folder}"], asked.gpu)
    elif here.fault:
        raise MachineFault(here.fault)
    return Key(here.lab, tuple(here.suites), here.cases, here.grader, seed, here.backend, compiler, architecture,
               here.version)


# ---- grade ---------------------------------------------------------------------------------------


def grade_class(given: argparse.Namespace) -> int:
    asked = asked_for(given)
    settings, results = asked.settings, Results(asked.settings.results)
    output.gradebooks(settings, [])  # a mistake in them shows before the first grade
    the_class = gather(settings, results)
    for line in unread(settings.folder, settings.submissions):
        say(line)
    with results.alone():
        key = key_of(given, asked, the_class, results.seed(asked.seed))
        refuse_other_cases(results, key)
        stopped = run_all(given, asked, the_class, key, "grading")
        standings = the_class.standings(key)
        notes = output.write_all(settings, standings, results.folder, stopped)
    for note in notes:
        say(note)
    return conclude(standings, settings, stopped)


def run_all(given: argparse.Namespace, asked: Asked, the_class: Class, key: Key,
            what: str) -> bool:
    """Grades what has no result for this key. Returns whether it was interrupted. Raises BadInput and
    MachineFault."""
    results, contents = the_class.results, the_class.to_grade()
    jobs = [job for job in contents if not done(job, key)]
    for job in contents.keys() - jobs:
        forget_try(job)  # of a run that was killed behind its last word
    say_kept(len(contents) - len(jobs))
    if not jobs:
        with scratch(results.folder):  # which removes what a killed run left
            return False
    for job in jobs:
        results.place(job, contents[job])
    names = the_class.names()
    shown_names = {job.directory: names[job] for job in jobs}
    grade = Grade(key, secrets.token_hex(6), (*asked.words, f"--seed={key.seed}", "--jobs=1"))
    with Shown(shown_names, key, what) as shown, interrupt.asked_to_stop(
            lambda: shown.say("interrupted: finishing what runs; Ctrl-C again ends it")) as stop:
        if given.queue == "slurm":
            Runs(results, Cluster(asked.slurm), asked.jobs).run(jobs, grade, stop, shown)
            return stop.asked
        refuse_beside_slurm(results, given.what)
        with scratch(results.folder) as environment:
            worker.run(jobs, asked.jobs, replace(grade, environment=environment), stop, shown)
        return stop.asked


def refuse_beside_slurm(results: Results, what: str) -> None:
    """Raises BadInput where a job array does this (grade, regrade) to the class already."""
    array = Runs(results, Cluster(), 1).present()
    if array:
        command = {"grade": "grade-class"}.get(what, what)
        raise BadInput(f"{results.folder}: Slurm's job {array.job} is grading here; finish it with "
                       f"`make {command} CLASS=... QUEUE=slurm`, or end it with "
                       f"`scancel {array.job}`, and then start this again")


def say_kept(count: int) -> None:
    if count:
        print(f"{counted(count, 'submission')} graded already", flush=True)


# ---- regrade -------------------------------------------------------------------------------------


def regrade_class(given: argparse.Namespace) -> int:
    asked = asked_for(given)
    settings, results = asked.settings, Results(asked.settings.results)
    output.gradebooks(settings, [])
    present = gather(settings, results)
    again = replace(present, results=Results(settings.results / REGRADE))
    with results.alone():
        refuse_beside_slurm(results, "grade")
        before = present.standings(None)
        if not any(each.record for each in before):
            raise BadInput(f"{results.folder}: nothing is graded yet; `make grade-class` does that")
        key = key_of(given, asked, again, results.seed(asked.seed))
        refuse_other_cases(results, key, regraded=True)
        take_over(present, again, key)
        if run_all(given, asked, again, key, "grading again"):
            raise KeyboardInterrupt
        after = again.standings(key)
        failed = not_graded_today(after, settings)
        show_changes(before, [each for each in after if each not in failed], results)
        if given.accept and not failed:
            accept(present, again)
            standings = present.standings(key)
            for note in output.write_all(settings, standings, results.folder):
                say(note)
            return conclude(standings, settings)
    print("nothing was replaced" if failed else
          "nothing was replaced; `make regrade CLASS=... ACCEPT=1` takes the new results")
    return report_failed(failed)


def take_over(present: Class, again: Class, key: Key) -> None:
    """Results that are of today's key already. Raises MachineFault."""
    for (job, content), twin in zip(present.to_grade().items(), again.to_grade(), strict=True):
        if done(job, key) and not done(twin, key):
            again.results.place(twin, content)
            replace_result(twin, job)


def show_changes(before: Sequence[Standing], after: Sequence[Standing], results: Results) -> None:
    found = regrade.changes(before, after)
    path = results.folder / CHANGES
    with faults_of(path):
        write(path, regrade.as_csv(found).encode())
    console = console_for(sys.stdout)
    console.print(regrade.show(found, len(after), console))
    console.print(f"all changes: {harmless(os.path.relpath(path))}", soft_wrap=True)


def accept(present: Class, again: Class) -> None:
    """The new records take the place of the present ones, which go to history/. Interrupted, it is
    done by the next run: what is taken already is the same in both. Raises MachineFault."""
    for (job, content), twin in zip(present.to_grade().items(), again.to_grade(), strict=True):
        present.results.place(job, content)
        replace_result(job, twin)
        forget_try(job)
    shutil.rmtree(again.results.folder, ignore_errors=True)


def replace_result(job: Job, source: Job) -> None:
    """Raises MachineFault."""
    if content_of(job.directory / RESULT) != content_of(source.directory / RESULT):
        keep(job)
    for name in (OF_STUDENTS, SOURCE, NOT_TAKEN, RESULT):
        path, new = job.directory / name, content_of(source.directory / name)
        if content_of(path) != new:
            with faults_of(path):
                path.unlink() if new is None else write(path, new)


def content_of(path: Path) -> bytes | None:
    return path.read_bytes() if path.exists() else None


# ---- the end -------------------------------------------------------------------------------------


def conclude(standings: Sequence[Standing], settings: Settings,
             stopped: bool = False) -> int:
    """Says how it ended and what to look at; the exit status."""
    console = console_for(sys.stdout)
    for line in output.about(standings):
        console.print(paragraph(harmless(line), console))
    for place in output.places(settings):
        console.print(f"    {harmless(os.path.relpath(place))}", soft_wrap=True)
    failed = not_graded_today(standings, settings)
    if failed and stopped:
        raise KeyboardInterrupt
    return report_failed(failed)


def report_failed(failed: Sequence[Standing]) -> int:
    """Whom the machine failed, and why; the exit status."""
    if not failed:
        return GRADED
    console = console_for(sys.stderr)
    for each in failed[:MOST_LISTED]:
        why = "; ".join(each.notes) or "not graded yet"
        print(paragraph(f"no grade: {harmless(each.student.known_as)}: {harmless(why)}", console).plain,
              file=sys.stderr)
    say(f"{counted(len(failed), 'student')} without a grade, which is not a zero; "
        "the same command tries again")
    return MACHINE_FAULT


def not_graded_today(standings: Sequence[Standing], settings: Settings) -> list[Standing]:
    """Because of the machine, or because they had to wait; some may have points from an earlier run."""
    def lacks_a_result(each: Standing) -> bool:
        can_count = attempts_to_grade(each.attempts, settings, each.override)
        return any(attempt.fault or attempt.old for attempt in can_count)

    return [each for each in standings if each.state in ("fault", "waiting")
            or each.state == "graded" and lacks_a_result(each)]


def say(message: str) -> None:
    for line in message.splitlines():
        print(f"grade-class: {harmless(line)}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
