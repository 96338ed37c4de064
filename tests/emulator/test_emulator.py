"""Tests of emulator/: small CUDA programs, one feature each, built for the CPU and run.

tests/emulator/programs/*.cu are complete CUDA programs that print nothing and return 0 where CUDA
works as documented; tests/emulator/run_on_gpu.sh runs the same files on a GPU. Here all of them
become one program, with each file in a namespace of its own, and each runs in a process of its own.
That one program is built with gcc and clang, with the sanitizers, with the portable fibers and for
aarch64.

tests/emulator/faults/*.cu do what a kernel must not do and say in comments what is reported:

    // expect-stderr: REGULAR EXPRESSION   one for each line of standard error, in order; {HERE} is
                                           file:line of the line that ends in // HERE
    // expect-status: N                    0 when left out: the program itself checks error codes
    // expect-build-failure                the lines come from make, and nothing is run

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
from conftest import Tree, clean_environment, locked, missing, need

HERE = Path(__file__).parent
FEATURES = sorted(path.stem for path in (HERE / "programs").glob("*.cu"))
FAULTS = sorted(path.stem for path in (HERE / "faults").glob("*.cu"))
RUN_SECONDS = 60

# The sanitizers stop at the first finding of either kind, with a status that no program returns.
# Without much optimisation: what it gains at run time here, it costs many times at compile time.
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
    "gcc": Setup(("gcc", "g++"), {"CC": "gcc", "CXX": "g++"}),
    "clang": Setup(("clang", "clang++"), {"CC": "clang", "CXX": "clang++"}),
    "sanitized": Setup(
        ("gcc", "g++"),
        {"CC": "gcc", "CXX": "g++", "C_FLAGS": f"-std=c11 {SANITIZED}",
         "EMULATED_FLAGS": f"-std=c++17 -fno-strict-aliasing {SANITIZED}"},
        environment=SANITIZER_OPTIONS,
    ),
    "portable": Setup(("gcc", "g++"), {"CC": "gcc -DFIBER_PORTABLE", "CXX": "g++"}),
    "aarch64": Setup(
        ("aarch64-linux-gnu-gcc", "aarch64-linux-gnu-g++", "qemu-aarch64"),
        {"CC": "aarch64-linux-gnu-gcc", "CXX": "aarch64-linux-gnu-g++",
         "AR": "aarch64-linux-gnu-ar"},
        run=("qemu-aarch64", "-L", SYSROOT),
        foreign=True,
    ),
}


# ---- many programs in one ------------------------------------------------------------------------


def source_of(folder: str, name: str) -> str:
    return (HERE / folder / f"{name}.cu").read_text()


def join(folder: str, names: Sequence[str]) -> str:
    """The text of one program that runs the one of these files that its argument names.

    A function of its own comes first: addr2line (binutils 2.40) takes lines of the file that gcc
    numbers 1 for lines of the main file.
    """
    headers, cases, parts = set(), [], []
    for name in names:
        text = source_of(folder, name)
        macros = re.findall(r"^#define (\w+)", text, re.MULTILINE)
        headers |= set(re.findall(r"^#include <(.*)>", text, re.MULTILINE))
        cases.append(f'    if (strcmp(name, "{name}") == 0) return test_{name}::run();')
        parts += [f"namespace test_{name} {{", f'#include "{folder}/{name}.cu"', "}"]
        parts += [f"#undef {macro}" for macro in macros]
    return "\n".join([
        *(f"#include <{header}>" for header in sorted(headers)), '#include "programs/check.h"',
        "#ifndef __clang__", "__attribute__((no_reorder))", "#endif", "int first() { return 0; }",
        "#define main run", *parts, "#undef main",
        "int main(int, char **arguments) {", "    const char *name = arguments[1];", *cases,
        "    return first() + 98;", "}", "",
    ])  # fmt: skip


@dataclass
class Programs:
    """Many programs in one, as a setup builds it."""

    setup: Setup
    tree: Tree
    path: Path
    warnings: str

    def run(self, name: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*self.setup.run, self.path, name], cwd=self.tree.path,
            env=clean_environment(self.setup.environment), stdin=subprocess.DEVNULL,
            capture_output=True, text=True, errors="replace", timeout=RUN_SECONDS, check=False,
        )  # fmt: skip


def make(tree: Tree, setup: Setup, source: str, check: bool) -> subprocess.CompletedProcess[str]:
    arguments = [f"{key}={value}" for key, value in setup.variables.items()]
    if setup.foreign:  # the rewriter runs here, whatever its output is for
        tree.make("build/cpu/rewrite", "CC=gcc", "CXX=g++")
        arguments += ["-o", "build/cpu/rewrite"]  # leave it as it is
    return tree.make("program", "BACKEND=cpu", f"KERNEL={source}", *arguments, check=check)


Builder = Callable[[str, str, Sequence[str]], Programs]


@pytest.fixture(scope="session")
def joined(tmp_path_factory: pytest.TempPathFactory, programs: Path) -> Builder:
    """Builds these files of a folder in this setup: once, whichever worker needs them first."""
    tree: list[Tree] = []
    made: dict[tuple[str, ...], Programs] = {}

    def build(name: str, folder: str, names: Sequence[str]) -> Programs:
        setup = SETUPS[name]
        for tool in setup.tools:
            need(tool)
        if setup.foreign and not Path(SYSROOT).is_dir():
            missing(SYSROOT, "the C library of aarch64 is not installed")
        if not tree:
            tree.append(Tree(tmp_path_factory.mktemp("a checkout"), programs))
        key = (name, folder, names[0])
        path = programs / "-".join(key)
        with locked(programs / f"{path.name}.lock"):
            if key not in made and not path.exists():
                tree[0].write(f"tests/emulator/{path.name}.cu", join(folder, names))
                built = make(tree[0], setup, f"tests/emulator/{path.name}.cu", check=True)
                path.with_suffix(".log").write_text(built.stderr)
                shutil.copy2(tree[0].path / "build" / "program", path)
        log = path.with_suffix(".log").read_text()
        return made.setdefault(key, Programs(setup, tree[0], path, log))

    return build


# All features with gcc; elsewhere each fourth, and the others in tests marked slow.
SAMPLES = {name: FEATURES if name == "gcc" else FEATURES[number % 4 :: 4]
           for number, name in enumerate(SETUPS)}
FEATURE_TESTS = [
    pytest.param(setup, feature, marks=[] if feature in SAMPLES[setup] else [pytest.mark.slow])
    for setup in SETUPS for feature in FEATURES
]  # fmt: skip


@pytest.mark.parametrize(("setup", "feature"), FEATURE_TESTS)
def test_feature(joined: Builder, setup: str, feature: str) -> None:
    sampled = feature in SAMPLES[setup]
    names = [name for name in FEATURES if (name in SAMPLES[setup]) == sampled]
    built = joined(setup, "programs", names)
    if setup in ("gcc", "clang"):
        assert "warning" not in built.warnings, built.warnings
    ran = built.run(feature)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")


# ---- faults --------------------------------------------------------------------------------------


@dataclass
class Expectation:
    stderr: list[str]  # regular expressions
    status: int
    builds: bool


def read_expectation(source: str, text: str) -> Expectation:
    """What the comments of a faulty program promise."""
    here = [n for n, line in enumerate(text.splitlines(), 1) if line.endswith("// HERE")]
    place = f"{re.escape(source)}:{here[0]}" if here else "(no line ends in // HERE)"
    status = re.search(r"^// expect-status: (-?\d+)$", text, re.MULTILINE)
    return Expectation(
        stderr=[
            line.replace("{HERE}", place)
            for line in re.findall(r"^// expect-stderr: (.*)$", text, re.MULTILINE)
        ],
        status=int(status[1]) if status else 0,
        builds="\n// expect-build-failure\n" not in text,
    )


def lines_of(stderr: str) -> list[str]:
    """The lines on standard error, without blank ones and make's own."""
    return [line for line in stderr.splitlines() if line and not line.startswith("make")]


def assert_lines_match(lines: list[str], patterns: list[str]) -> None:
    shown = "\n".join(["got:", *lines, "expected:", *patterns])
    assert len(lines) == len(patterns), shown
    for line, pattern in zip(lines, patterns):
        assert re.fullmatch(pattern, line), shown


EXPECTED = {
    fault: read_expectation(f"tests/emulator/faults/{fault}.cu", source_of("faults", fault))
    for fault in FAULTS
}
REFUSED = [fault for fault in FAULTS if not EXPECTED[fault].builds]
RUN = [fault for fault in FAULTS if EXPECTED[fault].builds]


@pytest.mark.parametrize("setup", ["gcc", pytest.param("clang", marks=pytest.mark.slow)])
@pytest.mark.parametrize("fault", RUN)
def test_fault(joined: Builder, setup: str, fault: str) -> None:
    need("addr2line")
    ran = joined(setup, "faults", RUN).run(fault)
    assert_lines_match(lines_of(ran.stderr.replace(f"test_{fault}::", "")), EXPECTED[fault].stderr)
    assert ran.returncode == EXPECTED[fault].status
    assert ran.stdout == ""


@pytest.mark.parametrize("fault", REFUSED)
def test_refused(tree: Tree, fault: str) -> None:
    built = make(tree, SETUPS["gcc"], f"tests/emulator/faults/{fault}.cu", check=False)
    assert built.returncode != 0, "it builds"
    assert_lines_match(lines_of(built.stderr), EXPECTED[fault].stderr)
