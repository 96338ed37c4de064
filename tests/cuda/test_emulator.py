"""Tests of engine/cuda/: small CUDA programs, one feature each, built for the CPU and run.

tests/cuda/programs/*.cu are complete CUDA programs that print nothing and return 0 where CUDA
works as documented; tests/cuda/run_on_gpu.sh runs the same files on a GPU. Here all of them
become one program, with each file in a namespace of its own, and each runs in a process of its own.
That one program is built with gcc and clang, with the sanitizers and for aarch64.

tests/cuda/faults.cu does what a kernel must not do, and says in comments what is reported:

    // expect: REGULAR EXPRESSION   one for each line of standard error, in order; {HERE} is
                                    file:line of the line that ends in // HERE
    // status: N                    0 when left out: the program itself checks error codes

The sanitized build leaves the faults out: AddressSanitizer would report each itself and end the
program, before the emulator sees a signal.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from checked import CC, CXX
from conftest import UNSPACED, Tree, clean_environment, missing, need, slow_but

HERE = Path(__file__).parent
FEATURES = sorted(path.stem for path in (HERE / "programs").glob("*.cu"))
RUN_SECONDS = 60
SYSROOT = "/usr/aarch64-linux-gnu"

# The sanitizers stop at the first finding of either kind, with a status that no program returns.
# Without much optimization: what it gains at run time here, it costs many times at compile time.
SANITIZED = "-O1 -g -pthread -fsanitize=address,undefined -fno-sanitize-recover=all"


@dataclass(frozen=True)
class Setup:
    """One way to build and run the programs."""

    cc: str
    cxx: str
    variables: tuple[str, ...] = ()
    run: tuple[str, ...] = ()
    """What runs a program that this machine does not run by itself."""
    environment: dict[str, str] = field(default_factory=dict)


SETUPS = {
    "gcc": Setup(CC, CXX),
    "clang": Setup(CC, "clang++"),
    "sanitized": Setup(
        "gcc", "g++",
        (f"C_FLAGS=-std=c11 {SANITIZED}", f"EMULATED_FLAGS=-std=c++17 -fno-strict-aliasing {SANITIZED}"),
        # The programs do not free what they allocate.
        environment={"ASAN_OPTIONS": "exitcode=99:detect_leaks=0", "UBSAN_OPTIONS": "print_stacktrace=1"}),
    "aarch64": Setup("aarch64-linux-gnu-gcc", "aarch64-linux-gnu-g++", ("AR=aarch64-linux-gnu-ar",),
                     run=("qemu-aarch64", "-L", SYSROOT)),
}  # fmt: skip


def make(tree: Tree, setup: Setup, source: str, check: bool = True) -> subprocess.CompletedProcess[str]:
    for tool in (setup.cc, setup.cxx, *setup.run[:1]):
        need(tool)
    arguments = [f"CC={setup.cc}", f"CXX={setup.cxx}", *setup.variables]
    if setup.run:  # the rewriter and what checks spaces run here, whatever they work for
        if not Path(SYSROOT).is_dir():
            missing(SYSROOT, "the C library of aarch64 is not installed")
        tools = ["build/cpu/rewrite", "build/cpu/spaces"]
        tree.make(*tools, "CC=gcc", "CXX=g++")
        arguments += [word for tool in tools for word in ("-o", tool)]  # leave them as they are
    return tree.make("program", "BACKEND=cpu", f"KERNEL={source}", *UNSPACED, *arguments, check=check)


def run(tree: Tree, setup: Setup, name: str) -> tuple[int, str, str]:
    """Of what was made: exit status, standard output and standard error."""
    ran = subprocess.run(
        [*setup.run, tree.path / "build/program", name], cwd=tree.path,
        env=clean_environment(setup.environment), stdin=subprocess.DEVNULL, capture_output=True,
        text=True, errors="replace", timeout=RUN_SECONDS, check=False,
    )  # fmt: skip
    return ran.returncode, ran.stdout, ran.stderr


def tree_of(request: pytest.FixtureRequest, setup: str) -> Tree:
    tree: Tree = request.getfixturevalue("tree" if setup == "gcc" else "fresh_tree")
    return tree


def join(names: Sequence[str]) -> str:
    """The text of one program that runs the one of these programs that its argument names."""
    headers, cases, parts = set(), [], []
    for name in names:
        text = (HERE / "programs" / f"{name}.cu").read_text()
        macros = re.findall(r"^#define (\w+)", text, re.MULTILINE)
        headers |= set(re.findall(r"^#include <(.*)>", text, re.MULTILINE))
        cases.append(f'    if (strcmp(name, "{name}") == 0) return test_{name}::run();')
        parts += [f"namespace test_{name} {{", f'#include "programs/{name}.cu"', "}"]
        parts += [f"#undef {macro}" for macro in macros]
    return "\n".join([
        *(f"#include <{header}>" for header in sorted(headers)), '#include "programs/check.h"',
        "#define main run", *parts, "#undef main",
        "int main(int, char **arguments) {", "    const char *name = arguments[1];", *cases,
        "    return 98;", "}", "",
    ])  # fmt: skip


@pytest.mark.parametrize("setup", slow_but([*SETUPS], lambda _, name: name == "gcc"))
def test_features(request: pytest.FixtureRequest, setup: str) -> None:
    tree = tree_of(request, setup)
    tree.write("tests/cuda/features.cu", join(FEATURES))
    warnings = make(tree, SETUPS[setup], "tests/cuda/features.cu").stderr
    assert setup not in ("gcc", "clang") or "warning" not in warnings, warnings
    ran = {name: run(tree, SETUPS[setup], name) for name in FEATURES}
    assert {name: result for name, result in ran.items() if result != (0, "", "")} == {}


# ---- faults --------------------------------------------------------------------------------------


@dataclass
class Fault:
    name: str
    stderr: list[str]  # regular expressions
    status: int


def read_faults(text: str) -> list[Fault]:
    """Each is what lies between two comments at the start of a line."""
    faults = []
    for part in re.finditer(r"^/\* .*?(?=^/\* |\Z)", text, re.MULTILINE | re.DOTALL):
        name = re.search(r"^FAULT\((\w+)\)", part[0], re.MULTILINE)
        if not name:
            continue
        before_here = text[: part.start()] + part[0].partition("// HERE")[0]
        place = f"tests/cuda/faults\\.cu:{before_here.count(chr(10)) + 1}"
        status = re.search(r"^// status: (-?\d+)$", part[0], re.MULTILINE)
        lines = re.findall(r"^// expect: (.*)$", part[0], re.MULTILINE)
        faults.append(Fault(name[1], [line.replace("{HERE}", place) for line in lines],
                            int(status[1]) if status else 0))
    return faults


def lines_of(stderr: str) -> list[str]:
    """The lines on standard error, without blank ones and make's own."""
    return [line for line in stderr.splitlines() if line and not line.startswith("make")]


@pytest.mark.parametrize("setup", ["gcc", pytest.param("clang", marks=pytest.mark.slow)])
def test_faults(request: pytest.FixtureRequest, setup: str) -> None:
    need("addr2line")
    tree = tree_of(request, setup)
    make(tree, SETUPS[setup], "tests/cuda/faults.cu")
    for fault in read_faults((HERE / "faults.cu").read_text()):
        status, printed, said = run(tree, SETUPS[setup], fault.name)
        assert (status, printed) == (fault.status, ""), (fault, said)
        lines = lines_of(said)
        assert len(lines) == len(fault.stderr) and all(map(re.fullmatch, fault.stderr, lines)), (fault, said)


# A header that is missing, with CUDA installed or not; and some that are there, and their use. The line
# is the one that is named.
REFUSED = {
    "#include <cuda_fp16.h>": "refused.cu:1: <cuda_fp16.h> of the CUDA toolkit does not work on the CPU "
                              "backend; take the #include out, or build with BACKEND=cuda",
    "#include <mma.h>\nusing namespace nvcuda;": "refused.cu:2: wmma (tensor cores) runs only on a GPU",
    "#include <cuda/pipeline>\nauto p = cuda::make_pipeline();": "refused.cu:2: the cuda:: library",
}  # fmt: skip


def test_refused(tree: Tree) -> None:
    for text, message in REFUSED.items():
        tree.write("refused.cu", f"{text}\nint main() {{ return 0; }}\n")
        built = make(tree, SETUPS["gcc"], "refused.cu", check=False)
        [said] = lines_of(built.stderr)
        assert built.returncode != 0 and said.startswith(message), text
