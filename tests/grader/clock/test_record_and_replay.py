"""The clock that times submissions it does not trust: recorder, recording, replay (grader/clock).

Without a GPU: the linker's options match what the recorder defines, and it sees every call that a
submission may make. (What reads and plans recordings is tested in test_clock.c.)
With one (-m gpu): each submission of clocked.py is recorded and timed, and judged as it declares.
"""

import ctypes
import os
import re
import shutil
import struct
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from clocked import SUBMISSIONS
from conftest import (BUILD_SECONDS, REPOSITORY, Tree, clean_environment, locked, need_nvcc, run_sgemm, strict_json)

ARCH = os.environ.get("ARCH") or "native"
SECONDS = 60  # a limit for what hangs
Shape = tuple[int, ...]
SMALL: Shape = (64, 64, 64)


# ---- the recorder's net --------------------------------------------------------------------------


# In record.cu: a wrapper by its macro, or written out.
WRAPPED = re.compile(r"(?:^WRAP(?:_LAUNCH|_BOTH)?\(|\b__wrap_)(\w+)[,(]", re.MULTILINE)
WITH_ASYNC = re.compile(r"^WRAP_BOTH\((\w+)", re.MULTILINE)


# Of the runtime's functions that submissions may call (grader/gate/symbols.toml), those that the
# recorder need not see: they ask, wait, or set what has no effect on a replay.
HARMLESS = re.compile(
    r"cudaGetLastError|cudaPeekAtLastError|cudaGetError\w+|cudaGetDevice\w*|cudaSetDevice"
    r"|cudaDeviceGetAttribute|cudaDeviceSynchronize|cudaDeviceSetCacheConfig|cuda\w+GetVersion"
    r"|cudaMemGetInfo|cudaStream(Create\w*|Destroy|Synchronize|Query)"
    r"|cudaEvent(Create\w*|Destroy|Record|Synchronize|Query|ElapsedTime)"
    r"|cudaFuncSetCacheConfig|cudaFuncGetAttributes|cudaOccupancy\w+"
    r"|__cuda(Un)?[rR]egister\w+|__cudaInitModule|__cudaGetKernel|__cuda(Push|Pop)\w+")


def test_nothing_that_a_submission_may_call_escapes() -> None:
    allowed = (REPOSITORY / "grader/gate/symbols.toml").read_text()
    allowed = allowed.partition("\n[[refused]]\n")[0]
    wrappers = (REPOSITORY / "grader/clock/record.cu").read_text()
    functions = set(re.findall(r"\b(?:__)?cu(?:da)?[A-Z]\w+", re.sub("#.*", "", allowed)))
    wrapped = {*WRAPPED.findall(wrappers), *(f"{name}Async" for name in WITH_ASYNC.findall(wrappers))}
    escaped = {name for name in functions if not HARMLESS.fullmatch(name) and name not in wrapped}
    assert "cudaMalloc" in functions and escaped == set()


# ---- on a GPU ------------------------------------------------------------------------------------


@dataclass
class Clock:
    """Recorder and clock, on the submissions of one build of the grader's parts."""

    tree: Tree
    programs: Path

    def build(self, name: str, text: str | None = None) -> Path:
        """A directory with recorder and submission.fatbin, made as in the sandbox."""
        place = self.programs / f"clock-{name}"
        with locked(place.with_suffix(".lock")):
            if not place.exists():
                new = place.with_suffix(".new")
                shutil.rmtree(new, ignore_errors=True)
                new.mkdir()
                (new / "kernel.cu").write_text(text or SUBMISSIONS[name].text)
                script = self.tree.path / "build/grader/compile.sh"
                for step in ("objects", "programs"):
                    made = subprocess.run(["sh", script, step], cwd=new, capture_output=True,
                                          text=True, timeout=BUILD_SECONDS, check=False)
                    assert made.returncode == 0, made.stderr
                new.rename(place)
        return place

    def record(self, place: Path, recording: Path, *shape: int) -> int:
        with open(recording, "w+b") as file:
            command = [place / "recorder", *map(str, (*shape, file.fileno(), 2))]
            return subprocess.run(command, pass_fds=[file.fileno()], cwd=place, timeout=SECONDS,
                                  stdout=subprocess.DEVNULL, check=False).returncode

    def run(self, kernels: Path, recording: Path, shape: Shape, samples: int = 2, seconds: int = 1, status: int = 0,
            **environment: str) -> dict[str, Any]:
        """The judgement. One at a time: two at once would time each other."""
        words = map(str, (*shape, samples, seconds))
        with locked(self.programs / "gpu.lock"):
            said = subprocess.run([self.tree.path / "build/clock", kernels, recording, *words],
                                  env=clean_environment(environment), stdin=subprocess.DEVNULL, timeout=SECONDS,
                                  capture_output=True, text=True, check=False)
        assert said.stdout.count("\n") == 1 and said.stderr == "" and said.returncode == status, said
        return strict_json(said.stdout)

    def __call__(self, place: Path, tmp_path: Path, shape: Shape = (500, 517, 531),
                 samples: int = 2, seconds: int = 1) -> dict[str, Any]:
        recording = tmp_path / "recording"
        self.record(place, recording, *shape)
        return self.run(place / "submission.fatbin", recording, shape, samples, seconds)


@pytest.fixture(scope="session")
def clock(gpu: None, tree: Tree, programs: Path) -> Clock:
    tree.make("grader-parts", "BACKEND=cuda", f"ARCH={ARCH}")
    return Clock(tree, programs)


@pytest.fixture
def recorded(clock: Clock, tmp_path: Path) -> tuple[Path, Path]:
    """Kernels and recording of a submission that is judged wrong."""
    place, recording = clock.build("half_of_c"), tmp_path / "recording"
    clock.record(place, recording, *SMALL)
    return place / "submission.fatbin", recording


@pytest.mark.gpu
@pytest.mark.parametrize("name", SUBMISSIONS)
def test_a_submission_is_judged(clock: Clock, tmp_path: Path, name: str) -> None:
    expected, said = SUBMISSIONS[name], clock(clock.build(name), tmp_path)
    assert said["state"] == expected.state and expected.says in said["reason"], said
    assert ("seconds" in said) == ("beside_seconds" in said) == (expected.state == "timed")


@pytest.mark.gpu
@pytest.mark.alone
def test_the_clock_agrees_with_sgemm(clock: Clock, tmp_path: Path) -> None:
    """./sgemm takes CUDA's events around a call too, in another process, with warm caches and
    nothing between the two: on a kernel of milliseconds that differs by a few percent."""
    rung = Path("instructor/solutions/2_tiled.cu")
    place = clock.build(rung.stem, (REPOSITORY / rung).read_text())
    said = clock(place, tmp_path, (2048, 2048, 2048), samples=11, seconds=60)
    assert said["state"] == "timed" and said["samples"] == 11 and said["launches"] == 1
    times = said["seconds"]
    assert 0 < times["minimum"] <= times["quartile_1"] <= times["median"] <= times["quartile_3"]
    sgemm = run_sgemm(clock.tree.build(rung, BACKEND="cuda", ARCH=ARCH), "2048", "--json", "--verify", "none")
    assert times["median"] == pytest.approx(sgemm.json["median"], rel=0.1)


@pytest.mark.gpu
def test_a_recording_has_no_addresses(clock: Clock, tmp_path: Path) -> None:
    """Two processes, one of which has allocated something before: what they write is the same."""
    place = clock.build("parameters_in_constant_memory")
    first, second = tmp_path / "first", tmp_path / "second"
    clock.record(place, first, 64, 64, 64)
    clock.record(place, second, 64, 64, 64)
    assert first.read_bytes() == second.read_bytes()
    assert struct.pack("<IiQ IiQ IiQ", 16, 0, 0, 24, 1, 0, 32, 2, 0) in first.read_bytes()


class Symbol(ctypes.Structure):
    """Of recording.h, as Step and Recording."""

    _fields_ = [("name", ctypes.c_ubyte * 2048), ("shared", ctypes.c_uint32), ("carveout", ctypes.c_int32)]


class Step(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_uint32), ("symbol", ctypes.c_uint32),
                *((name, ctypes.c_uint32 * 2) for name in ("data", "pointers")), ("rest", ctypes.c_uint64 * 12)]


class Recording(ctypes.Structure):
    _fields_ = [("head", ctypes.c_uint32 * 3), *((name, ctypes.c_uint32) for name in (
                    "count", "buffer_count", "symbol_count", "data_count", "pointer_count")),
                ("reason", ctypes.c_char * 240), ("bytes", ctypes.c_uint64 * 64), ("symbols", Symbol * 64),
                ("steps", Step * 2048), ("pointers", ctypes.c_uint64 * 2 * (16 << 10)),
                ("data", ctypes.c_ubyte * (2 << 20))]


def with_another_name(r: Recording) -> None:
    r.symbols[0].name[0] = ord("a")


def without_parameters(r: Recording) -> None:
    r.steps[0].data[1] = r.steps[0].pointers[1] = 0


def with_a_variable(r: Recording) -> None:
    r.steps[1] = r.steps[0]
    r.steps[1].kind = 3
    r.count = 2


@pytest.mark.gpu
@pytest.mark.parametrize(("forge", "says"), [
    (with_another_name, "there is no kernel"), (without_parameters, "bytes of parameters"),
    (with_a_variable, "no variable")])
def test_forged_recordings(clock: Clock, recorded: tuple[Path, Path], forge: Callable[[Recording], None],
                           says: str) -> None:
    """What only the kernels can contradict; test_clock.c has what is refused without them."""
    kernels, recording = recorded
    forged = Recording.from_buffer_copy(recording.read_bytes())
    assert recording.stat().st_size == ctypes.sizeof(Recording)
    forge(forged)
    recording.write_bytes(bytes(forged))
    said = clock.run(kernels, recording, SMALL)
    assert said["state"] == "refused" and says in said["reason"], said


@pytest.mark.gpu
def test_kernels_that_are_none(clock: Clock, recorded: tuple[Path, Path], tmp_path: Path) -> None:
    kernels = tmp_path / "kernels"
    for content in (b"", b"no kernels", bytes(100)):
        kernels.write_bytes(content)
        assert clock.run(kernels, recorded[1], SMALL)["state"] == "refused"


@pytest.mark.gpu
@pytest.mark.parametrize(("options", "status", "state"), [
    ("-arch=compute_OTHER -code=sm_OTHER -fatbin", 3, "machine"),
    ("-arch=compute_OTHER -code=compute_OTHER -fatbin", 3, "machine"),
    ("-arch=compute_THIS -code=compute_THIS -fatbin", 3, "machine"),
    ("-arch=compute_OTHER -ptx", 0, "refused"),
], ids=["machine code", "PTX", "PTX of this GPU", "PTX as text"])
def test_only_machine_code_for_this_gpu_is_timed(
        clock: Clock, recorded: tuple[Path, Path], tmp_path: Path, options: str, status: int,
        state: str) -> None:
    """The driver could translate the PTX. What it makes of it is not what was compiled."""
    flags = (clock.tree.path / "build/grader/flags").read_text()
    this = re.search(r"-code=sm_(\w+)", flags)[1]
    options = options.replace("THIS", this).replace("OTHER", "80" if this != "80" else "86")
    (tmp_path / "kernel.cu").write_text(SUBMISSIONS["half_of_c"].text)
    subprocess.run([need_nvcc(), *options.split(), tmp_path / "kernel.cu", "-o",
                    tmp_path / "kernels"], check=True, timeout=BUILD_SECONDS)
    judgement = clock.run(tmp_path / "kernels", recorded[1], SMALL, status=status)
    assert judgement["state"] == state, judgement
    assert status == 0 or "not compiled for this GPU" in judgement["reason"]


@pytest.mark.gpu
def test_bad_usage_and_no_gpu(clock: Clock, recorded: tuple[Path, Path]) -> None:
    for arguments, says in (("a b 1 2 3 4", "usage: clock"), ("a b 1 2 x 4 5", "usage: clock"),
                            ("a b 1 2 3 1001 5", "1001 is")):
        said = subprocess.run([clock.tree.path / "build/clock", *arguments.split()],
                              capture_output=True, text=True, check=False)
        assert (said.returncode, said.stdout) == (2, "") and says in said.stderr
    assert clock.run(*recorded, SMALL, status=3, CUDA_VISIBLE_DEVICES="-1")["state"] == "machine"


@pytest.mark.gpu
@pytest.mark.alone  # it holds two clocks against each other
def test_the_gpus_verdict_is_that_of_the_cpu(gpu: None, fresh_tree: Tree) -> None:
    parts = ["build/libclock.a", "build/liblab.a", "build/libhost.a", "build/libreport.a"]
    fresh_tree.make("BACKEND=cuda", *parts)
    subprocess.run([need_nvcc(), "-arch=native", "tests/grader/clock/verdict.cu",
                    "-Xlinker", "--start-group", *parts, "-Xlinker", "--end-group",
                    "-lcublas", "-lcuda", "-o", "product-test"], cwd=fresh_tree.path, check=True,
                   timeout=BUILD_SECONDS)
    done = subprocess.run(["./product-test"], cwd=fresh_tree.path, capture_output=True, text=True,
                          timeout=SECONDS, check=False)
    assert done.returncode == 0, done.stdout
    assert done.stdout.count("\nok ") > 50


# ---- what a kernel reaches -----------------------------------------------------------------------


@pytest.mark.gpu
def test_a_kernel_reaches_its_own_process_only(clock: Clock, tmp_path: Path) -> None:
    """Reference, cuBLAS and verdict are in another. (Other contexts of its process it does reach:
    `context`, which is why there are two processes.)"""
    reach = tmp_path / "reach"
    subprocess.run([need_nvcc(), f"-arch={ARCH}", "tests/grader/clock/reach.cu", "-o", reach, "-lcuda"],
                   cwd=clock.tree.path, check=True, timeout=BUILD_SECONDS)
    for where, expected in (("own", "reached"), ("process", "out of reach")):
        with locked(clock.programs / "gpu.lock"):
            said = subprocess.run([reach, where], capture_output=True, text=True, check=True, timeout=SECONDS)
        assert said.stdout.strip() == expected
