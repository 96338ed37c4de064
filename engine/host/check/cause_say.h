/* The sentences of the causes that are the engine's own, by their names. */
#ifndef ENGINE_HOST_CAUSE_SAY_H
#define ENGINE_HOST_CAUSE_SAY_H
#include "../../form/cause.h"

enum {
#define SENTENCE(name, text) SAY_##name,
#include "../../form/cause_sentences.def"
#undef SENTENCE
};

/* Says one of them in *cause: ENGINE_SAY(DETAIL, its number, its words). */
#define ENGINE_SAY(part, ...) CAUSE_ADD(&cause_sentences, part, __VA_ARGS__)

#endif
