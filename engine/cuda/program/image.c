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

void image_symbols(void (*visit)(const struct image_symbol *symbol, void *data), void *data) {
    open_image();
    for (unsigned i = 0; i < file.symbol_count; ++i) {
        const struct image_symbol symbol = {.name = elf_symbol_name(&file, i),
                                            .type = ELF64_ST_TYPE(file.symbols[i].st_info),
                                            .value = file.symbols[i].st_value,
                                            .size = file.symbols[i].st_size};
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
