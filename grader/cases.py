"""The test cases: data in testcases/, read and checked here. Format: docs/grading.md.

    suites = load_suites("public")          # or "hidden", "all", or the path of one .toml file

In: TOML files. Out: Suite objects whose cases know each other's keys. Whatever is wrong with a file
raises BadInput with a line for each mistake: file, case, key, what is allowed.
"""

from __future__ import annotations

import difflib
import math
import os
import reprlib
from dataclasses import dataclass, field, replace
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, get_args

from pydantic import (BaseModel, ConfigDict, Field, ValidationError, ValidationInfo,
                      field_validator)

from . import ROOT
from .errors import BadInput
from .record import CriterionName

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10
    import tomli as tomllib

TESTCASES = ROOT / "testcases"

LARGEST_DIMENSION = 16384  # so that A, B and C have at most 2^28 elements, 1 GiB each
LARGEST_FILE = 1 << 20
MOST_MISTAKES_SHOWN = 8
LARGEST_SEED = 2**63 - 1  # what a TOML integer holds

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
    depends: list[str] = Field(
        [], description='a list of names of cases, those of a public suite as "public/NAME"')
    """Cases without which this one earns nothing. Once the suite is loaded: their keys."""
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
        return [key for key in cls.model_fields if key not in ("suite", "hidden")]

    def contradictions(self) -> list[str]:
        """What is wrong although each key by itself is right."""
        return []


class Case(Item):
    fill: Fill = Field(description="one of " + ", ".join(get_args(Fill)))
    seed: int | None = Field(None, ge=0, le=LARGEST_SEED,
                             description="a whole number from 0 to 2^63 - 1")
    """None: made from the run's seed, fresh each run."""
    tolerance: Tolerance | None = Field(
        None, description="one of " + ", ".join(get_args(Tolerance)))
    """None: what the fill allows, see docs/sgemm.md."""
    time_limit: float | None = Field(
        None, ge=SHORTEST_LAUNCH_SECONDS, le=LONGEST_LAUNCH_SECONDS, allow_inf_nan=False,
        description=f"CPU seconds, from {SHORTEST_LAUNCH_SECONDS} to {LONGEST_LAUNCH_SECONDS}")
    """CPU seconds for one block of a launch of the plain build; None: by the size."""
    criteria: dict[CriterionName, Points] = Field(
        {}, validate_default=True,
        description="a table of points for some of " + ", ".join(get_args(CriterionName)))
    """Points of each; empty in the file: all for "correct"."""
    parallel: float | None = Field(
        None, ge=0, le=1, allow_inf_nan=False,
        description="threads that have to share in the work, an element of C: from 0 to 1")
    """Asked for by the criteria `parallel` and `tiled`; None: 1 by the first, 0 by the second."""

    nearly: float = Field(0.0, ge=0, le=1, allow_inf_nan=False,
                          description="a share of the points, from 0 to 1")
    """Of the points that one mistake alone costs: see verdict.py."""

    @field_validator("criteria")
    @classmethod
    def all_for_correct(cls, given: dict[str, float], info: ValidationInfo) -> dict[str, float]:
        return given or {"correct": info.data.get("points", 0.0)}

    @property
    def least_threads(self) -> int:
        usual = 1.0 if "parallel" in self.criteria else 0.0
        return math.ceil((usual if self.parallel is None else self.parallel) * self.m * self.n)

    @property
    def launch_seconds(self) -> float:
        return self.time_limit or LAUNCH_SECONDS + self.products / PRODUCTS_PER_SECOND

    def contradictions(self) -> list[str]:
        wrong = []
        given = sum(self.criteria.values())
        if abs(given - self.points) > 1e-6:
            wrong.append(f"criteria: they add up to {given:g} points, not to {self.points:g}")
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

    @property
    def items(self) -> list[Case | Performance]:
        """All that has a name, points and parents."""
        return [*self.cases, *self.performance]


def load_suites(which: str, directory: Path = TESTCASES) -> list[Suite]:
    """The suites `which` names: "public", "hidden", "all", or the path of one file. Public cases of
    other suites that they depend on come first, for no points.

    Raises BadInput: a file cannot be read, or has mistakes; one line each."""
    suites = [read_suite(path, directory) for path in suite_files(which, directory)]
    loaded = {suite.name for suite in suites}
    others = [
        read_suite(path, directory)
        for path in toml_files(directory / "public")
        if suite_name(path, directory)[0] not in loaded
    ] if any(item.depends for suite in suites for item in suite.items) else []

    resolved = resolve(suites + others)
    asked, beside = resolved[: len(suites)], resolved[len(suites) :]
    refuse_cycles(resolved)
    return needed_cases(asked, beside) + asked


# ---- files ---------------------------------------------------------------------------------------


def suite_files(which: str, directory: Path) -> list[Path]:
    if which not in ("public", "hidden", "all"):
        return [Path(which)]
    files = []
    for half in ("public", "hidden") if which == "all" else (which,):
        found = toml_files(directory / half)
        if not found:
            why = " (a student's copy has none)" if half == "hidden" else ""
            raise BadInput(f"{directory / half}: no test cases here{why}")
        files += found
    return files


def toml_files(directory: Path) -> list[Path]:
    return sorted(path for path in directory.glob("*.toml") if not path.name.startswith("."))


def suite_name(path: Path, directory: Path) -> tuple[str, bool]:
    """Its name, and whether it is hidden."""
    place = Path(os.path.abspath(path)).with_suffix("")
    try:
        parts = place.relative_to(os.path.abspath(directory)).parts
    except ValueError:
        return place.name, False
    return "/".join(parts), parts[0] == "hidden"


def read_suite(path: Path, directory: Path = TESTCASES) -> Suite:
    """One file; its dependencies are not resolved. Raises BadInput."""
    table = read_toml(path)
    mistakes = [f"{path}: {each}" for each in unknown_keys(table, ["title", *KINDS])]
    title, tables = table.get("title"), {kind: table.get(kind, []) for kind in KINDS}
    if not isinstance(title, str) or not title.isprintable() or not 0 < len(title) <= 200:
        mistakes.append(f"{path}: title: it must be {ONE_LINE}, above the first [[case]]")
    if not all(isinstance(each, list) and all(isinstance(one, dict) for one in each)
               for each in tables.values()) or not any(tables.values()):
        mistakes.append(f"{path}: each case begins with a line [[case]], each shape that is timed "
                        "with [[performance]]; there is none")
    refuse(mistakes)
    assert isinstance(title, str)

    name, hidden = suite_name(path, directory)
    found: dict[str, list[Any]] = {kind: [] for kind in KINDS}
    names: set[str] = set()
    for kind in KINDS:
        for number, each in enumerate(tables[kind], 1):
            where = f"{path}: {kind} {quoted(each['name']) if 'name' in each else number}"
            item = read_item(kind, each, where, name, hidden, mistakes)
            if item and item.name in names:
                mistakes.append(f"{where}: name: another case of this file has the same")
            elif item:
                names.add(item.name)
                found[kind].append(item)
    refuse(mistakes)
    return Suite(name, title, path, hidden, found["case"], found["performance"])


def read_toml(path: Path, what: str = "a suite is public, hidden, all, or the path of a .toml file"
              ) -> dict[str, Any]:
    """`what` follows the reason why a file cannot be read. Raises BadInput."""
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST_FILE + 1)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise BadInput(f"{path}: cannot read this file: {why}; {what}") from None
    if len(content) > LARGEST_FILE:
        raise BadInput(f"{path}: more than {LARGEST_FILE} bytes")
    try:
        return tomllib.loads(content.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise BadInput(f"{path}: not UTF-8 (byte {error.start})") from None
    except RecursionError:
        raise BadInput(f"{path}: lists or tables nested too deeply") from None
    except ValueError as error:  # TOMLDecodeError, or an integer of thousands of digits
        raise BadInput(f"{path}: not TOML: {one_line(str(error))}") from None


# ---- one table -----------------------------------------------------------------------------------


def read_item(
    kind: str, table: dict[str, Any], where: str, suite: str, hidden: bool, mistakes: list[str]
) -> Any:
    """A Case or a Performance; or None, and what is wrong with it added to `mistakes`."""
    model = KINDS[kind]
    wrong = unknown_keys(table, model.keys())
    known = {key: value for key, value in table.items() if key in model.keys()}
    item = None
    try:
        item = model(**known, suite=suite, hidden=hidden)
        wrong += item.contradictions()
    except ValidationError as error:
        wrong += [explain(each["loc"], each["type"], table, model) for each in error.errors()]
    mistakes += [f"{where}: {each}" for each in dict.fromkeys(wrong)]
    return None if wrong else item


def unknown_keys(table: dict[str, Any], keys: list[str]) -> list[str]:
    return [f"unknown key {quoted(key)}{nearest(key, keys)}" for key in table if key not in keys]


def explain(place: tuple[int | str, ...], kind: str, table: dict[str, Any],
            model: type[Item]) -> str:
    """pydantic's error in words: key, value, what is allowed."""
    key = str(place[0])
    allowed = model.model_fields[key].description
    if kind == "missing":
        return f"{key}: is missing; it must be {allowed}"
    if key == "criteria" and len(place) > 1:
        criterion, names = str(place[1]), list(get_args(CriterionName))
        if criterion not in names:
            return f"criteria: unknown criterion {quoted(criterion)}{nearest(criterion, names)}"
        value, allowed = table[key][criterion], model.model_fields["points"].description
        return f"criteria: {criterion} = {quoted(value)}: it must be {allowed}"
    return f"{key} = {quoted(table[key])}: it must be {allowed}"


# ---- dependencies --------------------------------------------------------------------------------


def resolve(suites: list[Suite]) -> list[Suite]:
    """The suites with the keys of cases in `depends`."""
    mistakes: list[str] = []

    def resolved(item: AnyItem, suite: Suite) -> AnyItem:
        where = f"{suite.path}: {type(item).__name__.lower()} {quoted(item.name)}: depends"
        parents = [find_parent(name, suite, suites, where, mistakes) for name in item.depends]
        return item.model_copy(update={"depends": list(dict.fromkeys(parents))})

    found = [replace(suite, cases=[resolved(case, suite) for case in suite.cases],
                     performance=[resolved(each, suite) for each in suite.performance])
             for suite in suites]
    refuse(mistakes)
    return found


AnyItem = TypeVar("AnyItem", Case, Performance)


def find_parent(
    reference: str, suite: Suite, suites: list[Suite], where: str, mistakes: list[str]
) -> str:
    """The key of the case that `reference` names."""
    prefix = "public/" if reference.startswith("public/") else ""
    among = [each for each in suites if each.name.startswith(prefix)] if prefix else [suite]
    named = [(prefix + each.name, each) for other in among for each in other.cases]
    found = [each for name, each in named if name == reference]
    if not found:
        mistakes.append(f"{where}: there is no case {quoted(reference)}"
                        f"{nearest(reference, [name for name, _ in named])}")
        return ""
    if len(found) > 1:
        mistakes.append(f"{where}: {quoted(reference)} is in several public suites")
    if "correct" not in found[0].criteria:
        mistakes.append(f"{where}: {quoted(reference)} has no points for the criterion correct, "
                        "which decides whether the cases that depend on it are run")
    return found[0].key


def refuse_cycles(suites: list[Suite]) -> None:
    paths = {case.key: suite.path for suite in suites for case in suite.cases}
    cases = {case.key: case for suite in suites for case in suite.cases}
    try:
        TopologicalSorter({case.key: case.depends for case in cases.values()}).prepare()
    except CycleError as error:
        first, *others = sorted(set(error.args[1]), key=list(cases).index)
        by_way = f", by way of {', '.join(cases[key].name for key in others)}" if others else ""
        raise BadInput(f"{paths[first]}: case {quoted(cases[first].name)}: depends: on itself"
                       f"{by_way}") from None


def ancestors(item: Item, cases: dict[str, Case]) -> set[str]:
    """Keys of all cases that this one depends on, directly or not."""
    found: set[str] = set()
    waiting = list(item.depends)
    while waiting:
        key = waiting.pop()
        if key not in found:
            found.add(key)
            waiting += cases[key].depends
    return found


def needed_cases(asked: list[Suite], beside: list[Suite]) -> list[Suite]:
    """Of the suites `beside`, the cases that `asked` depends on, for no points."""
    cases = {case.key: case for suite in asked + beside for case in suite.cases}
    needed = set().union(*(ancestors(item, cases) for suite in asked for item in suite.items))
    free = {"points": 0.0, "criteria": {"correct": 0.0}}
    kept = [
        replace(suite, performance=[], cases=[case.model_copy(update=free) for case in suite.cases
                                              if case.key in needed])
        for suite in beside
    ]
    return [suite for suite in kept if suite.cases]


# ---- words of the errors -------------------------------------------------------------------------

_short = reprlib.Repr()
_short.maxstring = _short.maxother = _short.maxlong = 60
_short.maxlevel = 2


def quoted(value: object) -> str:
    """A value as one short line without control characters."""
    return _short.repr(value)


def one_line(text: str) -> str:
    return " ".join(ascii(text)[1:-1].split())[:160]


def nearest(key: str, allowed: list[str]) -> str:
    """What follows "unknown ...": the likeliest, or all that is allowed."""
    likely = difflib.get_close_matches(key, allowed, n=1)
    if likely:
        return f"; did you mean {quoted(likely[0])}?"
    return f"; allowed: {', '.join(allowed[:40]) or 'none'}"


def refuse(mistakes: list[str]) -> None:
    """Raises BadInput if there are any."""
    if mistakes:
        more = len(mistakes) - MOST_MISTAKES_SHOWN
        rest = [f"... and {more} more mistakes"] if more > 0 else []
        raise BadInput("\n".join(mistakes[:MOST_MISTAKES_SHOWN] + rest))
