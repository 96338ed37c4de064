"""Checks the text of a submission's kernel.cu. Raises Refused, with the line, for what no CUDA program needs.

    check_source        as written: nothing that hides where text comes from, or asks for files
    check_preprocessed  what the preprocessor made of it, where no macro hides a word any more;
                        all builds compile this one text

The first keeps the student from misleading the second, and objects.py, which reads the object
file. It keeps out what the checker does not see; it is no sandbox.
"""

import functools
import itertools
import os.path
import re
from collections.abc import Set
from pathlib import Path
from typing import NamedTuple, NoReturn

from .. import ROOT
from ..errors import Refused
from .declared import declared, follows_a_type

STUDENT_FILE = "kernel.cu"
EMULATOR = ROOT / "engine" / "cuda" / "include"


class Forbidden(NamedTuple):
    """Words that no CUDA program needs."""

    words: re.Pattern[str]
    tried: str  # what it means to use one; {} is the word
    hint: str = "remove it"


CUDAS_ATOMICS = "CUDA's are atomicAdd, atomicCAS and their like"

AS_WRITTEN = (Forbidden(re.compile(r"__managed__"), "has a variable that host and device share ({})",
                        "use __device__, or cudaMalloc"),)
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
    Forbidden(re.compile(r"__(sync|atomic|(c11|cpp|opencl|scoped|hip)_atomic)_\w+"),
              "uses the compiler's {}", CUDAS_ATOMICS),
    Forbidden(re.compile(r"_ExtInt|_BitInt"),
              "uses integers of a size that the checker cannot see ({})"),
)

# Names with two underscores, or one and a capital letter, belong to compilers and their libraries.
# Some have powers that CUDA C does not have. A submission may use CUDA's, what the macros of
# headers become (NULL, assert, INFINITY, va_start), and what it declares itself (declared.py); of
# others those that no header declares, and that are no compiler's. C++'s atomics are as those.
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
    r"|__builtin_(inff?|infl|nanf?|nanl|huge_valf?|huge_vall|offsetof|va_(list|start|end|arg)"
    r"|FILE|LINE|FUNCTION)|__(typeof|decltype|alignof|attribute)(__)?"
    r"|__(clock|time)_t|__(gnuc_)?va_list|__int128(_t)?|__uint128_t|__thread|__sighandler_t|__bswap_\d+")
ATOMIC = re.compile(r"atomic(_\w+)?")

# Compilers know these without a declaration, or link what defines them; nobody makes up such names.
OF_COMPILERS = re.compile(r"__(builtin|sanitizer|tsan|asan|ubsan|msan|hwasan|interceptor|nvvm|arm"
                          r"|aarch64|cxa|gxx|gcc|stack_chk|clang)_\w*|__(declspec|GIMPLE|RTL|PHI)"
                          r"|__dso_handle|__dynamic_cast|__tls_get_addr|_Unwind_\w*|_GLOBAL_\w*")

# The attributes that kernels may have. Most others change where code or data is linked, or when it
# runs: section, constructor, alias.
ATTRIBUTES = re.compile(
    r"_*(aligned|always_inline|noinline|unused|maybe_unused|nodiscard|warn_unused_result|noreturn"
    r"|deprecated|fallthrough|likely|unlikely|packed|hot|cold|flatten|nothrow|pure|const|format"
    r"|printf|scanf|gnu|clang|may_alias|nonnull|device|host|global|shared|constant)_*")

# Of the pragmas that a compiler heeds, those that change code otherwise than by unrolling it.
PRAGMAS = re.compile(r"weak|redefine_extname|attribute|section|optimize|target|push_options"
                     r"|pop_options|reset_options|visibility|poison|intrinsic|float_control|comment"
                     r"|init_seg|code_seg|data_seg|system_header")
FAMILIES = re.compile(rb"GCC|clang|STDC")  # their pragmas have names of their own: #pragma GCC optimize

# Functions of these headers are instructions, or are made of them.
INSTRUCTIONS = re.compile(rb".*intrin\.h|(arm|altivec)\w*\.h|stdatomic\.h|ia32\w*\.h")

# One token as the preprocessor cuts them; a quote that is not closed goes to the end of its line.
TOKEN = re.compile(
    rb"""
      (?P<raw>(?:u8|[uUL])?R"(?P<delimiter>[^()\\\s"]{0,16})\(.*?(?:\)(?P=delimiter)"|\Z))
    | (?P<comment>//[^\n]*|/\*.*?(?:\*/|\Z))
    | (?P<text>"(?:\\.|[^"\\\n])*(?:"|(?=\n)|\Z)|'(?:\\.|[^'\\\n])*(?:'|(?=\n)|\Z))
    | (?P<number>\.?[0-9](?:[eEpP][+-]|'[0-9A-Za-z_]|[0-9A-Za-z_$.\x80-\xff])*)
    | (?P<word>[A-Za-z_$\x80-\xff][A-Za-z0-9_$\x80-\xff]*)
    | (?P<hash>%:|\#)
    | (?P<digraph><:(?!:[^:>])|:>|<%|%>)
    | (?P<newline>\n)
    | (?P<blank>[ \t\r\f\v]+)
    | (?P<other>.)
    """,
    re.VERBOSE | re.DOTALL,
)


DIGRAPHS = {b"<:": b"[", b":>": b"]", b"<%": b"{", b"%>": b"}"}


def without_splices(source: bytes) -> bytes:
    """Lines that end in a backslash joined; their newlines follow the last of them, so that all
    other lines keep their numbers."""
    joined = re.sub(rb"\\[ \t\f\v\r]*\n", b"\0", source)
    lines = joined.split(b"\n")
    return b"\n".join(line.replace(b"\0", b"") + b"\n" * line.count(b"\0") for line in lines)


@functools.cache
def emulators_own() -> frozenset[bytes]:
    """The words of the emulator's headers that have its name in them."""
    return frozenset(token[0] for path in EMULATOR.rglob("*.h")
                     for token in TOKEN.finditer(path.read_bytes())
                     if token.lastgroup == "word" and b"emulator" in token[0].lower())


# What their macros become.
OF_THEIR_MACROS = {b"emulator_barrier_here", b"emulator_different", b"emulator_warp_active"}


def check_forbidden(word: bytes, forbidden: tuple[Forbidden, ...], line: int, but_for: Set[bytes] = frozenset()
                    ) -> None:
    """`but_for`: words of the emulator's that may be there. Raises Refused."""
    text = word.decode(errors="replace")
    for each in forbidden:
        if each.words.fullmatch(text):
            raise Refused(each.tried.format(text), STUDENT_FILE, line, each.hint)
    if word in emulators_own() and word not in but_for:
        raise Refused(f"uses the emulator's own {text}", STUDENT_FILE, line,
                      "kernel.cu is CUDA, and the same text for a GPU and without one")


# ---- as written ----------------------------------------------------------------------------------


def check_source(source: bytes) -> None:
    """Before anything is compiled. Raises Refused."""
    line, at_start = 1, True
    tokens = TOKEN.finditer(without_splices(source))
    for token in tokens:
        kind, text = token.lastgroup, token[0]
        if kind == "hash" and at_start:
            of_line = itertools.takewhile(lambda each: each.lastgroup != "newline", tokens)
            words = [each[0] for each in of_line if each.lastgroup not in ("blank", "comment")]
            check_directive(words, line)
            for word in words:
                check_forbidden(word, AS_WRITTEN, line)
            line, at_start = line + 1, True
            continue
        if kind == "word":
            check_forbidden(text, AS_WRITTEN, line)
        line += text.count(b"\n")
        at_start = kind == "newline" or (at_start and kind in ("blank", "comment"))


def refuse_marker(line: int) -> NoReturn:
    raise Refused("changes the line numbers or the name of its file", STUDENT_FILE, line,
                  "take the # directive out: errors must name the lines of kernel.cu")


ONLY_ONE_FILE = "only kernel.cu is graded; headers of the system have plain names"


def check_directive(words: list[bytes], line: int) -> None:
    name = words[0] if words else b""
    if name in (b"define", b"undef") and b"".join(words[1:2]).startswith(b"__builtin_"):
        raise Refused(f"redefines {words[1].decode()}", STUDENT_FILE, line, "remove it")
    if name == b"line" or name[:1].isdigit():
        refuse_marker(line)
    if name in (b"include", b"include_next", b"import", b"embed"):
        asked = b"".join(words[1:]).decode(errors="replace")
        inside = asked.strip('"<>')
        if inside.startswith("/") or ".." in inside.split("/"):
            raise Refused(f"includes the file {inside}", STUDENT_FILE, line, ONLY_ONE_FILE)
    if name == b"embed":
        raise Refused("embeds a file", STUDENT_FILE, line, "only kernel.cu is graded")


# ---- preprocessed --------------------------------------------------------------------------------

# # 12 "kernel.cu" 2
MARKER = re.compile(rb'^[ \t]*#[ \t]*(?:line[ \t]+)?(\d+)[ \t]+"((?:\\.|[^"\\\n])*)"([^\n]*)',
                    re.MULTILINE)
PRAGMA = re.compile(rb"#\s*pragma\s+(?:(?:GCC|clang|STDC)\s+)?(\w+)")
ENTERS, OF_SYSTEM = b"1", b"3"  # flags behind the name
SYSTEM_HEADERS = frozenset({b"/usr/include", b"/usr/local/include"})
ATTRIBUTE = (b"__attribute__", b"__attribute")
HEADERS_NAME = rb"((?:__|_[A-Z])\w*|atomic(?:_\w+)?)"
HEADERS_OWN = re.compile(rb"\b" + HEADERS_NAME + rb"(?=\s*\()"
                         rb"|\b(?:namespace|struct|class|union|enum)\s+" + HEADERS_NAME)
"""Names of functions and types. Names of variables in headers are ordinary ones: __x, __first."""
HEADERS_SPACES = re.compile(rb"\b(?:namespace|struct|class|union)\s+(\w+)")


class Token(NamedTuple):
    """One of the student's; blanks are left out."""

    text: bytes
    kind: str
    line: int


def check_preprocessed(text: bytes, prelude: bytes, own: bytes, parts: bytes = b"") -> list[Token]:
    """The tokens of the compiler's -E output that come from the student's file, as the preprocessor's linemarkers say:
    there it is called OWN.cu (engine/kernel.sh, preprocess_as). Headers have absolute paths, or names such as
    <built-in>; all of `prelude` is theirs. Each lies where one of the prelude's does, or below `parts`, the grader's
    own folder. Raises Refused."""
    folders = {os.path.dirname(os.path.normpath(found[2])) for found in MARKER.finditer(prelude)}
    of_headers, tokens = parted(text, own, SYSTEM_HEADERS | folders - {b"", b"/"} | {parts} - {b""})
    of_headers.append(prelude)
    known = {name for part in of_headers for pair in HEADERS_OWN.findall(part) for name in pair}
    spaces = {name for part in of_headers for name in HEADERS_SPACES.findall(part)}
    code, pragmas = code_and_pragmas(tokens)
    for pragma in pragmas:  # by its name: the rest may be prose, or numbers
        follow = [token.text for token in pragma[1:]]
        family = bool(follow) and bool(FAMILIES.fullmatch(follow[0]))
        name = b"".join(follow[family:family + 1]).decode(errors="replace")
        if PRAGMAS.fullmatch(name):
            raise Refused(f"uses #pragma {name}", STUDENT_FILE, pragma[0].line, "remove it")
    check_code(code, names_of_others([token.text for token in code], known, spaces))
    return tokens


def lines_of(tokens: list[Token]) -> dict[str, tuple[int, int]]:
    """The line in which each word is first declared, and the one in which it is first used, as far as the words
    in front of it tell. A word that is only declared, or only used, has that line twice."""
    code, _ = code_and_pragmas(tokens)
    words = [token.text for token in code]
    found: tuple[dict[str, int], dict[str, int]] = ({}, {})
    for i, token in enumerate(code):
        if token.kind == "word":
            found[not follows_a_type(words, i)].setdefault(token.text.decode(errors="replace"), token.line)
    declared_at, used_at = found
    return {word: (declared_at.get(word) or used_at[word], used_at.get(word) or declared_at[word])
            for word in declared_at | used_at}


def names_of_others(words: list[bytes], known: set[bytes], spaces: set[bytes]) -> set[bytes]:
    """Of the `known` names of headers, those that the student's words do not declare, or that they
    take out of one of the headers' namespaces and types, `spaces`."""
    used = known.intersection(words)
    if not used:
        return used
    taken = {word for i, word in enumerate(words) if word in used
             and words[max(i - 2, 0):i] == [b":", b":"]
             and (i < 3 or words[i - 3] in spaces or not re.match(rb"\w", words[i - 3]))}
    return used - declared(words, used) | taken


def parted(text: bytes, own: bytes, folders: Set[bytes]) -> tuple[list[bytes], list[Token]]:
    """What comes from headers, all of which lie in or below `folders`, and what is the student's, without its last
    word, `own`. Where that is in another file, a directive has forged one. Raises Refused for this, for a file
    elsewhere, and for a header of the CPU's own instructions."""
    of_headers: list[bytes] = []
    tokens: list[Token] = []
    student = own + b".cu"
    marker = MARKER.search(text)
    while marker:
        at, name, flags = marker.end(), marker[2], marker[3].split()
        line = tokens[-1].line if tokens else 0
        if name == student and ENTERS not in flags:
            marker = MARKER.search(text, cut(text, at, int(marker[1]) - 1, tokens))
            continue
        marker = MARKER.search(text, at)
        of_headers.append(text[at:marker.start() if marker else len(text)])
        check_instructions(name, line)
        if name.startswith(b"<") or not of_headers[-1].strip() and name != student:
            continue  # the name of the working directory, for one; and headers that are empty here
        check_place(name if name != student else STUDENT_FILE.encode(), folders, line)
        if is_changed(of_headers[-1], name, OF_SYSTEM in flags):
            header = name.rpartition(b"/")[2].decode(errors="replace")
            raise Refused(f"changes the header {header} by a macro", STUDENT_FILE, line_behind(text, at, student),
                          "write the #include in front of the macro's #define")
    last = max((i for i, token in enumerate(tokens) if token.kind != "newline"), default=0)
    if not tokens or tokens[last].text != own or len(re.findall(own + rb"(?!\.cu)", text)) > 1:
        refuse_marker(tokens[-1].line if tokens else 1)
    return of_headers, tokens[:last]


def line_behind(text: bytes, at: int, student: bytes) -> int:
    """That of the directive behind whose headers the student's text goes on; 0: it does not."""
    return next((int(found[1]) - 1 for found in MARKER.finditer(text, at) if found[2] == student), 0)


def is_changed(text: bytes, path: bytes, of_system: bool) -> bool:
    """Whether a macro of the student's is in what a header became, which is not looked at. gcc gives it a marker that
    does not say that it is the system's; but a _Pragma has the header's."""
    pragmas = {name for name in PRAGMA.findall(text) if PRAGMAS.fullmatch(name.decode())}
    if pragmas and not pragmas <= set(PRAGMA.findall(Path(os.fsdecode(path)).read_bytes())):
        return True
    return not of_system and any(token.lastgroup == "word" for token in TOKEN.finditer(text))


def check_instructions(path: bytes, line: int) -> None:
    """Raises Refused."""
    header = path.rpartition(b"/")[2]
    if INSTRUCTIONS.fullmatch(header):
        raise Refused(f"includes <{header.decode(errors='replace')}>: the CPU's own "
                      "instructions, which the checker cannot see", STUDENT_FILE, line, "remove it")


def check_place(path: bytes, folders: Set[bytes], line: int) -> None:
    """Raises Refused for a header that is not in one of the folders, or below."""
    whole = os.path.normpath(path)
    folder = os.path.dirname(whole)
    while folder not in folders:
        if folder == os.path.dirname(folder):
            raise Refused(f"includes the file {whole.decode(errors='replace')}", STUDENT_FILE, line, ONLY_ONE_FILE)
        folder = os.path.dirname(folder)


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
            tokens.append(Token(DIGRAPHS.get(found[0], found[0]), kind, line))
    return at


def code_and_pragmas(tokens: list[Token]) -> tuple[list[Token], list[list[Token]]]:
    """Without comments and line ends; and what follows the # of each #pragma."""
    code: list[Token] = []
    pragmas: list[list[Token]] = []
    line = code
    for token, following in itertools.pairwise([*tokens, Token(b"", "", 0)]):
        if token.kind == "newline":
            line = code
        elif line is code and token.kind == "hash" and following.text == b"pragma":
            line = []
            pragmas.append(line)
        elif token.kind != "comment":
            line.append(token)
    return code, pragmas


VA_START = [b"__builtin_va_list", b"made", b";", b"__builtin_va_start", b"(", b"made"]
"""What the emulator's macro of this name expands to. The checker does not see what any other use stores."""


def check_code(code: list[Token], others: set[bytes]) -> None:
    """`others`: reserved names that are not the student's. Raises Refused."""
    in_attribute, depth, previous = False, 0, b""
    words = [token.text for token in code]
    for i, (word, kind, line) in enumerate(code):
        if word == VA_START[3] and words[max(i - 3, 0):i + 3] != VA_START:
            raise Refused(f"uses {word.decode()}", STUDENT_FILE, line, "write va_start")
        if in_attribute:
            depth += (word in (b"(", b"[")) - (word in (b")", b"]"))
            in_attribute = depth > 0 or previous in ATTRIBUTE
        elif word in ATTRIBUTE or (word, previous) == (b"[", b"["):
            in_attribute, depth = True, 2 if word == b"[" else 0
        if kind == "word":
            check_word(word, line, others, in_attribute and depth == 2)
        previous = word


def check_word(word: bytes, line: int, others: set[bytes], attribute: bool) -> None:
    """One of the student's; `attribute`: it names one. Raises Refused."""
    check_forbidden(word, PREPROCESSED, line, OF_THEIR_MACROS)
    text = word.decode(errors="replace")
    if attribute and not ATTRIBUTES.fullmatch(text):
        raise Refused(f"uses the attribute {text}", STUDENT_FILE, line, "remove the attribute")
    if word in others and ATOMIC.fullmatch(text):
        raise Refused(f"uses C++'s {text}", STUDENT_FILE, line, CUDAS_ATOMICS)
    if RESERVED.fullmatch(text) and not attribute and (word in others or OF_COMPILERS.fullmatch(text)) \
            and not (CUDAS_OWN.fullmatch(text) or OF_MACROS.fullmatch(text)):
        raise Refused(f"uses {text}, a name that belongs to the compiler or its libraries", STUDENT_FILE, line,
                      "remove it, or declare it if it is yours; CUDA C does not need it")
