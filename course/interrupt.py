"""Ctrl-C, and the signals that end a session: one line, exit status 130, nothing left behind.

    from . import interrupt
    interrupt.handle(signal.SIG_DFL)  # before slow imports: there is nothing to tidy up yet, and
    ...                               # a signal ends the process without a traceback
    with interrupt.raised():          # from here on it raises KeyboardInterrupt
"""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
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
    signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)  # grader/python.sh


def once(number: int, frame: object) -> None:
    """A second signal while the first is handled ends the process as usual."""
    signal.signal(number, signal.SIG_DFL)
    raise KeyboardInterrupt


@contextmanager
def handled_by(action: object) -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in SIGNALS}
    handle(action)
    try:
        yield
    finally:
        for number, earlier in before.items():
            signal.signal(number, earlier)


def raised() -> AbstractContextManager[None]:
    """Raises KeyboardInterrupt at the first signal."""
    return handled_by(once)


@dataclass
class Stop:
    asked: bool = False
    at_once: bool = False


@contextmanager
def asked_to_stop(say: Callable[[], None] = lambda: None) -> Iterator[Stop]:
    """For a long run, which looks at `asked` again and again: nothing is raised in its middle.
    Ctrl-C once asks it to begin nothing more, and calls `say`; a second time, like any other
    signal, it asks to end what runs, and there is a KeyboardInterrupt at the end.

        with asked_to_stop(lambda: print("...")) as stop:
            while work and not stop.asked: ...
    """
    stop = Stop()

    def ask(number: int, frame: object) -> None:
        stop.at_once = stop.asked or number != signal.SIGINT
        first, stop.asked = not stop.asked, True
        if first and not stop.at_once:
            say()

    with handled_by(ask):
        yield stop
    if stop.at_once:
        raise KeyboardInterrupt
