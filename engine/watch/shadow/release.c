/* Releases by address: see shadow.h. */
#include "shadow.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { ARENA_BYTES = 1 << 16, BUCKETS = 1 << 12, MOST_LINKS = 64 };

/* A release as it is kept: with steps only of the lanes of which anything is known. */
struct kept_release {
    struct kept_release *next, *next_with_refs;
    const struct sync *sync;
    uint64_t number; /* of those at its address, from 1 */
    struct refs refs;
    struct release made;
    unsigned lanes; /* a bit for each that has steps below */
    struct lane_steps steps[];
};

struct sync {
    struct sync *next;
    uintptr_t address;
    uint64_t shared_of;
    uint64_t count;               /* of releases */
    struct kept_release *chained; /* those with references */
    uint64_t asked, asked_count;  /* the last query that came by, and with which count */
};

/* Of the running launch. */
struct tables {
    struct sync *syncs[BUCKETS];            /* by their addresses */
    struct kept_release *releases[BUCKETS]; /* by address and block */
};

static struct {
    pthread_mutex_t lock;
    struct arena {
        struct arena *next;
        size_t used, bytes;
        char memory[];
    } * arena;
    struct tables *tables; /* null: nothing has been released */
    uint64_t queries;
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* --- memory ----------------------------------------------------------------------------------- */

static void *arena_take(size_t bytes) {
    bytes = (bytes + 15) / 16 * 16;
    if (!all.arena || all.arena->bytes - all.arena->used < bytes) {
        const size_t room = bytes > ARENA_BYTES ? bytes : ARENA_BYTES;
        struct arena *arena = malloc(sizeof *arena + room);
        if (!arena) return NULL;
        *arena = (struct arena){.next = all.arena, .bytes = room};
        all.arena = arena;
    }
    void *taken = all.arena->memory + all.arena->used;
    all.arena->used += bytes;
    return memset(taken, 0, bytes);
}

void *release_memory(size_t bytes) {
    pthread_mutex_lock(&all.lock);
    void *taken = arena_take(bytes);
    pthread_mutex_unlock(&all.lock);
    return taken;
}

void release_begin_launch(void) {
    while (all.arena) {
        struct arena *next = all.arena->next;
        free(all.arena);
        all.arena = next;
    }
    __atomic_store_n(&all.tables, NULL, __ATOMIC_RELAXED);
}

/* --- addresses -------------------------------------------------------------------------------- */

static size_t hash(uint64_t a, uint64_t b) {
    return (size_t)(((a ^ b * 0x9E3779B97F4A7C15u) * 0x9E3779B97F4A7C15u) >> 32) & (BUCKETS - 1);
}

/* Null: nothing has been released there. There are tables. */
static struct sync *find_sync(uintptr_t address, uint64_t shared_of) {
    struct sync *s = all.tables->syncs[hash(address, shared_of)];
    while (s && (s->address != address || s->shared_of != shared_of)) s = s->next;
    return s;
}

static struct sync *make_sync(uintptr_t address, uint64_t shared_of) {
    if (!all.tables)
        __atomic_store_n(&all.tables, arena_take(sizeof *all.tables), __ATOMIC_RELAXED);
    struct sync *s = all.tables ? find_sync(address, shared_of) : NULL;
    if (s || !all.tables || !(s = arena_take(sizeof *s))) return s;
    struct sync **bucket = &all.tables->syncs[hash(address, shared_of)];
    *s = (struct sync){.next = *bucket, .address = address, .shared_of = shared_of};
    return *bucket = s;
}

/* --- releasing -------------------------------------------------------------------------------- */

static struct kept_release **releases_of(const struct sync *s, uint64_t block) {
    return &all.tables->releases[hash(s->address, block)];
}

static struct kept_release *keep_release(const struct release *made,
                                         const struct lane_steps lane[WARP_SIZE]) {
    unsigned lanes = 0;
    for (unsigned i = 0; i < WARP_SIZE; ++i)
        if (lane[i].block || lane[i].device) lanes |= 1u << i;
    struct kept_release *kept =
        arena_take(sizeof *kept + (size_t)__builtin_popcount(lanes) * sizeof *kept->steps);
    if (!kept) return NULL;
    kept->made = *made;
    kept->lanes = lanes;
    for (unsigned i = 0, n = 0; i < WARP_SIZE; ++i)
        if (lanes >> i & 1) kept->steps[n++] = lane[i];
    return kept;
}

static void keep_refs(struct kept_release *kept, const struct refs *refs) {
    struct ref *more = arena_take((kept->refs.count + refs->count) * sizeof *more);
    if (!more) return;
    if (kept->refs.count) memcpy(more, kept->refs.ref, kept->refs.count * sizeof *more);
    memcpy(more + kept->refs.count, refs->ref, refs->count * sizeof *more);
    kept->refs.ref = more;
    kept->refs.count += refs->count;
}

/* Out of memory: as if nothing had been released, which may bring a finding, and hides none. */
void release_add(uintptr_t address, uint64_t shared_of, const struct release *release,
                 const struct lane_steps lane[WARP_SIZE], const struct refs *const refs[2]) {
    pthread_mutex_lock(&all.lock);
    struct sync *s = make_sync(address, shared_of);
    struct kept_release *kept = s ? keep_release(release, lane) : NULL;
    if (kept) {
        struct kept_release **bucket = releases_of(s, release->block);
        kept->next = *bucket;
        *bucket = kept;
        kept->sync = s;
        kept->number = ++s->count;
        for (int i = 0; i < 2; ++i)
            if (refs[i]->count) keep_refs(kept, refs[i]);
        if (kept->refs.count) {
            kept->next_with_refs = s->chained;
            s->chained = kept;
        }
    }
    pthread_mutex_unlock(&all.lock);
}

/* --- acquiring -------------------------------------------------------------------------------- */

static void refs_put(struct refs *refs, const struct ref *ref) {
    for (unsigned i = 0; i < refs->count; ++i)
        if (refs->ref[i].sync == ref->sync) {
            if (refs->ref[i].count < ref->count) refs->ref[i].count = ref->count;
            return;
        }
    if (refs->count == refs->room) {
        const unsigned room = refs->room ? 2 * refs->room : 4;
        struct ref *more = realloc(refs->ref, room * sizeof *more);
        if (!more) return;
        refs->ref = more;
        refs->room = room;
    }
    refs->ref[refs->count++] = *ref;
}

void refs_add(struct refs *to, const struct refs *from) {
    for (unsigned i = 0; i < from->count; ++i) refs_put(to, &from->ref[i]);
}

void release_acquire(struct refs *refs, uintptr_t address, uint64_t shared_of) {
    if (!__atomic_load_n(&all.tables, __ATOMIC_RELAXED)) return;
    pthread_mutex_lock(&all.lock);
    struct sync *s = find_sync(address, shared_of);
    if (s) refs_put(refs, &(struct ref){s, s->count});
    pthread_mutex_unlock(&all.lock);
}

static bool covers(const struct kept_release *k, const struct query *q) {
    const struct release *r = &k->made;
    const struct stamp *s = q->access;
    const unsigned thread = epoch_thread(s->when);
    const unsigned lane = thread - r->thread / WARP_SIZE * WARP_SIZE;
    const uint32_t step = stamp_step(s);
    const epoch interval = s->when >> INTERVAL_BIT << INTERVAL_BIT;
    if (r->block != stamp_block(s)) return false;
    if (r->all_before && interval < r->interval) return true;
    for (unsigned i = 0; i < r->run_count; ++i)
        if (thread >= r->runs[i].first && thread <= r->runs[i].last)
            if (moment_of(interval, step) < r->runs[i].before) return true;
    if (interval != r->interval || lane >= WARP_SIZE || !(k->lanes >> lane & 1)) return false;
    const struct lane_steps *known = &k->steps[__builtin_popcount(k->lanes & ((1u << lane) - 1))];
    return step < (q->block == r->block ? known->block : known->device);
}

static bool is_releasing(const struct release *r, const struct stamp *s) {
    return r->block == stamp_block(s) && r->thread == epoch_thread(s->when) &&
           moment_of(s->when, stamp_step(s)) <= moment_of(r->interval, r->step);
}

/* From release to release; `links` is how many may follow, because each takes some of the stack. */
static bool reaches(const struct ref *ref, const struct query *q, int links,
                    const struct kept_release **by) {
    struct sync *s = ref->sync;
    if (s->asked == all.queries && s->asked_count >= ref->count) return false;
    s->asked = all.queries;
    s->asked_count = ref->count;
    for (struct kept_release *k = *releases_of(s, stamp_block(q->access)); k; k = k->next)
        if (k->sync == s && k->number <= ref->count &&
            (covers(k, q) || (s->address == q->released_at && is_releasing(&k->made, q->access)))) {
            *by = k;
            return true;
        }
    for (struct kept_release *k = links ? s->chained : NULL; k; k = k->next_with_refs)
        for (unsigned i = 0; k->number <= ref->count && i < k->refs.count; ++i)
            if (reaches(&k->refs.ref[i], q, links - 1, by)) return true;
    return false;
}

bool refs_cover(struct refs *refs, const struct query *query) {
    bool found = false;
    if (!refs->count) return false;
    if (refs->last && covers(refs->last, query)) return true; /* it does not change */
    pthread_mutex_lock(&all.lock);
    all.queries++;
    for (unsigned i = 0; i < refs->count && !found; ++i)
        found = reaches(&refs->ref[i], query, MOST_LINKS, &refs->last);
    pthread_mutex_unlock(&all.lock);
    return found;
}
