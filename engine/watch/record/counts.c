/* Counting: what the kernels' loads and stores would cost a GPU.
 *
 * A GPU's warp makes one request of what its 32 threads load at one instruction. Here the threads
 * run one after the other, so requests are put together afterwards: the nth time that each thread
 * of a warp comes by an instruction since the last barrier makes one request. A thread that runs
 * too far ahead of its warp is stopped until the others have come as far, so what is kept is
 * bounded (HELD_REQUESTS a warp).
 *
 * Each worker counts for itself, by instruction; the sums are made when the launch has ended, so
 * they do not depend on how many workers there were. */
#include "../detector.h"
#include "../launches.h"
#include "../machine.h"
#include "../shadow/shadow.h"
#include "record.h"
#include <stdlib.h>
#include <string.h>

void emulator_spin(void); /* block.c's; the other threads have a turn */

enum {
    HELD_REQUESTS = 1024, /* that a warp may have begun: 256 KB */
    MAX_WARPS = MAX_BLOCK_THREADS / WARP_SIZE,
    PLACE_BIT = 56, /* of a held request: above every address */
    SITE_BUCKETS = 1024,
    LOOKED_UP = 24 /* instructions of a launch whose lines are asked for */
};

/* The requests of one warp at one instruction since the last barrier. A lane takes part in so many
 * of them, from the first one on, as it came by. */
struct held {
    uintptr_t (*requests)[WARP_SIZE]; /* where each lane loads or stores, and in which place */
    uint32_t count, room;
};

/* One that is finished. */
struct request {
    uint32_t lanes;
    unsigned size; /* of each lane's access */
    const uintptr_t *address;
};

/* An instruction, as one worker knows it: one call of a copying function loads and stores, and in
 * steps of several sizes. */
struct site {
    struct site *next, *next_in_bucket; /* of all sites; of those with such a key */
    uintptr_t key;
    const void *code;
    unsigned size;
    enum counted_way way;
    bool touched;                      /* since the last barrier */
    struct counted of[COUNTED_PLACES]; /* finished requests */
    uint32_t times[MAX_BLOCK_THREADS]; /* that each thread came by */
    struct held held[MAX_WARPS];
};

struct counts {
    struct site *sites, *bucket[SITE_BUCKETS];
    uint32_t *loaded_by[ENGINE_ARRAYS]; /* of each element of an input: the block that loaded it
                                           last, by number; null: it is none */
    uint32_t held[MAX_WARPS];
    uint32_t block_number; /* from 1 on */
    int launch;            /* of that block: so many came before */
    unsigned threads;      /* the most that a block has had */
    struct {
        uint64_t loads, needed; /* of global memory */
        uint64_t barriers;
        bool stores;
    } block;
    struct counted_launch part; /* of the running launch, but for `of`, which sites have */
    struct reuse_origins origins;
};

static bool costs; /* sectors, conflicts, lines, and all of shared memory */
static struct counted_launch *counted_launches;
static int launch_count;

int counts_launches(const struct counted_launch **first) {
    *first = counted_launches;
    return launch_count;
}

/* Apart, so that what looks one up saves no registers for it. */
static __attribute__((noinline)) struct site *new_site(struct counts *c, struct site **bucket) {
    struct site *site = machine_memory(calloc(1, sizeof *site));
    site->next = c->sites;
    site->next_in_bucket = *bucket;
    return c->sites = *bucket = site;
}

static struct site *site_at(struct counts *c, const void *code, unsigned size,
                            enum counted_way way) {
    const uintptr_t key = ((uintptr_t)code * COUNTED_WAYS + way) * SECTOR + size;
    const size_t hash = (key * UINT64_C(0x9e3779b97f4a7c15)) >> 32 & (SITE_BUCKETS - 1);
    struct site *site = c->bucket[hash];
    while (site && site->key != key) site = site->next_in_bucket;
    if (site) return site;
    site = new_site(c, &c->bucket[hash]);
    site->key = key;
    site->code = code;
    site->size = size;
    site->way = way;
    return site;
}

/* --- finished requests: shared memory --------------------------------------------------------- */

/* Passes of `lanes`, which do theirs together. */
static unsigned passes_of(const struct request *r, uint32_t lanes, uint32_t *words) {
    uint32_t wanted[2 * WARP_SIZE][BANKS]; /* words of each bank, so many: */
    unsigned most = 0, count[BANKS] = {0};
    for (; lanes; lanes &= lanes - 1) {
        const uintptr_t address = r->address[__builtin_ctz(lanes)];
        for (uintptr_t word = address / WORD; word <= (address + r->size - 1) / WORD; ++word) {
            const unsigned bank = word % BANKS;
            unsigned i = 0;
            while (i < count[bank] && wanted[i][bank] != (uint32_t)word) ++i;
            if (i < count[bank]) continue;
            wanted[i][bank] = (uint32_t)word;
            ++*words;
            if (++count[bank] > most) most = count[bank];
        }
    }
    return most;
}

/* A pass reads one word of each bank, for all lanes that want it. So accesses of 4 bytes or less
 * are done for all 32 lanes at once, those of 8 for half of them and those of 16 for a quarter. */
static void finish_shared(struct counted *sum, const struct request *r, bool atomic) {
    const unsigned lanes = r->size <= WORD ? WARP_SIZE : WARP_SIZE * WORD / r->size;
    uint32_t words = 0;
    const uint32_t together = lanes == WARP_SIZE ? ~0u : (UINT32_C(1) << lanes) - 1;
    for (unsigned first = 0; first < WARP_SIZE; first += lanes) {
        unsigned passes = passes_of(r, r->lanes & together << first, &words);
        if (atomic || !passes) continue;
        sum->conflicts += passes - 1;
        if (passes > sum->worst) sum->worst = passes;
    }
    sum->bytes += r->size < WORD ? words * r->size : words * WORD;
}

/* --- finished requests: global memory --------------------------------------------------------- */

static void count_sectors(struct counted *sum, const struct request *r) {
    struct {
        uintptr_t number;
        uint32_t bytes; /* that are asked for */
    } sector[WARP_SIZE];
    unsigned count = 0;
    for (uint32_t left = r->lanes; left; left &= left - 1) {
        uintptr_t address = r->address[__builtin_ctz(left)], number = address / SECTOR;
        uint32_t bytes = (uint32_t)((UINT64_C(1) << r->size) - 1) << address % SECTOR;
        unsigned i = count;
        while (i > 0 && sector[i - 1].number != number) --i; /* the last one is the likeliest */
        if (!i) {
            sector[count].number = number;
            sector[count].bytes = 0;
            i = ++count;
        }
        sector[i - 1].bytes |= bytes;
    }
    sum->sectors += count;
    for (unsigned i = 0; i < count; ++i)
        sum->bytes += (unsigned)__builtin_popcount(sector[i].bytes);
}

/* Elements of an input that this block has not loaded before. */
static void note_needed(struct counts *c, int array, const struct request *r) {
    uint32_t *loaded_by = c->loaded_by[array];
    if (!loaded_by) return;
    const struct region *region = region_of_array(array);
    const size_t element = array_element_bytes(region->array);
    for (uint32_t left = r->lanes; left; left &= left - 1) {
        const size_t offset = r->address[__builtin_ctz(left)] - region->begin;
        const size_t end = offset + r->size < region->bytes ? offset + r->size : region->bytes;
        for (size_t i = offset / element; i * element < end; ++i) {
            c->block.needed += loaded_by[i] != c->block_number;
            loaded_by[i] = c->block_number;
        }
    }
}

/* --- finished requests: both ------------------------------------------------------------------ */

static bool comes_from_host(const struct access *access) {
    for (unsigned at = 0; at < access->size; at += WORD)
        if (origin_of(access->address + at) != ORIGIN_HOST) return false;
    return true;
}

static int place_of(const struct watch *w, const struct access *access, enum counted_way way) {
    if (watch_is_shared(w, access->address)) return COUNTED_SHARED;
    const struct region *r = region_find(access->address);
    if (r && r->array && !r->freed) return r->number;
    return way == COUNTED_LOADS && comes_from_host(access) ? COUNTED_CONSTANTS : COUNTED_OTHER;
}

/* Of all but the inputs: which launches the words come from that are loaded, and that those which
 * are stored come from this one. A store to a part of a word leaves it what is in the rest. */
static void note_origins(struct counts *c, const struct access *access, int place,
                         enum counted_way way) {
    if (place == COUNTED_SHARED || (place < COUNTED_OTHER && c->loaded_by[place])) return;
    const origin now = reuse_running();
    for (unsigned at = 0; at < access->size; at += WORD) {
        const uintptr_t address = access->address + at;
        const origin before = way == COUNTED_LOADS ? origin_of(address) : origin_set(address, now);
        if (way != COUNTED_STORES || access->size < WORD) c->origins.loads[before]++;
        if (way != COUNTED_LOADS) c->origins.output += before != now && place < COUNTED_OTHER;
    }
}

static void finish_in(struct watch *w, struct site *site, const struct request *r, int place) {
    struct counts *c = w->counts;
    struct counted *sum = &site->of[place];
    const enum counted_way way = site->way;
    const unsigned lanes = (unsigned)__builtin_popcount(r->lanes);
    const size_t element = place < COUNTED_OTHER ? array_element_bytes(region_array(place)) : WORD;
    const unsigned elements = lanes * (r->size < element ? 1 : (unsigned)(r->size / element));
    sum->requests++;
    sum->elements += elements;
    if (place == COUNTED_SHARED) {
        finish_shared(sum, r, way == COUNTED_ATOMICS);
        return;
    }
    if (costs) count_sectors(sum, r);
    if (way != COUNTED_STORES && place != COUNTED_CONSTANTS) c->block.loads += elements;
    if (way != COUNTED_LOADS) c->block.stores = true;
    if (way == COUNTED_LOADS && place < COUNTED_OTHER) note_needed(c, place, r);
}

/* A request whose lanes go to several places counts as one at each. */
static void finish(struct watch *w, struct site *site, uint32_t lanes, const uintptr_t *held) {
    uintptr_t address[WARP_SIZE];
    for (unsigned lane = 0; lane < WARP_SIZE; ++lane)
        address[lane] = held[lane] & ((UINT64_C(1) << PLACE_BIT) - 1);
    while (lanes) {
        const uintptr_t place = held[__builtin_ctz(lanes)] >> PLACE_BIT;
        struct request part = {.size = site->size, .address = address};
        for (uint32_t left = lanes; left; left &= left - 1)
            if (held[__builtin_ctz(left)] >> PLACE_BIT == place) part.lanes |= left & -left;
        finish_in(w, site, &part, (int)place);
        lanes &= ~part.lanes;
    }
}

/* The lanes that came by more than `time` times; they are the same until *until. */
static uint32_t lanes_at(const uint32_t *times, uint32_t time, uint32_t *until) {
    uint32_t lanes = 0;
    *until = UINT32_MAX;
    for (unsigned lane = 0; lane < WARP_SIZE; ++lane) {
        if (times[lane] <= time) continue;
        lanes |= UINT32_C(1) << lane;
        if (times[lane] < *until) *until = times[lane];
    }
    return lanes;
}

/* All requests of a warp at one instruction. */
static void finish_held(struct watch *w, struct site *site, unsigned warp) {
    struct held *held = &site->held[warp];
    uint32_t *times = &site->times[warp * WARP_SIZE];
    uint32_t lanes = 0, unchanged = 0; /* so many requests have the same lanes */
    for (uint32_t i = 0; i < held->count; ++i) {
        if (i == unchanged) lanes = lanes_at(times, i, &unchanged);
        finish(w, site, lanes, held->requests[i]);
    }
    w->counts->held[warp] -= held->count;
    held->count = 0;
    memset(times, 0, WARP_SIZE * sizeof *times);
}

static void finish_warp(struct watch *w, unsigned warp) {
    for (struct site *s = w->counts->sites; s && w->counts->held[warp]; s = s->next)
        if (s->touched) finish_held(w, s, warp);
}

static void finish_all(struct watch *w) {
    for (unsigned warp = 0; warp < MAX_WARPS; ++warp) finish_warp(w, warp);
    for (struct site *s = w->counts->sites; s; s = s->next) s->touched = false;
}

/* --- accesses --------------------------------------------------------------------------------- */

/* It would begin one request more than may be held. */
static bool is_far_ahead(const struct counts *c, const struct site *site, unsigned thread) {
    unsigned warp = thread / WARP_SIZE;
    return site->times[thread] == site->held[warp].count && c->held[warp] >= HELD_REQUESTS;
}

/* The running thread is far ahead of its warp: it lets the others come up with it. If they do not
 * (they may wait for it), what they do later is a separate request, as on a GPU. */
static __attribute__((noinline)) void wait_for_warp(struct watch *w, const struct site *site,
                                                    unsigned thread) {
    emulator_spin();
    if (is_far_ahead(w->counts, site, thread)) finish_warp(w, thread / WARP_SIZE);
}

/* Of what did not come by the short path. */
static void count_exchange(struct watch *w, const struct access *access) {
    const size_t last = watch_word(w, access->address + access->size - 1);
    for (size_t i = watch_word(w, access->address); i <= last && i < w->all_words; ++i)
        (access->write ? exchange_stores : exchange_reads)(&w->exchange, i, running_index.linear);
}

static void count_received(struct watch *w, const struct access *access) {
    const unsigned lane = worker_lane_of((const void *)access->address);
    if (lane < WARP_SIZE && lane != running_index.linear % WARP_SIZE) w->exchange.read++;
}

static void count_access(struct watch *w, const struct access *access) {
    struct counts *c = w->counts;
    const bool shared = watch_is_shared(w, access->address);
    if (shared) count_exchange(w, access);
    if (shared && !costs) return;
    unsigned thread = running_index.linear, warp = thread / WARP_SIZE, lane = thread % WARP_SIZE;
    const enum counted_way way = access->atomic  ? COUNTED_ATOMICS
                                 : access->write ? COUNTED_STORES
                                                 : COUNTED_LOADS;
    struct site *site = site_at(c, access->code, access->size, way);
    site->touched = true;
    struct held *held = &site->held[warp];
    if (is_far_ahead(c, site, thread)) wait_for_warp(w, site, thread);
    const int place = place_of(w, access, way);
    note_origins(c, access, place, way);
    uint32_t time = site->times[thread]++;
    if (time == held->count) {
        if (held->count == held->room) {
            held->room = held->room ? 2 * held->room : 16;
            held->requests =
                machine_memory(realloc(held->requests, held->room * sizeof *held->requests));
        }
        held->count++;
        c->held[warp]++;
    }
    held->requests[time][lane] = access->address | (uintptr_t)place << PLACE_BIT;
}

/* --- blocks and barriers ---------------------------------------------------------------------- */

static struct counts *attach_counts(struct watch *w) {
    struct counts *c = machine_memory(calloc(1, sizeof *c));
    w->exchange.stored_by = machine_memory(calloc(w->all_words, sizeof *w->exchange.stored_by));
    for (int i = 0; i < ENGINE_ARRAYS; ++i) {
        const struct region *r = region_of_array(i);
        if (r && region_is_input(r))
            c->loaded_by[i] =
                machine_memory(calloc(array_elements(r->array), sizeof *c->loaded_by[i]));
    }
    return c;
}

/* What comes of loads that are not counted, those of a block that stores nothing or of a launch
 * that C does not come from, is not handed on by way of stacks. */
static void renew_stacks(struct watch *w) {
    struct counts *c = w->counts;
    if (c->block_number && (!c->block.stores || c->launch != launch_count))
        watch_renew_stacks(w, c->threads);
    c->launch = launch_count;
    if (c->threads < w->launch->block_threads) c->threads = w->launch->block_threads;
}

static void counts_block_comes(struct watch *w) {
    w->slow |= costs ? SLOW_RECORDER : SLOW_GLOBAL_RECORDER;
    if (!w->counts) w->counts = attach_counts(w);
    renew_stacks(w);
    w->counts->block_number++;
    w->exchange.block = w->counts->block_number << EXCHANGE_THREAD_BITS;
    w->exchange.read = 0;
    memset(&w->counts->block, 0, sizeof w->counts->block);
}

static uint32_t lanes_of(const struct threads *set, unsigned warp) {
    return (uint32_t)(set->bits[warp / 2] >> warp % 2 * WARP_SIZE);
}

/* Once all of a warp have come to the barrier, or returned, its requests are finished, while the
 * processor has them at hand. */
static void counts_thread_waits(struct watch *w, unsigned thread, bool returned) {
    const unsigned warp = thread / WARP_SIZE, left = w->launch->block_threads - warp * WARP_SIZE;
    const uint32_t all = left < WARP_SIZE ? (UINT32_C(1) << left) - 1 : ~UINT32_C(0);
    uint32_t come = UINT32_C(1) << thread % WARP_SIZE | lanes_of(&w->epochs.returned, warp);
    (void)returned;
    for (int i = 0; i < BARRIER_PLACES; ++i) come |= lanes_of(&w->arrived[i].threads, warp);
    if (come == all) finish_warp(w, warp);
}

static void counts_barrier_opens(struct watch *w) {
    finish_all(w);
    w->counts->block.barriers++;
}

static void counts_block_ended(struct watch *w) {
    struct counts *c = w->counts;
    struct counted_launch *part = &c->part;
    const uint64_t barriers = c->block.barriers;
    finish_all(w);
    if (!part->blocks_ended++ || barriers < part->least_barriers) part->least_barriers = barriers;
    if (barriers > part->most_barriers) part->most_barriers = barriers;
    part->barriers += barriers;
    part->needed += c->block.needed;
    part->exchanged += w->exchange.read;
    if (c->block.stores) return;
    part->idle_blocks++;
    part->idle_loads += c->block.loads;
    part->idle_needed += c->block.needed;
    part->idle_exchanged += w->exchange.read;
}

/* --- launches --------------------------------------------------------------------------------- */

/* Of one worker, without `of`. */
static void add_part(struct counted_launch *launch, const struct counted_launch *part) {
    const bool first = launch->blocks_ended == launch->passed_over;
    if (part->blocks_ended && (first || part->least_barriers < launch->least_barriers))
        launch->least_barriers = part->least_barriers;
    if (part->most_barriers > launch->most_barriers) launch->most_barriers = part->most_barriers;
    launch->blocks_ended += part->blocks_ended;
    launch->barriers += part->barriers;
    launch->needed += part->needed;
    launch->exchanged += part->exchanged;
    launch->idle_blocks += part->idle_blocks;
    launch->idle_loads += part->idle_loads;
    launch->idle_needed += part->idle_needed;
    launch->idle_exchanged += part->idle_exchanged;
}

/* What a worker has counted of the launch; `sums` is the first one's, whose sites get all. */
static void take_worker(struct counted_launch *launch, struct watch *w, struct counts *sums) {
    struct counts *c = w->counts;
    finish_all(w); /* of a block that was stopped */
    add_part(launch, &c->part);
    c->part = (struct counted_launch){.blocks = 0};
    reuse_take_origins(&c->origins);
    for (struct site *s = c->sites; s && c != sums; s = s->next) {
        struct site *sum = site_at(sums, s->code, s->size, s->way);
        for (int i = 0; i < COUNTED_PLACES; ++i) counted_add(&sum->of[i], &s->of[i]);
        memset(s->of, 0, sizeof s->of);
    }
}

/* Sectors and passes that better access would save. */
static uint64_t to_gain(const struct counted *counted) {
    return counted->sectors - (counted->bytes + SECTOR - 1) / SECTOR * (counted->sectors > 0) +
           counted->conflicts;
}

static int best_line_first(const void *a, const void *b) {
    const struct counted_line *x = a, *y = b;
    const uint64_t gain = to_gain(&x->counted), other = to_gain(&y->counted);
    if (gain != other) return gain < other ? 1 : -1;
    return x->line != y->line ? x->line - y->line : x->place - y->place;
}

/* A line may have several instructions: a compiler unrolls loops. */
static void add_line(struct counted_launch *launch, const struct site *site, int of) {
    const struct place place = place_before(site->code);
    struct counted_line *line = launch->lines, *end = line + launch->line_count;
    while (line < end && (line->line != place.line || line->place != of || line->way != site->way ||
                          strcmp(line->file, place.file) != 0))
        ++line;
    if (!place.line || (line == end && launch->line_count == COUNTED_LINES)) return;
    if (line == end) {
        *line = (struct counted_line){.line = place.line, .place = of, .way = site->way};
        snprintf(line->file, sizeof line->file, "%.*s", (int)sizeof line->file - 1, place.file);
        launch->line_count++;
    }
    counted_add(&line->counted, &site->of[of]);
}

/* The site where most is to gain in one place; null: nothing is. */
static struct site *most_to_gain(struct site *sites, int *of) {
    struct site *best = NULL;
    for (struct site *s = sites; s; s = s->next)
        for (int place = 0; place < COUNTED_PLACES; ++place) {
            const uint64_t gain = to_gain(&s->of[place]), most = best ? to_gain(&best->of[*of]) : 0;
            if (gain < most || !gain || (gain == most && s->code > best->code)) continue;
            best = s;
            *of = place;
        }
    return best;
}

static void find_lines(struct counted_launch *launch, struct site *sites) {
    int of;
    for (int i = 0; i < LOOKED_UP; ++i) {
        struct site *site = most_to_gain(sites, &of);
        if (!site) break;
        add_line(launch, site, of);
        site->of[of] = (struct counted){0};
    }
    qsort(launch->lines, (size_t)launch->line_count, sizeof *launch->lines, best_line_first);
}

/* Without blocks that store nothing. */
static struct counted_reuse reuse_of(const struct counted_launch *l) {
    struct counted_reuse of = {.needed = l->needed - l->idle_needed +
                                         l->of[COUNTED_OTHER][COUNTED_LOADS].elements,
                               .exchanged = l->exchanged - l->idle_exchanged};
    for (int place = 0; place < COUNTED_CONSTANTS; ++place)
        of.loads += l->of[place][COUNTED_LOADS].elements + l->of[place][COUNTED_ATOMICS].elements;
    of.loads -= l->idle_loads;
    return of;
}

static void counts_launch_ended(const struct launch *launch) {
    counted_launches = machine_memory(
        realloc(counted_launches, (size_t)(launch_count + 1) * sizeof *counted_launches));
    struct counted_launch *counted = &counted_launches[launch_count++];
    *counted = (struct counted_launch){
        .grid = {launch->grid.x, launch->grid.y, launch->grid.z},
        .block = {launch->block.x, launch->block.y, launch->block.z},
        .blocks = launch->blocks,
        .passed_over = surplus_passed_over(),
    };
    counted->blocks_ended = counted->idle_blocks = counted->passed_over;
    launches_kernel_name(launch->kernel, counted->kernel, sizeof counted->kernel);
    struct watch *const first = watch_first(); /* null: no block ran */
    for (struct watch *w = first; w; w = w->next) take_worker(counted, w, first->counts);
    struct site *sites = first ? first->counts->sites : NULL;
    for (struct site *s = sites; s; s = s->next)
        for (int i = 0; i < COUNTED_PLACES; ++i) counted_add(&counted->of[i][s->way], &s->of[i]);
    const struct counted_reuse own = reuse_of(counted);
    reuse_launch_ended(&own);
    if (costs) find_lines(counted, sites);
    for (struct site *s = sites; s; s = s->next) memset(s->of, 0, sizeof s->of);
}

void counts_watch(bool with_costs) {
    static const struct detector recorder = {.block_comes = counts_block_comes,
                                             .accessed = count_access,
                                             .received = count_received,
                                             .copied = origin_copied,
                                             .thread_waits = counts_thread_waits,
                                             .barrier_opens = counts_barrier_opens,
                                             .block_ended = counts_block_ended,
                                             .launch_ended = counts_launch_ended};
    costs = with_costs;
    detector_attach(&recorder);
}
