"""The test cases: data in testcases/, read and checked here. Format: docs/grading.md.

    suites = load_suites("public")          # or "hidden", "all", or the path of one .toml file

In: TOML files. Out: Suite objects whose cases know each other's keys. Whatever is wrong with a file
raises BadInput with a line for each mistake: file, case, key, what is allowed.
"""

from __future__ import annotations

import difflib
import hashlib
import os
import reprlib
from collections.abc import Sequence
from dataclasses import replace
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any, get_args

from pydantic import ValidationError

from .. import ROOT
from ..errors import BadInput
from ..record.model import CriterionName
from .model import KINDS, ONE_LINE, AnyItem, Case, Item, Suite

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10
    import tomli as tomllib


TESTCASES = ROOT / "testcases"

LARGEST_FILE = 1 << 20
HASH_LENGTH = 16  # hexadecimal digits: against accidents, which are no attacks
MOST_MISTAKES_SHOWN = 8


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


def of_cases(suites: Sequence[Suite]) -> str:
    """Of what the suites say, whatever their files look like: comments and order of keys change
    nothing."""
    digest = hashlib.sha256()
    for suite in suites:
        for item in suite.items:
            digest.update(item.model_dump_json().encode() + b"\0")
    return digest.hexdigest()[:HASH_LENGTH]
