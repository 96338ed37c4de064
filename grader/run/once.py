"""Runs one build of a submission on one case, in the sandbox, and has the judge compare the result.

The inputs go in as sealed memory, the outputs come back as memory, and the worker's report in a third file; the
judge makes the first and reads the others. Only the judge knows the seed. In: programs and a case;
out: an Outcome.
"""

import errno
import fcntl
import hashlib
import json
import math
import os
import signal
import struct
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..build.parts import Parts
from ..build.submission import Programs
from ..cases.model import Case
from ..errors import MachineFault, Refused
from ..jail.sandbox import Command, Ran, Sandbox
from ..lab import Lab
from ..process import completed
from ..text import escaped
from .limits import GPU_SECONDS, REPORT_BYTES, launch_limits, limits_for, limits_on_gpu
from .outcome import Doubtful, Outcome, doubt_about, ended, oom_kills, refuse_shortage, settle

WRITERS_BYTES = 64 << 10
WRITERS_HEAD = struct.Struct("=QQ")  # of struct writers: work, sample
NOT_ALLOWED = {"tampering": "writes into the program that runs it",
               "unseen": "loads or stores in a way that is hidden from the checker"}
"""What findings of these kinds say that no submission may do."""
TOO_MUCH_WORK = "too many blocks for a checked run: its loads and stores were not examined"


def gpu_devices() -> list[Path]:
    return sorted(Path("/dev").glob("nvidia*"))


@contextmanager
def on_the_gpu(parts: Parts, alone: bool = False) -> Iterator[None]:
    """Cases share the GPU; the clock uses it alone. A lock on the clock's own file ensures that,
    for all graders that use these parts."""
    assert parts.clock is not None
    with open(parts.clock, "rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
        yield


def in_time(checked: Outcome, plain: Outcome) -> Outcome:
    """A checked run that hit its time limit, reported as that. Its kernels end, as the plain run
    has shown: where it was stopped is no mistake."""
    finding = checked.finding
    if plain.ended != "returned" or checked.ended not in ("endless", "time-limit"):
        return checked
    found = {"ended": "time-limit", "detail": f"the checked run did not finish in {checked.seconds:.0f} s"}
    if finding and finding.kind in ("endless", "time-limit"):
        found |= {"finding": None, "file": finding.file, "line": finding.line}
    return checked.model_copy(update=found)


def run_problem(parts: Parts, programs: Programs, build: str, case: Case, *, box: Sandbox,
                plain: Outcome | None = None, count: bool = False) -> Outcome:
    """One run; of the checked build, after the plain one that ended. Raises MachineFault, and
    Refused for what no submission may do."""
    if plain and watched_work(plain) > launch_limits(case, plain).work:
        return Outcome(build="checked", ended="time-limit", detail=TOO_MUCH_WORK)

    def attempt(of: Programs) -> Outcome:
        return run_once(parts, of, build, case, box, plain, count)

    outcome = settle(attempt, parts, programs, box)
    if plain and may_be_of_blocks_left_out(outcome, plain):
        again = run_problem(parts, programs, build, case, box=box, count=count,
                            plain=plain.model_copy(update={"writers": b""}))
        return again.model_copy(update={"seconds": outcome.seconds + again.seconds})
    return outcome


def watched_work(plain: Outcome) -> int:
    """Of the blocks that a checked run watches, but for the sample."""
    said = WRITERS_HEAD.unpack_from(plain.writers)[0] if plain.writers else 0
    return said or plain.work


def may_be_of_blocks_left_out(checked: Outcome, plain: Outcome) -> bool:
    """Where not all blocks were watched, and the plain run ended with a correct result: whether
    blocks that did not run can have part in what went wrong. They write nothing to device memory, so
    that they have none in what the checker saw threads of others do."""
    kind = checked.finding.kind if checked.finding else ""
    return bool(checked.blocks and plain.right and not (checked.right and not checked.finding)
                and kind in ("", "endless", "time-limit", "uninitialized-global"))


def run_once(parts: Parts, programs: Programs, build: str, case: Case, box: Sandbox,
             plain: Outcome | None, count: bool) -> Outcome:
    """Raises MachineFault, Refused and Doubtful."""
    may = launch_limits(case, plain)
    on_gpu = parts.backend == "cuda" and build == "plain"
    if on_gpu:
        may = replace(may, seconds=max(case.launch_seconds, GPU_SECONDS))
    program = programs.of(build)
    with memory_file("in") as given, memory_file("out") as back, \
            memory_file("report", REPORT_BYTES) as report, \
            memory_file("writers", WRITERS_BYTES) as writers:
        judge(parts, "prepare", case, given, back)
        if plain:
            os.pwrite(writers, with_sample(plain.writers, case), 0)
        seal_all(given, back, report, writers)
        words = [str(program), *case.words,
                 *map(str, (given, back, report, may.block_seconds, may.seconds, may.work, writers)),
                 *(["count"] if count else [])]
        limits = (limits_on_gpu if on_gpu else limits_for)(may.seconds, os.fstat(given).st_size)
        kills = oom_kills()
        with on_the_gpu(parts) if on_gpu else nullcontext():
            ran = box.run(Command(words, limits, cwd=program.parent, readable=[program.parent],
                                  pass_fds=(given, back, report, writers),
                                  devices=gpu_devices() if on_gpu else ()))
        refuse_shortage(ran, kills)
        verdict = judge(parts, "verdict", case, given, back, report, more=(case.comparison,))
        noted = b"" if on_gpu or build != "plain" else os.pread(writers, WRITERS_BYTES, 0)
    outcome = outcome_of(build, json.loads(verdict), ran, case.lab, limits.cpu_seconds)
    outcome = outcome.model_copy(update={"writers": noted})
    return in_time(outcome, plain) if plain else outcome


def with_sample(noted: bytes, case: Case) -> bytes:
    """And what a sample of blocks is drawn with: it follows from the case's seed, which does not
    follow from it."""
    if not noted:
        return b""
    digest = hashlib.blake2b(f"blocks {case.seed}".encode(), digest_size=8).digest()
    work, _ = WRITERS_HEAD.unpack_from(noted)
    return WRITERS_HEAD.pack(work, int.from_bytes(digest, "little")) + noted[WRITERS_HEAD.size:]


def detail_of(how: str, ran: Ran, lab: Lab) -> str:
    if ran.unloadable:
        return f"the program cannot be loaded: {ran.unloadable}"
    if ran.memory_limit_hit:
        return "it used more memory than it may"
    if how == "crashed" and ran.status < 0:
        return f"it crashed: {signal.strsignal(-ran.status)}"
    return {"exited": f"{lab.wrapper} ended the program instead of returning",
            "time-limit": "it was still running at its time limit"}.get(how, "")


def outcome_of(build: str, verdict: dict[str, Any], ran: Ran, lab: Lab, cpu_limit: float = math.inf) -> Outcome:
    """Raises Refused and Doubtful."""
    state = verdict.pop("state")
    if verdict.pop("bytes_to_host"):
        raise Refused(f"copies device memory to the host inside {lab.wrapper}", verdict["file"],
                      verdict["line"],
                      f"the kernel computes {lab.result}; take cudaMemcpy(..., cudaMemcpyDeviceToHost) out")
    if verdict.pop("bytes_into_output"):
        raise Refused(f"copies from the host into {lab.result}", verdict["file"], verdict["line"],
                      f"{lab.result} is what kernels write; cudaMemset can clear it")
    finding = verdict["finding"]
    if finding and finding["kind"] in NOT_ALLOWED:
        raise Refused(NOT_ALLOWED[finding["kind"]], finding["file"], finding["line"], finding["hint"])
    how = ended(state, ran, cpu_limit)
    said = verdict.pop("detail")
    outcome = Outcome(build=build, ended=how, detail=said or detail_of(how, ran, lab),
                      seconds=ran.seconds, output=printable(ran), **verdict)
    doubt = f"the worker could not run: {said}" if state == "machine" else doubt_about(how, ran)
    if doubt:
        raise Doubtful(doubt, outcome)
    return outcome


def printable(ran: Ran) -> str:
    """What the submission printed, as text that moves no cursor and issues no command."""
    text = ran.output.decode(errors="replace")
    shown = "".join(c if c.isprintable() or c == "\n" else escaped(c) for c in text)
    return shown + ("\n[...]" if ran.truncated else "")


# ---- the judge, and the memory files that it and a submission's process share: they have no path ---

SEAL_SIZE = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL
SEAL_ALL = SEAL_SIZE | fcntl.F_SEAL_WRITE
SEAL_SECONDS = 5.0


@contextmanager
def memory_file(name: str, size: int = 0) -> Iterator[int]:
    descriptor = os.memfd_create(name, os.MFD_ALLOW_SEALING | os.MFD_CLOEXEC)
    try:
        os.ftruncate(descriptor, size)
        yield descriptor
    finally:
        os.close(descriptor)


def seal(descriptor: int, seals: int) -> None:
    """Linux answers EBUSY as long as something may still write to the file. That may be a process
    that has ended: whoever reads its /proc/PID/cmdline at that moment, as `ps` does, keeps its
    memory for a while. Raises OSError."""
    late = time.monotonic() + SEAL_SECONDS
    while True:
        try:
            fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, seals)
            return
        except OSError as error:
            if error.errno != errno.EBUSY or time.monotonic() > late:
                raise
        time.sleep(0.02)


def seal_all(given: int, back: int, report: int, writers: int) -> None:
    """Raises MachineFault."""
    try:
        seal(given, SEAL_ALL)
        for file in (back, report, writers):
            seal(file, SEAL_SIZE)
    except OSError as error:
        raise MachineFault(f"memory for the arrays cannot be sealed: {error.strerror}") from error


def judge(parts: Parts, task: str, case: Case, *files: int, more: tuple[str, ...] = ()) -> str:
    """What the judge prints. Raises MachineFault."""
    words = [task, *case.words, case.fill, case.seed, *files, *more]
    return ask_judge(parts, words, files, f"on {case.shape}")


def ask_judge(parts: Parts, words: Sequence[object], files: Sequence[int], about: str) -> str:
    """Likewise. Raises MachineFault."""
    try:
        ran = completed([str(parts.judge)], asked=" ".join(map(str, words)), pass_fds=files)
    except OSError as error:
        raise MachineFault(f"the judge cannot be started: {error.strerror}") from error
    if ran.returncode != 0:
        why = ran.stderr.strip() or f"status {ran.returncode}"
        raise MachineFault(f"the judge failed {about}: {why}")
    return ran.stdout
