/* Rows and columns of an index formula: see index.h. */
#include "index.h"
#include <stdlib.h>
#include <string.h>

static bool is_multiple(long long coefficient, const struct index_size *size) {
    return size->value > 1 && coefficient % size->value == 0;
}

/* The first size that a term is a multiple of, but for `except`; -1: none. */
static int size_of_terms(const struct index_formula *f, const struct index_size *sizes,
                         size_t count, int except) {
    for (int i = 0; i < f->terms; i++)
        for (size_t s = 0; s < count; s++)
            if ((int)s != except && is_multiple(f->term[i].coefficient, &sizes[s])) return (int)s;
    return -1;
}

static bool any_multiple(const struct index_formula *f, const struct index_size *size) {
    for (int i = 0; i < f->terms; i++)
        if (is_multiple(f->term[i].coefficient, size)) return true;
    return false;
}

/* A constant belongs to the row as far as it is whole rows; -1 is the column before the first. */
static void divide_constant(struct layout *l, long long constant, long long columns) {
    l->row.constant = constant / columns;
    l->col.constant = constant % columns;
    if (llabs(l->col.constant) > columns / 2) {
        const int sign = l->col.constant > 0 ? 1 : -1;
        l->row.constant += sign;
        l->col.constant -= sign * columns;
    }
}

struct layout layout_of(const struct index_formula *unsplit, const struct index_size *sizes,
                        size_t count, int expected) {
    const struct index_formula split = index_split(unsplit, &sizes[expected], 1), *f = &split;
    struct layout l = {.size = expected};
    if (!any_multiple(f, &sizes[expected])) l.size = size_of_terms(f, sizes, count, -1);
    l.mixed = l.size >= 0 && size_of_terms(f, sizes, count, l.size) >= 0;
    const long long columns = l.size >= 0 ? sizes[l.size].value : sizes[expected].value;
    for (int i = 0; i < f->terms; i++) {
        struct index_term term = f->term[i];
        const bool row = l.size >= 0 && term.coefficient % columns == 0;
        struct part *part = row ? &l.row : &l.col;
        if (row) term.coefficient /= columns;
        part->term[part->terms++] = term;
    }
    divide_constant(&l, f->constant, columns);
    return l;
}

bool part_has(const struct part *part, unsigned variables) {
    for (int i = 0; i < part->terms; i++)
        if (variables >> part->term[i].variable & 1) return true;
    return false;
}

static bool has_term(const struct part *part, const struct index_term *term) {
    for (int i = 0; i < part->terms; i++) {
        const struct index_term *t = &part->term[i];
        if (t->variable == term->variable && t->shift == term->shift &&
            t->coefficient == term->coefficient)
            return true;
    }
    return false;
}

static bool has_terms_of(const struct part *a, const struct part *b, unsigned variables) {
    for (int i = 0; i < b->terms; i++)
        if ((variables >> b->term[i].variable & 1) && !has_term(a, &b->term[i])) return false;
    return true;
}

bool part_same(const struct part *a, const struct part *b, unsigned variables) {
    return has_terms_of(a, b, variables) && has_terms_of(b, a, variables);
}

long long part_coefficient(const struct part *part, enum index_variable variable) {
    for (int i = 0; i < part->terms; i++)
        if (part->term[i].variable == variable && !part->term[i].shift)
            return part->term[i].coefficient;
    return 0;
}

static struct index_formula as_formula(const struct part *part) {
    struct index_formula f = {.constant = part->constant, .terms = part->terms, .phase_every = 1};
    memcpy(f.term, part->term, sizeof f.term);
    return f;
}

long long part_value(const struct part *part, const struct index_formula *formula,
                     const int value[INDEX_VARIABLES]) {
    struct index_formula f = as_formula(part);
    f.phase_first = formula->phase_first;
    f.phase_every = formula->phase_every;
    return index_offset(&f, value);
}

void part_write(char *text, size_t size, const struct part *part) {
    const struct index_formula f = as_formula(part);
    index_write(text, size, &f, NULL, 0);
}
