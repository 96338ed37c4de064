/* The device's allocations: pages of this process that only kernels and copies may touch.
 *
 * Each allocation has pages of its own between two wide gaps that fault on any access,
 * so that a stray access of a kernel does not read a neighbor. While host code runs, the
 * allocations are closed as well: host code that dereferences a device pointer faults, as it would
 * with a GPU. Fresh memory holds a signalling NaN in every word. Freed memory stays closed for a
 * while. */
#define _GNU_SOURCE
#include "../../report/element_type.h"
#include "../../report/text/text.h"
#include "runtime.h"
#include <sys/mman.h>
#include <unistd.h>
#include <wchar.h>

enum {
    GAP_BYTES = 16 << 20, /* address space only; wider than a few rows of any array here */
    QUARANTINED = 256     /* freed allocations whose addresses stay closed */
};

/* Device memory starts at an address far from the host's heap and stack, so that its addresses are
 * free in the host code's process, too. A hint: where it is out of range, the system chooses. */
#define DEVICE_BEGIN ((uintptr_t)1 << 45)

/* The farthest address that is described relative to an allocation: a row too many or a negative
 * index, times a large array. */
#define DESCRIBED_BYTES ((size_t)64 << 30)

struct allocation {
    struct allocation *next;
    enum allocation_kind kind;
    char *begin;
    size_t bytes;  /* as asked for */
    size_t mapped; /* whole pages */
    bool read_only;
};

static struct {
    pthread_mutex_t lock;
    struct allocation *first;
    uintptr_t next; /* where the next one goes, with its gaps */
    int opened;     /* how many callers need it open */
    struct range freed[QUARANTINED];
    unsigned frees;
} memory = {.lock = PTHREAD_MUTEX_INITIALIZER, .next = DEVICE_BEGIN};

/* --- open and closed -------------------------------------------------------------------------- */

static void protect_all(int protection) {
    for (struct allocation *a = memory.first; a; a = a->next)
        if (a->kind == ALLOCATION_DEVICE) {
            a->read_only = false;
            mprotect(a->begin, a->mapped, protection);
        }
}

void memory_open(void) {
    pthread_mutex_lock(&memory.lock);
    if (memory.opened++ == 0) protect_all(PROT_READ | PROT_WRITE);
    pthread_mutex_unlock(&memory.lock);
}

void memory_close(void) {
    pthread_mutex_lock(&memory.lock);
    if (--memory.opened == 0) protect_all(PROT_NONE);
    pthread_mutex_unlock(&memory.lock);
}

/* --- finding ---------------------------------------------------------------------------------- */

static size_t distance(const struct allocation *a, const char *address) {
    if (address < a->begin) return (size_t)(a->begin - address);
    if (address >= a->begin + a->bytes) return (size_t)(address - (a->begin + a->bytes)) + 1;
    return 0;
}

static const struct allocation *nearest(const void *address) {
    const struct allocation *best = NULL;
    for (const struct allocation *a = memory.first; a; a = a->next)
        if (!best || distance(a, address) < distance(best, address)) best = a;
    return best;
}

bool memory_is_device(const void *address) {
    const struct allocation *a = nearest(address);
    return a && a->kind == ALLOCATION_DEVICE && distance(a, address) <= GAP_BYTES;
}

void memory_describe(const void *address, char *text, size_t bytes) {
    const char *at = address;
    const struct allocation *a = nearest(address);
    size_t away = a ? distance(a, address) : 0;
    text[0] = '\0';
    for (unsigned i = 0; i < QUARANTINED; ++i) {
        const struct range *freed = &memory.freed[i];
        if (at < freed->begin || at >= freed->end) continue;
        snprintf(text, bytes, "in %s bytes of device memory that were freed",
                 grouped((uint64_t)(freed->end - freed->begin)).text);
        return;
    }
    if (!a || away > DESCRIBED_BYTES) return;
    if (at < a->begin)
        snprintf(text, bytes, "%s bytes before the beginning of a device allocation of %s bytes",
                 grouped(away).text, grouped(a->bytes).text);
    else if (away)
        snprintf(text, bytes, "%s bytes behind the end of a device allocation of %s bytes",
                 grouped(away - 1).text, grouped(a->bytes).text);
    else
        snprintf(text, bytes, "byte %zu of a device allocation of %s bytes",
                 (size_t)(at - a->begin), grouped(a->bytes).text);
}

enum allocation_kind allocation_kind_of(const void *address, size_t bytes) {
    const uintptr_t at = (uintptr_t)address;
    enum allocation_kind kind = ALLOCATION_NONE;
    pthread_mutex_lock(&memory.lock);
    for (const struct allocation *a = memory.first; a; a = a->next) {
        const size_t offset = at - (uintptr_t)a->begin;
        if (offset <= a->bytes && bytes <= a->bytes - offset) kind = a->kind;
    }
    pthread_mutex_unlock(&memory.lock);
    return kind;
}

bool memory_touches_device(const void *address, size_t bytes) {
    const uintptr_t at = (uintptr_t)address;
    bool touches = false;
    pthread_mutex_lock(&memory.lock);
    for (const struct allocation *a = memory.first; a && !touches; a = a->next) {
        const uintptr_t low = (uintptr_t)a->begin - GAP_BYTES,
                        high = (uintptr_t)a->begin + a->mapped + GAP_BYTES;
        touches = a->kind == ALLOCATION_DEVICE && at < high && bytes > 0 &&
                  (at >= low || bytes > low - at);
    }
    pthread_mutex_unlock(&memory.lock);
    return touches;
}

/* --- allocating and freeing ------------------------------------------------------------------- */

static size_t whole_pages(size_t bytes) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return (bytes + page - 1) / page * page;
}

/* Takes over `a`. */
static void *keep(struct allocation *a) {
    pthread_mutex_lock(&memory.lock);
    a->next = memory.first;
    memory.first = a;
    if (a->kind == ALLOCATION_DEVICE && !memory.opened) mprotect(a->begin, a->mapped, PROT_NONE);
    pthread_mutex_unlock(&memory.lock);
    return a->begin;
}

/* At `begin` exactly, or, where that is null, anywhere; closed, between its gaps. Null: out of
 * memory, or the addresses are not free. */
static struct allocation *reserve(char *begin, size_t bytes, enum allocation_kind kind) {
    struct allocation *a = calloc(1, sizeof *a);
    const size_t mapped = whole_pages(bytes), all = mapped + 2 * (size_t)GAP_BYTES;
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    char *low = MAP_FAILED;
    if (a && begin)
        low = mmap(begin - GAP_BYTES, all, PROT_NONE, flags | MAP_FIXED_NOREPLACE, -1, 0);
    else if (a)
        low = mmap((void *)__atomic_fetch_add(&memory.next, all, __ATOMIC_RELAXED), all, PROT_NONE,
                   flags, -1, 0);
    /* Linux before 4.17 takes MAP_FIXED_NOREPLACE for a hint. */
    if (low == MAP_FAILED || (begin && low != begin - GAP_BYTES)) {
        free(a);
        return NULL;
    }
    *a = (struct allocation){
        .kind = kind, .begin = low + GAP_BYTES, .bytes = bytes, .mapped = mapped};
    return a;
}

void *memory_allocate(size_t bytes, enum allocation_kind kind) {
    struct allocation *a = reserve(NULL, bytes, kind);
    if (!a || mprotect(a->begin, a->mapped, PROT_READ | PROT_WRITE) != 0) {
        free(a);
        return NULL;
    }
    wmemset((wchar_t *)(void *)a->begin, (wchar_t)POISON_MALLOC, a->mapped / sizeof(wchar_t));
    return keep(a);
}

bool memory_reserve(void *begin, size_t bytes) {
    struct allocation *a = reserve(begin, bytes, ALLOCATION_DEVICE);
    return a && keep(a);
}

/* Closes the pages and gives their memory back; the addresses are reused only much later. */
static void quarantine(const struct allocation *a) {
    struct range *freed = &memory.freed[memory.frees++ % QUARANTINED];
    if (freed->begin)
        munmap(freed->begin - GAP_BYTES,
               whole_pages((size_t)(freed->end - freed->begin)) + 2 * (size_t)GAP_BYTES);
    mmap(a->begin, a->mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED,
         -1, 0);
    *freed = (struct range){a->begin, a->begin + a->bytes};
}

bool memory_free(void *pointer, bool pinned) {
    struct allocation *a = NULL;
    pthread_mutex_lock(&memory.lock);
    for (struct allocation **link = &memory.first; *link && !a; link = &(*link)->next)
        if ((*link)->begin == pointer && ((*link)->kind == ALLOCATION_PINNED) == pinned) {
            a = *link;
            *link = a->next;
            if (observer) observer->freed(a->begin);
            quarantine(a);
            break;
        }
    pthread_mutex_unlock(&memory.lock);
    free(a);
    return a != NULL;
}

void *memory_last(bool *pinned) {
    pthread_mutex_lock(&memory.lock);
    const struct allocation *a = memory.first;
    *pinned = a && a->kind == ALLOCATION_PINNED;
    pthread_mutex_unlock(&memory.lock);
    return a ? a->begin : NULL;
}

/* --- which blocks write ------------------------------------------------------------------------
 *
 * Found by the memory's hardware, in a program that is not instrumented.
 *
 * Device memory can be read only while a block runs. The first write to an allocation faults, which
 * says that this block writes, and opens the allocation until the block has ended. So a block that
 * writes nothing costs nothing; one that does, some microseconds. A block that is not noted as one
 * that writes has written nothing to device memory, whatever its instructions were; of variables of
 * the program's this knows nothing. */

static struct writers *into; /* null: nothing is noted */
static struct {
    volatile bool writes; /* the running block */
    uint64_t writers_work;
    uint32_t first; /* of the launch's runs */
    bool full;      /* there are more runs than there is room for */
} now;

/* Lets kernels only read device memory, until memory_close() or, an allocation at a time,
 * allow_writes(). False: the host uses some of it, too. Nothing else changes the list while
 * kernels run: launches take turns, and host code that allocates meanwhile adds in front. */
static bool refuse_writes(void) {
    for (struct allocation *a = memory.first; a; a = a->next)
        if (a->kind != ALLOCATION_DEVICE) return false;
    for (struct allocation *a = memory.first; a; a = a->next)
        if (!a->read_only) a->read_only = mprotect(a->begin, a->mapped, PROT_READ) == 0;
    return true;
}

/* An access to this address has faulted. True: it was a write to an allocation that could only be
 * read, and can be written now. Async-signal-safe. */
static bool allow_writes(const void *address) {
    const char *at = address;
    for (struct allocation *a = memory.first; a; a = a->next)
        if (a->read_only && at >= a->begin && at < a->begin + a->mapped) {
            a->read_only = false;
            return mprotect(a->begin, a->mapped, PROT_READ | PROT_WRITE) == 0;
        }
    return false;
}

void writers_note(struct writers *writers) { into = writers; }

bool writers_launch_begins(const struct launch *launch) {
    if (!into || launch->blocks * launch->block_threads <= WRITERS_THREADS ||
        into->count == WRITERS_LAUNCHES || !refuse_writes())
        return false;
    now.writes = now.full = false;
    now.writers_work = 0;
    now.first = into->runs;
    return true;
}

bool writers_faulted(const void *address) {
    if (!into || !allow_writes(address)) return false;
    now.writes = true;
    return true;
}

void writers_block_ended(uint64_t block, uint64_t work) {
    struct block_run *last = into->runs > now.first ? &into->run[into->runs - 1] : NULL;
    if (!now.writes) return;
    now.writes = false;
    now.writers_work += work;
    if (last && last->last + 1 == block)
        last->last = block;
    else if (into->runs < WRITERS_RUNS)
        into->run[into->runs++] = (struct block_run){block, block};
    else
        now.full = true;
    refuse_writes();
}

void writers_launch_ended(const struct launch *launch, int number, bool all) {
    if (!into) return;
    const bool known = launch->noted && all && !now.full && launch->blocks_ended == launch->blocks;
    into->work += known ? now.writers_work : launch->work;
    if (!known) {
        if (launch->noted) into->runs = now.first;
        return;
    }
    struct writers_launch *kept = &into->launch[into->count++];
    *kept = (struct writers_launch){
        .number = number,
        .grid = {launch->grid.x, launch->grid.y, launch->grid.z},
        .block = {launch->block.x, launch->block.y, launch->block.z},
        .first = now.first,
        .count = into->runs - now.first,
    };
}
