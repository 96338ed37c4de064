"""`make bench`: the rungs of the ladder, or other kernels, beside cuBLAS on this GPU.

    KERNELS="a.cu b.cu" SHAPES="m k n ..." SAMPLES=n LADDER=path ladder.py

All of them come from the environment, as make has them. Each kernel is compiled, recorded and timed
as `make grade` does it: in the sandbox, and by the grader's clock (docs/clock.md), in whose runs
cuBLAS takes turns with it. Standard output gets a table for each shape, as soon as it is measured;
LADDER gets all figures, written anew after each shape:

    format       3
    date         when it began, UTC
    machine      device, driver, cuda_runtime, cuda_of_driver, nvcc, cublas, multiprocessors,
                 memory_bytes, l2_bytes, boost_mhz; all as text
    ceilings     ffma_flops, memory_bytes_per_second, l2_bytes_per_second: of kernels of nothing but
                 FFMA, or that only read (1 GiB, a quarter of L2), the best of 7 runs
    kernels      name, file (null: cuBLAS), flop_per_byte (null: not stated), left_out (null, or why)
    shapes       m, k, n, problem (null, or why nothing was measured), results, own_error_percent:
                 what cuBLAS varies by. The ratio of the medians of two sets of its calls, each as
                 large as the kernel's, is in 19 of 20 cases that close to 100 %
    results      for each kernel: kernel, state and reason (judgement.h); if timed also seconds of
                 one call (median, minimum, quartile_1, quartile_3), gflops, percent_of_cublas,
                 percent_of_ffma, spread_percent (interquartile range by the median)

Exit status: the highest of 0; 1 a kernel is wrong or fails; 2 bad input; 3 the machine is at fault.
"""

import json
import os
import random
import re
import statistics
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import compact
import shapes
from rich.console import Console

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from grader.build.parts import Parts, trusted_parts  # noqa: E402
from grader.build.submission import Programs, build_submission, work_directory  # noqa: E402
from grader.clock.measure import Said, measure  # noqa: E402
from grader.errors import BadInput, MachineFault, NotBuilt, Refused  # noqa: E402
from grader.jail.sandbox import Sandbox, choose_sandbox  # noqa: E402

CEILINGS = Path("build/bench/ceilings")
GRID = Path("build/bench/grid")  # of which ladder.py asks for cuBLAS's times alone
OWN_SAMPLES, SPLITS = 200, 1000
CUBLAS = "cuBLAS"

# Cubes of powers of two and 34; a shape that is no cube; two that just miss whole tiles, with rows
# that vector loads cannot take.
PUBLISHED = ("34 34 34  512 512 512  1000 500 700  1024 1024 1024  1023 1025 1027  "
             "2048 2048 2048  4096 4096 4096  4095 4097 4093  8192 8192 8192")
MOST_SAMPLES = 1000  # the clock's own limit
HEAD_LINES = 40  # of a kernel's file, where its intensity may be
COLUMNS = 80


@dataclass
class Kernel:
    """A file to be timed."""

    name: str
    path: str
    flop_per_byte: float | None = None
    programs: Programs | None = None
    left_out: str | None = None
    """Why it has no programs."""
    hung_on: shapes.Shape | None = None
    """It is tried on no further shape."""


@dataclass
class Bench:
    """One run, and what it has found so far."""

    parts: Parts
    box: Sandbox
    machine: dict[str, dict[str, Any]]
    """"machine" and "ceilings", as ceilings.cu prints them."""
    kernels: list[Kernel]
    samples: int | None
    date: str = field(
        default_factory=lambda: datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"))
    status: int = 0
    shapes: list[dict[str, Any]] = field(default_factory=list)
    """As they are written to the file."""
    out: Console = field(default_factory=lambda: Console(highlight=False, markup=False))

    def complain(self, status: int, text: str) -> None:
        print(f"bench: {text}", file=sys.stderr)
        self.status = max(self.status, status)


# ---- kernels -------------------------------------------------------------------------------------


def intensity(text: str) -> float | None:
    """The FLOP per byte of global memory that the head of a kernel's file states."""
    head = "\n".join(text.splitlines()[:HEAD_LINES])
    found = re.search(r"intensity: *(\d+(?:\.\d+)?)", head)
    return float(found[1]) if found else None


def kernels_named(paths: list[str]) -> list[Kernel]:
    """Two files of one name go by their paths."""
    kernels: list[Kernel] = []
    for path in paths:
        taken = [kernel.name for kernel in kernels]
        name = Path(path).stem
        kernels.append(Kernel(path if name in taken else name, path))
    return kernels


def build(kernel: Kernel, parts: Parts, box: Sandbox, place: Path) -> None:
    """Sets kernel.programs or kernel.left_out. Raises MachineFault."""
    try:
        source = Path(kernel.path).read_bytes()
        kernel.flop_per_byte = intensity(source.decode(errors="replace"))
        kernel.programs = build_submission(parts, source, box, place)
    except OSError as error:
        kernel.left_out = error.strerror or "cannot be read"
    except NotBuilt as error:
        line = f"line {error.line}: " if error.line else ""
        kernel.left_out = f"does not compile: {line}{error.message}"
    except Refused as error:
        kernel.left_out = f"the grader refuses it: it {error.tried}"


def build_all(bench: Bench, directories: ExitStack) -> None:
    """All at once, each in a directory of its own. Raises MachineFault."""
    def build_one(kernel: Kernel) -> None:
        build(kernel, bench.parts, bench.box, Path(directories.enter_context(work_directory())))

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(build_one, bench.kernels))
    for kernel in bench.kernels:
        if kernel.left_out:
            bench.complain(2, f"{kernel.path}: {kernel.left_out}")


# ---- measuring -----------------------------------------------------------------------------------


def describe_machine() -> dict[str, Any]:
    """This GPU, as LADDER has it. Raises MachineFault."""
    ran = subprocess.run([CEILINGS], capture_output=True, text=True, check=False)
    if ran.returncode != 0:
        raise MachineFault(ran.stderr.strip() or f"{CEILINGS} ended with {ran.returncode}")
    about = json.loads(ran.stdout)
    about["machine"]["driver"] = driver_version()
    return about


def driver_version() -> str:
    """ "580.159.04", which CUDA itself does not report."""
    command = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    try:
        words = subprocess.run(command, capture_output=True, text=True, check=False).stdout.split()
    except OSError:
        words = []
    return words[0] if words else "unknown"


def samples_for(shape: shapes.Shape) -> int:
    """Fewer for large shapes, which vary less and take longer; odd, so that one is the median."""
    size = shape[0] * shape[1] * shape[2]
    return 31 if size <= 1500**3 else 21 if size <= 5000**3 else 11


def problem_with(shape: shapes.Shape, memory_bytes: int) -> str | None:
    """Why it cannot be measured: the clock has A and B in both precisions and once more beside the
    kernels, C four times, two of them in double precision; contexts and buffers take the rest."""
    m, k, n = shape
    needed = 16 * (m * k + k * n) + 24 * m * n + (1 << 30)
    if needed <= memory_bytes:
        return None
    return f"too large: it takes {needed / 1e9:.1f} GB of the GPU's {memory_bytes / 1e9:.1f} GB"


def cublas_times(shape: shapes.Shape) -> list[float]:
    """OWN_SAMPLES of them, in seconds, as the clock takes them. Raises MachineFault."""
    ran = subprocess.run([GRID, str(-OWN_SAMPLES)], input=f"{shape[0]} {shape[1]} {shape[2]}\n",
                         capture_output=True, text=True, check=False)
    if ran.returncode != 0:
        raise MachineFault(ran.stderr.strip() or f"{GRID} ended with {ran.returncode}")
    return [float(seconds) for seconds in json.loads(ran.stdout)["samples"]]


def own_error(times: list[float], samples: int) -> float:
    """How far from 1 the ratio of two medians of so many samples is where both are of the same
    kernel, in %: in 19 of 20 of SPLITS ways to take both from `times`."""
    count, source = min(samples, len(times) // 2), random.Random(0)
    errors = []
    for _ in range(SPLITS):
        chosen = source.sample(times, 2 * count)
        ratio = statistics.median(chosen[:count]) / statistics.median(chosen[count:])
        errors.append(100 * (max(ratio, 1 / ratio) - 1))
    return sorted(errors)[SPLITS * 19 // 20]


def time_one(bench: Bench, kernel: Kernel, shape: shapes.Shape) -> Said:
    """Raises MachineFault."""
    if kernel.hung_on:
        return Said(state="time-limit", reason=f"not tried after {shapes.words_of(kernel.hung_on)}")
    m, k, n = shape
    assert kernel.programs
    said = measure(bench.parts, kernel.programs, {"m": m, "k": k, "n": n}, box=bench.box,
                   samples=bench.samples or samples_for(shape))
    if said.state == "time-limit":
        kernel.hung_on = shape
    if said.state != "timed":
        words = f"{kernel.name} on {shapes.words_of(shape)}"
        bench.complain(1, f"{words}: {said.state}: {said.reason}")
    return said


def figures(bench: Bench, shape: shapes.Shape, seconds: dict[str, float],
            ratio: float) -> dict[str, Any]:
    """Of the statistics of a kernel's times, and its speed as a multiple of cuBLAS's."""
    flops = 2 * shape[0] * shape[1] * shape[2] / seconds["median"]
    spread = seconds["quartile_3"] - seconds["quartile_1"]
    return {"seconds": seconds, "gflops": flops / 1e9, "percent_of_cublas": 100 * ratio,
            "percent_of_ffma": 100 * flops / bench.machine["ceilings"]["ffma_flops"],
            "spread_percent": 100 * spread / seconds["median"]}


def together(runs: list[dict[str, float]]) -> dict[str, float]:
    """cuBLAS's statistics, of the runs in which it took turns with one kernel each."""
    combined = {key: statistics.median(run[key] for run in runs) for key in runs[0]}
    return combined | {"minimum": min(run["minimum"] for run in runs)}


def measure_shape(bench: Bench, shape: shapes.Shape) -> dict[str, Any]:
    """Its entry in the file. Raises MachineFault."""
    m, k, n = shape
    entry = {"m": m, "k": k, "n": n, "results": [],
             "own_error_percent": None,
             "problem": problem_with(shape, int(bench.machine["machine"]["memory_bytes"]))}
    if entry["problem"]:
        bench.complain(2, f"{shapes.words_of(shape)}: {entry['problem']}")
        return entry
    entry["own_error_percent"] = own_error(cublas_times(shape),
                                           bench.samples or samples_for(shape))
    results: list[dict[str, Any]] = []
    cublas: list[dict[str, float]] = []
    for kernel in bench.kernels:
        if kernel.left_out:
            continue
        said = time_one(bench, kernel, shape)
        result = {"kernel": kernel.name, "state": said.state, "reason": said.reason or None}
        if said.seconds and said.beside_seconds and said.ratio:
            result |= figures(bench, shape, said.seconds.model_dump(), said.ratio)
            cublas.append(said.beside_seconds.model_dump())
        results.append(result)
    if cublas:
        own = {"kernel": CUBLAS, "state": "timed", "reason": None}
        results.insert(0, own | figures(bench, shape, together(cublas), 1))
    return entry | {"results": results}


# ---- what is shown and written -------------------------------------------------------------------


def figure(value: float) -> str:
    """50487 as 50,487; below 100 with a decimal."""
    return f"{value:.1f}" if value < 99.95 else f"{value:,.0f}"


def duration(seconds: float) -> str:
    return f"{1e6 * seconds:.2f} us" if seconds < 1e-3 else f"{1e3 * seconds:.3f} ms"


def print_machine(bench: Bench) -> None:
    about, most = bench.machine["machine"], bench.machine["ceilings"]
    bench.out.print(f"{about['device']}, driver {about['driver']}, CUDA {about['cuda_runtime']}, "
                    f"cuBLAS {about['cublas']}, {bench.date}", soft_wrap=True)
    bench.out.print(f"ceilings: FFMA {figure(most['ffma_flops'] / 1e9)} GFLOP/s, "
                    f"memory {figure(most['memory_bytes_per_second'] / 1e9)} GB/s, "
                    f"L2 {figure(most['l2_bytes_per_second'] / 1e9)} GB/s")


def print_shape(bench: Bench, shape: shapes.Shape, entry: dict[str, Any]) -> None:
    """Green: faster than cuBLAS, by more than cuBLAS differs from itself. Red: no figures."""
    if entry["problem"]:
        bench.out.print(f"\n{shapes.words_of(shape)} (m k n): {entry['problem']}")
        return
    bench.out.print(f"\n{shapes.words_of(shape)} (m k n), "
                    f"{bench.samples or samples_for(shape)} samples; cuBLAS by itself: 100 "
                    f"± {entry['own_error_percent']:.1f} %")
    bench.out.print(f"{'':20} {'GFLOP/s':>10} {'% of cuBLAS':>11} {'% of FFMA':>10} "
                    f"{'spread %':>9} {'median':>13}")
    for result in entry["results"]:
        name = f"{result['kernel']:20.20}"
        if "gflops" not in result:
            line = f"{name} {result['state']}: {result['reason']}"
            line = line if len(line) <= COLUMNS else f"{line[:COLUMNS - 3]}..."
            bench.out.print(line, style="red")
            continue
        faster = (result["kernel"] != CUBLAS and
                  result["percent_of_cublas"] > 100 + entry["own_error_percent"])
        bench.out.print(
            f"{name} {figure(result['gflops']):>10} {result['percent_of_cublas']:11.1f} "
            f"{result['percent_of_ffma']:10.1f} {result['spread_percent']:9.1f} "
            f"{duration(result['seconds']['median']):>13}", style="green" if faster else None)


def write(bench: Bench, path: Path) -> None:
    """A whole file or none. Raises MachineFault."""
    kernels = [{"name": CUBLAS, "file": None, "flop_per_byte": None, "left_out": None}]
    kernels += [{"name": k.name, "file": k.path, "flop_per_byte": k.flop_per_byte,
                 "left_out": k.left_out} for k in bench.kernels]
    content = {"format": 3, "date": bench.date, **bench.machine, "kernels": kernels,
               "shapes": bench.shapes}
    fresh = path.with_name(path.name + ".new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh.write_text(compact.text_of(content), encoding="utf-8")
        fresh.replace(path)
    except OSError as error:
        raise MachineFault(f"{path}: {error.strerror}") from error


# ---- all of it -----------------------------------------------------------------------------------


def asked_for() -> tuple[list[Kernel], list[shapes.Shape], int | None, Path]:
    """Kernels, shapes, samples and the file to write. Raises BadInput."""
    samples = os.environ.get("SAMPLES", "")
    if samples and not (samples.isdecimal() and 1 <= int(samples) <= MOST_SAMPLES):
        raise BadInput(f"SAMPLES is {samples}; it is a number from 1 to {MOST_SAMPLES}")
    try:
        todo = shapes.parse(os.environ.get("SHAPES") or PUBLISHED)
    except ValueError as error:
        raise BadInput(str(error)) from None
    kernels = kernels_named(os.environ.get("KERNELS", "").split())
    if not todo or not kernels:
        raise BadInput(f"{'KERNELS' if todo else 'SHAPES'} is empty: nothing to measure")
    return kernels, todo, int(samples) if samples else None, Path(os.environ["LADDER"])


def run() -> int:
    """The exit status. Raises BadInput, MachineFault."""
    kernels, todo, samples, path = asked_for()
    waiting = Console(stderr=True)
    with ExitStack() as directories, waiting.status("") as now:
        now.update("building the clock")
        parts = trusted_parts("cuda")
        box = choose_sandbox("auto", False, [], parts.jail)
        now.update("measuring what this GPU can do at most")
        bench = Bench(parts, box, describe_machine(), kernels, samples)
        now.update(f"compiling {len(kernels)} kernels")
        build_all(bench, directories)
        print_machine(bench)
        for number, shape in enumerate(todo, 1):
            now.update(f"timing {shapes.words_of(shape)} ({number} of {len(todo)})")
            bench.shapes.append(measure_shape(bench, shape))
            print_shape(bench, shape, bench.shapes[-1])
            write(bench, path)
    return bench.status


def main() -> int:
    try:
        return run()
    except (BadInput, MachineFault) as fault:
        print(f"bench: {fault}", file=sys.stderr)
        return 2 if isinstance(fault, BadInput) else 3


if __name__ == "__main__":
    sys.exit(main())
