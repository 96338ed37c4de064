/* Mistakes in index expressions. */
#include "../../engine/explain/explain.h"
#include "../../engine/report/text/numbers.h"
#include "situation.h"
#include <stdlib.h>
#include <string.h>

/* --- which part of an index is which ---------------------------------------------------------- */

static const struct index_formula *along_k(const struct situation *s, int matrix) {
    return cause_other(&s->use[matrix].layout, matrix);
}

/* The rows of A that reach the products, and of C; the columns of B, and of C. */
static const struct index_formula *used(const struct situation *s, int matrix) {
    return cause_own(&s->use[matrix].layout, matrix);
}
static const struct index_formula *stored(const struct situation *s, int matrix) {
    return cause_own(&s->store.layout, matrix);
}

/* Whether a view uses the same threads, or blocks, for its own part as C does for its rows (0) or
 * its columns (1); as far as both are known. */
static bool is_as_stored(const struct situation *s, const struct view *v, int matrix, int of,
                         unsigned variables) {
    return part_same(cause_own(&v->layout, matrix), stored(s, of),
                     variables & v->varied & s->store.varied);
}

/* Whether a load from global memory may be taken for the multiplication's own: a thread walks along
 * k. Others bring elements for their neighbors (in a shuffle, say). */
static bool walks_along_k(const struct situation *s, int matrix) {
    return s->use[matrix].access != s->load[matrix].access ||
           part_coefficient(along_k(s, matrix), INDEX_STEP) == 1;
}

bool cause_is_known(const struct situation *s) {
    const struct view *views[] = {&s->use[MATRIX_A], &s->use[MATRIX_B], &s->store};
    for (int matrix = 0; matrix < MATRIX_COUNT; matrix++)
        if (!views[matrix]->access || !views[matrix]->alone ||
            views[matrix]->layout.size != (int)cause_columns[matrix])
            return false;
    return walks_along_k(s, MATRIX_A) && walks_along_k(s, MATRIX_B);
}

/* Part of an index as C has it. */
static struct cause_phrase written(const struct index_formula *part) {
    struct cause_phrase p;
    index_write(p.text, sizeof p.text, part, NULL, 0);
    return p;
}

/* --- the length of a row ---------------------------------------------------------------------- */

/* What counts rows of the product counts columns here. */
static bool is_transposed(const struct situation *s, int matrix, const struct layout *l) {
    if (l->size != (int)cause_rows[matrix]) return false;
    if (matrix == MATRIX_C)
        return part_same(&l->col, used(s, MATRIX_A), LAYOUT_BLOCK | LAYOUT_THREAD) &&
               part_same(&l->row, used(s, MATRIX_B), LAYOUT_BLOCK | LAYOUT_THREAD);
    return part_has(cause_other(l, matrix), LAYOUT_BLOCK) &&
           !part_has(cause_own(l, matrix), LAYOUT_BLOCK);
}

bool cause_row_length(const struct situation *s) {
    const struct view *v = s->global;
    int matrix = 0;
    for (; matrix < MATRIX_COUNT; matrix++, v++)
        if (v->access && v->layout.size >= 0 && cause_concerns(s, matrix) &&
            (v->layout.size != (int)cause_columns[matrix] || v->layout.mixed))
            break;
    if (matrix == MATRIX_COUNT) return false;
    const char *columns = s->size[cause_columns[matrix]].name;
    cause_at_access(s, CAUSE_ROW_LENGTH, v->access);
    if (!is_transposed(s, matrix, &v->layout) && v->layout.mixed)
        CAUSE_SAY(MIXED_ROWS, NAME(matrix));
    else if (!is_transposed(s, matrix, &v->layout))
        CAUSE_SAY(ROW_LENGTH, NAME(matrix), W(columns), W(s->size[v->layout.size].name));
    else if (matrix == MATRIX_C)
        CAUSE_SAY(STORE_TRANSPOSED);
    else
        CAUSE_SAY(TRANSPOSED, NAME(matrix));
    CAUSE_SAY(ROW_MAJOR, ACCESS(v->access), NAME(matrix), W(s->size[cause_rows[matrix]].name),
              W(columns), NAME(matrix));
    return true;
}

/* --- which row, which column ------------------------------------------------------------------ */

static void say_parts(const struct situation *s, int matrix) {
    CAUSE_SAY(PARTS, W(cause_direction[matrix]), W(written(used(s, matrix)).text), NAME(matrix),
              W(s->store.access->place.line), W(cause_direction[matrix]),
              W(written(stored(s, matrix)).text));
}

/* Whether C is stored as if its rows were columns, by what these variables count. */
static bool is_stored_at(const struct situation *s, unsigned variables) {
    for (int i = 0; i < 2; i++)
        if (is_as_stored(s, &s->use[i], i, i, variables) ||
            !is_as_stored(s, &s->use[i], i, !i, variables))
            return false;
    return true;
}

/* Rows and columns are exchanged as a whole: then it is neither blockIdx nor threadIdx alone. */
bool cause_store_transposed(const struct situation *s) {
    if (!is_stored_at(s, LAYOUT_BLOCK) || !is_stored_at(s, LAYOUT_THREAD)) return false;
    cause_at_access(s, CAUSE_ROW_LENGTH, s->store.access);
    CAUSE_SAY(STORE_TRANSPOSED);
    CAUSE_SAY(TAKEN_FROM, ACCESS(s->store.access), W(written(used(s, MATRIX_A)).text),
              W(written(used(s, MATRIX_B)).text));
    return true;
}

/* Whether C's rows, or columns, are of the same blockIdx as those that are multiplied. By how much
 * it is multiplied is another question, and so is what it means divided, in a grid of one row. */
static bool is_of_same_blocks(const struct situation *s, int matrix) {
    const struct index_formula *from = used(s, matrix), *to = stored(s, matrix);
    const unsigned known = s->use[matrix].varied & s->store.varied;
    if (part_has_digits(from, LAYOUT_BLOCK) || part_has_digits(to, LAYOUT_BLOCK)) return true;
    for (int v = INDEX_BLOCK_X; v <= INDEX_BLOCK_Z; v++)
        if (known >> v & 1 && part_has(from, 1u << v) != part_has(to, 1u << v)) return false;
    return true;
}

bool cause_block_exchanged(const struct situation *s) {
    int matrix = MATRIX_A;
    while (matrix < MATRIX_C && is_of_same_blocks(s, matrix)) matrix++;
    if (matrix == MATRIX_C) return false;
    if (is_stored_at(s, LAYOUT_BLOCK)) {
        cause_at_access(s, CAUSE_BLOCK_EXCHANGED, s->store.access);
        CAUSE_SAY(BLOCK_IN_STORE);
    } else {
        const struct recovered *load = s->load[matrix].access;
        if (!load) load = s->use[matrix].access;
        cause_at_access(s, CAUSE_BLOCK_EXCHANGED, load);
        CAUSE_SAY(BLOCK_IN_LOAD, W(cause_directions[matrix]), NAME(matrix),
                  W(cause_directions[matrix]), ACCESS(load));
    }
    say_parts(s, matrix);
    CAUSE_SAY(ASK_BLOCK, W(cause_directions[matrix]));
    return true;
}

/* What a load of one matrix does with the thread's indices, beside what the store of C does. */
enum threads_as { AS_STORED, EXCHANGED, OTHERWISE };

static enum threads_as threads_as(const struct situation *s, const struct view *v, int matrix) {
    if (!v->access) return OTHERWISE;
    if (is_as_stored(s, v, matrix, matrix, LAYOUT_THREAD)) return AS_STORED;
    return is_as_stored(s, v, matrix, !matrix, LAYOUT_THREAD) ? EXCHANGED : OTHERWISE;
}

/* The store to a tile and its rows and columns; null: there are several, or its index is not known.
 */
static const struct recovered *tile_store(const struct situation *s, int matrix, struct layout *l) {
    const int array = s->use[matrix].access->array;
    const struct recovered *store = NULL;
    for (EACH_ACCESS(a, s)) {
        if (!a->write || a->array != array) continue;
        if (store) return NULL;
        store = a;
    }
    if (!store || !store->exact ||
        !recover_row_and_column(trace_shared(s->recovery->trace, array), &store->formula, l))
        return NULL;
    return store;
}

/* Whether a variable of the thread, or a digit of it, is in the row of an index and in the column:
 * such threads load a diagonal, which is no tile. */
static bool is_diagonal(const struct layout *l) {
    for (int i = 0; i < l->row.terms; i++)
        for (int j = 0; j < l->col.terms; j++) {
            const struct index_term *row = &l->row.term[i], *col = &l->col.term[j];
            if (LAYOUT_THREAD >> row->variable & 1 && row->variable == col->variable &&
                row->shift == col->shift)
                return true;
        }
    return false;
}

/* The load of a matrix is to blame: the product has its element from there, the row and column of a
 * tile are right where it stores them, or it loads no tile. */
static bool is_of_load(const struct situation *s, int matrix, enum threads_as use,
                       enum threads_as load) {
    const struct view *made = &s->load[matrix];
    struct layout tile;
    if (made->access == s->use[matrix].access) return use != OTHERWISE;
    if (use == AS_STORED) return made->access && is_diagonal(&made->layout);
    return load == EXCHANGED && tile_store(s, matrix, &tile) &&
           part_same(cause_own(&tile, matrix), stored(s, matrix), LAYOUT_THREAD);
}

/* The store to a tile, if that is transposed, rows of it by what counts columns, and the product
 * reads it as if it were not. Null: that is not so, or not known. */
static const struct recovered *transposing_store(const struct situation *s, int matrix) {
    const struct recovered *use = s->use[matrix].access;
    struct layout l, read;
    const struct recovered *store = tile_store(s, matrix, &l);
    if (!store || !use->exact ||
        !recover_row_and_column(trace_shared(s->recovery->trace, use->array), &use->formula, &read))
        return NULL;
    const struct index_formula *to = stored(s, matrix);
    return !part_same(cause_own(&l, matrix), to, LAYOUT_THREAD) &&
                   part_same(cause_other(&l, matrix), to, LAYOUT_THREAD) &&
                   part_same(cause_own(&read, matrix), to, LAYOUT_THREAD)
               ? store
               : NULL;
}

/* In the store of C, in a load, where a tile is stored, or in the product. False: not known. */
static bool say_exchanged(const struct situation *s, int matrix, const enum threads_as use[2],
                          const enum threads_as load[2]) {
    const bool of_y = s->recovery->trace->block[1] > 1;
    const bool in_store = of_y && use[0] == EXCHANGED && use[1] == EXCHANGED &&
                          load[0] == EXCHANGED && load[1] == EXCHANGED;
    const bool in_load = !in_store && is_of_load(s, matrix, use[matrix], load[matrix]);
    const struct recovered *tile =
        in_store || load[matrix] != AS_STORED ? NULL : transposing_store(s, matrix);
    if (!in_load && use[matrix] == AS_STORED) return false;
    if (in_store) {
        cause_at_access(s, CAUSE_THREAD_EXCHANGED, s->store.access);
        CAUSE_SAY(THREAD_IN_STORE);
    } else if (in_load) {
        cause_at_access(s, CAUSE_THREAD_EXCHANGED, s->load[matrix].access);
        if (of_y)
            CAUSE_SAY(THREAD_IN_LOAD, NAME(matrix));
        else
            CAUSE_SAY(X_IN_LOAD, NAME(matrix));
    } else if (tile) {
        cause_at_access(s, CAUSE_THREAD_EXCHANGED, tile);
        CAUSE_SAY(TILE_TRANSPOSED, NAME(matrix));
    } else {
        cause_at_access(s, CAUSE_THREAD_EXCHANGED, s->use[matrix].access);
        CAUSE_SAY(PRODUCT_OF_OTHER, W(cause_direction[matrix]), NAME(matrix));
    }
    return true;
}

/* Whether threads may give each other what they have multiplied: of shared memory they read more
 * than what they multiply. */
static bool is_exchanged_sum(const struct situation *s) {
    for (EACH_ACCESS(a, s))
        if (!a->write && a->array >= TRACE_SHARED && a != s->use[MATRIX_A].access &&
            a != s->use[MATRIX_B].access)
            return true;
    return false;
}

/* From the load of the element to the store of C. */
static void say_ways(const struct situation *s, int matrix) {
    const struct recovered *load = s->load[matrix].access, *use = s->use[matrix].access;
    if (load) CAUSE_SAY(ACCESS, ACCESS(load));
    for (EACH_ACCESS(a, s))
        if (use != load && a->write && a->array == use->array && a->exact)
            CAUSE_SAY(ACCESS, ACCESS(a));
    if (use != load) CAUSE_SAY(ACCESS, ACCESS(use));
    say_parts(s, matrix);
}

bool cause_thread_exchanged(const struct situation *s) {
    enum threads_as use[2], load[2];
    if (is_exchanged_sum(s)) return false;
    for (int i = 0; i < 2; i++) {
        use[i] = threads_as(s, &s->use[i], i);
        load[i] = threads_as(s, &s->load[i], i);
    }
    /* The input whose elements do not fit those of C, or else of the other input. */
    int matrix = use[MATRIX_A] != AS_STORED ? MATRIX_A : MATRIX_B;
    if (use[matrix] == AS_STORED) {
        if (part_same(along_k(s, 0), along_k(s, 1),
                      LAYOUT_THREAD & s->use[0].varied & s->use[1].varied))
            return false;
        matrix = part_has(along_k(s, MATRIX_A), LAYOUT_THREAD) ? MATRIX_A : MATRIX_B;
    }
    if (!say_exchanged(s, matrix, use, load)) return false;
    say_ways(s, matrix);
    CAUSE_SAY(ASK_THREAD);
    return true;
}

/* --- along k ---------------------------------------------------------------------------------- */

/* Of two phases anything can be said: that the second goes on as the first began, or that each
 * buffer had its turn, is seen in a third one. */
enum { TELLING_PHASES = 3 };

/* How far along k what the block's threads load in one phase reaches. */
static long long loaded_along_k(const struct situation *s, int matrix) {
    const struct view *v = &s->load[matrix];
    return cause_extent(s, v->access, s->recovery->trace->grid, cause_other(&v->layout, matrix),
                        LAYOUT_THREAD | LAYOUT_STEP);
}

/* The products do not move on along k: the loads go elsewhere, or it is another buffer that is
 * multiplied, or the loads do not move either. */
static bool says_phase_missing(const struct situation *s, int matrix) {
    const struct view *v = &s->load[matrix];
    const struct recovered *load = v->access, *use = s->use[matrix].access;
    if (part_has(along_k(s, matrix), LAYOUT_PHASE) || !load || load->phases < TELLING_PHASES)
        return false;
    if (part_has(used(s, matrix), LAYOUT_PHASE)) {
        cause_at_access(s, CAUSE_PHASE_STEP, load);
        CAUSE_SAY(PHASE_NOT_ALONG_K, NAME(matrix), W(cause_directions[matrix]), ACCESS(load));
        CAUSE_SAY(ASK_ALONG_K);
    } else if (part_has(cause_other(&v->layout, matrix), LAYOUT_PHASE)) {
        cause_at_access(s, CAUSE_PHASE_MISSING, use);
        CAUSE_SAY(SAME_PRODUCT, NAME(matrix), ACCESS(use), ACCESS(load), W(load->place.line),
                  W(load->phases), NAME(use->array));
    } else {
        cause_at_access(s, CAUSE_PHASE_MISSING, load);
        CAUSE_SAY(SAME_EVERY_PHASE, NAME(matrix), ACCESS(load));
        if (part_has(along_k(s, !matrix), LAYOUT_PHASE))
            CAUSE_SAY(ACCESS, ACCESS(s->load[!matrix].access));
        CAUSE_SAY(RUNS_IN_PHASES, W(load->phases));
        CAUSE_SAY(ASK_ALONG_K);
    }
    return true;
}

/* How many elements along k a thread multiplies in one phase. */
static long long multiplied_along_k(const struct situation *s, int matrix) {
    const struct recovered *use = s->use[matrix].access;
    int value[INDEX_VARIABLES] = {[INDEX_PHASE] = use->source_formula.phase_first};
    const long long k = s->size[SIZE_K].value, from = index_offset(along_k(s, matrix), value);
    unsigned char *seen = calloc((size_t)(2 * k), 1);
    long long count = 0;
    for (; seen && value[INDEX_STEP] < use->steps; value[INDEX_STEP]++) {
        const long long at = index_offset(along_k(s, matrix), value) - from + k;
        if (at >= 0 && at < 2 * k) count += !seen[at]++;
    }
    free(seen);
    return count;
}

/* The tiles are right, and a phase does not multiply all of them; or it does, and the next ones
 * begin elsewhere. */
static bool says_phase_step(const struct situation *s, int matrix) {
    const struct recovered *load = s->load[matrix].access, *use = s->use[matrix].access;
    const long long on = part_coefficient(along_k(s, matrix), INDEX_PHASE);
    if (use->phases < TELLING_PHASES || on <= 0 || !load || !s->load[matrix].alone) return false;
    const long long wide = loaded_along_k(s, matrix), steps = multiplied_along_k(s, matrix);
    if (steps != multiplied_along_k(s, !matrix))
        return false; /* some repeatedly: an index is wrong */
    if (s->store.access->steps == 1 && steps != use->steps) return false;
    if (on == wide && steps != wide) {
        cause_at_access(s, CAUSE_LOOP_COUNT, use);
        CAUSE_SAY(PRODUCTS_OF_PHASE, W(steps), W(on), ACCESS(use), ACCESS(load));
    } else if (on != wide && steps == wide) {
        cause_at_access(s, CAUSE_PHASE_STEP, load);
        CAUSE_SAY(PHASE_STEP, NAME(matrix), W(on), W(steps), W(cause_directions[!matrix]),
                  W(matrix == MATRIX_A ? "wide" : "high"), ACCESS(load), W(use->place.line),
                  W(steps));
    } else {
        return false;
    }
    return true;
}

bool cause_phase(const struct situation *s) {
    if (s->use[0].access == s->load[0].access) return false;
    return says_phase_missing(s, MATRIX_A) || says_phase_missing(s, MATRIX_B) ||
           says_phase_step(s, MATRIX_A) || says_phase_step(s, MATRIX_B);
}

/* Whether a load, in whatever phases, gets to all of k. */
static bool reaches_all_of_k(const struct situation *s, int matrix) {
    const struct view *v = &s->load[matrix];
    const struct recovery *r = s->recovery;
    const long long k = s->size[SIZE_K].value;
    unsigned char *seen = calloc((size_t)k, 1);
    long long count = 0;
    for (size_t i = v->access->first; seen && i < r->trace->count; i++) {
        struct index_sample sample;
        if (r->of[i] != v->access - r->access) continue;
        recover_sample(r, i, &sample);
        const long long at = index_offset(cause_other(&v->layout, matrix), sample.value);
        if (at >= 0 && at < k) count += !seen[at]++;
    }
    free(seen);
    return count == k;
}

/* Of one matrix nothing is loaded in some phases, in which the other is, and something is missing:
 * a tile may serve for several phases. */
bool cause_some_phases(const struct situation *s) {
    const struct recovered *less = s->load[MATRIX_A].access, *more = s->load[MATRIX_B].access;
    if (!less || !more || less->phases == more->phases) return false;
    if (less->phases > more->phases) {
        less = more;
        more = s->load[MATRIX_A].access;
    }
    if (!s->load[less->array].alone) return false; /* another line may load the rest */
    if (reaches_all_of_k(s, less->array)) return false;
    cause_at_access(s, CAUSE_PHASE_STEP, less);
    CAUSE_SAY(SOME_PHASES, NAME(less->array), W(less->phases), W(more->phases), ACCESS(less),
              ACCESS(more), NAME(less->array));
    return true;
}

/* Whether a load may be of the next phase, and the first one is missing, or in another line. */
static bool is_ahead(const struct situation *s, int matrix) {
    return !s->load[matrix].alone || s->load[matrix].access->phases < s->use[matrix].access->phases;
}

/* --- off by a constant ------------------------------------------------------------------------ */

/* Whether no index of threads or blocks can be in the constant: one that has had a single value has
 * had 0. */
static bool is_constant(const struct situation *s, const struct view *v) {
    struct index_sample sample;
    recover_sample(s->recovery, v->access->first, &sample);
    for (int i = INDEX_THREAD_X; i <= INDEX_BLOCK_Z; i++)
        if (!(v->varied >> i & 1) && sample.value[i]) return false;
    return true;
}

static bool is_off(const struct situation *s, int matrix) {
    const struct view *v = &s->global[matrix];
    const long long row = v->layout.row.constant, col = v->layout.col.constant;
    const long long k_of_a = along_k(s, 0)->constant, k_of_b = along_k(s, 1)->constant;
    if (!v->access || !cause_concerns(s, matrix) || (row != 0) == (col != 0)) return false;
    if (s->known && matrix < MATRIX_C && k_of_a && k_of_a == k_of_b) return false; /* of both */
    if (!v->alone) return false; /* another line may load what this one does not */
    if (!s->known && llabs(row) + llabs(col) > 1) return false;
    if (s->known && matrix < MATRIX_C && is_ahead(s, matrix)) return false;
    if (!is_constant(s, v)) return false;
    if (part_coefficient(&v->layout.row, INDEX_PHASE) < 0 ||
        part_coefficient(&v->layout.col, INDEX_PHASE) < 0)
        return false; /* it runs backwards */
    return v->layout.size == (int)cause_columns[matrix];
}

bool cause_constant(const struct situation *s) {
    int matrix = 0;
    if (s->failed->finding.kind == FINDING_GLOBAL_RACE)
        return false; /* no two threads meet by it */
    while (matrix < MATRIX_COUNT && !is_off(s, matrix)) matrix++;
    if (matrix == MATRIX_COUNT) return false;
    const struct view *v = &s->global[matrix];
    const long long row = v->layout.row.constant, off = row ? row : v->layout.col.constant;
    cause_at_access(s, CAUSE_OFF_BY_ONE, v->access);
    CAUSE_SAY(OFF_BY, NAME(matrix), W(llabs(off)), W(cause_direction[!row]),
              W(llabs(off) > 1 ? "s" : ""), W(off > 0 ? "large" : "small"), ACCESS(v->access));
    return true;
}

/* --- how much of k ---------------------------------------------------------------------------- */

bool cause_rows_of_b(const struct situation *s, long long *first, long long *last) {
    const struct recovery *r = s->recovery;
    bool all = true;
    *first = shape_size(&s->shape, PARAM_K);
    *last = -1;
    for (EACH_ACCESS(a, s)) {
        if (a->write || a->array != MATRIX_B) continue;
        const struct layout l = layout_of(&a->formula, s->size, SIZES, SIZE_N);
        for (size_t i = a->first; a->exact && i < r->trace->count; i++) {
            struct index_sample sample;
            if (r->of[i] != a - r->access) continue;
            recover_sample(r, i, &sample);
            const long long row = index_offset(&l.row, sample.value);
            if (row > *last) *last = row;
            if (row < *first) *first = row;
        }
        all &= a->exact;
    }
    return all;
}

/* The line of the loop over k, which ends before the store of C. It is around the load of B and the
 * product. Where they are one line, an element along k may be multiplied several times in it, by a
 * loop that is inside; where the load is in another function, a barrier is in the loop. 0: the text
 * does not say. */
static int line_of_loop(const struct situation *s) {
    const struct recovered *load = s->load[MATRIX_B].access, *use = s->use[MATRIX_B].access;
    const struct structure *in = structure_of(use->place.file);
    const int line = use->place.line, store = s->store.access->place.line;
    const struct construct *loop = NULL;
    if (!in) return 0;
    if (load == use && !part_coefficient(along_k(s, MATRIX_B), INDEX_STEP))
        loop = structure_outermost(in, CONSTRUCT_LOOP, line, store);
    else
        loop = structure_innermost(in, CONSTRUCT_LOOP, line, load->place.line, store);
    const int barrier = structure_barrier_between(in, line, store);
    if (!loop && barrier) loop = structure_innermost(in, CONSTRUCT_LOOP, line, barrier, store);
    return loop ? loop->first : 0;
}

bool cause_loop_count(const struct situation *s) {
    const long long k = s->size[SIZE_K].value;
    const struct recovered *load = s->load[MATRIX_B].access;
    long long first, last;
    if (!s->load[MATRIX_A].access || !load) return false;
    if (part_has(along_k(s, MATRIX_B), LAYOUT_BLOCK)) return false; /* each has a part of k */
    if (!is_constant(s, &s->load[MATRIX_B])) return false;
    const long long on = part_coefficient(&s->load[MATRIX_B].layout.row, INDEX_PHASE);
    /* Rows are left out in each phase: then it is not for the loop that the last ones are. */
    if (loaded_along_k(s, MATRIX_B) < on) return false;
    if (!cause_rows_of_b(s, &first, &last)) return false;
    const long long end = on > 1 ? (k + on - 1) / on * on : k; /* of the last tile that k needs */
    const int line = line_of_loop(s);
    if (!line || (first == 0 && last >= k - 1 && last < end)) return false;
    if (first > 0 && last < k && is_ahead(s, MATRIX_B)) return false;
    /* Nor does it run too far where only loads go beyond the last tile that is multiplied. */
    if (last >= k && on > 0 && (s->use[MATRIX_B].access->phases - 1) * on < k) return false;
    /* It goes on, and it is a condition that leaves out the last loads. */
    const struct recovered *use = s->use[MATRIX_B].access;
    if (last < k - 1 && use != load && use->phases * multiplied_along_k(s, MATRIX_B) >= k)
        return false;
    cause_begin(s->cause, CAUSE_LOOP_COUNT, s->use[MATRIX_B].access->place.file, line);
    if (last >= k)
        CAUSE_SAY(TOO_FAR, W(last), W(k));
    else if (first > 0)
        CAUSE_SAY(NOT_FROM_ZERO);
    else
        CAUSE_SAY(TOO_SOON, W(last + 1), W(k));
    CAUSE_SAY(ACCESS, ACCESS(load));
    if (load->phases > 1) CAUSE_SAY(IN_PHASES, W(load->phases));
    CAUSE_SAY(REACHES_ROWS, W(first), W(last), W(k - 1));
    if (s->use[MATRIX_B].access == load)
        CAUSE_SAY(ASK_LOOP_OVER_K);
    else
        CAUSE_SAY(ASK_TILES_ALONG_K);
    if (s->failed->explained.explains_values && s->failed->finding.kind == FINDING_WRONG_RESULT)
        APPEND(s->cause->hint, "%s", s->failed->explained.hint);
    return true;
}

/* Where a loop begins that reads a tile: the first index of the finding's thread, if between any
 * two barriers it goes on from there to the end of its row (or column, *down), element by element.
 * -1: it does not. `behind` is the element behind the end, counted from the first one of the tile.
 */
static long long begin_in_tile(const struct situation *s, const struct recovered *a, bool *down,
                               long long *behind) {
    const struct recovery *r = s->recovery;
    const struct trace_array *array = trace_shared(r->trace, a->array);
    const struct finding_index thread = s->failed->finding.at.thread;
    const unsigned *block = r->trace->block;
    const unsigned number = (thread.z * block[1] + thread.y) * block[0] + thread.x;
    const long long cols = (long long)array->dimension[1];
    long long first = -1, by = 0, begin = 0, steps = 0, seen = 0;
    if (array->dimensions != 2 || cols < 2) return -1;
    for (size_t i = a->first; i < r->trace->count; i++) {
        const long long offset = r->trace->access[i].offset, step = r->step[i];
        if (r->of[i] != a - r->access || r->trace->access[i].thread != number) continue;
        if (first < 0) first = offset;
        if (step == 1 && !by) {
            by = offset - first;
            if (by != 1 && by != cols) return -1;
            *down = by == cols;
            begin = *down ? first / cols : first % cols;
            steps = (long long)array->dimension[!*down] - begin;
            *behind = first + steps * by;
        }
        if (step < max_int((int)steps, 1) && offset != first + step * by) return -1;
        if (seen <= step) seen = step + 1;
    }
    return by && seen >= steps ? begin : -1;
}

/* An index outside of a tile, by one: the loop should have ended before; or each of its indices is
 * one too large, if the tile's first element is stored and never read. */
bool cause_steps(const struct situation *s) {
    const struct finding *f = &s->failed->finding;
    if (f->kind != FINDING_SHARED_OUT_OF_BOUNDS || f->at.access == FINDING_WRITE) return false;
    for (EACH_ACCESS(a, s)) {
        if (a->write || a->array < TRACE_SHARED || a->place.line != f->at.line) continue;
        const struct trace_array *array = trace_shared(s->recovery->trace, a->array);
        bool down = false;
        long long behind = 0;
        const long long begin = begin_in_tile(s, a, &down, &behind);
        const int64_t *outside = f->object.index;
        if (begin < 0 || begin > 1 || strcmp(f->object.name, array->name) != 0 ||
            outside[0] * (int64_t)array->dimension[1] + outside[1] != behind)
            continue;
        if (begin == 0) {
            cause_at_access(s, CAUSE_LOOP_COUNT, a);
            CAUSE_SAY(BEYOND_TILE, W(array->name), W(array->dimension[0]), W(array->dimension[1]));
            return true;
        }
        unsigned char *uses = cause_uses_of_words(s, a->array);
        const bool unread = uses && uses[0] == WORD_STORED;
        free(uses);
        if (!unread) continue;
        cause_at_access(s, CAUSE_OFF_BY_ONE, a);
        CAUSE_SAY(OFF_BY, NAME(a->array), W(begin), W(cause_direction[!down]), W(""), W("large"),
                  ACCESS(a));
        return true;
    }
    return false;
}

/* --- stores ----------------------------------------------------------------------------------- */

/* A matrix of which nothing is loaded; -1: there is none, or a load may be of a copy. */
static int not_loaded(const struct situation *s) {
    for (int matrix = MATRIX_A; matrix <= MATRIX_B && s->seen_all; matrix++)
        if (!cause_access_of(s, matrix, false)) return matrix;
    return -1;
}

/* A shared array is read that nothing stores to. */
static bool says_not_stored(const struct situation *s) {
    for (EACH_ACCESS(read, s)) {
        if (read->write || read->array < TRACE_SHARED || cause_access_of(s, read->array, true))
            continue;
        const int matrix = not_loaded(s);
        cause_at_access(s, CAUSE_TILE_NOT_STORED, read);
        CAUSE_SAY(NOT_STORED, NAME(read->array), NAME(read->array));
        if (matrix >= 0) CAUSE_SAY(NOT_LOADED, NAME(matrix));
        return true;
    }
    return false;
}

/* C is stored, and made of nothing: a loop does not run, or what it adds up is not what is stored,
 * and the compiler leaves its loads out. */
static bool says_made_of_nothing(const struct situation *s) {
    const bool loaded = cause_access_of(s, MATRIX_A, false) || cause_access_of(s, MATRIX_B, false);
    const struct recovered *tile = NULL; /* a store to a shared array, where no thread reads any */
    bool read = false;
    for (EACH_ACCESS(a, s)) {
        if (a->array >= TRACE_SHARED && !tile) tile = a;
        read |= a->array >= TRACE_SHARED && !a->write;
    }
    if (s->failed->finding.kind != FINDING_WRONG_RESULT || !s->seen_all || !s->store.access)
        return false;
    if (loaded && (!tile || read || strcmp(s->failed->explained.formula, "zero") != 0))
        return false;
    cause_at_access(s, CAUSE_TILE_NOT_STORED, s->store.access);
    if (loaded)
        CAUSE_SAY(NONE_READ, W(tile->place.line));
    else
        CAUSE_SAY(NONE_LOADED);
    CAUSE_SAY(LOADS_LEFT_OUT);
    return true;
}

/* In how many phases the first block reads a shared array. */
static size_t phases_of_reads(const struct situation *s, int array) {
    const struct trace *t = s->recovery->trace;
    uint32_t last = UINT32_MAX;
    size_t phases = 0;
    for (size_t i = 0; i < t->count; i++) {
        const struct trace_access *a = &t->access[i];
        if (a->block || a->array != array || a->write) continue;
        phases += a->interval != last;
        last = a->interval;
    }
    return phases;
}

/* One of the buffers of an array is stored and never read, though another one is, in more phases
 * than there are buffers. */
static bool says_buffer_unread(const struct situation *s) {
    enum { MOST = 8 };
    if (s->failed->finding.kind != FINDING_WRONG_RESULT) return false;
    for (EACH_ACCESS(a, s)) {
        if (a->array < TRACE_SHARED || a->write) continue;
        const struct trace_array *array = trace_shared(s->recovery->trace, a->array);
        if (array->dimensions != 3 || array->dimension[0] > MOST ||
            phases_of_reads(s, a->array) <= array->dimension[0])
            continue;
        unsigned char uses[MOST] = {0}, *words = cause_uses_of_words(s, a->array);
        bool any_read = false;
        for (size_t i = 0; words && i < array->elements; i++) {
            uses[i / (array->elements / array->dimension[0])] |= words[i];
            any_read |= words[i] & WORD_READ;
        }
        free(words);
        const unsigned char *unread = memchr(uses, WORD_STORED, sizeof uses);
        if (!any_read || !unread) continue;
        cause_at_access(s, CAUSE_TILE_NOT_STORED, a);
        CAUSE_SAY(BUFFER_UNREAD, NAME(a->array), W(unread - uses), NAME(a->array));
        return true;
    }
    return false;
}

bool cause_tile_not_stored(const struct situation *s) {
    if (says_not_stored(s) || says_made_of_nothing(s) || says_buffer_unread(s)) return true;
    const int matrix = not_loaded(s); /* the compiler knows the rest of it, then: zeros */
    if (matrix < 0 || !s->use[!matrix].access) return false;
    cause_at_access(s, CAUSE_TILE_NOT_STORED, s->use[!matrix].access);
    CAUSE_SAY(NOTHING_LOADED, NAME(matrix), NAME(!matrix), NAME(matrix));
    return true;
}

/* The line that replaces most of what `first` has stored in a shared array, if other lines replace
 * all of it before any thread has read it, and before the next barrier. Null: some of it is read,
 * it is only zeros, or memory is out. */
static const struct recovered *replacing(const struct situation *s, const struct recovered *first) {
    const struct recovery *r = s->recovery;
    const struct trace *t = r->trace;
    const size_t words = trace_shared(t, first->array)->elements;
    uint32_t *fresh = calloc((size_t)TRACE_BLOCKS * words + 1, sizeof *fresh); /* interval + 1 */
    size_t by[RECOVERED + 1] = {0}, replaced = 0; /* by each line, the last of them unknown */
    int most = RECOVERED;
    bool any = false;
    for (size_t i = 0; fresh && i < t->count; i++) {
        const struct trace_access *a = &t->access[i];
        double value = 0;
        if (a->array != first->array || a->offset < 0 || (size_t)a->offset >= words) continue;
        uint32_t *word = &fresh[a->block * words + (size_t)a->offset];
        const bool own = a->write && r->of[i] == first - r->access;
        if (*word == a->interval + 1 && a->write && !own) {
            replaced++;
            if (++by[r->of[i]] > by[most]) most = r->of[i];
        }
        *word = own ? a->interval + 1 : 0;
        if (own && a->valued && element_value(trace_element(t, a->array), a->bytes, &value))
            any |= value != 0;
    }
    free(fresh);
    return any && replaced == first->count && most < RECOVERED ? &r->access[most] : NULL;
}

/* Of the lines that store to a shared array, or to several names of the same memory, what one has
 * stored is all replaced. */
bool cause_tile_overwritten(const struct situation *s) {
    for (EACH_ACCESS(a, s)) {
        if (!a->write || a->array < TRACE_SHARED || a->elements > 1) continue;
        const struct recovered *b = replacing(s, a);
        if (!b || b->elements > 1) continue;
        cause_at_access(s, CAUSE_TILE_OVERWRITTEN, b);
        CAUSE_SAY(REPLACED, W(a->place.line), ACCESS(a), ACCESS(b));
        if (!trace_shared(s->recovery->trace, a->array)->dimensions) CAUSE_SAY(DYNAMIC_IS_ONE);
        return true;
    }
    return false;
}

bool cause_store_in_loop(const struct situation *s) {
    const struct view *c = &s->store;
    if (cause_access_of(s, MATRIX_C, false)) return false; /* it is added up there */
    if (!c->access || c->access->atomic || c->access->phases < 2 ||
        part_has(&c->layout.row, LAYOUT_PHASE) || part_has(&c->layout.col, LAYOUT_PHASE))
        return false;
    cause_at_access(s, CAUSE_STORE_IN_LOOP, c->access);
    CAUSE_SAY(STORED_IN_LOOP, ACCESS(c->access), W(c->access->phases));
    return true;
}

/* --- the sum ---------------------------------------------------------------------------------- */

/* A load of a shared array of integers that elements of this matrix go through: they are seen to
 * come out of it or, where its type does not hold this run's values, to go into it in the line that
 * loads them. Null: there is none. */
static const struct recovered *integer_tile(const struct situation *s, int matrix) {
    const struct recovered *load = s->load[matrix].access;
    for (EACH_ACCESS(use, s)) {
        if (use->write || use->array < TRACE_SHARED) continue;
        const enum element element = trace_element(s->recovery->trace, use->array);
        if (element < ELEMENT_I8 || element > ELEMENT_U64) continue; /* no integer */
        if (use == s->use[matrix].access) return use;
        for (EACH_ACCESS(a, s))
            if (a->write && a->array == use->array && load &&
                place_same_line(&a->place, &load->place))
                return use;
    }
    return NULL;
}

/* The values of this run are integers, those of the run that went wrong need not be. */
bool cause_tile_type(const struct situation *s) {
    for (int i = 0; i < 2; i++) {
        const struct recovered *use = integer_tile(s, i);
        if (!use) continue;
        cause_at_access(s, CAUSE_TILE_TYPE, use);
        CAUSE_SAY(INTEGER_TILE, NAME(use->array), NAME(i), NAME(i), NAME(use->array));
        return true;
    }
    return false;
}

/* Whether in this run's first block each element of C that it stores gets all its products, once:
 * by the element, the rows of A and columns of B that reach one product in the same step of a
 * thread. */
static bool all_multiplied(const struct situation *s) {
    const struct recovery *r = s->recovery;
    const struct recovered *use = s->use[MATRIX_A].access;
    const long long m = s->size[SIZE_M].value, n = s->size[SIZE_N].value, k = s->size[SIZE_K].value;
    unsigned char *times = calloc((size_t)(m * n * k), 1);
    struct index_sample sample;
    for (size_t i = use->first; times && i < r->trace->count; i++) {
        if (r->of[i] != use - r->access || r->trace->access[i].block) continue;
        recover_sample(r, i, &sample);
        const long long row = index_offset(used(s, MATRIX_A), sample.value),
                        col = index_offset(used(s, MATRIX_B), sample.value),
                        at = index_offset(along_k(s, MATRIX_A), sample.value);
        if (at != index_offset(along_k(s, MATRIX_B), sample.value)) break;
        if (row < 0 || row >= m || col < 0 || col >= n || at < 0 || at >= k) continue;
        const long long product = at + k * (col + n * row);
        times[product] += times[product] < 2;
    }
    bool all = times;
    for (size_t i = s->store.access->first; all && i < r->trace->count; i++) {
        if (r->of[i] != s->store.access - r->access || r->trace->access[i].block) continue;
        recover_sample(r, i, &sample);
        all = sample.offset >= 0 && sample.offset < m * n;
        for (long long at = 0; all && at < k; at++) all = times[sample.offset * k + at] == 1;
    }
    free(times);
    return all;
}

/* All that C needs is multiplied: nothing is left but what is done with it. What that is, a formula
 * says that gives all of C. */
bool cause_sum(const struct situation *s) {
    const struct explained *explained = &s->failed->explained;
    const bool is_zero = strcmp(explained->formula, "zero") == 0;
    const struct recovered *use = s->use[MATRIX_A].access;
    if (use->steps != s->use[MATRIX_B].access->steps || !all_multiplied(s)) return false;
    cause_at_access(s, CAUSE_SUM_START, s->store.access);
    CAUSE_SAY(SUM_WRONG, W(use->place.line));
    if (s->store.access->steps > 1)
        CAUSE_SAY(STORES_SEVERAL, W(s->store.access->steps));
    else
        CAUSE_SAY(OF_ROW);
    if (is_zero)
        CAUSE_SAY(ASK_ZERO);
    else
        CAUSE_SAY(ASK_SUM);
    if (!is_zero && explained->explains_values) APPEND(s->cause->hint, "%s", explained->hint);
    return true;
}
