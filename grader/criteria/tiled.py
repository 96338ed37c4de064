"""tiled: the threads of a block share what they load. Kept by a correct result, by a quarter of the
naive kernel's loads at most, by threads that read what others of their block have stored at least as
often as they load, and by enough threads."""

from __future__ import annotations

import math

from ..record.model import Loads
from ..text import counted
from . import Lost, Seen, correct

PHRASE = "loads more from global memory than a tiled kernel does, or works in too few threads"

# Tiles of T x T let each element be loaded once a block instead of T times. This is the handout's
# rule, and leaves room for tiles at the edge and for other schemes (registers, rows of tiles).
LEAST_REUSE = 4
ELEMENTS_OF_A_THREAD = 128  # of C, at most

TILE_HINT = "let each block load tiles of A and B into shared memory, and use every element often"
THREADS_HINT = "let each thread compute an element of C, or a few of them"


def judge(seen: Seen) -> Lost | None:
    if lost := correct.judge(seen):
        return lost
    if why := correct.unexamined(seen.checked):
        return Lost(why)
    loads = seen.checked.loads if seen.checked else None
    if loads is None:
        finding = seen.checked.finding if seen.checked else None
        return Lost(correct.headline(finding) if finding else "its loads could not be counted",
                    known=False)
    case = seen.case
    least = math.ceil(case.m * case.n / ELEMENTS_OF_A_THREAD)
    if loads.threads < least:
        threads = counted(loads.threads, "thread")
        return Lost(f"{threads} shared in the work; at least {least} have to", THREADS_HINT)
    if loads.all < case.m * case.k + case.k * case.n:
        return Lost("its loads were not all seen: each element of A and B takes one")
    return against_loads(loads)


def against_loads(loads: Loads) -> Lost | None:
    most = most_loads(loads)
    if loads.all > most:
        return Lost(f"{loads.all} loads from global memory; tiles need at most {most}", TILE_HINT)
    if loads.exchanged < loads.all:
        return Lost(f"threads read {loads.exchanged} elements that others of their block have stored, "
                    f"and load {loads.all}; tiles need at least as many", TILE_HINT)
    return None


def most_loads(loads: Loads) -> int:
    """How many elements a kernel that counts as tiled may load."""
    return loads.naive // LEAST_REUSE
