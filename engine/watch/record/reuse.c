/* Origins of words, and from launches to those that they come from: see record.h. */
#include "../machine.h"
#include "../shadow/shadow.h"
#include "record.h"
#include <stdlib.h>
#include <string.h>

/* --- words ------------------------------------------------------------------------------------ */

/* Null: the word has none; or it has none yet, unless they are to be made. */
static origin *place_of_origin(uintptr_t address, bool make) {
    uintptr_t begin;
    struct cells *cells = global_cells(address, &begin);
    const size_t word = (address - begin) / WORD;
    if (!cells || word >= cells->words) return NULL;
    origin *all = __atomic_load_n(&cells->origins, __ATOMIC_ACQUIRE);
    if (!all && make)
        all = machine_first(&cells->origins, machine_memory(calloc(cells->words, sizeof *all)));
    return all ? &all[word] : NULL;
}

origin origin_of(uintptr_t address) {
    const origin *place = place_of_origin(address, false);
    if (place) return __atomic_load_n(place, __ATOMIC_RELAXED);
    const struct region *r = region_find(address);
    return r && region_is_input(r) ? ORIGIN_INPUT : ORIGIN_HOST;
}

origin origin_set(uintptr_t address, origin now) {
    origin *place = place_of_origin(address, now != ORIGIN_HOST);
    return place ? __atomic_exchange_n(place, now, __ATOMIC_RELAXED) : now;
}

/* --- launches --------------------------------------------------------------------------------- */

/* Loads of what earlier launches have stored, that look at counters and flags and carry on no sums:
 * in all launches together less than this part of the output. */
enum { PART_THAT_CARRIES = 16, BITS = 64 };

/* A launch; or, of the last number, all launches from there on. */
struct stage {
    struct counted_reuse own;
    struct reuse_origins origins;
    uint64_t comes_from[ORIGIN_LAUNCHES / BITS]; /* a bit for each number, its own among them */
};

static struct stage stages[ORIGIN_LAUNCHES];
static unsigned running;

origin reuse_running(void) { return (origin)(ORIGIN_LAUNCH + running); }

/* A part of a word is stored. The rest stays, so the word comes from both; of two launches, from
 * the later one, which then comes from the other. */
static void origin_join(uintptr_t address, origin with) {
    const origin before = origin_of(address);
    const origin later = before > with ? before : with, earlier = before > with ? with : before;
    origin_set(address, later);
    if (earlier >= ORIGIN_LAUNCH) stages[later - ORIGIN_LAUNCH].origins.loads[earlier]++;
}

void origin_copied(const char *to, const char *from, size_t bytes) {
    const uintptr_t begin = (uintptr_t)to, end = begin + bytes;
    size_t step;
    for (uintptr_t at = begin; at < end; at += step) {
        const uintptr_t source = from ? (uintptr_t)from + (at - begin) : at;
        const size_t behind = at % WORD > source % WORD ? at % WORD : source % WORD;
        const origin with = from ? origin_of(source) : ORIGIN_HOST;
        step = WORD - behind < end - at ? WORD - behind : end - at;
        if (step == WORD)
            origin_set(at, with);
        else
            origin_join(at, with);
    }
}

void reuse_take_origins(struct reuse_origins *of) {
    struct reuse_origins *sum = &stages[running].origins;
    for (int i = 0; i < ORIGINS; ++i) sum->loads[i] += of->loads[i];
    sum->output += of->output;
    memset(of, 0, sizeof *of);
}

static void add_reuse(struct counted_reuse *sum, const struct counted_reuse *more) {
    sum->loads += more->loads;
    sum->needed += more->needed;
    sum->exchanged += more->exchanged;
}

void reuse_launch_ended(const struct counted_reuse *own) {
    add_reuse(&stages[running].own, own);
    if (running < ORIGIN_LAUNCHES - 1) ++running;
}

/* --- after the last launch -------------------------------------------------------------------- */

static void add_stage(uint64_t *to, unsigned number) {
    to[number / BITS] |= UINT64_C(1) << number % BITS;
    for (unsigned i = 0; i < ORIGIN_LAUNCHES / BITS; ++i) to[i] |= stages[number].comes_from[i];
}

/* Of those before it this is known already. *spared: so many loads may be of counters. */
static void find_what_it_comes_from(unsigned number, uint64_t *spared) {
    const uint64_t *loads = &stages[number].origins.loads[ORIGIN_LAUNCH];
    uint64_t carried = 0;
    for (unsigned i = 0; i < number; ++i) carried += loads[i];
    add_stage(stages[number].comes_from, number);
    if (carried < *spared) {
        *spared -= carried;
        return;
    }
    for (unsigned i = 0; i < number; ++i)
        if (loads[i]) add_stage(stages[number].comes_from, i);
}

static struct counted_reuse sum_of(const uint64_t *numbers) {
    struct counted_reuse sum = {0};
    for (unsigned i = 0; i <= running; ++i)
        if (numbers[i / BITS] >> i % BITS & 1) add_reuse(&sum, &stages[i].own);
    return sum;
}

static struct counted_reuse of_last_stores(const struct region *output) {
    uint64_t numbers[ORIGIN_LAUNCHES / BITS] = {0};
    bool any = false;
    for (size_t at = 0; at < output->bytes; at += WORD) {
        const origin of = origin_of(output->begin + at);
        const unsigned number = of - ORIGIN_LAUNCH;
        if (of < ORIGIN_LAUNCH) continue;
        any = true;
        if (!(numbers[number / BITS] >> number % BITS & 1)) add_stage(numbers, number);
    }
    if (!any) memset(numbers, ~0, sizeof numbers);
    return sum_of(numbers);
}

struct counted_reuse reuse_counted(void) {
    const struct region *output = region_output();
    if (!output) return (struct counted_reuse){0};
    const uint64_t words = output->bytes / WORD;
    uint64_t spared = words / PART_THAT_CARRIES;
    for (unsigned i = 0; i <= running; ++i) find_what_it_comes_from(i, &spared);
    struct counted_reuse most = of_last_stores(output);
    for (unsigned i = 0; i <= running; ++i) {
        if (stages[i].origins.output < words) continue;
        const struct counted_reuse all = sum_of(stages[i].comes_from);
        if (all.loads > most.loads) most = all;
    }
    return most;
}
