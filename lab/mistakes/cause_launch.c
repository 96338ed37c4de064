/* Mistakes of the launch: grid and block, and what the wrapper passes. */
#include "../../engine/report/text/numbers.h"
#include "../../engine/report/text/source.h"
#include "../../engine/watch/launches.h"
#include "situation.h"
#include <stdlib.h>
#include <string.h>

/* --- what is passed --------------------------------------------------------------------------- */

/* Whether rows are what counts along k. Where there is one phase alone, only columns are of C's
 * blocks. */
static bool is_at_phase_row(const struct view *v) {
    const unsigned along = v->access->phases > 1 ? LAYOUT_PHASE : LAYOUT_STEP;
    const unsigned of_c = 1u << INDEX_BLOCK_X | 1u << INDEX_BLOCK_Y;
    if (v->access->phases > 1 || part_has(&v->layout.row, along) || part_has(&v->layout.col, along))
        return part_has(&v->layout.row, along) && !part_has(&v->layout.col, along);
    return part_has(&v->layout.col, of_c) && !part_has(&v->layout.row, of_c);
}

/* A is loaded as B should be, and B as A. */
bool cause_matrices_exchanged(const struct situation *s) {
    const struct view *a = &s->load[MATRIX_A], *b = &s->load[MATRIX_B];
    if (!a->access || !b->access || a->layout.size != SIZE_N || b->layout.size != SIZE_K)
        return false;
    if (!is_at_phase_row(a) || is_at_phase_row(b)) return false;
    cause_at_launch(s, CAUSE_MATRICES_EXCHANGED);
    CAUSE_SAY(MATRICES, ACCESS(a->access), ACCESS(b->access));
    return true;
}

static int size_of(const struct view *v) { return v->access ? v->layout.size : -1; }

/* The kernel's own m, n and k are known by whose rows they are the length of. */
bool cause_sizes_exchanged(const struct situation *s) {
    const int a = size_of(&s->load[MATRIX_A]), b = size_of(&s->load[MATRIX_B]),
              c = size_of(&s->store);
    long long first, last; /* rows of B: they end where k does, or what the kernel takes for it */
    if (a < 0 || b < 0 || c != b || a == b || (a == SIZE_K && b == SIZE_N)) return false;
    cause_rows_of_b(s, &first, &last);
    if (b == SIZE_N && last != s->size[a].value - 1)
        return false; /* only A's row length is wrong */
    const char *k = s->size[a].name, *n = s->size[b].name,
               *m = s->size[SIZE_M + SIZE_N + SIZE_K - a - b].name;
    cause_at_launch(s, CAUSE_SIZES_EXCHANGED);
    CAUSE_SAY(SIZES_PASSED, W(m), W(n), W(k), W(k), W(n));
    return true;
}

/* --- grid and block --------------------------------------------------------------------------- */

static void say_launch(const struct situation *s, const unsigned grid[3], const unsigned block[3]) {
    CAUSE_SAY(LAUNCH, W(s->launch->kernel), W(grid[0]), W(grid[1]), W(block[0]), W(block[1]));
    s->cause->shows_launch = true;
}

static uint64_t threads_in(const unsigned grid[3], const unsigned block[3]) {
    uint64_t threads = 1;
    for (int i = 0; i < 3; i++) threads *= (uint64_t)grid[i] * block[i];
    return threads;
}

static uint64_t elements_of_c(const struct shape *shape) {
    return (uint64_t)lab_elements(&lab.arrays[MATRIX_C], shape);
}

/* The launch for the C that went wrong, and for this run's; with their threads? */
static void say_both_launches(const struct situation *s, bool threads) {
    const struct trace *t = s->recovery->trace;
    const struct shape *failed = &s->failed->shape, *here = &s->shape;
    CAUSE_SAY(FOR_C, W(shape_size(failed, PARAM_M)), W(shape_size(failed, PARAM_N)));
    say_launch(s, s->launch->grid, s->launch->block);
    if (threads)
        CAUSE_SAY(THREADS_FOR, W(threads_in(s->launch->grid, s->launch->block)),
                  W(elements_of_c(failed)));
    CAUSE_SAY(THEN_FOR_C, W(shape_size(here, PARAM_M)), W(shape_size(here, PARAM_N)));
    say_launch(s, t->grid, t->block);
    if (threads) CAUSE_SAY(THREADS_FOR, W(threads_in(t->grid, t->block)), W(elements_of_c(here)));
}

/* The grid depends on the size of C, and a block does not. All that C needs is done in this launch:
 * also of a run that was stopped in it, if the wrapper makes no other one. */
bool cause_launch_exchanged(const struct situation *s) {
    const struct trace *t = s->recovery->trace;
    const bool only_one = launches_noted() == 1 && s->failed->launches == 1;
    if ((!s->whole && !only_one) || t->grid[0] * t->grid[1] == 1) return false;
    if (!s->launch->block[0] || !memcmp(t->block, s->launch->block, sizeof t->block) ||
        memcmp(t->grid, s->launch->grid, sizeof t->grid))
        return false;
    cause_at_launch(s, CAUSE_LAUNCH_EXCHANGED);
    CAUSE_SAY(LAUNCH_EXCHANGED);
    say_both_launches(s, false);
    CAUSE_SAY(BLOCK_CHANGES);
    return true;
}

/* --- a block that does not fit its tiles ------------------------------------------------------ */

/* What the first block does with a two-dimensional array. */
struct filling {
    const struct trace_array *array;
    const struct recovered *store; /* one of those to it */
    size_t rows, cols;             /* of the array */
    size_t stored;                 /* elements of it */
    bool unstored_read;            /* an element is read that no thread stores */
};

static bool find_filling(const struct situation *s, const struct recovered *a, struct filling *f) {
    if (!a->write || !a->exact || a->array < TRACE_SHARED || a->steps > 1) return false;
    const struct trace_array *array = trace_shared(s->recovery->trace, a->array);
    const size_t rows = array->dimension[0], cols = array->dimension[1];
    if (array->dimensions != 2 || array->elements < rows * cols) return false;
    unsigned char *uses = cause_uses_of_words(s, a->array);
    if (!uses) return false;
    *f = (struct filling){.array = array, .store = a, .rows = rows, .cols = cols};
    for (size_t i = 0; i < rows * cols; i++) {
        f->unstored_read |= uses[i] == WORD_READ;
        f->stored += uses[i] / WORD_STORED % 2;
    }
    free(uses);
    return true;
}

/* Whether the finding is of the store of a thread that has no element of the tile. */
static bool is_of_beyond(const struct situation *s, const struct filling *f) {
    const struct finding *found = &s->failed->finding;
    return found->kind == FINDING_SHARED_OUT_OF_BOUNDS && found->at.access == FINDING_WRITE &&
           (found->at.thread.x >= f->cols || found->at.thread.y >= f->rows);
}

/* Whether such a thread comes by the line that stores to the tile; what it accesses there may be
 * another array. */
static bool comes_from_beyond(const struct situation *s, const struct filling *f) {
    const struct recovery *r = s->recovery;
    if (is_of_beyond(s, f)) return true;
    for (size_t i = 0; i < r->trace->count; i++) {
        struct index_sample sample;
        if (r->of[i] == RECOVERED || !r->trace->access[i].write ||
            r->access[r->of[i]].place.line != f->store->place.line)
            continue;
        recover_sample(r, i, &sample);
        if ((size_t)sample.value[INDEX_THREAD_X] >= f->cols ||
            (size_t)sample.value[INDEX_THREAD_Y] >= f->rows)
            return true;
    }
    return false;
}

/* Two threads store the same element of the tile at this line. Any other race comes of a barrier,
 * or of threads that differ in z: how many there are in x and in y has no part in it. */
static bool is_race_of_stores(const struct situation *s, const struct filling *f) {
    const struct finding *found = &s->failed->finding;
    const int line = f->store->place.line;
    return s->recovery->trace->block[2] == 1 && found->at.access == FINDING_WRITE &&
           found->other.access == FINDING_WRITE && found->at.line == line &&
           found->other.line == line && strcmp(found->object.name, f->array->name) == 0;
}

/* Rows by threadIdx.y and columns by threadIdx.x, of which there are more than the array has. */
static bool overflows(const struct situation *s, const struct filling *f) {
    const unsigned *block = s->recovery->trace->block;
    const struct index_formula *formula = &f->store->formula;
    const enum finding_kind kind = s->failed->finding.kind;
    const unsigned threads = block[0] * block[1];
    long long x = 0, y = 0;
    if (kind == FINDING_SHARED_RACE && !is_race_of_stores(s, f)) return false;
    if (kind == FINDING_SHARED_RACE && threads > f->stored &&
        (unsigned)f->store->threads == threads)
        return true; /* several an element */
    if (!comes_from_beyond(s, f)) return false;
    for (int i = 0; i < formula->terms; i++) {
        const struct index_term *t = &formula->term[i];
        if (t->variable == INDEX_THREAD_X && !t->shift && !t->bits) x = t->coefficient;
        if (t->variable == INDEX_THREAD_Y && !t->shift && !t->bits) y = t->coefficient;
    }
    if (x != 1 || (block[1] > 1 && y != (long long)f->cols)) return false;
    if (block[1] == 1 && kind != FINDING_SHARED_OUT_OF_BOUNDS) return false;
    if (block[1] == 1 && !is_of_beyond(s, f)) /* they may go from row to row by themselves */
        return block[0] > f->rows * f->cols;
    return block[0] > f->cols || block[1] > f->rows;
}

/* Another array that the block's threads do fit. */
static bool fits_another(const struct situation *s, const struct filling *f) {
    const unsigned *block = s->recovery->trace->block;
    for (int i = 0; i < s->recovery->trace->shared_count; i++) {
        const struct trace_array *other = &s->recovery->trace->shared[i];
        if (other != f->array && other->dimensions == 2 && other->dimension[0] >= block[1] &&
            other->dimension[1] >= block[0])
            return true;
        if (other != f->array && block[1] == 1 && other->elements >= block[0] &&
            other->elements > f->rows * f->cols)
            return true;
    }
    return false;
}

static bool tile_too_small(const struct situation *s, const struct filling *f) {
    const unsigned *block = s->recovery->trace->block;
    if (!overflows(s, f)) return false;
    if (fits_another(s, f)) {
        cause_at_access(s, CAUSE_TILE_SIZE, f->store);
        CAUSE_SAY(TILE_TOO_SMALL, W(f->array->name), W(f->rows), W(f->cols), W(block[0]),
                  W(block[1]));
    } else {
        cause_at_launch(s, CAUSE_BLOCK_SHAPE);
        CAUSE_SAY(TILE_DOES_NOT_FIT, W(block[0]), W(block[1]), W(f->array->name), W(f->rows),
                  W(f->cols));
    }
    CAUSE_SAY(THREADS_ARE, ACCESS(f->store), W(block[0] - 1), W(block[1] - 1));
    CAUSE_SAY(ASK_THREADS);
    return true;
}

static bool tile_not_filled(const struct situation *s, const struct filling *f) {
    const unsigned *block = s->recovery->trace->block;
    if (!s->recovery->trace->ended) return false; /* another line may store the rest of it */
    if (s->store.access && s->store.access->steps > 1) return false; /* nor of C one element each */
    if (!f->unstored_read || (unsigned)f->store->threads < block[0] * block[1] * block[2])
        return false;
    cause_at_launch(s, CAUSE_BLOCK_SHAPE);
    CAUSE_SAY(TILE_NOT_FILLED, W(block[0]), W(block[1]), W(f->array->name), W(f->rows), W(f->cols),
              ACCESS(f->store), W(f->stored), W(f->rows * f->cols), W(f->array->name));
    CAUSE_SAY(ASK_THREADS);
    return true;
}

/* Along the rows (0) or columns (1) of C: how far apart blocks begin that follow each other in x or
 * y, and how many of them one block stores. */
static long long apart(const struct situation *s, int of, enum index_variable block) {
    const struct layout *l = &s->store.layout;
    return part_coefficient(of ? &l->col : &l->row, block);
}

static long long wide(const struct situation *s, int of) {
    const struct recovered *a = s->store.access;
    const struct layout *l = &s->store.layout;
    return cause_extent(s, a, s->recovery->trace->grid, of ? &l->col : &l->row, ~LAYOUT_BLOCK) +
           (of ? a->elements - 1 : 0);
}

/* Whether two threads of a block store the same element: then their index is wrong, whatever the
 * next block stores. Or memory is out. */
static bool any_stored_twice(const struct situation *s) {
    const struct recovery *r = s->recovery;
    const int64_t elements = lab_elements(&lab.arrays[MATRIX_C], &s->shape);
    unsigned char *stored = calloc((size_t)elements, TRACE_BLOCKS);
    bool twice = !stored;
    for (size_t i = s->store.access->first; i < r->trace->count && !twice; i++) {
        const struct trace_access *a = &r->trace->access[i];
        if (r->of[i] != s->store.access - r->access) continue;
        if (a->offset >= 0 && a->offset < elements)
            twice = stored[a->block * elements + a->offset]++;
    }
    free(stored);
    return twice;
}

/* Without a tile: blocks are further apart than they are wide. */
static bool gaps_between_blocks(const struct situation *s) {
    if (!s->whole && !s->only_store) return false;
    if (s->failed->finding.kind == FINDING_GLOBAL_RACE) return false; /* no two threads meet */
    const unsigned *block = s->recovery->trace->block, *grid = s->recovery->trace->grid;
    if (!s->store.access || !s->store.alone || s->store.layout.size != SIZE_N) return false;
    if (any_stored_twice(s)) return false;
    for (int i = 0; i < 2; i++)
        for (int v = INDEX_BLOCK_X; v <= INDEX_BLOCK_Y; v++) {
            const long long on = apart(s, i, (enum index_variable)v);
            if (on <= wide(s, i) || grid[v - INDEX_BLOCK_X] < 2) continue;
            cause_at_launch(s, CAUSE_BLOCK_SHAPE);
            CAUSE_SAY(GAPS, W(block[0]), W(block[1]), ACCESS(s->store.access), W(wide(s, i)),
                      W(cause_directions[i]), W(on), W(cause_directions[i]),
                      W(cause_directions[i]));
            return true;
        }
    return false;
}

/* Without a tile: blocks of another size for another C, and too few threads for either, each of
 * which stores one element. */
static bool block_depends_on_c(const struct situation *s) {
    const struct trace *t = s->recovery->trace;
    const struct recovered *store = s->store.access;
    const struct shape *failed = &s->failed->shape;
    const unsigned *grid = s->launch->grid, *block = s->launch->block;
    if (s->failed->finding.kind != FINDING_UNWRITTEN || (!s->whole && !s->only_store)) return false;
    if (!store || !s->store.alone || store->elements > 1 || store->steps > 1 || store->phases > 1)
        return false;
    if (!block[0] || memcmp(t->block, block, sizeof t->block) == 0 ||
        threads_in(grid, block) >= elements_of_c(failed) ||
        threads_in(t->grid, t->block) >= elements_of_c(&s->shape))
        return false;
    cause_at_launch(s, CAUSE_BLOCK_SHAPE);
    CAUSE_SAY(BLOCK_DEPENDS);
    say_both_launches(s, true);
    return true;
}

bool cause_block_shape(const struct situation *s) {
    struct filling filling;
    const bool is_race = s->failed->finding.kind == FINDING_SHARED_RACE;
    for (int i = 0; i < s->recovery->count; i++) {
        if (!find_filling(s, &s->recovery->access[i], &filling)) continue;
        if (tile_too_small(s, &filling) || (!is_race && tile_not_filled(s, &filling))) return true;
    }
    return !is_race && (gaps_between_blocks(s) || block_depends_on_c(s));
}

/* --- a grid that does not cover C ------------------------------------------------------------- */

struct cover {
    long long rows, cols;
};

static struct cover covered(const struct situation *s, const unsigned grid[3]) {
    const struct recovered *a = s->store.access;
    const struct layout *l = &s->store.layout;
    return (struct cover){cause_extent(s, a, grid, &l->row, ~0u),
                          cause_extent(s, a, grid, &l->col, ~0u) + a->elements - 1};
}

static bool covers(struct cover cover, struct shape shape) {
    return cover.rows >= shape_size(&shape, PARAM_M) && cover.cols >= shape_size(&shape, PARAM_N);
}

/* Each block begins where the one before ends: else it is an index that leaves out a part of C. */
static bool blocks_adjoin(const struct situation *s) {
    for (int i = 0; i < 2; i++)
        for (int v = INDEX_BLOCK_X; v <= INDEX_BLOCK_Y; v++) {
            const long long on = apart(s, i, (enum index_variable)v);
            if (on && on != wide(s, i)) return false;
        }
    return true;
}

/* What a grid can do that is too small, or whose x and y are exchanged. */
static bool may_be_of_grid(enum finding_kind kind, bool exchanged) {
    return kind == FINDING_UNWRITTEN || kind == FINDING_WRONG_RESULT ||
           kind == FINDING_BAD_LAUNCH || (exchanged && kind == FINDING_OUT_OF_BOUNDS);
}

/* How many blocks lie one below the other, and beside each other, in a C of this shape. */
static struct cover blocks_for(const struct situation *s, struct shape shape) {
    const struct cover one = covered(s, (unsigned[]){1, 1, 1});
    return (struct cover){(shape_size(&shape, PARAM_M) + one.rows - 1) / one.rows,
                          (shape_size(&shape, PARAM_N) + one.cols - 1) / one.cols};
}

bool cause_grid(const struct situation *s) {
    const struct trace *t = s->recovery->trace;
    const struct outcome *failed = s->failed;
    if (!s->store.access || s->store.layout.size != SIZE_N || !s->launch->grid[0]) return false;
    if (memcmp(t->block, s->launch->block, sizeof t->block)) return false;
    if (failed->finding.kind == FINDING_WRONG_RESULT && s->only_store)
        return false; /* C was covered */
    /* Divided, a blockIdx is of this run's number of blocks in a row, and not of another shape's.
     */
    if (part_has_digits(&s->store.layout.row, LAYOUT_BLOCK) ||
        part_has_digits(&s->store.layout.col, LAYOUT_BLOCK))
        return false;
    if (!s->store.alone || s->store.access->phases > 1 || source_may_say("gridDim"))
        return false;           /* blocks may compute further tiles of C, as many as there are */
    for (int i = 0; i < 2; i++) /* of blocks that did not store nothing is known */
        if ((t->grid[i] > 1 || s->launch->grid[i] > 1) &&
            !(s->store.varied >> (INDEX_BLOCK_X + i) & 1))
            return false;
    const struct cover cover = covered(s, s->launch->grid);
    const unsigned swapped[] = {s->launch->grid[1], s->launch->grid[0], s->launch->grid[2]};
    if (covers(cover, failed->shape) || !blocks_adjoin(s)) return false;
    const bool exchanged = covers(covered(s, swapped), failed->shape);
    if (!may_be_of_grid(failed->finding.kind, exchanged)) return false;
    const struct cover here = blocks_for(s, s->shape), there = blocks_for(s, failed->shape);
    const bool fixed = !memcmp(t->grid, s->launch->grid, sizeof t->grid) &&
                       (here.rows != there.rows || here.cols != there.cols);
    cause_at_launch(s, exchanged ? CAUSE_GRID_EXCHANGED : CAUSE_GRID_TOO_SMALL);
    if (exchanged)
        CAUSE_SAY(GRID_EXCHANGED);
    else if (fixed)
        CAUSE_SAY(GRID_FIXED, W(t->grid[0]), W(t->grid[1]), W(shape_size(&failed->shape, PARAM_M)),
                  W(shape_size(&failed->shape, PARAM_N)), W(shape_size(&s->shape, PARAM_M)),
                  W(shape_size(&s->shape, PARAM_N)));
    else
        CAUSE_SAY(GRID_TOO_SMALL);
    say_launch(s, s->launch->grid, s->launch->block);
    CAUSE_SAY(COVERS, W(cover.rows), W(plural((uint64_t)cover.rows)), W(cover.cols),
              W(plural((uint64_t)cover.cols)), W(shape_size(&failed->shape, PARAM_M)),
              W(shape_size(&failed->shape, PARAM_N)), ACCESS(s->store.access));
    return true;
}
