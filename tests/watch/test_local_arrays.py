"""Stores that leave a local array. Compilers do not announce what they know to be a local variable,
however far an index leads from it; such a store could change what the checker knows. (access.c, and
the flags in engine/settings.sh.)"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from checked import EACH_COMPILER, Builder, run_check, shared_kernel
from conftest import first_of_each


# How a store gets past -fsanitize=bounds: a function of the number of words, and of a value.
FORMS = {
    "subscript": "float own[4] = {x}; own[i] = x; return own[1];",
    "pointer": "float own[4] = {x}; float *to = own; to[i] = x; return own[1];",
    "sum": "float own[4] = {x}; *(own + i) = x; return own[1];",
    "bytes": "float own[4] = {x}; *(float *)((char *)own + 4 * i) = x; return own[1];",
    "integer": "float own[4] = {x}; *(float *)((size_t)own + 4 * i) = x; return own[1];",
    "large array": "float own[4] = {x}; (*(float(*)[1 << 28])own)[i] = x; return own[1];",
    "reference": "float own[4] = {x}; auto &to = reinterpret_cast<float(&)[1 << 28]>(own);"
                 " to[i] = x; return own[1];",
    "large member": "struct large { int one; float rest[1 << 28]; };"
                    " float own[4] = {x}; ((large *)own)->rest[i - 1] = x; return own[1];",
    "no elements": "float own[4] = {x}; (*(float(*)[0])own)[i] = x; return own[1];",
    "no bound": "struct open { int one; float rest[]; }; open own; own.one = 1;"
                " own.rest[i - 1] = x; return own.one;",
    "rows": "float own[4][4] = {{x}}; auto to = (float(*)[1 << 10])own; to[i / 1024][i % 1024] = x;"
            " return own[1][1];",
    "choice": "float own[4] = {x}, other[4] = {x}; float *to = x > 0 ? own : other; to[i] = x;"
              " return own[1] + other[1];",
    "function": "float own[4] = {x}; put(own, i, x); return own[1];",
    "copy": "float own[4] = {x}; memcpy(own + i, &x, 4); return own[1];",
    "atomic": "float own[4] = {x}; atomicExch(own + i, x); return own[1];",
    "aligned": "alignas(64) float own[4] = {x}; put(own, i, x); return own[1];",
    "result": "float own[4] = {x}; sincosf(x, own + i, own); return own[1];",
    "virtual table": "float own[4] = {x}; new (own + i) table; return own[1];",
    "structure": "float own[4] = {x}; *(pair *)(own + i) = two(x); return own[1];",
    "arguments": "float own[4] = {x}; starts(own + i, x); return own[1];",
    "their copy": "float own[4] = {x}; copies(own + i, x); return own[1];",
    "text": "float own[4] = {x}; strcpy((char *)(own + i), \"four\"); return own[1];",
}  # fmt: skip

# These call a function of the host's: of a function that is for both, nvcc accepts it.
FOR_BOTH = ("arguments", "their copy", "text")

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


@pytest.fixture(scope="session")
def kernel(programs: Path) -> Path:
    of_host = {form: "__host__ " if form in FOR_BOTH else "" for form in FORMS}
    functions = [f"{of_host[form]}__device__ __noinline__ static float form_{i}(long i, float x) "
                 f"{{ {body} }}" for i, (form, body) in enumerate(FORMS.items(), 1)]
    cases = [f"case {i}: C[0] = form_{i}(i, 1.0f); break;" for i in range(1, len(FORMS) + 1)]
    return shared_kernel(programs, "stores.cu",
                         BEFORE + KERNEL.replace("FUNCTIONS", "\n".join(functions))
                         .replace("CASES", "\n".join(cases)).replace("THREAD", str(THREAD)))


@pytest.mark.parametrize("setup", EACH_COMPILER)
def test_another_threads_memory(lean_checker: Builder, setup: str, kernel: Path) -> None:
    for number, (form, code) in enumerate(FORMS.items(), 1):
        run = run_check(lean_checker(setup, kernel), "--json", 1, 1, number)
        kinds = ("foreign-local", "local-out-of-bounds", "host-function")[:3 if form == "text" else 2]
        assert run.finding and run.finding["kind"] in kinds, (form, run)
        named = [i for i, line in enumerate(BEFORE.splitlines(), 1)
                 if set(re.findall(r"(\w+)[({ ]+", line)) & set(re.findall(r"\w+", code))
                 & {"put", "starts", "copies", "table", "pair"}]
        assert run.finding["line"] in (BEFORE.count("\n") + number, *named), form


WORDS = 60
"""That there may be from a local array to where the function's caller goes on."""


@pytest.mark.parametrize("form", first_of_each([form for form in FORMS if form != "text"], lambda _: None))
@pytest.mark.parametrize("setup", EACH_COMPILER)
def test_where_a_function_returns_to(lean_checker: Builder, setup: str, kernel: Path, form: str) -> None:
    """No store gets there: whatever else it changes, no run ends with an address that is 1.0f."""
    runs = [run_check(lean_checker(setup, kernel), "--json", 2, words, [*FORMS].index(form) + 1)
            for words in range(4, WORDS, 2)]
    found = [run.finding["kind"] for run in runs]
    assert "local-out-of-bounds" in found and "kernel-fault" not in found, found
