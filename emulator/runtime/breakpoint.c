/* Breakpoints in the program's own code, as a debugger sets them: the instruction there makes way
 * for one that traps. With them a worker that is inside a library, which may hold a lock there, is
 * met where it comes back from it.
 *
 * Where an architecture is not known here, or the system lets nobody write to code, there are
 * none, and breakpoint_set says so. */
#define _GNU_SOURCE
#include "runtime.h"
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined __x86_64__
/* int3, which a trap leaves behind it (Intel SDM volume 3, 6.15, interrupt 3). One byte, so that
 * another thread sees the old instruction or the new one. */
static const unsigned char trap[] = {0xCC};
enum { BEHIND_TRAP = 1 };
#elif defined __aarch64__
/* brk #0, at which a trap stays (Arm ARM, BRK). */
static const unsigned char trap[] = {0x00, 0x00, 0x20, 0xD4};
enum { BEHIND_TRAP = 0 };
#else
static const unsigned char trap[] = {0};
enum { BEHIND_TRAP = 0 };
#define NO_BREAKPOINTS
#endif

enum { MOST = 64 };

/* Handlers read them while others are added: the count is written last. */
static struct {
    char *code[MOST];
    unsigned char instruction[MOST][sizeof trap];
    int count;
    bool cleared;
} breakpoints;

static int count(void) { return __atomic_load_n(&breakpoints.count, __ATOMIC_ACQUIRE); }

static bool is_set(const char *code) {
    for (int i = 0; i < count(); ++i)
        if (breakpoints.code[i] == code) return true;
    return false;
}

/* Code stays executable while it is written: other threads are in it. */
static bool protect(char *code, int protection) {
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t first = (uintptr_t)code & ~(page - 1);
    uintptr_t end = ((uintptr_t)code + sizeof trap + page - 1) & ~(page - 1);
    return mprotect((void *)first, end - first, protection) == 0;
}

static bool write_code(char *code, const unsigned char *instruction) {
    if (!protect(code, PROT_READ | PROT_WRITE | PROT_EXEC)) return false;
    memcpy(code, instruction, sizeof trap);
    __builtin___clear_cache(code, code + sizeof trap);
    return protect(code, PROT_READ | PROT_EXEC);
}

bool breakpoint_set(void *address) {
#ifdef NO_BREAKPOINTS
    (void)address;
    return false;
#else
    int i = count();
    if (is_set(address)) return true;
    if (i == MOST || breakpoints.cleared) return false;
    breakpoints.code[i] = address;
    memcpy(breakpoints.instruction[i], address, sizeof trap);
    /* Whoever reaches it must find it in the list. */
    __atomic_store_n(&breakpoints.count, i + 1, __ATOMIC_RELEASE);
    if (write_code(address, trap)) return true;
    __atomic_store_n(&breakpoints.count, i, __ATOMIC_RELEASE);
    return false;
#endif
}

void *breakpoint_reached(const void *program_counter) {
    char *code = (char *)(uintptr_t)program_counter - BEHIND_TRAP;
    return is_set(code) ? code : NULL;
}

void breakpoints_clear(void) {
    breakpoints.cleared = true;
    for (int i = 0; i < count(); ++i) write_code(breakpoints.code[i], breakpoints.instruction[i]);
}
