/* The finding of the first event, and the facts that its words are made of: see explain.h. The
 * facts are found by a function for each kind that has any. */
#define _GNU_SOURCE
#include "../cuda/program/program.h"
#include "../report/text/source.h"
#include "../report/text/text.h"
#include "../report/words/threads.h"
#include "explain.h"
#include <stdlib.h>
#include <string.h>

static void name_object(struct diagnosis *d, const char *name) { APPEND(d->f->named, "%s", name); }

/* --- out of bounds ---------------------------------------------------------------------------- */

/* An index that was computed in an int, and did not fit, is wrong by 2^32: exactly that far from
 * the address is an element of an array. Or so many bytes, where the offset was computed in bytes.
 */
static void find_overflow(struct diagnosis *d) {
    const uint64_t wrap = UINT64_C(1) << 32;
    for (const struct region *r = region_first(); r; r = r->next) {
        if (!r->array || r->freed) continue;
        if (d->e->address + wrap * array_element_bytes(r->array) - r->begin < r->bytes)
            SET(WRAPPED, WRAPPED_ELEMENTS);
        else if (d->e->address + wrap - r->begin < r->bytes)
            SET(WRAPPED, WRAPPED_BYTES);
        else
            continue;
        name_object(d, r->array->name);
        return;
    }
}

static void find_outside_of_arrays(struct diagnosis *d) {
    SET(ADDRESS, (int64_t)d->e->address);
    if (element_region(d->e)) return;
    SET_FLAG(FAR);
    find_overflow(d);
}

/* Whether the thread may be one at the edge of the grid that has no element of the array: threads
 * have elements by their place in the grid, as far as is known, and it is not the first of all. */
static bool may_be_at_edge(const struct diagnosis *d) {
    const struct engine_array *array = d->region->array;
    const struct finding_party *at = &d->f->at;
    bool any = false;
    for (int i = 0; i < 3; ++i) any |= array->axis_of[i] >= 0;
    return any && at->in_kernel && d->e->address >= d->region->begin &&
           (at->thread.x || at->thread.y || at->thread.z || at->block.x || at->block.y ||
            at->block.z);
}

static void find_out_of_bounds(struct diagnosis *d) {
    int64_t index[ENGINE_DIMENSIONS]; /* that the thread meant */
    if (!d->region) {
        find_outside_of_arrays(d);
        return;
    }
    const struct engine_array *array = d->region->array;
    SET(ELEMENT, element_number(d));
    SET(BYTES, d->e->size);
    if (may_be_at_edge(d)) SET_FLAG(EDGE);
    if (array->dimensions > 1 && element_intended(index, d, &d->f->at) &&
        index[0] < array->extent[0] && index[array->dimensions - 1] >= array_columns(array))
        SET_FLAG(LAST_COLUMN);
    if (d->e->address < d->region->begin) find_overflow(d);
}

static void find_bad_index(struct diagnosis *d) {
    const struct event *e = d->e;
    if (!e->has_index) return;
    SET(INDEX, e->index);
    name_object(d, e->array_type);
    if (d->other_row) SET_FLAG(OTHER_ROW);
    if (e->kind == FINDING_LOCAL_OUT_OF_BOUNDS && e->address) SET(ADDRESS, (int64_t)e->address);
}

/* --- values and pointers ---------------------------------------------------------------------- */

static void find_uninitialized_shared(struct diagnosis *d) {
    const struct unstored *u = &d->e->unstored;
    if (u->what == UNSTORED_UNKNOWN || !d->f->object.dimensions) return;
    SET(UNSTORED, u->what);
    SET(UNSTORED_FIRST, (int64_t)u->first);
    SET(UNSTORED_LAST, (int64_t)u->last);
}

/* In an array that begins at a multiple of the vector's size, the words before it, and in a row. */
static void set_rows(struct diagnosis *d, size_t word, size_t row) {
    if (!row) return;
    SET(WORD, (int64_t)word);
    SET(ROW_WORDS, (int64_t)row);
}

static void find_misaligned(struct diagnosis *d) {
    const struct event *e = d->e;
    const struct region *r = d->region;
    struct shared_name name;
    if (e->size) SET(BYTES, e->size);
    if (e->size < 2 * WORD || e->address % WORD) return;
    if (e->in_shared && !element_is_dynamic(e) && name_find(e->shared_offset, &name)) {
        const size_t offset = e->shared_offset - name.offset;
        if (name.element == WORD && name.dimensions > 1 && (e->address - offset) % e->size == 0)
            set_rows(d, offset / WORD, name.dimension[name.dimensions - 1]);
    } else if (r && e->address - r->begin < r->bytes && r->begin % e->size == 0) {
        set_rows(d, (e->address - r->begin) / WORD,
                 (size_t)array_columns(r->array) * array_element_bytes(r->array) / WORD);
    }
}

static void find_bad_launch(struct diagnosis *d) {
    const struct event *e = d->e;
    struct finding_launch *launch = &d->f->launch; /* where no more is known of it */
    const struct uint3 *g = &e->grid_size, *b = &e->block_size;
    memcpy(launch->grid, (unsigned[]){g->x, g->y, g->z}, sizeof launch->grid);
    memcpy(launch->block, (unsigned[]){b->x, b->y, b->z}, sizeof launch->block);
    launch->shared_bytes = e->dynamic_bytes;
    SET(STATIC_BYTES, (int64_t)e->static_bytes);
    if (e->checked) SET_FLAG(CHECKED);
}

/* --- lines of threads that wait at a barrier, do not, or never stop ----------------------------
 *
 * They are those of kernel.cu's text, where the program carries it along; where it does not, or the
 * text cannot be read, less is known. */

/* Of the text in which a party's line is; null: not known. */
static const struct structure *structure_at(const struct finding_party *party) {
    return party->line ? structure_of(party->file) : NULL;
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

/* Whether more than one thread stores to the element at the line of this party, which does: then
 * that line races with itself, and a barrier before or behind it orders none of these threads. */
static bool stores_again(struct diagnosis *d, const struct finding_party *party) {
    for (int i = 0; i < STORES; ++i) {
        if (!party->line || line_of_code(d->e->stored_again[i], party) != party->line) continue;
        SET(STORED_AGAIN, party->line);
        return true;
    }
    return false;
}

/* --- races on shared memory ------------------------------------------------------------------- */

/* Whether no thread goes from the one line to the other, but in a loop: they are in two branches;
 * or all that do have chosen a branch by what they read in the first one, an if's condition. */
static bool in_branches(const struct structure *s, int first, int second) {
    for (int i = 0; i < s->count; ++i) {
        const struct construct *c = &s->constructs[i];
        if (c->kind != CONSTRUCT_IF || first < c->first || second > c->last) continue;
        if (first <= c->condition ? c->condition < second : first < c->other && c->other <= second)
            return true;
    }
    return false;
}

/* The text of both lines, in the function where threads come from the one to the other: for a line
 * of a function that is called there, that of the call. */
struct race {
    const struct structure *s; /* null: not known */
    const struct construct *in;
    int at, other;
};

/* Where the last name in front of `end` begins, which becomes where that ends: without what a
 * template is made for. */
static size_t last_name(const char *text, size_t *end) {
    int depth = 0;
    size_t begin;
    while (*end && (depth || text[*end - 1] == '>')) {
        --*end;
        depth += (text[*end] == '>') - (text[*end] == '<');
    }
    for (begin = *end; begin && strchr(characters_of_words, text[begin - 1]);) --begin;
    return begin;
}

/* Whether the function of this line is called where its name is: it is a lambda of the one it is
 * called in, or the one in which an access was, of several on the line, and no constructor
 * ("pair::pair") or operator. */
static bool is_called_by_name(const struct structure *s, const struct construct *in, int line,
                              const char *function) {
    const struct construct *c = structure_around(s, CONSTRUCT_FUNCTION, line);
    if (c && in->first <= c->first && c->last <= in->last) return true;
    size_t end = strlen(function), begin = last_name(function, &end);
    const size_t length = end - begin;
    if (!c || !length || length != (size_t)c->name_length ||
        strncmp(c->name, function + begin, length) != 0)
        return false;
    if (begin < 2 || strncmp(function + begin - 2, "::", 2) != 0)
        return !strstr(function, "operator ");
    end = begin - 2;
    const size_t class = last_name(function, &end);
    return end - class != length || strncmp(function + class, function + begin, length) != 0;
}

/* Whether a barrier in the function itself, which is called, may order the threads. */
static bool is_called_with_barrier(const struct structure *s, const struct construct *in,
                                   int line) {
    const struct construct *called = structure_around(s, CONSTRUCT_FUNCTION, line);
    return called != in && structure_barrier_between(s, called->first, called->last);
}

/* Whether all threads that come to the line pass the barrier once: no if or loop is around it
 * alone.
 */
static bool is_passed_once(const struct structure *s, int barrier, int line) {
    return !structure_outermost(s, CONSTRUCT_IF, barrier, line) &&
           !structure_outermost(s, CONSTRUCT_LOOP, barrier, line);
}

/* Whether all threads that come from the one line to the other pass a barrier between them. */
static bool is_parted(const struct structure *s, int line, int other) {
    const int first = line < other ? line : other, second = line < other ? other : line;
    if (structure_innermost(s, CONSTRUCT_LOOP, first, second, 0)) return false;
    for (int i = 0; i < s->barriers; ++i) {
        const int barrier = s->barrier[i];
        if (first < barrier && barrier < second && !in_branches(s, barrier, second) &&
            is_passed_once(s, barrier, second) &&
            !structure_outermost(s, CONSTRUCT_FUNCTION, barrier, second))
            return true;
    }
    return false;
}

/* structure_line_in(), where the other line is: of several calls, the only one from which no
 * barrier parts it. */
static int line_beside(const struct structure *s, const struct construct *in, int line, int other) {
    int found = structure_line_in(s, in, line);
    if (found || structure_around(s, CONSTRUCT_FUNCTION, other) != in) return found;
    for (int call = 0; (call = structure_next_call(s, in, line, call));) {
        if (structure_around(s, CONSTRUCT_FUNCTION, call) != in) return 0;
        if (is_parted(s, call, other)) continue;
        if (found) return 0;
        found = call;
    }
    return found;
}

static struct race race_in(const struct structure *s, const struct construct *in,
                           const struct diagnosis *d) {
    const int at = d->f->at.line, other = d->f->other.line;
    const struct race race = {s, in, line_beside(s, in, at, other), line_beside(s, in, other, at)};
    const bool called =
        (race.at == at || is_called_by_name(s, in, at, d->f->at.function)) &&
        (race.other == other || is_called_by_name(s, in, other, d->f->other.function));
    const bool known = called && race.at && race.other && (race.at != race.other || at == other) &&
                       !is_called_with_barrier(s, in, at) && !is_called_with_barrier(s, in, other);
    return known ? race : (struct race){.s = NULL};
}

static struct race race_of(const struct diagnosis *d) {
    const struct structure *s = structure_at_both(&d->f->at, &d->f->other);
    struct race race = {.s = NULL};
    if (s) return race_in(s, structure_around(s, CONSTRUCT_FUNCTION, d->f->at.line), d);
    s = structure_at(&d->f->at);
    if (!s || structure_at(&d->f->other) != s) return race;
    for (int i = 0; i < s->count; ++i) {
        if (s->constructs[i].kind != CONSTRUCT_FUNCTION) continue;
        const struct race found = race_in(s, &s->constructs[i], d);
        if (found.s && race.s) return (struct race){.s = NULL};
        if (found.s) race = found;
    }
    return race;
}

/* 0: not known, or in another function that is not called once. */
static int line_in_race(const struct race *r, const struct diagnosis *d, const void *code) {
    const int line = line_of_code(code, &d->f->at);
    const int in = line ? structure_line_in(r->s, r->in, line) : 0;
    return in == line || is_called_by_name(r->s, r->in, line, place_before(code).function) ? in : 0;
}

/* Whether threads pass a barrier on the way back from a turn's second line to its first one alone:
 * then accesses that none orders are of one turn. */
static bool is_parted_from_next_turn(const struct structure *s, const struct construct *turns,
                                     int first, int second) {
    bool back = false;
    for (int i = 0; i < s->barriers; ++i) {
        const int barrier = s->barrier[i];
        if (barrier < turns->first || turns->last < barrier) continue;
        if (first <= barrier && barrier <= second) return false;
        back |= is_passed_once(s, barrier, turns->first);
    }
    return back;
}

/* Whether all threads that come to both lines come to the store first: in a kernel, and in no loop
 * that is around both, or in one turn of it. */
static bool is_stored_first(const struct race *r) {
    const struct construct *turns = structure_innermost(r->s, CONSTRUCT_LOOP, r->at, r->other, 0);
    return r->other < r->at && r->in->kernel &&
           (!turns || is_parted_from_next_turn(r->s, turns, r->other, r->at));
}

/* Whether the value is overwritten that is being read; else it is read too early, or that is not
 * known. A reader that has stored its own part in this interval has done so before or after: where
 * it waits by now, between the two lines or not, decides. */
static bool is_overwritten(const struct race *r, const struct diagnosis *d) {
    const struct event *e = d->e;
    if (r->s && is_stored_first(r)) return false;
    if (!e->overwritten || !e->reader_wrote) return e->overwritten;
    const int waits = r->s ? line_in_race(r, d, e->reader_at) : 0;
    if (!r->s || (e->reader_at && !waits)) return false;
    return !waits || r->other >= r->at || (r->other < waits && waits < r->at);
}

/* The line behind which a barrier covers this one as well, before `second`: the end of the loops
 * that are around it and not around the other. */
static int line_behind(const struct structure *s, int line, int second) {
    const struct construct *left = structure_outermost(s, CONSTRUCT_LOOP, line, second);
    return left ? left->last : line;
}

/* Likewise the line before which one belongs. */
static int line_ahead(const struct structure *s, int line, int first) {
    const struct construct *entered = structure_outermost(s, CONSTRUCT_LOOP, line, first);
    return entered ? entered->first : line;
}

/* A barrier is missing behind this line; not within the ifs around it and not around `second`,
 * where not all threads would reach it. */
static void set_barrier_after(struct diagnosis *d, const struct structure *s, int line,
                              int second) {
    const struct construct *left = structure_outermost(s, CONSTRUCT_IF, line, second);
    SET(BARRIER_AFTER, left ? left->last : line);
}

static void set_barrier_between(struct diagnosis *d, const struct structure *s, int after,
                                int before) {
    const struct construct *entered = structure_outermost(s, CONSTRUCT_IF, before, after);
    set_barrier_after(d, s, after, before);
    SET(BARRIER_BEFORE, entered ? entered->first : before);
}

static void set_barrier_at_end(struct diagnosis *d, const struct structure *s, int after,
                               const struct construct *loop) {
    set_barrier_after(d, s, after, loop->first);
    SET(BARRIER_LOOP, loop->first);
}

/* Whether an if is around both lines, in which no barrier is: perhaps not all threads enter it. */
static bool in_part_of_block(const struct structure *s, int first, int second) {
    const struct construct *c = structure_innermost(s, CONSTRUCT_IF, first, second, 0);
    return c && !structure_barrier_between(s, c->first, c->last);
}

/* Whether a barrier behind `after` leaves two threads that store to the element unordered. */
static bool leaves_stores(const struct race *r, const struct diagnosis *d, int after) {
    for (int i = 0; i < STORES && d->e->stored_again[i]; ++i) {
        const int line = line_in_race(r, d, d->e->stored_again[i]);
        if (!line || (line <= after) == (r->other <= after)) return true;
    }
    return false;
}

/* Two shared arrays that are filled together need one barrier: behind the last store that comes
 * before the read. */
static int behind_all_stores(const struct race *r, const struct diagnosis *d, int after,
                             int before) {
    for (int i = 0; i < STORES; ++i) {
        const int line = line_in_race(r, d, d->e->stores[i]);
        if (!line) continue;
        const int behind = line_behind(r->s, line, before);
        if (behind > after && behind < before) after = behind;
    }
    return after;
}

/* Of several buffers, which one is accessed is not known: it may have been filled in an earlier
 * turn of the loop. So a barrier in an if may be the one that is missing. Where there is none in
 * the loop, but one before it, the first buffer is filled there: the grade tries one at the loop's
 * end. */
static void find_buffers(struct diagnosis *d, const struct race *r, int after, int before) {
    const struct structure *s = r->s;
    const struct construct *turns = structure_innermost(s, CONSTRUCT_LOOP, r->at, r->other, 0);
    const int there = structure_barrier_between(s, turns->first, turns->last);
    if (there && structure_outermost(s, CONSTRUCT_IF, there, turns->first)) return;
    SET_FLAG(BUFFERS);
    if (!there && structure_barrier_between(s, r->in->first, turns->first))
        set_barrier_after(d, s, line_behind(s, before, after), turns->first);
    else
        set_barrier_between(d, s, after, before);
}

/* A loop that is around the read alone, and stores to the array as well: a barrier within it orders
 * the turns, too, if none does yet. */
static bool find_barrier_in_loop(struct diagnosis *d, const struct race *r) {
    const struct structure *s = r->s;
    const struct construct *loop = structure_outermost(s, CONSTRUCT_LOOP, r->at, r->other);
    const int store = loop ? structure_store(s, loop, d->f->object.name) : 0;
    if (!store || structure_barrier_between(s, store + 1, loop->last) ||
        structure_barrier_between(s, loop->first, r->at - 1))
        return false;
    int before = r->at;
    for (int kind = CONSTRUCT_LOOP; kind <= CONSTRUCT_IF; ++kind) {
        const struct construct *c =
            structure_outermost(s, (enum construct_kind)kind, r->at, loop->first);
        if (c && c->first < before) before = c->first;
    }
    if (before == loop->first) return false;
    SET(BARRIER_AFTER, before - 1);
    SET(BARRIER_BEFORE, before);
    return true;
}

/* Where a barrier between the line that is executed first and the other one belongs: outside of
 * loops that are around one of them only. */
static void find_missing_barrier(struct diagnosis *d, const struct race *r, bool overwritten) {
    const struct structure *s = r->s;
    const int first = overwritten ? r->at : r->other, second = overwritten ? r->other : r->at;
    if (!s) return;
    const struct construct *turns = structure_innermost(s, CONSTRUCT_LOOP, first, second, 0);
    const int before = line_ahead(s, second, first);
    int after = line_behind(s, first, second), barrier = 0;
    bool same_phase = false;
    if (after < before && !d->e->reader_ahead) {
        if (in_branches(s, first, second) || leaves_stores(r, d, after)) return;
        same_phase = d->f->phases > 0; /* both accesses are in it */
        if (!overwritten && find_barrier_in_loop(d, r)) return;
        if (!overwritten) after = behind_all_stores(r, d, after, before);
        barrier = structure_barrier_between(s, after + 1, before - 1);
        if (!barrier && in_part_of_block(s, first, second))
            set_barrier_after(d, s, after, before); /* for the grade, which tries it */
        else if (!barrier && turns && d->f->object.dimensions > 2)
            find_buffers(d, r, after, before);
        else if (!barrier)
            set_barrier_between(d, s, after, before);
    } else if (turns && !in_part_of_block(s, turns->first, turns->last) && !d->e->stored_again[0]) {
        barrier = structure_barrier_between(s, after + 1, turns->last);
        if (!barrier) barrier = structure_barrier_between(s, turns->first, before - 1);
        if (!barrier) set_barrier_at_end(d, s, after, turns);
    } else if (turns || !r->in->kernel) {
        return;
    }
    /* One that all threads pass in each turn is not between the two: they are of the same turn. */
    const bool same_turn = !turns || (barrier && is_passed_once(s, barrier, turns->first));
    if (r->at == r->other && same_turn) SET_FLAG(ONE_LINE);
    if (!barrier || (after >= before && same_turn)) return;
    SET(BARRIER_PASSED, barrier);
    if (same_phase) SET(PASSED_PHASE, d->f->phase);
}

/* Of two lines of which one alone accesses the element by an atomic operation, neither need come
 * first. Between them a barrier orders all threads if no branch is around both; and in a loop, if
 * they pass one already on the way back, or on the way there. One that is there in a kernel,
 * outside of loops, they did not both reach. */
static void find_barrier_beside_atomic(struct diagnosis *d, const struct race *r) {
    const int first = r->at < r->other ? r->at : r->other;
    const int second = r->at < r->other ? r->other : r->at;
    const struct structure *s = r->s;
    if (!s || first == second || d->e->stored_again[0] ||
        structure_innermost(s, CONSTRUCT_IF, first, second, 0))
        return;
    const struct construct *turns = structure_innermost(s, CONSTRUCT_LOOP, first, second, 0);
    const int after = line_behind(s, first, second), last = line_behind(s, second, first);
    const int before = line_ahead(s, second, first);
    const int there = structure_barrier_between(s, after + 1, before - 1);
    const bool back = turns && (structure_barrier_between(s, last + 1, turns->last) ||
                                structure_barrier_between(s, turns->first, first - 1));
    if (there && turns && !back)
        set_barrier_at_end(d, s, last, turns);
    else if (there && !turns && r->in->kernel)
        SET(BARRIER_PASSED, there);
    else if (!there && (!turns || back))
        set_barrier_between(d, s, after, before);
}

/* Where a line stores again to an array's element in a loop without a barrier, it may be in another
 * turn: the grade tries a barrier at the loop's end. */
static void find_turns(struct diagnosis *d, const struct race *r) {
    const struct structure *s = r->s;
    const struct construct *turns =
        s ? structure_innermost(s, CONSTRUCT_LOOP, r->at, r->other, 0) : NULL;
    if (!turns || !d->f->object.dimensions ||
        structure_barrier_between(s, turns->first, turns->last))
        return;
    SET(LOOP, turns->first);
    if (!in_part_of_block(s, turns->first, turns->last))
        set_barrier_after(d, s, r->at > r->other ? r->at : r->other, turns->first);
}

static void find_shared_race(struct diagnosis *d) {
    const struct event *e = d->e;
    const struct race race = race_of(d);
    if (e->within_warp) SET_FLAG(WITHIN_WARP);
    if (e->pending) {
        SET_FLAG(PENDING_COPY);
        if (e->overwritten && !e->write) SET_FLAG(OVERWRITTEN);
    } else if (e->atomic || e->other_atomic) {
        SET_FLAG(ATOMIC);
        find_barrier_beside_atomic(d, &race);
    } else if (!e->write && stores_again(d, &d->f->other)) {
        find_turns(d, &race);
    } else if (e->reader_in_warp && !e->reader_at && !(race.s && is_stored_first(&race))) {
        return; /* the value may be overwritten, or read too early */
    } else if (!e->write) {
        const bool overwritten = is_overwritten(&race, d);
        if (overwritten) SET_FLAG(OVERWRITTEN);
        find_missing_barrier(d, &race, overwritten);
    }
}

/* --- barriers --------------------------------------------------------------------------------- */

/* Of two barriers at which threads wait, whether the second one is passed by and not the first:
 * where all waited at one of them before and both are in one loop, it is the other one; else the
 * one that is first in the text. Without the text: where fewer threads wait. */
static bool barriers_exchanged(const struct diagnosis *d) {
    const struct event *e = d->e;
    const struct finding_party *at = &d->f->at, *other = &d->f->other;
    const struct structure *s = structure_at_both(at, other);
    if (!s) return threads_count(&e->waiting) > threads_count(&e->elsewhere);
    const int last = line_of_code(e->last_barrier, at);
    if ((last == at->line || last == other->line) &&
        structure_innermost(s, CONSTRUCT_LOOP, at->line, other->line, 0))
        return last == at->line;
    return at->line > other->line;
}

static void find_divergent_barrier(struct diagnosis *d) {
    const struct finding_party *at = &d->f->at, *other = &d->f->other;
    const struct structure *s = other->known ? structure_at_both(at, other) : structure_at(at);
    const struct construct *branch =
        s ? structure_innermost(s, CONSTRUCT_IF, at->line, at->line, other->line) : NULL;
    const struct construct *loop = s ? structure_around(s, CONSTRUCT_LOOP, at->line) : NULL;
    /* Of threads that skip it, some may have left a loop in the if. */
    if (branch && (other->known || !loop || loop->first < branch->first))
        SET(BRANCH, branch->first);
    d->f->at.access = d->f->other.access = FINDING_NO_ACCESS;
}

/* The only kernel that comes to the line, be it by a call; null: not known. */
static const struct construct *kernel_around(const struct structure *s, int line) {
    const struct construct *found = NULL;
    for (int i = 0; line && i < s->count; ++i) {
        const struct construct *c = &s->constructs[i];
        if (c->kind != CONSTRUCT_FUNCTION || !c->kernel || !structure_line_in(s, c, line)) continue;
        if (found) return NULL;
        found = c;
    }
    return found;
}

/* Whether threads that have returned, after the last barrier that is known, cannot have done so by
 * a `return`, on the way to the end of what is around this barrier. */
static bool is_skipped(const struct diagnosis *d) {
    const struct structure *s = structure_at(&d->f->at);
    const struct construct *kernel = s ? kernel_around(s, d->f->at.line) : NULL;
    if (!kernel) return false;
    const int line = structure_line_in(s, kernel, d->f->at.line);
    const int passed = line_of_code(d->e->last_barrier, &d->f->at);
    const int from = passed ? structure_line_in(s, kernel, passed) : 0;
    const int ahead = from ? line_ahead(s, from, 0) : kernel->first;
    const int begin = ahead <= line ? ahead : kernel->first;
    const struct construct *branch = structure_outermost(s, CONSTRUCT_IF, line, 0);
    const int last = line_behind(s, line, 0);
    const int end = branch && branch->last > last ? branch->last : last;
    return !structure_leaves(s, kernel, begin, end);
}

/* --- what never goes on ----------------------------------------------------------------------- */

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
    const struct construct *outer = structure_outermost(s, CONSTRUCT_LOOP, at->line, 0);
    if (!function || !function->kernel || !inner) return NULL;
    if (inner == outer) return outer;
    const int barrier = line_of_code(d->e->last_barrier, at);
    if (!has_many_barriers(d->e) || !barrier) return NULL;
    return structure_innermost(s, CONSTRUCT_LOOP, at->line, barrier, 0) == outer ? outer : NULL;
}

static void find_endless_loop(struct diagnosis *d) {
    const struct structure *s = structure_at(&d->f->at);
    const struct construct *loop = s ? structure_around(s, CONSTRUCT_LOOP, d->f->at.line) : NULL;
    const struct construct *endless = loop ? endless_loop(d, s) : NULL;
    if (endless) SET_FLAG(LOOP_ENDLESS);
    if (loop) SET(LOOP, endless ? endless->first : loop->first);
    if (has_many_barriers(d->e)) SET(BARRIERS, (int64_t)d->e->barriers);
}

/* --- what the runtime says -------------------------------------------------------------------- */

static void find_fault(struct diagnosis *d) {
    const struct fault_facts *fault = &d->e->fault;
    SET(FAULT, fault->code);
    if (fault->code == FAULT_ASSERTION && fault->assertion) name_object(d, fault->assertion);
    if (fault->code == FAULT_HOST) SET(SIGNAL, fault->signal);
    if (fault->code == FAULT_ENDLESS || fault->code == FAULT_TIME_LIMIT)
        slot_set_real(d->f->slot, SLOT_SECONDS, fault->seconds);
    if (fault->code != FAULT_TIME_LIMIT) return;
    SET(BLOCKS, (int64_t)fault->blocks);
    SET(OF, (int64_t)fault->of);
}

/* --- all of them ------------------------------------------------------------------------------ */

/* By the finding's kind, which may differ from the event's. */
static void find_facts(struct diagnosis *d) {
    const struct event *e = d->e;
    switch (d->f->kind) {
    case FINDING_SHARED_RACE: find_shared_race(d); break;
    case FINDING_GLOBAL_RACE:
        if (e->atomic || e->other_atomic) SET_FLAG(ATOMIC);
        if (e->synchronizes) SET_FLAG(SYNCHRONIZES);
        if (!e->atomic && !e->other_atomic && !e->write) stores_again(d, &d->f->other);
        break;
    case FINDING_DIVERGENT_BARRIER: find_divergent_barrier(d); break;
    case FINDING_EARLY_RETURN: d->f->at.access = FINDING_NO_ACCESS; break;
    case FINDING_OUT_OF_BOUNDS: find_out_of_bounds(d); break;
    case FINDING_SHARED_OUT_OF_BOUNDS:
        find_bad_index(d);
        if (!e->has_index && element_is_dynamic(e)) SET(DYNAMIC_BYTES, (int64_t)e->dynamic_bytes);
        break;
    case FINDING_LOCAL_OUT_OF_BOUNDS: find_bad_index(d); break;
    case FINDING_UNINITIALIZED_SHARED: find_uninitialized_shared(d); break;
    case FINDING_UNINITIALIZED_GLOBAL:
        if (e->atomic) SET_FLAG(ATOMIC);
        break;
    case FINDING_HOST_FUNCTION: name_object(d, e->called); break;
    case FINDING_MISALIGNED: find_misaligned(d); break;
    case FINDING_BAD_LAUNCH: find_bad_launch(d); break;
    case FINDING_FREED_MEMORY:
        if (e->frees) d->f->at.access = FINDING_NO_ACCESS;
        break;
    case FINDING_FAILED_CALL:
        name_object(d, e->place.called);
        SET(ERROR, e->error);
        if (e->forgotten) SET_FLAG(CHECKED);
        break;
    case FINDING_LEAK:
        SET(COUNT, e->count);
        SET(BYTES, (int64_t)e->bytes);
        break;
    case FINDING_ENDLESS:
        find_fault(d);
        find_endless_loop(d);
        break;
    case FINDING_TIME_LIMIT:
    case FINDING_KERNEL_FAULT:
    case FINDING_HOST_FAULT: find_fault(d); break;
    case FINDING_DEADLOCK: d->f->other.access = FINDING_NO_ACCESS; break;
    default: break;
    }
}

/* --- the finding ------------------------------------------------------------------------------ */

static void find_phase(struct finding *f, const struct event *e) {
    const struct region *r = region_with_phases();
    const uint32_t width = event_tile_width();
    const uint32_t extent = r ? (uint32_t)r->array->extent[r->array->phase_axis] : 0;
    if (width < 2 || !e->column || extent <= width) return;
    f->phase = (int)((e->column - 1) / width);
    f->phases = (int)((extent + width - 1) / width);
}

/* Two threads at one element of an array, one of which meant an element beyond the last column,
 * which is in the next row: what is wrong is that store. */
static bool is_column_overrun(const struct diagnosis *d) {
    struct finding *f = d->f;
    int64_t index[ENGINE_DIMENSIONS] = {0};
    if (!d->region || d->e->kind != FINDING_GLOBAL_RACE) return false;
    for (int i = 0; i < 2; ++i) {
        struct finding_party *party = i ? &f->other : &f->at;
        if (party->access != FINDING_WRITE || !element_intended(index, d, party)) continue;
        if (party == &f->other) f->at = f->other;
        f->other = (struct finding_party){.known = false};
        memcpy(f->object.index, index, sizeof index);
        return true;
    }
    return false;
}

struct finding diagnose_skipped(const struct event *event) {
    struct finding finding = diagnose(event);
    const struct diagnosis d = {.e = event, .f = &finding};
    return is_skipped(&d) ? finding : (struct finding){.kind = FINDING_NONE};
}

struct finding diagnose(const struct event *event) {
    struct finding finding = {.kind = event->kind};
    struct diagnosis d = {.e = event, .f = &finding};
    party_find(&finding, event);
    if (event->kind == FINDING_DIVERGENT_BARRIER && event->has_other && barriers_exchanged(&d)) {
        const struct finding_party at = finding.at; /* first is the one that threads pass by */
        finding.at = finding.other;
        finding.other = at;
        finding.waiting = event->elsewhere;
        finding.elsewhere = event->waiting;
    }
    element_name(&d);
    find_phase(&finding, event);
    if (is_column_overrun(&d)) finding.kind = FINDING_OUT_OF_BOUNDS;
    find_facts(&d);
    return finding;
}
