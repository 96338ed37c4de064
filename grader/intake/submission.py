"""Takes a submission in: the bytes of one kernel.cu, and what to compile of them.

The same rule everywhere, from `make grade` to the course platforms: a folder contains one file
named kernel.cu, in upper or lower case, at any depth; or else one .cu file, or one zip, of another
name. If there are two, a person has to choose. Everything else is ignored, and listed.

In: a path. Out: a Submission, or BadInput with one line. What is handed in is not trusted: it may be a
symbolic link, a device or a gigabyte. No link is followed, a file is opened once and read once, and
nothing of a zip is written anywhere. What editors leave behind (Windows line ends, byte order mark,
Latin-1 comments) is put right, and noted.
"""

import codecs
import errno
import io
import os
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from .. import ROOT
from ..errors import BadInput
from ..text import listed, printable

KERNEL = "kernel.cu"
LARGEST = 1 << 20  # bytes; a long solution has ten thousand
LARGEST_ZIP = 8 << 20
MOST_FILES = 20_000
DEEPEST = 16  # folders within each other; nothing below is read
MOST_LISTED = 6  # names in a message
LONGEST_LISTED = 60
ZIP_BEGINS = (b"PK\3\4", b"PK\5\6")  # with a file; empty
ZIP_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # the others cannot be unpacked in parts
FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC  # how one is opened
LONGEST_NAME = 80  # bytes of a results directory's name; a hash may follow


@dataclass(frozen=True)
class Submission:
    name: str
    path: Path
    original: bytes  # as it was handed in
    source: bytes  # what is compiled: UTF-8, lines end in LF, no byte order mark
    notes: list[str] = field(default_factory=list)
    """Which file was taken, what was ignored, and what was changed before compiling."""


def read_submission(path: str | os.PathLike[str], name: str | None = None) -> Submission:
    """The submission in this file, folder or zip. Raises BadInput."""
    if not os.fspath(path):  # Path() would be the working directory
        raise BadInput("the path of the submission is empty")
    given = Path(path)
    if name is not None and name != directory_name(name):
        raise BadInput(f"name {ascii(name)}: it names a directory of results, so it must have 1 to "
                       f"{LONGEST_NAME} bytes, no '/', no control characters, and no leading '.'")
    try:
        found = find_kernel(given)
        absolute = Path(os.path.abspath(given))
    except ValueError:  # a NUL byte in it
        raise BadInput(f"{printable(str(given))}: not a path") from None
    source, notes = clean(found.content, printable(str(found.path)))
    return Submission(name or default_name(absolute), absolute / found.path.relative_to(given),
                      found.content, source, [*found.notes, *notes])


# ---- text ----------------------------------------------------------------------------------------


def clean(original: bytes, shown: str) -> tuple[bytes, list[str]]:
    """What is compiled, and what was changed for that. Raises BadInput."""
    refuse_other_encodings(original, shown)
    notes, content = [], original
    if content.startswith(codecs.BOM_UTF8):
        content = content.removeprefix(codecs.BOM_UTF8)
        notes.append("a byte order mark was removed")
    try:
        content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = 1 + content.count(b"\n", 0, error.start)
        content = content.decode("latin-1").encode()  # every byte is a character of it
        notes.append(f"not UTF-8 (line {line}), taken as Latin-1")
    if b"\r\n" in content:
        content = content.replace(b"\r\n", b"\n")
        notes.append("Windows line ends (CR LF) were replaced")
    if b"\r" in content:
        content = content.replace(b"\r", b"\n")
        notes.append("old Macintosh line ends (CR) were replaced")
    return content, notes


def refuse_other_encodings(content: bytes, shown: str) -> None:
    """UTF-16 and UTF-32 have a byte order mark, or, of English text, a NUL in every second byte or more."""
    sample = content[:4096]
    nuls = sample.count(0) / len(sample)
    if nuls > 0.3 or content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise BadInput(f"{shown}: UTF-16 or UTF-32 text; save it as UTF-8")
    if b"\0" in content:
        raise BadInput(f"{shown}: a NUL byte at offset {content.index(0)}; this is not a text file")


# ---- names ---------------------------------------------------------------------------------------


def default_name(path: Path) -> str:
    """alice, alice/kernel.cu, alice.zip: "alice"; 2_tiled.cu: "2_tiled"; the kernel.cu of this
    project: "kernel"."""
    if path.name.lower() == KERNEL:
        path = path.parent
    elif path.suffix.lower() in (".cu", ".zip"):
        return directory_name(path.stem)
    return "kernel" if path == ROOT else directory_name(path.name)


def directory_name(text: str) -> str:
    """`text` with as few changes as make it a name that is easily typed, of one directory."""
    kept = "".join(c if c.isprintable() and c not in "/\\" else "_" for c in printable(text))
    shortened = kept.strip().lstrip(".").encode()[:LONGEST_NAME].decode("utf-8", "ignore").strip()
    return shortened or "submission"


# ---- finding it -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Found:
    path: Path  # the given path, and below it what was found
    content: bytes
    notes: list[str] = field(default_factory=list)
    """Which file was taken, if that is not obvious; and what was ignored."""


def find_kernel(given: Path) -> Found:
    """The submission in this file, folder or zip. Raises BadInput if there is none, or more than
    one, or it cannot be read."""
    shown = printable(str(given))
    try:
        kind = os.lstat(given).st_mode
        found = in_folder(given, shown) if stat.S_ISDIR(kind) else Found(given, read_file(given, None, shown, kind))
    except OSError as error:
        raise unreadable(shown, error) from None
    return in_zip(found) if found.content.startswith(ZIP_BEGINS) else found


# ---- which one -----------------------------------------------------------------------------------


def choose(names: list[str], suffixes: tuple[str, ...], what: str) -> tuple[str, list[str]]:
    """The submission among these paths within `what`, and notes on it. Raises BadInput."""
    kernels = [name for name in names if name.rpartition("/")[2].lower() == KERNEL]
    found = kernels or [name for name in names if name.lower().endswith(suffixes)]
    if not found:
        holds = f"; it holds {some_of(names)}" if names else ""
        raise BadInput(f"{what} without {KERNEL}, or any other .cu file{holds}")
    if len(found) > 1:
        raise BadInput(f"{what} with {some_of(found)}: which one is the submission? Keep one of them")
    [chosen] = found
    others = [name for name in names if name != chosen]
    return chosen, [f"ignored: {some_of(others)}"] if others else []


def some_of(names: list[str]) -> str:
    shown = [name if len(name) <= LONGEST_LISTED else f"{name[:LONGEST_LISTED - 3]}..."
             for name in map(printable, names[:MOST_LISTED])]
    return listed([*shown, f"{len(names) - len(shown)} more"] if len(names) > len(shown) else shown)


def of_the_system(name: str) -> bool:
    """What macOS adds (.DS_Store, ._kernel.cu, __MACOSX), and other hidden files (.git)."""
    return name.startswith(".") or name == "__MACOSX"


# ---- a folder ------------------------------------------------------------------------------------


def in_folder(given: Path, shown: str) -> Found:
    with ExitStack() as opened:
        folder = os.open(given, FOLDER)
        opened.callback(os.close, folder)
        chosen, notes = choose(sorted(below(folder, shown)), (".cu", ".zip"), f"{shown}: a directory")
        if chosen != KERNEL:
            notes.insert(0, f"{printable(chosen)} was taken for {KERNEL}")
        return Found(given / chosen, read_below(folder, chosen, shown), notes)


def below(folder: int, shown: str) -> Iterator[str]:
    """Paths of all files within the open folder, and of anything else named kernel.cu; without hidden ones."""
    def unreadable_folder(error: OSError) -> None:
        raise error

    count = 0
    for place, folders, files, _ in os.fwalk(".", dir_fd=folder, onerror=unreadable_folder):
        kernels = [name for name in folders if name.lower() == KERNEL]
        for name in files + kernels:
            count += 1
            if count > MOST_FILES:
                raise BadInput(f"{shown}: holds more than {MOST_FILES} files; this is not one submission")
            if not of_the_system(name):
                yield os.path.join(place, name).removeprefix("./")
        deeper = place.count("/") < DEEPEST
        folders[:] = [name for name in folders if deeper and not of_the_system(name) and name not in kernels]


def read_below(folder: int, name: str, shown: str) -> bytes:
    """A file of an open folder; a link in place of a folder on its way is refused too."""
    *folders, last = name.split("/")
    shown = f"{shown}/{printable(name)}"
    with ExitStack() as opened:
        try:
            for each in folders:
                folder = os.open(each, FOLDER, dir_fd=folder)
                opened.callback(os.close, folder)
            return read_file(last, folder, shown, os.lstat(last, dir_fd=folder).st_mode)
        except OSError as error:
            raise unreadable(shown, error) from None


# ---- one file ------------------------------------------------------------------------------------


def read_file(path: str | Path, directory: int | None, shown: str, kind: int) -> bytes:
    """Opening a device or a FIFO can block or have effects, so its kind is checked before; and once
    more after opening, because it may have been exchanged in between. Raises BadInput, OSError."""
    refuse_kind(kind, shown)
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
    opened = os.open(path, flags, dir_fd=directory)
    with open(opened, "rb") as file:
        refuse_kind(os.fstat(opened).st_mode, shown)
        return limited(file, shown)


def limited(file: IO[bytes], shown: str) -> bytes:
    """All of it, up to LARGEST bytes, or LARGEST_ZIP if it is a zip. Raises BadInput."""
    content, largest = file.read(LARGEST + 1), LARGEST
    if content.startswith(ZIP_BEGINS):
        content += file.read(LARGEST_ZIP + 1 - len(content))
        largest, shown = LARGEST_ZIP, f"{shown}: a zip"
    if len(content) > largest:
        raise BadInput(f"{shown}: larger than {largest >> 20} MB; a kernel.cu takes a few kilobytes")
    if not content:
        raise BadInput(f"{shown}: the file is empty")
    return content


def refuse_kind(mode: int, shown: str) -> None:
    if not stat.S_ISREG(mode):
        kinds = {stat.S_IFLNK: "a symbolic link", stat.S_IFDIR: "a directory", stat.S_IFIFO: "a FIFO",
                 stat.S_IFSOCK: "a socket", stat.S_IFCHR: "a device", stat.S_IFBLK: "a device"}
        what = kinds.get(stat.S_IFMT(mode), "no regular file")
        raise BadInput(f"{shown}: {what}; a submission has to be a regular file")


def unreadable(shown: str, error: OSError) -> BadInput:
    if error.errno == errno.ELOOP:  # exchanged for a link since lstat(), or a loop on the way
        return BadInput(f"{shown}: a symbolic link; a submission has to be a regular file")
    return BadInput(f"{shown}: cannot read the submission: {error.strerror}")


# ---- a zip ---------------------------------------------------------------------------------------


def in_zip(found: Found) -> Found:
    """Unpacks one entry, in memory, up to the largest size of a kernel.cu. Raises BadInput."""
    shown = printable(str(found.path))
    try:
        with zipfile.ZipFile(io.BytesIO(found.content)) as archive:
            entries = entries_of(archive, shown)
            name, notes = choose([name for name, _ in entries], (".cu",), f"{shown}: a zip")
            [entry] = [entry for each, entry in entries if each == name]
            content = unpacked(archive, entry, f"{shown}/{printable(name)}")
    except (zipfile.BadZipFile, zipfile.LargeZipFile, zlib.error, struct.error, EOFError, OSError,
            ValueError, NotImplementedError, OverflowError) as error:
        why = " ".join(str(error).split())[:80] or type(error).__name__
        raise BadInput(f"{shown}: this zip is damaged: {printable(why)}") from None
    if content.startswith(ZIP_BEGINS):
        raise BadInput(f"{shown}/{printable(name)}: a zip within a zip; hand in kernel.cu itself")
    taken = f"{printable(name)} was taken out of {printable(found.path.name)}"
    return Found(found.path / name, content, [*found.notes, taken, *notes])


def entries_of(archive: zipfile.ZipFile, shown: str) -> list[tuple[str, zipfile.ZipInfo]]:
    """Its files, by their paths."""
    if len(archive.infolist()) > MOST_FILES:
        raise BadInput(f"{shown}: holds more than {MOST_FILES} files; this is not one submission")
    entries = []
    for entry in archive.infolist():
        name = entry.filename.replace("\\", "/")
        parts = name.split("/")
        if not name or name.startswith("/") or ".." in parts or name[1:2] == ":":
            raise BadInput(f"{shown}: a zip with a path that leads out of it: {some_of([name])}")
        if not name.endswith("/") and not any(of_the_system(part) for part in parts):
            entries.append((name, entry))
    return sorted(entries, key=lambda each: each[0])


def unpacked(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, shown: str) -> bytes:
    """A file of it, or a zip in it (limited()). Raises BadInput, and what zipfile raises."""
    mode = entry.external_attr >> 16
    if stat.S_IFMT(mode):  # made on Unix; elsewhere there are no links
        refuse_kind(mode, shown)
    if entry.flag_bits & 1:
        raise BadInput(f"{shown}: encrypted; a submission has no password")
    if entry.compress_type not in ZIP_METHODS:
        raise BadInput(f"{shown}: compressed in an unusual way (method {entry.compress_type}); "
                       "make a plain zip")
    with archive.open(entry) as file:
        return limited(file, shown)
