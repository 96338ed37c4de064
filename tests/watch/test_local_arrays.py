"""Stores that leave a local array. Compilers do not announce what they know to be a local variable,
however far an index leads from it; such a store could change what the checker knows. (access.c, and
the flags in engine/settings.sh.)"""

import re
from pathlib import Path

import pytest
from checked import CXX, EACH_COMPILER, Builder, run_check, shared_kernel
from conftest import Tree, first_of_each

# How a store gets past -fsanitize=bounds: a function of the number of words, and of a value, with a local array
# `own` of four, unless it has one of its own.
FORMS = [
    "own[i] = x;",
    "float *to = own; to[i] = x;",
    "*(own + i) = x;",
    "*(float *)((char *)own + 4 * i) = x;",
    "*(float *)((size_t)own + 4 * i) = x;",
    "(*(float(*)[1 << 28])own)[i] = x;",
    "auto &to = reinterpret_cast<float(&)[1 << 28]>(own); to[i] = x;",
    "struct large { int one; float rest[1 << 28]; }; ((large *)own)->rest[i - 1] = x;",
    "(*(float(*)[0])own)[i] = x;",
    "struct open { int one; float rest[]; }; open own; own.one = 1; own.rest[i - 1] = x; return own.one;",
    "float own[4][4] = {{x}}; auto to = (float(*)[1 << 10])own; to[i / 1024][i % 1024] = x; return own[1][1];",
    "float own[4] = {x}, other[4] = {x}, *to = x > 0 ? own : other; to[i] = x; return own[1] + other[1];",
    "put(own, i, x);",
    "memcpy(own + i, &x, 4);",
    "atomicExch(own + i, x);",
    "alignas(64) float own[4] = {x}; put(own, i, x); return own[1];",
    "sincosf(x, own + i, own);",
    "new (own + i) table;",
    "*(pair *)(own + i) = two(x);",
    # These call a function of the host's: of a function that is for both, nvcc accepts it.
    "starts(own + i, x);",
    "copies(own + i, x);",
    "strcpy((char *)(own + i), \"four\");",
]
FOR_BOTH, TEXT = FORMS[-3:], FORMS[-1]

BEFORE = """#include <new>
#include <stdarg.h>
#include <string.h>
struct table { virtual ~table() {} };
struct pair { float a, b; };
__device__ __noinline__ static pair two(float x) { return {x, x}; }
__device__ __noinline__ static void put(float *to, long i, float x) { to[i] = x; }
__noinline__ static void starts(void *to, ...) { va_start(*(va_list *)to, to); }
__noinline__ static void
copies(void *to, ...) { va_list from; va_start(from, to); va_copy(*(va_list *)to, from); }
"""
KERNEL = """FUNCTIONS
__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    const long i = m == 1 ? THREAD : k;
    if (threadIdx.x == 0)
        switch (n) {
            CASES
        }
}
void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    mysgemm<<<1, 2>>>(m, n, k, A, B, C);
}
"""
THREAD = 65 * 4096 // 4
"""From a local variable to the next thread's: words of a stack."""


def function(number: int, form: str) -> str:
    body = form if "return" in form else f"float own[4] = {{x}}; {form} return own[1];"
    return (f"{'__host__ ' if form in FOR_BOTH else ''}__device__ __noinline__ static float form_{number}"
            f"(long i, float x) {{ {body} }}")


@pytest.fixture(scope="session")
def kernel(programs: Path) -> Path:
    functions = "\n".join(function(i, form) for i, form in enumerate(FORMS, 1))
    cases = "\n".join(f"case {i}: C[0] = form_{i}(i, 1.0f); break;" for i in range(1, len(FORMS) + 1))
    return shared_kernel(programs, "stores.cu", BEFORE + KERNEL.replace("FUNCTIONS", functions)
                         .replace("CASES", cases).replace("THREAD", str(THREAD)))


@pytest.mark.parametrize("setup", EACH_COMPILER)
def test_another_threads_memory(checker: Builder, setup: str, kernel: Path) -> None:
    for number, form in enumerate(FORMS, 1):
        run = run_check(checker(setup, kernel), "--json", 1, 1, number)
        kinds = ("foreign-local", "local-out-of-bounds", "host-function")[:3 if form == TEXT else 2]
        assert run.finding and run.finding["kind"] in kinds, (form, run)
        named = [i for i, line in enumerate(BEFORE.splitlines(), 1)
                 if {*re.findall(r"(\w+)[({ ]+", line)} & {*re.findall(r"\w+", form)}
                 & {"put", "starts", "copies", "table", "pair"}]
        assert run.finding["line"] in (BEFORE.count("\n") + number, *named), form


LEFT = """__device__ __noinline__ static float *same(float *p) { return p; }
__device__ __noinline__ static float get(const float *p) { return *p; } // returned
__device__ __noinline__ static void put(float *to, float value) { *to = value; }
__device__ __noinline__ static float *leave(float value)
{
    float room[1 << 12];
    float *to = same(room + 5);
    put(to, value);
    return get(to) == value ? to : same(room);
}
__device__ __noinline__ static bool finds(float value, int words) // which no compiler initializes
{
    float *room = same((float *)__builtin_alloca(4 * words));
    for (int i = 0; i < words; i += 1)
        if (room[i] == value) return true;
    return false;
}
__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    const float value = 1.5f;
    if (n == 1) C[threadIdx.x] = get(leave(value));
    if (n == 2 && blockIdx.x < 20) leave(value);
    if (n == 2 && blockIdx.x >= 20 && finds(value, 1 << 13)) C[m * n] = 0;
}
void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    mysgemm<<<n == 1 ? 1 : 40, 1>>>(m, n, k, A, B, C);
}
"""


@pytest.mark.parametrize("setup", EACH_COMPILER)
def test_what_functions_leave_behind(checker: Builder, programs: Path, setup: str) -> None:
    """It is read below all frames; or, where loads are counted, by a later block that has the same stacks, and whose
    frame has a place for it."""
    program = checker(setup, shared_kernel(programs, "left.cu", LEFT))
    run = run_check(program, "--json", 1, 1, 1)
    assert run.finding and (run.finding["kind"], run.finding["line"]) == ("local-out-of-bounds", 2), run
    run = run_check(program, "--counts", 1, 1, 2)
    assert "beyond its last row" not in run.stdout and "No element of C" in run.stdout, run


# Statements with a bad index, of a local array that is like a row of a shared one, or of that one.
INDEXED = [
    ("local", "a[i] = s[3][i % W];"),
    ("local", "for (int j = 0; j <= W; ++j) a[j] += s[3][j % W];"),
    ("local", "s[3][i % W] = s[m][i % W] + b [ i ];"),
    ("local", "s[i % W][2] = table[i];"),
    ("local", "q.v[i] = s[3][i % W];"),
    ("local", "C[1] = s[3][table[i]]; // which may lead anywhere"),
    ("local", "C[1] = s[3][fixed[i]]; // the same, of a static array"),
    ("shared", "a[i % W] = s[3][i];"),
    ("shared", "s[3][i] = a[i % W];"),
    ("shared", "a[i % W] = to[3][i] + b[m];"),
    ("shared", "a[(int)s[m][m]] = s[3][i];"),
    ("shared", "a[i % W] = AT(3, i);"),
]
LIKE_A_ROW = """#define HALF 8 // of W
#define W (2 * HALF) /* a row */
#define AT(r, c) s[r][c]
struct row { float v[W]; int n; };
__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    __shared__ float s[W][W];
    float (&to)[W][W] = s, a[W] = {C[1]}, b[W] = {C[2]};
    const int table[W] = {3, 1, 7, 0, 6, 2, 5, 4, 15, 14, 12, 13, 8, 9, 11, 10}, i = k;
    static const int fixed[W] = {3, 1, 7, 0, 6, 2, 5, 4, 15, 14, 12, 13, 8, 9, 11, 10};
    row q = {{C[3]}, m};
    for (int j = threadIdx.x; j < W * W; j += 2) s[j / W][j % W] = 0;
    __syncthreads();
    if (threadIdx.x == 0)
        switch (n) {
            CASES
        }
    if (threadIdx.x == 0) C[0] = a[m] + b[m] + q.v[m] + q.n + s[m][m];
}
void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    cudaMemset(C, 0, 4 * m * n);
    mysgemm<<<1, 2>>>(m, n, k, A, B, C);
}
"""


@pytest.mark.parametrize("setup", EACH_COMPILER)
def test_a_local_array_like_a_row_of_a_shared_one(checker: Builder, programs: Path, setup: str) -> None:
    cases = [f"case {n}: {{ {statement} \n}} break;" for n, (_, statement) in enumerate(INDEXED, 4)]
    text = LIKE_A_ROW.replace("CASES", "\n".join(cases))
    program = checker(setup, shared_kernel(programs, "like_a_row.cu", text))
    for n, (what, statement) in enumerate(INDEXED, 4):
        finding = run_check(program, "--json", 1, 16, n).finding
        line = next(i for i, each in enumerate(text.splitlines(), 1) if f"case {n}:" in each)
        assert (finding["kind"], finding["line"]) == (f"{what}-out-of-bounds", line), (statement, finding)
        assert ("a local array" in finding["what"]) == (what == "local" and "fixed" not in statement), finding


WORDS = 60
"""That there may be from a local array to where the function's caller goes on."""


@pytest.mark.parametrize("form", first_of_each(FORMS[:-1], lambda _: None))
@pytest.mark.parametrize("setup", EACH_COMPILER)
def test_where_a_function_returns_to(checker: Builder, setup: str, kernel: Path, form: str) -> None:
    """No store gets there: whatever else it changes, no run ends with an address that is 1.0f."""
    runs = [run_check(checker(setup, kernel), "--json", 2, words, FORMS.index(form) + 1)
            for words in range(4, WORDS, 2)]
    found = [run.finding["kind"] for run in runs]
    assert "local-out-of-bounds" in found and not {"kernel-fault", "host-fault"} & {*found}, found


@pytest.mark.slow
def test_a_compiler_that_protects_the_stack(fresh_tree: Tree, kernel: Path) -> None:
    """As Ubuntu's do by default: the program does not end before the index is named."""
    fresh_tree.make("sgemm-check", f"KERNEL={kernel}", f"CXX={CXX} -fstack-protector-all", "BACKEND=cpu")
    for words in range(4, 16):
        finding = run_check(fresh_tree.path / "sgemm-check", "--json", 2, words, 1).finding
        assert finding["kind"] == "local-out-of-bounds", finding
