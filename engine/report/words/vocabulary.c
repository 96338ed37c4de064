/* The engine's own words, and which are in use. */
#include "vocabulary.h"
#include <stddef.h>

static const struct vocabulary own = {
    .array = "array",
    .arrays = "arrays",
    .phase = "phase",
    .output = "the result",
    .wrapper = "the program",
    .no_blocks =
        "an integer division rounds down: what does it give for a size smaller than a block?",
    .no_threads = "how many threads does a block need?",
    .many_threads = "a block does a part of the work, not all of it: what grows with its size?",
    .many_blocks = "how many elements does a block compute?",
};

static const struct vocabulary *in_use;

const struct vocabulary *vocabulary(void) { return in_use ? in_use : &own; }

void vocabulary_use(const struct vocabulary *words) { in_use = words; }
