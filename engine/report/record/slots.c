/* Slots by their names: see slots.h. */
#include "slots.h"
#include "../fault.h"
#include <inttypes.h>

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
