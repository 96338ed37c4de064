/* The evidence that explanations are drawn from, and what follows from its places alone.
 *
 *   explain_study.c       which elements of C are wrong, by how much; all, or a sample of a large C
 *   explain_regions.c     where in C the unwritten, or the wrong, elements are
 *   explain_formula.c     what a formula makes of A and B, and whether C is that
 *   explain_slices.c      formulas: parts of the sum
 *   explain_hypotheses.c  formulas: all other mistakes that are known
 *   explain.c             puts what was found into words */
#ifndef LAB_EXPLAIN_STUDY_H
#define LAB_EXPLAIN_STUDY_H
#include "../verify.h"

enum state { RIGHT, WRONG, NOT_FINITE, UNWRITTEN };

/* An element of C that explanations are tried on. */
struct studied {
    int row, col;
    enum state state;
    float got;
    double ref, G;
};

struct study {
    const struct problem *problem;
    const struct verdict *verdict;
    struct studied *elements; /* all elements of C, or a sample of each state; owned */
    int count, with_state[4];
    bool complete;        /* every wrong element is among the elements */
    unsigned char *state; /* enum state of each element of C; NULL: too large to know. Owned */
    bool informative;     /* A and B differ from element to element: no fit is an accident */
    double rms;           /* the root of the mean square of A B */
};

/* False: no memory. To be freed in either case. */
bool explain_study_new(struct study *s, const struct problem *p, const struct verdict *v);
void explain_study_free(struct study *s);

/* Where the elements of this state are; `out` gets formula, text, hint and counts. The text of all
 * of C is empty. False: nowhere in particular. */
bool explain_region(const struct study *study, enum state state, struct explanation *out);

#endif
