"""Starts the programs that the grader relies on: the judge, the sandbox, the clock."""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import subprocess
import time
from collections.abc import Sequence
from typing import Any

PASSING = frozenset({
    errno.EAGAIN,   # no process to be had just now: others of this user have them
    errno.ENOMEM,   # the kernel's own
    errno.ENFILE,   # all files of the machine are in use
    errno.ETXTBSY,  # another thread's child still holds it open for writing, until it executes
    errno.EFAULT,   # from execve, whose pointers are the interpreter's: seen once
})
"""What the kernel may answer on a busy machine to a call that it grants a moment later."""

PAUSES = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6)
"""Seconds between the attempts."""

SECONDS_TO_END = 10.0


def start(command: Sequence[str], **options: Any) -> subprocess.Popen[bytes]:
    """subprocess.Popen, which lets a machine that is short of something have a moment: a whole
    class's grades must not hang on it. Raises the OSError that stays, or that no waiting mends."""
    for pause in PAUSES:
        try:
            return subprocess.Popen(command, **options)
        except OSError as error:
            if error.errno not in PASSING:
                raise
        time.sleep(pause)
    return subprocess.Popen(command, **options)


def completed(command: Sequence[str], **options: Any) -> subprocess.CompletedProcess[str]:
    """Like subprocess.run with text and both outputs captured, and started as above. What is not
    UTF-8 is replaced. An interrupt is this process's own: it ends the program, and what that has
    started, before it goes on."""
    with start(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
               start_new_session=True, **options) as process:
        try:
            said, complaint = process.communicate()
        except BaseException:
            end(process)
            raise
    return subprocess.CompletedProcess(command, process.returncode, said.decode(errors="replace"),
                                       complaint.decode(errors="replace"))


def end(process: subprocess.Popen[bytes]) -> None:
    """With its whole session; it has a moment to tidy up."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.communicate(timeout=SECONDS_TO_END)
            return
