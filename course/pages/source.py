"""Lines of a student's kernel.cu.

In: its bytes as they were compiled. Out: lines, numbered as the compiler numbers them.
"""

from collections.abc import Iterable
from dataclasses import dataclass

AROUND = 4  # lines above and below
LONGEST_LINE = 500  # characters
MOST_LINES = 5_000


@dataclass(frozen=True)
class Line:
    number: int
    text: str
    marks: tuple[str, ...] = ()
    """What is wrong here, a line each."""


def lines_of(content: bytes) -> list[str]:
    """None where there is nothing. Of very long files and lines only the beginning."""
    if not content:
        return []
    text = content.decode(errors="replace").replace("\r\n", "\n").replace("\r", "\n")
    return [line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]} [cut off here]"
            for line in text.removesuffix("\n").split("\n")[:MOST_LINES]]


def marked(lines: list[str], marks: Iterable[tuple[int, str]]) -> list[Line]:
    """`marks`: numbers of lines, and what is wrong there."""
    said: dict[int, list[str]] = {}
    for number, what in marks:
        said.setdefault(number, []).append(what)
    return [Line(number, text, tuple(dict.fromkeys(said.get(number, ()))))
            for number, text in enumerate(lines, 1)]


def around(lines: list[Line], number: int) -> list[Line]:
    """This line and some above and below it; none where there is no such line."""
    return lines[max(number - 1 - AROUND, 0):number + AROUND] if 0 < number <= len(lines) else []
