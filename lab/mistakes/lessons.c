/* SGEMM: what its causes are called, and what is said of them. */
#include "../../engine/lab.h"

static const struct lab_cause causes[] = {
#define CAUSE(number, name, meaning) {name, meaning},
#include "causes.def"
#undef CAUSE
    {NULL, NULL}};

static const char *const rows[] = {
#define SENTENCE(name, text) text,
#include "sentences.def"
#undef SENTENCE
};

const struct lab_lessons lab_lessons = {causes, {rows, sizeof rows / sizeof *rows}};
