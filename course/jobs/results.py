"""The folder of a class's results, whose files are the truth: what is done, what is old, and what the
machine could not do.

    RESULTS/records/STUDENT/HASH/   one attempt; HASH: of its files, so what is handed in twice is
        hand-in/                    graded once; as it came
        result.json                 the grader's record, complete or absent; beside it student.json, and
                                    kernel.cu as it was compiled
        not-taken.json              in its place: there is no one kernel in the hand-in
        history/                    records of before
        try.json                    begun, and not ended, or the machine was at fault
    RESULTS/seed                    of all of them, where class.toml names none
    RESULTS/run/                    what a job array needs and prints
    RESULTS/.lock                   held while a run works here

A record counts where its key is today's: nothing is believed because of a file's time.
"""

import contextlib
import errno
import fcntl
import hashlib
import json
import os
import secrets
import shutil
import socket
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ..errors import BadInput, MachineFault
from ..files import NEW, PRIVATE, faults_of, remove_left_behind, write
from ..model import Files
from ..record import OF_STUDENTS, RESULT, Record, read_record

RECORDS, HISTORY, RUN, HAND_IN = "records", "history", "run", "hand-in"
TRY, NOT_TAKEN, SEED, LOCK = "try.json", "not-taken.json", "seed", ".lock"
SEED_BITS = 63
UNFINISHED = "it was being graded when the machine or the job ended"
HASH_LENGTH = 12  # hexadecimal digits; of one student's attempts


@dataclass(frozen=True)
class Key:
    """What a record is of, beside the submission."""

    lab: str
    suites: tuple[str, ...]
    cases: str
    grader: str
    seed: int
    backend: str
    compiler: str
    architecture: str | None
    version: str

    def differs(self, record: Record) -> str:
        """In what the record is not of this key: "" if it is."""
        theirs = (record.lab.name, tuple(record.suites), record.cases, record.grader, record.version, record.seed,
                  record.backend, record.architecture, record.compiler)
        ours = (self.lab, self.suites, self.cases, self.grader, self.version, self.seed, self.backend,
                self.architecture, self.compiler)
        names = ("lab", "suites", "cases", "grader", "version", "seed", "backend", "GPU", "compiler")
        return ", ".join(name for name, a, b in zip(names, theirs, ours, strict=True) if a != b)


@dataclass(frozen=True)
class Job:
    """One submission that has to be graded."""

    directory: Path
    sha256: str

    @property
    def hand_in(self) -> Path:
        """What the grader is given: the folder, or the one file of it that may be a kernel or a zip."""
        folder = self.directory / HAND_IN
        found = list(folder.iterdir()) if folder.is_dir() else []
        alone = len(found) == 1 and found[0].is_file() and found[0].suffix.lower() in (".cu", ".zip")
        return found[0] if alone else folder


@dataclass(frozen=True)
class Try:
    """The last time that a submission was begun, and why there is no result."""

    run: str
    """Of which run: each has tries of its own."""
    tries: int
    message: str
    host: str


class Results:
    def __init__(self, folder: Path):
        self.folder = folder

    # ---- one run at a time -----------------------------------------------------------------------

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Raises BadInput if another run works here, MachineFault if nothing can be written. On a
        file system without locks nothing is locked."""
        with faults_of(self.folder):
            self.folder.mkdir(mode=PRIVATE, parents=True, exist_ok=True)
            descriptor = os.open(self.folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
                    who = os.pread(descriptor, 200, 0).decode(errors="replace").strip()
                    raise BadInput(f"{self.folder}: another run is using this folder ({who}); wait for it, or "
                                   "end it") from None
            with contextlib.suppress(OSError):  # of use to people only
                os.ftruncate(descriptor, 0)
                os.pwrite(descriptor, f"process {os.getpid()} on {socket.gethostname()}\n".encode(),
                          0)
            remove_left_behind(self.folder.rglob(f".*{NEW}"))
            yield
        finally:
            os.close(descriptor)

    def seed(self, given: int | None) -> int:
        """The same in every run, so that a class which is graded in several gets the points of one.
        Raises BadInput and MachineFault."""
        path = self.folder / SEED
        if given is not None:
            return given
        with faults_of(path):
            if not path.exists():
                write(path, f"{secrets.randbits(SEED_BITS)}\n".encode())
            text = path.read_text(errors="replace")
        try:
            return int(text)
        except ValueError:
            raise BadInput(f"{path}: not a number; it is the seed of all results here. Remove it to "
                           "grade again with a new one") from None

    # ---- attempts --------------------------------------------------------------------------------

    def job(self, student: str, files: Files) -> Job:
        """`student`: the name of a folder."""
        sha256 = hash_of(files)
        return Job(self.folder / RECORDS / student / sha256[:HASH_LENGTH], sha256)

    def place(self, job: Job, files: Files) -> None:
        """Writes down what is to be graded. Raises MachineFault."""
        place, new = job.directory / HAND_IN, job.directory / f"{HAND_IN}{NEW}"
        with faults_of(place):
            for folder in (self.folder, job.directory.parent.parent, job.directory.parent,
                           job.directory):
                folder.mkdir(mode=PRIVATE, exist_ok=True)
            if files_in(place) == dict(files):
                return
            for folder in (new, place):
                shutil.rmtree(folder, ignore_errors=True)
            new.mkdir(mode=PRIVATE)
            for name, content in files:
                (new / name).parent.mkdir(parents=True, exist_ok=True)
                (new / name).write_bytes(content)
            new.rename(place)


def hash_of(files: Files) -> str:
    """One file's own, whatever it is called; of several, of their names, too."""
    if len(files) == 1:
        return hashlib.sha256(files[0][1]).hexdigest()
    digest = hashlib.sha256()
    for name, content in sorted(files):
        digest.update(os.fsencode(name) + b"\0%d\0" % len(content) + content)
    return digest.hexdigest()


def files_in(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes()
            for path in folder.rglob("*") if path.is_file()}


def record_of(job: Job) -> Record | None:
    """The complete one, of whatever key; None: there is none that can be read."""
    if not (job.directory / OF_STUDENTS).exists():
        return None
    try:
        return read_record(job.directory / RESULT)
    except BadInput:
        return None


def seen_of(job: Job) -> Record | None:
    """What students may see of it."""
    try:
        return read_record(job.directory / OF_STUDENTS)
    except BadInput:
        return None


def done(job: Job, key: Key) -> bool:
    record = record_of(job)
    return (record is not None and not key.differs(record)) or bool(not_taken(job, key))


def not_taken(job: Job, key: Key | None) -> str:
    """Why there is nothing to grade in the hand-in, by a grader of this key (None: of any); "": there
    may be."""
    try:
        said = json.loads((job.directory / NOT_TAKEN).read_bytes())
        return str(said["why"]) if key is None or said["key"] == as_json(key) else ""
    except (OSError, ValueError, LookupError, TypeError):  # none, or of another version
        return ""


def note_not_taken(job: Job, key: Key, why: str) -> None:
    """There is no record any more. Raises MachineFault."""
    keep(job)
    write_json(job.directory / NOT_TAKEN, {"key": as_json(key), "why": why})
    with faults_of(job.directory):
        for name in (RESULT, OF_STUDENTS):
            (job.directory / name).unlink(missing_ok=True)


def as_json(key: Key) -> dict[str, Any]:
    return asdict(key) | {"suites": list(key.suites)}


def last_try(job: Job) -> Try | None:
    try:
        return Try(**json.loads((job.directory / TRY).read_bytes()))
    except (OSError, ValueError, TypeError):  # none, or of another version
        return None


def tries(job: Job, run: str) -> int:
    last = last_try(job)
    return last.tries if last and last.run == run else 0


def begin(job: Job, run: str) -> None:
    """Counts a try, which stays where the machine dies; and keeps the record of before. Raises
    MachineFault."""
    note_fault(job, run, UNFINISHED, one_more=True)
    keep(job)


def note_fault(job: Job, run: str, message: str, one_more: bool = False) -> None:
    """Raises MachineFault."""
    count = tries(job, run) + one_more
    write_json(job.directory / TRY, asdict(Try(run, count, message, socket.gethostname())))


def forget_try(job: Job) -> None:
    """It has ended with a result, or was never tried to the end because somebody stopped it."""
    with faults_of(job.directory):
        (job.directory / TRY).unlink(missing_ok=True)


def keep(job: Job) -> None:
    """The present record, in history/. Raises MachineFault."""
    result = job.directory / RESULT
    with faults_of(result), contextlib.suppress(FileNotFoundError):
        content = result.read_bytes()
        place = job.directory / HISTORY / f"{hashlib.sha256(content).hexdigest()[:HASH_LENGTH]}.json"
        if not place.exists():
            write(place, content)


def write_json(path: Path, value: Any) -> None:
    with faults_of(path):
        write(path, json.dumps(value, indent=1).encode() + b"\n")


def refuse_other_cases(results: Results, key: Key, regraded: bool = False) -> None:
    """One folder of results is for one lab, one backend, and for public suites or hidden ones, too:
    others would replace a gradebook by one that means something else. A suite that was added is graded;
    `regraded`: cases may be others. Raises BadInput."""
    for path in sorted((results.folder / RECORDS).glob(f"*/*/{RESULT}")):
        try:
            record = read_record(path)
        except BadInput:
            continue
        other = (set(record.suites) - set(key.suites) or has_hidden(record.suites) != has_hidden(key.suites)
                 or record.backend != key.backend) and not regraded
        if other or record.lab.name != key.lab:
            raise BadInput(f"{path}: of {record.lab.name}, graded on {', '.join(record.suites)} ({record.backend}), "
                           f"not of {key.lab} on {', '.join(key.suites)} ({key.backend}); RESULTS=... names "
                           "another folder for the new ones")
        return  # they are all alike: each run has looked


def has_hidden(suites: Sequence[str]) -> bool:
    return any(suite.startswith("hidden/") for suite in suites)


def free_bytes(folder: Path) -> int:
    found = os.statvfs(folder)
    return found.f_bavail * found.f_frsize


def refuse_full_disk(folder: Path, needed: int) -> None:
    """Raises MachineFault."""
    with faults_of(folder):
        free = free_bytes(folder)
    if free < needed:
        raise MachineFault(f"{folder}: {free >> 20} MB are free, and {needed >> 20} MB are needed; "
                           "nothing was begun")
