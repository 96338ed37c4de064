/* What a right kernel could do better: one remark below the clean report, or none.
 *
 * Each remark states figures that were counted, of one run on one shape; a kernel stays right
 * whatever is remarked. Where a good kernel could object, nothing is said.
 *
 *   remark.c          loads, sectors, banks, blocks: from counts.h
 *   remark_barrier.c  barriers: from trace.h */
#ifndef ENGINE_EXPLAIN_REMARK_H
#define ENGINE_EXPLAIN_REMARK_H
#include "../cuda/runtime/runtime.h" /* struct place */
#include "../host/check/check.h"
#include "../report/text/text.h"
#include "../watch/record/trace.h"

/* Begins a remark at a line. */
void remark_at(struct remark *remark, enum remark_kind kind, const char *file, int line);

/* Says a sentence of remarks.def in *remark: REMARK_SAY(WHAT, ROW(LOADED_TIMES), W("A"), W(64)). */
#define REMARK_SAY(part, ...)                                                                      \
    sentences_add(&remark->said, &remark_sentences, SENTENCE_##part,                               \
                  (const struct sentence_word[]){__VA_ARGS__})

/* Sets *remark, if the launch has a barrier without which no two threads of a block would conflict.
 */
void remark_barriers(const struct trace *trace, struct remark *remark);

#endif
