/* Settled words: see settled.h. */
#define _GNU_SOURCE
#include "settled.h"
#include <sys/mman.h>

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

void settled_make(uintptr_t begin) { make(&settled.span[SETTLED_MEMORY], begin, most_words); }

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

static unsigned char *byte_of(uintptr_t word) {
    for (int i = 0; i < SETTLED_SPANS; ++i) {
        const uintptr_t offset = word - settled.span[i].begin;
        if (offset / sizeof(float) < settled.span[i].words)
            return &settled.span[i].launch[offset / sizeof(float)];
    }
    return NULL;
}

void settled_set(uintptr_t word) {
    unsigned char *byte = byte_of(word);
    if (byte) __atomic_store_n(byte, settled.now, __ATOMIC_RELAXED);
}

void settled_clear(uintptr_t word) {
    unsigned char *byte = byte_of(word);
    if (byte) __atomic_store_n(byte, 0, __ATOMIC_RELAXED);
}
