#include "spaces.h"

struct elf_file object;
enum space *spaces;

/* Symbols of functions and data: the first of each section, and behind each symbol the next one. */
static unsigned *first_in, *next_in;

static bool is_named_thing(const Elf64_Sym *symbol) {
    int type = ELF64_ST_TYPE(symbol->st_info);
    return type == STT_FUNC || type == STT_OBJECT || type == STT_TLS;
}

unsigned object_first_in(unsigned section) { return first_in[section]; }

unsigned object_target(const struct reference *r) {
    const Elf64_Sym *symbol = &object.symbols[r->symbol];
    if (ELF64_ST_TYPE(symbol->st_info) != STT_SECTION)
        return symbol->st_shndx == SHN_UNDEF || is_named_thing(symbol) ? r->symbol : NO_SYMBOL;
    return symbol->st_shndx < object.section_count ? first_in[symbol->st_shndx] : NO_SYMBOL;
}

/* The function whose code has this place. */
static unsigned function_at(unsigned section, size_t offset) {
    unsigned found = NO_SYMBOL;
    for (unsigned i = first_in[section]; i; i = next_in[i]) {
        if (ELF64_ST_TYPE(object.symbols[i].st_info) != STT_FUNC) continue;
        if (!found || object.symbols[i].st_value <= offset) found = i;
        if (offset >= object.symbols[i].st_value &&
            offset - object.symbols[i].st_value < object.symbols[i].st_size)
            return i;
    }
    return found;
}

bool object_is_call(const struct reference *r) {
    if (elf_is_aarch64(&object)) return r->type == R_AARCH64_CALL26 || r->type == R_AARCH64_JUMP26;
    if (r->type != R_X86_64_PC32) return r->type == R_X86_64_PLT32;
    /* Of a local function's address, too; then call or jmp is the byte before. */
    const struct image_section code = elf_bytes(&object, r->section);
    if (r->offset == 0 || r->offset > code.size) return false;
    const unsigned char before = (unsigned char)code.bytes[r->offset - 1];
    return before == 0xe8 || before == 0xe9;
}

bool object_next(struct reference *r) {
    for (; r->table < object.section_count; r->table++, r->next = 0) {
        size_t count = 0;
        const Elf64_Shdr *section = &object.sections[r->table];
        if (section->sh_type != SHT_RELA || section->sh_info != r->section) continue;
        const Elf64_Rela *list = elf_table(&object, r->table, sizeof *list, &count);
        while (r->next < count) {
            const Elf64_Rela *relocation = &list[r->next++];
            r->symbol = (unsigned)ELF64_R_SYM(relocation->r_info);
            r->type = (unsigned)ELF64_R_TYPE(relocation->r_info);
            r->offset = relocation->r_offset;
            r->addend = relocation->r_addend;
            if (r->symbol < object.symbol_count) return true;
        }
    }
    return false;
}

/* A section of debug information with its relocations applied, in memory that lasts. All sections
 * of code begin at 0. Absolute addresses are all that there is in debug information. */
static struct image_section debug_section(const char *name) {
    const unsigned section = elf_find_section(&object, name);
    const struct image_section found = elf_bytes(&object, section);
    char *bytes = found.size ? malloc(found.size) : NULL;
    if (!bytes) return (struct image_section){NULL, 0};
    memcpy(bytes, found.bytes, found.size);
    for (struct reference r = {.section = section}; object_next(&r);) {
        const uint64_t value = object.symbols[r.symbol].st_value + (uint64_t)r.addend;
        const bool wide = r.type == (elf_is_aarch64(&object) ? R_AARCH64_ABS64 : R_X86_64_64);
        const size_t size = wide ? 8 : 4;
        if (r.offset <= found.size && size <= found.size - r.offset)
            memcpy(bytes + r.offset, &value, size); /* both machines are little-endian */
    }
    return (struct image_section){bytes, found.size};
}

enum { DEVICE_ALIGNMENT = 4096 };

/* --- marks ------------------------------------------------------------------------------------ */

static void mark(const struct reference *r) {
    const Elf64_Sym *symbol = &object.symbols[r->symbol];
    if (symbol->st_shndx >= object.section_count) return;
    const size_t at = symbol->st_value + (size_t)r->addend,
                 instruction = elf_is_aarch64(&object) ? 4 : 1;
    const unsigned function = function_at(symbol->st_shndx, at);
    const size_t start = object.symbols[function].st_value;
    const enum space space = at >= start                 ? SPACE_DEVICE
                             : start - at == instruction ? SPACE_GLOBAL
                                                         : SPACE_BOTH;
    /* Names for the same code: the two kinds of a constructor. */
    for (unsigned i = first_in[symbol->st_shndx]; function && i; i = next_in[i])
        if (object.symbols[i].st_value == start) spaces[i] = space;
}

/* --- what the compiler made itself ------------------------------------------------------------ */

/* The debug information's entries of functions, types and variables. */
static struct dwarf_entries entries;

static void read_entries(void) {
    if (!entries.list) entries = dwarf_read(debug_section);
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

static bool is_implicit(const char *symbol) {
    if (!name_is(NAME_MAY_BE_IMPLICIT, symbol)) return false;
    if (name_is(NAME_INHERITED, symbol)) return true;
    read_entries();
    const struct dwarf_entry *e = entry_named(DWARF_FUNCTION, symbol);
    return e && e->artificial;
}

/* --- all functions ---------------------------------------------------------------------------- */

static enum space space_of(unsigned function);

/* A lambda is for the same side, host or device, as the function around it. */
static enum space space_around(const char *in, size_t length) {
    if (!length) return SPACE_HOST;
    for (unsigned i = 1; i < object.symbol_count; i++) {
        const char *name = object_name(i);
        if (ELF64_ST_TYPE(object.symbols[i].st_info) == STT_FUNC && strncmp(name, "_Z", 2) == 0 &&
            strlen(name + 2) == length && strncmp(name + 2, in, length) == 0) {
            const enum space space = space_of(i);
            return space == SPACE_GLOBAL ? SPACE_DEVICE : space;
        }
    }
    return SPACE_NONE; /* around it is an extern "C" function, or one that is not there */
}

static enum space space_of(unsigned function) {
    const char *name = object_name(function), *in;
    size_t length;
    if (spaces[function] != SPACE_HOST) return spaces[function];
    if (name_is(NAME_EMULATORS, name) || name_is(NAME_COMPILERS, name)) return SPACE_NONE;
    if (is_implicit(name)) return SPACE_IMPLICIT;
    if (name_is_lambdas(name, &in, &length)) return space_around(in, length);
    return SPACE_HOST;
}

const char *object_open(const char *path) {
    const char *wrong = elf_open(&object, path);
    if (wrong) return wrong;
    if (elf_header(&object)->e_type != ET_REL) return "is no object file";
    if (!object.symbol_count) return "has no symbols";
    first_in = calloc(object.section_count, sizeof *first_in);
    next_in = calloc(object.symbol_count, sizeof *next_in);
    spaces = calloc(object.symbol_count, sizeof *spaces);
    if (!first_in || !next_in || !spaces) return "is too large";
    for (unsigned i = object.symbol_count; i-- > 1;) {
        const unsigned section = object.symbols[i].st_shndx;
        if (!is_named_thing(&object.symbols[i]) || section >= object.section_count) continue;
        next_in[i] = first_in[section];
        first_in[section] = i;
    }
    for (unsigned i = 1; i < object.section_count; i++) {
        if (strcmp(elf_section_name(&object, i), "__patchable_function_entries") != 0) continue;
        for (struct reference r = {.section = i}; object_next(&r);) mark(&r);
    }
    for (unsigned i = 1; i < object.symbol_count; i++)
        if (ELF64_ST_TYPE(object.symbols[i].st_info) == STT_FUNC &&
            object.symbols[i].st_shndx != SHN_UNDEF)
            spaces[i] = space_of(i);
    return NULL;
}

/* --- variables -------------------------------------------------------------------------------- */

bool marks_is_device_variable(unsigned symbol) {
    const unsigned section = object.symbols[symbol].st_shndx;
    return object.sections[section].sh_addralign >= DEVICE_ALIGNMENT ||
           strcmp(elf_section_name(&object, section), "emulator_managed") == 0;
}

/* _ZL5table -> table */
static const char *without_prefix(const char *symbol) {
    if (strncmp(symbol, "_ZL", 3) != 0) return symbol;
    return symbol + 3 + strspn(symbol + 3, "0123456789");
}

bool marks_is_constant_structure(unsigned symbol) {
    const char *name = object_name(symbol);
    read_entries();
    const struct dwarf_entry *e = entry_named(DWARF_VARIABLE, name);
    if (!e) e = entry_named(DWARF_VARIABLE, without_prefix(name));
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
