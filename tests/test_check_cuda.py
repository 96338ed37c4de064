"""make check on a GPU: compute-sanitizer watches, and ./sgemm-check says it in its own form.

Without a GPU: check/sanitizer*.c run against recordings in check/, which a script replays that
stands in for compute-sanitizer. check/replay.c says what a recording's first lines mean. Most come
from an H200 with CUDA 13.0; only paths were changed, and what the program printed was taken out.

With one (-m gpu): every faulty and every right kernel, built and checked as a student does it.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import REPOSITORY, Tree, clean_environment, locked
from test_check import FAULTS, RIGHT, Checked, Fault, check_members
from test_unit import c_flags

FOLDER = REPOSITORY / "tests" / "check"
SANITIZER = FOLDER / "compute-sanitizer"
TOOLS = ["memcheck", "racecheck", "synccheck", "initcheck"]
SECONDS = 60


# ---- recordings ----------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def program(tree: Tree, programs: Path) -> Path:
    """check/replay.c with what it tests."""
    path = programs / "replay"
    sources = ["tests/check/replay.c", "check/print.c", "check/kinds.c", "support.c",
               *(f"check/{name}.c" for name in ("sanitizer", "sanitizer_log", "sanitizer_say")),
               *sorted(f"support/{part.name}" for part in tree.path.glob("support/*.c"))]
    with locked(programs / "replay.lock"):
        if not path.exists():
            command = ["cc", *c_flags(tree), "-Werror", "-I.", *sources, "-o", str(path), "-lm"]
            built = subprocess.run(
                command, cwd=tree.path, capture_output=True, text=True, check=False
            )
            assert built.returncode == 0, built.stderr
    return path


Replay = Callable[..., Checked]


@pytest.fixture
def replay(program: Path, tmp_path: Path) -> Replay:
    """./sgemm-check on a recording. No process and no file of it may be left over."""

    def run(recording: str, *args: str, **environment: str) -> Checked:
        temporary = tmp_path / "temporary"
        temporary.mkdir(exist_ok=True)
        given = {"COMPUTE_SANITIZER": str(SANITIZER), "REPLAY": recording,
                 "TMPDIR": str(temporary), "REPLAY_CALLS": str(tmp_path / "calls")}
        process = subprocess.run(
            [program, *args], env=clean_environment(given | environment), cwd="/",
            capture_output=True, text=True, timeout=SECONDS, check=False,
        )
        result = Checked(process.returncode, process.stdout, process.stderr)
        result.json = json.loads(process.stdout)
        check_members(result)
        assert not list(temporary.iterdir())
        return result

    return run


INSIDE = {"function": "mysgemm"}
# recording: tool, kind, and whatever else of the finding
RECORDED: dict[str, tuple[str, str, dict[str, Any]]] = {
    "first_barrier": ("racecheck", "shared-race", {
        "line": 29, "access": "read", "thread": [0, 14, 0], "block": [2, 2, 0],
        "other": {"line": 25, "access": "write", "thread": [1, 14, 0]}, "hint": "stored"}),
    "second_barrier": ("racecheck", "shared-race", {
        "line": 31, "access": "read", "thread": [15, 12, 0], "block": [2, 2, 0],
        "other": {"line": 26, "access": "write", "thread": [0, 12, 0]}, "hint": "overwritten"}),
    "copy_barrier": ("racecheck", "shared-race", {  # the write is in a header of CUDA's
        "line": 42, "access": "read", "thread": [2, 9, 0], "block": [2, 2, 0],
        "other": {"line": 0, "access": "write", "thread": [2, 0, 0]}}),
    "barrier_in_branch": ("synccheck", "divergent-barrier", {
        "line": 25, "thread": [0, 0, 0], "block": [2, 2, 0], "hint": "barrier"}),
    "a_rows": ("memcheck", "out-of-bounds", {
        "line": 26, "access": "read", "variable": "A", "element": "A[34][0]",
        "thread": [0, 2, 0], "block": [2, 2, 0], "what": "last row", "hint": "load"}),
    "c_rows": ("memcheck", "out-of-bounds", {
        "line": 36, "access": "write", "variable": "C", "element": "C[34][32]",
        "thread": [0, 2, 0], "block": [2, 2, 0], "what": "store to C", "hint": "edge"}),
    "freed_too_early": ("memcheck", "freed-memory", {
        "line": 22, "thread": [0, 0, 0], "block": [3, 1, 0]}),
    "host_scalar": ("memcheck", "host-pointer-on-device", {"line": 18, "function": "scaled"}),
    "host_scratch": ("memcheck", "host-pointer-on-device", {
        "line": 14, "function": "transpose", "access": "write"}),
    "block_too_large": ("memcheck", "bad-launch", {
        "detail": "34 x 34 x 1 = 1156 threads", "thread": None, "hint": "tile"}),
    "block_too_large_checked": ("memcheck", "bad-launch", {"function": "basicSgemm"}),
    "free_of_an_address": ("memcheck", "failed-call", {
        "what": "cudaFree failed: cudaErrorInvalidValue", "function": "basicSgemm"}),
    "dynamic_shared": ("memcheck", "shared-out-of-bounds", {
        "line": 28, "access": "write", "thread": [0, 8, 0], "detail": "byte 1536"}),
    "float4_of_a": ("memcheck", "misaligned", {
        "line": 22, "access": "read", "element": "A[17][0]", "thread": [0, 1, 0],
        "block": [1, 1, 0], "what": "16 bytes"}),
    "float4_into_c": ("memcheck", "misaligned", {
        "line": 29, "access": "write", "element": "C[33][0]"}),
    "c_accumulates": ("initcheck", "uninitialised-global", {
        "line": 34, "access": "read", "variable": "C", "element": "C[32][32]",
        "thread": [0, 0, 0], "block": [2, 2, 0], "hint": "before the kernel runs"}),
    "leak": ("memcheck", "leak", {
        "line": 31, "function": "basicSgemm", "detail": "4624", "thread": None}),
    "float4_of_a_tile": ("memcheck", "misaligned", {"line": 28, "access": "read", "element": None}),
}


def agrees(expected: Any, got: Any) -> bool:
    """Words are to be found in the text, members in the object."""
    if isinstance(expected, dict):
        return got is not None and all(agrees(value, got[key]) for key, value in expected.items())
    if isinstance(got, list) and isinstance(expected, str):
        return expected in "\n".join(got)
    if isinstance(expected, str) and isinstance(got, str):
        return expected in got
    return bool(expected == got)


@pytest.mark.parametrize("recording", RECORDED)
def test_recorded(replay: Replay, recording: str) -> None:
    tool, kind, expected = RECORDED[recording]
    run = replay(recording)
    assert run.status == 1, run
    finding = run.finding
    assert (finding["kind"], finding["tool"]) == (kind, tool), run.stderr
    for key, value in expected.items():
        assert agrees(value, finding[key]), f"{key}: {value} expected\n{run.stderr}"
    assert finding["file"].startswith("/lab/") and finding["file"].endswith(".cu")
    assert (finding["m"], finding["k"], finding["n"]) == (34, 34, 34)
    assert run.json["tools"] == TOOLS[: TOOLS.index(tool) + 1]
    assert run.stderr.startswith(finding["file"])


def test_clean(replay: Replay, tmp_path: Path) -> None:
    run = replay("clean")
    assert run.status == 0 and run.json["tools"] == TOOLS
    calls = (tmp_path / "calls").read_text().splitlines()
    assert [call.split()[1] for call in calls] == TOOLS


def test_a_failed_call_that_was_looked_at_is_no_mistake(replay: Replay) -> None:
    assert replay("free_of_an_address_looked_at").status == 0


def test_the_shape_is_the_one_that_ran(replay: Replay, program: Path, tmp_path: Path) -> None:
    folder = tmp_path / "recordings"
    shutil.copytree(FOLDER, folder)
    recording = folder / "barrier_in_branch.synccheck.txt"
    recording.write_text("@ shape 0\n@ shape 1\n" + recording.read_text())
    run = replay("barrier_in_branch", COMPUTE_SANITIZER=str(folder / "compute-sanitizer"))
    finding = run.finding
    assert (finding["m"], finding["k"], finding["n"]) == (35, 70, 20)


@pytest.mark.parametrize(
    ("recording", "words"),
    [
        ("not_supported", "Device not supported"),
        ("dies", "terminated before first"),
        ("silent", "did not start"),
        ("cut_off", "did not come to its end"),
        ("no_gpu", "cudaMalloc failed: no device"),
        ("unknown", "Something new that this tool says"),
        ("counts_only", "counts 3 errors"),
    ],
)
def test_its_own_failures_are_the_machines_fault(
    replay: Replay, recording: str, words: str
) -> None:
    """Never a mistake of the kernel's, and never a clean run."""
    run = replay(recording)
    assert run.status == 3 and words in run.json["message"], run


def test_no_sanitizer(replay: Replay) -> None:
    run = replay("clean", COMPUTE_SANITIZER="", PATH="/nowhere")
    if run.status != 0:  # else it is where CUDA puts it, and has no GPU
        assert run.status == 3 and "compute-sanitizer" in run.json["message"]
        assert "CUDA toolkit" in run.json["message"] or "sanitizer" in run.json["message"]


def test_a_sanitizer_that_cannot_be_run(replay: Replay) -> None:
    run = replay("clean", COMPUTE_SANITIZER="/nonexistent/compute-sanitizer")
    assert run.status == 3 and "No such file" in run.json["message"], run


def running(program: Path) -> list[int]:
    """Processes of this program."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and os.readlink(entry / "exe") == str(program):
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def test_a_kernel_that_does_not_end(replay: Replay, program: Path, tmp_path: Path) -> None:
    mine = tmp_path / "a program of its own"
    shutil.copy2(program, mine)
    start = time.monotonic()
    process = subprocess.run(
        [mine, "0.2"], capture_output=True, text=True, timeout=SECONDS, check=False,
        env=clean_environment({"COMPUTE_SANITIZER": str(SANITIZER), "REPLAY": "hangs"}),
    )
    assert json.loads(process.stdout)["finding"]["kind"] == "endless"
    assert time.monotonic() - start < 20
    time.sleep(0.2)
    assert not running(mine)


def test_threads_that_wait_at_a_barrier_for_ever(replay: Replay) -> None:
    run = replay("hangs_at_barrier", "0.2")
    assert (run.finding["kind"], run.finding["line"]) == ("divergent-barrier", 25)
    assert run.json["tools"] == ["memcheck", "synccheck"]


def test_a_wrapper_that_ends_the_program(replay: Replay) -> None:
    run = replay("leaves")
    assert (run.status, run.finding["kind"]) == (1, "host-fault")


# ---- on a GPU ------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def built(gpu: None, tree: Tree, programs: Path) -> Callable[[Path], Path]:
    """./sgemm-check for a GPU, from this kernel."""

    def build(kernel: Path) -> Path:
        name = tree.path / f"check-cuda-{kernel.stem}"
        if not name.exists():
            tree.make("sgemm-check", f"KERNEL={kernel}", "BACKEND=cuda")
            shutil.copy2(tree.path / "sgemm-check", name)
        return name

    return build


def check_on_gpu(program: Path, *args: str) -> Checked:
    process = subprocess.run(
        [program, "--json", "--seed", "1", *args], cwd=program.parent, env=clean_environment(),
        capture_output=True, text=True, errors="replace", timeout=300, check=False,
    )
    run = Checked(process.returncode, process.stdout, process.stderr)
    run.json = json.loads(process.stdout)
    check_members(run)
    return run


@pytest.mark.gpu
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.path.stem)
def test_fault_on_a_gpu(built: Callable[[Path], Path], fault: Fault) -> None:
    """What its comment declares: which tool sees it, or that only the result is wrong (which may
    include the inputs, and a launch that does not come back), or that a GPU shows nothing. nvcc
    joins and moves instructions, so the line may be the neighbour's; and shared memory that nobody
    wrote may happen to hold what does no harm."""
    if fault.nvcc == "refuses":
        pytest.skip("does not compile for a GPU")
    run = check_on_gpu(built(fault.path), *fault.arguments)
    if fault.gpu == "none":
        assert run.status == 0, run
        return
    if run.status == 0 and fault.finds == "uninitialised-shared":
        return
    assert run.status == 1, run
    assert (run.finding["tool"] or "result") == fault.gpu, run.finding
    if run.finding["kind"] == fault.finds and run.finding["line"] and fault.here:
        assert min(abs(run.finding["line"] - line) for line in fault.here) <= 1, run.finding


@pytest.mark.gpu
@pytest.mark.parametrize("kernel", RIGHT, ids=lambda path: path.stem)
def test_right_kernel_on_a_gpu(built: Callable[[Path], Path], kernel: Path) -> None:
    run = check_on_gpu(built(kernel.relative_to(REPOSITORY)))
    assert run.status == 0, run
    assert run.json["tools"] == TOOLS and len(run.json["checked"]) >= 5


@pytest.mark.gpu
def test_a_gpu_that_is_not_there(built: Callable[[Path], Path]) -> None:
    program = built(Path("instructor/solutions/2_tiled.cu"))
    process = subprocess.run(
        [program], env=clean_environment({"CUDA_VISIBLE_DEVICES": "-1"}), cwd=program.parent,
        capture_output=True, text=True, timeout=300, check=False,
    )
    assert process.returncode == 3 and process.stdout == "", process
