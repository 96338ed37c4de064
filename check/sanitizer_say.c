/* From a record of compute-sanitizer to a finding with words, those of the checker of the CPU
 * backend (../emulator/checker/event.c) where both see the same. */
#define _GNU_SOURCE
#include "sanitizer.h"
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WORD = 4, MAX_BLOCK_THREADS = 1024, MAX_BLOCK_Z = 64, MAX_GRID_YZ = 65535 };

/* All that is known about one mistake. */
struct sight {
    const struct sanitizer_record *record;
    const struct watched *watched;
    struct shape shape;
    int shape_index;
    const char *maps;
};

/* --- words ------------------------------------------------------------------------------------ */

static void say(char *text, size_t bytes, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void say(char *text, size_t bytes, const char *format, ...) {
    size_t used = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    if (used < bytes) vsnprintf(text + used, bytes - used, format, arguments);
    va_end(arguments);
}

#define WHAT(...) say(f->what, sizeof f->what, __VA_ARGS__)
#define DETAIL(...) say(f->detail, sizeof f->detail, __VA_ARGS__)
#define HINT(...) say(f->hint, sizeof f->hint, __VA_ARGS__)

struct phrase {
    char text[160];
};

static struct phrase thread_of(const struct finding_party *party) {
    struct phrase p;
    struct finding_index t = party->thread;
    snprintf(p.text, sizeof p.text, t.z ? "(%u,%u,%u)" : "(%u,%u)", t.x, t.y, t.z);
    return p;
}

/* " at kernel.cu:14" */
static struct phrase at_place(const struct finding_party *party) {
    struct phrase p = {""};
    if (party->line) snprintf(p.text, sizeof p.text, " at %.120s:%d", party->file, party->line);
    return p;
}

static const char *verb(const struct finding_party *party) {
    return strcmp(party->access, "write") == 0 ? "writes" : "reads";
}

static const char *plural(int count) { return count == 1 ? "" : "s"; }

static bool says(const struct sight *s, const char *words) {
    return strstr(s->record->head, words) || strstr(s->record->access, words);
}

/* --- places ----------------------------------------------------------------------------------- */

/* As seen from the working directory, where that is below it. */
static const char *relative(const char *file) {
    char here[1024];
    size_t length = getcwd(here, sizeof here) ? strlen(here) : 0;
    bool below = length && strncmp(file, here, length) == 0 && file[length] == '/';
    return below ? file + length + 1 : file;
}

static void set_party(struct finding_party *party, const struct sight *s,
                      const struct record_party *from) {
    *party = (struct finding_party){.known = true, .line = from->line};
    snprintf(party->file, sizeof party->file, "%s",
             from->line ? relative(from->file) : s->watched->file);
    snprintf(party->function, sizeof party->function, "%s", from->function);
    snprintf(party->access, sizeof party->access, "%s", from->access);
    party->in_kernel = s->record->in_kernel && from->thread_known;
    party->thread = from->thread;
    party->block = s->record->block;
}

static void set_access(struct finding *f, const struct sight *s) {
    bool write = strstr(s->record->head, " write ") != NULL;
    bool read = strstr(s->record->head, " read ") != NULL;
    snprintf(f->at.access, sizeof f->at.access, "%s", write ? "write" : read ? "read" : "");
}

/* --- memory ----------------------------------------------------------------------------------- */

static int rows_of(const struct sight *s, char matrix) {
    return matrix == 'B' ? s->shape.k : s->shape.m;
}

static int cols_of(const struct sight *s, char matrix) {
    return matrix == 'A' ? s->shape.k : s->shape.n;
}

static bool inside(const struct gpu_block *b, uint64_t address) {
    return address >= b->begin && address - b->begin < b->bytes;
}

static uint64_t distance(const struct gpu_block *b, uint64_t address) {
    if (inside(b, address)) return 0;
    return address < b->begin ? b->begin - address : address - (b->begin + b->bytes) + 1;
}

static int block_count(const struct sight *s) {
    int count = s->watched->block_count;
    return count < GPU_BLOCKS ? count : GPU_BLOCKS;
}

/* The one that holds the address, or comes closest to it; null if there is none. */
static const struct gpu_block *nearest(const struct sight *s) {
    const struct gpu_block *best = NULL;
    for (int i = 0; i < block_count(s); i++) {
        const struct gpu_block *b = &s->watched->blocks[i];
        if (b->freed || b->shape != s->shape_index) continue;
        if (!best || distance(b, s->record->address) < distance(best, s->record->address)) best = b;
    }
    return best;
}

static bool lies_in_freed(const struct sight *s) {
    const struct gpu_block *live = nearest(s);
    if (live && inside(live, s->record->address)) return false;
    for (int i = 0; i < block_count(s); i++)
        if (s->watched->blocks[i].freed && inside(&s->watched->blocks[i], s->record->address))
            return true;
    return false;
}

/* On the stack, the heap or among the variables of the process; what the driver keeps for the GPU's
 * addresses cannot be read and written there. */
static bool lies_on_the_host(const struct sight *s) {
    FILE *maps = fopen(s->maps, "r");
    char line[1024], flags[8];
    bool found = false;
    while (maps && !found && fgets(line, sizeof line, maps)) {
        uint64_t begin, end;
        found = sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s", &begin, &end, flags) == 3 &&
                begin <= s->record->address && s->record->address < end &&
                strcmp(flags, "rw-p") == 0;
    }
    if (maps) fclose(maps);
    return found;
}

/* Threads in a block, if all launches of this shape agree. */
static bool block_size(const struct sight *s, struct finding_index *size) {
    bool found = false;
    for (int i = 0; i < s->watched->launch_count && i < GPU_LAUNCHES; i++) {
        const struct gpu_launch *launch = &s->watched->launches[i];
        if (launch->shape != s->shape_index) continue;
        if (found && (launch->block.x != size->x || launch->block.y != size->y)) return false;
        *size = launch->block;
        found = true;
    }
    return found;
}

struct element {
    long row, col;
};

/* The element that a thread of a two-dimensional block meant, if it is the usual one: its own row
 * of A, its own column of B, its own element of C. True if that lies outside the matrix, and the
 * address fits. */
static bool intended(struct element *at, const struct sight *s, const struct finding_party *party,
                     const struct gpu_block *b) {
    struct finding_index size;
    long rows = rows_of(s, b->matrix), cols = cols_of(s, b->matrix);
    long linear = ((long)s->record->address - (long)b->begin) / WORD;
    if (!party->in_kernel || !block_size(s, &size) || size.x < 2 || size.y < 2) return false;
    at->row = (long)party->block.y * size.y + party->thread.y;
    at->col = (long)party->block.x * size.x + party->thread.x;
    if (b->matrix == 'A') at->col = linear - at->row * cols;
    if (b->matrix == 'B') at->row = linear >= at->col ? (linear - at->col) / cols : -1;
    return at->row >= 0 && at->col >= 0 && at->row * cols + at->col == linear &&
           (at->row >= rows || at->col >= cols) && at->col < cols + MAX_BLOCK_THREADS;
}

/* An element of a matrix, even one that it does not have: C[34][0] of 34 rows. */
static struct element element_of(const struct sight *s, const struct gpu_block *b) {
    long offset = (long)(s->record->address - b->begin), cols = cols_of(s, b->matrix);
    long linear = offset >= 0 ? offset / WORD : -((-offset + WORD - 1) / WORD);
    long row = linear >= 0 ? linear / cols : -((-linear + cols - 1) / cols);
    return (struct element){row, linear - row * cols};
}

static void name_element(struct finding *f, const struct sight *s) {
    const struct gpu_block *b = s->record->has_address ? nearest(s) : NULL;
    struct element at;
    if (!b) return;
    if (!b->matrix) {
        snprintf(f->element, sizeof f->element,
                 "byte %" PRId64 " of %" PRIu64 " bytes from cudaMalloc",
                 (int64_t)(s->record->address - b->begin), b->bytes);
        return;
    }
    if (inside(b, s->record->address) || !intended(&at, s, &f->at, b)) at = element_of(s, b);
    snprintf(f->variable, sizeof f->variable, "%c", b->matrix);
    snprintf(f->element, sizeof f->element, "%c[%ld][%ld]", b->matrix, at.row, at.col);
}

/* --- one function a kind ---------------------------------------------------------------------- */

static void say_shared_race(struct finding *f, const struct sight *s) {
    bool both = strcmp(f->at.access, "write") == 0;
    WHAT("race on shared memory");
    DETAIL("thread %s %s an element of shared memory, thread %s writes it%s,%s with no "
           "__syncthreads() between",
           thread_of(&f->at).text, verb(&f->at), thread_of(&f->other).text,
           at_place(&f->other).text, both ? " too," : "");
    if (both)
        HINT(
            "each element of shared memory should have one thread that stores it, until a barrier");
    else if (says(s, "WAR"))
        HINT("a tile may be overwritten when every thread of the block has finished reading it");
    else
        HINT("a tile may be read when every thread of the block has stored its part");
}

static void say_divergent_barrier(struct finding *f, const struct sight *s) {
    (void)s;
    WHAT("__syncthreads() that not all threads of the block reach");
    DETAIL("thread %s, among others, waits here", thread_of(&f->at).text);
    HINT("a barrier waits for every thread of the block: can each of them come by this line, "
         "equally often?");
}

static void say_far(struct finding *f, const struct sight *s) {
    WHAT("%s outside of all memory", strcmp(f->at.access, "write") == 0 ? "store" : "load");
    f->element[0] = f->variable[0] = '\0';
    if (s->record->address < 4096) {
        DETAIL("thread %s follows a null pointer", thread_of(&f->at).text);
        HINT("where did this pointer get its value?");
    } else {
        DETAIL("thread %s %s address %#" PRIx64 ", where nothing is", thread_of(&f->at).text,
               verb(&f->at), s->record->address);
        HINT("is the index negative, or of a type that is too small?");
    }
}

static void say_out_of_bounds(struct finding *f, const struct sight *s) {
    const struct gpu_block *b = nearest(s);
    const uint64_t far = (uint64_t)1 << 36;
    const char *store = strcmp(f->at.access, "write") == 0 ? "store to" : "load from";
    struct element at;
    if (!b || distance(b, s->record->address) > far) {
        say_far(f, s);
        return;
    }
    if (!b->matrix) {
        WHAT("%s outside of all memory", strcmp(f->at.access, "write") == 0 ? "store" : "load");
        DETAIL("thread %s %s %s", thread_of(&f->at).text, verb(&f->at), f->element);
        HINT("is every index within what was allocated?");
        return;
    }
    int rows = rows_of(s, b->matrix), cols = cols_of(s, b->matrix);
    bool column = intended(&at, s, &f->at, b) && at.row < rows && at.col >= cols;
    WHAT("%s %c %s", store, b->matrix,
         s->record->address < b->begin ? "before its beginning"
         : column                      ? "beyond its last column"
                                       : "beyond its last row");
    DETAIL("thread %s %s %s, but %c has %d row%s and %d column%s", thread_of(&f->at).text,
           verb(&f->at), f->element, b->matrix, rows, plural(rows), cols, plural(cols));
    if (strcmp(f->at.access, "write") == 0)
        HINT("blocks at the edge have threads that have no element of %c", b->matrix);
    else
        HINT("blocks and tiles at the edge of %c have threads that have no element of it to load",
             b->matrix);
}

static void say_shared_bounds(struct finding *f, const struct sight *s) {
    WHAT("%s outside of shared memory", strcmp(f->at.access, "write") == 0 ? "store" : "load");
    DETAIL("thread %s %s at byte %" PRIu64 " of the block's shared memory, behind its end",
           thread_of(&f->at).text, verb(&f->at), s->record->address);
    HINT("how large are the shared arrays of a block together, and, if their size is in the "
         "<<<...>>>, how many bytes does that ask for?");
}

static void say_local_bounds(struct finding *f, const struct sight *s) {
    (void)s;
    WHAT("%s outside of the thread's own memory",
         strcmp(f->at.access, "write") == 0 ? "store" : "load");
    DETAIL("thread %s", thread_of(&f->at).text);
    HINT("how far does this index run, and how large is the array in that direction?");
}

static void say_freed(struct finding *f, const struct sight *s) {
    (void)s;
    WHAT("memory is used after cudaFree");
    DETAIL("thread %s %s it", thread_of(&f->at).text, verb(&f->at));
    HINT("a launch returns before the kernel is done");
}

static void say_host_pointer(struct finding *f, const struct sight *s) {
    (void)s;
    WHAT("a kernel follows a host pointer");
    DETAIL("thread %s %s memory of the host", thread_of(&f->at).text, verb(&f->at));
    HINT("a kernel can reach its parameters' values and what lies in the GPU's memory");
}

static void say_misaligned(struct finding *f, const struct sight *s) {
    const char *size = strstr(s->record->head, "size ");
    int bytes = size ? atoi(size + strlen("size ")) : 16;
    WHAT("misaligned %s of %d bytes", strcmp(f->at.access, "write") == 0 ? "store" : "load", bytes);
    DETAIL("thread %s %s %d bytes from %s on, an address that is no multiple of %d",
           thread_of(&f->at).text, verb(&f->at), bytes, f->element[0] ? f->element : "there",
           bytes);
    HINT("a float4 can be read where the index is a multiple of 4: is it, in every row, for any k "
         "and n?");
}

static void say_uninitialised(struct finding *f, const struct sight *s) {
    const char *name = f->variable[0] ? f->variable : "memory from cudaMalloc";
    (void)s;
    WHAT("%s is read before it is written", name);
    if (f->at.in_kernel)
        DETAIL("thread %s reads %s, which holds no value yet", thread_of(&f->at).text,
               f->element[0] ? f->element : "an element");
    HINT("what does %s hold before the kernel runs?", name);
}

/* --- the launch and the wrapper --------------------------------------------------------------- */

/* "cudaErrorInvalidValue (error 1) due to "invalid argument" on CUDA API call to cudaFree." */
static void read_call(const struct sight *s, char error[96], char call[64]) {
    const char *hit = strstr(s->record->head, "Program hit "), *to;
    error[0] = call[0] = '\0';
    if (hit) snprintf(error, 96, "%.*s", (int)strcspn(hit + 12, " "), hit + 12);
    if ((to = strstr(s->record->head, "call to ")))
        snprintf(call, 64, "%.*s", (int)strcspn(to + 8, ". \n"), to + 8);
}

/* What is wrong with the last launch of this shape, and what to think about. */
static const char *why_refused(struct finding *f, const struct sight *s) {
    const struct watched *w = s->watched;
    int last = w->launch_count < GPU_LAUNCHES ? w->launch_count - 1 : GPU_LAUNCHES - 1;
    if (last < 0) return "";
    struct finding_index g = w->launches[last].grid, b = w->launches[last].block;
    uint64_t threads = (uint64_t)b.x * b.y * b.z;
    if (!g.x || !g.y || !g.z) {
        DETAIL("the grid has no blocks: %u x %u x %u", g.x, g.y, g.z);
        return "an integer division rounds down: what does it give for a matrix smaller than a "
               "tile?";
    }
    if (!threads) {
        DETAIL("a block has no threads: %u x %u x %u", b.x, b.y, b.z);
        return "how many threads does a tile need?";
    }
    if (threads > MAX_BLOCK_THREADS || b.z > MAX_BLOCK_Z) {
        DETAIL("a block has %u x %u x %u = %" PRIu64 " threads, a GPU allows %d%s", b.x, b.y, b.z,
               threads, MAX_BLOCK_THREADS, threads > MAX_BLOCK_THREADS ? "" : ", 64 of them in z");
        return "a block is a tile of C, not all of it: what grows with the matrix?";
    }
    if (g.y > MAX_GRID_YZ || g.z > MAX_GRID_YZ) {
        DETAIL("the grid is %u x %u x %u blocks, a GPU allows %d in y and in z", g.x, g.y, g.z,
               MAX_GRID_YZ);
        return "how many elements of C does a block compute?";
    }
    DETAIL("%u x %u x %u blocks of %u x %u x %u threads, with %" PRIu64
           " bytes of dynamic shared memory each",
           g.x, g.y, g.z, b.x, b.y, b.z, w->launches[last].shared_bytes);
    return "how many bytes do all shared arrays of a block take together, and how many registers "
           "its threads?";
}

static void say_bad_launch(struct finding *f, const struct sight *s) {
    char error[96], call[64];
    read_call(s, error, call);
    WHAT("a launch that no GPU can do");
    const char *hint = why_refused(f, s);
    DETAIL("%s%s", f->detail[0] ? "\n" : "", error);
    if (s->watched->pending[0]) DETAIL(", and nobody looked at the error");
    HINT("%s", hint);
}

static void say_failed_call(struct finding *f, const struct sight *s) {
    char error[96], call[64];
    read_call(s, error, call);
    WHAT("%s failed: %s", call, error);
    DETAIL("and the error was still pending when basicSgemm returned");
    HINT("every call returns a status; what does this one complain about?");
}

static void say_leak(struct finding *f, const struct sight *s) {
    uint64_t bytes = 0;
    int count = 0;
    for (int i = 0; i < block_count(s); i++) {
        const struct gpu_block *b = &s->watched->blocks[i];
        if (b->freed || b->matrix || b->shape != s->shape_index) continue;
        bytes += b->bytes;
        count++;
    }
    WHAT("device memory that is never freed");
    if (count)
        DETAIL("%d allocation%s of basicSgemm, %" PRIu64 " bytes in all; the first was made here",
               count, plural(count), bytes);
    HINT("what is allocated for one call is there after it, unless it is given back");
}

static void say_endless(struct finding *f, const struct sight *s) {
    (void)s;
    WHAT("a kernel that does not end: the driver stopped it");
    HINT("which loop has a condition that never becomes false?");
}

static void say_fault(struct finding *f, const struct sight *s) {
    WHAT("%.200s", s->record->head);
    if (f->at.in_kernel) DETAIL("thread %s", thread_of(&f->at).text);
}

/* --- which kind ------------------------------------------------------------------------------- */

static enum finding_kind kind_of_access(const struct sight *s) {
    if (says(s, "misaligned")) return FINDING_MISALIGNED;
    if (says(s, "__shared__")) return FINDING_SHARED_OUT_OF_BOUNDS;
    if (says(s, "__local__")) return FINDING_LOCAL_OUT_OF_BOUNDS;
    const uint64_t close = 16 << 20;
    const struct gpu_block *b = nearest(s);
    if (lies_in_freed(s)) return FINDING_FREED_MEMORY;
    if ((!b || distance(b, s->record->address) > close) && lies_on_the_host(s))
        return FINDING_HOST_POINTER_ON_DEVICE;
    return FINDING_OUT_OF_BOUNDS;
}

/* An error that a call returned counts if nobody took care of it, and launches always. */
static enum finding_kind kind_of_call(const struct sight *s) {
    char error[96], call[64];
    read_call(s, error, call);
    if (strstr(error, "Timeout")) return FINDING_ENDLESS;
    if (strstr(call, "Launch")) return FINDING_BAD_LAUNCH;
    if (!s->watched->pending[0]) return FINDING_NONE;
    if (strstr(call, "Synchronize") || strstr(call, "GetLastError")) return FINDING_KERNEL_FAULT;
    return FINDING_FAILED_CALL;
}

static enum finding_kind kind_of_leak(const struct sight *s) {
    for (int i = 0; i < block_count(s); i++) {
        const struct gpu_block *b = &s->watched->blocks[i];
        if (b->begin == s->record->address && !b->freed)
            return b->matrix ? FINDING_NONE : FINDING_LEAK;
    }
    return FINDING_LEAK;
}

static enum finding_kind kind_of(const struct sight *s) {
    if (says(s, "hazard detected")) return FINDING_SHARED_RACE;
    if (says(s, "Barrier error")) return FINDING_DIVERGENT_BARRIER;
    if (says(s, "Uninitialized")) return FINDING_UNINITIALISED_GLOBAL;
    if (says(s, "Leaked")) return kind_of_leak(s);
    if (says(s, "Program hit")) return kind_of_call(s);
    if (says(s, "Invalid __")) return kind_of_access(s);
    return s->record->in_kernel ? FINDING_KERNEL_FAULT : FINDING_KINDS;
}

static void (*const tellers[FINDING_KINDS])(struct finding *f, const struct sight *s) = {
    [FINDING_SHARED_RACE] = say_shared_race,
    [FINDING_DIVERGENT_BARRIER] = say_divergent_barrier,
    [FINDING_OUT_OF_BOUNDS] = say_out_of_bounds,
    [FINDING_SHARED_OUT_OF_BOUNDS] = say_shared_bounds,
    [FINDING_LOCAL_OUT_OF_BOUNDS] = say_local_bounds,
    [FINDING_UNINITIALISED_GLOBAL] = say_uninitialised,
    [FINDING_FREED_MEMORY] = say_freed,
    [FINDING_HOST_POINTER_ON_DEVICE] = say_host_pointer,
    [FINDING_MISALIGNED] = say_misaligned,
    [FINDING_BAD_LAUNCH] = say_bad_launch,
    [FINDING_FAILED_CALL] = say_failed_call,
    [FINDING_LEAK] = say_leak,
    [FINDING_ENDLESS] = say_endless,
    [FINDING_KERNEL_FAULT] = say_fault,
};

/* --- the finding ------------------------------------------------------------------------------ */

/* The read of a race comes first; of two writes, the later one. */
static void set_parties(struct finding *f, const struct sight *s) {
    const struct sanitizer_record *r = s->record;
    if (f->kind == FINDING_SHARED_RACE) {
        bool second = strcmp(r->party[0].access, "write") == 0;
        set_party(&f->at, s, &r->party[second]);
        set_party(&f->other, s, &r->party[!second]);
        return;
    }
    set_party(&f->at, s, r->in_kernel ? &r->party[0] : &r->host);
    set_access(f, s);
}

static struct finding finding_of(const struct sight *s, enum finding_kind kind) {
    struct finding f = {.kind = kind};
    set_parties(&f, s);
    if (kind == FINDING_OUT_OF_BOUNDS || kind == FINDING_UNINITIALISED_GLOBAL ||
        (kind == FINDING_MISALIGNED && says(s, "__global__")))
        name_element(&f, s);
    tellers[kind](&f, s);
    return f;
}

static int compare_index(struct finding_index a, struct finding_index b) {
    if (a.z != b.z) return a.z < b.z ? -1 : 1;
    if (a.y != b.y) return a.y < b.y ? -1 : 1;
    return a.x < b.x ? -1 : a.x > b.x;
}

/* Of one mistake there are many records, in an order that changes from run to run: the first line
 * that went wrong, and there the first block and thread. */
static bool comes_before(const struct sanitizer_record *a, const struct sanitizer_record *b) {
    if (a->shape != b->shape || a->party[0].line != b->party[0].line ||
        a->party[1].line != b->party[1].line || a->in_kernel != b->in_kernel ||
        a->warning != b->warning)
        return false;
    int order = compare_index(a->block, b->block);
    return order ? order < 0 : compare_index(a->party[0].thread, b->party[0].thread) < 0;
}

static const struct sanitizer_record *first_of(const struct sanitizer_log *log,
                                               const struct sanitizer_record *first) {
    const struct sanitizer_record *best = first;
    for (int i = 0; i < log->count; i++)
        if (comes_before(&log->records[i], best)) best = &log->records[i];
    return best;
}

/* A leak shows at the end: the shape is that of the allocation. */
static int shape_of(const struct sanitizer_record *r, const struct watched *w) {
    if (!strstr(r->head, "Leaked")) return r->shape;
    for (int i = 0; i < w->block_count && i < GPU_BLOCKS; i++)
        if (w->blocks[i].begin == r->address && !w->blocks[i].freed) return w->blocks[i].shape;
    return 0;
}

bool log_finding(const struct sanitizer_log *log, const struct watched *watched,
                 const struct shape *shapes, const char *maps, struct outcome *outcome) {
    bool understood = true;
    for (int i = 0; i < log->count; i++) {
        struct sight s = {.record = &log->records[i], .watched = watched, .maps = maps};
        s.shape_index = shape_of(s.record, watched);
        s.shape = shapes[s.shape_index];
        enum finding_kind kind = kind_of(&s);
        if (kind == FINDING_KINDS) understood = false;
        if (kind == FINDING_NONE || kind == FINDING_KINDS) continue;
        if (kind != FINDING_LEAK) s.record = first_of(log, s.record);
        outcome->shape = s.shape;
        outcome->finding = finding_of(&s, kind);
        return true;
    }
    return understood;
}
