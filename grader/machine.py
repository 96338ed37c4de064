"""What Linux itself says of this machine, which no submission can make up."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path

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
