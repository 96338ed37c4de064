/* The walkthrough, --walk FILE: one block of the student's own run as a page that
 * plays it back.
 *
 *   steps.c    the trace of the block -> steps, in the order in which they are shown
 *   data.c     steps, arrays and the finding as JSON, in the process that ran the kernel
 *   page.c     the page, with the data in its place; which block to show; the finding's accesses
 *   view/      the page itself, of which page.sh makes one file when the program is built */
#ifndef ENGINE_SHOW_PAGE_WALK_H
#define ENGINE_SHOW_PAGE_WALK_H
#include "../../explain/outcome.h"
#include "../../watch/record/record.h"
#include "../show.h"
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

struct walk_asked {
    uint64_t launch;   /* whose block is shown; 0: the first that loads an input */
    bool launch_given; /* on the command line */
    bool counts;       /* the run's loads were counted */
    struct lab_case which;
};

/* Writes the data of this process's run so far as a JSON object: what KEEP_BLOCK has kept. The
 * members are those that run.js reads; the object is left open for walk_page(). Errors of `out` are
 * the caller's to look at. */
struct walked walk_data(FILE *out, const struct walk_asked *asked, const struct outcome *outcome,
                        const struct array_data *data);

/* Writes the page around this data, to whose object the member that print_indices() has written to
 * `indices` is added. False: it cannot be written; errno says why. */
bool walk_page(FILE *out, FILE *data, FILE *indices);

/* Sets `block`, x, y, z, to where the mistake is: the finding's block, or, by the part of
 * the output that the block of the trace has stored, that of the first element that is missing or
 * wrong. Leaves it as it is where neither is known. */
void walk_wanted(const struct trace *trace, const struct finding *finding,
                 const struct lab_case *which, const struct array_data *data, unsigned block[3]);

/* The accesses of the finding's two parties, by their numbers in the trace; its count: none is
 * known. */
struct walk_parties {
    size_t at, other;
};
struct walk_parties walk_find_parties(const struct trace *trace, const struct finding *finding);

/* --- steps.c ----------------------------------------------------------------------------------
 *
 * From the trace of a block (record.h) to the steps that the walkthrough shows: what one line of
 * the source does for one warp, once.
 *
 * A block's threads run here one after the other, each up to the next barrier. Between two barriers
 * their order says nothing, so steps are put together as a GPU's warps would run: line by line,
 * all warps of the block one after the other. In the interval of a race, where it matters who came
 * first, each step is one thread's, in the order in which they ran; what comes after it is left
 * out, because it depends on that order, too. */

/* An instruction that accesses memory. */
struct walk_site {
    const struct trace_access *first; /* of its accesses, which are all alike */
    int line;                         /* of the submission; 0: in another file, or unknown */
};

struct walk_step {
    int line;
    uint32_t interval;
    int warp;            /* -1: the barrier that ends the interval */
    size_t first, count; /* its threads' visits in walk_steps.visit; of a barrier: its number */
};

/* One thread makes the accesses of one line, each once at most. */
struct walk_visit {
    uint32_t interval;
    int line, occurrence; /* how often the thread came by the line before, in the interval */
    uint16_t thread;
    size_t first, count; /* accesses, in walk_steps.by_thread */
    size_t slot;
};

struct walk_steps {
    const struct trace *trace;
    size_t accesses; /* of the trace that are in steps */
    struct walk_site *site;
    int site_count;
    int *site_of;             /* of each access in the trace */
    size_t *by_thread;        /* accesses of the trace, ordered by thread */
    struct walk_visit *visit; /* in the order of the steps */
    size_t visit_count;
    struct walk_step *step;
    size_t step_count;
    size_t as_run_from; /* a step; step_count: none is as it ran */
};

/* The line of the submission that holds the instruction before this address; 0: it is in another
 * file, or unknown. */
int walk_line(const void *code);

/* Makes the steps of the trace's first block out of its first `most` accesses. In the interval
 * `as_run`, which is then the last one, threads come in the order in which they ran; UINT32_MAX: in
 * none. False: out of memory. The caller frees them with walk_steps_free(). */
bool walk_steps_make(const struct trace *trace, size_t most, uint32_t as_run,
                     struct walk_steps *steps);
void walk_steps_free(struct walk_steps *steps);

/* Leaves out all steps from this one on. */
void walk_steps_cut(struct walk_steps *steps, size_t step_count);

/* The step that holds this access of the trace; step_count: none does. */
size_t walk_steps_find(const struct walk_steps *steps, size_t access);

#ifdef __cplusplus
}
#endif
#endif
