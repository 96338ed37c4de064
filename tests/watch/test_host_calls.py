"""What kernels call of C's and C++'s libraries: host functions end the run, device functions that
store through a pointer are watched, and all else is as it was. guard() of engine/kernel.sh.

Calls by device code itself are refused before (emulator/spaces); by a __host__ __device__ function,
nvcc only warns about them."""

from pathlib import Path

import pytest
from checked import EACH_COMPILER, Builder, run_check, shared_kernel
from conftest import REPOSITORY

CALLS = {  # the kernel makes one of them, whose number is n: and what is found
    "getenv(text)": "a kernel calls getenv, a host function",
    "sum += rand()": "a kernel calls rand, a host function",
    "qsort(text, 4, 1, nullptr)": "a kernel calls qsort, a host function",
    "throw 1": "a kernel calls __cxa_allocate_exception, a host function",
    "cudaMemcpyToSymbol(*C, A, 4)": "a kernel calls cudaMemcpyToSymbol, a host function",
    "exit(1)": "a kernel calls exit, a host function",
    "cudaFree(C)": "a kernel calls cudaFree, a host function",
    "std::cout << m": "a kernel calls std::ostream::operator<<, a host function",
    "string.append(text, 4)": "a kernel calls std::__cxx11::basic_string::_M_append, a host function",
    'printf("%d%hhn", m, (signed char *)text)': "a kernel calls printf with %n, a host function",
    'printf("%+-#0 *.*lln", 3, 4, &wide)': "a kernel calls printf with %n, a host function",
    "sincosf(sum, (float *)end, &cosine)": "store to C beyond its last row",
    "sincosf(sum, &sine, (float *)end)": "store to C beyond its last row",
    "frexpf(sum, end)": "store to C beyond its last row",
    "modff(sum, (float *)end)": "store to C beyond its last row",
    "remquof(sum, 3.0f, end)": "store to C beyond its last row",
    "memset(end, 0, 4)": "store to C beyond its last row",
    "memset(end, 0, (size_t)-8)": "store to C beyond its last row",
    "sincosf(sum, &sine, &cosine); frexpf(sum, &exponent); modf(sum, &whole)": None,
    'printf("%d%%n %s", m, text)': None,
    # getenv() where the format is read otherwise
    'printed = printf(before, 2.5, 3, 4, text, sizeof m, 5ll); if (printed != 22) getenv(text)': None,
    'printed = printf(glibcs, &wide); if (printed != sizeof glibcs - 1 || wide) getenv(text)': None,
    "memcpy(text + 8, text, 8); free(malloc(8)); delete new int(m); free(C)": None,
}
HOST = """    std::string s = "x"; s += std::to_string(m); std::cerr << s << strlen(s.c_str()) << rand();
    fprintf(stderr, "%d\\n", m); cudaGetLastError();
    std::wcerr << program_invocation_short_name << environ[0] << optind << timezone; // data of the library
"""
CALL = """#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <iostream>
#include <string>

__device__ std::string string;

__host__ __device__ static void call(int m, int n, const float *A, float *C, float &sum)
{
    char text[16] = "text", before[] = "%+5.2f|%0*d|%-4.3s|%zu%%|%#llx\\n";
    char glibcs[] = "%Zn %lZn %qn %w32n %'n %In %1$n %5.3.n %";
    long long wide = 0;
    int printed = 0;
    float sine, cosine;
    int exponent = 0, *end = (int *)(C + m * n);
    double whole;
    (void)text, (void)before, (void)glibcs, (void)wide, (void)printed;
    (void)sine, (void)cosine, (void)exponent, (void)end, (void)whole;
    switch (n) {
""" + "".join(f"    case {n}: {call}; break;\n" for n, call in enumerate(CALLS, 1)) + "    }\n}\n"
STORE, LAUNCH = "        C[row * n + col] = sum;", "\n    mysgemm<<<"
TEXT = CALL + (REPOSITORY / "instructor/solutions/1_naive.cu").read_text().replace(
    STORE, f"        call(m, n, A, C, sum);\n{STORE}").replace(LAUNCH, HOST + LAUNCH)
LINES = range(TEXT[:TEXT.index("case 1:")].count("\n") + 1, TEXT[:TEXT.index(STORE)].count("\n") + 1)


@pytest.mark.parametrize("setup", EACH_COMPILER)
def test_what_a_kernel_calls(checker: Builder, programs: Path, setup: str) -> None:
    program = checker(setup, shared_kernel(programs, "calls.cu", TEXT))
    for n, (call, found) in enumerate(CALLS.items(), 1):
        ran = run_check(program, "--json", 5, 6, n)
        if found is None:
            assert ran.finding is None, call
            continue
        assert ran.finding["what"] == found and ran.finding["line"] in LINES, (call, ran)
        if setup == "gcc -O1":  # clang joins the ends of calls that are alike
            assert ran.finding["line"] == LINES[n - 1]
        assert (ran.finding["kind"] == "host-function") == ("a host function" in found)
