"""Runs check.py, which examines what a submission says, in a process of its own and under limits. In: the
launcher and check.py's arguments. Out: nothing, or Refused.

A file of its own, since the process that it starts needs none of what starting takes.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from .. import ROOT
from ..errors import MachineFault, NotBuilt, Refused
from ..jail.sandbox import Command, Limits, Sandbox
from .check import LONGEST, READY

LIMITS = Limits(
    cpu_seconds=10,  # an ordinary kernel takes one
    memory_bytes=4 << 30,
    processes=16,
    file_bytes=0,
    output_bytes=64 << 10,
    wall_seconds=200,
    time_seconds=10,
    resident_bytes=1 << 30,
)

TOO_LARGE = "examining what kernel.cu becomes takes more time or memory than it may"


def examine(jail: Path, *words: str) -> None:
    """`jail`: sandbox.py's launcher, for the limits; nothing of the submission's is run. Raises Refused,
    NotBuilt at a limit, and MachineFault."""
    command = [sys.executable, "-B", "-m", "grader.gate.check", *words]
    ran = Sandbox("none", "", jail).run(Command(command, LIMITS, cwd=ROOT))
    before, begun, printed = ran.output.decode(errors="replace").partition(READY)
    if not begun:
        last = (before.strip().splitlines() or [f"status {ran.status}"])[-1]
        raise MachineFault(f"the submission cannot be examined: {last[:LONGEST]}")
    if ran.status != 0:  # a limit, or a parser's answer to it: MemoryError, RecursionError
        raise NotBuilt(TOO_LARGE)
    refused = json.loads(printed)
    if refused is not None:
        raise Refused(**refused)
