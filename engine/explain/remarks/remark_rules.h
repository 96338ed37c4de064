/* For the files that make remarks: see outcome.h. */
#ifndef ENGINE_EXPLAIN_REMARK_RULES_H
#define ENGINE_EXPLAIN_REMARK_RULES_H
#include "../../cuda/runtime/runtime.h" /* struct place */
#include "../../report/text/text.h"
#include "../../watch/record/trace.h"
#include "../outcome.h"

enum {
#define SENTENCE(name, ...) SAY_##name,
#include "remarks.def"
#undef SENTENCE
};

/* Says a sentence of remarks.def in *remark: REMARK_SAY(LOADED_TIMES, W("A"), W(64)). */
#define REMARK_SAY(...) SENTENCES_ADD(&remark->said, &remark_sentences, __VA_ARGS__)

#endif
