/* What the compiler calls at each load and store of kernel.cu: the interface of libtsan and of
 * libubsan's bounds check (LLVM's compiler-rt, tsan_interface.h and ubsan_handlers.h; gcc emits the
 * same calls), answered here instead of there.
 *
 * Nearly every access of a correct kernel is one of two: a word in shared memory, or a part of one,
 * that no other thread accesses in this interval in a way that matters, or a float of an input, be
 * it that the host says so or that it is settled (shadow.h). A dozen instructions here are enough
 * for those (a checked run spends its time in them); everything else takes the slow path.
 */
#include "block.h"
#include "detector.h"
#include "shadow/shadow.h"
#include "stack.h"

extern struct dim3 blockDim, gridDim;

#define CODE __builtin_return_address(0)
#define CALLEE ((const struct frame *)__builtin_frame_address(0))
#define LIKELY(condition) __builtin_expect(!!(condition), 1)
#define INLINE static inline __attribute__((always_inline))

/* Rotated, so that an offset that is no multiple of 4 becomes a huge one. */
INLINE uintptr_t word_of(uintptr_t offset) { return offset >> 2 | offset << 62; }

INLINE bool is_input(struct watch *w, uintptr_t address) {
    uintptr_t word = word_of(address - w->input[0].begin);
    if (word < w->input[0].words) {
        w->last_read[running_index.linear] = (uint32_t)word + 1;
        return true;
    }
#pragma GCC unroll 4 /* else the loop is set up in front of the first comparison */
    for (int i = 1; i < FAST_SPANS; ++i)
        if (word_of(address - w->input[i].begin) < w->input[i].words) return true;
    return false;
}

INLINE bool is_settled(const struct watch *w, uintptr_t address) {
    for (int i = 0; i < SETTLED_SPANS; ++i) {
        const uintptr_t word = word_of(address - w->settled.span[i].begin);
        if (word < w->settled.span[i].words && w->settled.span[i].launch[word] == w->settled.now)
            return true;
    }
    return false;
}

/* A read is harmless when the last write came before this interval. */
INLINE bool read_shared(struct watch *w, struct shared_word *s, epoch now) {
    if (!LIKELY(s->write < w->epochs.interval)) return false;
    shared_word_read(s, w->epochs.interval, now);
    return true;
}

/* A write is harmless when the last write did too and no thread has read since. */
INLINE bool write_shared(struct watch *w, struct shared_word *s, epoch now) {
    if (!LIKELY(s->write < w->epochs.interval && s->read < w->epochs.interval)) return false;
    s->earlier = s->write;
    s->write = now;
    return true;
}

/* What came by the short path, where it is counted. */
INLINE void exchange(struct watch *w, uintptr_t word, bool write) {
    if (!w->exchange.stored_by) return;
    (write ? exchange_stores : exchange_reads)(&w->exchange, word, running_index.linear);
}

/* The same for one or two bytes of a word of which parts have been accessed before. */
INLINE bool fine_in_bytes(struct watch *w, uintptr_t address, unsigned size, bool write,
                          epoch now) {
    const uintptr_t offset = address - w->shared_begin;
    if (address % size || w->shadow[offset / WORD].write != EPOCH_IN_BYTES) return false;
    for (unsigned i = 0; i < size; ++i)
        if (!(write ? write_shared : read_shared)(w, &w->bytes[offset + i], now)) return false;
    return true;
}

/* The same for a block that is recorded, behind that. */
INLINE bool fine_in_shared(struct watch *w, const struct access *access) {
    if (!watch_is_shared(w, access->address) || w->slow & SLOW_INDEX || w->epochs.many_steps ||
        w->epochs.has_pairs)
        return false;
    const epoch now = epoch_now(&w->epochs, access->code);
    if (access->size < WORD)
        return fine_in_bytes(w, access->address, access->size, access->write, now);
    const uintptr_t word = word_of(access->address - w->shared_begin);
    if (access->size != WORD || word >= w->all_words) return false;
    return (access->write ? write_shared : read_shared)(w, &w->shadow[word], now);
}

INLINE bool is_in(uintptr_t address, const void *begin, const void *end) {
    return address - (uintptr_t)begin < (uintptr_t)end - (uintptr_t)begin;
}

/* Global or shared memory; and not a local variable, what is a special register or a constant on a
 * GPU, or a flag of the compiler's. */
static bool is_memory(const struct watch *w, const struct access *access) {
    if (watch_is_shared(w, access->address)) {
        epoch written = w->shadow[watch_word(w, access->address)].write;
        return written != EPOCH_OUTSIDE && !(written == EPOCH_BEFORE && access->size == 1);
    }
    return !stack_holds(w, access->address) && !is_in(access->address, &blockDim, &blockDim + 1) &&
           !is_in(access->address, &gridDim, &gridDim + 1);
}

void access_record(struct watch *w, const struct access *access) {
    if (!watch_is_recorded(w)) return;
    if (is_in(access->address, w->memory.exchanged.begin, w->memory.exchanged.end))
        HEAR(received, w, access);
    else if (is_memory(w, access))
        HEAR(accessed, w, access);
}

static void look_at(struct watch *w, const struct access *access) {
    if (w->follows && access->write && !access->strong) HEAR(stored_after_race, w, access);
    if (watch_is_recorded(w) && !access->atomic) {
        access_record(w, access);
        if (!access->copying && fine_in_shared(w, access)) return;
    }
    if (watch_is_shared(w, access->address))
        shared_access(w, access);
    else
        global_access(w, access);
}

/* False: it is of the host's code or on a stack, which no audit closes. */
static bool look(const struct access *access) {
    struct watch *w = watch_here();
    if (!w) {
        host_access(access);
        return false;
    }
    const uintptr_t top = w->stack_top[running_index.linear];
    const uintptr_t depth = top - (uintptr_t)__builtin_frame_address(0);
    if (depth > w->deepest) w->deepest = depth;
    if (w->slow & SLOW_INDEX) HEAR(access, w, access);
    if (stack_holds(w, access->address)) {
        HEAR(on_stack, w, access);
        return false;
    }
    look_at(w, access);
    return true;
}

__attribute__((noinline)) void access_slowly(const struct access *access) {
    if (look(access)) access_announce((const void *)access->address, access->size);
}

void access_announce(const void *p, size_t size) {
    struct watch *w = watch_here();
    if (w && w->slow & SLOW_AUDIT) HEAR(announced, w, (uintptr_t)p, size);
}

static __attribute__((noinline)) void slowly(const void *p, unsigned size, bool write,
                                             const void *code) {
    const struct access access = {
        .address = (uintptr_t)p, .size = size, .write = write, .code = code};
    access_slowly(&access);
}

INLINE void read_word(struct watch *w, const void *p, const void *code, const struct frame *callee,
                      bool counted) {
    if (LIKELY(w)) {
        uintptr_t word = word_of((uintptr_t)p - w->shared_begin);
        if (LIKELY(word < w->shared_words)) {
            if (LIKELY(read_shared(w, &w->shadow[word], epoch_now(&w->epochs, code)))) {
                if (counted) exchange(w, word, false);
                return;
            }
        } else if (stack_is_local(w, (uintptr_t)p, callee) || is_input(w, (uintptr_t)p) ||
                   is_settled(w, (uintptr_t)p)) {
            return;
        }
    }
    slowly(p, WORD, false, code);
}

INLINE void write_word(struct watch *w, const void *p, const void *code, const struct frame *callee,
                       bool counted) {
    if (LIKELY(w)) {
        uintptr_t word = word_of((uintptr_t)p - w->shared_begin);
        if (LIKELY(word < w->shared_words) &&
            LIKELY(write_shared(w, &w->shadow[word], epoch_now(&w->epochs, code)))) {
            if (counted) exchange(w, word, true);
            return;
        }
        if (stack_may_store(w, (uintptr_t)p, WORD, callee)) return;
    }
    slowly(p, WORD, true, code);
}

/* The same functions a second time, so that nothing is asked where nothing is counted. */
static __attribute__((noinline)) void read_counted(const void *p, const void *code,
                                                   const struct frame *callee) {
    read_word(watch_here(), p, code, callee, true);
}

static __attribute__((noinline)) void write_counted(const void *p, const void *code,
                                                    const struct frame *callee) {
    write_word(watch_here(), p, code, callee, true);
}

INLINE bool fine_on_stack(const void *p, size_t size, bool write, const struct frame *callee) {
    struct watch *w = watch_here();
    const uintptr_t address = (uintptr_t)p;
    return LIKELY(w) && (write ? stack_may_store(w, address, size, callee)
                               : stack_is_local(w, address, callee) &&
                                     stack_is_local(w, address + size - 1, callee));
}

INLINE void access_part(const void *p, unsigned size, bool write, const void *code) {
    struct watch *w = watch_here();
    if (LIKELY(w)) {
        const uintptr_t address = (uintptr_t)p;
        const uintptr_t word = (address - w->shared_begin) / WORD;
        if (word < w->shared_words) {
            if (fine_in_bytes(w, address, size, write, epoch_now(&w->epochs, code))) {
                exchange(w, word, write);
                return;
            }
        } else if (fine_on_stack(p, size, write, CALLEE)) {
            return;
        }
    }
    slowly(p, size, write, code);
}

INLINE bool all_settled(const struct watch *w, uintptr_t address, unsigned size) {
    for (unsigned at = 0; at < size; at += WORD)
        if (!is_settled(w, address + at)) return false;
    return true;
}

/* Eight or sixteen bytes of an input. Vectors in shared memory are rare enough for the slow path.
 */
INLINE void read_vector(const void *p, unsigned size, const void *code) {
    struct watch *w = watch_here();
    uintptr_t address = (uintptr_t)p;
    if (LIKELY(w) &&
        ((address % size == 0 && is_input(w, address + size - WORD) && is_input(w, address)) ||
         (address % size == 0 && all_settled(w, address, size)) ||
         stack_is_local(w, address, CALLEE)))
        return;
    slowly(p, size, false, code);
}

/* --- loads and stores ------------------------------------------------------------------------- */

void __tsan_read4(void *p) {
    struct watch *w = watch_uncounted();
    if (LIKELY(w))
        read_word(w, p, CODE, CALLEE, false);
    else
        read_counted(p, CODE, CALLEE);
}
void __tsan_write4(void *p) {
    struct watch *w = watch_uncounted();
    if (LIKELY(w))
        write_word(w, p, CODE, CALLEE, false);
    else
        write_counted(p, CODE, CALLEE);
}
#define PART(size)                                                                                 \
    void __tsan_read##size(void *p) { access_part(p, size, false, CODE); }                         \
    void __tsan_write##size(void *p) { access_part(p, size, true, CODE); }
PART(1)
PART(2)

#define VECTOR(size)                                                                               \
    void __tsan_read##size(void *p) { read_vector(p, size, CODE); }                                \
    void __tsan_write##size(void *p) {                                                             \
        if (!fine_on_stack(p, size, true, CALLEE)) slowly(p, size, true, CODE);                    \
    }
VECTOR(8)
VECTOR(16)

/* Of an object with virtual functions, where their table is. */
void __tsan_vptr_read(void **p) { read_vector(p, sizeof *p, CODE); }
void __tsan_vptr_update(void **p, void *value) {
    (void)value;
    slowly(p, sizeof *p, true, CODE);
}

/* A store right behind a fence releases what was before it, and is strong, as all loads are. */
static __attribute__((noinline)) void access_volatile(const void *p, unsigned size, bool write,
                                                      const void *code) {
    struct watch *w = watch_here();
    const bool own = w && stack_holds(w, (uintptr_t)p);
    const struct access access = {.address = (uintptr_t)p,
                                  .size = size,
                                  .write = write,
                                  .is_volatile = true,
                                  .strong = w && (!write || order_is_behind_fence(w->order)),
                                  .code = code};
    access_slowly(&access);
    if (!w || own) return;
    const bool in_shared = watch_is_shared(w, access.address);
    if (write)
        order_volatile_store(w->order, access.address, in_shared);
    else
        order_volatile_load(w->order, access.address, in_shared);
}

#define EACH_SIZE(DEFINE) DEFINE(1) DEFINE(2) DEFINE(4) DEFINE(8) DEFINE(16)
#define VOLATILE(size)                                                                             \
    void __tsan_volatile_read##size(void *p) { access_volatile(p, size, false, CODE); }            \
    void __tsan_volatile_write##size(void *p) { access_volatile(p, size, true, CODE); }
EACH_SIZE(VOLATILE)

/* Bytes, one by one: where the compiler promises no alignment, and ranges of any length. Announced
 * as one, since of a thread a few announcements are remembered (unannounced.c). */
static void bytes(const void *p, size_t size, bool write, const void *code,
                  const struct frame *callee) {
    unsigned step;
    if (fine_on_stack(p, size, write, callee)) return;
    const char *byte = p;
    for (size_t left = size; left; left -= step, byte += step) {
        step = (uintptr_t)byte % WORD == 0 && left >= WORD ? WORD : 1;
        look(&(struct access){
            .address = (uintptr_t)byte, .size = step, .write = write, .code = code});
    }
    access_announce(p, size);
}

#define UNALIGNED(size)                                                                            \
    void __tsan_unaligned_read##size(void *p) { bytes(p, size, false, CODE, CALLEE); }             \
    void __tsan_unaligned_write##size(void *p) { bytes(p, size, true, CODE, CALLEE); }             \
    void __tsan_unaligned_volatile_read##size(void *p) { bytes(p, size, false, CODE, CALLEE); }    \
    void __tsan_unaligned_volatile_write##size(void *p) { bytes(p, size, true, CODE, CALLEE); }
UNALIGNED(2)
UNALIGNED(4)
UNALIGNED(8)
UNALIGNED(16)

void __tsan_read_range(void *p, size_t size) { bytes(p, size, false, CODE, CALLEE); }
void __tsan_write_range(void *p, size_t size) { bytes(p, size, true, CODE, CALLEE); }

void *__tsan_memcpy(void *to, const void *from, size_t size) {
    bytes(from, size, false, CODE, CALLEE);
    bytes(to, size, true, CODE, CALLEE);
    access_announce(from, size);
    return __builtin_memcpy(to, from, size);
}
void *__tsan_memmove(void *to, const void *from, size_t size) {
    bytes(from, size, false, CODE, CALLEE);
    bytes(to, size, true, CODE, CALLEE);
    access_announce(from, size);
    return __builtin_memmove(to, from, size);
}
void *__tsan_memset(void *to, int value, size_t size) {
    bytes(to, size, true, CODE, CALLEE);
    return __builtin_memset(to, value, size);
}

/* --- what needs no answer --------------------------------------------------------------------- */

void __tsan_init(void) {}
void __tsan_func_entry(void *caller) { (void)caller; }
void __tsan_func_exit(void) {}
void __tsan_atomic_signal_fence(int order) {
    (void)order;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

/* --- indices ---------------------------------------------------------------------------------- */

/* As the compiler lays them out (compiler-rt, ubsan_value.h and ubsan_handlers.h). */
struct type_descriptor {
    uint16_t kind, info; /* info of an integer: the logarithm of its bits, twice, plus its sign */
    char name[];
};
struct out_of_bounds {
    const char *file;
    uint32_t line, column;
    const struct type_descriptor *array, *index;
};

static long index_value(const struct type_descriptor *type, uintptr_t value) {
    unsigned bits = 1u << (type->info >> 1);
    if (bits > 64) return *(const long *)value; /* passed by address */
    if (!(type->info & 1)) return (long)value;
    return (long)(value << (64 - bits)) >> (64 - bits);
}

void __ubsan_handle_out_of_bounds(struct out_of_bounds *data, uintptr_t index) {
    struct watch *w = watch_here();
    if (w)
        HEAR(bad_index, w, data->file, (int)data->line, (int)data->column, data->array->name,
             index_value(data->index, index));
}

struct type_mismatch {
    const char *file;
    uint32_t line, column;
};

/* gcc's -fsanitize=object-size: the access that comes next leaves an object that the compiler
 * knows. A constant's it does not announce, so it is announced here. */
void __ubsan_handle_type_mismatch_v1(struct type_mismatch *data, uintptr_t address) {
    struct watch *w = watch_here();
    const struct access access = {.address = address, .size = WORD, .code = CODE};
    if (!w || watch_is_shared(w, address)) return;
    access_slowly(&access);
    HEAR(outside_object, w, &access, data->file, (int)data->line);
}

/* clang's -fsanitize-coverage, for which -fsanitize=thread announces local arrays, too. */
void __sanitizer_cov_trace_pc(void) {}
#define COVERAGE(size)                                                                             \
    void __sanitizer_cov_load##size(const void *p) { (void)p; }                                    \
    void __sanitizer_cov_store##size(const void *p) { (void)p; }
EACH_SIZE(COVERAGE)
