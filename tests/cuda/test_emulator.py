"""Tests of emulator/: small CUDA programs, one feature each, built for the CPU and run.

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
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from checked import CC, CXX
from conftest import BUILT, UNSPACED, Tree, clean_environment, locked, missing, need, slow_but

HERE = Path(__file__).parent
FEATURES = sorted(path.stem for path in (HERE / "programs").glob("*.cu"))
RUN_SECONDS = 60

# The sanitizers stop at the first finding of either kind, with a status that no program returns.
# Without much optimization: what it gains at run time here, it costs many times at compile time.
SANITIZED = "-O1 -g -pthread -fsanitize=address,undefined -fno-sanitize-recover=all"
SANITIZER_OPTIONS = {
    "ASAN_OPTIONS": "exitcode=99:detect_leaks=0",  # the programs do not free what they allocate
    "UBSAN_OPTIONS": "print_stacktrace=1",
}


@dataclass(frozen=True)
class Setup:
    """One way to build and run the programs."""

    tools: tuple[str, ...]
    variables: dict[str, str]
    run: tuple[str, ...] = ()  # what runs the program
    environment: dict[str, str] = field(default_factory=dict)
    foreign: bool = False  # makes programs that this machine does not run by itself


SYSROOT = "/usr/aarch64-linux-gnu"
SETUPS = {
    "gcc": Setup(("gcc", "g++"), {"CC": CC, "CXX": CXX}),
    "clang": Setup(("clang++",), {"CC": CC, "CXX": "clang++"}),
    "sanitized": Setup(
        ("gcc", "g++"),
        {"CC": "gcc", "CXX": "g++", "C_FLAGS": f"-std=c11 {SANITIZED}",
         "EMULATED_FLAGS": f"-std=c++17 -fno-strict-aliasing {SANITIZED}"},
        environment=SANITIZER_OPTIONS,
    ),
    "aarch64": Setup(
        ("aarch64-linux-gnu-gcc", "aarch64-linux-gnu-g++", "qemu-aarch64"),
        {"CC": "aarch64-linux-gnu-gcc", "CXX": "aarch64-linux-gnu-g++",
         "AR": "aarch64-linux-gnu-ar"},
        run=("qemu-aarch64", "-L", SYSROOT),
        foreign=True,
    ),
}


# ---- many programs in one ------------------------------------------------------------------------


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


@dataclass
class Programs:
    """Many programs in one, as a setup builds it."""

    setup: Setup
    folder: Path
    """Where it was compiled, by whichever worker: places in it are shown from there."""
    path: Path
    warnings: str

    def run(self, name: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*self.setup.run, self.path, name], cwd=self.folder,
            env=clean_environment(self.setup.environment), stdin=subprocess.DEVNULL,
            capture_output=True, text=True, errors="replace", timeout=RUN_SECONDS, check=False,
        )  # fmt: skip


def make(tree: Tree, setup: Setup, source: str, check: bool) -> subprocess.CompletedProcess[str]:
    arguments = [f"{key}={value}" for key, value in setup.variables.items()]
    if setup.foreign:  # the rewriter and what checks spaces run here, whatever they work for
        tools = ["build/cpu/rewrite", "build/cpu/spaces"]
        tree.make(*tools, "CC=gcc", "CXX=g++")
        arguments += [word for tool in tools for word in ("-o", tool)]  # leave them as they are
    return tree.make("program", "BACKEND=cpu", f"KERNEL={source}", *UNSPACED, *arguments, check=check)


Builder = Callable[[str, str, Sequence[str] | None], Programs]


@pytest.fixture(scope="session")
def builder(tmp_path_factory: pytest.TempPathFactory, programs: Path) -> Builder:
    """Builds a file of the tree in a setup, or, into that file, these programs: once, whichever
    worker needs it first."""
    trees: dict[str, Tree] = {}
    made: dict[tuple[str, str], Programs] = {}

    def build(name: str, source: str, names: Sequence[str] | None) -> Programs:
        setup = SETUPS[name]
        for tool in setup.tools:
            need(tool)
        if setup.foreign and not Path(SYSROOT).is_dir():
            missing(SYSROOT, "the C library of aarch64 is not installed")
        if (name, source) in made:
            return made[name, source]
        if name not in trees:
            trees[name] = Tree(tmp_path_factory.mktemp(f"a checkout for {name}"), programs,
                               BUILT if name == "gcc" else ())
        tree, path = trees[name], programs / f"{name}-{Path(source).stem}"
        log, folder = path.with_suffix(".log"), path.with_suffix(".folder")
        with locked(path.with_suffix(".lock")):
            if not path.exists():
                if names:
                    tree.write(source, join(names))
                log.write_text(make(tree, setup, source, check=True).stderr)
                folder.write_text(str(tree.path))
                shutil.copy2(tree.path / "build" / "program", path)
        return made.setdefault((name, source), Programs(setup, Path(folder.read_text()), path, log.read_text()))

    return build


# All features with gcc; the other setups are in tests marked slow.
@pytest.mark.parametrize(("setup", "feature"), slow_but(
    [(setup, feature) for setup in SETUPS for feature in FEATURES], lambda _, value: value[0] == "gcc"))
def test_feature(builder: Builder, setup: str, feature: str) -> None:
    built = builder(setup, "tests/cuda/features.cu", FEATURES)
    if setup in ("gcc", "clang"):
        assert "warning" not in built.warnings, built.warnings
    ran = built.run(feature)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")


# ---- faults --------------------------------------------------------------------------------------


@dataclass
class Fault:
    stderr: list[str]  # regular expressions
    status: int


def read_faults(text: str) -> dict[str, Fault]:
    """The faults by their names: each is what lies between two comments at the start of a line."""
    faults: dict[str, Fault] = {}
    for part in re.finditer(r"^/\* .*?(?=^/\* |\Z)", text, re.MULTILINE | re.DOTALL):
        name = re.search(r"^FAULT\((\w+)\)", part[0], re.MULTILINE)
        if not name:
            continue
        before_here = text[: part.start()] + part[0].partition("// HERE")[0]
        place = f"tests/cuda/faults\\.cu:{before_here.count(chr(10)) + 1}"
        status = re.search(r"^// status: (-?\d+)$", part[0], re.MULTILINE)
        lines = re.findall(r"^// expect: (.*)$", part[0], re.MULTILINE)
        faults[name[1]] = Fault([line.replace("{HERE}", place) for line in lines],
                                int(status[1]) if status else 0)
    return faults


FAULTS = read_faults((HERE / "faults.cu").read_text())


def lines_of(stderr: str) -> list[str]:
    """The lines on standard error, without blank ones and make's own."""
    return [line for line in stderr.splitlines() if line and not line.startswith("make")]


def assert_lines_match(lines: list[str], patterns: list[str]) -> None:
    shown = "\n".join(["got:", *lines, "expected:", *patterns])
    assert len(lines) == len(patterns), shown
    for line, pattern in zip(lines, patterns):
        assert re.fullmatch(pattern, line), shown


@pytest.mark.parametrize("setup", ["gcc", pytest.param("clang", marks=pytest.mark.slow)])
@pytest.mark.parametrize("fault", FAULTS)
def test_fault(builder: Builder, setup: str, fault: str) -> None:
    need("addr2line")
    ran = builder(setup, "tests/cuda/faults.cu", None).run(fault)
    assert_lines_match(lines_of(ran.stderr), FAULTS[fault].stderr)
    assert (ran.returncode, ran.stdout) == (FAULTS[fault].status, "")


# A header that is missing, with CUDA installed or not; one that is there, and its use; what is
# compiled once and asks where it runs. The line is the one that is named.
REFUSED = {
    "header": ("#include <cuda_fp16.h>", 1,
               "<cuda_fp16.h> of the CUDA toolkit does not work on the CPU backend; take the "
               "#include out, or build with BACKEND=cuda"),
    "wmma": ("#include <mma.h>\nusing namespace nvcuda;", 2,
             "wmma (tensor cores) runs only on a GPU; build with BACKEND=cuda on a machine that has "
             "one"),
    "cuda::": ("#include <cuda/pipeline>\nauto p = cuda::make_pipeline();", 2,
               "the cuda:: library (pipeline, barrier, ...) runs only on a GPU; build with "
               "BACKEND=cuda on a machine that has one"),
    "__CUDA_ARCH__": ("__host__ __device__ int where() {\n#ifdef __CUDA_ARCH__\n    return 1;\n"
                      "#else\n    return 2;\n#endif\n}", 5,
                      "what depends on __CUDA_ARCH__ here is compiled once for host and device on "
                      "the CPU backend; test it inside __global__ or __device__ functions only"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "line", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_refused(tree: Tree, text: str, line: int, message: str) -> None:
    tree.write("refused.cu", f"{text}\nint main() {{ return 0; }}\n")
    built = make(tree, SETUPS["gcc"], "refused.cu", check=False)
    assert built.returncode != 0, "it builds"
    assert lines_of(built.stderr) == [f"refused.cu:{line}: {message}"]
