/* The walkthrough, --walk FILE: one block of the student's own run as a page that
 * plays it back.
 *
 *   steps.c    the trace of the block -> steps, in the order in which they are shown
 *   data.c     steps, arrays and the finding as JSON, in the process that ran the kernel
 *   page.c     the page, with the data in its place
 *   block.c    which block to show: that of the mistake
 *   page.html, colors.css, page.css, *.js
 *              the page itself: readable files, which page.sh makes one of when the program is
 *              built, and page.S puts into it */
#ifndef ENGINE_SHOW_PAGE_WALK_H
#define ENGINE_SHOW_PAGE_WALK_H
#include "../../explain/outcome.h"
#include "../sum.h"
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Whether this party of a finding is a thread of that block, x, y, z. */
bool walk_in_block(const struct finding_party *party, const unsigned block[3]);

/* Writes the data of this process's run so far as a JSON object: what KEEP_BLOCK has kept. The
 * members are those that run.js reads; the object is left open for walk_page(). Errors of `out` are
 * the caller's to look at. */
struct walk_asked {
    uint64_t launch;   /* whose block is shown; 0: the first that loads an input */
    bool launch_given; /* on the command line */
    bool counts;       /* the run's loads were counted */
    struct lab_case which;
};
struct walked walk_data(FILE *out, const struct walk_asked *asked, const struct outcome *outcome,
                        const struct array_data *data);

/* Writes the page around this data, to whose object the member that print_indices() has written to
 * `indices` is added. False: it cannot be written; errno says why. */
bool walk_page(FILE *out, FILE *data, FILE *indices);

#ifdef __cplusplus
}
#endif
#endif
