"""The kinds of findings, as checker/findings.def has them: its rows are calls in Python as in C."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import Path

TABLE = Path(__file__).parent.parent / "checker" / "findings.def"


@dataclass(frozen=True)
class Kind:
    """What depends on the kind of a finding alone."""

    name: str
    """"shared-race"."""
    may_be_right: bool
    """A GPU may compute the right C all the same."""
    headline: str
    hint: str
    """May be empty."""
    meaning: str
    """Markdown, for docs/check.md."""


def read(table: Path = TABLE) -> dict[str, Kind]:
    """By their names, in the order of the file. Raises OSError where it cannot be read, SyntaxError
    and ValueError where a row is not as its first comment says."""
    rows = ast.parse(table.read_text().split("*/", 1)[1])
    kinds = {}
    for row in rows.body:
        if not (isinstance(row, ast.Expr) and isinstance(row.value, ast.Call)):
            raise ValueError(f"{table}: not a row: {ast.unparse(row)}")
        if len(row.value.args) != 7:
            raise ValueError(f"{table}: a row has seven parts: {ast.unparse(row)}")
        _, name, _, result, *texts = row.value.args
        kind = Kind(ast.literal_eval(name), ast.unparse(result) == "MAYBE",
                    *map(ast.literal_eval, texts))
        kinds[kind.name] = kind
    return kinds


KINDS = read()
