/* The program's own data: kernel.cu's variables, and all others.
 *
 * A __device__ variable is an ordinary variable here, but two on a GPU: host code has a copy of its
 * own. So it is remembered which side has written there. Neither side of a submission may write the
 * runtime's or the checker's variables.
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
    unsigned char *writer; /* a byte for each word, of its last writer; null: not known */
};
enum { NOBODY, DEVICE, HOST }; /* HOST: by the first of host_stores; HOST + 1 by the next, ... */

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

/* --- which side has written a word ------------------------------------------------------------ */

enum { HOST_STORES = 64 }; /* behind that many, all are taken for the last */
static const void **host_stores;

/* Shared with the host's process, if the host's code runs in one (engine.h). */
static void *shared_memory(size_t bytes) {
    void *made = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return made != MAP_FAILED ? made : NULL; /* then it is unwatched */
}

__attribute__((constructor)) static void make_writers(void) {
    host_stores = shared_memory(HOST_STORES * sizeof *host_stores);
    for (struct extent *extent = extents; extent < extents + EXTENTS && host_stores; ++extent)
        extent->writer = shared_memory((size_t)(extent->end - extent->begin) / sizeof(float) + 1);
}

/* Null: it is no variable of kernel.cu's. */
static unsigned char *writer_of(uintptr_t address) {
    struct extent *extent = extent_of(address);
    if (!extent || !extent->writer) return NULL;
    return &extent->writer[(address - (uintptr_t)extent->begin) / sizeof(float)];
}

static void set_writer(uintptr_t address, size_t bytes, unsigned char writer) {
    for (uintptr_t at = address; at < address + bytes; at += sizeof(float) - at % sizeof(float)) {
        unsigned char *of_word = writer_of(at);
        if (of_word) *of_word = writer;
    }
}

void program_device_writes(uintptr_t address, size_t bytes) { set_writer(address, bytes, DEVICE); }

void program_copied(uintptr_t address, size_t bytes, bool by_symbol) {
    set_writer(address, bytes, by_symbol ? DEVICE : NOBODY);
}

void program_host_writes(uintptr_t address, size_t bytes, const void *code) {
    unsigned char store = 0;
    if (!writer_of(address)) return;
    while (host_stores[store] && host_stores[store] != code && store < HOST_STORES - 1) store++;
    host_stores[store] = code;
    set_writer(address, bytes, HOST + store);
}

bool program_device_wrote(uintptr_t address) {
    const unsigned char *writer = writer_of(address);
    return writer && *writer == DEVICE;
}

const void *program_host_wrote(uintptr_t address) {
    const unsigned char *writer = writer_of(address);
    return writer && *writer >= HOST ? host_stores[*writer - HOST] : NULL;
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
