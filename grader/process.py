"""Runs the programs that the grader relies on (make, the judge, the clock): a command goes in, its status
and output come out, and nothing of it is left running, also after an interrupt; nor is a temporary folder
left behind."""

import contextlib
import errno
import os
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from . import interrupt

SECONDS_TO_END = 10.0

RUNNING: set[subprocess.Popen[Any]] = set()
ENDING = threading.Event()
"""What threads() ends after Ctrl-C; and that it does, so that nothing starts any more."""

PASSING = {errno.EFAULT, errno.EAGAIN, errno.ENOMEM, errno.ETXTBSY, errno.EMFILE, errno.ENFILE}
"""Why Linux may start no program at this moment, and the same one a little later: no memory for a process, too
many of these, a file that is still being written; and, as was seen under load, a bad address."""
PAUSES = (0.05, 0.2, 1.0, 3.0)  # seconds, between so many further attempts


def started(command: Sequence[str], **options: Any) -> subprocess.Popen[Any]:
    """subprocess.Popen(), tried again where the reason for a failure may pass. Raises OSError."""
    for pause in PAUSES:
        try:
            return subprocess.Popen(command, **options)
        except OSError as error:
            if error.errno not in PASSING:
                raise
        time.sleep(pause)
    return subprocess.Popen(command, **options)


@contextlib.contextmanager
def running(command: Sequence[str], **options: Any) -> Iterator[subprocess.Popen[Any]]:
    """The program in a session of its own, so that Ctrl-C reaches this process alone, which ends the program and
    its children before it goes on, also when it comes while they start. Raises OSError."""
    process = None
    try:
        with interrupt.held():
            process = started(command, stdout=subprocess.PIPE, start_new_session=True, **options)
            RUNNING.add(process)
        if ENDING.is_set():
            raise OSError(errno.EINTR, "it is to end")
        yield process
    finally:
        if process:
            with process:
                if process.returncode is None:
                    end(process)
            RUNNING.discard(process)


@contextlib.contextmanager
def threads(jobs: int) -> Iterator[ThreadPoolExecutor]:
    """What has not begun at the end does not begin; what runs is waited for. Ctrl-C ends the programs that run in the
    threads, and what these start behind them."""
    with ThreadPoolExecutor(jobs) as pool:
        try:
            yield pool
        except KeyboardInterrupt:
            ENDING.set()
            for process in list(RUNNING):
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGTERM)
            raise
        finally:
            pool.shutdown(cancel_futures=True)
            ENDING.clear()


def completed(command: Sequence[str], timeout: float | None = None, asked: str | None = None,
              **options: Any) -> subprocess.CompletedProcess[str]:
    """subprocess.run() with both outputs captured as text (stderr=STDOUT: as one), in which bytes
    that are not UTF-8 are replaced. `asked` is its standard input.

    Raises OSError where the program cannot be started, subprocess.TimeoutExpired after `timeout` seconds."""
    with running(command, **{"stderr": subprocess.PIPE} | options, text=True, errors="replace",
                 stdin=subprocess.DEVNULL if asked is None else subprocess.PIPE) as process:
        try:
            output, errors = process.communicate(asked, timeout=timeout)
        finally:
            end(process)
    return subprocess.CompletedProcess(command, process.returncode, output, errors)


def end(process: subprocess.Popen[Any]) -> None:
    """End a program that leads its session, and its children, if they have not ended: first by
    SIGTERM, so that it can remove its temporary files, then by SIGKILL."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(SECONDS_TO_END)
            return


class TemporaryFolder(tempfile.TemporaryDirectory[str]):
    """One that an interrupt leaves nothing of, also while it is made or removed."""

    def __init__(self, prefix: str, place: str | os.PathLike[str] | None = None):
        with interrupt.held():
            super().__init__(prefix=prefix, dir=place, ignore_cleanup_errors=True)

    def cleanup(self) -> None:
        with interrupt.held():
            super().cleanup()
