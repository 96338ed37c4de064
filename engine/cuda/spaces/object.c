#define _GNU_SOURCE
#include "spaces.h"
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static bool holds(const struct object *o, uint64_t offset, uint64_t size) {
    return offset <= o->size && size <= o->size - offset;
}

/* A section whose entries have this size and lie as C wants them. */
static const void *table(const struct object *o, unsigned section, size_t entry, size_t *count) {
    struct image_section found = object_bytes(o, section);
    *count = o->sections[section].sh_entsize == entry && (uintptr_t)found.bytes % 8 == 0
                 ? found.size / entry
                 : 0;
    return found.bytes;
}

static bool is_named_thing(const Elf64_Sym *symbol) {
    int type = ELF64_ST_TYPE(symbol->st_info);
    return type == STT_FUNC || type == STT_OBJECT || type == STT_TLS;
}

static const char *read_symbols(struct object *o) {
    size_t count = 0;
    for (unsigned i = 1; i < o->section_count && !count; i++) {
        if (o->sections[i].sh_type != SHT_SYMTAB || o->sections[i].sh_link >= o->section_count)
            continue;
        o->symbols = table(o, i, sizeof *o->symbols, &count);
        o->names = object_bytes(o, o->sections[i].sh_link);
    }
    if (!count || !o->names.size || o->names.bytes[o->names.size - 1]) return "has no symbols";
    o->symbol_count = (unsigned)count;
    o->first_in = calloc(o->section_count, sizeof *o->first_in);
    o->next_in = calloc(count, sizeof *o->next_in);
    if (!o->first_in || !o->next_in) return "is too large";
    for (unsigned i = o->symbol_count; i-- > 1;) {
        if (!is_named_thing(&o->symbols[i]) || o->symbols[i].st_shndx >= o->section_count) continue;
        o->next_in[i] = o->first_in[o->symbols[i].st_shndx];
        o->first_in[o->symbols[i].st_shndx] = i;
    }
    return NULL;
}

static const char *map_file(struct object *o, const char *path) {
    struct stat status;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return "cannot be opened";
    if (fstat(descriptor, &status) == 0 && status.st_size > 0) {
        o->size = (size_t)status.st_size;
        o->bytes = mmap(NULL, o->size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    }
    close(descriptor);
    return !o->bytes || o->bytes == MAP_FAILED ? "cannot be read" : NULL;
}

const char *object_open(struct object *o, const char *path) {
    const char *wrong = map_file(o, path);
    if (wrong) return wrong;
    const Elf64_Ehdr *header = (const void *)o->bytes;
    if (!holds(o, 0, sizeof *header) || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
        header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_type != ET_REL || !header->e_shoff ||
        header->e_shoff % 8 || header->e_shentsize != sizeof *o->sections ||
        !holds(o, header->e_shoff, sizeof *o->sections))
        return "is no object file";
    o->sections = (const void *)(o->bytes + header->e_shoff);
    /* With 65280 sections or more, their number is in the first. */
    o->section_count = header->e_shnum ? header->e_shnum : (unsigned)o->sections[0].sh_size;
    o->aarch64 = header->e_machine == EM_AARCH64;
    if (!holds(o, header->e_shoff, (uint64_t)o->section_count * sizeof *o->sections))
        return "is damaged";
    return read_symbols(o);
}

struct image_section object_bytes(const struct object *o, unsigned section) {
    const Elf64_Shdr *s = &o->sections[section];
    if (s->sh_type == SHT_NOBITS || (s->sh_flags & SHF_COMPRESSED) ||
        !holds(o, s->sh_offset, s->sh_size))
        return (struct image_section){NULL, 0};
    return (struct image_section){o->bytes + s->sh_offset, s->sh_size};
}

const char *object_symbol_name(const struct object *o, unsigned symbol) {
    size_t name = symbol < o->symbol_count ? o->symbols[symbol].st_name : 0;
    return name < o->names.size ? o->names.bytes + name : "";
}

const char *object_section_name(const struct object *o, unsigned section) {
    unsigned names = ((const Elf64_Ehdr *)(const void *)o->bytes)->e_shstrndx;
    if (names == SHN_XINDEX) names = o->sections[0].sh_link;
    if (section >= o->section_count || names >= o->section_count) return "";
    struct image_section text = object_bytes(o, names);
    size_t name = o->sections[section].sh_name;
    if (!text.size || text.bytes[text.size - 1] || name >= text.size) return "";
    return text.bytes + name;
}

unsigned object_find_section(const struct object *o, const char *name) {
    for (unsigned i = 1; i < o->section_count; i++)
        if (strcmp(object_section_name(o, i), name) == 0) return i;
    return 0;
}

unsigned object_target(const struct object *o, const struct reference *r) {
    const Elf64_Sym *symbol = &o->symbols[r->symbol];
    if (ELF64_ST_TYPE(symbol->st_info) != STT_SECTION)
        return symbol->st_shndx == SHN_UNDEF || is_named_thing(symbol) ? r->symbol : NO_SYMBOL;
    return symbol->st_shndx < o->section_count ? o->first_in[symbol->st_shndx] : NO_SYMBOL;
}

unsigned object_function_at(const struct object *o, unsigned section, size_t offset) {
    unsigned found = NO_SYMBOL;
    for (unsigned i = o->first_in[section]; i; i = o->next_in[i]) {
        if (ELF64_ST_TYPE(o->symbols[i].st_info) != STT_FUNC) continue;
        if (!found || o->symbols[i].st_value <= offset) found = i;
        if (offset >= o->symbols[i].st_value &&
            offset - o->symbols[i].st_value < o->symbols[i].st_size)
            return i;
    }
    return found;
}

bool object_is_call(const struct object *o, const struct reference *r) {
    if (o->aarch64) return r->type == R_AARCH64_CALL26 || r->type == R_AARCH64_JUMP26;
    if (r->type != R_X86_64_PC32) return r->type == R_X86_64_PLT32;
    /* Of a local function's address, too; then call or jmp is the byte before. */
    const struct image_section code = object_bytes(o, r->section);
    if (r->offset == 0 || r->offset > code.size) return false;
    const unsigned char before = (unsigned char)code.bytes[r->offset - 1];
    return before == 0xe8 || before == 0xe9;
}

void object_visit(const struct object *o, unsigned section,
                  void (*visit)(const struct reference *r, void *data), void *data) {
    for (unsigned i = 1; i < o->section_count; i++) {
        size_t count = 0;
        if (o->sections[i].sh_type != SHT_RELA || o->sections[i].sh_info != section) continue;
        const Elf64_Rela *list = table(o, i, sizeof *list, &count);
        for (size_t j = 0; j < count; j++) {
            const struct reference r = {.section = section,
                                        .symbol = (unsigned)ELF64_R_SYM(list[j].r_info),
                                        .type = (unsigned)ELF64_R_TYPE(list[j].r_info),
                                        .offset = list[j].r_offset,
                                        .addend = list[j].r_addend};
            if (r.symbol < o->symbol_count) visit(&r, data);
        }
    }
}

struct patch {
    const struct object *object;
    char *bytes;
    size_t size;
};

/* Absolute addresses are all that there is in debug information. */
static void apply(const struct reference *r, void *data) {
    const struct patch *p = data;
    const bool wide = r->type == (p->object->aarch64 ? R_AARCH64_ABS64 : R_X86_64_64);
    const size_t bytes = wide ? 8 : 4;
    if (r->offset > p->size || bytes > p->size - r->offset) return;
    uint64_t value = p->object->symbols[r->symbol].st_value + (uint64_t)r->addend;
    memcpy(p->bytes + r->offset, &value, bytes); /* both machines are little-endian */
}

struct image_section object_debug_section(const struct object *o, const char *name) {
    unsigned section = object_find_section(o, name);
    struct image_section found = object_bytes(o, section);
    if (!section || !found.size) return (struct image_section){NULL, 0};
    struct patch p = {o, malloc(found.size), found.size};
    if (!p.bytes) return (struct image_section){NULL, 0};
    memcpy(p.bytes, found.bytes, found.size);
    object_visit(o, section, apply, &p);
    return (struct image_section){p.bytes, p.size};
}
