"""The outcome of one run of a submission, as the judge (judge/judge.c) reports it in JSON; and whose fault its end is.

Nothing of an Outcome was made by a process in which student code ran, except what is only reported:
`finding` (the checker runs in the same process as the kernel that it watches), its `cause`, and
`output` (what the submission printed).

A run that ends as if the machine were at fault (killed, or in the worker's own words) may have made that up: it is
repeated; and if it ends so again, a kernel that is known to work is tried.
"""

import math
import re
import signal
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import Field

from ..build.parts import Parts
from ..build.submission import Programs, known_to_work
from ..errors import MachineFault
from ..jail.sandbox import Ran, Sandbox
from ..record.model import Blocks, Finding, Loads, Strict

PROC = Path("/proc")
GROUPS = Path("/sys/fs/cgroup")
LITTLE_MEMORY = 512 << 20  # more than a correct kernel takes on the shapes of the suites

T = TypeVar("T")


class Outcome(Strict):
    build: Literal["plain", "checked"]
    ended: Literal["returned", "stopped", "crashed", "exited", "endless", "deadlock", "time-limit"]
    """The wrapper returned and its kernels ended; the runtime or the checker stopped it; a signal;
    it ended the program; a block did not end; threads of a block waited for each other; anything
    else that was still running at its time limit."""
    detail: str = ""  # if it did not return: one line, with the source line where that is known
    file: str | None = None
    line: int = 0
    launches: int = 0
    launch: str | None = None  # in one line: of the finding, or else the last one. On a GPU, None.
    work: int = 0
    """Threads begun plus threads that arrived at barriers, over all launches: the same in every run
    of a submission on a problem. 0 on a GPU."""
    right: bool = False
    """The result is right by the problem's comparison, and nothing around it was touched."""
    elements: int = 0
    unwritten: int = 0
    wrong: int = 0
    inputs_changed: int = 0  # elements of inputs that differ from what was sent
    guards_changed: int = 0  # numbers around the arrays that were overwritten
    explanation: Finding | None = None
    """What the result is instead; kind: unwritten, wrong-result or not-float32. The judge compares."""
    finding: Finding | None = None  # checked build only
    loads: Loads | None = None  # checked build with counting only, when all launches ended
    blocks: Blocks | None = None  # checked build only: where not all blocks were watched
    writers: bytes = Field(b"", repr=False)
    """Plain build on the CPU only: which blocks write, for the checked run (struct writers in
    engine/cuda/runtime/runtime.h). Made in the process in which the submission ran."""
    output: str = ""
    """The first kilobytes that the submission printed; valid text, control characters escaped."""
    seconds: float = 0.0  # of the processor, and asleep


# ---- whose fault it is ------------------------------------------------------------------------------


def oom_kills() -> int:
    """How many processes Linux has killed so far because memory ran out: of the whole machine, and
    of the control group that the grader is in. 0 where that cannot be read."""
    counters, kills = [PROC / "vmstat"], 0
    with suppress(OSError):
        for line in (PROC / "self/cgroup").read_text().splitlines():
            controllers, _, path = line.partition(":")[2].partition(":")
            if not controllers:  # version 2
                counters.append(GROUPS / path.strip("/") / "memory.events")
            elif "memory" in controllers.split(","):
                counters.append(GROUPS / "memory" / path.strip("/") / "memory.oom_control")
    for counter in counters:
        with suppress(OSError):
            kills += sum(map(int, re.findall(r"^oom_kill (\d+)$", counter.read_text(), re.MULTILINE)))
    return kills


class Doubtful(Exception):
    """A run ended as it would on a machine that is at fault, and as a submission can make it end.

    why: in the first case; outcome: in the second."""

    def __init__(self, why: str, outcome: Any):
        super().__init__(why)
        self.why, self.outcome = why, outcome


def settle(attempt: Callable[[Programs], T], parts: Parts, programs: Programs, box: Sandbox) -> T:
    """The result of attempt(programs), tried once more if it raises Doubtful. If it raises that again, but not
    with a kernel that is known to work, the submission is at fault, and the outcome is the one that Doubtful
    holds. Raises MachineFault if that kernel fails too, and whatever else the attempt raises."""
    with suppress(Doubtful):  # a machine may have been short of memory for a moment
        return attempt(programs)
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
