"""Fits the model by which instructor/solutions/9_every_shape chooses a kernel, on any machine.

    fit.py CANDIDATES.jsonl [SECONDS]

Reads what candidates.cu printed, and the table of kernels with their constants in every_shape.cu.
A shape can have a "weight" there (1). First each kernel's constants are moved at random, for a fifth
of SECONDS (300), as long as they come closer to its times; then all of them, as long as the kernels
chosen by them take less time, those more often that are taken, or should be, where much is lost.
Prints the table with the new ones. What counts is the choice: a constant need not be the time that it is
named for. Far from what the first part found, constants cost a little, or they would be moved for
the sake of single shapes.

Exit status: 0; 2 bad input.
"""

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
LOWEST = np.array([1.5, 1e-3, 1e-3, 1e-4, 0.1, 1e-4, 0.05])  # of the constants of a Cost
HIGHEST = np.array([7, 14, 14, 10, 100, 2, 3])
TOLERATED = 0.02  # of time lost by the choice; what is beyond that counts for more, this much:
BEYOND = 3
GRAVE = 0.08  # behind the library; what is beyond that counts for still more:
BEYOND_GRAVE = 9
AT_LOSSES = 0.7  # of the second part's moves
KEEPS = 5e-5  # what a constant costs that is e times what it was
SEED = 1
Floats = np.ndarray[Any, np.dtype[np.float64]]


@dataclass
class Kernel:
    """Its constants, and its runs in the order of the shapes."""

    name: str
    constants: Floats
    shape: np.ndarray[Any, np.dtype[np.int64]]
    microseconds: Floats
    chunks: Floats
    """These and the following are what cost_of() of model.cuh counts."""
    waves: Floats
    loads: Floats
    parts: Floats
    rim: Floats
    """Microseconds, by RIM_COST of model.cuh."""
    megabytes: Floats

    def __post_init__(self) -> None:
        self.begins = np.flatnonzero(np.diff(self.shape, prepend=-1))  # each shape's first run
        self.lengths = np.diff(self.begins, append=len(self.shape))

    def costs(self, constants: Floats) -> Floats:
        """As cost_of() of model.cuh has it."""
        rest, wave, chunk, busy, added, part, megabyte = constants
        computing = self.chunks * np.maximum(self.waves * chunk, self.loads * busy)
        shared = np.where(self.parts < 0, 0, added + np.maximum(self.parts, 0) * part)
        costs: Floats = (rest + self.waves * wave + np.maximum(computing, self.megabytes * megabyte)
                         + shared + self.rim)
        return costs

    def best(self, constants: Floats, shapes: int) -> tuple[Floats, Floats]:
        """For each shape the cost of the way that the constants choose, and what it takes."""
        cost, took = np.full(shapes, np.inf), np.full(shapes, np.inf)
        if len(self.begins) == 0:
            return cost, took
        costs, there = self.costs(constants), self.shape[self.begins]
        cost[there] = np.minimum.reduceat(costs, self.begins)
        chosen = costs == np.repeat(cost[there], self.lengths)
        took[self.shape[chosen]] = self.microseconds[chosen]
        return cost, took

    def distance(self, constants: Floats, fastest: Floats) -> float:
        """Mean square logarithm of costs by times; runs near the fastest kernel's count."""
        weights = (fastest[self.shape] / self.microseconds) ** 4
        errors = np.log(self.costs(constants) / self.microseconds)
        return float(np.sum(weights * errors * errors) / max(np.sum(weights), 1e-9))


def read(text: str, table: str, rim: tuple[float, float]
         ) -> tuple[list[Kernel], Floats, Floats, Floats]:
    """The kernels; for each shape the microseconds of the library and of the fastest kernel, and its
    weight. Raises ValueError, KeyError, TypeError, IndexError."""
    shapes = [shape for shape in map(json.loads, text.splitlines()) if shape["runs"]]
    rows = ROW.findall(table)
    runs: list[list[list[float]]] = [[] for _ in rows]
    for i, shape in enumerate(shapes):
        m, k, n = shape["m"], shape["k"], shape["n"]
        for number, share, took, chunks, waves, loads, parts, of_rim, rim_k in shape["runs"]:
            runs[number].append([i, took, chunks, waves, loads, -1 if share == 1 else parts,
                                 rim[0] + rim[1] * rim_k if of_rim else 0,
                                 4e-6 * (m * k + k * n + m * n) + of_rim])
    kernels = []
    for (name, values), of_kernel in zip(rows, runs, strict=True):
        columns = np.array(of_kernel, dtype=float).reshape(-1, 8).T
        constants = np.array([float(value) for value in values.split(",")])
        kernels.append(Kernel(name, constants, columns[0].astype(int), *columns[1:]))
    library = np.array([shape["library"] for shape in shapes])
    fastest = np.array([min(run[2] for run in shape["runs"]) for shape in shapes])
    weights = np.array([float(shape.get("weight", 1)) for shape in shapes])
    return kernels, library, fastest, weights


class Choice:
    """What the constants choose for each shape."""

    def __init__(self, kernels: list[Kernel], library: Floats, fastest: Floats, weights: Floats):
        self.kernels, self.library, self.fastest, self.weights = kernels, library, fastest, weights
        found = [kernel.best(kernel.constants, len(library)) for kernel in kernels]
        self.costs, self.times = (np.stack(column) for column in zip(*found, strict=True))

    def microseconds(self) -> Floats:
        times: Floats = self.times[self.costs.argmin(axis=0), np.arange(len(self.fastest))]
        return times

    def losses(self) -> Floats:
        """For each shape the logarithm of time lost; more where it is much, or where the library is
        faster."""
        took = self.microseconds()
        lost, behind = np.log(took / self.fastest), np.log(took / self.library)
        losses: Floats = self.weights * (
            lost + BEYOND * np.maximum(lost - TOLERATED, 0)
            + BEYOND * np.maximum(np.minimum(behind - TOLERATED, lost), 0)
            + BEYOND_GRAVE * np.maximum(np.minimum(behind - GRAVE, lost), 0))
        return losses

    def at_a_loss(self, losses: Floats, random: np.random.Generator) -> int:
        """A kernel that is taken, or should be, for a shape that loses much."""
        sums = np.cumsum(losses)
        shape = min(int(np.searchsorted(sums, random.random() * sums[-1])), len(losses) - 1)
        by = self.costs if random.random() < 0.5 else self.times
        return int(by[:, shape].argmin())

    def report(self, what: str) -> None:
        took = self.microseconds()
        print(f"{what}: {100 * np.expm1(np.mean(np.log(took / self.fastest))):.2f} % slower than "
              f"the fastest kernels; {100 * np.exp(np.mean(np.log(self.library / took))):.1f} % of "
              f"cuBLAS, lowest {100 * np.min(self.library / took):.1f} %", file=sys.stderr)


def words(constants: Floats) -> list[str]:
    return [f"{value:.3g}" for value in constants]


def as_printed(constants: Floats) -> Floats:
    """Rounded: two ways may cost the same but for the fourth digit, and one of them take twice the
    other's time."""
    return np.array([float(word) for word in words(constants)])


def moved(constants: Floats, random: np.random.Generator) -> Floats:
    some = random.random(len(constants)) < 0.25
    step = random.normal(0, random.choice([0.02, 0.08, 0.3]), len(constants)) * some
    return as_printed(np.clip(constants * np.exp(step), LOWEST, HIGHEST))


def fit_times(kernel: Kernel, fastest: Floats, random: np.random.Generator, seconds: float) -> None:
    end, distance = time.monotonic() + seconds, kernel.distance(kernel.constants, fastest)
    while time.monotonic() < end:
        tried = moved(kernel.constants, random)
        with_it = kernel.distance(tried, fastest)
        if with_it < distance:
            kernel.constants, distance = tried, with_it


def fit_choice(choice: Choice, random: np.random.Generator, seconds: float) -> None:
    end, losses = time.monotonic() + seconds, choice.losses()
    old = [kernel.constants.copy() for kernel in choice.kernels]
    while time.monotonic() < end:
        number = (choice.at_a_loss(losses, random) if random.random() < AT_LOSSES
                  else int(random.integers(len(choice.kernels))))
        kernel = choice.kernels[number]
        tried = moved(kernel.constants, random)
        strays = [KEEPS * len(losses) * float(np.sum(np.log(constants / old[number]) ** 2))
                  for constants in (tried, kernel.constants)]
        before = choice.costs[number].copy(), choice.times[number].copy()
        choice.costs[number], choice.times[number] = kernel.best(tried, len(choice.fastest))
        with_it = choice.losses()
        if np.sum(with_it) + strays[0] < np.sum(losses) + strays[1]:
            kernel.constants, losses = tried, with_it
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
        kernels, library, fastest, weights = read(Path(arguments[0]).read_text(), table, (rim[0], rim[1]))
        seconds = float(arguments[1]) if len(arguments) > 1 else 300
        Choice(kernels, library, fastest, weights).report("before")
    except (OSError, ValueError, KeyError, TypeError, IndexError) as error:
        print(f"fit: {arguments[0]}: {type(error).__name__}: {error}", file=sys.stderr)
        return 2
    random = np.random.default_rng(SEED)
    for kernel in kernels:
        fit_times(kernel, fastest, random, seconds / 5 / len(kernels))
    choice = Choice(kernels, library, fastest, weights)
    fit_choice(choice, random, seconds * 4 / 5)
    choice.report("after")
    for kernel in kernels:
        print(f"    {kernel.name}({{{', '.join(words(kernel.constants))}}}),")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
