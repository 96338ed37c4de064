"""Every finding shows the launch that it belongs to: kernel, grid, block, the line of `<<<...>>>`,
beside the size of C (engine/watch/launches.c). And a call that failed shows its line."""

from pathlib import Path

import pytest
from checked import EACH_COMPILER, Builder, Checked, run_check, shared_kernel

PROTOTYPE = "(int m, int n, int k, const float *A, const float *B, float *C)"
TOO_FAR = "{ C[m * n] = 0; }"
KERNELS = f"""
__global__ void mysgemm{PROTOTYPE} {{}}
__global__ void nothing{PROTOTYPE} {{}}
__global__ void too_far{PROTOTYPE} {TOO_FAR}
__global__ void races{PROTOTYPE} {{ C[0] = threadIdx.x; }}
__global__ void zeros{PROTOTYPE} {{ for (int i = 0; i < m * n; i++) C[i] = 0; }}
__global__ void one_sum{PROTOTYPE}
{{
    float sum = 0;
    for (int i = 0; i < k; i++) sum += A[i] * B[i];
    C[0] = sum;
}}
template <int T, class F> __global__ void tiled{PROTOTYPE} {TOO_FAR}
template <bool LAST> __global__ void phase{PROTOTYPE} {TOO_FAR}
namespace course {{ __global__ void inside{PROTOTYPE} {TOO_FAR} }}
namespace {{ __global__ void hidden{PROTOTYPE} {TOO_FAR} }}
static __global__ void local{PROTOTYPE} {TOO_FAR}
extern "C" __global__ void plain{PROTOTYPE} {TOO_FAR}
__device__ int one;
"""
# What the wrapper does, in lines of the file; of the finding: its kind, and its launch, with words of its line.
LAUNCHES = [
    # The launch with the mistake, of several: a store too far ends it, a race does not.
    ("nothing<<<1, 32>>>(m, n, k, A, B, C);\ntoo_far<<<1, 64>>>(m, n, k, A, B, C);\n"
     "if (cudaDeviceSynchronize() == cudaSuccess) nothing<<<2, 32>>>(m, n, k, A, B, C);",
     "out-of-bounds", "too_far<<<1, 64>>>: 1 block of 64 threads; SIZE; launch 2 of 2", "too_far<<<1, 64"),
    ("races<<<1, 64>>>(m, n, k, A, B, C);\n" + "nothing<<<1, 32>>>(m, n, k, A, B, C);\n" * 2,
     "global-race", "races<<<1, 64>>>: 1 block of 64 threads; SIZE; launch 1 of 3", "races<<<1, 64"),
    # The last one, of those that did not write C; of many launches a few are kept.
    ("nothing<<<1, 33>>>(m, n, k, A, B, C);\nnothing<<<2, 33>>>(m, n, k, A, B, C);",
     "unwritten", "nothing<<<2, 33>>>: 2 blocks of 33 threads; SIZE; launch 2 of 2", "nothing<<<2, 33"),
    ("for (int i = 0; i < 300; ++i) nothing<<<1 + i % 100, 1>>>(m, n, k, A, B, C);",
     "unwritten", "nothing<<<100, 1>>>: 100 blocks of 1 thread; SIZE; launch 300 of 300", "1 + i % 100"),
    # One that is refused.
    ("nothing<<<dim3(2, 0), dim3(16, 16)>>>(m, n, k, A, B, C);",
     "bad-launch", "nothing<<<(2, 0), (16, 16)>>>: 0 blocks of 256 threads; SIZE", "dim3(2, 0)"),
    # A kernel's name has no parameters.
    *((f"{call}<<<dim3(2, 3), dim3(16, 16)>>>(m, n, k, A, B, C);",
       "out-of-bounds", f"{name}<<<(2, 3), (16, 16)>>>: 32 x 48 threads (x, y); SIZE", f"{call}<<<")
      for call, name in (("tiled<16, float>", "tiled<16, float>"), ("phase<true>", "phase<true>"),
                         ("course::inside", "course::inside"), ("hidden", "(anonymous namespace)::hidden"),
                         ("local", "local"), ("plain", "plain"))),
]
PENDING = "the error was still pending when basicSgemm ended"
FORGOTTEN = "basicSgemm called cudaGetLastError() and went on"
ONE_SUM = "one_sum<<<1, 1>>>(m, n, k, A, B, C);"
# Of one element the sum is right: a call whose error is forgotten was not needed.
CALLS = [
    (f"{ONE_SUM} cudaFree((void *)7);", "cudaFree", PENDING),
    (f"{ONE_SUM}\ncudaMemcpyToSymbol(one, &m, 4, 8); cudaPeekAtLastError();", "cudaMemcpyToSymbol", PENDING),
    (f"{ONE_SUM} cudaFree((void *)7); cudaGetLastError();", "", ""),
    (f"{ONE_SUM} cudaFree((void *)7); cudaGetLastError();\ncudaMemset((void *)7, 0, 1);", "cudaMemset", PENDING),
    ("zeros<<<1, 1>>>(m, n, k, A, B, C);\ncudaFree((void *)7); cudaGetLastError();", "cudaFree", FORGOTTEN),
]
NO_LAUNCH = "float x = *A;\nnothing<<<1, x>>>(m, n, k, A, B, C);"
# Eight launches are kept; and the first one that loads an input, however many come before.
MANY_BEFORE = f"for (int i = 0; i < 9; ++i) zeros<<<1, 1>>>(m, n, k, A, B, C);\n{ONE_SUM}\n{ONE_SUM}"
CASES = dict(enumerate([NO_LAUNCH, MANY_BEFORE, *(code for code, *_ in (*CALLS, *LAUNCHES))], 34))
TEXT = f"{KERNELS}void basicSgemm{PROTOTYPE}\n{{\nswitch (k) {{\n" + "".join(
    f"{'default: ' if code == MANY_BEFORE else ''}case {k}: {{\n{code}\n}} break;\n"
    for k, code in CASES.items()) + "}\n}\n"


@pytest.fixture
def program(checker: Builder, programs: Path) -> Path:
    return build(checker, programs, "gcc -O1")


def build(checker: Builder, programs: Path, setup: str) -> Path:
    return checker(setup, shared_kernel(programs, "launches.cu", TEXT))


def run(program: Path, size: int, code: str, *options: str) -> Checked:
    (k,) = (k for k, other in CASES.items() if other == code)
    return run_check(program, *options, "--seed", 1, size, k, size)


def line_of(words: str, behind: str = "") -> int:
    return TEXT[:TEXT.index(words, TEXT.index(behind))].count("\n") + 1


@pytest.mark.parametrize("setup", EACH_COMPILER)
def test_a_finding_shows_its_launch(checker: Builder, programs: Path, setup: str) -> None:
    program = build(checker, programs, setup)
    for code, kind, text, words in LAUNCHES:
        finding = run(program, 34, code, "--json").finding
        launch, text = finding["launch"], text.replace("SIZE", "C has 34 columns and 34 rows")
        assert (finding["kind"], launch["text"].replace("(bool)1", "true")) == (kind, text)
        assert launch["line"] == line_of(words)


def test_what_is_shown_of_a_launch(program: Path) -> None:
    code, *_ = LAUNCHES[-1]
    launch = run(program, 34, code, "--json").finding["launch"]
    assert launch.pop("line") and launch.pop("file").endswith("launches.cu")
    text = launch.pop("text")
    assert launch == {"kernel": "plain", "number": 1, "of": 1, "grid": [2, 3, 1], "block": [16, 16, 1],
                      "shared_bytes": 0}  # fmt: skip
    said = run(program, 34, code).stdout.split("    block (")[0]
    assert " ".join(said.split()).endswith(text)


def test_no_launch_is_shown_before_the_first(program: Path) -> None:
    finding = run(program, 34, NO_LAUNCH, "--json").finding
    assert (finding["kind"], finding["launch"]) == ("device-pointer-on-host", None)


def test_the_first_launch_that_loads_an_input_is_kept(program: Path) -> None:
    shown = run(program, 1, MANY_BEFORE, "--json", "--indices").json["indices"]  # of a shape of its own
    assert (shown["number"], shown["of"]) == (10, 11)
    assert ", launch 10 of 11, " in " ".join(run(program, 1, MANY_BEFORE, "--phases").stdout.split())


def test_a_call_that_failed(program: Path) -> None:
    for code, failed, detail in CALLS:
        finding = run(program, 1, code, "--json").finding
        if not failed:
            assert finding is None
            continue
        assert finding["what"].startswith(f"{failed} failed: invalid argument")
        assert finding["detail"] == [detail]
        assert finding["line"] == line_of(failed, behind=code)
