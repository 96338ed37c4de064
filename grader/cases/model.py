"""What a case, a shape to be timed and a suite are, and what is wrong with one by itself."""

import math
import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from ..lab import Lab, Sizes
from ..text import quoted

LARGEST_ARRAYS = 3 << 30  # bytes together: host and device have them, and the judge twice

# Below this many operations a fast kernel takes some ten microseconds, in which a launch and a cold
# cache weigh as much as the kernel: such a time earns no points.
LEAST_TIMED = 2 * 512**3
LEAST_MOVED = 64 << 20  # or so many bytes of arrays: a few dozen microseconds on a large GPU
LARGEST_RATIO = 10.0  # no kernel is that far ahead of what it is timed beside

# CPU seconds that one block may take unless the case says otherwise. An ordinary kernel takes a
# hundredth of this on the CPU backend, so that it is enough for slow machines and odd kernels, and a
# submission that hangs in every case is still graded in well under a minute.
LAUNCH_SECONDS = 2.0
OPERATIONS_PER_SECOND = 30e6
# A submission that hangs takes this long in one case; a longer wait would be of no use.
LONGEST_LAUNCH_SECONDS = 600
# With less, a correct kernel on a busy machine does not finish either.
SHORTEST_LAUNCH_SECONDS = 0.1
MOST_OPERATIONS = (LONGEST_LAUNCH_SECONDS - LAUNCH_SECONDS) * OPERATIONS_PER_SECOND


@dataclass(frozen=True)
class Key:
    """What a table in a file may have."""

    allowed: str  # what its value must be
    fits: Callable[[Any], object]
    needed: bool = False

    def wrong(self, name: str, table: dict[str, Any]) -> list[str]:
        """With it in this table."""
        if name not in table:
            return [f"{name}: is missing; it must be {self.allowed}"] if self.needed else []
        return [] if self.fits(table[name]) else [f"{name} = {quoted(table[name])}: it must be {self.allowed}"]


def matching(pattern: str, allowed: str, needed: bool = False) -> Key:
    return Key(allowed, lambda value: isinstance(value, str) and re.fullmatch(pattern, value), needed)


def number(allowed: str, least: float, most: float, needed: bool = False, kind: Any = (int, float)) -> Key:
    return Key(allowed, lambda value: isinstance(value, kind) and not isinstance(value, bool)
               and least <= value <= most, needed)


def one_of(names: Collection[str], needed: bool = False) -> Key:
    return Key("one of " + ", ".join(names), lambda value: isinstance(value, str) and value in names, needed)


def some_of(names: Collection[str]) -> Key:
    return Key("a list of some of " + ", ".join(names), lambda value: isinstance(value, list) and all(
        isinstance(one, str) and one in names for one in value))


ONE_LINE = "one line of at most 200 characters"
NAME = matching(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}",
                "1 to 40 letters, digits, '.', '_' or '-', beginning with a letter or digit", needed=True)
LINE = matching(r"[^\x00-\x1f\x7f-\x9f\u2028\u2029]{0,200}", ONE_LINE)
POINTS = number("a number from 0 to 1000", 0, 1000, needed=True)
RATIO = number(f"a ratio from 0 to {LARGEST_RATIO:g}", 0, LARGEST_RATIO, needed=True)
TIME_LIMIT = number(f"CPU seconds, from {SHORTEST_LAUNCH_SECONDS} to {LONGEST_LAUNCH_SECONDS}",
                    SHORTEST_LAUNCH_SECONDS, LONGEST_LAUNCH_SECONDS)


class Item(BaseModel):
    """What a [[case]] and a [[performance]] have in common."""

    model_config = ConfigDict(frozen=True, strict=True, arbitrary_types_allowed=True)

    name: str
    title: str = ""
    params: dict[str, int]  # in a file, keys as all others; here in the order of the command line
    points: float
    hint: str = ""  # for the student, when points are missing and no finding has a better hint
    suite: str
    """"public/basics": the file's path below testcases/, without .toml."""
    hidden: bool
    lab: Lab = Field(exclude=True, repr=False)

    @property
    def key(self) -> str:
        return f"{self.suite}/{self.name}"

    @property
    def words(self) -> list[str]:
        """The parameters, as they are typed."""
        return self.lab.words(self.params)

    @property
    def shape(self) -> str:
        return " ".join(self.words)

    @cached_property
    def sizes(self) -> Sizes:
        return self.lab.sizes(self.params)

    @classmethod
    def keys(cls, lab: Lab) -> dict[str, Key]:
        """Those that a table in a file may have."""
        params = {name: number(f"a whole number from {each.least} to {each.most}", each.least, each.most,
                               needed=True, kind=int) for name, each in lab.params.items()}
        return {"name": NAME, "title": LINE, **params, "points": POINTS, "hint": LINE}

    def contradictions(self) -> list[str]:
        """What is wrong although each key by itself is right."""
        if self.sizes.bytes > LARGEST_ARRAYS:
            return [f"{self.of_shape}: its arrays would have {self.sizes.bytes / 2**30:.1f} GiB; at most "
                    f"{LARGEST_ARRAYS >> 30} are allowed"]
        return []

    @property
    def of_shape(self) -> str:
        return f"{' '.join(self.lab.params)} = {self.shape}"


class Case(Item):
    fill: str
    seed: int = 0  # of its random numbers: made from the run's (grade.py)
    tolerance: str | None = None  # a comparison of the lab's; None: what the fill allows
    time_limit: float | None = None
    """CPU seconds for one block of a launch of the plain build; None: by the size."""
    criteria: list[str] | None = None
    """Beside a correct result; None: memory, where the suite has points for it."""
    limits: dict[str, float] = {}  # the suite's, for its criteria, by the names that these have for them

    @classmethod
    def keys(cls, lab: Lab) -> dict[str, Key]:
        return super().keys(lab) | {
            "fill": one_of(lab.fills, needed=True), "tolerance": one_of(lab.comparisons[1:]),
            "time_limit": TIME_LIMIT, "criteria": some_of(lab.marks)}

    @property
    def asked(self) -> list[str]:
        return self.criteria or []

    @property
    def comparison(self) -> str:
        """A word for the judge, also where the lab has no choice."""
        return self.tolerance or next(iter(self.lab.comparisons), "-")

    @property
    def launch_seconds(self) -> float:
        return self.time_limit or self.usual_seconds

    @property
    def usual_seconds(self) -> float:
        return LAUNCH_SECONDS + self.sizes.operations / OPERATIONS_PER_SECOND

    def contradictions(self) -> list[str]:
        wrong, allowed = super().contradictions(), self.lab.fills.get(self.fill, ())
        if self.tolerance and allowed and self.tolerance not in allowed:
            wrong.append(f"tolerance = {self.tolerance!r}: with the fill {self.fill} it must be one of "
                         + ", ".join(allowed))
        if self.sizes.operations > MOST_OPERATIONS:
            wrong.append(f"{self.of_shape}: the time limit would be {math.ceil(self.usual_seconds)} s; "
                         f"at most {LONGEST_LAUNCH_SECONDS} s are allowed, which is "
                         f"{MOST_OPERATIONS:.3g} operations; take a smaller shape")
        return wrong


class Performance(Item):
    """A shape that is timed, beside what the lab says."""

    none: float  # that one's time over the submission's, up to which there are no points
    full: float  # from which there are all of them; between the two they grow in a straight line

    @classmethod
    def keys(cls, lab: Lab) -> dict[str, Key]:
        return super().keys(lab) | {"none": RATIO, "full": RATIO}

    def contradictions(self) -> list[str]:
        wrong = super().contradictions()
        if self.none >= self.full:
            wrong.append(f"none = {self.none:g}, full = {self.full:g}: none, where points begin, "
                         "must be less than full, where there are all of them")
        if self.sizes.operations < LEAST_TIMED and self.sizes.bytes < LEAST_MOVED:
            wrong.append(f"{self.of_shape}: {self.sizes.operations:.3g} operations are too few for a "
                         f"meaningful time; it takes {LEAST_TIMED:.3g}, or arrays of {LEAST_MOVED >> 20} MiB")
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
    limits: dict[str, float] = field(default_factory=dict)
    points: dict[str, float] = field(default_factory=dict)
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
