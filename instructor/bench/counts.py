"""`make bench-counts`: what each rung of the ladder loads, for those who have no GPU.

    KERNELS="a.cu b.cu" SHAPES="m k n ..." counts.py

Both come from the environment, as make has them; 256 x 256 x 256, unless SHAPES holds something.

Builds each kernel's checked program for the CPU (docs/look.md) and prints a table of what it
counted: exact figures, which say why a rung is faster than the one before, not how much. Exit
status: 0; 1 a kernel is wrong; 2 bad input; 3 the machine is at fault.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import shapes

PROGRAM = Path("build/check/sgemm-check")
DEFAULT_SHAPE = (256, 256, 256)  # whole tiles of each rung; a second or less each
FLOAT_BYTES = 4


class Failure(Exception):
    """A kernel that gets no figures: one line, and the exit status."""

    def __init__(self, status: int, message: str):
        super().__init__(message)
        self.status = status


def build(kernel: str) -> None:
    """Make PROGRAM of this kernel."""
    command = ["make", "-s", "--no-print-directory", "BACKEND=cpu",
               f"KERNEL={kernel}", str(PROGRAM)]
    environment = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MAKELEVEL")}
    made = subprocess.run(command, env=environment, capture_output=True, text=True,
                          errors="replace", check=False)
    if made.returncode == 0:
        return
    lines = [line for line in made.stderr.splitlines() if line.strip()]
    errors = [line for line in lines if "error" in line and not line.startswith("make")]
    raise Failure(2, (errors or lines or ["it cannot be built"])[0].removeprefix(f"{kernel}: "))


def count(shape: shapes.Shape) -> dict[str, Any]:
    """The program's own JSON for these sizes, m k n."""
    command = [f"./{PROGRAM}", "--counts", "--json", *map(str, shape)]
    run = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    try:
        report = json.loads(run.stdout)
    except ValueError:
        raise Failure(3, f"its checked program ended with status {run.returncode}") from None
    finding = report["finding"]
    if finding:
        raise Failure(1, f"{finding['kind']}: {finding['what']}; make check says more")
    if report["exit_status"] != 0:
        raise Failure(report["exit_status"], report["message"] or "it was not counted")
    return report


def row(name: str, report: dict[str, Any]) -> str:
    total, threads = report["counts_sum"], 1
    for size in max(report["counts"], key=lambda launch: launch["blocks"])["block"]:
        threads *= size
    loads = total["global"]["all"]["loads"]
    shared = total["shared"]
    conflicts = shared["loads"]["conflicts"] + shared["stores"]["conflicts"]
    flop_per_byte = total["flops"] / (FLOAT_BYTES * loads["elements"])
    return (f"{name[:20]:20} {threads:7,} {loads['elements']:13,} {flop_per_byte:9.2f}"
            f" {shared['loads']['requests']:15,} {conflicts:11,}")


def table(shape: shapes.Shape, kernels: list[str]) -> int:
    """Print it line by line, as the kernels are done. Returns the highest status."""
    status = 0
    print(f"{shapes.words_of(shape)} (m k n), counted on the CPU backend")
    print(f"{'':20} {'threads':>7} {'elements':>13} {'FLOP per':>9} {'shared memory':>15}"
          f" {'bank':>11}")
    print(f"{'':20} {'a block':>7} {'loaded':>13} {'byte':>9} {'loads of warps':>15}"
          f" {'conflicts':>11}", flush=True)
    for kernel in kernels:
        try:
            build(kernel)
            print(row(Path(kernel).stem, count(shape)), flush=True)
        except Failure as failure:
            sys.stdout.flush()
            print(f"{kernel}: {failure}", file=sys.stderr, flush=True)
            status = max(status, failure.status)
    return status


def main() -> int:
    try:
        todo = shapes.parse(os.environ.get("SHAPES", "")) or [DEFAULT_SHAPE]
    except ValueError as error:
        print(f"bench-counts: {error}", file=sys.stderr)
        return 2
    kernels = os.environ.get("KERNELS", "").split()
    status = max(table(shape, kernels) for shape in todo)
    print("elements loaded: from global memory, 4 bytes each; operations: 2 m n k;\n"
          "loads of warps: instructions, of 4 to 16 bytes a thread. More: docs/look.md")
    return status


if __name__ == "__main__":
    sys.exit(main())
