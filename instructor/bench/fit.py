"""Fits the model by which instructor/solutions/9_every_shape chooses a kernel, on any machine.

    fit.py CANDIDATES.jsonl [SECONDS]

Reads what candidates.cu printed, and the table of kernels with their constants in every_shape.cu.
Moves the constants at random, SECONDS long (300), as long as the kernels chosen by them take less
time, and prints the table with the new ones. What counts is the choice: a constant need not be the
time that it is named for. Far from what they were, constants cost a little, or they would be moved
for the sake of single shapes.

Exit status: 0; 2 bad input.
"""

from __future__ import annotations

import json
import re
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

FOLDER = Path(__file__).resolve().parent.parent / "solutions" / "9_every_shape"
ROW = re.compile(r"^    (\w+<[^>]*>)\(\{([^}]*)\}\),$", re.MULTILINE)
LOWEST = np.array([1.5, 1e-3, 1e-3, 1e-4, 0.1, 1e-4, 0.8, 0.05])  # of the constants of a Cost
HIGHEST = np.array([7, 14, 14, 10, 60, 2, 3, 3])
TOLERATED = 0.02  # of time lost by the choice; what is beyond that counts for more, this much:
BEYOND = 1.5
KEEPS = 5e-5  # what a constant costs that is e times what it was
SEED = 1
Floats = np.ndarray[Any, np.dtype[np.float64]]


@dataclass
class Kernel:
    """Its constants, and its runs: one row a shape, one column a way to share k; NaN: there is none."""

    name: str
    constants: Floats
    counts: dict[str, Floats]
    """What cost_of() of model.cuh counts."""
    microseconds: Floats
    rim: Floats
    """Its microseconds, by RIM_COST of model.cuh."""

    def costs(self, constants: Floats) -> Floats:
        """As cost_of() of model.cuh has it."""
        rest, wave, chunk, busy, added, part, odd, megabyte = constants
        n = self.counts
        computing = np.maximum(n["waves"] * n["chunks"] * chunk, n["loads"] * n["chunks"] * busy)
        moving = np.maximum(computing * np.where(n["wide"], 1, odd), n["megabytes"] * megabyte)
        shared = np.where(n["share"] == 1, 0, added + n["parts"] * part)
        costs: Floats = rest + n["waves"] * wave + moving + shared + self.rim
        return np.where(np.isnan(costs), np.inf, costs)

    def best(self, constants: Floats) -> tuple[Floats, Floats]:
        """For each shape the cost of the way that the constants choose, and what it takes."""
        costs = self.costs(constants)
        rows, ways = np.arange(len(costs)), costs.argmin(axis=1)
        cost = costs[rows, ways]
        return cost, np.where(np.isfinite(cost), self.microseconds[rows, ways], np.inf)


def read(text: str, table: str, rim: tuple[float, float]) -> tuple[list[Kernel], Floats, Floats]:
    """The kernels, and for each shape the microseconds of the library and of the fastest kernel.
    Raises ValueError, KeyError, TypeError."""
    shapes = [shape for shape in map(json.loads, text.splitlines()) if shape["runs"]]
    rows = ROW.findall(table)
    ways = sorted({run[1] for shape in shapes for run in shape["runs"]})
    size, names = (len(shapes), len(ways)), ("chunks", "waves", "loads", "parts")
    kernels = [Kernel(name, np.array([float(value) for value in values.split(",")]),
                      {key: np.full(size, np.nan) for key in (*names, "share")},
                      np.full(size, np.nan), np.zeros(size)) for name, values in rows]
    for i, shape in enumerate(shapes):
        for number, share, took, *counts, of_rim in shape["runs"]:
            kernel, j = kernels[number], ways.index(share)
            kernel.microseconds[i, j] = took
            kernel.counts["share"][i, j] = share
            for key, count in zip(names, counts, strict=True):
                kernel.counts[key][i, j] = count
            kernel.rim[i, j] = rim[0] + rim[1] * shape["k"] if of_rim else 0
    sides = np.array([[shape["m"], shape["k"], shape["n"]] for shape in shapes], dtype=float)
    m, k, n = sides.T
    for kernel in kernels:
        kernel.counts["wide"] = (n % 4 == 0)[:, None]
        kernel.counts["megabytes"] = (4e-6 * (m * k + k * n + m * n))[:, None]
    library = np.array([shape["library"] for shape in shapes])
    fastest = np.array([min(run[2] for run in shape["runs"]) for shape in shapes])
    return kernels, library, fastest


class Choice:
    """What the constants choose for each shape."""

    def __init__(self, kernels: list[Kernel], library: Floats, fastest: Floats):
        self.kernels, self.library, self.fastest = kernels, library, fastest
        found = [kernel.best(kernel.constants) for kernel in kernels]
        self.costs, self.times = (np.stack(column) for column in zip(*found, strict=True))

    def microseconds(self) -> Floats:
        times: Floats = self.times[self.costs.argmin(axis=0), np.arange(len(self.fastest))]
        return times

    def loss(self) -> float:
        """Mean logarithm of time lost; more where it is much, or where the library is faster."""
        took = self.microseconds()
        lost, behind = np.log(took / self.fastest), np.log(took / self.library)
        return float(np.mean(lost + BEYOND * np.maximum(lost - TOLERATED, 0) + BEYOND *
                             np.maximum(np.minimum(behind - TOLERATED, lost), 0)))

    def report(self, what: str) -> None:
        took = self.microseconds()
        print(f"{what}: {100 * np.expm1(np.mean(np.log(took / self.fastest))):.2f} % slower than "
              f"the fastest kernels; {100 * np.exp(np.mean(np.log(self.library / took))):.1f} % of "
              f"cuBLAS, lowest {100 * np.min(self.library / took):.1f} %", file=sys.stderr)


def fit(choice: Choice, seconds: float) -> None:
    random, end = np.random.default_rng(SEED), time.monotonic() + seconds
    old = [kernel.constants.copy() for kernel in choice.kernels]
    loss = choice.loss()
    while time.monotonic() < end:
        number = int(random.integers(len(choice.kernels)))
        kernel, moved = choice.kernels[number], random.random(8) < 0.25
        step = random.normal(0, random.choice([0.02, 0.08, 0.3]), 8) * moved
        tried = np.clip(kernel.constants * np.exp(step), LOWEST, HIGHEST)
        strays = [KEEPS * float(np.sum(np.log(constants / old[number]) ** 2))
                  for constants in (tried, kernel.constants)]
        before = choice.costs[number].copy(), choice.times[number].copy()
        choice.costs[number], choice.times[number] = kernel.best(tried)
        with_it = choice.loss()
        if with_it + strays[0] < loss + strays[1]:
            kernel.constants, loss = tried, with_it
        else:
            choice.costs[number], choice.times[number] = before


def main(arguments: list[str]) -> int:
    if len(arguments) not in (1, 2):
        print("usage: fit.py CANDIDATES.jsonl [SECONDS]", file=sys.stderr)
        return 2
    try:
        model = (FOLDER / "model.cuh").read_text()
        rim = [float(re.findall(rf"#define {name} +([0-9.]+)", model)[0])
               for name in ("RIM_COST", "RIM_COST_OF_K")]
        table = (FOLDER / "every_shape.cu").read_text()
        choice = Choice(*read(Path(arguments[0]).read_text(), table, (rim[0], rim[1])))
        seconds = float(arguments[1]) if len(arguments) > 1 else 300
    except (OSError, ValueError, KeyError, TypeError, IndexError) as error:
        print(f"fit: {arguments[0]}: {type(error).__name__}: {error}", file=sys.stderr)
        return 2
    choice.report("before")
    fit(choice, seconds)
    choice.report("after")
    for kernel in choice.kernels:
        print(f"    {kernel.name}({{{', '.join(f'{value:.3g}' for value in kernel.constants)}}}),")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
