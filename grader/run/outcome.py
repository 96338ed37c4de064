"""The outcome of one run of a submission, as the judge (judge/judge.c) reports it in JSON.

Nothing here was made by a process in which student code ran, except what is only reported:
`finding` (the checker runs in the same process as the kernel that it watches), its `cause`, and
`output` (what the submission printed).
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ..record.model import Blocks, Finding, Loads, Strict


class Outcome(Strict):
    build: Literal["plain", "checked"]
    ended: Literal["returned", "stopped", "crashed", "exited", "endless", "deadlock", "time-limit"]
    """The wrapper returned and its kernels ended; the runtime or the checker stopped it; a signal;
    it ended the program; a block did not end; threads of a block waited for each other; anything
    else that was still running at its time limit."""
    detail: str = ""
    """If it did not return: one line, with the source line where that is known."""
    file: str | None = None
    line: int = 0
    launches: int = 0
    launch: str | None = None
    """In one line: of the finding, or else the last one. On a GPU, None."""
    work: int = 0
    """Threads begun plus threads that arrived at barriers, over all launches: the same in every run
    of a submission on a problem. 0 on a GPU."""
    right: bool = False
    """The result is right by the problem's comparison, and nothing around it was touched."""
    elements: int = 0
    unwritten: int = 0
    wrong: int = 0
    inputs_changed: int = 0
    """Elements of inputs that differ from what was sent."""
    guards_changed: int = 0
    """Numbers around the arrays that were overwritten."""
    explanation: Finding | None = None
    """What the result is instead; kind: unwritten, wrong-result or not-float32. The judge compares."""
    finding: Finding | None = None
    """Checked build only."""
    loads: Loads | None = None
    """Checked build with counting only, when all launches ended."""
    blocks: Blocks | None = None
    """Checked build only: where not all blocks were watched."""
    writers: bytes = Field(b"", repr=False)
    """Plain build on the CPU only: which blocks write, for the checked run (struct writers in
    engine/cuda/runtime/runtime.h). Made in the process in which the submission ran."""
    output: str = ""
    """The first kilobytes that the submission printed; valid text, control characters escaped."""
    seconds: float = 0.0
    """Of the processor, and asleep."""
