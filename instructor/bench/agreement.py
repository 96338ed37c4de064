"""`make bench-clock`: do the clock and `make bench` find the same?

Each rung of the ladder on each shape that earns points for speed, timed by both: by the clock as the
grader calls it (sandbox, recorder, replay), and by `make bench`. Prints a line for each: medians and
ratios to cuBLAS of both, and how far the clock's are from the bench's.

Exit status: 0; 1 they differ by more than LIMIT somewhere; 3 the machine is at fault.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from grader.build import Parts, Programs, build_submission, trusted_parts  # noqa: E402
from grader.cases import Performance, load_suites  # noqa: E402
from grader.timing import time_performance  # noqa: E402
from grader.errors import MachineFault  # noqa: E402
from grader.record import Timing  # noqa: E402
from grader.sandbox import Sandbox, choose_sandbox  # noqa: E402

LIMIT = 0.03
RUNGS = sorted(Path("instructor/solutions").glob("*.cu"))


def by_the_clock(parts: Parts, box: Sandbox, shapes: list[Performance],
                 work: Path) -> dict[tuple[str, str], Timing]:
    """By rung and shape. MachineFault also where a rung is not timed: they are all right."""
    def build(rung: Path) -> Programs:
        place = work / rung.stem
        place.mkdir()
        return build_submission(parts, rung.read_bytes(), box, place)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        programs = list(pool.map(build, RUNGS))
    found = {}
    for shape in shapes:
        for rung, program in zip(RUNGS, programs, strict=True):
            timing = time_performance(parts, program, shape, box=box)
            if timing.state != "timed":
                raise MachineFault(f"{rung.stem} on {shape.shape}: {timing.state}: {timing.reason}")
            found[rung.stem, shape.shape] = timing
    return found


def by_the_bench(shapes: list[Performance]) -> dict[tuple[str, str], dict[str, Any]]:
    """Its results, by rung and shape; MachineFault where it fails."""
    command = ["make", "--no-print-directory", "bench", "BACKEND=cuda", "PYTHON=false",  # no charts
               f"KERNELS={' '.join(map(str, RUNGS))}",
               f"SHAPES={'  '.join(shape.shape for shape in shapes)}"]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if ran.returncode != 0:
        raise MachineFault(f"make bench failed: {(ran.stderr.strip() or ran.stdout)[-300:]}")
    ladder = json.loads((ROOT / "build/bench/ladder.json").read_text())
    return {(result["kernel"], f"{shape['m']} {shape['k']} {shape['n']}"): result
            for shape in ladder["shapes"] for result in shape["results"]}


def compare(clock: dict[tuple[str, str], Timing],
            bench: dict[tuple[str, str], dict[str, Any]]) -> float:
    """Prints the table; the largest difference of two ratios to cuBLAS."""
    print(f"{'':36}{'clock':>16}{'bench':>20}{'clock / bench':>20}")
    print(f"{'m k n':16}{'rung':20}" + 2 * f"{'us':>9}{'ratio':>9}  " + f"{'time':>8}{'ratio':>10}")
    largest = 0.0
    for (rung, shape), timing in clock.items():
        theirs = bench[rung, shape]
        seconds, ratio = theirs["seconds"]["median"], theirs["percent_of_cublas"] / 100
        assert timing.times and timing.ratio
        of_times, of_ratios = timing.times.median / seconds, timing.ratio / ratio
        largest = max(largest, abs(of_ratios - 1), abs(of_times - 1))
        print(f"{shape:16}{rung:20}{timing.times.median * 1e6:9.2f}{timing.ratio:9.4f}  "
              f"{seconds * 1e6:9.2f}{ratio:9.4f}  {of_times:8.4f}{of_ratios:10.4f}")
    return largest


def main() -> int:
    os.chdir(ROOT)
    shapes = [shape for suite in load_suites("all") for shape in suite.performance]
    try:
        parts = trusted_parts("cuda")
        box = choose_sandbox("auto", False, [], parts.jail)
        bench = by_the_bench(shapes)
        with tempfile.TemporaryDirectory() as work:
            largest = compare(by_the_clock(parts, box, shapes, Path(work)), bench)
    except MachineFault as fault:
        print(f"make bench-clock: {fault}", file=sys.stderr)
        return 3
    print(f"the largest difference is {100 * largest:.1f} %; {100 * LIMIT:g} % is allowed")
    return 0 if largest <= LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
