/* Sets of threads of one block, and the condition that selects them: what a student wrote in an
 * `if`, read back from who went where. */
#ifndef ENGINE_REPORT_THREADS_H
#define ENGINE_REPORT_THREADS_H
#include "../../finding.h"

static inline void threads_add(struct threads *set, unsigned linear) {
    set->bits[linear / 64] |= (uint64_t)1 << linear % 64;
}

static inline bool threads_has(const struct threads *set, unsigned linear) {
    return set->bits[linear / 64] >> linear % 64 & 1;
}

unsigned threads_count(const struct threads *set);
/* The linear index of the first one; 0 if there is none. */
unsigned threads_first(const struct threads *set);

/* Writes a condition that holds for just these threads of a block of that size: "threadIdx.y = 1",
 * "threadIdx.x >= 14 or threadIdx.y < 2", "threadIdx.x % 16 < 2". False, and an empty text: there
 * is no such condition, or it would select all threads or none. */
bool threads_condition(char *text, size_t bytes, const struct threads *set,
                       struct finding_index block);

/* Writes who they are, so that a verb can follow: "the 16 threads with threadIdx.y = 1",
 * "thread (3,1)", "all 256 threads", "17 threads, such as (3,1),", "no thread". */
void threads_describe(char *text, size_t bytes, const struct threads *set,
                      struct finding_index block);

#endif
