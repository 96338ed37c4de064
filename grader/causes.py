"""The mistake behind a finding, where `make check` can prove one: for pages, never for points.

In: a submission's programs and a public case that went wrong. Out: a Cause, or None. The checker's
own main (engine/host/check.c) is linked with the checked object and runs that case in the sandbox, as
on a student's machine.

The submission's host code runs in that process and can have it print anything. So what it prints is
a claim, of which no more is taken than a known kind, a line of kernel.cu, and sentences that the
checker has, made of words of its own or of kernel.cu, and numbers.
"""

from __future__ import annotations

import ast
import functools
import os
import re
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from .build import LOCALS, Parts, Programs, check_program
from .cases import Case
from .errors import MachineFault, NotBuilt, Refused
from .examine import KERNEL
from .findings import CAUSES, LAB
from .outcome import Cause, Finding
from .run import BYTES_PER_BYTE, PROCESSES, WORKER_BYTES
from .sandbox import Command, Limits, Sandbox

SECONDS = 10.0  # of which a run takes one
BLOCK_SECONDS = 2
OUTPUT_BYTES = 64 << 10
LONGEST = 240  # characters of a sentence, as in check.h
NUMBER, WORD = r"(?:[0-9]{1,5})", r"(\w{0,40})"
FROM_A_RUN = re.compile(r"\(from a run with m=[0-9]{1,4} k=[0-9]{1,4} n=[0-9]{1,4}\)")
# What a kernel prints goes with the rest of standard error.
QUIETLY = ["/bin/sh", "-c", 'exec "$@" 2>/dev/null', "sh"]


class Said(BaseModel):
    """Of what --json prints; the rest is not read."""

    model_config = ConfigDict(strict=True)


class SaidCause(Said):
    name: str
    file: str
    line: int
    what: str
    detail: list[str]
    hint: str


class SaidFinding(Said):
    kind: str
    cause: SaidCause | None


class SaidAll(Said):
    finding: SaidFinding | None


def find_cause(parts: Parts, programs: Programs, source: bytes, case: Case, finding: Finding,
               box: Sandbox) -> Cause | None:
    """None where none is proved, and for whatever goes wrong."""
    try:
        program = check_program(parts, programs, source, box)
        ran = box.run(command(program, programs, case))
        said = SaidAll.model_validate_json(ran.output.strip().rpartition(b"\n")[2]).finding
    except (MachineFault, NotBuilt, Refused, OSError, ValueError):
        return None
    return believed(said.cause, source) if said and said.cause and said.kind == finding.kind \
        else None


def command(program: Path, programs: Programs, case: Case) -> Command:
    folder = programs.checked.parent  # lines are relative to it
    words = [program, "--json", "--locals-program", program.with_name(LOCALS), "--timeout", BLOCK_SECONDS, "--fill", case.fill, "--seed",
             case.seed or 0, case.m, case.k, case.n]
    matrices = 4 * (case.m * case.k + case.k * case.n + case.m * case.n)
    limits = Limits(cpu_seconds=SECONDS, memory_bytes=WORKER_BYTES + BYTES_PER_BYTE * matrices,
                    processes=PROCESSES + (os.cpu_count() or 1), file_bytes=0,
                    output_bytes=OUTPUT_BYTES, wall_seconds=10 * SECONDS, time_seconds=SECONDS)
    return Command([*QUIETLY, *map(str, words)], limits, cwd=folder,
                   readable=[folder, program.parent])


def believed(said: SaidCause, source: bytes) -> Cause | None:
    text = source.decode(errors="replace")
    at_a_line = said.file == KERNEL and 0 < said.line <= text.count("\n") + 1
    if said.name not in CAUSES or not at_a_line or not is_sentence("WHAT", said.what, text):
        return None
    hint = said.hint if is_sentence("HINT", said.hint, text) else None
    shape = [line for line in said.detail[-1:] if FROM_A_RUN.fullmatch(line)]
    return Cause(kind=said.name, what=said.what, file=KERNEL, line=said.line, detail=shape,
                 hint=hint)


def is_sentence(part: str, said: str, source: str) -> bool:
    """Whether the checker can say this of this kernel.cu."""
    known = vocabulary() | {"", *re.findall(r"\w+", source)}
    return len(said) <= LONGEST and any(
        found and known.issuperset(found.groups())
        for found in (sentence.fullmatch(said) for sentence in sentences(part)))


@functools.cache
def texts() -> list[str]:
    return [path.read_text() for path in sorted(LAB.glob("cause_*.c"))]


@functools.cache
def vocabulary() -> frozenset[str]:
    """Words that are put into sentences: "row", "columns"."""
    return frozenset(word for text in texts() for word in re.findall(r"[A-Za-z_]+", text))


@functools.cache
def sentences(part: str) -> list[re.Pattern[str]]:
    """The formats of CAUSE_WHAT or CAUSE_HINT. Their literals are adjacent, which join in Python as
    they do in C."""
    literal = r'"(?:[^"\\\n]|\\.)*"'
    calls = [call for text in texts()
             for call in re.findall(rf"CAUSE_{part}\(\s*({literal}(?:\s*{literal})*)", text)]
    return [re.compile("".join(
        {"%s": WORD}.get(piece, NUMBER) if piece.startswith("%") else re.escape(piece)
        for piece in re.split(r"(%[a-z]+)", ast.literal_eval(f"({call})")))) for call in calls]
