/* Settled words: see settled.h. */
#define _GNU_SOURCE
#include "settled.h"
#include <sys/mman.h>

/* Addresses, of which few are used. */
static const size_t most_words = (size_t)64 << 30;
enum { LAUNCHES = 255 };

static struct settled settled;
static unsigned launches;

void settled_make(uintptr_t begin) {
    if (settled.launch) return;
    void *made = mmap(NULL, most_words, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (made == MAP_FAILED) return;
    settled = (struct settled){begin, most_words, made, 0};
}

struct settled settled_now(void) {
    return settled;
}

/* A number comes again once all bytes are 0. */
void settled_begin_launch(void) {
    const unsigned number = launches++ % LAUNCHES;
    if (!number && settled.launch) madvise(settled.launch, settled.words, MADV_DONTNEED);
    settled.now = (unsigned char)(number + 1);
}

static unsigned char *byte_of(uintptr_t word) {
    const uintptr_t number = (word - settled.begin) / sizeof(float);
    return word >= settled.begin && number < settled.words ? &settled.launch[number] : NULL;
}

void settled_set(uintptr_t word) {
    unsigned char *byte = byte_of(word);
    if (byte) __atomic_store_n(byte, settled.now, __ATOMIC_RELAXED);
}

void settled_clear(uintptr_t word) {
    unsigned char *byte = byte_of(word);
    if (byte) __atomic_store_n(byte, 0, __ATOMIC_RELAXED);
}
