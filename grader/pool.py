"""Runs tasks over several threads: keys and a function go in, futures come out in the order in which
the tasks end."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from queue import SimpleQueue
from typing import TypeVar

T = TypeVar("T")


def run_all(keys: Sequence[str], jobs: int, work: Callable[[str], T],
            stopped: threading.Event) -> Iterator[tuple[str, Future[T]]]:
    """work(key) for each of the keys, begun in their order, in one of `jobs` threads; yields each key
    with its future, which is done. Ends early once `stopped` is set and what runs has ended.

    concurrent.futures' own threads are joined when the interpreter exits; these are daemons, so an
    interrupted grader does not wait for a kernel that hangs."""
    ready: SimpleQueue[str | None] = SimpleQueue()
    ended: SimpleQueue[tuple[str, Future[T]]] = SimpleQueue()

    def worker() -> None:
        while (key := ready.get()) is not None:
            future: Future[T] = Future()
            try:
                if not stopped.is_set():
                    future.set_result(work(key))
            except Exception as error:
                future.set_exception(error)
            ended.put((key, future))

    threads = [threading.Thread(target=worker, daemon=True) for _ in range(min(jobs, len(keys)))]
    for thread in threads:
        thread.start()
    for key in (*keys, *(None for _ in threads)):
        ready.put(key)
    for _ in keys:
        found = ended.get()
        if stopped.is_set():
            break
        yield found
    for thread in threads:
        thread.join()
