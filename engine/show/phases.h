/* The phases of one block, as a student follows them by hand, and as JSON: --phases. */
#ifndef ENGINE_SHOW_PHASES_H
#define ENGINE_SHOW_PHASES_H
#include "sum.h"

#ifdef __cplusplus
extern "C" {
#endif

struct json; /* ../report/text/json.h */

/* `phases` is null where the block loads nothing of the inputs. */
void print_phases(FILE *out, const struct phases *phases, const struct array_data *data,
                  const struct array_sum *sum, struct shape shape);
void json_phases(struct json *json, const struct phases *phases, const struct array_data *data,
                 const struct array_sum *sum, struct shape shape);

#ifdef __cplusplus
}
#endif
#endif
