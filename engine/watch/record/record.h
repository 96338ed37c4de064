/* What is kept of a run beside its mistakes: plain data.
 *
 *     counts.c   what kernels load and store, counted; docs/look.md says how each figure is defined
 *     phases.c   what one block's phases were; show/phases.c prints them
 *     reuse.c    where what is in device memory comes from
 *     trace.c    the accesses of a few blocks, one by one; recover.c finds index formulas in them
 */
#ifndef ENGINE_WATCH_RECORD_RECORD_H
#define ENGINE_WATCH_RECORD_RECORD_H
#include "../shadow/shadow.h"
#include <stdbool.h>

enum {
    SECTOR = 32, /* bytes that move between the L2 cache and a multiprocessor at least */
    BANKS = 32   /* of shared memory, a word wide each */
};

/* --- counts ----------------------------------------------------------------------------------- */

/* The run's arrays come first, by their numbers; then what else is in global memory: what a kernel
 * has stored, or a call of the host's has copied from there or from an input; and, of loads only,
 * what the host has put there, in whatever memory: __constant__ variables, tables. */
enum { COUNTED_OTHER = ENGINE_ARRAYS, COUNTED_CONSTANTS, COUNTED_SHARED, COUNTED_PLACES };
enum counted_way { COUNTED_LOADS, COUNTED_STORES, COUNTED_ATOMICS, COUNTED_WAYS };

struct counted {
    uint64_t elements;  /* that threads asked for: of an array its own, elsewhere words of 4 bytes;
                           less than one counts as one */
    uint64_t requests;  /* instructions of a warp */
    uint64_t bytes;     /* asked for, each byte once a request however many threads want it */
    uint64_t sectors;   /* of global memory, that the requests access */
    uint64_t conflicts; /* of shared memory: passes beyond those that the bytes need */
    unsigned worst;     /* the most words that one request needs from one bank */
};

/* One line of the program that moves more sectors than it asks for bytes, or whose requests meet in
 * a bank. */
struct counted_line {
    char file[512];
    int line;
    int place;
    enum counted_way way;
    struct counted counted;
};
enum { COUNTED_LINES = 6 };

struct counted_launch {
    char kernel[128];
    unsigned grid[3], block[3];
    uint64_t blocks, blocks_ended; /* fewer ended than there are: the launch was stopped early */
    struct counted of[COUNTED_PLACES][COUNTED_WAYS];
    uint64_t barriers, least_barriers, most_barriers; /* in all; in one block */
    uint64_t needed; /* loads of inputs, if each block loaded each element that it uses once */
    /* Elements that a thread read from shared memory where another one of its block had stored them
     * last, and values that warp operations brought it from other lanes. */
    uint64_t exchanged;
    /* Blocks that neither store nor add anything in global memory, so that nothing comes of them:
     * how many, and what they have part of in loads and atomics of global memory but for
     * COUNTED_CONSTANTS, in `needed` and in `exchanged`. */
    uint64_t idle_blocks, idle_loads, idle_needed, idle_exchanged;
    uint64_t passed_over; /* of idle_blocks: did not run, and no other figure has part in them */
    struct counted_line lines[COUNTED_LINES]; /* where most is to gain comes first */
    int line_count;
};

static inline void counted_add(struct counted *sum, const struct counted *more) {
    sum->elements += more->elements;
    sum->requests += more->requests;
    sum->bytes += more->bytes;
    sum->sectors += more->sectors;
    sum->conflicts += more->conflicts;
    if (sum->worst < more->worst) sum->worst = more->worst;
}

/* From now on launches are counted. Before the first one. Without `costs`, only what KEEP_LOADS
 * says. */
void counts_watch(bool costs);

/* The launches so far, in their order. Returns how many. */
int counts_launches(const struct counted_launch **launches);

/* --- phases ----------------------------------------------------------------------------------- */

/* A load of an element of an input. */
struct phase_load {
    int array; /* by its number in the run */
    size_t element;
};

/* A shared array that was written in the phase, as it was at the phase's end. */
struct phase_array {
    char name[64];
    int dimensions;
    size_t dimension[4];
    enum element element;
    size_t count, size;   /* of elements; of all of them, in bytes */
    unsigned char *bytes; /* what they hold */
};

/* From one barrier to the next, with loads of inputs between. */
struct phase {
    struct phase_load *loads;
    size_t load_count;
    struct phase_array *arrays;
    int array_count;
};

/* Of one launch, in which the block loads an input. */
struct phases {
    char kernel[128];
    unsigned block_size[3], block[3];
    uint64_t number, many; /* of all that were made, from 1; and how many these are */
    struct phase *phases;
    int count;
    int *first[ENGINE_ARRAYS];   /* of each element of an input: the phase that loaded it first,
                                    from 1; 0: none. Null: the array is no input */
    bool *stored[ENGINE_ARRAYS]; /* elements that the block stored, likewise of the others */
};

/* From now on the phases of this block, x, y, are kept, in the launch with this number, from 1; 0:
 * in the first one in which it loads an input. */
void phases_watch(const unsigned block[2], uint64_t launch);

/* Null: there are none. */
const struct phases *phases_shown(void);

/* --- reuse.c: origins ------------------------------------------------------------------------- */

/* Where what is in device memory comes from: which launch stored each word. From that follows
 * whether a load may bring an element of an input, and which launches a result comes from:
 * reuse_counted(). Kept where loads are counted (counts.c). */

/* Of a word. No kernel has stored it, nor has a call of the host's copied it from a word that one
 * has stored: it holds what the host has put there, or nothing. Else it is an input's, or such a
 * call's copy of it; or the last launch that stored it, as a number from ORIGIN_LAUNCH on. */
typedef uint16_t origin;
enum {
    ORIGIN_HOST = 0,
    ORIGIN_INPUT,
    ORIGIN_LAUNCH,
    ORIGIN_LAUNCHES = 1024, /* all later launches count as the last of these */
    ORIGINS = ORIGIN_LAUNCH + ORIGIN_LAUNCHES
};

/* Of the word that this address is in; of memory that has no origins, ORIGIN_HOST. */
origin origin_of(uintptr_t address);
/* Sets it. Returns the one that it had before, or `now` where a word has none. */
origin origin_set(uintptr_t address, origin now);
/* A call of the host's has copied this; `from` is null: it has set all bytes to one value. Of a
 * word only a whole one takes the origin away: elsewhere a part of what was there stays. */
void origin_copied(const char *to, const char *from, size_t bytes);

/* What a worker has seen of the running launch. */
struct reuse_origins {
    uint64_t loads[ORIGINS]; /* of words that are no input's, by their origin */
    uint64_t output;         /* elements of the output that were stored, each once */
};

/* Of launches, without their blocks that store nothing: see struct counted_launch. */
struct counted_reuse {
    uint64_t loads;  /* and atomics, of global memory but for COUNTED_CONSTANTS */
    uint64_t needed; /* of inputs, and all loads of COUNTED_OTHER */
    uint64_t exchanged;
};

/* The running launch, as the origin of what it stores. */
origin reuse_running(void);
/* Adds a worker's part to the launch that has ended, and clears it. */
void reuse_take_origins(struct reuse_origins *of);
/* Behind that: what it has counted. The next launch is another one. */
void reuse_launch_ended(const struct counted_reuse *own);

/* Of the launches that the output comes from, after the last one. A launch comes from those before
 * it whose stores it loads; but for so few loads (a sixteenth of the output, in all launches
 * together) that they can be of counters and flags only. The output comes from the launches that
 * have stored it last, and theirs. Where launches have stored all of it before, each of them could
 * have been the last; what is returned is of that one which, with those that it comes from, has
 * loaded most. Of all launches, where none has stored any of it. */
struct counted_reuse reuse_counted(void);

/* --- trace.c ---------------------------------------------------------------------------------- */

/* The accesses of a few blocks of each of a run's launches, with their threads, intervals and
 * values, in the order in which they were made. */

/* Arrays by number: first the run's; from TRACE_SHARED on the shared arrays. */
enum { TRACE_SHARED = ENGINE_ARRAYS, TRACE_ARRAYS = TRACE_SHARED + 16 };

enum { TRACE_BYTES = 16 }; /* of one access, at most */

struct trace_access {
    const void *code;  /* behind the instruction */
    int64_t offset;    /* in elements, from the array's first; may lie outside of it */
    uint32_t interval; /* barriers that the block had passed */
    unsigned char bytes[TRACE_BYTES]; /* of its elements: what a load gets, and what a store leaves;
                                         behind those of an atomic operation, what it replaced */
    uint16_t thread;                  /* linear index in its block */
    uint8_t block;                    /* number in struct trace */
    uint8_t array;
    uint8_t elements;
    bool write, atomic;
    bool valued; /* `bytes` are known: not of elements outside of all allocations, nor of the store
                    with which a run was stopped */
};

/* A shared array that the blocks accessed. */
struct trace_array {
    char name[64];
    size_t offset; /* in thread-local storage */
    enum element element;
    size_t elements;
    int dimensions; /* 0: dynamic shared memory, or not known */
    size_t dimension[4];
};

/* A barrier that opened: where it is in the program, and the interval that it ended. */
struct trace_barrier {
    const void *code; /* behind the call */
    uint32_t interval;
    uint8_t block;
    struct waiting at[BARRIER_PLACES]; /* the second one where threads waited in two lines */
    struct threads returned;
};

/* Grids of up to TRACE_WHOLE blocks are kept whole, as those of the shapes of evidence are. */
enum { TRACE_BLOCKS = 27, TRACE_WHOLE = 12, TRACE_LAUNCHES = 8 };

enum { TRACE_MOST = 1 << 21 }; /* accesses of all launches together, 48 bytes each, and barriers */

/* Of one launch. */
struct trace {
    uint64_t launch; /* its number, from 1 */
    const void *kernel;
    unsigned grid[3], block[3];
    unsigned blocks[TRACE_BLOCKS][3];
    int block_count;
    struct trace_access *access;
    size_t count;
    struct trace_barrier *barrier; /* of these blocks, in order */
    size_t barrier_count;
    bool loads_input; /* one of these accesses is a load of an element of an input */
    /* Where threads of the last block were when its launch was stopped. */
    bool stopped;
    struct waiting waiting[BARRIER_PLACES];
    struct threads returned;
    bool ended;    /* all blocks of the launch came to their end */
    bool complete; /* nothing was left out for lack of room */
    /* A load was left out, or an access to shared memory, that is not of elements of these arrays:
     * one of a copy of an input, say. */
    bool others;
    bool plain; /* the blocks' threads share nothing but whole elements of arrays and shared arrays,
                   and are ordered by barriers alone: no atomics, asynchronous copies, warp
                   synchronizations, no other memory */
    struct trace_array shared[TRACE_ARRAYS - TRACE_SHARED];
    int shared_count;
};

/* The elements of this array, by its number; and how large one is. */
enum element trace_element(const struct trace *trace, int array);
size_t trace_element_bytes(const struct trace *trace, int array);

struct watch;

/* Which elements of an array an access is to: sets their array, offset, elements and valued. A
 * shared array that is new is added to the trace. False: it has no place for the access, which is
 * to no array, or not to whole elements. */
bool trace_find(struct trace *t, const struct watch *w, const struct access *access,
                struct trace_access *found);

/* One of the shared arrays by its number. */
static inline const struct trace_array *trace_shared(const struct trace *t, int array) {
    return &t->shared[array - TRACE_SHARED];
}

/* From now on accesses to arrays and shared arrays are kept, of all blocks of a small grid, and of
 * the first two and the last one in each direction of a larger one, of the first TRACE_LAUNCHES
 * launches. Of more, the last one that is kept gives way to the one that trace_shown() is about.
 * Before the first launch.
 *
 * `launch` is the number of the one that trace_shown() is about, from 1; 0: the first one that
 * loads an input, because one that loads none computes nothing of them.
 *
 * Where `block` is not null, x, y, z, of this block alone, and of that launch alone; and an access
 * outside of all allocations is kept as one of the nearest array. */
void trace_watch(uint64_t launch, const unsigned *block);

/* The launches of which something is kept so far, in their order; the caller does not own them. */
int trace_launches(const struct trace *const **launches);

/* The one that was asked for; without blocks where there is none. */
const struct trace *trace_shown(void);

#endif
