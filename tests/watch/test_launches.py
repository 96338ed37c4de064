"""Every finding shows the launch that it belongs to: kernel, grid, block, the line of `<<<...>>>`,
beside the size of C (engine/watch/launches.c)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from checked import EACH_COMPILER, Builder, Checked, run_check
from conftest import sample


@pytest.fixture(scope="session")
def checker(lean_checker: Builder) -> Builder:
    return lean_checker


PROTOTYPE = "(int m, int n, int k, const float *A, const float *B, float *C)"
ARGUMENTS = "(m, n, k, A, B, C)"
MYSGEMM = f"__global__ void mysgemm{PROTOTYPE} {{}}\n"  # no kernel.cu without it
NOTHING = f"__global__ void nothing{PROTOTYPE} {{}}\n"
ONE_TOO_FAR = f"__global__ void too_far{PROTOTYPE} {{ C[m * n] = 0; }}\n"


def check(checker: Builder, tmp_path: Path, kernels: str, wrapper: str, *args: object) -> Checked:
    """Of this wrapper's body, each of whose lines is a line of the file."""
    source = tmp_path / "kernel.cu"
    source.write_text(f"{MYSGEMM}{kernels}void basicSgemm{PROTOTYPE} {{\n{wrapper}\n}}\n")
    return run_check(checker("gcc -O1", source), *args, "--json", "--seed", 1)


def line_of(tmp_path: Path, words: str) -> int:
    lines = (tmp_path / "kernel.cu").read_text().splitlines()
    return 1 + next(number for number, line in enumerate(lines) if words in line)


def one_line(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize("setup", EACH_COMPILER)
def test_a_finding_shows_its_launch(checker: Builder, setup: str) -> None:
    path = Path("instructor/faulty/01_first_barrier.cu")
    program = checker(setup, path)
    launch = run_check(program, 35, 70, 20, "--json").finding["launch"]
    source = (program.parent / path).read_text().splitlines()
    assert "<<<" in source[launch.pop("line") - 1] and launch.pop("file") == str(path)
    text = "mysgemm<<<(2, 3), (16, 16)>>>: 32 x 48 threads (x, y); C has 20 columns and 35 rows"
    assert launch == {"kernel": "mysgemm", "number": 1, "of": 1, "grid": [2, 3, 1], "block": [16, 16, 1],
                      "shared_bytes": 0, "text": text}  # fmt: skip
    lines = run_check(program, 35, 70, 20).stdout.split("    block (")[0]
    assert one_line(lines).endswith(text)


RACES = f"__global__ void races{PROTOTYPE} {{ C[0] = threadIdx.x; }}\n"
WRAPPERS = {
    "a store too far": f"nothing<<<1, 32>>>{ARGUMENTS};\ntoo_far<<<1, 64>>>{ARGUMENTS};\n"
                       f"if (cudaDeviceSynchronize() == cudaSuccess) nothing<<<2, 32>>>{ARGUMENTS};",
    "a race": f"races<<<1, 64>>>{ARGUMENTS};\n" + f"nothing<<<1, 32>>>{ARGUMENTS};\n" * 2,
    "a wrong result": f"nothing<<<1, 32>>>{ARGUMENTS};\nnothing<<<2, 32>>>{ARGUMENTS};",
    "no block": f"nothing<<<dim3(2, 0), dim3(16, 16)>>>{ARGUMENTS};",
    "none": f"float x = *A;\nnothing<<<1, x>>>{ARGUMENTS};",
    "many": f"for (int i = 0; i < 300; ++i) nothing<<<1 + i % 100, 1>>>{ARGUMENTS};",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """For a kernel that many tests share, which is built once."""
    return tmp_path_factory.mktemp("launches")


def finding_of(checker: Builder, folder: Path, name: str) -> Any:
    """All are one wrapper, of which k says what it does."""
    cases = "".join(f"case {k}: {{\n{wrapper}\n}} break;\n" for k, wrapper in enumerate(WRAPPERS.values(), 34))
    run = check(checker, folder, NOTHING + ONE_TOO_FAR + RACES, f"switch (k) {{\n{cases}}}",
                34, 34 + [*WRAPPERS].index(name), 34)
    return run.finding


def test_of_several_launches_it_is_the_one_with_the_mistake(checker: Builder, folder: Path) -> None:
    launch = finding_of(checker, folder, "a store too far")["launch"]
    assert (launch["kernel"], launch["block"]) == ("too_far", [64, 1, 1])
    assert launch["line"] == line_of(folder, "too_far<<<")
    assert launch["text"].endswith("rows; launch 2 of 2")


def test_a_race_goes_on_and_belongs_to_its_launch(checker: Builder, folder: Path) -> None:
    finding = finding_of(checker, folder, "a race")
    assert finding["kind"] == "global-race" and finding["launch"]["kernel"] == "races"
    assert finding["launch"]["text"].endswith("; launch 1 of 3")


def test_a_wrong_result_shows_the_last_launch(checker: Builder, folder: Path) -> None:
    finding = finding_of(checker, folder, "a wrong result")
    assert finding["kind"] == "unwritten" and finding["launch"]["grid"] == [2, 1, 1]


def test_a_launch_that_is_refused_is_shown(checker: Builder, folder: Path) -> None:
    finding = finding_of(checker, folder, "no block")
    assert finding["kind"] == "bad-launch" and finding["launch"]["grid"] == [2, 0, 1]
    assert finding["launch"]["line"] == finding["line"] == line_of(folder, "<<<dim3(2, 0)")


def test_no_launch_is_shown_before_the_first(checker: Builder, folder: Path) -> None:
    finding = finding_of(checker, folder, "none")
    assert (finding["kind"], finding["launch"]) == ("device-pointer-on-host", None)


def test_of_many_launches_a_few_are_kept(checker: Builder, folder: Path) -> None:
    launch = finding_of(checker, folder, "many")["launch"]
    assert launch["text"].endswith("; launch 300 of 300") and launch["grid"] == [100, 1, 1]


ONE = "__device__ int one;\n"
ALL_OF_C = f"__global__ void zeros{PROTOTYPE} {{ for (int i = 0; i < m * n; i++) C[i] = 0; }}\n"
ONE_SUM = (f"__global__ void one_sum{PROTOTYPE} {{ float sum = 0;\n"
           "for (int i = 0; i < k; i++) sum += A[i] * B[i]; C[0] = sum; }\n")
PENDING = "the error was still pending when the wrapper returned"
FORGOTTEN = "the wrapper called cudaGetLastError() and went on"


CALLS = [
    # 1 x 1: the sum is right; a call whose error is forgotten was not needed
    (f"one_sum<<<1, 1>>>{ARGUMENTS}; cudaFree((void *)7);", "cudaFree", PENDING),
    (f"one_sum<<<1, 1>>>{ARGUMENTS};\ncudaMemcpyToSymbol(one, &m, 4, 8); cudaPeekAtLastError();",
     "cudaMemcpyToSymbol", PENDING),
    (f"one_sum<<<1, 1>>>{ARGUMENTS}; cudaFree((void *)7); cudaGetLastError();", None, None),
    (f"one_sum<<<1, 1>>>{ARGUMENTS}; cudaFree((void *)7); cudaGetLastError();\n"
     "cudaMemset((void *)7, 0, 1);", "cudaMemset", PENDING),
    (f"zeros<<<1, 1>>>{ARGUMENTS};\ncudaFree((void *)7); cudaGetLastError();", "cudaFree",
     FORGOTTEN),
]


@pytest.mark.parametrize("number", range(len(CALLS)))
def test_a_call_that_failed(checker: Builder, folder: Path, number: int) -> None:
    """All are one wrapper, of which k says what it does."""
    cases = "".join(f"case {k}: {wrapper} break;\n" for k, (wrapper, *_) in enumerate(CALLS, 5))
    wrapper, failed, detail = CALLS[number]
    finding = check(checker, folder, ONE + ALL_OF_C + ONE_SUM, f"switch (k) {{\n{cases}}}",
                    1, 5 + number, 1).finding
    if failed is None:
        assert finding is None
    else:
        assert finding["what"].startswith(f"{failed} failed: invalid argument")
        assert finding["detail"] == [detail]
        lines = wrapper.splitlines()
        in_it = next(i for i, line in enumerate(lines) if failed in line)
        assert finding["line"] == line_of(folder, f"case {5 + number}:") + in_it


@pytest.mark.parametrize(("kernels", "call", "name"), sample([
    ("template <int T, class F> __global__ void TILED { C[m * n] = T; }\n", "tiled<16, float>",
     "tiled<16, float>"),
    ("template <bool LAST> __global__ void TILED { C[m * n] = 0; }\n", "tiled<true>",
     "tiled<true>"),
    ("namespace course { __global__ void TILED { C[m * n] = 0; } }\n", "course::tiled",
     "course::tiled"),
    ("namespace { __global__ void TILED { C[m * n] = 0; } }\n", "tiled",
     "(anonymous namespace)::tiled"),
    ("static __global__ void TILED { C[m * n] = 0; }\n", "tiled", "tiled"),
    ('extern "C" __global__ void TILED { C[m * n] = 0; }\n', "tiled", "tiled"),
], every=3))  # fmt: skip
def test_a_kernels_name_has_no_parameters(
    checker: Builder, tmp_path: Path, kernels: str, call: str, name: str
) -> None:
    kernels = kernels.replace("TILED", f"tiled{PROTOTYPE}")
    run = check(checker, tmp_path, kernels, f"{call}<<<1, 1>>>{ARGUMENTS};", 4)
    assert run.finding["launch"]["kernel"].replace("(bool)1", "true") == name
