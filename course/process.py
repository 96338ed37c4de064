"""Runs programs (graders, Slurm's commands): a command goes in, its status and output come out, and
nothing of it is left running, also after an interrupt."""

import contextlib
import errno
import os
import signal
import subprocess
import time
from collections.abc import Sequence
from typing import Any

SECONDS_TO_END = 10.0
PASSING = {errno.EFAULT, errno.EAGAIN, errno.ENOMEM, errno.ETXTBSY, errno.EMFILE, errno.ENFILE}
"""Why Linux may start no program at this moment, and the same one a little later."""
PAUSES = (0.05, 0.2, 1.0, 3.0)
"""Seconds, between so many further attempts."""


def started(command: Sequence[str], **options: Any) -> subprocess.Popen[Any]:
    """subprocess.Popen() in a session of its own, so that Ctrl-C reaches this process alone; tried again
    where the reason for a failure may pass. Raises OSError."""
    options |= {"stdin": subprocess.DEVNULL, "start_new_session": True}
    for pause in PAUSES:
        try:
            return subprocess.Popen(command, **options)
        except OSError as error:
            if error.errno not in PASSING:
                raise
        time.sleep(pause)
    return subprocess.Popen(command, **options)


def completed(command: Sequence[str], timeout: float | None = None,
              **options: Any) -> subprocess.CompletedProcess[str]:
    """With both outputs as text, in which bytes that are not UTF-8 are replaced. Raises OSError where
    the program cannot be started, subprocess.TimeoutExpired after `timeout` seconds."""
    with started(command, text=True, errors="replace", stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                 **options) as process:
        try:
            output, errors = process.communicate(timeout=timeout)
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
