/* What the rules share: how far an index runs, words. See situation.h. */
#include "situation.h"
#include <stdlib.h>
#include <string.h>

/* A is m x k, B k x n, C m x n. */
const enum size cause_columns[] = {SIZE_K, SIZE_N, SIZE_N};
const enum size cause_rows[] = {SIZE_M, SIZE_K, SIZE_M};

/* --- how far an index runs -------------------------------------------------------------------- */

long long cause_extent(const struct situation *s, const struct recovered *a, const unsigned grid[3],
                       const struct index_formula *part, unsigned variables) {
    int most[INDEX_VARIABLES] = {[INDEX_PHASE] = a->phases - 1, [INDEX_STEP] = a->steps - 1};
    long long last = 0;
    for (int i = 0; i < 3; i++) {
        most[INDEX_THREAD_X + i] = (int)s->recovery->trace->block[i] - 1;
        most[INDEX_BLOCK_X + i] = (int)grid[i] - 1;
    }
    for (int i = 0; i < part->terms; i++) {
        const struct index_term *term = &part->term[i];
        long long digits = most[term->variable] >> term->shift;
        const long long all = (1ll << term->bits) - 1;
        if (term->bits && digits > all) digits = all;
        if (term->coefficient > 0 && variables >> term->variable & 1)
            last += term->coefficient * digits;
    }
    return last + 1;
}

bool cause_is_of_stores(const struct finding *f) {
    return f->kind == FINDING_UNWRITTEN ||
           (f->kind == FINDING_OUT_OF_BOUNDS && f->at.access == FINDING_WRITE);
}

bool cause_concerns(const struct situation *s, int matrix) {
    return matrix == MATRIX_C || !cause_is_of_stores(&s->failed->finding);
}

const struct recovered *cause_access_of(const struct situation *s, int array, bool write) {
    for (EACH_ACCESS(a, s))
        if (a->array == array && a->write == write) return a;
    return NULL;
}

/* --- shared memory ---------------------------------------------------------------------------- */

unsigned char *cause_uses_of_words(const struct situation *s, int array) {
    const struct trace *t = s->recovery->trace;
    const size_t words = trace_shared(t, array)->elements;
    unsigned char *uses = calloc(words + 1, 1);
    for (size_t i = 0; uses && i < t->count; i++) {
        const struct trace_access *a = &t->access[i];
        if (a->array != array || a->block) continue;
        for (int64_t word = a->offset; word < a->offset + a->elements; word++)
            if (word >= 0 && (size_t)word < words) uses[word] |= a->write ? WORD_STORED : WORD_READ;
    }
    return uses;
}

/* --- words ------------------------------------------------------------------------------------ */

const char *const cause_direction[] = {"row", "column"};
const char *const cause_directions[] = {"rows", "columns"};

void cause_at_access(const struct situation *s, enum sgemm_cause kind,
                     const struct recovered *access) {
    cause_begin(s->cause, (int)kind, access->place.file, access->place.line);
}

void cause_at_launch(const struct situation *s, enum sgemm_cause kind) {
    cause_begin(s->cause, (int)kind, s->launch->file, s->launch->line);
}

struct cause_phrase cause_say_access(const struct situation *s, const struct recovered *a) {
    struct cause_phrase p = {""};
    if (a->place.line != s->cause->line) APPEND(p.text, "line %d ", a->place.line);
    APPEND(p.text, "%s ", a->write ? "stores to" : "loads");
    recover_write(p.text, sizeof p.text, s->recovery, a, s->size, SIZES);
    return p;
}
