/* Allocations of device memory, and settled words: see shadow.h. */
#define _GNU_SOURCE
#include "shadow.h"
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

static struct region *regions;
static struct region *arrays[ENGINE_ARRAYS];
static pthread_mutex_t regions_lock = PTHREAD_MUTEX_INITIALIZER;

/* --- finding ---------------------------------------------------------------------------------- */

struct region *region_first(void) {
    return regions;
}

static bool holds(const struct region *r, uintptr_t address) {
    return address - r->begin < r->bytes;
}

struct region *region_find(uintptr_t address) {
    for (struct region *r = regions; r; r = r->next)
        if (holds(r, address)) return r;
    return NULL;
}

bool region_reaches(const struct region *r, uintptr_t address) {
    return address - r->allocated.begin < r->allocated.bytes;
}

static uintptr_t distance(const struct region *r, uintptr_t address) {
    if (address < r->begin) return r->begin - address;
    return holds(r, address) ? 0 : address - (r->begin + r->bytes) + 1;
}

struct region *region_nearest(uintptr_t address) {
    struct region *best = NULL;
    for (struct region *r = regions; r; r = r->next)
        if (!r->freed && (!best || distance(r, address) < distance(best, address))) best = r;
    return best;
}

const struct region *region_of_array(int number) {
    return arrays[number] && !arrays[number]->freed ? arrays[number] : NULL;
}

const struct engine_array *region_array(int number) {
    return arrays[number] ? arrays[number]->array : NULL;
}

const struct region *region_with_phases(void) {
    for (int i = 0; i < ENGINE_ARRAYS; ++i) {
        const struct region *r = region_of_array(i);
        if (r && r->array->phase_axis >= 0) return r;
    }
    return NULL;
}

const struct region *region_output(void) {
    for (int i = 0; i < ENGINE_ARRAYS; ++i) {
        const struct region *r = region_of_array(i);
        if (r && role_is_output(r->array->role)) return r;
    }
    return NULL;
}

/* --- settled words ---------------------------------------------------------------------------- */

/* Addresses, of which few are used. */
static const size_t most_words = (size_t)64 << 30;
enum { LAUNCH_NUMBERS = 255 };

static struct settled settled;
static unsigned launches_begun;

static void make(struct settled_span *span, uintptr_t begin, size_t words) {
    if (span->launch) return;
    void *made = mmap(NULL, words, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (made != MAP_FAILED) *span = (struct settled_span){begin, words, made};
}

void settled_make_program(uintptr_t begin, uintptr_t end) {
    const uintptr_t first = begin / sizeof(float) * sizeof(float);
    make(&settled.span[SETTLED_PROGRAM], first, (end - first) / sizeof(float));
}

struct settled settled_now(void) {
    return settled;
}

/* A number comes again once all bytes are 0. */
void settled_begin_launch(void) {
    const unsigned number = launches_begun++ % LAUNCH_NUMBERS;
    for (int i = 0; !number && i < SETTLED_SPANS; ++i)
        if (settled.span[i].launch)
            madvise(settled.span[i].launch, settled.span[i].words, MADV_DONTNEED);
    settled.now = (unsigned char)(number + 1);
}

static void settle(uintptr_t word, unsigned char launch) {
    for (int i = 0; i < SETTLED_SPANS; ++i) {
        const uintptr_t offset = (word - settled.span[i].begin) / sizeof(float);
        if (offset >= settled.span[i].words) continue;
        __atomic_store_n(&settled.span[i].launch[offset], launch, __ATOMIC_RELAXED);
        return;
    }
}

void settled_set(uintptr_t word) { settle(word, settled.now); }
void settled_clear(uintptr_t word) { settle(word, 0); }

/* --- changing --------------------------------------------------------------------------------- */

void region_add(char *begin, size_t bytes, bool on_device, bool in_wrapper) {
    struct region *r = malloc(sizeof *r);
    if (!r) return;
    *r = (struct region){.begin = (uintptr_t)begin,
                         .bytes = bytes,
                         .allocated = {(uintptr_t)begin, bytes},
                         .on_device = on_device,
                         .in_wrapper = in_wrapper};
    r->frame_count = fault_backtrace(r->frames, (int)(sizeof r->frames / sizeof *r->frames));
    cells_make(&r->cells, (bytes + WORD - 1) / WORD);
    /* With the first allocation, from its beginning on: others have higher addresses. */
    if (on_device) make(&settled.span[SETTLED_MEMORY], r->begin, most_words);
    pthread_mutex_lock(&regions_lock);
    for (struct region *old = regions; old; old = old->next) /* the addresses are used again */
        if (old->freed && region_reaches(old, r->begin)) old->bytes = old->allocated.bytes = 0;
    r->next = regions;
    regions = r;
    pthread_mutex_unlock(&regions_lock);
}

void region_free(char *begin) {
    struct region *r = regions;
    while (r && (r->freed || !region_reaches(r, (uintptr_t)begin))) r = r->next;
    if (!r) return;
    r->freed = true;
    cells_drop(&r->cells);
}

void region_written(struct region *r, const char *to, size_t bytes) {
    const size_t first = ((uintptr_t)to - r->begin) / WORD;
    cells_set_written(&r->cells, first, (bytes + WORD - 1) / WORD);
}

void region_name(int number, const struct engine_array *array) {
    struct region *r = region_find((uintptr_t)array->elements);
    if (!r) return; /* region_add() had no memory for it */
    cells_drop(&r->cells);
    r->array = array;
    r->number = number;
    r->begin = (uintptr_t)array->elements;
    r->bytes = array_elements(array) * array_element_bytes(array);
    if (array->role != ROLE_INPUT) cells_make(&r->cells, (r->bytes + WORD - 1) / WORD);
    if (array->role == ROLE_IN_OUT) region_written(r, array->elements, r->bytes);
    arrays[number] = r;
}
