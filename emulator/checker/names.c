/* From an address in shared memory to A_s[3][7].
 *
 * Names, places and sizes of shared variables are in the program's symbol table; their dimensions
 * in its debug information, which readelf (binutils) prints: DWARF 5, sections 4.1 and 5.5. Read
 * once, when the first name is asked for; without readelf, names have no dimensions. */
#define _GNU_SOURCE
#include "watch.h"
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NAMES = 128, ENTRIES = 8192 };

static struct shared_name names[NAMES];
static int name_count;
static char dynamic_name[64];
static const char several_names[] = "dynamic shared memory";

/* --- from the symbol table -------------------------------------------------------------------- */

/* _ZZ7mysgemmiiiPKfS0_PfE3A_s -> A_s: the last <length><name> that ends the symbol, perhaps before
 * a _0 that tells two of one name apart. A plain name is itself. */
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
static bool is_ours(const char *symbol) {
    static const char *const ours[] = {"threadIdx", "blockIdx", "this_worker", "observer_worker"};
    for (size_t i = 0; i < sizeof ours / sizeof *ours; ++i)
        if (strcmp(symbol, ours[i]) == 0) return true;
    return strncmp(symbol, "emulator_", 9) == 0 || strncmp(symbol, "__", 2) == 0;
}

static void keep_symbol(const struct place_symbol *symbol, void *data) {
    (void)data;
    if (symbol->type != STT_TLS || !symbol->size || name_count == NAMES || is_ours(symbol->name))
        return;
    struct shared_name *name = &names[name_count++];
    *name = (struct shared_name){.offset = symbol->value, .bytes = symbol->size};
    short_name(symbol->name, name->name, sizeof name->name);
}

/* --- from the debug information --------------------------------------------------------------- */

/* A type, as far as arrays go: what it is an array of, or another name for. */
struct type {
    unsigned long at, of;
    size_t dimension[NAME_DIMENSIONS];
    int dimensions;
    bool array, reference;
};

struct variable {
    unsigned long at, origin, type; /* origin: the entry that this one completes */
    long offset;                    /* in thread-local storage; -1: not there */
    bool shares_dynamic;            /* has dynamic shared memory's symbol */
    char name[64];
};

enum entry { OTHER, TYPE, SUBRANGE, VARIABLE };

static struct {
    struct type types[ENTRIES];
    struct variable variables[ENTRIES];
    int type_count, variable_count;
    enum entry entry;
} * reading;

static struct type *last_type(void) {
    return reading->type_count ? &reading->types[reading->type_count - 1] : NULL;
}

static struct variable *last_variable(void) {
    return &reading->variables[reading->variable_count - 1];
}

static enum entry entry_of(const char *line) {
    if (strstr(line, "DW_TAG_subrange_type")) return SUBRANGE;
    if (strstr(line, "DW_TAG_variable")) return VARIABLE;
    if (strstr(line, "_type)") || strstr(line, "DW_TAG_typedef")) return TYPE;
    return OTHER;
}

/* " <2><2f1>: Abbrev Number: 12 (DW_TAG_array_type)" */
static void begin_entry(const char *line) {
    unsigned long at = 0;
    sscanf(line, " <%*x><%lx>", &at);
    reading->entry = entry_of(line);
    if (reading->entry == TYPE && reading->type_count < ENTRIES)
        reading->types[reading->type_count++] =
            (struct type){.at = at,
                          .array = strstr(line, "array_type") != NULL,
                          .reference = strstr(line, "reference_type") != NULL};
    else if (reading->entry == VARIABLE && reading->variable_count < ENTRIES)
        reading->variables[reading->variable_count++] = (struct variable){.at = at, .offset = -1};
    else if (reading->entry != SUBRANGE)
        reading->entry = OTHER;
    if (reading->entry != SUBRANGE || !last_type()) return;
    if (last_type()->dimensions < NAME_DIMENSIONS) last_type()->dimensions++;
}

static size_t number_after_colon(const char *line) {
    const char *colon = strchr(line, ':');
    while (colon && (*colon == ':' || *colon == ' ' || *colon == '\t')) ++colon;
    if (colon && *colon == '(') { /* "(data1) 15", as newer ones print it */
        colon = strchr(colon, ')');
        colon = colon ? colon + 1 : NULL;
    }
    return colon ? strtoul(colon, NULL, 0) : 0;
}

static unsigned long reference_in(const char *line) {
    const char *at = strstr(line, "<0x");
    return at ? strtoul(at + 1, NULL, 16) : 0;
}

/* The offset of "(DW_OP_const8u: 40 0; DW_OP_GNU_push_tls_address)"; -1 for other places. */
static long tls_offset_in(const char *line) {
    const char *at = strstr(line, "DW_OP_const"), *colon = at ? strchr(at, ':') : NULL;
    if (!colon || !strstr(line, "tls_address")) {
        at = strstr(line, "DW_OP_addr: ");
        if (!at || !strstr(line, "tls_address")) return -1;
        return strtol(at + 12, NULL, 16);
    }
    return strtol(colon + 1, NULL, 0);
}

static void read_name(char *name, size_t bytes, const char *line) {
    const char *text = strrchr(line, ':'); /* no name of a variable has a colon in it */
    while (text && (*text == ':' || *text == ' ' || *text == '\t')) ++text;
    if (text && *text == '(') text = strchr(text, ' '); /* "(string) A_s" */
    while (text && *text == ' ') ++text;
    if (text) snprintf(name, bytes, "%.*s", (int)strcspn(text, " \t\n"), text);
}

static void read_bound(const char *line) {
    struct type *type = last_type();
    if (!type || !type->dimensions) return;
    size_t *dimension = &type->dimension[type->dimensions - 1];
    if (strstr(line, "DW_AT_upper_bound")) *dimension = number_after_colon(line) + 1;
    if (strstr(line, "DW_AT_count")) *dimension = number_after_colon(line);
}

static void read_variable(const char *line) {
    struct variable *v = last_variable();
    if (strstr(line, "DW_AT_type ")) v->type = reference_in(line);
    if (strstr(line, "DW_AT_abstract_origin") || strstr(line, "DW_AT_specification"))
        v->origin = reference_in(line);
    if (strstr(line, "DW_AT_name ")) read_name(v->name, sizeof v->name, line);
    if (strstr(line, "DW_AT_linkage_name") && strstr(line, "emulator_dynamic_shared"))
        v->shares_dynamic = true;
    if (strstr(line, "DW_AT_location")) v->offset = tls_offset_in(line);
}

static void read_line(const char *line) {
    if (strstr(line, "Abbrev Number"))
        begin_entry(line);
    else if (reading->entry == TYPE && strstr(line, "DW_AT_type "))
        last_type()->of = reference_in(line);
    else if (reading->entry == SUBRANGE)
        read_bound(line);
    else if (reading->entry == VARIABLE)
        read_variable(line);
}

static void read_debug_information(void) {
    char resolved[512], line[4096];
    char *arguments[] = {"readelf", "--debug-dump=info", "-W", resolved, NULL};
    pid_t pid;
    ssize_t length = readlink("/proc/self/exe", resolved, sizeof resolved - 1);
    if (length <= 0) return;
    resolved[length] = '\0';
    FILE *stream = place_tool_start(arguments, &pid);
    if (!stream) return;
    int units = 0; /* kernel.cu is linked first: only the first unit is of interest */
    while (fgets(line, sizeof line, stream) && units < 2) {
        units += strstr(line, "Compilation Unit @") != NULL;
        if (units < 2) read_line(line);
    }
    place_tool_end(stream, pid);
}

/* --- joining the two -------------------------------------------------------------------------- */

static struct type *type_at(unsigned long at) {
    for (int i = 0; i < reading->type_count; ++i)
        if (reading->types[i].at == at) return &reading->types[i];
    return NULL;
}

/* typedef and const are looked through. */
static struct type *real_type(unsigned long at) {
    struct type *type = type_at(at);
    for (int depth = 0; type && !type->array && !type->reference && type->of && depth < 16; ++depth)
        type = type_at(type->of);
    return type;
}

static void add_dimensions(struct shared_name *name, unsigned long at) {
    struct type *type = real_type(at);
    for (; type && type->array; type = real_type(type->of))
        for (int i = 0; i < type->dimensions && name->dimensions < NAME_DIMENSIONS; ++i)
            name->dimension[name->dimensions++] = type->dimension[i];
    size_t elements = 1;
    for (int i = 0; i < name->dimensions; ++i) elements *= name->dimension[i];
    name->element = elements ? name->bytes / elements : 0;
}

static void complete_from_origin(struct variable *v) {
    for (int i = 0; v->origin && i < reading->variable_count; ++i) {
        const struct variable *origin = &reading->variables[i];
        if (origin->at != v->origin) continue;
        if (!v->name[0]) strcpy(v->name, origin->name);
        if (!v->type) v->type = origin->type;
        if (v->offset < 0) v->offset = origin->offset;
    }
}

/* By its place; where the compiler does not tell that (gcc on aarch64), by its name. */
static bool is_named(const struct shared_name *name, const struct variable *v) {
    if (v->offset >= 0) return name->offset == (size_t)v->offset;
    return v->name[0] && strcmp(name->name, v->name) == 0;
}

static void join_static(const struct variable *v) {
    for (int i = 0; i < name_count; ++i)
        if (!names[i].dimensions && is_named(&names[i], v)) {
            if (v->name[0]) strcpy(names[i].name, v->name);
            add_dimensions(&names[i], v->type);
        }
}

/* Dynamic shared memory is what a reference to an array of unknown bound names, or an array with
 * the runtime's symbol: see ../rewrite.c. */
static void join_dynamic(const struct variable *v) {
    const struct type *type = real_type(v->type);
    if (!v->shares_dynamic && !(type && type->reference)) return;
    if (type && type->reference) type = real_type(type->of);
    if (!type || !type->array || !type->dimensions || type->dimension[0] || !v->name[0]) return;
    if (dynamic_name[0] && strcmp(dynamic_name, v->name) != 0)
        strcpy(dynamic_name, several_names);
    else
        strcpy(dynamic_name, v->name);
}

static int by_offset(const void *a, const void *b) {
    const struct shared_name *x = a, *y = b;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

static void list_names(void) {
    place_symbols(keep_symbol, NULL);
    qsort(names, (size_t)name_count, sizeof *names, by_offset);
}

static void listed(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, list_names);
}

static void read_names(void) {
    listed();
    reading = calloc(1, sizeof *reading);
    if (!reading) return;
    read_debug_information();
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
    return dynamic_name[0] ? dynamic_name : several_names;
}

bool name_any_ends_as(const char *type, struct shared_name *found) {
    int fitting = 0;
    names_needed();
    for (int i = 0; i < name_count; ++i)
        if (name_ends_as(&names[i], type) && !fitting++) *found = names[i];
    if (fitting > 1) found->name[0] = '\0';
    return fitting > 0;
}

bool name_ends_as(const struct shared_name *name, const char *type) {
    size_t wanted[NAME_DIMENSIONS];
    int count = 0;
    for (const char *at = strchr(type, '['); at && count < NAME_DIMENSIONS;
         at = strchr(at + 1, '['))
        wanted[count++] = strtoul(at + 1, NULL, 10);
    if (!count || count > name->dimensions) return false;
    return memcmp(wanted, &name->dimension[name->dimensions - count],
                  (size_t)count * sizeof *wanted) == 0;
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
        intptr_t start = (intptr_t)offset - back * WORD;
        if (start < 0 || !name_find((size_t)start, found)) continue;
        size_t element = found->element ? found->element : WORD;
        start = (intptr_t)offset - back * (intptr_t)element;
        if (start < (intptr_t)found->offset || !name_ends_as(found, type)) continue;
        if (((size_t)start - found->offset) / element % (count * stride) == 0) return true;
    }
    return false;
}
