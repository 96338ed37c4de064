"""Whose fault a run's end is. One that ends as if the machine were at fault (killed, or in the
worker's own words) may have made that up: it is repeated; and if it ends so again, a kernel that is
known to work is tried."""

from __future__ import annotations

import math
import re
import signal
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from ..build.parts import Parts
from ..build.submission import Programs, known_to_work
from ..errors import MachineFault
from ..jail.sandbox import Ran, Sandbox

PROC = Path("/proc")
GROUPS = Path("/sys/fs/cgroup")


def oom_kills() -> int:
    """How many processes Linux has killed so far because memory ran out: of the whole machine, and
    of the control group that the grader is in. 0 where that cannot be read."""
    counters = [PROC / "vmstat"]
    with suppress(OSError):
        for line in (PROC / "self/cgroup").read_text().splitlines():
            controllers, _, path = line.partition(":")[2].partition(":")
            if not controllers:  # version 2
                counters.append(GROUPS / path.strip("/") / "memory.events")
            elif "memory" in controllers.split(","):
                counters.append(GROUPS / "memory" / path.strip("/") / "memory.oom_control")
    return sum(map(oom_kills_in, counters))


def oom_kills_in(counter: Path) -> int:
    with suppress(OSError):
        found = re.search(r"^oom_kill (\d+)$", counter.read_text(), re.MULTILINE)
        return int(found[1]) if found else 0
    return 0


LITTLE_MEMORY = 512 << 20  # more than a correct kernel takes on the shapes of the suites


class Doubtful(Exception):
    """A run ended as it would on a machine that is at fault, and as a submission can make it end.

    why: in the first case; outcome: in the second."""

    def __init__(self, why: str, outcome: Any):
        super().__init__(why)
        self.why, self.outcome = why, outcome


T = TypeVar("T")


def settle(attempt: Callable[[Programs], T], parts: Parts, programs: Programs, box: Sandbox) -> T:
    """The result of attempt(programs), tried once more if it raises Doubtful. If it raises that
    again, but not with a kernel that is known to work, the submission is at fault, and the outcome
    is the one that Doubtful holds. Raises MachineFault if that kernel fails too, and whatever else
    the attempt raises."""
    try:
        return attempt(programs)
    except Doubtful:
        pass  # a machine may have been short of memory for a moment
    try:
        return attempt(programs)
    except Doubtful as doubt:
        try:
            attempt(known_to_work(parts, box, programs.plain.parent.parent))
        except Doubtful as fault:
            raise MachineFault(fault.why) from None
        return doubt.outcome  # type: ignore[no-any-return]


def refuse_shortage(ran: Ran, kills_before: int) -> None:
    """Raises MachineFault where Linux, short of memory, has killed something, and this run did not
    use much of it."""
    killed = ran.status == -signal.SIGKILL and not ran.time_limit_hit and not ran.memory_limit_hit
    if killed and ran.peak_bytes < LITTLE_MEMORY and oom_kills() > kills_before:
        raise MachineFault("this machine ran out of memory; fewer --jobs need less")


def ended(state: str, ran: Ran, cpu_limit: float = math.inf) -> str:
    """Outcome.ended, from the worker's last state and how its process ended."""
    if state in ("returned", "stopped", "endless", "deadlock", "time-limit"):
        return state if ran.status == 0 or state != "returned" else "crashed"
    out_of_time = ran.time_limit_hit or ran.cpu_seconds >= cpu_limit
    if out_of_time or ran.status == -signal.SIGXCPU:
        return "time-limit"
    return "crashed" if ran.status < 0 or ran.unloadable or state == "machine" else "exited"


def doubt_about(how: str, ran: Ran) -> str:
    """Why a run that ended like this may have been ended by the machine; "" if not."""
    if ran.unloadable:
        return f"a program cannot be started: {ran.unloadable}"
    killed = ran.status == -signal.SIGKILL and not ran.memory_limit_hit
    return "a run was killed from outside; is this machine out of memory? Fewer --jobs need less" \
        if how == "crashed" and killed else ""
