"""Runs one build of a submission on one problem, in the sandbox, and has the judge compare C.

A and B go in as sealed memory, C comes back as memory, and the worker's report in a third file; the
judge (judge/judge.c) makes the first and reads the others. None of them has a path, and only the
judge knows the seed. In: programs and a Problem; out: an Outcome.

A run that ends as if the machine were at fault (killed, or in the worker's own words) may have made
that up. It is repeated; and if it ends so again, settle() tries a kernel that is known to work.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import json
import math
import os
import signal
import struct
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from .build import Parts, Programs, known_to_work
from .errors import MachineFault, Refused
from .machine import oom_kills
from .escape import escaped
from .outcome import Outcome
from .process import completed
from .sandbox import Command, Limits, Ran, Sandbox

SEAL_SIZE = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL
SEAL_ALL = SEAL_SIZE | fcntl.F_SEAL_WRITE
SEAL_SECONDS = 5.0
REPORT_BYTES = 64 << 10
WRITERS_BYTES = 64 << 10
WRITERS_HEAD = struct.Struct("=QQ")  # of struct writers: work, sample

# Address space of a worker beside its matrices: the stacks of a block's threads, wide gaps around
# allocations, shadow memory (engine/cuda/runtime/memory.c, block.c).
WORKER_BYTES = 3 << 30
BYTES_PER_BYTE = 16

OUTPUT_BYTES = 4 << 10
PROCESSES = 16  # addr2line, and what starts it
# On a GPU: the driver maps far more than there is, and starts threads of its own; the time limit is
# seconds on the wall, in which the driver also loads the kernel.
GPU_ADDRESSES = 1 << 46
GPU_RESIDENT_BYTES = 16 << 30
GPU_PROCESSES = 128
GPU_SECONDS = 10.0

LITTLE_MEMORY = 512 << 20  # more than a right kernel takes on the shapes of the suites

HOST_SECONDS = 3.0  # for everything but kernels: start, copies, finding a line

# A block may take Problem.time_limit, in which one block alone could compute all of C several times
# over. A launch may take longer if its blocks end: it may have far more of them than C needs. The
# limit on their number is one of work, which is the same in each run, as seconds are not; the limit
# in seconds is so high that a right kernel reaches the end of its work first.
LAUNCH_MORE_SECONDS = 30.0
PLAIN_WORK = 1_500_000_000  # some ten seconds in a tiled kernel
CHECKED_WORK = 600_000_000  # up to a minute; a plain run with more of it has no checked run
WORK_PER_PRODUCT = 4  # for C itself: tiles of 1 x 1 take 2

# A checked run takes four times as long as the plain one, and ten times when it counts. Its limits
# are far above that: they follow what the plain run took, down to some times a block's limit.
CHECKED_SLOWER = 100
CHECKED_LEAST = 4
CHECKED_SECONDS = 240.0
TOO_MUCH_WORK = "too many blocks for a checked run: its loads and stores were not examined"


@dataclass(frozen=True)
class Problem:
    """One product: A is m x k, B is k x n."""

    m: int
    n: int
    k: int
    fill: str
    seed: int
    tolerance: str | None
    """float32, bound, exact; None: the strictest that the fill allows."""
    time_limit: float
    """Seconds of processor time that one block may take in the plain build."""

    def work(self, surplus: int) -> int:
        """The most that C takes, plus `surplus` for blocks that it does not need."""
        return surplus + WORK_PER_PRODUCT * self.m * self.k * self.n


@dataclass(frozen=True)
class LaunchLimits:
    """Of each launch, as in worker/watch.h."""

    block_seconds: float
    seconds: float
    work: int


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
        seal(back, SEAL_SIZE)
        seal(report, SEAL_SIZE)
        seal(writers, SEAL_SIZE)
    except OSError as error:
        raise MachineFault(f"memory for A, B and C cannot be sealed: {error.strerror}") from error


def judge(parts: Parts, task: str, problem: Problem, *files: int,
          more: tuple[str, ...] = ()) -> str:
    """What the judge prints. Raises MachineFault."""
    words = [task, problem.m, problem.k, problem.n, problem.fill, problem.seed, *files, *more]
    return ask_judge(parts, words, files, f"on {problem.m} {problem.k} {problem.n}")


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


def launch_limits(problem: Problem, plain: Outcome | None) -> LaunchLimits:
    """Of the plain run; or of the checked one, after a plain run that ended."""
    seconds = problem.time_limit
    if plain is None:
        return LaunchLimits(seconds, seconds + LAUNCH_MORE_SECONDS, problem.work(PLAIN_WORK))
    seconds = max(CHECKED_LEAST * seconds, min(CHECKED_SLOWER * plain.seconds, CHECKED_SECONDS))
    return LaunchLimits(seconds, seconds, problem.work(CHECKED_WORK))


def in_time(checked: Outcome, plain: Outcome) -> Outcome:
    """A checked run that hit its time limit, reported as that. Its kernels end, as the plain run
    has shown: where it was stopped is no mistake."""
    finding = checked.finding
    if plain.ended != "returned" or checked.ended not in ("endless", "time-limit"):
        return checked
    found = {"ended": "time-limit",
             "detail": f"the checked run did not finish in {checked.seconds:.0f} s"}
    if finding and finding.kind in ("endless", "time-limit"):
        found |= {"finding": None, "file": finding.file, "line": finding.line}
    return checked.model_copy(update=found)


def limits_for(seconds: float, matrices: int) -> Limits:
    """Of a worker that may take so many seconds, and whose matrices have so many bytes."""
    # The worker's own limit, which can report where a kernel was, comes first.
    cpu = seconds * 1.25 + HOST_SECONDS
    return Limits(cpu_seconds=cpu, memory_bytes=WORKER_BYTES + BYTES_PER_BYTE * matrices,
                  processes=PROCESSES, file_bytes=matrices + REPORT_BYTES,
                  output_bytes=OUTPUT_BYTES, wall_seconds=10 * cpu + 10,
                  time_seconds=cpu + HOST_SECONDS)


def limits_on_gpu(seconds: float, matrices: int) -> Limits:
    return replace(limits_for(seconds, matrices), memory_bytes=GPU_ADDRESSES,
                   resident_bytes=GPU_RESIDENT_BYTES, processes=GPU_PROCESSES,
                   wall_seconds=seconds + 60, time_seconds=None)


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


def run_problem(parts: Parts, programs: Programs, build: str, problem: Problem, *, box: Sandbox,
                plain: Outcome | None = None, count: bool = False) -> Outcome:
    """One run; of the checked build, after the plain one that ended. Raises MachineFault, and
    Refused for what no submission may do."""
    if plain and watched_work(plain) > problem.work(CHECKED_WORK):
        return Outcome(build="checked", ended="time-limit", detail=TOO_MUCH_WORK)

    def attempt(of: Programs) -> Outcome:
        return run_once(parts, of, build, problem, box, plain, count)

    outcome = settle(attempt, parts, programs, box)
    if plain and may_be_of_blocks_left_out(outcome, plain):
        again = run_problem(parts, programs, build, problem, box=box, count=count,
                            plain=plain.model_copy(update={"writers": b""}))
        return again.model_copy(update={"seconds": outcome.seconds + again.seconds})
    return outcome


def watched_work(plain: Outcome) -> int:
    """Of the blocks that a checked run watches, but for the sample."""
    said = WRITERS_HEAD.unpack_from(plain.writers)[0] if plain.writers else 0
    return said or plain.work


def may_be_of_blocks_left_out(checked: Outcome, plain: Outcome) -> bool:
    """Where not all blocks were watched, and the plain run ended with a C that is right: whether
    blocks that did not run can have part in what went wrong. They write nothing to device memory, so
    that they have none in what the checker saw threads of others do."""
    kind = checked.finding.kind if checked.finding else ""
    return bool(checked.blocks and plain.right and not (checked.right and not checked.finding)
                and kind in ("", "endless", "time-limit", "uninitialized-global"))


def run_once(parts: Parts, programs: Programs, build: str, problem: Problem, box: Sandbox,
             plain: Outcome | None, count: bool) -> Outcome:
    """Raises MachineFault, Refused and Doubtful."""
    may = launch_limits(problem, plain)
    on_gpu = parts.backend == "cuda" and build == "plain"
    if on_gpu:
        may = replace(may, seconds=max(problem.time_limit, GPU_SECONDS))
    program = programs.of(build)
    with memory_file("in") as given, memory_file("out") as back, \
            memory_file("report", REPORT_BYTES) as report, \
            memory_file("writers", WRITERS_BYTES) as writers:
        judge(parts, "prepare", problem, given, back)
        if plain:
            os.pwrite(writers, with_sample(plain.writers, problem), 0)
        seal_all(given, back, report, writers)
        words = [str(program), *map(str, (problem.m, problem.k, problem.n, given, back, report,
                                          may.block_seconds, may.seconds, may.work, writers)),
                 *(["count"] if count else [])]
        limits = (limits_on_gpu if on_gpu else limits_for)(may.seconds, os.fstat(given).st_size)
        kills = oom_kills()
        with on_the_gpu(parts) if on_gpu else nullcontext():
            ran = box.run(Command(words, limits, cwd=program.parent, readable=[program.parent],
                                  pass_fds=(given, back, report, writers),
                                  devices=gpu_devices() if on_gpu else ()))
        refuse_shortage(ran, kills)
        verdict = judge(parts, "verdict", problem, given, back, report,
                     more=(problem.tolerance or "fill",))
        noted = b"" if on_gpu or build != "plain" else os.pread(writers, WRITERS_BYTES, 0)
    outcome = outcome_of(build, json.loads(verdict), ran, limits.cpu_seconds)
    outcome = outcome.model_copy(update={"writers": noted})
    return in_time(outcome, plain) if plain else outcome


def with_sample(noted: bytes, problem: Problem) -> bytes:
    """And what a sample of blocks is drawn with: it follows from the case's seed, which does not
    follow from it."""
    if not noted:
        return b""
    digest = hashlib.blake2b(f"blocks {problem.seed}".encode(), digest_size=8).digest()
    work, _ = WRITERS_HEAD.unpack_from(noted)
    return WRITERS_HEAD.pack(work, int.from_bytes(digest, "little")) + noted[WRITERS_HEAD.size:]


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


def detail_of(how: str, ran: Ran) -> str:
    if ran.unloadable:
        return f"the program cannot be loaded: {ran.unloadable}"
    if ran.memory_limit_hit:
        return "it used more memory than it may"
    if how == "crashed" and ran.status < 0:
        return f"it crashed: {signal.strsignal(-ran.status)}"
    return {"exited": "basicSgemm ended the program instead of returning",
            "time-limit": "it was still running at its time limit"}.get(how, "")


def outcome_of(build: str, verdict: dict[str, Any], ran: Ran,
               cpu_limit: float = math.inf) -> Outcome:
    """Raises Refused and Doubtful."""
    state = verdict.pop("state")
    if verdict.pop("bytes_to_host"):
        raise Refused("copies device memory to the host inside basicSgemm", verdict["file"],
                      verdict["line"],
                      "the kernel computes C; take cudaMemcpy(..., cudaMemcpyDeviceToHost) out")
    if verdict.pop("bytes_into_output"):
        raise Refused("copies from the host into C", verdict["file"], verdict["line"],
                      "C is what kernels write; cudaMemset can clear it")
    finding = verdict["finding"]
    if finding and finding["kind"] == "tampering":
        raise Refused("writes into the program that runs it", finding["file"], finding["line"],
                      finding["hint"])
    if finding and finding["kind"] == "unseen":
        raise Refused("loads or stores in a way that is hidden from the checker", finding["file"],
                      finding["line"], finding["hint"])
    how = ended(state, ran, cpu_limit)
    said = verdict.pop("detail")
    outcome = Outcome(build=build, ended=how, detail=said or detail_of(how, ran),
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
