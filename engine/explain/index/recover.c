/* Index formulas of a trace's accesses: see index.h. */
#include "../../report/text/source.h"
#include "../../report/text/text.h"
#include "../../watch/shadow/regions.h"
#include "index.h"
#include <stdlib.h>
#include <string.h>

/* --- grouping by line ------------------------------------------------------------------------- */

enum { CODES = 255, NO_SOURCE = -1, SEVERAL_SOURCES = -2 };

/* A code location, and what it does with an array. A compiler may make several of one access. */
struct site {
    const void *code;
    int array, elements;
    bool write, atomic;
    int source;    /* the array whose elements a load of shared memory gets */
    int recovered; /* in the recovery; RECOVERED: no room */
};

struct sites {
    struct site site[CODES + 1]; /* the last one: for those without room */
    int count;
};

static bool is_at(const struct site *s, const struct trace_access *a) {
    return s->code == a->code && s->array == a->array && s->write == a->write &&
           s->elements == a->elements;
}

static int find_site(struct sites *sites, const struct trace_access *a) {
    for (int i = 0; i < sites->count; i++)
        if (is_at(&sites->site[i], a)) return i;
    if (sites->count == CODES) return CODES;
    sites->site[sites->count] =
        (struct site){a->code, a->array, a->elements, a->write, a->atomic, NO_SOURCE, RECOVERED};
    return sites->count++;
}

/* Which element of which array it is that a load of a shared array's element gets. */
static bool decoded(const struct trace *t, const struct trace_access *a, value_decoder *decode,
                    int *array, int64_t *offset) {
    double value;
    return element_value(trace_element(t, a->array), a->bytes, &value) &&
           decode(value, array, offset);
}

static void add_source(struct site *site, const struct trace *t, const struct trace_access *a,
                       value_decoder *decode) {
    int array;
    int64_t offset;
    if (!decode || site->write || site->array < TRACE_SHARED ||
        !decoded(t, a, decode, &array, &offset))
        return;
    if (site->source == NO_SOURCE) site->source = array;
    if (site->source != array) site->source = SEVERAL_SOURCES;
}

static int find_recovered(struct recovery *r, const struct site *s) {
    const struct place place = place_before(s->code);
    for (int i = 0; i < r->count; i++) {
        const struct recovered *known = &r->access[i];
        if (known->array == s->array && known->write == s->write &&
            known->elements == s->elements && known->atomic == s->atomic &&
            known->source == s->source && place_same_line(&known->place, &place))
            return i;
    }
    if (r->count == RECOVERED) return RECOVERED;
    r->access[r->count] = (struct recovered){.place = place,
                                             .array = s->array,
                                             .write = s->write,
                                             .atomic = s->atomic,
                                             .elements = s->elements,
                                             .source = s->source};
    return r->count++;
}

/* At first r->of says which site, and then which recovered access. */
static void group_by_line(struct recovery *r, value_decoder *decode) {
    static struct sites sites;
    const struct trace *t = r->trace;
    sites.count = 0;
    sites.site[CODES] = (struct site){.recovered = RECOVERED};
    for (size_t i = 0; i < t->count; i++) {
        r->of[i] = (uint8_t)find_site(&sites, &t->access[i]);
        add_source(&sites.site[r->of[i]], t, &t->access[i], decode);
    }
    for (int i = 0; i < sites.count; i++)
        sites.site[i].recovered = find_recovered(r, &sites.site[i]);
    for (size_t i = 0; i < t->count; i++) {
        r->of[i] = (uint8_t)sites.site[r->of[i]].recovered;
        if (r->of[i] < RECOVERED && !r->access[r->of[i]].count++) r->access[r->of[i]].first = i;
    }
}

/* --- samples ---------------------------------------------------------------------------------- */

void recover_values(const struct trace *t, int block, unsigned thread, int phase, int step,
                    int value[INDEX_VARIABLES]) {
    value[INDEX_THREAD_X] = (int)(thread % t->block[0]);
    value[INDEX_THREAD_Y] = (int)(thread / t->block[0] % t->block[1]);
    value[INDEX_THREAD_Z] = (int)(thread / t->block[0] / t->block[1]);
    for (int i = 0; i < 3; i++) value[INDEX_BLOCK_X + i] = (int)t->blocks[block][i];
    value[INDEX_PHASE] = phase;
    value[INDEX_STEP] = step;
}

void recover_sample(const struct recovery *r, size_t access, int step, struct index_sample *to) {
    const struct trace_access *a = &r->trace->access[access];
    to->offset = a->offset;
    recover_values(r->trace, a->block, a->thread, (int)a->interval, step, to->value);
}

/* Which accesses of one recovered one become samples. */
struct selection {
    int recovered;
    value_decoder *decode; /* null: the offset is the access's own, not its value's */
    int source;
    bool inner_blocks; /* without those at the grid's end */
};

/* How often each thread has come by since the last barrier. */
struct steps {
    uint32_t interval[MAX_BLOCK_THREADS];
    int block[MAX_BLOCK_THREADS], count[MAX_BLOCK_THREADS];
};

static int next_step(struct steps *s, const struct trace_access *a) {
    if (s->block[a->thread] != a->block + 1 || s->interval[a->thread] != a->interval) {
        s->block[a->thread] = a->block + 1;
        s->interval[a->thread] = a->interval;
        s->count[a->thread] = 0;
    }
    return s->count[a->thread]++;
}

static bool is_inner(const struct trace *t, const unsigned block[3]) {
    for (int i = 0; i < 2; i++)
        if (block[i] && block[i] == t->grid[i] - 1) return false;
    return true;
}

static size_t select_samples(const struct recovery *r, const struct selection *s,
                             struct index_sample *samples) {
    static struct steps steps;
    const struct trace *t = r->trace;
    size_t count = 0;
    memset(&steps, 0, sizeof steps);
    for (size_t i = r->access[s->recovered].first; i < t->count; i++) {
        int array = -1;
        int64_t offset = 0;
        if (r->of[i] != s->recovered) continue;
        const int step = next_step(&steps, &t->access[i]);
        if (s->inner_blocks && !is_inner(t, t->blocks[t->access[i].block])) continue;
        if (s->decode &&
            (!decoded(t, &t->access[i], s->decode, &array, &offset) || array != s->source))
            continue;
        recover_sample(r, i, step, &samples[count]);
        if (s->decode) samples[count].offset = offset;
        count++;
    }
    return count;
}

static unsigned varied_in(const struct index_sample *samples, size_t count) {
    unsigned varied = 0;
    for (size_t i = 1; i < count; i++)
        for (int v = 0; v < INDEX_VARIABLES; v++)
            if (samples[i].value[v] != samples[0].value[v]) varied |= 1u << v;
    return varied;
}

/* Guards leave out some accesses of the blocks at the grid's end, so that steps count otherwise
 * there: then the other blocks alone decide. */
static bool fit(const struct recovery *r, struct selection s, struct index_sample *samples,
                struct index_formula *formula, unsigned *varied) {
    size_t count = select_samples(r, &s, samples);
    bool fits = count && index_fit(samples, count, formula);
    if (!fits) {
        s.inner_blocks = true;
        count = select_samples(r, &s, samples);
        fits = count && index_fit(samples, count, formula);
    }
    *varied = fits ? varied_in(samples, count) : 0;
    return fits;
}

/* Of the first block that makes the access. */
static void count(struct recovery *r, int recovered) {
    static struct steps steps;
    const struct trace *t = r->trace;
    struct recovered *made = &r->access[recovered];
    const struct trace_access *first = &t->access[made->first];
    uint32_t last = UINT32_MAX;
    bool came[MAX_BLOCK_THREADS] = {false};
    memset(&steps, 0, sizeof steps);
    for (size_t i = made->first; i < t->count && t->access[i].block == first->block; i++) {
        const struct trace_access *a = &t->access[i];
        if (r->of[i] != recovered) continue;
        const int step = next_step(&steps, a) + 1;
        if (step > made->steps) made->steps = step;
        made->phases += a->interval != last;
        last = a->interval;
        made->threads += !came[a->thread];
        came[a->thread] = true;
    }
}

static void recover_one(struct recovery *r, int i, value_decoder *decode,
                        struct index_sample *samples) {
    struct recovered *a = &r->access[i];
    count(r, i);
    a->exact = fit(r, (struct selection){.recovered = i}, samples, &a->formula, &a->varied);
    if (a->array < TRACE_SHARED || a->write || !decode) return;
    const struct selection decoded = {.recovered = i, .decode = decode, .source = a->source};
    if (a->source >= 0)
        a->source_exact = fit(r, decoded, samples, &a->source_formula, &a->source_varied);
}

/* --- all of it -------------------------------------------------------------------------------- */

static int by_line(const struct recovered *a, const struct recovered *b) {
    if (a->place.line != b->place.line) return a->place.line - b->place.line;
    if (a->write != b->write) return (int)a->write - (int)b->write;
    return a->array - b->array;
}

/* Moves the recovered accesses into the order of their lines. */
static void sort(struct recovery *r) {
    uint8_t now_at[RECOVERED + 1];
    int order[RECOVERED];
    struct recovered sorted[RECOVERED];
    for (int i = 0; i < r->count; i++) {
        int at = i;
        for (; at > 0 && by_line(&r->access[order[at - 1]], &r->access[i]) > 0; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    for (int i = 0; i < r->count; i++) {
        sorted[i] = r->access[order[i]];
        now_at[order[i]] = (uint8_t)i;
    }
    now_at[RECOVERED] = RECOVERED;
    memcpy(r->access, sorted, (size_t)r->count * sizeof *sorted);
    for (size_t i = 0; i < r->trace->count; i++) r->of[i] = now_at[r->of[i]];
}

bool recover(const struct trace *trace, value_decoder *decode, struct recovery *r) {
    *r = (struct recovery){.trace = trace};
    struct index_sample *samples = malloc((trace->count + 1) * sizeof *samples);
    r->of = malloc(trace->count + 1);
    const bool room = samples && r->of;
    if (room) {
        group_by_line(r, decode);
        sort(r);
    }
    for (int i = 0; i < r->count; i++) recover_one(r, i, decode, samples);
    free(samples);
    if (!room) recover_free(r);
    return room;
}

void recover_free(struct recovery *r) {
    free(r->of);
    r->of = NULL;
    r->count = 0;
}

/* --- words ------------------------------------------------------------------------------------ */

const char *recover_array_name(const struct recovery *r, int array) {
    if (array >= TRACE_SHARED) return trace_shared(r->trace, array)->name;
    const struct engine_array *of = region_array(array);
    return of ? of->name : "?";
}

bool recover_row_and_column(const struct trace_array *array, const struct index_formula *formula,
                            struct layout *layout) {
    if (array->dimensions != 2 || array->dimension[1] < 2) return false;
    const struct index_size columns = {"", (long long)array->dimension[1]};
    *layout = layout_of(formula, &columns, 1, 0);
    return true;
}

static bool write_row_and_column(char *text, size_t size, const struct trace_array *array,
                                 const struct index_formula *formula) {
    char row[160], col[160];
    struct layout l;
    if (!recover_row_and_column(array, formula, &l)) return false;
    index_write(row, sizeof row, &l.row, NULL, 0);
    index_write(col, sizeof col, &l.col, NULL, 0);
    append(text, size, "%s[%s][%s]", array->name, row, col);
    return true;
}

static void write_flat(char *text, size_t size, const char *name,
                       const struct index_formula *formula, const struct index_size *sizes,
                       size_t count) {
    char index[240];
    index_write(index, sizeof index, formula, sizes, count);
    append(text, size, "%s[%s]", name, index);
}

void recover_write(char *text, size_t size, const struct recovery *r, const struct recovered *a,
                   const struct index_size *sizes, size_t count) {
    const char *name = recover_array_name(r, a->array);
    const bool shared = a->array >= TRACE_SHARED;
    if (!a->exact)
        append(text, size, "%s[...]", name);
    else if (!shared ||
             !write_row_and_column(text, size, trace_shared(r->trace, a->array), &a->formula))
        write_flat(text, size, name, &a->formula, sizes, shared ? 0 : count);
}

void recover_write_source(char *text, size_t size, const struct recovery *r,
                          const struct recovered *a, const struct index_size *sizes, size_t count) {
    write_flat(text, size, recover_array_name(r, a->source), &a->source_formula, sizes, count);
}
