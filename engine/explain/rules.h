/* What proves the mistakes of lab_lessons: of the form of a lab, for make check alone. */
#ifndef ENGINE_EXPLAIN_RULES_H
#define ENGINE_EXPLAIN_RULES_H
#include "index/index.h"
#include "outcome.h"

struct lab_rules {
    /* Sets *cause if the launches that this run of the shape has kept (trace_launches()) prove a
     * mistake that `failed` comes from; else its kind is CAUSE_NONE. False: out of memory. Null:
     * the lab has no rules.
     *
     * `ended`: the wrapper has returned, and each launch has come to its end. Of a run that was
     * stopped, what is not there may be missing for that reason alone; of a launch that ended
     * before (struct trace) only other launches may be missing. */
    bool (*find)(value_decoder *decode, struct shape shape, bool ended,
                 const struct outcome *failed, struct cause *cause);
};

extern const struct lab_rules lab_rules;

#endif
