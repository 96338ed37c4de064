"""tiled: the threads of a block share what they load. Kept by a correct result, by a quarter of the
naive kernel's loads at most, by threads that read what others of their block have stored at least as
often as they load, and by enough threads. For labs that say what the naive kernel loads."""

import math
from collections.abc import Mapping

from ..record.model import Loads
from ..text import counted, grouped, listed
from . import Lost, Seen, correct

TITLE = "tiles"
PHRASE = "loads more from global memory than a tiled kernel does, or does the work in too few threads"
COUNTS = True

# Tiles of T x T let each element be loaded once a block instead of T times. This is the handout's
# rule, and leaves room for tiles at the edge and for other schemes (registers, rows of tiles).
LIMITS = {"reuse": 4.0}
ELEMENTS_OF_A_THREAD = 128  # of the result, at most

TILE_HINT = "let each block load tiles of {} into shared memory, and use every element often"
THREADS_HINT = "let each thread compute an element of {}, or a few of them"


def judge(seen: Seen) -> Lost | None:
    if lost := correct.uncounted(seen, "its loads could not be counted"):
        return lost
    loads = seen.loads
    sizes, inputs = seen.case.sizes, listed(seen.lab.inputs)
    least = math.ceil(sizes.outputs / ELEMENTS_OF_A_THREAD)
    if loads.threads < least:
        threads = counted(loads.threads, "thread")
        return Lost(f"only {threads} did the work; at least {grouped(least)} must",
                    THREADS_HINT.format(seen.lab.result))
    if loads.all < sizes.least_loads:
        return Lost(f"its loads were not all seen: each element of {inputs} takes one")
    why = against_loads(loads, seen.case.limits)
    return Lost(why, TILE_HINT.format(inputs)) if why else None


def against_loads(loads: Loads, limits: Mapping[str, float] = LIMITS) -> str:
    most = most_loads(loads, limits)
    if loads.all > most:
        return f"the kernel loads {grouped(loads.all)} elements; at most {grouped(most)} count as tiled"
    if loads.exchanged < loads.all:
        return (f"threads read {grouped(loads.exchanged)} elements that others of their block have stored, "
                f"and load {grouped(loads.all)}; a tiled kernel reads at least as many as it loads")
    return ""


def most_loads(loads: Loads, limits: Mapping[str, float] = LIMITS) -> int:
    """How many elements a kernel that counts as tiled may load."""
    return math.floor(loads.naive / limits.get("reuse", LIMITS["reuse"]))
