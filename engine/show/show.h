/* What a run that ended well, or with a mistake, is looked at for: its counts (--counts), the
 * phases of a block (--phases), what accesses compute (--indices). */
#ifndef ENGINE_SHOW_SHOW_H
#define ENGINE_SHOW_SHOW_H
#include "../lab.h"
#include "../watch/record/record.h"
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

struct json;     /* ../report/text/json.h */
struct recovery; /* ../explain/index/index.h */

/* The values of the run's arrays, by their numbers, on the host; null: not there. */
struct array_data {
    const void *of[ENGINE_ARRAYS];
};

/* --- phases.c: the phases of one block, as a student follows them by hand --------------------- */

/* `phases` is null where the block loads nothing of the inputs. The sum, an element of an output as
 * the lab makes it of products, is followed from phase to phase; no terms: there is none. */
void print_phases(FILE *out, const struct phases *phases, const struct array_data *data,
                  const struct array_sum *sum, struct shape shape);

/* --- counts.c: for people and as JSON; docs/look.md says how each figure is defined ------------
 */

/* Elements of global memory that all blocks together load; and what the naive kernel would. */
struct loads {
    uint64_t kernel, naive;
};
struct loads loads_of(const struct counted_launch *launches, int count, struct shape shape);

void print_counts(FILE *out, const struct counted_launch *launches, int count, struct shape shape);
void json_counts(struct json *json, const struct counted_launch *launches, int count,
                 struct shape shape);

/* --- indices.c: what each access of a kernel computes ----------------------------------------- */

/* Of one launch of a run with this shape, as text or as a member of a JSON object. */
void print_indices(FILE *out, bool as_json, const struct recovery *recovery, struct shape shape);

#ifdef __cplusplus
}
#endif
#endif
