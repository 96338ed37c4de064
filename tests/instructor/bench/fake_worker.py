"""A worker for build/bench/ladder that needs no GPU: says the lines that instructor/bench/ladder/
worker.cu would. What a "library" holds is what becomes of its kernel:

    right SECONDS          each sample takes about so long
    wrong, nothing, large, unusable, disagree, impossible
    crash, hang            while it is checked
    crash-timed, hang-timed, wrong-timed
"""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

OUT = os.fdopen(int(sys.argv[1]), "w")
CUBLAS_SECONDS = 0.001
HELD = 50e-6


def say(*words: object) -> None:
    print(*words, file=OUT, flush=True)


def behaviour(library: str) -> list[str]:
    if library == "cublas":
        return ["right", str(CUBLAS_SECONDS)]
    return Path(library).read_text().split()


def end_badly(how: str) -> None:
    if how == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    time.sleep(60)


def machine() -> None:
    if os.environ.get("FAKE_FAULT"):
        say("machine-fault", "no GPU answers: no CUDA-capable device is detected")
        sys.exit(3)
    say("machine device Fake \"GPU\", 1")
    say("machine driver 1.2.3")
    say("machine cuda_runtime 13.0")
    say("machine cublas 13.1.0")
    say("machine mhz_under_load 1980")
    say("ceiling ffma_flops 1e13")
    say("ceiling memory_bytes_per_second 4e12")
    say("ceiling l2_bytes_per_second 8e12")


def check(library: str, sizes: list[str]) -> None:
    what = behaviour(library)[0]
    if what == "unusable":
        say("unusable", "it does not define basicSgemm")
        return
    for i in range(len(sizes) // 3):
        say("begin", i)
        if what in ("crash", "hang"):
            end_badly(what)
        elif what == "large" or int(sizes[3 * i]) == 46000:
            say("large", i, "it takes 3.0 GB of the GPU's memory, of which 2.0 GB are free")
        elif what == "wrong":
            say("wrong", i, "C[1][2] is 3, not 4; so are 5 of 6 elements, and 0 unwritten")
        elif what == "nothing":
            say("nothing", i)
        else:
            say("right", i, 1.5, 0.25)


def sample(number: int, round_: int, words: list[str]) -> bool:
    """Whether the kernel stays in the race."""
    say("begin", number)
    if words[0] in ("crash-timed", "hang-timed") and round_ == 1:
        end_badly(words[0].removesuffix("-timed"))
    if words[0] == "wrong-timed":
        say("wrong", number, "6 of 6 elements are never written, first C[0][0]")
        return False
    if words[0] in ("disagree", "impossible"):
        say(words[0], number, "it took too little")
        return False
    seconds = float(words[1]) if len(words) > 1 else CUBLAS_SECONDS
    seconds *= 1 + (round_ * 7 % 11) / 100
    if round_ >= 0:
        say("sample", number, round_, f"{seconds:.9g}", f"{seconds + HELD:.9g}")
    return True


def race(arguments: list[str]) -> None:
    warm_ups, samples = int(arguments[0]), int(arguments[1])
    small = int(arguments[3]) < 100
    kernels = [behaviour(library) for library in arguments[6:]]
    for number, words in enumerate(kernels):
        graph = small and words[-1] != "call"
        say("how", number, "graph" if graph else "call", 20 if graph else 1)
    racing = set(range(len(kernels)))
    for round_ in range(-warm_ups, samples):
        say("round", round_)
        racing = {i for i in sorted(racing) if sample(i, round_, kernels[i])}


if sys.argv[2] == "machine":
    machine()
elif sys.argv[2] == "check":
    check(sys.argv[3], sys.argv[4:])
else:
    race(sys.argv[3:])
say("end")
