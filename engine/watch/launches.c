/* The launches of a run: see launches.h. At a launch only addresses are noted; names and lines are
 * looked up when they are asked for. */
#include "launches.h"
#include "../cuda/program/program.h"
#include <pthread.h>

enum { FRAMES = 16 }; /* up to the wrapper; inlined functions have none */

struct noted {
    struct launch launch;
    void *frames[FRAMES];
    int frame_count;
};

static struct {
    pthread_mutex_t lock; /* several threads of the host may launch */
    uint64_t count;
    struct noted first[LAUNCHES_FIRST], last[LAUNCHES_LAST]; /* last: a ring */
} noted = {.lock = PTHREAD_MUTEX_INITIALIZER};

void launches_begin(void) { __atomic_store_n(&noted.count, 0, __ATOMIC_RELAXED); }
uint64_t launches_noted(void) { return __atomic_load_n(&noted.count, __ATOMIC_RELAXED); }

static struct noted *slot(uint64_t number) {
    if (number <= LAUNCHES_FIRST) return &noted.first[number - 1];
    return &noted.last[(number - 1 - LAUNCHES_FIRST) % LAUNCHES_LAST];
}

void launches_note(const struct launch *launch) {
    struct noted made = {.launch = *launch};
    made.frame_count = fault_backtrace(made.frames, FRAMES);
    pthread_mutex_lock(&noted.lock);
    *slot(noted.count + 1) = made;
    __atomic_store_n(&noted.count, noted.count + 1, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&noted.lock);
}

void launches_kernel_name(const void *kernel, char *name, size_t bytes) {
    char symbol[512]; /* one that is cut is shown as it is */
    image_symbol_name(kernel, symbol, sizeof symbol);
    kernel_name(symbol[0] ? symbol : "kernel", name, bytes);
}

/* Null: it was not kept. */
static const struct noted *kept_launch(uint64_t number) {
    const uint64_t count = launches_noted();
    if (!number || number > count) return NULL;
    return number <= LAUNCHES_FIRST || number + LAUNCHES_LAST > count ? slot(number) : NULL;
}

bool launches_find(uint64_t number, struct finding_launch *launch) {
    const struct noted *n = kept_launch(number);
    if (!n) return false;
    const struct launch *l = &n->launch;
    *launch = (struct finding_launch){
        .grid = {l->grid.x, l->grid.y, l->grid.z},
        .block = {l->block.x, l->block.y, l->block.z},
        .shared_bytes = l->shared_bytes,
    };
    launches_kernel_name(l->kernel, launch->kernel, sizeof launch->kernel);
    return true;
}

struct place launches_place(uint64_t number) {
    const struct noted *n = kept_launch(number);
    return n ? place_find(n->frames, n->frame_count) : (struct place){.line = 0};
}
