"""make program CHECK=1: what it says, what it returns, and that the program runs as if nobody watched."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time

import pytest
from alone import text_of, the_engine

LAUNCH = "    kernel<<<grid, block>>>(d_in, d_out, n);"
FAULTY = text_of("reduction").replace("in[i] : 0;", "in[i + 1000] : 0;")  # line 10


ENDS = [
    ("exit(0);", 0, "no mistakes found"),
    ("exit(7);", 1, "the program ended with exit status 7\nno mistakes found"),
    ("_Exit(0);", 0, "no mistakes found"),
    ("quick_exit(0);", 0, "no mistakes found"),
    ("abort();", 1, "the program was stopped: Aborted\nno mistakes found"),
    ("throw 1;", 1, "the program was stopped: Aborted\nno mistakes found"),
    ("raise(SIGKILL);", 1, "the program was stopped: Killed\n"),
]
HOST = {  # what the host does behind the launch
    **{code: f"cudaFree(d_in); cudaFree(d_out); {code}" for code, *_ in ENDS},
    "hears and says": 'char line[80] = ""; fgets(line, 80, stdin); printf("%s, %s", argv[3], line); '
                      'fprintf(stderr, "aside\\n");',
    "crashes": "*(volatile int *)8 = 1;",
    "goes on": "volatile int on = 1; while (on) {}",
    "waits": 'puts("waits"); fflush(stdout); getchar();',
    "makes a process": "if (fork() == 0) exit(0); wait(nullptr);",
}


def with_hosts(text: str) -> str:
    """This program, whose second argument is the number of one of them; in a line that ends in `host`."""
    cases = " ".join(f"case {i}: {{ {code} break; }}" for i, code in enumerate(HOST.values()))
    return "#include <csignal>\n#include <unistd.h>\n#include <sys/wait.h>\n" + text.replace(
        LAUNCH, f"{LAUNCH}\n    cudaDeviceSynchronize();\n    switch (atoi(argv[2])) {{ {cases} }} // host")


def does(what: str) -> str:
    return str([*HOST].index(what))


def test_one_command_builds_and_runs() -> None:
    engine = the_engine()
    engine.write(FAULTY, "my program.cu")
    done = engine.make("program", "CHECK=1", "KERNEL=my program.cu", "ARGS=500")
    assert done.returncode == 2  # make's own, for a recipe that fails
    assert "my program.cu:10: " in done.stderr and "Error 1" in done.stderr
    engine.write(text_of("reduction"), "my program.cu")
    done = engine.make("program", "CHECK=1", "KERNEL=my program.cu", "ARGS='500'")
    assert (done.returncode, done.stdout) == (0, "the sum is 499\n")
    assert "no mistakes found: every load and store of 1 launch was checked" in done.stderr


def test_a_variable_that_no_target_takes_is_refused() -> None:
    done = the_engine().make("program", "CHECK=1", "FRST=1")
    assert (done.returncode, done.stdout) == (2, "")
    assert "make program takes no FRST; did you mean FIRST=?" in done.stderr
    assert "make clean takes no KERNEL; make program and embed do" in the_engine().make("clean", "KERNEL=x.cu").stderr


def test_the_plain_build() -> None:
    engine = the_engine()
    engine.write(text_of("scan"))
    assert engine.make("program", "KERNEL=program.cu").returncode == 0
    done = subprocess.run([engine.path / "build/program"], text=True, capture_output=True, check=True)
    assert (done.stdout, done.stderr) == ("all prefix sums are correct\n", "")


def test_what_is_said_of_a_finding() -> None:
    engine = the_engine()
    engine.build(FAULTY)
    done = engine.run(status=1)
    assert done.err.startswith("program.cu:10: out-of-bounds load")
    assert "reads d_in[1000], but d_in has 1000 elements" in " ".join(done.err.split())
    assert "kernel<<<8, 128>>>: 8 blocks of 128 threads" in done.err
    assert "block (0,0), thread (0,0)" in done.err and "hint: " in done.err


GIVEN = ["&d_in", "(void **)&d_in", "reinterpret_cast<void **>(&d_in)", "(void**) & d_in",
         "(void **)(\n        &d_in)"]


@pytest.mark.parametrize("number", range(len(GIVEN)))
def test_allocations_bear_the_name_that_cudamalloc_was_given(number: int) -> None:
    ways = "".join(f"case {i}: cudaMalloc({given}, in_bytes); break;\n" for i, given in enumerate(GIVEN))
    text = FAULTY.replace("cudaMalloc(&d_in, in_bytes);", f"switch (atoi(argv[2])) {{\n{ways}}}")
    (one,) = the_engine().findings(text, "1000", str(number))["findings"]
    assert (one["variable"], one["element"]) == ("d_in", "d_in[1000]")


def test_two_allocations_in_one_line() -> None:
    both = "cudaMalloc(&d_in, in_bytes); cudaMalloc(&d_out, out_bytes);"
    text = text_of("reduction").replace("    cudaMalloc(&d_out, out_bytes);\n", "")
    text = text.replace("cudaMalloc(&d_in, in_bytes);", both)
    text = text.replace("in[i] : 0", "in[i == 5 ? i + n : i] : 0")  # which ends this thread alone
    text = text.replace("out[blockIdx.x] =", "out[blockIdx.x + 8] =")
    found = the_engine().findings(text)["findings"]
    assert [one["element"] for one in found] == ["d_in[1005]", "d_out[8]"]


def test_one_line_that_allocates_twice_says_how_large_each_is() -> None:
    text = FAULTY.replace("int main", "float *make(size_t bytes) {\n    float *made;\n"
                          "    cudaMalloc(&made, bytes);\n    return made;\n}\n\nint main", 1)
    text = text.replace("cudaMalloc(&d_in, in_bytes)", "d_in = make(in_bytes)")
    text = text.replace("cudaMalloc(&d_out, out_bytes)", "d_out = make(out_bytes)")
    (one,) = the_engine().findings(text)["findings"]
    assert (one["variable"], one["element"]) == ("made", "made[1000] of 4000 bytes")


def test_a_name_that_the_source_does_not_say() -> None:
    text = FAULTY.replace("int main", "#define MAKE cudaMalloc\nint main", 1)
    text = text.replace("cudaMalloc(&d_in", "MAKE(&d_in")
    (one,) = the_engine().findings(text)["findings"]
    line = text[:text.index("MAKE(&d_in")].count("\n") + 1
    assert one["element"] == f"byte 4000 of the 4000 allocated at program.cu:{line}"


def test_arguments_input_and_output_are_the_programs() -> None:
    engine = the_engine()
    engine.build(with_hosts(text_of("reduction")))
    done = engine.run("300", does("hears and says"), "a b", input="hello\n", status=0)
    assert done.out == "a b, hello\nthe sum is 300\n" and done.err.startswith("aside\n")


def test_however_a_program_ends() -> None:
    engine = the_engine()
    engine.build(with_hosts(text_of("reduction")))
    for code, status, said in ENDS:
        assert said in engine.run("1000", does(code), status=status).err, code
    engine.build(with_hosts(FAULTY))
    for code, *_ in ENDS:
        done = engine.run("1000", does(code), status=1)
        assert "program.cu:13: out-of-bounds load" in done.err or "SIGKILL" in code, done.err


def test_a_crash_of_the_hosts_code_is_named() -> None:
    text = with_hosts(FAULTY)
    first, one = the_engine().findings(text, "1000", does("crashes"))["findings"]
    assert first["kind"] == "out-of-bounds"
    assert (one["kind"], one["line"]) == ("host-fault", text[:text.index("// host")].count("\n") + 1)


def test_host_code_without_an_end() -> None:
    engine = the_engine()
    engine.build(with_hosts(FAULTY))
    done = engine.run("1000", does("goes on"), env={"ENGINE_TIMEOUT": "1"}, status=1)
    assert "program.cu:13: out-of-bounds load" in done.err
    assert "the program was stopped: CPU time limit exceeded" in done.err


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_program_that_waits_is_stopped_and_still_says_what_was_seen(number: int) -> None:
    engine = the_engine()
    engine.build(with_hosts(FAULTY))
    with subprocess.Popen([engine.path / "build/check/program", "1000", does("waits")], cwd=engine.path,
                          text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, start_new_session=True) as running:
        assert running.stdout and running.stdout.readline() == "waits\n"
        time.sleep(0.1)
        os.killpg(running.pid, number)
        assert "program.cu:13: out-of-bounds load" in running.communicate(timeout=60)[1]
        assert running.returncode == 1


def test_processes_that_the_program_makes_are_not_watched() -> None:
    engine = the_engine()
    engine.build(with_hosts(FAULTY))
    assert engine.run("1000", does("makes a process"), status=1).err.count("out-of-bounds") == 1


def test_json_is_alone_on_standard_output() -> None:
    engine = the_engine()
    engine.write(FAULTY)
    done = engine.make("program", "CHECK=1", "JSON=1", "KERNEL=program.cu")
    report = json.loads(done.stdout)
    (one,) = report["findings"]
    assert report["status"] == "finding" and report["exit_status"] == 1
    assert one["kind"] == "out-of-bounds" and one["line"] == 10 and one["access"] == "read"
    assert one["launch"].startswith("kernel<<<8, 128>>>")
    assert "the sum is" in done.stderr
    assert "ENGINE_" not in done.stdout


def test_usage() -> None:
    engine = the_engine()
    engine.build(text_of("scan"))
    for wrong in ("x", "0", "-1", "1e99"):
        assert "TIMEOUT=" in engine.run(env={"ENGINE_TIMEOUT": wrong}, status=2).err
    missing = engine.make("program", "CHECK=1", "KERNEL=none.cu")
    assert missing.returncode == 2 and "none.cu: no such file" in missing.stderr
    engine.write("__global__ void kernel() {}\n", "mainless.cu")
    mainless = engine.make("program", "CHECK=1", "KERNEL=mainless.cu")
    assert mainless.returncode == 2 and "mainless.cu: has no main()" in mainless.stderr and "undefined" not in mainless.stderr


def test_a_program_without_a_launch() -> None:
    engine = the_engine()
    engine.build("int main() { return 0; }\n")
    assert engine.run(status=0).err == "no kernel was launched\n"


# Of each thread that cannot go on the others do.
MANY = """\
__global__ void kernel(int *a, int n) {
    __shared__ int s[64];
    const int i = threadIdx.x;
    if (i == 3) a[-5] = 1;
    if (i == 5) a[n + n] = 1;
    s[i] = a[i];
    a[i + n] = s[63 - i];
    __syncthreads();
    if (blockIdx.x == 0) a[2 * n + i] = s[i];
}

int main() {
    const int n = 64;
    int *a, *b;
    cudaMalloc(&a, (n + n) * sizeof(int));
    cudaMalloc(&b, n * sizeof(int));
    cudaMemset(a, 0, n * sizeof(int));
    kernel<<<2, n>>>(a, n);
    cudaFree(a);
    cudaFree(b);
    return cudaDeviceSynchronize();
}
"""


def test_all_mistakes_are_named_once_at_each_pair_of_places() -> None:
    report = the_engine().findings(MANY)
    found = [(one["kind"], one["line"], one["other"] and one["other"]["line"])
             for one in report["findings"]]
    assert len(found) == len({*found})
    assert {("out-of-bounds", 4, None), ("out-of-bounds", 5, None), ("shared-race", 7, 6),
            ("global-race", 7, 7), ("out-of-bounds", 9, None)} == {*found}


def test_the_first_mistake_alone() -> None:
    engine = the_engine()
    engine.build(MANY)
    assert engine.run(env={"ENGINE_FIRST": "1"}, status=1).err.count("program.cu:") == 1


def test_what_an_ended_thread_leaves_out_is_no_mistake() -> None:
    """Neither the element that it should have stored, nor a barrier that it does not reach."""
    text = text_of("reduction").replace(
        "    part[t] = i < n ? in[i] : 0;",
        "    part[t] = i < n ? in[t == 77 ? -1 : i] : 0;")
    text = text.replace(LAUNCH, f"{LAUNCH}\n    kernel<<<1, block>>>(d_out, d_in, grid);")
    text = text.replace("if (t == 0) out[blockIdx.x] = part[0];",
                        "if (t == 0) out[in[0] == 0 && blockIdx.x == 3 ? -1 : blockIdx.x] = part[0];")
    report = the_engine().findings(text)
    assert [(one["kind"], one["line"]) for one in report["findings"]] == [
        ("out-of-bounds", 10), ("out-of-bounds", 15)]


UP_SWEEP = """\
__global__ void kernel(int *sum, bool all) {
    __shared__ int tree[64];
    const int t = threadIdx.x;
    if (all || t == 0) tree[t] = t;
    if (2 * t + 1 < 64) tree[2 * t + 1] += tree[2 * t];
    __syncthreads();
    if (t == 0) *sum = tree[63];
}

int main(int count, char **) {
    int *sum;
    cudaMalloc(&sum, sizeof(int));
    kernel<<<1, 64>>>(sum, count > 1);
    cudaFree(sum);
    return cudaDeviceSynchronize();
}
"""


def test_an_element_that_a_thread_adds_to_before_another_stores_it() -> None:
    """A barrier is missing, and no value: only where no other thread stores one it is the latter."""
    for arguments, kind in ((["all"], "shared-race"), ([], "uninitialized-shared")):
        first, *_ = the_engine().findings(UP_SWEEP, *arguments)["findings"]
        assert (first["kind"], first["line"]) == (kind, 5)
