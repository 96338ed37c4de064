"""Tests of emulator/: small CUDA programs, one feature each, built for the CPU and run.

tests/emulator/programs/*.cu are complete CUDA programs that print nothing and return 0 where CUDA works as
documented; tests/emulator/run_on_gpu.sh runs the same files on a GPU. Here each is built with gcc
and clang, with the sanitizers, with the portable fibers and for aarch64.

tests/emulator/faults/*.cu do what a kernel must not do and say in comments what is told about it:

    // expect-stderr: REGULAR EXPRESSION   one for each line of standard error, in order; {HERE} is
                                           file:line of the line that ends in // HERE
    // expect-status: N                    0 when left out: the program itself checks error codes
    // expect-build-failure                the lines come from make, and nothing is run

The sanitized build leaves the faults out: AddressSanitizer would report each itself and end the
program, before the emulator sees a signal.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from conftest import Tree, clean_environment, missing, need, sample

PROGRAMS = Path(__file__).parent / "programs"
FEATURES = sorted(path.stem for path in PROGRAMS.glob("*.cu"))
FAULTS = sorted(path.stem for path in (PROGRAMS.parent / "faults").glob("*.cu"))
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

Checkout = Callable[[str], Tree]


@pytest.fixture(scope="session")
def checkout(tmp_path_factory: pytest.TempPathFactory, programs: Path) -> Checkout:
    """A copy of the repository for each setup, so that none rebuilds what another has built."""
    made: dict[str, Tree] = {}

    def get(name: str) -> Tree:
        setup = SETUPS[name]
        for tool in setup.tools:
            need(tool)
        if setup.foreign and not Path(SYSROOT).is_dir():
            missing(SYSROOT, "the C library of aarch64 is not installed")
        if name not in made:
            made[name] = Tree(tmp_path_factory.mktemp(f"a checkout for {name}"), programs)
            if setup.foreign:  # runs here, whatever its output is for
                made[name].make("build/cpu/rewrite", "CC=gcc", "CXX=g++")
        return made[name]

    return get


def build(tree: Tree, name: str, source: str, check: bool) -> subprocess.CompletedProcess[str]:
    setup = SETUPS[name]
    arguments = [f"{key}={value}" for key, value in setup.variables.items()]
    if setup.foreign:
        arguments += ["-o", "build/cpu/rewrite"]  # leave it as it is
    return tree.make("program", "BACKEND=cpu", f"KERNEL={source}", *arguments, check=check)


def run(tree: Tree, name: str) -> subprocess.CompletedProcess[str]:
    setup = SETUPS[name]
    return subprocess.run(
        [*setup.run, "build/program"], cwd=tree.path, env=clean_environment(setup.environment),
        stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
        timeout=RUN_SECONDS, check=False,
    )


@pytest.mark.parametrize(("setup", "feature"), [
    *(("gcc", feature) for feature in FEATURES),
    *(each for number, setup in enumerate(name for name in SETUPS if name != "gcc")
      for each in sample([(setup, feature) for feature in FEATURES], every=4, start=number)),
])  # fmt: skip
def test_feature(checkout: Checkout, setup: str, feature: str) -> None:
    tree = checkout(setup)
    built = build(tree, setup, f"tests/emulator/programs/{feature}.cu", check=True)
    if setup in ("gcc", "clang"):
        assert "warning" not in built.stderr, built.stderr
    ran = run(tree, setup)
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


def told(stderr: str) -> list[str]:
    """The lines on standard error, without blank ones and make's own."""
    return [line for line in stderr.splitlines() if line and not line.startswith("make")]


def assert_lines_match(lines: list[str], patterns: list[str]) -> None:
    shown = "\n".join(["got:", *lines, "expected:", *patterns])
    assert len(lines) == len(patterns), shown
    for line, pattern in zip(lines, patterns):
        assert re.fullmatch(pattern, line), shown


@pytest.mark.parametrize(("setup", "fault"), [
    *(("gcc", fault) for fault in FAULTS),
    *sample([("clang", fault) for fault in FAULTS], every=4),
])  # fmt: skip
def test_fault(checkout: Checkout, setup: str, fault: str) -> None:
    source = f"tests/emulator/faults/{fault}.cu"
    expected = read_expectation(source, (PROGRAMS / "faults" / f"{fault}.cu").read_text())
    tree = checkout(setup)
    built = build(tree, setup, source, check=expected.builds)
    if not expected.builds:
        assert built.returncode != 0, "it builds"
        assert_lines_match(told(built.stderr), expected.stderr)
        return
    need("addr2line")
    ran = run(tree, setup)
    assert_lines_match(told(ran.stderr), expected.stderr)
    assert ran.returncode == expected.status
    assert ran.stdout == ""


# ---- the whole ------------------------------------------------------------------------------------


def test_every_program_is_listed_once() -> None:
    assert len(FEATURES) > 50 and len(FAULTS) > 20
    assert not set(FEATURES) & {"faults", "check"}
