/* The program's own file: its symbols and sections. */
#define _GNU_SOURCE
#include "program.h"
#include <pthread.h>
#include <stdio.h>
#include <string.h>

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
