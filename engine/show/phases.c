/* The phases of one block, as a student follows them by hand. */
#include "../report/text/numbers.h"
#include "../report/text/text.h"
#include "../report/words/vocabulary.h"
#include "../watch/shadow/shadow.h"
#include "show.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    WHOLE = 8,  /* rows and columns of what is printed whole */
    FIRST = 3,  /* rows and columns of what is not, before the dots and the last one */
    MARGIN = 4, /* left of a table */
    TABLES = 16 /* side by side, at most */
};

/* What is printed about. */
struct story {
    const struct phases *phases;
    const struct array_data *data;
    const struct array_sum *sum; /* no terms: none is shown */
};

static bool is_input(int array) {
    return region_array(array) && region_array(array)->role == ROLE_INPUT;
}

static bool is_output(int array) { return region_array(array) && !is_input(array); }

/* All indices but the last one, taken together; and the last one. */
static int rows_of_array(int array) { return (int)array_rows(region_array(array)); }
static int columns_of_array(int array) { return (int)array_columns(region_array(array)); }

/* --- ranges: "0-3, 8" ------------------------------------------------------------------------- */

/* The indices below `count` that are set, as ranges. */
struct ranges {
    char text[120];
};

static struct ranges ranges_of(const bool *set, int count) {
    struct ranges r = {""};
    for (int i = 0; i < count; i++) {
        const int first = i;
        if (!set[i]) continue;
        while (i + 1 < count && set[i + 1]) i++;
        if (strlen(r.text) > sizeof r.text - 40) {
            APPEND(r.text, ", ...");
            break;
        }
        APPEND(r.text, i > first ? "%s%d-%d" : "%s%d", r.text[0] ? ", " : "", first, i);
    }
    return r;
}

/* The rows and columns of an array that the phase loads from. The caller frees `rows`, of which
 * `cols` is a part. */
struct loaded {
    bool *rows, *cols;
    int row_count, col_count;
    size_t loads;
};

static struct loaded loaded_of(const struct phase *phase, int array) {
    struct loaded l = {.row_count = rows_of_array(array), .col_count = columns_of_array(array)};
    l.rows = calloc((size_t)l.row_count + (size_t)l.col_count, sizeof(bool));
    if (!l.rows) abort();
    l.cols = l.rows + l.row_count;
    for (size_t i = 0; i < phase->load_count; i++) {
        const struct phase_load *load = &phase->loads[i];
        if (load->array != array) continue;
        l.rows[load->element / (size_t)l.col_count] = true;
        l.cols[load->element % (size_t)l.col_count] = true;
        l.loads++;
    }
    return l;
}

/* --- values ----------------------------------------------------------------------------------- */

static double array_value(const struct story *s, int array, size_t element) {
    const struct engine_array *of = region_array(array);
    double value = 0;
    element_value(of->element, (const char *)s->data->of[array] + element * array_element_bytes(of),
                  &value);
    return value;
}

/* Whether no thread has stored it: it holds poison. Of elements of less than a word that is known
 * while their word is whole. */
static bool is_unwritten(const struct phase_array *array, size_t element) {
    const uint32_t poison = POISON_SHARED;
    const size_t size = element_type_bytes(array->element), end = (element + 1) * size;
    size_t at = element * size / sizeof poison * sizeof poison;
    while (at < end && at + sizeof poison <= array->size &&
           memcmp(array->bytes + at, &poison, sizeof poison) == 0)
        at += sizeof poison;
    return at >= end;
}

/* False: an element of no known type. */
static bool shared_value(const struct phase_array *array, size_t element, double *value) {
    const size_t size = element_type_bytes(array->element);
    return element_value(array->element, array->bytes + element * size, value);
}

/* The element that this factor of a term is, by its number. */
static size_t factor_of(const struct array_sum *sum, int factor, const int64_t *at, int64_t term) {
    const struct engine_array *array = region_array(sum->factor[factor].array);
    int64_t element = 0;
    for (int i = 0; i < array->dimensions; i++) {
        const int axis = sum->factor[factor].index[i];
        element += (axis == SUM_TERM ? term : at[axis]) * array_stride(array, i);
    }
    return (size_t)element;
}

/* What the term adds to the output's element with this index; 0: not all of its factors have been
 * loaded until that phase (0: loaded or not). */
static double term_of(const struct story *s, const int64_t *at, int64_t term, int phase) {
    double product = 1;
    for (int f = 0; f < s->sum->factors; f++) {
        const int array = s->sum->factor[f].array;
        const size_t element = factor_of(s->sum, f, at, term);
        const int first = s->phases->first[array][element];
        if (phase && (!first || first > phase)) return 0;
        product *= array_value(s, array, element);
    }
    return product;
}

/* What an element of the output, by its number, amounts to after this phase: registers cannot be
 * seen, so it is made of the terms whose factors the block has all loaded. */
static double sum_so_far(const struct story *s, size_t element, int phase) {
    int64_t at[ENGINE_DIMENSIONS];
    double sum = 0;
    array_index(region_array(s->sum->output), (int64_t)element, at);
    for (int64_t term = 0; term < s->sum->terms; term++) sum += term_of(s, at, term, phase);
    return sum;
}

/* --- what is shown in rows and columns -------------------------------------------------------- */

struct shown {
    const struct story *story;
    const char *title;
    const struct phase_array *shared; /* null: of this array of the run, what is in `box` */
    int array;
    struct box box;
    int columns; /* of the array */
    int phase; /* after which an output's elements amount to something; 0: as they are in the end */
    bool filled; /* of the part of an output: the block stored all of it */
};

static int rows_of(const struct shown *c) { return c->box.row_last - c->box.row_first + 1; }
static int columns_of(const struct shown *c) { return c->box.col_last - c->box.col_first + 1; }

static size_t element_at(const struct shown *c, int i, int j) {
    return (size_t)(c->box.row_first + i) * (size_t)c->columns + (size_t)(c->box.col_first + j);
}

/* The last dimension is across; the others, taken together, are down. */
static struct shown shared_shown(const struct story *s, const struct phase_array *shared) {
    const int columns = (int)shared->dimension[shared->dimensions - 1];
    const struct box all = {0, (int)shared->count / columns - 1, 0, columns - 1};
    return (struct shown){
        .story = s, .title = shared->name, .shared = shared, .box = all, .columns = columns};
}

/* An input, or the smallest rectangle around what the block stored of an output. */
static struct shown array_shown(const struct story *s, int array, int phase) {
    const int rows = rows_of_array(array), columns = columns_of_array(array);
    const bool *const stored = s->phases->stored[array];
    struct box box = empty_box();
    uint64_t count = 0;
    for (int i = 0; i < rows * columns; i++) {
        if (stored && !stored[i]) continue;
        box_add(&box, i / columns, i % columns);
        count++;
    }
    return (struct shown){.story = s,
                          .title = phase ? "sums so far" : region_array(array)->name,
                          .array = array,
                          .box = box,
                          .columns = columns,
                          .phase = phase,
                          .filled = count && count == box_elements(&box)};
}

/* False: nothing is there that is known. */
static bool cell_value(const struct shown *c, int i, int j, double *value) {
    const size_t element = element_at(c, i, j);
    const struct story *s = c->story;
    if (c->shared)
        return !is_unwritten(c->shared, element) && shared_value(c->shared, element, value);
    const bool *const stored = s->phases->stored[c->array];
    if (stored && !stored[element]) return false;
    if (!c->phase && !s->data->of[c->array]) return false;
    *value = c->phase ? sum_so_far(s, element, c->phase) : array_value(s, c->array, element);
    return true;
}

/* --- tables, side by side --------------------------------------------------------------------- */

/* Its title, and a line for each row that is printed; the longest is so wide. */
struct table {
    char line[WHOLE + 1][160];
    int lines, width;
};

/* The rows (or columns) that are printed, and how many: up to `most` all of them; of more the first
 * ones, dots (-1) and the last. */
static int list_printed(int count, int most, int index[WHOLE]) {
    const int printed = count <= most ? count : FIRST + 2;
    for (int i = 0; i < printed; i++)
        index[i] = count <= most || i < FIRST ? i : i == FIRST ? -1 : count - 1;
    return printed;
}

static struct table table_with(const struct shown *c, int most) {
    const int rows = rows_of(c), cols = columns_of(c);
    int row[WHOLE], col[WHOLE], width = 0;
    const int lines = list_printed(rows, most, row), words = list_printed(cols, most, col);
    struct table t = {.lines = lines + 1};
    char word[WHOLE][WHOLE][16]; /* so that a place that holds nothing can say so */
    for (int i = 0; i < lines; i++)
        for (int j = 0; j < words; j++) {
            double value;
            if (row[i] < 0 || col[j] < 0)
                strcpy(word[i][j], "...");
            else if (!cell_value(c, row[i], col[j], &value))
                strcpy(word[i][j], "-");
            else
                snprintf(word[i][j], 16, value == rint(value) ? "%.9g" : "%.5g", value);
            width = max_int(width, (int)strlen(word[i][j]) + 2);
        }
    APPEND(t.line[0], "%s", c->title);
    if (rows == 1 && words < cols) APPEND(t.line[0], " (%d elements)", cols);
    if (rows > 1 && (lines < rows || words < cols)) APPEND(t.line[0], " (%d x %d)", rows, cols);
    for (int i = 0; i < lines; i++)
        for (int j = 0; j < words; j++) APPEND(t.line[i + 1], "%*s", width, word[i][j]);
    t.width = max_int((int)strlen(t.line[0]), words * width);
    return t;
}

/* As many beside each other as fit; whole, if they are no larger than is easily read. */
static void print_tables(FILE *out, const struct shown *shown, int count) {
    struct table tables[TABLES];
    const int room = text_width(out);
    for (int i = 0; i < count; i++) {
        tables[i] = table_with(&shown[i], WHOLE);
        if (MARGIN + tables[i].width > room) tables[i] = table_with(&shown[i], FIRST + 1);
    }
    for (int first = 0, end = 0; first < count; first = end) {
        int width = 0, lines = 0;
        do {
            width += MARGIN + tables[end].width;
            lines = max_int(lines, tables[end].lines);
            end++;
        } while (end < count && width + MARGIN + tables[end].width <= room);
        for (int line = 0; line < lines; line++) {
            for (int i = first; i < end; i++)
                fprintf(out, "%*s%-*s", MARGIN, "", i + 1 < end ? tables[i].width : 0,
                        tables[i].line[line]);
            fputc('\n', out);
        }
    }
}

/* --- phases ----------------------------------------------------------------------------------- */

static void print_loaded(FILE *out, const struct phase *phase, int number) {
    const struct engine_array *array = region_array(number);
    const struct loaded l = loaded_of(phase, number);
    char words[400] = "";
    APPEND(words, "%s: ", array->name);
    if (array->dimensions > 1)
        APPEND(words, "rows %s, columns ", ranges_of(l.rows, l.row_count).text);
    else
        APPEND(words, "elements ");
    APPEND(words, "%s: %zu load%s", ranges_of(l.cols, l.col_count).text, l.loads, plural(l.loads));
    if (l.loads) print_paragraph("    ", "", words, out);
    free(l.rows);
}

static void print_phase(FILE *out, const struct story *s, int number) {
    const struct phase *phase = &s->phases->phases[number - 1];
    const int count = min_int(phase->array_count, TABLES);
    struct shown shown[TABLES];
    fprintf(out, "\nphase %d of %d\n", number - 1, s->phases->count);
    for (int i = 0; i < ENGINE_ARRAYS; i++)
        if (is_input(i)) print_loaded(out, phase, i);
    for (int i = 0; i < count; i++) shown[i] = shared_shown(s, &phase->arrays[i]);
    if (!count) fputs("    nothing is stored in shared memory\n", out);
    print_tables(out, shown, count);
    if (!s->sum->terms) return;
    const struct shown sums = array_shown(s, s->sum->output, number);
    if (sums.box.row_last >= 0) print_tables(out, &sums, 1);
}

/* The first element of the part: C[0][0] = 1*1 + 2*5 + 3*9 + 4*13 = 90 */
static void print_element(FILE *out, const struct shown *part) {
    const struct story *s = part->story;
    const struct engine_array *array = region_array(part->array);
    int64_t at[ENGINE_DIMENSIONS];
    double all = 0;
    char words[400] = "";
    array_index(array, (int64_t)element_at(part, 0, 0), at);
    APPEND(words, "%s", array->name);
    for (int i = 0; i < array->dimensions; i++) APPEND(words, "[%" PRId64 "]", at[i]);
    for (int64_t term = 0; term < s->sum->terms; term++) {
        APPEND(words, term ? " + " : " = ");
        for (int f = 0; f < s->sum->factors; f++)
            APPEND(words, f ? "*%.5g" : "%.5g",
                   array_value(s, s->sum->factor[f].array, factor_of(s->sum, f, at, term)));
        all += term_of(s, at, term, 0);
    }
    APPEND(words, " = %.6g", all);
    print_paragraph("    ", "", words, out);
}

static void print_stored(FILE *out, const struct story *s, int array) {
    const char *name = region_array(array)->name;
    const struct shown part = array_shown(s, array, 0);
    const struct box *box = &part.box;
    if (box->row_last < 0) {
        fprintf(out, "\nthe block stores nothing in %s\n", name);
        return;
    }
    fprintf(out, "\n%s: the block stores %s", name, part.filled ? "" : "within ");
    if (region_array(array)->dimensions > 1)
        fprintf(out, "rows %d to %d, columns ", box->row_first, box->row_last);
    else
        fputs("elements ", out);
    fprintf(out, "%d to %d\n", box->col_first, box->col_last);
    if (s->data->of[array]) print_tables(out, &part, 1);
    if (array == s->sum->output && s->sum->terms && s->sum->terms <= WHOLE / 2)
        print_element(out, &part);
}

void print_phases(FILE *out, const struct phases *phases, const struct array_data *data,
                  const struct array_sum *sum, struct shape shape) {
    const struct story s = {phases, data, sum};
    struct shown inputs[ENGINE_ARRAYS];
    int count = 0;
    char names[200] = "", words[400] = ""; /* names: "A or B" */
    for (int i = 0; i < ENGINE_ARRAYS; i++) {
        if (!is_input(i)) continue;
        APPEND(names, "%s%s", names[0] ? " or " : "", region_array(i)->name);
        if (phases && data->of[i]) inputs[count++] = array_shown(&s, i, 0);
    }
    fputc('\n', out);
    if (!phases) {
        APPEND(words, "No %ss: that block loads nothing of %s.", vocabulary()->phase, names);
        print_paragraph("", "", words, out);
        return;
    }
    APPEND(words, "block (%u,%u) of %s, ", phases->block[0], phases->block[1], phases->kernel);
    if (phases->many > 1)
        APPEND(words, "launch %" PRIu64 " of %" PRIu64 ", ", phases->number, phases->many);
    APPEND(words, "%u x %u threads, %s", phases->block_size[0], phases->block_size[1],
           lab_shape_text(&lab, &shape).of);
    print_paragraph("", "", words, out);
    words[0] = '\0';
    APPEND(words, "A phase reaches from one __syncthreads() to the next and loads from %s.", names);
    print_paragraph("", "", words, out);
    if (sum->terms)
        print_paragraph(
            "", "",
            "\"Sums so far\" is worked out from what has been loaded, because a thread's "
            "own variables cannot be seen from outside.",
            out);
    fputc('\n', out);
    print_tables(out, inputs, count);
    for (int i = 1; i <= phases->count; i++) print_phase(out, &s, i);
    for (int i = 0; i < ENGINE_ARRAYS; i++)
        if (is_output(i)) print_stored(out, &s, i);
}
