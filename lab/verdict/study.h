/* What explains a wrong C: evidence, and formulas that may give C instead.
 *
 *   formula.c   which elements of C are wrong: all, or a sample of a large C; what a formula makes
 *               of A and B, and whether C is that
 *   mistakes.c  the formulas: one for each mistake that is known
 *   explain.c   puts what was found into words, and where in C the unwritten elements are */
#ifndef LAB_VERDICT_STUDY_H
#define LAB_VERDICT_STUDY_H
#include "../sgemm.h"

/* --- the evidence ----------------------------------------------------------------------------- */

enum state { RIGHT, WRONG, NOT_FINITE, UNWRITTEN, STATES };

/* An element of C that explanations are tried on. */
struct studied {
    int row, col;
    enum state state;
    float got;
    double ref, G;
};

struct study {
    const struct problem *problem;
    struct studied *elements; /* of C, wrong ones first; the caller's to free */
    int count, with_state[STATES];
    bool complete; /* every wrong element is among them */
    bool whole;    /* they are of all parts of C, not only where some are wrong */
};

/* False: no memory; s->elements may not be null all the same. */
bool study_new(struct study *s, const struct problem *p, const struct verdict *v);

/* --- formulas that may explain C, and the one that explains it best --------------------------- */

/* Where element (row, col) of a matrix is read or stored. */
struct layout {
    int row_step, col_step;
    int tile;   /* tiles of this size are transposed; 0: none */
    int period; /* each phase has the same, first so many values of k; 0: none */
};

/* C[i][j] = factor * sum over p of weight(p) A[i][p] B[p][j], and what the same thread had computed
 * before. */
struct formula {
    char name[64];    /* struct explanation's formula */
    const char *hint; /* struct explanation's */
    char phrase[240]; /* "C is ...": what */
    struct layout a, b, c;
    /* Terms first .. last - 1 weigh so much, all others 1; of each `every` terms, if not 0. */
    int first, last, every;
    double weight;
    double factor;            /* of A B itself, if it is not 1; 0: C is 0 */
    int back_cols, back_rows; /* to the element to whose sum A B is added; 0: none */
};

struct search {
    const struct study *study;
    double work; /* multiplications so far, which are limited */
    struct formula best;
    bool any, several; /* there is a best one; other mistakes would give the same */
    bool everywhere;   /* the best one gives the right elements, too */
    int nan;           /* elements for which it reads outside of A or B */
    int unwritten;     /* elements at which it stores nothing */
};

/* A B; the phrase as for printf(). */
struct formula formula_new(const struct study *, const char *name, const char *hint,
                           const char *phrase, ...);
double formula_weight(const struct formula *f, int p);

/* How far C may be from a formula: as far as verification allows it to be from A B. */
double formula_tolerance(const struct problem *p, double G);

/* The formula has to give all wrong elements but NaN. Of several that do, an earlier one stays. */
void search_consider(struct search *search, const struct formula *f);

/* Considers every mistake that is known. */
void search_mistakes(struct search *search);

#endif
