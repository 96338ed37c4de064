/* What the threads of a block read from shared memory of what others of it have stored there:
 * counted at each access, on the short path too. The shadow cannot say it: once something has been
 * found it remembers no more stores. */
#ifndef ENGINE_WATCH_RECORD_EXCHANGE_H
#define ENGINE_WATCH_RECORD_EXCHANGE_H
#include <stddef.h>
#include <stdint.h>

enum { EXCHANGE_THREAD_BITS = 10 };

struct exchange {
    uint32_t *stored_by; /* of each word: block, in so many bits, and thread; null: not counted */
    uint32_t block;      /* the running one's number, which is not 0, where stored_by has it */
    uint64_t read;       /* by it, so far */
};

static inline void exchange_stores(struct exchange *e, size_t word, unsigned thread) {
    e->stored_by[word] = e->block | thread;
}

static inline void exchange_reads(struct exchange *e, size_t word, unsigned thread) {
    const uint32_t difference = e->stored_by[word] ^ (e->block | thread);
    e->read += difference - 1 < (1u << EXCHANGE_THREAD_BITS) - 1;
}

#endif
