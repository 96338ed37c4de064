"""`make release TILE=32`: the students' copy for other tiles than 16 x 16. The starter's TILE_SIZE, the numbers of the
handout that follow from it, and the picture of the guards; handout.md is written for USUAL."""

from __future__ import annotations

import re
from pathlib import Path

from grader.errors import BadInput, MachineFault
from instructor.pictures import draw

USUAL = 16
WORDS = {8: "an eighth", 16: "a sixteenth", 32: "a 32nd"}
"""What of its loads each number is read; and all tiles that there are: a block has at most 1,024 threads."""

NUMBERS = (
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
PLACES = re.compile("|".join(f"({pattern})" for pattern, _ in NUMBERS))


def tile_in(text: str) -> int:
    """Raises BadInput."""
    if text not in map(str, WORDS):
        raise BadInput(f"TILE={text[:40]}: it is one of {', '.join(map(str, WORDS))}")
    return int(text)


def handout_for(text: str, tile: int) -> str:
    return PLACES.sub(lambda place: str(NUMBERS[(place.lastindex or 0) - 1][1](tile)), text)


def starter_for(text: str, tile: int) -> str:
    return text.replace(f"#define TILE_SIZE {USUAL}\n", f"#define TILE_SIZE {tile}\n")


def change(copy: Path, tile: int) -> None:
    """Raises MachineFault where the picture cannot be drawn."""
    for name, changed in (("handout.md", handout_for), ("kernel.cu", starter_for)):
        path = copy / name
        path.write_text(changed(path.read_text(encoding="utf-8"), tile), encoding="utf-8")
    try:
        for name, picture in draw.drawn(tile).items():
            (copy / "docs" / "pictures" / f"{name}.svg").write_text(picture, encoding="utf-8")
    except draw.NoBrowser as fault:
        raise MachineFault(f"TILE={tile}: its pictures cannot be drawn: {fault}") from None
