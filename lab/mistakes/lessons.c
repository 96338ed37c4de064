/* SGEMM: what its causes are called, and what is said of them. */
#include "../../engine/lab.h"
#include "../../engine/report/text/numbers.h"

static const char *const causes[] = {
#define CAUSE(number, name, meaning) name,
#include "causes.def"
};

static const struct sentence_row rows[] = {
#define SENTENCE(name, what, detail, hint) {{what, detail, hint}},
#include "causes.def"
};

const struct lab_lessons lab_lessons = {causes, LENGTH(causes), {rows, LENGTH(rows)}};
