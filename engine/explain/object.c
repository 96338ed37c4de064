/* Who did it and where, as data and as phrases. */
#define _GNU_SOURCE
#include "object.h"
#include <stdio.h>
#include <string.h>

/* --- phrases ---------------------------------------------------------------------------------- */

static struct phrase coordinates(struct finding_index i, bool three) {
    struct phrase p;
    if (three)
        snprintf(p.text, sizeof p.text, "(%u,%u,%u)", i.x, i.y, i.z);
    else
        snprintf(p.text, sizeof p.text, "(%u,%u)", i.x, i.y);
    return p;
}

struct phrase thread_of(const struct event *e, const struct finding_party *party) {
    return coordinates(party->thread, e->block_size.z > 1);
}

struct phrase block_of(const struct event *e, const struct finding_party *party) {
    return coordinates(party->block, e->grid_size.z > 1);
}

struct phrase at_place(const struct finding_party *party) {
    struct phrase p = {""};
    if (party->line) snprintf(p.text, sizeof p.text, " at %.100s:%d", party->file, party->line);
    return p;
}

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

void party_find(struct finding *f, const struct event *e) {
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
