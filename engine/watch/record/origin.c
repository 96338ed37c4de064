/* Origins of words: see origin.h. */
#include "origin.h"
#include "../../cuda/program/extents.h"
#include "../machine.h"
#include "../shadow/variables.h"
#include <stdlib.h>

/* Of kernel.cu's variables, which lie in a few arrays. */
enum { OWN = 4 };
static struct {
    uintptr_t begin;
    size_t words;
    origin *of;
} own[OWN];

static origin *origins_new(size_t words) {
    origin *made = calloc(words + 1, sizeof *made);
    if (!made) machine_fault("out of memory while counting");
    return made;
}

static bool is_input(uintptr_t address) {
    const struct region *r = region_find(address);
    return r && region_is_input(r);
}

static origin *place_of(uintptr_t address) {
    const struct region *r = region_find(address);
    if (r) return r->origins ? &r->origins[(address - r->begin) / WORD] : NULL;
    for (int i = 0; i < OWN; ++i) {
        const size_t word = (address - own[i].begin) / WORD;
        if (own[i].of && word < own[i].words) return &own[i].of[word];
    }
    return NULL;
}

/* No worker makes an array while others may look for it. */
void origin_prepare(void) {
    const struct cells *cells;
    uintptr_t begin;
    for (int i = 0; i < OWN && (cells = variables_number(i, &begin)); ++i) {
        if (own[i].of) continue;
        own[i].begin = begin;
        own[i].words = cells->words;
        own[i].of = origins_new(cells->words);
    }
    for (struct region *r = region_first(); r; r = r->next)
        if (!r->origins && !r->freed && !region_is_input(r))
            r->origins = origins_new(r->bytes / WORD);
}

origin origin_of(uintptr_t address) {
    const origin *place = place_of(address);
    if (place) return __atomic_load_n(place, __ATOMIC_RELAXED);
    return is_input(address) ? ORIGIN_INPUT : ORIGIN_HOST;
}

origin origin_set(uintptr_t address, origin now) {
    origin *place = place_of(address);
    return place ? __atomic_exchange_n(place, now, __ATOMIC_RELAXED) : now;
}

void origin_copied(char *to, const char *from, size_t bytes) {
    origin_prepare();
    for (size_t at = 0; at < bytes; at += WORD)
        origin_set((uintptr_t)to + at, from ? origin_of((uintptr_t)from + at) : ORIGIN_HOST);
}
