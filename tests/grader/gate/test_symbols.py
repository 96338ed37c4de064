"""grader/gate/text.py and objects.py: what the text and the object file of a submission may hold."""

import functools
import os
import random
import re
import shutil
import subprocess
from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress
from pathlib import Path

import pytest
from checked import usual
from conftest import BUILT, REPOSITORY, Tree, first_of_each, missing, sample, slow_but

from grader.errors import Refused
from grader.gate.declared import declared
from grader.gate.objects import check_object, lists, words_for
from grader.gate.text import check_preprocessed, check_source, lines_of

Compile = Callable[..., Path]


@pytest.fixture(scope="module")
def objects(tmp_path_factory: pytest.TempPathFactory, programs: Path) -> Compile:
    """Compiles a text as grader/worker/compile.sh does, after a look at what is preprocessed and its prelude. The
    object replaces the one before: in one folder, a tree's, compilers keep what they make (kept_objects.c)."""
    tree = Tree(tmp_path_factory.mktemp("objects"), programs, BUILT)
    tree.make("build/cpu/rewrite", "BACKEND=cpu")

    @functools.cache
    def flags_of(build: str, cxx: str) -> list[str]:
        tree.make("build/check/settings", f"CXX={cxx}")
        read = f". build/cpu/settings; . build/check/settings; echo ${build}_FLAGS"
        printed = subprocess.run(["sh", "-c", read], cwd=tree.path, capture_output=True, text=True, check=True)
        return [*printed.stdout.split(), "-w"]

    def run_script(command: str, cxx: str, flags: Sequence[str]) -> None:
        set_by_callers = {"engine": tree.path / "engine", "tools": tree.path / "build/cpu", "support": tree.path,
                          "CXX": cxx}
        subprocess.run(["sh", "-c", f'. "$engine/kernel.sh"; {command} "$@"', "sh", *flags], cwd=tree.path,
                       env=os.environ | tree.kept_cxx(()) | set_by_callers, check=True)

    @functools.cache
    def prelude_of(build: str, cxx: str) -> Path:
        run_script("preprocess /dev/null prelude", cxx, flags_of(build, cxx))
        return (tree.path / "prelude.new").rename(tree.path / f"prelude of {build} {cxx}")

    def compile_text(text: str, *, cxx: str = "c++", checked: bool = False,
                     look: Callable[[bytes, bytes, bytes], object] = lambda *_: None, of: str = "kernel.i") -> Path:
        if not shutil.which(cxx):
            missing(cxx)
        cxx, build = usual(cxx, "c++"), "CHECKED" if checked else "EMULATED"
        prelude = prelude_of(build, cxx)
        tree.write("kernel.cu", text)
        run_script("macros_only=1 preprocess_as own_name kernel.cu kernel", cxx, flags_of("EMULATED", cxx))
        look((tree.path / of).read_bytes(), prelude.read_bytes(), b"own_name")
        run_script(f"compile_behind '{prelude.name}' kernel.new kernel.o", cxx, flags_of(build, cxx))
        return tree.path / "kernel.o"

    return compile_text


KERNEL = """
__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    if (threadIdx.x < m * n) C[threadIdx.x] = A[0] * B[0];
}
void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    mysgemm<<<1, 32>>>(m, n, k, A, B, C);
"""


def check(objects: Compile, before: str, inside: str, *, checked: bool = False, cxx: str = "c++") -> None:
    text = f"{before}\n{KERNEL}{inside}\n}}\n"
    check_source(text.encode())
    path = objects(text, checked=checked, cxx=cxx, look=check_preprocessed)
    check_object(path, checked, {})


# ---- what submissions have -----------------------------------------------------------------------

C = 'extern "C" '
TEMPLATE_LEFTOVERS = """
#include <algorithm>
#include <cassert>
#include <chrono>
#include <cmath>
#include <iomanip>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>
#define CUDA_CHECK(x) do { cudaError_t e = (x); if (e != cudaSuccess) { \\
    std::cerr << cudaGetErrorString(e) << " " << __FILE__ << ":" << __LINE__ << std::endl; \\
    exit(EXIT_FAILURE); } } while (0)
using namespace std;
static vector<double> times;
"""
PRINTS_LIKE_C = """
#include <assert.h>
#include <cublas_v2.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>
inline void gpuAssert(cudaError_t code, const char *file, int line, bool stop = true) {
    if (code == cudaSuccess) return;
    fprintf(stderr, "GPUassert: %s %s %d\\n", cudaGetErrorString(code), file, line);
    if (stop) exit(code);
}
#define gpuErrchk(ans) { gpuAssert((ans), __FILE__, __LINE__); }
double now() { struct timeval t; gettimeofday(&t, 0); return t.tv_sec + t.tv_usec * 1e-6; }
"""
OBJECTS = """
#include <array>
#include <cstdio>
#include <functional>
#include <map>
#include <random>
#include <stdexcept>
#include <unordered_map>
struct Base { virtual ~Base() {} virtual int tile() const = 0; };
struct T16 : Base { int tile() const override { return 16; } };
namespace mine { struct Timer { Timer() { puts("start"); } ~Timer() { puts("end"); } }; }
static mine::Timer timer;
thread_local int per_thread = 3;
"""
MANY_PARTS = "".join(f"#include <{name}>\n" for name in (
    "any", "bitset", "cstdio", "iomanip", "iostream", "map", "memory", "mutex", "optional", "set", "sstream",
    "stdexcept", "string", "system_error", "thread", "variant")) + "using namespace std;\n"
ODD = {
    "cout": (TEMPLATE_LEFTOVERS, """
        auto t = chrono::high_resolution_clock::now();
        CUDA_CHECK(cudaGetLastError()); CUDA_CHECK(cudaDeviceSynchronize());
        times.push_back(chrono::duration<double>(chrono::steady_clock::now() -
                                                 chrono::steady_clock::now()).count());
        cout << "time " << fixed << setprecision(3) << times.back() << 1 << 2.0f << 'c' << true
             << 3ul << (void *)A << setw(3) << (t == t) << endl;
        string s = "x"; s += to_string(m); stringstream o; o << s << m << hex << n;
        cout << o.str() << flush; sort(times.begin(), times.end());
        if (m < 0) throw runtime_error("bad");
        try { if (m < 0) throw "bad"; if (n < 0) throw 1; } catch (int) {}
        static string once = "once"; cout << once << std::max(1.0, times[0]);
        assert(m > 0);"""),
    "printf": (PRINTS_LIKE_C, """
        double t = now(); clock_t c = clock(); cudaEvent_t e0, e1;
        cudaEventCreate(&e0); cudaEventCreate(&e1); cudaEventRecord(e0);
        cudaDeviceProp p; cudaGetDeviceProperties(&p, 0); int d; cudaGetDevice(&d);
        gpuErrchk(cudaPeekAtLastError()); gpuErrchk(cudaDeviceSynchronize());
        cudaEventRecord(e1); cudaEventSynchronize(e1); float ms; cudaEventElapsedTime(&ms, e0, e1);
        printf("%f %f %s %ld\\n", now() - t, ms, p.name, (long)(clock() - c)); fflush(stdout);
        int *x = (int *)calloc(m, 4); free(x); if (!x) abort(); srand(time(NULL)); rand();
        puts("ok"); char text[100]; snprintf(text, 100, "%d", m); strcpy(text, "x");
        perror(text);"""),
    "objects": (OBJECTS, """
        Base *b = new T16; std::function<int(int)> f = [&](int x) { return (x + 15) / 16; };
        std::map<int, int> map; map[m] = n; std::unordered_map<std::string, int> um; um["a"] = 1;
        std::mt19937 g(1); std::uniform_real_distribution<float> u; u(g); ++per_thread;
        try { if (m < 0) throw std::invalid_argument("m"); f(b->tile()); }
        catch (const std::exception &e) { std::fprintf(stderr, "%s\\n", e.what()); }
        static std::string s("abc"); if (dynamic_cast<T16 *>(b)) puts(s.c_str()); delete b;"""),
    "C++ library": (MANY_PARTS, """
        static once_flag once; call_once(once, [] { puts("once"); });
        static mutex one, two; lock_guard<mutex> locked(one); scoped_lock both(two);
        auto p = make_shared<float>(1.f), q = p; weak_ptr<float> w = q; if (auto l = w.lock()) *l = m;
        shared_ptr<float> device(nullptr, [](float *x) { cudaFree(x); });
        unique_ptr<float[], void (*)(float *)> host(new float[m], [](float *x) { delete[] x; });
        map<string, shared_ptr<int>> cache; cache["x"] = make_shared<int>(n); set<int> s{m, n};
        optional<int> o; if (m) o = o.value(); variant<int, string> v = "x"s; get<int>(v);
        any a = string("y"); any_cast<string>(a); cout << bitset<8>(m) << 1.0L << quoted(string("q"));
        stringstream t("1 2.5 z"); int i; float f; string z; t >> i >> f >> z >> ws; getline(t, z); t.seekg(0);
        sscanf(z.c_str(), "%d", &i); wstring wide = L"a"; cout << wide.size() << thread::hardware_concurrency();
        try {
            if (m) throw 1.5; if (n) throw 2u; if (k) throw 3L; if (m > 1) throw string("x");
            if (m > 2) throw overflow_error("a"); if (m > 3) throw range_error("b"); if (m > 4) throw bad_cast();
            if (m > 5) throw domain_error("c"); throw system_error(make_error_code(errc::io_error), "d");
        } catch (const system_error &e) { puts(e.what()); } catch (const bad_cast &e) { puts(e.what()); }
        catch (...) { auto e = current_exception(); if (!uncaught_exceptions()) rethrow_exception(e); }"""),
    "names that are attributes elsewhere": (
        "__device__ int section, alias, target, constructor; int used = 3;"
        "__constant__ int dims[3];",
        "int naked = section, asm_ = alias; int h[3] = {m, n, k}; int a[3][3] = {};"
        "a[h[0]][h[1]] = 1;"
        "cudaMemcpyToSymbol(dims, h, sizeof h); target = naked + asm_ + constructor;"),
    "names of the C library for variables": (
        "__device__ float gamma_, index_[4]; float count; __constant__ float shape[2];",
        "count = 1; int time = m, read = n, write = k; count += time + read + write;"),
    "attributes that do no harm": (
        "__attribute__((always_inline)) inline int f(int x) { return x; }\n"
        "[[maybe_unused]] static int g(); "
        "__attribute__((noinline, hot)) int h(int x) { return x; }\n"
        "struct alignas(16) s { float x[4]; }; __align__(16) float t[4];", "f(h(m));"),
    "names with underscores": (
        "#define __TILE__ 16\n#define _SIZE_T_OF_MINE 2\n#define __forced __forceinline__\n"
        "static __forced int __rounded(int __x) { return (__x + __TILE__ - 1) / __TILE__; }\n"
        "#pragma unroll\n#include <math.h>\n#include <float.h>\n#include <assert.h>\n"
        "__device__ float f() { float _Best = -INFINITY; assert(_Best < FLT_MAX); return NAN; }",
        "float *x = NULL; m = __rounded(m) * (x == NULL);"
        "static_assert(__cplusplus > 2011, \"\"); const char *name = __func__; m += *name;"
        # as assert() has them in glibc 2.41
        "m += *__builtin_FILE() + *__builtin_FUNCTION() + __builtin_LINE();"),
    "names that are somebody's elsewhere": (
        "#include <algorithm>\n#include <array>\n#include <memory>\n#include <string>\n"
        "#include <vector>\n"
        "struct __Tile { float __array_A[4], _Size; }; enum { __A, __B = 3 };\n"
        "typedef float _Real; using __Row = int; struct { int __i; } __state;\n"
        "template <int _Size, typename _T, class... _Ts>"
        "__device__ inline _T __scaled(_T __x, _Ts... __args) { return __x * _Size + sizeof...(__args); }\n"
        "__device__ void atomic_add_float(float *a, float x) { atomicAdd(a, x); }\n"
        "__device__ bool __is_inside(int __row, int __col) { return __row < 3 && __col < 3; }\n"
        "namespace __mine { __device__ int __move(int __first) { return __first; } }\n"
        "__device__ float *__copy(float *__s) { return __s; }\n"
        "__device__ int block_count, end, memory_open, device_flag, launches, __table[4], error_x;\n",
        "bool atomic = m > 0, emulator_ok = atomic; int atomic_load = 3; std::vector<int> __v(3);"
        "for (auto &__x : __v) __x = m; int __s = __v[0], _Size = __s, *__p = &_Size; *__p = 1;"
        "auto [__a, __b] = std::make_pair(1, __state.__i); auto __f = [__n = __a](int __z) {"
        " return __z + __n; }; __Tile __tile; __tile.__array_A[0] = __f(__b) + __mine::__move(__B);"
        "if (emulator_ok && __is_inside(atomic_load, 1)) __tile._Size = *__copy(__tile.__array_A);"),
    'helpers with extern "C"': (
        C + "__device__ float madd(float a, float b, float c) { return a * b + c; }\n"
        + C + "{ static int one(int x) { return x; } int block_sum(int x) { return one(x); } }\n",
        "m = madd(m, n, k) + block_sum(m);"),
    "pragmas": (
        "#pragma once\n#pragma mark - section of attribute weak\n"
        "#pragma region load section optimize\n#pragma endregion target\n"
        "#pragma GCC diagnostic push\n#pragma GCC diagnostic ignored \"-Wattributes\"\n"
        "#pragma GCC diagnostic pop\n#pragma nv_diag_suppress 177\n#pragma pack(push, 8)\n"
        "#pragma pack(pop)\n#pragma message \"target\"\n", ""),
    "quotes and comments": (
        "// it's #line 3 \"x\"\n/* # 12 \"y.h\" 3 */\n"
        "const char *q = \"# 1 \\\" asm\"; char c = '\"';\n"
        "const char *r = R\"x(\n- # 1 \"/usr/z.h\" 3\nasm )\"; )x\"; long big = 1'000'000;",
        "q = r; c = (char)big;"),
}  # fmt: skip


@pytest.mark.parametrize(("name", "cxx", "checked"), slow_but(
    [(name, cxx, checked) for name in ODD for cxx in ("g++", "clang++")
     for checked in (False, True)], lambda number, _: number % 16 in (0, 5)))
def test_odd_submissions_pass(objects: Compile, name: str, cxx: str, checked: bool) -> None:
    check(objects, *ODD[name], checked=checked, cxx=cxx)


@pytest.mark.parametrize("name", sample(list(ODD)[:4], every=4))
def test_odd_submissions_pass_on_aarch64(objects: Compile, name: str) -> None:
    check(objects, *ODD[name], cxx="aarch64-linux-gnu-g++")


SHARED_WITH_THE_HOST = {"result_copied_back_and_forth"}  # not when graded
KERNELS = sorted([*(REPOSITORY / "instructor" / "solutions").glob("*.cu"),
                  *(REPOSITORY / "tests" / "kernels" / "right").glob("*.cu")])


@pytest.mark.parametrize("path", sample(KERNELS, every=48), ids=lambda path: path.stem)
def test_right_kernels_pass(objects: Compile, path: Path) -> None:
    text, checked = path.read_text(), len(path.stem) % 2 == 0  # both builds would take minutes
    check_source(text.encode())
    made = objects(text, checked=checked, look=check_preprocessed)
    managed = "cudaMallocManaged: memory that host and device share"
    with pytest.raises(Refused, match=managed) if path.stem in SHARED_WITH_THE_HOST else nullcontext():
        check_object(made, checked, {})


# ---- what is refused -----------------------------------------------------------------------------

# instructor/cheats has more: what they define, what runs before main(), what hides from the checker, what copies to
# the host. tests/kernels/right has what is allowed of CUDA's runtime.
REFUSED = [
    ("#include <stdio.h>", 'fopen("x", "r");', "calls fopen: it opens, reads or writes files"),
    ("#include <fstream>", 'std::ofstream("x") << 1;', "std::ofstream: it opens"),
    ("#include <iostream>", "std::cin >> m;", "std::cin"),
    ("#include <thread>", "std::thread([] {}).join();", "std::thread: it starts threads"),
    ("#include <condition_variable>", "static std::condition_variable c; c.notify_all();",
     "std::condition_variable: it is for programs that start"),
    ("#include <pthread.h>", "static pthread_cond_t c; pthread_cond_signal(&c);",
     "pthread_cond_signal: it is for programs that start"),
    ("#include <future>", "std::promise<int>().set_value(1);", "it is for programs that start"),
    (C + "void checker_reset();", "checker_reset();", "the grader's own parts"),
    (C + "int observer;", "observer = 0;", "the grader's own parts"),
    (C + "void __tsan_read4(void *);", "__tsan_read4(0);", "__tsan_read4, a name that belongs"),
    ("", "float f; __atomic_load(&A[0], &f, 0);", "compiler's __atomic_load"),
    ("", "__sync_fetch_and_add(&m, 1);", "compiler's __sync_fetch_and_add"),
    ("#define J(a, b) a##b", "J(__ato, mic_store_n)(&m, 1, 0);", "compiler's __atomic_store_n"),
    (C + "void *__memcpy_chk(void *, const void *, size_t, size_t);", "__memcpy_chk(&m, A, 4, 4);",
     "calls __memcpy_chk"),
    ("", "__builtin___memcpy_chk(&m, &n, 4, 4);", "uses __builtin___memcpy_chk"),
    ("", "__builtin_strncpy((char *)&m, (char *)&n, 4);", "uses __builtin_strncpy"),
    ("#define J(a, b) a##b\nnamespace J(emu, lator) { int mine; }", "", "emulator"),
    ("#include <atomic>", "((std::atomic<int> *)&m)->load();", "uses C..'s atomic"),
    ("#include <immintrin.h>", "", "includes <immintrin.h>"),
    ("#include <ext/random>", "", "includes <[a-z]*intrin.h>"),  # another header does
    ("__attribute__((optimize(0))) void f() {}", "", "the attribute optimize"),
    ("#pragma GCC optimize (\"O0\")", "", "#pragma optimize"),
    ("_Pragma(\"GCC optimize(\\\"O0\\\")\")", "", "#pragma optimize"),
    ("%: /* */ pragma GCC \\\n push_options", "", "#pragma push_options"),
    ("#pragma GCC target (\"avx512f\")", "", "#pragma target"),
    ("#pragma redefine_extname a b", "", "#pragma redefine_extname"),
    ("#pragma clang attribute push(__attribute__((annotate(\"x\"))), apply_to = function)\n"
     "#pragma clang attribute pop", "", "#pragma attribute"),
    ("#pragma clang section text = \".x\"", "", "#pragma section"),
    ("#pragma weak f", "", "#pragma weak"),
    (C + "char __executable_start;", "static volatile char c; c = __executable_start;",
     "where other parts"),
    ("", "cudaError_t (*volatile p)(void *) = cudaFree; p(C);", "the address of cudaFree"),
    ("static cudaError_t (*volatile table[])() = {cudaDeviceSynchronize};", "table[0]();",
     "the address of cudaDeviceSynchronize"),
    (C + "void *malloc(size_t) { return 0; }", "", "defines malloc"),
    (C + "float expf(float) { return 0; }", "", "defines expf"),
    (C + "int __cxa_atexit(void (*)(void *), void *, void *);", "", "__cxa_atexit, a name"),
    (C + "char _GLOBAL_OFFSET_TABLE_[];", "", "_GLOBAL_OFFSET_TABLE_, a name"),
    (C + "int _Unwind_Backtrace(int (*)(void *, void *), void *);", "", "_Unwind_Backtrace, a name"),
    ("#include <ext/atomicity.h>", "__gnu_cxx::__exchange_and_add(&m, 1);", "__gnu_cxx, a name"),
    ("#include <vector>", "std::__fill_a(&m, &m + 1, 3);", "__fill_a, a name"),
    ("#include <vector>\nstruct mine { int __fill_a; };", "std::__fill_a(&m, &m + 1, 3);",
     "__fill_a, a name"),
    ("#include <vector>\nusing namespace std;", "m * __fill_a(&m, &m + 1, 3);",
     "__fill_a, a name"),
    ("#include <atomic>\nusing namespace std;", "atomic<int> x; x = 1;", "uses C..'s atomic"),
    ("namespace std { void terminate() noexcept { for (;;) ; } }", "", "C.. library"),
    ("namespace emulator { int mine() { return 1; } }", "", "emulator"),
    (C + "{ static int one(int x) { return x; } static void *choose() { return (void *)one; } }"
     ' int f(int) __attribute__((ifunc("choose")));', "f(1);", "ifunc"),
    ("__attribute__((constructor)) static void f() {}", "", "constructor"),
    ("__attribute__((__destructor__(101))) static void f() {}", "", "destructor"),
    ('__attribute__((section(".init_array"))) void (*f)() = 0;', "", "section"),
    ('__attribute__((section(".text"), used)) static const char code[] = "\\xc3";', "", "section"),
    ('__attribute__((no_sanitize("thread"))) void f() {}', "", "hides a function"),
    ('<:<:gnu::indirect_branch("keep"):>:> void f() {}', "", "the attribute indirect_branch"),
    ("#define fnmatch _Pragma(\"GCC optimize(0)\")\n#include <fnmatch.h>", "", "changes the header fnmatch.h"),
    ("#define fnmatch f(); __attribute__((noipa)) extern int fnmatch\n#include <fnmatch.h>", "",
     "changes the header fnmatch.h by a macro"),
    ("", "__builtin_return_address(0);", "stack or registers"),
    ("unsigned long long x = EMULATOR_NO_BARRIER;", "", "the emulator's own EMULATOR_NO_B"),
    ("#ifdef CUDA_EMULATOR\n#endif", "", "the emulator's own CUDA_EMULATOR"),
]  # fmt: skip


@pytest.mark.parametrize("before, inside, words", first_of_each(
    REFUSED, lambda case: case[2].split()[0]  # calls, uses, defines, includes ...
), ids=[f"{case[2]}|{case[0][-30:]}" for case in REFUSED])
def test_refused(objects: Compile, before: str, inside: str, words: str) -> None:
    with pytest.raises(Refused, match=words) as refusal:
        check(objects, before, inside)
    assert "\n" not in refusal.value.tried and refusal.value.file == "kernel.cu"


@pytest.mark.slow
@pytest.mark.parametrize("cxx", ["clang++", "aarch64-linux-gnu-g++"])
def test_refused_with_other_compilers(objects: Compile, cxx: str) -> None:
    """One for each way to see it in an object file."""
    for seen in ("calls fopen", "std::ofstream", "where other", "the address of", "defines malloc",
                 "C.. library", "constructor"):
        before, inside, words = next(case for case in REFUSED if case[2].startswith(seen))
        with pytest.raises(Refused, match=words):
            check(objects, before, inside, cxx=cxx)


@pytest.mark.parametrize(("use", "words"), [
    ('fopen("x", "r");', "fopen"), ('ofstream("x");', "ofstream")])
def test_the_line_is_named(objects: Compile, use: str, words: str) -> None:
    text = ("#include <fstream>\nusing namespace std;\n"
            f"{C}FILE *fopen(const char *, const char *);\n#define OPEN {use}\n/* {words} */\n" + KERNEL
            + '    puts("a");\n    OPEN\n    OPEN\n}\n')
    lines: dict[str, tuple[int, int]] = {}
    made = objects(text, look=lambda *seen: lines.update(lines_of(check_preprocessed(*seen))))
    with pytest.raises(Refused, match=words) as refusal:
        check_object(made, False, lines)
    assert refusal.value.line == text.splitlines().index("    OPEN") + 1


def test_a_name_that_is_not_in_the_text(objects: Compile) -> None:
    """What has a line comes first; of all others it is said that a header has it."""
    lines: dict[str, tuple[int, int]] = {}
    sleeps = "#include <condition_variable>\n#include <thread>\nusing namespace std;\n" + KERNEL + (
        "    this_thread::sleep_for(chrono::seconds(1));\n")
    for more, words, line in (("", "calls nanosleep through a header: it waits", 0),
                              ("    static condition_variable c; c.notify_all();\n", "std::condition_variable", 13)):
        made = objects(sleeps + more + "}\n", look=lambda *seen: lines.update(lines_of(check_preprocessed(*seen))))
        with pytest.raises(Refused, match=words) as refusal:
            check_object(made, False, lines)
        assert refusal.value.line == line


# Where a word in the text could not be seen.
@pytest.mark.parametrize("text, words", [
    ('__attribute__((section(".evil"))) int x = 1;', "section .evil"),
    ('__attribute__((section(".fini_array"))) void (*f)() = 0;', "section .fini_array"),
    ('__attribute__((section(".text.x"))) extern const char code[] = "x";', "code"),
    ("#include <stdio.h>\n"
     '__attribute__((destructor)) static void f() { puts("x"); }', "fini_array"),
    ("#include <stdio.h>\n"
     '__attribute__((constructor)) static void f() { puts("x"); }', r"runs \S+ before main"),
])  # fmt: skip
def test_sections_of_the_object(objects: Compile, text: str, words: str) -> None:
    made = objects(f"{text}\n{KERNEL}}}\n")
    with pytest.raises(Refused, match=words):
        check_object(made, False, {})


def test_the_checkers_functions_are_for_the_checked_build_only(objects: Compile) -> None:
    made = objects(KERNEL + "}\n", checked=True)
    check_object(made, True, {})
    with pytest.raises(Refused, match="__tsan_"):
        check_object(made, False, {})


def test_damaged_objects_are_refused_and_raise_nothing_else(objects: Compile, tmp_path: Path) -> None:
    path = tmp_path / "x.o"
    for content in (b"", b"\x7fELF", b"not an object" * 100, Path("/bin/true").read_bytes()):
        path.write_bytes(content)
        with pytest.raises(Refused, match="cannot be read"):
            check_object(path, False, {})
    good, draw = objects(KERNEL + "}\n").read_bytes(), random.Random(1)
    for _ in range(60):
        damaged = bytearray(good)
        for _ in range(draw.choice([1, 4, 64])):
            damaged[draw.randrange(len(damaged))] = draw.randrange(256)
        path.write_bytes(damaged[:draw.choice([len(good), draw.randrange(len(good))])])
        with suppress(Refused):
            check_object(path, False, {})


# ---- the text ------------------------------------------------------------------------------------


NUMBERS = "line numbers"


@pytest.mark.parametrize("words, line, text", [
    (NUMBERS, 1, '# 12 "x.h" 3\n'), (NUMBERS, 3, "\n\n  #  7\n"), (NUMBERS, 1, '#line 5 "kernel.cu"\n'),
    (NUMBERS, 2, '/* a\n */ # 1 "x.h" 3\n'), (NUMBERS, 2, "int x;\n#li\\\nne 7\n"), (NUMBERS, 1, '%: 3 "x.h" 3\n'),
    (NUMBERS, 2, "int x = 1'0; /*' */\n# 1 \"x.h\" 3\n//'*/\n"),
    (NUMBERS, 4, "#if 0\n' /*\n#endif\n# 1 \"x.h\" 3\n/* */\n"),
    (NUMBERS, 2, "const char *s = \"\\\\\"; /* \" */\n# 1 \"x.h\" 3\n"),
    (NUMBERS, 2, "const char *s = R\"(\\)\"; //\"\n# 1 \"x.h\" 3\n"),
    (NUMBERS, 3, "// a \\  \n comment\n# 1 \"x.h\" 3\n"),
    ("redefines __builtin_memcpy", 2, "int x;\n#undef __builtin_memcpy\n"),
    # By its name, and not for the attribute that it becomes.
    ("that host and device share", 2, "int a;\n__managed__ float shared_by_both[16];\n"),
    *(("includes the file", 1, f"#  include /* */ {name}") for name in (
        '"/etc/passwd"', "</dev/zero>", '"x/../../hidden.toml"')),
])  # fmt: skip
def test_what_the_text_may_not_say(words: str, line: int, text: str) -> None:
    with pytest.raises(Refused, match=words) as refusal:
        check_source(f"{text}\n".encode())
    assert refusal.value.line == line


# What hides the rest of the file from a reader who cuts it otherwise than a compiler: which is why none does.
CUT = "#if __has_include(</*>)\n#endif\n"
EARLY = "__attribute__((constructor)) void early();\n"


@pytest.mark.parametrize("text", [
    f'{CUT}# 4 "/usr/include/stdio.h" 3\n{EARLY}',
    f'const char *s = R"x( )\\\nx" /* )x";\n# 4 "/usr/include/x.h" 3\n{EARLY}/* */\n',
    f"{CUT}#define F 4 \"/x.h\"\n#line /*\n*/ F\n{EARLY}", f'{CUT}#/**/line/**/4 /**/ __FILE__"/x.h"\n{EARLY}',
    f'{CUT}#\\\n4 "x.h"\n{EARLY}', f"{CUT}#define $F \"/x.h\"\n# 4 $F 3\n{EARLY}",
    f"{CUT}#define \u00fc \"/x.h\"\n# 4 \\u00fc 3\n{EARLY}", f'{CUT}#define A "/x.h"\n#define F A\n# 4 F 3\n{EARLY}',
    # And goes back: by the name of the file that is compiled, behind a header, or behind the file itself.
    f'{CUT}# 1 "/usr/include/stdio.h" 1 3\n{EARLY}# 9 __BASE_FILE__ 2\nint x;\n',
    f'{CUT}# 1 "/usr/include/stdio.h" 1 3\n{EARLY}# 9 "kernel.cu" 2\nint x;\n',
    f'{CUT}# 4 "/usr/include/stdio.h" 3\n{EARLY}#include <stdlib.h>\nint x;\n',
    f'int x;\n{CUT}# 1 "/usr/include/stdio.h" 1 3\n{EARLY}',
    f'{CUT}#ifdef AGAIN\n# 1 "/usr/include/stdio.h" 1 3\n{EARLY}#else\n#define AGAIN\n#include __FILE__\nint x;\n'
    "#endif\n",
    f'{CUT}#ifdef AGAIN\n{EARLY}#else\n#define AGAIN\n#include "kernel.cu"\nint x;\n#endif\n',
    f'{CUT}#undef __builtin_memcpy\nvoid f(char *p) {{ __builtin_memcpy(p, p + 8, 1); }}\n',
    f"#include <stdarg.h>\n{CUT}#undef __builtin_va_start\n"
    "void f(va_list *all, ...) { va_start(all[0], all); }\n",
])  # fmt: skip
def test_what_is_hidden_is_looked_at(objects: Compile, text: str) -> None:
    check_source(text.encode())
    with pytest.raises((Refused, subprocess.CalledProcessError)):  # some does not compile
        objects(text, look=check_preprocessed)


def test_other_questions_are_allowed() -> None:
    for text in ("#ifdef __SANITIZE_THREAD__", "#if defined __has_feature && __has_feature(thread_sanitizer)",
                 "#if __CUDA_ARCH__ >= 800 || defined(__NVCC__) || defined(__CUDACC__)", "int sanitize, feature;",
                 "#if __has_include(<cuda_pipeline.h>)", "/*\n# 1. load a tile\n# line by line\n#4\n*/",
                 "/* as in */ printf(\"#1\" \"# 2 \");", "#define N 16\n/*\n#1 N threads, as \"a\"\n# 2\n*/",
                 "#define S(x) #x \"y\""):
        check_source(f"{text}\n".encode())


def test_what_only_the_device_sees(objects: Compile) -> None:
    """nvcc also accepts the macro when it is put together from parts."""
    conditions = ["defined __CUDA_ARCH__", "JOINED(__CUDA_, ARCH__)", "__CUDA_\\\nARCH__"]
    text = "#define JOINED(a, b) a##b\n__device__ void f() {\n" + "".join(
        f"#if {condition}\nextern int g __attribute__((weak));\n#endif\n" for condition in conditions) + "}\n"
    objects(text, look=check_preprocessed)
    seen = []
    with pytest.raises(Refused, match="attribute"):
        objects(text, look=lambda *texts: (seen.append(texts[0]), check_preprocessed(*texts)), of="kernel.device.i")
    assert seen[0].count(b"weak") == 3


HEADER = 'asm("nop"); __attribute__((constructor)) void f();'


@pytest.mark.parametrize(("name", "file"), [
    ("/proc/self/cwd/kernel.cu", "/proc/self/cwd/kernel.cu"),
    ("/usr/include/../../proc/self/cwd/kernel.cu", "/proc/self/cwd/kernel.cu"),
    ("kernel.i.errors", "kernel.i.errors"), ("own.cu", "kernel.cu")])
def test_what_is_no_header(name: str, file: str) -> None:
    """A file that is not among the system's, such as one that lies beside it."""
    text = f'# 1 "own.cu"\nint a;\n# 1 "{name}" 1 3\n{HEADER}\n# 3 "own.cu" 2\nown\n'
    prelude = b'# 1 "/opt/gcc/include/y.h" 1 3\n'
    with pytest.raises(Refused, match=f"includes the file {file}") as refusal:
        check_preprocessed(text.encode(), prelude, b"own")
    assert refusal.value.line == 2
    for last in ("", "own\n# 4 \"/usr/include/x.h\" 3\nown\n"):
        with pytest.raises(Refused, match=NUMBERS):
            check_preprocessed(f'# 1 "own.cu"\nint a;\n{last}'.encode(), prelude, b"own")
    for header in ("/usr/include/x.h", "/opt/gcc/lib/../include/sys/x.h", "/tmp/parts/include/support.h"):
        check_preprocessed(text.replace(f'"{name}" 1', f'"{header}" 1').encode(), prelude, b"own", b"/tmp/parts")


def test_where_a_header_was_included_is_asked_of_one_that_is_refused_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes a look at all that follows: of each of a thousand headers, the time that an examination may take."""
    monkeypatch.setattr("grader.gate.text.line_behind", None)
    check_preprocessed(b'# 1 "/usr/include/x.h" 1 3\nint x;\n# 2 "own.cu" 2\nint a;\nown\n', b"", b"own")


def test_whose_lines_are_the_students() -> None:
    """Those behind a header; not those behind a marker in a string."""
    behind = f'# 1 "/usr/include/x.h" 1 3\n{HEADER}\n# 40 "own.cu" 2\n\nvoid g() {{ asm("nop"); }}\nown\n'
    string = '# 1 "own.cu"\nchar s[] = R"(\n# 1 "/usr/x.h" 3\n)"; void g() { asm("nop"); }\nown\n'
    for text, line in (behind, 41), (string, 3):
        with pytest.raises(Refused, match="assembly") as refusal:
            check_preprocessed(text.encode(), b"", b"own")
        assert refusal.value.line == line


# ---- the lists -----------------------------------------------------------------------------------


WORDS = {"fork": "starts or waits for processes", "pthread_create": "threads", "mprotect": "it maps",
         "_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE": "threads",
         "cudaLaunchHostFunc": "the host go on", "cudaDeviceSetLimit": "what the L2 cache keeps",
         "cuLaunchKernel": "to the driver", "cudaOfTomorrow": "have no use for it"}
DANGEROUS = ["system", "socket", "dlsym", "signal", "longjmp", "syscall", "getenv", "cudaGraphLaunch",
             "cudaStreamBeginCapture", "cudaStreamAddCallback", "cuModuleLoadData", "cudaGetDriverEntryPoint",
             "cudaHostAlloc", "cudaMallocManaged", "open", "emulator_time_limit", "checker_start",
             "_ZNSt13basic_filebufIcSt11char_traitsIcEE4openEPKcSt13_Ios_Openmode", "_ZNSt6threadC1Ev",
             "_ZNSt14basic_ifstreamIcSt11char_traitsIcEEC1EPKcSt13_Ios_Openmode"]


def test_what_is_refused_in_words() -> None:
    for name, words in WORDS.items():
        assert words in words_for(name)


def test_nothing_dangerous_is_allowed() -> None:
    """By a prefix that is too short; and nothing of support.h is, which submissions may include."""
    allowed, refused = lists()
    assert [table for table in allowed if "atexit" in table] == [table for table in allowed if table.cuda_only]
    of_support = re.findall(r"^[a-z].*?\b(\w+)\(", (REPOSITORY / "support.h").read_text(), re.MULTILINE)
    assert "report_verify" in of_support
    for name in {*of_support, *(name for table in refused for name in table.names), *WORDS, *DANGEROUS} - {"atexit"}:
        assert not any(name in table for table in allowed), name


@pytest.mark.parametrize(("text", "declares"), [
    ("enum { __f , b } ;", True), ("int a , __f = 1 ;", True),
    ("void ( * table [ ] ) ( ) = { __f , 0 } ;", False), ("{ __f { 1 } . run ( ) ; }", False),
    ("use ( S { 1 , __f } ) ;", False), ("typedef float ( * __f ) [ 3 ] ;", True),
    ("void g ( int ( & __f ) ( ) )", True),
    ("g ( * __f ) ( 3 ) ;", False), ("x = float ( __f ) [ 3 ] ;", False), ("x = int ( * __f ) ;", False)])
def test_a_name_in_brackets_is_declared_where_it_can_be_nothing_else(text: str, declares: bool) -> None:
    """Else the name of a header's function would be the submission's own behind a table that has it."""
    assert declared(text.encode().split(), {b"__f"}) == ({b"__f"} if declares else set())
