"""Where records are kept: results/<name>/result.json, and result.partial.json until all is done.

In: records, and where to keep them. Out: files, and the records that are read from them. A file
here is complete or absent: it is written under a temporary name in the same directory and then
renamed, so that neither a killed grader nor two graders at once leave half a file. A result.json is
only ever replaced by a complete record.
"""

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from pydantic import ValidationError

from ..errors import BadInput, MachineFault
from .model import FORMAT, Record
from .student import student_view

RESULT, PARTIAL = "result.json", "result.partial.json"
OF_STUDENTS = "student.json"  # beside the former: what of it a student may see (student.py)
SOURCE = "kernel.cu"  # beside them: the submission as it was compiled, whose lines the records name
PRIVATE = 0o700  # a sandbox that is only another user must not read the results of others
HASH_LENGTH = 8  # hexadecimal digits; of all submissions of one name
LONGEST_NAME = 100  # of suites, in a file's name
NEW = ".new"  # ends the names of temporary files


class Store:
    """The directory of one submission's results; claimed by a first, partial record. The
    constructor and all methods raise MachineFault where nothing can be written."""

    def __init__(self, results: Path, first: Record, named: bool = False):
        """`named`: the submission's name was chosen by an option, so results of another path are replaced."""
        with faults_of(results):
            results.mkdir(mode=PRIVATE, parents=True, exist_ok=True)
            with alone_in(results):
                path, self.directory = first.submission.path, results / first.submission.name
                if not named and owner(self.directory) not in (None, path):
                    digest = hashlib.sha256(path.encode()).hexdigest()[:HASH_LENGTH]
                    self.directory = results / f"{first.submission.name}-{digest}"
                self.directory.mkdir(mode=PRIVATE, exist_ok=True)
                remove_left_behind(self.directory.glob(f".*{NEW}"))
                write_record(self.directory / PARTIAL, first)

    @property
    def result(self) -> Path:
        return self.directory / RESULT

    @property
    def partial(self) -> Path:
        return self.directory / PARTIAL

    def save_partial(self, record: Record) -> None:
        with faults_of(self.partial):
            write_record(self.partial, record)

    def save_source(self, source: bytes) -> None:
        with faults_of(self.directory):
            write(self.directory / SOURCE, source)

    def save(self, record: Record) -> None:
        """The end: `record` is complete. A result on other cases, or of another backend, is kept beside it."""
        assert record.complete
        with faults_of(self.result):
            keep_other_cases(self.result, record)
            write_record(self.directory / OF_STUDENTS, student_view(record))
            write_record(self.result, record)  # where it is, the former is, too
            self.partial.unlink(missing_ok=True)


# ---- reading -------------------------------------------------------------------------------------


def read_record(path: Path) -> Record:
    """The record in this file. Raises BadInput: it cannot be read, holds no record, or one of a run
    that has not ended (or was killed)."""
    try:
        record = Record.model_validate_json(path.read_bytes())
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror}; `make grade` writes this file") from None
    except ValidationError as error:
        # The value itself may be anything, and is left out.
        first = error.errors(include_url=False, include_input=False)[0]
        if first["loc"] == ("format",):
            raise BadInput(f"{path}: a record of another format than {FORMAT}, of another version of "
                           "the grader; grade again") from None
        place = ".".join(str(part) for part in first["loc"]) or "the file"
        what = " ".join(f"{place}: {first['msg']}".split())
        raise BadInput(f"{path}: not a result of this grader: {what}") from None
    if not record.complete:
        raise BadInput(f"{path}: the run has not ended")
    return record


def owner(directory: Path) -> str | None:
    """The path of the submission whose results these are; None where there are none; "" when they
    cannot be read, and so must not be replaced."""
    for path in (directory / RESULT, directory / PARTIAL):
        if os.path.lexists(path):
            try:  # whatever its format
                return str(json.loads(path.read_bytes())["submission"]["path"])
            except (OSError, ValueError, LookupError, TypeError):
                return ""
    return None


def keep_other_cases(result: Path, record: Record) -> None:
    """Of other cases than `record`'s, under another name."""
    if result.exists():
        try:
            name = cases_of(read_record(result))
        except BadInput:
            name = "unreadable"
        if name != cases_of(record):
            shutil.copy2(result, result.with_name(f"result.{name}.json"))


def cases_of(record: Record) -> str:
    """A part of a file's name: which suites, and where they ran."""
    suites = "+".join(suite.replace("/", "-") for suite in record.suites)
    if len(suites) > LONGEST_NAME:
        suites = hashlib.sha256(suites.encode()).hexdigest()[:HASH_LENGTH]
    return f"{suites}.{record.backend}"


# ---- writing -------------------------------------------------------------------------------------


def write_record(path: Path, record: Record) -> None:
    """Raises OSError."""
    write(path, record.model_dump_json(indent=2).encode() + b"\n")


def write(path: Path, content: bytes) -> None:
    """All or nothing, even if the machine crashes. Raises OSError."""
    path.parent.mkdir(mode=PRIVATE, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name}.", suffix=NEW, dir=path.parent)
    try:
        with open(descriptor, "wb") as file:
            lock(descriptor, fcntl.LOCK_EX)
            file.write(content)
            file.flush()
            os.fsync(descriptor)
            os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def remove_left_behind(paths: Iterable[Path]) -> None:
    """Of these temporary files those of write() that was killed: nobody holds them. One that is still
    empty may be about to be locked."""
    for path in paths:
        with contextlib.suppress(OSError), open(path, "r+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.fstat(file.fileno()).st_size:
                path.unlink()


def lock(descriptor: int, how: int) -> None:
    """Nothing, on a file system without locks."""
    with contextlib.suppress(OSError):
        fcntl.flock(descriptor, how)


@contextlib.contextmanager
def alone_in(directory: Path) -> Iterator[None]:
    """One process at a time, so that two submissions of one name do not choose the same directory.
    On a file system without locks nothing is locked. Raises OSError."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        lock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def faults_of(path: Path) -> Iterator[None]:
    """Turns OSError into MachineFault."""
    try:
        yield
    except OSError as error:
        raise MachineFault(f"{error.filename or path}: {error.strerror}; results cannot be written "
                           "(--results, or RESULTS with make, names another place)") from error
