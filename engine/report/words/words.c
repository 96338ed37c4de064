/* What a finding says: a function of its record. The sentences are in words.def; here is what is
 * put into them, and what no row can say. */
#define _GNU_SOURCE /* strsignal */
#include "../device.h"
#include "../text/text.h"
#include "threads.h"
#include "vocabulary.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define HAS(name) slot_has(f->slot, SLOT_##name)
#define GET(name) slot_get(f->slot, SLOT_##name)
#define REAL(name) slot_real(f->slot, SLOT_##name)

/* What is put into a sentence. */
struct value {
    char text[sizeof((struct finding_words *)0)->what]; /* empty: there is none */
    int64_t number;
};

__attribute__((format(printf, 2, 3))) static void put(struct value *v, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(v->text, sizeof v->text, format, arguments);
    va_end(arguments);
}

/* --- which element ---------------------------------------------------------------------------- */

static void append_indices(char *text, size_t bytes, const struct finding_object *o) {
    append(text, bytes, "%s", o->name);
    for (int i = 0; i < o->dimensions; i++) append(text, bytes, "[%" PRId64 "]", o->index[i]);
}

/* " at kernel.cu:12"; of a long path the end, which has the file's name. */
static void append_place(char *text, size_t bytes, const char *file, int line) {
    enum { MOST = 150 };
    const size_t length = strlen(file);
    append(text, bytes, " at %s%s:%d", length > MOST ? "..." : "",
           file + (length > MOST ? length - MOST : 0), line);
}

void finding_element(const struct finding *f, char *text, size_t bytes) {
    const struct finding_object *o = &f->object;
    text[0] = '\0';
    switch (o->form) {
    case OBJECT_UNKNOWN:
    case OBJECT_VARIABLE:
    case OBJECT_FORMS: break;
    case OBJECT_ELEMENT:
    case OBJECT_ARRAY:
    case OBJECT_POINTED_TO: append_indices(text, bytes, o); break;
    case OBJECT_PART:
        append(text, bytes, "%s (byte %" PRId64 " of its %s)", o->name, o->byte,
               grouped((uint64_t)o->bytes).text);
        break;
    case OBJECT_DYNAMIC:
        append(text, bytes, "byte %" PRId64 " of dynamic shared memory", o->byte);
        break;
    case OBJECT_SHARED: append(text, bytes, "shared memory"); break;
    case OBJECT_ALLOCATED:
        append(text, bytes, "byte %" PRId64 " of the %s allocated", o->byte,
               grouped((uint64_t)o->bytes).text);
        if (o->line) append_place(text, bytes, o->file, o->line);
        break;
    case OBJECT_ALLOCATION: append(text, bytes, "byte %" PRId64 " of %s", o->byte, o->name); break;
    }
    if (o->several)
        append(text, bytes, " in an allocation of %s bytes", grouped((uint64_t)o->bytes).text);
}

static int64_t elements_of_array(const struct finding *f) {
    int64_t elements = 1;
    for (int i = 0; i < f->object.dimensions; i++) elements *= f->object.extent[i];
    return elements;
}

/* The element of an array whose address it is. */
static void put_element_at_address(struct value *v, const struct finding *f) {
    struct finding_object at = f->object;
    int64_t element = GET(ELEMENT);
    for (int i = at.dimensions; i-- > 0; element /= at.extent[i])
        at.index[i] = element % at.extent[i];
    append_indices(v->text, sizeof v->text, &at);
}

/* "A_s" of A_s[3][7]; "buffers[1]" of buffers[1][3][7]: the rows and columns of the last two
 * dimensions. */
static void put_table(struct value *v, const struct finding *f) {
    struct finding table = {.object = f->object};
    table.object.dimensions = f->object.dimensions > 2 ? f->object.dimensions - 2 : 0;
    finding_element(&table, v->text, sizeof v->text);
}

/* Of which it can be asked whose it is: "C[3][7]". */
static void put_owned(struct value *v, const struct finding *f) {
    const enum finding_object_form form = f->object.form;
    if (form == OBJECT_ELEMENT || form == OBJECT_ARRAY || form == OBJECT_POINTED_TO)
        finding_element(f, v->text, sizeof v->text);
}

/* --- beyond the end --------------------------------------------------------------------------- */

#define OF_ARRAY (f->object.form == OBJECT_ARRAY)
#define REACHES_OUT (GET(ELEMENT) >= 0 && GET(ELEMENT) < elements_of_array(f) && !HAS(LAST_COLUMN))
#define AT_NULL ((uint64_t)GET(ADDRESS) < 4096)
#define FAR_OUT (!AT_NULL && HAS(FAR))
#define OVERFLOWED (HAS(WRAPPED) && (OF_ARRAY ? GET(ELEMENT) < 0 : FAR_OUT))
#define HAS_SIZE (f->object.form == OBJECT_POINTED_TO || f->object.form == OBJECT_ALLOCATION)

static const char *beyond(const struct finding *f) {
    if (GET(ELEMENT) < 0) return "before its beginning";
    if (HAS(LAST_COLUMN)) return "beyond its last column";
    return REACHES_OUT || f->object.dimensions != 2 ? "beyond its end" : "beyond its last row";
}

/* "C has 4 rows and 8 columns" */
static void put_extents(struct value *v, const struct finding_object *o) {
    const int64_t *extent = o->extent;
    if (o->dimensions == 1)
        put(v, "%s has %s element%s", o->name, grouped((uint64_t)extent[0]).text,
            plural((uint64_t)extent[0]));
    else if (o->dimensions == 2)
        put(v, "%s has %s row%s and %s column%s", o->name, grouped((uint64_t)extent[0]).text,
            plural((uint64_t)extent[0]), grouped((uint64_t)extent[1]).text,
            plural((uint64_t)extent[1]));
    else
        put(v, "%s has %" PRId64 " x %" PRId64 " x %" PRId64 " elements", o->name, extent[0],
            extent[1], extent[2]);
}

/* How large an allocation with a name is. */
static void put_size(struct value *v, const struct finding_object *o) {
    const bool whole = o->element_bytes && o->bytes % o->element_bytes == 0;
    const uint64_t count = (uint64_t)(whole ? o->bytes / o->element_bytes : o->bytes);
    put(v, "%s %s%s", grouped(count).text, whole ? "element" : "byte", plural(count));
}

/* 15 of "float [16][17]" */
static void put_last_index(struct value *v, const char *type) {
    long extent = 0;
    const char *open = strchr(type, '[');
    if (open) sscanf(open, "[%9ld", &extent);
    put(v, "%ld", extent - 1);
}

/* A 16-bit index that goes on after 32767 is -32768: as a row, or as an element. */
static void ask_about_short(const struct finding *f, struct finding_words *w) {
    enum { FIRST = -32768 };
    const struct finding_object *o = &f->object;
    if (!OF_ARRAY || GET(ELEMENT) >= 0 || w->hint[0]) return;
    const int64_t rows = o->extent[0], elements = elements_of_array(f), element = GET(ELEMENT);
    const bool as_row = o->dimensions > 1 && rows > -FIRST && element / (elements / rows) >= FIRST;
    const bool as_element = elements > -FIRST && element >= FIRST;
    if (as_row || as_element)
        APPEND(w->hint,
               "is an index of a 16-bit type? After 32,767 a short is -32,768, and %s has %s %s",
               o->name, grouped((uint64_t)(as_row ? rows : elements)).text,
               as_row ? "rows" : "elements");
}

/* --- threads ---------------------------------------------------------------------------------- */

/* "(1,0)": as many coordinates as the block, or the grid, has. */
static void put_coordinates(struct value *v, struct finding_index i, struct finding_index size) {
    put(v, size.z > 1 ? "(%u,%u,%u)" : "(%u,%u)", i.x, i.y, i.z);
}

static void put_threads(struct value *v, const struct finding *f, const struct threads *set) {
    v->number = threads_count(set);
    threads_describe(v->text, sizeof v->text, set, f->block_size);
}

static unsigned block_threads(const struct finding *f) {
    return f->block_size.x * f->block_size.y * f->block_size.z;
}

/* Threads can wait for each other at barriers, and for the lanes of their warp: a thread that has
 * not returned waits at one or the other. */
static void put_threads_in_warps(struct value *v, const struct finding *f) {
    struct threads in_warps = {{0}};
    for (unsigned i = 0; i < block_threads(f); ++i)
        if (!threads_has(&f->waiting, i) && !threads_has(&f->returned, i))
            threads_add(&in_warps, i);
    put_threads(v, f, &in_warps);
}

/* Those that wait elsewhere are the rest of the block. */
static bool others_wait(const struct finding *f) {
    const unsigned there = threads_count(&f->elsewhere);
    return there > 1 && threads_count(&f->waiting) + there == block_threads(f);
}

/* --- the launch and the result ---------------------------------------------------------------- */

static void say_bad_launch(const struct finding *f, struct finding_words *w) {
    struct finding_launch launch = f->launch;
    char text[MESSAGE_SIZE];
    launch.static_bytes = (uint64_t)GET(STATIC_BYTES);
    const char *hint = launch_refusal(&launch, &launch_usual_limits, text);
    if (hint)
        APPEND(w->detail, "%s", text);
    else
        APPEND(w->detail,
               "a block asks for %s bytes of dynamic shared memory, more than "
               "cudaFuncSetAttribute has allowed",
               grouped(f->launch.shared_bytes).text);
    if (!HAS(EXITED))
        APPEND(w->detail, "\n%s%s", HAS(CHECKED) ? vocabulary()->wrapper : "",
               HAS(CHECKED)
                   ? " called cudaGetLastError() and went on"
                   : "the error was not checked: call cudaGetLastError() after the launch");
    APPEND(w->hint, "%s",
           hint ? hint : "set the attribute to at least the third value in <<<...>>>");
}

static int64_t vector_bytes(const struct finding *f) { return HAS(BYTES) ? GET(BYTES) : 16; }

/* Where it is in an array that begins at a multiple of the vector's size: whether it is the row
 * that begins elsewhere, or the column. */
static void say_alignment(const struct finding *f, struct finding_words *w) {
    const int64_t floats = vector_bytes(f) / (int64_t)sizeof(float), cols = GET(ROW_WORDS);
    const char *name = f->object.name;
    if (!cols || !floats || f->object.dimensions < 2) return;
    const int64_t row = GET(WORD) / cols, col = GET(WORD) % cols;
    if (row * cols % floats)
        APPEND(w->detail,
               "\nrow %" PRId64 " of %s begins at element %" PRId64
               ", which is not a multiple of %" PRId64 ": %s has %" PRId64 " column%s",
               row, name, row * cols, floats, name, cols, plural((uint64_t)cols));
    else if (col % floats)
        APPEND(w->detail,
               "\nrow %" PRId64 " of %s begins at a multiple of %" PRId64 ", but column %" PRId64
               " is not one",
               row, name, floats, col);
}

static void put_fault(struct value *v, const struct finding *f) {
    const struct fault_facts fault = {.code = (enum fault_code)GET(FAULT),
                                      .seconds = REAL(SECONDS),
                                      .blocks = (uint64_t)GET(BLOCKS),
                                      .of = (uint64_t)GET(OF),
                                      .signal = (int)GET(SIGNAL),
                                      .assertion = f->named[0] ? f->named : NULL};
    fault_say(&fault, v->text, sizeof v->text);
}

/* Whether they are a whole rectangle, or row: then its sides say which they are. */
static bool is_whole_box(const struct finding *f) {
    const uint64_t rows = (uint64_t)GET(ROW_LAST) - (uint64_t)GET(ROW_FIRST) + 1; /* without: 1 */
    const uint64_t columns = (uint64_t)GET(COLUMN_LAST) - (uint64_t)GET(COLUMN_FIRST) + 1;
    return (uint64_t)GET(COUNT) == rows * columns;
}

/* "row 3", or "rows 3 to 7" */
static void put_range(struct value *v, const char *one, int64_t first, int64_t last) {
    if (first == last)
        put(v, "%s %" PRId64, one, first);
    else
        put(v, "%ss %" PRId64 " to %" PRId64, one, first, last);
}

/* --- keys ------------------------------------------------------------------------------------- */

static const char *const slot_keys[SLOTS] = {
#define SLOT(name, ...) [SLOT_##name] = #name,
#include "../record/slots.def"
#undef SLOT
};

static struct value slot_value(const struct finding *f, enum slot_name slot) {
    struct value v = {.number = slot_get(f->slot, slot)};
    const char *real = slot == SLOT_MAX_ERROR ? "%.0f" : slot == SLOT_RMS_ERROR ? "%.1f" : "%.9g";
    if (slot_type(slot) == SLOT_TYPE_REAL)
        put(&v, real, slot_real(f->slot, slot));
    else
        put(&v, "%" PRId64, v.number);
    return v;
}

#define WRITES (f->at.access == FINDING_WRITE)

static const char *verb(const struct finding_party *party) {
    return party->access == FINDING_WRITE ? "writes" : "reads";
}

/* A key that is no slot's. */
static struct value value_of(const struct finding *f, const char *key, size_t length) {
    const struct finding_index g = f->grid_size, b = f->block_size;
    struct value v = {.number = 0};
#define IS(name) (length == sizeof name - 1 && memcmp(key, name, length) == 0)
    if (IS("at")) put_coordinates(&v, f->at.thread, b);
    if (IS("other")) put_coordinates(&v, f->other.thread, b);
    if (IS("block")) put_coordinates(&v, f->at.block, g);
    if (IS("other block")) put_coordinates(&v, f->other.block, g);
    if (IS("there") && f->other.line)
        append_place(v.text, sizeof v.text, f->other.file, f->other.line);
    if (IS("verb")) put(&v, "%s", verb(&f->at));
    if (IS("other verb")) put(&v, "%s", verb(&f->other));
    if (IS("load")) put(&v, "%s", WRITES ? "store" : "load");
    if (IS("waiting")) put_threads(&v, f, &f->waiting);
    if (IS("elsewhere")) put_threads(&v, f, &f->elsewhere);
    if (IS("returned")) put_threads(&v, f, &f->returned);
    if (IS("in warps")) put_threads_in_warps(&v, f);
    if (IS("name")) put(&v, "%s", f->object.name);
    if (IS("named")) put(&v, "%s", f->named);
    if (IS("element")) finding_element(f, v.text, sizeof v.text);
    if (IS("owned")) put_owned(&v, f);
    if (IS("table")) put_table(&v, f);
    if (IS("row"))
        put(&v, "%s",
            GET(UNSTORED) == UNSTORED_COLUMNS ? "column"
            : f->object.dimensions > 1        ? "row"
                                              : "element");
    if (IS("beyond")) put(&v, "%s", beyond(f));
    if (IS("extents")) put_extents(&v, &f->object);
    if (IS("local array")) put(&v, HAS(ADDRESS) ? "an array" : "a local array");
    if (IS("size")) put_size(&v, &f->object);
    if (IS("at the address")) put_element_at_address(&v, f);
    if (IS("address")) put(&v, "%#" PRIx64, (uint64_t)GET(ADDRESS));
    if (IS("last index")) put_last_index(&v, f->named);
    if (IS("vector")) put(&v, "%" PRId64, vector_bytes(f));
    if (IS("floats")) v.number = GET(DYNAMIC_BYTES) / (int64_t)sizeof(float);
    if (IS("fault")) put_fault(&v, f);
    if (IS("signal")) put(&v, "%s", strsignal((int)GET(SIGNAL)));
    if (IS("error")) put(&v, "%s", cuda_error_text((int)GET(ERROR)));
    if (IS("error name")) put(&v, "%s", cuda_error_name((int)GET(ERROR)));
    if (IS("grid")) put(&v, "%u x %u x %u", g.x, g.y, g.z);
    if (IS("block size")) put(&v, "%u x %u x %u", b.x, b.y, b.z);
    if (IS("phase")) put(&v, "%s", vocabulary()->phase);
    if (IS("output")) put(&v, "%s", f->object.name[0] ? f->object.name : vocabulary()->output);
    if (IS("wrapper")) put(&v, "%s", vocabulary()->wrapper);
    if (IS("how many")) put(&v, "%s", how_many((uint64_t)GET(COUNT), (uint64_t)GET(OF)).text);
    if (IS("rows")) put_range(&v, "row", GET(ROW_FIRST), GET(ROW_LAST));
    if (IS("columns")) put_range(&v, "column", GET(COLUMN_FIRST), GET(COLUMN_LAST));
    if (IS("elements")) put_range(&v, "element", GET(COLUMN_FIRST), GET(COLUMN_LAST));
#undef IS
    return v;
}

/* Appends the value of the key that begins here; returns what follows its closing brace. */
static const char *append_value(char *text, size_t bytes, const struct finding *f,
                                const char *key) {
    const bool is_count = *key == '#';
    key += is_count;
    const char *const end = strchr(key, '}'), *const bar = strchr(key, '|');
    const size_t length = strcspn(key, "?|}");
    int slot = SLOT_NONE + 1;
    while (slot < SLOTS && (strncmp(slot_keys[slot], key, length) || slot_keys[slot][length]))
        slot++;
    const struct value v =
        slot < SLOTS ? slot_value(f, (enum slot_name)slot) : value_of(f, key, length);
    const char *const behind = key + length + 1;
    if (key[length] == '?' && v.number == 1)
        append(text, bytes, "%.*s", (int)(bar - behind), behind);
    else if (key[length] == '?' || (key[length] == '|' && !v.text[0]))
        append(text, bytes, "%.*s", (int)(end - bar - 1), bar + 1);
    else
        append(text, bytes, "%s", is_count ? grouped((uint64_t)v.number).text : v.text);
    return end + 1;
}

static void say_row(char *text, size_t bytes, const struct finding *f, const char *row) {
    while (*row) {
        const size_t plain = strcspn(row, "{");
        append(text, bytes, "%.*s", (int)plain, row);
        row += plain;
        if (*row) row = append_value(text, bytes, f, row + 1);
    }
}

#define IN_KERNEL f->at.in_kernel
#define NO_HINT !w->hint[0]
#define SAME_THREAD (memcmp(&f->at.thread, &f->other.thread, sizeof f->at.thread) == 0)
#define SAME_BLOCK (memcmp(&f->at.block, &f->other.block, sizeof f->at.block) == 0)
#define SAME_LINE (f->at.line == f->other.line && strcmp(f->at.file, f->other.file) == 0)
#define FREES (f->at.access == FINDING_NO_ACCESS)
#define COPY HAS(PENDING_COPY)
#define PLAIN_RACE (!COPY && !HAS(ATOMIC))
#define UNORDERED (!HAS(ATOMIC) && !HAS(SYNCHRONIZES) && !HAS(STORED_AGAIN))
#define OTHER_WRITES (f->other.access == FINDING_WRITE)
#define STORED_ELSEWHERE f->other.known
#define LOCATED (!HAS(EXPLAINED) && GET(OF) != 1)
#define COVERED (!STORED_ELSEWHERE && launch_covers(&f->launch))
#define ROWS_UNSTORED (GET(UNSTORED) == UNSTORED_ROWS || GET(UNSTORED) == UNSTORED_COLUMNS)
#define MAY_BE_FLOATS                                                                              \
    (f->object.form == OBJECT_DYNAMIC ||                                                           \
     f->object.byte == f->object.index[0] * (int64_t)sizeof(float))
#define HAS_ELEMENT value_of(f, "element", 7).text[0]

static void say_rows(const struct finding *f, struct finding_words *w) {
#define WHAT w->what, sizeof w->what
#define DETAIL w->detail, sizeof w->detail
#define HINT w->hint, sizeof w->hint
#define SAY(of, part, when, text)                                                                  \
    if (f->kind == FINDING_##of && (when)) say_row(part, f, text);
#define CALL(of, function)                                                                         \
    if (f->kind == FINDING_##of) function(f, w);
#include "words.def"
#undef SAY
#undef CALL
#undef WHAT
#undef DETAIL
#undef HINT
}

void finding_say(const struct finding *f, struct finding_words *w) {
    const struct finding_kind_text *text = finding_text(f->kind);
    memset(w, 0, sizeof *w);
    if (!text) return;
    say_rows(f, w);
    if (HAS(EXITED))
        APPEND(w->detail, "%s%s then ended the program", w->detail[0] ? "\n" : "",
               vocabulary()->wrapper);
    if (!w->what[0]) APPEND(w->what, "%s", text->headline);
    if (w->hint[0] || HAS(EXPLAINED) || HAS(RETURNS_NOT)) return;
    const bool elsewhere =
        f->kind == FINDING_OUT_OF_BOUNDS && !OF_ARRAY; /* in the wrapper's memory */
    const char *of_lab = elsewhere ? NULL : vocabulary()->hints[f->kind];
    APPEND(w->hint, "%s", of_lab ? of_lab : text->hint);
}

void finding_launch_say(const struct finding_launch *l, char *text, size_t bytes) {
    char words[LAUNCH_TEXT];
    text[0] = '\0';
    if (!l->kernel[0]) return;
    launch_describe(l, words);
    append(text, bytes, "%s", words);
    if (l->of > 1) append(text, bytes, "; launch %" PRIu64 " of %" PRIu64, l->number, l->of);
}
