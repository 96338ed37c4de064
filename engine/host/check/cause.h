/* Mistakes that the engine itself proves, in any lab: what host/check/ has beside the rules of
 * lab_rules. */
#ifndef ENGINE_HOST_CHECK_CAUSE_H
#define ENGINE_HOST_CHECK_CAUSE_H
#include "../../explain/index/index.h"
#include "../../explain/outcome.h"
#include "../../form/cause.h"
#include "check.h"

/* The sentences of the causes that are the engine's own, by their names. */
enum {
#define SENTENCE(name, text) SAY_##name,
#include "../../form/cause_sentences.def"
#undef SENTENCE
};

/* Says one of them in *cause: ENGINE_SAY(DETAIL, its number, its words). */
#define ENGINE_SAY(part, ...) CAUSE_ADD(&cause_sentences, part, __VA_ARGS__)

/* A loop whose body never runs, and a loop or an if that a ; cuts off from its body: sets *cause if
 * the source has one in the finding's function, before its line; of a finding
 * without a line, anywhere. What it says is true whether or not the finding comes from it. */
void cause_of_body(const struct finding *finding, struct cause *cause);

/* Where a result that is wrong in one way throughout (lab.formulas) was stored: sets *cause, if a
 * formula gives what the failed run came to, to where the launches that this run has kept stored
 * the output for the last time; else its kind is CAUSE_NONE. False: out of memory.
 */
bool cause_of_formula(value_decoder *decode, const struct outcome *failed, struct cause *cause);

/* Mistakes of local variables, in the program that knows them (locals_program.c): sets *cause if
 * runs on the first of the shapes prove one, for the run that has gone wrong there. Takes some
 * seconds at most. */
void cause_of_locals(const struct check_options *o, struct cause *cause);

#endif
