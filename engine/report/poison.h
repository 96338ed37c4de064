/* Words that memory holds where nobody has written: signaling NaNs as float32, each of its own
 * bits, so that a result shows where it came from. Arithmetic makes such a NaN quiet and keeps its
 * other bits on most processors; what still has exactly these bits was never written. */
#ifndef ENGINE_REPORT_POISON_H
#define ENGINE_REPORT_POISON_H
#include <stdint.h>

#define POISON_MALLOC UINT32_C(0x7FA1A1A1) /* what cudaMalloc gives */
#define POISON_SHARED UINT32_C(0x7FA2A2A2) /* shared memory when a block begins */
#define POISON_BITS UINT32_C(0x7FA5A5A5)   /* outputs before the launch */
#define GUARD_BITS UINT32_C(0x7FB6B6B6)    /* around each array */

#endif
