"""Is a missing barrier the only mistake? A submission with that one barrier put in.

In: kernel.cu's text and a finding of the checker. Out: the text with one line more, or None. What the
finding says came from a process in which student code ran, and decides nothing but where that line
is: points depend on what the repaired submission computes (verdict.py).
"""

from __future__ import annotations

from dataclasses import dataclass

from .outcome import Finding
from .sandbox import Command, Ran, Sandbox

BARRIER = b"__syncthreads();"


def with_barrier(source: bytes, finding: Finding) -> bytes | None:
    """None where the finding names no place for it. The line may be one at which no statement can
    stand; then the text does not compile."""
    lines = source.split(b"\n")
    if not 0 < finding.barrier_after < len(lines):
        return None
    lines.insert(finding.barrier_after, BARRIER)
    return b"\n".join(lines)


@dataclass
class TimedSandbox:
    """A sandbox for one thread. A submission can name a place in each case: what compiling takes
    counts as its runs do."""

    box: Sandbox
    seconds: float = 0.0

    def run(self, command: Command) -> Ran:
        ran = self.box.run(command)
        self.seconds += ran.seconds
        return ran
