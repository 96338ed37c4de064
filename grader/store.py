"""Where records are kept: results/<name>/result.json, and result.partial.json until all is done.

A file here is whole or is not there: it is written beside its place under a name of its own, and
then renamed, so that neither a killed grader nor two graders at once leave halves. A result.json is
only ever replaced by a complete record.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from pydantic import ValidationError

from .errors import MachineFault
from .intake import Submission, printable
from .record import Record

RESULT, PARTIAL = "result.json", "result.partial.json"
PRIVATE = 0o700  # a sandbox that is only another user must not read what others got
HASH_LENGTH = 8  # hexadecimal digits; of all submissions of one name
LONGEST_NAME = 100  # of suites, in a file's name
LEFT_BEHIND_SECONDS = 3600.0  # older files of writers are of graders that were killed


class Store:
    """The directory of one submission's results; claimed by a first, partial record."""

    def __init__(self, results: Path, submission: Submission, first: Record, named: bool = False):
        """`named`: somebody chose the name, so that what is there of another path is replaced."""
        with faults_of(results):
            results.mkdir(mode=PRIVATE, parents=True, exist_ok=True)
        with faults_of(results), alone_in(results):
            self.directory = self._choose(results, submission, named)
            self.directory.mkdir(mode=PRIVATE, exist_ok=True)
            remove_left_behind(self.directory)
            write(self.directory / PARTIAL, first)

    @staticmethod
    def _choose(results: Path, submission: Submission, named: bool) -> Path:
        usual = results / submission.name
        if named or owner(usual) in (None, printable(str(submission.path))):
            return usual
        digest = hashlib.sha256(os.fsencode(submission.path)).hexdigest()
        return results / f"{submission.name}-{digest[:HASH_LENGTH]}"

    @property
    def result(self) -> Path:
        return self.directory / RESULT

    @property
    def partial(self) -> Path:
        return self.directory / PARTIAL

    def save_partial(self, record: Record) -> None:
        with faults_of(self.partial):
            self.directory.mkdir(mode=PRIVATE, exist_ok=True)
            write(self.partial, record)

    def save(self, record: Record) -> None:
        """The end: `record` is complete. A result on other cases, or of another backend, is kept
        beside it."""
        assert record.complete
        with faults_of(self.result):
            self.directory.mkdir(mode=PRIVATE, exist_ok=True)
            keep_other_cases(self.result, record)
            write(self.result, record)
            self.partial.unlink(missing_ok=True)


def read(path: Path) -> Record | None:
    """None: there is no such file. OSError or ValidationError: it cannot be read."""
    try:
        return Record.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return None


def keep_other_cases(result: Path, record: Record) -> None:
    """What is there, if it is of other cases than `record`, under a name of its own."""
    try:
        earlier = read(result)
    except ValidationError:
        shutil.copy2(result, result.with_name("result.unreadable.json"))
        return
    if earlier and cases_of(earlier) != cases_of(record):
        shutil.copy2(result, result.with_name(f"result.{cases_of(earlier)}.json"))


def cases_of(record: Record) -> str:
    """A part of a file's name: which suites, and where they ran."""
    suites = "+".join(suite.replace("/", "-") for suite in record.suites)
    if len(suites) > LONGEST_NAME:
        suites = hashlib.sha256(suites.encode()).hexdigest()[:HASH_LENGTH]
    return f"{suites}.{record.backend}"


def owner(directory: Path) -> str | None:
    """The path of the submission whose results are there; None when none are; "" when they cannot
    be read, and so are not ours to replace."""
    try:
        found = read(directory / RESULT) or read(directory / PARTIAL)
    except (OSError, ValidationError):
        return ""
    return found.submission.path if found else None


def write(path: Path, record: Record) -> None:
    """All or nothing, also after a crash of the machine."""
    content = record.model_dump_json(indent=2).encode() + b"\n"
    descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with open(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(descriptor)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    sync_directory(path.parent)


def sync_directory(directory: Path) -> None:
    with contextlib.suppress(OSError):  # some file systems know no such thing
        descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def remove_left_behind(directory: Path) -> None:
    for path in directory.glob(".result*.json.*"):
        with contextlib.suppress(OSError):
            if path.stat().st_mtime < time.time() - LEFT_BEHIND_SECONDS:
                path.unlink()


@contextlib.contextmanager
def alone_in(directory: Path) -> Iterator[None]:
    """One grader at a time chooses its place, so that two submissions of one name do not take the
    same. Where the file system has no locks, they choose without."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with contextlib.suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def faults_of(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise MachineFault(f"{error.filename or path}: {error.strerror}; results cannot be written "
                           "(--results, or RESULTS with make, names another place)") from error
