"""The two processes of the checked worker: what host code that has taken over its own reaches of
the other, and how it ends. grader/worker/host_process.c. Compiled without the gate of names, which
refuses all of this; so these are no files of instructor/cheats."""

import os
import shutil
import signal
import struct
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import REPOSITORY, RUN_SECONDS, Tree, need

from grader.build.parts import trusted_parts
from grader.run.once import WRITERS_BYTES

NOBODY = 65534
MATRICES = 64 << 20
"""Bytes: more than A, B and C of 16 x 16 need, with their guards."""

IN_WRAPPER, RETURNED, STOPPED, TIME_LIMIT = 1, 2, 3, 6  # grader/worker/report.h

KERNEL = r"""
#include <exception>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
extern "C" __attribute__((weak)) void reach(); /* not in the plain build */
extern "C" __attribute__((weak)) void forge(void *variable, void *C, void *kernel);

__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    C[threadIdx.x] = 1.0f;
}
__device__ float variable[4];
static int constructed_in = getpid();

void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    if (constructed_in != getpid()) puts("constructed in another process");
    WHAT
    mysgemm<<<1, 16>>>(m, n, k, A, B, C);
    puts("end");
}
"""


CASES = {  # what host code does; exit status, output, and the state in the report
    "reach();": (0, "end\n", RETURNED),
    "reach(); forge(variable, C, (void *)mysgemm);": (0, "end\n", RETURNED),
    "_exit(3);": (3, "", IN_WRAPPER),
    "exit(0);": (0, "", IN_WRAPPER),
    "raise(SIGTERM);": (-signal.SIGTERM, "", IN_WRAPPER),
    "signal(SIGSEGV, SIG_DFL); ++*(volatile char *)(long)(k / 1000);":
        (-signal.SIGSEGV, "", IN_WRAPPER),
    "++*(volatile char *)(long)(k / 1000);": (1, "", STOPPED),
    "if (strlen((char *)A)) puts(\"A\");": (1, "", STOPPED),
    "for (volatile int i = 0;; ++i) ;": (1, "", TIME_LIMIT),
}  # fmt: skip
TEXT = KERNEL.replace("WHAT", "\n".join(f"if (k == {k}) {{ {what} }}" for k, what in enumerate(CASES, 1)))


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """One that another user can read."""
    with tempfile.TemporaryDirectory() as path:
        os.chmod(path, 0o755)
        yield Path(path)


@pytest.fixture(scope="module", params=["gcc", pytest.param("clang", marks=pytest.mark.slow)])
def worker(request: pytest.FixtureRequest, tree: Tree, folder: Path) -> Path:
    """A checked one, with forged_calls.c in it."""
    parts, work = folder / request.param, folder / f"work of {request.param}"
    if request.param == "gcc":
        shutil.copytree(trusted_parts().directory, parts)
    else:
        tree.make("grader-parts", "BACKEND=cpu", f"CC={need('clang')}", f"CXX={need('clang++')}")
        shutil.copytree(tree.path / "build" / "grader", parts)
    forger = ["-c", REPOSITORY / "tests/grader/run/forged_calls.c", "-o", parts / "forged.o"]
    subprocess.run([request.param, *forger], check=True)
    both = [parts / "host_process.o", parts / "forged.o"]
    subprocess.run(["ld", "-r", *both, "-o", parts / "both.o"], check=True)
    (parts / "both.o").replace(both[0])
    work.mkdir()
    (work / "kernel.cu").write_text(TEXT)
    for step in ("objects", "programs"):
        subprocess.run(["sh", parts / "compile.sh", step], cwd=work, check=True)
    return work / "checked"


@pytest.mark.parametrize("what", CASES)
def test_host_code_that_has_taken_over_its_process(worker: Path, what: str) -> None:
    """As another user, if this is root, whom nothing stops."""
    k = list(CASES).index(what) + 1
    files = [os.memfd_create(name) for name in ("in", "out", "report", "writers")]
    for file in files[:2]:
        os.ftruncate(file, MATRICES)
    os.ftruncate(files[3], WRITERS_BYTES)
    try:
        ran = subprocess.run(
            [worker, "16", str(k), "16", *map(str, files[:3]), "1", "1", "0", str(files[3])],
            pass_fds=files,
            stdout=subprocess.PIPE, text=True, user=NOBODY if os.geteuid() == 0 else None,
            timeout=RUN_SECONDS, check=False)  # fmt: skip
        state = struct.unpack("<II", os.pread(files[2], 8, 0))[1]
    finally:
        for file in files:
            os.close(file)
    assert (ran.returncode, ran.stdout, state) == CASES[what]
