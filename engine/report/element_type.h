/* The types that an array's elements may have: how large they are, and what their bytes say; and
 * what memory holds where nobody has written. */
#ifndef ENGINE_REPORT_ELEMENT_TYPE_H
#define ENGINE_REPORT_ELEMENT_TYPE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

enum element {
    ELEMENT_BYTES, /* of any type: values are not shown */
    ELEMENT_I8,
    ELEMENT_U8,
    ELEMENT_I16,
    ELEMENT_U16,
    ELEMENT_I32,
    ELEMENT_U32,
    ELEMENT_I64,
    ELEMENT_U64,
    ELEMENT_F32,
    ELEMENT_F64,
    ELEMENTS
};

/* How large one is; 0: ELEMENT_BYTES. */
size_t element_type_bytes(enum element element);
/* Makes it this value, which its type can hold. ELEMENT_BYTES: nothing. */
void element_set(enum element element, void *bytes, double value);
/* Its value, as far as a double can hold it. False: ELEMENT_BYTES. */
bool element_value(enum element element, const void *bytes, double *value);

/* --- poison ----------------------------------------------------------------------------------- */

/* Words that memory holds where nobody has written: signaling NaNs as float32, each of its own
 * bits, so that a result shows where it came from. Arithmetic makes such a NaN quiet and keeps its
 * other bits on most processors; what still has exactly these bits was never written. */
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

#ifdef __cplusplus
}
#endif
#endif
