/* Fits index formulas: linear equations over the bits of the variables, solved exactly. Writes
 * them, and divides them into rows and columns. */
#include "index.h"

#include "../../report/text/text.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    COLUMNS = 96, /* bits of variables that can change, and the constant */
    BITS = 31,
};

/* ---- arithmetic modulo a prime ------------------------------------------------------------------
 * Exact elimination over the integers would need fractions. Modulo a prime above twice any
 * coefficient the same steps give the same solution, if it is one of integers; and index_fit()
 * tries what it got on all samples. */

static const uint64_t prime = (UINT64_C(1) << 61) - 1;

/* 2^61 is 1 modulo 2^61 - 1. */
static uint64_t times(uint64_t a, uint64_t b) {
    unsigned __int128 product = (unsigned __int128)a * b;
    uint64_t sum = (uint64_t)(product & prime) + (uint64_t)(product >> 61);
    return sum >= prime ? sum - prime : sum;
}

static uint64_t minus(uint64_t a, uint64_t b) { return a >= b ? a - b : a + prime - b; }

static uint64_t inverse(uint64_t a) { /* Fermat: a^(p-2) */
    uint64_t result = 1;
    for (uint64_t exponent = prime - 2; exponent; exponent >>= 1) {
        if (exponent & 1) result = times(result, a);
        a = times(a, a);
    }
    return result;
}

static uint64_t from_integer(long long value) {
    return value >= 0 ? (uint64_t)value % prime : prime - (uint64_t)-value % prime;
}

/* ---- the equations -------------------------------------------------------------------------- */

struct column {
    enum index_variable variable;
    int bit;
};

/* Row c, if there is one, begins with a 1 in column c. Column 0 is the constant. */
struct equations {
    int columns;
    struct column column[COLUMNS];
    bool solved_for[COLUMNS];
    uint64_t row[COLUMNS][COLUMNS + 1]; /* the last entry: the right-hand side */
};

/* As formulas count it: phases are those that the access is in. */
static unsigned value_of(const int value[INDEX_VARIABLES], enum index_variable variable,
                         const struct index_formula *formula) {
    int v = value[variable];
    if (variable == INDEX_PHASE) v = (v - formula->phase_first) / formula->phase_every;
    return (unsigned)v;
}

/* A column for each bit that is not the same in all samples; false if these are too many. */
static bool find_columns(struct equations *e, const struct index_sample *sample, size_t samples,
                         const struct index_formula *formula) {
    e->columns = 1;
    for (enum index_variable v = 0; v < INDEX_VARIABLES; v++) {
        unsigned changing = 0;
        for (size_t i = 1; i < samples; i++)
            changing |= value_of(sample[i].value, v, formula) ^ value_of(sample->value, v, formula);
        for (int bit = 0; bit < BITS; bit++) {
            if (!(changing >> bit & 1)) continue;
            if (e->columns == COLUMNS) return false;
            e->column[e->columns++] = (struct column){v, bit};
        }
    }
    return true;
}

/* Adds one sample's equation; false if it contradicts those before. */
static bool add_equation(struct equations *e, const struct index_sample *sample,
                         const struct index_formula *formula) {
    uint64_t row[COLUMNS + 1] = {1};
    for (int c = 1; c < e->columns; c++)
        row[c] = value_of(sample->value, e->column[c].variable, formula) >> e->column[c].bit & 1;
    row[e->columns] = from_integer(sample->offset);

    int first = -1;
    for (int c = 0; c < e->columns; c++) {
        if (!row[c]) continue;
        if (!e->solved_for[c]) {
            if (first < 0) first = c;
            continue;
        }
        uint64_t factor = row[c];
        for (int d = c; d <= e->columns; d++) row[d] = minus(row[d], times(factor, e->row[c][d]));
    }
    if (first < 0) return row[e->columns] == 0;

    uint64_t scale = inverse(row[first]);
    for (int d = first; d <= e->columns; d++) e->row[first][d] = times(row[d], scale);
    e->solved_for[first] = true;
    return true;
}

/* Coefficients by column; `free` where the samples leave the choice. False if one is absurdly
 * large: then the solution is one of fractions. */
static bool solve_with(const struct equations *e, const long long free[COLUMNS],
                       long long coefficient[COLUMNS]) {
    for (int c = e->columns - 1; c >= 0; c--) {
        coefficient[c] = free[c];
        if (!e->solved_for[c]) continue;
        uint64_t value = e->row[c][e->columns];
        for (int d = c + 1; d < e->columns; d++)
            value = minus(value, times(e->row[c][d], from_integer(coefficient[d])));
        coefficient[c] = value > prime / 2 ? -(long long)(prime - value) : (long long)value;
        if (llabs(coefficient[c]) > 1LL << 40) return false;
    }
    return true;
}

/* Of blocks 0, 1 and 196 the last one sets several bits at once: where that leaves a choice, the
 * bits of a variable double, as in a product with it. */
static bool solve(const struct equations *e, long long coefficient[COLUMNS]) {
    long long free[COLUMNS] = {0};
    if (!solve_with(e, free, coefficient)) return false;
    for (int c = 1, first = 1; c < e->columns; c++) {
        if (e->column[c].variable != e->column[first].variable) first = c;
        free[c] = coefficient[first] * (1LL << (e->column[c].bit - e->column[first].bit));
    }
    return solve_with(e, free, coefficient);
}

/* ---- from bits to terms --------------------------------------------------------------------- */

/* Neighboring bits of a variable whose coefficients double become one term. False if there are too
 * many terms. */
static bool find_terms(const struct equations *e, const long long *coefficient,
                       struct index_formula *formula) {
    formula->terms = 0;
    for (int first = 1, end; first < e->columns; first = end) {
        const struct column *low = &e->column[first], *next = low + 1;
        const bool lowest = first == 1 || low[-1].variable != low->variable;
        for (end = first + 1; end < e->columns && next->variable == low->variable; end++, next++)
            if (coefficient[end] != coefficient[first] * (1LL << (next->bit - low->bit))) break;
        if (!coefficient[first]) continue;
        if (formula->terms == INDEX_TERMS) return false;
        struct index_term *term = &formula->term[formula->terms++];
        *term = (struct index_term){coefficient[first], low->variable, low->bit, 0};
        if (lowest && coefficient[first] % (1LL << low->bit) == 0)
            *term = (struct index_term){coefficient[first] >> low->bit, low->variable, 0, 0};
        if (end < e->columns && next->variable == low->variable)
            term->bits = next[-1].bit + 1 - term->shift;
    }
    return true;
}

/* Barriers may be several in a loop: of every third interval, `phase` counts one. */
static void find_phases(const struct index_sample *sample, size_t samples,
                        struct index_formula *formula) {
    int least = sample[0].value[INDEX_PHASE], step = 0;
    for (size_t i = 1; i < samples; i++)
        if (sample[i].value[INDEX_PHASE] < least) least = sample[i].value[INDEX_PHASE];
    for (size_t i = 0; i < samples; i++)
        for (int a = sample[i].value[INDEX_PHASE] - least; a;) { /* Euclid */
            int rest = step % a;
            step = a;
            a = rest;
        }
    formula->phase_first = least;
    formula->phase_every = step ? step : 1;
}

long long index_offset(const struct index_formula *formula, const int value[INDEX_VARIABLES]) {
    long long offset = formula->constant;
    for (int i = 0; i < formula->terms; i++) {
        const struct index_term *term = &formula->term[i];
        unsigned digits = value_of(value, term->variable, formula) >> term->shift;
        if (term->bits) digits &= (1u << term->bits) - 1;
        offset += term->coefficient * digits;
    }
    return offset;
}

/* The formula of the equations so far; false if that has no form as in index.h. */
static bool find_formula(const struct equations *e, const struct index_sample *first,
                         struct index_formula *formula) {
    long long coefficient[COLUMNS];
    if (!solve(e, coefficient) || !find_terms(e, coefficient, formula)) return false;
    /* A term may hold bits that never change, and with them a part of the constant. */
    formula->constant = 0;
    formula->constant = first->offset - index_offset(formula, first->value);
    return true;
}

/* Some samples scattered over all of them nearly always determine the formula; each of the others
 * that it does not fit adds an equation that it lacked, or contradicts. */
bool index_fit(const struct index_sample *sample, size_t samples, struct index_formula *formula) {
    enum { SCATTERED = 512, STRIDE = 7919 };
    *formula = (struct index_formula){0};
    find_phases(sample, samples, formula);
    struct equations *e = calloc(1, sizeof *e);
    bool fits = e && find_columns(e, sample, samples, formula);
    for (size_t i = 0; fits && i < SCATTERED && i < samples; i++)
        fits = add_equation(e, &sample[i * STRIDE % samples], formula);
    bool all = false;
    for (int tries = 0; fits && !all && tries < COLUMNS; tries++) {
        size_t i = 0;
        fits = find_formula(e, &sample[0], formula);
        while (fits && i < samples && index_offset(formula, sample[i].value) == sample[i].offset)
            i++;
        all = i == samples;
        if (fits && !all) fits = add_equation(e, &sample[i], formula);
    }
    free(e);
    return all;
}

/* ---- writing -------------------------------------------------------------------------------- */

/* Its variable is in parentheses where it is a factor, if it needs them. */
static void append_term(char *text, size_t size, const struct index_term *term) {
    static const char *const names[] = {"threadIdx.x", "threadIdx.y", "threadIdx.z", "blockIdx.x",
                                        "blockIdx.y",  "blockIdx.z",  "phase",       "step"};
    const long long times = llabs(term->coefficient);
    const bool enclosed = (term->shift || term->bits) && times != 1;
    if (times != 1) append(text, size, "%lld * ", times);
    append(text, size, "%s%s", enclosed ? "(" : "", names[term->variable]);
    if (term->shift) append(text, size, " / %d", 1 << term->shift);
    if (term->bits) append(text, size, " %% %d", 1 << term->bits);
    if (enclosed) append(text, size, ")");
}

static void append_sign(char *text, size_t size, bool negative, bool first) {
    append(text, size, "%s", first ? (negative ? "-" : "") : (negative ? " - " : " + "));
}

/* As one writes an index: first where the block is, then where in it the thread is. */
static const enum index_variable written_order[] = {
    INDEX_BLOCK_Z,  INDEX_BLOCK_Y,  INDEX_BLOCK_X,  INDEX_PHASE,
    INDEX_THREAD_Z, INDEX_THREAD_Y, INDEX_THREAD_X, INDEX_STEP,
};

/* The formula's terms, and its constant, if there is one or nothing else. */
static void append_sum(char *text, size_t size, const struct index_formula *formula, bool first) {
    for (int v = 0; v < INDEX_VARIABLES; v++)
        for (int i = 0; i < formula->terms; i++) {
            const struct index_term *term = &formula->term[i];
            if (term->variable != written_order[v]) continue;
            append_sign(text, size, term->coefficient < 0, first);
            append_term(text, size, term);
            first = false;
        }
    if (!formula->constant && !first) return;
    append_sign(text, size, formula->constant < 0, first);
    append(text, size, "%lld", llabs(formula->constant));
}

/* Takes the terms out of a formula that are multiples of a size; returns them, divided by it. */
static struct index_formula take_multiples(struct index_formula *formula,
                                           const struct index_size *size) {
    struct index_formula taken = {.phase_first = formula->phase_first,
                                  .phase_every = formula->phase_every};
    int left = 0;
    for (int i = 0; i < formula->terms; i++) {
        struct index_term term = formula->term[i];
        if (!index_is_multiple(term.coefficient, size)) {
            formula->term[left++] = term;
            continue;
        }
        term.coefficient /= size->value;
        taken.term[taken.terms++] = term;
    }
    formula->terms = left;
    return taken;
}

static bool has_multiple(const struct index_formula *formula, const struct index_size *size) {
    for (int i = 0; i < formula->terms; i++)
        if (index_is_multiple(formula->term[i].coefficient, size)) return true;
    return false;
}

struct index_formula index_split(const struct index_formula *formula,
                                 const struct index_size *sizes, size_t count) {
    struct index_formula f = *formula;
    for (int i = 0; i < formula->terms; i++)
        for (size_t s = 0; s < count && f.terms < INDEX_TERMS; s++) {
            if (f.term[i].coefficient != sizes[s].value + 1) continue;
            if (!has_multiple(formula, &sizes[s])) continue;
            f.term[i].coefficient = sizes[s].value;
            f.term[f.terms] = f.term[i];
            f.term[f.terms++].coefficient = 1;
        }
    return f;
}

/* The constant goes with a size only if terms do. */
void index_write(char *text, size_t size, const struct index_formula *formula,
                 const struct index_size *sizes, size_t count) {
    struct index_formula rest = index_split(formula, sizes, count);
    bool first = true;
    *text = '\0';
    for (size_t s = 0; s < count; s++) {
        struct index_formula part = take_multiples(&rest, &sizes[s]);
        char sum[200] = "";
        if (!part.terms) continue;
        if (index_is_multiple(rest.constant, &sizes[s])) {
            part.constant = rest.constant / sizes[s].value;
            rest.constant = 0;
        }
        append_sum(sum, sizeof sum, &part, true);
        const bool one_word = !strchr(sum, ' ') && *sum != '-';
        append(text, size, one_word ? "%s%s * %s" : "%s(%s) * %s", first ? "" : " + ", sum,
               sizes[s].name);
        first = false;
    }
    append_sum(text, size, &rest, first);
}

/* ---- rows and columns ------------------------------------------------------------------------ */

/* The first size that a term is a multiple of, but for `except`; -1: none. */
static int size_of_terms(const struct index_formula *f, const struct index_size *sizes,
                         size_t count, int except) {
    for (int i = 0; i < f->terms; i++)
        for (size_t s = 0; s < count; s++)
            if ((int)s != except && index_is_multiple(f->term[i].coefficient, &sizes[s]))
                return (int)s;
    return -1;
}

struct layout layout_of(const struct index_formula *formula, const struct index_size *sizes,
                        size_t count, int expected) {
    struct layout l = {.size = expected, .col = index_split(formula, &sizes[expected], 1)};
    if (!has_multiple(&l.col, &sizes[expected])) l.size = size_of_terms(&l.col, sizes, count, -1);
    l.mixed = l.size >= 0 && size_of_terms(&l.col, sizes, count, l.size) >= 0;
    l.row = (struct index_formula){.phase_first = formula->phase_first,
                                   .phase_every = formula->phase_every};
    if (l.size >= 0) l.row = take_multiples(&l.col, &sizes[l.size]);
    /* A constant belongs to the row as far as it is whole rows; -1 is the column before the first,
     * and what is loaded ahead, which may be most of a row, is in the same one. */
    const long long columns = sizes[l.size >= 0 ? l.size : expected].value;
    l.row.constant = formula->constant / columns;
    l.col.constant = formula->constant % columns;
    if (4 * llabs(l.col.constant) > 3 * columns) {
        const int sign = l.col.constant > 0 ? 1 : -1;
        l.row.constant += sign;
        l.col.constant -= sign * columns;
    }
    return l;
}

bool part_has(const struct index_formula *part, unsigned variables) {
    for (int i = 0; i < part->terms; i++)
        if (variables >> part->term[i].variable & 1) return true;
    return false;
}

bool part_has_digits(const struct index_formula *part, unsigned variables) {
    for (int i = 0; i < part->terms; i++) {
        const struct index_term *t = &part->term[i];
        if (variables >> t->variable & 1 && (t->shift || t->bits)) return true;
    }
    return false;
}

static bool has_terms_of(const struct index_formula *a, const struct index_formula *b,
                         unsigned variables) {
    for (int i = 0; i < b->terms; i++) {
        const struct index_term *of = &b->term[i], *t = a->term, *end = a->term + a->terms;
        while (t < end && !(t->variable == of->variable && t->shift == of->shift &&
                            t->coefficient == of->coefficient))
            t++;
        if ((variables >> of->variable & 1) && t == end) return false;
    }
    return true;
}

bool part_same(const struct index_formula *a, const struct index_formula *b, unsigned variables) {
    return has_terms_of(a, b, variables) && has_terms_of(b, a, variables);
}

long long part_coefficient(const struct index_formula *part, enum index_variable variable) {
    for (int i = 0; i < part->terms; i++)
        if (part->term[i].variable == variable && !part->term[i].shift)
            return part->term[i].coefficient;
    return 0;
}
