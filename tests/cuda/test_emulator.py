"""Tests of engine/cuda/: small CUDA programs, one feature each, built for the CPU and run. Calls and data in them that
look like mistakes, and are none, are not refused.

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

import re
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from checked import CC, CXX
from conftest import UNSPACED, Tree, clean_environment, missing, need, slow_but

HERE = Path(__file__).parent
FEATURES = sorted(path.stem for path in (HERE / "programs").glob("*.cu"))
RUN_SECONDS = 60

# The sanitizers stop at the first finding of either kind, with a status that no program returns.
# Without much optimization: what it gains at run time here, it costs many times at compile time.
SANITIZED = "-O1 -g -pthread -fsanitize=address,undefined -fno-sanitize-recover=all"


SANITIZER_OPTIONS = {"ASAN_OPTIONS": "exitcode=99:detect_leaks=0",  # the programs do not free what they allocate
                     "UBSAN_OPTIONS": "print_stacktrace=1"}
AARCH64 = "aarch64-linux-gnu"
SETUPS = {  # variables of make
    "gcc": [f"CC={CC}", f"CXX={CXX}"],
    "clang": [f"CC={CC}", "CXX=clang++"],
    "sanitized": ["CC=gcc", "CXX=g++", f"C_FLAGS=-std=c11 {SANITIZED}",
                  f"EMULATED_FLAGS=-std=c++17 -fno-strict-aliasing {SANITIZED}"],
    "aarch64": [f"CC={AARCH64}-gcc", f"CXX={AARCH64}-g++", f"AR={AARCH64}-ar"],
}
RUN_BY = {"aarch64": ["qemu-aarch64", "-L", f"/usr/{AARCH64}"]}


def make(tree: Tree, setup: str, source: str, *arguments: str, check: bool = True) -> subprocess.CompletedProcess[str]:
    arguments = (*SETUPS[setup], *arguments)
    for tool in (*(word.split("=")[1] for word in arguments[:2]), *RUN_BY.get(setup, [])[:1]):
        need(tool)
    if setup in RUN_BY:  # the rewriter and what checks spaces run here, whatever they work for
        if not Path(f"/usr/{AARCH64}").is_dir():
            missing(f"/usr/{AARCH64}", "the C library of aarch64 is not installed")
        tools = ["build/cpu/rewrite", "build/cpu/spaces"]
        tree.make(*tools, "CC=gcc", "CXX=g++")
        arguments += tuple(word for tool in tools for word in ("-o", tool))  # leave them as they are
    return tree.make("program", "BACKEND=cpu", f"KERNEL={source}", *arguments, check=check)


def run(tree: Tree, setup: str, name: str) -> tuple[int, str, str]:
    """Of what was made: exit status, standard output and standard error."""
    ran = subprocess.run(
        [*RUN_BY.get(setup, []), tree.path / "build/program", name], cwd=tree.path,
        env=clean_environment(SANITIZER_OPTIONS), stdin=subprocess.DEVNULL, capture_output=True,
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
    plain = setup in ("gcc", "clang")  # there it is looked at who calls whom, too: all is as nvcc takes it
    marked = tree.path / "build/cpu/kernel.marked.o"
    marked.unlink(missing_ok=True)
    warnings = make(tree, setup, "tests/cuda/features.cu", *([] if plain else UNSPACED)).stderr
    assert marked.exists() == plain and (not plain or "warning" not in warnings), warnings
    ran = {name: run(tree, setup, name) for name in FEATURES}
    assert {name: result for name, result in ran.items() if result != (0, "", "")} == {}


# ---- faults --------------------------------------------------------------------------------------


def read_faults(text: str) -> Iterator[tuple[str, list[str], int]]:
    """Name, regular expressions and status of each: what lies between two comments at the start of a line."""
    for part in re.finditer(r"^/\* .*?(?=^/\* |\Z)", text, re.MULTILINE | re.DOTALL):
        name = re.search(r"^FAULT(?:_ENDS)?\((\w+)", part[0], re.MULTILINE)
        if not name:
            continue
        before_here = text[: part.start()] + part[0].partition("// HERE")[0]
        place = f"tests/cuda/faults\\.cu:{before_here.count(chr(10)) + 1}"
        status = re.search(r"^// status: (-?\d+)$", part[0], re.MULTILINE)
        lines = re.findall(r"^// expect: (.*)$", part[0], re.MULTILINE)
        yield name[1], [line.replace("{HERE}", place) for line in lines], int(status[1]) if status else 0


def lines_of(stderr: str) -> list[str]:
    """The lines on standard error, without blank ones and make's own."""
    return [line for line in stderr.splitlines() if line and not line.startswith("make")]


@pytest.mark.parametrize("setup", ["gcc", pytest.param("clang", marks=pytest.mark.slow)])
def test_faults(request: pytest.FixtureRequest, setup: str) -> None:
    need("addr2line")
    tree = tree_of(request, setup)
    make(tree, setup, "tests/cuda/faults.cu", *UNSPACED)
    for name, expected, status in read_faults((HERE / "faults.cu").read_text()):
        ended, printed, said = run(tree, setup, name)
        lines = lines_of(said)
        assert (ended, printed, len(lines)) == (status, "", len(expected)), (name, said)
        assert all(map(re.fullmatch, expected, lines)), (name, said)


@pytest.mark.slow
def test_an_emulation_that_accepts_every_advice_has_guard_pages(fresh_tree: Tree) -> None:
    make(fresh_tree, "aarch64", "tests/cuda/faults.cu", *UNSPACED)
    assert "stack overflow: a thread's local variables need more than" in run(fresh_tree, "aarch64", "stack_overflow")[2]


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
        built = make(tree, "gcc", "refused.cu", *UNSPACED, check=False)
        [said] = lines_of(built.stderr)
        assert built.returncode != 0 and said.startswith(message), text
