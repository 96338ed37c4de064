"""Who is fastest, on one page that everybody may see: of those who agreed to it, by a line in kernel.cu:

    // leaderboard: NICKNAME

In: where everybody stands. Out: entries, the fastest first. A student is known by the nickname, or
without one by a number made of the submission; nothing else of them is on the page.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import geometric_mean

from ..model import Attempt, Standing
from ..text import one_line

AGREED = re.compile(r"^\s*//\s*leaderboard:(.*)$", re.MULTILINE | re.IGNORECASE)
LONGEST_NICKNAME = 30


@dataclass(frozen=True)
class Entry:
    place: int
    """The same for equal ratios."""
    name: str
    percent: str
    """Of that one's speed: the geometric mean over all shapes that anyone may know."""
    beside: str
    """What kernels are timed beside: "cuBLAS"."""
    gpu: str
    when: str
    """Graded, UTC."""


def leaderboard_of(standings: Iterable[Standing]) -> list[Entry]:
    """Not of those whose grade a person has to look at."""
    best = [max(found, key=lambda each: each[0]) for standing in standings
            if not standing.needs_human and (found := ratios_of(standing.attempts))]
    best.sort(key=lambda each: -each[0])
    return [entry(1 + sum(other > ratio for other, _, _ in best), ratio, name, attempt)
            for ratio, name, attempt in best]


def ratios_of(attempts: Sequence[Attempt]) -> list[tuple[float, str, Attempt]]:
    return [(ratio, name, each) for each in attempts
            if (name := nickname(each)) and (ratio := ratio_of(each))]


def nickname(attempt: Attempt) -> str:
    """Empty: the student has not agreed. Of several lines the first."""
    agreed = AGREED.search(attempt.source.decode(errors="replace"))
    if not agreed:
        return ""
    return one_line(agreed[1], LONGEST_NICKNAME).strip() or f"No. {int(attempt.sha256[:4] or '0', 16)}"


def ratio_of(attempt: Attempt) -> float | None:
    """None where a shape was not timed, or the kernel is wrong for one."""
    timings = attempt.seen.performance if attempt.seen and attempt.record else []
    shown = [each for each in timings if not each.hidden]
    if not shown or any(each.state != "timed" or not each.ratio for each in shown):
        return None
    return geometric_mean(each.ratio or 0.0 for each in shown)


def entry(place: int, ratio: float, name: str, attempt: Attempt) -> Entry:
    assert attempt.seen
    gpus = dict.fromkeys(each.device for each in attempt.seen.performance if each.device)
    return Entry(place, name, f"{100 * ratio:.1f}", attempt.seen.performance[0].beside, ", ".join(gpus),
                 attempt.seen.started[:16].replace("T", " "))
