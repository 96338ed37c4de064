"""Files that are whole or absent: written under a temporary name in the same folder and then renamed, so
that neither a killed run nor two at once leave half a file."""

import contextlib
import fcntl
import os
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from .errors import MachineFault

PRIVATE = 0o700
"""Of folders: results are nobody else's business."""
NEW = ".new"  # ends the names of temporary files


def write(path: Path, content: bytes) -> None:
    """All or nothing, even if the machine crashes. Raises OSError."""
    path.parent.mkdir(mode=PRIVATE, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name}.", suffix=NEW, dir=path.parent)
    try:
        with open(descriptor, "wb") as file:
            with contextlib.suppress(OSError):  # a file system without locks
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            file.write(content)
            file.flush()
            os.fsync(descriptor)
            os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def remove_left_behind(paths: Iterable[Path]) -> None:
    """Of these temporary files those of a write() that was killed: nobody holds them. One that is still
    empty may be about to be locked."""
    for path in paths:
        with contextlib.suppress(OSError), open(path, "r+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.fstat(file.fileno()).st_size:
                path.unlink()


@contextlib.contextmanager
def faults_of(path: Path) -> Iterator[None]:
    """Turns OSError into MachineFault."""
    try:
        yield
    except OSError as error:
        raise MachineFault(f"{error.filename or path}: {error.strerror}; results cannot be written "
                           "(--results, or RESULTS with make, names another place)") from error
