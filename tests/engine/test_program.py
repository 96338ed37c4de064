"""make program CHECK=1: what it says, what it returns, and that the program runs as if nobody watched."""

import ctypes
import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

from alone import text_of, the_engine

REDUCTION = text_of("reduction")
FAULTY = REDUCTION.replace("in[i] : 0;", "in[i + 1000] : 0;")  # line 10
LAUNCH = "    kernel<<<grid, block>>>(d_in, d_out, n);"
ALLOCATIONS = "    cudaMalloc(&d_in, in_bytes);\n    cudaMalloc(&d_out, out_bytes);\n"


def edited(text: str, *edits: tuple[str, str]) -> str:
    for before, after in edits:
        assert text.count(before) == 1, before
        text = text.replace(before, after)
    return text


ENDS = [
    ("exit(0);", 0, "no mistakes found"),
    ("exit(7);", 1, "the program ended with exit status 7\nno mistakes found"),
    ("_Exit(0);", 0, "no mistakes found"),
    ("quick_exit(0);", 0, "no mistakes found"),
    ("abort();", 1, "the program was stopped: Aborted\nno mistakes found"),
    ("throw 1;", 1, "the program was stopped: Aborted\nno mistakes found"),
    ("raise(SIGKILL);", 1, "the program was stopped: Killed\n"),
]
MISTAKES = {  # of the host's code: what it does, and where the kernel meets it
    "bad-launch": ("kernel<<<grid, dim3(64, 32)>>>(d_in, d_out, n);", ""),
    "failed-call": ("cudaMemcpy(out, d_out, out_bytes + 4, cudaMemcpyDeviceToHost);", ""),
    "device-pointer-on-host": ("out[0] = d_out[0];", ""),
    "leak": ("float *spare[2]; for (int j = 0; j < 2; j++) cudaMalloc(&spare[j], 400);", ""),
    "host-pointer-on-device": ("kernel<<<grid, block>>>(in, d_out, n);", "in[n =="),
    "freed-memory": ("cudaFree(d_in); kernel<<<grid, block>>>(d_in, d_out, n);", "in[n =="),
    "host-fault": ("*(volatile int *)8 = 1;", ""),
}
HOST = {  # what the host does behind the launch
    **{code: f"cudaFree(d_in); cudaFree(d_out); {code}" for code, *_ in ENDS},
    "goes to its end": "static std::atomic<bool> flag; flag = true; if (!flag.exchange(false)) abort();",
    "hears and says": 'char line[80] = ""; fgets(line, 80, stdin); printf("%s, %s", argv[3], line); '
                      'fprintf(stderr, "aside\\n");',
    **{kind: code for kind, (code, _) in MISTAKES.items()},
    "launches again": "kernel<<<1, block>>>(d_out, d_in, grid);",
    "goes on": "volatile int on = 1; while (on) {}",
    "waits": 'puts("waits"); fflush(stdout); getchar();',
    "waits for a kernel": 'puts("waits"); fflush(stdout); runs_on<<<1, 1>>>(1);',
    "leaves a kernel": "cudaFree(d_in); cudaFree(d_out); signal(SIGALRM, leave);\n"
                       "setitimer(ITIMER_REAL, &soon, nullptr); runs_on<<<1, 1>>>(1);",
    "handles signals": "const struct sigaction hears = handler(); sigaction(SIGALRM, &hears, nullptr);\n"
                       "setitimer(ITIMER_REAL, &soon, nullptr);\n"
                       "for (int j = 0; j < 200; j++) kernel<<<grid, block>>>(d_in, d_out, n);\n"
                       "setitimer(ITIMER_REAL, &never, nullptr);",
    "makes a process": "if (fork() == 0) exit(0); wait(nullptr);",
}
OUT = "cudaMalloc(&d_out, out_bytes);"
MALLOCS = [  # how it allocates, and what elements of d_in and d_out are called
    *[(f"cudaMalloc({given}, in_bytes);\n{OUT}", "d_in[1004]", "d_out[8]")
      for given in ("&d_in", "(void **)&d_in", "reinterpret_cast<void **>(&d_in)", "(void**) & d_in",
                    "(void **)(\n        &d_in)")],
    (f"float *all[1]; for (int j = 0; j < 1; j++) cudaMalloc(&all[j], in_bytes); d_in = all[0];\n{OUT}",
     "byte 4016 of all[j]", "d_out[8]"),
    ("d_in = make(in_bytes); d_out = make(out_bytes);", "made[1004] in an allocation of 3996 bytes",
     "made[8] in an allocation of 32 bytes"),
    (f"MAKE(&d_in, in_bytes);\n{OUT}", "byte 4016 of the 3996 allocated at program.cu:", "d_out[8]"),
]
MAKE = """\
#define MAKE cudaMalloc
const itimerval soon = {{0, 1000}, {0, 1000}}, never = {};
void hear(int) {}
void leave(int) { _exit(0); }
__global__ void runs_on(volatile int on) { while (on) {} }
struct sigaction handler() { struct sigaction action = {}; action.sa_handler = hear; return action; }
float *make(size_t bytes) {
    float *made;
    cudaMalloc(&made, bytes);
    return made;
}

int main"""


def cases(argument: int, codes: list[str]) -> str:
    each = "".join(f"    case {i}: {{ {code} break; }}\n" for i, code in enumerate(codes))
    return f"    switch (argc > {argument} ? atoi(argv[{argument}]) : 0) {{\n{each}    }}\n"


# Its arguments: n, which one of HOST, of MALLOCS. Without any it launches nothing; of 1000 elements each thread
# reads outside, of 999 one does, which ends this thread alone, and each block stores outside.
PROGRAM = edited(
    REDUCTION,
    ("#include <cstdio>\n", "#include <atomic>\n#include <csignal>\n#include <cstdio>\n#include <sys/time.h>\n#include <sys/wait.h>\n"
                           "#include <unistd.h>\n"),
    ("in[i] : 0;", "in[n == 1000 ? i + 1000 : n == 999 && i == 5 ? i + n : i] : 0;"),
    ("out[blockIdx.x] =", "out[blockIdx.x + (n == 999 ? 8 : 0)] ="),
    ("int main", MAKE),
    ("    const int n =", "    if (argc == 1) return 0;\n    const int n ="),
    (ALLOCATIONS, cases(3, [code for code, *_ in MALLOCS])),
    (LAUNCH, f"{LAUNCH}\n    cudaDeviceSynchronize();\n{cases(2, [*HOST.values()])}"),
)


def line_of(words: str) -> int:
    return PROGRAM[:PROGRAM.index(words)].count("\n") + 1


OUTSIDE = f"program.cu:{line_of('in[n ==')}: out-of-bounds load"


def arguments(n: int, what: str, *more: str) -> list[str]:
    return [str(n), str([*HOST].index(what)), *more]


def run(n: int, what: str, *more: str, **given: Any) -> subprocess.CompletedProcess[str]:
    the_engine().build(PROGRAM)
    return the_engine().run(*arguments(n, what, *more), **given)


def test_one_command_builds_and_runs() -> None:
    engine = the_engine()
    command = "program", "CHECK=1", "KERNEL=my program.cu"
    engine.write(FAULTY, "my program.cu")
    done = engine.make(*command, "ARGS=500")
    assert done.returncode == 2  # make's own, for a recipe that fails
    assert "my program.cu:10: " in done.stderr and "Error 1" in done.stderr
    done = engine.make(*command, "JSON=1")
    report = json.loads(done.stdout)  # with nothing beside it
    (one,) = report["findings"]
    assert report["status"] == "finding" and report["exit_status"] == 1
    assert one["kind"] == "out-of-bounds" and one["line"] == 10 and one["access"] == "read"
    assert one["launch"]["text"].startswith("kernel<<<8, 128>>>") and ";" not in one["launch"]["text"]  # of no array's size
    assert "the sum is" in done.stderr
    engine.write(REDUCTION, "my program.cu")
    done = engine.make(*command, "ARGS='500'")
    assert (done.returncode, done.stdout) == (0, "the sum is 499\n")
    assert "no mistakes found: every load and store of 1 launch was checked" in done.stderr


def test_a_variable_that_no_target_takes_is_refused() -> None:
    done = the_engine().make("program", "CHECK=1", "FRST=1")
    assert (done.returncode, done.stdout) == (2, "")
    assert "make program takes no FRST; did you mean FIRST=?" in done.stderr
    assert "make clean takes no KERNEL; make program and embed do" in the_engine().make("clean", "KERNEL=x.cu").stderr


def run_plainly(text: str) -> tuple[str, str]:
    """What it says, without checks."""
    engine = the_engine()
    engine.write(text)
    assert engine.make("program", "KERNEL=program.cu").returncode == 0
    done = subprocess.run([engine.path / "build/program"], text=True, capture_output=True, check=True)
    return done.stdout, done.stderr


def test_the_plain_build() -> None:
    assert run_plainly(text_of("transpose")) == ("the transpose is correct\n", "")


# In a container: its files are the program's own.
CONTAINED = """\
#include <cstdio>
#include <cstring>

static FILE *holds(const char *text) { return fmemopen((void *)text, strlen(text), "r"); }

extern "C" FILE *fopen(const char *path, const char *) {
    if (strstr(path, "memory.max")) return holds("1000000000\\n");
    if (strstr(path, "self/cgroup")) return holds("0::/\\n");
    if (strstr(path, "memory.current")) return holds("400000000\\n");
    return strstr(path, "meminfo") ? holds("MemAvailable: 9000000 kB\\n") : nullptr;
}

int main() {
    size_t left, all;
    cudaMemGetInfo(&left, &all);
    printf("%zu of %zu\\n", left, all);
}
"""


# A signal for the process that its first thread blocks goes to any other that does not.
SIGNALED = """\
#include <cstdio>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static pthread_t host;
static volatile int by_host, by_others;
static void hear(int) { (pthread_equal(pthread_self(), host) ? by_host : by_others) = 1; }

__global__ void nothing() {}

int main() {
    host = pthread_self();
    signal(SIGALRM, hear);
    nothing<<<1, 1>>>();
    cudaDeviceSynchronize();
    sigset_t alarm;
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &alarm, nullptr);
    kill(getpid(), SIGALRM);
    for (int i = 0; i < 100 && !by_others; i++) usleep(1000);
    pthread_sigmask(SIG_UNBLOCK, &alarm, nullptr);
    printf("%d %d\\n", by_host, by_others);
}
"""


def test_a_handler_of_the_programs_runs_on_no_thread_of_the_devices() -> None:
    assert run_plainly(SIGNALED) == ("1 0\n", "")


def test_a_container_has_no_more_memory_than_its_limit() -> None:
    assert run_plainly(CONTAINED) == ("600000000 of 1000000000\n", "")


def test_what_is_said_of_a_finding() -> None:
    said = run(1000, "goes to its end", status=1).stderr
    assert said.startswith(OUTSIDE)
    assert "reads d_in[1000], but d_in has 1000 elements" in " ".join(said.split())
    assert "kernel<<<8, 128>>>: 8 blocks of 128 threads" in said
    assert "block (0,0), thread (0,0)" in said and "hint: " in said


def test_allocations_bear_the_name_that_cudamalloc_was_given() -> None:
    for number, (code, *elements) in enumerate(MALLOCS):
        found = the_engine().findings(PROGRAM, *arguments(999, "goes to its end", str(number)))["findings"]
        if "MAKE" in code:  # the source does not say a name
            elements[0] += str(line_of("MAKE(&d_in"))
        else:
            assert found[0]["variable"] in elements[0]
        assert [one["element"] for one in found] == elements


def test_what_an_ended_thread_leaves_out_is_no_mistake() -> None:
    """Neither the elements that it should have stored, which are read then, nor a barrier that it does not reach."""
    found = the_engine().findings(PROGRAM, *arguments(999, "launches again"))["findings"]
    assert [one["element"] for one in found] == ["d_in[1004]", "d_out[8]"]


def test_arguments_input_and_output_are_the_programs() -> None:
    done = run(300, "hears and says", "a b", input="hello\n", status=0)
    assert done.stdout == "a b, hello\nthe sum is 300\n" and done.stderr.startswith("aside\n")


def test_however_a_program_ends() -> None:
    for code, status, said in ENDS:
        assert said in run(500, code, status=status).stderr, code
        done = run(1000, code, status=1)
        assert OUTSIDE in done.stderr or "SIGKILL" in code, done.stderr
    said = run(1000, "goes on", ENGINE_TIMEOUT="1", status=1).stderr
    assert OUTSIDE in said and "the program was stopped: CPU time limit exceeded" in said
    assert the_engine().run(status=0).stderr == "no kernel was launched\n"


def test_mistakes_of_the_hosts_code_are_named_at_their_lines() -> None:
    for kind, (code, at) in MISTAKES.items():
        found = the_engine().findings(PROGRAM, *arguments(500, kind))["findings"]
        assert (kind, line_of(at or code)) in [(one["kind"], one["line"]) for one in found]
        assert kind != "failed-call" or "the error was still pending when the program ended" in found[0]["detail"]
        assert kind != "leak" or "2 allocations, 800 bytes in all" in found[0]["detail"][0]
    found = the_engine().findings(PROGRAM, *arguments(1000, "host-fault"))["findings"]
    assert [one["kind"] for one in found] == ["out-of-bounds", "host-fault"]
    for kind, words in ("host-fault", "host code crashed here"), ("failed-call", "cudaMemcpy failed"):
        said = run(500, kind, status=1).stderr
        assert words in said and "<<<" not in said  # the launch before that has nothing to do with it


def stopped(number: signal.Signals, n: int, what: str) -> str:
    """What is said of a program that a signal stops while it waits."""
    engine = the_engine()
    engine.build(PROGRAM)
    with subprocess.Popen([engine.path / "build/check/program", *arguments(n, what)], cwd=engine.path,
                          text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, start_new_session=True) as running:
        assert running.stdout and running.stdout.readline() == "waits\n"
        time.sleep(0.1)
        os.killpg(running.pid, number)
        said = running.communicate(timeout=60)[1]
    assert running.returncode == 1
    return said


def test_a_program_that_waits_is_stopped_and_still_says_what_was_seen() -> None:
    for number in (signal.SIGTERM, signal.SIGINT):
        assert OUTSIDE in stopped(number, 1000, "waits")
    assert "no mistakes found" in stopped(signal.SIGTERM, 500, "waits")


def test_nothing_is_claimed_of_a_kernel_that_did_not_end() -> None:
    still_running = "no mistake was found, but a kernel was still running when the program ended\n"
    for number in (signal.SIGTERM, signal.SIGHUP):
        assert stopped(number, 500, "waits for a kernel").endswith(still_running)
    assert run(500, "leaves a kernel", status=0).stderr == still_running
    assert the_engine().findings(PROGRAM, *arguments(500, "leaves a kernel"))["in_kernel"] is True


def test_a_signal_that_several_threads_get_stops_it_once() -> None:
    """As a terminal's, which the program gets beside the one that is passed on to it."""
    engine, said = the_engine(), []
    engine.build(PROGRAM)
    for _ in range(10):
        with subprocess.Popen([engine.path / "build/check/program", *arguments(1000, "waits")], cwd=engine.path,
                              text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as running:
            assert running.stdout and running.stdout.readline() == "waits\n"
            child = int(Path(f"/proc/{running.pid}/task/{running.pid}/children").read_text())
            for thread in os.listdir(f"/proc/{child}/task"):
                ctypes.CDLL(None).tgkill(child, int(thread), signal.SIGTERM)
            said.append(running.communicate(timeout=60)[1])
    assert all(OUTSIDE in each for each in said), said


def test_a_launch_ends_where_the_host_handles_signals_meanwhile() -> None:
    assert "no mistakes found" in run(500, "handles signals", status=0).stderr


def test_processes_that_the_program_makes_are_not_watched() -> None:
    assert run(1000, "makes a process", status=1).stderr.count("out-of-bounds") == 1


def test_usage() -> None:
    engine = the_engine()
    engine.build(PROGRAM)
    for wrong in ("x", "0", "-1", "1e99"):
        assert "TIMEOUT=" in engine.run(ENGINE_TIMEOUT=wrong, status=2).stderr
    missing = engine.make("program", "CHECK=1", "KERNEL=none.cu")
    assert missing.returncode == 2 and "none.cu: no such file" in missing.stderr
    engine.write("__global__ void kernel() {}\n", "mainless.cu")
    mainless = engine.make("program", "CHECK=1", "KERNEL=mainless.cu")
    assert mainless.returncode == 2 and "mainless.cu: has no main()" in mainless.stderr
    assert "undefined" not in mainless.stderr


# Of each thread that cannot go on the others do. And a sum, in which a thread adds to an element before another
# one stores it, if that is done for `all`; and what the words of the tests below say.
MANY = """\
__global__ void kernel(int *a, int n) {
    typedef int row[64]; __shared__ row s;
    const int i = threadIdx.x;
    if (i == 3) a[-5] = 1;
    if (i == 5) a[n + n] = 1;
    s[i] = a[i];
    a[i + n] = s[63 - i];
    __syncthreads();
    if (blockIdx.x == 0) a[2 * n + i] = s[i];
}

__global__ void many_lines(int *a) {
    const int i = threadIdx.x;
{LINES}}

__global__ void up_sweep(int *sum, bool all) {
    __shared__ int tree[64];
    const int t = threadIdx.x;
    if (all || t == 0) tree[t] = t;
    if (2 * t + 1 < 64) tree[2 * t + 1] += tree[2 * t]; // here
    __syncthreads();
    if (t == 0) *sum = tree[63];
}

static int of_the_host(int i) {
    volatile int square[2][4] = {{i}};
    return square[i % 2][i % 4];
}

__global__ void transposes(int *a) {
    __shared__ int square[8][8];
    const int t = threadIdx.x, row = t / 8, col = t % 8;
    square[row][col] = a[t];
    const int value = square[col][row]; // before it is stored
    square[col][row] = value + 1;
    __syncthreads();
    a[t] = square[row][col];
}

__constant__ int weights[2][5] = {{1}, {2}};

__global__ void weighs(int *a, int row, int first) { a[threadIdx.x] = weights[row][first + threadIdx.x % 4]; }

__global__ void reverses(int *a) {
    extern __shared__ double doubles[];
    const int t = threadIdx.x;
    doubles[t] = t; // stores doubles
    a[t] = (int)doubles[62 - t]; // reads doubles
}

__global__ void unstored(int *to) {
    __shared__ int tiles[2][4][16];
    const int t = threadIdx.x, col = t % 16;
    if (col < 8 || col >= 12) tiles[1][t / 16][col] = t;
    __syncthreads();
    if (t == 8) *to = tiles[1][0][t];
}

__global__ void diverges(int *a) {
    const int t = threadIdx.x;
    if (t % 2) { a[t] = 1; __syncthreads(); } // odd threads
    else { a[t] = 2; __syncthreads(); } // even threads
    if (t % 2 == 0) { a[t] = 3; __syncthreads(); } // even threads first
    else { a[t] = 4; __syncthreads(); } // odd threads behind
}

#define STORE(value) { a[t] = value; __syncthreads(); }
__global__ void diverges_in_a_line(int *a) {
    const int t = threadIdx.x;
    if (t % 2) STORE(1) else STORE(2) // in one line
    if (t % 4) a[t] = __syncthreads_or(1); else a[t] = __syncthreads_or(0); // in one more
}

__device__ void store_behind(int *a, int value) { __syncthreads(); a[threadIdx.x] = value; }

__global__ void meets(int *a) {
    const int t = threadIdx.x;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        if (i % 2) { STORE(1) store_behind(a, i); } else { store_behind(a, 5); STORE(i) }
        if (t % 3 == i) continue;
        a[t] = i;
    }
}

__global__ void two_masks(int *a) {
    const unsigned mask = threadIdx.x == 4 ? 0xF0 : 0xFF;
    if (threadIdx.x < 8) a[threadIdx.x] = __shfl_sync(mask, 1, 4); // here they wait
}

__device__ __noinline__ void store(int (*row)[4], int i) { (*row)[i] = i; }

__global__ void two_mistakes(int *a) {
    const int t = threadIdx.x;
    if (t == 1) a[-5] = 1;
    int rows[2][4] = {};
    if (t == 0) store(rows, 4);
    if (rows[1][t % 4] == -1) a[t] = 1;
}

__global__ void far_index(int *a, unsigned i) {
    __shared__ int tile[4][16], flat[64];
    const int t = threadIdx.x;
    tile[t / 16][t % 16] = flat[t] = t;
    __syncthreads();
    if (i % 2) a[t] = tile[t / 16][i]; // far column
    else a[t] = flat[i]; // far element
}

__host__ __device__ int forgets(int x) { if (x != 5) return x; }

__global__ void uses(int *a) { a[threadIdx.x] = forgets(threadIdx.x); }

__global__ void half(int *__restrict__ a) { a[threadIdx.x] = a[64 + threadIdx.x]; }

__global__ void hands_on(int *a) {
    const int t = threadIdx.x;
    a[t] = t; // to be read
    a[t + 64] = a[63 - t];
}

template <class T> struct pair { T a, b; };

__global__ void pairs(int *a) {
    __shared__ pair<int> all[64];
    const int t = threadIdx.x;
    const pair<int> mine = {t, t};
    all[t] = mine; // stores a pair
    all[t] = pair<int>{t, 2};
    pair<int> next = all[(t + 1) % 64]; // reads a pair
    a[t] = next.a;
}

int main(int count, char **words) {
    const int n = 64;
    int *a, *b;
    cudaMalloc(&a, (n + n) * sizeof(int));
    cudaMalloc(&b, n * sizeof(int));
    cudaMemset(a, 0, n * sizeof(int));
    if (count == 1) kernel<<<2, n>>>(a, n);
    else if (words[1][0] == 'm') many_lines<<<1, 300>>>(a);
    else if (words[1][0] == 's') transposes<<<1, 64>>>(a + of_the_host(5));
    else if (words[1][0] == 'c') weighs<<<1, 64>>>(b, atoi(words[2]), atoi(words[3]));
    else if (words[1][0] == 'v') reverses<<<1, 64, 63 * sizeof(double)>>>(b);
    else if (words[1][0] == 'u') unstored<<<1, 64>>>(b);
    else if (words[1][0] == 'd') diverges<<<1, 64>>>(b);
    else if (words[1][0] == 'l') diverges_in_a_line<<<1, 64>>>(b);
    else if (words[1][0] == 'p') meets<<<1, 64>>>(b);
    else if (words[1][0] == 'w') two_masks<<<1, 64>>>(b);
    else if (words[1][0] == 'r') uses<<<1, 64>>>(b);
    else if (words[1][0] == 'R') return forgets(5);
    else if (words[1][0] == 'H') hands_on<<<1, 64>>>(a);
    else if (words[1][0] == 'P') pairs<<<1, 64>>>(b);
    else if (words[1][0] == 'h') half<<<1, 64>>>(a);
    else if (words[1][0] == 'S') {
        cudaMemset2D(a + n, n, 0, n, 4);
        half<<<1, 64>>>(a);
    }
    else if (words[1][0] == 't') two_mistakes<<<1, 64>>>(a);
    else if (words[1][0] == 'f') far_index<<<1, 64>>>(a, strtoul(words[2], NULL, 10));
    else up_sweep<<<1, 64>>>(b, words[1][0] == 'a');
    cudaFree(a);
    cudaFree(b);
    return cudaDeviceSynchronize();
}
""".replace("{LINES}", "".join(f"    if (i == {line}) a[-5] = 1;\n" for line in range(300)))


def test_all_mistakes_are_named_once_at_each_pair_of_places() -> None:
    report = the_engine().findings(MANY)
    found = [(one["kind"], one["line"], one["other"] and one["other"]["line"])
             for one in report["findings"]]
    assert sorted(found, key=str) == sorted([
        ("out-of-bounds", 4, None), ("out-of-bounds", 5, None), ("shared-race", 7, 6),
        ("global-race", 7, 7), ("out-of-bounds", 9, None)], key=str)
    elements = {one["kind"]: one["element"] for one in report["findings"]}
    assert elements["shared-race"].startswith("s["), elements
    assert the_engine().run(ENGINE_FIRST="1", status=1).stderr.count("program.cu:") == 1
    assert len(the_engine().findings(MANY, "many lines")["findings"]) == 32  # and no more are told


def test_an_element_that_a_thread_adds_to_before_another_stores_it() -> None:
    """A barrier is missing, and no value: only where no other thread stores one it is the latter."""
    for argument, kind in (("all", "shared-race"), ("one", "uninitialized-shared")):
        first, *_ = the_engine().findings(MANY, argument)["findings"]
        assert (first["kind"], first["line"]) == (kind, line_of_many("// here"))


def test_an_element_that_a_thread_overwrites_before_another_stores_it() -> None:
    """Likewise; and its indices are those of the shared array, not of host code's, which has the same name."""
    found = the_engine().findings(MANY, "square")["findings"]
    assert {one["kind"] for one in found} == {"shared-race"}, found
    (early,) = (one for one in found if one["line"] == line_of_many("// before it is stored"))
    thread = early["thread"][0]
    assert early["element"] == f"square[{thread % 8}][{thread // 8}]"


def test_an_element_of_a_dynamic_array_that_is_not_of_floats() -> None:
    found = {(one["kind"], one["line"]): one for one in the_engine().findings(MANY, "vice versa")["findings"]}
    outside = found["shared-out-of-bounds", line_of_many("// stores doubles")]
    assert outside["detail"] == ["thread (63,0) writes doubles[63], but the launch asked for 504 bytes"]
    race = found["shared-race", line_of_many("// reads doubles")]
    assert race["element"] == f"doubles[{62 - race['thread'][0]}]"


def test_an_index_outside_of_a_constant_array_which_is_not_local() -> None:
    for row, first, index, last in ((0, 2, 5, 4), (2, 0, 2, 1)):
        (found,) = the_engine().findings(MANY, "constant", str(row), str(first))["findings"]
        assert found["what"] == f"index {index} into an array whose indices are 0 to {last}", found
        assert found["line"] == line_of_many("__global__ void weighs")


def line_of_many(words: str) -> int:
    return MANY[:MANY.index(words)].count("\n") + 1


def test_columns_of_a_part_of_an_array_that_nobody_stored() -> None:
    (found,) = the_engine().findings(MANY, "unstored")["findings"]
    assert found["kind"] == "uninitialized-shared"
    assert "columns 8 to 11 of tiles[1] have not been stored" in " ".join(found["detail"])


def test_threads_at_two_barriers_whichever_is_reached_first() -> None:
    found = the_engine().findings(MANY, "diverges")["findings"]
    places = {(one["kind"], *sorted((one["line"], one["other"]["line"]))) for one in found}
    first, second = line_of_many("// odd threads"), line_of_many("// even threads first")
    assert places == {("divergent-barrier", line, line + 1) for line in (first, second)}


def test_threads_at_two_barriers_of_one_line() -> None:
    """Not one of a macro or of a function, used at several places, at which all threads meet."""
    found = the_engine().findings(MANY, "line")["findings"]
    lines = [line_of_many("// in one line"), line_of_many("// in one more")]
    assert [(one["kind"], one["line"]) for one in found] == [("divergent-barrier", line) for line in lines]
    assert "the other 32 wait at another __syncthreads() of this line" in " ".join(found[0]["detail"])
    assert the_engine().findings(MANY, "places")["findings"] == []


def test_lanes_of_a_warp_that_wait_for_each_other_are_at_no_barrier() -> None:
    (found,) = the_engine().findings(MANY, "warp")["findings"]
    assert (found["kind"], found["line"]) == ("deadlock", line_of_many("// here they wait"))
    assert found["other"] is None, found


def test_an_index_outside_is_found_before_what_other_threads_do_next() -> None:
    the_engine().build(MANY)
    said = the_engine().run("two mistakes", ENGINE_FIRST="1", status=1).stderr
    assert f"program.cu:{line_of_many('(*row)[i]')}: " in said


def test_a_function_that_ends_without_a_return_statement() -> None:
    what = "this function has a result, and ends without a return statement"
    for argument, kind, detail in (("return", "kernel-fault", ["thread (5,0) was running here"]),
                                   ("Return in host code", "host-fault", [])):
        (found,) = the_engine().findings(MANY, argument)["findings"]
        assert (found["kind"], found["line"], found["what"]) == (kind, line_of_many("int forgets"), what)
        assert found["detail"] == detail


def test_an_index_far_outside_of_a_shared_array_is_named_whatever_is_there() -> None:
    for index in (4294967295, 4294967294, 3000000001, 1 << 30):
        (found,) = the_engine().findings(MANY, "far", str(index))["findings"]
        assert found["kind"] == "shared-out-of-bounds" and f"[{index}]" in found["element"], found
        assert found["line"] == line_of_many("// far column" if index % 2 else "// far element")


def test_memory_behind_what_was_set_holds_nothing() -> None:
    (found,) = the_engine().findings(MANY, "half")["findings"]
    assert (found["kind"], found["line"]) == ("uninitialized-global", line_of_many("void half"))
    assert found["element"] == f"a[{64 + found['thread'][0]}]"


def test_each_row_of_memory_that_was_set_holds_a_value() -> None:
    assert the_engine().findings(MANY, "Set by rows")["findings"] == []


def test_a_barrier_may_be_missing_between_threads_that_hand_on_an_element_in_global_memory() -> None:
    (found,) = the_engine().findings(MANY, "Hand on")["findings"]
    assert (found["kind"], found["line"]) == ("global-race", line_of_many("// to be read"))
    assert found["hint"].startswith("which thread does a[") and found["hint"].endswith(
        " belong to? if one thread is to read what another one stores, a __syncthreads() belongs in between")


def test_a_copy_that_the_compiler_has_made_is_where_it_is_called() -> None:
    """And not at the line of the class."""
    (found,) = the_engine().findings(MANY, "Pairs")["findings"]
    assert (found["kind"], found["line"]) == ("shared-race", line_of_many("// reads a pair"))
    assert found["function"] == "pairs" and found["other"]["line"] == line_of_many("// stores a pair")
    assert found["detail"][1].startswith("a __syncthreads() is missing after line"), found


EXCHANGES = """\
__device__ void store(unsigned *to, unsigned value) { atomicExch(to, value); }

__global__ void stores(float *out, unsigned long long *wide) {
    __shared__ unsigned words[3];
    __shared__ int ints[2];
    const int t = threadIdx.x;
    atomicExch(&out[t], 1.5f);
    wide[t] = out[t] > 1.0f;
    if (t == 0) {
        unsigned unused = atomicExch(&words[0], 1u);
        store(&words[1], 2u);
        atomicAnd(&words[2], 0u);
        atomicOr(&ints[0], -1);
        (void)atomicExch(&ints[1], 3);
    }
    __syncthreads();
    if (words[0] + words[1] + words[2] + ints[0] + ints[1] == 5) atomicExch(&wide[t], 7ull);
}

__global__ void lock(float *out) {
    __shared__ int taken;
    if (atomicExch(&taken, 1) == 0) out[threadIdx.x] = 1; // nobody has set taken
}

__global__ void takes(float *out) {
    out[1] = atomicExch(&out[0], 1.0f); // what was there?
}

__global__ void clears(int *out) {
    __shared__ int word;
    out[0] = atomicAnd(&word, 0); // what was in word?
}

__global__ void keeps(int *out) {
    atomicOr(&out[threadIdx.x], 0); // nothing is stored
}

int main(int argc, char **argv) {
    float *out;
    unsigned long long *wide;
    cudaMalloc(&out, 32 * sizeof *out);
    cudaMalloc(&wide, 32 * sizeof *wide);
    switch (argv[1][0]) {
    case 's': stores<<<1, 32>>>(out, wide); break;
    case 'l': lock<<<1, 32>>>(out); break;
    case 't': takes<<<1, 1>>>(out); break;
    case 'c': clears<<<1, 1>>>((int *)out); break;
    case 'k': keeps<<<1, 1>>>((int *)out); break;
    }
    cudaFree(out);
    cudaFree(wide);
    return cudaDeviceSynchronize();
}
"""


def test_an_exchange_is_a_store_where_its_result_is_not_used() -> None:
    """Of memory that holds no value it is a mistake only where something is made of what was there."""
    assert not the_engine().findings(EXCHANGES, "stores")["findings"]
    for argument, kind, here in (("lock", "shared", "// nobody has set"), ("takes", "global", "// what was there"),
                                 ("clears", "shared", "// what was in"), ("keeps", "global", "// nothing is stored")):
        (found,) = the_engine().findings(EXCHANGES, argument)["findings"]
        line = EXCHANGES[:EXCHANGES.index(here)].count("\n") + 1
        assert (found["kind"], found["line"]) == (f"uninitialized-{kind}", line), found


ADDRESSES = """\
#include <cstdlib>
__constant__ float factors[4] = {1, 2, 3, 4};
__device__ float one = 1;
float usual[4] = {1, 2, 3, 4};
__device__ float *found;
__global__ void copy(const float *from, float *to) {
    to[threadIdx.x] = from[0]; // here
}
__global__ void find() { found = &one; }
int main(int, char **argv) {
    float *out, *asked = nullptr;
    void *address;
    cudaMalloc(&out, 16);
    switch (atoi(argv[1])) {
    case 0: copy<<<1, 4>>>(factors, out); break;
    case 1: copy<<<1, 4>>>(&one, out); break;
    case 2: copy<<<1, 4>>>(usual + 2, out); break;
    case 3: cudaGetSymbolAddress(&address, factors); copy<<<1, 4>>>((float *)address + 1, out); break;
    case 4: find<<<1, 1>>>(); cudaMemcpyFromSymbol(&asked, found, sizeof asked); copy<<<1, 4>>>(asked, out); break;
    }
    cudaDeviceSynchronize();
    cudaFree(out);
}
"""


def test_a_kernel_that_is_passed_a_variables_address_in_host_code() -> None:
    """A GPU has the variable elsewhere, if it has it; but not where host code has asked, or a kernel has told it."""
    line = 1 + ADDRESSES[:ADDRESSES.index("// here")].count("\n")
    for number, of in enumerate(("factors (byte 0 of its 16)", "one", "usual (byte 8 of its 16)")):
        (found,) = the_engine().findings(ADDRESSES, str(number))["findings"]
        assert (found["kind"], found["line"]) == ("host-pointer-on-device", line)
        assert found["detail"][0] == f"thread (0,0) reads {of} by its address in host code"
    for number in (3, 4):
        assert the_engine().findings(ADDRESSES, str(number))["findings"] == []


# What a class's own code does to the arguments of a launch is the host's; and the kernel is the one that they choose.
ARGUMENTS = """\
#include <cstdio>

struct array {
    float *p;
    int n;
    explicit array(int count) : n(count) { cudaMalloc(&p, n * sizeof *p); }
    array(const array &other) = delete;
    array(array &&other) : p(other.p), n(other.n) { other.p = nullptr; }
    ~array() {
        if (p) cudaFree(p);
        puts("destroyed");
    }
};

template <class T> __global__ void sum(const T *in, array a, T by, T &to) {
    a.n -= 3;
    if (threadIdx.x < a.n) a.p[threadIdx.x] = in[threadIdx.x] * by;
    if (threadIdx.x == a.n - 1) to = a.p[threadIdx.x];
}

int main() {
    float *in, host = 0;
    cudaMallocManaged(&in, 64 * sizeof *in);
    for (int i = 0; i < 64; i++) in[i] = i;
    sum<<<1, 64>>>(in, array(50), 2.0f, in[63]);
    printf("%s", cudaGetErrorName(cudaDeviceSynchronize()));
    printf(" %g\\n", in[63]);
    cudaFree(in);
}
"""


def test_arguments_of_a_launch() -> None:
    engine = the_engine()
    engine.build(ARGUMENTS)
    done = engine.run(status=0)
    assert done.stdout == "destroyed\ncudaSuccess 92\n" and "no mistakes found" in done.stderr
    (found,) = engine.findings(ARGUMENTS.replace("in[63]);\n    printf", "host);\n    printf"))["findings"]
    assert (found["kind"], found["line"]) == ("host-pointer-on-device", 18)
