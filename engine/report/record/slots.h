/* The table of slots.def: what a slot is called, and which values it has. */
#ifndef ENGINE_REPORT_SLOTS_H
#define ENGINE_REPORT_SLOTS_H
#include "../../finding.h"
#include "../text/json.h"

enum slot_type {
    SLOT_TYPE_FLAG,
    SLOT_TYPE_LINE,
    SLOT_TYPE_COUNT,
    SLOT_TYPE_SIZE,
    SLOT_TYPE_INTEGER,
    SLOT_TYPE_REAL,
    SLOT_TYPE_UNSTORED,
    SLOT_TYPE_WRAPPED,
    SLOT_TYPE_FAULT
};

/* Of a name between SLOT_NONE and SLOTS. */
enum slot_type slot_type(enum slot_name name);

/* The member "slots": an object, {"barrier_after": 14, "overwritten": true}. */
void json_slots(struct json *json, const struct finding_slot slot[FINDING_SLOTS]);

#endif
