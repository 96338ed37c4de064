/* What a wrong result is instead, in the lab's words: beside the record of a finding, which says
 * that there are some (SLOT_EXPLAINED, SLOT_ELSEWHERE). Made where the result is judged, and never
 * by a submission's process where that is not believed. */
#ifndef ENGINE_REPORT_EXPLAINED_H
#define ENGINE_REPORT_EXPLAINED_H
#include "../../finding.h"

#ifdef __cplusplus
extern "C" {
#endif

struct explained {
    char formula[64];     /* see explain() in support.h; empty: not known */
    bool explains_values; /* likewise */
    double products;      /* likewise; 0 without a formula */
    char claim[480];      /* what it is, without the number of elements; empty: that is not said */
    char text[1600];      /* paragraphs, separated by \n */
    char hint[300];
};

/* The words of a finding, and these behind them. */
void finding_explain(const struct finding *finding, const struct explained *explained,
                     struct finding_words *words);

#ifdef __cplusplus
}
#endif

#endif
