#include "spaces.h"
#include <stdlib.h>
#include <string.h>

/* Symbols of functions and data: the first of each section, and behind each symbol the next one. */
static unsigned *first_in, *next_in;

static bool is_named_thing(const Elf64_Sym *symbol) {
    int type = ELF64_ST_TYPE(symbol->st_info);
    return type == STT_FUNC || type == STT_OBJECT || type == STT_TLS;
}

const char *object_open(struct elf_file *o, const char *path) {
    const char *wrong = elf_open(o, path);
    if (wrong) return wrong;
    if (elf_header(o)->e_type != ET_REL) return "is no object file";
    if (!o->symbol_count) return "has no symbols";
    first_in = calloc(o->section_count, sizeof *first_in);
    next_in = calloc(o->symbol_count, sizeof *next_in);
    if (!first_in || !next_in) return "is too large";
    for (unsigned i = o->symbol_count; i-- > 1;) {
        const unsigned section = o->symbols[i].st_shndx;
        if (!is_named_thing(&o->symbols[i]) || section >= o->section_count) continue;
        next_in[i] = first_in[section];
        first_in[section] = i;
    }
    return NULL;
}

unsigned object_first_in(unsigned section) { return first_in[section]; }

unsigned object_target(const struct elf_file *o, const struct reference *r) {
    const Elf64_Sym *symbol = &o->symbols[r->symbol];
    if (ELF64_ST_TYPE(symbol->st_info) != STT_SECTION)
        return symbol->st_shndx == SHN_UNDEF || is_named_thing(symbol) ? r->symbol : NO_SYMBOL;
    return symbol->st_shndx < o->section_count ? first_in[symbol->st_shndx] : NO_SYMBOL;
}

/* The function whose code has this place. */
static unsigned function_at(const struct elf_file *o, unsigned section, size_t offset) {
    unsigned found = NO_SYMBOL;
    for (unsigned i = first_in[section]; i; i = next_in[i]) {
        if (ELF64_ST_TYPE(o->symbols[i].st_info) != STT_FUNC) continue;
        if (!found || o->symbols[i].st_value <= offset) found = i;
        if (offset >= o->symbols[i].st_value &&
            offset - o->symbols[i].st_value < o->symbols[i].st_size)
            return i;
    }
    return found;
}

bool object_is_call(const struct elf_file *o, const struct reference *r) {
    if (elf_is_aarch64(o)) return r->type == R_AARCH64_CALL26 || r->type == R_AARCH64_JUMP26;
    if (r->type != R_X86_64_PC32) return r->type == R_X86_64_PLT32;
    /* Of a local function's address, too; then call or jmp is the byte before. */
    const struct image_section code = elf_bytes(o, r->section);
    if (r->offset == 0 || r->offset > code.size) return false;
    const unsigned char before = (unsigned char)code.bytes[r->offset - 1];
    return before == 0xe8 || before == 0xe9;
}

bool object_next(const struct elf_file *o, struct reference *r) {
    for (; r->table < o->section_count; r->table++, r->next = 0) {
        size_t count = 0;
        const Elf64_Shdr *section = &o->sections[r->table];
        if (section->sh_type != SHT_RELA || section->sh_info != r->section) continue;
        const Elf64_Rela *list = elf_table(o, r->table, sizeof *list, &count);
        while (r->next < count) {
            const Elf64_Rela *relocation = &list[r->next++];
            r->symbol = (unsigned)ELF64_R_SYM(relocation->r_info);
            r->type = (unsigned)ELF64_R_TYPE(relocation->r_info);
            r->offset = relocation->r_offset;
            r->addend = relocation->r_addend;
            if (r->symbol < o->symbol_count) return true;
        }
    }
    return false;
}

/* A section of debug information with its relocations applied, in memory that lasts. All sections
 * of code begin at 0. Absolute addresses are all that there is in debug information. */
static struct image_section debug_section(const struct elf_file *o, const char *name) {
    const unsigned section = elf_find_section(o, name);
    const struct image_section found = elf_bytes(o, section);
    char *bytes = found.size ? malloc(found.size) : NULL;
    if (!bytes) return (struct image_section){NULL, 0};
    memcpy(bytes, found.bytes, found.size);
    for (struct reference r = {.section = section}; object_next(o, &r);) {
        const uint64_t value = o->symbols[r.symbol].st_value + (uint64_t)r.addend;
        const bool wide = r.type == (elf_is_aarch64(o) ? R_AARCH64_ABS64 : R_X86_64_64);
        const size_t size = wide ? 8 : 4;
        if (r.offset <= found.size && size <= found.size - r.offset)
            memcpy(bytes + r.offset, &value, size); /* both machines are little-endian */
    }
    return (struct image_section){bytes, found.size};
}

enum { DEVICE_ALIGNMENT = 4096 };

/* --- marks ------------------------------------------------------------------------------------ */

static void mark(const struct elf_file *o, enum space *spaces, const struct reference *r) {
    const Elf64_Sym *symbol = &o->symbols[r->symbol];
    if (symbol->st_shndx >= o->section_count) return;
    const size_t at = symbol->st_value + (size_t)r->addend, instruction = elf_is_aarch64(o) ? 4 : 1;
    const unsigned function = function_at(o, symbol->st_shndx, at);
    const size_t start = o->symbols[function].st_value;
    const enum space space = at >= start                 ? SPACE_DEVICE
                             : start - at == instruction ? SPACE_GLOBAL
                                                         : SPACE_BOTH;
    /* Names for the same code: the two kinds of a constructor. */
    for (unsigned i = first_in[symbol->st_shndx]; function && i; i = next_in[i])
        if (o->symbols[i].st_value == start) spaces[i] = space;
}

/* --- what the compiler made itself ------------------------------------------------------------ */

/* The debug information's entries of functions, types and variables. */
static struct dwarf_entries entries;

static void read_entries(const struct elf_file *o) {
    if (entries.list) return;
    const struct dwarf_sections sections = {.info = debug_section(o, ".debug_info"),
                                            .abbrev = debug_section(o, ".debug_abbrev"),
                                            .str = debug_section(o, ".debug_str"),
                                            .line_str = debug_section(o, ".debug_line_str")};
    entries = dwarf_read(&sections);
}

/* The entry with this linkage name, or of a variable without one this name. */
static const struct dwarf_entry *entry_named(enum dwarf_tag tag, const char *symbol) {
    for (size_t i = 0; i < entries.count; i++) {
        const struct dwarf_entry *e = &entries.list[i];
        const char *name = e->linkage_name         ? e->linkage_name
                           : tag == DWARF_VARIABLE ? e->name
                                                   : NULL;
        if (e->tag == tag && name && names_are_of_one_function(name, symbol)) return e;
    }
    return NULL;
}

static bool is_implicit(const struct elf_file *o, const char *symbol) {
    if (!name_is(NAME_MAY_BE_IMPLICIT, symbol)) return false;
    if (name_is(NAME_INHERITED, symbol)) return true;
    read_entries(o);
    const struct dwarf_entry *e = entry_named(DWARF_FUNCTION, symbol);
    for (int depth = 0; e && depth < 4; depth++, e = dwarf_entry_at(&entries, e->origin))
        if (e->artificial) return true;
    return false;
}

/* --- all functions ---------------------------------------------------------------------------- */

static enum space space_of(const struct elf_file *o, const enum space *spaces, unsigned function);

/* A lambda is for the same side, host or device, as the function around it. */
static enum space space_around(const struct elf_file *o, const enum space *spaces, const char *in,
                               size_t length) {
    if (!length) return SPACE_HOST;
    for (unsigned i = 1; i < o->symbol_count; i++) {
        const char *name = elf_symbol_name(o, i);
        if (ELF64_ST_TYPE(o->symbols[i].st_info) == STT_FUNC && strncmp(name, "_Z", 2) == 0 &&
            strlen(name + 2) == length && strncmp(name + 2, in, length) == 0) {
            const enum space space = space_of(o, spaces, i);
            return space == SPACE_GLOBAL ? SPACE_DEVICE : space;
        }
    }
    return SPACE_NONE; /* around it is an extern "C" function, or one that is not there */
}

static enum space space_of(const struct elf_file *o, const enum space *spaces, unsigned function) {
    const char *name = elf_symbol_name(o, function), *in;
    size_t length;
    if (spaces[function] != SPACE_HOST) return spaces[function];
    if (name_is(NAME_EMULATORS, name) || name_is(NAME_COMPILERS, name)) return SPACE_NONE;
    if (is_implicit(o, name)) return SPACE_IMPLICIT;
    if (name_is_lambdas(name, &in, &length)) return space_around(o, spaces, in, length);
    return SPACE_HOST;
}

enum space *marks_read(const struct elf_file *o) {
    enum space *spaces = calloc(o->symbol_count, sizeof *spaces);
    for (unsigned i = 1; i < o->section_count && spaces; i++) {
        if (strcmp(elf_section_name(o, i), "__patchable_function_entries") != 0) continue;
        for (struct reference r = {.section = i}; object_next(o, &r);) mark(o, spaces, &r);
    }
    for (unsigned i = 1; i < o->symbol_count && spaces; i++)
        if (ELF64_ST_TYPE(o->symbols[i].st_info) == STT_FUNC && o->symbols[i].st_shndx != SHN_UNDEF)
            spaces[i] = space_of(o, spaces, i);
    return spaces;
}

/* --- variables -------------------------------------------------------------------------------- */

bool marks_is_device_variable(const struct elf_file *o, unsigned symbol) {
    const unsigned section = o->symbols[symbol].st_shndx;
    return o->sections[section].sh_addralign >= DEVICE_ALIGNMENT ||
           strcmp(elf_section_name(o, section), "emulator_managed") == 0;
}

/* _ZL5table -> table */
static const char *without_prefix(const char *symbol) {
    if (strncmp(symbol, "_ZL", 3) != 0) return symbol;
    return symbol + 3 + strspn(symbol + 3, "0123456789");
}

bool marks_is_constant_structure(const struct elf_file *o, unsigned symbol) {
    const char *name = elf_symbol_name(o, symbol);
    read_entries(o);
    const struct dwarf_entry *e = entry_named(DWARF_VARIABLE, name);
    if (!e) e = entry_named(DWARF_VARIABLE, without_prefix(name));
    for (int depth = 0; e && !e->type && depth < 4; depth++)
        e = dwarf_entry_at(&entries, e->origin);
    bool constant = false;
    for (int depth = 0; e && depth < 16; depth++) {
        constant |= e->tag == DWARF_CONST;
        if (e->tag == DWARF_STRUCTURE || e->tag == DWARF_CLASS || e->tag == DWARF_UNION)
            return constant;
        if (e->tag == DWARF_ARRAY || e->tag == DWARF_REFERENCE) return false;
        e = dwarf_entry_at(&entries, e->type);
    }
    return false;
}
