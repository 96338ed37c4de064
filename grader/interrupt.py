"""Ctrl-C, and the signals that end a session: one line, exit status 130, nothing left behind.

    from . import interrupt
    interrupt.handle(signal.SIG_DFL)  # before slow imports: there is nothing to tidy up yet, and
    ...                               # a signal ends the process without a traceback
    with interrupt.raised():          # from here on it raises KeyboardInterrupt
"""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path

STATUS = 130
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def status() -> int:
    """The exit status. make, which a signal may not have reached, is ended too: it has nothing to add."""
    with suppress(OSError):  # what other systems lack
        if Path(f"/proc/{os.getppid()}/comm").read_text() == "make\n":
            os.kill(os.getppid(), signal.SIGINT)
            return 0
    return STATUS


def handle(action: object) -> None:
    """A signal that is ignored stays so: under nohup, or in the background of a script."""
    for number in SIGNALS:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, action)  # type: ignore[arg-type]
    signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)  # python.sh


def once(number: int, frame: object) -> None:
    """A second signal while the first is handled ends the process as usual."""
    signal.signal(number, signal.SIG_DFL)
    raise KeyboardInterrupt


def raised() -> AbstractContextManager[None]:
    """Raises KeyboardInterrupt at the first signal."""
    return handled_by(once)


@contextmanager
def held() -> Iterator[None]:
    """Around what must not be left half done: a signal that comes meanwhile is heeded behind it."""
    if threading.current_thread() is not threading.main_thread():
        yield  # no signal raises anything in it
        return
    came: list[int] = []
    try:
        with handled_by(lambda number, frame: came.append(number)):
            yield
    finally:
        if came:
            signal.raise_signal(came[0])


@contextmanager
def handled_by(action: object) -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in SIGNALS}
    handle(action)
    try:
        yield
    finally:
        for number, earlier in before.items():
            signal.signal(number, earlier)
