/* Tests of engine/cuda/program/dwarf.c on this program's own debug information: what is visited,
 * and that damaged sections do no harm. */
#define _GNU_SOURCE
#include "../../engine/cuda/program/dwarf.c"
#include "../../engine/cuda/program/image.c"

#include "../check.h"

#include <stdlib.h>

/* image.c asks where the program is linked; nothing here does. */
uintptr_t place_link_address(const void *address) { return (uintptr_t)address; }

static _Thread_local volatile float plain[3][5];
typedef float row[7];
static _Thread_local const volatile row named[2];

enum { TYPES = 4096 };

struct found {
    const char *wanted;
    struct dwarf_entry variable, types[TYPES];
    size_t counts[TYPES][4];
    int type_count, count_counts[TYPES];
};

static void look(const struct dwarf_entry *entry, void *data) {
    struct found *found = data;
    const int last = found->type_count - 1;
    if (entry->tag == DWARF_VARIABLE) {
        if (entry->name && strcmp(entry->name, found->wanted) == 0) found->variable = *entry;
    } else if (entry->tag == DWARF_SUBRANGE) {
        if (last >= 0 && found->count_counts[last] < 4)
            found->counts[last][found->count_counts[last]++] = entry->count;
    } else if (entry->tag != DWARF_FUNCTION && found->type_count < TYPES) {
        found->types[found->type_count++] = *entry;
    }
}

static int type_at(const struct found *found, size_t at) {
    for (int i = 0; i < found->type_count; i++)
        if (found->types[i].at == at) return i;
    return -1;
}

/* The extents of the array that a variable is, behind typedefs and qualifiers. */
static const size_t *extents_of(struct found *found, const char *name) {
    struct dwarf_sections sections = {.info.size = 0};
    memset(found, 0, sizeof *found);
    found->wanted = name;
    CHECK(image_find_section(".debug_info", &sections.info));
    CHECK(image_find_section(".debug_abbrev", &sections.abbrev));
    image_find_section(".debug_str", &sections.str);
    image_find_section(".debug_line_str", &sections.line_str);
    dwarf_visit(&sections, look, found);
    CHECK(found->variable.tls_offset >= 0);
    int type = type_at(found, found->variable.type);
    for (int depth = 0; type >= 0 && found->types[type].tag != DWARF_ARRAY && depth < 8; depth++)
        type = type_at(found, found->types[type].type);
    CHECK(type >= 0);
    return found->counts[type];
}

TEST(an_array_has_its_dimensions) {
    static struct found found;
    const size_t *extents = extents_of(&found, "plain");
    CHECK(extents[0] == 3 && extents[1] == 5 && extents[2] == 0);
    CHECK(extents_of(&found, "named")[0] == 2);
    plain[0][0] = named[0][0]; /* or there would be no such variables */
}

/* A copy of a section of which each byte in turn of a few thousand is another one, and which ends
 * early: from a block of exactly its size, so that a sanitizer sees a read behind it. */
TEST(damaged_sections_do_no_harm) {
    struct image_section info, abbreviations;
    CHECK(image_find_section(".debug_info", &info));
    CHECK(image_find_section(".debug_abbrev", &abbreviations));
    unsigned random = 1;
    for (int round = 0; round < 3000; round++) {
        const struct image_section *source = round % 2 ? &info : &abbreviations;
        size_t size = round % 3 ? source->size : source->size * (size_t)(round % 97) / 97;
        char *copy = malloc(size ? size : 1);
        struct found *found = calloc(1, sizeof *found);
        memcpy(copy, source->bytes, size);
        for (int i = 0; size && i < 8; i++) {
            random = random * 1664525u + 1013904223u;
            copy[(random >> 8) % (i % 2 ? size : size < 400 ? size : 400)] = (char)(random >> 3);
        }
        found->wanted = "plain";
        struct unit u = {.info = info, .abbrev = abbreviations};
        uint64_t offset = 0;
        *(round % 2 ? &u.info : &u.abbrev) = (struct image_section){copy, size};
        if (read_head(&u, &offset)) visit_entries(&u, reader_of(&u.abbrev, offset), look, found);
        free(found);
        free(copy);
    }
}
