/* What the compiler calls at a fence. The linker takes this file out of the archive for a kernel.cu
 * that has one, and for no other: its accesses need less remembered (order_has_pairs()). */
#include "block.h"
#include "shadow/shadow.h"

__attribute__((constructor)) static void expect_fences(void) { order_expect_fences(); }

/* __threadfence_block() is weaker than the others (device_functions.h). */
void __tsan_atomic_thread_fence(int order) {
    struct watch *w = watch_here();
    if (w) {
        order_fence(w->order, order == __ATOMIC_SEQ_CST);
        watch_steps(w);
        w->synchronizes = true;
    }
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
