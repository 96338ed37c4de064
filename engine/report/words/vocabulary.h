/* What users of a lab call things, where the engine's own words say less. A lab gives them as data;
 * a program that has none is told of arrays and phases. */
#ifndef ENGINE_REPORT_VOCABULARY_H
#define ENGINE_REPORT_VOCABULARY_H

#include "../../finding.h"

#ifdef __cplusplus
extern "C" {
#endif

struct vocabulary {
    const char *array, *arrays; /* of device memory, one and several: "array", "arrays" */
    const char *phase;          /* of a block, from one barrier to the next: "phase" */
    const char *output;         /* what is computed: "the result" */
    const char *wrapper;        /* what launches kernels: "the program" */
    /* Hints about launches that a GPU refuses: without blocks, without threads, with too many
     * threads in a block, with too many blocks. */
    const char *no_blocks, *no_threads, *many_threads, *many_blocks;
    /* Of kinds of findings, instead of those of findings.def; null: that one. */
    const char *hints[FINDING_KINDS];
};

/* Those in use: the engine's own, until others are given. */
const struct vocabulary *vocabulary(void);

/* From now on these, whose texts outlive the program's last message; those that are null, and null
 * itself: the engine's own. */
void vocabulary_use(const struct vocabulary *words);

#ifdef __cplusplus
}
#endif

#endif
