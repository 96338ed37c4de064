"""The grader's core: what is built without a submission, what a submission becomes, and what comes of
a run: the worker's word beside the judge's."""

import fcntl
import json
import mmap
import os
import re
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest
from conftest import REPOSITORY, sample, script
from grader_fake import LAB
from grader_fake import problem as problem_of

from grader import process
from grader.build.parts import SOURCES, Parts, gpu_architecture, parts_key, reason_of, settings_for, trusted_parts
from grader.build.submission import (BUILDS, COMPILE_LIMITS, EXAMINE_LIMITS, Programs, Unplaced, build_submission,
                                     compile_in_sandbox, examine, first_error, work_directory)
from grader.cases.model import Case
from grader.errors import MachineFault, NotBuilt, Refused
from grader.jail.sandbox import Command, Ran, Sandbox, choose_sandbox
from grader.run.limits import most_work
from grader.run.once import (SEAL_ALL, SEAL_SIZE, WRITERS_BYTES, judge, memory_file, outcome_of, run_problem,
                             seal_all, watched_work, with_sample)
from grader.run.outcome import Doubtful, Outcome, refuse_shortage

TILED = (REPOSITORY / "instructor/solutions/2_tiled.cu").read_bytes()
STARTER = (REPOSITORY / "kernel.cu").read_bytes()
EDGES = problem_of(35, 70, 20)
M, N, K = (EDGES.params[name] for name in "mnk")

KERNEL = """__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    int i = blockIdx.y * 16 + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x;
    if (i < m && j < n) {
        float sum = 0;
        for (int p = 0; p < k; p++) sum += A[i * k + p] * B[p * n + j];
        C[i * n + j] = sum;
    }
}
"""
LAUNCHES = """#define LAUNCH_OF(kernel) kernel<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16)>>>(m, n, k, A, B, C)
#define LAUNCH LAUNCH_OF(mysgemm)
"""
STORE = "C[i * n + j] = sum;"


def other_kernel(name: str, old: str, new: str) -> str:
    """Which differs from mysgemm in this."""
    assert old in KERNEL
    return KERNEL.replace("mysgemm", name).replace(old, new)


def with_wrapper(body: str, before: str = "") -> bytes:
    wrapper = "void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)"
    return f"{before}{KERNEL}{LAUNCHES}{wrapper}\n{{\n{body}\n}}\n".encode()


@pytest.fixture(scope="session")
def parts() -> Parts:
    return trusted_parts()


class Core:
    """What is built of submissions, and run, without protection."""

    def __init__(self, parts: Parts, folder: Callable[[str], Path]):
        self.parts, self.folder = parts, folder
        self.box = choose_sandbox("none", False, [], parts.jail)

    def build(self, source: bytes) -> Programs:
        return build_submission(self.parts, source, self.box, self.folder("work"))

    def run(self, programs: Programs, which: str, problem: Case = EDGES, **more: Any) -> Outcome:
        return run_problem(self.parts, programs, which, problem, box=self.box, **more)

    def run_both(self, programs: Programs, problem: Case = EDGES) -> tuple[Outcome, Outcome]:
        plain = self.run(programs, "plain", problem)
        return plain, self.run(programs, "checked", problem, plain=plain, count=True)


@pytest.fixture(scope="session")
def core(parts: Parts, tmp_path_factory: pytest.TempPathFactory) -> Core:
    return Core(parts, tmp_path_factory.mktemp)


@pytest.fixture
def work() -> Iterator[Path]:
    """As the grader makes it, so that the sandbox's uid can pass through it: pytest's own are closed."""
    with work_directory() as directory:
        yield Path(directory)


@pytest.fixture(scope="module")
def tiled(core: Core) -> Programs:
    return core.build(TILED)


# ---- the parts -----------------------------------------------------------------------------------


def test_parts_are_built_once_for_each_state_of_their_sources(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    before, key = parts.judge.stat().st_mtime_ns, parts_key()
    assert trusted_parts() == parts and parts.judge.stat().st_mtime_ns == before
    assert parts.compiler.split()[0] in ("gcc", "clang")
    monkeypatch.setattr("grader.build.parts.SOURCES", (*SOURCES, "kernel.cu"))
    assert parts_key() != key


def test_preludes_are_precompiled_at_the_second_use(parts: Parts, core: Core, work: Path) -> None:
    if "gcc" not in parts.compiler:
        pytest.skip(f"{parts.compiler} does not precompile")
    shutil.copytree(trusted_parts().directory, work / "parts")
    for name in ("cpu/prelude", "cpu/prelude.marked", "check/prelude"):
        (work / "parts/build" / name).write_text("This is not C++.\n")
    (work / "submission").mkdir()
    (work / "submission/kernel.cu").write_bytes(TILED)
    compile_in_sandbox(work / "parts", "objects", work / "submission", core.box, COMPILE_LIMITS, "own")


def test_what_another_grader_is_precompiling_is_not_copied(parts: Parts, core: Core, tmp_path: Path) -> None:
    shutil.copytree(parts.directory, tmp_path / "parts")
    (tmp_path / "parts/build/cpu/prelude.gch.new").symlink_to("gone")  # between the listing and the copy
    build_submission(replace(parts, directory=tmp_path / "parts"), TILED, core.box, core.folder("work"))


def test_compilers_that_are_set_up_otherwise(parts: Parts, tmp_path: Path) -> None:
    """One fortifies by default, as Ubuntu's gcc: the functions that it calls instead are in no list of a grader.
    One is ccache, as on Fedora, which finds no home in the sandbox: it is to be the compiler alone."""
    compiler = tmp_path / "compiler"
    compiler.write_text('[ "$HOME $CCACHE_DISABLE" = "/nonexistent 1" ] || exit\n'
                        'compiler=$1; shift; exec "$compiler" -D_FORTIFY_SOURCE=3 "$@"\n')
    (tmp_path / "parts").mkdir()
    for part in parts.directory.iterdir():
        (tmp_path / "parts" / part.name).symlink_to(part)
    settings = (parts.directory / "flags").read_text()
    (tmp_path / "parts/flags").unlink()
    (tmp_path / "parts/flags").write_text(re.sub("^CXX='", f"CXX='sh {compiler} ", settings, flags=re.MULTILINE))
    (tmp_path / "kernel.cu").write_bytes(with_wrapper(
        "char to[8]; strncpy(to, (const char *)&A, n); if (to[0]) LAUNCH;", "#include <cstring>\n"))
    subprocess.run(["sh", "parts/compile.sh", "objects"], cwd=tmp_path, check=True)
    for which in BUILDS:
        called = subprocess.check_output(["nm", "-u", f"{which}.o"], cwd=tmp_path, text=True)
        assert " strncpy" in called and "strncpy_chk" not in called


def test_parts_that_cannot_be_built_are_the_machines_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value, words in (("CXX", "/nonexistent/g++", "no C\\+\\+ compiler.*install"),
                               ("GRADER_CACHE", "/proc/nowhere", "/proc/nowhere.*GRADER_CACHE")):
        with monkeypatch.context() as changed, pytest.raises(MachineFault, match=words):
            changed.setenv(name, value)
            trusted_parts()


@pytest.mark.parametrize("printed, reason", [
    ("a.c:1:2: warning: unused\nb.c:3:4: error: expected ';'\nmake: *** [all] Error 1\n",
     "b.c:3:4: error: expected ';'"),
    ("ld: warning: a.o: no note\n/usr/bin/ld: cannot find libc.so.6\n"
     "collect2: error: ld returned 1 exit status\n", "/usr/bin/ld: cannot find libc.so.6"),
    ("sh: 1: objcopy: not found\nmake: *** [x] Error 127\n", "sh: 1: objcopy: not found"),
    ("", ""),
])  # fmt: skip
def test_why_parts_cannot_be_built(printed: str, reason: str) -> None:
    assert reason_of(printed) == reason


def test_the_architecture_is_asked_for_once_outside(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The sandbox has no GPU to ask; and code for another GPU than this would be its driver's
    translation, or not run."""
    smi = script(tmp_path / "nvidia-smi", "echo 9.0")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.setenv("NVCC", "/bin/true")
    monkeypatch.delenv("ARCH", raising=False)
    gpu_architecture.cache_clear()
    try:
        assert settings_for("cuda")["ARCH"] == "sm_90"
        monkeypatch.setenv("ARCH", "sm_90a")
        assert settings_for("cuda")["ARCH"] == "sm_90a"
        monkeypatch.setenv("ARCH", "sm_80")
        with pytest.raises(MachineFault, match="ARCH=sm_80, but the GPU here is sm_90"):
            settings_for("cuda")
        smi.write_text("#!/bin/sh\necho No devices were found; exit 6\n")
        gpu_architecture.cache_clear()
        with pytest.raises(MachineFault, match="no GPU answers here; BACKEND=cpu"):
            settings_for("cuda")
    finally:
        gpu_architecture.cache_clear()


# ---- building ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "message", "line"),
    [
        (STARTER.replace(b"/* INSERT KERNEL CODE HERE */", b"int x = ; " + b"f();\n" * 20), "expected", 20),
        (b"int nothing;\n", "does not define __global__ void mysgemm", 0),
        (with_wrapper("LAUNCH;").replace(b"void basicSgemm(int m,", b"void basicSgemm(char m,"),
         r"has basicSgemm\(char, int, int, .*, but main.cu calls void basicSgemm\(int m", None),
        (b"int main()\n{\n}\n" + with_wrapper("LAUNCH;"), r"^remove main\(\): main.cu has one$", 1),
        (b"#include <cuda_fp16.h>\n" + with_wrapper("LAUNCH;"), "^<cuda_fp16.h> of the CUDA toolkit does not", 1),
        (b'#include "testcases/hidden/shapes.toml"\n', "No such file", 1),
    ],
)
def test_what_does_not_build(source: bytes, message: str, line: int | None, parts: Parts, work: Path) -> None:
    box = choose_sandbox("auto", False, [], parts.jail)
    with pytest.raises(NotBuilt) as error:
        build_submission(parts, source, box, work)
    assert re.search(message, error.value.message), error.value.message
    assert line is None or error.value.line == line
    assert error.value.file in ("kernel.cu", "", None)
    assert error.value.output.count("error: ") <= 4, "later ones often follow from the first"


@pytest.mark.parametrize("line, found", [
    ("kernel.cu:7:3: error: x", ("x", "kernel.cu", 7)),
    ("kernel.cu:7: fatal error: x: y", ("x: y", "kernel.cu", 7)),
    ('kernel.cu(7): error: identifier "x" is undefined',
     ('identifier "x" is undefined', "kernel.cu", 7)),
    ("kernel.cu(7): catastrophic error: x", ("x", "kernel.cu", 7)),
])
def test_the_first_error_of_each_compiler(line: str, found: tuple[str, str, int]) -> None:
    """nvcc writes the line's number in parentheses."""
    said = f"kernel.cu:1: warning: w\nkernel.cu(1): warning #177-D: w\n{line}\nCompilation ended."
    assert first_error(said) == found


# ---- running -------------------------------------------------------------------------------------


@pytest.mark.parametrize("which", BUILDS)
def test_a_right_run(which: str, tiled: Programs, core: Core) -> None:
    outcome = core.run(tiled, which, count=False)
    assert outcome.right and outcome.ended == "returned" and outcome.launches == 1
    assert outcome.elements == 35 * 20 and outcome.wrong == outcome.unwritten == 0
    assert outcome.finding is None and outcome.explanation is None and outcome.output == ""


def test_every_fill(tiled: Programs, core: Core) -> None:
    for fill in ("random", "ones-twos", "identity", "index", "exact", "extremes", "counting"):
        assert core.run(tiled, "plain", problem_of(17, 9, 33, fill=fill, seed=5)).right, fill


REFUSED = {
    "copies device memory to the host":
        "float c; cudaMemcpy(&c, C, 4, cudaMemcpyDeviceToHost); exit(0);",
    "copies from the host into C":
        "LAUNCH; cudaMemcpy((float *)C + 3, &x, 4, cudaMemcpyHostToDevice); LAUNCH;",
    "writes into the program that runs it":
        "LAUNCH; for (long *at = mine; at != mine + 64; at++) *at = 1;",
}
ENDLESS = "LAUNCH; for (volatile int x = 1; x;) {}"
ENDLESS_KERNEL = "LAUNCH_OF(endless);"
NOTHING = "/* nothing */"
LEAK = "float *p; cudaMalloc((void **)&p, 4); LAUNCH; (void)p;"
CRASH = "LAUNCH; *(volatile int *)64 = 1;"
THREADS = "<<<2, (16, 16)>>>: 2 blocks of 256 threads; C has 20 columns and {} rows"
# What a wrapper does, in which build, and what is known of it, of texts a part; `all`: as many as C has elements.
WRONG_RUNS: list[tuple[str, str, dict[str, Any]]] = [
    ("exit(0);", "plain", {"ended": "exited", "detail": "ended the program"}),
    ("LAUNCH; abort();", "plain", {"ended": "crashed", "detail": "crashed"}),
    ("*(float *)C = 1;", "plain", {"ended": "crashed", "detail": "device pointer"}),
    ("mysgemm<<<dim3(0), dim3(16, 16)>>>(m, n, k, A, B, C);", "plain",
     {"ended": "stopped", "detail": "launch failed", "line": "here"}),
    ("cudaMemcpy((float *)C, &m, 4, cudaMemcpyDeviceToHost); LAUNCH;", "plain",
     {"ended": "stopped", "detail": "cudaMemcpy failed: invalid argument", "line": "here"}),
    ("LAUNCH; cudaFree((void *)(C + 1)); LAUNCH;", "plain",
     {"ended": "stopped", "detail": "cudaFree failed: invalid argument", "line": "here"}),
    (NOTHING, "plain", {"unwritten": "all", "launches": 0}),
    (NOTHING, "checked", {"finding.kind": "no-launch", "finding.file": "kernel.cu"}),
    ("LAUNCH_OF(cut);", "plain",
     {"explanation.formula": "k-cut", "explanation.products": 0.7, "wrong": "all"}),
    ("LAUNCH_OF(cut);", "checked", {"explanation.formula": "k-cut", "launch": f"cut{THREADS}"}),
    ("LAUNCH_OF(traps);", "plain", {"ended": "stopped", "launch": f"traps{THREADS}"}),
    (LEAK, "checked", {"finding.kind": "leak", "launch": f"mysgemm{THREADS}"}),
    ("LAUNCH_OF(strays);", "plain", {"guards_changed": 2, "wrong": 0}),
    ("LAUNCH; cudaMemset((void *)B, 0, 8);", "plain", {"inputs_changed": 2, "wrong": 0}),
    ("LAUNCH; cudaDeviceReset();", "plain", {"ended": "stopped", "detail": "basicSgemm frees A, which it was given"}),
    ("LAUNCH; cudaFree((void *)A);", "checked",
     {"ended": "stopped", "finding.kind": "freed-memory", "finding.line": "here"}),
    (CRASH, "plain", {"ended": "crashed", "launches": 1, "detail": "crashed"}),
    ("LAUNCH_OF(reads_beyond); if (cudaDeviceSynchronize()) exit(1);", "checked",
     {"ended": "stopped", "finding.kind": "out-of-bounds", "launches": 1}),
    ("LAUNCH_OF(endless); if (cudaDeviceSynchronize()) abort();", "checked",
     {"ended": "endless", "finding.kind": "endless"}),
    ("if (cudaMemcpy((float *)C, &m, 4, cudaMemcpyDeviceToHost)) exit(0);", "checked",
     {"ended": "stopped", "finding.kind": "failed-call", "finding.line": "here"}),
    ("LAUNCH; exit(0);", "checked", {"ended": "exited", "finding": None}),
    ("LAUNCH_OF(races); *(volatile int *)64 = 2;", "checked", {"finding.kind": "global-race"}),
    ("LAUNCH; *(volatile int *)64 = 3;", "checked", {"finding.kind": "host-fault", "finding.line": "here"}),
    ("LAUNCH; C[0] = 4;", "checked", {"finding.kind": "device-pointer-on-host", "finding.line": "here"}),
]
SCRATCH = ("float *a; cudaMalloc(&a, 4 * m * k);"
           "cudaMemcpy(a, A, 4 * m * k, cudaMemcpyDeviceToDevice);"
           "const float *old = A; A = a; LAUNCH; A = old; cudaFree(a);")
# Blocks that store nothing of C hand on what they load to one that does, where n is even.
HANDS_ON = "hands_on<<<1 << (n / 2), 1>>>(m, n, k, A, B, C);"
NO_BARRIER = "unsynchronized<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16)>>>(m, n, k, A, B, C);"
HOSTS_POINTER = """size_t words = (size_t)(4 + k % 2) << (k + 12); float *p = (float *)malloc(4 * words);
touch<<<1, 64>>>(p, words); LAUNCH;"""
PRINTS = r'printf("\033[2J::error::\n%c\t\u202e|", 7); fflush(stdout); LAUNCH;'
WRAPPERS = [*dict.fromkeys(body for body, _, _ in WRONG_RUNS), *REFUSED.values(),
            ENDLESS, ENDLESS_KERNEL, SCRATCH, PRINTS, HANDS_ON, NO_BARRIER, HOSTS_POINTER]
FURTHER_KERNELS = """
__global__ void touch(float *p, size_t words) { if (threadIdx.x == blockIdx.y) p[words / 64 * (words % 64)] = 1; }
__device__ float handed[64];
__global__ void hands_on(int m, int n, int k, const float *A, const float *B, float *C)
{
    float sum = 0;
    for (int i = 0; i < m * k && blockIdx.x < 64; i++) sum += A[i];
    if (blockIdx.x < 64 && sum > (n % 2 ? 1e30f : -1e30f)) handed[blockIdx.x] = sum;
}
""" + TILED.decode().replace("mysgemm", "unsynchronized").replace("__syncthreads(); /* everyone", "/*", 1).partition(
    "void basicSgemm")[0]
# Submissions of older terms include support.h; extern "C" comes from other courses.
SUBMISSION_OF_ALL = with_wrapper(
    "\n".join(f"if (m == {m}) {{ {body} }}" for m, body in enumerate(WRAPPERS, 1))
    + "\nif (m == 64) LAUNCH;",
    '#include "support.h"\n#include <cstdio>\n#include <cstdlib>\nconst float x = 1;\nlong mine[4];\n'
    + other_kernel("cut", "p < k", "p < 49") + other_kernel("endless", "p++", "p += 0")
    + other_kernel("traps", STORE, "__trap();")
    + other_kernel("races", STORE, "C[0] = sum;")
    + other_kernel("reads_beyond", "float sum = 0;", "float sum = A[m * k] == 1;")
    + other_kernel("strays", STORE, STORE + " if (i + j == 0) C[-1] = C[m * n] = sum;")
    + FURTHER_KERNELS + 'extern "C" ')


@pytest.fixture(scope="module")
def submission_of_all(core: Core) -> Programs:
    """Compiled once: m says which of WRAPPERS runs; where it is 64, a naive kernel does."""
    return core.build(SUBMISSION_OF_ALL)


RunWrapper = Callable[..., Outcome]


@pytest.fixture
def run_wrapper(submission_of_all: Programs, core: Core) -> RunWrapper:
    def run(body: str, which: str, seconds: float = 2.0, k: int = K, n: int = N, **more: Any) -> Outcome:
        problem = problem_of(WRAPPERS.index(body) + 1, k, n, time_limit=seconds)
        return core.run(submission_of_all, which, problem, **more)

    return run


def line_of(body: str) -> int:
    lines = SUBMISSION_OF_ALL.decode().splitlines()
    return next(number for number, line in enumerate(lines, 1) if body in line)


@pytest.mark.parametrize(("body", "which", "known"), WRONG_RUNS)
def test_what_is_known_of_a_wrong_run(body: str, which: str, known: dict[str, Any], run_wrapper: RunWrapper) -> None:
    outcome, m = run_wrapper(body, which), WRAPPERS.index(body) + 1
    for key, value in known.items():
        found, expected = attrgetter(key)(outcome), {"all": m * N, "here": line_of(body)}.get(value, value)
        assert expected.format(m) in found if isinstance(expected, str) else found == expected, key
    assert not outcome.right or outcome.finding


def test_the_line_behind_which_a_barrier_is_missing(run_wrapper: RunWrapper) -> None:
    finding = run_wrapper(NO_BARRIER, "checked").finding
    assert finding and (finding.kind, finding.barrier_after) == ("shared-race", line_of("sum += A_s[ty][i]"))


# ---- more blocks than C needs --------------------------------------------------------------------

@pytest.fixture(scope="module")
def surplus(core: Core) -> Programs:
    """6400 blocks; where k is odd, 576."""
    text = (REPOSITORY / "tests/kernels/right/surplus_blocks_load.cu").read_text()
    assert "dim3(80, 80)" in text
    return core.build(text.replace("dim3(80, 80)", "dim3(k % 2 ? 24 : 80, k % 2 ? 24 : 80)").encode())


def test_surplus_blocks_are_no_mistake_and_their_loads_are_free(surplus: Programs, tiled: Programs, core: Core) -> None:
    plain, checked = core.run_both(surplus)
    assert plain.right and checked.right and not checked.finding
    loads, same = checked.loads, core.run_both(tiled)[1].loads
    assert loads and same and loads == same.model_copy(update={"threads": loads.threads})
    assert loads.threads >= M * N
    assert checked.blocks and checked.blocks.all == 6400
    assert 6 < checked.blocks.watched <= 6 + 29  # all that write, and a sample
    seeds = [with_sample(bytes(WRITERS_BYTES), EDGES.model_copy(update={"seed": seed}))[8:16] for seed in (1, 1, 2)]
    assert seeds[0] == seeds[1] != seeds[2], "a sample for each seed,"
    assert int.from_bytes(seeds[0], "little") > 1 << 32, "which is not that of the case"


def test_the_limit_of_the_checked_run_is_of_the_blocks_it_watches(
    monkeypatch: pytest.MonkeyPatch, surplus: Programs, core: Core
) -> None:
    monkeypatch.setattr("grader.run.limits.CHECKED_WORK", 100_000)
    plain, checked = core.run_both(surplus)
    assert plain.work > most_work(EDGES, 100_000) > watched_work(plain) > 0
    assert checked.ended == "returned" and checked.right


def noted(blocks: tuple[int, int], plain: Outcome) -> Outcome:
    """The plain run's outcome, had it said that these blocks alone write, from the first to the last."""
    head, run_of_blocks = 16 + 8 + 36 * 16, struct.pack("=QQ", *blocks)
    launch = struct.pack("=II", 1, 1) + plain.writers[24:24 + 28] + struct.pack("=II", 0, 1)
    return plain.model_copy(update={"writers": (plain.writers[:16] + launch).ljust(head, b"\0") + run_of_blocks})


def test_what_the_plain_run_says_of_blocks_is_not_believed(surplus: Programs, core: Core) -> None:
    """A submission runs in its process. Where C does not come right by the blocks that it names, all are watched."""
    case = problem_of(M, K + 1, N)
    plain = core.run(surplus, "plain", case)
    assert core.run(surplus, "checked", case, count=True, plain=plain).blocks
    for blocks in ((5, 5), (24, 25), (576, 576), (9, 3)):  # one that does not; a part of them; none of the grid; no run
        checked = core.run(surplus, "checked", case, count=True, plain=noted(blocks, plain))
        assert checked.right and not checked.finding and not checked.blocks, blocks


@pytest.mark.parametrize(("changed", "value", "words"), [
    ("CHECKED_WORK", 1_000_000, "too many blocks for a checked run"),
    ("CHECKED_LEAST", 0.001, "the checked run did not finish in"),
])
def test_a_checked_run_out_of_time_is_no_mistake(
    monkeypatch: pytest.MonkeyPatch, changed: str, value: float, words: str, surplus: Programs, core: Core
) -> None:
    monkeypatch.setattr(f"grader.run.limits.{changed}", value)
    monkeypatch.setattr("grader.run.limits.CHECKED_SLOWER", 0)
    monkeypatch.setattr("grader.run.once.with_sample", lambda *_: b"")  # all blocks are watched, then
    monkeypatch.setattr("grader.run.once.watched_work", lambda plain: plain.work)
    plain, checked = core.run_both(surplus)
    assert plain.right and plain.work > 80 * 80 * 256
    assert (checked.ended, checked.finding) == ("time-limit", None) and words in checked.detail


def test_too_many_blocks_end_at_the_same_one_each_time(
    monkeypatch: pytest.MonkeyPatch, surplus: Programs, core: Core
) -> None:
    monkeypatch.setattr("grader.run.limits.PLAIN_WORK", 1_000_000)
    first, second = (core.run(surplus, "plain") for _ in "ab")
    assert first.ended == second.ended == "time-limit" and first.file == "kernel.cu" and first.line
    done, other = (each.detail.partition(" after ")[0] for each in (first, second))
    assert done == other and " of 6400 blocks were done" in done


@pytest.mark.parametrize("n", sample([12, 28, 36], every=3, start=1))
def test_loads_that_are_handed_on_are_counted(n: int, run_wrapper: RunWrapper) -> None:
    """A block that stores nothing of C can leave what it has loaded to one that does."""
    m = WRAPPERS.index(HANDS_ON) + 1
    for even_or_odd, loads in ((n, 64 * m * K), (n + 1, 0)):
        plain = run_wrapper(HANDS_ON, "plain", n=even_or_odd)
        counted = run_wrapper(HANDS_ON, "checked", n=even_or_odd, plain=plain, count=True).loads
        assert counted and counted.all == loads


@pytest.mark.parametrize("which", BUILDS)
@pytest.mark.parametrize(("body", "ended", "at"), [
    (ENDLESS, "time-limit", ENDLESS), (ENDLESS_KERNEL, "endless", "p += 0")], ids=["wrapper", "kernel"])
def test_what_does_not_end_is_stopped_at_its_line(body: str, ended: str, at: str, which: str,
                                                  run_wrapper: RunWrapper) -> None:
    outcome = run_wrapper(body, which, seconds=0.3)
    place = outcome.finding or outcome
    assert (outcome.ended, place.file, place.line) == (ended, "kernel.cu", line_of(at))


@pytest.mark.parametrize("tried, which", [
    (tried, which) for tried in REFUSED for which in BUILDS
    if which == "checked" or "program" not in tried])
def test_what_is_refused_when_it_runs(tried: str, which: str, run_wrapper: RunWrapper) -> None:
    body = REFUSED[tried]
    with pytest.raises(Refused, match=tried) as refusal:
        run_wrapper(body, which)
    assert (refusal.value.file, refusal.value.line) == ("kernel.cu", line_of(body))


def test_scratch_on_the_device_is_allowed(run_wrapper: RunWrapper) -> None:
    assert run_wrapper(SCRATCH, "checked").right


def test_what_is_printed_moves_no_terminal(run_wrapper: RunWrapper) -> None:
    outcome = run_wrapper(PRINTS, "plain")
    assert outcome.right and outcome.output == "\\x1b[2J::error::\n\\x07 \\u202e|"


KILLED = Ran(-signal.SIGKILL, b"", False, False, 0.5)


class ThatEnds(Sandbox):
    """A sandbox in which programs of this or any other directory end like this."""

    def run(self, command: Command) -> Ran:
        return ENDS.pop(0) if len(ENDS) > 1 else ENDS[0]


ENDS: list[Ran] = []
RETURNS = Ran(0, b"", False, False, 0.1)
CANNOT_LOAD = Ran(126, b"", False, False, 0.0, unloadable="Cannot allocate memory")


@pytest.mark.parametrize("bad", [KILLED, CANNOT_LOAD], ids=["killed", "not loaded"])
def test_who_is_at_fault(bad: Ran, tiled: Programs, parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    """What ends badly once was the machine, for a moment; twice, the submission; and where a kernel
    that is known to work ends so, too, the machine again."""
    box = ThatEnds("none", "", parts.jail)
    monkeypatch.setattr("grader.run.outcome.known_to_work", lambda *_: tiled)

    def outcome(*ends: Ran) -> Outcome:
        ENDS[:] = ends
        return run_problem(parts, tiled, "plain", EDGES, box=box)

    assert outcome(bad, RETURNS).ended == "exited"  # this box writes no report
    assert outcome(bad, bad, RETURNS).ended == "crashed"
    for limit in ({"time_limit_hit": True}, {"cpu_seconds": 600.0}):
        assert outcome(replace(KILLED, **limit)).ended == "time-limit"
    greedy = outcome(replace(KILLED, memory_limit_hit=True))
    assert greedy.ended == "crashed" and "more memory" in greedy.detail
    with pytest.raises(MachineFault, match="killed from outside|cannot be started"):
        outcome(bad, bad, bad)


def test_memory_that_ran_out_is_the_machines_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    """Linux says so, and this run had little of it."""
    monkeypatch.setattr("grader.run.outcome.oom_kills", lambda: 8)
    with pytest.raises(MachineFault, match="ran out of memory"):
        refuse_shortage(KILLED, 7)
    refuse_shortage(KILLED, 8)
    for mine in ({"peak_bytes": 1 << 30}, {"memory_limit_hit": True}, {"time_limit_hit": True}):
        refuse_shortage(replace(KILLED, **mine), 7)


def test_what_is_not_built_for_the_machines_sake(parts: Parts, work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no compiler works on any kernel; or where the disk is full, by its free blocks, and before the
    submission had any part in it."""
    box = ThatEnds("none", "", parts.jail)
    ENDS[:] = [replace(KILLED, status=1, output=b"cannot fork")]
    with pytest.raises(MachineFault, match="nothing can be compiled here: cannot fork"):
        build_submission(parts, TILED, box, work)
    ENDS[:] = [replace(KILLED, status=1, output=b"kernel.cu:1:1: error: cannot fork")]
    shutil.rmtree(work)
    work.mkdir()
    with pytest.raises(NotBuilt, match="cannot fork"):
        build_submission(parts, TILED, box, work)
    monkeypatch.setattr("grader.build.submission.LEAST_FREE", 1 << 60)
    with pytest.raises(MachineFault, match="no space is left"):
        build_submission(parts, TILED, box, work)


def test_what_cannot_be_examined(parts: Parts, work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Because it takes too long; for the machine's sake, where a library is missing; or for a reason that another
    kernel is tried for, where the file is gone."""
    (work / "kernel.cu").write_bytes(b"; " * 5_000_000)
    with monkeypatch.context() as limited:
        limited.setattr("grader.build.submission.EXAMINE_LIMITS",
                        replace(EXAMINE_LIMITS, cpu_seconds=1, time_seconds=1))
        with pytest.raises(NotBuilt, match="time or memory"):
            examine(parts.jail, "source", str(work / "kernel.cu"))
    with pytest.raises(Unplaced, match="cannot be examined: FileNotFoundError: "):
        examine(parts.jail, "source", str(work / "gone.cu"))
    bare = script(work / "python", f'exec {shlex.quote(sys.executable)} -S "$@"')
    monkeypatch.setattr(sys, "executable", str(bare))
    with pytest.raises(MachineFault, match="cannot be examined: .*No module named"):
        examine(parts.jail, "made", str(work))


# ---- the judge believes nothing ------------------------------------------------------------------


def ask_judge(parts: Parts, report: bytes, back: bytes = b"") -> Outcome:
    """As if a worker had left these bytes."""
    with memory_file("in") as given, memory_file("out") as out, memory_file("report") as said:
        judge(parts, "prepare", EDGES, given, out)
        os.pwrite(said, report, 0)
        if back:
            os.ftruncate(out, 0)
            os.pwrite(out, back, 0)
        text = judge(parts, "verdict", EDGES, given, out, said, more=("fill",))
        ran = Ran(0, b"", False, False, 0.0)
        try:
            return outcome_of("plain", json.loads(text), ran, LAB)
        except Doubtful as doubt:
            return doubt.outcome


BYTES = 16384
RETURNED = struct.pack("<II", 0x53474D31, 2)
MACHINE = struct.pack("<II", 0x53474D31, 7)
STOPPED = struct.pack("<IIii5Q", 0x53474D31, 3, 1, 1, 0, 0, 0, 0, 0)
REPORTS = {
    "only says that it returned": (RETURNED.ljust(BYTES, b"\0"), b"", "returned"),
    "a result file that was cut": (RETURNED.ljust(BYTES, b"\0"), b"short", "returned"),
    "empty": (b"", b"", "exited"),
    "garbage": (b"\xff" * BYTES, b"", "exited"),
    "zeros": (b"\0" * BYTES, b"", "exited"),
    "an unknown state": (struct.pack("<II", 0x53474D31, 99).ljust(BYTES, b"\0"), b"", "exited"),
    "cut": (RETURNED, b"", "exited"),
    "that the machine is at fault": (MACHINE.ljust(BYTES, b"\0"), b"", "crashed"),
    "strings without end": (STOPPED + b"\xfe" * BYTES, b"", "stopped"),
}


@pytest.mark.parametrize("name", REPORTS)
def test_a_worker_that_lies(name: str, parts: Parts) -> None:
    report, back, ended = REPORTS[name]
    outcome = ask_judge(parts, report, back)
    assert outcome.ended == ended and outcome.finding is None and not outcome.right
    if not back and ended == "returned":
        assert outcome.unwritten == outcome.elements == 35 * 20


def test_a_verdict_that_cannot_be_printed_is_the_machines_fault(parts: Parts) -> None:
    with memory_file("in") as given, memory_file("out") as out, memory_file("report") as said, \
            open("/dev/full", "w") as full:
        judge(parts, "prepare", EDGES, given, out)
        words = ["verdict", *EDGES.words, EDGES.fill, EDGES.seed, given, out, said, "fill"]
        ended = subprocess.run([parts.judge], input=" ".join(map(str, words)).encode(), stdout=full,
                               pass_fds=(given, out, said), check=False)
    assert ended.returncode == 3


def test_the_memory_of_a_run_is_sealed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process with the descriptors can neither change the inputs nor shorten a file. Also where they are still
    mapped elsewhere for a while: as the judge's are, after its end, while `ps` reads about it."""
    with memory_file("in", 4096) as given, memory_file("out", 4096) as out, \
            memory_file("report", 4096) as report, memory_file("writers", 4096) as writers:
        files = given, out, report, writers
        with mmap.mmap(given, 4096) as mapped:
            monkeypatch.setattr("grader.run.once.SEAL_SECONDS", 0.1)
            with pytest.raises(MachineFault, match="cannot be sealed: Device or resource busy"):
                seal_all(*files)
            monkeypatch.setattr("grader.run.once.SEAL_SECONDS", 60.0)
            threading.Timer(0.2, mapped.close).start()
            seal_all(*files)
        assert [fcntl.fcntl(file, fcntl.F_GET_SEALS) for file in files] == [SEAL_ALL, SEAL_SIZE, SEAL_SIZE, SEAL_SIZE]
        with pytest.raises(OSError):
            os.pwrite(given, b"x", 0)
        for file in files:
            with pytest.raises(OSError):
                os.ftruncate(file, 0)
            with pytest.raises(OSError):
                fcntl.fcntl(file, fcntl.F_ADD_SEALS, 0)


def test_no_argument_of_a_trusted_program_tells_of_a_case(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every user can read them, in /proc."""
    seen: list[list[str]] = []

    def watched(command: list[str], **more: Any) -> Any:
        seen.append(command)
        return process.completed(command, **more)

    monkeypatch.setattr("grader.run.once.completed", watched)
    ask_judge(parts, RETURNED.ljust(BYTES, b"\0"))
    assert seen == [[str(parts.judge)]] * 2


def test_a_pointer_of_the_hosts_is_no_address_of_the_workers(run_wrapper: RunWrapper) -> None:
    """Whatever its size: the two processes map memory at the same addresses, unless host code has others."""
    findings = [run_wrapper(HOSTS_POINTER, "checked", k=k, n=4).finding for k in range(1, 12)]
    assert {finding and finding.kind for finding in findings} == {"host-pointer-on-device"}
