"""Which of some names a submission declares itself: as a variable, parameter, type, template
parameter, namespace, enumerator, or as a function with its body. In: the words of its text as the
preprocessor leaves it, without comments and line ends; out: names. Nothing here raises.

This is no parser. Where C++ leaves two readings without knowing types (`a * b (c)` is a product or
a declaration) only the form that can be nothing else counts.
"""

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
BUILTIN = {b"void", b"bool", b"char", b"short", b"int", b"long", b"float", b"double", b"signed", b"unsigned"}
TYPES = {b"struct", b"class", b"union", b"enum"}
PARAMETERS = {b"typename", b"class"}
ENDS_OF_A_NAME = {b"=", b";", b",", b")", b"[", b"{"}
OPENING, CLOSING = {b"(", b"[", b"{"}, {b")", b"]", b"}"}


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
    """Whether a word is in front of the one at i that may be a type's name: int name, T *name."""
    kind = at(words, before_between(words, i))
    return bool(WORD.match(kind)) and kind not in NO_TYPES


def declares(words: Sequence[bytes], i: int) -> bool:
    """Whether the name at i is declared there."""
    before, after = at(words, i - 1), at(words, i + 1)
    if after == b":" == at(words, i + 2):  # name::
        return False
    if before == b"namespace" or before == b"using":
        return after in (b"{", b"=")
    if before in TYPES and after in (b"{", b";", b":"):
        return True
    if before in PARAMETERS or (before == b"." and at(words, i - 4) in PARAMETERS):
        return after in (b",", b">", b"=")
    return is_declarator(words, i) or is_in_a_list(words, i) or is_behind_a_body(words, i)


def is_declarator(words: Sequence[bytes], i: int) -> bool:
    """int name = 1, vector<int> *name, int name[3]; int (*name)[3]; a function with its body."""
    j = before_between(words, i)
    kind, after = at(words, j), at(words, i + 1)
    if kind == b"(" and j < i - 1 and after == b")":  # of a type that cannot be a function which is called
        return at(words, before_between(words, j)) in BUILTIN and at(words, i + 2) in (b"(", b"[")
    if kind == b")":
        kind = at(words, begin_of(words, j) - 1)
        if kind not in (b"decltype", b"__attribute__", b"alignas", b"__typeof__", b"typeof"):
            return False
    elif kind != b">" and not follows_a_type(words, i):
        return False
    if after == b"(":
        return has_a_body(words, i + 1)
    adjacent = j == i - 1 and kind != b">"
    return after in ENDS_OF_A_NAME or after == b":" or (adjacent and after == b">")


def has_a_body(words: Sequence[bytes], i: int) -> bool:
    """Whether the parentheses that open at i are the parameters of a function that is defined."""
    end = end_of(words, i)
    while at(words, end + 1) in (b"const", b"noexcept", b"override", b"final"):
        end += 1
    returns = at(words, end + 1) == b"-" and at(words, end + 2) == b">"
    return at(words, end + 1) == b"{" or returns


def is_in_a_list(words: Sequence[bytes], i: int) -> bool:
    """A further declarator, an enumerator, a name of auto [a, b], or [a = 1] of a lambda."""
    after = at(words, i + 1)
    j = before_between(words, i)
    if at(words, j) not in (b",", b"{", b"["):
        return False
    opens = begin_of(words, j) if at(words, j) == b"," else j
    if at(words, opens) == b"[":
        kind = at(words, before_between(words, opens))
        return after == b"=" or (kind == b"auto" and after in (b",", b"]"))
    head = opens - 1
    while at(words, head) not in (b"", b";", b"{", b"}", b")", b"enum"):
        head -= 1
    if at(words, opens) == b"{" and at(words, head) == b"enum":
        return after in (b",", b"}", b"=")
    return at(words, j) == b"," and after in ENDS_OF_A_NAME and begins_a_declaration(words, j)


def begins_a_declaration(words: Sequence[bytes], comma: int) -> bool:
    """Whether the statement of this comma, which is in no parentheses, begins as int a or T *a."""
    start = comma
    while at(words, start - 1) not in (b"", b";", b"{", b"}"):
        start -= 1
        if at(words, start) in CLOSING:
            start = begin_of(words, start)
        elif at(words, start) in OPENING:
            if at(words, start) != b"(" or at(words, start - 1) != b"for":
                return False
            start += 1
            break
    while at(words, start) in NO_TYPES and at(words, start) not in (b"return", b"throw", b"case"):
        start += 1
    first, second = at(words, start), at(words, start + 1)
    if not WORD.match(first) or first in NO_TYPES:
        return False
    return bool(WORD.match(second)) or second in (b"*", b"&", b"<", b":")


def is_behind_a_body(words: Sequence[bytes], i: int) -> bool:
    """struct { int x; } name;"""
    if at(words, i - 1) != b"}" or at(words, i + 1) not in (b";", b"[", b",", b"="):
        return False
    opens = begin_of(words, i - 1)
    return at(words, opens - 1) in TYPES or at(words, opens - 2) in TYPES


def begin_of(words: Sequence[bytes], i: int) -> int:
    """Where the innermost bracket opens that encloses the word at i, or which closes there. -1: none does."""
    depth = int(words[i] not in CLOSING)
    for j in range(i, -1, -1):
        depth += (words[j] in CLOSING) - (words[j] in OPENING)
        if words[j] in OPENING and not depth:
            return j
    return -1


def end_of(words: Sequence[bytes], i: int) -> int:
    """Where the bracket that opens at i closes; behind the last word, if it does not."""
    depth = 0
    for j in range(i, len(words)):
        depth += (words[j] in OPENING) - (words[j] in CLOSING)
        if not depth:
            return j
    return len(words)
