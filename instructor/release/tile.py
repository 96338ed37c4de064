"""`make release TILE=32`: the students' copy for other tiles than 16 x 16. The starter's TILE_SIZE, and the numbers that
follow from it in the handout and in its picture of the guards, which are written for USUAL."""

import re
from collections.abc import Callable
from pathlib import Path

from grader.errors import BadInput

Numbers = tuple[tuple[str, Callable[[int], int | str]], ...]

USUAL = 16
WORDS = {8: "an eighth", 16: "a sixteenth", 32: "a 32nd"}
"""What of its loads each number is read; and all tiles that there are: a block has at most 1,024 threads."""

IN_HANDOUT = (
    (r"\ba sixteenth\b", lambda tile: WORDS[tile]),
    (r"\b16(?=p?\b)", lambda tile: tile),
    (r"\b256(?= threads\b)", lambda tile: tile**2),
    (r"\b32,768\b", lambda tile: f"{2 * 64**3 // tile:,}"),  # loads of 64 x 64 x 64
    # Several phases: two tiles.
    (r"\b(?<=sgemm )32\b|(?<=sgemm-check )32\b|(?<=SHAPE=)32\b|\b32(?= needs the barriers)", lambda tile: 2 * tile),
    (r"(?<=PASSED )1024\b", lambda tile: (2 * tile)**2),
    # Edges: two more elements than these.
    (r"\b34\b", lambda tile: 2 * tile + 2),
    (r"\b1156\b", lambda tile: (2 * tile + 2)**2),
    (r"(?<=0 to )33\b", lambda tile: 2 * tile + 1),
    (r"(?<=!\[)48\b", lambda tile: 3 * tile),
    # The first case stays 16 x 16 x 16.
    (r"\ba single tile(?=, is correct)", lambda tile: "a single tile" if tile == USUAL else "16 × 16 × 16"),
)
"""Where each stands in handout.md, and what it is."""

IN_PICTURE = tuple((rf"(?<![-\w.#]){pattern}(?![\w.])", number) for pattern, number in (
    ("16", lambda tile: tile),
    ("32", lambda tile: 2 * tile),
    ("34", lambda tile: 2 * tile + 2),
    ("48", lambda tile: 3 * tile),
    # The labels of rows and columns are half a tile apart.
    ("(?<=>)8(?=<)", lambda tile: tile // 2),
    ("24", lambda tile: 3 * tile // 2),
    ("40", lambda tile: 5 * tile // 2),
    # The pixels of a thread, and half of them: a block has 128.
    ("8", lambda tile: 128 // tile),
    (r"(?:(?<=translate\()4(?= 0\))|(?<=translate\(0 )4(?=\)))", lambda tile: 64 // tile),
))
"""The same of docs/pictures/guards.svg."""


def tile_in(text: str) -> int:
    """Raises BadInput."""
    if text not in map(str, WORDS):
        raise BadInput(f"TILE={text[:40]}: it is one of {', '.join(map(str, WORDS))}")
    return int(text)


def handout_for(text: str, tile: int) -> str:
    return with_numbers(IN_HANDOUT, text, tile)


def guards_for(text: str, tile: int) -> str:
    return with_numbers(IN_PICTURE, text, tile)


def with_numbers(numbers: Numbers, text: str, tile: int) -> str:
    places = re.compile("|".join(f"({pattern})" for pattern, _ in numbers))
    return places.sub(lambda place: str(numbers[(place.lastindex or 0) - 1][1](tile)), text)


def starter_for(text: str, tile: int) -> str:
    return text.replace(f"#define TILE_SIZE {USUAL}\n", f"#define TILE_SIZE {tile}\n")


def change(copy: Path, tile: int) -> None:
    for name, changed in (("handout.md", handout_for), ("kernel.cu", starter_for),
                          ("docs/pictures/guards.svg", guards_for)):
        path = copy / name
        path.write_text(changed(path.read_text(encoding="utf-8"), tile), encoding="utf-8")
