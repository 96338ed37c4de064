"""The test cases: data in testcases/, read and checked here. Format: model.py.

    suites = load_suites(lab, "public")     # or "hidden", "all", or the path of one .toml file

In: TOML files. Out: Suite objects with the keys of their gates. Whatever is wrong with a file
raises BadInput with a line for each mistake: file, case, key, what is allowed.
"""

import difflib
import hashlib
import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..errors import BadInput
from ..lab import Lab
from ..text import quoted
from .model import KINDS, ONE_LINE, POINTS, Case, Key, Suite, number

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10
    import tomli as tomllib


OF_SUITE = ("title", "gate", "points", "limits", "repaired")
MOST_LIMIT = 1_000_000
LARGEST_FILE = 1 << 20
HASH_LENGTH = 16  # hexadecimal digits: against accidents, which are no attacks
MOST_MISTAKES_SHOWN = 8


def load_suites(lab: Lab, which: str, directory: Path | None = None) -> list[Suite]:
    """The suites `which` names: "public", "hidden", "all", or the path of one file. A case of another
    suite that is the gate of one of them comes first, for no points. `directory`: default: the lab's.

    Raises BadInput: a file cannot be read, or has mistakes; one line each."""
    directory = directory or lab.testcases
    suites = [read_suite(lab, path, directory) for path in suite_files(which, directory)]
    loaded = {suite.name for suite in suites}
    public = toml_files(directory / "public") if any(suite.gate for suite in suites) else []
    others = [read_suite(lab, path, directory) for path in public if suite_name(path, directory)[0] not in loaded]
    asked = with_gates(suites, others)
    return gates_alone(asked, others) + asked


# ---- files ---------------------------------------------------------------------------------------


def suite_files(which: str, directory: Path) -> list[Path]:
    if which not in ("public", "hidden", "all"):
        return [Path(which)]
    files = []
    for half in ("public", "hidden") if which == "all" else (which,):
        found = toml_files(directory / half)
        if not found:
            why = ", where a student's copy has none; SUITE=public is without them" if half == "hidden" else ""
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


def read_suite(lab: Lab, path: Path, directory: Path) -> Suite:
    """One file; its gate is a name. Raises BadInput."""
    table = read_toml(path)
    mistakes = [f"{path}: {each}" for each in unknown_keys(table, [*OF_SUITE, *KINDS])]
    mistakes += [f"{path}: {each}" for each in wrong_in(table, lab)]
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
            item = read_item(kind, each, where, name, hidden, lab, mistakes)
            if item and item.name in names:
                mistakes.append(f"{where}: name: another case of this file has the same")
            elif item:
                names.add(item.name)
                found[kind].append(item)
    refuse(mistakes)
    points, limits = table.get("points", {}), table.get("limits", {})
    cases = [asking(case.model_copy(update={"limits": limits}), points, f"{path}: case {quoted(case.name)}", mistakes)
             for case in found["case"]]
    asked = {each for case in cases for each in case.asked}
    mistakes += [f"{path}: points: no case asks for {name}" for name in points if name not in asked]
    refuse(mistakes)
    return Suite(name, title, path, hidden, cases, found["performance"], limits, points,
                 table.get("gate", ""), table.get("repaired", 0.0))


def wrong_in(table: dict[str, Any], lab: Lab) -> list[str]:
    """Of what a suite says beside its title and its cases."""
    points, limits, names = table.get("points", {}), table.get("limits", {}), list(lab.marks)
    for key, value in (("points", points), ("limits", limits)):
        if not isinstance(value, dict):
            return [f"{key}: it must be a table, [{key}]"]
    wrong = [f"points: unknown criterion {quoted(name)}{nearest(name, names)}"
             for name in points if name not in names]
    wrong += [f"points: {line}" for name in points for line in POINTS.wrong(name, points)]
    wrong += [f"limits: {line}" for name in limits for line in LIMIT.wrong(name, limits)]
    return wrong + [line for name, key in (("gate", GATE), ("repaired", SHARE)) for line in key.wrong(name, table)]


LIMIT = Key(f"a number above 0, up to {MOST_LIMIT}", lambda value: value and number("", 0, MOST_LIMIT).fits(value))
GATE = Key("the name of a case", lambda value: isinstance(value, str))
SHARE = number("a number from 0 to 1", 0, 1)


def asking(case: Case, points: dict[str, float], where: str, mistakes: list[str]) -> Case:
    """With the criteria that it asks for where it does not say."""
    if case.criteria is None:
        return case.model_copy(update={"criteria": ["memory"] if "memory" in points else []})
    mistakes += [f"{where}: criteria: the file has no points for {name}, below [points]"
                 for name in case.criteria if name not in points]
    return case


def read_toml(path: Path, what: str = "a suite is public, hidden, all, or the path of a .toml file") -> dict[str, Any]:
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
        raise BadInput(f"{path}: not TOML: {' '.join(ascii(str(error))[1:-1].split())[:160]}") from None


# ---- one table -----------------------------------------------------------------------------------


def read_item(kind: str, table: dict[str, Any], where: str, suite: str, hidden: bool, lab: Lab,
              mistakes: list[str]) -> Any:
    """A Case or a Performance; or None, and what is wrong with it added to `mistakes`."""
    model, item = KINDS[kind], None
    keys = model.keys(lab)
    wrong = unknown_keys(table, keys) + [line for name, key in keys.items() for line in key.wrong(name, table)]
    if not wrong:
        values = {name: value for name, value in table.items() if name not in lab.params}
        params = {name: table[name] for name in lab.params}
        item = model(**values, params=params, suite=suite, hidden=hidden, lab=lab)
        try:
            wrong = item.contradictions()
        except ValueError as error:  # of the lab's: kernels may not be called with these
            wrong = [str(error)]
    mistakes += [f"{where}: {each}" for each in wrong]
    return None if wrong else item


def unknown_keys(table: dict[str, Any], keys: Iterable[str]) -> list[str]:
    return [f"unknown key {quoted(key)}{nearest(key, list(keys))}" for key in table if key not in keys]


# ---- the gate ------------------------------------------------------------------------------------


def with_gates(suites: list[Suite], others: list[Suite]) -> list[Suite]:
    """With the keys of their gates. Raises BadInput."""
    mistakes: list[str] = []
    public = [suite for suite in (*suites, *others) if suite.name.startswith("public/")]

    def found(suite: Suite) -> str:
        near = [case.key for case in suite.cases if case.name == suite.gate]
        named = near or [case.key for each in public for case in each.cases if case.name == suite.gate]
        if len(named) == 1:
            return named[0]
        names = [case.name for each in (suite, *public) for case in each.cases]
        mistakes.append(f"{suite.path}: gate: " + (
            f"{quoted(suite.gate)} is in several public suites" if named else
            f"there is no case {quoted(suite.gate)}{nearest(suite.gate, list(dict.fromkeys(names)))}"))
        return ""

    asked = [replace(suite, gate=found(suite)) if suite.gate else suite for suite in suites]
    refuse(mistakes)
    return asked


def gates_alone(asked: list[Suite], others: list[Suite]) -> list[Suite]:
    """Of the suites `others`, the cases that are gates of those that are asked for, for no points."""
    gates = {suite.gate for suite in asked}
    free = {"points": 0.0, "criteria": []}
    kept = [replace(suite, performance=[], points={}, gate="", repaired=0.0,
                    cases=[case.model_copy(update=free) for case in suite.cases if case.key in gates])
            for suite in others]
    return [suite for suite in kept if suite.cases]


# ---- words of the errors -------------------------------------------------------------------------

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
    """Of what the suites say, whatever their files look like: comments and order of keys change nothing."""
    digest = hashlib.sha256()
    for suite in suites:
        digest.update(repr((suite.points, suite.gate, suite.repaired)).encode() + b"\0")
        for item in suite.items:
            digest.update(item.model_dump_json().encode() + b"\0")
    return digest.hexdigest()[:HASH_LENGTH]
