/* What a kernel's accesses compute, beside the textbook's: --indices. */
#include "cause.h"
#include <stdio.h>
#include <string.h>

/* --- words ------------------------------------------------------------------------------------ */

/* How the threads of a warp, which differ in threadIdx.x first, share an access to global memory.
 */
static const char *say_warp(const struct recovered *a) {
    long long apart = 0;
    if (!a->exact || a->array >= TRACE_SHARED) return NULL;
    for (int i = 0; i < a->formula.terms; i++)
        if (a->formula.term[i].variable == INDEX_THREAD_X && !a->formula.term[i].shift)
            apart = a->formula.term[i].coefficient;
    if (!apart) return "broadcast";
    return apart == a->words ? "coalesced" : "strided";
}

struct textbook {
    const char *index[CHECKED_MATRICES];
};

/* The usual index of each matrix: with tiles as wide as the phases move on, or without any. */
static const char *textbook(const struct recovered *a, const struct recovery *r) {
    static const char *const tiled[] = {"A[row * k + phase * TILE + threadIdx.x]",
                                        "B[(phase * TILE + threadIdx.y) * n + col]",
                                        "C[row * n + col]"};
    static const char *const naive[] = {"A[row * k + i]", "B[i * n + col]", "C[row * n + col]"};
    if (a->array >= TRACE_SHARED) return NULL;
    return r->trace->shared_count ? tiled[a->array] : naive[a->array];
}

/* --- text ------------------------------------------------------------------------------------- */

static void print_access(FILE *out, const struct recovery *r, const struct recovered *a,
                         const struct index_size *sizes) {
    char index[300] = "", source[300] = "";
    const char *warp = say_warp(a), *usual = textbook(a, r);
    recover_write(index, sizeof index, r, a, sizes, SIZES);
    fprintf(out, "  line %-4d %s %s\n", a->place.line, a->write ? "stores" : "loads ", index);
    if (a->source >= 0 && a->source_exact) {
        recover_write_source(source, sizeof source, r, a, sizes, SIZES);
        fprintf(out, "            which is  %s\n", source);
    }
    if (usual) fprintf(out, "            textbook: %s\n", usual);
    if (warp) fprintf(out, "            %s\n", warp);
}

static void print_text(FILE *out, const struct recovery *r, struct shape s,
                       const struct index_size *sizes) {
    const struct trace *t = r->trace;
    fprintf(out, "\nindices, of a run with m=%d n=%d k=%d, grid (%u, %u), block (%u, %u):\n", s.m,
            s.n, s.k, t->grid[0], t->grid[1], t->block[0], t->block[1]);
    for (int i = 0; i < r->count; i++) print_access(out, r, &r->access[i], sizes);
    fputs("  phase: how often the block has passed these barriers; step: the how manieth time\n"
          "  a thread comes by in a phase\n",
          out);
}

/* --- JSON ------------------------------------------------------------------------------------- */

static void json_indices(FILE *out, const struct recovery *r, struct shape s,
                         const struct index_size *sizes) {
    struct json json = {out, true};
    json_open(&json, "indices", '{');
    json_value(&json, "m", "%d", s.m);
    json_value(&json, "n", "%d", s.n);
    json_value(&json, "k", "%d", s.k);
    json_open(&json, "accesses", '[');
    for (int i = 0; i < r->count; i++) {
        const struct recovered *a = &r->access[i];
        char index[300] = "", source[300] = "";
        recover_write(index, sizeof index, r, a, sizes, SIZES);
        if (a->source >= 0 && a->source_exact)
            recover_write_source(source, sizeof source, r, a, sizes, SIZES);
        json_open(&json, NULL, '{');
        json_text(&json, "file", a->place.file);
        json_value(&json, "line", "%d", a->place.line);
        json_text(&json, "access", a->write ? "write" : "read");
        json_text(&json, "array", recover_array_name(r, a->array));
        json_text(&json, "element", a->exact ? index : NULL);
        json_text(&json, "warp", say_warp(a));
        json_text(&json, "textbook", textbook(a, r));
        json_text(&json, "source", source);
        json_value(&json, "accesses", "%zu", a->count);
        json_close(&json, '}');
    }
    json_close(&json, ']');
    json_close(&json, '}');
}

void print_indices(FILE *out, bool as_json, const struct recovery *r, struct shape s) {
    const struct index_size sizes[] = {{"m", s.m}, {"n", s.n}, {"k", s.k}};
    if (as_json)
        json_indices(out, r, s, sizes);
    else
        print_text(out, r, s, sizes);
}
