"""Checks the text of a submission's kernel.cu. Raises Refused, with the line, for what no CUDA
program needs.

    check_source        as written: nothing that hides where text comes from, or asks for files
    check_preprocessed  what the preprocessor made of it, where no macro hides a word any more
    check_same          that it made the same of it for the checked build

The first keeps the student from misleading the second, and symbols.py, which reads the object
file. What this gate is for, and what it is not, is in docs/security.md.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import NamedTuple

from .errors import Refused

STUDENT_FILE = "kernel.cu"


class Forbidden(NamedTuple):
    """Words that no CUDA program needs."""

    words: re.Pattern[str]
    tried: str
    """What it means to use one; {} is the word."""
    hint: str = "take it out"


EMULATORS_OWN = "uses the emulator's own {}"
ONE_TEXT = "kernel.cu is CUDA, and the same text for a GPU and without one"
ONE_KERNEL = "what is checked and what is timed has to be one kernel"
CUDAS_ATOMICS = "CUDA's are atomicAdd, atomicCAS and their like"

# What is checked is to be the kernel that earns the points. A compiler defines these where loads
# and stores are watched, and the emulator's headers ask for them too, so they cannot be undefined.
AS_WRITTEN = (
    Forbidden(re.compile(r"(?i:(cuda_)?emulator).*"), EMULATORS_OWN, ONE_TEXT),
    Forbidden(re.compile(r"__SANITIZE\w*|(thread|address|memory|undefined_behavior)_sanitizer"
                         r"|__has_feature|__has_extension"),
              "asks whether it is being checked ({})",
              f"take it out: {ONE_KERNEL}"),
    Forbidden(re.compile(r"__managed__"), "has a variable that host and device share ({})",
              "use __device__, or cudaMalloc"),
)
PREPROCESSED = (
    Forbidden(re.compile(r"asm|__asm|__asm__"), "uses inline assembly"),
    Forbidden(re.compile(r"_*no_sanitize\w*|_*disable_sanitizer_instrumentation_*"
                         r"|no_profile_instrument_function"),
              "hides a function from the checker ({})"),
    Forbidden(re.compile(r"__builtin_(ia32|aarch64|arm|neon)_\w+|_mm\d*_\w+"
                         r"|__builtin_nontemporal_\w+|__builtin_masked_\w+"),
              "uses the CPU's own instructions, which the checker cannot see ({})"),
    Forbidden(re.compile(r"__builtin_(return_address|frame_address|extract_return_addr"
                         r"|frob_return_addr|dwarf_\w+|eh_return\w*|unwind_init|apply\w*|return"
                         r"|setjmp|longjmp|stack_address|sponentry|thread_pointer|__clear_cache"
                         r"|addressof_stack)|__get_cpuid\w*"),
              "looks at the program's stack or registers ({})"),
    Forbidden(re.compile(r"cudaMemcpyFromSymbol\w*"), "can copy device memory to the host ({})"),
    Forbidden(re.compile(r"(?i:(cuda_)?emulator)(?!_(barrier_here|different|warp_active)\b).*"),
              EMULATORS_OWN, ONE_TEXT),
    Forbidden(re.compile(r"__(sync|atomic|(c11|cpp|opencl|scoped|hip)_atomic)_\w+"),
              "uses the compiler's {}", CUDAS_ATOMICS),
    Forbidden(re.compile(r"atomic(_\w+)?"), "uses C++'s {}", CUDAS_ATOMICS),
    Forbidden(re.compile(r"_ExtInt|_BitInt"),
              "uses integers of a size that the checker cannot see ({})"),
)

# Names with two underscores, or one and a capital letter, belong to compilers and their libraries.
# Some have powers that CUDA C does not have. A submission may use CUDA's, and what the macros of
# headers become (NULL, assert, INFINITY, va_start); others only where it made them up.
RESERVED = re.compile(r"__\w*|_[A-Z]\w*")
CUDAS_OWN = re.compile(
    r"__(global|device|host|shared|constant|managed|restrict|noinline|forceinline|align"
    r"|launch_bounds|grid_constant|inline|volatile|const|signed)__|__(restrict|inline|volatile)"
    r"|__(syncthreads(_count|_and|_or)?|syncwarp|threadfence(_block|_system)?|activemask)"
    r"|__(shfl|match|reduce)_\w+_sync|__shfl_sync|__(all|any|ballot)_sync"
    r"|__ld(g|ca|cg|cs|cv|lu)|__st(wb|cg|cs|wt)|__pipeline_\w+|__nanosleep|__trap|__brkpt"
    r"|__(float|double|int|uint|ll|ull|half|short|ushort|hiloint|longlong)2\w+(_r[nzud])?"
    r"|__(float|double|int|uint|longlong)_as_\w+"
    r"|__[fd](add|sub|mul|div|rcp|sqrt|rsqrt|ma|maf)(_ieee)?_r[nzud]|__(fma|fmaf)_\w+"
    r"|__(exp|exp10|log|log2|log10|sin|cos|tan|sincos|pow)f|__fdividef|__saturatef"
    r"|__u?(mul24|mulhi|mul64hi|hadd|rhadd|sad)|__(brev|clz|ffs|popc)(ll)?|__byte_perm"
    r"|__funnelshift_\w+|__dp[24]a\w*|__v\w+[24]|__cvta_generic_to_shared|__is\w+Space"
    r"|__assume|__builtin_(assume|assume_aligned|expect|unreachable)")
OF_MACROS = re.compile(
    r"__null|__extension__|__assert_fail|__(PRETTY_FUNCTION|FUNCTION|func)__|__errno_location"
    r"|__builtin_(inff?|infl|nanf?|nanl|huge_valf?|huge_vall|offsetof|va_(list|start|end|arg|copy)"
    r"|memcpy|memmove|memset|FILE|LINE|FUNCTION)|__(typeof|decltype|alignof|attribute)(__)?"
    r"|__(clock|time)_t|__(gnuc_)?va_list|__int128(_t)?|__uint128_t|__thread|__sighandler_t|__bswap_\d+")
OF_COMPILERS = re.compile(r"__(builtin|has|is|array|sanitizer|tsan|asan|ubsan|msan|hwasan"
                          r"|interceptor|nvvm|arm|aarch64|cxa|declspec|GIMPLE|RTL|PHI)_?\w*")

# The attributes that kernels may have. Most others change where code or data is linked, or when it
# runs: section, constructor, alias.
ATTRIBUTES = re.compile(
    r"_*(aligned|always_inline|noinline|unused|maybe_unused|nodiscard|warn_unused_result|noreturn"
    r"|deprecated|fallthrough|likely|unlikely|packed|hot|cold|flatten|nothrow|pure|const|format"
    r"|printf|scanf|gnu|clang|may_alias|nonnull|device|host|global|shared|constant)_*")

# Of the directives that a compiler heeds, those that change code otherwise than by unrolling it.
PRAGMAS = re.compile(r"weak|redefine_extname|attribute|section|optimize|target|push_options"
                     r"|pop_options|reset_options|visibility|poison|intrinsic|float_control|comment"
                     r"|init_seg|code_seg|data_seg|system_header")

# Macros have these become calls, which the checker sees (checker.mk, cuda_runtime.h).
MADE_CALLS = re.compile(rb"__builtin_\w*|mem(cpy|move|set)")

# Functions of these headers are instructions, or are made of them.
INSTRUCTIONS = re.compile(rb".*intrin\.h|(arm|altivec)\w*\.h|stdatomic\.h|ia32\w*\.h")

# One token as the preprocessor cuts them; a quote that is not closed goes to the end of its line.
TOKEN = re.compile(
    rb"""
      (?P<raw>(?:u8|[uUL])?R"(?P<delimiter>[^()\\\s"]{0,16})\(.*?(?:\)(?P=delimiter)"|\Z))
    | (?P<comment>//[^\n]*|/\*.*?(?:\*/|\Z))
    | (?P<text>"(?:\\.|[^"\\\n])*(?:"|(?=\n)|\Z)|'(?:\\.|[^'\\\n])*(?:'|(?=\n)|\Z))
    | (?P<number>\.?[0-9](?:[eEpP][+-]|'[0-9A-Za-z_]|[0-9A-Za-z_.\x80-\xff])*)
    | (?P<word>[A-Za-z_$\x80-\xff][A-Za-z0-9_$\x80-\xff]*)
    | (?P<hash>%:|\#)
    | (?P<newline>\n)
    | (?P<blank>[ \t\r\f\v]+)
    | (?P<other>.)
    """,
    re.VERBOSE | re.DOTALL,
)


def without_splices(source: bytes) -> bytes:
    """Lines that end in a backslash joined; their newlines follow the last of them, so that all
    other lines keep their numbers."""
    joined = re.sub(rb"\\[ \t\f\v\r]*\n", b"\0", source)
    lines = joined.split(b"\n")
    return b"\n".join(line.replace(b"\0", b"") + b"\n" * line.count(b"\0") for line in lines)


def check_words(words: list[bytes], forbidden: tuple[Forbidden, ...], line: int) -> None:
    for word in words:
        text = word.decode(errors="replace")
        for each in forbidden:
            if each.words.fullmatch(text):
                raise Refused(each.tried.format(text), STUDENT_FILE, line, each.hint)


# ---- as written ----------------------------------------------------------------------------------


def check_source(source: bytes) -> None:
    """Before anything is compiled. Raises Refused."""
    line, at_start = 1, True
    tokens = TOKEN.finditer(without_splices(source))
    for token in tokens:
        kind, text = token.lastgroup, token[0]
        if kind == "hash" and at_start:
            words = tokens_of_line(tokens)
            check_directive(words, line)
            check_words(words, AS_WRITTEN, line)
            line, at_start = line + 1, True
            continue
        if kind == "word":
            check_words([text], AS_WRITTEN, line)
        line += text.count(b"\n")
        at_start = kind == "newline" or (at_start and kind in ("blank", "comment"))


def tokens_of_line(tokens: Iterator[re.Match[bytes]]) -> list[bytes]:
    words = []
    for token in tokens:
        if token.lastgroup == "newline":
            break
        if token.lastgroup not in ("blank", "comment"):
            words.append(token[0])
    return words


def check_directive(words: list[bytes], line: int) -> None:
    name = words[0] if words else b""
    if name == b"line" or name[:1].isdigit():
        raise Refused("changes the line numbers or the name of its file", STUDENT_FILE, line,
                      "take the # directive out: errors are to name the lines of kernel.cu")
    if name in (b"include", b"include_next", b"import", b"embed"):
        asked = b"".join(words[1:]).decode(errors="replace")
        inside = asked.strip('"<>')
        if inside.startswith("/") or ".." in inside.split("/"):
            raise Refused(f"includes the file {inside}", STUDENT_FILE, line,
                          "only kernel.cu is graded; headers of the system have plain names")
    if name in (b"define", b"undef") and MADE_CALLS.fullmatch(words[1] if words[1:] else b""):
        raise Refused(f"defines {words[1].decode()} anew", STUDENT_FILE, line, "take it out")
    if name == b"embed":
        raise Refused("embeds a file", STUDENT_FILE, line, "only kernel.cu is graded")


# ---- preprocessed --------------------------------------------------------------------------------

# # 12 "kernel.cu" 2
MARKER = re.compile(rb'^[ \t]*#[ \t]*(?:line[ \t]+)?(\d+)[ \t]+"((?:\\.|[^"\\\n])*)"[^\n]*',
                    re.MULTILINE)
ATTRIBUTE = (b"__attribute__", b"__attribute")
HEADERS_OWN = re.compile(rb"\b((?:__|_[A-Z])\w*)(?=\s*\()"
                         rb"|\b(?:namespace|struct|class|union|enum)\s+((?:__|_[A-Z])\w*)")
"""Names of functions and types. Names of variables in headers are ordinary ones: __x, __first."""


class Token(NamedTuple):
    """One of the student's; blanks are left out."""

    text: bytes
    kind: str
    line: int


def check_preprocessed(text: bytes) -> list[Token]:
    """The tokens of the compiler's -E output that come from the student's file, as the
    preprocessor's linemarkers say; check_source has refused those that a student writes. Headers
    have absolute paths, or names such as <built-in>. Raises Refused."""
    of_headers, tokens = parted(text)
    known = {name for part in of_headers for pair in HEADERS_OWN.findall(part) for name in pair}
    check_tokens(tokens, known)
    return tokens


def parted(text: bytes) -> tuple[list[bytes], list[Token]]:
    """What comes from headers, and what is the student's. Raises Refused for a header of the CPU's
    own instructions."""
    of_headers: list[bytes] = []
    tokens: list[Token] = []
    marker = MARKER.search(text)
    while marker:
        at, name = marker.end(), marker[2]
        theirs = not name.startswith((b"/", b"<"))
        if theirs:
            following = MARKER.search(text, cut(text, at, int(marker[1]) - 1, tokens))
        else:
            header = name.rpartition(b"/")[2]
            if INSTRUCTIONS.fullmatch(header):
                raise Refused(f"includes <{header.decode(errors='replace')}>: the CPU's own "
                              "instructions, which the checker cannot see", STUDENT_FILE,
                              tokens[-1].line if tokens else 0, "take it out")
            following = MARKER.search(text, at)
            of_headers.append(text[at:following.start() if following else len(text)])
        marker = following
    return of_headers, tokens


def cut(text: bytes, at: int, line: int, tokens: list[Token]) -> int:
    """Appends what follows a linemarker, up to the next one, whose place it returns. What looks
    like a marker inside a string is none. `line`: the number of the line before."""
    at_start = False
    while at < len(text) and (found := TOKEN.match(text, at)):
        kind = str(found.lastgroup)
        if at_start and kind == "hash" and MARKER.match(text, at):
            return at
        at = found.end()
        line += found[0].count(b"\n")
        at_start = kind == "newline" or (at_start and kind == "blank")
        if kind != "blank":
            tokens.append(Token(found[0], kind, line))
    return at


def check_tokens(tokens: list[Token], known: set[bytes]) -> None:
    """`known`: the reserved names of functions and types in headers. Raises Refused."""
    in_attribute, in_pragma, depth, previous = False, False, 0, b""
    for word, kind, line in tokens:
        in_pragma = kind != "newline" and (in_pragma or (previous == b"#" and word == b"pragma"))
        if kind == "newline":
            previous = b"" if previous == b"#" else previous
            continue
        if in_attribute:
            depth += (word in (b"(", b"[")) - (word in (b")", b"]"))
            in_attribute = depth > 0 or previous in ATTRIBUTE
        elif word in ATTRIBUTE or (word, previous) == (b"[", b"["):
            in_attribute, depth = True, 2 if word == b"[" else 0
        if kind == "word":
            check_word(word, line, known, in_attribute and depth == 2, in_pragma)
        previous = word


def check_same(plain: list[Token], checked: list[Token]) -> None:
    """That the student's lines are the same text in both builds, whatever question a compiler would
    answer differently. Raises Refused."""
    ours, theirs = ([token for token in tokens if token.kind != "newline"]
                    for tokens in (plain, checked))
    for one, other in itertools.zip_longest(ours, theirs, fillvalue=Token(b"", "", 0)):
        if one.text != other.text:
            raise Refused("is other code where it is checked", STUDENT_FILE, one.line,
                          ONE_KERNEL)


def check_word(word: bytes, line: int, known: set[bytes], attribute: bool, pragma: bool) -> None:
    """One of the student's; `attribute` and `pragma`: it names one. Raises Refused."""
    check_words([word], PREPROCESSED, line)
    text = word.decode(errors="replace")
    if attribute and not ATTRIBUTES.fullmatch(text):
        raise Refused(f"uses the attribute {text}", STUDENT_FILE, line, "take the attribute out")
    if pragma and PRAGMAS.fullmatch(text):
        raise Refused(f"uses #pragma {text}", STUDENT_FILE, line, "take it out")
    if RESERVED.fullmatch(text) and not attribute and belongs_to_others(text, word in known):
        raise Refused(f"uses {text}, a name that belongs to the compiler or its libraries",
                      STUDENT_FILE, line,
                      "rename it if it is yours, or take it out; CUDA C has no need of it")


def belongs_to_others(reserved: str, in_headers: bool) -> bool:
    return (in_headers or bool(OF_COMPILERS.fullmatch(reserved))) and not any(
        pattern.fullmatch(reserved) for pattern in (CUDAS_OWN, OF_MACROS))
