"""Searches texts that students will get for hidden cases (names, titles, sizes, seeds) and for code
of solutions. student_copy.py searches everything that it is about to publish.

Sizes are found near each other, in any order, with anything between them ("120 x 201 x 250", "250
rows, 120 columns, inner dimension 201", a table, a case in TOML). Code is found whatever its names,
numbers, comments and line breaks are: a solution gets into a handout by accident, in a comment or an
example.

docs/instructor.md lists what this search cannot find.
"""

import functools
import html
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path

from grader.cases.model import Suite

# Texts that are published on purpose although they are code of a solution's, to the letter.
ALLOWED: tuple[str, ...] = (
    # handout.md, on threads and blocks: the sum of two vectors.
    """__global__ void add(int n, const float *x, const float *y, float *z)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        z[i] = x[i] + y[i];
}

add<<<(n + 3) / 4, 4>>>(n, x, y, z);
""",
    # grader/build/submission.py: an empty kernel, which shows whether the machine works.
    """__global__ void mysgemm(int m, int n, int k, const float *A, const float *B, float *C) {}
void basicSgemm(int m, int n, int k, const float *A, const float *B, float *C)
{
    mysgemm<<<1, 1>>>(m, n, k, A, B, C);
}
""",
)

# ---- findings ------------------------------------------------------------------------------------


# What to write instead, said once below all that was found.
NAMED = "instead of a name: one of two words and a number, which no text has; or leave the word out here"
TITLED = ("instead of a title or a hint: another one, which may be longer, or fewer than {} characters; or say "
          "the sentence here in other words")
SIZED = "instead of sizes: others here, or others in the case; make hidden SEED=... draws some"
SEEDED = "instead of a seed: leave it out, here or in the case"
CODED = "instead of code: words, or an example that computes something else"


@dataclass(frozen=True)
class Leak:
    file: str
    line: int
    what: str
    instead: str = ""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.what}" if self.line else f"{self.file}: {self.what}"


def line_at(text: str, offset: int) -> int:
    return text.count("\n", 0, offset) + 1


# ---- hidden cases --------------------------------------------------------------------------------

Shape = tuple[int, ...]  # sorted: which order it is written in does not matter

NUMBER = re.compile(r"(?<![\d.])\d{1,9}(?!\.?\d)")  # of a version or a fraction: no
THOUSANDS = re.compile(r"(?<=\d)[,'\u00a0\u202f](?=\d{3}(?!\d))")
HASH = re.compile(r"[A-Za-z0-9]{32,}")
TAG = re.compile(r"<[^>]*>")  # of a picture, it holds coordinates
# Characters from the first size to the last. Measured on this repository: nothing that it publishes
# has the sizes of a hidden case within twice as many.
NEAR = 300
# ... where there are only two of them, or all are sizes of public cases, so that chance may bring
# them together.
CLOSE = 100
# Smaller numbers are everywhere: {1, 2, 3}, version 3.1.
SMALLEST_SIZE = 10
# ... and those of a lab with a single size, which stands alone.
SMALLEST_ALONE = 2000
# Shorter titles and hints are in ordinary use: "one row".
SHORTEST_PHRASE = 20


def sorted_shape(*sizes: int) -> Shape:
    return tuple(sorted(sizes))


def blank(match: re.Match[str]) -> str:
    """Spaces of the same length, so that offsets stay true."""
    return re.sub(r"\S", " ", match[0])


@functools.lru_cache(maxsize=2)  # the same text is searched for the cases of several labs
def numbers_in(text: str) -> list[tuple[int, int]]:
    """Offset and value of each. 1,030 is 1030 and also 1 and 30, since a list may look like it."""
    text = HASH.sub(blank, text)
    apart = [(match.start(), int(match[0])) for match in NUMBER.finditer(text)]
    if not THOUSANDS.search(text):
        return apart
    joined = THOUSANDS.sub("\0", text)
    whole = re.finditer(r"(?<![\d.])\d[\d\0]*\0[\d\0]*(?!\.?\d)", joined)
    return sorted([*apart, *((match.start(), int(match[0].replace("\0", ""))) for match in whole)])


@dataclass(frozen=True)
class Sizes:
    """The numbers that give a hidden shape away."""

    needed: tuple[int, ...]  # with repetitions
    within: int  # characters
    case: str

    def found_in(self, numbers: list[tuple[int, int]]) -> Iterator[int]:
        """The offset of each place where all of them are near each other, without overlaps."""
        own = [(at, number) for at, number in numbers if number in self.needed]
        free = -1
        for first, (start, _) in enumerate(own):
            left = list(self.needed)
            for at, number in own[first:] if start > free else []:
                if at - start > self.within:
                    break
                if number in left:
                    left.remove(number)
                if not left:
                    free = at
                    yield start
                    break


def sizes_of(shape: Shape, case: str, open_shapes: set[Shape]) -> Sizes | None:
    """None where they cannot be distinguished from other numbers."""
    large = tuple(sorted({size for size in shape if size >= SMALLEST_SIZE}))
    needed = large if len(large) > 1 else shape
    in_public = {size for each in open_shapes for size in each}
    if not large or any(set(needed) <= set(each) for each in open_shapes):
        return None
    if len(needed) == 1 and needed[0] < SMALLEST_ALONE:
        return None
    by_chance = len(needed) < 3 or set(needed) <= in_public or needed == shape != large
    return Sizes(needed, CLOSE if by_chance else NEAR, case)


@dataclass(frozen=True)
class Secrets:
    """What is searched for: parts of hidden cases."""

    words: dict[str, str]  # lower case -> what it is
    sizes: list[Sizes]
    seeds: dict[str, str]
    not_searched: list[str]  # cases whose sizes are not, a line each with the reason
    cases: int

    def search(self, file: str, text: str) -> Iterator[Leak]:
        lower = text.lower()
        for word, what in self.words.items():
            bounded = rf"(?<![\w-]){re.escape(word)}(?![\w-])"
            for match in re.finditer(bounded, lower) if word in lower else ():
                instead = TITLED.format(SHORTEST_PHRASE) if " title " in what else NAMED
                yield Leak(file, line_at(text, match.start()), f'says "{word}", {what}', instead)
        numbers = numbers_in(TAG.sub(blank, text) if file.endswith(".svg") else text)
        for sizes in self.sizes:
            for at in sizes.found_in(numbers):
                yield Leak(file, line_at(text, at), f"has the sizes of {sizes.case}", SIZED)
        for seed, what in self.seeds.items():
            for match in re.finditer(rf"(?<!\d){seed}(?!\d)", text) if seed in text else ():
                yield Leak(file, line_at(text, match.start()), f"has the seed of {what}", SEEDED)


def secrets_of(hidden: Sequence[Suite], public: Sequence[Suite]) -> Secrets:
    """The secrets of the `hidden` suites. What a `public` suite also says is none."""
    public_cases = [item for suite in public for item in suite.items]
    known = {phrase.lower() for suite in public for phrase in (suite.name, suite.title)}
    known |= {text.lower() for case in public_cases for text in (case.name, case.title, case.hint)}
    open_shapes = {sorted_shape(*case.params.values()) for case in public_cases}
    secrets = Secrets({}, [], {}, [], sum(len(suite.items) for suite in hidden))
    for suite in hidden:
        secrets.words[suite.name.lower()] = f"the name of the hidden suite {suite.name}"
        for case in suite.items:
            name = f"the hidden case {suite.name}/{case.name}"
            if case.name.lower() not in known:
                secrets.words[case.name.lower()] = f"the name of {name}"
            for phrase in (suite.title, case.title, case.hint):
                if len(phrase) >= SHORTEST_PHRASE and phrase.lower() not in known:
                    secrets.words[phrase.lower()] = f"a title or hint of {name}"
            seed = getattr(case, "seed", None)  # timed shapes have none
            if seed is not None and seed >= 10000:
                secrets.seeds[str(seed)] = name
            shape, written = sorted_shape(*case.params.values()), case.shape
            sizes = sizes_of(shape, f"{name}, {written}", open_shapes)
            if sizes:
                secrets.sizes.append(sizes)
            else:
                why = "is public anyway" if shape in open_shapes else (
                    "cannot be distinguished from other numbers")
                secrets.not_searched.append(f"{suite.name}/{case.name}: {written} {why}")
    return secrets


def leaks_of(suites: Sequence[Suite], texts: Mapping[str, str]) -> list[Leak]:
    """Of the hidden ones of all suites of a lab; by a file's name what it says."""
    secrets = secrets_of([suite for suite in suites if suite.hidden], [suite for suite in suites if not suite.hidden])
    return [leak for name, text in texts.items()
            for leak in (*secrets.search("(a file's name)", name), *secrets.search(name, text))]


# ---- code of solutions ---------------------------------------------------------------------------

TOKEN = re.compile(
    r"""[A-Za-z_]\w* | \d[\w.]* | "(?:[^"\\\n]|\\.)*" | <<<|>>>
      | [-+*/%&|^=!<>]= | && | \|\| | \+\+ | -- | -> | << | >> | \S""", re.VERBOSE)
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
# What comments, quotations and strings put around code and into it.
MARK = re.compile(r"/\*+|\*+/|//+|^[ \t]*(?:[*>|]+|#+(?=\s))|[\"']+|\\(?:[nt]\b|(?!\w))",
                  re.MULTILINE)
ENTITY = re.compile(r"&(?:lt|gt|amp|quot|#x?[0-9a-fA-F]+);")  # &sum; is C, too

# Code of a kernel has one of these, or indexes much with variables.
OF_A_KERNEL = {"__shared__", "__syncthreads", "threadIdx", "blockIdx", "blockDim", "gridDim", "<<<"}
PERHAPS_OF_A_KERNEL = {"[", *OF_A_KERNEL}
ROW_TIMES_LENGTH = re.compile(r"\[ [^\[\]]*\* [^\[\]]*\]")
WORDS_OF_C = set("int float for if else while do return const void unsigned double static size_t "
                 "dim3 float2 float4 sizeof switch case break continue bool char long short auto "
                 "struct template typename extern inline".split()) | OF_A_KERNEL
# Measured on this repository: with 24 tokens, single lines of a solution are not found.
PIECE = 16
SHOWN = 60  # characters

Piece = tuple[str, ...]


def without_comments(text: str) -> str:
    return COMMENT.sub(blank, text)


def with_comments_as_code(text: str) -> str:
    return MARK.sub(blank, text)


def of_a_kernel(piece: Piece, arrays: Set[str]) -> bool:
    """Or could it be in any C program? `arrays`: of labs; indexed, A [."""
    if not OF_A_KERNEL.isdisjoint(piece):
        return True
    if "[" not in piece:  # prose, mostly
        return False
    indexed = [before for before, token, index in zip(piece, piece[1:], piece[2:])
               if token == "[" and not index[0].isdigit()]
    return len(indexed) > 2 or not arrays.isdisjoint(indexed) or (
        bool(indexed) and bool(ROW_TIMES_LENGTH.search(" ".join(piece))))


@functools.cache
def is_name(token: str, before: str) -> bool:
    return (token[0].isalpha() or token[0] == "_") and token not in WORDS_OF_C and (
        not token.startswith(("cuda", "__"))) and before != "."


def renamed(piece: Piece) -> Piece:
    """Names become numbered in order of first use; all numbers are the same."""
    names: dict[str, str] = {}
    return tuple(
        names.setdefault(token, f"name {len(names)}") if is_name(token, before)
        else "number" if token[0].isdigit() else token
        for before, token in zip(("", *piece), piece))


def pieces(tokens: Piece, arrays: Set[str], known: set[Piece]) -> Iterator[tuple[int, Piece]]:
    """The index and the tokens, renamed, of every piece of a program that is of a kernel and was not
    `known`, as it is afterwards."""
    looked_at = 0
    for at, token in enumerate(tokens):
        if token not in PERHAPS_OF_A_KERNEL:
            continue  # no piece without such a token is of a kernel
        last = min(at, len(tokens) - PIECE)
        for start in range(max(looked_at, at - PIECE + 1), last + 1):
            piece = tokens[start:start + PIECE]
            if piece in known:
                continue
            known.add(piece)
            if of_a_kernel(piece, arrays):
                yield start, renamed(piece)
        looked_at = at + 1


class Code:
    """Pieces of kernels that a student must not get. `arrays`: how labs call theirs.

    Raises OSError where a kernel cannot be read."""

    def __init__(self, kernels: Iterable[Path], arrays: Set[str]):
        self.pieces: dict[Piece, str] = {}
        self.arrays = arrays
        known: set[Piece] = set()
        for kernel in kernels:
            text = without_comments(kernel.read_text(encoding="utf-8", errors="replace"))
            for _, piece in pieces(tuple(TOKEN.findall(text)), arrays, known):
                self.pieces.setdefault(piece, kernel.name)

    def search(self, file: str, text: str) -> Iterator[Leak]:
        """The first piece of each kernel; one line is enough to find the place."""
        for allowed in ALLOWED:
            text = text.replace(allowed, "\n" * allowed.count("\n"))
        text, seen = ENTITY.sub(lambda match: html.unescape(match[0]), text), set()
        known: set[Piece] = set()
        for version in (with_comments_as_code(text), without_comments(text)):
            found = list(TOKEN.finditer(version))
            for number, piece in pieces(tuple(match[0] for match in found), self.arrays, known):
                kernel = self.pieces.get(piece)
                if kernel and kernel not in seen:
                    seen.add(kernel)
                    start = found[number].start()
                    shown = " ".join(TOKEN.findall(version, start, start + SHOWN))
                    yield Leak(file, line_at(text, start), f"has code of {kernel}: {shown}", CODED)
