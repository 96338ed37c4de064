"""A second look at the checked build, at its instructions: whether each load and store has its call
of the checker. The first look is the compiler's, which puts the calls there (checker/checker.mk).

An access is taken for watched if the compiler has announced one to the checker since the last
access that used up its announcement; constant addresses and fixed places of the thread's own stack
need none. That is no proof, but it does not depend on what the compiler believes of the memory.

What is found is shown to people (record.py, `unproven`) and costs no points: there are honest ways
to it, such as a table of constants, which gcc does not announce. In: an object file,
as symbols.py has read it. Disassembled by Capstone, which runs nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import capstone
from capstone import x86

from .symbols import SHF_EXECINSTR, Object, Place

ANNOUNCES = "__tsan_"
NO_ACCESS = {"__tsan_init", "__tsan_func_entry", "__tsan_func_exit"}
LARGEST = 400 << 10  # bytes of code, which take five seconds; kernels have some thousands
MOST_DEBUG_INFORMATION = 400 << 10  # bytes, which take a second


STACK = {"rsp", "rbp"}  # the thread's own memory; the checked build keeps the frame pointer
FIXED = {"rip", "fs"}  # at a constant address, or in the thread's control block
NO_MEMORY = {"lea", "nop", "endbr64"}
SETS_NOTHING = {"cmp", "test", "push"}
OF_TWO = {"add", "sub", "inc", "dec", "and"}  # the first operand is a term, too


@dataclass
class Function:
    """What is known while its instructions are read, one after the other, twice."""

    announced: bool = False
    """The checker has been told of an access that has not been made yet."""
    whole: bool = False
    """That access is of several words, which several instructions may make."""
    own: set[str] = field(default_factory=set)
    """Registers that hold addresses of the thread's own stack, so far as can be seen."""
    own_slots: set[tuple[str, int]] = field(default_factory=set)
    """Where on the stack such registers are kept: base and displacement."""


def unproven(read: Object) -> list[int]:
    """The student's lines with accesses that may be unwatched, sorted; 0 is an unknown line.
    Nothing on other processors than x86-64, or where the code is larger than people write."""
    sections = [(number, section) for number, section in enumerate(read.sections)
                if section["sh_flags"] & SHF_EXECINSTR]
    size = sum(section["sh_size"] for _, section in sections)
    if read.elf["e_machine"] != "EM_X86_64" or size > LARGEST:
        return []
    places = [place for number, section in sections
              for place in unproven_in(read, number, section.data())]
    described = sum(section["sh_size"] for section in read.sections
                    if section.name.startswith((".debug_", ".rela.debug_")))
    if described > MOST_DEBUG_INFORMATION:
        return [0] if places else []
    return sorted({read.line_at(place) for place in places})


def unproven_in(read: Object, section: int, code: bytes) -> Iterator[Place]:
    """Where such accesses are."""
    disassembler = capstone.Cs(capstone.CS_ARCH_X86, capstone.CS_MODE_64)
    disassembler.detail = True
    called = {place.offset - 1: read.symbols[symbol].name  # the opcode of a call is one byte
              for symbol, places in read.references.items() for place, _ in places
              if place.section == section}
    begins = {symbol["st_value"] for symbol in read.symbols if symbol["st_shndx"] == section
              and symbol["st_info"]["type"] == "STT_FUNC"}
    functions: list[list[Any]] = [[]]
    for instruction in disassembler.disasm(code, 0):
        if instruction.address in begins:
            functions.append([])
        functions[-1].append(instruction)
    for instructions in functions:
        found = Function()
        for _ in range(2):  # the first time finds the slots
            found = Function(own_slots=found.own_slots)
            places = [Place(section, instruction.address) for instruction in instructions
                      if not is_watched(found, instruction, called)]
        yield from places


def is_watched(function: Function, instruction: Any, called: dict[int, str]) -> bool:
    """Notes what it does, too."""
    right = True
    if instruction.mnemonic == "call":
        note_call(function, called.get(instruction.address, ""))
    elif instruction.mnemonic not in NO_MEMORY:
        right = accesses_what_it_may(function, instruction)
    note_registers(function, instruction)
    return right


def note_call(function: Function, name: str) -> None:
    if name.startswith(ANNOUNCES) and name not in NO_ACCESS:
        function.whole = name.endswith(("range", "8", "16"))
        function.announced = True


def accesses_what_it_may(function: Function, instruction: Any) -> bool:
    """So far as is known; uses up the announcement."""
    for operand in instruction.operands:
        if operand.type == x86.X86_OP_MEM and not is_own(function, instruction, operand):
            if not function.announced:
                return False
            function.announced = function.whole
    return True


def is_own(function: Function, instruction: Any, operand: Any) -> bool:
    """At a constant address, or in a place of the thread's stack that no index decides."""
    memory = operand.mem
    registers = {instruction.reg_name(each)
                 for each in (memory.base, memory.index, memory.segment) if each}
    if memory.index:
        return bool(registers & FIXED)
    return not registers or bool(registers & (STACK | FIXED | function.own))


def note_registers(function: Function, instruction: Any) -> None:
    """A register that is made of an address of the stack and of constants is one, through memory too;
    any other instruction that sets it makes it something else."""
    operands = instruction.operands
    if not operands or instruction.mnemonic in SETS_NOTHING:
        return
    named = {instruction.reg_name(each.reg) for each in operands[1:] if each.type == x86.X86_OP_REG}
    if instruction.mnemonic in OF_TWO:
        named = set() if named else {instruction.reg_name(operands[0].reg)}
    if instruction.mnemonic == "lea":
        memory = operands[1].mem
        named = set() if memory.index else {instruction.reg_name(memory.base)}
    slots = {(instruction.reg_name(each.mem.base), each.mem.disp) for each in operands
             if each.type == x86.X86_OP_MEM and not each.mem.index
             and instruction.reg_name(each.mem.base) in STACK}
    own = bool(named & (STACK | function.own))
    if operands[0].type != x86.X86_OP_REG:
        function.own_slots |= slots if own else set()
    elif own or slots & function.own_slots:
        function.own.add(instruction.reg_name(operands[0].reg))
    else:
        function.own.discard(instruction.reg_name(operands[0].reg))
