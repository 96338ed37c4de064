/* What a finding says of threads that wait at a barrier, do not, or never stop: who they are, and
 * between which lines a barrier is missing. The lines are those of kernel.cu's text, where the
 * program carries it along; where it does not, or the text cannot be read, less is said. */
#define _GNU_SOURCE
#include "barrier_lines.h"
#include "../report/source.h"
#include "../report/text.h"
#include "outline.h"
#include "say.h"
#include <string.h>

/* --- the text --------------------------------------------------------------------------------- */

/* Of the text in which a party's line is; null: not known. */
static const struct structure *structure_at(const struct finding_party *party) {
    static struct structure structure;
    static bool read, known;
    if (!party->line || !source_is(party->file)) return NULL;
    if (!read) known = structure_read(&structure, source_text());
    read = true;
    return known ? &structure : NULL;
}

/* Likewise, if both lines are in one function, so that one comes before the other. */
static const struct structure *structure_at_both(const struct finding_party *a,
                                                 const struct finding_party *b) {
    const struct structure *s = structure_at(a);
    if (!s || structure_at(b) != s) return NULL;
    const struct construct *function = structure_around(s, CONSTRUCT_FUNCTION, a->line);
    return function && function == structure_around(s, CONSTRUCT_FUNCTION, b->line) ? s : NULL;
}

/* Of code in the same file as the party; 0: not known. */
static int line_of(const void *code, const struct finding_party *party) {
    if (!code) return 0;
    const struct place place = place_before(code);
    return strncmp(place.file, party->file, sizeof party->file - 1) == 0 ? place.line : 0;
}

/* --- races ------------------------------------------------------------------------------------ */

/* Between an access and a pending copy. */
static void say_race_with_copy(struct diagnosis *d) {
    const struct event *e = d->e;
    DETAIL("thread %s %s %s before the asynchronous copy to it has completed, which ", AT,
           verb(&d->f->at), ELEMENT);
    if (e->thread == e->other_thread)
        DETAIL("it began itself%s", at_place(&d->f->other).text);
    else
        DETAIL("thread %s began%s", OTHER, at_place(&d->f->other).text);
    if (e->overwritten && !e->write)
        HINT("a tile may be overwritten only after every thread of the block has finished reading "
             "it: a "
             "copy overwrites it from its beginning on");
    else
        HINT("wait for the copy (__pipeline_wait_prior) and __syncthreads() before %s",
             e->write ? "writing to its destination" : "reading");
}

/* Whether the value is overwritten that is being read; else it is read too early. A reader that has
 * stored its own part in this interval has done so before or after: where it waits by now, between
 * the two lines or not, decides. */
static bool is_overwritten(const struct diagnosis *d) {
    const struct event *e = d->e;
    const int read = d->f->at.line, write = d->f->other.line;
    if (!e->overwritten || !e->reader_wrote) return e->overwritten;
    const int waits = line_of(e->reader_at, &d->f->at);
    return !waits || write >= read || (write < waits && waits < read);
}

/* The line behind which a barrier covers this one as well, before `second`: the end of the loops
 * that are around it and not around the other. */
static int line_behind(const struct structure *s, int line, int second) {
    const struct construct *left = structure_outermost_without(s, CONSTRUCT_LOOP, line, second);
    return left ? left->last : line;
}

/* A tile for A and one for B need one barrier: behind the last store that comes before the read. */
static int behind_all_stores(const struct diagnosis *d, const struct structure *s, int after,
                             int before) {
    const struct construct *function = structure_around(s, CONSTRUCT_FUNCTION, before);
    for (int i = 0; i < STORES; ++i) {
        const int line = line_of(d->e->stores[i], &d->f->at);
        if (!line || structure_around(s, CONSTRUCT_FUNCTION, line) != function) continue;
        const int behind = line_behind(s, line, before);
        if (behind > after && behind < before) after = behind;
    }
    return after;
}

/* Where a barrier between the line that is executed first and the other one belongs: outside of
 * loops that are around one of them only. */
static void say_missing_barrier(struct diagnosis *d, int first, int second) {
    const struct structure *s = structure_at_both(&d->f->at, &d->f->other);
    if (!s) return;
    const struct construct *entered = structure_outermost_without(s, CONSTRUCT_LOOP, second, first);
    const struct construct *turns = structure_common(s, CONSTRUCT_LOOP, first, second);
    const int before = entered ? entered->first : second;
    int after = line_behind(s, first, second), barrier, phase = 0;
    if (after < before && !d->e->reader_ahead) {
        phase = d->f->phase; /* both accesses are in it */
        if (first == d->f->other.line) after = behind_all_stores(d, s, after, before);
        barrier = structure_barrier_between(s, after + 1, before - 1);
        if (!barrier) {
            DETAIL("\na __syncthreads() is missing after line %d, before line %d", after, before);
            d->f->barrier_after = before - 1;
        }
    } else if (turns) {
        barrier = structure_barrier_between(s, after + 1, turns->last);
        if (!barrier) barrier = structure_barrier_between(s, turns->first, before - 1);
        if (!barrier) {
            DETAIL("\na __syncthreads() is missing at the end of the loop of line %d, after line "
                   "%d",
                   turns->first, after);
            d->f->barrier_after = after;
        }
    } else {
        return;
    }
    if (!barrier) return;
    DETAIL("\nthe __syncthreads() at line %d is between, but not reached by both of them", barrier);
    if (phase) DETAIL(" in tile phase %d", phase);
}

void say_shared_race(struct diagnosis *d) {
    const struct event *e = d->e;
    const struct phrase place = at_place(&d->f->other);
    if (e->pending) {
        say_race_with_copy(d);
    } else if (e->atomic || e->other_atomic) {
        DETAIL("thread %s %s %s, thread %s %s it%s, one of them with an atomic operation and the "
               "other without, with no __syncthreads() between",
               AT, verb(&d->f->at), ELEMENT, OTHER, verb(&d->f->other), place.text);
        HINT("atomic operations race with all loads and stores but other atomic operations");
    } else if (e->write) {
        DETAIL("thread %s writes %s, thread %s writes it%s, too, with no __syncthreads() between",
               AT, ELEMENT, OTHER, place.text);
        HINT("each element of shared memory should have one thread that stores it, until a "
             "barrier");
    } else if (is_overwritten(d)) {
        DETAIL("thread %s reads %s, which thread %s overwrites%s, with no __syncthreads() between",
               AT, ELEMENT, OTHER, place.text);
        say_missing_barrier(d, d->f->at.line, d->f->other.line);
        HINT("a tile may be overwritten only after every thread of the block has finished reading "
             "it");
    } else {
        DETAIL("thread %s reads %s, which thread %s stores%s, with no __syncthreads() between", AT,
               ELEMENT, OTHER, place.text);
        say_missing_barrier(d, d->f->other.line, d->f->at.line);
    }
}

/* --- barriers --------------------------------------------------------------------------------- */

/* "the 32 threads with threadIdx.y < 2 wait": who waits, or have returned. */
static void say_threads(struct diagnosis *d, const struct threads *set, const char *one,
                        const char *several) {
    char text[200];
    threads_describe(text, sizeof text, set, d->e->block_size);
    DETAIL("%s %s", text, threads_count(set) == 1 ? one : several);
}

static unsigned block_threads(const struct event *e) {
    return e->block_size.x * e->block_size.y * e->block_size.z;
}

/* Those that wait elsewhere; short where they are the rest of the block. */
static void say_elsewhere(struct diagnosis *d) {
    const struct event *e = d->e;
    const unsigned here = threads_count(&e->waiting), there = threads_count(&e->elsewhere);
    if (there > 1 && here + there == block_threads(e))
        DETAIL("the other %u wait", there);
    else
        say_threads(d, &e->elsewhere, "waits", "wait");
    DETAIL("%s", at_place(&d->f->other).text);
}

bool barriers_exchanged(const struct diagnosis *d) {
    const struct event *e = d->e;
    const struct finding_party *at = &d->f->at, *other = &d->f->other;
    const struct structure *s = structure_at_both(at, other);
    if (!s) return threads_count(&e->waiting) > threads_count(&e->elsewhere);
    const int last = line_of(e->last_barrier, at);
    if ((last == at->line || last == other->line) &&
        structure_common(s, CONSTRUCT_LOOP, at->line, other->line))
        return last == at->line;
    return at->line > other->line;
}

void say_divergent_barrier(struct diagnosis *d) {
    const struct event *e = d->e;
    const struct finding_party *at = &d->f->at, *other = &d->f->other;
    const struct structure *s = structure_at_both(at, other);
    const struct construct *branch =
        s ? structure_innermost_without(s, CONSTRUCT_IF, at->line, other->line) : NULL;
    say_threads(d, &e->waiting, "waits here", "wait here");
    DETAIL(",\n");
    say_elsewhere(d);
    if (threads_count(&e->returned)) {
        DETAIL(",\n");
        say_threads(d, &e->returned, "has returned", "have returned");
    }
    if (branch) DETAIL("\nthis __syncthreads() is inside the if of line %d", branch->first);
    d->f->at.access = d->f->other.access = FINDING_NO_ACCESS;
}

void say_early_return(struct diagnosis *d) {
    WHAT("__syncthreads() that not all threads of the block reach: %u had returned",
         threads_count(&d->e->returned));
    say_threads(d, &d->e->returned, "had returned", "had returned");
    DETAIL(" from the kernel;\nthread %s then reads %s%s, which no thread has stored", OTHER,
           ELEMENT, at_place(&d->f->other).text);
    d->f->at.access = FINDING_NO_ACCESS;
}

/* --- what never goes on ----------------------------------------------------------------------- */

/* Threads can wait for each other at barriers, and for the lanes of their warp: a thread that has
 * not returned waits at one or the other. */
void say_deadlock(struct diagnosis *d) {
    const struct event *e = d->e;
    struct threads in_warps = {{0}};
    d->f->other.access = FINDING_NO_ACCESS;
    if (!e->has_other) {
        DETAIL("thread %s waits here", AT);
        return;
    }
    for (unsigned i = 0; i < block_threads(e); ++i)
        if (!threads_has(&e->waiting, i) && !threads_has(&e->returned, i))
            threads_add(&in_warps, i);
    say_threads(d, &in_warps, "waits", "wait");
    DETAIL(" for other lanes of %s, thread %s here,\n",
           threads_count(&in_warps) == 1 ? "its warp" : "their warps", AT);
    say_threads(d, &e->waiting, "waits", "wait");
    DETAIL(" for them at the __syncthreads()%s", at_place(&d->f->other).text);
}

/* More barriers than any of the sizes asks for. */
static bool has_many_barriers(const struct event *e) {
    uint64_t largest = 250;
    for (const struct region *r = region_first(); r; r = r->next) {
        for (int i = 0; r->array && i < r->array->dimensions; ++i)
            if (largest < (uint64_t)r->array->extent[i]) largest = (uint64_t)r->array->extent[i];
    }
    return e->barriers > 4 * largest;
}

/* The loop around the line that does not end; null: not known. It is the only one in its kernel
 * around the line; or the outermost, with inner ones that have ended at each of many barriers. */
static const struct construct *endless_loop(const struct diagnosis *d, const struct structure *s) {
    const struct finding_party *at = &d->f->at;
    const struct construct *function = structure_around(s, CONSTRUCT_FUNCTION, at->line);
    const struct construct *inner = structure_around(s, CONSTRUCT_LOOP, at->line);
    const struct construct *outer = structure_outermost_without(s, CONSTRUCT_LOOP, at->line, 0);
    if (!function || !function->kernel || !inner) return NULL;
    if (inner == outer) return outer;
    const int barrier = line_of(d->e->last_barrier, at);
    if (!has_many_barriers(d->e) || !barrier) return NULL;
    return structure_common(s, CONSTRUCT_LOOP, at->line, barrier) == outer ? outer : NULL;
}

void say_endless(struct diagnosis *d) {
    const struct event *e = d->e;
    const struct structure *s = structure_at(&d->f->at);
    const struct construct *loop = s ? structure_around(s, CONSTRUCT_LOOP, d->f->at.line) : NULL;
    const struct construct *endless = loop ? endless_loop(d, s) : NULL;
    WHAT("%s", e->text);
    if (e->in_kernel) DETAIL("thread %s", AT);
    if (endless)
        DETAIL(", in the loop of line %d, which does not end", endless->first);
    else if (loop)
        DETAIL(", in the loop of line %d, which may be inside another one", loop->first);
    if (has_many_barriers(e))
        DETAIL("\nthe block has passed at least %llu barrier%s", (unsigned long long)e->barriers,
               plural(e->barriers));
}
