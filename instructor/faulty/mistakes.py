"""Faulty kernels that are not files: each is a correct kernel of styles/ with one of the mistakes of
mistakes.toml, which says what every key means.

    for each in seeded():
        each.write(folder)      # folder/21_c-rows-by-n_walking.cu

Only Python's own library is used here (and tomli, where that has no tomllib).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10
    import tomli as tomllib

FOLDER = Path(__file__).resolve().parent
STYLES = sorted((FOLDER / "styles").glob("*.cu"))
FAMILY = 21  # the files of this folder have the numbers below

KEYS = {"name", "did", "cause", "found", "line", "shape", "loses", "in"}
# The launch is where these are made, wherever they show.
AT_THE_LAUNCH = {"block-shape", "launch-exchanged", "grid-exchanged", "grid-too-small",
                 "sizes-exchanged", "matrices-exchanged"}


@dataclass(frozen=True)
class Seeded:
    """A mistake in a style."""

    mistake: str
    style: str
    did: str
    causes: list[str]  # any of them; none: whatever is found
    found: list[str]  # kinds of findings that say as much
    lines: list[int]  # any of them
    shape: str  # m k n; empty: the usual ones
    loses: str  # as in the heads of the faulty kernels
    text: str
    number: int = 1  # of its kind in this style

    @property
    def name(self) -> str:
        again = f"_{self.number}" if self.number > 1 else ""
        return f"{self.mistake}_{self.style}{again}"

    def write(self, folder: Path) -> Path:
        path = folder / f"{FAMILY}_{self.name}.cu"
        path.write_text(self.text, encoding="utf-8")
        return path


def replaced(text: str, edits: list[str], where: str) -> str:
    """Raises ValueError unless each text to replace occurs once."""
    for old, new in zip(edits[::2], edits[1::2], strict=True):
        if text.count(old) != 1:
            raise ValueError(f"{where}: {old!r} occurs {text.count(old)} times, not once")
        text = text.replace(old, new)
    return text


def changed_lines(before: str, after: str) -> list[int]:
    """Of `after`; where lines are gone, the one behind them."""
    changes = SequenceMatcher(None, before.splitlines(), after.splitlines(), autojunk=False)
    return [line + 1 for what, _, _, first, last in changes.get_opcodes() if what != "equal"
            for line in range(first, max(last, first + 1))]


def lines_with(words: str, before: str, after: str) -> list[int]:
    if words == "edit":
        return changed_lines(before, after)
    return [number for number, line in enumerate(after.splitlines(), 1) if words in line]


def as_list(value: str | list[str]) -> list[str]:
    return [value] if isinstance(value, str) else value


def right_kernel(style: str, folder: Path) -> Path:
    """One of the styles; or, of a lab that needs no other code for it, a solution. Raises ValueError."""
    for path in (folder / "styles" / f"{style}.cu", folder.parent / "solutions" / f"{style}.cu"):
        if path.exists():
            return path
    raise ValueError(f"mistakes.toml: {style}.cu is neither in faulty/styles nor in solutions")


def seed(mistake: dict[str, Any], style: str, edits: list[str], number: int,
         folder: Path = FOLDER) -> Seeded:
    where = f"mistakes.toml: {mistake['name']} in {style}"
    before = right_kernel(style, folder).read_text(encoding="utf-8")
    after = replaced(before, edits, where)
    causes = as_list(mistake.get("cause", []))
    otherwise = "launch" if AT_THE_LAUNCH & set(causes) else "edit"
    marks = as_list(mistake.get("line", otherwise))
    lines = sorted({line for mark in marks for line in lines_with(mark, before, after)})
    if not lines or after == before:
        raise ValueError(f"{where}: changes nothing, or no line has {' or '.join(marks)!r}")
    return Seeded(mistake["name"], style, mistake["did"], causes, as_list(mistake.get("found", [])),
                  lines, mistake.get("shape", ""), mistake.get("loses", "correct"), after, number)


def seeded(folder: Path = FOLDER) -> Iterator[Seeded]:
    """All of them, of a lab's folder of this form. Raises ValueError where mistakes.toml is not as its
    head describes it."""
    table = tomllib.loads((folder / "mistakes.toml").read_text(encoding="utf-8"))
    names: set[str] = set()
    for mistake in table["mistake"]:
        count: dict[str, int] = {}
        if lacking := {"name", "did", "in"} - mistake.keys():
            raise ValueError(f"mistakes.toml: {mistake.get('name', 'a mistake')}: lacks {', '.join(sorted(lacking))}")
        if mistake["name"] in names or mistake.keys() - KEYS:
            raise ValueError(f"mistakes.toml: {mistake['name']}: twice, or with unknown keys")
        names.add(mistake["name"])
        for styles, *edits in mistake["in"]:
            differs = edits.pop() if isinstance(edits[-1], dict) else {}
            for style in styles.split():
                count[style] = count.get(style, 0) + 1
                yield seed(mistake | differs, style, edits, count[style], folder)
