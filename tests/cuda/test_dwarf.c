/* Tests of engine/cuda/program/dwarf.c on this program's own debug information. (What is read of
 * it, engine/test_program.py shows: an array behind a typedef has its elements.) */
#define _GNU_SOURCE
#include "../../engine/cuda/program/dwarf.c"
#include "../../engine/cuda/program/elf_file.c"

#include "../check.h"

#include <stdlib.h>

/* elf_file.c asks where the program is linked; nothing here does. */
uintptr_t place_link_address(const void *address) { return (uintptr_t)address; }

static struct {
    struct image_section section;
    const char *name;
} damaged;

static struct image_section find_damaged(const char *name) {
    return strcmp(name, damaged.name) == 0 ? damaged.section : image_find_section(name);
}

static int count_names(void) {
    struct dwarf_entries entries = dwarf_read(find_damaged);
    int named = 0;
    for (size_t i = 0; i < entries.count; i++)
        named += entries.list[i].name && strlen(entries.list[i].name) > 0; /* reads it */
    free(entries.list);
    return named;
}

/* A copy of a section of which each byte in turn of a few thousand is another one, and which ends
 * early: from a block of exactly its size, so that a sanitizer sees a read behind it. */
TEST(damaged_sections_do_no_harm) {
    const struct image_section info = image_find_section(".debug_info");
    const struct image_section abbreviations = image_find_section(".debug_abbrev");
    CHECK(info.size && abbreviations.size);
    unsigned random = 1;
    int named = 0;
    for (int round = 0; round < 3000; round++) {
        const struct image_section *source = round % 2 ? &info : &abbreviations;
        size_t size = round % 3 ? source->size : source->size * (size_t)(round % 97) / 97;
        char *copy = malloc(size ? size : 1);
        memcpy(copy, source->bytes, size);
        for (int i = 0; size && i < 8; i++) {
            random = random * 1664525u + 1013904223u;
            copy[(random >> 8) % (i % 2 ? size : size < 400 ? size : 400)] = (char)(random >> 3);
        }
        damaged.name = round % 2 ? ".debug_info" : ".debug_abbrev";
        damaged.section = (struct image_section){copy, size};
        named += count_names();
        free(copy);
    }
    CHECK(named > 0);
}
