"""The kinds of findings, and the causes that `make check` can prove behind them, as the tables of
the engine and of the lab have them: their rows are calls in Python as in C."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
LAB, ENGINE = ROOT / "lab", ROOT / "engine"


@dataclass(frozen=True)
class Kind:
    """What depends on the kind of a finding alone."""

    name: str
    """"shared-race"."""
    may_be_right: bool
    """A GPU may compute the right C all the same."""
    may_have_cause: bool
    """Another mistake may be behind it."""
    headline: str
    hint: str
    """May be empty."""
    meaning: str
    """Markdown, for docs/check.md."""


def rows(table: Path, name: str, parts: int) -> Iterator[list[str]]:
    """The arguments of each row of that name; names stand for themselves. Raises OSError where the table cannot be
    read, SyntaxError and ValueError where a row is not as its first comment says."""
    for row in ast.parse(re.sub(r"/\*.*?\*/", "", table.read_text(), flags=re.DOTALL)).body:
        if not (isinstance(row, ast.Expr) and isinstance(row.value, ast.Call) and isinstance(row.value.func, ast.Name)):
            raise ValueError(f"{table}: not a row: {ast.unparse(row)}")
        if row.value.func.id != name:
            continue
        if len(row.value.args) != parts:
            raise ValueError(f"{table}: a row has {parts} parts: {ast.unparse(row)}")
        yield [each.id if isinstance(each, ast.Name) else ast.literal_eval(each)
               for each in row.value.args]


def kinds(table: Path = ENGINE / "report" / "record" / "findings.def") -> dict[str, Kind]:
    """By their names, in the order of the file. Raises as rows() does."""
    return {name: Kind(name, result == "MAYBE", cause != "NEVER", *texts)
            for _, name, _, result, cause, *texts in rows(table, "FINDING", 8)}


def causes(*tables: Path) -> dict[str, str]:
    """What they mean, in Markdown, likewise."""
    return {name: meaning for table in tables for _, name, meaning in rows(table, "CAUSE", 3)}


KINDS = kinds()
CAUSES = causes(LAB / "mistakes" / "causes.def", ENGINE / "form" / "causes.def")


def words_of(kind: str) -> dict[str, Any]:
    """What the judge says of each finding of this kind."""
    known = KINDS[kind]
    return {"kind": kind, "headline": known.headline, "may_be_right": known.may_be_right,
            "may_have_cause": known.may_have_cause}
