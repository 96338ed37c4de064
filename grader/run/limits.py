"""What one run may take: of time, memory and work, by its case and by what the plain run took."""

from dataclasses import dataclass, replace

from ..cases.model import Case
from ..jail.sandbox import Limits
from .outcome import Outcome

REPORT_BYTES = 64 << 10

# Address space of a worker beside its arrays: the stacks of a block's threads, wide gaps around
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

HOST_SECONDS = 3.0  # for everything but kernels: start, copies, finding a line

# A block may take Case.launch_seconds, in which one block alone could compute the whole result several times
# over. A launch may take longer if its blocks end: it may have far more of them than the result needs. The
# limit on their number is one of work, which is the same in each run, as seconds are not; the limit
# in seconds is so high that a correct kernel reaches the end of its work first.
LAUNCH_MORE_SECONDS = 30.0
PLAIN_WORK = 1_500_000_000  # some ten seconds
CHECKED_WORK = 600_000_000  # up to a minute; a plain run with more of it has no checked run
WORK_PER_OPERATION = 2  # for the result itself: a thread with a barrier for each takes 1

# A checked run takes four times as long as the plain one, ten times when it counts, and 350 times where
# shared memory is stored in bytes. Its limits are far above that: they follow what the plain run took,
# down to some times a block's limit.
CHECKED_SLOWER = 1000
CHECKED_LEAST = 4
CHECKED_SECONDS = 240.0


@dataclass(frozen=True)
class LaunchLimits:
    """Of each launch, as in worker/watch.h."""

    block_seconds: float
    seconds: float
    work: int


def launch_limits(case: Case, plain: Outcome | None) -> LaunchLimits:
    """Of the plain run; or of the checked one, after a plain run that ended."""
    seconds = case.launch_seconds
    if plain is None:
        return LaunchLimits(seconds, seconds + LAUNCH_MORE_SECONDS, most_work(case, PLAIN_WORK))
    seconds = max(CHECKED_LEAST * seconds, min(CHECKED_SLOWER * plain.seconds, CHECKED_SECONDS))
    return LaunchLimits(seconds, seconds, most_work(case, CHECKED_WORK))


def most_work(case: Case, surplus: int) -> int:
    """What the result takes, plus `surplus` for blocks that it does not need."""
    return surplus + int(WORK_PER_OPERATION * case.sizes.operations)


def limits_for(seconds: float, arrays: int) -> Limits:
    """Of a worker that may take so many seconds, and whose arrays have so many bytes."""
    # The worker's own limit, which can report where a kernel was, comes first.
    cpu = seconds * 1.25 + HOST_SECONDS
    return Limits(cpu_seconds=cpu, memory_bytes=WORKER_BYTES + BYTES_PER_BYTE * arrays,
                  processes=PROCESSES, file_bytes=arrays + REPORT_BYTES,
                  output_bytes=OUTPUT_BYTES, wall_seconds=10 * cpu + 10,
                  time_seconds=cpu + HOST_SECONDS)


def limits_on_gpu(seconds: float, arrays: int) -> Limits:
    return replace(limits_for(seconds, arrays), memory_bytes=GPU_ADDRESSES,
                   resident_bytes=GPU_RESIDENT_BYTES, processes=GPU_PROCESSES,
                   wall_seconds=seconds + 60, time_seconds=None)
