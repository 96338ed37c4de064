/* The program's own file: its symbols and sections (ELF-64: System V ABI, chapter 4). */
#define _GNU_SOURCE
#include "program.h"
#include <elf.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Mapped for reading, and kept; no bytes: it cannot be read. */
static struct image_section file;
static const Elf64_Shdr *sections;
static int section_count;

static bool holds(uint64_t offset, uint64_t size) {
    return offset <= file.size && size <= file.size - offset;
}

static bool is_readable(void) {
    const Elf64_Ehdr *header = (const void *)file.bytes;
    return file.size >= sizeof *header && memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
           header->e_ident[EI_CLASS] == ELFCLASS64 &&
           holds(header->e_shoff, header->e_shnum * sizeof(Elf64_Shdr)) &&
           header->e_shstrndx < header->e_shnum;
}

static void map_program(void) {
    struct stat status;
    int descriptor = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    if (descriptor < 0) return;
    if (fstat(descriptor, &status) == 0) {
        file.size = (size_t)status.st_size;
        file.bytes = mmap(NULL, file.size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    }
    close(descriptor);
    if (file.bytes == MAP_FAILED) file.bytes = NULL;
    if (!file.bytes || !is_readable()) return;
    const Elf64_Ehdr *header = (const void *)file.bytes;
    sections = (const void *)(file.bytes + header->e_shoff);
    section_count = header->e_shnum;
}

static void open_image(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, map_program);
}

/* The bytes of a section; false where they are not in the file as they are. */
static bool contents(const Elf64_Shdr *section, struct image_section *found) {
    if (section->sh_type == SHT_NOBITS || (section->sh_flags & SHF_COMPRESSED) ||
        !holds(section->sh_offset, section->sh_size))
        return false;
    *found = (struct image_section){file.bytes + section->sh_offset, section->sh_size};
    return true;
}

bool image_find_section(const char *name, struct image_section *found) {
    struct image_section names;
    open_image();
    if (!section_count) return false;
    const Elf64_Ehdr *header = (const void *)file.bytes;
    if (!contents(&sections[header->e_shstrndx], &names)) return false;
    for (int i = 0; i < section_count; ++i)
        if (sections[i].sh_name < names.size &&
            strncmp(names.bytes + sections[i].sh_name, name, names.size - sections[i].sh_name) == 0)
            return contents(&sections[i], found);
    return false;
}

void image_symbols(void (*visit)(const struct image_symbol *symbol, void *data), void *data) {
    struct image_section table = {NULL, 0}, names = {NULL, 0};
    open_image();
    for (int i = 0; i < section_count && !table.bytes; ++i)
        if (sections[i].sh_type == SHT_SYMTAB && sections[i].sh_link < (unsigned)section_count &&
            contents(&sections[sections[i].sh_link], &names))
            contents(&sections[i], &table);
    const Elf64_Sym *symbols = (const void *)table.bytes;
    for (size_t i = 0; i < table.size / sizeof *symbols; ++i) {
        if (symbols[i].st_name >= names.size) continue;
        const struct image_symbol symbol = {.name = names.bytes + symbols[i].st_name,
                                            .type = ELF64_ST_TYPE(symbols[i].st_info),
                                            .value = symbols[i].st_value,
                                            .size = symbols[i].st_size};
        visit(&symbol, data);
    }
}

/* --- a kernel's name and static shared memory --------------------------------------------------
 */

struct search {
    uint64_t function; /* its link address */
    const char *name;  /* null: not found yet */
    char prefix[1024]; /* of its static variables' names */
    size_t total;
};

static void find_function(const struct image_symbol *symbol, void *data) {
    struct search *search = data;
    if (symbol->type == STT_FUNC && symbol->value == search->function && !search->name)
        search->name = symbol->name;
}

void image_symbol_name(const void *function, char *name, size_t bytes) {
    struct search search = {.function = place_link_address(function)};
    image_symbols(find_function, &search);
    snprintf(name, bytes, "%s", search.name ? search.name : "");
}

static void add_size(const struct image_symbol *symbol, void *data) {
    struct search *search = data;
    if (symbol->type == STT_TLS &&
        strncmp(symbol->name, search->prefix, strlen(search->prefix)) == 0)
        search->total += symbol->size;
}

/* A function's static variable v is mangled _ZZ<function>E<v> (Itanium C++ ABI, 5.1.7). */
size_t image_static_shared(const void *kernel) {
    struct search search = {.function = place_link_address(kernel)};
    image_symbols(find_function, &search);
    if (!search.name) return 0;
    if (strncmp(search.name, "_Z", 2) == 0)
        snprintf(search.prefix, sizeof search.prefix, "_ZZ%sE", search.name + 2);
    else
        snprintf(search.prefix, sizeof search.prefix, "_ZZ%zu%sE", strlen(search.name),
                 search.name);
    image_symbols(add_size, &search);
    return search.total;
}
