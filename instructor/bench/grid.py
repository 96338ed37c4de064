"""`make bench GRID=1`: a kernel beside cuBLAS and cuBLASLt on shapes of every kind, on this GPU.

    GRID_SEED=n SHAPES="m k n ..." SAMPLES=n GRID_KERNEL=path GRID_JSON=path grid.py

All of them come from the environment, as make has them: COUNT shapes drawn by the seed, or SHAPES.
build/bench/grid (grid.cu), which is linked with the kernel, measures them in one process. Standard
output gets a table by kind of shape; GRID_JSON gets all figures, of which heat_map.py draws the
picture beside it:

    format, date, machine, ceilings    1; as in ladder.py
    kernel, samples, seed              the file; of each contestant; null: SHAPES were given
    shapes      m, k, n, right, max_u (the largest error in units of u |A||B|), cublas, cublaslt
                (missing: it has no algorithm) and kernel (seconds), algorithm (cuBLASLt's, or -1),
                tries (measurements, more than one where the machine was disturbed; the last counts),
                late (samples of it that have some of the host's time, which was never in time),
                ratio (of the faster library by the kernel), of_cublas, kind; where a vector and a
                matrix of 16 MB or more are multiplied, read (seconds to read the matrix), of_read

Exit status: 0; 1 a C is wrong; 2 bad input; 3 the machine is at fault.
"""

import json
import os
import random
import statistics
import subprocess
import sys
from collections import defaultdict
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import compact
import ladder
import shapes

PROGRAM = Path("build/bench/grid")
COUNT, DEFAULT_SEED, DEFAULT_SAMPLES = 200, 1, 13
SIDES = (1, 2, 7, 16, 33, 64, 100, 256, 1000, 1024, 1025, 2048, 4096, 65536)
MOST_PRODUCTS = 2**33
LAUNCH_SECONDS = 6e-6  # what takes less is mostly a launch
THIN, SMALL_K, LONG_K = 16, 33, 8
Result = dict[str, Any]
"""A line of grid.cu's output, with "ratio": the better of the two libraries by the kernel."""


class Fault(Exception):
    """One line for the user, and the exit status."""

    def __init__(self, status: int, message: str):
        super().__init__(message)
        self.status = status


def draw(seed: int, count: int = COUNT) -> list[shapes.Shape]:
    """Different shapes, the same ones for the same seed."""
    source, drawn = random.Random(seed), dict[shapes.Shape, None]()
    while len(drawn) < count:
        shape = (source.choice(SIDES), source.choice(SIDES), source.choice(SIDES))
        m, k, n = shape  # a C of more elements does not fit beside its product in double precision
        if m * k * n <= MOST_PRODUCTS and m * n <= shapes.MOST_ELEMENTS:
            drawn[shape] = None
    return list(drawn)


def kind_of(shape: shapes.Shape, seconds: float) -> str:
    """What decides how fast it can be; `seconds` is what the better library takes."""
    m, k, n = shape
    if seconds < LAUNCH_SECONDS:
        return "a launch"
    if min(m, n) == 1:
        return "vector"
    if min(m, n) <= THIN:
        return "thin"
    if k <= SMALL_K:
        return "small k"
    return "long k" if k >= LONG_K * min(m, n) else "all others"


def with_ratio(result: Result) -> Result:
    libraries = [result[name]["median"] for name in ("cublas", "cublaslt") if name in result]
    shape = (result["m"], result["k"], result["n"])
    if "read" in result:
        result["of_read"] = result["read"]["median"] / result["kernel"]["median"]
    return result | {"ratio": min(libraries) / result["kernel"]["median"],
                     "of_cublas": result["cublas"]["median"] / result["kernel"]["median"],
                     "kind": kind_of(shape, min(libraries))}


def measure(todo: list[shapes.Shape], samples: int) -> list[Result]:
    """Raises Fault."""
    text = "".join(f"{m} {k} {n}\n" for m, k, n in todo)
    try:
        ran = subprocess.run([PROGRAM, str(samples)], input=text, stdout=subprocess.PIPE, text=True,
                             check=False)
    except OSError as error:
        raise Fault(3, f"{PROGRAM}: {error.strerror}") from None
    results = [with_ratio(json.loads(line)) for line in ran.stdout.splitlines()]
    if ran.returncode or len(results) != len(todo):
        raise Fault(ran.returncode or 3, f"{len(results)} of {len(todo)} shapes were measured")
    return results


# ---- the table -----------------------------------------------------------------------------------


def row(name: str, results: list[Result]) -> str:
    ratios = sorted(result["ratio"] for result in results)
    reached = sum(ratio >= 1 for ratio in ratios)
    return (f"{name:12} {len(ratios):6} {100 * statistics.geometric_mean(ratios):9.1f} "
            f"{100 * ratios[0]:9.1f} {reached:8} {sum(ratio < 0.97 for ratio in ratios):8} "
            f"{sum(ratio < 0.9 for ratio in ratios):8}")


def print_table(results: list[Result], lowest: int = 10) -> None:
    kinds = defaultdict(list)
    for result in results:
        kinds[result["kind"]].append(result)
    print(f"{'% of the':12} {'':6} {'geometric':>9} {'':9} {'100 or':>8} {'below':>8} {'below':>8}")
    print(f"{'better one':12} {'shapes':>6} {'mean':>9} {'lowest':>9} {'more':>8} {'97':>8} {'90':>8}")
    for name in sorted(kinds):
        print(row(name, kinds[name]))
    print(row("all", results))
    print("\nlowest (m k n):")
    for result in sorted(results, key=lambda one: one["ratio"])[:lowest]:
        print(f"  {result['m']} x {result['k']} x {result['n']}: {100 * result['ratio']:.1f} %, "
              f"{ladder.duration(result['kernel']['median'])}")
    vectors = sorted((result for result in results if "of_read" in result),
                     key=lambda one: one["of_read"])
    if vectors:
        print("\nvectors and matrices of 16 MB or more, % of a read of the matrix:")
    for result in vectors:
        print(f"  {result['m']} x {result['k']} x {result['n']}: {100 * result['of_read']:.1f} %, "
              f"{ladder.duration(result['kernel']['median'])}")
    for result in results:
        if not result["right"]:
            print(f"wrong: {result['m']} x {result['k']} x {result['n']}")


# ---- all of it -----------------------------------------------------------------------------------


def number(name: str, default: int, least: int, most: int) -> int:
    text = os.environ.get(name) or str(default)
    if not text.isdecimal() or not least <= int(text) <= most:
        raise Fault(2, f"{name} is {text}; it is a number from {least} to {most}")
    return int(text)


def run() -> int:
    """The exit status. Raises Fault, MachineFault."""
    seed = number("GRID_SEED", DEFAULT_SEED, 0, 2**31)
    samples = number("SAMPLES", DEFAULT_SAMPLES, 1, ladder.MOST_SAMPLES)
    try:
        todo = shapes.parse(os.environ.get("SHAPES", "")) or draw(seed)
    except ValueError as error:
        raise Fault(2, str(error)) from None
    machine = ladder.describe_machine()
    results = measure(todo, samples)
    date = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    content = {"format": 1, "date": date, **machine, "kernel": os.environ["GRID_KERNEL"],
               "seed": None if os.environ.get("SHAPES") else seed, "samples": samples,
               "shapes": results}
    path = Path(os.environ["GRID_JSON"])
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(compact.text_of(content), encoding="utf-8")
    print_table(results)
    return 0 if all(result["right"] for result in results) else 1


def main() -> int:
    try:
        return run()
    except Fault as fault:
        print(f"bench: {fault}", file=sys.stderr)
        return fault.status
    except (ladder.MachineFault, OSError) as fault:
        print(f"bench: {fault}", file=sys.stderr)
        return 3


if __name__ == "__main__":
    sys.exit(main())
