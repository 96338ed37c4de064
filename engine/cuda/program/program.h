/* The program that kernel.cu is part of, as the runtime and the checker see it: places in its
 * code, its file's symbols and debug information, and its variables. */
#ifndef ENGINE_CUDA_PROGRAM_PROGRAM_H
#define ENGINE_CUDA_PROGRAM_PROGRAM_H
#include "../../report/element_type.h"
#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- place.c: where a code address is: file, line, function ----------------------------------- */

struct place {
    char file[1024];
    char function[256];
    char called[64]; /* the CUDA function that it calls there; empty: not known */
    int line;        /* 0: unknown */
};

/* The innermost of `count` code addresses that belongs to the program under test, not to the
 * emulator or a library. Asks addr2line; line is 0 where that is missing or knows nothing. */
struct place place_find(void *const *addresses, int count);

/* Likewise of an instruction in an object file, so many bytes into a section of it. */
struct place place_in_object(const char *object, const char *section, size_t offset);

/* Likewise of one instruction; `code` is the address behind it, as a call's return address is. Of
 * the first ones asked for, what was found is kept. */
struct place place_before(const void *code);

/* Whether both are in the same line, and it is known. */
bool place_same_line(const struct place *a, const struct place *b);

/* Whether a code address lies in the program itself (not in a shared library). */
bool place_in_program(const void *address);

/* Whether an address lies in the program's code or among its static variables: not on a stack, in
 * memory that was allocated, or in a shared library. */
bool place_in_image(const void *address);

/* An address as the program's file knows it: a position-independent one is linked at 0. */
uintptr_t place_link_address(const void *address);

/* --- elf_file.c: the program's own file: its symbols and variables ---------------------------- */

/* Bytes of static __shared__ memory that `kernel` declares; 0 if the program has no symbols. */
size_t image_static_shared(const void *kernel);

/* The function's symbol, mangled; empty if the program has none for it. */
void image_symbol_name(const void *function, char *name, size_t bytes);

/* The next symbol of this type, from the one with number *at on, which becomes that behind it.
 * False: there are no more. Type, value and size are those of ELF. */
struct image_symbol {
    const char *name;
    uintptr_t value;
    size_t size;
};
bool image_next_symbol(unsigned *at, unsigned type, struct image_symbol *symbol);

/* A section of the program's file, which stays mapped; no bytes: none, or it is compressed. */
struct image_section {
    const char *bytes;
    size_t size;
};
struct image_section image_find_section(const char *name);

/* --- a kernel's name as its author writes it -------------------------------------------------- */

/* Of the C++ runtime library, with which every C++ program is linked. */
char *__cxa_demangle(const char *symbol, char *buffer, size_t *bytes, int *status);

/* "tiled<16>" of "_Z5tiledILi16EEiviiPKfS1_Pf": without its parameters, which begin at the
 * parenthesis that the last one closes, for a template argument or an anonymous namespace may have
 * others. */
static inline void kernel_name(const char *symbol, char *name, size_t bytes) {
    char *readable = __cxa_demangle(symbol, NULL, NULL, NULL);
    const char *found = readable ? readable : symbol;
    if (strncmp(found, "void ", 5) == 0) found += 5; /* so begins an instance of a template */
    const char *end = strrchr(found, ')'), *begin = end;
    for (int open = end != NULL; begin > found && open; open += (*begin == ')') - (*begin == '('))
        --begin;
    snprintf(name, bytes, "%.*s", begin ? (int)(begin - found) : (int)strlen(found), found);
    free(readable);
}

/* --- elf_file.c, too: any ELF-64 file (System V ABI, chapter 4) --------------------------------
 *
 * Everything read is checked against the file's end. */

struct elf_file {
    const char *bytes; /* mapped as long as the program runs */
    size_t size;
    const Elf64_Ehdr *header;
    const Elf64_Shdr *sections;
    unsigned section_count;
    const Elf64_Sym *symbols;
    unsigned symbol_count; /* 0: there are none */
    struct image_section names;
};

/* Maps the file and reads its tables. Returns NULL, or what is wrong with the file. */
const char *elf_open(struct elf_file *f, const char *path);

/* The name of a symbol, of a section; "" where there is none. */
const char *elf_symbol_name(const struct elf_file *f, unsigned symbol);
const char *elf_section_name(const struct elf_file *f, unsigned section);
/* The number of the first section of this name; 0: there is none, and that one has no bytes. */
unsigned elf_find_section(const struct elf_file *f, const char *name);
/* The bytes of a section; none where they are not in the file as they are. */
struct image_section elf_bytes(const struct elf_file *f, unsigned section);
/* The entries of a section; *count is 0 where they have another size, or are not aligned for C. */
const void *elf_table(const struct elf_file *f, unsigned section, size_t entry, size_t *count);

/* --- extents.c: the program's own variables: kernel.cu's, and all others ---------------------- */

/* Whether an address is in the program, its code and variables. */
bool program_holds(uintptr_t address);
/* Whether it is a variable of neither kernel.cu nor the C++ library. Slow where it is. */
bool program_is_foreign(uintptr_t address);
/* Words of kernel.cu's variables are written by a kernel, by a copy (to a symbol, or to the host's
 * own), or by an instruction of the host's code; whether the device's was the last to be written;
 * and by which instruction the host's was, or null. */
void program_device_writes(uintptr_t address, size_t bytes);
void program_copied(uintptr_t address, size_t bytes, bool by_symbol);
void program_host_writes(uintptr_t address, size_t bytes, const void *code);
bool program_device_wrote(uintptr_t address);
const void *program_host_wrote(uintptr_t address);
/* Where variables of kernel.cu lie: its own in two places, and its managed ones. */
enum { PROGRAM_EXTENTS = 3 };
void program_extent(int number, uintptr_t *begin, uintptr_t *end);

/* Whether kernel.cu has variables, of whichever side, but for constants that the compiler knows. */
bool program_has_variables(void);
/* Whether these bytes are in kernel.cu's variables. */
bool program_is_kernels_variable(uintptr_t address, size_t bytes);
/* Whether one of kernel.cu's functions begins at an address. */
bool program_is_kernels_function(uintptr_t address);

/* --- names.c: from an address in shared memory to A_s[3][7]: names and shapes of shared arrays  */

/* A shared array, as the program's debug information knows it. */
enum { NAME_DIMENSIONS = 4 };
struct shared_name {
    char name[64];
    size_t offset, bytes; /* in thread-local storage */
    size_t element;       /* bytes; 0: not known */
    enum element type;    /* of an element; ELEMENT_BYTES: a structure's, or not known */
    int dimensions;
    size_t dimension[NAME_DIMENSIONS];
};

/* Not a variable of the program's: the flag that gcc keeps beside a shared array of float4, because
 * in the checked build those have constructors (vector_types.h). The poison in it says "done". */
static inline bool name_is_guard(const struct shared_name *name) {
    return strncmp(name->name, "_ZGV", 4) == 0;
}
/* The indices of the element with this number in an array of these dimensions, of which the first
 * is not looked at. */
void name_indices(size_t *index, const size_t *dimension, int dimensions, size_t element);
/* The variable that holds byte `offset` of the thread-local storage. False: none, or no symbols. */
bool name_find(size_t offset, struct shared_name *found);
/* Likewise of a __device__, __constant__ or __managed__ variable, by its address: its offset is the
 * address's in it, and dimensions are not known. */
bool name_of_variable(const void *address, struct shared_name *found);
/* The last one that begins at or before it. */
bool name_before(size_t offset, struct shared_name *found);
/* All of them, in order of their offsets, without dimensions; what the runtime keeps there is not
 * among them. */
int name_list(const struct shared_name **list);
/* Bytes of what variables and parameters of this name point to; 0: not known, or they differ. */
size_t name_points_to(const char *name);
/* The one name that the program gives to dynamic shared memory; null where it has several or none.
 * And the bytes of an element; 0: not known, or they differ. */
const char *name_of_dynamic(size_t *element);
/* Whether it has any. */
bool name_has_dynamic(void);
/* Whether there are variables of this name, and none of them is shared, a pointer or a reference.
 * Sets the address of one that is not on a stack, or 0. */
bool name_is_not_shared(const char *name, uintptr_t *address);
/* Whether some variable's dimensions end as those of `type` ("float [16]"); its name is empty if
 * several do. */
bool name_any_ends_as(const char *type, struct shared_name *found);
/* The variable whose array of that type an access with a bad index was meant for: where the index,
 * taken back, leads from the access at `offset` to the start of a row. The access itself may lie in
 * another variable, or in none. */
bool name_of_index(size_t offset, const char *type, long index, struct shared_name *found);

/* --- dwarf.c ----------------------------------------------------------------------------------
 *
 * Debug information: the entries of a file's first compilation unit. In a program that is
 * kernel.cu's, because its object is linked first; an object has no other. */

/* Tags that are visited; values of DWARF 5, table 7.3. */
enum dwarf_tag {
    DWARF_ARRAY = 0x01,
    DWARF_CLASS = 0x02,
    DWARF_PARAMETER = 0x05,
    DWARF_POINTER = 0x0f,
    DWARF_REFERENCE = 0x10,
    DWARF_STRUCTURE = 0x13,
    DWARF_TYPEDEF = 0x16,
    DWARF_UNION = 0x17,
    DWARF_SUBRANGE = 0x21,
    DWARF_BASE = 0x24,
    DWARF_CONST = 0x26,
    DWARF_FUNCTION = 0x2e,
    DWARF_VARIABLE = 0x34,
    DWARF_VOLATILE = 0x35,
    DWARF_RESTRICT = 0x37
};

struct dwarf_entry {
    enum dwarf_tag tag;
    size_t at;           /* where the entry is; what type and origin refer to */
    size_t type, origin; /* origin: that this one completes, and has taken over from; or 0 */
    const char *name, *linkage_name; /* in the file; null: none */
    long tls_offset;                 /* in thread-local storage; -1: not there, or not known */
    size_t count;                    /* of a subrange; 0: not known */
    size_t bytes;                    /* of a type; 0: not known */
    size_t encoding;                 /* of a base type: table 7.11; 0: not known */
    size_t file, line;               /* of the declaration, the file by its number; 0: not known */
    uintptr_t address;               /* of a variable that is not on a stack, as linked; or 0 */
    bool artificial;                 /* the compiler's, not the source's */
};

/* The entries with one of the tags, in the order of the file, in memory that is the caller's; none
 * where there is no debug information, or none of version 4 or 5. `section` finds one by its name;
 * one that the file does not have is empty. */
struct dwarf_entries {
    struct dwarf_entry *list;
    size_t count, room;
};
struct dwarf_entries dwarf_read(struct image_section (*section)(const char *name));

/* The one that is there; null: none is. */
const struct dwarf_entry *dwarf_entry_at(const struct dwarf_entries *entries, size_t at);

#ifdef __cplusplus
}
#endif
#endif
