/* What was counted of a run's launches, for people and as JSON: --counts. docs/look.md says how
 * each figure is defined. */
#ifndef ENGINE_SHOW_COUNTS_H
#define ENGINE_SHOW_COUNTS_H
#include "../lab.h"
#include "../watch/record/counts.h"
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

struct json; /* ../report/text/json.h */

/* Elements of global memory that all blocks together load; and what the naive kernel would. */
struct loads {
    uint64_t kernel, naive;
};
struct loads loads_of(const struct counted_launch *launches, int count, struct shape shape);

void print_counts(FILE *out, const struct counted_launch *launches, int count, struct shape shape);
/* In one line: loads from global memory, and those of the naive kernel. */
void print_counts_line(FILE *out, const struct counted_launch *launches, int count,
                       struct shape shape);
void json_counts(struct json *json, const struct counted_launch *launches, int count,
                 struct shape shape);

#ifdef __cplusplus
}
#endif
#endif
