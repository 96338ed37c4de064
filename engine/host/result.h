/* From a wrong result to a finding. */
#ifndef ENGINE_HOST_RESULT_H
#define ENGINE_HOST_RESULT_H
#include "../lab.h"
#include "../report/words/print.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a verdict that is not passed says, as a finding without a place. False: it is passed. */
bool verdict_finding(const struct verdict *verdict, const struct shape *shape,
                     struct finding *finding);
/* And what the result is instead. */
bool judge_verdict(const struct lab_case *which, const void *const arrays[LAB_ARRAYS],
                   const struct verdict *verdict, struct finding *finding,
                   struct explained *explained);

#ifdef __cplusplus
}
#endif
#endif
