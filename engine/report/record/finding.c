/* The record of a finding: the tables of findings.def and slots.def for C, its slots, and
 * whether bytes are a record. */
#define _GNU_SOURCE /* strnlen */
#include "../../finding.h"
#include "../device.h"
#include "../text/json.h"
#include "../text/text.h"
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <string.h>

enum { RIGHT_NEVER, RIGHT_MAYBE };

static const struct finding_kind_text texts[FINDING_KINDS] = {
#define FINDING(name, kind, memory, result, cause, headline, hint, meaning)                        \
    [FINDING_##name] = {                                                                           \
        kind, FINDING_MEMORY_##memory, FINDING_CAUSE_##cause, RIGHT_##result, headline, hint},
#include "findings.def"
#undef FINDING
};

const struct finding_kind_text *finding_text(enum finding_kind kind) {
    return (unsigned)kind < FINDING_KINDS && kind != FINDING_NONE ? &texts[kind] : NULL;
}

bool finding_never_ends(enum finding_kind kind) {
    return kind == FINDING_ENDLESS || kind == FINDING_TIME_LIMIT;
}

/* Null: it has no such fact. */
static const struct finding_slot *find(const struct finding_slot slot[FINDING_SLOTS],
                                       enum slot_name name) {
    for (int i = 0; i < FINDING_SLOTS && slot[i].name != SLOT_NONE; i++)
        if (slot[i].name == name) return &slot[i];
    return NULL;
}

void slot_set(struct finding_slot slot[FINDING_SLOTS], enum slot_name name, int64_t value) {
    for (int i = 0; i < FINDING_SLOTS; i++) {
        if (slot[i].name != SLOT_NONE) continue;
        slot[i] = (struct finding_slot){name, value};
        return;
    }
}

void slot_set_real(struct finding_slot slot[FINDING_SLOTS], enum slot_name name, double value) {
    int64_t bits;
    memcpy(&bits, &value, sizeof bits);
    slot_set(slot, name, bits);
}

bool slot_has(const struct finding_slot slot[FINDING_SLOTS], enum slot_name name) {
    return find(slot, name) != NULL;
}

int64_t slot_get(const struct finding_slot slot[FINDING_SLOTS], enum slot_name name) {
    const struct finding_slot *found = find(slot, name);
    return found ? found->value : 0;
}

double slot_real(const struct finding_slot slot[FINDING_SLOTS], enum slot_name name) {
    const int64_t bits = slot_get(slot, name);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

int finding_barrier_after(const struct finding *f) {
    const int after = (int)slot_get(f->slot, SLOT_BARRIER_AFTER);
    const int before = (int)slot_get(f->slot, SLOT_BARRIER_BEFORE);
    return before ? before - 1 : after;
}

/* --- names and types of slots ----------------------------------------------------------------- */

static const struct {
    const char *name;
    enum slot_type type;
} slots[SLOTS] = {
#define SLOT(slot, name, type) [SLOT_##slot] = {name, SLOT_TYPE_##type},
#include "slots.def"
#undef SLOT
};

enum slot_type slot_type(enum slot_name name) { return slots[name].type; }

void json_slots(struct json *json, const struct finding_slot slot[FINDING_SLOTS]) {
    static const char *const unstored[] = {"", "all", "rows", "columns", "some"};
    static const char *const wrapped[] = {"", "elements", "bytes"};
    json_open(json, "slots", '{');
    for (int i = 0; i < FINDING_SLOTS && slot[i].name != SLOT_NONE; i++) {
        const char *name = slots[slot[i].name].name;
        const int64_t value = slot[i].value;
        switch (slots[slot[i].name].type) {
        case SLOT_TYPE_FLAG: json_value(json, name, "true"); break;
        case SLOT_TYPE_REAL: json_real(json, name, slot_real(slot, slot[i].name)); break;
        case SLOT_TYPE_UNSTORED: json_text(json, name, unstored[value]); break;
        case SLOT_TYPE_WRAPPED: json_text(json, name, wrapped[value]); break;
        case SLOT_TYPE_FAULT: json_text(json, name, fault_name((enum fault_code)value)); break;
        default: json_value(json, name, "%" PRId64, value);
        }
    }
    json_close(json, '}');
}

/* --- whether bytes are a record: see finding.h -------------------------------------------------
 *
 * What is said of a record divides by extents, goes through sets of threads and looks into tables,
 * so all of that is within bounds behind this. */

/* Of other characters, or without an end, it is empty. What is behind its end is cleared. */
static void check_text(char *text, size_t bytes, const char *of) {
    const size_t length = strnlen(text, bytes);
    const bool taken = length < bytes && strspn(text, of) == length;
    memset(text + (taken ? length : 0), 0, bytes - (taken ? length : 0));
}
#define CHECK_NAME(name) check_text(name, sizeof(name), characters_of_names)

static void check_place(char file[FINDING_FILE], int32_t *line) {
    check_text(file, FINDING_FILE, characters_of_names);
    if (!file[0] || *line < 0) *line = 0;
}

void finding_text_check(char *text, size_t bytes) {
    check_text(text, bytes, characters_of_conditions);
}

bool record_is_bool(const bool *value) {
    unsigned char byte;
    memcpy(&byte, value, 1);
    return byte <= 1;
}

/* 0 dimensions, or extents whose product is a number; or which are all unknown. */
static bool are_extents(int32_t dimensions, const int64_t extent[FINDING_DIMENSIONS],
                        bool may_be_unknown) {
    int64_t product = 1;
    if (dimensions < 0 || dimensions > FINDING_DIMENSIONS) return false;
    for (int i = 0; i < dimensions; i++) {
        if (may_be_unknown && extent[i] == 0) continue;
        if (extent[i] < 1 || __builtin_mul_overflow(product, extent[i], &product)) return false;
    }
    return true;
}

static bool is_party(struct finding_party *p) {
    if (!record_is_bool(&p->known) || !record_is_bool(&p->in_kernel) ||
        (unsigned)p->access > FINDING_WRITE)
        return false;
    check_place(p->file, &p->line);
    CHECK_NAME(p->function);
    return true;
}

static bool is_object(struct finding_object *o) {
    if ((unsigned)o->form >= OBJECT_FORMS || !record_is_bool(&o->several)) return false;
    if (!are_extents(o->dimensions, o->extent, o->form != OBJECT_ARRAY)) return false;
    if (o->form == OBJECT_ARRAY && !o->dimensions) return false;
    if (o->bytes < 0 || o->element_bytes < 0) return false;
    CHECK_NAME(o->name);
    check_place(o->file, &o->line);
    return true;
}

bool finding_launch_check(struct finding_launch *l) {
    CHECK_NAME(l->kernel);
    CHECK_NAME(l->output);
    check_place(l->file, &l->line);
    const bool is = are_extents(l->dimensions, l->extent, false);
    if (!is) memset(l, 0, sizeof *l);
    return is;
}

/* Of a block of that size; each set within it. */
static bool are_threads(const struct finding *f) {
    const struct threads *sets[] = {&f->waiting, &f->elsewhere, &f->returned};
    const struct finding_index s = f->block_size;
    const uint64_t most = FINDING_THREADS;
    if (s.x > most || s.y > most || s.z > most) return false;
    const uint64_t count = (uint64_t)s.x * s.y * s.z;
    if (count > most || (!count && (s.x || s.y || s.z))) return false;
    for (int i = 0; i < 3; i++)
        for (unsigned bit = (unsigned)count; bit < FINDING_THREADS; bit++)
            if (sets[i]->bits[bit / 64] >> bit % 64 & 1) return false;
    return true;
}

static bool is_value(enum slot_type type, int64_t value) {
    switch (type) {
    case SLOT_TYPE_FLAG: return value == 1;
    case SLOT_TYPE_LINE:
    case SLOT_TYPE_SIZE: return value >= 1 && value <= INT_MAX;
    case SLOT_TYPE_COUNT: return value >= 0;
    case SLOT_TYPE_UNSTORED: return value >= 1 && value < UNSTORED_KINDS;
    case SLOT_TYPE_WRAPPED: return value == WRAPPED_ELEMENTS || value == WRAPPED_BYTES;
    case SLOT_TYPE_FAULT: return value >= 1 && value < FAULTS;
    default: return true; /* any number */
    }
}

/* Each at most once, and nothing behind the last one. */
static bool are_slots(const struct finding_slot slot[FINDING_SLOTS]) {
    bool ended = false, seen[SLOTS] = {false};
    for (int i = 0; i < FINDING_SLOTS; i++) {
        const unsigned name = (unsigned)slot[i].name;
        ended = ended || name == SLOT_NONE;
        if (ended && (name != SLOT_NONE || slot[i].value)) return false;
        if (ended) continue;
        if (name >= SLOTS || seen[name] || !is_value(slot_type(slot[i].name), slot[i].value))
            return false;
        seen[name] = true;
    }
    return true;
}

static bool is_record(struct finding *f) {
    /* A condition that is asserted; or a type as compilers write it, in quotation marks. */
    const bool quotes = slot_get(f->slot, SLOT_FAULT) == FAULT_ASSERTION ||
                        f->kind == FINDING_SHARED_OUT_OF_BOUNDS ||
                        f->kind == FINDING_LOCAL_OUT_OF_BOUNDS;
    if (!finding_text(f->kind) || !is_party(&f->at) || !is_party(&f->other)) return false;
    if (!is_object(&f->object) || !finding_launch_check(&f->launch)) return false;
    if (f->phase < 0 || f->phases < 0 || (f->phase && f->phase >= f->phases)) return false;
    if (!are_threads(f) || !are_slots(f->slot)) return false;
    check_text(f->named, sizeof f->named, quotes ? characters_of_conditions : characters_of_names);
    return true;
}

bool finding_check(struct finding *f) {
    if (is_record(f)) return true;
    memset(f, 0, sizeof *f);
    return false;
}
