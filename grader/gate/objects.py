"""Checks the object file that a submission's kernel.cu was compiled to, before it is linked to
anything: only names from symbols.toml are referred to, no name that others rely on is
defined, nothing runs before or after main(). Raises Refused, with the line.

This is a gate against the ways that are known, and gives them a name. It is not what keeps the
machine safe, which is the sandbox, nor what makes the verdict true, which is that it is made in
another process. Objects are read with pyelftools, in Python: no program is run on them.
"""

import functools
import io
import re
import sys
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from ..errors import Refused
from .text import STUDENT_FILE

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

LISTS = Path(__file__).with_name("symbols.toml")

# ---- the lists -----------------------------------------------------------------------------------


@dataclass
class Names:
    """One table of symbols.toml, which explains each key."""

    names: list[str]
    prefixes: list[str]
    what: str = ""
    call_only: bool = False
    implicit: bool = False
    checked_only: bool = False
    cuda_only: bool = False

    def __contains__(self, name: str) -> bool:
        return name in self.names or name.startswith(tuple(self.prefixes))


@functools.cache
def lists() -> tuple[list[Names], list[Names]]:
    """What is allowed, and what is refused for a particular reason."""
    tables = tomllib.loads(LISTS.read_text(encoding="utf-8"))
    allowed, refused = ([Names(**each | {key: each.get(key, "").split() for key in ("names", "prefixes")})
                         for each in tables[kind]] for kind in ("allowed", "refused"))
    return allowed, refused


def words_for(name: str) -> str:
    """Why a submission may not refer to it."""
    return next((names.what for names in lists()[1] if name in names), "kernels have no use for it")


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


class Object:
    """A relocatable object, as far as the checks need it. Raises ELFError if it is damaged."""

    def __init__(self, content: bytes, lines: Mapping[str, tuple[int, int]]):
        self.lines = lines
        self.elf = ELFFile(io.BytesIO(content))
        if self.elf["e_type"] != "ET_REL":
            raise ELFError("not a relocatable object")
        self.sections = list(self.elf.iter_sections())
        tables = [s for s in self.sections if isinstance(s, SymbolTableSection)]
        self.symbols = list(tables[0].iter_symbols()) if len(tables) == 1 else []
        if not self.symbols:
            raise ELFError("no symbols")
        self.calls = CALLS.get(self.elf["e_machine"], set())  # how this machine calls a function
        self.references: defaultdict[int, set[int]] = defaultdict(set)  # of a symbol: kinds of relocations
        self.starters: list[tuple[int, int]] = []  # symbol, addend
        for section in self.sections:
            if section["sh_type"] not in ("SHT_RELA", "SHT_REL") \
                    or not (target := self.sections[section["sh_info"]])["sh_flags"] & SHF_ALLOC:
                continue
            for relocation in section.iter_relocations():
                symbol = relocation["r_info_sym"]
                self.references[symbol].add(relocation["r_info_type"])
                if target.name.startswith(".init_array"):
                    addend = relocation["r_addend"] if section["sh_type"] == "SHT_RELA" else 0
                    self.starters.append((symbol, addend))

    def line_of(self, name: str, used: bool) -> int:
        """Where the student's text first uses or declares it, or the longest word that a mangled name has in it;
        0: nowhere."""
        parts = [word for word in self.lines if len(word) > 2 and word in name] if name.startswith("_Z") else []
        operator = {"_Zn": "new", "_Zd": "delete"}.get(name[:3], name)
        return self.lines.get(max(parts, key=len, default=operator), (0, 0))[used]

    def function_at(self, section: int, offset: int) -> str:
        """The name of the function that starts there; "" if there is none."""
        return next((str(symbol.name) for symbol in self.symbols
                     if (symbol["st_shndx"], symbol["st_value"]) == (section, offset)
                     and symbol["st_info"]["type"] == "STT_FUNC"), "")


def check_object(path: Path, checked: bool, lines: Mapping[str, tuple[int, int]], cuda: bool = False,
                 kernel: str = "") -> None:
    """Raises Refused. `checked`: the object of the checked build, where the compiler itself calls
    the checker. `cuda`: the host's part of what nvcc made, with the stubs that announce kernels.
    `lines`: where the student's text has each word. `kernel`: a name of its own."""
    try:
        read = Object(path.read_bytes(), lines)
        check_sections(read, NVCC_SECTIONS if cuda else {})
        check_starters(read, NVCC_STARTERS if cuda else STARTERS)
        without_a_line: list[Refused] = []
        for number, symbol in enumerate(read.symbols):
            try:
                check_symbol(read, number, symbol, checked, cuda, kernel)
            except Refused as refused:
                if refused.line:
                    raise
                without_a_line.append(refused)
        if without_a_line:
            raise without_a_line[0]
    except Refused:
        raise
    except Exception as error:  # pyelftools has many ways to say that a file is damaged
        raise Refused("compiles to an object file that cannot be read", STUDENT_FILE, 0, str(error)) from error


def check_symbol(read: Object, number: int, symbol: Any, checked: bool, cuda: bool, kernel: str) -> None:
    if "@" in symbol.name:
        refuse(read, symbol.name, f"gives {symbol.name} a version")
    if symbol["st_shndx"] == "SHN_UNDEF":
        check_reference(read, number, checked, cuda)
    else:
        check_definition(read, symbol, kernel)


def refuse(read: Object, name: str, tried: str, used: bool = False) -> NoReturn:
    raise Refused(tried, STUDENT_FILE, read.line_of(name, used),
                  "remove it; a kernel and its launch do not need it")


def check_reference(read: Object, number: int, checked: bool, cuda: bool) -> None:
    symbol, kinds = read.symbols[number], read.references[number]
    name = symbol.name
    allowed = next((names for names in lists()[0]
                    if name in names and names.checked_only <= checked and names.cuda_only <= cuda), None)
    if allowed and allowed.call_only and kinds - read.calls:
        refuse(read, name, f"takes the address of {name} instead of calling it", used=True)
    if allowed or not name or (not kinds and symbol["st_info"]["bind"] == "STB_WEAK"):
        return
    how = "calls" if kinds & read.calls else "uses"
    by = "" if read.line_of(name, True) or not read.lines else " through a header"
    refuse(read, name, f"{how} {spelled(name)}{by}: {words_for(name)}", used=True)


def spelled(name: str) -> str:
    """What is in std as the student wrote it: std::thread, std::ofstream."""
    of_std = re.match(r"_Z(?:T[A-Z])?N?K?St(?:\d__cxx11)?(\d{1,3})(\w+)", name)
    return "std::" + of_std[2][:int(of_std[1])].removeprefix("basic_") if of_std else name


def check_definition(read: Object, symbol: Any, kernel: str) -> None:
    name, kind = symbol.name, symbol["st_info"]["type"]
    bind, section = symbol["st_info"]["bind"], symbol["st_shndx"]
    if kind in ("STT_LOOS", "STT_GNU_IFUNC"):
        refuse(read, name, f"has {name} chosen when the program is loaded (ifunc)")
    if section == "SHN_ABS" and kind != "STT_FILE":
        refuse(read, name, f"gives {name} an address of its own")
    if isinstance(section, int) and kind in ("STT_OBJECT", "STT_TLS") and \
            read.sections[section]["sh_flags"] & SHF_EXECINSTR:
        refuse(read, name, f"puts the data {name} among the code")
    if bind == "STB_LOCAL" or COMPILERS_OWN.fullmatch(name):
        return
    if name.startswith("_Z"):
        if bind == "STB_GLOBAL" and RESERVED_MANGLED.match(name):
            refuse(read, name, f"defines {name}, which belongs to the C++ library")
        return
    if kind == "STT_FUNC" and name == kernel:
        return  # extern "C": nothing else relies on that name
    if is_others(name, kind == "STT_FUNC"):
        refuse(read, name, f"defines {name}, a name that others rely on")


def is_others(name: str, function: bool) -> bool:
    """Whether it is a function of others, or the object itself may refer to it without a word of the student's. All
    other names are made its own before it is linked (worker/compile.sh), so that a helper with extern "C" or a
    variable takes nobody's place."""
    allowed, refused = lists()
    prefixes = (prefix for table in refused for prefix in table.prefixes)
    return any((table.implicit or function) and name in table for table in allowed) or \
        function and any(name in table.names for table in refused) or \
        name.startswith(tuple(prefix for prefix in prefixes if prefix.startswith(("__", "emulator_"))))


def check_sections(read: Object, more: dict[re.Pattern[str], int]) -> None:
    known = {CODE: SHF_ALLOC | SHF_EXECINSTR, DATA: SHF_ALLOC | SHF_WRITE,
             CONSTANTS: SHF_ALLOC, NOT_LOADED: 0} | more
    stacks = [each["sh_flags"] for each in read.sections if each.name == ".note.GNU-stack"]
    if not stacks or any(flags & SHF_EXECINSTR for flags in stacks):
        raise Refused("asks for an executable stack", STUDENT_FILE, 0, "remove what needs it")
    for number, section in enumerate(read.sections):
        if section["sh_type"] in ("SHT_RELA", "SHT_REL"):
            continue  # of a section that is checked itself
        flags = section["sh_flags"] & (SHF_ALLOC | SHF_WRITE | SHF_EXECINSTR)
        right = next((flags for pattern, flags in known.items() if pattern.fullmatch(section.name)), None)
        frames = section.name == ".eh_frame" and flags == SHF_ALLOC | SHF_WRITE  # some compilers
        if flags != right and not frames:
            raise Refused(f"puts something into the section {section.name or number}", STUDENT_FILE,
                          0, "remove the attribute that asks for a section")


def check_starters(read: Object, allowed: re.Pattern[str]) -> None:
    """Functions that would run before main()."""
    if len(read.starters) > LARGEST_NUMBER_OF_STARTERS:
        raise Refused("runs functions before main()", STUDENT_FILE, 0, "remove them")
    for number, addend in read.starters:
        symbol = read.symbols[number]
        section, name = symbol["st_shndx"], symbol.name
        if isinstance(section, int):
            name = read.function_at(section, symbol["st_value"] + addend)
        if not allowed.fullmatch(name):
            raise Refused(f"runs {name or 'a function'} before main()", STUDENT_FILE,
                          read.line_of(name, used=False), "take the constructor attribute out")
