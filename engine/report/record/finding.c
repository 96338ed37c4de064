/* The tables of findings.def and slots.def for C; and the slots of a record. */
#include "../../finding.h"
#include "../device.h"
#include "slots.h"
#include <inttypes.h>
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

bool finding_is_race(enum finding_kind kind) {
    return kind == FINDING_SHARED_RACE || kind == FINDING_GLOBAL_RACE;
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

/* --- names and types of slots: see slots.h ---------------------------------------------------- */

static const struct {
    const char *name;
    enum slot_type type;
} slots[SLOTS] = {
#define SLOT(slot, name, type) [SLOT_##slot] = {name, SLOT_TYPE_##type},
#include "slots.def"
#undef SLOT
};

enum slot_type slot_type(enum slot_name name) { return slots[name].type; }

static void json_slot(struct json *json, const struct finding_slot *slot) {
    static const char *const unstored[] = {"", "all", "rows", "columns", "some"};
    static const char *const wrapped[] = {"", "elements", "bytes"};
    const char *name = slots[slot->name].name;
    switch (slots[slot->name].type) {
    case SLOT_TYPE_FLAG: json_value(json, name, "true"); break;
    case SLOT_TYPE_REAL: json_real(json, name, slot_real(slot, slot->name)); break;
    case SLOT_TYPE_UNSTORED: json_text(json, name, unstored[slot->value]); break;
    case SLOT_TYPE_WRAPPED: json_text(json, name, wrapped[slot->value]); break;
    case SLOT_TYPE_FAULT: json_text(json, name, fault_name((enum fault_code)slot->value)); break;
    default: json_value(json, name, "%" PRId64, slot->value);
    }
}

void json_slots(struct json *json, const struct finding_slot slot[FINDING_SLOTS]) {
    json_open(json, "slots", '{');
    for (int i = 0; i < FINDING_SLOTS && slot[i].name != SLOT_NONE; i++) json_slot(json, &slot[i]);
    json_close(json, '}');
}
