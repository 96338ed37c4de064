"""Ctrl-C, and the signals that end a session: one line, exit status 130, nothing left behind.

    from . import interrupt
    interrupt.handle(signal.SIG_DFL)  # before slow imports: there is nothing to tidy up yet, and
    ...                               # a signal ends the process without a traceback
    with interrupt.raised():          # from here on it raises KeyboardInterrupt
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

STATUS = 130
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def handle(action: object) -> None:
    """A signal that is ignored stays so: under nohup, or in the background of a script."""
    for number in SIGNALS:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, action)  # type: ignore[arg-type]
    signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)  # make/start_python.sh


def once(number: int, frame: object) -> None:
    """A second signal while the first is handled ends the process as usual."""
    signal.signal(number, signal.SIG_DFL)
    raise KeyboardInterrupt


@contextmanager
def raised() -> Iterator[None]:
    """Raises KeyboardInterrupt at the first signal."""
    before = {number: signal.getsignal(number) for number in SIGNALS}
    handle(once)
    try:
        yield
    finally:
        for number, action in before.items():
            signal.signal(number, action)


class Stop:
    """Of a long run, which looks here again and again: nothing is raised in its middle. Ctrl-C once
    asks it to begin nothing more, a second time, like any other signal, to end what runs.

        with Stop(lambda: print("...")) as stop:  # at its end: KeyboardInterrupt, if at_once
            while work and not stop.asked: ...
    """

    def __init__(self, say: Callable[[], None] = lambda: None):
        """`say`: called at the first Ctrl-C."""
        self.asked = self.at_once = False
        self._say = say
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Stop:
        self._before = {number: signal.getsignal(number) for number in SIGNALS}
        handle(self._handle)
        return self

    def _handle(self, number: int, frame: object) -> None:
        self.at_once = self.asked or number != signal.SIGINT
        first, self.asked = not self.asked, True
        if first and not self.at_once:
            self._say()

    def __exit__(self, kind: object, *error: object) -> None:
        for number, action in self._before.items():
            signal.signal(number, action)
        if self.at_once and kind is None:
            raise KeyboardInterrupt
