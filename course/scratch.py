"""A folder for temporary files of graders that may be killed: what a killed run leaves there, the next
one on the same machine removes."""

import contextlib
import fcntl
import hashlib
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

from .errors import MachineFault

PASSABLE = 0o711  # the sandbox's uid goes through it, and lists nothing


@contextlib.contextmanager
def scratch(of: Path) -> Iterator[dict[str, str]]:
    """The environment of processes whose temporary files lie there, and are removed at the end. `of`:
    something of the class's own, so that each class has its own place. Raises MachineFault."""
    digest = hashlib.sha256(os.fsencode(of)).hexdigest()[:12]
    base = Path(tempfile.gettempdir()) / f"course-{os.getuid()}-{digest}"
    try:
        base.mkdir(mode=PASSABLE, exist_ok=True)
        refuse_others(base)
        base.chmod(PASSABLE)
        with locked(base):
            sweep(base)
            mine = Path(tempfile.mkdtemp(prefix="run-", dir=base))
            mine.chmod(PASSABLE)
            held = os.open(mine, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            fcntl.flock(held, fcntl.LOCK_EX)
    except OSError as error:
        raise MachineFault(f"{base}: {error.strerror}; graders need temporary files there (TMPDIR "
                           "names another place)") from error
    try:
        yield {**os.environ, "TMPDIR": str(mine)}
    finally:
        shutil.rmtree(mine, ignore_errors=True)
        os.close(held)
        with contextlib.suppress(OSError):  # others work there
            base.rmdir()


def refuse_others(base: Path) -> None:
    """In a folder that all may write to, the name may have been taken. Raises MachineFault."""
    found = os.lstat(base)
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
        raise MachineFault(f"{base}: belongs to another user; TMPDIR names another place for "
                           "temporary files")


def sweep(base: Path) -> None:
    """Removes what belongs to no living run."""
    for path in base.glob("run-*"):
        with contextlib.suppress(OSError):
            held = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NOFOLLOW)
            try:
                fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(path, ignore_errors=True)
            finally:
                os.close(held)


@contextlib.contextmanager
def locked(base: Path) -> Iterator[None]:
    """Between another's sweep and the lock on a new folder nothing may come."""
    held = os.open(base, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield
    finally:
        os.close(held)
