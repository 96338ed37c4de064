"""Tests that what nvcc refuses is refused here: by make, make check, make program and the grade.

tests/cuda/refused/*.cu hold programs, each with one mistake, below a line with its name. The line that
nvcc refuses, at which it is refused here, too, ends with a phrase of the message:

    // ==== kernel_without_launch: the wrapper calls the kernel without <<<grid, block>>>
    ...
        mysgemm(C); // refused: a __global__ function call must be configured

Of BODIES' files, indented lines at a program's end that are in no function are the body of its function.
nvcc's front end needs no GPU: where it is installed, the programs are held against it.
"""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from conftest import Tree, clean_environment, need, need_nvcc, sample, slow_but
from test_emulator import FEATURES, HERE

from grader.build.parts import trusted_parts
from grader.build.submission import build_submission, work_directory
from grader.errors import NotBuilt
from grader.jail.sandbox import choose_sandbox

MOST_LINES = 5
MARK = "// refused: "
OF_EACH_STEP = ["brace_missing_in_kernel", "helper_without_device", "launch_with_too_few_arguments"]
"""What the rewriter refuses, what the calls in the object show, and what the compiler refuses."""


class Refused(NamedTuple):
    text: str
    line: int
    phrase: str


KERNEL = "__global__ void mysgemm(int n, float *C) {"
BODIES = {"arrays": KERNEL, "host_data": KERNEL, "host_functions": KERNEL, "initializers": KERNEL,
          "device_code_in_host": "void basicSgemm(int n, dim3 *grid) {"}


def read_programs(path: Path) -> Iterator[tuple[str, Refused]]:
    _, *parts = re.split(r"^// ==== (\w+).*\n", path.read_text(), flags=re.MULTILINE)
    for name, text in zip(parts[::2], parts[1::2]):
        if path.stem in BODIES:
            text = re.sub(r"((?:^    .*\n)+)\n*\Z", rf"{BODIES[path.stem]}\n\1}}\n", text, flags=re.MULTILINE)
        [(number, line)] = [(i, line) for i, line in enumerate(text.splitlines(), 1) if MARK in line]
        yield name, Refused(text, number, line.partition(MARK)[2].strip())


FOLDER = Path(__file__).parent / "refused"
EXPECTED = {name: refused for path in FOLDER.glob("*.cu") for name, refused in read_programs(path)}
NAMES = sorted(EXPECTED)


def check_make(tree: Tree, name: str, target: str, program: str, *arguments: str) -> None:
    """The first thing that is said is of that place, in few lines."""
    refused, source = EXPECTED[name], f"{name}.cu"
    tree.make_first()
    tree.write(source, refused.text)
    (tree.path / program).unlink(missing_ok=True)
    ran = tree.make(target, "BACKEND=cpu", f"KERNEL={source}", *arguments, check=False)
    lines = [line for line in ran.stderr.splitlines() if not line.startswith("make")]
    first = next((line for line in lines if re.match(r"\S+:\d+:", line)), "")
    assert ran.returncode == 2 and len(lines) <= MOST_LINES, ran
    assert first.startswith(f"{source}:{refused.line}:") and refused.phrase in first, ran
    assert not (tree.path / program).exists()


BY_DAY = {"array_of_parameter_length", "brace_missing_in_helper", "calls_puts", "device_constructor_in_a_member",
          "device_member_called_by_host", "device_value_of_a_call", "operator_without_device", "static_in_kernel",
          "va_start_without_ellipsis"}
"""Of the others, the rewriter's are in test_rewrite.py."""
OF_GCC = {"device_destructor", *(name for name, _ in read_programs(FOLDER / "arrays.cu"))}
"""Clang leaves out the line where a destructor is registered, and its sanitizer is not asked about arrays."""


@pytest.fixture(scope="module")
def trees(tree: Tree, tmp_path_factory: pytest.TempPathFactory, programs: Path) -> dict[str, Tree]:
    """By the compiler."""
    return {"c++": tree, "clang++": Tree(tmp_path_factory.mktemp("a checkout"), programs)}


@pytest.mark.parametrize(("cxx", "name"), slow_but(
    [(cxx, name) for cxx in ("c++", "clang++") for name in NAMES],
    lambda _, value: value[0] == "c++" and value[1] in BY_DAY))
def test_make(cxx: str, name: str, trees: dict[str, Tree]) -> None:
    """Of the steps to ./sgemm those that refuse, one after the other: of most the last, the compilation, is
    spared."""
    need(cxx)
    if cxx == "clang++" and name in OF_GCC:
        pytest.skip("clang says too little")
    check_make(trees[cxx], name, "build/cpu/kernel.spaces", "sgemm", "build/cpu/kernel.o", "-j1", f"CXX={cxx}")


@pytest.mark.parametrize(("step", "target", "program"), slow_but(
    [(step, *target) for step in OF_EACH_STEP
     for target in (("check", "sgemm-check"), ("program", "build/program"))],
    lambda number, _: number in (1, 2, 4)))
def test_other_targets(step: str, target: str, program: str, tree: Tree) -> None:
    check_make(tree, step, target, program)


@pytest.mark.parametrize("name", slow_but(OF_EACH_STEP, lambda number, _: number == 1))
def test_grade(name: str) -> None:
    """It loses the criterion "builds", with that reason and line."""
    refused, parts = EXPECTED[name], trusted_parts()
    box = choose_sandbox("auto", False, [], parts.jail)
    with work_directory() as work, pytest.raises(NotBuilt) as error:
        build_submission(parts, refused.text.encode(), box, Path(work))
    assert (error.value.file, error.value.line) == ("kernel.cu", refused.line)
    assert refused.phrase in error.value.message
    assert len(error.value.output.splitlines()) <= MOST_LINES


def nvcc(path: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Both passes: the device's alone does not see the host's mistakes."""
    return subprocess.run([need_nvcc(), "-arch=sm_90", "-c", path, *arguments], env=clean_environment(),
                          capture_output=True, text=True, check=False)


@pytest.mark.parametrize("name", sample(NAMES, 48))
def test_nvcc_refuses_it(name: str, tmp_path: Path) -> None:
    """At the same line."""
    source = tmp_path / "a.cu"
    source.write_text(EXPECTED[name].text)
    ran = nvcc(source, "-o", tmp_path / "a.o")
    lines = re.findall(r"\.cu[(:](\d+)\)?.* error", ran.stdout + ran.stderr)
    assert ran.returncode != 0 and lines and int(lines[0]) == EXPECTED[name].line, ran


@pytest.mark.parametrize(("argument", "error"), sample(
    [("n", "‘int’ to ‘float*’"), ("A", "‘const float*’ to ‘float*’")], every=2))
def test_arguments_are_checked_as_those_of_a_call(argument: str, error: str, tree: Tree) -> None:
    """A 0 may be a pointer, and no other integer is one."""
    refused = EXPECTED["launch_with_too_few_arguments"]
    tree.write("pointer.cu", refused.text.replace("(n, A);", f"(n, A, {argument});"))
    ran = tree.make("build/cpu/kernel.o", "BACKEND=cpu", "KERNEL=pointer.cu", check=False)
    first = next(line for line in ran.stderr.splitlines() if "error:" in line)
    assert ran.returncode == 2 and first.startswith(f"pointer.cu:{refused.line}:"), ran
    assert f"invalid conversion from {error}" in first, ran


# Each ended with cudaErrorMisalignedAddress or cudaErrorIllegalAddress on an H200.
WRONG_ON_A_GPU = {
    "argument": ("__global__ void kernel(float *p, call f) { *p = f(2); }\n"
                 "void wrapper(float *p) {\n    kernel<<<1, 1>>>(p, twice);\n}\n", 5, "function (twice) that host code takes"),
    "table": ("call table[] = {twice, twice};\n__global__ void kernel(float *p, call f) { *p = f(2); }\n"
              "void wrapper(float *p) {\n    kernel<<<1, 1>>>(p, table[1]);\n}\n", 3, "function (twice) that host code takes"),
    "virtual": ("struct base { __host__ __device__ virtual float f() const { return 1; } };\n"
                "__global__ void kernel(float *p, base b) { base *q = &b; *p = q->f(); }\n"
                "void wrapper(float *p) {\n    kernel<<<1, 1>>>(p, base());\n}\n", 6, "an object of a class with virtual"),
}
COPIED = """__global__ void kernel(float *p, call f) { *p = f(2); }
__device__ call kept = twice;
constexpr call constant = twice;
__global__ void other(float *p) { *p = constant(2); }
void wrapper(float *p) {
    call copy;
    cudaMemcpyFromSymbol(&copy, kept, sizeof copy);
    kernel<<<1, 1>>>(p, copy);
    other<<<1, 1>>>(p);
}
"""


@pytest.mark.parametrize("name", [*WRONG_ON_A_GPU, None])
def test_addresses_of_host_code(name: str | None, tree: Tree, tmp_path: Path) -> None:
    """nvcc takes them. What is copied from a __device__ variable is an address of the GPU's."""
    text, line, phrase = WRONG_ON_A_GPU[name] if name else (COPIED, 0, "")
    head = "typedef float (*call)(float);\n__device__ float twice(float x) { return 2 * x; }\n"
    source = tree.write("addresses.cu", head + text)
    ran = tree.make("build/cpu/kernel.spaces", "build/cpu/kernel.o", "BACKEND=cpu", "KERNEL=addresses.cu", "-j1", check=False)
    assert (ran.returncode == 0) == (name is None), ran
    assert re.search(rf"^addresses\.cu:{line}:", ran.stderr, re.MULTILINE) if name else ran.stderr == "", ran
    assert phrase in ran.stderr
    assert nvcc(source, "-o", tmp_path / "a.o").returncode == 0


def check_ptxas(tree: Tree, tmp_path: Path, text: str, taken: bool, said: str, lines: str) -> None:
    """It is ptxas that refuses too much memory, without a line; here it has one of `lines`."""
    source = tree.write("memory.cu", text)
    ran = tree.make("build/cpu/kernel.spaces", "BACKEND=cpu", "KERNEL=memory.cu", check=False)
    assert (ran.returncode == 0) == taken, ran
    assert taken or re.match(rf"memory\.cu:[{lines}]: {re.escape(said)}", ran.stderr), ran
    assert (nvcc(source, "-o", tmp_path / "a.o").returncode == 0) == taken


@pytest.mark.parametrize(("first", "second", "taken"), [(65535, 1, True), (65535, 2, False), (1, 80000, False)])
def test_constant_memory(first: int, second: int, taken: bool, tree: Tree, tmp_path: Path) -> None:
    """Of 64 KB all can be used."""
    text = f"__constant__ char one[{first}];\nstatic __constant__ char two[{second}];\n{KERNEL} C[0] = one[n] + two[n]; }}\n"
    said = f"file uses too much global constant data ({first + second} bytes, 65536 max)"
    check_ptxas(tree, tmp_path, text, taken, said, "12")


@pytest.mark.parametrize(("first", "used", "taken"), [(49148, "both()", True), (49149, "both()", False), (60000, "4", True)])
def test_static_shared_memory(first: int, used: str, taken: bool, tree: Tree, tmp_path: Path) -> None:
    """A kernel has 48 KB of it, for what it uses itself and in the functions that it calls."""
    text = f"""__shared__ char one[{first}];
__device__ int both() {{ __shared__ char two[2]; one[threadIdx.x] = two[threadIdx.x] = 1; return one[two[0]]; }}
{KERNEL} __shared__ char three[2]; three[n] = {used}; C[0] = three[n + 1]; }}
__global__ void other(int n) {{ __shared__ char four[40000]; four[n] = 1; if (four[2 * n]) __trap(); }}
"""
    said = f"entry function mysgemm uses too much shared data ({first + 4} bytes, 49152 max)"
    check_ptxas(tree, tmp_path, text, taken, said, "1")


# ---- what nvcc takes is taken --------------------------------------------------------------------

# Lambdas of the host's that are for the device, with --extended-lambda; and a name of the device's in host code, which
# no program can be linked with. (All else that looks like a mistake is in tests/cuda/programs.)
EXTENDED_LAMBDAS = """__device__ int add(int a, int b) { return a + b; }
template <class F> __global__ void apply(F f, int *p) { f(p); }
int main() {
    int *p, by = 3 + 0 * threadIdx.x;
    cudaMallocManaged(&p, 2 * sizeof *p);
    apply<<<1, 1>>>([=] __device__(int *q) { q[0] = add(by, 1); }, p);
    apply<<<1, 1>>>([=] __host__ __device__(int *q) { q[1] = by; }, p);
    apply<<<1, 1>>>(
        [=] __device__(int *q) mutable {
            __shared__ int tile[2];
            tile[0] = by++;
            __syncthreads();
            q[1] = tile[0];
        },
        p);
    return cudaDeviceSynchronize() != cudaSuccess;
}
"""


@pytest.mark.slow
@pytest.mark.parametrize("cxx", ["c++", "clang++"])
def test_extended_lambdas(cxx: str, trees: dict[str, Tree], tmp_path: Path) -> None:
    need(cxx)
    tree = trees[cxx]
    tree.make("program", "BACKEND=cpu", f"KERNEL={tree.write('lambdas.cu', EXTENDED_LAMBDAS).name}", f"CXX={cxx}")
    assert nvcc(tree.path / "lambdas.cu", "--extended-lambda", "-o", tmp_path / "a.o").returncode == 0


@pytest.mark.parametrize("name", sample(FEATURES, 48))
def test_nvcc_takes_it(name: str, tmp_path: Path) -> None:
    ran = nvcc(HERE / f"programs/{name}.cu", "-o", tmp_path / "a.o")
    assert ran.returncode == 0, ran


def test_what_a_compiler_adds_by_itself_is_no_call(tree: Tree) -> None:
    built = tree.make("build/cpu/kernel.spaces", "BACKEND=cpu", "KERNEL=instructor/solutions/4_register_tiles.cu",
                      "CXX=c++ -fstack-protector-all")
    assert built.stderr == ""


MARKS = {
    "__device__ int f();": [1, 0],
    "__global__ void k();": [2, 1],
    "inline __host__ __device__ int f();": [3, 2],
    "__device__ static __host__ int f();": [3, 2],
    "__host__ __attribute__((noinline)) __device__ int f();": [3, 2],
    "template <class T> __global__ void k(T t);": [2, 1],
    "struct s { s() = default; };": [3, 2],
    "__host__ int f();": None,
    "typedef __device__ int (*f)();": None,
    "void f(__device__ int g());": None,
    "int f();": None,
}


def test_the_marked_text(tree: Tree, tmp_path: Path) -> None:
    """One mark for all of a declaration's words, and none in the text that is built."""
    tree.make_first()
    source, marked = tmp_path / "kernel.i", tmp_path / "kernel.marked"
    for text, mark in MARKS.items():
        source.write_text(text)
        plain = subprocess.run([tree.path / "build/cpu/rewrite", source, marked], input=text, text=True,
                               capture_output=True, check=True).stdout
        found = re.findall(r"patchable_function_entry\((\d), (\d)\)", marked.read_text())
        assert [[int(n) for n in each] for each in found] == ([mark] if mark else []), text
        assert "patchable" not in plain, text


MARKED = {
    "void f() { g([=] __device__(int i) mutable { i++; }); }":
        "void f() { g([=] (int i) mutable { ::emulator::of_device(); i++; }); }",
    "void f() { g([=] __host__ __device__(int i) noexcept(true) -> int { return i; }); }":
        "void f() { g([=]  (int i) noexcept(true) -> int { ::emulator::of_both(); return i; }); }",
    "__attribute__((const, patchable_function_entry(1))) int f(const int a);":
        "__attribute__((emulator_const, emulator_entry(1))) int f(const int a);",
    "[[using gnu: pure, const]] int f();": "[[using gnu: emulator_pure, emulator_const]] int f();",
    "#pragma GCC optimize(\"O2\")\n#pragma once\n": "\n#pragma once\n",
    "if (debug == 0) f(); while (n += 1) g();":
        "if (::emulator::may_be() || (debug == 0)) f(); while (::emulator::may_be() || (n += 1)) g();",
    "if (int n = f()) g(); if (auto n{3}) g(); if (n = 3; n) g(); if constexpr (n) g();":
        "if (int n = f()) g(); if (auto n{3}) g(); if (n = 3; n) g(); if constexpr (n) g();",
}


def test_other_marks(tree: Tree, tmp_path: Path) -> None:
    """In lambdas, in conditions, and on attributes that would leave calls out."""
    tree.make_first()
    source, marked = tmp_path / "kernel.i", tmp_path / "kernel.marked"
    for text, expected in MARKED.items():
        source.write_text(text)
        subprocess.run([tree.path / "build/cpu/rewrite", source, marked], input=text, text=True,
                       capture_output=True, check=True)
        assert marked.read_text() == expected


ONLY_OPTIMIZED = """__attribute__((error("never called"))) void never();
__device__ void leaves_out() { int zero = 0; if (zero) never(); }
__global__ void mysgemm() { leaves_out(); }
void basicSgemm() {}
"""


def test_what_compiles_with_optimization_alone(tree: Tree) -> None:
    """Its calls could not be checked. What does not compile at all is reported once, by the build."""
    spaces = "build/cpu/kernel.spaces", "BACKEND=cpu", "KERNEL=optimized.cu"
    tree.write("optimized.cu", ONLY_OPTIMIZED)
    ran = tree.make(*spaces, check=False)
    assert ran.returncode == 2, ran
    assert "optimized.cu:2:" in ran.stderr and "does not compile without optimization" in ran.stderr, ran
    tree.write("optimized.cu", ONLY_OPTIMIZED.replace("leaves_out();", "leaves_ou();"))
    assert tree.make(*spaces).stderr == ""
    ran = tree.make("build/cpu/kernel.o", *spaces, "-j2", check=False)
    assert ran.returncode == 2 and ran.stderr.count("error:") == 1, ran


def test_grade_of_what_compiles_with_optimization_alone() -> None:
    parts = trusted_parts()
    box = choose_sandbox("auto", False, [], parts.jail)
    with work_directory() as work, pytest.raises(NotBuilt) as error:
        build_submission(parts, ONLY_OPTIMIZED.encode(), box, Path(work))
    assert error.value.line == 2 and "does not compile without optimization" in error.value.output


def test_a_variable_of_another_file_on_a_line_of_that_number(tree: Tree) -> None:
    tree.write("theirs.h", "\nint theirs = 3;\n")
    tree.write("mine.cu", f'#include "theirs.h"\n__device__ int mine = theirs;\n{KERNEL} C[n] = mine; }}\n')
    ran = tree.make("build/cpu/kernel.spaces", "BACKEND=cpu", "KERNEL=mine.cu", check=False)
    assert ran.stderr.startswith("mine.cu:2: dynamic initialization is not supported"), ran


def test_a_word_alone_is_a_change(tree: Tree) -> None:
    """The text that is built is the same with __device__ and with __host__."""
    text = EXPECTED["helper_without_device"].text
    spaces = "build/cpu/kernel.spaces", "BACKEND=cpu", "KERNEL=word.cu"
    tree.write("word.cu", text.replace("static float", "__device__ float"))
    tree.make(*spaces)
    tree.write("word.cu", text.replace("static float", "__host__ float"))
    for _ in range(2):
        ran = tree.make(*spaces, check=False)
        assert ran.returncode == 2 and "write __device__ before product" in ran.stderr
