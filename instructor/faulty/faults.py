"""The faulty kernels of this folder, NN_name: files, and those that faults.toml makes of correct kernels
by an edit or two.

    for path in kernels(folder):     # folder/02_second_barrier.cu, instructor/faulty/04_a_columns.cu
    make faulty                      writes all that are no files to build/faulty

Only Python's own library is used here (and tomli, where that has no tomllib).
"""

import functools
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from instructor.faulty.mistakes import FOLDER, as_list, replaced, tomllib

REPOSITORY = FOLDER.parent.parent
WRITTEN = Path("build/faulty")  # where `make faulty` puts them, from the repository's root
NAME = re.compile(r"(\d\d)_\w+")
KEYS = {"name", "of", "head", "here", "other", "edits"}


@dataclass(frozen=True)
class Edited:
    """A correct kernel with a mistake, as a file of this folder has it: with its head and its marks."""

    name: str
    text: str

    def write(self, folder: Path) -> Path:
        path = folder / f"{self.name}.cu"
        path.write_text(self.text, encoding="utf-8")
        return path


def code_of(text: str) -> str:
    """What follows the first comment and the empty line behind it."""
    return text.partition("*/\n\n")[2]


def marked(text: str, words: str, mark: str, where: str) -> str:
    """With the mark at the end of the line that has these words."""
    lines = text.splitlines()
    found = [number for number, line in enumerate(lines) if words in line]
    if len(found) != 1:
        raise ValueError(f"{where}: {len(found)} lines have {words!r}, not one")
    lines[found[0]] += f" /* <- {mark} */"
    return "\n".join(lines) + "\n"


def edit(fault: dict[str, Any]) -> Edited:
    name = fault.get("name", "")
    where, number = f"faults.toml: {name}", NAME.fullmatch(name)
    if not number or fault.keys() - KEYS:
        raise ValueError(f"{where}: no name, or unknown keys")
    before = code_of((REPOSITORY / fault["of"]).read_text(encoding="utf-8"))
    text = replaced(before, fault["edits"], where)
    if text == before:
        raise ValueError(f"{where}: changes nothing")
    for mark in ("here", "other"):
        for words in as_list(fault.get(mark, [])):
            text = marked(text, words, mark, where)
    head = "\n".join(f" * {line}".rstrip() for line in fault["head"].splitlines())
    return Edited(name, f"/* FAULT {int(number[1])}: {head[3:]} */\n\n{text}")


@functools.cache
def edited(folder: Path = FOLDER) -> tuple[Edited, ...]:
    """Those that are no files, of a lab's folder of this form. Raises ValueError where faults.toml is not
    as its head describes it."""
    path = folder / "faults.toml"
    table = tomllib.loads(path.read_text(encoding="utf-8")) if path.exists() else {"fault": []}
    made = tuple(edit(fault) for fault in table["fault"])
    names = [each.name for each in made] + [path.stem for path in folder.glob("*.cu")]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise ValueError(f"faults.toml: {min(twice)}: there are two of this name")
    return made


def kernels(folder: Path) -> list[Path]:
    """All of them, by name: those that are files, and the others, which are written to `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [*FOLDER.glob("*.cu"), *(each.write(folder) for each in edited())]
    return sorted(paths, key=lambda path: path.name)


def main() -> int:
    try:
        kernels(REPOSITORY / WRITTEN)
    except ValueError as error:
        print(f"faulty: {error}", file=sys.stderr)
        return 2
    print(f"{len(edited())} faulty kernels are in {WRITTEN}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
