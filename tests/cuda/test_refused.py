"""Tests that what nvcc refuses is refused here: by make, make check, make program and the grade.

tests/cuda/refused/*.cu are the programs, each with one mistake. The first comment says which;
the line that nvcc refuses, at which it is refused here, too, ends with a phrase of the message:

    mysgemm(m, n, k, A, B, C); // refused: a __global__ function call must be configured

nvcc's front end needs no GPU: where it is installed, the programs are held against it.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from conftest import REPOSITORY, Tree, clean_environment, need, need_nvcc, sample, slow_but

from grader.build.parts import trusted_parts
from grader.build.submission import build_submission, work_directory
from grader.errors import NotBuilt
from grader.jail.sandbox import choose_sandbox

PROGRAMS = sorted((Path(__file__).parent / "refused").glob("*.cu"))
NAMES = [path.stem for path in PROGRAMS]
MOST_LINES = 5
MARK = "// refused: "


@dataclass(frozen=True)
class Refused:
    """What is expected."""

    path: str
    line: int
    phrase: str

    @property
    def place(self) -> str:
        return f"{self.path}:{self.line}:"


def expected(name: str) -> Refused:
    path = f"tests/cuda/refused/{name}.cu"
    lines = (Path(__file__).parent / "refused" / f"{name}.cu").read_text().splitlines()
    assert lines[0].startswith(("/*", "//")), f"{path} does not say what its mistake is"
    [(number, text)] = [(i, text) for i, text in enumerate(lines, 1) if MARK in text]
    phrase = text.partition(MARK)[2].strip()
    assert phrase, f"{path}: no phrase"
    return Refused(path, number, phrase)


def check_message(refused: Refused, printed: str) -> None:
    """The first thing that is said is of that place, in few lines."""
    lines = [line for line in printed.splitlines() if not line.startswith("make")]
    assert len(lines) <= MOST_LINES, printed
    first = next((line for line in lines if re.match(r"\S+:\d+:", line)), "")
    assert first.startswith(refused.place), printed
    assert refused.phrase in first, printed


def test_there_are_fifty() -> None:
    assert len(NAMES) >= 50


def check_make(tree: Tree, name: str, target: str, program: str, *tools: str) -> None:
    refused = expected(name)
    tree.make_first()
    (tree.path / program).unlink(missing_ok=True)
    ran = tree.make(target, "BACKEND=cpu", f"KERNEL={refused.path}", *tools, check=False)
    assert ran.returncode == 2, ran.stdout
    check_message(refused, ran.stderr)
    assert not (tree.path / program).exists()


FIRSTS = {*{expected(name).phrase: name for name in reversed(NAMES)}.values()}


@pytest.mark.parametrize("name", slow_but(
    NAMES, lambda number, name: name in FIRSTS and number % 8 == 5))
def test_make(name: str, tree: Tree) -> None:
    """In `make test` some of those that are the first with their words, and others than the tests below build
    for make check and as a grade. Of the steps to ./sgemm those that refuse, one after the other: of
    most the last, the compilation, is spared."""
    check_make(tree, name, "build/cpu/kernel.spaces", "sgemm", "build/cpu/kernel.o", "-j1")


def test_a_word_alone_is_a_change(tree: Tree) -> None:
    """The text that is built is the same with __device__ and with __host__."""
    text = (REPOSITORY / expected("helper_without_device").path).read_text()
    path = tree.write("word.cu", text.replace("static float", "__device__ float"))
    tree.make("sgemm", "BACKEND=cpu", "KERNEL=word.cu")
    path.write_text(path.read_text().replace("__device__ float", "__host__ float"))
    for _ in range(2):
        ran = tree.make("sgemm", "BACKEND=cpu", "KERNEL=word.cu", check=False)
        assert ran.returncode == 2 and "write __device__ before product" in ran.stderr
        assert not (tree.path / "sgemm").exists()


@pytest.fixture(scope="module")
def clang_tree(tmp_path_factory: pytest.TempPathFactory, programs: Path) -> Tree:
    need("clang++")
    return Tree(tmp_path_factory.mktemp("a checkout"), programs)


@pytest.mark.slow
@pytest.mark.parametrize("name", sample(NAMES, 16))
def test_make_with_clang(name: str, clang_tree: Tree) -> None:
    check_make(clang_tree, name, "sgemm", "sgemm", "CXX=clang++")


@pytest.mark.parametrize("name", sample(NAMES, 40, 1))
def test_make_check(name: str, tree: Tree) -> None:
    check_make(tree, name, "check", "sgemm-check")


@pytest.mark.parametrize("name", sample(NAMES, 40, 2))
def test_make_program(name: str, tree: Tree) -> None:
    check_make(tree, name, "program", "build/program")


@pytest.fixture
def work() -> Iterator[Path]:
    with work_directory() as directory:
        yield Path(directory)


@pytest.mark.parametrize("name", sample(NAMES, 40, 3))
def test_grade(name: str, work: Path) -> None:
    """It loses the criterion "builds", with that reason and line."""
    refused, parts = expected(name), trusted_parts()
    box = choose_sandbox("auto", False, [], parts.jail)
    source = PROGRAMS[NAMES.index(name)].read_bytes()
    with pytest.raises(NotBuilt) as error:
        build_submission(parts, source, box, work)
    assert (error.value.file, error.value.line) == ("kernel.cu", refused.line)
    assert refused.phrase in error.value.message
    assert len(error.value.output.splitlines()) <= MOST_LINES


@pytest.mark.parametrize("name", sample(NAMES, 48))
def test_nvcc_refuses_it(name: str, tmp_path: Path) -> None:
    """At the same line. Both passes: the device's alone does not see the host's mistakes."""
    refused = expected(name)
    ran = subprocess.run(
        [need_nvcc(), "-arch=sm_90", "-c", PROGRAMS[NAMES.index(name)], "-o", tmp_path / "a.o"],
        env=clean_environment(), capture_output=True, text=True, check=False,
    )
    assert ran.returncode != 0
    lines = re.findall(r"\.cu[(:](\d+)\)?.* error", ran.stdout + ran.stderr)
    assert lines and int(lines[0]) == refused.line, ran.stdout + ran.stderr


@pytest.mark.parametrize(("argument", "error"), sample(
    [("n", "‘int’ to ‘float*’"), ("A", "‘const float*’ to ‘float*’")], every=2))
def test_arguments_are_checked_as_those_of_a_call(argument: str, error: str, tree: Tree) -> None:
    """A 0 may be a pointer, and no other integer is one."""
    name = "launch_with_too_few_arguments"
    text = (REPOSITORY / expected(name).path).read_text()
    tree.write("pointer.cu", text.replace("A, B);", f"A, B, {argument});"))
    ran = tree.make("build/cpu/kernel.o", "BACKEND=cpu", "KERNEL=pointer.cu", check=False)
    first = next(line for line in ran.stderr.splitlines() if "error:" in line)
    assert ran.returncode == 2 and first.startswith(f"pointer.cu:{expected(name).line}:"), ran
    assert f"invalid conversion from {error}" in first, ran


# ---- what nvcc takes is taken --------------------------------------------------------------------

TAKEN = sorted((Path(__file__).parent / "taken").glob("*.cu"))


@pytest.mark.parametrize("cxx", ["g++", pytest.param("clang++", marks=pytest.mark.slow)])
@pytest.mark.parametrize("path", sample(TAKEN, 2), ids=lambda path: path.stem)
def test_what_nvcc_takes_is_taken(path: Path, cxx: str, tree: Tree, clang_tree: Tree) -> None:
    """Calls and data that look like mistakes."""
    tools = ("CXX=clang++",) if cxx == "clang++" else ()
    where = clang_tree if tools else tree
    marked = where.path / "build/cpu/kernel.marked.o"
    marked.unlink(missing_ok=True)
    where.make("program", "BACKEND=cpu", f"KERNEL=tests/cuda/taken/{path.name}", *tools)
    assert (where.path / "build" / "program").exists()
    # gcc does not take a mark in front of mutable: then nothing is checked.
    assert marked.exists() or (path.stem, cxx) == ("extended_lambda", "g++")


@pytest.mark.parametrize("name", sample(["4_register_tiles", "5_vector_loads"], 2))
def test_what_a_compiler_adds_by_itself_is_no_call(name: str, tree: Tree) -> None:
    """Ubuntu's compilers protect the stack by default, by a call of the C library."""
    built = tree.make("sgemm", "BACKEND=cpu", f"KERNEL=instructor/solutions/{name}.cu",
                      "CXX=c++ -fstack-protector-all")
    assert built.stderr == ""


@pytest.mark.parametrize("path", sample(TAKEN, 7), ids=lambda path: path.stem)
def test_nvcc_takes_it(path: Path, tmp_path: Path) -> None:
    flags = ["--extended-lambda"] if "extended" in path.stem else []
    subprocess.run([need_nvcc(), "-arch=sm_90", *flags, "-c", path, "-o", tmp_path / "a.o"],
                   env=clean_environment(), capture_output=True, check=True)


MARKS = {
    "__device__ int f();": [1, 0],
    "__global__ void k();": [2, 1],
    "inline __host__ __device__ int f();": [3, 2],
    "__device__ static __host__ int f();": [3, 2],
    "__host__ __attribute__((noinline)) __device__ int f();": [3, 2],
    "template <class T> __global__ void k(T t);": [2, 1],
    "void f() { g([=] __device__(int i) { return i; }); }": [1, 0],
    "void f() { g([=] __host__ __device__(int i) { return i; }); }": [3, 2],
    "struct s { s() = default; };": [3, 2],
    "__host__ int f();": None,
    "typedef __device__ int (*f)();": None,
    "void f(__device__ int g());": None,
    "int f();": None,
}


@pytest.mark.parametrize(("text", "mark"), MARKS.items())
def test_the_marked_text(text: str, mark: list[int] | None, tree: Tree, tmp_path: Path) -> None:
    """One mark for all of a declaration's words, and none in the text that is built."""
    tree.make("build/cpu/rewrite", "BACKEND=cpu")
    source, marked = tmp_path / "kernel.i", tmp_path / "kernel.marked"
    source.write_text(text)
    with open(source, "rb") as given:
        plain = subprocess.run([tree.path / "build/cpu/rewrite", source, marked], stdin=given,
                               capture_output=True, check=True).stdout
    found = re.findall(rb"patchable_function_entry\((\d), (\d)\)", marked.read_bytes())
    assert [[int(n) for n in each] for each in found] == ([mark] if mark else [])
    assert b"patchable" not in plain
