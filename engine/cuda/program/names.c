/* From an address in shared memory to A_s[3][7].
 *
 * Names, places and sizes of shared variables are in the program's symbol table; their dimensions
 * in its debug information. Read once, when the first name is asked for. */
#define _GNU_SOURCE
#include "program.h"
#include <pthread.h>

enum { NAMES = 128 };

static struct shared_name names[NAMES];
static int name_count;
static char dynamic_name[64];
static size_t dynamic_element = sizeof(float); /* bytes; 0: not known, or they differ */
static bool several_dynamic;

/* --- from the symbol table -------------------------------------------------------------------- */

/* _ZZ6kerneliPKfPfE3A_s, which is kernel(int, float const*, float*)::A_s, -> A_s. */
static void short_name(const char *symbol, char *name, size_t bytes) {
    const bool nested = strncmp(symbol, "_ZZ", 3) == 0 || strncmp(symbol, "_ZL", 3) == 0;
    char *readable = nested ? __cxa_demangle(symbol, NULL, NULL, NULL) : NULL;
    const char *scope = readable ? strrchr(readable, ':') : NULL;
    const char *last = scope ? scope + 1 : readable ? readable : symbol;
    snprintf(name, bytes, "%.*s", (int)strcspn(last, " "), last); /* "A_s [clone .0]" */
    free(readable);
}

/* The runtime's own thread-local variables, and those of the C library. */
static bool is_runtimes(const char *symbol) {
    static const char *const names_of_runtime[] = {"threadIdx", "blockIdx", "this_worker",
                                                   "observer_worker", "observer_fast"};
    for (size_t i = 0; i < sizeof names_of_runtime / sizeof *names_of_runtime; ++i)
        if (strcmp(symbol, names_of_runtime[i]) == 0) return true;
    return strncmp(symbol, "emulator_", 9) == 0 || strncmp(symbol, "__", 2) == 0;
}

/* --- from the debug information --------------------------------------------------------------- */

static struct dwarf_entries entries;

/* What a type is, behind its other names; null: not known. */
static const struct dwarf_entry *real_type(size_t at) {
    const struct dwarf_entry *type = dwarf_entry_at(&entries, at);
    for (int depth = 0; type && depth < 16; ++depth) {
        if (type->tag != DWARF_TYPEDEF && type->tag != DWARF_CONST && type->tag != DWARF_VOLATILE &&
            type->tag != DWARF_RESTRICT)
            return type;
        type = dwarf_entry_at(&entries, type->type);
    }
    return NULL;
}

/* By the bytes of a base type and its encoding (DWARF 5, table 7.11): float; signed, the second
 * time of characters; likewise unsigned. */
static enum element element_of(const struct dwarf_entry *type) {
    static const enum element elements[9][9] = {
        [1] = {[5] = ELEMENT_I8, ELEMENT_I8, ELEMENT_U8, ELEMENT_U8},
        [2] = {[5] = ELEMENT_I16, ELEMENT_I16, ELEMENT_U16, ELEMENT_U16},
        [4] = {[4] = ELEMENT_F32, ELEMENT_I32, ELEMENT_I32, ELEMENT_U32, ELEMENT_U32},
        [8] = {[4] = ELEMENT_F64, ELEMENT_I64, ELEMENT_I64, ELEMENT_U64, ELEMENT_U64}};
    const bool known = type && type->tag == DWARF_BASE && type->bytes < 9 && type->encoding < 9;
    return known ? elements[type->bytes][type->encoding] : ELEMENT_BYTES;
}

/* --- joining the two -------------------------------------------------------------------------- */

/* The dimensions of an array are the subranges that follow it. Null: there is none, or no other. */
static const struct dwarf_entry *dimension_behind(const struct dwarf_entry *entry) {
    const struct dwarf_entry *const next = entry + 1, *const end = entries.list + entries.count;
    return next < end && next->tag == DWARF_SUBRANGE ? next : NULL;
}

static void add_dimensions(struct shared_name *name, size_t at) {
    const struct dwarf_entry *type = real_type(at), *d;
    for (; type && type->tag == DWARF_ARRAY; type = real_type(type->type))
        for (d = dimension_behind(type); d && name->dimensions < NAME_DIMENSIONS;
             d = dimension_behind(d))
            name->dimension[name->dimensions++] = d->count;
    size_t elements = 1;
    for (int i = 0; i < name->dimensions; ++i) elements *= name->dimension[i];
    name->element = elements ? name->bytes / elements : 0;
    name->type = element_of(type);
}

/* By its place; where the compiler gives that of none (gcc on aarch64), by its name, which another
 * function's local variable may have, too. */
static void join_static(const struct dwarf_entry *v, bool by_place) {
    for (int i = 0; i < name_count; ++i) {
        const bool same = by_place ? names[i].offset == (size_t)v->tls_offset
                                   : v->name && strcmp(names[i].name, v->name) == 0;
        if (names[i].dimensions || !same) continue;
        if (v->name) snprintf(names[i].name, sizeof names[i].name, "%s", v->name);
        add_dimensions(&names[i], v->type);
    }
}

/* Dynamic shared memory is what a reference to an array of unknown bound names, or an array with
 * the runtime's symbol: see ../rewrite.c. */
static void join_dynamic(const struct dwarf_entry *v) {
    const struct dwarf_entry *type = real_type(v->type);
    const bool refers = type && type->tag == DWARF_REFERENCE;
    bool shares = v->linkage_name && strstr(v->linkage_name, "emulator_dynamic_shared");
    if (refers) type = real_type(type->type);
    if (!(shares || refers) || !type || type->tag != DWARF_ARRAY || !v->name) return;
    const struct dwarf_entry *first = dimension_behind(type);
    if (!first || first->count) return;
    const struct dwarf_entry *element = dimension_behind(first) ? NULL : real_type(type->type);
    const size_t bytes = element ? element->bytes : 0;
    if (!dynamic_name[0] || bytes != dynamic_element) dynamic_element = dynamic_name[0] ? 0 : bytes;
    several_dynamic |= dynamic_name[0] && strcmp(dynamic_name, v->name) != 0;
    snprintf(dynamic_name, sizeof dynamic_name, "%s", v->name);
}

static int by_offset(const void *a, const void *b) {
    const struct shared_name *x = a, *y = b;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

static void list_names(void) {
    struct image_symbol s;
    for (unsigned at = 0; name_count < NAMES && image_next_symbol(&at, STT_TLS, &s);) {
        if (!s.size || is_runtimes(s.name)) continue;
        struct shared_name *name = &names[name_count++];
        *name = (struct shared_name){.offset = s.value, .bytes = s.size};
        short_name(s.name, name->name, sizeof name->name);
    }
    qsort(names, (size_t)name_count, sizeof *names, by_offset);
}

static void listed(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, list_names);
}

static void read_names(void) {
    listed();
    entries = dwarf_read(image_find_section);
    bool by_place = false;
    for (size_t i = 0; i < entries.count; ++i) by_place |= entries.list[i].tls_offset >= 0;
    for (size_t i = 0; i < entries.count; ++i) {
        if (entries.list[i].tag != DWARF_VARIABLE) continue;
        join_static(&entries.list[i], by_place);
        join_dynamic(&entries.list[i]);
    }
}

static void names_needed(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, read_names);
}

/* --- asking ----------------------------------------------------------------------------------- */

void name_indices(size_t *index, const size_t *dimension, int dimensions, size_t element) {
    for (int i = 0; i < dimensions; ++i) {
        size_t behind = 1;
        for (int j = i + 1; j < dimensions; ++j) behind *= dimension[j];
        index[i] = element / behind;
        if (i) index[i] %= dimension[i]; /* the first one may be too large */
    }
}

bool name_find(size_t offset, struct shared_name *found) {
    names_needed();
    for (int i = 0; i < name_count; ++i)
        if (offset - names[i].offset < names[i].bytes) {
            *found = names[i];
            return true;
        }
    return false;
}

bool name_before(size_t offset, struct shared_name *found) {
    int i = 0;
    names_needed();
    while (i < name_count && names[i].offset <= offset) ++i;
    if (i) *found = names[i - 1];
    return i > 0;
}

int name_list(const struct shared_name **list) {
    listed();
    *list = names;
    return name_count;
}

bool name_has_dynamic(void) {
    names_needed();
    return dynamic_name[0] != '\0';
}

const char *name_of_dynamic(size_t *element) {
    names_needed();
    *element = dynamic_element;
    return dynamic_name[0] && !several_dynamic ? dynamic_name : NULL;
}

/* The dimensions of "float [16][17]". */
struct dimensions {
    size_t of[NAME_DIMENSIONS];
    int count;
};

static struct dimensions dimensions_of(const char *type) {
    struct dimensions found = {.count = 0};
    while (found.count < NAME_DIMENSIONS && (type = strchr(type, '[')))
        found.of[found.count++] = strtoul(++type, NULL, 10);
    return found;
}

/* Whether the variable's dimensions end as these. */
static bool name_ends_as(const struct shared_name *name, const struct dimensions *wanted) {
    const int more = name->dimensions - wanted->count;
    return wanted->count && more >= 0 &&
           memcmp(wanted->of, &name->dimension[more], (size_t)wanted->count * sizeof *wanted->of) ==
               0;
}

bool name_any_ends_as(const char *type, struct shared_name *found) {
    const struct dimensions wanted = dimensions_of(type);
    int fitting = 0;
    names_needed();
    for (int i = 0; i < name_count; ++i)
        if (name_ends_as(&names[i], &wanted) && !fitting++) *found = names[i];
    if (fitting > 1) found->name[0] = '\0';
    return fitting > 0;
}

bool name_of_index(size_t offset, const char *type, long index, struct shared_name *found) {
    const struct dimensions wanted = dimensions_of(type);
    size_t stride = 1; /* elements between one value of the bad index and the next */
    for (int i = 1; i < wanted.count; ++i) stride *= wanted.of[i];
    for (size_t behind = 0; behind < stride; ++behind) {
        const intptr_t back = (intptr_t)((size_t)index * stride + behind);
        intptr_t start = (intptr_t)offset - back * (intptr_t)sizeof(float);
        if (start < 0 || !name_find((size_t)start, found)) continue;
        size_t element = found->element ? found->element : sizeof(float);
        start = (intptr_t)offset - back * (intptr_t)element;
        if (start < (intptr_t)found->offset || !name_ends_as(found, &wanted)) continue;
        if (((size_t)start - found->offset) / element % (wanted.of[0] * stride) == 0) return true;
    }
    return false;
}

/* --- variables that are not shared ------------------------------------------------------------ */

bool name_is_not_shared(const char *name, uintptr_t *address) {
    bool is = false;
    *address = 0;
    names_needed();
    for (int i = 0; i < name_count; ++i)
        if (strcmp(names[i].name, name) == 0) return false;
    for (size_t i = 0; i < entries.count; ++i) {
        const struct dwarf_entry *e = &entries.list[i], *type;
        if ((e->tag != DWARF_VARIABLE && e->tag != DWARF_PARAMETER) || !e->name ||
            strcmp(e->name, name) != 0)
            continue;
        type = real_type(e->type);
        is = type && type->tag != DWARF_POINTER && type->tag != DWARF_REFERENCE;
        if (!is) return false;
        if (e->address) *address = e->address - place_link_address(NULL);
    }
    return is;
}

/* --- pointers --------------------------------------------------------------------------------- */

size_t name_points_to(const char *name) {
    size_t bytes = 0;
    names_needed();
    for (size_t i = 0; i < entries.count; ++i) {
        const struct dwarf_entry *e = &entries.list[i];
        if ((e->tag != DWARF_VARIABLE && e->tag != DWARF_PARAMETER) || !e->type || !e->name ||
            strcmp(e->name, name) != 0)
            continue;
        const struct dwarf_entry *pointer = real_type(e->type), *element = NULL;
        if (pointer && pointer->tag == DWARF_POINTER) element = real_type(pointer->type);
        if (!element || !element->bytes || (bytes && element->bytes != bytes)) return 0;
        bytes = element->bytes;
    }
    return bytes;
}

/* --- global variables ------------------------------------------------------------------------- */

bool name_of_variable(const void *address, struct shared_name *found) {
    const uintptr_t sought = place_link_address(address);
    struct image_symbol s;
    bool is = false;
    for (unsigned at = 0; image_next_symbol(&at, STT_OBJECT, &s);) {
        if (sought - s.value >= s.size) continue;
        is = true;
        *found = (struct shared_name){.offset = sought - s.value, .bytes = s.size};
        short_name(s.name, found->name, sizeof found->name);
    }
    return is;
}
