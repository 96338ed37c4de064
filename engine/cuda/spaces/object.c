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

unsigned object_next_in(unsigned symbol) { return next_in[symbol]; }

unsigned object_target(const struct elf_file *o, const struct reference *r) {
    const Elf64_Sym *symbol = &o->symbols[r->symbol];
    if (ELF64_ST_TYPE(symbol->st_info) != STT_SECTION)
        return symbol->st_shndx == SHN_UNDEF || is_named_thing(symbol) ? r->symbol : NO_SYMBOL;
    return symbol->st_shndx < o->section_count ? first_in[symbol->st_shndx] : NO_SYMBOL;
}

unsigned object_function_at(const struct elf_file *o, unsigned section, size_t offset) {
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

/* Absolute addresses are all that there is in debug information. */
struct image_section object_debug_section(const struct elf_file *o, const char *name) {
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
