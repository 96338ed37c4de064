"""The test cases: data in testcases/, read and checked here. Format: docs/grading.md.

    suites = load_suites("public")          # or "hidden", "all", or the path of one .toml file

Whatever is wrong with a file ends as BadInput, a line for each mistake: file, case, key, what is
allowed.
"""

from __future__ import annotations

import difflib
import math
import os
import reprlib
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from .errors import BadInput
from .record import CriterionName

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10
    import tomli as tomllib

TESTCASES = Path(__file__).resolve().parent.parent / "testcases"

LARGEST_DIMENSION = 16384  # so that A, B and C have at most 2^28 elements, 1 GiB each
LARGEST_FILE = 1 << 20
MOST_CASES = 500
MOST_MISTAKES_TOLD = 8
LARGEST_SEED = 2**63 - 1  # what a TOML integer holds

# Below so many products (m k n) a fast kernel is done within some ten microseconds, in which a
# launch and a cold cache weigh as much as the kernel: no points come from such a time.
LEAST_TIMED = 512**3
LARGEST_RATIO = 10.0  # to cuBLAS; nobody will be that far past it

# CPU seconds that one block may take unless the case says otherwise. A tiled or naive kernel takes
# a hundredth of this on the CPU backend, so that it is enough for slow machines and odd kernels,
# and a submission that hangs in every case is still graded in well under a minute.
LAUNCH_SECONDS = 2.0
PRODUCTS_PER_SECOND = 15e6
# A submission that hangs costs so much in one case; beyond that nobody waits for a grade.
LONGEST_LAUNCH_SECONDS = 600
# Below, a right kernel on a busy machine does not end, either.
SHORTEST_LAUNCH_SECONDS = 0.1
MOST_PRODUCTS = int((LONGEST_LAUNCH_SECONDS - LAUNCH_SECONDS) * PRODUCTS_PER_SECOND)

Fill = Literal["random", "ones-twos", "identity", "index", "exact", "extremes", "counting"]
Tolerance = Literal["float32", "bound", "exact"]

Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,39}$")]
Line = Annotated[str, StringConstraints(pattern=r"^[^\x00-\x1f\x7f-\x9f\u2028\u2029]{0,200}$")]
Dimension = Annotated[int, Field(ge=1, le=LARGEST_DIMENSION)]
Points = Annotated[float, Field(ge=0, le=1000, allow_inf_nan=False)]
Seconds = Annotated[float, Field(ge=SHORTEST_LAUNCH_SECONDS, le=LONGEST_LAUNCH_SECONDS, allow_inf_nan=False)]
Ratio = Annotated[float, Field(ge=0, le=LARGEST_RATIO, allow_inf_nan=False)]

# What an error says that a key has to be.
ALLOWED = {
    "name": "1 to 40 letters, digits, '.', '_' or '-', beginning with a letter or digit",
    "title": "one line of at most 200 characters",
    "hint": "one line of at most 200 characters",
    "m": f"a whole number from 1 to {LARGEST_DIMENSION}",
    "k": f"a whole number from 1 to {LARGEST_DIMENSION}",
    "n": f"a whole number from 1 to {LARGEST_DIMENSION}",
    "fill": "one of " + ", ".join(get_args(Fill)),
    "points": "a number from 0 to 1000",
    "seed": "a whole number from 0 to 2^63 - 1",
    "tolerance": "one of " + ", ".join(get_args(Tolerance)),
    "time_limit": f"CPU seconds, from {SHORTEST_LAUNCH_SECONDS} to {LONGEST_LAUNCH_SECONDS}",
    "criteria": "a table of points for some of " + ", ".join(get_args(CriterionName)),
    "depends": 'a list of names of cases, those of a public suite as "public/NAME"',
    "none": f"a ratio to cuBLAS, from 0 to {LARGEST_RATIO:g}",
    "full": f"a ratio to cuBLAS, from 0 to {LARGEST_RATIO:g}",
}

KINDS = ("case", "performance")
"""The tables that a file consists of."""


class Loaded(BaseModel):
    """What every table has once it is known which file it stands in."""

    name: Name
    m: Dimension
    k: Dimension
    n: Dimension
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


class CaseTable(BaseModel):
    """A [[case]] as it stands in the file."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    name: Name
    title: Line = ""
    m: Dimension
    k: Dimension
    n: Dimension
    fill: Fill
    points: Points
    seed: Annotated[int, Field(ge=0, le=LARGEST_SEED)] | None = None
    """None: made from the run's seed, fresh each run."""
    tolerance: Tolerance | None = None
    """None: what the fill allows, see docs/correctness.md."""
    time_limit: Seconds | None = None
    """CPU seconds for one block of a launch of the plain build; None: by the size."""
    hint: Line = ""
    """What to think about when it fails and no finding has a better hint."""
    criteria: dict[CriterionName, Points] = {}
    """Points of each; {}: all for "correct"."""
    depends: list[str] = []
    """Cases without which this one earns nothing. In a loaded case: their keys."""


class Case(CaseTable, Loaded):
    @property
    def launch_seconds(self) -> float:
        return self.time_limit or LAUNCH_SECONDS + self.m * self.k * self.n / PRODUCTS_PER_SECOND


class PerformanceTable(BaseModel):
    """A [[performance]] as it stands in the file: a shape that is timed beside cuBLAS."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    name: Name
    title: Line = ""
    m: Dimension
    k: Dimension
    n: Dimension
    points: Points
    none: Ratio
    """cuBLAS's time over the submission's, up to which there are no points."""
    full: Ratio
    """From which there are all of them; between the two they grow in a straight line."""
    hint: Line = ""
    """What to think about when points are missing."""
    depends: list[str] = []
    """Cases that have to be right, or nothing is timed. Once loaded: their keys."""


class Performance(PerformanceTable, Loaded):
    pass


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
    """The suites asked for. Public cases that they depend on, and that were not asked for, come
    first, for no points."""
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
    return run_along(asked, beside) + asked


# ---- files ---------------------------------------------------------------------------------------


def suite_files(which: str, directory: Path) -> list[Path]:
    if which not in ("public", "hidden", "all"):
        return [Path(which)]
    files = []
    for half in ("public", "hidden"):
        if which in (half, "all"):
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
    """One file, its dependencies not looked at."""
    table = read_toml(path)
    mistakes = [
        f"{path}: unknown key {quoted(key)}{nearest(key, ['title', *KINDS])}"
        for key in table
        if key not in ("title", *KINDS)
    ]
    title, tables = table.get("title"), {kind: table.get(kind, []) for kind in KINDS}
    if not isinstance(title, str) or not title.isprintable() or not 0 < len(title) <= 200:
        mistakes.append(f"{path}: title: it has to be {ALLOWED['title']}, above the first [[case]]")
    if not all(isinstance(each, list) and all(isinstance(one, dict) for one in each)
               for each in tables.values()) or not any(tables.values()):
        mistakes.append(f"{path}: each case begins with a line [[case]], each shape that is timed "
                        "with [[performance]]; there is none")
    elif sum(map(len, tables.values())) > MOST_CASES:
        mistakes.append(f"{path}: {sum(map(len, tables.values()))} cases; 1 to {MOST_CASES} are "
                        "allowed")
    tell(mistakes)
    assert isinstance(title, str)

    name, hidden = suite_name(path, directory)
    found: dict[str, list[Any]] = {kind: [] for kind in KINDS}
    names: set[str] = set()
    for kind in KINDS:
        for number, each in enumerate(tables[kind], 1):
            where = f"{path}: {kind} {quoted(each['name']) if 'name' in each else number}"
            item = READERS[kind](each, where, name, hidden, mistakes)
            if item and item.name in names:
                mistakes.append(f"{where}: name: another case of this file has it too")
            elif item:
                names.add(item.name)
                found[kind].append(item)
    tell(mistakes)
    return Suite(name, title, path, hidden, found["case"], found["performance"])


def read_toml(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST_FILE + 1)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise BadInput(f"{path}: cannot read this suite: {why}; a suite is public, hidden, all, "
                       "or the path of a .toml file") from None
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


# ---- one case ------------------------------------------------------------------------------------


def read_case(
    table: dict[str, Any], where: str, suite: str, hidden: bool, mistakes: list[str]
) -> Case | None:
    """The case, or None, and what is wrong with it added to `mistakes`."""
    stated = validated(CaseTable, table, where, mistakes)
    if stated is None:
        return None
    wrong = contradictions(stated)
    mistakes += [f"{where}: {each}" for each in wrong]
    if wrong:
        return None
    criteria = stated.criteria or {"correct": stated.points}
    return Case(**stated.model_dump() | {"criteria": criteria, "suite": suite, "hidden": hidden})


def read_performance(
    table: dict[str, Any], where: str, suite: str, hidden: bool, mistakes: list[str]
) -> Performance | None:
    """Likewise."""
    stated = validated(PerformanceTable, table, where, mistakes)
    if stated is None:
        return None
    wrong = []
    if stated.none >= stated.full:
        wrong.append(f"none = {stated.none:g}, full = {stated.full:g}: none, where points begin, "
                     "has to be less than full, where there are all of them")
    if stated.m * stated.k * stated.n < LEAST_TIMED:
        wrong.append(f"m k n = {stated.m} {stated.k} {stated.n}: too few products for a time that "
                     f"means something; m*k*n has to be at least 512^3 = {LEAST_TIMED}")
    mistakes += [f"{where}: {each}" for each in wrong]
    if wrong:
        return None
    return Performance(**stated.model_dump() | {"suite": suite, "hidden": hidden})


READERS = {"case": read_case, "performance": read_performance}

Stated = TypeVar("Stated", CaseTable, PerformanceTable)


def validated(kind: type[Stated], table: dict[str, Any], where: str,
              mistakes: list[str]) -> Stated | None:
    try:
        return kind.model_validate(table)
    except ValidationError as error:
        keys = list(kind.model_fields)
        told = [f"{where}: {explain(each['loc'], each['type'], table, keys)}"
                for each in error.errors()]
        mistakes += dict.fromkeys(told)  # a value that fits none of two types is told twice
        return None


def explain(place: tuple[int | str, ...], kind: str, table: dict[str, Any],
            keys: list[str]) -> str:
    """pydantic's error in words: key, value, what is allowed."""
    key = str(place[0])
    if kind == "missing":
        return f"{key}: is missing; it has to be {ALLOWED[key]}"
    if key not in keys:
        return f"unknown key {quoted(key)}{nearest(key, keys)}"
    if key == "criteria" and len(place) > 1:
        criterion, names = str(place[1]), list(get_args(CriterionName))
        if criterion not in names:
            return f"criteria: unknown criterion {quoted(criterion)}{nearest(criterion, names)}"
        value = table[key][criterion]
        return f"criteria: {criterion} = {quoted(value)}: it has to be {ALLOWED['points']}"
    return f"{key} = {quoted(table[key])}: it has to be {ALLOWED[key]}"


def contradictions(case: CaseTable) -> list[str]:
    """What is wrong although each key is right."""
    wrong = []
    given = sum(case.criteria.values())
    if case.criteria and abs(given - case.points) > 1e-6:
        wrong.append(f"criteria: they add up to {given:g} points, not to {case.points:g}")
    if case.tolerance == "float32" and case.fill != "random":
        wrong.append("tolerance = 'float32': only the fill random has numbers of mean zero")
    if case.tolerance == "exact" and case.fill in ("random", "extremes"):
        wrong.append(f"tolerance = 'exact': with the fill {case.fill} right kernels differ in "
                     "rounding")
    products = case.m * case.k * case.n
    if products > MOST_PRODUCTS:
        seconds = LAUNCH_SECONDS + products / PRODUCTS_PER_SECOND
        wrong.append(f"m k n = {case.m} {case.k} {case.n}: the time limit would be "
                     f"{math.ceil(seconds)} s; at most {LONGEST_LAUNCH_SECONDS} s are allowed, which is "
                     f"m*k*n up to {MOST_PRODUCTS:.3g}; take a smaller shape")
    return wrong


# ---- dependencies --------------------------------------------------------------------------------


def resolve(suites: list[Suite]) -> list[Suite]:
    """The suites with the keys of cases in `depends`."""
    mistakes: list[str] = []

    def resolved(item: AnyItem, suite: Suite) -> AnyItem:
        parents = [find_parent(name, suite, suites, item, mistakes) for name in item.depends]
        return item.model_copy(update={"depends": list(dict.fromkeys(parents))})

    found = [replace(suite, cases=[resolved(case, suite) for case in suite.cases],
                     performance=[resolved(each, suite) for each in suite.performance])
             for suite in suites]
    tell(mistakes)
    return found


AnyItem = TypeVar("AnyItem", Case, Performance)


def find_parent(
    reference: str, suite: Suite, suites: list[Suite], item: Case | Performance,
    mistakes: list[str]
) -> str:
    """The key of the case that `reference` names."""
    name, public = reference, reference.startswith("public/")
    if public:
        name = reference.removeprefix("public/")
        among = [each for each in suites if each.name.startswith("public/")]
    else:
        among = [suite]
    found = [each for other in among for each in other.cases if each.name == name]
    kind = "performance" if isinstance(item, Performance) else "case"
    where = f"{suite.path}: {kind} {quoted(item.name)}: depends"
    if not found:
        names = [("public/" if public else "") + each.name for s in among for each in s.cases]
        mistakes.append(f"{where}: there is no case {quoted(reference)}{nearest(reference, names)}")
        return ""
    if len(found) > 1:
        mistakes.append(f"{where}: {quoted(reference)} is in several public suites")
    if "correct" not in found[0].criteria:
        mistakes.append(f"{where}: {quoted(reference)} has no points for the criterion correct, "
                        "which decides whether those that depend on it are run")
    return found[0].key


def refuse_cycles(suites: list[Suite]) -> None:
    cases = {case.key: case for suite in suites for case in suite.cases}
    for suite in suites:
        for case in suite.cases:
            above = ancestors(case, cases)
            if case.key in above:
                round_trip = [cases[key].name for key in sorted(above)
                              if key != case.key and case.key in ancestors(cases[key], cases)]
                by_way = f", by way of {', '.join(round_trip)}" if round_trip else ""
                raise BadInput(f"{suite.path}: case {quoted(case.name)}: depends: "
                               f"on itself{by_way}")


def ancestors(item: Case | Performance, cases: dict[str, Case]) -> set[str]:
    """Keys of all cases that this one depends on, directly or not."""
    found: set[str] = set()
    waiting = list(item.depends)
    while waiting:
        key = waiting.pop()
        if key not in found:
            found.add(key)
            waiting += cases[key].depends
    return found


def run_along(asked: list[Suite], beside: list[Suite]) -> list[Suite]:
    """Of the suites that nobody asked for, the cases that the others depend on."""
    cases = {case.key: case for suite in asked + beside for case in suite.cases}
    needed: set[str] = set()
    for suite in asked:
        for item in suite.items:
            needed |= ancestors(item, cases)
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


def tell(mistakes: list[str]) -> None:
    if mistakes:
        more = len(mistakes) - MOST_MISTAKES_TOLD
        rest = [f"... and {more} more mistakes"] if more > 0 else []
        raise BadInput("\n".join(mistakes[:MOST_MISTAKES_TOLD] + rest))
