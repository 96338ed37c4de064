/* What is remembered of the accesses to memory, and which of them happen before which: what the
 * files of this folder share.
 *
 *     epochs    an access, packed into a word of a shadow
 *     order.c   what orders two accesses; release.c   what atomics have released
 *     cells.c   shadows of global memory, and of shared memory where one epoch does not say enough
 *     regions.c, global.c   allocations, and kernel.cu's variables
 *
 * Shadows of shared memory (shared.c) belong to a worker's watch: ../block.h. */
#ifndef ENGINE_WATCH_SHADOW_SHADOW_H
#define ENGINE_WATCH_SHADOW_SHADOW_H
#include "../../cuda/runtime/runtime.h"
#include "../../engine.h"
#include "../../report/words/threads.h"

/* --- epochs: accesses, and what is remembered of them ----------------------------------------- */

/* An epoch is an access as the shadow of a word remembers it, packed into 64 bits. From the highest
 * bits down:
 *
 *     18  interval  how many barriers the block had passed, plus FIRST_INTERVAL
 *     10  thread    linear index in the block
 *     11  step      warp operations and fences of the thread in this interval, modulo 2048
 *      1  strong    as order.c has it: it races with no other strong access
 *     24  code      the instruction, as an offset into the program
 *
 * The interval comes first, so that one comparison of two epochs says whether an access was made
 * before the running interval: nearly every access needs no more (access.c). */

enum { WORD = 4 };

typedef uint64_t epoch;

enum { CODE_BITS = 24, STRONG_BIT = 24, STEP_BIT = 25, THREAD_BIT = 36, INTERVAL_BIT = 46 };
#define EPOCH_CODE_MASK (((epoch)1 << CODE_BITS) - 1)
#define EPOCH_STRONG ((epoch)1 << STRONG_BIT)
#define EPOCH_STEP_MASK ((epoch)2047 << STEP_BIT)
enum { EPOCH_STEPS = 2048 };
#define EPOCH_THREAD_MASK ((epoch)1023 << THREAD_BIT)
#define EPOCH_WARP_MASK (EPOCH_THREAD_MASK & ~((epoch)(WARP_SIZE - 1) << THREAD_BIT))
#define EPOCH_INTERVAL(number) ((epoch)(number) << INTERVAL_BIT)
enum { FIRST_INTERVAL = 2, LAST_INTERVAL = (1 << 18) - 2 };

/* Of a word's last write there are special values. Written before the block began: */
#define EPOCH_BEFORE EPOCH_INTERVAL(1)
/* The others are later than any interval, so that the fast path leaves them aside. An asynchronous
 * copy to the word is pending; its group, as far as there is room, takes the place of the step: */
#define EPOCH_PENDING EPOCH_INTERVAL(LAST_INTERVAL + 1)
/* The word's bytes have a shadow of their own (block.h), or its cells are what counts (cells.c); no
 * thread has written the word; and: no kernel may access it. */
#define EPOCH_IN_BYTES (~(epoch)3)
#define EPOCH_IN_CELLS (~(epoch)2)
#define EPOCH_NEVER (~(epoch)1)
#define EPOCH_OUTSIDE (~(epoch)0)

static inline unsigned epoch_thread(epoch r) { return (unsigned)(r >> THREAD_BIT) & 1023; }

static inline bool epoch_is_pending(epoch r) { return r >= EPOCH_PENDING && r < EPOCH_IN_BYTES; }

/* Of one interval: whether the warp of both accesses has met between them, all of it, if it always
 * has. */
static inline bool epoch_is_step_before(epoch earlier, epoch r) {
    return earlier < EPOCH_PENDING && !((earlier ^ r) & EPOCH_WARP_MASK) &&
           (earlier & EPOCH_STEP_MASK) < (r & EPOCH_STEP_MASK);
}

/* The address behind the instruction. */
static inline const void *epoch_code(epoch r) {
    extern const char __executable_start[];
    return __executable_start + (r & EPOCH_CODE_MASK);
}

/* An access by a thread of the running block. */
struct access {
    uintptr_t address;
    unsigned size;
    bool write, atomic, is_volatile;
    bool exchanges; /* an atomic operation: a store, as the value before it is not used */
    bool compares;  /* an atomic operation: a compare-and-swap */
    bool strong;    /* as order.c has it */
    bool copying;   /* an asynchronous copy begins, of the thread's group with this number */
    uint64_t group;
    const void *old;  /* what an atomic operation that has taken effect has replaced, or null */
    const void *code; /* behind the instruction */
};

/* Whether the value that is there is used. */
static inline bool access_reads(const struct access *access) {
    return !access->write || (access->atomic && !access->exchanges);
}

/* The threads that wait at one barrier. */
struct waiting {
    const void *code; /* behind the call; null: there are none */
    unsigned place;   /* its number in the text: ../../cuda/include/barrier.h */
    struct threads threads;
};
enum { BARRIER_PLACES = 2 };

/* Of a vector, an element or a part of one; longer ones are ranges. */
static inline bool access_is_misaligned(const struct access *access) {
    return access->size <= 16 && access->address % access->size != 0;
}

/* When and by whom an access was made. */
struct stamp {
    uint64_t where; /* from the highest bits down: 32 block, 20 launch (0: before all), 12 of the
                       thread's step, beyond those in `when` */
    epoch when;     /* 0: never */
};
enum { STAMP_LAUNCH_BITS = 20, STAMP_STEP_BITS = 12 };

static inline uint64_t stamp_block(const struct stamp *s) {
    return s->where >> (STAMP_LAUNCH_BITS + STAMP_STEP_BITS);
}
/* All of it. */
static inline uint32_t stamp_step(const struct stamp *s) {
    return (uint32_t)(s->where % (1 << STAMP_STEP_BITS)) * EPOCH_STEPS +
           (uint32_t)((s->when & EPOCH_STEP_MASK) >> STEP_BIT);
}

/* How far the running block and its threads are. */
struct epochs {
    epoch interval;                  /* since the last barrier */
    epoch thread[MAX_BLOCK_THREADS]; /* each one's epoch but for the code */
    uint64_t block;
    unsigned threads;        /* in a block */
    struct threads returned; /* of them, in this block */
    /* In this interval: of a thread, more steps than an epoch has room for; and an operation that
     * orders some threads of a warp, or a fence, has been made. */
    bool many_steps, has_pairs;
};

/* The epoch of an access by the running thread from `code`. */
static inline epoch epoch_now(const struct epochs *e, const void *code) {
    extern const char __executable_start[];
    return e->thread[running_index.linear] + ((uintptr_t)code - (uintptr_t)__executable_start);
}

/* --- order.c ---------------------------------------------------------------------------------- */

/* Which accesses happen before which: by barriers, by warp operations, and by atomics that are used
 * as a lock, a flag or a counter of finished blocks.
 *
 * The rules, as the PTX memory model has them but for what is marked (*):
 *
 *   - Accesses of one thread happen in the order of the program; so do launches.
 *   - A barrier orders all accesses of the block before it and behind it. A warp operation orders
 *     those of the lanes that take part in it, (*) and those of lanes that have returned before.
 *   - An atomic operation orders nothing but accesses to its own address. With fences it is more: a
 *     thread's __threadfence() before it *releases* all that happened before the fence; a thread
 *     whose atomic on the same address comes later has *acquired* that when a fence, (*) a barrier
 *     or a warp operation is behind it. (*) The fence may be any thread's between the access and
 *     the release; NVIDIA's samples have each thread fence, and one count after the barrier.
 *     __threadfence_block() releases to the thread's own block. The releasing atomic itself happens
 *     before what is behind the acquisition and accesses its address.
 *   - A volatile load acquires as an atomic does, and (*) volatile accesses need no fence behind
 * it. A volatile store releases, right behind a fence.
 *
 * Atomics, volatile loads, and volatile stores right behind a fence, are *strong*: two strong
 * accesses never race.
 *
 * Each thread has a step, which its warp operations and fences raise. What a thread knows of the
 * others is the step before which their accesses happened before its own: of its warp's lanes a
 * table; of all others, other blocks too, references to the releases that it has acquired. */

/* What the threads of a worker's running block know; one for each worker. */
struct order;

/* Of an access that the running thread makes. */
struct stamp order_now(const struct order *o, const struct access *access);
/* Of an epoch of the running block's in which the step is complete. */
struct stamp order_stamp(const struct order *o, epoch when);

/* Whether an access was made in another launch than the running one. */
bool order_other_launch(const struct order *o, const struct stamp *s);

/* Whether an access happens before this one of the running thread to the same address; null: before
 * a plain one. */
bool order_before(struct order *o, const struct stamp *earlier, const struct access *access);

/* Whether single threads of the kernels may be ordered, because there are fences in them, or warp
 * operations of some of a warp's lanes have been made. Else nothing orders threads of two blocks,
 * and of a block barriers and operations of whole warps do. */
bool order_has_pairs(void);
/* The program has fences. */
void order_expect_fences(void);

/* What the runtime and the compiler's calls report: */

void order_begin_launch(void);
/* Of the block whose epochs these are, which must outlive it; null: out of memory. */
struct order *order_make(struct epochs *epochs);
/* The running block's number. */
uint64_t order_block(const struct order *o);
void order_begin_block(struct order *o);
/* A barrier opens. Before the interval's number changes. */
void order_end_interval(struct order *o);
/* The running thread comes to a warp operation that others of its warp do not. It sets has_pairs of
 * the epochs, as a fence does; steps may set many_steps. */
void order_warp_parts(struct order *o);
/* The lanes of this mask that have not returned meet in a warp operation. */
void order_warp_met(struct order *o, unsigned warp, unsigned mask);
/* The running thread fences: __threadfence(), or __threadfence_block(). */
void order_fence(struct order *o, bool device);
/* Its atomic operation, volatile load or volatile store at the address: a release comes before, an
 * acquisition behind it. */
void order_release(struct order *o, uintptr_t address, bool in_shared);
void order_acquire(struct order *o, uintptr_t address, bool in_shared);
void order_volatile_load(struct order *o, uintptr_t address, bool in_shared);
/* Whether the running thread's last fence comes after its last volatile store. */
bool order_is_behind_fence(const struct order *o);
void order_volatile_store(struct order *o, uintptr_t address, bool in_shared);

/* --- release.c -------------------------------------------------------------------------------- */

/* What atomics have released in the running launch, by the address that they were made at, and
 * which of it others have acquired: the part of order.c that outlives a block. All blocks share it,
 * on whatever core they run. */

/* An address at which something was released. */
struct sync;

/* A thread knows the releases at one address, up to and with this number. */
struct ref {
    struct sync *sync;
    uint64_t count;
};
struct refs {
    struct ref *ref;
    unsigned count, room;
    const struct kept_release
        *last; /* what has covered the last access that was; null: not known */
};

/* Where an access of a thread lies: its interval and its step, so that they can be compared. */
typedef uint64_t moment;
static inline moment moment_of(epoch interval, uint32_t step) {
    return (interval >> INTERVAL_BIT) << 32 | step;
}

/* Of threads `first` to `last` of a block: what happened before that moment is released. */
struct run {
    unsigned first, last;
    moment before;
};

/* Whether an access happens before what a thread of this block does. */
struct query {
    const struct stamp *access;
    uint64_t block;
    uintptr_t released_at; /* a strong access, at this address; 0: it does not matter where */
};

/* What one release covers, all of one block. */
struct release {
    uint64_t block;
    epoch interval;  /* in which it was made */
    bool all_before; /* everything before that interval; else these: */
    const struct run *runs;
    unsigned run_count;
    unsigned thread; /* that made it, in this step: its atomic operation */
    uint32_t step;
};

/* Of a lane of that thread's warp, in the interval itself: what happened before these steps, for
 * the threads of the block itself, and for all of the device. */
struct lane_steps {
    uint32_t block, device;
};

/* A new launch: nothing has been released. */
void release_begin_launch(void);
/* Memory that lives until the next launch; null: out of memory. */
void *release_memory(size_t bytes);
/* At this address (of that block's shared memory, or, 0, in global memory); by one who knows
 * `refs`, too. */
void release_add(uintptr_t address, uint64_t shared_of, const struct release *release,
                 const struct lane_steps lane[WARP_SIZE], const struct refs *const refs[2]);
/* What has been released at the address so far is added to `refs`. */
void release_acquire(struct refs *refs, uintptr_t address, uint64_t shared_of);
static inline void refs_forget(struct refs *refs) {
    refs->count = 0;
    refs->last = NULL;
}
/* Adds those of the one to the other. */
void refs_add(struct refs *to, const struct refs *from);
/* Whether one of them covers the access. */
bool refs_cover(struct refs *refs, const struct query *query);

/* --- cells.c ---------------------------------------------------------------------------------- */

/* Shadow cells: what is remembered of the accesses to a word of global memory, and to one of shared
 * memory that more than plain accesses are made to: in one cell, or in one for each byte once a
 * part of the word has been accessed alone. */

/* Empty ones have when = 0. A plain write leaves nothing else: what comes later and races with an
 * access before it races with it, too. */
struct shadow_cell {
    struct stamp write, strong_write; /* the last one */
    struct stamp other_strong_write;  /* before that, by another thread of its block */
    struct stamp read, other_read;    /* two that are not ordered; of two blocks or warps, if any */
    struct stamp *more;               /* others that matter beside these */
    uint32_t more_count, more_room;
    struct shadow_cell
        *others; /* of a word's first byte: those of the others, once they are apart */
};

/* Of reads that are not ordered, those that a later write may race with alone: it may be ordered
 * behind all others. Where fences or warp operations order single threads (order_has_pairs()), that
 * is each of them; else two are enough, nearly always.
 *
 * MANY_READS of a word are kept, and beyond that two of each warp, up to MOST_READS. What comes
 * then, or when the lists of all words have MOST_READ_BYTES, is lost: a write that is ordered
 * behind all that are kept, and not behind a lost one, is not reported. */
enum { MANY_READS = 16, MOST_READS = 96, MOST_READ_BYTES = 64 << 20 };

/* The cells of an array of words; made as words are accessed. */
struct cells {
    size_t words;
    struct cells_part *part;
    uint16_t *origins; /* record/reuse.c's, of each word; null: none yet */
};

void cells_make(struct cells *cells, size_t words);
void cells_drop(struct cells *cells);

/* The cells of a word that such an access is to: `bytes` has a bit for each. Returns how many. From
 * here on the caller holds a lock of the word's. */
unsigned cells_find(const struct cells *cells, size_t word, unsigned bytes,
                    struct shadow_cell *found[WORD]);
/* Whether a plain read of a word would add nothing: it was written before this launch, and threads
 * of two blocks have read it; or MANY_READS, where threads are ordered in pairs. Without a lock:
 * whoever writes it now races with those. */
bool cells_know_reads(const struct order *o, const struct cells *cells, size_t word);
/* Whether any part of a word has been written. */
bool cells_are_written(const struct cells *cells, size_t word);
/* The one cell of a word, whole again, and empty. */
struct shadow_cell *cells_reset(const struct cells *cells, size_t word);
/* Words that were written before any launch. */
void cells_set_written(const struct cells *cells, size_t first, size_t count);
/* Bytes of a word that an access is to. */
unsigned cells_bytes(uintptr_t word_begin, const struct access *access);

/* An earlier access that an access races with. */
struct conflict {
    struct stamp with; /* when = 0: with none */
    bool write;
};

/* Remembers the running thread's access, and says what it races with. */
struct conflict cell_access(struct order *o, struct shadow_cell *cell, const struct access *access,
                            const struct stamp *now);
/* The same for the bytes of a word that the access is to: what the first of them races with. */
struct conflict cells_access(struct order *o, const struct cells *cells, size_t word,
                             unsigned bytes, const struct access *access);
/* Whether this plain read of the word, of the running launch or the last one, is still known: its
 * thread has made no compare-and-swap there since. While no kernel runs. */
bool cells_know_read(const struct cells *cells, size_t word, const struct stamp *read);

/* --- arrays of the run: engine.h's struct engine_array, in row-major order -------------------- */

/* Elements from one index along this axis to the next. */
static inline int64_t array_stride(const struct engine_array *array, int axis) {
    int64_t stride = 1;
    for (int i = axis + 1; i < array->dimensions; ++i) stride *= array->extent[i];
    return stride;
}

static inline size_t array_elements(const struct engine_array *array) {
    return (size_t)(array->extent[0] * array_stride(array, 0));
}

/* How large one of its elements is, in bytes. */
static inline size_t array_element_bytes(const struct engine_array *array) {
    const size_t bytes = element_type_bytes(array->element);
    return bytes ? bytes : array->element_bytes;
}

/* The indices of an element, by its number. Of one that the array does not have, the first index is
 * the one that is outside: element -1 of 34 columns is [-1][33]. */
static inline void array_index(const struct engine_array *array, int64_t element,
                               int64_t index[ENGINE_DIMENSIONS]) {
    for (int i = array->dimensions - 1; i > 0; --i) {
        const int64_t extent = array->extent[i];
        index[i] = (element % extent + extent) % extent;
        element = (element - index[i]) / extent;
    }
    index[0] = element;
}

/* The extent of its rows, along the last axis; and how many there are of those, all other axes
 * together: 1 of an array of one dimension. */
static inline int64_t array_columns(const struct engine_array *array) {
    return array->extent[array->dimensions - 1];
}

static inline int64_t array_rows(const struct engine_array *array) {
    return (int64_t)array_elements(array) / array_columns(array);
}

/* --- regions.c -------------------------------------------------------------------------------- */

/* Allocations of device memory: which there are, and which of them are arrays of the run; and
 * kernel.cu's variables. */

/* An allocation. It is never removed, only marked as freed. */
struct region {
    struct region *next;
    const struct engine_array *array; /* null: an allocation of the wrapper's */
    int number;                       /* the array's, in the run */
    uintptr_t begin;
    size_t bytes;
    struct {
        uintptr_t begin;
        size_t bytes;
    } allocated; /* an array may be only a part of it */
    bool on_device, freed, in_wrapper;
    struct cells cells; /* of everything but inputs, which have none */
    const void *stored; /* behind a kernel's last store there; null: there was none */
    void *frames[16];   /* who allocated it */
    int frame_count;
};

void region_add(char *begin, size_t bytes, bool on_device, bool in_wrapper);
void region_free(char *begin);
/* The bytes count as written before any launch. */
void region_written(struct region *r, const char *to, size_t bytes);
/* The allocation that these elements are in is this array, the number-th; `array` must outlive the
 * run. An input loses its cells. */
void region_name(int number, const struct engine_array *array);

/* Null: none. A freed one is found until its addresses are allocated again. */
struct region *region_find(uintptr_t address);
/* Whether the address is in the region's allocation, if perhaps outside of the array. */
bool region_reaches(const struct region *r, uintptr_t address);
/* Of those that are not freed. */
struct region *region_nearest(uintptr_t address);
/* All of them, the last allocated first. */
struct region *region_first(void);
/* Null: no array has that number, or it is freed. */
const struct region *region_of_array(int number);
/* The array of that number, freed or not; null: the run has none. */
const struct engine_array *region_array(int number);
/* The first array that has a phase axis; the first one that is written. Null: none. */
const struct region *region_with_phases(void);
const struct region *region_output(void);

static inline bool region_is_input(const struct region *r) {
    return r->array && r->array->role == ROLE_INPUT;
}

/* --- global.c --------------------------------------------------------------------------------- */

/* The cells of the allocation that the address is in, or else of kernel.cu's variables, and where
 * they begin; null: none. Kernels access __device__ and managed variables as they do other global
 * memory. */
struct cells *global_cells(uintptr_t address, uintptr_t *begin);

/* --- settled words ----------------------------------------------------------------------------
 *
 * Words of global memory that another plain read in the running launch adds nothing to: a byte a
 * word says so, for the short path (access.c), where no array is known to be an input. */

/* The words from `begin` on, and for each the launch in which it was settled, as one of 1 to 255.
 */
struct settled_span {
    uintptr_t begin;
    size_t words;
    unsigned char *launch;
};

/* Of allocations, and of the program, where kernel.cu's constants lie. */
enum { SETTLED_MEMORY, SETTLED_PROGRAM, SETTLED_SPANS };
struct settled {
    struct settled_span span[SETTLED_SPANS];
    unsigned char now;
};

/* Of the program, from its beginning to its end. */
void settled_make_program(uintptr_t begin, uintptr_t end);
/* Of the running launch; no words where there is no memory for it. */
struct settled settled_now(void);
/* Before its first block. */
void settled_begin_launch(void);
/* Under the word's lock. */
void settled_set(uintptr_t word);
/* Before a write. */
void settled_clear(uintptr_t word);

#endif
