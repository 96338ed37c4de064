"""What was handed in, as it came: the files of a folder, of a download that was unpacked, or of one that is
still a zip.

In: a path. Out: names, and the bytes of one at a time. Nothing of a zip is written anywhere, no link is
followed, and each file has a limit. A file that cannot be read is left out of its hand-in, with a note.
"""

import os
import stat
import struct
import zipfile
import zlib
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import IO

from .errors import BadInput
from .model import Claim, Files, HandIn
from .text import listed, printable

MOST_FILES = 200_000  # in the download of a class
MOST_OF_ONE = 20_000  # in one hand-in
MOST_NOTES = 3  # of one hand-in, on files that are left out
LARGEST = 8 << 20  # bytes of one hand-in
LARGEST_CLASS = 1 << 30  # bytes of all that is taken out of one download; 100 KB a student is much
LONGEST_PART, LONGEST_NAME = 200, 1000  # bytes of a file's name; file systems take 255 and 4095
DEEPEST = 16  # folders within each other; nothing below is read
ZIP_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # the others cannot be unpacked in parts

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
    def size(self, name: str) -> int:
        """As it is said to be: the small ones are taken first, so that none is left out for a large one."""

    @abstractmethod
    def read(self, name: str, largest: int = LARGEST) -> bytes:
        """Raises BadInput, with a reason alone."""

    def hand_in(self, claims: Sequence[Claim], source: str, files: dict[str, str],
                notes: Sequence[str] = (), submitted: datetime | None = None,
                late: bool | None = None) -> HandIn:
        """These files (by their names here, the students' own names of them), or why there are none.
        Hidden ones are ignored."""
        ignored = sorted(own for own in files.values() if hidden(own))
        notes = [*([f"ignored: {listed(ignored)}, hidden"] if ignored else []), *notes]
        own = Counter(files.values())
        wanted = [(name, name if own[each] > 1 else each)  # else one would hide the other
                  for name, each in files.items() if not hidden(each)]
        taken, left_out = self.taken_of(wanted)
        return made(claims, f"{Path(self.shown).name}: {printable(source)}", taken, left_out, notes,
                    submitted, late)

    def taken_of(self, wanted: Sequence[tuple[str, str]]) -> tuple[Files, list[str]]:
        """Of these names here, and those in the hand-in: the files, and what is left out and why."""
        taken: dict[str, bytes] = {}
        left_out, room = [], LARGEST
        for name, own in sorted(wanted, key=lambda each: (self.size(each[0]), each)):
            try:
                if len(taken) == MOST_OF_ONE:
                    raise BadInput(f"there are more than {MOST_OF_ONE} files")
                refuse_name(own, taken)
                content = self.read(name)
                if len(content) > room:
                    raise BadInput(f"all together are larger than {LARGEST >> 20} MB")
                self.taken += len(content)
                if self.taken > LARGEST_CLASS:
                    raise BadInput(f"all hand-ins here are more than {LARGEST_CLASS >> 20} MB; split them")
            except BadInput as error:
                left_out.append(f"{listed([own])}: {error}")
            else:
                taken[own], room = content, room - len(content)
        return tuple(taken.items()), left_out


def made(claims: Sequence[Claim], source: str, files: Files, left_out: Sequence[str],
         notes: Sequence[str] = (), submitted: datetime | None = None,
         late: bool | None = None) -> HandIn:
    """With a note on what is left out; where that is everything, it is the problem."""
    said = list(left_out[:MOST_NOTES])
    if len(left_out) > MOST_NOTES:
        said.append(f"{len(left_out) - MOST_NOTES} more files")
    problem = "" if files else "; ".join(said) or "no file was handed in"
    told = [f"left out: {each}" for each in said] if files else []
    return HandIn(tuple(claims), source, files, problem, (*told, *notes), submitted, late)


def refuse_name(name: str, taken: Mapping[str, bytes]) -> None:
    """Of a file that could not be written down. Raises BadInput."""
    parts = name.split("/")
    if outside(name) or "" in parts or "." in parts or "\0" in name:
        raise BadInput("an unusual path")
    if len(os.fsencode(name)) > LONGEST_NAME or any(len(os.fsencode(part)) > LONGEST_PART for part in parts):
        raise BadInput("its name is too long")
    above = ["/".join(parts[:count]) for count in range(1, len(parts) + 1)]
    if any(each in taken for each in above) or any(each.startswith(f"{name}/") for each in taken):
        raise BadInput("another file has this name")


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

    def size(self, name: str) -> int:
        return self.entries[name].file_size

    def read(self, name: str, largest: int = LARGEST) -> bytes:
        if self.count[name] > 1:
            raise BadInput(f"is in the archive {self.count[name]} times; keep one")
        entry = self.entries[name]
        if stat.S_IFMT(entry.external_attr >> 16):  # made on Unix; elsewhere there are no links
            refuse_kind(entry.external_attr >> 16)
        if entry.flag_bits & 1:
            raise BadInput("encrypted; a submission has no password")
        if entry.compress_type not in ZIP_METHODS:
            raise BadInput(f"compressed in an unusual way (method {entry.compress_type}); make a plain zip")
        with damage_named("this file is damaged"), self.archive.open(entry) as file:
            return limited(file, largest)


class Unpacked(Archive):
    """Without what lies at `ours`."""

    def __init__(self, folder: int, path: Path, ours: Container[Path]):
        self.folder = folder
        shown, top = printable(str(path)), path.absolute()
        super().__init__(shown, sorted(name for name in files_below(folder, shown, of_a_tool)
                                       if top / name.partition("/")[0] not in ours))

    def hand_in_names(self) -> list[str]:
        return [name for name in self.names if "/" in name or not beside_hand_ins(name)]

    def size(self, name: str) -> int:
        with suppress(OSError):  # read() says why
            return os.lstat(name, dir_fd=self.folder).st_size
        return 0

    def read(self, name: str, largest: int = LARGEST) -> bytes:
        return read_below(self.folder, name, largest)


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
        with damage_named(f"{shown}: this zip is damaged"):
            archive = zipfile.ZipFile(path)
        with archive:
            yield Zipped(archive, shown)
    except OSError as error:
        raise BadInput(f"{shown}: cannot be read: {error.strerror}") from None


# ---- one file ------------------------------------------------------------------------------------


def of_the_system(name: str) -> bool:
    """What macOS adds (.DS_Store, ._kernel.cu, __MACOSX), and other hidden files (.git)."""
    return name.startswith(".") or name == "__MACOSX"


def outside(name: str) -> bool:
    """It could lead out of the folder that it is unpacked to, or names nothing in it."""
    parts = name.split("/")
    return not name or name.startswith("/") or ".." in parts or ":" in parts[0]


def files_below(folder: int, shown: str, skip: Callable[[str], bool]) -> Iterator[str]:
    """Paths of all that is no folder within the open one, links too; without those whose name, or a
    folder's on their way, is to `skip`. Raises BadInput, OSError."""
    def unreadable_folder(error: OSError) -> None:
        raise error

    count = 0
    for place, folders, files, at in os.fwalk(".", dir_fd=folder, onerror=unreadable_folder):
        links = [name for name in folders if stat.S_ISLNK(os.lstat(name, dir_fd=at).st_mode)]
        for name in files + links:
            count += 1
            if count > MOST_FILES:
                raise BadInput(f"{shown}: holds more than {MOST_FILES} files; split it")
            if not skip(name):
                yield os.path.join(place, name).removeprefix("./")
        deeper = place.count("/") < DEEPEST
        folders[:] = [name for name in folders if deeper and not skip(name) and name not in links]


def read_below(folder: int, name: str, largest: int = LARGEST) -> bytes:
    """A file of an open folder; a link in place of a folder on its way is refused too. Raises
    BadInput."""
    *folders, last = name.split("/")
    opened: list[int] = []
    try:
        for each in folders:
            folder = os.open(each, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC,
                             dir_fd=folder)
            opened.append(folder)
        return read_file(last, folder, largest)
    except OSError as error:
        raise BadInput(f"cannot be read: {error.strerror}") from None
    finally:
        for each_opened in opened:
            os.close(each_opened)


def read_file(path: str | Path, folder: int | None = None, largest: int = LARGEST) -> bytes:
    """Opening a device or a FIFO can block or have effects, so its kind is checked before; and once
    more after opening, because it may have been exchanged in between. Raises BadInput, OSError."""
    refuse_kind(os.lstat(path, dir_fd=folder).st_mode)
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
    with open(os.open(path, flags, dir_fd=folder), "rb") as file:
        refuse_kind(os.fstat(file.fileno()).st_mode)
        return limited(file, largest)


def limited(file: IO[bytes], largest: int) -> bytes:
    """Raises BadInput."""
    content = file.read(largest + 1)
    if len(content) > largest:
        raise BadInput(f"larger than {largest >> 20} MB")
    return content


def refuse_kind(mode: int) -> None:
    """Raises BadInput."""
    if not stat.S_ISREG(mode):
        kinds = {stat.S_IFLNK: "a symbolic link", stat.S_IFDIR: "a directory", stat.S_IFIFO: "a FIFO",
                 stat.S_IFSOCK: "a socket"}
        raise BadInput(f"{kinds.get(stat.S_IFMT(mode), 'a device')}, not a regular file")


@contextmanager
def damage_named(what: str) -> Iterator[None]:
    """Turns what zipfile raises into BadInput."""
    try:
        yield
    except (zipfile.BadZipFile, zipfile.LargeZipFile, zlib.error, struct.error, EOFError, OSError,
            ValueError, NotImplementedError, OverflowError) as error:
        why = " ".join(str(error).split())[:80] or type(error).__name__
        raise BadInput(f"{what}: {printable(why)}") from None
