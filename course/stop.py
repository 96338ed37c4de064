"""Ctrl-C in a long run: begin nothing more, and at the second end at once. grader/interrupt.py has the rest."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from grader.interrupt import handled_by


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
