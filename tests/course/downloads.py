"""What the tests of a class share: zips, tables and standings, made on the spot."""

import csv
import io
import warnings
import zipfile
from collections.abc import Sequence
from datetime import timezone
from pathlib import Path
from typing import Any

from course.hand_ins import collect
from course.model import HandIn, Standing, Student

KERNEL = b"__global__ void mysgemm() {}\n"
UTC = timezone.utc

# Names as registrars, students and attackers write them.
NAMES = ["Ada Lovelace", "Jörg Müller-Lüdenscheidt", "王 小明", "Zoë O'Neil",
         '=cmd|" /C calc"!A1', "../../etc/passwd", "Anna, the \"2nd\"", "  Two   Blanks ", "Line\nBreak", "@SUM(1)",
         "-1", "🙂", "\u202eevil", "Ünï Cödé", "a" * 300]


def zipped(path: Path, *files: tuple[str, bytes]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(zip_of(*files))
    return path


def zip_of(*files: tuple[str, bytes]) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # names that are there twice
        for name, text in files:
            archive.writestr(name, text)
    return content.getvalue()


def write(path: Path, content: bytes = KERNEL) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def table(path: Path, *rows: Sequence[str], **how: Any) -> Path:
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n", **how).writerows(rows)
    return write(path, text.getvalue().encode())


def cells(content: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(content.decode(), newline="")))


def got(path: Path) -> list[HandIn]:
    """Every row is sound: files or a problem, and one printable line where it is one."""
    found = collect([path], UTC)
    for hand_in in found:
        assert bool(hand_in.files) != bool(hand_in.problem), hand_in
        assert hand_in.claims
        for line in (hand_in.source, hand_in.problem, *hand_in.notes):
            assert line.isprintable(), hand_in
    return found


def alone(hand_in: HandIn) -> bytes:
    """Of the only file, or of kernel.cu among others."""
    files = dict(hand_in.files)
    return files["kernel.cu"] if len(files) > 1 else next(iter(files.values()))


def student(name: str, folder: str = "", **known: Any) -> Student:
    return Student(name=name, folder=folder or name, **known)


def graded(who: Student, points: float | None, possible: float = 100, **known: Any) -> Standing:
    return Standing(who, "missing" if points is None else "graded", points=points, possible=possible, **known)


def excused(who: Student) -> Standing:
    return Standing(who, "excused", possible=100)
