/* Index formulas of a trace's accesses: see index.h. */
#include "../../report/text/source.h"
#include "../../report/text/text.h"
#include "../../watch/shadow/shadow.h"
#include "index.h"
#include <math.h>
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

static struct sites {
    struct site site[CODES + 1]; /* the last one: for those without room */
    int count;
} sites;

static int find_site(const struct trace_access *a) {
    for (int i = 0; i < sites.count; i++) {
        const struct site *s = &sites.site[i];
        if (s->code == a->code && s->array == a->array && s->write == a->write &&
            s->elements == a->elements)
            return i;
    }
    if (sites.count == CODES) return CODES;
    sites.site[sites.count] =
        (struct site){a->code, a->array, a->elements, a->write, a->atomic, NO_SOURCE, RECOVERED};
    return sites.count++;
}

/* Which element of which array it is that a load of a shared array's element gets. */
static bool decoded(const struct trace *t, const struct trace_access *a, value_decoder *decode,
                    int *array, int64_t *offset) {
    double value;
    return element_value(trace_element(t, a->array), a->bytes, &value) &&
           decode(value, array, offset);
}

/* Zeros (behind an edge), and what was never stored, are elements of no array. */
static void add_source(struct site *site, const struct trace *t, const struct trace_access *a,
                       value_decoder *decode) {
    int array;
    int64_t offset;
    double value;
    if (!decode || site->write || site->array < TRACE_SHARED ||
        !element_value(trace_element(t, a->array), a->bytes, &value) || value == 0 || isnan(value))
        return;
    if (!decode(value, &array, &offset)) array = SEVERAL_SOURCES;
    if (site->source == NO_SOURCE) site->source = array;
    if (site->source != array) site->source = SEVERAL_SOURCES;
}

/* Which of the recovered accesses it is; its count: none yet. */
static int find_recovered(const struct recovery *r, const struct site *s,
                          const struct place *place) {
    int i = 0;
    while (i < r->count &&
           !(r->access[i].array == s->array && r->access[i].write == s->write &&
             r->access[i].elements == s->elements && r->access[i].atomic == s->atomic &&
             r->access[i].source == s->source && place_same_line(&r->access[i].place, place)))
        i++;
    return i;
}

/* By line; in one line as they come in the trace. */
static int by_line(const void *x, const void *y) {
    const struct recovered *a = x, *b = y;
    if (a->place.line != b->place.line) return a->place.line - b->place.line;
    if (a->write != b->write) return (int)a->write - (int)b->write;
    if (a->array != b->array) return a->array - b->array;
    return a->first < b->first ? -1 : 1;
}

/* Says of each access of the trace which recovered one it is. */
static void assign(struct recovery *r) {
    for (int i = 0; i < r->count; i++) r->access[i].count = r->access[i].first = 0;
    for (size_t i = 0; i < r->trace->count; i++) {
        r->of[i] = (uint8_t)sites.site[find_site(&r->trace->access[i])].recovered;
        if (r->of[i] < RECOVERED && !r->access[r->of[i]].count++) r->access[r->of[i]].first = i;
    }
}

/* `first` of a recovered access is its site until they are sorted. */
static void group_by_line(struct recovery *r, value_decoder *decode) {
    static struct place places[CODES];
    const struct trace *t = r->trace;
    sites.count = 0;
    sites.site[CODES] = (struct site){.recovered = RECOVERED};
    for (size_t i = 0; i < t->count; i++)
        add_source(&sites.site[find_site(&t->access[i])], t, &t->access[i], decode);
    for (int i = 0; i < sites.count; i++) {
        const struct site *s = &sites.site[i];
        places[i] = place_before(s->code);
        if (find_recovered(r, s, &places[i]) < r->count || r->count == RECOVERED) continue;
        r->access[r->count++] = (struct recovered){.place = places[i],
                                                   .array = s->array,
                                                   .write = s->write,
                                                   .atomic = s->atomic,
                                                   .elements = s->elements,
                                                   .source = s->source,
                                                   .first = (size_t)i};
    }
    qsort(r->access, (size_t)r->count, sizeof *r->access, by_line);
    for (int i = 0; i < sites.count; i++) {
        const int found = find_recovered(r, &sites.site[i], &places[i]);
        sites.site[i].recovered = found < r->count ? found : RECOVERED;
    }
    assign(r);
}

/* --- steps ------------------------------------------------------------------------------------ */

/* A thread at a recovered access: block + 1, so that 0 is none yet; how often since the barrier. */
struct visits {
    uint32_t interval;
    int block, count;
};

/* Steps of all accesses; and of each recovered one, what its first block does: phases, steps,
 * threads. */
static void find_steps(struct recovery *r) {
    static struct visits visits[RECOVERED][MAX_BLOCK_THREADS];
    const struct trace *t = r->trace;
    uint32_t last[RECOVERED];
    memset(last, 0xFF, sizeof last);
    memset(visits, 0, sizeof visits);
    for (size_t i = 0; i < t->count; i++) {
        const struct trace_access *a = &t->access[i];
        if (r->of[i] == RECOVERED) continue;
        struct recovered *made = &r->access[r->of[i]];
        struct visits *v = &visits[r->of[i]][a->thread];
        const bool in_first = a->block == t->access[made->first].block;
        made->phases += in_first && a->interval != last[r->of[i]];
        made->threads += in_first && !v->block;
        last[r->of[i]] = a->interval;
        if (v->block != a->block + 1 || v->interval != a->interval)
            *v = (struct visits){a->interval, a->block + 1, 0};
        r->step[i] = v->count++;
        if (in_first && v->count > made->steps) made->steps = v->count;
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

void recover_sample(const struct recovery *r, size_t access, struct index_sample *to) {
    const struct trace_access *a = &r->trace->access[access];
    to->offset = a->offset;
    recover_values(r->trace, a->block, a->thread, (int)a->interval, r->step[access], to->value);
}

/* Accesses of a recovered one become samples: of the offset, or with a decoder, of where the value
 * is from. */
static size_t select_samples(const struct recovery *r, int recovered, value_decoder *decode,
                             bool inner_blocks, struct index_sample *samples) {
    const struct trace *t = r->trace;
    size_t count = 0;
    for (size_t i = r->access[recovered].first; i < t->count; i++) {
        int array = -1;
        int64_t offset = 0;
        const unsigned *block = t->blocks[t->access[i].block];
        const bool inner =
            (!block[0] || block[0] != t->grid[0] - 1) && (!block[1] || block[1] != t->grid[1] - 1);
        if (r->of[i] != recovered || (inner_blocks && !inner)) continue;
        if (decode && (!decoded(t, &t->access[i], decode, &array, &offset) ||
                       array != r->access[recovered].source))
            continue;
        recover_sample(r, i, &samples[count]);
        if (decode) samples[count].offset = offset;
        count++;
    }
    return count;
}

/* Whether the samples show what a blockIdx does in the formula, for blocks in between, too. With /
 * or % that takes all its values: three fit some such formula nearly always. A factor takes three,
 * or all but the last; or two, if others make no such access and the grid is no row of blocks,
 * where row and column are divided out of one. */
static bool is_shown(const struct recovery *r, enum index_variable v,
                     const struct index_sample *samples, size_t count,
                     const struct index_formula *formula, bool inner_blocks) {
    const unsigned *grid = r->trace->grid;
    const int end = (int)grid[v - INDEX_BLOCK_X] - 1;
    const bool row = grid[0] * grid[1] * grid[2] == (unsigned)end + 1;
    bool seen[TRACE_WHOLE] = {false}, last = false;
    int values = 0; /* but for the last */
    for (size_t i = 0; i < count; i++) {
        const int value = samples[i].value[v];
        last |= value == end;
        if (value == end || value >= TRACE_WHOLE) continue;
        values += !seen[value];
        seen[value] = true;
    }
    if (values + last < 2) return true; /* it has no term */
    if (part_has_digits(formula, 1u << v)) return values == end && last;
    return values == end || (values > 1 && last) || (!row && !inner_blocks);
}

/* Guards leave out some accesses of the blocks at the grid's end, so that steps count otherwise
 * there: then the other blocks alone decide. */
static bool fit(const struct recovery *r, int recovered, value_decoder *decode,
                struct index_sample *samples, struct index_formula *formula, unsigned *varied) {
    for (int inner_blocks = 0; inner_blocks < 2; inner_blocks++) {
        const size_t count = select_samples(r, recovered, decode, inner_blocks, samples);
        bool found = count && index_fit(samples, count, formula);
        for (int v = INDEX_BLOCK_X; v <= INDEX_BLOCK_Z; v++)
            found =
                found && is_shown(r, (enum index_variable)v, samples, count, formula, inner_blocks);
        if (!found) continue;
        for (size_t i = 1; i < count; i++)
            for (int v = 0; v < INDEX_VARIABLES; v++)
                *varied |= (unsigned)(samples[i].value[v] != samples[0].value[v]) << v;
        return true;
    }
    return false;
}

/* --- what depends on values ------------------------------------------------------------------- */

static struct {
    const struct trace *launch; /* null: none was asked for */
    int count;
} beside;

void recover_beside(const struct trace *launches, int count) {
    beside.launch = launches;
    beside.count = count;
}

static const struct trace *trace_beside(const struct trace *trace) {
    static const struct trace none;
    for (int i = 0; i < beside.count; i++)
        if (beside.launch[i].launch == trace->launch) return &beside.launch[i];
    return &none;
}

/* Whether a formula holds for a recovered access of this recovery, which has some. */
static bool holds(const struct recovery *r, int recovered, const struct index_formula *formula,
                  struct index_sample *samples) {
    bool held = false;
    for (int inner_blocks = 0; inner_blocks < 2 && !held; inner_blocks++) {
        const size_t count = select_samples(r, recovered, NULL, inner_blocks, samples);
        size_t i = 0;
        while (i < count && index_offset(formula, samples[i].value) == samples[i].offset) i++;
        held = count && i == count;
    }
    return held;
}

/* Takes the formulas away that do not hold in the other run; and what was found in shared memory
 * that such an access has filled, or of arrays that were loaded by one. */
static void drop_refuted(struct recovery *r, struct recovery *other, struct index_sample *samples) {
    unsigned refuted = 0;
    assign(other);
    find_steps(other);
    for (int i = 0; i < r->count; i++) {
        struct recovered *a = &r->access[i];
        if (!a->exact || holds(other, i, &a->formula, samples)) continue;
        a->exact = false;
        refuted |= 1u << a->array;
    }
    for (int i = 0; i < r->count; i++) {
        struct recovered *a = &r->access[i];
        if (a->source_exact && (refuted >> a->source & 1 || refuted >> a->array & 1))
            a->source_exact = false;
    }
}

/* False: out of memory. */
static bool compare(struct recovery *r) {
    static struct recovery other;
    other = *r;
    other.trace = trace_beside(r->trace);
    struct index_sample *samples = malloc((other.trace->count + 1) * sizeof *samples);
    other.of = malloc(other.trace->count + 1);
    other.step = malloc((other.trace->count + 1) * sizeof *other.step);
    const bool room = samples && other.of && other.step;
    if (room) drop_refuted(r, &other, samples);
    free(samples);
    recover_free(&other);
    return room;
}

/* --- all of it -------------------------------------------------------------------------------- */

bool recover(const struct trace *trace, value_decoder *decode, struct recovery *r) {
    *r = (struct recovery){.trace = trace};
    struct index_sample *samples = malloc((trace->count + 1) * sizeof *samples);
    r->of = malloc(trace->count + 1);
    r->step = malloc((trace->count + 1) * sizeof *r->step);
    bool room = samples && r->of && r->step;
    if (room) {
        group_by_line(r, decode);
        find_steps(r);
    }
    for (int i = 0; i < r->count; i++) {
        struct recovered *a = &r->access[i];
        a->exact = fit(r, i, NULL, samples, &a->formula, &a->varied);
        a->source_exact =
            a->source >= 0 && fit(r, i, decode, samples, &a->source_formula, &a->source_varied);
    }
    free(samples);
    room = room && (!beside.launch || compare(r));
    if (!room) recover_free(r);
    return room;
}

void recover_free(struct recovery *r) {
    free(r->of);
    free(r->step);
    *r = (struct recovery){.trace = NULL};
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
    struct layout l;
    if (!a->exact) {
        append(text, size, "%s[...]", name);
    } else if (shared &&
               recover_row_and_column(trace_shared(r->trace, a->array), &a->formula, &l)) {
        char row[160], col[160];
        index_write(row, sizeof row, &l.row, NULL, 0);
        index_write(col, sizeof col, &l.col, NULL, 0);
        append(text, size, "%s[%s][%s]", name, row, col);
    } else {
        write_flat(text, size, name, &a->formula, sizes, shared ? 0 : count);
    }
}

void recover_write_source(char *text, size_t size, const struct recovery *r,
                          const struct recovered *a, const struct index_size *sizes, size_t count) {
    write_flat(text, size, recover_array_name(r, a->source), &a->source_formula, sizes, count);
}
