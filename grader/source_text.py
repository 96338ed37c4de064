"""Checks the text of a submission's kernel.cu. Raises Refused, with the line, for what no CUDA
program needs.

    check_source        as written: nothing that hides where text comes from, or asks for files
    check_preprocessed  what the preprocessor made of it, where no macro hides a word any more

The first keeps the student from misleading the second, and symbols.py, which reads the object
file. What this gate is for, and what it is not, is in docs/security.md.
"""

from __future__ import annotations

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


# What is checked is to be the kernel that earns the points. A compiler defines these where loads
# and stores are watched, and the emulator's headers ask for them too, so they cannot be undefined.
AS_WRITTEN = (
    Forbidden(re.compile(r"(?i:(cuda_)?emulator).*"), "uses the emulator's own {}",
              "kernel.cu is CUDA, and the same text for a GPU and without one"),
    Forbidden(re.compile(r"__SANITIZE\w*|(thread|address|memory|undefined_behavior)_sanitizer"
                         r"|__has_feature|__has_extension"),
              "asks whether it is being checked ({})",
              "take it out: what is checked and what is timed has to be one kernel"),
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
    Forbidden(re.compile(r"cudaMemcpyFromSymbol\w*"), "copies device memory to the host ({})"),
    Forbidden(re.compile(r"redefine_extname"), "gives a function another name's symbol ({})"),
)
# Ordinary words elsewhere: a variable may be called section.
IN_ATTRIBUTES = (*PREPROCESSED, Forbidden(
    re.compile(r"_*(constructor|destructor|init_priority|section|alias|weakref|ifunc|symver|naked"
               r"|target_clones|used|retain|no_icf|copy|no_instrument_function)_*"),
    "uses the attribute {}", "take the attribute out"))

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
    if name == b"embed":
        raise Refused("embeds a file", STUDENT_FILE, line, "only kernel.cu is graded")


# ---- preprocessed --------------------------------------------------------------------------------

# # 12 "kernel.cu" 2
MARKER = re.compile(rb'^[ \t]*#[ \t]*(?:line[ \t]+)?(\d+)[ \t]+"((?:\\.|[^"\\\n])*)"[^\n]*',
                    re.MULTILINE)
ATTRIBUTE = (b"__attribute__", b"__attribute")


def check_preprocessed(text: bytes) -> None:
    """The output of the compiler's -E, in the lines that come from the student's file, as the
    preprocessor's linemarkers say; check_source has refused those that a student writes. Headers
    have absolute paths, or names such as <built-in>. Raises Refused."""
    at = 0
    while marker := MARKER.search(text, at):
        at = marker.end()
        if not marker[2].startswith((b"/", b"<")):
            at = check_students_lines(text, at, int(marker[1]) - 1)


def check_students_lines(text: bytes, at: int, line: int) -> int:
    """From the end of a linemarker to the next one, whose place it returns. Cut into tokens, so
    that what looks like a marker inside a string is none."""
    at_start, in_attribute, depth, previous = False, False, 0, b""
    while at < len(text) and (token := TOKEN.match(text, at)):
        kind, word = token.lastgroup, token[0]
        if at_start and kind == "hash" and MARKER.match(text, at):
            return at
        at = token.end()
        line += word.count(b"\n")
        at_start = kind == "newline" or (at_start and kind == "blank")
        if kind in ("blank", "newline"):
            continue
        if in_attribute:
            depth += (word in (b"(", b"[")) - (word in (b")", b"]"))
            in_attribute = depth > 0 or previous in ATTRIBUTE
        elif word in ATTRIBUTE or (word, previous) == (b"[", b"["):
            in_attribute, depth = True, 2 if word == b"[" else 0
        if kind == "word":
            check_words([word], IN_ATTRIBUTES if in_attribute else PREPROCESSED, line)
        previous = word
    return at
