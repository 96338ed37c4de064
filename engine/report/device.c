/* Launches in words, and why a GPU refuses one; the tables of cuda_errors.def and faults.def: see
 * device.h. */
#define _GNU_SOURCE /* strsignal */
#include "device.h"
#include "cuda_errors.def"
#include "text/numbers.h"
#include "words/vocabulary.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* --- launches in words ------------------------------------------------------------------------ */

/* "(3, 2)", or "3" where it has one dimension. */
static void append_dim3(char *text, size_t size, const unsigned extent[3]) {
    if (extent[2] != 1)
        append(text, size, "(%u, %u, %u)", extent[0], extent[1], extent[2]);
    else if (extent[1] != 1)
        append(text, size, "(%u, %u)", extent[0], extent[1]);
    else
        append(text, size, "%u", extent[0]);
}

/* In x and in y where blocks have rows of threads, and the grid rows of blocks: which direction is
 * which of C's is then the kernel's usual meaning. Else only their number says nothing wrong. */
static void append_threads(char *text, size_t size, const struct finding_launch *launch) {
    const unsigned *g = launch->grid, *b = launch->block;
    const unsigned long long blocks = (unsigned long long)g[0] * g[1] * g[2];
    const unsigned long long threads = (unsigned long long)b[0] * b[1] * b[2];
    if (g[2] == 1 && b[2] == 1 && b[1] > 1 && (g[1] > 1 || g[0] == 1))
        append(text, size, "%llu x %llu threads (x, y)", (unsigned long long)g[0] * b[0],
               (unsigned long long)g[1] * b[1]);
    else
        append(text, size, "%s block%s of %s thread%s", grouped(blocks).text, plural(blocks),
               grouped(threads).text, plural(threads));
}

static void append_extents(char *text, size_t size, int dimensions, const int64_t *extent) {
    if (dimensions == 1)
        append(text, size, "%s element%s", grouped((uint64_t)extent[0]).text,
               plural((uint64_t)extent[0]));
    else if (dimensions == 2)
        append(text, size, "%s column%s and %s row%s", grouped((uint64_t)extent[1]).text,
               plural((uint64_t)extent[1]), grouped((uint64_t)extent[0]).text,
               plural((uint64_t)extent[0]));
    for (int i = 0; dimensions > 2 && i < dimensions; i++)
        append(text, size, i ? " x %" PRId64 : "%" PRId64, extent[i]);
    if (dimensions > 2) append(text, size, " elements");
}

void launch_describe(const struct finding_launch *launch, char text[LAUNCH_TEXT]) {
    const size_t size = LAUNCH_TEXT;
    snprintf(text, size, "%s<<<", launch->kernel);
    append_dim3(text, size, launch->grid);
    append(text, size, ", ");
    append_dim3(text, size, launch->block);
    if (launch->shared_bytes) append(text, size, ", %" PRIu64, launch->shared_bytes);
    append(text, size, ">>>: ");
    append_threads(text, size, launch);
    if (!launch->output[0]) return;
    append(text, size, "; %s has ", launch->output);
    append_extents(text, size, launch->dimensions, launch->extent);
}

bool launch_covers(const struct finding_launch *launch) {
    const unsigned *g = launch->grid, *b = launch->block;
    const int last = launch->dimensions - 1;
    if (!launch->output[0] || last < 0 || last > 1) return false;
    return (int64_t)g[0] * b[0] >= launch->extent[last] &&
           (last == 0 || (int64_t)g[1] * b[1] >= launch->extent[0]);
}

/* --- refused launches ------------------------------------------------------------------------- */

const struct launch_limits launch_usual_limits = {
    .grid = {MAX_GRID_X, MAX_GRID_Y, MAX_GRID_Z},
    .block = {MAX_BLOCK_X, MAX_BLOCK_Y, MAX_BLOCK_Z},
    .threads = MAX_BLOCK_THREADS,
    .shared = SHARED_PER_BLOCK,
};

static bool exceeds(const unsigned extent[3], const unsigned limit[3]) {
    return extent[0] > limit[0] || extent[1] > limit[1] || extent[2] > limit[2];
}

static bool is_empty(const unsigned extent[3]) { return !extent[0] || !extent[1] || !extent[2]; }

const char *launch_refusal(const struct finding_launch *launch, const struct launch_limits *limits,
                           char text[MESSAGE_SIZE]) {
    const unsigned *g = launch->grid, *b = launch->block, *most = limits->grid;
    const unsigned long long threads = (unsigned long long)b[0] * b[1] * b[2];
    text[0] = '\0';
    if (is_empty(g)) {
        snprintf(text, MESSAGE_SIZE, "the grid has no blocks: %u x %u x %u", g[0], g[1], g[2]);
        return vocabulary()->no_blocks;
    }
    if (is_empty(b)) {
        snprintf(text, MESSAGE_SIZE, "a block has no threads: %u x %u x %u", b[0], b[1], b[2]);
        return vocabulary()->no_threads;
    }
    if (threads > limits->threads || exceeds(b, limits->block)) {
        char in_z[32] = "";
        if (threads <= limits->threads)
            snprintf(in_z, sizeof in_z, ", %u of them in z", limits->block[2]);
        snprintf(text, MESSAGE_SIZE, "a block has %u x %u x %u = %s threads, a GPU allows %s%s",
                 b[0], b[1], b[2], grouped(threads).text, grouped(limits->threads).text, in_z);
        return vocabulary()->many_threads;
    }
    if (exceeds(g, limits->grid)) {
        snprintf(text, MESSAGE_SIZE, "the grid is %u x %u x %u blocks, a GPU allows %u x %u x %u",
                 g[0], g[1], g[2], most[0], most[1], most[2]);
        return vocabulary()->many_blocks;
    }
    const uint64_t shared = launch->static_bytes + launch->shared_bytes;
    if (shared > limits->shared) {
        snprintf(text, MESSAGE_SIZE, "a block needs %s bytes of shared memory, a GPU allows %s",
                 grouped(shared).text, grouped(limits->shared).text);
        return "how many bytes do all shared arrays of a block take together?";
    }
    return NULL;
}

/* --- errors ----------------------------------------------------------------------------------- */

const char *cuda_error_name(int error) {
    switch (error) {
#define ERROR_ROW(name, number, text)                                                              \
    case number: return #name;
        EMULATOR_CUDA_ERRORS(ERROR_ROW)
#undef ERROR_ROW
    default: return "unrecognized error code";
    }
}

const char *cuda_error_text(int error) {
    switch (error) {
#define ERROR_ROW(name, number, text)                                                              \
    case number: return text;
        EMULATOR_CUDA_ERRORS(ERROR_ROW)
#undef ERROR_ROW
    default: return "unrecognized error code";
    }
}

/* --- faults ----------------------------------------------------------------------------------- */

static const struct {
    const char *name, *text, *advice;
} faults[FAULTS] = {
#define FAULT(code, name, text, advice) [FAULT_##code] = {name, text, advice},
#include "faults.def"
#undef FAULT
};

static bool is_one(enum fault_code code) { return (unsigned)code < FAULTS && code != FAULT_NONE; }

const char *fault_name(enum fault_code code) { return is_one(code) ? faults[code].name : NULL; }

const char *fault_advice(enum fault_code code) { return is_one(code) ? faults[code].advice : ""; }

void fault_say(const struct fault_facts *f, char *text, size_t bytes) {
    const char *format = is_one(f->code) ? faults[f->code].text : "";
    text[0] = '\0';
    switch (f->code) {
    case FAULT_ENDLESS: append(text, bytes, format, f->seconds); break;
    case FAULT_TIME_LIMIT:
        append(text, bytes, format, grouped(f->blocks).text, grouped(f->of).text, f->seconds);
        break;
    case FAULT_HOST: append(text, bytes, format, strsignal(f->signal)); break;
    case FAULT_DEVICE_POINTER: append(text, bytes, format, f->address); break;
    case FAULT_ASSERTION:
        if (f->assertion)
            append(text, bytes, format, f->assertion);
        else
            append(text, bytes, "an assertion of the kernel failed");
        break;
    default: append(text, bytes, "%s", format);
    }
}
