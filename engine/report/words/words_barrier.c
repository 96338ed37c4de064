/* What a finding says of threads that wait at a barrier, do not, or never stop: who they are, and
 * between which lines a barrier is missing. */
#include "say.h"
#include "threads.h"
#include "vocabulary.h"
#include <inttypes.h>

/* --- races ------------------------------------------------------------------------------------ */

static bool is_same(struct finding_index a, struct finding_index b) {
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

/* Between an access and a pending copy. */
static void say_race_with_copy(const struct finding *f, struct finding_words *w) {
    const bool write = f->at.access == FINDING_WRITE;
    const struct phrase place = finding_at(f->other.file, f->other.line);
    DETAIL("thread %s %s %s before the asynchronous copy that ", AT, finding_verb(&f->at), ELEMENT);
    if (is_same(f->at.thread, f->other.thread))
        DETAIL("it began itself%s has completed", place.text);
    else
        DETAIL("thread %s began%s has completed", OTHER, place.text);
    if (HAS(OVERWRITTEN))
        HINT("a shared array may be overwritten only after every thread of the block has finished "
             "reading it: a copy overwrites it from the moment it begins");
    else
        HINT("wait for the copy (__pipeline_wait_prior) and __syncthreads() before %s",
             write ? "writing to its destination" : "reading");
}

static void say_missing_barrier(const struct finding *f, struct finding_words *w) {
    const int after = (int)GET(BARRIER_AFTER), passed = (int)GET(BARRIER_PASSED);
    if (HAS(BARRIER_LOOP))
        DETAIL("\na __syncthreads() is missing at the end of the loop of line %d, after line %d",
               (int)GET(BARRIER_LOOP), after);
    else if (HAS(BUFFERS))
        DETAIL("\na __syncthreads() is missing between the two lines, or one of them should access "
               "another buffer of %s",
               f->object.name);
    else if (after)
        DETAIL("\na __syncthreads() is missing after line %d, before line %d", after,
               (int)GET(BARRIER_BEFORE));
    if (!passed) return;
    DETAIL("\nthere is a __syncthreads() at line %d, but the two threads did not both reach it",
           passed);
    if (HAS(PASSED_PHASE)) DETAIL(" in %s %" PRId64, vocabulary()->phase, GET(PASSED_PHASE));
}

void say_shared_race(const struct finding *f, struct finding_words *w) {
    const struct phrase place = finding_at(f->other.file, f->other.line);
    if (HAS(PENDING_COPY)) {
        say_race_with_copy(f, w);
    } else if (HAS(ATOMIC)) {
        DETAIL("thread %s %s %s, and thread %s %s it%s, one of them with an atomic operation and "
               "the other without, with no __syncthreads() in between",
               AT, finding_verb(&f->at), ELEMENT, OTHER, finding_verb(&f->other), place.text);
        HINT("atomic operations race with loads and stores that are not atomic");
    } else if (f->at.access == FINDING_WRITE) {
        DETAIL("thread %s writes %s, and thread %s writes it%s, with no __syncthreads() in between",
               AT, ELEMENT, OTHER, place.text);
        HINT("each element of shared memory should have one thread that stores it, until a "
             "barrier");
    } else if (HAS(OVERWRITTEN)) {
        DETAIL(
            "thread %s reads %s, which thread %s overwrites%s, with no __syncthreads() in between",
            AT, ELEMENT, OTHER, place.text);
        say_missing_barrier(f, w);
        HINT("a shared array may be overwritten only after every thread of the block has finished "
             "reading "
             "it");
    } else {
        DETAIL("thread %s reads %s, which thread %s stores%s, with no __syncthreads() in between",
               AT, ELEMENT, OTHER, place.text);
        say_missing_barrier(f, w);
    }
}

/* --- barriers --------------------------------------------------------------------------------- */

/* "the 32 threads with threadIdx.y < 2 wait": who waits, or have returned. */
static void say_threads(const struct finding *f, struct finding_words *w, const struct threads *set,
                        const char *one, const char *several) {
    char text[200];
    threads_describe(text, sizeof text, set, f->block_size);
    DETAIL("%s %s", text, threads_count(set) == 1 ? one : several);
}

static unsigned block_threads(const struct finding *f) {
    return f->block_size.x * f->block_size.y * f->block_size.z;
}

/* Those that wait elsewhere; short where they are the rest of the block. */
static void say_elsewhere(const struct finding *f, struct finding_words *w) {
    const unsigned here = threads_count(&f->waiting), there = threads_count(&f->elsewhere);
    if (there > 1 && here + there == block_threads(f))
        DETAIL("the other %u wait", there);
    else
        say_threads(f, w, &f->elsewhere, "waits", "wait");
    DETAIL("%s", finding_at(f->other.file, f->other.line).text);
}

void say_divergent_barrier(const struct finding *f, struct finding_words *w) {
    say_threads(f, w, &f->waiting, "waits here", "wait here");
    DETAIL(",\n");
    say_elsewhere(f, w);
    if (threads_count(&f->returned)) {
        DETAIL(",\n");
        say_threads(f, w, &f->returned, "has returned", "have returned");
    }
    if (HAS(BRANCH)) DETAIL("\nthis __syncthreads() is inside the if of line %d", (int)GET(BRANCH));
}

void say_early_return(const struct finding *f, struct finding_words *w) {
    WHAT("not all threads of the block reach this __syncthreads(): %u have already returned",
         threads_count(&f->returned));
    say_threads(f, w, &f->returned, "had returned", "had returned");
    DETAIL(" from the kernel;\nthread %s then reads %s%s, which no thread has stored", OTHER,
           ELEMENT, finding_at(f->other.file, f->other.line).text);
}

/* --- what never goes on ----------------------------------------------------------------------- */

/* Threads can wait for each other at barriers, and for the lanes of their warp: a thread that has
 * not returned waits at one or the other. */
void say_deadlock(const struct finding *f, struct finding_words *w) {
    struct threads in_warps = {{0}};
    if (!f->other.known) {
        DETAIL("thread %s waits here", AT);
        return;
    }
    for (unsigned i = 0; i < block_threads(f); ++i)
        if (!threads_has(&f->waiting, i) && !threads_has(&f->returned, i))
            threads_add(&in_warps, i);
    say_threads(f, w, &in_warps, "waits", "wait");
    DETAIL(" for other lanes of %s (thread %s waits here);\n",
           threads_count(&in_warps) == 1 ? "its warp" : "their warps", AT);
    say_threads(f, w, &f->waiting, "waits", "wait");
    DETAIL(" for them at the __syncthreads()%s", finding_at(f->other.file, f->other.line).text);
}

void say_endless(const struct finding *f, struct finding_words *w) {
    if (HAS(RETURNS_NOT)) {
        WHAT("%s does not return", f->named);
        return;
    }
    say_what_ended_it(f, w);
    if (f->at.in_kernel) DETAIL("thread %s was running here", AT);
    if (HAS(LOOP_ENDLESS))
        DETAIL(", in the loop of line %d, which does not end", (int)GET(LOOP));
    else if (HAS(LOOP))
        DETAIL(", in the loop of line %d, which may be inside another loop", (int)GET(LOOP));
    if (HAS(BARRIERS))
        DETAIL("\nthe block has passed at least %" PRId64 " barrier%s", GET(BARRIERS),
               plural((uint64_t)GET(BARRIERS)));
}
