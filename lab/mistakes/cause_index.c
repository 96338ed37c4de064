/* Mistakes in index expressions. */
#include "situation.h"
#include <stdlib.h>
#include <string.h>

/* --- the length of a row ---------------------------------------------------------------------- */

static bool is_transposed(const struct situation *s, int matrix, const struct layout *l) {
    const struct layout *c = &s->store.layout;
    if (matrix == MATRIX_C && l->size == SIZE_M) {
        const struct layout *a = &s->use[MATRIX_A].layout, *b = &s->use[MATRIX_B].layout;
        return a->size == SIZE_K && b->size == SIZE_N &&
               part_same(&l->col, &a->row, LAYOUT_BLOCK | LAYOUT_THREAD) &&
               part_same(&l->row, &b->col, LAYOUT_BLOCK | LAYOUT_THREAD);
    }
    if (!s->store.access || c->size != SIZE_N) return false;
    if (matrix == MATRIX_A && l->size == SIZE_M)
        return part_has(&c->row, LAYOUT_BLOCK) && part_same(&l->col, &c->row, LAYOUT_BLOCK) &&
               !part_has(&l->row, LAYOUT_BLOCK);
    if (matrix == MATRIX_B && l->size == SIZE_K)
        return part_has(&c->col, LAYOUT_BLOCK) && part_same(&l->row, &c->col, LAYOUT_BLOCK) &&
               !part_has(&l->col, LAYOUT_BLOCK);
    return false;
}

static bool has_wrong_length(const struct view *v, int matrix) {
    return v->access && v->layout.size >= 0 &&
           (v->layout.size != (int)cause_columns[matrix] || v->layout.mixed);
}

static void say_row_length(const struct situation *s, struct cause *cause, int matrix,
                           const struct view *v) {
    const char *name = cause_array_name(s, matrix);
    const struct index_size *columns = &s->size[cause_columns[matrix]];
    const struct index_size *rows = &s->size[cause_rows[matrix]];
    const struct index_size *taken = &s->size[v->layout.size];
    const bool transposed = is_transposed(s, matrix, &v->layout);
    if (transposed && matrix == MATRIX_C)
        CAUSE_SAY(STORE_TRANSPOSED);
    else if (transposed)
        CAUSE_SAY(TRANSPOSED, W(name));
    else if (v->layout.mixed)
        CAUSE_SAY(MIXED_ROWS, W(name));
    else
        CAUSE_SAY(ROW_LENGTH, W(name), W(columns->name), W(taken->name));
    cause_say_access(s, cause, v->access);
    CAUSE_SAY(ROW_MAJOR, W(name), W(rows->name), W(columns->name));
    CAUSE_SAY(ASK_ROW, W(name));
}

bool cause_row_length(const struct situation *s, struct cause *cause) {
    for (int matrix = 0; matrix < MATRIX_COUNT; matrix++) {
        const struct view *v = &s->global[matrix];
        if (!has_wrong_length(v, matrix) || !cause_concerns(s, matrix)) continue;
        cause_at_access(cause, CAUSE_ROW_LENGTH, v->access);
        say_row_length(s, cause, matrix, v);
        return true;
    }
    return false;
}

/* --- which row, which column ------------------------------------------------------------------ */

/* The rows of A, or the columns of B, are also C's; its other dimension is along k. */
static const struct index_formula *own(const struct layout *l, int matrix) {
    return matrix == MATRIX_A ? &l->row : &l->col;
}
static const struct index_formula *other(const struct layout *l, int matrix) {
    return own(l, !matrix);
}

static const struct index_formula *along_k(const struct situation *s, int matrix) {
    return other(&s->use[matrix].layout, matrix);
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

/* The rows of A that reach the products, and of C; the columns of B, and of C. */
static const struct index_formula *used(const struct situation *s, int matrix) {
    return own(&s->use[matrix].layout, matrix);
}
static const struct index_formula *stored(const struct situation *s, int matrix) {
    return own(&s->store.layout, matrix);
}
/* Whether two accesses use the same threads, or blocks, for something; as far as both are known. */
static bool agree(const struct view *v, const struct index_formula *a, const struct view *w,
                  const struct index_formula *b, unsigned variables) {
    return part_same(a, b, variables & v->varied & w->varied);
}

static void say_parts(const struct situation *s, struct cause *cause, int matrix) {
    char text[160];
    index_write(text, sizeof text, used(s, matrix), NULL, 0);
    CAUSE_SAY(MULTIPLIED, W(cause_direction[matrix]), W(text), W(cause_array_name(s, matrix)));
    index_write(text, sizeof text, stored(s, matrix), NULL, 0);
    CAUSE_SAY(STORED, W(s->store.access->place.line), W(cause_direction[matrix]), W(text));
}

/* Whether C is stored as if its rows were columns, by what these variables count. */
static bool is_stored_at(const struct situation *s, unsigned variables) {
    for (int i = 0; i < 2; i++)
        if (agree(&s->use[i], used(s, i), &s->store, stored(s, i), variables) ||
            !agree(&s->use[i], used(s, i), &s->store, stored(s, !i), variables))
            return false;
    return true;
}

/* Rows and columns are exchanged as a whole: then it is neither blockIdx nor threadIdx alone. */
bool cause_store_transposed(const struct situation *s, struct cause *cause) {
    if (!is_stored_at(s, LAYOUT_BLOCK) || !is_stored_at(s, LAYOUT_THREAD)) return false;
    cause_at_access(cause, CAUSE_ROW_LENGTH, s->store.access);
    CAUSE_SAY(STORE_TRANSPOSED);
    cause_say_access(s, cause, s->store.access);
    for (int i = 0; i < 2; i++) {
        char text[160];
        index_write(text, sizeof text, used(s, i), NULL, 0);
        CAUSE_SAY(TAKEN_FROM, W(cause_direction[i]), W(text), W(cause_array_name(s, i)));
    }
    CAUSE_SAY(ASK_STORED);
    return true;
}

bool cause_block_exchanged(const struct situation *s, struct cause *cause) {
    bool wrong[2];
    for (int i = 0; i < 2; i++)
        wrong[i] = !agree(&s->use[i], used(s, i), &s->store, stored(s, i), LAYOUT_BLOCK);
    if (!wrong[0] && !wrong[1]) return false;
    const int matrix = wrong[0] ? MATRIX_A : MATRIX_B;
    if (is_stored_at(s, LAYOUT_BLOCK)) {
        cause_at_access(cause, CAUSE_BLOCK_EXCHANGED, s->store.access);
        CAUSE_SAY(BLOCK_IN_STORE);
    } else {
        const struct view *load = &s->load[matrix];
        cause_at_access(cause, CAUSE_BLOCK_EXCHANGED,
                        load->access ? load->access : s->use[matrix].access);
        CAUSE_SAY(BLOCK_IN_LOAD, W(cause_directions[matrix]), W(cause_array_name(s, matrix)),
                  W(cause_directions[matrix]));
        cause_say_access(s, cause, s->load[matrix].access);
    }
    say_parts(s, cause, matrix);
    CAUSE_SAY(ASK_BLOCK, W(cause_directions[matrix]));
    return true;
}

/* What a load of one matrix does with the thread's indices, beside what the store of C does. */
enum threads_as { AS_STORED, EXCHANGED, OTHERWISE };

static enum threads_as threads_as(const struct situation *s, const struct view *v,
                                  const struct index_formula *part, int matrix) {
    if (agree(v, part, &s->store, stored(s, matrix), LAYOUT_THREAD)) return AS_STORED;
    if (agree(v, part, &s->store, stored(s, !matrix), LAYOUT_THREAD)) return EXCHANGED;
    return OTHERWISE;
}

static void say_threads(const struct situation *s, struct cause *cause, int matrix) {
    const struct recovered *load = s->load[matrix].access, *use = s->use[matrix].access;
    if (load) cause_say_access(s, cause, load);
    for (int i = 0; i < s->recovery->count && use != load; i++) {
        const struct recovered *a = &s->recovery->access[i];
        if (a->write && a->array == use->array && a->exact) cause_say_access(s, cause, a);
    }
    if (use != load) cause_say_access(s, cause, use);
    say_parts(s, cause, matrix);
}

/* The store to a tile. Null: there are several, or its index is not known. */
static const struct recovered *store_to(const struct situation *s, int array) {
    const struct recovered *found = NULL;
    for (int i = 0; i < s->recovery->count; i++) {
        const struct recovered *a = &s->recovery->access[i];
        if (!a->write || a->array != array) continue;
        if (found) return NULL;
        found = a;
    }
    return found && found->exact ? found : NULL;
}

/* Whether a tile is stored transposed: rows of it by what counts columns. */
static bool is_stored_transposed(const struct situation *s, int matrix,
                                 const struct recovered *store) {
    struct layout l;
    if (!store || !recover_row_and_column(trace_shared(s->recovery->trace, store->array),
                                          &store->formula, &l))
        return false;
    return !part_same(own(&l, matrix), stored(s, matrix), LAYOUT_THREAD) &&
           part_same(other(&l, matrix), stored(s, matrix), LAYOUT_THREAD);
}

/* The input whose elements do not fit those of C, or of the other input; -1: none. */
static int misfit(const struct situation *s, const enum threads_as use[2]) {
    if (use[MATRIX_A] != AS_STORED) return MATRIX_A;
    if (use[MATRIX_B] != AS_STORED) return MATRIX_B;
    if (agree(&s->use[0], along_k(s, 0), &s->use[1], along_k(s, 1), LAYOUT_THREAD)) return -1;
    return part_has(along_k(s, MATRIX_A), LAYOUT_THREAD) ? MATRIX_A : MATRIX_B;
}

enum exchanged_in { IN_LOAD, IN_TILE, IN_PRODUCT, IN_STORE_OF_C };

static enum exchanged_in exchanged_in(const struct situation *s, int matrix,
                                      const enum threads_as use[2], const enum threads_as load[2]) {
    const struct recovered *product = s->use[matrix].access;
    if (use[0] == EXCHANGED && use[1] == EXCHANGED && load[0] == EXCHANGED && load[1] == EXCHANGED)
        return IN_STORE_OF_C;
    if (product == s->load[matrix].access || use[matrix] == AS_STORED || load[matrix] != AS_STORED)
        return IN_LOAD;
    return is_stored_transposed(s, matrix, store_to(s, product->array)) ? IN_TILE : IN_PRODUCT;
}

static void say_exchanged(struct cause *cause, enum exchanged_in in, int matrix, const char *name) {
    switch (in) {
    case IN_LOAD: CAUSE_SAY(THREAD_IN_LOAD, W(name)); break;
    case IN_TILE: CAUSE_SAY(TILE_TRANSPOSED, W(name)); break;
    case IN_PRODUCT: CAUSE_SAY(PRODUCT_OF_OTHER, W(cause_direction[matrix]), W(name)); break;
    case IN_STORE_OF_C: CAUSE_SAY(THREAD_IN_STORE); break;
    }
}

bool cause_thread_exchanged(const struct situation *s, struct cause *cause) {
    enum threads_as use[2], load[2] = {OTHERWISE, OTHERWISE};
    for (int i = 0; i < 2; i++) {
        use[i] = threads_as(s, &s->use[i], used(s, i), i);
        if (s->load[i].access) load[i] = threads_as(s, &s->load[i], own(&s->load[i].layout, i), i);
    }
    const int matrix = misfit(s, use);
    if (matrix < 0) return false;
    const enum exchanged_in in = exchanged_in(s, matrix, use, load);
    const struct recovered *made = s->load[matrix].access, *product = s->use[matrix].access;
    cause_at_access(cause, CAUSE_THREAD_EXCHANGED,
                    in == IN_STORE_OF_C     ? s->store.access
                    : in == IN_TILE         ? store_to(s, product->array)
                    : in == IN_LOAD && made ? made
                                            : product);
    say_exchanged(cause, in, matrix, cause_array_name(s, matrix));
    say_threads(s, cause, matrix);
    CAUSE_SAY(ASK_THREAD);
    return true;
}

/* --- along k ---------------------------------------------------------------------------------- */

static bool says_wrong_direction(const struct situation *s, struct cause *cause, int matrix) {
    cause_at_access(cause, CAUSE_PHASE_STEP, s->load[matrix].access);
    CAUSE_SAY(PHASE_NOT_ALONG_K, W(cause_array_name(s, matrix)),
              W(cause_directions[!matrix ? 0 : 1]));
    cause_say_access(s, cause, s->load[matrix].access);
    CAUSE_SAY(ASK_ALONG_K);
    return true;
}

/* The loads move on along k, and what is multiplied does not: it is of another buffer, say. */
static bool says_same_product(const struct situation *s, struct cause *cause, int matrix) {
    const struct recovered *load = s->load[matrix].access, *use = s->use[matrix].access;
    cause_at_access(cause, CAUSE_PHASE_MISSING, use);
    CAUSE_SAY(SAME_PRODUCT, W(cause_array_name(s, matrix)));
    cause_say_access(s, cause, use);
    cause_say_access(s, cause, load);
    CAUSE_SAY(LOADS_IN_PHASES, W(load->place.line), W(load->phases));
    CAUSE_SAY(ASK_BUFFER, W(cause_array_name(s, use->array)));
    return true;
}

static bool says_phase_missing(const struct situation *s, struct cause *cause, int matrix) {
    const struct view *load = &s->load[matrix];
    if (part_has(along_k(s, matrix), LAYOUT_PHASE) || !load->access || load->access->phases < 2)
        return false;
    if (part_has(used(s, matrix), LAYOUT_PHASE)) return says_wrong_direction(s, cause, matrix);
    if (part_has(other(&load->layout, matrix), LAYOUT_PHASE))
        return says_same_product(s, cause, matrix);
    cause_at_access(cause, CAUSE_PHASE_MISSING, load->access);
    CAUSE_SAY(SAME_EVERY_PHASE, W(cause_array_name(s, matrix)));
    cause_say_access(s, cause, load->access);
    if (part_has(along_k(s, !matrix), LAYOUT_PHASE))
        cause_say_access(s, cause, s->load[!matrix].access);
    CAUSE_SAY(RUNS_IN_PHASES, W(load->access->phases));
    CAUSE_SAY(ASK_ALONG_K);
    return true;
}

/* How far the products of one phase reach along k; and what the block's threads load in it. */
static long long multiplied_along_k(const struct situation *s, int matrix) {
    return cause_extent(s, s->use[matrix].access, s->recovery->trace->grid, along_k(s, matrix),
                        LAYOUT_STEP);
}
static long long loaded_along_k(const struct situation *s, int matrix) {
    const struct view *v = &s->load[matrix];
    return cause_extent(s, v->access, s->recovery->trace->grid, other(&v->layout, matrix),
                        LAYOUT_THREAD | LAYOUT_STEP);
}

/* The tiles are right, and not all of them is multiplied. */
static bool says_steps(const struct situation *s, struct cause *cause, int matrix, long long loaded,
                       long long steps) {
    cause_at_access(cause, CAUSE_LOOP_COUNT, s->use[matrix].access);
    CAUSE_SAY(PRODUCTS_OF_PHASE, W(steps), W(loaded));
    cause_say_access(s, cause, s->use[matrix].access);
    CAUSE_SAY(LAST_ACCESS, W(cause_access(s, cause, s->load[matrix].access).text));
    CAUSE_SAY(ASK_LOOP);
    return true;
}

/* A phase multiplies so many steps along k, and the next one begins elsewhere. */
static bool says_phase_step(const struct situation *s, struct cause *cause, int matrix) {
    const long long on = part_coefficient(along_k(s, matrix), INDEX_PHASE);
    const long long steps = multiplied_along_k(s, matrix);
    const struct recovered *load = s->load[matrix].access;
    if (s->use[matrix].access->phases < 2 || on <= 0 || on == steps || !load) return false;
    if (on == loaded_along_k(s, matrix)) return says_steps(s, cause, matrix, on, steps);
    cause_at_access(cause, CAUSE_PHASE_STEP, load);
    CAUSE_SAY(PHASE_STEP, W(cause_array_name(s, matrix)), W(on), W(steps),
              W(cause_directions[!matrix]), W(matrix == MATRIX_A ? "wide" : "high"));
    cause_say_access(s, cause, load);
    CAUSE_SAY(MULTIPLIES, W(s->use[matrix].access->place.line), W(steps));
    CAUSE_SAY(ASK_STEP);
    return true;
}

/* Of one matrix nothing is loaded in some phases, in which the other is. */
bool cause_some_phases(const struct situation *s, struct cause *cause) {
    const int a = s->load[0].access ? s->load[0].access->phases : 0,
              b = s->load[1].access ? s->load[1].access->phases : 0;
    if (!a || !b || a == b || !s->recovery->trace->ended) return false;
    const int matrix = a < b ? MATRIX_A : MATRIX_B;
    cause_at_access(cause, CAUSE_PHASE_STEP, s->load[matrix].access);
    CAUSE_SAY(SOME_PHASES, W(cause_array_name(s, matrix)), W(a < b ? a : b), W(a < b ? b : a));
    for (int i = 0; i < 2; i++) cause_say_access(s, cause, s->load[i ? !matrix : matrix].access);
    CAUSE_SAY(ASK_SECOND_PHASE, W(cause_array_name(s, matrix)));
    return true;
}

bool cause_phase(const struct situation *s, struct cause *cause) {
    if (s->use[0].access == s->load[0].access) return false;
    for (int i = 0; i < 2; i++)
        if (says_phase_missing(s, cause, i)) return true;
    for (int i = 0; i < 2; i++)
        if (says_phase_step(s, cause, i)) return true;
    return false;
}

/* --- off by a constant ------------------------------------------------------------------------ */

static bool runs_backwards(const struct layout *l) {
    return part_coefficient(&l->row, INDEX_PHASE) < 0 || part_coefficient(&l->col, INDEX_PHASE) < 0;
}

bool cause_constant(const struct situation *s, struct cause *cause) {
    const long long k_of_a = along_k(s, 0)->constant, k_of_b = along_k(s, 1)->constant;
    for (int matrix = 0; matrix < MATRIX_COUNT; matrix++) {
        const struct view *v = &s->global[matrix];
        const bool first_left_out = s->known && matrix < 2 && k_of_a && k_of_a == k_of_b;
        if (!v->access || first_left_out || !cause_concerns(s, matrix)) continue;
        const long long row = v->layout.row.constant, col = v->layout.col.constant;
        if (!row && !col) continue;
        if ((!s->known || !v->alone) && llabs(row) + llabs(col) > 1)
            continue; /* one of several loads */
        if (runs_backwards(&v->layout)) continue;
        if (v->layout.size != (int)cause_columns[matrix]) continue;
        cause_at_access(cause, CAUSE_OFF_BY_ONE, v->access);
        const long long off = row ? row : col;
        CAUSE_SAY(OFF_BY, W(cause_array_name(s, matrix)), W(llabs(off)), W(cause_direction[!row]),
                  W(llabs(off) > 1 ? "s" : ""), W(off > 0 ? "large" : "small"));
        cause_say_access(s, cause, v->access);
        CAUSE_SAY(FROM_ZERO);
        CAUSE_SAY(ASK_FIRST);
        return true;
    }
    return false;
}

/* --- how much of k ---------------------------------------------------------------------------- */

static void add_rows_of(const struct situation *s, const struct recovered *load, long long *first,
                        long long *last) {
    const struct recovery *r = s->recovery;
    const struct layout l = layout_of(&load->formula, s->size, SIZES, SIZE_N);
    const long long columns = shape_size(&s->shape, PARAM_N);
    for (size_t i = load->first; i < r->trace->count; i++) {
        struct index_sample sample;
        if (r->of[i] != load - r->access) continue;
        recover_sample(r, i, 0, &sample);
        const long long row = (sample.offset - index_offset(&l.col, sample.value)) / columns;
        if (row > *last) *last = row;
        if (row < *first) *first = row;
    }
}

bool cause_rows_of_b(const struct situation *s, long long *first, long long *last) {
    bool all = true;
    *first = shape_size(&s->shape, PARAM_K);
    *last = -1;
    for (int i = 0; i < s->recovery->count; i++) {
        const struct recovered *a = &s->recovery->access[i];
        if (a->write || a->array != MATRIX_B) continue;
        if (a->exact)
            add_rows_of(s, a, first, last);
        else
            all = false;
    }
    return all;
}

/* The end of the last tile that k needs. */
static long long end_of_tiles(const struct situation *s) {
    const long long on = part_coefficient(&s->load[MATRIX_B].layout.row, INDEX_PHASE);
    const long long k = s->size[SIZE_K].value;
    return on > 1 ? (k + on - 1) / on * on : k;
}

bool cause_loop_count(const struct situation *s, struct cause *cause) {
    const long long k = s->size[SIZE_K].value;
    const struct recovered *load = s->load[MATRIX_B].access;
    long long first, last;
    if (!s->load[MATRIX_A].access || !load) return false;
    const struct index_formula *row = &s->load[MATRIX_B].layout.row;
    /* Rows are left out in each phase: then it is not for the loop that the last ones are. */
    if (loaded_along_k(s, MATRIX_B) < part_coefficient(row, INDEX_PHASE)) return false;
    if (!cause_rows_of_b(s, &first, &last)) return false;
    if (first == 0 && last >= k - 1 && last < end_of_tiles(s)) return false;
    cause_at_access(cause, CAUSE_LOOP_COUNT, load);
    if (last >= k)
        CAUSE_SAY(TOO_FAR, W(last), W(k));
    else if (first > 0)
        CAUSE_SAY(NOT_FROM_ZERO);
    else
        CAUSE_SAY(TOO_SOON, W(last + 1), W(k));
    cause_say_access(s, cause, load);
    if (load->phases > 1) CAUSE_SAY(IN_PHASES, W(load->phases));
    CAUSE_SAY(REACHES_ROWS, W(first), W(last), W(k - 1));
    if (s->use[MATRIX_B].access == load)
        CAUSE_SAY(ASK_LOOP_OVER_K);
    else
        CAUSE_SAY(ASK_TILES_ALONG_K);
    if (s->failed->explained.explains_values && s->failed->finding.kind == FINDING_WRONG_RESULT)
        APPEND(cause->hint, "%s", s->failed->explained.hint);
    return true;
}

/* An index outside, where a thread has been at all elements of a row or column of the tile. */
bool cause_steps(const struct situation *s, struct cause *cause) {
    const struct finding *f = &s->failed->finding;
    if (f->kind != FINDING_SHARED_OUT_OF_BOUNDS || f->at.access == FINDING_WRITE) return false;
    for (int i = 0; i < s->recovery->count; i++) {
        const struct recovered *a = &s->recovery->access[i];
        if (a->write || a->array < TRACE_SHARED || a->place.line != f->at.line) continue;
        const struct trace_array *array = trace_shared(s->recovery->trace, a->array);
        const size_t rows = array->dimension[0], cols = array->dimension[1];
        struct layout l;
        if (!a->exact || !recover_row_and_column(array, &a->formula, &l)) continue;
        const size_t end = part_has(&l.row, LAYOUT_STEP) ? rows : cols, steps = (size_t)a->steps;
        if (steps != end && steps != end + 1) continue;
        cause_at_access(cause, CAUSE_LOOP_COUNT, a);
        CAUSE_SAY(BEYOND_TILE, W(array->name), W(rows), W(cols));
        CAUSE_SAY(ASK_LOOP);
        return true;
    }
    return false;
}

/* --- stores ----------------------------------------------------------------------------------- */

static bool is_accessed(const struct situation *s, int array, bool write) {
    for (int i = 0; i < s->recovery->count; i++)
        if (s->recovery->access[i].array == array && s->recovery->access[i].write == write)
            return true;
    return false;
}

/* A matrix of which nothing is loaded; -1: there is none. */
static int not_loaded(const struct situation *s) {
    for (int matrix = MATRIX_A; matrix <= MATRIX_B; matrix++)
        if (!is_accessed(s, matrix, false)) return matrix;
    return -1;
}

static bool says_not_stored(const struct situation *s, struct cause *cause,
                            const struct recovered *read) {
    const int matrix = not_loaded(s);
    cause_at_access(cause, CAUSE_TILE_NOT_STORED, read);
    CAUSE_SAY(NOT_STORED, W(cause_array_name(s, read->array)));
    if (matrix >= 0 && s->whole) CAUSE_SAY(NOT_LOADED, W(cause_array_name(s, matrix)));
    CAUSE_SAY(ASK_FILL, W(cause_array_name(s, read->array)));
    return true;
}

/* A store to a shared array, where no thread reads any; null: one does, or nothing is stored. */
static const struct recovered *tiles_unread(const struct situation *s) {
    const struct recovered *store = NULL;
    for (int i = 0; i < s->recovery->count; i++) {
        const struct recovered *a = &s->recovery->access[i];
        if (a->array >= TRACE_SHARED && !a->write) return NULL;
        if (a->array >= TRACE_SHARED && !store) store = a;
    }
    return store;
}

/* C is stored, and made of nothing: a loop does not run, or what it adds up is not what is stored,
 * and the compiler leaves its loads out. */
static bool says_made_of_nothing(const struct situation *s, struct cause *cause) {
    const bool loaded = is_accessed(s, MATRIX_A, false) || is_accessed(s, MATRIX_B, false);
    const struct recovered *tile = tiles_unread(s);
    if (s->failed->finding.kind != FINDING_WRONG_RESULT || !s->whole || !s->store.access)
        return false;
    if (loaded && (!tile || strcmp(s->failed->explained.formula, "zero") != 0)) return false;
    cause_at_access(cause, CAUSE_TILE_NOT_STORED, s->store.access);
    if (loaded)
        CAUSE_SAY(NONE_READ, W(tile->place.line));
    else
        CAUSE_SAY(NONE_LOADED, W(cause_array_name(s, MATRIX_A)), W(cause_array_name(s, MATRIX_B)));
    CAUSE_SAY(LOADS_LEFT_OUT);
    CAUSE_SAY(ASK_NONE_LOADED);
    return true;
}

/* One of the buffers of an array is stored and never read, though another one is; -1: none is. */
static int unread_buffer(const struct situation *s, int array) {
    enum { MOST = 8 };
    const struct trace_array *a = trace_shared(s->recovery->trace, array);
    unsigned char uses[MOST] = {0}, *words = NULL;
    bool any_read = false;
    int found = -1;
    if (a->dimensions == 3 && a->dimension[0] <= MOST) words = cause_uses_of_words(s, array);
    for (size_t i = 0; words && i < a->elements; i++)
        uses[i / (a->elements / a->dimension[0])] |= words[i];
    for (int i = 0; i < MOST; i++) {
        any_read |= uses[i] & WORD_READ;
        if (uses[i] == WORD_STORED && found < 0) found = i;
    }
    free(words);
    return any_read ? found : -1;
}

static bool says_buffer_unread(const struct situation *s, struct cause *cause) {
    if (s->failed->finding.kind != FINDING_WRONG_RESULT || !s->recovery->trace->ended) return false;
    for (int i = 0; i < s->recovery->count; i++) {
        const struct recovered *a = &s->recovery->access[i];
        const int buffer = a->array >= TRACE_SHARED && !a->write ? unread_buffer(s, a->array) : -1;
        if (buffer < 0) continue;
        cause_at_access(cause, CAUSE_TILE_NOT_STORED, a);
        CAUSE_SAY(BUFFER_UNREAD, W(cause_array_name(s, a->array)), W(buffer));
        CAUSE_SAY(ASK_BUFFER, W(cause_array_name(s, a->array)));
        return true;
    }
    return false;
}

bool cause_tile_not_stored(const struct situation *s, struct cause *cause) {
    const struct recovery *r = s->recovery;
    for (int i = 0; i < r->count; i++) {
        const struct recovered *read = &r->access[i];
        if (!read->write && read->array >= TRACE_SHARED && !is_accessed(s, read->array, true))
            return says_not_stored(s, cause, read);
    }
    if (says_made_of_nothing(s, cause) || says_buffer_unread(s, cause)) return true;
    const int matrix = not_loaded(s); /* the compiler knows the rest of it, then: zeros */
    if (matrix < 0 || !s->whole || !s->use[!matrix].access || !s->recovery->trace->ended)
        return false;
    cause_at_access(cause, CAUSE_TILE_NOT_STORED, s->use[!matrix].access);
    CAUSE_SAY(NOTHING_LOADED, W(cause_array_name(s, matrix)), W(cause_array_name(s, !matrix)));
    CAUSE_SAY(ASK_LOAD, W(cause_array_name(s, matrix)));
    return true;
}

/* The line that replaces most of what `first` has stored in a shared array, if other lines replace
 * all of it before any thread has read it, and before the next barrier. Null: some of it is read,
 * it is only zeros, or memory is out. *alone: no other line does. */
static const struct recovered *replacing(const struct situation *s, const struct recovered *first,
                                         bool *alone) {
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
    *alone = by[most] == replaced;
    return any && replaced == first->count && most < RECOVERED ? &r->access[most] : NULL;
}

/* Of the lines that store to a shared array, or to several names of the same memory, what one has
 * stored is all replaced. */
bool cause_tile_overwritten(const struct situation *s, struct cause *cause) {
    for (int i = 0; i < s->recovery->count; i++) {
        const struct recovered *a = &s->recovery->access[i];
        bool alone;
        if (!a->write || a->array < TRACE_SHARED || a->elements > 1) continue;
        const struct recovered *b = replacing(s, a, &alone);
        if (!b || b->elements > 1) continue;
        cause_at_access(cause, CAUSE_TILE_OVERWRITTEN, b);
        if (alone)
            CAUSE_SAY(REPLACED, W(a->place.line));
        else
            CAUSE_SAY(REPLACED_TOO, W(a->place.line));
        cause_say_access(s, cause, a);
        cause_say_access(s, cause, b);
        if (!trace_shared(s->recovery->trace, a->array)->dimensions) CAUSE_SAY(DYNAMIC_IS_ONE);
        CAUSE_SAY(ASK_REPLACED);
        return true;
    }
    return false;
}

bool cause_store_in_loop(const struct situation *s, struct cause *cause) {
    const struct view *c = &s->store;
    if (is_accessed(s, MATRIX_C, false)) return false; /* it is added up there */
    if (!c->access || c->access->phases < 2 || part_has(&c->layout.row, LAYOUT_PHASE) ||
        part_has(&c->layout.col, LAYOUT_PHASE))
        return false;
    cause_at_access(cause, CAUSE_STORE_IN_LOOP, c->access);
    CAUSE_SAY(STORED_IN_LOOP);
    CAUSE_SAY(IN_EACH_PHASE, W(cause_access(s, cause, c->access).text), W(c->access->phases));
    CAUSE_SAY(ASK_SUM_COMPLETE);
    return true;
}

/* --- the sum ---------------------------------------------------------------------------------- */

static bool is_integer(enum element element) {
    return element >= ELEMENT_I8 && element <= ELEMENT_U64;
}

/* Elements of an input go through a shared array of integers. The values of this run are integers,
 * those of the run that went wrong need not be. */
bool cause_tile_type(const struct situation *s, struct cause *cause) {
    for (int i = 0; i < 2; i++) {
        const struct recovered *use = s->use[i].access;
        if (!use || use->array < TRACE_SHARED ||
            !is_integer(trace_element(s->recovery->trace, use->array)))
            continue;
        const char *tile = cause_array_name(s, use->array), *matrix = cause_array_name(s, i);
        cause_at_access(cause, CAUSE_TILE_TYPE, use);
        CAUSE_SAY(INTEGER_TILE, W(tile), W(matrix));
        CAUSE_SAY(INTEGER_LOSES, W(matrix));
        CAUSE_SAY(ASK_TYPE, W(tile));
        return true;
    }
    return false;
}

/* Whether the products reach all of k, and in each phase other elements. */
static bool covers_k(const struct situation *s) {
    const struct recovered *use = s->use[MATRIX_A].access;
    return cause_extent(s, use, s->recovery->trace->grid, along_k(s, MATRIX_A), ~LAYOUT_BLOCK) >=
               shape_size(&s->shape, PARAM_K) &&
           (use->phases < 2 || part_has(along_k(s, MATRIX_A), LAYOUT_PHASE));
}

/* Nothing is left but what is done with the products. What that is, a formula says that gives all
 * of C. */
bool cause_sum(const struct situation *s, struct cause *cause) {
    if (!s->recovery->trace->ended || !part_same(along_k(s, 0), along_k(s, 1), ~0u) ||
        along_k(s, 0)->constant || along_k(s, 1)->constant || !covers_k(s))
        return false;
    cause_at_access(cause, CAUSE_SUM_START, s->store.access);
    CAUSE_SAY(SUM_WRONG, W(s->use[MATRIX_A].access->place.line));
    CAUSE_SAY(SUM_TAKES);
    if (s->store.access->steps > 1) CAUSE_SAY(STORES_SEVERAL, W(s->store.access->steps));
    const struct explained *explained = &s->failed->explained;
    if (strcmp(explained->formula, "zero") == 0) {
        CAUSE_SAY(ASK_ZERO);
    } else {
        CAUSE_SAY(ASK_SUM);
        if (explained->explains_values) APPEND(cause->hint, "%s", explained->hint);
    }
    return true;
}
