/* Who did it and where. */
#define _GNU_SOURCE
#include "object.h"
#include <stdio.h>
#include <string.h>

/* --- parties ---------------------------------------------------------------------------------- */

static void set_place(struct finding_party *party, const struct place *place) {
    party->line = place->line;
    if (!place->line) return;
    snprintf(party->file, sizeof party->file, "%.*s", (int)sizeof party->file - 1, place->file);
    snprintf(party->function, sizeof party->function, "%.*s", (int)sizeof party->function - 1,
             place->function);
}

struct finding_party party_at(const struct place *place) {
    struct finding_party party = {.known = true};
    set_place(&party, place);
    return party;
}

static struct finding_index index_of(uint64_t linear, struct uint3 size) {
    if (!size.x || !size.y) return (struct finding_index){0, 0, 0};
    return (struct finding_index){(unsigned)(linear % size.x), (unsigned)(linear / size.x % size.y),
                                  (unsigned)(linear / size.x / size.y)};
}

static struct finding_party party_of(const struct event *e, const void *code, unsigned thread,
                                     uint64_t block, enum finding_access access) {
    struct finding_party party = {.known = true, .in_kernel = e->in_kernel, .access = access};
    party.thread = index_of(thread, e->block_size);
    party.block = index_of(block, e->grid_size);
    if (code) {
        const struct place place = place_before(code);
        set_place(&party, &place);
    }
    return party;
}

static enum finding_access access_of(bool write) { return write ? FINDING_WRITE : FINDING_READ; }

/* Zeros where no block runs that a GPU would take. */
static struct finding_index block_of(const struct event *e) {
    const struct uint3 *size = &e->block_size;
    const uint64_t threads = (uint64_t)size->x * size->y * size->z;
    if (!threads || threads > FINDING_THREADS) return (struct finding_index){0, 0, 0};
    return (struct finding_index){size->x, size->y, size->z};
}

void party_find(struct finding *f, const struct event *e) {
    f->block_size = block_of(e);
    f->grid_size = (struct finding_index){e->grid_size.x, e->grid_size.y, e->grid_size.z};
    f->waiting = e->waiting;
    f->elsewhere = e->elsewhere;
    f->returned = e->returned;
    f->at = party_of(e, e->code, e->thread, e->block,
                     e->size ? access_of(e->write) : FINDING_NO_ACCESS);
    if (e->place.line) set_place(&f->at, &e->place);
    if (e->line) {
        snprintf(f->at.file, sizeof f->at.file, "%s", place_relative(e->file));
        f->at.line = e->line;
    }
    if (e->has_other)
        f->other =
            party_of(e, e->other_code, e->other_thread, e->other_block, access_of(e->other_write));
}

void launch_beside(struct finding_launch *launch, const struct engine_array *output) {
    snprintf(launch->output, sizeof launch->output, "%s", output->name);
    launch->dimensions = output->dimensions;
    memcpy(launch->extent, output->extent, sizeof output->extent);
}
