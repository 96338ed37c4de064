"""Takes a submission in: the bytes of one kernel.cu, and what to compile of them.

A submission is somebody else's file: a symbolic link, a device or a gigabyte as well as a kernel.
It is opened once, without following links, and read once; nothing else of its directory is looked
at. What cannot be graded is refused in one line. Bytes that editors leave behind (Windows line
ends, byte order mark, Latin-1 comments) are put right, and noted.
"""

from __future__ import annotations

import errno
import os
import stat
from dataclasses import dataclass, field
from pathlib import Path

from .errors import BadInput

ROOT = Path(__file__).resolve().parent.parent
KERNEL = "kernel.cu"
LARGEST = 1 << 20  # bytes; a long solution has ten thousand
LONGEST_NAME = 80  # bytes of a results directory's name; a hash may follow

# The longer marks first: that of UTF-32 begins with that of UTF-16.
MARKS = {
    b"\xff\xfe\x00\x00": "UTF-32",
    b"\x00\x00\xfe\xff": "UTF-32",
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
}
UTF8_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Submission:
    name: str
    path: Path
    original: bytes
    """As it was handed in."""
    source: bytes
    """What is compiled: UTF-8, lines end in LF, no byte order mark."""
    notes: list[str] = field(default_factory=list)
    """What was changed from one to the other."""


def read_submission(path: str | os.PathLike[str], name: str | None = None) -> Submission:
    """The submission in this file, or in kernel.cu of this directory."""
    if not os.fspath(path):  # which Path() takes for the working directory
        raise BadInput("the path of the submission is empty")
    given = Path(path)
    shown = printable(str(given))
    if name is not None:
        check_name(name)
    try:
        original, in_directory = read_bytes(given, shown)
        absolute = Path(os.path.abspath(given))
    except ValueError:  # a NUL byte in the path
        raise BadInput(f"{shown}: no path") from None
    if in_directory:
        absolute, shown = absolute / KERNEL, printable(str(given / KERNEL))
    source, notes = clean(original, shown)
    return Submission(name or default_name(absolute), absolute, original, source, notes)


# ---- bytes ---------------------------------------------------------------------------------------


def read_bytes(path: Path, shown: str) -> tuple[bytes, bool]:
    """The file's bytes; whether `path` is the directory that holds it."""
    try:
        kind = os.lstat(path).st_mode
        if not stat.S_ISDIR(kind):
            return read_file(path, None, shown, kind), False
    except OSError as error:
        raise unreadable(shown, error) from None
    try:
        directory = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        raise unreadable(shown, error) from None
    try:
        kind = os.lstat(KERNEL, dir_fd=directory).st_mode
        return read_file(KERNEL, directory, f"{shown}/{KERNEL}", kind), True
    except FileNotFoundError:
        raise BadInput(f"{shown}: a directory without {KERNEL}; a submission is a .cu file, or a "
                       f"directory that holds {KERNEL}") from None
    except OSError as error:
        raise unreadable(f"{shown}/{KERNEL}", error) from None
    finally:
        os.close(directory)


def read_file(path: str | Path, directory: int | None, shown: str, kind: int) -> bytes:
    """Opening a device or a FIFO can block, or do something, so what it is was asked before; and is
    asked again of what was opened, because it may have been exchanged since."""
    refuse_kind(kind, shown)
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
    opened = os.open(path, flags, dir_fd=directory)
    with open(opened, "rb") as file:
        refuse_kind(os.fstat(opened).st_mode, shown)
        content = file.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise BadInput(f"{shown}: larger than {LARGEST >> 20} MB; a kernel.cu has some kilobytes")
    if not content:
        raise BadInput(f"{shown}: the file is empty")
    return content


def refuse_kind(mode: int, shown: str) -> None:
    if stat.S_ISREG(mode):
        return
    kinds = {
        stat.S_IFLNK: "a symbolic link", stat.S_IFDIR: "a directory", stat.S_IFIFO: "a FIFO",
        stat.S_IFSOCK: "a socket", stat.S_IFCHR: "a device", stat.S_IFBLK: "a device",
    }  # fmt: skip
    what = kinds.get(stat.S_IFMT(mode), "no regular file")
    raise BadInput(f"{shown}: {what}; a submission has to be a regular file")


def unreadable(shown: str, error: OSError) -> BadInput:
    if error.errno == errno.ELOOP:  # exchanged for a link since lstat(), or a loop on the way
        return BadInput(f"{shown}: a symbolic link; a submission has to be a regular file")
    return BadInput(f"{shown}: cannot read the submission: {error.strerror}")


# ---- text ----------------------------------------------------------------------------------------


def clean(original: bytes, shown: str) -> tuple[bytes, list[str]]:
    """What is compiled, and what was changed for that."""
    for mark, encoding in MARKS.items():
        if original.startswith(mark):
            raise BadInput(f"{shown}: {encoding} text; save it as UTF-8")
    if b"\0" in original:
        raise BadInput(f"{shown}: {what_has_nul(original)}")
    notes, content = [], original
    if content.startswith(UTF8_MARK):
        content = content.removeprefix(UTF8_MARK)
        notes.append("a byte order mark was removed")
    try:
        content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = 1 + content.count(b"\n", 0, error.start)
        content, encoding = from_8_bit(content)
        notes.append(f"not UTF-8 (line {line}), taken as {encoding}")
    if b"\r\n" in content:
        content = content.replace(b"\r\n", b"\n")
        notes.append("Windows line ends (CR LF) were replaced")
    if b"\r" in content:
        content = content.replace(b"\r", b"\n")
        notes.append("old Macintosh line ends (CR) were replaced")
    return content, notes


def what_has_nul(content: bytes) -> str:
    """UTF-16 and UTF-32 of English text have a NUL in every second byte or more."""
    sample = content[:4096]
    share = sample.count(0) / len(sample)
    if share > 0.6:
        return "UTF-32 text; save it as UTF-8"
    if share > 0.3:
        return "UTF-16 text; save it as UTF-8"
    return f"a NUL byte at offset {content.index(0)}; this is no text file"


def from_8_bit(content: bytes) -> tuple[bytes, str]:
    """As UTF-8; Windows-1252 leaves five bytes undefined."""
    try:
        return content.decode("cp1252").encode(), "Windows-1252"
    except UnicodeDecodeError:
        return content.decode("latin-1").encode(), "Latin-1"


# ---- names ---------------------------------------------------------------------------------------


def default_name(path: Path) -> str:
    """alice/kernel.cu: "alice"; 2_tiled.cu: "2_tiled"; the kernel.cu of this project: "kernel"."""
    if path.name == KERNEL and path.parent != ROOT and path.parent.name:
        return directory_name(path.parent.name)
    return directory_name(path.stem)


def directory_name(text: str) -> str:
    """The same where it can be, as a name that is easily typed and never leaves its directory."""
    kept = "".join(c if c.isprintable() and c not in "/\\" else "_" for c in printable(text))
    shortened = kept.strip().lstrip(".").encode()[:LONGEST_NAME].decode("utf-8", "ignore").strip()
    return shortened or "submission"


def check_name(name: str) -> None:
    if name != directory_name(name):
        raise BadInput(f"name {ascii(name)}: it names a directory of results, so it has 1 to "
                       f"{LONGEST_NAME} bytes, no '/', no control characters, no '.' in front")


def printable(text: str) -> str:
    """In one line, and valid Unicode even if the file system's bytes are not."""
    valid = text.encode("utf-8", "backslashreplace").decode()
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in valid)
