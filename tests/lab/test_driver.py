"""./sgemm as a whole: its options, what it prints about bad input and bad kernels, its exit status,
its JSON.

A failure here means a false report: a broken kernel passes, a student's mistake is called the
machine's, or a run passes that never took place. What options_parse() and verify() promise by
themselves is in test_support.c.
"""

import ctypes
import os
import re
import resource
import signal
import subprocess
import time
from pathlib import Path

import pytest
from conftest import (
    REPOSITORY, RUN_SECONDS, UNSPACED, Run, clean_environment, heed_signals, in_terminal, run_sgemm, sample, screen,
    strict_json,
)  # fmt: skip
from corpus import faulty

from grader.build.parts import described

TILED = "instructor/solutions/2_tiled.cu"
LAUNCH_1 = "mysgemm<<<1, 1>>>(m, n, k, A, B, C);"
PARAMETERS = "(int m, int n, int k, const float *A, const float *B, float *C)"


@pytest.fixture(scope="session")
def tiled(tree) -> Path:
    return tree.build(TILED)


@pytest.fixture(scope="session")
def untouched(tree) -> Path:
    return tree.build("kernel.cu")


INCLUDES = "".join(f"#include <{name}.h>\n" for name in ("assert", "pthread", "signal", "stdio", "string", "unistd"))
Bodies = dict[str, tuple]  # of a wrapper and its kernel, and more, by name
FIRST, BEHIND = 34, 101  # the rows that choose the first of them; the line of its wrapper


def build_all(tree, name: str, bodies: Bodies, kernel: str = "") -> Path:
    """One program of many: the rows of C choose what its two functions do. They stand in the lines 2 and
    BEHIND and following. `kernel` is what all have."""
    wrappers, kernels = ("".join(f"case {rows}: {{ {body[which]} }} break;\n" for rows, body in
                                 enumerate(bodies.values(), FIRST)) for which in (0, 1))
    return tree.build(tree.write(f"bodies/{name}.cu", (
        f"{INCLUDES}#line 1\n__global__ void mysgemm{PARAMETERS} {{ {kernel} switch (m) {{\n{kernels}}} }}\n"
        f"#line {BEHIND - 1}\nvoid basicSgemm{PARAMETERS} {{ switch (m) {{\n{wrappers}}} }}\n")))


def rows_of(bodies: Bodies, name: str) -> int:
    return FIRST + [*bodies].index(name)


def launch(configuration: str) -> str:
    return f"mysgemm<<<{configuration}>>>(m, n, k, A, B, C);"


def in_one_line(text: str) -> str:
    return " ".join(text.split())


# ---- Bad input -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("words", "message"), [
    (["0"], "'0' is not a size"), ([""], "'' is not a size"), (["größe\n\33[31m" + "x" * 5000], "is not a size"),
], ids=range(3))  # fmt: skip
def test_bad_usage(tiled, words, message):
    """One line, without control characters, for any input; test_support.c has all kinds of it. The old lab
    printed TEST PASSED 0 for ./sgemm 0, and atoi made 0 of abc."""
    run = run_sgemm(tiled, *words)
    assert (run.status, run.stdout) == (2, "")
    assert run.stderr.startswith("sgemm: ") and run.stderr.count("\n") == 1
    assert message in run.stderr and len(run.stderr) < 160 and run.stderr[:-1].isprintable()
    run = run_sgemm(tiled, "--json", *words)
    assert run.status == 2
    assert run.json.keys() == {"status", "exit_status", "message"}
    assert f"sgemm: {run.json['message']}\n" == run.stderr


def machine_memory() -> int:
    """Bytes that Linux calls available."""
    with open("/proc/meminfo") as file:
        fields = dict(line.split(":") for line in file)
    return int(fields["MemAvailable"].split()[0]) * 1024


def assert_machine_fault(run: Run, message: str) -> None:
    assert run.status == 3, run
    assert re.search(f"^sgemm: .*{message}.*$", run.stderr) and run.stderr.count("\n") == 1


@pytest.mark.parametrize("json", [(), ("--json",)], ids=["text", "json"])
def test_out_of_memory(tiled, json):
    """Said at once, instead of half an hour of swapping; and it is not the kernel's fault. In a container, or
    with ulimit -v, there is less than the machine says."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))

    assert_machine_fault(run_sgemm(tiled, 12000, *json, preexec_fn=limit), "memory")
    size = min(46340, int((machine_memory() / 4) ** 0.5))  # each matrix as large as what is free
    if 4 * 4 * size**2 > 1.1 * machine_memory():  # A, B, C, and one that comes back
        assert_machine_fault(run_sgemm(tiled, size, *json), "of memory and .* are available")


# ---- Options -------------------------------------------------------------------------------------


def test_help(tiled):
    """It is no failure to ask."""
    run = run_sgemm(tiled, "--help")
    assert (run.status, run.stderr) == (0, "") and "--timeout" in run.stdout
    assert max(map(len, run.stdout.splitlines())) <= 80


def test_version(tiled):
    """The one that the grader writes into its records."""
    run = run_sgemm(tiled, "--version")
    assert (run.status, run.stdout, run.stderr) == (0, f"sgemm {described().version}\n", "")


def test_options_take_effect(tiled):
    """In any order."""
    seed = 2**64 - 1
    run = run_sgemm(tiled, "--fill=exact", 120, "--json", 201, "--seed", hex(seed), "--repeat=2", 250)
    assert (run.status, run.json["m"], run.json["k"], run.json["n"]) == (0, 120, 201, 250)
    assert (run.json["fill"], run.json["seed"], run.json["repeat"]) == ("exact", seed, 2)


def test_seeds(tiled):
    """Fresh ones, else a kernel that is right for one input only passes (the old lab never seeded); and printed,
    for a failure that cannot be repeated cannot be found."""

    def errors(run: Run) -> tuple[float, float]:
        return run.json["max_error_u"], run.json["rms_error_u"]

    runs = [run_sgemm(tiled, 20, "--json") for _ in range(3)]
    assert len({run.json["seed"] for run in runs}) == len({errors(run) for run in runs}) == 3
    again = run_sgemm(tiled, 20, "--json", "--seed", runs[0].json["seed"])
    assert (again.json["seed"], errors(again)) == (runs[0].json["seed"], errors(runs[0]))
    printed = re.search(r"--seed (\d+)$", run_sgemm(tiled, 20).stdout, re.MULTILINE)
    assert run_sgemm(tiled, 20, "--json", "--seed", printed[1]).json["seed"] == int(printed[1])


def test_repeat(tiled):
    for repeat in (1, 3):
        run = run_sgemm(tiled, 34, "--repeat", repeat, "--json")
        times = run.json["times"]["kernel"]
        assert len(times) == run.json["repeat"] == repeat
        assert min(times) == run.json["min"] <= run.json["median"] <= run.json["max"] == max(times)
        assert run.json["gflops"] == pytest.approx(2 * 34**3 / run.json["median"] / 1e9)
        assert (f"median of {repeat}" in run_sgemm(tiled, 34, "--repeat", repeat).stdout) == (repeat > 1)


def test_verify(tiled, untouched):
    run = run_sgemm(tiled, 300, "--verify", "full", "--json")
    assert run.status == 0 and run.json["compared"] == 300 * 300
    assert run_sgemm(untouched, 300, "--verify", "full").status == 1
    # Nothing was compared, so the text must not look like a success.
    run = run_sgemm(untouched, 34, "--verify", "none")
    assert run.status == 0 and "NOT VERIFIED" in run.stdout and "PASSED" not in run.output
    assert run_sgemm(untouched, 34, "--verify", "none", "--json").json["status"] == "unverified"


# ---- Kernels and wrappers that do not return -----------------------------------------------------


ENDLESS = "volatile int x = 1; while (x) x = 1;"
RECURSION = "volatile char x[4096]; x[n % 4096] = 1; basicSgemm(m, n, k, A, B, C); x[0] = x[1];"
FAR_OUTSIDE = "C[0] = A[1 << 30];"
BAD_LAUNCH = "the launch failed: invalid"  # argument or configuration: CUDA 13 and 12 differ
EXITED = "basicSgemm ended the program instead of returning: exit()?"
ILLEGAL = "an illegal memory access was encountered"

STOPPED = {
    # name: wrapper, kernel, what the run must say
    "kernel hangs": (launch("2, 32"), ENDLESS, ["{kernel}:", "timed out"]),
    "wrapper hangs": ("for (int s = 1; s < 32; s++) signal(s, SIG_IGN); " + ENDLESS, "", ["did not return within"]),
    "host reads device memory": ("C[0] = A[1];", "", ["device pointers", "{wrapper}:"]),
    "host writes through null": ("volatile float *p = nullptr; *p = 1;", "", ["SIGSEGV"]),
    "wrapper aborts": ("abort();", "", ["SIGABRT"]),
    "wrapper recurses": (RECURSION, "", ["SIGSEGV"]),
    "wrapper crashes with signals blocked": (
        "sigset_t all; sigfillset(&all); sigprocmask(SIG_BLOCK, &all, nullptr); C[0] = 1;", "", ["SIGSEGV"]),
    "wrapper exits at once": ("_exit(0);", "", [EXITED]),
    "wrapper exits behind a kernel that fails": (
        LAUNCH_1 + " if (cudaDeviceSynchronize()) exit(1);", FAR_OUTSIDE, [EXITED]),
    "wrapper ends its thread": ("pthread_exit(nullptr);", "", [EXITED]),
    "wrapper becomes a daemon": ("if (daemon(0, 1) == 0) sleep(1);", "", [EXITED]),
    "wrapper closes all files": (
        "for (int i = 0; i < 99; i++) close(i);", "", ["basicSgemm closed files of this program"]),
    "no block": (launch("0, 16"), "", [BAD_LAUNCH, "the grid has no blocks: 0 x 1 x 1 hint: "]),
    "65 deep": (launch("1, dim3(1, 1, 65)"), "",
                [BAD_LAUNCH, "1 x 1 x 65 = 65 threads, a GPU allows 1024, 64 of them in z"]),
    "grid too high": (
        launch("dim3(1, 65536), 1"), "",
        [BAD_LAUNCH, "the grid is 1 x 65536 x 1 blocks, a GPU allows 2147483647 x 65535 x 65535"]),
    "too much shared memory": (
        launch("1, 1, 1 << 20"), "",
        [BAD_LAUNCH, "mysgemm<<<...>>>: a block needs 1,048,576 bytes of shared memory, a GPU allows 49,152"]),
    "copy with a wrong direction": (
        f"float x; cudaMemcpy(C, &x, 4, cudaMemcpyDeviceToDevice); {launch('1, 32')}", "",
        ["{wrapper}: cudaMemcpy failed: invalid argument mysgemm<<<"]),
    "call behind a launch that fails": (
        f"{launch('0, 16')} cudaFree((void *)7);", "", ["{wrapper}: " + BAD_LAUNCH, "the grid has no blocks"]),
    "call behind a kernel that fails": (
        LAUNCH_1 + " cudaDeviceSynchronize(); cudaFree((void *)7);", FAR_OUTSIDE, ["the kernel failed: " + ILLEGAL]),
    "call that fails before a kernel": (
        "cudaFree((void *)7); " + LAUNCH_1, FAR_OUTSIDE, ["the kernel failed: " + ILLEGAL]),
    "error that is forgotten, and another": (
        f"cudaFree((void *)7); cudaGetLastError(); cudaMemset((void *)7, 0, 1); {launch('1, 32')} "
        "cudaPeekAtLastError();", "", ["{wrapper}: cudaMemset failed: invalid argument"]),
    "kernel reads far outside": (LAUNCH_1, FAR_OUTSIDE, [ILLEGAL, "{kernel}:"]),
    "kernel crashes inside a library": (
        LAUNCH_1, "memset(C + (1 << 30), 0, 1000 * n);", ["the kernel failed: unspecified launch failure"]),
    "kernel asserts": (LAUNCH_1, "assert(m < 0);", ["device-side assert"]),
}


def time_limit(name: str) -> tuple[str, str]:
    """A short one is for what waits for it: a slow machine may need long for anything else."""
    return "--timeout", "0.5" if "hangs" in name or "time limit" in name else "30"


@pytest.mark.parametrize("name", STOPPED)
def test_stopped(tree, name):
    """It ends, by itself, with status 1, TEST FAILED, and words that help; for a grader, with its
    JSON object."""
    wrapper, _, words = STOPPED[name]
    rows = rows_of(STOPPED, name)
    program = build_all(tree, "stopped", STOPPED)
    run = run_sgemm(program, rows, 34, 34, *time_limit(name))
    assert run.status == 1, run
    places = {"kernel": f"stopped.cu:{2 + rows - FIRST}", "wrapper": f"stopped.cu:{BEHIND + rows - FIRST}"}
    for word in words:
        assert word.format(**places) in in_one_line(run.output)
    failed = in_one_line(run.stdout.split("TEST FAILED\n")[1])
    assert (f"; C has 34 columns and {rows} rows next: make check" in failed) == ("<<<" in wrapper)
    assert run.stdout.endswith("\nnext: make check KERNEL=bodies/stopped.cu\n")
    assert "sgemm: " not in run.output, "that is how the machine's faults begin"
    run = run_sgemm(program, rows, 34, 34, *time_limit(name), "--json")
    assert run.status == 1 and run.json["message"]
    assert RUN_KEYS <= run.json.keys()
    assert run.json["times"]["verify"] is None and run.json["backend"] == "cpu"


TWO_LAUNCHES = f"{launch('1, 32')} {launch('dim3(5, 2), 8')}"
PATTERN = ("int i = blockIdx.y * 16 + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x; "
           "if (i < m && j < n && (n == 40 || (i * 7 + j * j) % 5)) C[i * n + j] = 1;")
PRODUCT = ("for (int i = 0; i < m * n; i++) for (int p = C[i] = 0; p < k; p++) "
           "C[i] += A[i / n * k + p] * B[p * n + i % n];")

PRINTED = {
    # name: wrapper, kernel; what is printed
    "half a line": (LAUNCH_1, 'printf("half");', "half"),
    "a line": (LAUNCH_1, 'printf("whole\\n");', "whole"),
    "by the wrapper": ('printf("from the host");', "", "from the host"),
    "before a fault": (LAUNCH_1, 'printf("careful"); C[1 << 30] = 1;', "careful"),
    "before a crash": ('printf("oh"); fflush(stdout); C[0] = 1;', "", "oh"),
    "before an exit": ('printf("bye"); exit(0);', "", "bye"),
    "before an assertion": (LAUNCH_1, 'printf("sure"); assert(m < 0);', "sure"),
    "before the time limit": (LAUNCH_1, f'printf("again"); {ENDLESS}', "again"),
}
ODD = PRINTED | {
    # name: wrapper, kernel; PRINTED and these are one program
    "prints much": (LAUNCH_1, 'for (int i = 0; i < 20000; i++) printf("line %d\\n", i);'),
    "forges": (r'printf("{\"status\": \"passed\"}\nTEST PASSED 1156\n");' + LAUNCH_1,
               'printf("hello from the kernel");'),
    "hangs behind": (f"{TWO_LAUNCHES} for (;;) sleep(1);", ""),
    "aborts behind": (f"{TWO_LAUNCHES} abort();", ""),
    "exits behind": (f"{TWO_LAUNCHES} exit(0);", ""),
    "sleeps": ("for (;;) sleep(1);", ""),
    "makes a process that sleeps": ("if (fork() == 0) { sleep(4); _exit(0); }", ""),
    "makes a process that returns": ("fork();", ""),
    "crashes": ("C[0] = 1;", ""),
    "crashes at the end": ("atexit(abort);", ""),
    "takes long": ('printf("in %d.", (int)getpid()); ' + LAUNCH_1,
                   "for (long long end = clock64() + 500000000; clock64() < end;) continue;"),  # ns, or cycles
    "right once": (f"static bool done; if (!done) {LAUNCH_1} done = true;", PRODUCT),
    # The error is cleared: without a word of it, nothing was launched.
    "keeps an error to itself": (launch("0, 1") + " cudaGetLastError();", ""),
    # What failed and was looked at is over: the launch says nothing of it.
    "does without a call": (f"if (cudaFree((void *)7)) cudaGetLastError(); {launch('1, 32')}", "C[0] = 0;"),
    "grid of k": (launch("dim3(k, k), dim3(16, 16)"), PATTERN),
}


@pytest.fixture(scope="session")
def odd(tree) -> Path:
    return build_all(tree, "odd", ODD)


@pytest.mark.parametrize("name", ["hangs behind", "aborts behind", "exits behind"])
def test_a_wrapper_that_fails_behind_its_launches(odd, name):
    """The process that says so is not the one that has launched."""
    rows = rows_of(ODD, name)
    run = run_sgemm(odd, rows, 3, 20, *time_limit(name))
    assert run.status == 1 and run.stdout.splitlines()[-3:-1] == [
        f"mysgemm<<<1, 32>>>: 1 block of 32 threads; C has 20 columns and {rows} rows",
        f"mysgemm<<<(5, 2), 8>>>: 10 blocks of 8 threads; C has 20 columns and {rows} rows",
    ]
    run = run_sgemm(odd, rows, 3, 20, *time_limit(name), "--json")
    assert [each["grid"] for each in run.json["launches"]] == [[1, 1, 1], [5, 2, 1]]


def asleep(program: Path, output: Path) -> tuple[subprocess.Popen, int]:
    """The program, asleep in its wrapper, and the process in which that runs."""
    with output.open("w") as file:
        process = subprocess.Popen([program, str(rows_of(ODD, "sleeps")), "34", "34"], stdout=file,
                                   stderr=subprocess.STDOUT, preexec_fn=heed_signals)
    while "Launching" not in output.read_text():
        assert process.poll() is None
        time.sleep(0.005)
    return process, int(Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text())


def is_running(process: int) -> bool:
    stat = Path(f"/proc/{process}/stat")
    return stat.exists() and stat.read_text().rsplit(")")[1].split()[0] not in "ZX"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_program_that_is_stopped_leaves_nothing_behind(odd, tmp_path, number):
    """Else a kernel that hangs would keep the GPU busy."""
    process, child = asleep(odd, tmp_path / "output")
    process.send_signal(number)
    assert process.wait(RUN_SECONDS) == -number
    end = time.monotonic() + 10
    while is_running(child):
        assert time.monotonic() < end
        time.sleep(0.005)


@pytest.mark.parametrize(("number", "status"), [(signal.SIGKILL, 3), (signal.SIGTERM, -signal.SIGTERM)])
def test_a_run_that_is_killed_is_no_crash_of_the_wrapper(odd, tmp_path, number, status):
    """As a machine kills that is out of memory."""
    process, child = asleep(odd, tmp_path / "output")
    os.kill(child, number)
    assert process.wait(RUN_SECONDS) == status
    output = (tmp_path / "output").read_text()
    assert "TEST FAILED" not in output
    assert ("\nsgemm: the run was killed (SIGKILL)" in output) == (status == 3)


@pytest.mark.parametrize("name", ["makes a process that sleeps", "makes a process that returns"])
def test_a_process_that_the_wrapper_makes(odd, tmp_path, name):
    """It is not waited for, though it keeps the output open, and makes no report of its own."""
    output = tmp_path / "output"
    with output.open("w") as file:
        begun = time.monotonic()
        status = subprocess.run([odd, str(rows_of(ODD, name)), "34", "34"], stdout=file, check=False).returncode
    assert status == 1 and time.monotonic() - begun < 3.5
    assert output.read_text().count("TEST FAILED") == 1


def test_a_crash_leaves_no_core_file(odd, tmp_path):
    most = resource.getrlimit(resource.RLIMIT_CORE)[1]
    run = run_sgemm(odd, rows_of(ODD, "crashes"), 34, 34, cwd=tmp_path,
                    preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (most, most)))
    assert "SIGSEGV" in run.output and [*tmp_path.iterdir()] == []


def test_a_crash_outside_of_the_wrapper(odd):
    """Is not called the wrapper's."""
    rows = rows_of(ODD, "crashes at the end")
    done = subprocess.run([odd, str(rows), "34", "34"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (3, "sgemm: crashed outside of basicSgemm: Aborted\n")
    assert f"None of the {34 * rows} elements" in done.stdout and "crashed" not in done.stdout


@pytest.mark.parametrize("tool", [None, "ptrace", "CUDA_INJECTION64_PATH", "NSYS_PROFILING_SESSION_ID"])
def test_under_a_debugger_or_profiler(odd, tmp_path, tool):
    """One process, so that breakpoints in kernel.cu are met and its launches recorded, and no limit."""
    rows = rows_of(ODD, "takes long")
    traced, environment = tool == "ptrace", os.environ | ({tool: "1"} if tool else {})
    libc = ctypes.CDLL(None)
    libc.ptrace.argtypes = [ctypes.c_long] * 4
    trace_me, go_on = 0, 7
    with (tmp_path / "output").open("w") as file:
        process = subprocess.Popen([odd, str(rows), "34", "34", "--timeout", "0.1"], stdout=file, stderr=file,
                                   env=environment,
                                   preexec_fn=lambda: libc.ptrace(trace_me, 0, 0, 0) if traced else None)
    while os.WIFSTOPPED(status := os.waitpid(process.pid, 0)[1]):
        libc.ptrace(go_on, process.pid, 0, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    output = (tmp_path / "output").read_text()
    assert process.returncode == 1
    assert (f"in {process.pid}." in output) == bool(tool)
    assert ("timed out" in output) != bool(tool) and (f"{34 * rows} elements" in output) == bool(tool)


def test_a_static_object_with_a_thread(tree):
    """After a fork it would not be there to answer."""
    text = (REPOSITORY / TILED).read_text().replace("void basicSgemm", """
#include <pthread.h>
#include <unistd.h>
static volatile bool asked, answered;
static void *answer(void *) {
    while (!asked) usleep(100);
    answered = true;
    return nullptr;
}
static struct Keeper {
    pthread_t thread;
    Keeper() { pthread_create(&thread, nullptr, answer, nullptr); }
} keeper;
void basicSgemm""").replace("mysgemm<<<", "asked = true; while (!answered) continue; mysgemm<<<")
    assert "asked = true" in text
    run = run_sgemm(tree.build(tree.write("bodies/static thread.cu", text)), 34, "--timeout", 3)
    assert run.status == 0 and "TEST PASSED" in run.stdout, run.output


@pytest.mark.gpu
def test_a_static_object_that_calls_cuda(tree, gpu):
    """CUDA does not survive a fork."""
    table = "static struct Table { float *p; Table() { cudaMalloc(&p, 4); } } table;\n"
    kernel = tree.write("bodies/static_cuda.cu", (REPOSITORY / TILED).read_text() + table)
    run = run_sgemm(tree.build(kernel, BACKEND="cuda"), 34)
    assert run.status == 0 and "TEST PASSED" in run.stdout, run.output


def test_each_launch_starts_with_a_poisoned_c(odd):
    """Right in the first call alone: the result is taken for granted afterwards."""
    rows = rows_of(ODD, "right once")
    assert run_sgemm(odd, rows, 3, 34, "--repeat", 1).status == 0
    again = run_sgemm(odd, rows, 3, 34, "--repeat", 2)
    assert again.status == 1 and f"None of the {34 * rows} elements of C were written." in again.output


def test_an_error_that_the_wrapper_looks_at_is_not_reported(odd):
    rows = rows_of(ODD, "keeps an error to itself")
    assert f"None of the {34 * rows} elements of C were written." in run_sgemm(odd, rows, 34, 34).stdout
    run = run_sgemm(odd, rows_of(ODD, "does without a call"), 34, 34)
    assert "TEST FAILED" in run.stdout and "cudaFree" not in run.output


# ---- Launches ------------------------------------------------------------------------------------


SHARED = "512 bytes of shared memory"
LAUNCHES = {
    # name: wrapper, kernel; what is shown of its launches, and again below what is wrong
    "one": (launch("dim3(3, 2), dim3(16, 16)"), "", f"grid 3 x 2, block 16 x 16, {SHARED}",
            ["<<<(3, 2), (16, 16)>>>: 48 x 32 threads (x, y)"], ""),
    "dynamic": (launch("7, dim3(2, 3, 4), 100"), "",
                "grid 7, block 2 x 3 x 4, 612 bytes of shared memory, 100 of them dynamic",
                ["<<<7, (2, 3, 4), 100>>>: 7 blocks of 24 threads"], ""),
    "equal ones": (f"for (int i = 0; i < 9; i++) {launch('1, 32')}", "", f"grid 1, block 32, {SHARED}, 9 times",
                   ["<<<1, 32>>>: 1 block of 32 threads"], "; 9 times"),
    "many": (f"for (int i = 1; i < 10; i++) {launch('i, 32')}", "",
             " mysgemm, ".join(f"grid {i}, block 32, {SHARED}" for i in range(1, 5)) + " and 5 more launches",
             [f"<<<{i}, 32>>>: {i} block{'s' * (i > 1)} of 32 threads" for i in range(1, 5)], " and 5 more launches"),
    "none": ("", "", "", [], ""),
}
USES_SHARED = "__shared__ float tile[128]; tile[threadIdx.x] = 1; if (k == 0) C[0] = tile[0];"


@pytest.mark.parametrize("name", LAUNCHES)
def test_launches_are_shown(tree, name):
    """Grid and block are what a student gets wrong first. They stand beside the size of C where it is wrong."""
    shown, failed, more = LAUNCHES[name][2:]
    rows = rows_of(LAUNCHES, name)
    run = run_sgemm(build_all(tree, "launches", LAUNCHES, USES_SHARED), rows, 34, 34, "--repeat", 2)
    launching = in_one_line(run.stdout.split("Launching kernel...")[1].split("kernel ")[0])
    assert re.fullmatch(rf"[\d.]+ s ?{re.escape('mysgemm, ' * bool(shown) + shown)}", launching)
    described = " ".join(f"mysgemm{each}; C has 34 columns and {rows} rows" for each in failed)
    assert f"computes one element of C and stores it. {described}{more}".strip() + " next: make check" in \
        in_one_line(run.stdout)
    assert all(len(line) <= 80 for line in run.stdout.splitlines())


def test_a_launch_in_json(tree):
    rows = rows_of(LAUNCHES, "dynamic")
    run = run_sgemm(build_all(tree, "launches", LAUNCHES, USES_SHARED), rows, 34, 34, "--json")
    assert run.json["launches"] == [
        {"kernel": "mysgemm", "grid": [7, 1, 1], "block": [2, 3, 4], "static_shared": 512,
         "dynamic_shared": 100, "times": 1}
    ]
    assert run.json["launches_left_out"] == 0


def test_a_grid_explains_what_was_not_written(odd):
    rows = rows_of(ODD, "grid of k")
    shown = in_one_line(run_sgemm(odd, rows, 3, 40).stdout)
    assert f"rows 48 to {rows - 1}. The grid has 3 x 16 = 48 threads in y; C has {rows} rows. hint:" in shown
    for blocks, asked in ((3, True), (4, False)):  # of which four are all that it takes
        shown = in_one_line(run_sgemm(odd, rows, blocks, 34).stdout)
        assert "elements of C were never written" in shown
        assert ("does the grid, rounded up, cover" in shown) == asked, shown


@pytest.mark.gpu
def test_launches_and_prints_on_a_gpu(tree, gpu):
    """As on the CPU backend: there the linker brings the launches here, and the driver prints."""
    text = f"""#include <stdio.h>
        __global__ void mysgemm{PARAMETERS} {{ {USES_SHARED} printf("half"); }}
        void basicSgemm{PARAMETERS} {{ mysgemm<<<n - 34, 1, 100>>>(m, n, k, A, B, C); }}"""
    program = tree.build(tree.write("bodies/gpu.cu", text), BACKEND="cuda")
    (launch,) = run_sgemm(program, 34, 34, 35, "--json").json["launches"]
    assert (launch["grid"], launch["block"]) == ([1, 1, 1], [1, 1, 1])
    assert (launch["static_shared"], launch["dynamic_shared"]) == (512, 100)
    lines = run_sgemm(program, 34, 34, 35, "--repeat", 1).stdout.splitlines()
    assert sum(line.count("half") for line in lines) == 3, "two launches to warm up, and one timed"
    assert not any("half" in line and ("..." in line or "TEST" in line) for line in lines)
    run = run_sgemm(program, 34)
    assert run.status == 1 and ">>>: the grid has no blocks: 0 x 1 x 1" in run.stdout
    assert "mysgemm<<<0, 1, 100>>>: 0 blocks of 1 thread; C has 34" in run.stdout


# ---- What to do next -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", sample(["two words.cu", "l'été.cu", "$HOME #1.cu", "a;b&c(d)*?`e.cu"],
                                        every=4, start=3))
def test_the_next_command_can_be_typed(tree, untouched, tiled, name):
    """Students do not read the README twice. The command works for any file name."""
    assert run_sgemm(untouched, 34).stdout.endswith("\nnext: make check\n")
    assert run_sgemm(tiled, 34).stdout.endswith(f"\nnext: make check KERNEL={TILED}\n")
    tree.write(name, f"__global__ void mysgemm{PARAMETERS} {{}}\nvoid basicSgemm{PARAMETERS} {{}}\n")
    tree.make("BACKEND=cpu", f"KERNEL={name}", *UNSPACED)
    run = run_sgemm(tree.path / "sgemm", 34)
    assert f"    built from {name}\n" in run.stdout
    command = run.stdout.splitlines()[-1].removeprefix("next: ")
    checked = subprocess.run(["sh", "-c", command], cwd=tree.path, env=clean_environment(),
                             capture_output=True, text=True, timeout=RUN_SECONDS, check=False)
    assert f"{name}:2: basicSgemm launches no kernel\n" in checked.stdout, checked


def test_a_file_that_has_changed(tree):
    """./sgemm runs what was built, not what is in the editor."""
    kernel = tree.write("edited.cu", (tree.path / TILED).read_text())
    tree.make("BACKEND=cpu", "KERNEL=edited.cu", *UNSPACED)
    text = kernel.read_text()

    def expect(changed: bool | None) -> None:
        assert run_sgemm(tree.path / "sgemm", 34, "--json").json["source"] == {"file": "edited.cu", "changed": changed}
        lines = run_sgemm(tree.path / "sgemm", 34).stdout.splitlines()
        assert ("warning: edited.cu has changed since ./sgemm was built" in lines) == bool(changed)
        assert ("next: make KERNEL=edited.cu" in lines) == bool(changed)
        assert len([line for line in lines if line.startswith(("warning", "next"))]) == 1 + bool(changed)

    expect(False)
    for other in (text + " ", text[:-1], text.replace("+=", "-="), ""):
        kernel.write_text(other)
        expect(True)
    kernel.write_text(text)
    expect(False)
    kernel.unlink()
    expect(None)


# ---- What the kernel prints ----------------------------------------------------------------------


@pytest.mark.parametrize("name", PRINTED)
def test_what_is_printed_has_lines_of_its_own(odd, name):
    """Stages, findings and verdicts begin a line, and so does what is printed between them: in a pipe, in one pipe
    for both outputs, and in a terminal."""
    words = [str(rows_of(ODD, name)), "34", "34", *time_limit(name)]
    piped, both = (subprocess.run([odd, *words], env=clean_environment(), stdout=subprocess.PIPE, stderr=errors,
                                  text=True, check=False, timeout=RUN_SECONDS).stdout.splitlines()
                   for errors in (subprocess.PIPE, subprocess.STDOUT))
    for lines in (piped, both, screen(in_terminal(odd, *words))):
        assert lines.count(PRINTED[name][2]) == lines.count("TEST FAILED") == 1
        at = lines.index(PRINTED[name][2])
        assert lines[at - 1].rstrip() == "Launching kernel..."
        if "before" not in name:
            assert re.fullmatch(r"Launching kernel\.\.\. +\d+\.\d{3} s", lines[at + 1])
        elif name != "before an exit" and lines != piped:
            assert re.match(r".*\.cu:\d+: ", lines[at + 1]), lines[at + 1]


def test_a_kernel_that_prints_much(odd):
    """More than a pipe holds, in order, and the verdict behind it. It stays out of the JSON, and cannot forge a
    verdict there."""
    run = run_sgemm(odd, rows_of(ODD, "prints much"), 34, 34)
    printed = [line for line in run.stdout.splitlines() if line.startswith("line ")]
    assert printed == [f"line {i}" for i in range(20000)]
    assert run.stdout.index("line 19999\n") < run.stdout.index("TEST FAILED")
    run = run_sgemm(odd, rows_of(ODD, "forges"), 34, 34, "--json")
    assert run.status == 1 and run.json["status"] == "failed"
    assert "hello from the kernel" in run.stderr and "TEST PASSED 1156" in run.stderr


# ---- JSON ----------------------------------------------------------------------------------------

RUN_KEYS = {
    "status", "exit_status", "message", "m", "n", "k", "seed", "fill", "verify", "backend",
    "repeat", "device", "source", "launches", "launches_left_out", "times", "median", "min", "max",
    "gflops", "inputs_changed", "guard_writes",
}
VERDICT_KEYS = {
    "compared", "wrong", "nan", "unwritten", "not_float32", "max_error_u",
    "rms_error_u", "first_wrong", "explanations",
}
STAGE_KEYS = ["setup", "allocate", "to_device", "launch", "from_device", "verify"]


def test_a_pass(tiled):
    """./sgemm M K N: A is M x K, B is K x N."""
    shown = run_sgemm(tiled, 40, 20, 30).stdout
    assert "A 40 x 20, B 20 x 30, C 40 x 30\n" in shown and "\n\nTEST PASSED 1200\n" in shown
    run = run_sgemm(tiled, 40, 20, 30, "--json")
    assert run.stderr == "" and run.stdout.count("\n") == 1
    assert RUN_KEYS | VERDICT_KEYS <= run.json.keys()
    assert run.json["status"] == "passed" and run.json["message"] is None
    assert run.json["compared"] == 1200 and run.json["wrong"] == run.json["unwritten"] == 0
    assert list(run.json["times"]) == [*STAGE_KEYS, "kernel"]
    assert all(run.json["times"][key] >= 0 for key in STAGE_KEYS)
    assert 0 < run.json["rms_error_u"] < run.json["max_error_u"] < 32


def test_json_of_a_wrong_kernel(tree, untouched):
    run = run_sgemm(untouched, 40, 20, 30, "--json")
    assert run.json["unwritten"] == run.json["compared"] == 1200
    run = run_sgemm(tree.build(faulty("18_nan")), 34, "--json")
    assert run.json["nan"] == run.json["wrong"] == 34 * 34 and run.json["first_wrong"][0]["got"] == "NaN"
    run = run_sgemm(tree.build(faulty("18_one_element")), 34, "--json")
    assert run.json["wrong"] == 1 and run.json["unwritten"] == 0
    (wrong,) = run.json["first_wrong"]
    assert (wrong["row"], wrong["column"]) == (22, 17)
    assert wrong["got"] - wrong["expected"] == pytest.approx(1, rel=1e-3)
    assert 0 < wrong["bound"] < 0.01


def test_json_of_stray_writes(tree):
    run = run_sgemm(tree.build(faulty("06_guard_off_by_one")), 34, 20, 30, "--json")
    assert run.json["guard_writes"] == {"A": [0, 0], "B": [0, 0], "C": [0, 30]}
    run = run_sgemm(tree.build(faulty("11_a_written_too")), 34, 20, 30, "--json")
    assert run.json["inputs_changed"]["A"] > 600 and run.json["inputs_changed"]["B"] == 0


NAN = f"""template <bool SOME> __global__ void mysgemm(int m, int n, float *C)
{{
    if constexpr (SOME) {{ __shared__ float tile[4]; tile[threadIdx.x % 4] = 1.0f; }}
    for (int i = threadIdx.x; i < m * n; i += 32) C[i] = __int_as_float(m == 34 ? 0x7FE2A2A2 : 0xFFFFFFFF);
}}
void basicSgemm{PARAMETERS} {{ (k > 1 ? mysgemm<true> : mysgemm<false>)<<<1, 32>>>(m, n, C); }}
"""


def test_shared_memory_is_blamed_only_where_there_is_some(tree, tmp_path):
    """A NaN as uninitialized shared memory holds, of 34 rows, may have been left behind elsewhere."""
    kernel = tmp_path / "kernel.cu"
    kernel.write_text(NAN)
    for rows, k in ((34, 1), (35, 1), (34, 2), (35, 2)):
        run = run_sgemm(tree.build(kernel), rows, k, 34)
        said = run.output.partition("TEST FAILED")[2].partition("mysgemm<")[0]
        assert run.status == 1 and "NaN" in said
        assert ("shared memory" in said) == (k > 1), run.output


# ---- What it looks like --------------------------------------------------------------------------

LOOKS = {  # each second one by day: those of kernels that other tests build, too
    "passed": (TILED, "1000 500 700"),
    "wrong": (faulty("04_no_guards"), "1000 50 1030 --seed 18446744073709551615"),
    "partly unwritten": (faulty("18_grid_exchanged"), "40 16 1030"),
    "large": ("kernel.cu", "100000 1 100"),
    "places": (faulty("18_b_stride_k"), "300 70 100 --fill index"),
    "exact": (faulty("18_tf32"), "128 16 4096 --fill exact"),
    "magnitudes": (faulty("18_one_element"), "34 34 34 --fill extremes"),
    "stray": (faulty("11_a_written_too"), "34 20 40"),
    "crash": (faulty("19_null_pointer"), "34 20 40"),
    "repeated": (TILED, "34 --repeat 5"),
}


@pytest.mark.parametrize(("kernel", "args"), sample([*LOOKS.values()], every=2), ids=LOOKS.keys())
def test_fits_a_terminal(tree, kernel, args):
    """80 columns: what wraps cannot be read, and the map least of all. The source's own path and
    the kernel's signature, which a crash names, may be longer."""
    run = run_sgemm(tree.build(kernel), *args.split())
    lines = run.stdout.splitlines()
    assert not [line for line in lines if len(line) > 80]
    assert not [line for line in lines if line != line.rstrip() and "..." not in line]
    assert "\33" not in run.output and run.output.isascii()


FAILING = faulty("18_first_tile_only")


def test_json_in_a_terminal(tree):
    shown = in_terminal(tree.build(FAILING), "34", "--json")
    assert strict_json(shown)["unwritten"] == 34 * 34 - 16 * 16


def test_closed_standard_output(tiled, untouched):
    """`./sgemm | head -1` is no reason to hang or to crash, nor is `./sgemm >&-` in a script that looks at the
    status alone."""
    done = subprocess.run(["bash", "-c", f'"{tiled}" 34 | head -1'], capture_output=True, text=True,
                          timeout=RUN_SECONDS, check=True)
    assert done.stdout.startswith("Setting up the problem...")
    for program, status in ((tiled, 0), (untouched, 1)):
        done = subprocess.run(["bash", "-c", f'"{program}" 34 >&-'], capture_output=True,
                              timeout=RUN_SECONDS, check=False)
        assert (done.returncode, done.stderr) == (status, b"")


def test_the_failure_shows_where(tree):
    """Rows, columns, expected, got, the bound, a box, a map: what a student starts from."""
    program = tree.build(faulty("18_k_in_whole_tiles"))
    shown = run_sgemm(program, 34, 20, 40, "--seed", 1).stdout
    assert "All 1360 elements of C are wrong.\n" in shown
    assert "rows 0 to 33" not in shown  # all of C: there is nothing to say
    assert re.search(r"^ +row +column +expected +got +tolerance$", shown, re.MULTILINE)
    first = re.search(r"^ +0 +0 +(\S+) +(\S+) +(\S+)$", shown, re.MULTILINE)
    assert abs(float(first[1]) - float(first[2])) > float(first[3]) > 0
    assert re.search(r"^ row +0 \|XXX\|$", shown, re.MULTILINE) and "X all wrong" in shown
    assert re.search(r"^ +\.\.\.$", shown, re.MULTILINE)  # there are more of them
    shown = run_sgemm(tree.build(FAILING), 34).stdout
    assert "900 of the 1156 elements of C were never written.\n" in shown and "They" not in shown
    assert re.search(r"^ row +0 \|\.UU\|$", shown, re.MULTILINE)
    shown = run_sgemm(tree.build(faulty("06_c_before")), 34).stdout  # nothing is right, the last element unwritten
    assert re.search(r"^ +32 \|XXx\|$", shown, re.MULTILINE) and "   x some wrong  X all wrong\n" in shown


def test_the_failure_shows_one_element(tree):
    """The list of wrong elements ends with the last. The rows of the map are those of C, where a cell has more
    rows than columns, too."""
    program = tree.build(faulty("18_one_element"))
    assert not re.search(r"^ +\.\.\.$", run_sgemm(program, 34).stdout, re.MULTILINE)
    shown = run_sgemm(program, 1500, 3, 40).stdout
    rows, columns = map(int, re.search(r"character for (\d+) rows x (\d+) columns", shown).groups())
    assert rows > columns
    numbers = re.findall(r"^(?: row|    ) *(\d+) \|", shown, re.MULTILINE)
    assert [int(number) for number in numbers] == [*range(0, 1500, rows)]


def test_a_terminal_of_60_columns(tree):
    """But for the command to type, which is one line."""
    for kernel in (faulty("18_k_in_whole_tiles"), FAILING):
        lines = screen(in_terminal(tree.build(kernel), "34", columns=60))
        assert "TEST FAILED" in lines
        assert [line for line in lines if len(line) > 60 and not line.startswith("next: ")] == []
