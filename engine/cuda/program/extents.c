/* The program's own data: kernel.cu's variables, and all others.
 *
 * A __device__ variable is an ordinary variable here, so that host code could read what only a
 * kernel can access on a GPU: what a kernel has written there is remembered. Neither side of a
 * submission may write the runtime's or the checker's variables.
 *
 * kernel.cu's are those between two pairs of markers, because kernel_begin.c is linked before and
 * kernel_end.c behind it and linkers keep the order. Variables of the C++ library that kernel.cu
 * uses (std::cout) lie with the others and are recognized by their names. */
#define _GNU_SOURCE
#include "program.h"
#include <sys/mman.h>

extern const char kernel_data_begins, kernel_data_ends, kernel_bss_begins, kernel_bss_ends;
void kernel_text_begins(void);
void kernel_text_ends(void);
extern const char __executable_start[], _end[];
extern const char __data_start[] __attribute__((weak));
extern const char __start_emulator_managed[] __attribute__((weak));
extern const char __stop_emulator_managed[] __attribute__((weak));

struct extent {
    const char *begin, *end;
    char *written; /* a byte for each word, set when a kernel wrote it; null: not known */
};

static struct extent extents[] = {{&kernel_data_begins, &kernel_data_ends, NULL},
                                  {&kernel_bss_begins, &kernel_bss_ends, NULL}};
enum { EXTENTS = PROGRAM_EXTENTS - 1 };

static bool between(uintptr_t address, const char *begin, const char *end) {
    return address >= (uintptr_t)begin && address < (uintptr_t)end;
}

void program_extent(int number, uintptr_t *begin, uintptr_t *end) {
    const bool own = number < EXTENTS;
    *begin = (uintptr_t)(own ? extents[number].begin : __start_emulator_managed);
    *end = (uintptr_t)(own ? extents[number].end : __stop_emulator_managed);
}

bool program_holds(uintptr_t address) { return between(address, __executable_start, _end); }

static struct extent *extent_of(uintptr_t address) {
    for (int i = 0; i < EXTENTS; ++i)
        if (between(address, extents[i].begin, extents[i].end)) return &extents[i];
    return NULL;
}

bool program_is_kernels_variable(uintptr_t address, size_t bytes) {
    const struct extent *extent = extent_of(address);
    return extent && bytes <= (uintptr_t)extent->end - address;
}

static bool is_librarys(const char *name) {
    return strncmp(name, "_ZSt", 4) == 0 || strncmp(name, "std", 3) == 0;
}

static bool has_variables(void) {
    struct image_symbol s;
    if (&__start_emulator_managed[0] != &__stop_emulator_managed[0]) return true;
    for (unsigned at = 0; image_next_symbol(&at, STT_OBJECT, &s);)
        for (int i = 0; i < EXTENTS; ++i) {
            const uintptr_t begin = place_link_address(extents[i].begin + 1),
                            end = place_link_address(extents[i].end);
            if (s.value >= begin && s.value < end && !is_librarys(s.name) &&
                strncmp(s.name, "DW.ref.", 7) != 0) /* the compiler's own, for exceptions */
                return true;
        }
    return false;
}

bool program_has_variables(void) {
    static int known; /* 1: none, 2: some */
    if (!known) known = has_variables() ? 2 : 1;
    return known == 2;
}

/* --- functions -------------------------------------------------------------------------------- */

bool program_is_kernels_function(uintptr_t address) {
    enum { KNOWN = 16 };
    static uintptr_t known[KNOWN]; /* that are: a wrapper may launch one again and again */
    static unsigned next;
    char name[2] = "";
    for (int i = 0; i < KNOWN; ++i)
        if (__atomic_load_n(&known[i], __ATOMIC_RELAXED) == address && address) return true;
    if (address > (uintptr_t)kernel_text_begins && address < (uintptr_t)kernel_text_ends)
        image_symbol_name((const void *)address, name, sizeof name);
    if (!name[0]) return false;
    const unsigned free = __atomic_fetch_add(&next, 1, __ATOMIC_RELAXED) % KNOWN;
    __atomic_store_n(&known[free], address, __ATOMIC_RELAXED);
    return true;
}

/* --- what kernels have written ---------------------------------------------------------------- */

/* Shared with the host's process, if the host's code runs in one (engine.h). */
__attribute__((constructor)) static void make_written(void) {
    for (struct extent *extent = extents; extent < extents + EXTENTS; ++extent) {
        const size_t words = (size_t)(extent->end - extent->begin) / sizeof(float) + 1;
        char *made = mmap(NULL, words, PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (made != MAP_FAILED) extent->written = made; /* else unwatched */
    }
}

void program_kernel_writes(uintptr_t address) {
    struct extent *extent = extent_of(address);
    if (extent && extent->written)
        extent->written[(address - (uintptr_t)extent->begin) / sizeof(float)] = 1;
}

bool program_kernel_wrote(uintptr_t address) {
    const struct extent *extent = extent_of(address);
    return extent && extent->written &&
           extent->written[(address - (uintptr_t)extent->begin) / sizeof(float)];
}

/* --- whose ------------------------------------------------------------------------------------ */

/* std::cout and its kind, stdout and its kind, which the linker copies into the program. */
static bool is_of_library(uintptr_t address) {
    const uintptr_t sought = place_link_address((const void *)address);
    struct image_symbol s;
    for (unsigned at = 0; image_next_symbol(&at, STT_OBJECT, &s);)
        if (sought - s.value < s.size && is_librarys(s.name)) return true;
    return false;
}

bool program_is_foreign(uintptr_t address) {
    if (!between(address, __data_start, _end) || extent_of(address)) return false;
    if (between(address, __start_emulator_managed, __stop_emulator_managed)) return false;
    return !is_of_library(address);
}
