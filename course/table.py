"""CSV files as spreadsheets and platforms write them: rosters and gradebooks, read and written.

In: a path. Out: a header and rows of texts, as they stand; nothing is interpreted.
"""

import codecs
import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from .errors import BadInput
from .text import printable

LARGEST = 32 << 20  # bytes; a gradebook of 1,000 students and 50 assignments has one megabyte
SEPARATORS = (",", ";", "\t")


@dataclass(frozen=True)
class Table:
    path: Path
    columns: list[str]
    """The header, as it stands."""
    rows: list[tuple[int, list[str]]]
    """The line of the file in which each ends, and its cells, as many as columns."""

    def column(self, *names: str) -> int | None:
        """Of the first of these names that there is, in upper or lower case."""
        wanted = [simple(column) for column in self.columns]
        return next((wanted.index(simple(name)) for name in names if simple(name) in wanted), None)

    def refuse(self, line: int, what: str) -> BadInput:
        return BadInput(f"{printable(str(self.path))}, line {line}: {what}")


def simple(column: str) -> str:
    return " ".join(column.split()).casefold()


def read_table(path: Path) -> Table:
    """The separator is the one that the first line has most of. Rows without any text are left out.
    Raises BadInput."""
    text = text_of(path)
    try:
        reader = csv.reader(io.StringIO(text, newline=""), strict=True,
                            delimiter=max(SEPARATORS, key=lambda each: len(first_row(text, each))))
        records = [(reader.line_num, record) for record in reader]
    except csv.Error as error:
        raise BadInput(f"{printable(str(path))}, line {reader.line_num}: {error}; is a quotation "
                       "mark missing?") from None
    filled = [(line, record) for line, record in records if any(cell.strip() for cell in record)]
    if not filled:
        raise BadInput(f"{printable(str(path))}: the table is empty")
    (_, columns), *rows = filled
    table = Table(path, columns, [])
    table.rows.extend((line, fitted(table, line, cells)) for line, cells in rows)
    return table


def fitted(table: Table, line: int, cells: list[str]) -> list[str]:
    width = len(table.columns)
    if any(cell.strip() for cell in cells[width:]):
        raise table.refuse(line, f"{len(cells)} cells, and the header has {width}; a text with a "
                           "separator in it needs quotation marks")
    return cells[:width] + [""] * (width - len(cells))


def first_row(text: str, separator: str) -> list[str]:
    try:
        return next(csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True), [])
    except csv.Error:
        return []


def text_of(path: Path) -> str:
    """UTF-8 with a byte order mark or without, UTF-16 with one, or else Windows' Latin-1. Raises BadInput."""
    shown = printable(str(path))
    try:
        with open(path, "rb") as file:
            content = file.read(LARGEST + 1)
    except OSError as error:
        raise BadInput(f"{shown}: {error.strerror}") from None
    if len(content) > LARGEST:
        raise BadInput(f"{shown}: larger than {LARGEST >> 20} MB, which no class's table is")
    for encoding in encodings(content):
        try:
            text = content.decode(encoding)
        except UnicodeDecodeError:
            continue
        if "\0" not in text:
            return text
    raise BadInput(f"{shown}: not a text file; export it as CSV (UTF-8)")


def encodings(content: bytes) -> tuple[str, ...]:
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return ("utf-16",)
    return ("utf-8-sig", "cp1252", "latin-1")


def written(rows: Iterable[Sequence[str]]) -> bytes:
    """As CSV: UTF-8, commas, lines that end in LF."""
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()
