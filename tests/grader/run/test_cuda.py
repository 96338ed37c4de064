"""Grading with the plain build on a GPU; the checked build stays on the CPU. Skipped where no GPU is."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import REPOSITORY, clean_environment
from corpus import BY_NAME
from grader_fake import problem as problem_of

from grader.build.parts import described, gpu_architecture, trusted_parts
from grader.build.submission import build_submission
from grader.cases.read import load_suites
from grader.one_case import time_performance
from grader.errors import MachineFault
from grader.jail.sandbox import choose_sandbox
from grader.run.once import run_problem

pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("gpu")]

KERNEL = (REPOSITORY / "instructor/solutions/1_naive.cu").read_text()


def grade(results: Path, submission: Path, suite: str | Path = "all", *more: str) -> tuple[int, dict]:
    ran = subprocess.run(
        [sys.executable, "-B", "-m", "grader", "--backend", "cuda", "--submission", str(submission),
         "--suite", str(suite), "--results", str(results), "--name", "it", *more],
        cwd=REPOSITORY, env=clean_environment(), capture_output=True,
        text=True, check=False)  # fmt: skip
    assert ran.returncode in (0, 1), ran.stdout + ran.stderr
    return ran.returncode, json.loads((results / "it" / "result.json").read_text())


@pytest.mark.alone
def test_full_marks(tmp_path: Path) -> None:
    """For all but speed, which tiles of 16 x 16 do not bring far."""
    _, record = grade(tmp_path, REPOSITORY / "instructor/solutions/2_tiled.cu")
    points = sum(part["score"] for part in record["tests"] + record["marks"])
    assert (points, record["max_score"], record["backend"]) == (100, 110, "cuda")
    assert record["architecture"] == gpu_architecture()
    for timing in record["performance"]:
        assert timing["state"] == "timed" and timing["samples"] == 11, timing
        assert 0.1 < timing["ratio"] < 0.6 and timing["score"] < timing["max_score"], timing
        assert timing["times"]["median"] > timing["beside_times"]["median"] > 0


SPEED_OF_SCAN = """title = "Speed"
[[case]]
name = "blocks"
n = 5000
fill = "random"
points = 1
[[performance]]
name = "fast"
n = 16777216
points = 3
none = 0.01
full = 0.99
"""


@pytest.mark.alone
def test_another_lab(tmp_path: Path) -> None:
    """It is timed beside a copy, and its own truth judges what was timed."""
    suite, wrong = tmp_path / "speed.toml", tmp_path / "wrong.cu"
    right = REPOSITORY / "labs/scan/instructor/solutions/3_work_efficient.cu"
    suite.write_text(SPEED_OF_SCAN)
    wrong.write_text(right.read_text().replace("out[first] = tree[t];",
                                               "out[first] = tree[t] + (first == 9999999);"))
    for submission, state, reason in ((right, "timed", "of a copy's speed"), (
            wrong, "wrong", "1 of the 16,777,216 elements of out is wrong; the first: out[9999999] is ")):
        _, record = grade(tmp_path / state, submission, suite, "--lab", "labs/scan")
        timing, = record["performance"]
        assert (timing["state"], timing["beside"]) == (state, "a copy") and reason in timing["reason"], timing
        assert record["tests"][0]["score"] == 1
        assert state == "wrong" or 0.01 < timing["ratio"] < 0.99 and 0 < timing["score"] < 3


def test_kernels_for_another_gpu_are_the_machines_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the plain run and in the recorder, before any code of the submission's."""
    other = "sm_80" if gpu_architecture() != "sm_80" else "sm_86"
    monkeypatch.setattr("grader.build.parts.gpu_architecture", lambda: other)
    parts = trusted_parts("cuda")
    box = choose_sandbox("auto", False, [], parts.jail)
    programs = build_submission(parts, KERNEL.encode(), box, tmp_path)
    shape = load_suites(described(), "all")[-1].items[-1]
    problem = problem_of(34, 34, 34)
    with pytest.raises(MachineFault, match="compiled for another GPU"):
        run_problem(parts, programs, "plain", problem, box=box)
    with pytest.raises(MachineFault, match="compiled for another GPU"):
        time_performance(parts, programs, shape, box=box)


def test_what_is_lost(tmp_path: Path) -> None:
    status, record = grade(tmp_path, REPOSITORY / "instructor/solutions/1_naive.cu")
    failed = [c for t in record["tests"] for c in t["criteria"] if not c["passed"]]
    assert (status, {c["name"] for c in failed}) == (1, {"tiled"}), failed


def test_a_kernel_that_hangs(tmp_path: Path) -> None:
    submission = REPOSITORY / "instructor/faulty/15_step_of_zero.cu"
    _, record = grade(tmp_path, submission)
    assert record["score"] == 0 and "time limit" in record["tests"][0]["reason"]


def test_a_stray_write(tmp_path: Path) -> None:
    submission = tmp_path / "kernel.cu"
    submission.write_text(BY_NAME["06_c_rows"].text)
    _, record = grade(tmp_path, submission)
    assert record["score"] < 100
    assert any(test["finding"] and test["finding"]["kind"] == "out-of-bounds" for test in record["tests"])


@pytest.mark.parametrize(("statement", "named"), [
    ("float x; cudaMemcpy(&x, C, 4, cudaMemcpyDeviceToHost);", "copies device memory"),
    ("float x = 1; cudaMemcpy((void *)C, &x, 4, cudaMemcpyHostToDevice);", "into C"),
    # Host code that the checked build on the CPU does not see.
    ("\n#ifdef __NVCC__\nfopen(\"x\", \"r\");\n#endif\n", "fopen"),
])  # fmt: skip
def test_refusals(tmp_path: Path, statement: str, named: str) -> None:
    wrapper = KERNEL.index("void basicSgemm")
    brace = KERNEL.index("{", wrapper) + 1
    submission = tmp_path / "kernel.cu"
    submission.write_text("#include <cstdio>\n#include <cstdlib>\n" + KERNEL[:brace] + statement + KERNEL[brace:])
    _, record = grade(tmp_path, submission)
    assert record["score"] == 0 and named in record["refusal"]["tried"]
