/* Where in C the unwritten elements are: rows and columns, or blocks. */
#include "../../engine/report/poison.h"
#include "../../engine/report/text/text.h"
#include "../product.h"
#include "study.h"

static bool is_unwritten(const struct problem *p, int row, int col) {
    return get_bits(&p->C[(size_t)row * (size_t)p->n + (size_t)col]) == POISON_BITS;
}

static void set(struct explanation *out, const char *formula, const char *hint) {
    snprintf(out->formula, sizeof out->formula, "%s", formula);
    snprintf(out->hint, sizeof out->hint, "%s", hint);
}

/* "rows 3 to 5", after an "and" if something came before. */
static void say_span(struct explanation *out, const char *what, int first, int last) {
    if (first > last) return;
    if (out->text[0]) APPEND(out->text, " and ");
    if (first == last)
        APPEND(out->text, "%s %d", what, first);
    else
        APPEND(out->text, "%ss %d to %d", what, first, last);
}

/* Everything around what was written: rows above and below, columns left and right. */
static bool frame(const struct problem *p, const struct box *written, struct explanation *out) {
    if (box_elements(written) + out->of != (uint64_t)p->m * (uint64_t)p->n) return false;
    say_span(out, "row", 0, written->row_first - 1);
    say_span(out, "row", written->row_last + 1, p->m - 1);
    say_span(out, "column", 0, written->col_first - 1);
    say_span(out, "column", written->col_last + 1, p->n - 1);
    if (written->row_first || written->col_first) return true;
    out->row_end = written->row_last + 1;
    out->col_end = written->col_last + 1;
    return true;
}

/* Whole blocks of this size. */
static bool blocks(const struct problem *p, int tile, struct explanation *out) {
    uint64_t total = 0, unwritten = 0;
    for (int i = 0; i < p->m; i++) {
        for (int j = 0; j < p->n; j++) {
            const bool in = is_unwritten(p, i, j), begins = i % tile == 0 && j % tile == 0;
            if (in != is_unwritten(p, i - i % tile, j - j % tile)) return false;
            total += begins;
            unwritten += begins && in;
        }
    }
    APPEND(out->text, "%s of the %s blocks of %d x %d", grouped(unwritten).text,
           grouped(total).text, tile, tile);
    set(out, "blocks", "what do those blocks do that the others do not?");
    return true;
}

bool explain_unwritten(const struct problem *p, const struct verdict *v, struct explanation *out) {
    struct box written = empty_box();
    if (!v->unwritten) return false;
    for (int i = 0; i < p->m; i++)
        for (int j = 0; j < p->n; j++)
            if (!is_unwritten(p, i, j)) box_add(&written, i, j);
    *out = (struct explanation){.explained = v->unwritten, .of = v->unwritten};
    const bool none = written.row_last < 0;
    set(out, none ? "none-written" : "unwritten-region",
        "each element of C needs a thread that stores it: where do the grid and the guards end?");
    bool found = none || frame(p, &written, out);
    for (int tile = 64; tile >= 4 && !found; tile /= 2)
        found = tile < max_int(p->m, p->n) && blocks(p, tile, out);
    if (none) {
        APPEND(out->text, "No element of C was written.");
    } else {
        APPEND(out->claim, "Never written: %s", out->text);
        out->text[0] = '\0';
        APPEND(out->text, "%s.", out->claim);
    }
    if (out->row_end > 0 && !v->wrong) out->products = 1 - (double)out->of / ((double)p->m * p->n);
    return found;
}
