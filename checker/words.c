/* What a finding says: one function a kind. */
#define _GNU_SOURCE
#include "tell.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void say(char *text, size_t bytes, const char *format, ...) __attribute__((format(printf, 3, 4)));
void say(char *text, size_t bytes, const char *format, ...) {
    size_t used = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    if (used < bytes) vsnprintf(text + used, bytes - used, format, arguments);
    va_end(arguments);
}

#define WHAT(...) say(f->what, sizeof f->what, __VA_ARGS__)
#define DETAIL(...) say(f->detail, sizeof f->detail, __VA_ARGS__)
#define HINT(...) say(f->hint, sizeof f->hint, __VA_ARGS__)

/* "(1,0)": as many coordinates as the block or grid has. */
static struct phrase coordinates(struct finding_index i, bool three) {
    struct phrase p;
    if (three)
        snprintf(p.text, sizeof p.text, "(%u,%u,%u)", i.x, i.y, i.z);
    else
        snprintf(p.text, sizeof p.text, "(%u,%u)", i.x, i.y);
    return p;
}

static struct phrase thread_of(const struct event *e, const struct finding_party *party) {
    return coordinates(party->thread, e->block_size.z > 1);
}

static struct phrase block_of(const struct event *e, const struct finding_party *party) {
    return coordinates(party->block, e->grid_size.z > 1);
}

static const char *plural(unsigned count) { return count == 1 ? "" : "s"; }

struct phrase at_place(const struct finding_party *party) {
    struct phrase p = {""};
    if (party->line) snprintf(p.text, sizeof p.text, " at %.100s:%d", party->file, party->line);
    return p;
}

/* --- one function a kind ---------------------------------------------------------------------- */

static const char *verb(const struct finding_party *party) {
    return strcmp(party->access, "write") == 0 ? "writes" : "reads";
}

/* Between an access and a copy that has not been waited for. */
static void say_race_with_copy(struct finding *f, const struct event *e) {
    bool own = e->thread == e->other_thread;
    WHAT("race on shared memory");
    DETAIL("thread %s %s %s, to which an asynchronous copy is on its way that ",
           thread_of(e, &f->at).text, verb(&f->at), f->element);
    if (own)
        DETAIL("it began itself%s", at_place(&f->other).text);
    else
        DETAIL("thread %s began%s", thread_of(e, &f->other).text, at_place(&f->other).text);
    if (e->overwritten && !e->write)
        HINT("a tile may be overwritten when every thread of the block has finished reading it: a "
             "copy overwrites it from its beginning on");
    else
        HINT("wait for the copy (__pipeline_wait_prior) and __syncthreads() before %s",
             e->write ? "writing to where it goes" : "reading");
}

static void say_shared_race(struct finding *f, const struct event *e) {
    if (e->coming) {
        say_race_with_copy(f, e);
        return;
    }
    WHAT("race on shared memory");
    DETAIL("thread %s %s %s, thread %s writes it%s,%s with no __syncthreads() between",
           thread_of(e, &f->at).text, verb(&f->at), f->element, thread_of(e, &f->other).text,
           at_place(&f->other).text, e->write ? " too," : "");
    if (e->write)
        HINT(
            "each element of shared memory should have one thread that stores it, until a barrier");
    else if (e->overwritten)
        HINT("a tile may be overwritten when every thread of the block has finished reading it");
    else
        HINT("a tile may be read when every thread of the block has stored its part");
}

static void say_global_race(struct finding *f, const struct event *e) {
    bool blocks = e->block != e->other_block;
    WHAT("race %s on %s", blocks ? "between blocks" : "between threads",
         f->variable[0] ? f->variable : "global memory");
    if (blocks)
        DETAIL("thread %s of block %s %s %s, thread %s of block %s %s it%s",
               thread_of(e, &f->at).text, block_of(e, &f->at).text, verb(&f->at), f->element,
               thread_of(e, &f->other).text, block_of(e, &f->other).text, verb(&f->other),
               at_place(&f->other).text);
    else
        DETAIL("thread %s %s %s, thread %s of the same block %s it%s", thread_of(e, &f->at).text,
               verb(&f->at), f->element, thread_of(e, &f->other).text, verb(&f->other),
               at_place(&f->other).text);
    HINT("%s", blocks ? "blocks run in any order and no barrier joins them: which of them does an "
                        "element of C belong to?"
                      : "which thread does an element of C belong to?");
}

static void say_divergent_barrier(struct finding *f, const struct event *e) {
    WHAT("__syncthreads() that not all threads of the block reach");
    DETAIL("%u thread%s wait%s here, thread %s first; %u wait%s%s, thread %s first", e->waiting,
           plural(e->waiting), e->waiting == 1 ? "s" : "", thread_of(e, &f->at).text, e->elsewhere,
           e->elsewhere == 1 ? "s" : "", at_place(&f->other).text, thread_of(e, &f->other).text);
    HINT("a barrier waits for every thread of the block: can each of them come by this line, "
         "equally often?");
    f->at.access[0] = f->other.access[0] = '\0';
}

static void say_early_return(struct finding *f, const struct event *e) {
    WHAT("__syncthreads() that not all threads of the block reach: %u had returned", e->elsewhere);
    DETAIL("thread %s, among others, had left the kernel;\n"
           "thread %s then reads %s%s, which nobody has stored",
           thread_of(e, &f->at).text, thread_of(e, &f->other).text, f->element,
           at_place(&f->other).text);
    HINT("a thread without an element of C may still have a part of a tile to load, and barriers "
         "to reach");
    f->at.access[0] = '\0';
}

/* --- out of bounds ---------------------------------------------------------------------------- */

static void say_nearest(struct finding *f, const struct event *e) {
    const struct region *r = global_nearest(e->address);
    long after = r ? (long)(e->address - (r->begin + r->bytes)) : 0;
    const long far = 1l << 36;
    WHAT("%s outside of all memory", e->write ? "store" : "load");
    if (e->address < 4096) {
        DETAIL("thread %s follows a null pointer", thread_of(e, &f->at).text);
        HINT("where did this pointer get its value?");
    } else if (!r || labs(after) > far) {
        DETAIL("thread %s %s address %#lx, where nothing is", thread_of(e, &f->at).text,
               verb(&f->at), (unsigned long)e->address);
        HINT("is the index negative, or of a type that is too small?");
    } else {
        DETAIL("thread %s %s %s", thread_of(e, &f->at).text, verb(&f->at), f->element);
        HINT("is every index within what was allocated?");
    }
}

static void say_out_of_bounds(struct finding *f, const struct event *e) {
    const struct region *r = f->variable[0] ? global_named(f->variable) : NULL;
    struct element at;
    if (!r) {
        say_nearest(f, e);
        return;
    }
    bool before = e->address < r->begin;
    long linear = ((long)e->address - (long)r->begin) / WORD;
    bool column = element_intended(&at, e, r, &f->at) && at.row < r->rows && at.col >= r->cols;
    bool reaches_out = !before && linear < (long)r->rows * r->cols && !column;
    WHAT("%s %s %s", e->write ? "store to" : "load from", r->name,
         before        ? "before its beginning"
         : column      ? "beyond its last column"
         : reaches_out ? "beyond its end"
                       : "beyond its last row");
    DETAIL("thread %s %s ", thread_of(e, &f->at).text, verb(&f->at));
    if (reaches_out) DETAIL("%u bytes from %s on, ", e->size, f->element);
    if (!reaches_out) DETAIL("%s, ", f->element);
    DETAIL("but %s has %d row%s and %d column%s", r->name, r->rows, plural((unsigned)r->rows),
           r->cols, plural((unsigned)r->cols));
    if (column && linear / r->cols < r->rows)
        DETAIL("\nin memory that is %s[%ld][%ld], in the next row", r->name, linear / r->cols,
               linear % r->cols);
    if (e->write)
        HINT("blocks at the edge have threads that have no element of %s", r->name);
    else
        HINT("blocks and tiles at the edge of %s have threads that have no element of it to load",
             r->name);
}

static void say_bad_index(struct finding *f, const struct event *e) {
    bool local = e->kind == FINDING_LOCAL_OUT_OF_BOUNDS;
    const char *open = strchr(e->array_type, '[');
    long count = open ? strtol(open + 1, NULL, 10) : 0;
    struct shared_name name;
    bool inside = !local && name_find(e->shared_offset, &name) &&
                  strcmp(name.name, f->variable) == 0 && name.dimensions > 1;
    WHAT("index %ld of an array %s that has 0 to %ld", e->index,
         local ? "of the thread's own" : "in shared memory", count - 1);
    if (local || !f->element[0])
        DETAIL("thread %s, in an array of type %s", thread_of(e, &f->at).text, e->array_type);
    else
        DETAIL("thread %s %s %s, which %s", thread_of(e, &f->at).text, verb(&f->at), f->element,
               inside ? "lies in another row of it" : "is not in it");
    HINT("how far does this index run, and how large is the array in that direction?");
}

static void say_shared_bounds(struct finding *f, const struct event *e) {
    if (e->has_index) {
        say_bad_index(f, e);
        return;
    }
    if (!element_is_dynamic(e)) {
        WHAT("%s outside of a shared array", e->write ? "store" : "load");
        DETAIL("thread %s %s %s, which is not in it", thread_of(e, &f->at).text, verb(&f->at),
               f->element);
        HINT("how far does a pointer or an index run, and how large is the array?");
        return;
    }
    WHAT("%s outside of dynamic shared memory", e->write ? "store" : "load");
    DETAIL("thread %s %s %s, but the launch asked for %zu bytes, %zu floats",
           thread_of(e, &f->at).text, verb(&f->at), f->element, e->dynamic_bytes,
           e->dynamic_bytes / WORD);
    HINT("the third value in <<<...>>> is the number of bytes that a block gets");
}

/* --- values and pointers ---------------------------------------------------------------------- */

static void say_uninitialised_shared(struct finding *f, const struct event *e) {
    WHAT("shared memory is read that no thread has written");
    DETAIL("thread %s reads %s", thread_of(e, &f->at).text, f->element);
    HINT("every element of a tile that is read needs a value, at the edge of a matrix too");
}

static void say_uninitialised_global(struct finding *f, const struct event *e) {
    const char *name = f->variable[0] ? f->variable : "memory from cudaMalloc";
    WHAT("%s is read before it is written", name);
    DETAIL("thread %s %s %s, which holds no value yet", thread_of(e, &f->at).text,
           e->atomic ? "adds to" : "reads", f->element);
    HINT("what does %s hold before the kernel runs?", name);
}

static void say_input_written(struct finding *f, const struct event *e) {
    WHAT("%s is written, which is an input", f->variable);
    if (e->in_kernel)
        DETAIL("thread %s writes %s", thread_of(e, &f->at).text, f->element);
    else
        DETAIL("basicSgemm itself does it, from %s on", f->element);
    HINT("A and B have to be the same after the launch as before it");
}

static void say_freed(struct finding *f, const struct event *e) {
    WHAT("memory is used after cudaFree");
    if (e->in_kernel) DETAIL("thread %s %s it", thread_of(e, &f->at).text, verb(&f->at));
    HINT("when is the memory given back, and who needs it after that?");
}

static void say_device_pointer(struct finding *f, const struct event *e) {
    WHAT("host code follows a device pointer");
    DETAIL("%s %s, which lies in the GPU's memory", e->write ? "it writes" : "it reads",
           f->element[0] ? f->element : "an address");
    HINT("only kernels and cudaMemcpy can reach what A, B and C point to");
}

static void say_device_variable(struct finding *f, const struct event *e) {
    (void)e;
    WHAT("host code reads a __device__ variable that a kernel has written");
    DETAIL("on a GPU it would read another copy, which no kernel writes");
    HINT("cudaMemcpyFromSymbol brings such a variable to the host");
}

static void say_tampering(struct finding *f, const struct event *e) {
    WHAT("%s writes into the program that runs it", e->in_kernel ? "a kernel" : "basicSgemm");
    DETAIL("the address belongs to a variable that is not kernel.cu's");
    HINT("what is the pointer computed from?");
}

static void say_host_pointer(struct finding *f, const struct event *e) {
    WHAT("a kernel follows a host pointer");
    DETAIL("thread %s %s memory of the host", thread_of(e, &f->at).text, verb(&f->at));
    HINT("a kernel can reach its parameters' values and what lies in the GPU's memory");
}

static void say_misaligned(struct finding *f, const struct event *e) {
    WHAT("misaligned %s of %u bytes", e->write ? "store" : "load", e->size ? e->size : 16);
    DETAIL("thread %s %s %u bytes from %s on, an address that is no multiple of %u",
           thread_of(e, &f->at).text, verb(&f->at), e->size ? e->size : 16,
           f->element[0] ? f->element : "there", e->size ? e->size : 16);
    HINT("a float4 can be read where the index is a multiple of 4: is it, in every row, for any k "
         "and n?");
}

/* --- the launch and the wrapper --------------------------------------------------------------- */

static void say_bad_launch(struct finding *f, const struct event *e) {
    WHAT("a launch that no GPU can do");
    DETAIL("%s", e->text);
    HINT("%s", e->hint);
}

static void say_failed_call(struct finding *f, const struct event *e) {
    WHAT("%s failed: %s", e->what[0] ? e->what : "a call of the CUDA runtime", e->text);
    DETAIL("and the error was still pending when basicSgemm returned");
    HINT("every call returns a status; what does this one complain about?");
}

static void say_leak(struct finding *f, const struct event *e) {
    WHAT("device memory that is never freed");
    DETAIL("%s; the first was made here", e->text);
    HINT("what is allocated for one call is there after it, unless it is given back");
}

static void say_endless(struct finding *f, const struct event *e) {
    WHAT("%s", e->text);
    if (e->in_kernel) DETAIL("thread %s", thread_of(e, &f->at).text);
    HINT("which loop has a condition that never becomes false?");
}

/* Blocks that end are no endless loop: what takes the time is their number, or what each does. */
static void say_time_limit(struct finding *f, const struct event *e) {
    const struct region *c = global_named("C");
    const struct uint3 *grid = &e->grid_size, *block = &e->block_size;
    uint64_t blocks = (uint64_t)grid->x * grid->y * grid->z;
    uint64_t threads = blocks * block->x * block->y * block->z;
    WHAT("%s", e->text);
    if (e->in_kernel) DETAIL("thread %s was running here\n", thread_of(e, &f->at).text);
    DETAIL("grid %u x %u x %u, block %u x %u x %u", grid->x, grid->y, grid->z, block->x, block->y,
           block->z);
    if (c && threads / 4 > (uint64_t)c->rows * (uint64_t)c->cols)
        HINT("C is %d x %d: how many blocks does it need?", c->rows, c->cols);
    else
        HINT("what does each thread compute more than once?");
}

static void say_deadlock(struct finding *f, const struct event *e) {
    WHAT("threads of a block wait for each other for ever");
    DETAIL("thread %s waits here", thread_of(e, &f->at).text);
    if (e->other_code) {
        f->other = tell_party(e, e->other_code, e->other_thread, e->other_block, "");
        DETAIL(", %u thread%s at the __syncthreads()%s", e->waiting, plural(e->waiting),
               at_place(&f->other).text);
    }
    HINT("whom does this thread wait for, and what does that one wait for?");
}

static void say_fault(struct finding *f, const struct event *e) {
    WHAT("%s", e->text);
    if (e->in_kernel) DETAIL("thread %s", thread_of(e, &f->at).text);
}

/* --- all of them ------------------------------------------------------------------------------ */

/* Indexed by kind: what to say, and what kind of memory the address is in. */
static const struct {
    void (*say)(struct finding *f, const struct event *e);
    enum words_memory memory;
} tellers[FINDING_KINDS] = {
    [FINDING_SHARED_RACE] = {say_shared_race, MEMORY_SHARED},
    [FINDING_GLOBAL_RACE] = {say_global_race, MEMORY_GLOBAL},
    [FINDING_DIVERGENT_BARRIER] = {say_divergent_barrier, MEMORY_NONE},
    [FINDING_EARLY_RETURN] = {say_early_return, MEMORY_SHARED},
    [FINDING_OUT_OF_BOUNDS] = {say_out_of_bounds, MEMORY_GLOBAL},
    [FINDING_SHARED_OUT_OF_BOUNDS] = {say_shared_bounds, MEMORY_SHARED},
    [FINDING_LOCAL_OUT_OF_BOUNDS] = {say_bad_index, MEMORY_NONE},
    [FINDING_UNINITIALISED_SHARED] = {say_uninitialised_shared, MEMORY_SHARED},
    [FINDING_UNINITIALISED_GLOBAL] = {say_uninitialised_global, MEMORY_GLOBAL},
    [FINDING_INPUT_WRITTEN] = {say_input_written, MEMORY_GLOBAL},
    [FINDING_FREED_MEMORY] = {say_freed, MEMORY_NONE},
    [FINDING_DEVICE_POINTER_ON_HOST] = {say_device_pointer, MEMORY_GLOBAL},
    [FINDING_DEVICE_VARIABLE_ON_HOST] = {say_device_variable, MEMORY_NONE},
    [FINDING_HOST_POINTER_ON_DEVICE] = {say_host_pointer, MEMORY_NONE},
    [FINDING_MISALIGNED] = {say_misaligned, MEMORY_GLOBAL},
    [FINDING_BAD_LAUNCH] = {say_bad_launch, MEMORY_NONE},
    [FINDING_FAILED_CALL] = {say_failed_call, MEMORY_NONE},
    [FINDING_LEAK] = {say_leak, MEMORY_NONE},
    [FINDING_ENDLESS] = {say_endless, MEMORY_NONE},
    [FINDING_TIME_LIMIT] = {say_time_limit, MEMORY_NONE},
    [FINDING_DEADLOCK] = {say_deadlock, MEMORY_NONE},
    [FINDING_KERNEL_FAULT] = {say_fault, MEMORY_NONE},
    [FINDING_HOST_FAULT] = {say_fault, MEMORY_NONE},
    [FINDING_TAMPERING] = {say_tampering, MEMORY_NONE},
};

enum words_memory words_memory(enum finding_kind kind) { return tellers[kind].memory; }

void words_say(struct finding *f, const struct event *e) {
    if (tellers[f->kind].say) tellers[f->kind].say(f, e);
}
