"""Tests of engine/cuda/rewrite.c, which turns preprocessed CUDA into plain C++.

tests/cuda/rewrite/*.txt hold inputs with what becomes of them:

    ==== title
    input
    ---- becomes            the expected output follows
    ---- stays              the output is the input
    ---- refused: MESSAGE   exit status 1, this one line on standard error, no output

A file's first lines, up to the first title, are for the reader. Every input is kernel.cu from line 1.
That the output compiles and means the same is what tests/cuda/programs are for
(kernels.cu, launch_spellings.cu, shared_spellings.cu, unroll.cu, cuda_arch.cu); what is refused as nvcc
refuses it, tests/cuda/refused/syntax.cu.
"""

import random
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import REPOSITORY, Tree, locked, need, sample
from test_refused import FOLDER, read_programs

SOURCE = REPOSITORY / "engine/cuda/rewrite.c"
FILES = sorted((Path(__file__).parent / "rewrite").glob("*.txt"))
TITLE = re.compile(r"^==== (.*)\n", re.MULTILINE)
OUTCOME = re.compile(r"^---- (stays|becomes|refused: .*)\n", re.MULTILINE)
LINEMARKER = '# 1 "kernel.cu"\n'
ON_A_GPU = "runs only on a GPU; build with BACKEND=cuda on a machine that has one"

Result = tuple[int, bytes, str]
"""Exit status, standard output, standard error."""


def read_cases(path: Path) -> Iterator[tuple[str, bytes, Result]]:
    """Title, input and result of each."""
    _, *parts = TITLE.split(path.read_text())
    for title, body in zip(parts[::2], parts[1::2]):
        before, outcome, after = OUTCOME.split(body)
        given = (LINEMARKER + before).encode()
        if outcome.startswith("refused: "):
            yield title, given, (1, b"", outcome.removeprefix("refused: ") + "\n")
            continue
        if outcome == "becomes":
            # The blank line before the next title belongs to the format.
            before = re.sub(r"\n\n\Z", "\n", after)
        yield title, given, (0, (LINEMARKER + before).encode(), "")


@pytest.fixture(scope="session")
def rewrite(tree: Tree) -> Path:
    """The rewriter as users get it."""
    tree.make_first()
    return tree.path / "build/cpu/rewrite"


@pytest.fixture(scope="session")
def sanitized(programs: Path) -> Path:
    """The rewriter under AddressSanitizer and UndefinedBehaviorSanitizer."""
    program = programs / "rewrite, sanitized"
    with locked(program.with_suffix(".lock")):
        if not program.exists():
            subprocess.run(["cc", "-std=c11", "-g", "-O1", "-fsanitize=address,undefined",
                            "-fno-sanitize-recover=all", "-o", program, SOURCE], check=True)
    return program


def run(program: Path, text: bytes | str, *options: str | Path) -> Result:
    """The time limit is far above what a megabyte takes, unless a rule goes over it again and again."""
    text = text.encode() if isinstance(text, str) else text
    done = subprocess.run([program, *options], input=text, capture_output=True, timeout=20, check=False)
    return done.returncode, done.stdout, done.stderr.decode(errors="replace")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_case(path: Path, rewrite: Path) -> None:
    for title, given, result in read_cases(path):
        assert run(rewrite, given) == result, title


def test_wrong_syntax_is_refused(rewrite: Path) -> None:
    """At the line that nvcc names. (What the compiler refuses is in test_refused.py.)"""
    for name, refused in read_programs(FOLDER / "syntax.cu"):
        status, printed, said = run(rewrite, LINEMARKER + refused.text)
        assert (status, printed, said.count("\n")) == (1, b"", 1), name
        assert said.startswith(f"kernel.cu:{refused.line}: ") and refused.phrase in said, name


# ---- Headers of the CUDA toolkit -----------------------------------------------------------------

TOOLKIT = next((path for path in (Path("/usr/local/cuda/include"), Path("/usr/include"))
                if (path / "cuda_runtime.h").exists()), None)


def test_headers_of_the_toolkit_are_refused(rewrite: Path, tmp_path: Path) -> None:
    """All that is installed; elsewhere, some. But not those of the students."""
    root, names = tmp_path / "toolkit", ["cuda_fp16.h", "crt/host_defines.h", "thrust/sort.h", "cccl/cub/cub.cuh"]
    if TOOLKIT and TOOLKIT != Path("/usr/include"):
        root, names = TOOLKIT, [*names, *(path.name for path in TOOLKIT.glob("*.h"))]
    else:
        root.mkdir()
        (root / "cuda_runtime.h").touch()
    own = tmp_path / "own"
    own.mkdir()
    students = [own / name for name in ("common.h", "cuda_helpers.h", "helper_cuda.h", "cuda_fp16.h")]
    for path in [*students, *(root / name for name in names)]:
        # In line 2 of kernel.cu, behind the header that is included unasked.
        text = f'# 1 "/engine/cuda/include/cuda_runtime.h" 1 3\n# 1 "kernel.cu" 2\nint x;\n# 1 "{path}" 1 3\n'
        if path in students:
            path.touch()
            assert run(rewrite, text, "--headers") == (0, b"", ""), path
            continue
        status, _, said = run(rewrite, text, "--headers")
        name = str(path.relative_to(root)).removeprefix("cccl/")
        assert status == 1 and said.startswith(f"kernel.cu:2: <{name}> of the CUDA toolkit"), path


# ---- With and without __CUDA_ARCH__ --------------------------------------------------------------

# What stands here is preprocessed twice. The result has markers that say where each line is from, or it is
# the line at which the text is refused.
ARCH = {
    "functions for the device that one of the two has": ("""\
#ifdef __CUDA_ARCH__
__device__ int d() { return 1; }
#else
__device__ int not_this() { return 3; }
#endif
int after;
""", [(2, "int d() { return 1; }"), (6, "int after;")]),
    "members": ("""\
struct s {
    __device__ int d() {
#ifdef __CUDA_ARCH__
        return 1;
#endif
    }
    int x;
};
""", [(1, "struct s {"), (2, "int d() {"), (4, "return 1;"), (6, "}"), (7, "int x;"), (8, "};")]),
    "a macro": ("""\
#if __CUDA_ARCH__ >= 800
#define N 1
#else
#define N 2
#endif
__device__ int d() { return N; }
""", [(6, "int d() { return 1; }")]),
    "a macro that both use": ("""\
#if __CUDA_ARCH__ >= 800
#define N 1
#else
#define N 2
#endif
__device__ int d() { return N; }
int h() { return N; }
""", 7),
    "a function of the host's": ("#ifndef __CUDA_ARCH__\nint h() { return 4; }\n#endif\n", 2),
    "a function that is the host's": ("#ifdef __CUDA_ARCH__\nint not_this() { return 2; }\n#endif\n", 2),
    "a function for both": (
        "__host__ __device__ int f() {\n#ifdef __CUDA_ARCH__\nreturn 1;\n#else\nreturn 2;\n"
        "#endif\n}\n", 5),
    "a constant": ("int x;\n#ifdef __CUDA_ARCH__\nconst int t = 1;\n#endif\nint y;\n", 3),
    "a type, for the host": ("#ifndef __CUDA_ARCH__\nstruct t {};\n#endif\n", 2),
}


def preprocess(cxx: str, text: str, folder: Path, *flags: str) -> bytes:
    (folder / "kernel.cu").write_text(text)
    return subprocess.run([need(cxx), *flags, "-E", "-x", "c++", "kernel.cu"], cwd=folder, check=True,
                          stdout=subprocess.PIPE, timeout=60).stdout


def code_lines(text: str) -> list[tuple[int, str]]:
    """The lines that are no marker, each with the number that the markers give it."""
    found, number = [], 0
    for line in text.splitlines():
        marker = re.match(r'# (\d+) "', line)
        number = int(marker[1]) - 1 if marker else number + 1
        if line.strip() and not marker:
            found.append((number, " ".join(line.split())))
    return found


EACH_CXX = pytest.mark.parametrize("cxx", ["g++", pytest.param("clang++", marks=pytest.mark.slow)])


@EACH_CXX
def test_cuda_arch(cxx: str, sanitized: Path, tmp_path: Path) -> None:
    device = tmp_path / "device.i"
    for name, (text, expected) in ARCH.items():
        device.write_bytes(preprocess(cxx, text, tmp_path, "-D__CUDA_ARCH__=900"))
        status, printed, said = run(sanitized, preprocess(cxx, text, tmp_path), device)
        if isinstance(expected, list):
            assert (status, code_lines(printed.decode()), said) == (0, expected, ""), name
        else:
            assert (status, said) == (1, (
                f"kernel.cu:{expected}: what depends on __CUDA_ARCH__ here is compiled once for host and "
                "device on the CPU backend; test it inside __global__ or __device__ functions only\n")), name


# ---- What runs only on a GPU --------------------------------------------------------------------

GPU_ONLY = {
    'asm volatile("mov.u32 %0, %laneid;" : "=r"(x));': "inline PTX (asm)",
    '__asm__("x");': "inline PTX (asm)",
    '__asm("x");': "inline PTX (asm)",
    "using namespace nvcuda;": "wmma (tensor cores)",
    "wmma::fragment<wmma::matrix_a, 16, 16, 16, half> a;": "wmma (tensor cores)",
    "namespace cg = cooperative_groups;": "cooperative_groups",
    "cublasSgemm(h, n);": "cuBLAS",
    "f(CUBLAS_OP_N);": "cuBLAS",
    "curandState s;": "cuRAND",
    "curand_init(1, 2, 3, &s);": "cuRAND",
    "f(CURAND_RNG_PSEUDO_DEFAULT);": "cuRAND",
    "::cuda ::barrier<cuda::thread_scope_block> b;": "the cuda:: library (pipeline, barrier, ...)",
}

LACKED = tuple(re.findall(r"\w+", SOURCE.read_text().partition("LACKED[] =")[2].partition(";")[0]))
"""The beginnings of their names."""


def test_gpu_only_is_refused(rewrite: Path) -> None:
    for text, what in GPU_ONLY.items():
        result = run(rewrite, f"{LINEMARKER}void f() {{\n{text} }}\n")
        assert result == (1, b"", f"kernel.cu:2: {what} {ON_A_GPU}\n"), text
    for name in ("make_cudaExtent", "cudaMalloc3D", "cudaMemPrefetchBatchAsync", "cudaGraphLauch", "__vadd4", "__fadd_rd"):
        result = run(rewrite, f"{LINEMARKER}void f() {{ int {name}; }}\nvoid g() {{ {name}(1); }}\n")
        said = f"the CPU backend has no {name}(); if CUDA has it, build with BACKEND=cuda"
        assert result == (1, b"", f"kernel.cu:2: {said}\n")


def test_they_are_all_that_the_emulator_lacks() -> None:
    """Of the toolkit's runtime API, where that is installed."""
    headers = "".join(path.read_text() for path in (SOURCE.parent / "include").glob("*.h"))
    ours = {*re.findall(r"\b(?:cuda[A-Z]|__)\w+(?=[(,])", headers)}
    assert not [name for name in ours if name.startswith(LACKED)]
    api = TOOLKIT and TOOLKIT / "cuda_runtime_api.h"
    if not api or "CUDART_VERSION  13" not in api.read_text():
        pytest.skip("needs the header of CUDA 13")
    theirs = {*re.findall(r"CUDARTAPI\s+(cuda[A-Z]\w+)\s*\(", api.read_text())}
    assert not {name for name in theirs - ours
                if not name.startswith(LACKED) and not re.search(r"_v\d$|_pts[zd]$", name)}
    device = "".join((TOOLKIT / "crt" / f"device{kind}_functions.h").read_text() for kind in ("", "_double"))
    intrinsics = {*re.findall(r"\b(__(?:v[a-z]+[24]|\w+_r[nuzd]))\s*\(", device)}
    assert len(intrinsics) > 150
    assert not {name for name in intrinsics - ours if not name.startswith(LACKED)}


@EACH_CXX
def test_a_refusal_names_the_line_behind_includes_and_macros(cxx: str, rewrite: Path, tmp_path: Path) -> None:
    text = '#include <stdio.h>\n#include <assert.h>\n#define LANE(x) asm("mov.u32 %0, %laneid;" : "=r"(x))\n' \
           "void f(int x) {\n    assert(x != 3 && NULL == NULL);\n    LANE(x);\n}\n"
    status, _, said = run(rewrite, preprocess(cxx, text, tmp_path))
    assert (status, said) == (1, f"kernel.cu:6: inline PTX (asm) {ON_A_GPU}\n")


def test_output_that_cannot_be_written(rewrite: Path) -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run([rewrite], input=b"int x;\n", stdout=full, stderr=subprocess.PIPE, check=False)
    assert (done.returncode, done.stderr) == (3, b"rewrite: cannot write standard output\n")


# ---- Any bytes ----------------------------------------------------------------------------------

ODD_INPUTS = [
    b"", b"int x;", b"int x\0; k\0\n\0#\n", b"int \xff\xfe\xc3 = '\x80';\n", "int größe = 1; // 行列\n".encode(),
    b"int x;\r\nint y;\r\n", b'R"x(abc)" asm <<<\n__shared__\n', b'R"abc', b'R"' + b"d" * 100 + b"( <\n",
    b'"', b'"\\', b'# 1 "', b"# 99999999999999999999999999 \"x\"\nint x;\n", b"#", b"/",
]  # fmt: skip


def test_odd_input_passes_unchanged(sanitized: Path) -> None:
    for text in ODD_INPUTS:
        assert run(sanitized, text) == (0, text, "")


FRAGMENTS = [
    *["<", "<<", "<<<", ">", ">>", ">>>", "(", ")", "[", "]", "{", "}", ";", ",", "=", ":", "::"],
    *["\n", " ", "#", "# 3 \"a\"\n", "\n# 3 \"a\" 3\n", "\n#pragma unroll ", "\n#line ", "4", "-"],
    *["__shared__ ", "extern ", "static ", "float ", "x", "struct ", "alignas(", "__attribute__(("],
    *["operator", "for", "R\"(", ")\"", "\"", "'", "\\", "/*", "*/", "//", "1'0", ".5e", "->", "*"],
    *["k<<<1,2>>>(x);", "__shared__ int x[4];", "extern __shared__ int y[];",],
    *["else ", "namespace ", "\0", "\xff"],
]


@pytest.mark.parametrize("seed", sample([1, 2, 3], every=3))
def test_random_input_never_crashes_and_keeps_every_line(sanitized: Path, seed: int) -> None:
    draw = random.Random(seed)
    accepted = 0
    for round_number in range(100):
        text = bytearray("".join(draw.choices(FRAGMENTS, k=draw.randrange(1, 400))), "latin-1")
        if round_number % 3 == 0:  # a few bytes of anything
            for _ in range(len(text) // 20):
                text[draw.randrange(len(text))] = draw.randrange(256)
        status, printed, said = run(sanitized, bytes(text))
        if status == 0:
            accepted += 1
            assert (printed.count(b"\n"), said) == (text.count(b"\n"), "")
        else:
            assert (status, said.count("\n")) == (1, 1), said
    assert accepted > 10


# ---- Nesting -------------------------------------------------------------------------------------

OPEN = "more than 256 brackets are open here"
STATEMENT = "what begins here has no end for 5000 words and signs"
ELSE = "more than 1000 else in one chain"

# What is repeated, around a 1 or, with nothing behind it, before one; and what is said of many.
DEEP = {
    "parentheses": ("x = ", "(", ")", OPEN),
    "braces": ("", "{", "}", OPEN),
    "classes": ("", "struct { ", "; }", OPEN),
    "lambdas": ("auto x = ", "[] { return ", "; }()", OPEN),
    "brackets that are not closed": ("x = ", "(", "", OPEN),
    "unary operators": ("x = ", "-", "", STATEMENT),
    "conditions": ("x = ", "y ? 2 : ", "", STATEMENT),
    "commas": ("x = (y", ", y", "", STATEMENT),
    "calls of lambdas": ("x = ", "[] { return 1; }() + ", "", STATEMENT),
    "if": ("", "if (y) ", "", STATEMENT),
    "else if": ("if (y) ; ", "else if (y) ; ", "", ELSE),
    "else if with braces": ("if (y) {} ", "else if (y) { x = 1; } ", "", ELSE),
}


def test_what_no_compiler_takes_is_refused_and_what_people_nest_is_not(rewrite: Path) -> None:
    for name, (before, opening, closing, message) in DEEP.items():
        few, many = (f"{LINEMARKER}int x[1], y;\nvoid f()\n{{\n    "
                     f"{before}{opening * count}1{closing * count};\n}}\n" for count in (100, 10_000))
        status, _, said = run(rewrite, few)
        assert (status, said) == (0, ""), name
        status, printed, said = run(rewrite, many)
        assert (status, printed, said.count("\n")) == (1, b"", 1), name
        assert said.startswith(f"kernel.cu:4: {message}"), name


LONG = {
    "statements": "void f() {" + "x = 1;" * 20_000 + "}",
    "blocks": "void f() {" + "if (x) { y = 1; } else { y = 2; } " * 20_000 + "}",
    "functions": "__device__ int f(int a) { return (a + 1) * 2; }\n" * 10_000,
    "a table": "int t[] = {" + "1, " * 40_000 + "};",
    "a header": '# 1 "big.h" 1 3\n' + "static inline int f(int a) { return a << 2; }\n" * 50_000
                + '# 1 "kernel.cu" 2\nk<<<1,2>>>();\n',
}


def test_what_is_only_long_is_not(rewrite: Path) -> None:
    for name, text in LONG.items():
        status, _, said = run(rewrite, LINEMARKER + text)
        assert (status, said) == (0, ""), name


# One megabyte of each: what would take hours if any rule went over the same text again and again.
REPEATED = [
    "__shared__ ", "<", "k<<<(", "> ", "(", ")", "__shared__ struct {", "__shared__ alignas(",
    "extern __shared__ a<", "#pragma unroll\n", "< \n#\n", "__shared__ x[", "a > __shared__ ", 'R"(', '"', "/*",
    "# 1 \"a\"\n", "a::b ", "k<<<1,2>>>(",
]  # fmt: skip


def test_time_grows_with_the_length_only(rewrite: Path) -> None:
    for fragment in REPEATED:
        status, *_ = run(rewrite, fragment * (1_000_000 // len(fragment)))
        assert status in (0, 1), fragment
