"""registers: what a thread reads from shared memory serves several operations, because it computes several
elements of the result. Kept by a tiled kernel whose threads read few elements that others of their block have
stored. For labs that say what the naive kernel loads, where each operation has an operand to be read."""

import math

from ..text import grouped
from . import Lost, Seen, tiled

TITLE = "registers"
PHRASE = "reads more from shared memory than a kernel does whose threads compute several elements each"
COUNTS = True

# In tiles of T x T each thread reads almost two elements for a product and its sum, in 2 x 2 elements of a
# thread one, in 4 x 4 half of one.
LIMITS = tiled.LIMITS | {"exchanged": 0.5}  # elements, for an operation

HINT = "let each thread compute several elements of {}, with their sums in local variables"


def judge(seen: Seen) -> Lost | None:
    if lost := tiled.judge(seen):
        return lost
    read, operations = seen.loads.exchanged, seen.case.sizes.operations
    most = math.floor(seen.limit("exchanged", LIMITS) * operations)
    if read <= most:
        return None
    return Lost(f"threads read {grouped(read)} elements from shared memory that others have stored, "
                f"{read / operations:.2f} for each operation; at most {grouped(most)} are allowed",
                HINT.format(seen.lab.result))
