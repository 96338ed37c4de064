"""work: few loads and stores of global memory for each element, by enough threads. Scans of blocks,
whose sums are scanned in turn, take four or five; one that passes over global memory log2(n) times
takes more, as does one that adds up all elements again for each."""

import math

from grader.criteria import Lost, Seen, correct
from grader.text import counted, grouped

TITLE = "work"
PHRASE = "loads and stores more in global memory than a work-efficient scan does, or does the work in too few threads"
COUNTS = True

LIMITS = {"accesses": 6}  # of an element, at most
LEAST_OF_AN_ELEMENT = 2  # it is loaded, and its sum is stored
ELEMENTS_OF_A_THREAD = 64  # at most

WORK_HINT = "let each block scan its part in shared memory; the blocks' sums are far fewer elements"
THREADS_HINT = "let each thread load an element, or a few of them"


def judge(seen: Seen) -> Lost | None:
    if lost := correct.uncounted(seen, "its loads and stores could not be counted"):
        return lost
    loads, n = seen.loads, seen.case.params["n"]
    if loads.threads < (least := math.ceil(n / ELEMENTS_OF_A_THREAD)):
        return Lost(f"only {counted(loads.threads, 'thread')} did the work; at least {grouped(least)} must",
                    THREADS_HINT)
    if loads.accesses < LEAST_OF_AN_ELEMENT * n:
        return Lost("its loads and stores were not all seen: each element takes one of both")
    if loads.accesses > (most := seen.limit("accesses", LIMITS) * n):
        return Lost(f"{grouped(loads.accesses)} loads and stores of global memory, "
                    f"{loads.accesses / n:.1f} per element; at most {grouped(most)} are allowed, "
                    f"{most / n:g} per element", WORK_HINT)
    return None
