/* The tile phases of one block, as a student follows them by hand, and as JSON. */
#include "../../support.h"
#include "../host/check.h"
#include "../report/json.h"
#include "../report/numbers.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    WHOLE = 8,  /* rows and columns of what is printed whole */
    FIRST = 3,  /* rows and columns of what is not, before the dots and the last one */
    WIDTH = 78, /* of the lines */
    TABLES = 16 /* side by side, at most */
};

/* What is printed about. */
struct story {
    const struct phases *phases;
    const struct product_data *data;
    int m, n, k;
};

/* --- ranges: "0-3, 8" ------------------------------------------------------------------------- */

struct ranges {
    char text[120];
};

/* The indices below `count` that are set, as ranges. */
static struct ranges ranges_of(const bool *set, int count) {
    struct ranges r = {""};
    size_t used = 0;
    for (int i = 0; i < count; i++) {
        if (!set[i]) continue;
        int last = i;
        while (last + 1 < count && set[last + 1]) last++;
        const char *comma = used ? ", " : "";
        if (used > sizeof r.text - 40) {
            snprintf(r.text + used, sizeof r.text - used, ", ...");
            break;
        }
        used += (size_t)snprintf(r.text + used, sizeof r.text - used, last > i ? "%s%d-%d" : "%s%d",
                                 comma, i, last);
        i = last;
    }
    return r;
}

/* The rows and columns of a matrix that the phase loads from. */
struct loaded {
    bool *rows, *cols;
    int row_count, col_count;
    size_t loads;
};

static struct loaded loaded_of(const struct phase *phase, int matrix, int rows, int cols) {
    struct loaded l = {.rows = calloc((size_t)rows, sizeof(bool)),
                       .cols = calloc((size_t)cols, sizeof(bool)),
                       .row_count = rows,
                       .col_count = cols};
    if (!l.rows || !l.cols) abort();
    for (size_t i = 0; i < phase->load_count; i++) {
        const struct phase_load *load = &phase->loads[i];
        if (load->matrix != matrix) continue;
        l.rows[load->row] = l.cols[load->col] = true;
        l.loads++;
    }
    return l;
}

static void loaded_free(struct loaded *l) {
    free(l->rows);
    free(l->cols);
}

/* --- sums ------------------------------------------------------------------------------------- */

/* What element (i, j) of C amounts to after phase number `phase`: registers cannot be seen, so it
 * is made of the products whose two factors the block has loaded. */
static double partial_sum(const struct story *s, int i, int j, int phase) {
    double sum = 0;
    for (int p = 0; p < s->k; p++) {
        size_t a = (size_t)i * (size_t)s->k + (size_t)p, b = (size_t)p * (size_t)s->n + (size_t)j;
        int first_a = s->phases->first[MATRIX_A][a], first_b = s->phases->first[MATRIX_B][b];
        if (first_a && first_a <= phase && first_b && first_b <= phase)
            sum += (double)s->data->A[a] * (double)s->data->B[b];
    }
    return sum;
}

static bool is_stored(const struct story *s, int i, int j) {
    return s->phases->stored[(size_t)i * (size_t)s->n + (size_t)j];
}

/* The smallest rectangle around what the block stored of C. */
static struct box stored_box(const struct story *s) {
    struct box box = {s->m, -1, s->n, -1};
    for (int i = 0; i < s->m; i++)
        for (int j = 0; j < s->n; j++) {
            if (!is_stored(s, i, j)) continue;
            box.row_first = min_int(box.row_first, i);
            box.row_last = max_int(box.row_last, i);
            box.col_first = min_int(box.col_first, j);
            box.col_last = max_int(box.col_last, j);
        }
    return box;
}

/* --- tables, side by side --------------------------------------------------------------------- */

/* Cells are words, so that a place that holds nothing can say so. */
struct table {
    char title[80];
    int rows, cols, width; /* that are printed; of a column */
    char cells[WHOLE][WHOLE][16];
};

/* Of up to WHOLE rows (or columns) all are printed, of more the first ones and the last. */
static int printed(int count) { return count <= WHOLE ? count : FIRST + 2; }

/* The row that is printed as number i; -1: the dots for those that are left out. */
static int printed_index(int count, int i) {
    if (count <= WHOLE || i < FIRST) return i;
    return i == FIRST ? -1 : count - 1;
}

/* The value in row i, column j; false: there is none. */
typedef bool cell_value(const void *context, int i, int j, double *value);

static void set_cell(struct table *t, int row, int col, const char *word) {
    snprintf(t->cells[row][col], sizeof t->cells[0][0], "%s", word);
    t->width = max_int(t->width, (int)strlen(word) + 2);
}

static struct table table_of(const char *title, int rows, int cols, cell_value *get,
                             const void *context) {
    struct table t = {.rows = printed(rows), .cols = printed(cols)};
    snprintf(t.title, sizeof t.title, rows <= WHOLE && cols <= WHOLE ? "%s" : "%s (%d x %d)", title,
             rows, cols);
    for (int row = 0; row < t.rows; row++)
        for (int col = 0; col < t.cols; col++) {
            int i = printed_index(rows, row), j = printed_index(cols, col);
            char word[16] = "...";
            double value;
            if (i >= 0 && j >= 0 && get(context, i, j, &value))
                snprintf(word, sizeof word, value == rint(value) ? "%.9g" : "%.5g", value);
            else if (i >= 0 && j >= 0)
                strcpy(word, "-");
            set_cell(&t, row, col, word);
        }
    return t;
}

static int table_width(const struct table *t) {
    return max_int((int)strlen(t->title), t->cols * t->width);
}

static void print_table_line(FILE *out, const struct table *t, int line, bool last) {
    int used = 0;
    if (line == 0)
        used = fprintf(out, "%s", t->title);
    else
        for (int col = 0; line <= t->rows && col < t->cols; col++)
            used += fprintf(out, "%*s", t->width, t->cells[line - 1][col]);
    if (!last) fprintf(out, "%*s", table_width(t) - used, "");
}

/* As many beside each other as fit. */
static void print_tables(FILE *out, const struct table *tables, int count) {
    while (count > 0) {
        int fit = 1, width = 4 + table_width(&tables[0]), rows = tables[0].rows;
        for (; fit < count && width + 4 + table_width(&tables[fit]) <= WIDTH; fit++) {
            width += 4 + table_width(&tables[fit]);
            rows = max_int(rows, tables[fit].rows);
        }
        for (int line = 0; line <= rows; line++) {
            for (int i = 0; i < fit; i++) {
                fputs("    ", out);
                print_table_line(out, &tables[i], line, i == fit - 1);
            }
            fputc('\n', out);
        }
        tables += fit;
        count -= fit;
    }
}

/* --- what the tables hold --------------------------------------------------------------------- */

/* A matrix by rows. */
struct values {
    const float *at;
    int cols;
};

static bool matrix_cell(const void *context, int i, int j, double *value) {
    const struct values *v = context;
    *value = (double)v->at[(size_t)i * (size_t)v->cols + (size_t)j];
    return true;
}

/* The last dimension is across; the others, taken together, are down. */
static int columns_of(const struct phase_array *array) {
    return (int)array->dimension[array->dimensions - 1];
}

static int rows_of(const struct phase_array *array) {
    return (int)(array->count / array->dimension[array->dimensions - 1]);
}

/* A NaN is nearly always the poison of an element that no thread has stored. */
static bool array_cell(const void *context, int i, int j, double *value) {
    const struct phase_array *array = context;
    *value = (double)array->values[i * columns_of(array) + j];
    return !isnan(*value);
}

/* The block's part of C, after a phase or (0) as it was stored. */
struct part {
    const struct story *story;
    struct box box;
    int phase;
};

static bool part_cell(const void *context, int i, int j, double *value) {
    const struct part *part = context;
    const struct story *s = part->story;
    int row = part->box.row_first + i, col = part->box.col_first + j;
    if (!is_stored(s, row, col)) return false;
    *value = part->phase ? partial_sum(s, row, col, part->phase)
                         : (double)s->data->C[(size_t)row * (size_t)s->n + (size_t)col];
    return true;
}

static void print_part(FILE *out, const char *title, const struct part *part) {
    int rows = part->box.row_last - part->box.row_first + 1;
    int cols = part->box.col_last - part->box.col_first + 1;
    if (rows <= 0 || cols <= 0) return;
    struct table t = table_of(title, rows, cols, part_cell, part);
    print_tables(out, &t, 1);
}

static void print_arrays(FILE *out, const struct phase *phase) {
    struct table tables[TABLES];
    int count = 0;
    for (int i = 0; i < phase->array_count && count < TABLES; i++) {
        const struct phase_array *array = &phase->arrays[i];
        tables[count++] =
            table_of(array->name, rows_of(array), columns_of(array), array_cell, array);
    }
    if (count)
        print_tables(out, tables, count);
    else
        fputs("    nothing is stored in shared memory\n", out);
}

/* --- phases ----------------------------------------------------------------------------------- */

static void print_loaded(FILE *out, const char *name, const struct loaded *l) {
    if (!l->loads) return;
    fprintf(out, "    %s: rows %s, columns %s: %zu loads\n", name,
            ranges_of(l->rows, l->row_count).text, ranges_of(l->cols, l->col_count).text, l->loads);
}

static void print_phase(FILE *out, const struct story *s, const struct box *box, int number) {
    const struct phase *phase = &s->phases->phases[number - 1];
    struct loaded a = loaded_of(phase, 0, s->m, s->k), b = loaded_of(phase, 1, s->k, s->n);
    fprintf(out, "\nphase %d of %d\n", number, s->phases->count);
    print_loaded(out, "A", &a);
    print_loaded(out, "B", &b);
    print_arrays(out, phase);
    print_part(out, "sums so far", &(struct part){s, *box, number});
    loaded_free(&a);
    loaded_free(&b);
}

/* C[0][0] = 1*1 + 2*5 + 3*9 + 4*13 = 90 */
static void print_element(FILE *out, const struct story *s, int i, int j) {
    double sum = 0;
    fprintf(out, "    C[%d][%d] =", i, j);
    for (int p = 0; p < s->k; p++) {
        double a = (double)s->data->A[(size_t)i * (size_t)s->k + (size_t)p];
        double b = (double)s->data->B[(size_t)p * (size_t)s->n + (size_t)j];
        fprintf(out, p ? " + %.5g*%.5g" : " %.5g*%.5g", a, b);
        sum += a * b;
    }
    fprintf(out, " = %.6g\n", sum);
}

static void print_stored(FILE *out, const struct story *s, const struct box *box) {
    int rows = box->row_last - box->row_first + 1, cols = box->col_last - box->col_first + 1;
    if (rows <= 0 || cols <= 0) {
        fputs("\nthe block stores nothing in C\n", out);
        return;
    }
    fprintf(out, "\nC: the block stores rows %d to %d, columns %d to %d\n", box->row_first,
            box->row_last, box->col_first, box->col_last);
    if (s->data->C) print_part(out, "C", &(struct part){s, *box, 0});
    if (s->k <= WHOLE / 2) print_element(out, s, box->row_first, box->col_first);
}

static void print_matrices(FILE *out, const struct story *s) {
    const struct values A = {s->data->A, s->k}, B = {s->data->B, s->n};
    const struct table tables[] = {table_of("A", s->m, s->k, matrix_cell, &A),
                                   table_of("B", s->k, s->n, matrix_cell, &B)};
    fputc('\n', out);
    print_tables(out, tables, LENGTH(tables));
}

void print_phases(FILE *out, const struct phases *phases, const struct product_data *data,
                  struct shape shape) {
    struct story s = {phases, data, shape.m, shape.n, shape.k};
    if (!phases) {
        fputs("\nNo tile phases: that block loads nothing of A and B.\n", out);
        return;
    }
    struct box box = stored_box(&s);
    fprintf(out, "\nblock (%u,%u) of %s, %u x %u threads, m=%d k=%d n=%d\n", phases->block[0],
            phases->block[1], phases->kernel, phases->block_size[0], phases->block_size[1], s.m,
            s.k, s.n);
    fputs("A phase reaches from one __syncthreads() to the next and loads from A or B.\n"
          "\"Sums so far\" is worked out from what has been loaded, because a thread's own\n"
          "variables cannot be seen from outside.\n",
          out);
    print_matrices(out, &s);
    for (int i = 1; i <= phases->count; i++) print_phase(out, &s, &box, i);
    print_stored(out, &s, &box);
}

/* --- JSON ------------------------------------------------------------------------------------- */

static void json_flags(struct json *json, const char *name, const bool *set, int count) {
    json_open(json, name, '[');
    for (int i = 0; i < count; i++)
        if (set[i]) json_value(json, NULL, "%d", i);
    json_close(json, ']');
}

static void json_loaded(struct json *json, const char *name, struct loaded l) {
    json_open(json, name, '{');
    json_flags(json, "rows", l.rows, l.row_count);
    json_flags(json, "columns", l.cols, l.col_count);
    json_value(json, "loads", "%zu", l.loads);
    json_close(json, '}');
    loaded_free(&l);
}

static void json_array(struct json *json, const struct phase_array *array) {
    json_open(json, NULL, '{');
    json_text(json, "name", array->name);
    json_open(json, "dimensions", '[');
    for (int i = 0; i < array->dimensions; i++) json_value(json, NULL, "%zu", array->dimension[i]);
    json_close(json, ']');
    json_open(json, "values", '[');
    for (size_t i = 0; i < array->count; i++) json_real(json, NULL, (double)array->values[i]);
    json_close(json, ']');
    json_open(json, "stored_by", '[');
    for (size_t i = 0; i < array->count; i++) {
        if (array->writer[i] < 0)
            json_text(json, NULL, NULL);
        else
            json_value(json, NULL, "%d", array->writer[i]);
    }
    json_close(json, ']');
    json_close(json, '}');
}

/* The block's part of C by rows, after a phase or (0) as it was stored. */
static void json_part(struct json *json, const char *name, const struct story *s,
                      const struct box *box, int phase) {
    const struct part part = {s, *box, phase};
    const int rows = box->row_last - box->row_first + 1, cols = box->col_last - box->col_first + 1;
    double value;
    json_open(json, name, '[');
    for (int i = 0; i < rows; i++) {
        json_open(json, NULL, '[');
        for (int j = 0; j < cols; j++) {
            if (phase)
                json_real(json, NULL,
                          partial_sum(s, box->row_first + i, box->col_first + j, phase));
            else if (s->data->C && part_cell(&part, i, j, &value))
                json_real(json, NULL, value);
            else
                json_text(json, NULL, NULL);
        }
        json_close(json, ']');
    }
    json_close(json, ']');
}

static void json_phase(struct json *json, const struct story *s, const struct box *box,
                       int number) {
    const struct phase *phase = &s->phases->phases[number - 1];
    json_open(json, NULL, '{');
    json_value(json, "phase", "%d", number);
    json_loaded(json, "A", loaded_of(phase, MATRIX_A, s->m, s->k));
    json_loaded(json, "B", loaded_of(phase, MATRIX_B, s->k, s->n));
    json_open(json, "loads", '[');
    for (size_t i = 0; i < phase->load_count; i++) {
        const struct phase_load *load = &phase->loads[i];
        json_value(json, NULL, "[%u, \"%c\", %d, %d]", load->thread, "AB"[load->matrix],
                   load -> row, load -> col);
    }
    json_close(json, ']');
    json_open(json, "arrays", '[');
    for (int i = 0; i < phase->array_count; i++) json_array(json, &phase->arrays[i]);
    json_close(json, ']');
    json_part(json, "sums", s, box, number);
    json_close(json, '}');
}

static void json_stored(struct json *json, const struct story *s, const struct box *box) {
    if (box->row_last < 0) {
        json_text(json, "C", NULL);
        return;
    }
    json_open(json, "C", '{');
    json_value(json, "rows", "[%d, %d]", box->row_first, box->row_last);
    json_value(json, "columns", "[%d, %d]", box->col_first, box->col_last);
    json_part(json, "values", s, box, 0);
    json_close(json, '}');
}

/* "phases", or null where the block loads nothing of A and B:
 *     kernel, launch (from 0), grid, block_size, block; m, k, n
 *     phases: for each
 *         phase     its number, from 1
 *         A, B      rows and columns that were loaded from (lists), loads (elements)
 *         loads     each of them, in the order in which this run made them: thread (linear), "A" or
 *                   "B", row, column
 *         arrays    the shared arrays that were stored to, as they were at the phase's end: name,
 *                   dimensions, values in a row, stored_by: the thread that stored each in this
 *                   phase, or null
 *         sums      of the block's part of C, by rows, from what has been loaded until then
 *     C: rows and columns (first, last) of the block's part, and its values as stored; null: the
 *     block stored nothing */
void json_phases(struct json *json, const struct phases *phases, const struct product_data *data,
                 struct shape shape) {
    if (!phases) {
        json_text(json, "phases", NULL);
        return;
    }
    struct story s = {phases, data, shape.m, shape.n, shape.k};
    struct box box = stored_box(&s);
    json_open(json, "phases", '{');
    json_text(json, "kernel", phases->kernel);
    json_value(json, "launch", "%d", phases->launch);
    json_extent(json, "grid", phases->grid);
    json_extent(json, "block_size", phases->block_size);
    json_extent(json, "block", phases->block);
    json_value(json, "m", "%d", s.m);
    json_value(json, "k", "%d", s.k);
    json_value(json, "n", "%d", s.n);
    json_open(json, "phases", '[');
    for (int i = 1; i <= phases->count; i++) json_phase(json, &s, &box, i);
    json_close(json, ']');
    json_stored(json, &s, &box);
    json_close(json, '}');
}
