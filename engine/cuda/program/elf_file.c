#define _GNU_SOURCE
#include "program.h"
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static bool holds(const struct elf_file *f, uint64_t offset, uint64_t size) {
    return offset <= f->size && size <= f->size - offset;
}

static const char *map_file(struct elf_file *f, const char *path) {
    struct stat status;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return "cannot be opened";
    if (fstat(descriptor, &status) == 0 && status.st_size > 0) {
        f->size = (size_t)status.st_size;
        f->bytes = mmap(NULL, f->size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    }
    close(descriptor);
    return !f->bytes || f->bytes == MAP_FAILED ? "cannot be read" : NULL;
}

static void read_symbols(struct elf_file *f) {
    size_t count = 0;
    for (unsigned i = 1; i < f->section_count && !count; i++) {
        if (f->sections[i].sh_type != SHT_SYMTAB || f->sections[i].sh_link >= f->section_count)
            continue;
        f->symbols = elf_table(f, i, sizeof *f->symbols, &count);
        f->names = elf_bytes(f, f->sections[i].sh_link);
    }
    const bool named = f->names.size && !f->names.bytes[f->names.size - 1];
    f->symbol_count = named ? (unsigned)count : 0;
}

const char *elf_open(struct elf_file *f, const char *path) {
    const char *wrong = map_file(f, path);
    if (wrong) return wrong;
    const Elf64_Ehdr *header = elf_header(f);
    if (!holds(f, 0, sizeof *header) || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
        header->e_ident[EI_CLASS] != ELFCLASS64 || !header->e_shoff || header->e_shoff % 8 ||
        header->e_shentsize != sizeof *f->sections ||
        !holds(f, header->e_shoff, sizeof *f->sections))
        return "is no object file";
    f->sections = (const void *)(f->bytes + header->e_shoff);
    /* With 65280 sections or more, their number is in the first. */
    f->section_count = header->e_shnum ? header->e_shnum : (unsigned)f->sections[0].sh_size;
    if (!holds(f, header->e_shoff, (uint64_t)f->section_count * sizeof *f->sections))
        return "is damaged";
    read_symbols(f);
    return NULL;
}

struct image_section elf_bytes(const struct elf_file *f, unsigned section) {
    const Elf64_Shdr *s = &f->sections[section];
    if (!section || s->sh_type == SHT_NOBITS || (s->sh_flags & SHF_COMPRESSED) ||
        !holds(f, s->sh_offset, s->sh_size))
        return (struct image_section){NULL, 0};
    return (struct image_section){f->bytes + s->sh_offset, s->sh_size};
}

const void *elf_table(const struct elf_file *f, unsigned section, size_t entry, size_t *count) {
    struct image_section found = elf_bytes(f, section);
    *count = f->sections[section].sh_entsize == entry && (uintptr_t)found.bytes % 8 == 0
                 ? found.size / entry
                 : 0;
    return found.bytes;
}

const char *elf_symbol_name(const struct elf_file *f, unsigned symbol) {
    size_t name = symbol < f->symbol_count ? f->symbols[symbol].st_name : 0;
    return name < f->names.size ? f->names.bytes + name : "";
}

const char *elf_section_name(const struct elf_file *f, unsigned section) {
    unsigned names = elf_header(f)->e_shstrndx;
    if (names == SHN_XINDEX) names = f->sections[0].sh_link;
    if (section >= f->section_count || names >= f->section_count) return "";
    struct image_section text = elf_bytes(f, names);
    size_t name = f->sections[section].sh_name;
    if (!text.size || text.bytes[text.size - 1] || name >= text.size) return "";
    return text.bytes + name;
}

unsigned elf_find_section(const struct elf_file *f, const char *name) {
    for (unsigned i = 1; i < f->section_count; i++)
        if (strcmp(elf_section_name(f, i), name) == 0) return i;
    return 0;
}
