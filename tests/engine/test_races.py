"""Which write races with which reads of a word.

Words that many blocks read are settled: further reads of a launch take the short path. A write that
some read is not ordered with is a race all the same, in whatever launch; and no other write is one.
Some blocks of a launch take the long path in any case, so grids are large and those that matter few.

A write that is ordered behind two readers of a word, and not behind a third one, races with it: in
global memory and in shared memory, ordered by fences, by a whole warp's operation, or by some lanes'.
Which thread comes when is said by atomics without a fence, which order nothing else.
"""

import itertools
import os

from alone import the_engine

# All kernels are one program; its arguments say which is launched, and what a and b are.
PROGRAM = """\
#include <cstdio>
#include <cstdlib>
#include <cuda_pipeline.h>

__global__ void look(int *in, int *out, int reader, int writer, int width) {
    const int b = blockIdx.x;
    int sum = 0;
    if (width == 4) { int4 all = *(int4 *)in; sum = all.x + all.y + all.z + all.w; }
    else if (width == 2 || reader < 0 || b == reader) sum = in[1] + in[2];
    if (width == 2 && b == reader) { int2 two = *(int2 *)(in + 1); sum = two.x + two.y; }
    if (b == writer) in[2] = 5;
    out[b] = sum;
}

__global__ void idle() {}

__global__ void last_writes(int *in, int *out, int *count, int more) {
    int sum = in[0];
    out[blockIdx.x] = sum;
    if (blockIdx.x == gridDim.x - more) return;
    __threadfence();
    const int before = atomicAdd(count, 1);
    __threadfence();
    if (before == gridDim.x - more - 1) in[0] = sum + 1;
}

__device__ int table[2] = {1, 2};
__constant__ int steps[4];
struct Step { __device__ virtual int of(int i) const { return i; } };
struct Two : Step { __device__ int of(int i) const override { return 2 * i; } };

__global__ void variables(int *out, int writer) {
    Two two;
    const Step *step = &two;
    int b = blockIdx.x;
    int sum = step->of(table[1]) + steps[2];
    if (b == writer) table[1] = 5;
    out[b] = sum;
}

__device__ int4 spot;

__global__ void vector_and_word(int word) {
    if (blockIdx.x == 0) spot = make_int4(1, 2, 3, 4);
    else ((int *)&spot)[word] = 5;
}

__global__ void blocks(int *in, int *arrived, int *out, int stray) {
    if (blockIdx.x < 3) {
        out[blockIdx.x] = in[0];
        if (blockIdx.x != stray) __threadfence();
        atomicAdd(arrived, 1);
    } else {
        while (atomicAdd(arrived, 0) < 3) {}
        __threadfence();
        in[0] = 1;
    }
}

__global__ void warps(int *out, int stray) {
    __shared__ int word, arrived;
    const int t = threadIdx.x;
    if (t == 0) word = 5, arrived = 0;
    __syncthreads();
    if (t >= 32 && t % 32 == 0) {
        out[t] = word;
        if (t / 32 != stray) __threadfence_block();
        atomicAdd(&arrived, 1);
    }
    if (t == 0) {
        while (atomicAdd(&arrived, 0) < 3) {}
        __threadfence_block();
        word = 6;
    }
}

// Lane `stray` reads behind the operation, of all lanes of the warp; or of two of them.
__global__ void lanes(int *out, int stray, int lanes) {
    __shared__ int word, arrived;
    const int t = threadIdx.x;
    if (t == 0) word = 5, arrived = 0;
    __syncthreads();
    if (t < 2) out[t] = word;
    if (t < lanes) __syncwarp(lanes == 32 ? 0xffffffff : (1u << lanes) - 1);
    if (t == stray) out[t] = word;
    if (t == 5) atomicAdd(&arrived, 1);
    if (t == 0) {
        while (atomicAdd(&arrived, 0) < 1) {}
        word = 6;
    }
    __syncthreads();
}

// Two lanes of the first warp meet behind two of the second one. None returns before.
__global__ void two_of_each(int *out) {
    __shared__ int words[2], arrived;
    const int t = threadIdx.x;
    if (t == 0) arrived = 0;
    __syncthreads();
    if (t == 32 || t == 33) __syncwarp(3);
    if (t == 32) atomicAdd(&arrived, 1);
    if (t < 2) {
        while (atomicAdd(&arrived, 0) < 1) {}
        words[t] = t;
        __syncwarp(3);
        out[t] = words[1 - t];
    }
    __syncthreads();
}

// Who has seen the flag takes it back.
__global__ void flag(int *flag, int *out) {
    if (blockIdx.x == 0) {
        __threadfence();
        atomicExch(flag, 1);
    } else {
        while (*(volatile int *)flag == 0) {}
        __threadfence();
        *flag = 0;
    }
}

// More barriers than epochs have numbers for; the last read is of a word that was stored long before, or never, or
// that a copy is on its way to.
__global__ void barriers(int *in, int *out, int looked_at) {
    __shared__ int words[4], whole, counted;
    __shared__ char part;
    int sum = 0;
    const int t = threadIdx.x;
    if (t == 0) __pipeline_memcpy_async(&words[3], in, 4);
    for (int i = 0; i < 262200; i++) {
        if (t == 0 && i % 200000 == 1000) words[i / 200000] = i;
        if (t == 0 && i == 10) whole = part = counted = 1;
        if (t == 0 && i == 20) whole = part = atomicAdd(&counted, 1); // of the same number as one of the following
        if (t == 1 && i > 262100) sum += whole + part + counted;
        __syncthreads();
    }
    out[t] = sum + words[looked_at]; // the last read
}

template <class T> __device__ void raise(T *p, T by) {
    T old = *p, expected; // the guess
    do {
        expected = old;
        old = atomicCAS(p, expected, expected + by);
    } while (old != expected);
}

// What a thread loads is what its compare-and-swap expects, 0 in global memory, 1 and 6 in shared memory, 7 there, of
// single bytes before; or is not: 2 it makes none, 3 it makes it elsewhere, and 4 the first block, and 5 the first thread, makes none.
__global__ void guesses(int *p, int *out, int kind) {
    __shared__ int word;
    __shared__ unsigned long long wide;
    if (threadIdx.x == 0) word = 0, wide = 0;
    __syncthreads();
    if (kind == 7 && threadIdx.x < 8) ((volatile char *)&wide)[threadIdx.x] = 1;
    __syncthreads();
    if (kind == 0) raise(p, (int)blockIdx.x);
    if (kind == 1) raise(&word, (int)threadIdx.x);
    if (kind == 6 || kind == 7) raise(&wide, 1ull + threadIdx.x);
    if (kind < 2 || kind > 5) return;
    const bool other = (kind == 4 && blockIdx.x > 0) || (kind == 5 && threadIdx.x + blockIdx.x > 0);
    const int sum = other ? atomicAdd(p, 1) : *p; // no guess
    if (kind == 3) atomicCAS(out, sum, 7);
    if (kind == 2 || kind == 3) atomicAdd(p, 1);
}

// The second block adds while the first one is between its load and its compare-and-swap, if it makes that.
__global__ void late_guess(int *p, int *turn, int swaps) {
    if (threadIdx.x > 0 || blockIdx.x > 1) return;
    if (blockIdx.x == 0) {
        const int expected = *p; // the guess of the first
        atomicExch(turn, 1);
        while (atomicAdd(turn, 0) < 2) {}
        if (swaps) atomicCAS(p, expected, expected + 1);
    } else {
        while (atomicAdd(turn, 0) < 1) {}
        atomicAdd(p, 1);
        atomicExch(turn, 2);
    }
}

// More threads than run on one core, and more words than have a lock each.
__global__ void large(int *out) { out[blockIdx.x * blockDim.x + threadIdx.x] = 1; }

static long pages_in_use() {
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%*d %ld", &pages) != 1) abort();
    fclose(file);
    return pages;
}

int main(int argc, char **argv) {
    const int many = 1000, a = atoi(argv[2]), b = argc > 3 ? atoi(argv[3]) : 0;
    const int launches = argc > 4 ? atoi(argv[4]) : 1, width = argc > 5 ? atoi(argv[5]) : 1;
    int *in, *count, *out, four[4] = {1, 2, 3, 4};
    cudaMalloc(&in, sizeof four);
    cudaMalloc(&count, sizeof(int));
    cudaMalloc(&out, many * sizeof(int));
    cudaMemcpy(in, four, sizeof four, cudaMemcpyHostToDevice);
    cudaMemset(count, 0, sizeof(int));
    cudaMemcpyToSymbol(steps, four, sizeof four);
    switch (atoi(argv[1])) {
    case 0:
        look<<<many, 1>>>(in, out, -1, -1, width);
        for (int i = 1; i < launches; i++) idle<<<1, 1>>>();
        look<<<many, 1>>>(in, out, a, b, width);
        look<<<many, 1>>>(in, out, -1, -1, width);
        break;
    case 1: last_writes<<<many, 1>>>(in, out, count, a); break;
    case 2: variables<<<many, 1>>>(out, -1); variables<<<many, 1>>>(out, a); break;
    case 3: vector_and_word<<<2, 1>>>(a); break;
    case 4: blocks<<<4, 1>>>(in, count, out, a); break;
    case 5: warps<<<1, 128>>>(out, a); break;
    case 6: lanes<<<1, 32>>>(out, a, b); break;
    case 7: two_of_each<<<1, 64>>>(out); break;
    case 8: flag<<<2, 1>>>(count, out); break;
    case 9: barriers<<<1, 2>>>(in, out, a); break;
    case 10: guesses<<<b, 64>>>(in, out, a); break;
    case 11: late_guess<<<many, 1024>>>(in, count, a); break;
    case 12:
        for (int i = 0; i < a; i++) {
            cudaFree(out);
            cudaMalloc(&out, 300 * 1024 * sizeof(int));
            large<<<300, 1024>>>(out);
        }
        printf("%ld", pages_in_use());
        break;
    }
    cudaFree(in);
    cudaFree(count);
    cudaFree(out);
    return 0;
}
"""
(LOOK, LAST_WRITES, VARIABLES, VECTOR_AND_WORD, BLOCKS, WARPS, LANES, TWO_OF_EACH, FLAG, BARRIERS, GUESSES,
 LATE_GUESS, LARGE) = range(13)
NOTHING, RACE, IN_SHARED = "no mistakes found", "race between blocks on", "race on shared memory"


def check(kernel: int, *arguments: object, said: str, line: str = "") -> None:
    """`line`: words of the line that is named."""
    engine = the_engine()
    engine.build(PROGRAM)
    if line:
        said = f"program.cu:{PROGRAM[:PROGRAM.index(line)].count(chr(10)) + 1}: {said}"
    assert said in engine.run(str(kernel), *map(str, arguments)).stderr, (kernel, arguments)


def test_a_write_of_a_settled_word() -> None:
    # 255 launches: then the numbers that mark settled words begin again.
    for launches in (1, 254, 255, 256):
        check(LOOK, 0, 999, launches, said=f"{RACE} in", line="in[2] = 5")
    check(LOOK, -1, 999, said=f"{RACE} in", line="in[2] = 5")  # behind many reads
    check(LOOK, -1, 999, 1, 4, said=f"{RACE} in", line="in[2] = 5")
    check(LOOK, 999, -1, 1, 2, said="misaligned", line="int2 two")
    check(LOOK, 7, 7, said=NOTHING)  # of another launch


def test_a_read_behind_a_write_that_is_ordered_with_all_reads_before() -> None:
    """The last of the blocks that count writes, behind all their reads; the one block more reads."""
    check(LAST_WRITES, 1, said=f"{RACE} in", line="int sum = in[0]")
    check(LAST_WRITES, 0, said=NOTHING)


def test_variables_of_the_program() -> None:
    """They hold a value from the beginning; and each word of a vector counts."""
    check(VARIABLES, -1, said=NOTHING)
    check(VARIABLES, 999, said=RACE, line="table[1] = 5")
    for word in range(4):
        check(VECTOR_AND_WORD, word, said=f"writes spot (byte {4 * word} of")


def test_the_third_reader_counts_too() -> None:
    for stray in (0, 1, 2):
        check(BLOCKS, stray, said=f"{RACE} in")
        check(WARPS, stray + 1, said=IN_SHARED)
    check(BLOCKS, -1, said=NOTHING)
    check(WARPS, -1, said=NOTHING)
    for lanes in (2, 32):
        check(LANES, 5, lanes, said=IN_SHARED)
        check(LANES, -1, lanes, said=NOTHING)


# A program without fences: that single lanes are ordered is seen when some of a warp meet. Lane 2 may return before,
# which is waited for where a mask has it.
WITHOUT_FENCES = """\
#include <cstdlib>
__global__ void lanes(int *in, int *out, int mask, bool returns) {
    const int t = threadIdx.x;
    if (t < 3) out[t] = in[0];
    if (t == 2 && returns) return;
    if (t != 2) __syncwarp(mask);
    if (t == 3) in[0] = 9;
    if (!returns) __syncwarp(15);
}
int main(int, char **arguments) {
    int *in, *out;
    cudaMalloc(&in, 16);
    cudaMalloc(&out, 16);
    cudaMemset(in, 0, 16);
    lanes<<<1, 4>>>(in, out, atoi(arguments[1]), atoi(arguments[2]));
    cudaFree(in);
    cudaFree(out);
    return 0;
}
"""


def test_some_lanes_meet_in_a_program_without_fences() -> None:
    engine = the_engine()
    engine.build(WITHOUT_FENCES)
    for mask, returns, said in (11, 0, "program.cu:7: race"), (11, 1, "program.cu:7: race"), (15, 1, NOTHING):
        assert said in engine.run(str(mask), str(returns)).stderr, (mask, returns)


def test_lanes_of_two_warps_meet() -> None:
    check(TWO_OF_EACH, 0, said=NOTHING)


def test_a_flag_that_was_seen_is_stored_to() -> None:
    check(FLAG, 0, said=NOTHING)


def test_numbers_of_barriers_begin_again() -> None:
    for word in (0, 1):
        check(BARRIERS, word, said=NOTHING)
    check(BARRIERS, 2, said="read of uninitialized shared memory", line="// the last read")
    check(BARRIERS, 3, said=IN_SHARED, line="// the last read")


def test_what_a_compare_and_swap_expects_may_be_loaded_without_an_atomic_operation() -> None:
    for kind in (0, 1, 6, 7):
        for blocks in (1, 100):
            check(GUESSES, kind, blocks, said=NOTHING)
    for kind, blocks in itertools.product((2, 3), (1, 2)):
        check(GUESSES, kind, blocks, said="race between threads on in")
    check(GUESSES, 4, 2, said="race between blocks on in")
    check(GUESSES, 5, 1, said="race between threads on in", line="// no guess")
    if len(os.sched_getaffinity(0)) > 1:  # two blocks at a time
        check(LATE_GUESS, 1, said=NOTHING)
        check(LATE_GUESS, 0, said="race between blocks on in")


def test_words_of_a_large_array() -> None:
    check(LARGE, 1, said=NOTHING)


def test_what_is_remembered_of_freed_memory_goes() -> None:
    the_engine().build(PROGRAM)
    one, many = (int(the_engine().run(str(LARGE), allocations).stdout) for allocations in ("1", "20"))
    assert many < 2 * one
