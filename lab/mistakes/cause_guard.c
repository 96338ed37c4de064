/* Mistakes of conditions: loads and stores that are left out although their elements exist, or made
 * although they do not. */
#include "../../engine/report/text/numbers.h"
#include "situation.h"
#include <stdlib.h>
#include <string.h>

/* What one thread did, or did not do, at one step of an access in one phase. */
struct chance {
    unsigned block[3], thread[3];
    long long row, col;          /* of the element that the index gives */
    long long c_row, c_col;      /* of the thread's element of C; -1: not known */
    bool exists, done, returned; /* returned: not made, as the thread had returned */
    bool other_exists;           /* the element that the thread would load of the other input */
};

/* All chances of an access in the blocks of the trace. */
struct chances {
    struct chance *chance;
    size_t count, skipped, outside; /* existing and not done; done and not existing */
};

static unsigned threads_of(const struct trace *t) {
    return t->block[0] * t->block[1] * t->block[2];
}

static bool exists(const struct situation *s, const struct view *v, int matrix,
                   const int value[INDEX_VARIABLES]) {
    const long long row = index_offset(&v->layout.row, value),
                    col = index_offset(&v->layout.col, value);
    return row >= 0 && col >= 0 && row < s->size[cause_rows[matrix]].value &&
           col < s->size[cause_columns[matrix]].value;
}

static struct chance chance_of(const struct situation *s, const struct view *v, int matrix,
                               const int value[INDEX_VARIABLES]) {
    const struct view *other = matrix < 2 ? &s->load[!matrix] : NULL;
    struct chance c = {.row = index_offset(&v->layout.row, value),
                       .col = index_offset(&v->layout.col, value),
                       .c_row = -1,
                       .c_col = -1};
    for (int i = 0; i < 3; i++) {
        c.thread[i] = (unsigned)value[INDEX_THREAD_X + i];
        c.block[i] = (unsigned)value[INDEX_BLOCK_X + i];
    }
    if (s->store.access && s->store.layout.size == SIZE_N) {
        c.c_row = index_offset(&s->store.layout.row, value);
        c.c_col = index_offset(&s->store.layout.col, value);
    }
    c.exists = exists(s, v, matrix, value);
    c.other_exists = !other || !other->access || exists(s, other, !matrix, value);
    return c;
}

/* An access that was made: block, interval and thread, and which element. */
struct made {
    uint64_t by;
    int64_t offset;
};

static uint64_t key(int block, int interval, unsigned thread) {
    return ((uint64_t)block << 32 | (uint64_t)interval) << 16 | thread;
}

static int compare(const void *a, const void *b) {
    const struct made *x = a, *y = b;
    if (x->by != y->by) return x->by < y->by ? -1 : 1;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

/* Accesses that were made, sorted. */
struct all_made {
    struct made *made;
    size_t count;
};

/* Of this line, by block, interval and thread; or of all lines that access the array so, by block
 * alone. */
static struct all_made find_made(const struct situation *s, const struct view *v, bool by_block) {
    const struct recovery *r = s->recovery;
    const struct trace *t = r->trace;
    const int number = (int)(v->access - r->access);
    struct all_made all = {malloc(t->count * sizeof *all.made), 0};
    for (size_t i = 0; all.made && i < t->count; i++) {
        const struct trace_access *a = &t->access[i];
        const bool same = a->array == v->access->array && a->write == v->access->write;
        if (by_block ? !same : r->of[i] != number) continue;
        all.made[all.count++] = (struct made){
            by_block ? a->block : key(a->block, (int)a->interval, a->thread), a->offset};
    }
    if (all.made) qsort(all.made, all.count, sizeof *all.made, compare);
    return all;
}

/* The intervals in which any thread makes the access. */
struct intervals {
    int number[256];
    size_t count;
};

static void find_intervals(const struct situation *s, const struct view *v, struct intervals *in) {
    const struct recovery *r = s->recovery;
    const int number = (int)(v->access - r->access);
    in->count = 0;
    for (size_t i = v->access->first; i < r->trace->count && in->count < LENGTH(in->number); i++) {
        size_t known = 0;
        const int interval = (int)r->trace->access[i].interval;
        if (r->of[i] != number) continue;
        while (known < in->count && in->number[known] != interval) known++;
        if (known == in->count) in->number[in->count++] = interval;
    }
}

/* Both of find_made(). */
struct both_made {
    struct all_made by_thread, by_block;
};

static bool is_made(const struct all_made *all, struct made wanted) {
    return bsearch(&wanted, all->made, all->count, sizeof wanted, compare) != NULL;
}

static bool has_returned(const struct trace *t, int block, int interval, unsigned thread) {
    for (size_t i = 0; i < t->barrier_count; i++) {
        const struct trace_barrier *b = &t->barrier[i];
        if (b->block == block && (int)b->interval <= interval && threads_has(&b->returned, thread))
            return true;
    }
    return false;
}

/* In the order of blocks, intervals, threads and steps. What another thread of the block loads need
 * not be loaded by this one. */
static struct chance chance_number(const struct situation *s, const struct view *v, int matrix,
                                   size_t i, const struct intervals *in,
                                   const struct both_made *made) {
    const struct trace *t = s->recovery->trace;
    const size_t steps = (size_t)v->access->steps, threads = threads_of(t);
    int value[INDEX_VARIABLES];
    const int block = (int)(i / steps / threads / in->count),
              interval = in->number[i / steps / threads % in->count];
    const unsigned thread = (unsigned)(i / steps % threads);
    recover_values(t, block, thread, interval, (int)(i % steps), value);
    struct chance c = chance_of(s, v, matrix, value);
    const int64_t offset = index_offset(v->formula, value);
    c.done = is_made(&made->by_thread, (struct made){key(block, interval, thread), offset}) ||
             (c.exists && is_made(&made->by_block, (struct made){(uint64_t)block, offset}));
    c.returned = c.exists && !c.done && has_returned(t, block, interval, thread);
    return c;
}

static bool find_chances(const struct situation *s, const struct view *v, int matrix,
                         struct chances *all) {
    enum { MOST = 1 << 21 };
    const struct trace *t = s->recovery->trace;
    struct intervals in;
    find_intervals(s, v, &in);
    const size_t count =
        (size_t)t->block_count * in.count * threads_of(t) * (size_t)v->access->steps;
    *all = (struct chances){.count = count};
    if (!t->complete || count > MOST) return false;
    const struct both_made made = {find_made(s, v, false), find_made(s, v, true)};
    const bool room = made.by_thread.made && made.by_block.made;
    all->chance = malloc(count * sizeof *all->chance);
    for (size_t i = 0; room && all->chance && i < count; i++) {
        const struct chance c = chance_number(s, v, matrix, i, &in, &made);
        all->chance[i] = c;
        all->skipped += c.exists && !c.done;
        all->outside += !c.exists && c.done;
    }
    free(made.by_thread.made);
    free(made.by_block.made);
    return room && all->chance;
}

/* --- what the condition compares -------------------------------------------------------------- */

static long long row_of(const struct chance *c) { return c->row; }
static long long col_of(const struct chance *c) { return c->col; }
static long long c_row_of(const struct chance *c) { return c->c_row; }
static long long c_col_of(const struct chance *c) { return c->c_col; }
typedef long long coordinate(const struct chance *c);

/* Whether the access is made only where the coordinate is less than the bound, and every access
 * that is left out although its element exists has it at the bound or beyond. */
static bool is_compared(const struct chances *all, coordinate *of, long long bound) {
    size_t left_out = 0;
    for (size_t i = 0; i < all->count; i++) {
        const struct chance *c = &all->chance[i];
        if (c->done && of(c) >= bound) return false;
        if (!c->done && c->exists && of(c) < bound) return false;
        left_out += !c->done && of(c) >= bound;
    }
    return left_out > 0;
}

/* The wrong size with which rows or columns are compared; -1: none. */
static int wrong_bound(const struct situation *s, const struct chances *all, coordinate *of,
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

static void say_example(struct cause *cause, const struct chance *c, const char *name,
                        const char *verb) {
    CAUSE_SAY(EXAMPLE, W(c->thread[0]), W(c->thread[1]), W(c->block[0]), W(c->block[1]), W(verb),
              W(name), W(c->row), W(c->col));
}

/* Of the rows (0) or the columns (1) of a matrix: compared with a size that is not theirs. */
static bool says_bound_of(const struct situation *s, struct cause *cause, const struct view *v,
                          int matrix, const struct chances *all, int of) {
    const enum size right = of ? cause_columns[matrix] : cause_rows[matrix];
    const char *name = cause_array_name(s, matrix);
    const int size = wrong_bound(s, all, of ? col_of : row_of, right);
    if (size < 0) return false;
    cause_at_access(cause, CAUSE_GUARD_DIMENSION, v->access);
    CAUSE_SAY(BOUND, W(cause_direction[of]), W(name), W(s->size[size].name), W(name),
              W(s->size[right].name), W(cause_directions[of]));
    cause_say_access(s, cause, v->access);
    const bool skips = all->skipped > 0;
    say_example(cause, first_wrong(all, skips), name, skips ? "skips" : "accesses");
    CAUSE_SAY(ASK_CONDITION);
    return true;
}

static bool says_bound(const struct situation *s, struct cause *cause, const struct view *v,
                       int matrix, const struct chances *all) {
    return says_bound_of(s, cause, v, matrix, all, 0) || says_bound_of(s, cause, v, matrix, all, 1);
}

/* Why loads of a tile are left out. */
struct reasons {
    const struct chance *first;    /* of all */
    const struct chance *of_c;     /* the thread has no element of C */
    const struct chance *of_other; /* it has none of the other tile to load */
    bool others;                   /* some have neither reason */
};

static struct reasons reasons_of(const struct situation *s, int matrix, const struct chances *all) {
    coordinate *const of = matrix == MATRIX_A ? c_col_of : c_row_of;
    const long long end =
        matrix == MATRIX_A ? shape_size(&s->shape, PARAM_N) : shape_size(&s->shape, PARAM_M);
    struct reasons r = {.first = first_wrong(all, true)};
    for (size_t i = 0; i < all->count; i++) {
        const struct chance *c = &all->chance[i];
        if (!c->exists || c->done) continue;
        const bool no_c = of(c) >= end;
        if (no_c && !r.of_c) r.of_c = c;
        if (!no_c && !c->other_exists && !r.of_other) r.of_other = c;
        r.others |= !no_c && c->other_exists;
    }
    return r;
}

static void say_reason(const struct situation *s, struct cause *cause, int matrix,
                       const struct reasons *r) {
    const struct chance *c = r->others ? r->first : r->of_c ? r->of_c : r->of_other;
    say_example(cause, c, cause_array_name(s, matrix), "does not load");
    CAUSE_SAY(EXISTS);
    if (r->others) return;
    if (r->of_c)
        CAUSE_SAY(NO_ELEMENT_OF_C, W(c->c_row), W(c->c_col));
    else
        CAUSE_SAY(NO_OTHER_ELEMENT, W(cause_array_name(s, !matrix)));
}

/* All loads that are left out are of threads that have returned. */
static bool says_returned(const struct situation *s, struct cause *cause, const struct view *v,
                          int matrix, const struct chances *all) {
    for (size_t i = 0; i < all->count; i++)
        if (all->chance[i].exists && !all->chance[i].done && !all->chance[i].returned) return false;
    const struct chance *c = first_wrong(all, true);
    cause_at_access(cause, CAUSE_SHARED_GUARD, v->access);
    CAUSE_SAY(RETURNED, W(cause_array_name(s, matrix)));
    cause_say_access(s, cause, v->access);
    say_example(cause, c, cause_array_name(s, matrix), "had returned and does not load");
    CAUSE_SAY(EXISTS);
    CAUSE_SAY(ASK_RETURNED);
    return true;
}

/* A load of a tile is left out where the thread has no element of C, or none of the other tile; or
 * for another reason. */
static bool says_left_out(const struct situation *s, struct cause *cause, const struct view *v,
                          int matrix, const struct chances *all) {
    const struct reasons r = reasons_of(s, matrix, all);
    cause_at_access(cause, r.others ? CAUSE_GUARD_DIMENSION : CAUSE_SHARED_GUARD, v->access);
    CAUSE_SAY(SKIPS, W(cause_array_name(s, matrix)));
    cause_say_access(s, cause, v->access);
    say_reason(s, cause, matrix, &r);
    if (r.others)
        CAUSE_SAY(ASK_SKIPS, W(cause_array_name(s, matrix)));
    else
        CAUSE_SAY(ASK_BOUNDS);
    return true;
}

static bool looks_at(const struct situation *s, struct cause *cause, int matrix) {
    const struct view *v = &s->global[matrix];
    struct chances all;
    bool found = false;
    if (!v->access || !cause_concerns(s, matrix) || v->layout.size != (int)cause_columns[matrix] ||
        v->layout.mixed)
        return false;
    if (!v->alone && (v->layout.row.constant || v->layout.col.constant)) return false;
    if (find_chances(s, v, matrix, &all) && (all.skipped || all.outside)) {
        found = says_bound(s, cause, v, matrix, &all);
        if (!found && all.skipped && matrix < 2 && s->use[matrix].access != v->access)
            found = says_returned(s, cause, v, matrix, &all) ||
                    says_left_out(s, cause, v, matrix, &all);
    }
    free(all.chance);
    return found;
}

/* --- stores that meet in the next row of C ---------------------------------------------------- */

/* For each element of C, what stores it of the threads that stay within their rows. Null: two of
 * them store the same one, or memory is out. The caller frees it. */
static const struct chance **owners(const struct situation *s, const struct chances *all) {
    const long long rows = shape_size(&s->shape, PARAM_M), cols = shape_size(&s->shape, PARAM_N);
    const struct chance **owner = calloc((size_t)(rows * cols), sizeof *owner);
    for (size_t i = 0; owner && i < all->count; i++) {
        const struct chance *c = &all->chance[i];
        if (!c->exists || !c->done) continue;
        if (owner[c->row * cols + c->col]) {
            free(owner);
            return NULL;
        }
        owner[c->row * cols + c->col] = c;
    }
    return owner;
}

static bool same_thread(const struct chance *a, const struct chance *b) {
    return memcmp(a->thread, b->thread, sizeof a->thread) == 0 &&
           memcmp(a->block, b->block, sizeof a->block) == 0;
}

/* The first store beyond the last column, to what is another thread's element; null: none is. */
static const struct chance *first_beyond(const struct situation *s, const struct chances *all,
                                         const struct chance *const owner[]) {
    const long long rows = shape_size(&s->shape, PARAM_M), cols = shape_size(&s->shape, PARAM_N);
    for (size_t i = 0; i < all->count; i++) {
        const struct chance *c = &all->chance[i];
        const long long element = c->row * cols + c->col;
        if (c->done && c->row >= 0 && c->col >= cols && element < rows * cols && owner[element] &&
            !same_thread(owner[element], c))
            return c;
    }
    return NULL;
}

/* Where k is so small that a condition that compared the column with it would be seen; with m, it
 * was seen on another shape. */
static bool says_beyond(const struct situation *s, struct cause *cause, const struct view *v,
                        const struct chance *beyond) {
    const long long cols = shape_size(&s->shape, PARAM_N);
    if (!beyond || shape_size(&s->shape, PARAM_K) >= cols) return false;
    cause_at_access(cause, CAUSE_GUARD_DIMENSION, v->access);
    CAUSE_SAY(BEYOND);
    cause_say_access(s, cause, v->access);
    say_example(cause, beyond, cause_array_name(s, MATRIX_C), "stores");
    CAUSE_SAY(NEXT_ROW, W(beyond->row + beyond->col / cols), W(beyond->col % cols));
    CAUSE_SAY(ASK_BEYOND);
    return true;
}

/* A race of two threads that store an element of C. */
static bool is_of_store(const struct situation *s, const struct finding *f) {
    const int line = s->store.access ? s->store.access->place.line : 0;
    return strcmp(f->object.name, cause_array_name(s, MATRIX_C)) == 0 &&
           f->at.access == FINDING_WRITE && f->other.access == FINDING_WRITE &&
           f->at.line == line && f->other.line == line;
}

/* Of stores of which no two meet but where one has gone beyond the last column. */
static bool says_columns(const struct situation *s, struct cause *cause, const struct chances *all,
                         const struct chance *const owner[]) {
    const struct view *v = &s->store;
    const int64_t *failed = s->failed->shape.of;
    const int size = wrong_bound(s, all, col_of, SIZE_N);
    if (size < 0) return says_beyond(s, cause, v, first_beyond(s, all, owner));
    return failed[size] > failed[SIZE_N] && says_bound_of(s, cause, v, MATRIX_C, all, 1);
}

static bool says_next_row(const struct situation *s, struct cause *cause) {
    const struct view *v = &s->store;
    struct chances all;
    if (!is_of_store(s, &s->failed->finding) || !v->alone || v->layout.size != SIZE_N ||
        v->layout.mixed)
        return false;
    const struct chance **owner = find_chances(s, v, MATRIX_C, &all) ? owners(s, &all) : NULL;
    const bool found = owner && says_columns(s, cause, &all, owner);
    free(owner);
    free(all.chance);
    return found;
}

/* Without tiles, one condition is around everything: then C is what it is about. */
bool cause_guard(const struct situation *s, struct cause *cause) {
    const bool tiles = s->use[0].access != s->load[0].access;
    if (s->failed->finding.kind == FINDING_GLOBAL_RACE) return says_next_row(s, cause);
    for (int i = 0; i < MATRIX_COUNT; i++)
        if (looks_at(s, cause, tiles ? i : MATRIX_COUNT - 1 - i)) return true;
    return false;
}
