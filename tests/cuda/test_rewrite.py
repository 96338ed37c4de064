"""Tests of engine/cuda/rewrite.c, which turns preprocessed CUDA into plain C++.

The cases are data. tests/cuda/rewrite/*.txt hold inputs with what becomes of them:

    ==== title
    input
    ---- becomes            the expected output follows
    ---- stays              the output is the input
    ---- refused: MESSAGE   exit status 1, this one line on standard error, no output

A file's first lines, up to the first title, are for the reader. Every input is kernel.cu from line 1.
That the output compiles and means the same is what tests/cuda/programs are for
(launch_spellings.cu, shared_spellings.cu, unroll.cu).
"""

from __future__ import annotations

import os
import random
import re
import resource
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from conftest import locked, sample

TESTS = Path(__file__).parent
SOURCE = TESTS.parent.parent / "engine" / "cuda" / "rewrite.c"
CASES = TESTS / "rewrite"

COMPILERS = ["g++", "clang++"]
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror"]
TITLE = re.compile(r"^==== (.*)\n", re.MULTILINE)
OUTCOME = re.compile(r"^---- (stays|becomes|refused: .*)\n", re.MULTILINE)
LINEMARKER = b'# 1 "kernel.cu"\n'


@dataclass
class Case:
    input: bytes
    output: bytes | None  # None: refused
    message: str


def read_cases(path: Path) -> dict[str, Case]:
    """The cases of one file by their titles."""
    _, *parts = TITLE.split(path.read_text())
    cases: dict[str, Case] = {}
    for title, body in zip(parts[::2], parts[1::2]):
        before, outcome, after = OUTCOME.split(body)
        given = LINEMARKER + before.encode()
        case = Case(given, given, "")
        if outcome == "becomes":
            # The blank line before the next title belongs to the format.
            case.output = LINEMARKER + re.sub(r"\n\n\Z", "\n", after).encode()
        if outcome.startswith("refused: "):
            case.output, case.message = None, outcome.removeprefix("refused: ")
        assert title not in cases, f"{path.name} has two cases with the title '{title}'"
        cases[title] = case
    return cases


ALL_CASES = [
    pytest.param(case, id=f"{path.stem}: {title}")
    for path in sorted(CASES.glob("*.txt"))
    for title, case in read_cases(path).items()
]


def compiler(name: str) -> str:
    found = shutil.which(name)
    if not found:
        pytest.skip(f"{name} is not installed")
    return found


def build(program: Path, cc: str, *flags: str) -> Path:
    """By the first worker that needs it."""
    with locked(program.with_suffix(".lock")):
        if not program.exists():
            command = [cc, "-std=c11", *flags, *WARNINGS, "-o", str(program), str(SOURCE)]
            subprocess.run(command, check=True, timeout=120)
    return program


@pytest.fixture(scope="session")
def rewrite(programs):
    """The rewriter as users get it."""
    return build(programs / "rewrite", compiler("cc"), "-O2")


@pytest.fixture(scope="session")
def sanitized(programs):
    """The rewriter under AddressSanitizer and UndefinedBehaviorSanitizer."""
    flags = ["-g", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    return build(programs / "rewrite, sanitized", compiler("cc"), *flags)


def run(program: Path, text: bytes, *options: str) -> subprocess.CompletedProcess:
    return subprocess.run([program, *options], input=text, capture_output=True, timeout=60)


def words_left_in_place(line: bytes) -> list[bytes]:
    """The words of a line that the rewriter has no business to remove."""
    if line.lstrip().startswith(b"#"):
        return []
    words = re.findall(rb"\w+", line)
    return [word for word in words if word not in (b"static", b"extern", b"__shared__", b"__global__",
                                             b"__device__", b"__host__")]


def is_subsequence(wanted: list[bytes], given: list[bytes]) -> bool:
    rest = iter(given)
    return all(word in rest for word in wanted)


def assert_lines_unmoved(before: bytes, after: bytes) -> None:
    assert before.count(b"\n") == after.count(b"\n")
    for number, (old, new) in enumerate(zip(before.split(b"\n"), after.split(b"\n")), start=1):
        words = words_left_in_place(old)
        assert is_subsequence(words, re.findall(rb"\w+", new)), f"line {number} lost a word"


@pytest.mark.parametrize("case", ALL_CASES)
def test_case(case, rewrite):
    result = run(rewrite, case.input)
    if case.output is None:
        assert result.stderr.decode() == case.message + "\n"
        assert (result.returncode, result.stdout) == (1, b"")
    else:
        assert (result.returncode, result.stderr) == (0, b"")
        assert result.stdout.decode() == case.output.decode()
        assert_lines_unmoved(case.input, result.stdout)


# ---- Headers of the CUDA toolkit -----------------------------------------------------------------

TOOLKIT = next((path for path in (Path("/usr/local/cuda/include"), Path("/usr/include"))
                if (path / "cuda_runtime.h").exists()), None)


def entering(path: str) -> bytes:
    """From line 2 of kernel.cu, behind the header that is included unasked."""
    return (f'# 1 "/engine/cuda/include/cuda_runtime.h" 1 3\n# 1 "kernel.cu" 2\nint x;\n'
            f'# 1 "{path}" 1 3\n').encode()


def test_headers_of_the_toolkit_are_refused(rewrite, tmp_path):
    """All that is installed; elsewhere, some."""
    names = ["cuda_fp16.h", "crt/host_defines.h", "thrust/sort.h", "cccl/cub/cub.cuh"]
    root = TOOLKIT or tmp_path
    if TOOLKIT and TOOLKIT != Path("/usr/include"):
        names += [path.name for path in root.glob("*.h")]
    else:
        (tmp_path / "cuda_runtime.h").touch()
    for name in names:
        result = run(rewrite, entering(f"{root}/{name}"), "--headers")
        name = name.removeprefix("cccl/")
        assert result.returncode == 1, name
        assert result.stderr.decode().startswith(f"kernel.cu:2: <{name}> of the CUDA toolkit")


@pytest.mark.parametrize("name", ["common.h", "cuda_helpers.h", "helper_cuda.h", "cuda_fp16.h"])
def test_headers_of_the_students_are_not(name, rewrite, tmp_path):
    (tmp_path / name).touch()
    result = run(rewrite, entering(f"{tmp_path}/{name}"), "--headers")
    assert (result.returncode, result.stderr) == (0, b"")


# ---- With and without __CUDA_ARCH__ --------------------------------------------------------------

# What stands here is preprocessed twice; the markers say where each line is from.
ARCH = {
    "a kernel's body": ("""\
__global__ void k() {
#ifdef __CUDA_ARCH__
    device(__CUDA_ARCH__);
#else
    host();
#endif
}
int after;
""", [(1, "void k() {"), (3, "device(900);"), (7, "}"), (8, "int after;")]),
    "a host function's": ("""\
void f() {
#if !defined(__CUDA_ARCH__)
    host();
#endif
}
""", [(1, "void f() {"), (3, "host();"), (5, "}")]),
    "functions that one of the two has": ("""\
#ifdef __CUDA_ARCH__
__device__ int d() { return 1; }
int not_this() { return 2; }
#else
__device__ int nor_this() { return 3; }
int h() { return 4; }
#endif
int after;
""", [(2, "int d() { return 1; }"), (6, "int h() { return 4; }"), (8, "int after;")]),
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
int h() { return N; }
""", [(6, "int d() { return 1; }"), (7, "int h() { return 2; }")]),
}

ARCH_FOR_BOTH = {
    "a function for both": (
        "__host__ __device__ int f() {\n#ifdef __CUDA_ARCH__\nreturn 1;\n#else\nreturn 2;\n"
        "#endif\n}\n", 5),
    "a constant": ("int x;\n#ifdef __CUDA_ARCH__\nconst int t = 1;\n#endif\nint y;\n", 3),
    "a type, for the host": ("#ifndef __CUDA_ARCH__\nstruct t {};\n#endif\n", 2),
}


def rewrite_both(cxx: str, text: str, rewrite: Path, work: Path) -> subprocess.CompletedProcess:
    (work / "kernel.cu").write_text(text)
    for name, flags in (("host.i", []), ("device.i", ["-D__CUDA_ARCH__=900"])):
        subprocess.run([compiler(cxx), *flags, "-E", "-x", "c++", "kernel.cu", "-o", name],
                       cwd=work, check=True, timeout=60)
    return run(rewrite, (work / "host.i").read_bytes(), str(work / "device.i"))


def code_lines(text: str) -> list[tuple[int, str]]:
    """The lines that are no marker, each with the number that the markers give it."""
    found, number = [], 0
    for line in text.splitlines():
        marker = re.match(r'# (\d+) "', line)
        number = int(marker[1]) if marker else number + 1
        if line.strip() and not marker:
            found.append((number, " ".join(line.split())))
        elif marker:
            number -= 1
    return found


@pytest.mark.parametrize("cxx", ["g++", pytest.param("clang++", marks=pytest.mark.slow)])
@pytest.mark.parametrize(("text", "lines"), ARCH.values(), ids=ARCH.keys())
def test_cuda_arch_is_the_devices(cxx, text, lines, rewrite, sanitized, tmp_path):
    for program in (rewrite, sanitized):
        result = rewrite_both(cxx, text, program, tmp_path)
        assert (result.returncode, result.stderr) == (0, b"")
        assert code_lines(result.stdout.decode()) == lines


@pytest.mark.parametrize("cxx", COMPILERS)
@pytest.mark.parametrize(("text", "line"), ARCH_FOR_BOTH.values(), ids=ARCH_FOR_BOTH.keys())
def test_cuda_arch_for_both_is_refused(cxx, text, line, rewrite, tmp_path):
    result = rewrite_both(cxx, text, rewrite, tmp_path)
    assert result.returncode == 1
    assert result.stderr.decode().startswith(f"kernel.cu:{line}: what depends on __CUDA_ARCH__ ")
    assert result.stderr.count(b"\n") == 1


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


@pytest.mark.parametrize(("text", "what"), GPU_ONLY.items())
def test_gpu_only_is_refused(text, what, rewrite):
    result = run(rewrite, LINEMARKER + b"void f() {\n" + text.encode() + b" }\n")
    assert (result.returncode, result.stdout) == (1, b"")
    assert result.stderr.decode() == (f"kernel.cu:2: {what} runs only on a GPU; build with "
                                      "BACKEND=cuda on a machine that has one\n")


LACKED = re.findall(r'^"(\w+)",$', (SOURCE.parent / "gpu_only_functions.def").read_text(),
                    re.MULTILINE)


def test_functions_that_the_emulator_lacks_are_refused_by_name(rewrite):
    for name in [LACKED[0], "cudaMalloc3D", "cudaMemPrefetchAsync", LACKED[-1]]:
        text = LINEMARKER + f"void f() {{ int {name}; }}\nvoid g() {{ {name}(1); }}\n".encode()
        result = run(rewrite, text)
        assert (result.returncode, result.stdout) == (1, b"")
        assert result.stderr.decode() == (f"kernel.cu:2: {name}() runs only on a GPU; build with "
                                          "BACKEND=cuda on a machine that has one\n")


def test_they_are_all_that_the_emulator_lacks():
    """Of the toolkit's runtime API, where that is installed."""
    headers = "".join(path.read_text() for path in (SOURCE.parent / "include").glob("*.h"))
    ours = set(re.findall(r"\bcuda[A-Z]\w+(?=\()", headers))
    assert LACKED == sorted(set(LACKED))
    assert not ours & set(LACKED)
    api = TOOLKIT and TOOLKIT / "cuda_runtime_api.h"
    if not api or "CUDART_VERSION  13" not in api.read_text():
        pytest.skip("needs the header of CUDA 13")
    theirs = set(re.findall(r"CUDARTAPI\s+(cuda[A-Z]\w+)\s*\(", api.read_text()))
    versions = {name for name in theirs if re.search(r"_v\d$|_pts[zd]$", name)}
    assert theirs - versions - ours - set(LACKED) == set()


@pytest.mark.parametrize("cxx", COMPILERS)
def test_a_refusal_names_the_line_behind_includes_and_macros(cxx, rewrite, tmp_path):
    kernel = tmp_path / "kernel.cu"
    kernel.write_text(
        "#include <stdio.h>\n"
        "#include <assert.h>\n"
        "#define LANE(x) asm(\"mov.u32 %0, %laneid;\" : \"=r\"(x))\n"
        "void f(int x) {\n"
        "    assert(x != 3 && NULL == NULL);\n"
        "    LANE(x);\n"
        "}\n"
    )
    preprocessed = subprocess.run([compiler(cxx), "-E", "-x", "c++", "kernel.cu"], cwd=tmp_path,
                                  check=True, stdout=subprocess.PIPE, timeout=60).stdout
    result = run(rewrite, preprocessed)
    assert result.returncode == 1
    assert result.stderr.startswith(b"kernel.cu:6: inline PTX (asm) runs only on a GPU")


# ---- Command line -------------------------------------------------------------------------------


@pytest.mark.parametrize("option", ["--halp", "-x", "no/such/file.ii", ""])
def test_bad_usage(option, rewrite):
    result = run(rewrite, b"", option)
    assert (result.returncode, result.stdout) == (2, b"")
    assert f"'{option}'" in result.stderr.decode()


def test_output_that_cannot_be_written(rewrite):
    if not os.path.exists("/dev/full"):
        pytest.skip("needs /dev/full")
    with open("/dev/full", "wb") as full:
        result = subprocess.run(
            [rewrite], input=b"int x;\n", stdout=full, stderr=subprocess.PIPE, timeout=60
        )
    assert result.returncode == 3
    assert result.stderr == b"rewrite: cannot write standard output\n"


# ---- Any bytes ----------------------------------------------------------------------------------

ODD_INPUTS = {
    "empty": b"",
    "no newline at the end": b"int x;",
    "NUL bytes": b"int x\0; k\0\n\0#\n",
    "invalid UTF-8": b"int \xff\xfe\xc3 = '\x80';\n",
    "other alphabets": "int größe = 1; // 行列\n".encode(),
    "carriage returns": b"int x;\r\nint y;\r\n",
    "raw string not closed": b'R"x(abc)" asm <<<\n__shared__\n',
    "raw string delimiter not closed": b'R"abc',
    "raw string delimiter too long": b'R"' + b"d" * 100 + b'( <\n',
    "quote at the end": b'"',
    "backslash at the end": b'"\\',
    "marker cut off": b'# 1 "',
    "marker with a huge line": b"# 99999999999999999999999999 \"x\"\nint x;\n",
    "hash at the end": b"#",
    "slash at the end": b"/",
}


@pytest.mark.parametrize("text", ODD_INPUTS.values(), ids=ODD_INPUTS.keys())
def test_odd_input_passes_unchanged(text, sanitized):
    result = run(sanitized, text)
    assert (result.returncode, result.stderr, result.stdout) == (0, b"", text)


FRAGMENTS = [
    *["<", "<<", "<<<", ">", ">>", ">>>", "(", ")", "[", "]", "{", "}", ";", ",", "=", ":", "::"],
    *["\n", " ", "#", "# 3 \"a\"\n", "\n# 3 \"a\" 3\n", "\n#pragma unroll ", "\n#line ", "4", "-"],
    *["__shared__ ", "extern ", "static ", "float ", "x", "struct ", "alignas(", "__attribute__(("],
    *["operator", "for", "R\"(", ")\"", "\"", "'", "\\", "/*", "*/", "//", "1'0", ".5e", "->", "*"],
    *["k<<<1,2>>>(x);", "__shared__ int x[4];", "extern __shared__ int y[];",],
    *["else ", "namespace ", "\0", "\xff"],
]


@pytest.mark.parametrize("seed", sample([1, 2, 3], every=3))
def test_random_input_never_crashes_and_keeps_every_line(sanitized, seed):
    draw = random.Random(seed)
    accepted = 0
    for round_number in range(100):
        pieces = draw.choices(FRAGMENTS, k=draw.randrange(1, 400))
        text = "".join(pieces).encode("latin-1")
        if round_number % 3 == 0:  # a few bytes of anything
            text = bytearray(text)
            for _ in range(len(text) // 20):
                text[draw.randrange(len(text))] = draw.randrange(256)
            text = bytes(text)
        result = run(sanitized, text)
        assert result.returncode in (0, 1), result.stderr.decode(errors="replace")
        if result.returncode == 0:
            accepted += 1
            assert result.stderr == b""
            assert result.stdout.count(b"\n") == text.count(b"\n")
        else:
            assert result.stderr.count(b"\n") == 1
    assert accepted > 10


# ---- Nesting -------------------------------------------------------------------------------------

OPEN = "more than 256 brackets are open here"
STATEMENT = "what begins here has no end for 5000 words and signs"
ELSE = "more than 1000 else in one chain"

# What is repeated, around a 1 or, with nothing behind it, before one; and what is said of 450,000.
DEEP = {
    "parentheses": ("x = ", "(", ")", OPEN),
    "braces": ("", "{", "}", OPEN),
    "brackets": ("x = ", "x[", "]", OPEN),
    "calls": ("x = ", "f(", ")", OPEN),
    "casts with parentheses": ("x = ", "float(", ")", OPEN),
    "initializers": ("int x[] = ", "{", "}", OPEN),
    "classes": ("", "struct { ", "; }", OPEN),
    "lambdas": ("auto x = ", "[] { return ", "; }()", OPEN),
    "declarators": ("int ", "(*", ")", OPEN),
    "brackets that are not closed": ("x = ", "(", "", OPEN),
    "statement expressions": ("x = ", "({", "; })", OPEN),
    "unary operators": ("x = ", "-", "", STATEMENT),
    "casts": ("x = ", "(float)", "", STATEMENT),
    "binary operators": ("x = ", "1 + ", "", STATEMENT),
    "comparisons": ("x = ", "y < ", "", STATEMENT),
    "conditions": ("x = ", "y ? 2 : ", "", STATEMENT),
    "commas": ("x = (y", ", y", "", STATEMENT),
    "assignments": ("", "x = ", "", STATEMENT),
    "calls of lambdas": ("x = ", "[] { return 1; }() + ", "", STATEMENT),
    "template arguments": ("", "list<", "", STATEMENT),
    "pointers": ("float ", "*", "", STATEMENT),
    "strings": ("const char *x = ", '"a" ', "", STATEMENT),
    "if": ("", "if (y) ", "", STATEMENT),
    "for": ("", "for (;;) ", "", STATEMENT),
    "else if": ("if (y) ; ", "else if (y) ; ", "", ELSE),
    "else if with braces": ("if (y) {} ", "else if (y) { x = 1; } ", "", ELSE),
}


def nested(before: str, opening: str, closing: str, count: int) -> bytes:
    inside = f"{before}{opening * count}1{closing * count};"
    return LINEMARKER + f"int x[1], y;\nvoid f()\n{{\n    {inside}\n}}\n".encode()


@pytest.mark.parametrize("name", sample([*DEEP], every=4))
def test_what_no_compiler_takes_is_refused(name, rewrite):
    *text, message = DEEP[name]
    result = run(rewrite, nested(*text, 450_000))
    assert (result.returncode, result.stdout) == (1, b"")
    assert result.stderr.decode().startswith(f"kernel.cu:4: {message}")
    assert result.stderr.count(b"\n") == 1


@pytest.mark.parametrize("form", DEEP.values(), ids=DEEP.keys())
def test_what_people_nest_is_not(form, rewrite):
    *text, _ = form
    result = run(rewrite, nested(*text, 100))
    assert (result.returncode, result.stderr) == (0, b"")


LONG = {
    "statements": "void f() {" + "x = 1;" * 100_000 + "}",
    "blocks": "void f() {" + "if (x) { y = 1; } else { y = 2; } " * 100_000 + "}",
    "functions": "__device__ int f(int a) { return (a + 1) * 2; }\n" * 50_000,
    "a table": "int t[] = {" + "1, " * 200_000 + "};",
    "a table of rows": "int t[][2] = {" + "{1, 2}, " * 100_000 + "};",
    "names of numbers": "enum {" + "".join(f"n{i} = {i}, " for i in range(50_000)) + "};",
}


@pytest.mark.parametrize("text", LONG.values(), ids=LONG.keys())
def test_what_is_only_long_is_not(text, rewrite):
    result = run(rewrite, LINEMARKER + text.encode())
    assert (result.returncode, result.stderr) == (0, b"")


# One megabyte of each: what would take hours if any rule went over the same text again and again.
REPEATED = [
    "__shared__ ",
    "<",
    "k<<<(",
    "> ",
    "(",
    ")",
    "__shared__ struct {",
    "__shared__ alignas(",
    "extern __shared__ a<",
    "#pragma unroll\n",
    "< \n#\n",
    "__shared__ x[",
    "a > __shared__ ",
    'R"(',
    '"',
    "/*",
    "# 1 \"a\"\n",
    "a::b ",
    "k<<<1,2>>>(",
]


@pytest.mark.parametrize("fragment", REPEATED)
def test_time_grows_with_the_length_only(fragment, rewrite):
    result = subprocess.run(
        [rewrite], input=fragment.encode() * (1_000_000 // len(fragment)),
        capture_output=True, timeout=20,
    )
    assert result.returncode in (0, 1)


def test_a_large_file_takes_no_time_to_speak_of(rewrite):
    block = b"static inline int f(int a, const char *b) { return a + (b ? b[0] : 3) << 2; }\n\n"
    text = b'# 1 "big.h" 1 3\n' + block * 25_000 + b'# 1 "kernel.cu" 2\nk<<<1,2>>>();\n'
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    result = run(rewrite, text)
    assert result.returncode == 0
    # Of processor time, measured at 0.03 s for these 50,000 lines; the rest is room.
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before < 0.5
