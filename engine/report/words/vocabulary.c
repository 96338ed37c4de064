/* The engine's own words, and which are in use. */
#include "vocabulary.h"
#include <stdbool.h>
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

/* Of nothing but pointers to texts. */
union texts {
    struct vocabulary words;
    const char *text[sizeof(struct vocabulary) / sizeof(const char *)];
};
static union texts in_use;
static bool is_set;

const struct vocabulary *vocabulary(void) { return is_set ? &in_use.words : &own; }

void vocabulary_use(const struct vocabulary *words) {
    const union texts others = {.words = words ? *words : own};
    in_use.words = own;
    is_set = words;
    for (size_t i = 0; i < sizeof others.text / sizeof *others.text; i++)
        if (others.text[i]) in_use.text[i] = others.text[i];
}
