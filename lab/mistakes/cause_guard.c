/* Mistakes of conditions: loads and stores that are left out although their elements exist, or made
 * although they do not. */
#include "../../engine/report/text/numbers.h"
#include "situation.h"
#include <stdlib.h>
#include <string.h>

/* What one thread did, or did not do, at one step of an access in one phase. */
struct chance {
    int value[INDEX_VARIABLES];
    long long at[2];   /* row and column of the element that the index gives */
    long long of_c[2]; /* of the thread's element of C; -1: not known */
    bool in[2];        /* row, column: is one of the matrix */
    bool exists, done;
    bool missing;  /* it exists and is not made, in a phase that the block went through: a loop may
                      have ended before, of all its threads */
    bool returned; /* and that is as the thread had returned */
    bool other_exists; /* the element that the thread would load of the other input */
};

/* All chances of an access in the blocks of the trace. */
struct chances {
    struct chance *chance;
    size_t count, skipped, outside; /* existing and not done; done and not existing */
    const struct chance *missing;   /* the first one; null: there is none */
};

/* Row and column of the element that these variables mean. Returns whether there is one. */
static bool element_of(const struct situation *s, const struct view *v, int matrix,
                       const int value[INDEX_VARIABLES], long long at[2]) {
    at[0] = index_offset(&v->layout.row, value);
    at[1] = index_offset(&v->layout.col, value);
    return at[0] >= 0 && at[1] >= 0 && at[0] < s->size[cause_rows[matrix]].value &&
           at[1] < s->size[cause_columns[matrix]].value;
}

/* --- what was done ---------------------------------------------------------------------------- */

/* The intervals in which any thread makes the access. */
struct intervals {
    int number[256];
    size_t count;
};

static size_t find_interval(struct intervals *in, int interval) {
    size_t i = 0;
    while (i < in->count && in->number[i] != interval) i++;
    if (i == in->count && i < LENGTH(in->number)) in->number[in->count++] = interval;
    return i;
}

/* What was made of the chances. A chance's number: block, interval, thread and step, each by the
 * next one. */
struct made {
    struct intervals in;
    bool split; /* k is divided among blocks: what one of them loads no other one need load */
    unsigned char *chance; /* by its number: by this thread, in this line */
    unsigned char
        *element; /* by block, if it is not split, and element: by any thread, in any line */
    size_t threads, steps, elements;
};

static unsigned char *made_of(const struct made *made, int block, size_t element) {
    return &made->element[(made->split ? 0 : (size_t)block * made->elements) + element];
}

static void find_made(const struct situation *s, const struct view *v, struct made *made) {
    const struct recovery *r = s->recovery;
    for (size_t i = 0; i < r->trace->count; i++) {
        const struct trace_access *a = &r->trace->access[i];
        if (a->array != v->access->array || a->write != v->access->write) continue;
        if (a->offset >= 0 && (size_t)a->offset < made->elements)
            *made_of(made, a->block, (size_t)a->offset) = 1;
        if (r->of[i] != v->access - r->access) continue;
        const size_t interval =
            a->block * made->in.count + find_interval(&made->in, (int)a->interval);
        if ((size_t)r->step[i] < made->steps)
            made->chance[(interval * made->threads + a->thread) * made->steps +
                         (size_t)r->step[i]] = 1;
    }
}

static bool has_passed(const struct trace *t, int block, int interval) {
    size_t i = 0;
    while (i < t->barrier_count &&
           (t->barrier[i].block != block || (int)t->barrier[i].interval < interval))
        i++;
    return i < t->barrier_count;
}

static bool has_returned(const struct trace *t, int block, int interval, unsigned thread) {
    for (size_t i = 0; i < t->barrier_count; i++) {
        const struct trace_barrier *b = &t->barrier[i];
        if (b->block == block && (int)b->interval <= interval && threads_has(&b->returned, thread))
            return true;
    }
    return false;
}

/* What another thread of the block loads need not be loaded by this one. */
static struct chance chance_number(const struct situation *s, const struct view *v, int matrix,
                                   size_t number, const struct made *made) {
    const struct trace *t = s->recovery->trace;
    const struct view *other = matrix < 2 ? &s->load[!matrix] : NULL;
    const size_t interval = number / made->steps / made->threads;
    const int block = (int)(interval / made->in.count),
              phase = made->in.number[interval % made->in.count];
    const unsigned thread = (unsigned)(number / made->steps % made->threads);
    struct chance c = {.of_c = {-1, -1}};
    long long elsewhere[2];
    recover_values(t, block, thread, phase, (int)(number % made->steps), c.value);
    if (s->store.access && s->store.layout.size == SIZE_N)
        element_of(s, &s->store, MATRIX_C, c.value, c.of_c);
    c.exists = element_of(s, v, matrix, c.value, c.at);
    c.in[0] = c.at[0] >= 0 && c.at[0] < s->size[cause_rows[matrix]].value;
    c.in[1] = c.at[1] >= 0 && c.at[1] < s->size[cause_columns[matrix]].value;
    c.other_exists = !other || !other->access || element_of(s, other, !matrix, c.value, elsewhere);
    const size_t element = c.exists ? (size_t)index_offset(&v->access->formula, c.value) : 0;
    c.done = made->chance[number] || (c.exists && *made_of(made, block, element));
    c.missing = c.exists && !c.done && has_passed(t, block, phase);
    c.returned = c.missing && has_returned(t, block, phase, thread);
    return c;
}

/* Whether the index is the formula's in all blocks: those at the grid's end need not have decided
 * it (recover.c), where a guard leaves out steps, and may do something else in the same phase. */
static bool is_as_recovered(const struct situation *s, const struct view *v) {
    const struct recovery *r = s->recovery;
    for (size_t i = v->access->first; i < r->trace->count; i++) {
        struct index_sample sample;
        if (r->of[i] != v->access - r->access) continue;
        recover_sample(r, i, &sample);
        bool found = index_offset(&v->access->formula, sample.value) == sample.offset;
        for (int step = 0; step < v->access->steps && !found; step++) {
            sample.value[INDEX_STEP] = step;
            found = index_offset(&v->access->formula, sample.value) == sample.offset;
        }
        if (!found) return false;
    }
    return true;
}

static bool is_split(const struct view *v, int matrix) {
    return matrix < MATRIX_C && part_has(cause_other(&v->layout, matrix), LAYOUT_BLOCK);
}

/* In the order of blocks, intervals, threads and steps. False: not all was seen, or there is no
 * room for it. The caller frees all->chance. */
static bool find_chances(const struct situation *s, const struct view *v, int matrix,
                         struct chances *all) {
    enum { MOST = 1 << 20 };
    const struct trace *t = s->recovery->trace;
    struct made made = {.split = is_split(v, matrix),
                        .threads = t->block[0] * t->block[1] * t->block[2],
                        .steps = (size_t)v->access->steps,
                        .elements = (size_t)lab_elements(&lab.arrays[matrix], &s->shape)};
    for (size_t i = v->access->first; i < t->count; i++)
        if (s->recovery->of[i] == v->access - s->recovery->access)
            find_interval(&made.in, (int)t->access[i].interval);
    const size_t blocks = (size_t)t->block_count;
    *all = (struct chances){.count = blocks * made.in.count * made.threads * made.steps};
    if (!t->complete || all->count > MOST || made.in.count == LENGTH(made.in.number) ||
        !is_as_recovered(s, v))
        return false;
    made.chance = calloc(all->count + 1, 1);
    made.element = calloc(blocks * made.elements, 1);
    all->chance = malloc(all->count * sizeof *all->chance);
    const bool room = made.chance && made.element && all->chance;
    if (room) find_made(s, v, &made);
    for (size_t i = 0; room && i < all->count; i++) {
        const struct chance c = chance_number(s, v, matrix, i, &made);
        all->chance[i] = c;
        all->skipped += c.exists && !c.done;
        if (c.missing && !all->missing) all->missing = &all->chance[i];
        all->outside += !c.exists && c.done;
    }
    free(made.chance);
    free(made.element);
    return room;
}

/* --- what the condition compares -------------------------------------------------------------- */

/* Whether the access is made only where the row (0) or column (1) is less than the bound, and every
 * access that is left out has it at the bound or beyond, unless the other one is outside. */
static bool is_compared(const struct chances *all, int of, long long bound) {
    size_t left_out = 0;
    for (size_t i = 0; i < all->count; i++) {
        const struct chance *c = &all->chance[i];
        if (c->done && c->at[of] >= bound) return false;
        if (!c->done && c->in[!of] && c->at[of] < bound) return false;
        left_out += !c->done && c->at[of] >= bound;
    }
    return left_out > 0;
}

/* The wrong size with which rows or columns are compared; -1: none. */
static int wrong_bound(const struct situation *s, const struct chances *all, int of,
                       enum size right) {
    if (is_compared(all, of, s->size[right].value)) return -1;
    for (int size = 0; size < SIZES; size++)
        if (size != (int)right && is_compared(all, of, s->size[size].value)) return size;
    return -1;
}

/* The first access that is left out although its element exists; or that is made although it does
 * not. */
static const struct chance *first_wrong(const struct chances *all, bool exists) {
    size_t i = 0;
    while (all->chance[i].exists != exists || all->chance[i].done == exists) i++;
    return &all->chance[i];
}

static void say_example(const struct situation *s, const struct chance *c, int matrix,
                        const char *verb) {
    CAUSE_SAY(EXAMPLE, W(c->value[INDEX_THREAD_X]), W(c->value[INDEX_THREAD_Y]),
              W(c->value[INDEX_BLOCK_X]), W(c->value[INDEX_BLOCK_Y]), W(verb), NAME(matrix),
              W(c->at[0]), W(c->at[1]));
}

/* Of the rows (0) or the columns (1) of a matrix: compared with a size that is not theirs. */
static bool says_bound(const struct situation *s, const struct view *v, int matrix,
                       const struct chances *all, int of) {
    const enum size right = of ? cause_columns[matrix] : cause_rows[matrix];
    const int size = wrong_bound(s, all, of, right);
    const bool skips = all->skipped > 0;
    if (size < 0) return false;
    cause_at_access(s, CAUSE_GUARD_DIMENSION, v->access);
    CAUSE_SAY(BOUND, W(cause_direction[of]), NAME(matrix), W(s->size[size].name), NAME(matrix),
              W(s->size[right].name), W(cause_directions[of]), ACCESS(v->access));
    say_example(s, first_wrong(all, skips), matrix, skips ? "skips" : "accesses");
    return true;
}

/* All loads that are left out are of threads that have returned. */
static bool says_returned(const struct situation *s, const struct view *v, int matrix,
                          const struct chances *all) {
    for (size_t i = 0; i < all->count; i++)
        if (all->chance[i].missing && !all->chance[i].returned) return false;
    cause_at_access(s, CAUSE_SHARED_GUARD, v->access);
    CAUSE_SAY(RETURNED, NAME(matrix), ACCESS(v->access));
    say_example(s, all->missing, matrix, "had returned and does not load");
    CAUSE_SAY(EXISTS);
    return true;
}

/* A load of a tile is left out where the thread has no element of C, or none of the other tile; or
 * for another reason. */
static void say_left_out(const struct situation *s, const struct view *v, int matrix,
                         const struct chances *all) {
    const int of = matrix == MATRIX_A; /* what C has and the tile does not: columns of A's */
    const struct chance *no_c = NULL, *no_other = NULL; /* the first */
    bool others = false;                                /* some have neither reason */
    for (size_t i = 0; i < all->count; i++) {
        const struct chance *c = &all->chance[i];
        const bool is_of_c = c->of_c[of] >= s->size[of ? SIZE_N : SIZE_M].value;
        if (!c->missing) continue;
        if (is_of_c && !no_c) no_c = c;
        if (!is_of_c && !c->other_exists && !no_other) no_other = c;
        others |= !is_of_c && c->other_exists;
    }
    const struct chance *example = others ? all->missing : no_c ? no_c : no_other;
    cause_at_access(s, others ? CAUSE_GUARD_DIMENSION : CAUSE_SHARED_GUARD, v->access);
    CAUSE_SAY(SKIPS, NAME(matrix), ACCESS(v->access));
    say_example(s, example, matrix, "does not load");
    CAUSE_SAY(EXISTS);
    if (others)
        CAUSE_SAY(ASK_SKIPS, NAME(matrix));
    else if (no_c)
        CAUSE_SAY(NO_ELEMENT_OF_C, W(no_c->of_c[0]), W(no_c->of_c[1]));
    else
        CAUSE_SAY(NO_OTHER_ELEMENT, NAME(!matrix));
    if (!others) CAUSE_SAY(ASK_BOUNDS);
}

/* Whether the index of a load is right as far as the store of C shows it: then it is a condition
 * that is wrong. Its own rows, or columns, are C's, and along k it goes on with the phases. Those
 * of a tile need not be of the same thread. */
static bool has_right_index(const struct situation *s, const struct view *v, int matrix) {
    const struct layout *c = &s->store.layout;
    if (matrix == MATRIX_C) return true;
    if (!s->store.access || c->size != SIZE_N) return false;
    const bool tile = s->use[matrix].access != v->access;
    const struct index_formula *own = cause_own(&v->layout, matrix);
    const struct index_formula *k = cause_other(&v->layout, matrix), *of_c = cause_own(c, matrix);
    const unsigned known = v->varied & s->store.varied;
    const unsigned same = tile ? LAYOUT_BLOCK : LAYOUT_BLOCK | LAYOUT_THREAD;
    for (int i = INDEX_THREAD_X; i <= INDEX_BLOCK_Z; i++)
        if (known & same & 1u << i && part_has(k, 1u << i) &&
            (part_has(&c->row, 1u << i) || part_has(&c->col, 1u << i)))
            return false;
    return part_same(own, of_c, known & same) &&
           (!tile || part_has(k, LAYOUT_PHASE) || !part_has(own, LAYOUT_PHASE));
}

static bool looks_at(const struct situation *s, int matrix) {
    const struct view *v = &s->global[matrix];
    struct chances all;
    if (!v->access || !has_right_index(s, v, matrix) || !cause_concerns(s, matrix) ||
        v->layout.size != (int)cause_columns[matrix] || v->layout.mixed)
        return false;
    if (!v->alone && (v->layout.row.constant || v->layout.col.constant)) return false;
    bool found = find_chances(s, v, matrix, &all) && (all.skipped || all.outside);
    if (found && !says_bound(s, v, matrix, &all, 0) && !says_bound(s, v, matrix, &all, 1)) {
        found = all.missing && matrix != MATRIX_C && s->use[matrix].access != v->access &&
                !is_split(v, matrix);
        if (found && !says_returned(s, v, matrix, &all)) say_left_out(s, v, matrix, &all);
    }
    free(all.chance);
    return found;
}

/* --- stores that meet in the next row of C ---------------------------------------------------- */

/* How many of the threads that stay within their rows store each element of C. Null: two store the
 * same one, or memory is out. The caller frees it. */
static unsigned char *stores_in_rows(const struct situation *s, const struct chances *all) {
    const long long rows = s->size[SIZE_M].value, cols = s->size[SIZE_N].value;
    unsigned char *stores = calloc((size_t)(rows * cols), 1);
    bool meet = false;
    for (size_t i = 0; stores && i < all->count; i++) {
        const struct chance *c = &all->chance[i];
        if (c->exists && c->done) meet |= stores[c->at[0] * cols + c->at[1]]++;
    }
    if (!meet) return stores;
    free(stores);
    return NULL;
}

/* A store beyond the last column, to what is another thread's element. Where k is so small that a
 * condition that compared the column with it would be seen; with m, it was seen on another shape.
 */
static bool says_beyond(const struct situation *s, const struct chances *all,
                        const unsigned char *stores) {
    const long long rows = s->size[SIZE_M].value, cols = s->size[SIZE_N].value;
    for (size_t i = 0; i < all->count && s->size[SIZE_K].value < cols; i++) {
        const struct chance *c = &all->chance[i];
        const long long element = c->at[0] * cols + c->at[1];
        if (!c->done || c->at[0] < 0 || c->at[1] < cols || element >= rows * cols ||
            !stores[element])
            continue;
        cause_at_access(s, CAUSE_GUARD_DIMENSION, s->store.access);
        CAUSE_SAY(BEYOND, ACCESS(s->store.access));
        say_example(s, c, MATRIX_C, "stores");
        CAUSE_SAY(NEXT_ROW, W(element / cols), W(element % cols));
        return true;
    }
    return false;
}

/* A race of two threads that store an element of C, of which no two meet but where one has gone
 * beyond the last column. */
static bool says_next_row(const struct situation *s) {
    const struct view *v = &s->store;
    const struct finding *f = &s->failed->finding;
    const int64_t *failed = s->failed->shape.of;
    struct chances all;
    if (!v->access || !v->alone || v->layout.size != SIZE_N || v->layout.mixed) return false;
    if (strcmp(f->object.name, lab.arrays[MATRIX_C].name) != 0 || f->at.access != FINDING_WRITE ||
        f->other.access != FINDING_WRITE || f->at.line != v->access->place.line ||
        f->other.line != v->access->place.line)
        return false;
    unsigned char *stores = find_chances(s, v, MATRIX_C, &all) ? stores_in_rows(s, &all) : NULL;
    const int size = stores ? wrong_bound(s, &all, 1, SIZE_N) : -1;
    const bool found = size < 0
                           ? stores && says_beyond(s, &all, stores)
                           : failed[size] > failed[SIZE_N] && says_bound(s, v, MATRIX_C, &all, 1);
    free(stores);
    free(all.chance);
    return found;
}

/* Without tiles, one condition is around everything: then C is what it is about. */
bool cause_guard(const struct situation *s) {
    const bool tiles = s->use[0].access != s->load[0].access;
    if (s->failed->finding.kind == FINDING_GLOBAL_RACE) return says_next_row(s);
    for (int i = 0; i < MATRIX_COUNT; i++)
        if (looks_at(s, tiles ? i : MATRIX_COUNT - 1 - i)) return true;
    return false;
}
