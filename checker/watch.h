/* What the checker's files share.
 *
 *   access.c    the compiler's calls at each load and store: the fast way through
 *   shared.c    shared memory: races, elements nobody wrote, bounds
 *   global.c    global memory: matrices and other allocations, races between blocks
 *   copies.c    asynchronous copies from the one into the other
 *   block.c     blocks, barriers, threads that return; what the runtime tells us
 *   host.c      the wrapper: launches, failed calls, leaks, device pointers
 *   event.c     the first mistake seen is kept; later it becomes a finding: see tell.h
 *   program.c   the program's own variables, kernel.cu's and the others
 *   names.c     from an address in shared memory to A_s[3][7]
 *   counts.c    how many loads and stores, sectors, bank conflicts, barriers
 *   phases.c    the tile phases of one block
 *
 * Each word (4 bytes) of memory has a shadow that remembers who wrote and read it last. Threads of
 * a block are unordered between two barriers, so two of them that touch one word in one interval,
 * one of them writing, race, in whatever order they happened to run here. */
#ifndef CHECKER_WATCH_H
#define CHECKER_WATCH_H
#include "../emulator/runtime/runtime.h"
#include "checker.h"
#include <string.h>

enum { WORD = 4, A_AND_B = 2 };

/* An access as a shadow keeps it, in 64 bits, ordered by interval:
 *   interval 18 | thread 10 | meetings 11 | exempt 1 | code 24
 * Interval 1: before the block began; from 2 on: since so many barriers. `meetings` counts
 * the warp operations that the thread's warp has done in the interval: those order its lanes.
 * An exempt access (atomic, or of less than a word) races with nobody. `code` is an offset into the
 * program. */
typedef uint64_t record;
enum { CODE_BITS = 24, EXEMPT_BIT = 24, MEETINGS_BIT = 25, THREAD_BIT = 36, INTERVAL_BIT = 46 };
#define RECORD_INTERVAL(number) ((record)(number) << INTERVAL_BIT)
#define RECORD_THREAD_MASK ((record)1023 << THREAD_BIT)
#define RECORD_MEETINGS_MASK ((record)2047 << MEETINGS_BIT)
#define RECORD_EXEMPT ((record)1 << EXEMPT_BIT)
#define RECORD_BEFORE RECORD_INTERVAL(1)
/* Of a word's last write, later than any interval, so that the fast way leaves them aside: nobody
 * has written the word; no kernel may touch it. */
#define RECORD_NEVER (~(record)1)
#define RECORD_OUTSIDE (~(record)0)
enum { FIRST_INTERVAL = 2, LAST_INTERVAL = (1 << 18) - 2 };
/* Or an asynchronous copy is on its way to the word: the interval is later than any, and the number
 * of the copy's group, as far as there is room, stands in place of the meetings. */
#define RECORD_COMING RECORD_INTERVAL(LAST_INTERVAL + 1)

static inline unsigned record_thread(record r) { return (unsigned)(r >> THREAD_BIT) & 1023; }
static inline bool record_is_coming(record r) { return r >= RECORD_COMING && r < RECORD_NEVER; }

/* A word of shared memory. Two readers, because one of them may be who writes next. */
struct shared_word {
    record write, earlier; /* earlier: the last write of an earlier interval; 0: none */
    record read, other_read;
};

/* Rows and columns of A or B, as the fast way needs them. */
struct span {
    uintptr_t begin;
    size_t words;
};

enum place_of_barrier { BARRIER_PLACES = 2 };

/* A read of a shared word that nobody had written: harmless only if this turns out to be a race. */
struct unwritten_read {
    size_t word;
    record reader;
};

enum { ACCESSES_OF_A_STATEMENT = 8 }; /* among which the one with a bad index is looked for */

/* An index that the compiler's bounds check objected to; the access tells which array it was. */
struct bad_index {
    bool pending;
    unsigned thread;
    int accesses; /* seen since */
    const char *file, *type;
    int line;
    long index;
};

/* Threads that wait at one barrier. */
struct arrivals {
    const void *code;
    unsigned count, first_thread;
};

/* A worker's watch over the block it runs. */
struct watch {
    /* the fast way */
    uintptr_t shared_begin;
    size_t shared_words; /* 0 while armed: every access goes the slow way */
    struct shared_word *shadow;
    record interval;
    struct span input[A_AND_B];
    uint32_t last_a[MAX_BLOCK_THREADS]; /* word of A that each thread read last, plus 1 */
    record thread[MAX_BLOCK_THREADS];   /* its records but for the code */

    /* the slow way */
    size_t all_words;
    struct worker_memory memory;
    size_t dynamic_first; /* word at which dynamic shared memory begins */
    size_t dynamic_words; /* of it, that the shadow knows the block to have */
    bool touched;         /* shared memory, since the shadow was reset */
    const struct launch *launch;
    uint64_t block;
    unsigned returned, first_returned;
    struct arrivals arrived[BARRIER_PLACES];
    const void *last_barrier;
    unsigned returned_at_barrier; /* when that one opened */
    struct unwritten_read unwritten;
    bool has_unwritten;
    struct bad_index bad_index;
    struct watch *next;                   /* of all workers' */
    struct counts *counts;                /* null: nothing is counted */
    bool phases;                          /* those of the running block are kept */
    bool synchronised[MAX_BLOCK_THREADS]; /* used an atomic in this interval */
    bool any_synchronised, block_synchronised;
    bool any_copied;                          /* in this block, asynchronously */
    uint64_t copied_group[MAX_BLOCK_THREADS]; /* of each thread's last such copy, plus 1 */
    uint32_t phase_a[MAX_BLOCK_THREADS]; /* last_a at the last barrier, until the tile's width is
                                            known */
};

static inline struct watch *watch_here(void) { return observer_worker; }

/* Bits of a record for an access by the running thread from `code`. */
static inline record record_now(const struct watch *w, const void *code) {
    extern const char __executable_start[];
    return w->thread[running_index.linear] + ((uintptr_t)code - (uintptr_t)__executable_start);
}
const void *record_code(record r);

/* Whether two accesses of one interval, by different threads, are ordered by their warp's
 * operations, or exempt. */
static inline bool record_ordered(record a, record b) {
    bool one_warp = record_thread(a) / WARP_SIZE == record_thread(b) / WARP_SIZE;
    return ((a | b) & RECORD_EXEMPT) ||
           (one_warp && (a & RECORD_MEETINGS_MASK) != (b & RECORD_MEETINGS_MASK));
}

struct access {
    uintptr_t address;
    unsigned size;
    bool write, atomic;
    bool copying; /* an asynchronous copy begins, of the thread's group with this number */
    uint64_t group;
    const void *code; /* behind the instruction */
};

/* --- access.c --------------------------------------------------------------------------------- */

/* Whatever the fast way does not do. */
void access_slowly(const struct access *access);

/* --- shared.c --------------------------------------------------------------------------------- */

bool shared_attach(struct watch *w);
void shared_begin_block(struct watch *w);
void shared_end_interval(struct watch *w);
void shared_slow_access(struct watch *w, const struct access *access);
/* An asynchronous copy is where the running thread wants it. */
void shared_copy_arrived(struct watch *w, const struct access *access);
void shared_arm(struct watch *w);
/* No access followed a bad index: it was an array of the thread's own. */
void shared_give_up_bad_index(struct watch *w);

/* --- global.c --------------------------------------------------------------------------------- */

/* An allocation of device memory. A, B and C are named; the others belong to the wrapper. */
struct region {
    struct region *next;
    const char *name; /* null: not named */
    uintptr_t begin;
    size_t bytes;
    int rows, cols; /* of a named one */
    enum checker_role role;
    bool on_device, freed, in_wrapper;
    struct global_word *shadow; /* of everything but inputs; zero: never touched */
    void *frames[16];           /* who allocated it */
    int frame_count;
};

void global_access(struct watch *w, const struct access *access);
struct region *global_find(uintptr_t address);
struct region *global_nearest(uintptr_t address);
struct region *global_regions(void);
const struct region *global_named(const char *name);
void global_allocated(char *begin, size_t bytes, bool on_device);
void global_freed(char *begin);
void global_copied(char *to, size_t bytes);
void global_begin_launch(void);
void global_watch_inputs(struct watch *w);

/* --- program.c -------------------------------------------------------------------------------- */

/* Whether an address lies in the program, its code and variables. */
bool program_holds(uintptr_t address);
/* Whether it is a variable of neither kernel.cu nor the C++ library. Slow where it is. */
bool program_is_foreign(uintptr_t address);
/* A kernel writes a word of kernel.cu's variables; whether one has. */
void program_kernel_writes(uintptr_t address);
bool program_kernel_wrote(uintptr_t address);

/* --- block.c ---------------------------------------------------------------------------------- */

/* The watch over a block, after a fault; null: none runs it. */
const struct watch *block_watch(uint64_t block);
extern uint32_t block_tile_width; /* columns of A in a tile phase; 0: not known */

/* --- host.c ----------------------------------------------------------------------------------- */

/* Adds what the host does to what is watched. */
void host_install(struct observer *o);
void host_access(const struct access *access);
bool host_in_wrapper(void);
void host_out_of_memory(const char *what) __attribute__((noreturn));
/* The wrapper copies or sets what is to stay as it is. */
void host_changes_input(uintptr_t address);

/* --- counts.c, phases.c ------------------------------------------------------------------------
 */

void counts_block_begins(struct watch *w);
void counts_access(struct watch *w, const struct access *access);
/* At a barrier; or it has returned. */
void counts_thread_waits(struct watch *w, unsigned thread, bool returned);
void counts_interval_ends(struct watch *w);
void counts_block_ended(struct watch *w);
void counts_launch_ended(const struct launch *launch);
void counts_kernel_name(const void *kernel, char *name, size_t bytes);

void phases_block_begins(struct watch *w);
void phases_access(struct watch *w, const struct access *access);
void phases_interval_ends(struct watch *w);
void phases_block_ended(struct watch *w);

/* --- copies.c --------------------------------------------------------------------------------- */

void copies_begin(const struct async_copy *copy);
void copies_arrived(const struct async_copy *copy);

/* --- names.c ---------------------------------------------------------------------------------- */

/* A shared array, as the program's debug information knows it. */
enum { NAME_DIMENSIONS = 4 };
struct shared_name {
    char name[64];
    size_t offset, bytes; /* in thread-local storage */
    size_t element;       /* bytes; 0: not known */
    int dimensions;
    size_t dimension[NAME_DIMENSIONS];
};

/* Not a variable of the program's: the flag that gcc keeps beside a shared array of float4, because
 * in the checked build those have constructors (vector_types.h). The poison in it says "done". */
static inline bool name_is_guard(const struct shared_name *name) {
    return strncmp(name->name, "_ZGV", 4) == 0;
}
/* The variable that holds byte `offset` of the thread-local storage. False: none, or no symbols. */
bool name_find(size_t offset, struct shared_name *found);
/* The last one that begins at or before it. */
bool name_before(size_t offset, struct shared_name *found);
/* All of them, in order of their offsets, without dimensions; what the runtime keeps there is not
 * among them. */
int name_list(const struct shared_name **list);
/* The one name that the program gives to dynamic shared memory; "dynamic shared memory" where it
 * has several or none. */
const char *name_of_dynamic(void);
bool name_has_dynamic(void);
/* Whether the variable's dimensions end as those of `type` ("float [16]"). */
bool name_ends_as(const struct shared_name *name, const char *type);
/* Whether any variable's do; its name is empty if several do. */
bool name_any_ends_as(const char *type, struct shared_name *found);
/* The variable whose array of that type an access with a bad index was meant for: where the index,
 * taken back, leads from the access at `offset` to the start of a row. The access itself may lie in
 * another variable, or in none. */
bool name_of_index(size_t offset, const char *type, long index, struct shared_name *found);

/* --- event.c ---------------------------------------------------------------------------------- */

/* A mistake as it is noted on the spot; the words come later, on the host's thread. */
struct event {
    enum finding_kind kind;
    bool in_kernel, in_shared, write, has_other, other_write, atomic;
    const void *code, *other_code; /* behind the instruction */
    const char *file;              /* the place, where the compiler told it */
    int line;
    unsigned thread, other_thread;
    uint64_t block, other_block;
    struct uint3 grid_size, block_size;
    uintptr_t address;
    unsigned size;
    size_t shared_offset, dynamic_offset, dynamic_bytes; /* in thread-local storage */
    bool overwritten; /* a race on an element that held an earlier phase's value */
    bool coming;      /* a race with an asynchronous copy that nobody has waited for */
    bool has_index;
    long index; /* the bad one, in an array of type array_type */
    char array_type[64];
    unsigned waiting, elsewhere; /* threads at a barrier, and not there */
    uint32_t a_column;           /* rightmost column of A that the block has read, plus 1 */
    char what[64];               /* the CUDA call that failed */
    char text[400];              /* what host.c and the runtime have to say */
    const char *hint;            /* a literal; null: the kind's own */
    struct place place;          /* known already, if place.line */
};

/* Keeps the event if it is the first. True if it was: the caller tells no more. */
bool event_note(const struct event *event);
bool event_noted(void);
/* An event at the running thread's access. */
struct event event_here(const struct watch *w, enum finding_kind kind, const struct access *access);
/* The finding of the first event, or one of kind FINDING_NONE. */
struct finding event_finding(void);

#endif
