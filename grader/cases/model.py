"""What a case, a shape to be timed and a suite are, and what is wrong with one by itself."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field

from ..record.model import MarkName

LARGEST_DIMENSION = 16384  # so that A, B and C have at most 2^28 elements, 1 GiB each

# Below this many products (m k n) a fast kernel takes some ten microseconds, in which a launch and
# a cold cache weigh as much as the kernel: such a time earns no points.
LEAST_TIMED = 512**3
LARGEST_RATIO = 10.0  # to cuBLAS; no kernel is that far ahead of it

# CPU seconds that one block may take unless the case says otherwise. A tiled or naive kernel takes
# a hundredth of this on the CPU backend, so that it is enough for slow machines and odd kernels,
# and a submission that hangs in every case is still graded in well under a minute.
LAUNCH_SECONDS = 2.0
PRODUCTS_PER_SECOND = 15e6
# A submission that hangs takes this long in one case; a longer wait would be of no use.
LONGEST_LAUNCH_SECONDS = 600
# With less, a correct kernel on a busy machine does not finish either.
SHORTEST_LAUNCH_SECONDS = 0.1
MOST_PRODUCTS = int((LONGEST_LAUNCH_SECONDS - LAUNCH_SECONDS) * PRODUCTS_PER_SECOND)

# The description of a type is what an error message says that the key must be.
ONE_LINE = "one line of at most 200 characters"

Fill = Literal["random", "ones-twos", "identity", "index", "exact", "extremes", "counting"]
Tolerance = Literal["float32", "bound", "exact"]
Name = Annotated[str, Field(
    pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,39}$",
    description="1 to 40 letters, digits, '.', '_' or '-', beginning with a letter or digit")]
Line = Annotated[str, Field(
    pattern=r"^[^\x00-\x1f\x7f-\x9f\u2028\u2029]{0,200}$", description=ONE_LINE)]
Dimension = Annotated[int, Field(
    ge=1, le=LARGEST_DIMENSION, description=f"a whole number from 1 to {LARGEST_DIMENSION}")]
Points = Annotated[float, Field(
    ge=0, le=1000, allow_inf_nan=False, description="a number from 0 to 1000")]
Ratio = Annotated[float, Field(
    ge=0, le=LARGEST_RATIO, allow_inf_nan=False,
    description=f"a ratio to cuBLAS, from 0 to {LARGEST_RATIO:g}")]


class Item(BaseModel):
    """What a [[case]] and a [[performance]] have in common."""

    model_config = ConfigDict(frozen=True, strict=True)

    name: Name
    title: Line = ""
    m: Dimension
    k: Dimension
    n: Dimension
    points: Points
    hint: Line = ""
    """For the student, when points are missing and no finding has a better hint."""
    suite: str
    """"public/basics": the file's path below testcases/, without .toml."""
    hidden: bool

    @property
    def key(self) -> str:
        return f"{self.suite}/{self.name}"

    @property
    def shape(self) -> str:
        """In the order of the command line."""
        return f"{self.m} {self.k} {self.n}"

    @property
    def products(self) -> int:
        return self.m * self.k * self.n

    @classmethod
    def keys(cls) -> list[str]:
        """Those that a table in a file may have."""
        return [key for key in cls.model_fields if key not in ("suite", "hidden", "seed")]

    def contradictions(self) -> list[str]:
        """What is wrong although each key by itself is right."""
        return []


class Case(Item):
    fill: Fill = Field(description="one of " + ", ".join(get_args(Fill)))
    seed: int = 0
    """Of its random numbers: made from the run's (grade.py)."""
    tolerance: Tolerance | None = Field(
        None, description="one of " + ", ".join(get_args(Tolerance)))
    """None: what the fill allows, see docs/sgemm.md."""
    time_limit: float | None = Field(
        None, ge=SHORTEST_LAUNCH_SECONDS, le=LONGEST_LAUNCH_SECONDS, allow_inf_nan=False,
        description=f"CPU seconds, from {SHORTEST_LAUNCH_SECONDS} to {LONGEST_LAUNCH_SECONDS}")
    """CPU seconds for one block of a launch of the plain build; None: by the size."""
    criteria: list[MarkName] | None = Field(
        None, description="a list of some of " + ", ".join(get_args(MarkName)))
    """Beside a correct C; None: memory, where the suite has points for it."""

    @property
    def asked(self) -> list[MarkName]:
        return self.criteria or []

    @property
    def launch_seconds(self) -> float:
        return self.time_limit or LAUNCH_SECONDS + self.products / PRODUCTS_PER_SECOND

    def contradictions(self) -> list[str]:
        wrong = []
        if self.tolerance == "float32" and self.fill != "random":
            wrong.append("tolerance = 'float32': only the fill random has numbers of mean zero")
        if self.tolerance == "exact" and self.fill in ("random", "extremes"):
            wrong.append(f"tolerance = 'exact': with the fill {self.fill}, correct kernels differ "
                         "in rounding")
        if self.products > MOST_PRODUCTS:
            seconds = LAUNCH_SECONDS + self.products / PRODUCTS_PER_SECOND
            wrong.append(f"m k n = {self.shape}: the time limit would be {math.ceil(seconds)} s; "
                         f"at most {LONGEST_LAUNCH_SECONDS} s are allowed, which is m*k*n up to "
                         f"{MOST_PRODUCTS:.3g}; take a smaller shape")
        return wrong


class Performance(Item):
    """A shape that is timed beside cuBLAS."""

    none: Ratio
    """cuBLAS's time over the submission's, up to which there are no points."""
    full: Ratio
    """From which there are all of them; between the two they grow in a straight line."""

    def contradictions(self) -> list[str]:
        wrong = []
        if self.none >= self.full:
            wrong.append(f"none = {self.none:g}, full = {self.full:g}: none, where points begin, "
                         "must be less than full, where there are all of them")
        if self.products < LEAST_TIMED:
            wrong.append(f"m k n = {self.shape}: too few products for a meaningful time; m*k*n "
                         f"must be at least 512^3 = {LEAST_TIMED}")
        return wrong


KINDS: dict[str, type[Item]] = {"case": Case, "performance": Performance}
"""The tables that a file consists of."""


@dataclass(frozen=True)
class Suite:
    name: str
    title: str
    path: Path
    hidden: bool
    cases: list[Case]
    performance: list[Performance] = field(default_factory=list)
    points: dict[MarkName, float] = field(default_factory=dict)
    """Kept by every case that asks for it, or lost."""
    gate: str = ""
    """The case without which nothing counts; once the suites are loaded, its key. Empty: none."""
    repaired: float = 0.0
    """The share of what a kernel would get without its one mistake that it gets with it."""

    @property
    def items(self) -> list[Case | Performance]:
        """All that is run."""
        return [*self.cases, *self.performance]

    @property
    def marks(self) -> list[str]:
        """The keys of what the whole suite keeps or loses."""
        return [f"{self.name}/{name}" for name in self.points]

    @property
    def worth(self) -> float:
        """Points of its cases, and of the suite; not of its timed shapes."""
        return sum(case.points for case in self.cases) + sum(self.points.values())
