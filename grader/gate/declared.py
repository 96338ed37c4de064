"""Which of some names a submission declares itself: as a variable, parameter, type, template
parameter, namespace, enumerator, or as a function with its body. In: the words of its text as the
preprocessor leaves it, without comments and line ends; out: names. Nothing here raises.

This is no parser. Where C++ leaves two readings without knowing types (`a * b (c)` is a product or a
declaration) only the form that can be nothing else counts, or that would be of no use for a function or
a type of a header: these are the names that are asked for.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set

WORD = re.compile(rb"[A-Za-z_$\x80-\xff]")

# What stands between a type and the name that it declares.
BETWEEN = {b"*", b"&", b"const", b"volatile", b"__restrict__", b"__restrict", b"restrict", b"."}

# Words in front of an expression, or of a type; a name behind another word is declared by it.
NO_TYPES = set(b"""
    return else do case goto new delete throw sizeof alignof decltype typeid co_return co_await
    co_yield and or xor not bitand bitor compl and_eq or_eq xor_eq not_eq operator template static
    extern inline register thread_local typedef mutable virtual friend constexpr constinit consteval
    explicit public private protected default if while switch for __extension__ __real__ __imag__
    __real __imag __alignof__ __alignof __inline __inline__ __thread __label__ asm using namespace
""".split())
ENDS_OF_A_NAME = {b"=", b";", b",", b")", b"[", b"]", b"{", b"}", b":"}
BETWEEN_NAMES = {b",", b"{", b"[", b"}"}
"""What is in front of a further declarator, an enumerator, a name of auto [a, b] or [a = 1], or behind a body."""
OPENING = {b"(": b")", b"[": b"]", b"{": b"}"}
CLOSING = {end: begin for begin, end in OPENING.items()}


def declared(words: Sequence[bytes], names: Set[bytes]) -> set[bytes]:
    """Those of `names` that these words declare."""
    found: set[bytes] = set()
    for i, word in enumerate(words):
        if word in names and word not in found and declares(words, i):
            found.add(word)
    return found


def at(words: Sequence[bytes], i: int) -> bytes:
    return words[i] if 0 <= i < len(words) else b""


def before_between(words: Sequence[bytes], i: int) -> int:
    i -= 1
    while at(words, i) in BETWEEN:
        i -= 1
    return i


def follows_a_type(words: Sequence[bytes], i: int) -> bool:
    kind = at(words, before_between(words, i))
    return bool(WORD.match(kind)) and kind not in NO_TYPES


def declares(words: Sequence[bytes], i: int) -> bool:
    """Whether the name at i is declared there: int name = 1, vector<int> *name, class name, typename ... name;
    a function with its body."""
    before, after = at(words, i - 1), at(words, i + 1)
    if after == b":" == at(words, i + 2):  # name::
        return False
    if before in (b"namespace", b"using"):
        return after in (b"{", b"=")
    j = before_between(words, i)
    kind = at(words, j)
    if kind in BETWEEN_NAMES:
        return after in ENDS_OF_A_NAME and not is_in_parentheses(words, j)
    if kind == b")":
        kind = at(words, begin_of(words, j) - 1)
        if kind not in (b"decltype", b"__attribute__", b"alignas", b"__typeof__", b"typeof"):
            return False
    elif kind != b">" and not follows_a_type(words, i):
        return False
    if after == b"(":
        return has_a_body(words, i + 1)
    is_last_parameter = after == b">" != kind and (j == i - 1 or before == b".")
    return after in ENDS_OF_A_NAME or is_last_parameter


def has_a_body(words: Sequence[bytes], i: int) -> bool:
    """Whether the parentheses that open at i are the parameters of a function that is defined."""
    end = end_of(words, i)
    while at(words, end + 1) in (b"const", b"noexcept", b"override", b"final"):
        end += 1
    returns = at(words, end + 1) == b"-" and at(words, end + 2) == b">"
    return at(words, end + 1) == b"{" or returns


def is_in_parentheses(words: Sequence[bytes], i: int) -> bool:
    """But for those of `for`, which hold declarations."""
    opens = begin_of(words, i)
    return at(words, opens) == b"(" and at(words, opens - 1) != b"for"


def begin_of(words: Sequence[bytes], i: int) -> int:
    """Where the innermost bracket opens that encloses the word at i, or which closes there. -1:
    none does."""
    depth = 1 if words[i] not in CLOSING else 0
    while i >= 0:
        if words[i] in CLOSING:
            depth += 1
        elif words[i] in OPENING:
            depth -= 1
            if not depth:
                return i
        i -= 1
    return -1


def end_of(words: Sequence[bytes], i: int) -> int:
    """Where the bracket that opens at i closes; behind the last word, if it does not."""
    depth = 0
    for j in range(i, len(words)):
        depth += (words[j] in OPENING) - (words[j] in CLOSING)
        if not depth:
            return j
    return len(words)
