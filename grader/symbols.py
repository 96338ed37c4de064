"""Looks at what a submission's kernel.cu was compiled to, before it is linked to anything.

Three looks, each of which raises Refused with what was tried and the line:

    check_source        the text itself: nothing that would mislead the other two
    check_preprocessed  what the preprocessor made of it, where no macro hides a word any more
    check_object        the object file: only names from allowed_symbols.toml are referred to, no
                        name that others rely on is defined, nothing runs before or after main()

This is a gate against the ways that are known, and gives them a name. It is not what keeps the
machine safe, which is the sandbox, nor what makes the verdict true, which is that it is made in
another process. Objects are read with pyelftools, in Python: no program is run on them.
"""

from __future__ import annotations

import bisect
import functools
import io
import re
import struct
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from .errors import Refused

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

LISTS = Path(__file__).with_name("allowed_symbols.toml")
STUDENT_FILE = "kernel.cu"

# ---- the lists -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Names:
    """One table of allowed_symbols.toml."""

    names: frozenset[str]
    prefixes: tuple[str, ...]
    what: str = ""
    call_only: bool = False
    checked_only: bool = False
    cuda_only: bool = False

    def __contains__(self, name: str) -> bool:
        return name in self.names or name.startswith(self.prefixes)


@functools.cache
def lists() -> tuple[tuple[Names, ...], tuple[Names, ...]]:
    """What is allowed, and what is refused in words of its own."""
    tables = tomllib.loads(LISTS.read_text(encoding="utf-8"))

    def read(table: dict[str, Any]) -> Names:
        return Names(frozenset(table.get("names", ())), tuple(table.get("prefixes", ())),
                     table.get("what", ""), table.get("call_only", False),
                     table.get("checked_only", False), table.get("cuda_only", False))

    return tuple(map(read, tables["allowed"])), tuple(map(read, tables["refused"]))


def words_for(name: str) -> str:
    """Why nobody may refer to it."""
    for names in lists()[1]:
        if name in names:
            return names.what
    return "kernels have no use for it"


# ---- the text ------------------------------------------------------------------------------------

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


def check_source(source: bytes) -> None:
    """Before anything is compiled: what hides where text comes from, or asks for files."""
    line, at_start = 1, True
    tokens = TOKEN.finditer(without_splices(source))
    for token in tokens:
        kind, text = token.lastgroup, token[0]
        if kind == "hash" and at_start:
            words = tokens_of_line(tokens)
            check_directive(words, line)
            for word in words:
                check_typed_word(word, line)
            line, at_start = line + 1, True
            continue
        if kind == "word":
            check_typed_word(text, line)
        line += text.count(b"\n")
        at_start = kind == "newline" or (at_start and kind in ("blank", "comment"))


# By which a compiler says that loads and stores are watched; the emulator's headers ask for it too,
# so it cannot be told to keep silent. What is checked is to be the kernel that earns the points.
ASKS_FOR_THE_CHECKER = re.compile(rb"__SANITIZE\w*|(thread|address|memory|undefined_behavior)"
                                  rb"_sanitizer|__has_feature|__has_extension|__SANITIZER\w*")


def check_typed_word(word: bytes, line: int) -> None:
    """A word as it stands in kernel.cu, before macros are replaced."""
    if re.match(rb"(?i)(cuda_)?emulator", word):
        raise Refused(f"uses the emulator's own {word.decode(errors='replace')}", STUDENT_FILE,
                      line, "kernel.cu is CUDA, and the same text for a GPU and without one")
    if ASKS_FOR_THE_CHECKER.fullmatch(word):
        raise Refused(f"asks whether it is being checked ({word.decode()})", STUDENT_FILE, line,
                      "take it out: what is checked and what is timed has to be one kernel")


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


# Words that no CUDA program has, and what they are for.
FORBIDDEN_WORDS = (
    (r"asm|__asm|__asm__", "uses inline assembly"),
    (r"_*no_sanitize\w*|_*disable_sanitizer_instrumentation_*|no_profile_instrument_function",
     "hides a function from the checker ({})"),
    (r"__builtin_(ia32|aarch64|arm|neon)_\w+|_mm\d*_\w+|__builtin_nontemporal_\w+"
     r"|__builtin_masked_\w+",
     "uses the CPU's own instructions, which the checker cannot see ({})"),
    (r"__builtin_(return_address|frame_address|extract_return_addr|frob_return_addr|dwarf_\w+"
     r"|eh_return\w*|unwind_init|apply\w*|return|setjmp|longjmp|stack_address|sponentry"
     r"|thread_pointer|__clear_cache|addressof_stack)|__get_cpuid\w*",
     "looks at the program's stack or registers ({})"),
    (r"cudaMemcpyFromSymbol\w*", "copies device memory to the host ({})"),
    (r"redefine_extname", "gives a function another name's symbol ({})"),
)
FORBIDDEN = re.compile("|".join(f"(?P<w{i}>(?:{words}))" for i, (words, _) in
                                enumerate(FORBIDDEN_WORDS)))

# Attributes are ordinary words elsewhere: a variable may be called section.
FORBIDDEN_ATTRIBUTES = re.compile(
    r"_*(constructor|destructor|init_priority|section|alias|weakref|ifunc|symver|naked"
    r"|target_clones|used|retain|no_icf|copy|no_instrument_function)_*")


# # 12 "kernel.cu" 2
MARKER = re.compile(rb'^[ \t]*#[ \t]*(?:line[ \t]+)?(\d+)[ \t]+"((?:\\.|[^"\\\n])*)"[^\n]*',
                    re.MULTILINE)


def check_preprocessed(text: bytes) -> None:
    """The output of the compiler's -E, in the lines that come from the student's file.

    Whether a line does is told by the preprocessor's own markers, which check_source has kept the
    student from writing: headers have absolute paths, or names such as <built-in>."""
    at = 0
    while (marker := MARKER.search(text, at)):
        at = marker.end()
        if marker[2].startswith((b"/", b"<")):
            continue
        at = check_students_lines(text, at, int(marker[1]) - 1)


def check_students_lines(text: bytes, at: int, line: int) -> int:
    """From the end of a marker to the next marker, whose place it returns. Cut into tokens, so that
    what looks like a marker inside a string is none."""
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
        opens = word in (b"__attribute__", b"__attribute") or (word, previous) == (b"[", b"[")
        if in_attribute:
            depth += (word in (b"(", b"[")) - (word in (b")", b"]"))
            in_attribute = depth > 0 or previous in (b"__attribute__", b"__attribute")
        elif opens:
            in_attribute, depth = True, 2 if word == b"[" else 0
        if kind == "word":
            check_word(word.decode(errors="replace"), in_attribute, line)
        previous = word
    return at


def check_word(word: str, in_attribute: bool, line: int) -> None:
    found = FORBIDDEN.fullmatch(word)
    if found:
        tried = FORBIDDEN_WORDS[int(str(found.lastgroup)[1:])][1]
        raise Refused(tried.format(word), STUDENT_FILE, line, "take it out")
    if in_attribute and FORBIDDEN_ATTRIBUTES.fullmatch(word):
        raise Refused(f"uses the attribute {word}", STUDENT_FILE, line, "take the attribute out")


# ---- the object file -----------------------------------------------------------------------------

SHF_WRITE, SHF_ALLOC, SHF_EXECINSTR = 1, 2, 4

# Sections that compilers make, by what they may be.
CODE = re.compile(r"\.text([.].*)?")
DATA = re.compile(r"\.(data|bss|tdata|tbss|init_array|data\.rel(\.ro)?(\.local)?)([.].*)?")
CONSTANTS = re.compile(r"\.(rodata|gcc_except_table|eh_frame|note\.gnu\.property)([.].*)?")
NOT_LOADED = re.compile(
    r"|\.symtab|\.strtab|\.shstrtab|\.symtab_shndx|\.comment|\.group|\.debug_\w+(\.dwo)?"
    r"|\.note\.GNU-stack|\.llvm_addrsig|\.llvm\.\S*|\.ARM\.attributes|\.gnu\.debuglto\S*")

# What compilers themselves have run before main(): constructors of the file's variables, and the
# checked build's announcement of itself.
STARTERS = re.compile(r"_GLOBAL__sub_I_\S*|_GLOBAL__sub_I\.\d+_\S*|_sub_I_\d+_\d+"
                      r"|(tsan|ubsan|asan)\.module_ctor")
LARGEST_NUMBER_OF_STARTERS = 4

# nvcc's own: the fat binary, where to find it, and who announces it to the runtime.
NVCC_SECTIONS = {re.compile(r"\.nv_fatbin|__nv_relfatbin"): SHF_ALLOC,
                 re.compile(r"\.nvFatBinSegment|__nv_module_id"): SHF_ALLOC | SHF_WRITE}
NVCC_STARTERS = re.compile(STARTERS.pattern + r"|_ZL\d+__sti____cudaRegisterAllv"
                           r"|_ZL\d+__nv_cudaEntityRegisterCallback\S*")

# Names of C that compilers define in an object.
COMPILERS_OWN = re.compile(r"DW\.ref\.\w+|__clang_call_terminate|_sub_I_\d+_\d+|__odr_asan\S*")

# How machines call: the only thing that may be done with a function of the runtime.
CALLS = {"EM_X86_64": {4}, "EM_AARCH64": {282, 283}}  # PLT32; JUMP26, CALL26

# The C++ library's own names, and ours: operator new and delete, std::, ABI, emulator::.
RESERVED_MANGLED = re.compile(
    r"_Z(n|d)[wal]\S*|_Z(T[VTISHWC])?(NK?)?(St|S[absiod](?=[A-Z\d])|9__gnu_cxx|10__cxxabiv1"
    r"|8emulator)\S*")


@dataclass(frozen=True)
class Place:
    """In the object: section number and offset."""

    section: int
    offset: int


class Object:
    """A relocatable object, as far as the checks want to know it."""

    def __init__(self, content: bytes, source: bytes):
        self.content = content
        self.source = source.splitlines()
        self.elf = ELFFile(io.BytesIO(content))
        if self.elf["e_type"] != "ET_REL":
            raise ELFError("not a relocatable object")
        self.sections = list(self.elf.iter_sections())
        tables = [s for s in self.sections if isinstance(s, SymbolTableSection)]
        self.symbols = list(tables[0].iter_symbols()) if len(tables) == 1 else []
        if not self.symbols:
            raise ELFError("no symbols")
        self.references: dict[int, list[tuple[Place, int]]] = {}
        self.starters: list[tuple[int, int]] = []  # symbol, addend
        for section in self.sections:
            if section["sh_type"] in ("SHT_RELA", "SHT_REL"):
                self._read_relocations(section)

    def _read_relocations(self, section: Any) -> None:
        target = section["sh_info"]
        if not self.sections[target]["sh_flags"] & SHF_ALLOC:
            return
        starts = self.sections[target].name.startswith(".init_array")
        for relocation in section.iter_relocations():
            symbol = relocation["r_info_sym"]
            place = Place(target, relocation["r_offset"])
            self.references.setdefault(symbol, []).append((place, relocation["r_info_type"]))
            if starts:
                addend = relocation["r_addend"] if section["sh_type"] == "SHT_RELA" else 0
                self.starters.append((symbol, addend))

    def line_of(self, symbol: int) -> int:
        """Of the first reference to it in code; 0 where that is not known."""
        places = [place for place, _ in self.references.get(symbol, ())
                  if self.sections[place.section]["sh_flags"] & SHF_EXECINSTR]
        return self.line_at(places[0]) if places else 0

    def line_with(self, name: str, line: int) -> int:
        """The line nearest to this one that has the name in it; else this one. A call through an
        inlined function of a header is not told apart from the lines around it."""
        word = re.compile(rb"\b" + re.escape(name.encode()) + rb"\b")
        found = [i for i, text in enumerate(self.source, 1) if word.search(text)]
        return min(found, key=lambda i: abs(i - line)) if found else line

    def line_of_definition(self, symbol: Any) -> int:
        if not isinstance(symbol["st_shndx"], int):
            return 0
        return self.line_at(Place(symbol["st_shndx"], symbol["st_value"]))

    def line_at(self, place: Place) -> int:
        """The student's line of an instruction: its own, or the last one before it, where it comes
        from an inlined function of a header."""
        try:
            lines = self.lines
        except Exception:
            return 0  # debug information is for people, and nothing rests on it
        address = (place.section << 32) + place.offset
        i = bisect.bisect_right(lines, (address, 1 << 60)) - 1
        return lines[i][1] if i >= 0 and lines[i][0] >> 32 == place.section else 0

    @functools.cached_property
    def lines(self) -> list[tuple[int, int]]:
        """(address, line), sorted. In an object all sections start at 0; so that an address is one
        place only, the copy that is read here has each at its number times 4 GiB."""
        dwarf = ELFFile(io.BytesIO(self._spread())).get_dwarf_info(relocate_dwarf_sections=True)
        found = []
        for unit in dwarf.iter_CUs():
            program = dwarf.line_program_for_CU(unit)
            if program is None:
                continue
            first = 0 if program.header.version >= 5 else 1
            names = [entry.name for entry in program.header.file_entry]
            for entry in program.get_entries():
                state = entry.state
                if state is None or state.end_sequence or not state.line:
                    continue
                index = state.file - first
                if 0 <= index < len(names) and not names[index].endswith((b".h", b".hpp")) and \
                        names[index].rpartition(b".")[2] in (b"cu", b"cpp", b"cc"):
                    found.append((state.address, state.line))
        return sorted(found)

    def _spread(self) -> bytes:
        content = bytearray(self.content)
        table = next(s for s in self.sections if isinstance(s, SymbolTableSection))
        for i, symbol in enumerate(self.symbols):
            section = symbol["st_shndx"]
            if isinstance(section, int):
                at = table["sh_offset"] + i * table["sh_entsize"] + 8  # st_value of Elf64_Sym
                struct.pack_into("<Q", content, at, symbol["st_value"] + (section << 32))
        return bytes(content)

    def function_at(self, section: int, offset: int) -> str:
        """The name of the function that starts there."""
        for symbol in self.symbols:
            if (symbol["st_shndx"], symbol["st_value"]) == (section, offset) and \
                    symbol["st_info"]["type"] == "STT_FUNC":
                return str(symbol.name)
        return ""


def check_object(path: Path, checked: bool, source: bytes = b"", cuda: bool = False) -> None:
    """Raises Refused. `checked`: the object of the checked build, where the compiler itself calls
    the checker. `cuda`: the host's part of what nvcc made, with the stubs that announce kernels.
    `source`: its text, in which the line is looked for more exactly."""
    try:
        read = Object(path.read_bytes(), source)
        check_sections(read, NVCC_SECTIONS if cuda else {})
        check_starters(read, NVCC_STARTERS if cuda else STARTERS)
        for number, symbol in enumerate(read.symbols):
            if "@" in symbol.name:
                refuse(read, symbol, number, f"gives {symbol.name} a version")
            if symbol["st_shndx"] == "SHN_UNDEF":
                check_reference(read, number, symbol, checked, cuda)
            else:
                check_definition(read, number, symbol)
    except Refused:
        raise
    except Exception as error:  # pyelftools has many ways to say that a file is damaged
        raise Refused("compiles to an object file that cannot be read", STUDENT_FILE, 0,
                      str(error)) from error


def refuse(read: Object, symbol: Any, number: int, tried: str) -> None:
    line = read.line_of(number) or read.line_of_definition(symbol)
    line = read.line_with(symbol.name, line)
    raise Refused(tried, STUDENT_FILE, line, "take it out; a kernel and its launch need none of it")


def check_reference(read: Object, number: int, symbol: Any, checked: bool, cuda: bool) -> None:
    name = symbol.name
    if not name:
        return
    for names in lists()[0]:
        if name in names and (checked or not names.checked_only) and \
                (cuda or not names.cuda_only):
            if names.call_only and any(kind not in CALLS.get(read.elf["e_machine"], {kind})
                                       for _, kind in read.references.get(number, ())):
                refuse(read, symbol, number, f"takes the address of {name} instead of calling it")
            return
    if number not in read.references and symbol["st_info"]["bind"] == "STB_WEAK":
        return
    calls = any(kind in CALLS.get(read.elf["e_machine"], ())
                for _, kind in read.references.get(number, ()))
    refuse(read, symbol, number,
           f"{'calls' if calls else 'uses'} {spelled(name)}: {words_for(name)}")


def spelled(name: str) -> str:
    """As the student wrote it, for what is met most."""
    stream = re.search(r"\d+basic_([io]?fstream|filebuf)", name)
    if stream:
        return f"std::{stream[1]}"
    return "std::thread" if "St6thread" in name else {"_ZSt3cin": "std::cin"}.get(name, name)


def check_definition(read: Object, number: int, symbol: Any) -> None:
    name, kind = symbol.name, symbol["st_info"]["type"]
    bind, section = symbol["st_info"]["bind"], symbol["st_shndx"]
    if kind in ("STT_LOOS", "STT_GNU_IFUNC"):
        refuse(read, symbol, number, f"has {name} chosen when the program is loaded (ifunc)")
    if section == "SHN_ABS" and kind != "STT_FILE":
        refuse(read, symbol, number, f"gives {name} an address of its own")
    if isinstance(section, int) and kind in ("STT_OBJECT", "STT_TLS") and \
            read.sections[section]["sh_flags"] & SHF_EXECINSTR:
        refuse(read, symbol, number, f"puts the data {name} among the code")
    if bind == "STB_LOCAL" or COMPILERS_OWN.fullmatch(name):
        return
    if name.startswith("_Z"):
        strong = bind == "STB_GLOBAL"
        if strong and RESERVED_MANGLED.match(name):
            refuse(read, symbol, number, f"defines {name}, which belongs to the C++ library")
        return
    if kind == "STT_FUNC" and name == "mysgemm":
        return  # extern "C", for whatever reason: nobody else relies on it
    if kind == "STT_FUNC":
        theirs = f"defines {name}"
        if not known(name):
            theirs += ' with extern "C", as only libraries need'
        refuse(read, symbol, number, theirs)
    if known(name):
        refuse(read, symbol, number, f"defines {name}, a name that others rely on")


def known(name: str) -> bool:
    return name.startswith("__") or any(name in names for table in lists() for names in table)


def check_sections(read: Object, more: dict[re.Pattern[str], int]) -> None:
    stack = False
    for number, section in enumerate(read.sections):
        name, flags = section.name, section["sh_flags"]
        if section["sh_type"] in ("SHT_RELA", "SHT_REL"):
            continue  # of a section that is looked at itself
        wanted = {CODE: SHF_ALLOC | SHF_EXECINSTR, DATA: SHF_ALLOC | SHF_WRITE,
                  CONSTANTS: SHF_ALLOC, NOT_LOADED: 0} | more
        right = [w for pattern, w in wanted.items() if pattern.fullmatch(name)]
        got = flags & (SHF_ALLOC | SHF_WRITE | SHF_EXECINSTR)
        if name == ".note.GNU-stack":
            stack = True
            if flags & SHF_EXECINSTR:
                raise Refused("asks for a stack that can be executed", STUDENT_FILE, 0,
                              "take out what needs it")
        if not right or (got != right[0] and not (name == ".eh_frame" and got == 3)):
            raise Refused(f"puts something into the section {name or number}", STUDENT_FILE, 0,
                          "take the attribute out that asks for a section")
    if not stack:
        raise Refused("asks for a stack that can be executed", STUDENT_FILE, 0,
                      "take out what needs it")


def check_starters(read: Object, allowed: re.Pattern[str]) -> None:
    """Functions that would run before main()."""
    if len(read.starters) > LARGEST_NUMBER_OF_STARTERS:
        raise Refused("runs functions before main()", STUDENT_FILE, 0, "take them out")
    for number, addend in read.starters:
        symbol = read.symbols[number]
        section = symbol["st_shndx"]
        name = read.function_at(section, symbol["st_value"] + addend) \
            if isinstance(section, int) else symbol.name
        if not allowed.fullmatch(name):
            line = read.line_at(Place(section, symbol["st_value"] + addend)) \
                if isinstance(section, int) else 0
            raise Refused(f"runs {name or 'a function'} before main()", STUDENT_FILE, line,
                          "take the constructor attribute out")
