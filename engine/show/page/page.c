/* The walkthrough's page, which page.sh has made, with the data in its place; which block it shows,
 * and which accesses a finding is about. */
#include "../../report/element_type.h"
#include "../../report/text/numbers.h"
#include "../../watch/shadow/shadow.h"
#include "walk.h"
#include <string.h>

extern const char walk_page_text[];

bool walk_page(FILE *out, FILE *data, FILE *indices) {
    static const char mark[] = "@DATA@";
    const char *place = strstr(walk_page_text, mark);
    fwrite(walk_page_text, 1, (size_t)(place - walk_page_text), out);
    /* In JSON a < is within a string: written like this, no text can end the script element. */
    for (int i = 0, c; i < 2; i++) {
        FILE *in = i ? indices : data;
        rewind(in);
        while ((c = getc(in)) != EOF)
            if (c == '<')
                fputs("\\u003c", out);
            else
                putc(c, out);
    }
    fputc('}', out);
    fputs(place + strlen(mark), out);
    return !ferror(out) && fflush(out) == 0;
}

/* --- the block that should have stored the element that is missing or wrong ------------------- */

/* Which of so many blocks in a row or a column holds this index of the output, if the part of it
 * that the block with the number `from` stores, first to last, is as large as those of others. */
static unsigned block_of(long from, int first, int last, long index, unsigned blocks) {
    const long size = last - first + 1, apart = index - first;
    const long block = from + (apart >= 0 ? apart / size : -((-apart + size - 1) / size));
    return (unsigned)(block < 0 ? 0 : block >= (long)blocks ? (long)blocks - 1 : block);
}

/* Around what the block has stored of the output. */
static struct box stored_part(const struct trace *t, int output) {
    const int64_t n = array_columns(region_array(output));
    struct box part = empty_box();
    for (size_t i = 0; i < t->count; i++) {
        const struct trace_access *a = &t->access[i];
        if (a->array == output && a->write && a->offset >= 0)
            box_add(&part, (int)(a->offset / n), (int)(a->offset % n));
    }
    return part;
}

/* The first element of the output that nobody has stored, or else that is wrong; -1: neither. */
static long find_element(const struct array_data *data, const struct lab_case *which, int output) {
    const struct engine_array *array = region_array(output);
    const char *values = data->of[output];
    const size_t count = values ? array_elements(array) : 0, size = array_element_bytes(array);
    struct wrong_element wrong;
    for (size_t i = 0; i < count; i++)
        if (poison_is_at(values + i * size, size)) return (long)i;
    if (!count || !truth_wrong(which, data->of, 1, &wrong)) return -1;
    return wrong.row * (long)array_columns(array) + wrong.col;
}

void walk_wanted(const struct trace *trace, const struct finding *f, const struct lab_case *which,
                 const struct array_data *data, unsigned block[3]) {
    const int output = lab_first_output(&lab);
    if (f->at.in_kernel) {
        memcpy(block, (unsigned[]){f->at.block.x, f->at.block.y, f->at.block.z}, 3 * sizeof *block);
        return;
    }
    if (f->kind != FINDING_UNWRITTEN && f->kind != FINDING_WRONG_RESULT) return;
    if (!trace->block_count) return;
    const unsigned *shown = trace->blocks[0], *grid = trace->grid;
    const struct box part = stored_part(trace, output);
    const long element = find_element(data, which, output),
               n = (long)array_columns(region_array(output));
    if (element < 0 || part.row_last < 0) return;
    block[0] = block_of(shown[0], part.col_first, part.col_last, element % n, grid[0]);
    block[1] = block_of(shown[1], part.row_first, part.row_last, element / n, grid[1]);
}

/* --- the accesses that a finding is about ----------------------------------------------------- */

/* Whether it is a thread of the block that is shown, in the party's line. */
static bool is_by(const struct trace *t, const struct trace_access *a,
                  const struct finding_party *party) {
    const struct finding_index thread = party->thread, block = party->block;
    const unsigned *shown = t->blocks[0];
    return party->known && party->in_kernel && block.x == shown[0] && block.y == shown[1] &&
           block.z == shown[2] &&
           a->thread == thread.x + t->block[0] * (thread.y + t->block[1] * thread.z) &&
           a->write == (party->access == FINDING_WRITE) && walk_line(a->code) == party->line;
}

static bool is_of_object(const struct trace *t, const struct trace_access *a,
                         const struct finding_object *o) {
    const bool global = a->array < TRACE_SHARED;
    if (a->offset < 0 || o->form != (global ? OBJECT_ARRAY : OBJECT_ELEMENT)) return false;
    if (global) {
        const struct engine_array *array = region_array(a->array);
        int64_t index[ENGINE_DIMENSIONS] = {0};
        array_index(array, a->offset, index);
        return strcmp(o->name, array->name) == 0 && memcmp(o->index, index, sizeof index) == 0;
    }
    const struct trace_array *array = trace_shared(t, a->array);
    const int dimensions = max_int(array->dimensions, 1);
    size_t index[NAME_DIMENSIONS];
    bool same = strcmp(o->name, array->name) == 0 && o->dimensions == dimensions;
    name_indices(index, array->dimension, dimensions, (size_t)a->offset);
    for (int i = 0; i < dimensions && same; i++) same = (int64_t)index[i] == o->index[i];
    return same;
}

/* The party's first access of the element; where that has another name in the trace, or none, the
 * party's last access at its line. */
static size_t find_party(const struct trace *t, const struct finding *f,
                         const struct finding_party *party) {
    size_t last = t->count;
    for (size_t i = 0; i < t->count; i++) {
        if (!is_by(t, &t->access[i], party)) continue;
        last = i;
        if (is_of_object(t, &t->access[i], &f->object)) break;
    }
    return last;
}

/* The two threads race only where no barrier is between: earlier phases have accesses by the same
 * threads to the same element, in the same lines. */
static bool find_race(const struct trace *t, const struct finding *f, struct walk_parties *found) {
    for (size_t i = 0; i < t->count; i++) {
        const struct trace_access *at = &t->access[i];
        if (!is_by(t, at, &f->at) || !is_of_object(t, at, &f->object)) continue;
        for (size_t j = 0; j < t->count; j++) {
            const struct trace_access *other = &t->access[j];
            if (other->interval != at->interval || !is_by(t, other, &f->other)) continue;
            if (!is_of_object(t, other, &f->object)) continue;
            *found = (struct walk_parties){i, j};
            return true;
        }
    }
    return false;
}

struct walk_parties walk_find_parties(const struct trace *t, const struct finding *f) {
    struct walk_parties found;
    if (f->kind == FINDING_SHARED_RACE && find_race(t, f, &found)) return found;
    return (struct walk_parties){find_party(t, f, &f->at), find_party(t, f, &f->other)};
}
