/* What atomics have released in the running launch, by the address that they were made at, and
 * which of it others have acquired: the part of order.h that outlives a block. All blocks share it,
 * on whatever core they run. */
#ifndef ENGINE_WATCH_SHADOW_RELEASE_H
#define ENGINE_WATCH_SHADOW_RELEASE_H
#include "epoch.h"

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
    /* In the interval itself: of the lanes of the thread's warp the steps before this one, for the
     * threads of the block itself, and for all of the device. */
    unsigned thread; /* that made it, in this step: its atomic operation */
    uint32_t step;
    struct lane_steps {
        uint32_t block, device;
    } lane[WARP_SIZE];
};

/* A new launch: nothing has been released. */
void release_begin_launch(void);
/* Memory that lives until the next launch; null: out of memory. */
void *release_memory(size_t bytes);
/* At this address (of that block's shared memory, or, 0, in global memory); by one who knows
 * `refs`, too. */
void release_add(uintptr_t address, uint64_t shared_of, const struct release *release,
                 const struct refs *const refs[2]);
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

#endif
