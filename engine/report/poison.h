/* Words that memory holds where nobody has written: signaling NaNs as float32, each of its own
 * bits, so that a result shows where it came from. Arithmetic makes such a NaN quiet and keeps its
 * other bits on most processors; what still has exactly these bits was never written. */
#ifndef ENGINE_REPORT_POISON_H
#define ENGINE_REPORT_POISON_H
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define POISON_MALLOC UINT32_C(0x7FA1A1A1) /* what cudaMalloc gives */
#define POISON_SHARED UINT32_C(0x7FA2A2A2) /* shared memory when a block begins */
#define POISON_BITS UINT32_C(0x7FA5A5A5)   /* outputs before the launch */
#define GUARD_BITS UINT32_C(0x7FB6B6B6)    /* around each array */

/* Whether an output's element of so many bytes was never written; of less than a word that cannot
 * be told. */
static inline bool poison_is_at(const void *element, size_t bytes) {
    const uint32_t poison = POISON_BITS;
    for (size_t at = 0; at + sizeof poison <= bytes; at += sizeof poison)
        if (memcmp((const char *)element + at, &poison, sizeof poison) != 0) return false;
    return bytes >= sizeof poison;
}

#endif
