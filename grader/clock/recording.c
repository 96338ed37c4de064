/* The recording's two halves: a writer, and a reader that trusts nothing. See recording.h. */
#define _GNU_SOURCE
#include "recording.h"
#include "../../engine/report/text/numbers.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

_Static_assert(sizeof(struct step) % 8 == 0 && sizeof(struct pointer) == 16, "no pointer is torn");

/* ---- writing -------------------------------------------------------------------------------- */

struct recording *recording_begin(int file, const struct shape *shape) {
    struct recording *r;
    if (ftruncate(file, sizeof *r) != 0) return NULL;
    r = mmap(NULL, sizeof *r, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (r == MAP_FAILED) return NULL;
    r->shape = *shape;
    r->magic = RECORDING_MAGIC;
    return r;
}

static bool store(struct recording *r, const void *bytes, size_t size, struct stored *stored) {
    const size_t room = round_up(size, sizeof *r->store);
    if (size > RECORDING_STORE || room > RECORDING_STORE - r->used) return false;
    *stored = (struct stored){r->used, (uint32_t)size};
    if (size) memcpy((char *)r->store + r->used, bytes, size);
    r->used += (uint32_t)room;
    return true;
}

bool recording_add(struct recording *r, const struct step *step, const char *name,
                   const struct data *data) {
    if (r->count == RECORDING_STEPS) return false;
    struct step *to = &r->steps[r->count];
    *to = *step;
    if (name && !store(r, name, strlen(name) + 1, &to->name)) return false;
    if (data &&
        (!store(r, data->bytes, data->size, &to->data) ||
         !store(r, data->pointers, data->pointer_count * sizeof *data->pointers, &to->pointers)))
        return false;
    r->count++;
    return true;
}

void recording_stop(struct recording *r, enum state state, const char *reason) {
    strncpy(r->reason, reason, REASON_SIZE - 1);
    r->state = state;
    r->end = RECORDING_STOPPED;
}

/* ---- reading -------------------------------------------------------------------------------- */

static bool is_in_store(const struct stored *stored, uint32_t most) {
    return stored->bytes <= most && stored->at <= RECORDING_STORE - stored->bytes;
}

/* Of a kernel or a variable, as compilers mangle them. */
static bool is_name(const char *name, uint32_t bytes) {
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$.";
    return bytes > 1 && !name[bytes - 1] && strspn(name, allowed) == bytes - 1;
}

/* None over another, and all inside of the data. */
static bool are_pointers_apart(const struct recording *r, const struct step *step) {
    const struct pointer *pointers = step_pointers(r, step);
    uint64_t free_from = 0;
    for (uint32_t i = 0; i < step_pointer_count(step); i++) {
        if (pointers[i].at < free_from || pointers[i].at + UINT64_C(8) > step->data.bytes)
            return false;
        free_from = pointers[i].at + UINT64_C(8);
    }
    return true;
}

/* What is wrong with a step; null: nothing. */
static const char *wrong_with(const struct recording *r, const struct step *step) {
    const bool named =
        step->kind == STEP_VARIABLE || step->kind == STEP_CARVEOUT || step->kind == STEP_LAUNCH;
    if (step->kind >= STEP_KINDS) return "is of no known kind";
    if (named && (!is_in_store(&step->name, RECORDING_NAME) ||
                  !is_name(step_name(r, step), step->name.bytes)))
        return "lacks a name, or has a malformed one";
    if (!is_in_store(&step->data, RECORDING_DATA)) return "has data outside of the store";
    if (!is_in_store(&step->pointers, 2 * RECORDING_DATA) || step->pointers.at % 8)
        return "has pointers outside of the store";
    if (!are_pointers_apart(r, step)) return "has a pointer where there is no room for it";
    return step->value > UINT8_MAX ? "has a value that is too large" : NULL;
}

static bool broken(char reason[REASON_SIZE], const char *why) {
    snprintf(reason, REASON_SIZE, "the recording %s", why);
    return false;
}

bool recording_check(const struct recording *r, size_t size, char reason[REASON_SIZE]) {
    if (size == 0) return broken(reason, "is empty");
    if (size != sizeof *r || r->magic != RECORDING_MAGIC) return broken(reason, "is none");
    if (r->end > RECORDING_STOPPED) return broken(reason, "ends in no known way");
    /* Only what puts a submission at fault may be claimed by a process that it shares. */
    if (r->end == RECORDING_STOPPED && r->state != STATE_REFUSED && r->state != STATE_FAULTED &&
        r->state != STATE_TIME_LIMIT)
        return broken(reason, "stops for no known reason");
    if (r->reason[REASON_SIZE - 1]) return broken(reason, "has a reason without an end");
    if (r->count > RECORDING_STEPS) return broken(reason, "has too many steps");
    for (uint32_t i = 0; i < r->count; i++) {
        const char *wrong = wrong_with(r, &r->steps[i]);
        if (!wrong) continue;
        snprintf(reason, REASON_SIZE, "the recording's step %" PRIu32 " %s", i + 1, wrong);
        return false;
    }
    return true;
}
