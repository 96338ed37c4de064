/* Which lines a finding is about whose threads wait at a barrier, do not, or never stop. They are
 * those of kernel.cu's text, where the program carries it along; where it does not, or the text
 * cannot be read, less is known. */
#define _GNU_SOURCE
#include "../report/text/source.h"
#include "../report/words/threads.h"
#include "explain.h"
#include "outline.h"
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
static int line_of_code(const void *code, const struct finding_party *party) {
    if (!code) return 0;
    const struct place place = place_before(code);
    return strncmp(place.file, party->file, sizeof party->file - 1) == 0 ? place.line : 0;
}

/* --- races ------------------------------------------------------------------------------------ */

/* Whether the value is overwritten that is being read; else it is read too early. A reader that has
 * stored its own part in this interval has done so before or after: where it waits by now, between
 * the two lines or not, decides. */
static bool is_overwritten(const struct diagnosis *d) {
    const struct event *e = d->e;
    const int read = d->f->at.line, write = d->f->other.line;
    if (!e->overwritten || !e->reader_wrote) return e->overwritten;
    const int waits = line_of_code(e->reader_at, &d->f->at);
    return !waits || write >= read || (write < waits && waits < read);
}

/* The line behind which a barrier covers this one as well, before `second`: the end of the loops
 * that are around it and not around the other. */
static int line_behind(const struct structure *s, int line, int second) {
    const struct construct *left = structure_outermost_without(s, CONSTRUCT_LOOP, line, second);
    return left ? left->last : line;
}

/* Two shared arrays that are filled together need one barrier: behind the last store that comes
 * before the read. */
static int behind_all_stores(const struct diagnosis *d, const struct structure *s, int after,
                             int before) {
    const struct construct *function = structure_around(s, CONSTRUCT_FUNCTION, before);
    for (int i = 0; i < STORES; ++i) {
        const int line = line_of_code(d->e->stores[i], &d->f->at);
        if (!line || structure_around(s, CONSTRUCT_FUNCTION, line) != function) continue;
        const int behind = line_behind(s, line, before);
        if (behind > after && behind < before) after = behind;
    }
    return after;
}

/* Where a barrier between the line that is executed first and the other one belongs: outside of
 * loops that are around one of them only. */
static void find_missing_barrier(struct diagnosis *d, int first, int second) {
    const struct structure *s = structure_at_both(&d->f->at, &d->f->other);
    if (!s) return;
    const struct construct *entered = structure_outermost_without(s, CONSTRUCT_LOOP, second, first);
    const struct construct *turns = structure_common(s, CONSTRUCT_LOOP, first, second);
    const int before = entered ? entered->first : second;
    int after = line_behind(s, first, second), barrier;
    bool same_phase = false;
    if (after < before && !d->e->reader_ahead) {
        same_phase = d->f->phases > 0; /* both accesses are in it */
        if (first == d->f->other.line) after = behind_all_stores(d, s, after, before);
        barrier = structure_barrier_between(s, after + 1, before - 1);
        if (!barrier) SET(BARRIER_BEFORE, before);
        if (!barrier && turns && d->f->object.dimensions > 2) SET_FLAG(BUFFERS);
    } else if (turns) {
        barrier = structure_barrier_between(s, after + 1, turns->last);
        if (!barrier) barrier = structure_barrier_between(s, turns->first, before - 1);
        if (!barrier) SET(BARRIER_LOOP, turns->first);
    } else {
        return;
    }
    if (!barrier) {
        SET(BARRIER_AFTER, after);
        return;
    }
    SET(BARRIER_PASSED, barrier);
    if (same_phase) SET(PASSED_PHASE, d->f->phase);
}

void find_shared_race(struct diagnosis *d) {
    const struct event *e = d->e;
    const int at = d->f->at.line, other = d->f->other.line;
    if (e->pending) {
        SET_FLAG(PENDING_COPY);
        if (e->overwritten && !e->write) SET_FLAG(OVERWRITTEN);
    } else if (e->atomic || e->other_atomic) {
        SET_FLAG(ATOMIC);
    } else if (!e->write && is_overwritten(d)) {
        SET_FLAG(OVERWRITTEN);
        find_missing_barrier(d, at, other);
    } else if (!e->write) {
        find_missing_barrier(d, other, at);
    }
}

/* --- barriers --------------------------------------------------------------------------------- */

bool barriers_exchanged(const struct diagnosis *d) {
    const struct event *e = d->e;
    const struct finding_party *at = &d->f->at, *other = &d->f->other;
    const struct structure *s = structure_at_both(at, other);
    if (!s) return threads_count(&e->waiting) > threads_count(&e->elsewhere);
    const int last = line_of_code(e->last_barrier, at);
    if ((last == at->line || last == other->line) &&
        structure_common(s, CONSTRUCT_LOOP, at->line, other->line))
        return last == at->line;
    return at->line > other->line;
}

void find_divergent_barrier(struct diagnosis *d) {
    const struct finding_party *at = &d->f->at, *other = &d->f->other;
    const struct structure *s = structure_at_both(at, other);
    const struct construct *branch =
        s ? structure_innermost_without(s, CONSTRUCT_IF, at->line, other->line) : NULL;
    if (branch) SET(BRANCH, branch->first);
    d->f->at.access = d->f->other.access = FINDING_NO_ACCESS;
}

void find_early_return(struct diagnosis *d) { d->f->at.access = FINDING_NO_ACCESS; }

/* --- what never goes on ----------------------------------------------------------------------- */

void find_deadlock(struct diagnosis *d) { d->f->other.access = FINDING_NO_ACCESS; }

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
    const int barrier = line_of_code(d->e->last_barrier, at);
    if (!has_many_barriers(d->e) || !barrier) return NULL;
    return structure_common(s, CONSTRUCT_LOOP, at->line, barrier) == outer ? outer : NULL;
}

void find_endless_loop(struct diagnosis *d) {
    const struct structure *s = structure_at(&d->f->at);
    const struct construct *loop = s ? structure_around(s, CONSTRUCT_LOOP, d->f->at.line) : NULL;
    const struct construct *endless = loop ? endless_loop(d, s) : NULL;
    if (endless) SET_FLAG(LOOP_ENDLESS);
    if (loop) SET(LOOP, endless ? endless->first : loop->first);
    if (has_many_barriers(d->e)) SET(BARRIERS, (int64_t)d->e->barriers);
}
