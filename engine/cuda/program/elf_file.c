#define _GNU_SOURCE
#include "program.h"
#include <fcntl.h>
#include <pthread.h>
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
    const Elf64_Ehdr *header = f->header = (const void *)f->bytes;
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
    unsigned names = f->header->e_shstrndx;
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

/* --- the program's own file ------------------------------------------------------------------- */

/* Zeroed where it cannot be read. */
static struct elf_file file;

static void map_program(void) {
    if (elf_open(&file, "/proc/self/exe")) file = (struct elf_file){0};
}

static void open_image(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, map_program);
}

struct image_section image_find_section(const char *name) {
    open_image();
    return elf_bytes(&file, elf_find_section(&file, name));
}

bool image_next_symbol(unsigned *at, unsigned type, struct image_symbol *symbol) {
    open_image();
    while (*at < file.symbol_count) {
        const unsigned i = (*at)++;
        const Elf64_Sym *s = &file.symbols[i];
        if (ELF64_ST_TYPE(s->st_info) != type) continue;
        *symbol = (struct image_symbol){elf_symbol_name(&file, i), s->st_value, s->st_size};
        return true;
    }
    return false;
}

/* --- a kernel's name and static shared memory ------------------------------------------------- */

/* "" where there is none. */
static const char *name_of_function(const void *function) {
    const uintptr_t address = place_link_address(function);
    struct image_symbol s;
    for (unsigned at = 0; image_next_symbol(&at, STT_FUNC, &s);)
        if (s.value == address) return s.name;
    return "";
}

void image_symbol_name(const void *function, char *name, size_t bytes) {
    snprintf(name, bytes, "%s", name_of_function(function));
}

/* A function's static variable v is mangled _ZZ<function>E<v> (Itanium C++ ABI, 5.1.7). */
size_t image_static_shared(const void *kernel) {
    const char *name = name_of_function(kernel);
    char prefix[1024];
    struct image_symbol s;
    size_t total = 0;
    if (!*name) return 0;
    if (strncmp(name, "_Z", 2) == 0)
        snprintf(prefix, sizeof prefix, "_ZZ%sE", name + 2);
    else
        snprintf(prefix, sizeof prefix, "_ZZ%zu%sE", strlen(name), name);
    for (unsigned at = 0; image_next_symbol(&at, STT_TLS, &s);)
        if (strncmp(s.name, prefix, strlen(prefix)) == 0) total += s.size;
    return total;
}
