/* The tables of findings.def and slots.def for C; and the slots of a record. */
#include "../../finding.h"
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
