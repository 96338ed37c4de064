"""The files of a download: a zip as it came, or a folder that it was unpacked to.

In: a path. Out: names, and the bytes of one at a time. Nothing of a zip is written anywhere, no link
is followed, and each file has a limit. A file that cannot be read is BadInput for that file alone.
"""

from __future__ import annotations

import os
import zipfile
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Container, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from grader.errors import BadInput
from grader.intake.find import (KERNEL, ZIP_BEGINS, Found, below, choose, damage_named, in_zip,
                                listed, of_the_system, outside, read_below, refuse_kind, unpacked,
                                unreadable)
from grader.intake.submission import clean
from grader.text import printable
from .model import Claim, HandIn

MOST_FILES = 200_000  # in the download of a class
LARGEST_CLASS = 256 << 20  # bytes of all that is taken out of one download; 100 KB a student is much


NO_HAND_INS = (".csv", ".tsv", ".xlsx", ".ods", ".toml", ".md", ".yml", ".pdf", ".html")
"""What staff keep beside hand-ins: rosters, worksheets, notes."""
OF_TOOLS = ("__MACOSX", ".DS_Store", ".git", ".venv", ".vscode", ".idea", ".cache")


class Archive(ABC):
    """shown: its path, printable. names: of all files but hidden ones, with '/'; one that is there
    twice is listed twice. hidden: names of these. refused: names that lead out of the archive."""

    def __init__(self, shown: str, names: list[str]):
        self.shown = shown
        self.refused = [name for name in names if outside(name)]
        inside = [name for name in names if not outside(name)]
        self.names = [name for name in inside if not hidden(name)]
        self.hidden = [name for name in inside if hidden(name)]
        self.taken = 0

    def hand_in_names(self) -> list[str]:
        """Those by which a platform's download is recognized."""
        return self.names

    @abstractmethod
    def read(self, name: str, largest: int | None = None) -> bytes:
        """Up to this many bytes; None: files.LARGEST, or LARGEST_ZIP if it is a zip. Raises
        BadInput."""

    def hand_in(self, claims: Sequence[Claim], source: str, files: dict[str, str],
                notes: Sequence[str] = (), submitted: datetime | None = None,
                late: bool | None = None) -> HandIn:
        """The kernel.cu among these files (by their names here, the students' own names of them), or
        why there is none. Hidden ones are ignored."""
        if own := sorted(each for each in files.values() if hidden(each)):
            notes = [f"ignored: {listed(own)}, hidden", *notes]
            files = {name: each for name, each in files.items() if not hidden(each)}
        label = f"{Path(self.shown).name}: {printable(source)}"
        found = Found(Path(), b"")
        problem = ""
        try:
            found = self.kernel(label, files)
        except BadInput as error:
            problem = str(error)
            for place in (f"{label}: ", f"{label}/", f"{self.shown}/"):
                problem = problem.removeprefix(place)
        return HandIn(tuple(claims), label, found.content, problem, (*found.notes, *notes),
                      submitted, late)

    def kernel(self, label: str, files: dict[str, str]) -> Found:
        kernels = [name for name, own in files.items() if own.lower() == KERNEL]
        if len(kernels) > 1:  # their own names are the same
            raise BadInput(f"{label}: a hand-in with {listed(kernels)}: which one is the submission?")
        chosen, notes = choose(list(files.values()), (".cu", ".zip"), f"{label}: a hand-in")
        [name] = [name for name, own in files.items() if own == chosen]
        found = Found(Path(label) / chosen, self.read(name), notes)
        if found.content.startswith(ZIP_BEGINS):
            found = in_zip(found)
        self.taken += len(found.content)
        if self.taken > LARGEST_CLASS:
            raise BadInput(f"{label}: the kernels in this download are more than "
                           f"{LARGEST_CLASS >> 20} MB; split it")
        clean(found.content, printable(str(found.path)))
        return found


class Zipped(Archive):
    def __init__(self, archive: zipfile.ZipFile, shown: str):
        if len(archive.infolist()) > MOST_FILES:
            raise BadInput(f"{shown}: holds more than {MOST_FILES} files; split it")
        self.archive = archive
        self.entries = {}
        names = []
        for entry in archive.infolist():
            name = entry.filename.replace("\\", "/")
            if not name.endswith("/") and not any(map(of_a_tool, name.split("/"))):
                names.append(name)
                self.entries[name] = entry
        super().__init__(shown, names)
        self.count = Counter(names)

    def read(self, name: str, largest: int | None = None) -> bytes:
        shown = f"{self.shown}/{printable(name)}"
        if self.count[name] > 1:
            raise BadInput(f"{shown}: is in the archive {self.count[name]} times; keep one")
        with damage_named(shown):
            return unpacked(self.archive, self.entries[name], shown, largest)


class Unpacked(Archive):
    """Without what lies at `ours`."""

    def __init__(self, folder: int, path: Path, ours: Container[Path]):
        self.folder = folder
        shown, top = printable(str(path)), path.absolute()
        super().__init__(shown, sorted(name for name in below(folder, shown, MOST_FILES, of_a_tool)
                                       if top / name.partition("/")[0] not in ours))

    def hand_in_names(self) -> list[str]:
        return [name for name in self.names if "/" in name or not beside_hand_ins(name)]

    def read(self, name: str, largest: int | None = None) -> bytes:
        return read_below(self.folder, name, self.shown, largest)


def beside_hand_ins(name: str) -> bool:
    return name.lower().endswith(NO_HAND_INS)


def hidden(name: str) -> bool:
    return any(map(of_the_system, name.split("/")))


def of_a_tool(name: str) -> bool:
    """No student wrote it, nor is called so."""
    return name.startswith("._") or name in OF_TOOLS


@contextmanager
def opened(path: Path, ours: Container[Path] = ()) -> Iterator[Archive]:
    """A folder or a zip. Raises BadInput."""
    shown = printable(str(path))
    try:
        if path.is_dir():
            folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                yield Unpacked(folder, path, ours)
            finally:
                os.close(folder)
            return
        refuse_kind(os.stat(path).st_mode, shown)
        with damage_named(shown):
            archive = zipfile.ZipFile(path)
        with archive:
            yield Zipped(archive, shown)
    except OSError as error:
        raise unreadable(shown, error) from None
