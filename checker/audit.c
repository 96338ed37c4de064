/* Device memory is closed while a block is audited: see audit.h. */
#define _GNU_SOURCE
#include "audit.h"
#include "event.h"
#include "regions.h"
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <ucontext.h>
#include <unistd.h>

#ifdef __x86_64__

enum {
    BLOCKS = 4,        /* of a launch, on average */
    ACCESSES = 60,     /* looked at in a block; each costs two signals, up to 40 us */
    ANNOUNCED = 8,     /* ranges that are remembered; compilers announce one, and then access it */
    OPEN = 4,          /* pages that one instruction may need */
    MOST_SKIPPED = 16, /* the logarithm of how many accesses go by before the first */
    TRAP_FLAG = 0x100
};

struct extent {
    uintptr_t begin, end;
};

/* Of an OS thread, which runs one block at a time. */
struct audit {
    bool on;          /* its block is audited, and has not been looked at enough */
    unsigned skipped; /* accesses that go by before memory is closed; 0: it has been */
    struct extent announced[ANNOUNCED]; /* since the last access */
    unsigned last;                      /* of those */
    bool accessed;
    uintptr_t open[OPEN];
    unsigned opened;
    const void *unseen; /* the first access that was not announced; null: none */
    uintptr_t unseen_address;
};

static bool closed; /* device memory, for all workers */
static int left;    /* accesses until it is opened again */
static uint64_t drawn;
static bool impossible; /* on this machine */

static size_t page_bytes(void) { return (size_t)sysconf(_SC_PAGESIZE); }

static uintptr_t page_of(uintptr_t address) { return address & ~(uintptr_t)(page_bytes() - 1); }

/* xorshift64* (Vigna), begun with the system's random numbers. */
static uint64_t draw(void) {
    uint64_t x = __atomic_load_n(&drawn, __ATOMIC_RELAXED);
    if (!x && getrandom(&x, sizeof x, GRND_NONBLOCK) != sizeof x) x = 0x9E3779B97F4A7C15u;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    __atomic_store_n(&drawn, x, __ATOMIC_RELAXED);
    return x * 0x2545F4914F6CDD1Du >> 16;
}

static void protect_all(int protection) {
    for (const struct region *r = region_first(); r; r = r->next) {
        const uintptr_t begin = page_of(r->allocated.begin);
        if (r->on_device && !r->freed && r->allocated.bytes)
            mprotect((void *)begin, r->allocated.begin + r->allocated.bytes - begin, protection);
    }
}

static void open_all(void) {
    if (__atomic_exchange_n(&closed, false, __ATOMIC_SEQ_CST)) protect_all(PROT_READ | PROT_WRITE);
}

/* Unless another worker has. */
static void close_all(void) {
    if (__atomic_exchange_n(&closed, true, __ATOMIC_SEQ_CST)) return;
    __atomic_store_n(&left, ACCESSES, __ATOMIC_SEQ_CST);
    protect_all(PROT_NONE);
}

/* --- a block ---------------------------------------------------------------------------------- */

static struct audit *audit_of(struct watch *w) {
    if (!w->audit) w->audit = calloc(1, sizeof *w->audit);
    return w->audit;
}

void audit_begin_block(struct watch *w) {
    struct audit *audit = audit_of(w);
    if (!audit) return; /* no memory for it: not audited, then */
    audit->on = !impossible && draw() % w->launch->blocks < BLOCKS;
    audit->skipped = draw() % 2 ? 0 : 1u << draw() % MOST_SKIPPED;
    audit->accessed = true;
    audit->unseen = NULL;
    if (audit->on && !audit->skipped) close_all();
}

void audit_end_block(struct watch *w) {
    struct audit *audit = w->audit;
    if (!audit || !audit->on) return;
    audit->on = false;
    open_all();
    if (!audit->unseen) return;
    const struct access access = {
        .address = audit->unseen_address, .size = WORD, .code = (const char *)audit->unseen + 1};
    struct event event = event_here(w, FINDING_UNSEEN, &access);
    event_note(&event);
}

bool audit_is_on(const struct watch *w) { return w->audit && w->audit->on; }

void audit_announce(struct watch *w, uintptr_t address, size_t size) {
    struct audit *audit = w->audit;
    if (audit->accessed) memset(audit->announced, 0, sizeof audit->announced);
    audit->accessed = false;
    audit->announced[++audit->last % ANNOUNCED] = (struct extent){address, address + size};
    if (audit->skipped && !--audit->skipped) close_all();
}

/* --- its faults ------------------------------------------------------------------------------- */

static bool was_announced(const struct audit *audit, uintptr_t address) {
    for (int i = 0; i < ANNOUNCED; ++i)
        if (address - audit->announced[i].begin <
            audit->announced[i].end - audit->announced[i].begin)
            return true;
    return false;
}

/* The instruction is over that was let through. */
static bool close_again(struct audit *audit, ucontext_t *context) {
    if (!audit->opened) return false;
    context->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
    for (; audit->opened; --audit->opened)
        if (__atomic_load_n(&closed, __ATOMIC_SEQ_CST))
            mprotect((void *)audit->open[audit->opened - 1], page_bytes(), PROT_NONE);
    return true;
}

/* Whether it lies in a page of device memory; what is behind an allocation's end does, too. */
static bool is_open_without_audit(uintptr_t address) {
    const uintptr_t page = page_of(address);
    for (const struct region *r = region_first(); r; r = r->next)
        if (r->on_device && !r->freed && page >= page_of(r->allocated.begin) &&
            page < r->allocated.begin + r->allocated.bytes)
            return true;
    return false;
}

/* The runtime and the checker, which look at values, too, are linked behind kernel.cu; libraries are
 * called by them, or through a guard (host_calls.sh). */
static bool is_of_kernel(uintptr_t code) {
    extern void kernel_text_ends(void) __attribute__((weak));
    extern const char __executable_start[], etext[];
    const uintptr_t end = kernel_text_ends ? (uintptr_t)kernel_text_ends : (uintptr_t)etext;
    return code >= (uintptr_t)__executable_start && code < end;
}

/* An access faulted: lets it through, if it is one that memory without an audit allows. */
static bool let_through(struct audit *audit, uintptr_t address, ucontext_t *context) {
    if (!is_open_without_audit(address)) return false;
    if (audit->opened == OPEN) { /* the trap flag does nothing here: in some emulations of x86 */
        impossible = true;
        audit->opened = 0;
        audit->on = false;
        open_all();
        return true;
    }
    const uintptr_t code = (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
    if (audit->on && !audit->unseen && !was_announced(audit, address) && is_of_kernel(code)) {
        audit->unseen = (const void *)code;
        audit->unseen_address = address;
    }
    audit->accessed = true;
    const uintptr_t page = page_of(address);
    if (mprotect((void *)page, page_bytes(), PROT_READ | PROT_WRITE) != 0) return false;
    audit->open[audit->opened++] = page;
    context->uc_mcontext.gregs[REG_EFL] |= TRAP_FLAG;
    if (__atomic_sub_fetch(&left, 1, __ATOMIC_SEQ_CST) <= 0) open_all();
    return true;
}

static bool faulted(int number, const void *address, void *context) {
    struct watch *w = watch_here();
    if (!w || !w->audit) return false;
    if (number == SIGTRAP) return close_again(w->audit, context);
    return number == SIGSEGV && let_through(w->audit, (uintptr_t)address, context);
}

void audit_observe(struct observer *o) { o->faulted = faulted; }

#else /* no way to let one instruction through */

void audit_begin_block(struct watch *w) { (void)w; }
void audit_end_block(struct watch *w) { (void)w; }
bool audit_is_on(const struct watch *w) { return w == NULL; }
void audit_announce(struct watch *w, uintptr_t address, size_t size) {
    (void)w, (void)address, (void)size;
}
void audit_observe(struct observer *o) { (void)o; }

#endif
