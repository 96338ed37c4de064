"""Small defects, drawn from those that universalmutator's rules make of a line.

A defect counts where it changes what is built: of C, an object of its room compiles and differs; of
Python, what it is compiled to does.
"""

from __future__ import annotations

import contextlib
import fnmatch
import io
import random
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import CodeType

from universalmutator import mutator

from grader.cases.read import read_toml
from grader.errors import BadInput

ROOMS, HARMLESS = (Path(__file__).with_name(name) for name in ("rooms.toml", "harmless.toml"))
RULES = {".py": ["universal.rules", "python.rules"],
         ".c": ["universal.rules", "c_like.rules", "c.rules"],
         ".h": ["universal.rules", "c_like.rules", "c.rules"]}


class Copy:
    """Of the repository's files, as the checkout has them."""

    def __init__(self, repository: Path, tracked: list[str], path: Path):
        self.path = path
        for file in tracked:
            (path / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(repository / file, path / file, follow_symlinks=False)

    @contextlib.contextmanager
    def having(self, mutant: Mutant) -> Iterator[None]:
        file = self.path / mutant.file
        text = file.read_text(encoding="utf-8")
        lines = text.splitlines(keepends=True)
        assert lines[mutant.line - 1] == mutant.before
        lines[mutant.line - 1] = mutant.after
        file.write_text("".join(lines), encoding="utf-8")
        try:
            yield
        finally:
            file.write_text(text, encoding="utf-8")


@dataclass(frozen=True)
class Room:
    name: str
    files: tuple[str, ...]
    """Of those that can be mutated, relative."""
    words: tuple[str, ...]
    """For pytest."""


@dataclass(frozen=True)
class Mutant:
    room: Room
    file: str
    line: int
    before: str
    after: str
    """May be several lines, or none."""

    @property
    def change(self) -> str:
        return f"{self.before.strip()}  ->  {' '.join(self.after.split()) or '(nothing)'}"


def rooms_of(repository: Path, tracked: list[str]) -> list[Room]:
    """Raises BadInput."""
    found = []
    for name, given in read_toml(ROOMS, "make mutants reads it").items():
        files = [file for file in tracked if Path(file).suffix in RULES
                 and any(fnmatch.fnmatch(file, pattern) for pattern in given["files"])]
        words = [*given["tests"], *([] if given.get("slow") else ["-m", "not slow"])]
        if units := given.get("units"):
            words = ["tests/test_unit.py", *words, "-k", f"not test_unit or {' or '.join(units)}"]
        for word in given["tests"]:
            if not (repository / word.partition("::")[0]).exists():
                raise BadInput(f"{ROOMS}: [{name}]: there is no {word}")
        if not files:
            raise BadInput(f"{ROOMS}: [{name}]: no file is called that")
        found.append(Room(name, tuple(files), tuple(words)))
    return found


def mutants_of(repository: Path, room: Room) -> list[Mutant]:
    """All of them, those that change nothing included."""
    made = []
    for file in room.files:
        lines = (repository / file).read_text(encoding="utf-8").splitlines(keepends=True)
        read = [line.replace("{-", "{ -") for line in lines]  # for it, the former begins a comment
        with contextlib.redirect_stdout(io.StringIO()):  # it reports on strings that it leaves alone
            changes = mutator.mutants_regexp(read, ruleFiles=RULES[Path(file).suffix],
                                      ignorePatterns=[], ignoreStringOnly=True)
        made += [Mutant(room, file, number, lines[number - 1], after)
                 for number, after, *_ in changes]
    return made


def drawn(rooms: list[Room], seed: int, copy: Copy) -> Iterator[Mutant]:
    """As many as there are: one of each room in turn, each of another line. The copy is used to
    compile them."""
    dice = random.Random(seed)
    left = {room.name: mutants_of(copy.path, room) for room in rooms}
    objects = Objects(copy)
    used: set[tuple[str, int]] = set()
    for mutants in left.values():
        dice.shuffle(mutants)
    while any(left.values()):
        for room in rooms:
            while left[room.name]:
                mutant = left[room.name].pop()
                place = mutant.file, mutant.line
                if place not in used and changes_what_is_built(mutant, copy, objects):
                    used.add(place)
                    yield mutant
                    break


def changes_what_is_built(mutant: Mutant, copy: Copy, objects: Objects) -> bool:
    if not mutant.file.endswith(".py"):
        return objects.differ(mutant)
    file = copy.path / mutant.file
    sound = code_of(file.read_text(encoding="utf-8"))
    with copy.having(mutant):
        return code_of(file.read_text(encoding="utf-8")) not in (None, sound)


def code_of(text: str) -> object:
    """What Python runs, without lines; None where the syntax is wrong. What is never reached is not in it,
    nor are docstrings."""
    try:
        return without_lines(compile(text, "", "exec", optimize=2))
    except SyntaxError:
        return None


def without_lines(code: CodeType) -> tuple[object, ...]:
    inner = [without_lines(each) if isinstance(each, CodeType) else
             sorted(map(repr, each)) if isinstance(each, frozenset) else repr(each)  # a set has no order
             for each in code.co_consts]
    return code.co_code, inner, code.co_names, code.co_varnames, code.co_argcount, code.co_flags


class Objects:
    """What the C files of a room compile to; what they are without a defect is kept."""

    def __init__(self, copy: Copy):
        self.copy = copy
        self.sound: dict[str, bytes | None] = {}

    @cached_property
    def flags(self) -> list[str]:
        """As make compiles C."""
        subprocess.run(["make", "-s", "build/c/settings"], cwd=self.copy.path, check=True)
        shown = subprocess.run(["sh", "-c", '. build/c/settings; echo "$C_FLAGS"'], text=True,
                               cwd=self.copy.path, capture_output=True, check=True)
        return shlex.split(shown.stdout)

    def differ(self, mutant: Mutant) -> bool:
        """And all compile."""
        sources = self.sources_of(mutant)
        for source in sources:
            if source not in self.sound:
                self.sound[source] = self.compiled(source)
        with self.copy.having(mutant):
            made = [self.compiled(source) for source in sources]
        return None not in made and made != [self.sound[source] for source in sources]

    def sources_of(self, mutant: Mutant) -> list[str]:
        """It, or those of the room and beside it that include it."""
        if mutant.file.endswith(".c"):
            return [mutant.file]
        name, folder = Path(mutant.file).name, self.copy.path / Path(mutant.file).parent
        files = {str(path.relative_to(self.copy.path)) for path in folder.glob("*.c")}
        files |= {file for file in mutant.room.files if file.endswith(".c")}
        return sorted(file for file in files
                      if f'{name}"' in (self.copy.path / file).read_text(encoding="utf-8"))

    def compiled(self, source: str) -> bytes | None:
        """The object's bytes; None where it does not compile."""
        with tempfile.TemporaryDirectory() as folder:  # where cc fails, it removes the object
            made = Path(folder) / "made.o"
            words = ["cc", *self.flags, "-w", "-g0", "-I.", "-c", source, "-o", made]
            run = subprocess.run(words, cwd=self.copy.path, capture_output=True, check=False)
            return made.read_bytes() if run.returncode == 0 else None
