"""The judge (judge/judge.c), and the memory files through which it, a submission's process and this
one see the same: they have no path."""

from __future__ import annotations

import errno
import fcntl
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from ..build.parts import Parts
from ..cases.model import Case
from ..errors import MachineFault
from ..process import completed

SEAL_SIZE = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL
SEAL_ALL = SEAL_SIZE | fcntl.F_SEAL_WRITE
SEAL_SECONDS = 5.0


@contextmanager
def memory_file(name: str, size: int = 0) -> Iterator[int]:
    descriptor = os.memfd_create(name, os.MFD_ALLOW_SEALING | os.MFD_CLOEXEC)
    try:
        os.ftruncate(descriptor, size)
        yield descriptor
    finally:
        os.close(descriptor)


def seal(descriptor: int, seals: int) -> None:
    """Linux answers EBUSY as long as something may still write to the file. That may be a process
    that has ended: whoever reads its /proc/PID/cmdline at that moment, as `ps` does, keeps its
    memory for a while. Raises OSError."""
    late = time.monotonic() + SEAL_SECONDS
    while True:
        try:
            fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, seals)
            return
        except OSError as error:
            if error.errno != errno.EBUSY or time.monotonic() > late:
                raise
        time.sleep(0.02)


def seal_all(given: int, back: int, report: int, writers: int) -> None:
    """Raises MachineFault."""
    try:
        seal(given, SEAL_ALL)
        seal(back, SEAL_SIZE)
        seal(report, SEAL_SIZE)
        seal(writers, SEAL_SIZE)
    except OSError as error:
        raise MachineFault(f"memory for the arrays cannot be sealed: {error.strerror}") from error


def judge(parts: Parts, task: str, case: Case, *files: int, more: tuple[str, ...] = ()) -> str:
    """What the judge prints. Raises MachineFault."""
    words = [task, *case.words, case.fill, case.seed, *files, *more]
    return ask_judge(parts, words, files, f"on {case.shape}")


def ask_judge(parts: Parts, words: Sequence[object], files: Sequence[int], about: str) -> str:
    """Likewise. Raises MachineFault."""
    try:
        ran = completed([str(parts.judge)], asked=" ".join(map(str, words)), pass_fds=files)
    except OSError as error:
        raise MachineFault(f"the judge cannot be started: {error.strerror}") from error
    if ran.returncode != 0:
        why = ran.stderr.strip() or f"status {ran.returncode}"
        raise MachineFault(f"the judge failed {about}: {why}")
    return ran.stdout
