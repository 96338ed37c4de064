"""What must not be found in a student's copy, and where it was found: names, titles and shapes of
hidden cases, and code of solutions. student_copy.py searches what it is about to publish.

A shape is found in any order and in any dress ("120 x 201 x 250", "m=120 k=201 n=250", a table, a
list in C). Code is found after comments, line breaks and, in longer pieces, the names of variables
have been taken away, because nobody publishes a solution as it is; by accident one gets into a
handout with other names, or into a comment.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

# ---- what is allowed all the same ----------------------------------------------------------------


@dataclass(frozen=True)
class Allowed:
    """A text that stands in a published file on purpose. It is taken out before the search, so it
    has to be there, to the letter."""

    file: str
    text: str
    why: str


# A code example of the handout's would stand here, if there were one as long as PIECE.
ALLOWED: tuple[Allowed, ...] = ()

# ---- findings ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Leak:
    file: str
    line: int
    what: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.what}" if self.line else f"{self.file}: {self.what}"


def line_at(text: str, offset: int) -> int:
    return text.count("\n", 0, offset) + 1


# ---- hidden cases --------------------------------------------------------------------------------

Shape = tuple[int, int, int]  # sorted: which order it is written in does not matter

NUMBER = re.compile(r"(?<![\d.])\d+(?!\.?\d)")
# What may stand between the numbers of one shape: "m=7 k=9", "7 x 9, B is 9 x 5", `"m": 7, "k": 9`,
# or one line each. "7 of the 9" is no shape.
BETWEEN = re.compile(r"(?:[\s,;:=|/*×·_\-()\[\]{}\"'`$\\]"
                     r"|(?<![a-z])(?:[mknxabc]|by|times|and|is)(?![a-z]))+", re.IGNORECASE)
LONGEST_BETWEEN = 24
LONGEST_NUMBER = 6  # digits; dimensions end at 16384
# Below, three numbers in a row are found everywhere: {1, 2, 3}, version 3.1 2.
SMALLEST_TOLD = 10
# A title or hint as short as this is in ordinary use: "one row".
SHORTEST_PHRASE = 20


def sorted_shape(m: int, k: int, n: int) -> Shape:
    first, second, third = sorted((m, k, n))
    return first, second, third


def shapes_in(text: str) -> Iterator[tuple[Shape, int]]:
    """All three numbers written next to one another, and where; also A's and B's two each."""
    numbers = [match for match in NUMBER.finditer(text) if len(match[0]) <= LONGEST_NUMBER]
    for at, first in enumerate(numbers):
        row = [first]
        for follower in numbers[at + 1:at + 4]:
            gap = text[row[-1].end():follower.start()]
            if len(gap) > LONGEST_BETWEEN or not BETWEEN.fullmatch(gap):
                break
            row.append(follower)
        sizes = [int(match[0]) for match in row]
        if len(sizes) >= 3:
            yield sorted_shape(*sizes[:3]), first.start()
        if len(sizes) == 4 and sizes[1] == sizes[2]:
            yield sorted_shape(sizes[0], sizes[1], sizes[3]), first.start()


@dataclass(frozen=True)
class Secrets:
    """What hidden cases consist of, as far as it can be searched for."""

    words: dict[str, str]  # lower case -> what it is
    shapes: dict[Shape, str]  # -> the case
    seeds: dict[str, str]
    not_searched: list[str]  # one line each, for who publishes

    def search(self, file: str, text: str) -> Iterator[Leak]:
        lower = text.lower()
        for word, what in self.words.items():
            bounded = rf"(?<![\w-]){re.escape(word)}(?![\w-])"
            for match in re.finditer(bounded, lower) if word in lower else ():
                yield Leak(file, line_at(text, match.start()), f"says {what}")
        for shape, at in shapes_in(text):
            if shape in self.shapes:
                yield Leak(file, line_at(text, at), f"has the shape of {self.shapes[shape]}")
        for seed, what in self.seeds.items():
            for match in re.finditer(rf"(?<!\d){seed}(?!\d)", text) if seed in text else ():
                yield Leak(file, line_at(text, match.start()), f"has the seed of {what}")


def secrets_of(hidden: Iterable, public: Iterable, public_shapes: set[Shape]) -> Secrets:
    """Of suites (grader/cases.py). What public cases say as well is no secret, nor are shapes that
    the published programs use by themselves."""
    public_cases = [item for suite in public for item in suite.items]
    known = {phrase.lower() for suite in public for phrase in (suite.name, suite.title)}
    known |= {text.lower() for case in public_cases for text in (case.name, case.title, case.hint)}
    open_shapes = public_shapes | {sorted_shape(c.m, c.k, c.n) for c in public_cases}
    secrets = Secrets({}, {}, {}, [])
    for suite in hidden:
        secrets.words[suite.name.lower()] = f"the name of the hidden suite {suite.name}"
        for case in suite.items:
            name = f"the hidden case {suite.name}/{case.name}"
            if case.name.lower() not in known:
                secrets.words[case.name.lower()] = f"the name of {name}"
            for phrase in (suite.title, case.title, case.hint):
                if len(phrase) >= SHORTEST_PHRASE and phrase.lower() not in known:
                    secrets.words[phrase.lower()] = f"a title or hint of {name}"
            seed = getattr(case, "seed", None)  # what is timed has fresh numbers each time
            if seed is not None and seed >= 10000:
                secrets.seeds[str(seed)] = name
            shape = sorted_shape(case.m, case.k, case.n)
            written = f"{case.m} {case.k} {case.n}"
            if shape in open_shapes:
                secrets.not_searched.append(f"{suite.name}/{case.name}: {written} is public anyway")
            elif shape[-1] < SMALLEST_TOLD:
                secrets.not_searched.append(f"{suite.name}/{case.name}: {written} is too small "
                                            "to be told from other numbers")
            else:
                secrets.shapes[shape] = f"{name}, {written}"
    return secrets


# ---- code of solutions ---------------------------------------------------------------------------

TOKEN = re.compile(
    r"""[A-Za-z_]\w* | \d[\w.]* | "(?:[^"\\\n]|\\.)*" | <<<|>>>
      | [-+*/%&|^=!<>]= | && | \|\| | \+\+ | -- | -> | << | >> | \S""", re.VERBOSE)
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
MARK_OF_COMMENT = re.compile(r"/\*+|\*+/|//+|^[ \t]*(?:[*>|]+|#+(?=\s))|`+", re.MULTILINE)

# Code is told from any other program in C by one of these, or by much indexing.
OF_A_KERNEL = {"__shared__", "__syncthreads", "threadIdx", "blockIdx", "blockDim", "gridDim", "<<<"}
MATRICES = {"A", "B", "C"}  # indexed: A [
WORDS_OF_C = set("int float for if else while do return const void unsigned double static size_t "
                 "dim3 float2 float4 sizeof x y z".split()) | OF_A_KERNEL | MATRICES
# Measured on this repository: with fewer tokens the driver and the emulator, which are published,
# share pieces with kernels; nothing that a student would call a solution is shorter.
PIECE = 12
PIECE_WITHOUT_NAMES = 20

Piece = tuple[str, ...]


def blank(match: re.Match[str]) -> str:
    """As long as what it replaces, so that offsets stay true."""
    return re.sub(r"\S", " ", match[0])


def without_comments(text: str) -> str:
    return COMMENT.sub(blank, text)


def with_comments_as_code(text: str) -> str:
    return MARK_OF_COMMENT.sub(blank, text)


def without_names(tokens: list[str]) -> list[str]:
    return ["name" if re.match(r"[A-Za-z_]", token) and token not in WORDS_OF_C
            and not token.startswith(("cuda", "__")) else token for token in tokens]


def of_a_kernel(piece: Piece) -> bool:
    """Or could it stand in any program?"""
    indexed = [before for before, token in zip(piece, piece[1:]) if token == "["]
    return bool(OF_A_KERNEL & set(piece)) or len(indexed) > 2 or bool(MATRICES & set(indexed))


def pieces(tokens: list[str]) -> Iterator[tuple[int, Piece]]:
    """All pieces of a program that are long enough to be somebody's work, with their place."""
    for words, length in ((tokens, PIECE), (without_names(tokens), PIECE_WITHOUT_NAMES)):
        for start in range(len(words) - length + 1):
            piece = tuple(words[start:start + length])
            if of_a_kernel(piece):
                yield start, piece


class Code:
    """Pieces of all kernels that a student must not get."""

    def __init__(self, kernels: Iterable[Path]):
        self.pieces: dict[Piece, str] = {}
        for kernel in kernels:
            text = without_comments(kernel.read_text(encoding="utf-8", errors="replace"))
            for _, piece in pieces(TOKEN.findall(text)):
                self.pieces.setdefault(piece, kernel.name)

    def search(self, file: str, text: str) -> Iterator[Leak]:
        """The first piece of each kernel's: one line is enough to go and look."""
        said = set()
        for version in (with_comments_as_code(text), without_comments(text)):
            found = list(TOKEN.finditer(version))
            words = [match[0] for match in found]
            for start, piece in pieces(words):
                kernel = self.pieces.get(piece)
                if kernel and kernel not in said:
                    said.add(kernel)
                    shown = " ".join(words[start:start + PIECE])
                    yield Leak(file, line_at(text, found[start].start()),
                               f"has code of {kernel}: {shown}")


# ---- a published file ----------------------------------------------------------------------------


def search_file(file: str, text: str, secrets: Secrets, code: Code,
                allowed: Iterable[Allowed] = ALLOWED) -> Iterator[Leak]:
    for each in allowed:
        if each.file == file and each.text in text:
            text = text.replace(each.text, "\n" * each.text.count("\n"))
        elif each.file == file:
            yield Leak(file, 0, f"no longer has the allowed text {each.text[:40]!r} (leaks.py)")
    yield from secrets.search(file, text)
    yield from code.search(file, text)
