"""Takes a submission in: the bytes of one kernel.cu, and what to compile of them.

In: a path. Out: a Submission, or BadInput with one line. A submission is untrusted: it may be a
symbolic link, a device or a gigabyte; find.py finds and reads it. What editors leave behind
(Windows line ends, byte order mark, Latin-1 comments) is put right, and noted.
"""

from __future__ import annotations

import codecs
import os
from dataclasses import dataclass, field
from pathlib import Path

from .. import ROOT
from ..errors import BadInput
from ..text import printable
from .find import KERNEL, find_kernel

LONGEST_NAME = 80  # bytes of a results directory's name; a hash may follow


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
    """The submission in this file, folder or zip (find.py). Raises BadInput."""
    if not os.fspath(path):  # Path() would be the working directory
        raise BadInput("the path of the submission is empty")
    given = Path(path)
    if name is not None:
        check_name(name)
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
    """UTF-16 and UTF-32 have a byte order mark, or, of English text, a NUL in every second byte or
    more. Raises BadInput."""
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


def check_name(name: str) -> None:
    """Raises BadInput."""
    if name != directory_name(name):
        raise BadInput(f"name {ascii(name)}: it names a directory of results, so it must have 1 to "
                       f"{LONGEST_NAME} bytes, no '/', no control characters, and no leading '.'")
