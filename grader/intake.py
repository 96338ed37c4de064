"""Takes a submission in: the bytes of one kernel.cu, and what to compile of them.

A submission is somebody else's: a symbolic link, a device or a gigabyte as well as a kernel.
files.py finds and reads it. What cannot be graded is refused in one line. Bytes that editors leave
behind (Windows line ends, byte order mark, Latin-1 comments) are put right, and noted.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

from .errors import BadInput
from .files import KERNEL, find_kernel, printable

ROOT = Path(__file__).resolve().parent.parent
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
    """Which file was taken, what was ignored, and what was changed before compiling."""


def read_submission(path: str | os.PathLike[str], name: str | None = None) -> Submission:
    """The submission in this file, folder or zip (files.py). Raises BadInput."""
    if not os.fspath(path):  # which Path() takes for the working directory
        raise BadInput("the path of the submission is empty")
    given = Path(path)
    if name is not None:
        check_name(name)
    try:
        found = find_kernel(given)
        absolute = Path(os.path.abspath(given))
    except ValueError:  # a NUL byte in the path
        raise BadInput(f"{printable(str(given))}: no path") from None
    source, notes = clean(found.content, printable(str(found.path)))
    return Submission(name or default_name(absolute), absolute / found.path.relative_to(given),
                      found.content, source, [*found.notes, *notes])


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
    """alice, alice/kernel.cu, alice.zip: "alice"; 2_tiled.cu: "2_tiled"; the kernel.cu of this
    project: "kernel"."""
    if path.name.lower() == KERNEL:
        path = path.parent
    elif path.suffix.lower() in (".cu", ".zip"):
        return directory_name(path.stem)
    return "kernel" if path == ROOT else directory_name(path.name)


def directory_name(text: str) -> str:
    """The same where it can be, as a name that is easily typed and never leaves its directory."""
    kept = "".join(c if c.isprintable() and c not in "/\\" else "_" for c in printable(text))
    shortened = kept.strip().lstrip(".").encode()[:LONGEST_NAME].decode("utf-8", "ignore").strip()
    return shortened or "submission"


def check_name(name: str) -> None:
    if name != directory_name(name):
        raise BadInput(f"name {ascii(name)}: it names a directory of results, so it has 1 to "
                       f"{LONGEST_NAME} bytes, no '/', no control characters, no '.' in front")
