/* From an address in shared memory to A_s[3][7].
 *
 * Names, places and sizes of shared variables are in the program's symbol table; their dimensions
 * in its debug information. Read once, when the first name is asked for. */
#define _GNU_SOURCE
#include "program.h"
#include <elf.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES = 128, ENTRIES = 8192 };

static struct shared_name names[NAMES];
static int name_count;
static char dynamic_name[64];
static bool several_dynamic;

/* --- from the symbol table -------------------------------------------------------------------- */

/* _ZZ6kerneliPKfPfE3A_s -> A_s: the last <length><name> that ends the symbol, perhaps before
 * a _0 that distinguishes two of one name. A plain name is itself. */
static void short_name(const char *symbol, char *name, size_t bytes) {
    snprintf(name, bytes, "%s", symbol);
    if (strncmp(symbol, "_ZZ", 3) != 0 && strncmp(symbol, "_ZL", 3) != 0) return;
    for (const char *at = symbol; *at; ++at) {
        char *end;
        if (*at < '1' || *at > '9' || (at > symbol && at[-1] >= '0' && at[-1] <= '9')) continue;
        size_t length = strtoul(at, &end, 10);
        if (strlen(end) < length) continue;
        if (end[length] == '\0' || end[length] == '_' || end[length] == '.') {
            snprintf(name, bytes, "%.*s", (int)length, end);
            if (end[length] == '\0') return;
        }
    }
}

/* The runtime's own thread-local variables, and those of the C library. */
static bool is_runtimes(const char *symbol) {
    static const char *const names_of_runtime[] = {"threadIdx", "blockIdx", "this_worker",
                                                   "observer_worker", "observer_fast"};
    for (size_t i = 0; i < sizeof names_of_runtime / sizeof *names_of_runtime; ++i)
        if (strcmp(symbol, names_of_runtime[i]) == 0) return true;
    return strncmp(symbol, "emulator_", 9) == 0 || strncmp(symbol, "__", 2) == 0;
}

static void keep_symbol(const struct image_symbol *symbol, void *data) {
    (void)data;
    if (symbol->type != STT_TLS || !symbol->size || name_count == NAMES ||
        is_runtimes(symbol->name))
        return;
    struct shared_name *name = &names[name_count++];
    *name = (struct shared_name){.offset = symbol->value, .bytes = symbol->size};
    short_name(symbol->name, name->name, sizeof name->name);
}

/* --- from the debug information --------------------------------------------------------------- */

/* A type, as far as arrays go: what it is an array of, or another name for. */
struct type {
    size_t at, of;
    size_t dimension[NAME_DIMENSIONS];
    int dimensions;
    bool array, reference;
    enum element element; /* of a base type */
};

static struct {
    struct type types[ENTRIES];
    struct dwarf_entry variables[ENTRIES];
    int type_count, variable_count;
} * reading;

static bool is_type(enum dwarf_tag tag) {
    return tag == DWARF_ARRAY || tag == DWARF_REFERENCE || tag == DWARF_TYPEDEF ||
           tag == DWARF_BASE || tag == DWARF_CONST || tag == DWARF_VOLATILE;
}

/* DWARF 5, table 7.11. */
enum { IS_FLOAT = 4, IS_SIGNED = 5, IS_SIGNED_CHAR = 6, IS_UNSIGNED = 7, IS_UNSIGNED_CHAR = 8 };

static enum element element_of(const struct dwarf_entry *base) {
    static const struct {
        size_t bytes;
        enum element is_signed, is_unsigned, is_float;
    } types[] = {
        {1, ELEMENT_I8, ELEMENT_U8, ELEMENT_BYTES},
        {2, ELEMENT_I16, ELEMENT_U16, ELEMENT_BYTES},
        {4, ELEMENT_I32, ELEMENT_U32, ELEMENT_F32},
        {8, ELEMENT_I64, ELEMENT_U64, ELEMENT_F64},
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; ++i) {
        if (types[i].bytes != base->bytes) continue;
        switch (base->encoding) {
        case IS_FLOAT: return types[i].is_float;
        case IS_SIGNED:
        case IS_SIGNED_CHAR: return types[i].is_signed;
        case IS_UNSIGNED:
        case IS_UNSIGNED_CHAR: return types[i].is_unsigned;
        }
    }
    return ELEMENT_BYTES; /* an entry of another kind, too */
}

/* Subranges follow the array whose dimensions they are. */
static void keep_entry(const struct dwarf_entry *entry, void *data) {
    (void)data;
    if (entry->tag == DWARF_VARIABLE) {
        if (reading->variable_count < ENTRIES)
            reading->variables[reading->variable_count++] = *entry;
    } else if (entry->tag == DWARF_SUBRANGE) {
        struct type *last = reading->type_count ? &reading->types[reading->type_count - 1] : NULL;
        if (last && last->array && last->dimensions < NAME_DIMENSIONS)
            last->dimension[last->dimensions++] = entry->count;
    } else if (is_type(entry->tag) && reading->type_count < ENTRIES) {
        reading->types[reading->type_count++] =
            (struct type){.at = entry->at,
                          .of = entry->type,
                          .array = entry->tag == DWARF_ARRAY,
                          .element = element_of(entry),
                          .reference = entry->tag == DWARF_REFERENCE};
    }
}

/* --- joining the two -------------------------------------------------------------------------- */

static struct type *type_at(size_t at) {
    for (int i = 0; i < reading->type_count; ++i)
        if (reading->types[i].at == at) return &reading->types[i];
    return NULL;
}

/* typedef and const are looked through. */
static struct type *real_type(size_t at) {
    struct type *type = type_at(at);
    for (int depth = 0; type && !type->array && !type->reference && type->of && depth < 16; ++depth)
        type = type_at(type->of);
    return type;
}

static void add_dimensions(struct shared_name *name, size_t at) {
    struct type *type = real_type(at);
    for (; type && type->array; type = real_type(type->of))
        for (int i = 0; i < type->dimensions && name->dimensions < NAME_DIMENSIONS; ++i)
            name->dimension[name->dimensions++] = type->dimension[i];
    size_t elements = 1;
    for (int i = 0; i < name->dimensions; ++i) elements *= name->dimension[i];
    name->element = elements ? name->bytes / elements : 0;
    name->type = type ? type->element : ELEMENT_BYTES;
}

static void complete_from_origin(struct dwarf_entry *v) {
    for (int i = 0; v->origin && i < reading->variable_count; ++i) {
        const struct dwarf_entry *origin = &reading->variables[i];
        if (origin->at != v->origin) continue;
        if (!v->name) v->name = origin->name;
        if (!v->type) v->type = origin->type;
        if (v->tls_offset < 0) v->tls_offset = origin->tls_offset;
    }
}

/* By its place; where the compiler does not give that (gcc on aarch64), by its name. */
static bool is_named(const struct shared_name *name, const struct dwarf_entry *v) {
    if (v->tls_offset >= 0) return name->offset == (size_t)v->tls_offset;
    return v->name && strcmp(name->name, v->name) == 0;
}

static void join_static(const struct dwarf_entry *v) {
    for (int i = 0; i < name_count; ++i)
        if (!names[i].dimensions && is_named(&names[i], v)) {
            if (v->name) snprintf(names[i].name, sizeof names[i].name, "%s", v->name);
            add_dimensions(&names[i], v->type);
        }
}

/* Dynamic shared memory is what a reference to an array of unknown bound names, or an array with
 * the runtime's symbol: see ../rewrite.c. */
static void join_dynamic(const struct dwarf_entry *v) {
    const struct type *type = real_type(v->type);
    bool shares = v->linkage_name && strstr(v->linkage_name, "emulator_dynamic_shared");
    if (!shares && !(type && type->reference)) return;
    if (type && type->reference) type = real_type(type->of);
    if (!type || !type->array || !type->dimensions || type->dimension[0] || !v->name) return;
    several_dynamic |= dynamic_name[0] && strcmp(dynamic_name, v->name) != 0;
    snprintf(dynamic_name, sizeof dynamic_name, "%s", v->name);
}

static int by_offset(const void *a, const void *b) {
    const struct shared_name *x = a, *y = b;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

static void list_names(void) {
    image_symbols(keep_symbol, NULL);
    qsort(names, (size_t)name_count, sizeof *names, by_offset);
}

static void listed(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, list_names);
}

static void visit_program(void (*visit)(const struct dwarf_entry *, void *), void *data) {
    struct dwarf_sections sections = {.info.size = 0};
    image_find_section(".debug_info", &sections.info);
    image_find_section(".debug_abbrev", &sections.abbrev);
    image_find_section(".debug_str", &sections.str);
    image_find_section(".debug_line_str", &sections.line_str);
    dwarf_visit(&sections, visit, data);
}

static void read_names(void) {
    listed();
    reading = calloc(1, sizeof *reading);
    if (!reading) return;
    visit_program(keep_entry, NULL);
    for (int i = 0; i < reading->variable_count; ++i) {
        complete_from_origin(&reading->variables[i]);
        join_static(&reading->variables[i]);
        join_dynamic(&reading->variables[i]);
    }
    free(reading);
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
    bool any = false;
    names_needed();
    for (int i = 0; i < name_count && names[i].offset <= offset; ++i) {
        *found = names[i];
        any = true;
    }
    return any;
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

const char *name_of_dynamic(void) {
    names_needed();
    return dynamic_name[0] && !several_dynamic ? dynamic_name : NULL;
}

/* Whether the variable's dimensions end as those of `type`. */
static bool name_ends_as(const struct shared_name *name, const char *type) {
    size_t wanted[NAME_DIMENSIONS];
    int count = 0;
    for (const char *at = strchr(type, '['); at && count < NAME_DIMENSIONS;
         at = strchr(at + 1, '['))
        wanted[count++] = strtoul(at + 1, NULL, 10);
    if (!count || count > name->dimensions) return false;
    return memcmp(wanted, &name->dimension[name->dimensions - count],
                  (size_t)count * sizeof *wanted) == 0;
}

bool name_any_ends_as(const char *type, struct shared_name *found) {
    int fitting = 0;
    names_needed();
    for (int i = 0; i < name_count; ++i)
        if (name_ends_as(&names[i], type) && !fitting++) *found = names[i];
    if (fitting > 1) found->name[0] = '\0';
    return fitting > 0;
}

/* Elements between one value of the bad index and the next: the product of the dimensions behind
 * the first of "float [16][17]"; and in *count the first. */
static size_t stride_of_type(const char *type, size_t *count) {
    size_t stride = 1;
    const char *at = strchr(type, '[');
    *count = at ? strtoul(at + 1, NULL, 10) : 0;
    while (at && (at = strchr(at + 1, '['))) stride *= strtoul(at + 1, NULL, 10);
    return stride;
}

bool name_of_index(size_t offset, const char *type, long index, struct shared_name *found) {
    size_t count, stride = stride_of_type(type, &count);
    for (size_t behind = 0; behind < stride; ++behind) {
        const intptr_t back = (intptr_t)((size_t)index * stride + behind);
        intptr_t start = (intptr_t)offset - back * (intptr_t)sizeof(float);
        if (start < 0 || !name_find((size_t)start, found)) continue;
        size_t element = found->element ? found->element : sizeof(float);
        start = (intptr_t)offset - back * (intptr_t)element;
        if (start < (intptr_t)found->offset || !name_ends_as(found, type)) continue;
        if (((size_t)start - found->offset) / element % (count * stride) == 0) return true;
    }
    return false;
}

/* --- pointers --------------------------------------------------------------------------------- */

/* Entries of types, and what variables of the sought name are of. */
struct pointers {
    const char *name;
    struct dwarf_entry types[ENTRIES];
    size_t of[32];
    int type_count, count;
};

static void keep_pointer(const struct dwarf_entry *entry, void *data) {
    struct pointers *p = data;
    const bool variable = entry->tag == DWARF_VARIABLE || entry->tag == DWARF_PARAMETER;
    if (!variable && entry->tag != DWARF_FUNCTION && p->type_count < ENTRIES)
        p->types[p->type_count++] = *entry;
    if (variable && entry->type && entry->name && strcmp(entry->name, p->name) == 0 &&
        p->count < (int)(sizeof p->of / sizeof *p->of))
        p->of[p->count++] = entry->type;
}

/* What a type is, behind its other names; null: not known. */
static const struct dwarf_entry *named_type(const struct pointers *p, size_t at) {
    for (int i = 0, depth = 0; i < p->type_count && depth < 16; ++i) {
        const struct dwarf_entry *type = &p->types[i];
        if (type->at != at) continue;
        if (type->tag != DWARF_TYPEDEF && type->tag != DWARF_CONST && type->tag != DWARF_VOLATILE)
            return type;
        at = type->type;
        i = -1;
        ++depth;
    }
    return NULL;
}

static size_t bytes_behind(const struct pointers *p, size_t at) {
    const struct dwarf_entry *pointer = named_type(p, at);
    if (!pointer || pointer->tag != DWARF_POINTER) return 0;
    const struct dwarf_entry *element = named_type(p, pointer->type);
    return element ? element->bytes : 0;
}

size_t name_points_to(const char *name) {
    struct pointers *p = calloc(1, sizeof *p);
    size_t bytes = 0;
    if (!p) return 0;
    p->name = name;
    visit_program(keep_pointer, p);
    for (int i = 0; i < p->count; ++i) {
        const size_t own = bytes_behind(p, p->of[i]);
        if (i && own != bytes) bytes = 0;
        if (!i) bytes = own;
        if (!bytes) break;
    }
    free(p);
    return bytes;
}

/* --- global variables ------------------------------------------------------------------------- */

struct variable {
    uintptr_t address; /* as the program's file knows it */
    struct shared_name *found;
    bool is;
};

static void keep_variable(const struct image_symbol *symbol, void *data) {
    struct variable *variable = data;
    if (symbol->type != STT_OBJECT || variable->address - symbol->value >= symbol->size) return;
    variable->is = true;
    *variable->found =
        (struct shared_name){.offset = variable->address - symbol->value, .bytes = symbol->size};
    short_name(symbol->name, variable->found->name, sizeof variable->found->name);
}

bool name_of_variable(const void *address, struct shared_name *found) {
    struct variable variable = {place_link_address(address), found, false};
    image_symbols(keep_variable, &variable);
    return variable.is;
}
