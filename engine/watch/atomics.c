/* What the compiler calls at each atomic operation of kernel.cu (as in access.c), which is seen and
 * then done. Apart from loads and stores, since it is the slow path in any case. */
#include "block.h"
#include "detector.h"
#include "shadow/shadow.h"
#include "stack.h"

#define CODE __builtin_return_address(0)

/* Whether the kernel uses what the exchange that comes now has replaced. */
static bool is_old_used(void) {
    struct watch *w = watch_here();
    const bool used = w && w->uses_old;
    if (w) w->uses_old = false;
    return used;
}

static struct access atomically(struct access access) {
    struct watch *w = watch_here();
    access.atomic = access.strong = true;
    access_slowly(&access);
    if (!w || stack_holds(w, access.address)) return access;
    const bool shared = watch_is_shared(w, access.address);
    if (!shared) w->synchronizes = true;
    if (access.write) order_release(w->order, access.address, shared);
    return access;
}

static void acquire(const struct access *seen) {
    struct watch *w = watch_here();
    if (w && !stack_holds(w, seen->address))
        order_acquire(w->order, seen->address, watch_is_shared(w, seen->address));
}

/* Recorders get it when it has taken effect; the load before a compare-and-swap is the emulator's
 * own (device_functions.h). */
static void record_atomic(const struct access *seen, const void *old) {
    struct watch *w = watch_here();
    struct access done = *seen;
    done.old = old;
    if (w) access_record(w, &done);
}

/* A compare-and-swap that fails has loaded. Not counted is what depends on luck: one that is tried
 * again, be it in a loop until it takes effect or because a lock is not free. So it counts when the
 * thread makes one elsewhere. */
static void note_compared(const struct access *seen, const void *old, bool done) {
    struct watch *w = watch_here();
    if (done) record_atomic(seen, old);
    if (!w) return;
    HEAR(compared, w, seen);
    uintptr_t *failed = &w->failed_swap[running_index.linear];
    if (*failed && *failed != seen->address) {
        const struct access load = {.address = *failed, .size = seen->size, .code = seen->code};
        access_record(w, &load);
    }
    *failed = done ? 0 : seen->address;
    w->any_compared = true;
}

#define ATOMIC(...)                                                                                \
    atomically(                                                                                    \
        (struct access){.address = (uintptr_t)p, .size = sizeof *p, .code = CODE, __VA_ARGS__})
#define SWAP(expected)                                                                             \
    const struct access seen = ATOMIC(.write = true, .compares = true);                            \
    const bool done =                                                                              \
        __atomic_compare_exchange_n(p, expected, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);    \
    acquire(&seen);                                                                                \
    note_compared(&seen, expected, done)
#define ATOMIC_RMW(bits, type, name, builtin, reads)                                               \
    type __tsan_atomic##bits##_##name(volatile type *p, type value, int order) {                   \
        (void)order;                                                                               \
        const struct access seen = ATOMIC(.write = true, .exchanges = !(reads));                   \
        const type old = builtin(p, value, __ATOMIC_SEQ_CST);                                      \
        record_atomic(&seen, &old);                                                                \
        acquire(&seen);                                                                            \
        return old;                                                                                \
    }
#define ATOMIC_CAS(bits, type, name)                                                               \
    int __tsan_atomic##bits##_##name(volatile type *p, type *expected, type value, int order,      \
                                     int failure) {                                                \
        (void)order, (void)failure;                                                                \
        SWAP(expected);                                                                            \
        return done;                                                                               \
    }
#define ATOMICS(bits, type)                                                                        \
    type __tsan_atomic##bits##_load(const volatile type *p, int order) {                           \
        (void)order;                                                                               \
        const struct access seen = ATOMIC(.write = false);                                         \
        type value = __atomic_load_n(p, __ATOMIC_SEQ_CST);                                         \
        acquire(&seen);                                                                            \
        return value;                                                                              \
    }                                                                                              \
    void __tsan_atomic##bits##_store(volatile type *p, type value, int order) {                    \
        (void)order;                                                                               \
        ATOMIC(.write = true, .exchanges = true);                                                  \
        __atomic_store_n(p, value, __ATOMIC_SEQ_CST);                                              \
    }                                                                                              \
    ATOMIC_RMW(bits, type, exchange, __atomic_exchange_n, is_old_used())                           \
    ATOMIC_RMW(bits, type, fetch_add, __atomic_fetch_add, true)                                    \
    ATOMIC_RMW(bits, type, fetch_sub, __atomic_fetch_sub, true)                                    \
    ATOMIC_RMW(bits, type, fetch_and, __atomic_fetch_and, true)                                    \
    ATOMIC_RMW(bits, type, fetch_or, __atomic_fetch_or, true)                                      \
    ATOMIC_RMW(bits, type, fetch_xor, __atomic_fetch_xor, true)                                    \
    ATOMIC_RMW(bits, type, fetch_nand, __atomic_fetch_nand, true)                                  \
    ATOMIC_CAS(bits, type, compare_exchange_strong)                                                \
    ATOMIC_CAS(bits, type, compare_exchange_weak)                                                  \
    type __tsan_atomic##bits##_compare_exchange_val(volatile type *p, type expected, type value,   \
                                                    int order, int failure) {                      \
        (void)order, (void)failure;                                                                \
        SWAP(&expected);                                                                           \
        return expected;                                                                           \
    }
ATOMICS(8, uint8_t)
ATOMICS(16, uint16_t)
ATOMICS(32, uint32_t)
ATOMICS(64, uint64_t)
