"""The mistake behind a finding, where `make check` can prove one: for pages, never for points.

In: a submission's programs and a public case that went wrong. Out: a Cause, or None. The checker's
own main (engine/host/check/main.c) is linked with the checked object and runs that case in the sandbox, as
on a student's machine.

The submission's host code runs in that process and can write there what it likes. So what it says is
a record (engine/form/cause.h): numbers of causes and sentences that the lab has, a line, words and numbers
to be put into them. The judge checks it and makes the words.
"""

import json
import os
from pathlib import Path

from ..build.parts import Parts
from ..build.submission import KERNEL, LOCALS, Programs, check_program
from ..cases.model import Case
from ..errors import MachineFault, NotBuilt, Refused
from ..jail.sandbox import Command, Limits, Sandbox
from ..record.model import Cause, Finding
from .once import SEAL_SIZE, ask_judge, memory_file, seal
from .limits import BYTES_PER_BYTE, PROCESSES, WORKER_BYTES

SECONDS = 10.0  # of which a run takes one
BLOCK_SECONDS = 2
OUTPUT_BYTES = 64 << 10
ANSWER_BYTES = 16 << 10  # room for a struct cause_answer
# What is printed, which nobody reads.
QUIETLY = ["/bin/sh", "-c", 'exec "$@" >/dev/null 2>&1', "sh"]


def find_cause(parts: Parts, programs: Programs, source: bytes, case: Case, finding: Finding,
               box: Sandbox) -> Cause | None:
    """None where none is proved, and for whatever goes wrong."""
    try:
        program = check_program(parts, programs, source, box)
        with memory_file("answer", ANSWER_BYTES) as answer:
            seal(answer, SEAL_SIZE)
            box.run(command(program, programs, case, answer))
            said = json.loads(ask_judge(parts, ["cause", answer], [answer], "on a cause"))
        cause, last = said["cause"], source.count(b"\n") + 1
        if said["finding"] != finding.kind or not cause or cause["file"] != KERNEL \
                or not 0 < cause["line"] <= last or not cause["what"]:
            return None
        return Cause(kind=cause.pop("name"), **cause)
    except (MachineFault, NotBuilt, Refused, OSError, ValueError, LookupError, TypeError):
        return None


def command(program: Path, programs: Programs, case: Case, answer: int) -> Command:
    folder = programs.checked.parent  # lines are relative to it
    words = [program, "--answer", answer, "--locals-program", program.with_name(LOCALS),
             "--timeout", BLOCK_SECONDS, "--fill", case.fill, "--seed", case.seed or 0,
             *case.words]
    # It runs blocks on all cores, and reserves a worker's addresses on each; few of them are ever in use.
    cores, arrays = os.cpu_count() or 1, BYTES_PER_BYTE * case.sizes.bytes
    limits = Limits(cpu_seconds=SECONDS, memory_bytes=WORKER_BYTES * cores + arrays,
                    resident_bytes=WORKER_BYTES + arrays, processes=PROCESSES + cores, file_bytes=ANSWER_BYTES,
                    output_bytes=OUTPUT_BYTES, wall_seconds=10 * SECONDS, time_seconds=SECONDS)
    return Command([*QUIETLY, *map(str, words)], limits, cwd=folder,
                   readable=[folder, program.parent], pass_fds=(answer,))
