/* Blocks, barriers and threads, as the runtime tells of them.
 *
 * A barrier opens when all threads that have not returned are there, whichever line they wait at,
 * as on the hardware; if they wait at different lines, that is a mistake. A compiler may make
 * several barriers of one in the source, so places are compared by line. */
#include "watch.h"
#include <stdlib.h>
#include <string.h>

uint32_t block_tile_width;

/* --- beginning -------------------------------------------------------------------------------- */

static struct watch *watches;

const struct watch *block_watch(uint64_t block) {
    const struct watch *w = __atomic_load_n(&watches, __ATOMIC_ACQUIRE);
    while (w && w->block != block) w = w->next;
    return w;
}

static struct watch *attach(void) {
    static const char no_memory[] = "out of memory for watching shared memory";
    extern const char __executable_start[], etext[];
    struct watch *w = aligned_alloc(64, (sizeof *w + 63) / 64 * 64);
    if (etext - __executable_start >= 1 << CODE_BITS)
        host_out_of_memory("the program is too large to be checked: over 16 MB of code");
    if (!w) host_out_of_memory(no_memory);
    memset(w, 0, sizeof *w);
    if (!shared_attach(w)) host_out_of_memory(no_memory);
    observer_worker = w;
    w->next = __atomic_load_n(&watches, __ATOMIC_ACQUIRE);
    while (!__atomic_compare_exchange_n(&watches, &w->next, w, false, __ATOMIC_RELEASE,
                                        __ATOMIC_ACQUIRE))
        continue;
    return w;
}

static void reset_threads(struct watch *w) {
    memset(w->last_a, 0, sizeof w->last_a);
    if (w->any_copied) memset(w->copied_group, 0, sizeof w->copied_group);
    w->any_copied = false;
    if (!block_tile_width) memset(w->phase_a, 0, sizeof w->phase_a);
    if (w->any_synchronised) memset(w->synchronised, 0, sizeof w->synchronised);
    w->any_synchronised = w->block_synchronised = false;
}

static void begin_interval(struct watch *w, record interval) {
    w->interval = interval;
    for (unsigned i = 0; i < w->launch->block_threads; ++i)
        w->thread[i] = interval | (record)i << THREAD_BIT;
    memset(w->arrived, 0, sizeof w->arrived);
}

static void block_begins(const struct launch *launch, uint64_t index) {
    struct watch *w = watch_here();
    if (!w) w = attach();
    w->launch = launch;
    w->block = index;
    w->returned = w->returned_at_barrier = 0;
    w->last_barrier = NULL;
    reset_threads(w);
    begin_interval(w, RECORD_INTERVAL(FIRST_INTERVAL));
    shared_begin_block(w);
    counts_block_begins(w);
}

static void block_ended(void) {
    shared_end_interval(watch_here());
    counts_block_ended(watch_here());
}

static void thread_returned(unsigned linear) {
    struct watch *w = watch_here();
    if (w->bad_index.pending && w->bad_index.thread == linear) shared_give_up_bad_index(w);
    if (!w->returned++) w->first_returned = linear;
    counts_thread_waits(w, linear, true);
}

static void warp_met(unsigned warp, unsigned lanes) {
    struct watch *w = watch_here();
    for (; lanes; lanes &= lanes - 1) {
        record *thread = &w->thread[warp * WARP_SIZE + (unsigned)__builtin_ctz(lanes)];
        if ((*thread & RECORD_MEETINGS_MASK) != RECORD_MEETINGS_MASK)
            *thread += (record)1 << MEETINGS_BIT;
    }
}

/* --- barriers --------------------------------------------------------------------------------- */

/* The place of the instruction before `code`, looked up once. */
static const struct place *place_of_barrier(const void *code) {
    enum { MOST = 64 };
    static struct {
        const void *code;
        struct place place;
    } known[MOST];
    static int count;
    int i = 0;
    while (i < count && known[i].code != code) ++i;
    if (i == count) {
        void *inside = (char *)(uintptr_t)code - 1;
        if (count == MOST) count = i = 0;
        known[i].code = code;
        known[i].place = place_find(&inside, 1);
        count++;
    }
    return &known[i].place;
}

static bool same_line(const void *a, const void *b) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    const struct place first = *place_of_barrier(a), *second = place_of_barrier(b);
    bool same = first.line && first.line == second->line && strcmp(first.file, second->file) == 0;
    pthread_mutex_unlock(&lock);
    return same;
}

static void barrier_reached(const void *code) {
    struct watch *w = watch_here();
    unsigned linear = running_index.linear;
    if (w->bad_index.pending && w->bad_index.thread == linear) shared_give_up_bad_index(w);
    counts_thread_waits(w, linear, false);
    struct arrivals *place = w->arrived;
    if (place->count && place->code != code && !same_line(place->code, code)) place++;
    if (!place->count++) {
        place->code = code;
        place->first_thread = linear;
    }
}

/* The barrier where fewer wait comes first: it is the one that not all can reach. */
static void tell_divergence(struct watch *w) {
    const struct arrivals *few = &w->arrived[0], *many = &w->arrived[1];
    if (few->count > many->count) few = &w->arrived[1], many = &w->arrived[0];
    const struct access access = {.code = few->code};
    struct event event = event_here(w, FINDING_DIVERGENT_BARRIER, &access);
    event.thread = few->first_thread;
    event.has_other = true;
    event.other_code = many->code;
    event.other_thread = many->first_thread;
    event.other_block = w->block;
    event.waiting = few->count;
    event.elsewhere = many->count;
    event_note(&event);
}

/* From one phase to the next each thread reads A further to the right, by the width of a tile. */
static void learn_tile_width(struct watch *w) {
    const struct region *a = global_named("A");
    if (block_tile_width || !a || a->cols <= 0) return;
    const uint32_t cols = (uint32_t)a->cols;
    for (unsigned i = 0; i < w->launch->block_threads; ++i) {
        uint32_t before = w->phase_a[i], now = w->last_a[i];
        w->phase_a[i] = now;
        if (before && (now - 1) % cols > (before - 1) % cols && !block_tile_width)
            block_tile_width = (now - 1) % cols - (before - 1) % cols;
    }
}

/* The numbers have run out (after 262,142 barriers in one block): all is long ago. */
static void restart_intervals(struct watch *w) {
    for (size_t i = 0; i < w->all_words; ++i) {
        record write = w->shadow[i].write;
        if (write < RECORD_COMING) w->shadow[i] = (struct shared_word){.write = RECORD_BEFORE};
    }
    w->interval = RECORD_INTERVAL(FIRST_INTERVAL - 1);
}

static void barrier_opens(void) {
    struct watch *w = watch_here();
    shared_end_interval(w);
    counts_interval_ends(w);
    if (w->arrived[1].count) tell_divergence(w);
    learn_tile_width(w);
    w->last_barrier = w->arrived[0].code;
    w->returned_at_barrier = w->returned;
    if (w->any_synchronised) {
        memset(w->synchronised, 0, sizeof w->synchronised);
        w->any_synchronised = false;
    }
    if (w->interval == RECORD_INTERVAL(LAST_INTERVAL)) restart_intervals(w);
    begin_interval(w, w->interval + RECORD_INTERVAL(1));
}

/* --- who is asked ----------------------------------------------------------------------------- */

static void launch_begins(const struct launch *launch) {
    (void)launch;
    global_begin_launch();
}

__attribute__((constructor)) static void watch_everything(void) {
    static struct observer all;
    all.launch_begins = launch_begins;
    all.block_begins = block_begins;
    all.block_ended = block_ended;
    all.barrier_reached = barrier_reached;
    all.barrier_opens = barrier_opens;
    all.thread_returned = thread_returned;
    all.warp_met = warp_met;
    all.copy_begins = copies_begin;
    all.copy_arrived = copies_arrived;
    all.allocated = global_allocated;
    all.freed = global_freed;
    all.copied = global_copied;
    host_install(&all);
    observer = &all;
}
