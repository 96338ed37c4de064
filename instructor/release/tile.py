"""Checks that the texts of the assignment agree with TILE_SIZE in kernel.cu.

handout.md and the public cases explain the assignment with numbers that follow from the tile: 16 x
16 threads, 256 of them, a sixteenth of the loads. student_copy.py refuses a copy in which one of
these follows from another tile. Only the phrases below are known; other words are not found.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from math import ceil

from grader.cases.model import Case, Suite
from instructor.release.leaks import Leak, line_at

MOST_THREADS = 1024  # of a block, on every GPU
DEFINED = re.compile(r"^[ \t]*#[ \t]*define[ \t]+TILE_SIZE[ \t]+(\d+)", re.MULTILINE)

COUNTS = "no one two three four five six seven eight nine ten".split()
ORDINALS = "zeroth first second third fourth fifth sixth seventh eighth ninth tenth".split()
FRACTIONS = {"sixteenth": 16, "thirty-second": 32}


def number(word: str) -> int | None:
    """ "16", "32,768", "two", "third" or "sixteenth"; None for any other word."""
    word = word.lower()
    if word in FRACTIONS:
        return FRACTIONS[word]
    for words in (COUNTS, ORDINALS):
        if word in words:
            return words.index(word)
    return int(word.replace(",", "")) if word[0].isdigit() else None


# ---- phrases that are true of one tile only ------------------------------------------------------

# Called with the tile and the numbers that were found: do they agree?
IN_TEXTS: dict[str, Callable[..., bool]] = {
    r"(\d+) [×x] (\d+) \*?(?:threads|tiles?|is one block)\b": lambda t, a, b: a == b == t,
    r"\bmultiples? of (\d+)": lambda t, a: a == t,
    r"\b(\d+)p\b": lambda t, a: a == t,  # the tile's columns from 16p on
    r"\b(\d+) (?:terms|products|in a (?:row|column)|columns (?:of threads|in its tile))":
        lambda t, a: a == t,
    r"(?<!most\s)(?<![×x]\s)\b(\d+) threads": lambda t, a: a in (t, t * t),
    r"\b(\w+) blocks cover (\d+) columns": lambda t, a, b: a * t == b,
    r"\b[mnk] = (\d+), the (\w+) (?:block|phase)": lambda t, a, b: ceil(a / t) == b,
    # What docs/pictures/guards.svg shows.
    r"\b(\d+) rows and columns of threads for m = n = k = (\d+)":
        lambda t, a, b: ceil(b / t) * t == a,
    # An exercise has tiles of 2.
    r"\b(\d+) times (?:as many|fewer)": lambda t, a: a in (t, 2),
    r"\bTILE_SIZE (\d+)": lambda t, a: a in (t, 2),
    r"\ban? (eighth|sixteenth|thirty-second)\b": lambda t, a: a == t,
}

# The same with a public case: the number of blocks, of phases, of tiles in one direction.
OF_A_CASE: dict[str, Callable[..., bool]] = {
    r"\b(\w+) blocks?\b": lambda t, case, a: ceil(case.m / t) * ceil(case.n / t) == a,
    r"\b(\w+) phases?\b": lambda t, case, a: ceil(case.k / t) == a,
    r"\b(\w+) tiles?\b": lambda t, case, a: a in {
        part for size in sizes(case) for part in (size // t, ceil(size / t))},
    r"\bseveral blocks\b": lambda t, case: max(case.m, case.n) > t,
    r"\bwhole tiles\b": lambda t, case: not any(size % t for size in sizes(case)),
    r"\bno multiple of the tile\b": lambda t, case: all(size % t for size in sizes(case)),
    r"\bsmaller than a tile\b": lambda t, case: max(sizes(case)) < t,
}


def sizes(case: Case) -> tuple[int, int, int]:
    return case.m, case.k, case.n


def untrue(text: str, rules: dict[str, Callable[..., bool]],
           *known: int | Case) -> Iterator[re.Match[str]]:
    """The matches of a rule in `text` that do not hold; words may be on two lines."""
    for pattern, holds in rules.items():
        for match in re.finditer(pattern.replace(" ", r"\s+"), text, re.IGNORECASE):
            numbers = [number(word) for word in match.groups()]
            if None not in numbers and not holds(*known, *numbers):
                yield match


# ---- what is published ---------------------------------------------------------------------------


def other_tiles(texts: dict[str, str], public: Iterable[Suite]) -> Iterator[Leak]:
    """Phrases of handout.md, kernel.cu and the cases of `public` that are not true of kernel.cu's
    TILE_SIZE. `texts`: what is published, by file name."""
    defined = DEFINED.search(texts.get("kernel.cu", ""))
    if not defined:
        return  # not the starter, which is refused for that
    tile = int(defined[1])
    if not 0 < tile * tile <= MOST_THREADS:
        yield Leak("kernel.cu", line_at(texts["kernel.cu"], defined.start()),
                   f"TILE_SIZE {tile}: a block has 1 to {MOST_THREADS} threads")
        return
    for name in ("handout.md", "kernel.cu"):
        text = texts.get(name, "")
        for match in sorted(untrue(text, IN_TEXTS, tile), key=re.Match.start):
            yield other_tile(name, line_at(text, match.start(1)), match[0], tile)
    for suite in public:
        for case in suite.cases:
            for text in (case.title, case.hint):
                for match in (*untrue(text, IN_TEXTS, tile), *untrue(text, OF_A_CASE, tile, case)):
                    yield other_tile(f"testcases/{suite.name}.toml", 0,
                                     match[0], tile, f"case {case.name} ")


def other_tile(file: str, line: int, phrase: str, tile: int, where: str = "") -> Leak:
    return Leak(file, line, f'{where}says "{" ".join(phrase.split())}", but kernel.cu has '
                            f"TILE_SIZE {tile}; change either")
