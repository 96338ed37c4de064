/* A relocatable object (ELF-64: System V ABI, chapter 4) that was compiled with a section for each
 * function and variable. Everything read is checked against the end of the file. */
#ifndef EMULATOR_SPACES_OBJECT_H
#define EMULATOR_SPACES_OBJECT_H
#include "../runtime/runtime.h"
#include <elf.h>
#include <stdbool.h>
#include <stddef.h>

enum { NO_SYMBOL = 0 }; /* as in ELF: the first symbol is none */

struct object {
    const char *bytes;
    size_t size;
    const Elf64_Shdr *sections;
    unsigned section_count;
    const Elf64_Sym *symbols;
    unsigned symbol_count;
    struct image_section names;
    unsigned *first_in, *next_in; /* symbols of functions and data: of a section, and behind them */
    bool aarch64;
};

/* A relocation: at `offset` of section `section`, the value of `symbol`, or an address so many
 * bytes behind it. */
struct reference {
    unsigned section, symbol, type;
    size_t offset;
    long addend;
};

/* Maps the file and reads its tables, which last as long as the program. Returns NULL, or what is
 * wrong with the file. */
const char *object_open(struct object *o, const char *path);

/* The name of a symbol; "" where there is none. */
const char *object_symbol_name(const struct object *o, unsigned symbol);
const char *object_section_name(const struct object *o, unsigned section);
/* The number of the first section of this name; 0: there is none. */
unsigned object_find_section(const struct object *o, const char *name);
/* The bytes of a section; none for one without bytes in the file. */
struct image_section object_bytes(const struct object *o, unsigned section);

/* The function or data that a reference leads to: its symbol, where it names a section the symbol
 * in there. NO_SYMBOL: nothing that has a name, as a string. */
unsigned object_target(const struct object *o, const struct reference *r);
/* The function whose code has this place. */
unsigned object_function_at(const struct object *o, unsigned section, size_t offset);
/* A call, by which nothing else can be done than to call it. */
bool object_is_call(const struct object *o, const struct reference *r);

/* Calls `visit` for each relocation of the section. */
void object_visit(const struct object *o, unsigned section,
                  void (*visit)(const struct reference *r, void *data), void *data);

/* A section of debug information with its relocations applied, in memory that lasts. All sections
 * of code begin at 0. */
struct image_section object_debug_section(const struct object *o, const char *name);

#endif
