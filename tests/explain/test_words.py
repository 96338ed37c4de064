"""What a finding says beyond its kind and line (engine/explain/diagnosis.c,
engine/report/words/words.def): between which lines a barrier is missing, which threads wait where, which loop
does not end, what of a tile is not stored.

Each case is the tiled kernel with a mistake; @NAME marks a line, {NAME} is its number.
"""

import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from checked import EACH_COMPILER, Builder, run_check, shared_kernel
from conftest import slow_but

from instructor.faulty.mistakes import replaced


PARAMETERS = "(int m, int n, int k, const float *A, const float *B, float *C)"
WRAPPER = f"""
void basicSgemm{PARAMETERS} {{
    dim3 block(16, 16), grid((n + 15) / 16, (m + 15) / 16);
    mysgemm<<<grid, block>>>(m, n, k, A, B, C);
}}
"""
TILED = f"""
__global__ void mysgemm{PARAMETERS} {{
    __shared__ float A_s[16][16], B_s[16][16];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx, last = (k - 1) / 16;
    float sum = 0;
    for (int p = 0; p <= last; ++p) {{ // @phases
        A_s[ty][tx] = row < m && p * 16 + tx < k ? A[row * k + p * 16 + tx] : 0; // @a
        B_s[ty][tx] = col < n && p * 16 + ty < k ? B[(p * 16 + ty) * n + col] : 0; // @b
        __syncthreads(); // @first
        for (int i = 0; i < 16; ++i) // @products
            sum += A_s[ty][i] * B_s[i][tx]; // @read
        __syncthreads(); // @second
    }} // @end
    __syncthreads(); // @behind
    if (row < m && col < n) C[row * n + col] = sum;
}}
"""
FIRST = "        __syncthreads(); // @first\n"
SECOND = "        __syncthreads(); // @second\n"
BEHIND = "    __syncthreads(); // @behind\n"
LOADS = re.search(r".*@a\n.*@b\n", TILED)[0]
LOAD = f"""__device__ void load(float (*A_s)[16], float (*B_s)[16], const float *A,
                                const float *B, int m, int n, int k, int p) {{
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
{LOADS}}}
__global__"""


@dataclass
class Case:
    name: str
    edits: list[str]  # of TILED: what is replaced, and by what
    kind: str
    at: str  # the mark of the line
    says: list[str]
    silent: str = "$^"  # a pattern of words that it must not have
    options: str = ""
    behind: str = ""  # the mark of the line behind which the grade tries a barrier


READ_AFTER = "hint: a tile may be read only after"
OVERWRITE_AFTER = "hint: a shared array may be overwritten only after"
NOT_BOTH = "there is a __syncthreads() at line {second}, but the two threads did not both reach it"
TWO_BUFFERS = ["A_s[16][16], B_s[16][16]", "A_s[2][16][16], B_s[2][16][16]", "A_s[ty][tx] =", "A_s[p % 2][ty][tx] =",
               "B_s[ty][tx] =", "B_s[p % 2][ty][tx] ="]

CASES = [
    Case("first barrier missing", [
        "A_s[16][16],", "ones[16], A_s[16][16],", FIRST, "ones[tx] = 1; // @ones\n",
        "* B_s[i][tx]", "* B_s[i][tx] * ones[tx]"], "shared-race", "read",
         ["thread (0,0) reads A_s[0][1], which thread (1,0) stores at kernel.cu:{a}",
          "a __syncthreads() is missing after line {ones}, before line {products}", READ_AFTER]),
    Case("second barrier missing", [SECOND, ""], "shared-race", "read",
         ["overwrites at kernel.cu:{a}", OVERWRITE_AFTER,
          "a __syncthreads() is missing at the end of the loop of line {phases}, after line {read}"]),
    Case("first barrier not in the last phase", [FIRST, f"if (p < last)\n{FIRST}"], "shared-race", "read",
         ["stores at kernel.cu:{a}", READ_AFTER,
          "there is a __syncthreads() at line {first}, but the two threads did not both reach it in tile phase 2"],
         silent="missing"),
    Case("zeros are stored first", [
        FIRST, f"if (p < last)\n{FIRST}",
        "        A_s[ty][tx] = row", "        A_s[ty][tx] = B_s[ty][tx] = 0; // @zeros\n"
        "        if (row < m && p * 16 + tx < k) A_s[ty][tx] = row"], "shared-race", "read",
         ["stores at kernel.cu:{zeros}", READ_AFTER], silent="overwrites"),
    Case("one barrier for two buffers, in an if", [
        *TWO_BUFFERS, FIRST, "", "            sum +=", "            if (p > 0) sum +=", BEHIND, "",
        "A_s[ty][i] * B_s[i][tx]", "A_s[(p + 1) % 2][ty][i] * B_s[(p + 1) % 2][i][tx]",
        SECOND, f"if (col < n)\n{SECOND}"], "shared-race", "read",
         ["stores at kernel.cu:{a}", NOT_BOTH], silent="missing"),
    Case("one of two buffers in all phases", [
        "A_s[16][16], B_s[16][16]", "A_s[2][16][16], B_s[16][16]", FIRST, "",
        "A_s[ty][tx] =", "A_s[p % 2][ty][tx] =", "A_s[ty][i] *", "A_s[0][ty][i] *"], "shared-race", "read",
         ["a __syncthreads() is missing between the two lines, or one of them should access another "
          "buffer of A_s"], silent="before line"),
    Case("the next tiles in a function, and no barrier", [
        FIRST, "", SECOND, "", LOADS, "if (p < last) load(A_s, B_s, A, B, m, n, k, p + 1); // @call\n",
        "A_s[16][16], B_s[16][16]", "A_s[2][16][16], B_s[2][16][16]",
        "A_s[ty][i] * B_s[i][tx]", "A_s[p % 2][ty][i] * B_s[p % 2][i][tx]",
        "    for (int p", "    load(A_s, B_s, A, B, m, n, k, 0);\n    __syncthreads();\n    for (int p",
        "__global__", LOAD.replace("(*A_s)[16]", "(*A_s)[16][16]").replace("(*B_s)[16]", "(*B_s)[16][16]")
        .replace("_s[ty]", "_s[p % 2][ty]")], "shared-race", "read",
         ["stores at kernel.cu:{a}", "a __syncthreads() is missing between the two lines, or one of them should access "
          "another buffer of A_s"], silent="before line|__syncwarp", behind="read"),
    Case("a return in the loop", ["        A_s[ty]", "        if (p * 16 + ty >= k) return;\n        A_s[ty]"],
         "unwritten", "", ["hint: the grid has a thread for each element of C if x counts its columns and y its rows. "
                            "Does the kernel count that way? If so, which threads"], silent="rounded up"),
    Case("first barrier in an if", [FIRST, f"if (ty < 14) // @if\n{FIRST}"], "divergent-barrier", "first",
         ["the 224 threads with threadIdx.y < 14 wait here,", "the other 32 wait at kernel.cu:{second}",
          "this __syncthreads() is inside the if of line {if}"], silent="race"),
    Case("second barrier in an if", [SECOND, f"if (tx % 2 == 0) {{ // @if\n{SECOND}}}\n"],
         "divergent-barrier", "second",
         ["the 128 threads with threadIdx.x % 2 = 0 wait here,", "the other 128 wait at kernel.cu:{first}",
          "this __syncthreads() is inside the if of line {if}"]),
    Case("some leave the loop early", [SECOND, "", FIRST, f"if (p > 0 && tx == 3) break;\n{FIRST}"],
         "divergent-barrier", "first",
         ["the 240 threads with threadIdx.x != 3 wait here,", "the other 16 wait at kernel.cu:{behind}"],
         silent="inside the if"),
    Case("a barrier and threads that return", [FIRST, f"if (ty == 1) return;\nif (tx < 4) // @if\n{FIRST}"],
         "divergent-barrier", "first",
         ["the 60 threads with threadIdx.x < 4 and threadIdx.y != 1 wait here,",
          "the 180 threads with threadIdx.x >= 4 and threadIdx.y != 1 wait at kernel.cu:{second},",
          "the 16 threads with threadIdx.y = 1 have returned"]),
    Case("loads in a function", [FIRST, "", LOADS, "load(A_s, B_s, A, B, m, n, k, p); // @call\n", "__global__", LOAD],
         "shared-race", "read",
         ["stores at kernel.cu:{a}", "a __syncthreads() is missing after line {call}, before line {products}"]),
    Case("one phase in an if", [
        FIRST, "", "        A_s[ty][tx] = row", "        if (k > 0) {\n        A_s[ty][tx] = row",
        SECOND, f"        }}\n{SECOND}"],
         "shared-race", "read", ["stores at kernel.cu:{a}", READ_AFTER], silent="missing|__syncwarp", behind="b"),
    Case("loads in a lambda, which barriers pass by", [
        SECOND, "", LOADS, "load(p); // @call\n", "    for (int p = 0; p <= last; ++p)",
        f"    auto load = [&](int p) {{\n{LOADS}    }};\n    for (int p = 0; p <= last; ++p)"], "shared-race", "read",
         ["overwrites at kernel.cu:{a}", OVERWRITE_AFTER,
          "a __syncthreads() is missing at the end of the loop of line {phases}, after line {read}"]),
    Case("loads in a function that is called twice", [
        FIRST, "", LOADS, "load(A_s, B_s, A, B, m, n, k, p);\nif (p > 0) load(A_s, B_s, A, B, m, n, k, p);\n",
        "__global__", LOAD],
         "shared-race", "read", ["stores at kernel.cu:{a}"], silent="missing|is between|__syncwarp"),
    Case("a tile that is not stored", [re.search(r".*@b\n", TILED)[0], ""],
         "uninitialized-shared", "read", ["no thread of the block has stored any element of B_s"]),
    Case("a tile in an array of tiles", [
        "A_s[16][16],", "A_s[2][16][16],", "A_s[ty][tx] =", "if (ty < 8) A_s[1][ty][tx] =",
        "A_s[ty][i]", "A_s[1][ty][i]"], "uninitialized-shared", "read",
         ["rows 8 to 15 of A_s[1] have not been stored"]),
    Case("a part of dynamic shared memory is not stored", [
        "__shared__ float A_s[16][16], B_s[16][16];", "extern __shared__ float tiles[];",
        "A_s[ty][tx] =", "tiles[16 * ty + tx] =", "B_s[ty][tx] =", "float unused =",
        "A_s[ty][i] * B_s[i][tx]", "tiles[16 * ty + i] * tiles[256 + 16 * i + tx]",
        "<<<grid, block>>>", "<<<grid, block, 2048>>>"], "uninitialized-shared", "read",
         ["elements 256 to 511 of tiles have not been stored"]),
    Case("some elements are not stored", ["A_s[ty][tx] =", "if (tx != ty) A_s[ty][tx] ="],
         "uninitialized-shared", "read", ["16 of the 256 elements of A_s have not been stored"]),
    Case("elements of a volatile array are not stored", [
        "__shared__ float", "volatile __shared__ float", "A_s[ty][tx] =", "if (tx != ty) A_s[ty][tx] ="],
         "uninitialized-shared", "read", ["16 of the 256 elements of A_s have not been stored"]),
    Case("inner loop does not end", ["i < 16; ++i", "i < 16; i += p"], "endless", "",
         ["which may be inside another loop"], silent="which does not end", options="--timeout 0.3"),
    Case("outer loop does not end", ["p <= last; ++p", "p <= last; p = p"], "endless", "",
         ["in the loop of line {phases}, which does not end", "the block has passed at least"],
         options="--timeout 1"),
    Case("an index below A by 2^32 elements", ["? A[row * k", "? A[(long)row * k - (1l << 32)"], "out-of-bounds", "a",
         ["the index into A is 2^32 elements too small", "hint: an int holds"]),
    Case("an index below A by one row", ["? A[row * k", "? A[(row - 1) * k"], "out-of-bounds", "a",
         ["before its beginning"], silent="2\\^32|at the edge"),
    Case("the first thread of all is not at the edge", [
        "? A[row * k + p * 16 + tx]", "? A[row * k + p * 16 + tx + (row + col ? 0 : m * k)]"], "out-of-bounds", "a",
         ["thread (0,0) reads A"], silent="at the edge"),
    Case("a thread at the edge", ["row < m && p * 16", "p * 16"], "out-of-bounds", "a",
         ["hint: at the edge of A some threads have no element to load"]),
    Case("a column that is not a multiple", [
        "? A[row * k + p * 16 + tx]", "? first_of_four(A + row * k + p * 16 + tx)",
        "__global__", """__device__ float first_of_four(const float *a) {
    const float4 v = *(const float4 *)a; // @four
    return v.x + 0 * v.y * v.z * v.w;
}
__global__"""], "misaligned", "four", ["row 0 of A begins at a multiple of 4, but column 1 is not one"]),
]  # fmt: skip


def source_of(edits: list[str]) -> tuple[str, dict[str, int]]:
    """The kernel, and the number of each marked line."""
    text = replaced(TILED + WRAPPER, edits, "the tiled kernel")
    lines = enumerate(text.splitlines(), 1)
    return text, {mark: number for number, line in lines for mark in re.findall(r"@(\w+)", line)}


BY_DAY = ("first barrier missing", "second barrier missing", "one barrier for two buffers, in an if",
          "second barrier in an if", "loads in a function", "a part of dynamic shared memory is not stored",
          "an index below A by one row")


@pytest.mark.parametrize(("case", "setup"), slow_but(
    [*((case, "gcc -O1") for case in CASES), *((case, "clang -O1") for case in CASES[:2])],
    lambda _, values: values[0].name in BY_DAY and values[1] == "gcc -O1"),
    ids=lambda value: getattr(value, "name", value))
def test_words(checker: Builder, case: Case, setup: str, tmp_path: Path) -> None:
    """Either compiler names one place for a missing barrier."""
    text, lines = source_of(case.edits)
    kernel = tmp_path / "kernel.cu"
    kernel.write_text(text)
    finding = run_check(checker(setup, kernel), "--json", "--seed", 1, 34, *case.options.split()).finding
    said = " ".join([finding["what"], *finding["detail"], "hint: " + finding["hint"]])
    said = said.replace(str(kernel), "kernel.cu")
    assert finding["kind"] == case.kind, said
    assert not case.at or finding["line"] == lines[case.at], said
    for words in case.says:
        assert words.format(**lines) in said
    assert not re.search(case.silent, said)
    assert not case.behind or finding["slots"]["barrier_after"] == lines[case.behind]


# ---- lines that store to one element in several threads, and atomic operations ---------------------

ADDED_UP = """
__global__ void adds(float *C) {
    __shared__ float total;
    if (threadIdx.x == 0) total = 0;
    __syncthreads();
    for (int i = 0; i < 3; ++i) total += i; // 1 several
    __syncthreads();
    C[threadIdx.x] = total;
}
__global__ void loads_before(float *C) {
    __shared__ float bins[4];
    if (threadIdx.x < 4) bins[threadIdx.x] = 0;
    __syncthreads();
    const float old = bins[threadIdx.x % 4];
    bins[threadIdx.x % 4] = old + 1; // 2 several
    __syncthreads();
    C[threadIdx.x] = bins[threadIdx.x % 4];
}
__global__ void not_cleared_for_all(float *C) {
    __shared__ float total;
    if (threadIdx.x == 0) total = 0;
    float old = total + 1;
    total = old; // 3 several
    C[threadIdx.x] = total;
}
__device__ void add(unsigned char *to) {
    const unsigned char old = *to;
    *to = old + 1; // 4 several
}
__global__ void adds_bytes(float *C) {
    __shared__ unsigned char bins[4];
    if (threadIdx.x < 4) bins[threadIdx.x] = 0;
    __syncthreads();
    add(&bins[threadIdx.x % 3]);
    add(&bins[threadIdx.x % 2]);
}
__global__ void adds_in_global_memory(float *C) {
    C[threadIdx.x / 2] += 1; // 5 several
}
__global__ void condition(float *C) {
    __shared__ float most;
    if (threadIdx.x == 0) most = 0;
    __syncthreads();
    if (threadIdx.x > 7 ||
        most < threadIdx.x)
        if (threadIdx.x == 7)
            most = 7;
}
__global__ void branches(float *C) {
    __shared__ float one;
    if (threadIdx.x == 0) one = 0;
    __syncthreads();
    if (threadIdx.x > 0)
        C[threadIdx.x] = one;
    else
        one = 1;
}
__global__ void two_lines_of_a_loop(float *C) {
    __shared__ float total;
    if (threadIdx.x == 0) total = 0;
    __syncthreads();
    for (int i = 0; i < 2; ++i)
        if (threadIdx.x == 1)
            total += 1;
        else if (threadIdx.x == 0)
            total += 2;
}
__global__ void behind_a_branch(float *C) {
    __shared__ float one;
    if (threadIdx.x == 0) {
        one = 1;
    } // 9 after
    C[threadIdx.x] = one; // 9 before
}
__global__ void halves(float *C) {
    __shared__ float all[256];
    all[threadIdx.x] = 1;
    __syncthreads();
    for (int stride = 128; stride > 0; stride /= 2) { // 10 loop
        if (threadIdx.x < stride) {
            all[threadIdx.x] += all[threadIdx.x + stride];
        } // 10 after
    }
    C[threadIdx.x] = all[0];
}
__global__ void exchanged(float *C) {
    __shared__ float all[256];
    all[threadIdx.x] = 1; // 11 after
    all[255 - threadIdx.x] *= 2; // 11 before
}
__global__ void clears(float *C) {
    __shared__ int bins[4];
    if (threadIdx.x < 4)
        bins[threadIdx.x] = 0; // 12 after
    for (int i = 0; i < 4; ++i) // 12 before
        atomicAdd(&bins[(threadIdx.x + i) % 4], 1);
}
__global__ void merges(float *C) {
    __shared__ int bins[4];
    if (threadIdx.x < 4) bins[threadIdx.x] = 0;
    __syncthreads();
    for (int i = 0; i < 4; ++i)
        atomicAdd(&bins[(threadIdx.x + i) % 4], 1); // 13 after
    if (threadIdx.x < 4) { // 13 before
        C[threadIdx.x] = bins[threadIdx.x];
    }
}
__global__ void rounds(float *C) {
    __shared__ int bins[4];
    if (threadIdx.x < 4) bins[threadIdx.x] = 0;
    __syncthreads();
    for (int i = 0; i < 4; ++i) { // 14 loop
        C[threadIdx.x] = bins[threadIdx.x % 4];
        __syncthreads();
        atomicAdd(&bins[(threadIdx.x + i) % 4], 1); // 14 after
    }
}
__global__ void rounds_without_the_first(float *C) {
    __shared__ int bins[4];
    if (threadIdx.x < 4) bins[threadIdx.x] = 0;
    for (int i = 0; i < 4; ++i) {
        __syncthreads();
        C[threadIdx.x] = bins[threadIdx.x % 4]; // 15 after
        atomicAdd(&bins[(threadIdx.x + i) % 4], 1); // 15 before
    }
}
__global__ void rounds_without_both(float *C) {
    __shared__ int bins[4];
    if (threadIdx.x < 4) bins[threadIdx.x] = 0;
    __syncthreads();
    for (int i = 0; i < 4; ++i) {
        C[threadIdx.x] = bins[threadIdx.x % 4];
        atomicAdd(&bins[(threadIdx.x + i) % 4], 1);
    }
}
__global__ void in_a_branch(float *C) {
    __shared__ int bins[4];
    if (threadIdx.x < 4) bins[threadIdx.x] = 0;
    __syncthreads();
    if (threadIdx.x < 100) {
        atomicAdd(&bins[threadIdx.x % 4], 1);
        C[threadIdx.x] = bins[threadIdx.x % 4];
    }
}
__global__ void plain_and_atomic(float *C) {
    __shared__ int total;
    if (threadIdx.x == 0) total = 0;
    __syncthreads();
    atomicAdd(&total, 1);
    total = 1;
}
__global__ void rounds_with_both(float *C) {
    __shared__ int bins[4];
    if (threadIdx.x < 4) bins[threadIdx.x] = 0;
    __syncthreads();
    for (int i = 0; i < 4; ++i) {
        C[threadIdx.x] = bins[threadIdx.x % 4];
        __syncthreads();
        atomicAdd(&bins[(threadIdx.x + i) % 4], 1);
        if (i > 1) __syncthreads();
    }
}
__global__ void last_warp(float *C) {
    __shared__ float s[256];
    const int t = threadIdx.x;
    s[t] = t;
    __syncthreads();
    if (t < 32) {
        float sum = s[t + 2];
        s[t] = sum;
    }
    C[t] = s[t];
}
__global__ void last_warp_in_turns(float *C) {
    __shared__ float s[256];
    const int t = threadIdx.x;
    s[t] = t;
    __syncthreads();
    if (t < 32)
        for (int i = 16; i > 0; i /= 2) {
            float sum = s[t + i];
            s[t] = sum;
        }
    C[t] = s[t];
}
__device__ void put(float *s) { s[threadIdx.x] = 1; }
__global__ void neighbors(float *C) {
    __shared__ float s[256];
    put(s);
    put(s);
    C[threadIdx.x] = s[threadIdx.x ^ 1];
}
__global__ void neighbors_and_others(float *C) {
    __shared__ float s[256];
    put(s);
    put(s);
    C[threadIdx.x] = s[threadIdx.x ^ 1] + s[255 - threadIdx.x];
}
__global__ void others_read_then(float *C) {
    __shared__ float s[256];
    const int t = threadIdx.x;
    s[t] = t;
    __syncthreads();
    C[t] = s[t ^ 1];
    if (t < 40) C[t] += s[39 - t];
    put(s);
    put(s);
}
__global__ void lanes_in_pairs(float *C) {
    __shared__ float s[256];
    const int t = threadIdx.x;
    put(s);
    put(s);
    __syncwarp(3u << t % 32 / 2 * 2);
    C[t] = s[t ^ 2];
}
__global__ void rest(float *C) {
    __shared__ float s[256];
    const int t = threadIdx.x;
    s[t] = t;
    __syncthreads();
    C[t] = s[t ^ 1];
    __syncthreads();
    if (t < 100) {
        s[t] = 1;
    } // 26 after
    C[t] += s[255 - t]; // 26 before
}
__global__ void strips(float *C) {
    __shared__ float strip[8][32];
    const int w = threadIdx.x / 32, lane = threadIdx.x % 32;
    for (int p = 0; p < 3; ++p) { // 27 loop
        strip[w][lane] = p;
        __syncwarp();
        for (int i = 0; i < 32; ++i)
            C[threadIdx.x] += strip[w][i]; // 27 after
    }
}
__global__ void strips_without_the_first(float *C) {
    __shared__ float strip[8][32];
    const int w = threadIdx.x / 32, lane = threadIdx.x % 32;
    for (int p = 0; p < 3; ++p) {
        strip[w][lane] = p; // 28 after
        for (int i = 0; i < 32; ++i) // 28 before
            C[threadIdx.x] += strip[w][i];
        __syncwarp();
    }
}
__global__ void strips_in_a_later_turn(float *C) {
    __shared__ float strip[8][32];
    const int w = threadIdx.x / 32, lane = threadIdx.x % 32;
    for (int p = 0; p < 3; ++p) {
        strip[w][lane] = p;
        if (p == 0) __syncwarp();
        for (int i = 0; i < 32; ++i)
            C[threadIdx.x] += strip[w][i];
        __syncwarp();
    }
}
template <int threads> __device__ void old_code(float *C) {
    __shared__ float s[256];
    volatile float *v = s;
    const int t = threadIdx.x;
    v[t] = t;
    __syncthreads();
    if (t < threads) v[t] = v[t] + v[t + 8];
    __syncthreads();
    C[t] = v[t];
}
__global__ void volatile_in_a_warp(float *C) { old_code<24>(C); }
__global__ void volatile_in_warps(float *C) { old_code<240>(C); }
__global__ void in_turns(float *C) {
    __shared__ float s[256];
    const int t = threadIdx.x;
    s[t] = t;
    __syncthreads();
    for (int i = 1; i < 8; i += 2) // 32 loop
        if (t < 200) {
            s[t * i % 256] += i; // 32 several
        } // 32 after
    C[t] = t;
}
__global__ void in_place(float *C) {
    __shared__ float s[256];
    const int t = threadIdx.x;
    s[t] = t;
    __syncthreads();
    for (int d = 1; d < 256; d *= 2) {
        if (t >= d) s[t] += s[t - d];
        __syncthreads();
    }
    C[t] = s[t];
}
__global__ void in_place_once(float *C) {
    __shared__ float s[256];
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    s[threadIdx.x] += s[threadIdx.x ^ 1];
    C[threadIdx.x] = s[threadIdx.x];
}
__global__ void halves_from_the_top(float *C) {
    __shared__ float s[256];
    const int t = threadIdx.x;
    s[t] = t;
    for (int h = 128; h > 0; h /= 2) { // 35 after
        if (t < h) // 35 before
            s[t] = s[t] + s[t + h];
    }
    C[t] = s[0];
}
__global__ void halves_into_another(float *C) {
    __shared__ float s[256], to[256];
    const int t = threadIdx.x;
    s[t] = t; // 36 after
    for (int h = 128; h > 0; h /= 2) { // 36 before
        if (t < h && s[t + h] == 0) to[t] = s[t + h];
    }
    C[t] = s[t] + to[t];
}
__global__ void adds_beside_an_atomic(float *C) {
    __shared__ int count;
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    atomicAdd(&count, 1);
    C[threadIdx.x / 2] += 1; // 37 several
}
__global__ void adds_behind_a_lock(float *C) {
    while (threadIdx.x < 2 && atomicCAS((int *)C + 255, 0, 1)) continue;
    C[0] += 1; // 38 several
    if (threadIdx.x < 2) atomicExch((int *)C + 255, 0);
}
__global__ void barrier_of_some_beside_an_atomic(float *C) {
    __shared__ int count;
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    atomicAdd(&count, 1);
    if (threadIdx.x < 128) __syncthreads(); // 39 barrier
    C[threadIdx.x] = count;
}
__device__ void count_in(int *count, float *C) {
    atomicAdd(count, 1);
    __syncthreads();
    C[threadIdx.x] = *count;
}
__global__ void barrier_of_a_call_beside_an_atomic(float *C) {
    __shared__ int count;
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    count_in(&count, C);
    count_in(&count, C);
}
__global__ void folds_in_turns(float *C) {
    __shared__ float s[256];
    const int t = threadIdx.x;
    for (int p = 0; p < 3; ++p) {
        s[t] = p;
        __syncthreads();
        if (t >= 192) s[t - 128] += s[t]; // 41 after
        for (int h = 64; h > 0; h /= 2) { // 41 before
            if (t < h) s[t] += s[t + h];
            __syncthreads();
        }
        C[t] += s[0];
        __syncthreads();
    }
}
struct cell {
    float v;
    cell() = default;
    __device__ cell(float x) { v = x; } __device__ operator float() { return v; }
};
__device__ void put(float *to, float x) { *to = x; } __device__ float get(const float *from) { return *from; }
__global__ void converts_at_the_line_of_a_constructor(float *C) {
    __shared__ cell s[256];
    for (int i = 0; i < 2; ++i) {
        s[threadIdx.x] = C[threadIdx.x];
        __syncthreads();
        C[threadIdx.x] += s[255 - threadIdx.x];
    }
}
__global__ void stores_and_reads_at_one_line(float *C) {
    __shared__ float s[256];
    for (int i = 0; i < 2; ++i) {
        put(s + threadIdx.x, C[threadIdx.x]);
        __syncthreads();
        C[threadIdx.x] += get(s + 255 - threadIdx.x);
    }
}
__global__ void behind_a_warp_operation(float *C) {
    __shared__ float s[256];
    const int t = threadIdx.x;
    const float sum = __shfl_xor_sync(0xffffffff, C[t], 1);
    s[t] = sum; // 44 after
    C[t] = s[255 - t]; // 44 before
}
"""
BETWEEN = "a __syncthreads() is missing after line {after}, before line {before}"
AT_THE_END = "a __syncthreads() is missing at the end of the loop of line {loop}, after line {after}"
SEVERAL = ["more than one thread stores to", "at line {several}", "hint: where two threads read an element and then"]
AGAIN = ["more than one thread stores to", "at line {several}, in the loop of line {loop}, which has no barrier",
         "hint: does a turn of the loop need what other threads stored"]
NOT_BOTH_REACH = "there is a __syncthreads() at line {barrier}, but the two threads did not both reach it"
ONE_LINE = "both are on one line: for a __syncthreads() in between, read into a variable first"
ONE_WARP = "both are of one warp, whose threads do not run in step; __syncwarp() orders those that reach it"
SAID = {1: SEVERAL, 2: SEVERAL, 3: SEVERAL, 4: SEVERAL, 5: SEVERAL, 9: [BETWEEN], 10: [AT_THE_END], 11: [BETWEEN],
        12: [BETWEEN], 13: [BETWEEN], 14: [AT_THE_END], 15: [BETWEEN],
        20: [ONE_WARP], 21: [ONE_WARP], 22: [ONE_WARP], 26: [BETWEEN, "stores at"], 27: [AT_THE_END, "overwrites at"],
        28: [BETWEEN, "stores at"], 29: [ONE_WARP], 30: [ONE_WARP], 32: AGAIN, 33: [ONE_LINE], 34: [ONE_LINE],
        35: [BETWEEN], 36: [BETWEEN], 37: SEVERAL,
        38: [*SEVERAL, "; where a lock lets in one at a time, a __threadfence() belongs"], 39: [NOT_BOTH_REACH],
        41: [BETWEEN, "stores at"], 44: [BETWEEN, "stores at"]}
GLOBAL = {5, 37, 38}
"""By number; of the others, no place is right."""


@pytest.mark.parametrize("setup", EACH_COMPILER)
def test_which_barrier_orders_all_threads(checker: Builder, programs: Path, setup: str) -> None:
    """A place for one is named where it does. It does not where a line stores to an element in several
    threads, or where no thread, or not every one, comes from the one line to the other."""
    names = re.findall(r"__global__ void (\w+)", ADDED_UP)
    launches = "".join(f"    if (m == {m}) {name}<<<1, 256>>>(C);\n" for m, name in enumerate(names, 1))
    text = f"""{ADDED_UP}
__global__ void mysgemm() {{}}
void basicSgemm{PARAMETERS} {{
    cudaMemset(C, 0, m * n * sizeof *C);
{launches}}}
"""
    program = checker(setup, shared_kernel(programs, "added up.cu", text))
    for m, name in enumerate(names, 1):
        finding = run_check(program, "--json", m, 1, 256).finding
        marks = {line.split()[-1]: i for i, line in enumerate(text.splitlines(), 1) if f"// {m} " in line}
        said = " ".join([*finding["detail"], "hint: " + finding["hint"]])
        assert finding["kind"] == ("global-race" if m in GLOBAL else "shared-race"), (name, finding)
        assert [words for words in SAID.get(m, []) if words.format(**marks) not in said] == [], (name, said)
        assert m == 32 or ("is missing" in said) == bool({BETWEEN, AT_THE_END} & {*SAID.get(m, [])}), (name, said)
        assert m < 20 or ("__syncwarp()" in said) == (SAID.get(m) == [ONE_WARP]), (name, said)
        assert ("more than one" in said) == (SEVERAL[0] in SAID.get(m, [])), (name, said)
        assert ("did not both reach" in said) == (m == 39), (name, said)
        assert ("threadfence" in said) == (m == 38), (name, said)
        assert m != 32 or finding["slots"]["barrier_after"] == marks["after"]


# ---- barriers that threads skip before they return ------------------------------------------------

SKIPPED = """
#define LEAVE_IF(condition) if (condition) LEAVE
@LEAVE
__global__ void tree(float *C) {
    __shared__ float s[256];
    const int t = threadIdx.x;
    s[t] = 1;
    __syncthreads();
    for (int h = 128; h > 0; h /= 2)
        if (t < h) { // 1 if
            s[t] += s[t + h];
            __syncthreads(); // 1 at
        }
    if (t > 0) return;
    C[t] = s[t];
}
__global__ void early(float *C) {
    if (threadIdx.x >= 200) return;
    C[threadIdx.x] = 1;
    __syncthreads();
}
__global__ void early_by_macro(float *C) {
    LEAVE_IF(threadIdx.x >= 200);
    C[threadIdx.x] = 1;
    __syncthreads();
}
__global__ void early_in_loop(float *C) {
    for (int i = 0; i < 9; ++i) {
        if (threadIdx.x > 25 * i) return;
        __syncthreads();
        C[threadIdx.x] = 1;
    }
}
__global__ void early_in_if(float *C) {
    if (threadIdx.x < 128) {
        if (threadIdx.x >= 100) return;
        C[threadIdx.x] = 1;
        __syncthreads();
    }
}
__global__ void between_barriers(float *C) {
    C[threadIdx.x] = 1;
    __syncthreads();
    if (threadIdx.x > 100) return;
    __syncthreads();
    C[threadIdx.x] = 2;
}
__global__ void by_goto(float *C) {
    if (threadIdx.x >= 200) goto end;
    C[threadIdx.x] = 1;
    __syncthreads();
end:;
}
__global__ void after_a_guard(float *C) {
    if (threadIdx.x >= 200) return;
    __syncthreads();
    C[threadIdx.x] = 1;
    if (threadIdx.x < 100) // 8 if
        __syncthreads(); // 8 at
}
__device__ void meet() { __syncthreads(); } // 9 at
__global__ void in_a_function(float *C) {
    C[threadIdx.x] = 1;
    if (threadIdx.x < 100) meet();
}
__global__ void beside_a_lambda(float *C) {
    auto one = [] { return 1; };
    for (int i = threadIdx.x; i < 300; i += 256) {
        C[threadIdx.x] = one();
        __syncthreads(); // 10 at
    }
}
__device__ void meet_often() { __syncthreads(); }
__global__ void in_a_function_twice(float *C) {
    if (threadIdx.x >= 200) return;
    meet_often();
    C[threadIdx.x] = 1;
    if (threadIdx.x < 100) meet_often();
}
__global__ void blocks(float *C) {
    if (blockIdx.x == 0) {
        __syncthreads();
        C[threadIdx.x] = 1;
    }
}
"""
SAID_OF_SKIPPED = {1: "the 128 threads with threadIdx.x < 128 wait here, the 128 threads with threadIdx.x >= 128 have "
                      "returned instead this __syncthreads() is inside the if of line {if}",
                   8: "the 100 threads with threadIdx.x < 100 wait here,",
                   9: "the 100 threads with threadIdx.x < 100 wait here,",
                   10: "the 44 threads with threadIdx.x < 44 wait here,"}


@pytest.mark.parametrize("leave", ["#define LEAVE return", "#define NOTHING"])
def test_threads_that_return_past_a_barrier(checker: Builder, programs: Path, leave: str) -> None:
    """Only where no `return` can have led there: one that comes early, or may be in a macro, is accepted."""
    names = re.findall(r"__global__ void (\w+)", SKIPPED)
    hidden = "return" in leave
    launches = "".join(f"    if (m == {m}) {name}<<<1, 256>>>(C);\n" for m, name in enumerate(names, 1))
    text = SKIPPED.replace("@LEAVE", leave).replace("(condition) LEAVE", "(condition)" + " LEAVE" * hidden)
    text += f"__global__ void mysgemm() {{}}\nvoid basicSgemm{PARAMETERS} {{\n{launches}}}\n"
    program = checker("gcc -O1", shared_kernel(programs, f"skipped {hidden}.cu", text))
    for m, name in enumerate(names, 1):
        finding = run_check(program, "--json", m, 1, 256).finding
        marks = {line.split()[-1]: i for i, line in enumerate(text.splitlines(), 1) if f"// {m} " in line}
        found = m in SAID_OF_SKIPPED and not hidden
        assert (finding["kind"] == "divergent-barrier") == found, (name, finding)
        if found:
            assert finding["line"] == marks["at"], (name, finding)
            assert SAID_OF_SKIPPED[m].format(**marks) in " ".join(finding["detail"]), (name, finding)
