/* What explains a wrong C: the evidence that explanations are drawn from, and formulas that may
 * give C instead.
 *
 *   explain_study.c       which elements of C are wrong, by how much; all, or a sample of a large C
 *   explain_regions.c     where in C the unwritten, or the wrong, elements are
 *   explain_formula.c     what a formula makes of A and B, and whether C is that
 *   explain_slices.c      formulas: parts of the sum
 *   explain_hypotheses.c  formulas: all other mistakes that are known
 *   explain.c             puts what was found into words */
#ifndef LAB_VERDICT_STUDY_H
#define LAB_VERDICT_STUDY_H
#include "../sgemm.h"

/* --- the evidence, and what follows from its places alone ------------------------------------- */

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

/* --- formulas that may explain C, and the one that explains it best --------------------------- */

struct formula;

/* Where A[i][p] or B[p][i] is taken from: a position in the matrix, or ZERO. */
typedef int64_t index_function(const struct formula *f, int i, int p);
enum { ZERO = -1 };

struct source {
    int row, col;
};

/* The element of the product that is stored at (r, c), a place in rows of c_stride elements. */
typedef struct source source_function(const struct formula *f, int64_t r, int64_t c);

/* An element of C is what the formula gives, or is not; the formula takes something from outside A
 * or B; or it stores nothing there. */
enum outcome { FITS, DIFFERS, OUTSIDE, NOWHERE };

/* C[i][j] = finish(factor * sum over p < terms of weight(p) A[..] B[..] + offset) */
struct formula {
    char name[64];         /* struct explanation's formula */
    char phrase[320];      /* "C is ...": what */
    const char *hint;      /* struct explanation's */
    const char *part_hint; /* the same where the formula holds for a part of C only; or NULL */
    bool literal;          /* describes C alone, so it is certain for any A and B */
    double (*weight)(const struct formula *f, int p); /* NULL: 1 */
    int tile;                                         /* of functions that need one, or 0 */
    int first, last; /* terms that weigh `inside`, while the others weigh `outside` */
    double inside, outside;
    float (*input)(float); /* applied to each element of A and B, or NULL, */
    float (*step)(float);  /* and to the sum at each step */
    double offset;
    double (*finish)(double sum, double G); /* NULL: the sum */
    double slack;                           /* more tolerance, in units of u and the value */
    int back_cols, back_rows; /* to the element that the same thread computed before; 0: none */
    /* instead of all that: does this element fit? */
    enum outcome (*accept)(const struct formula *f, const struct studied *e);
    int bits;     /* of C, for accept; 0: any */
    bool natural; /* the sum is that of A B: nothing to add up. So it is with `finish` */

    /* explain_formula_new() sets these as in A B. */
    const struct study *study;
    const struct problem *problem;
    int terms;
    index_function *a, *b;
    int a_stride, b_stride, c_stride;
    source_function *source; /* NULL: each element in its place */
    int rows, cols;          /* of the elements that are stored */
    double factor;
};

/* How well a formula fits. */
struct fit {
    uint64_t fits, differs, unknown; /* of the wrong, finite elements; reads outside: unknown */
    uint64_t stray, nan_left;        /* of those not finite: the formula reads outside, or not */
    uint64_t nowhere, written;       /* of the unwritten: the formula leaves them out, or not */
    uint64_t right, right_differs;   /* of the right ones, where the formula gives a value */
};

enum {
    PROBES = 24, /* wrong elements that a formula is tried on first */
    TILES = 12,
};

extern const int explain_tiles[TILES]; /* sizes that students choose, the usual ones first */

struct search {
    const struct study *study;
    const struct studied *probes[PROBES];
    int probe_count;
    double work; /* multiplications so far, which are limited */
    struct formula best;
    struct fit fit;    /* of the best */
    bool any, several; /* there is a best one; there are others as good */
};

struct search explain_search_new(const struct study *study);

/* The formula `changed`, where it is changed, and A B otherwise. */
struct formula explain_formula_new(const struct study *study, struct formula changed);
index_function explain_a_row, explain_b_row; /* with rows of a_stride, or b_stride, elements */

/* Tries the formula on the probes and, if it fits there, on all elements of the study. It has to
 * give all wrong elements but NaN. `several`: another mistake would give them, too. */
void explain_consider(struct search *search, const struct formula *f);

/* How far C may be from a formula: as far as verification allows it to be from A B, and `slack`
 * units of u more. */
double explain_tolerance(const struct problem *p, double G, double value, double slack);

/* Consider every part of the sum that gives the probes (explain_slices.c), and every formula that
 * is known, those too (explain_hypotheses.c). */
void explain_slices(struct search *search);
void explain_hypotheses(struct search *search);

/* Weighs terms first .. last - 1 by `inside`, the others by `outside`. */
void explain_weigh(struct formula *f, int first, int last, double inside, double outside);

#endif
