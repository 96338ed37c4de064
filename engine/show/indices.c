/* What a kernel's accesses compute, beside the textbook's: --indices. In JSON, `indices` has the
 * sizes, number and of (which launch, from 1, of how many), ended (false: the launch was stopped,
 * and what follows is of what it had done by then) and accesses, a list:
 *
 *   file, line, access, array    where; "read" or "write"; an array of the run or a shared one
 *   element     with its index, as in the text; null: none fits, or it depends on loaded values
 *   warp        "coalesced", "broadcast", "strided"; null: shared memory, or not known
 *   textbook    null: shared memory
 *   source      the element of an input that a load from shared memory gets, or null
 *   accesses    how many there were in the blocks that were watched */
#include "../explain/index/index.h"
#include "../report/text/json.h"
#include "../report/words/vocabulary.h"
#include "../watch/launches.h"
#include "show.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* How the threads of a warp, which differ in threadIdx.x first, share an access to global memory.
 */
enum sharing { NOT_KNOWN, COALESCED, BROADCAST, STRIDED };
static const char *const sharing_names[] = {NULL, "coalesced", "broadcast", "strided"};
static const char *const sharing_words[] = {
    NULL,
    "coalesced",
    "broadcast, the same for every threadIdx.x",
    "strided, neighboring threads do not access neighboring elements",
};

static enum sharing sharing(const struct recovered *a, const struct trace *t) {
    long long apart = 0;
    if (!a->exact || a->array >= TRACE_SHARED) return NOT_KNOWN;
    if (!t->ended && !(a->varied >> INDEX_THREAD_X & 1)) return NOT_KNOWN; /* one thread's so far */
    for (int i = 0; i < a->formula.terms; i++)
        if (a->formula.term[i].variable == INDEX_THREAD_X && !a->formula.term[i].shift)
            apart = a->formula.term[i].coefficient;
    if (!apart) return BROADCAST;
    return apart == a->elements ? COALESCED : STRIDED;
}

static const char *textbook(const struct recovered *a, const struct recovery *r) {
    if (a->array >= TRACE_SHARED) return NULL;
    return r->trace->shared_count ? lab.textbook[a->array].shared : lab.textbook[a->array].plain;
}

/* --- text ------------------------------------------------------------------------------------- */

static void print_access(FILE *out, const struct recovery *r, const struct recovered *a,
                         const struct index_size *sizes) {
    char text[700] = "", source[300] = "";
    const char *warp = sharing_words[sharing(a, r->trace)], *usual = textbook(a, r);
    APPEND(text, "line %d %s ", a->place.line, a->write ? "stores to" : "loads");
    recover_write(text, sizeof text, r, a, sizes, (size_t)lab_params(&lab));
    if (warp) APPEND(text, ": %s", warp);
    print_paragraph("  ", "", text, out);
    if (usual) fprintf(out, "      textbook: %s\n", usual);
    if (a->source < 0 || !a->source_exact) return;
    recover_write_source(source, sizeof source, r, a, sizes, (size_t)lab_params(&lab));
    print_paragraph("      ", "which is ", source, out);
}

static void print_text(FILE *out, const struct recovery *r, struct shape s,
                       const struct index_size *sizes) {
    const struct trace *t = r->trace;
    if (!t->launch) {
        fputs("\nNo launch was seen that loads an input.", out);
        fputs(launches_noted() ? " --launch 1 shows the indices of the first one.\n" : "\n", out);
        return;
    }
    fprintf(out, "\nWhat each index computes, in a run with %s,\n", lab_shape_text(&lab, &s).of);
    if (launches_noted() > 1)
        fprintf(out, "launch %" PRIu64 " of %" PRIu64 ", ", t->launch, launches_noted());
    fprintf(out, "grid (%u, %u), block (%u, %u):\n", t->grid[0], t->grid[1], t->block[0],
            t->block[1]);
    if (!t->ended && t->block_count)
        fputs("  stopped early: a variable that had one value until then is in no formula\n", out);
    for (int i = 0; i < r->count; i++) print_access(out, r, &r->access[i], sizes);
    char words[300] = "";
    APPEND(words,
           "phase: the %s, from 0; step: how many times the thread has made this access before in "
           "the same phase; [...]: no formula fits whatever is loaded",
           vocabulary()->phase);
    print_paragraph("", "", words, out);
}

/* --- JSON ------------------------------------------------------------------------------------- */

static void json_indices(FILE *out, const struct recovery *r, struct shape s,
                         const struct index_size *sizes) {
    struct json json = {out, true};
    json_open(&json, "indices", '{');
    json_shape(&json, &lab, &s);
    json_unsigned(&json, "number", r->trace->launch);
    json_unsigned(&json, "of", launches_noted());
    json_value(&json, "ended", r->trace->ended ? "true" : "false");
    json_open(&json, "accesses", '[');
    for (int i = 0; i < r->count; i++) {
        const struct recovered *a = &r->access[i];
        char index[300] = "", source[300] = "";
        recover_write(index, sizeof index, r, a, sizes, (size_t)lab_params(&lab));
        if (a->source >= 0 && a->source_exact)
            recover_write_source(source, sizeof source, r, a, sizes, (size_t)lab_params(&lab));
        json_open(&json, NULL, '{');
        json_text(&json, "file", a->place.file);
        json_value(&json, "line", "%d", a->place.line);
        json_text(&json, "access", a->write ? "write" : "read");
        json_text(&json, "array", recover_array_name(r, a->array));
        json_text(&json, "element", a->exact ? index : NULL);
        json_text(&json, "warp", sharing_names[sharing(a, r->trace)]);
        json_text(&json, "textbook", textbook(a, r));
        json_text(&json, "source", source);
        json_value(&json, "accesses", "%zu", a->count);
        json_close(&json, '}');
    }
    json_close(&json, ']');
    json_close(&json, '}');
}

void print_indices(FILE *out, bool as_json, const struct recovery *r, struct shape s) {
    struct index_size sizes[LAB_PARAMS];
    for (int i = 0; i < lab_params(&lab); i++)
        sizes[i] = (struct index_size){lab.params[i].name, s.of[i]};
    if (as_json)
        json_indices(out, r, s, sizes);
    else
        print_text(out, r, s, sizes);
}
