/* What explain.c and the files beside it share: the evidence, and formulas that may explain it.
 *
 *   explain.c             gathers the evidence and puts what was found into words
 *   explain_formula.c     what a formula makes of A and B, and how well that fits C
 *   explain_hypotheses.c  the mistakes that are known, each as formulas
 *   explain_search.c      the formula that fits best
 *   explain_regions.c     where in C the unwritten, or the wrong, elements are */
#ifndef SUPPORT_EXPLAIN_H
#define SUPPORT_EXPLAIN_H
#include "shared.h"

/* ---- evidence ---------------------------------------------------------------------------------
 */

enum state { RIGHT, WRONG, NOT_FINITE, UNWRITTEN };

/* An element of C that explanations are tried on. */
struct element {
    int row, col;
    enum state state;
    float got;
    double ref, G;
};

/* What explanations are drawn from. */
struct study {
    const struct problem *problem;
    const struct verdict *verdict;
    struct element *elements; /* all elements of C, or a sample of each state; owned */
    int count, with_state[4];
    bool complete;        /* every wrong element is among the elements */
    unsigned char *state; /* enum state of each element of C; NULL: too large to know. Owned */
    bool informative;     /* A and B differ from element to element: no fit is an accident */
    double rms;           /* the root of the mean square of A B */
    double work;          /* multiplications so far, so that there is an end */
};

/* How well a formula fits. */
struct fit {
    uint64_t fits, differs, unknown; /* of the wrong, finite elements */
    uint64_t stray, nan_left;        /* of those not finite: the formula reads outside, or not */
    uint64_t nowhere, written;       /* of the unwritten: the formula leaves them out, or not */
    uint64_t right, right_differs;   /* of the right ones, if it can be told */
};

/* ---- formulas ---------------------------------------------------------------------------------
 */

struct formula;

/* Where A[i][p] or B[p][i] is taken from: a position in the matrix, or ZERO. */
typedef int64_t index_function(const struct formula *f, int i, int p);
enum { ZERO = -1 };

struct source {
    int row, col;
};

/* The element of the product that is stored at (r, c), a place in rows of c_stride elements. */
typedef struct source source_function(const struct formula *f, int64_t r, int64_t c);

/* Of an element of C: is it what the formula gives, does the formula take something from outside A
 * or B, or does it store nothing there? */
enum outcome { FITS, DIFFERS, OUTSIDE, NOWHERE };

/* C[i][j] = finish(factor * sum over p < terms of weight(p) A[..] B[..] + offset). What a mistake
 * does not touch stays as explain_formula_new() makes it. */
struct formula {
    const struct problem *problem;
    const struct hypothesis *hypothesis;
    char name[64];                /* struct explanation's formula */
    char phrase[320];             /* "C is ...": what */
    const char *hint, *part_hint; /* the second where it holds for a part of C only; may be NULL */
    bool natural;                 /* the sum is that of A B: nothing to add up */
    int terms, tile;
    index_function *a, *b;
    int a_stride, b_stride, c_stride;
    source_function *source; /* NULL: each element in its place */
    int rows, cols;          /* of the elements that are stored */
    double (*weight)(const struct formula *f, int p);
    int first, last; /* terms that weigh `inside`, while the others weigh `outside` */
    double inside, outside;
    float (*input)(float); /* what becomes of an element of A or B, */
    float (*step)(float);  /* and of the sum at each step */
    double factor, offset;
    double (*finish)(double sum, double G);
    double slack;             /* more tolerance, in units of u and the value */
    int back_cols, back_rows; /* to the element that the same thread computed before; 0: none */
    /* instead of all that: does this element fit? */
    enum outcome (*accept)(const struct formula *f, const struct element *e);
    int bits; /* of C, for accept */
    double near;
};

/* A B as it should be, for a hypothesis to spoil. */
struct formula explain_formula_new(const struct problem *p, const struct hypothesis *hypothesis);
index_function explain_a_row, explain_b_row; /* with rows of a_stride, or b_stride, elements */

enum outcome explain_try(struct study *s, const struct formula *f, const struct element *e);
struct fit explain_fit(struct study *s, const struct formula *f); /* all elements */

/* How far C may be from a formula: as far as verification lets it be from A B, and so many units of
 * u more. */
double explain_tolerance(const struct problem *p, double G, double value, double slack);

/* ---- hypotheses -------------------------------------------------------------------------------
 */

enum {
    PROBES = 24, /* wrong elements that a formula is tried on first */
    SLICES = 64, /* parts of the sum that fit the probes, at most */
    TILES = 12,
};

extern const int explain_tiles[TILES]; /* sizes that students choose, the usual ones first */

/* Terms first .. last - 1 of the sum. */
struct slice {
    enum { ONLY, WITHOUT, TWICE } part;
    int first, last;
};

struct search {
    struct study *study;
    const struct element *probes[PROBES];
    int probe_count;
    struct slice slices[SLICES]; /* that fit nearly all probes */
    int slice_count;
};

enum answer { PROPOSED, SKIPPED, NO_MORE };

struct hypothesis {
    /* Make the i-th formula of a new one. */
    enum answer (*propose)(const struct search *search, int i, struct formula *f);
    bool precision; /* explains a result that is nearly right, too */
    bool literal;   /* is what one sees, whatever A and B are */
};

extern const struct hypothesis explain_hypotheses[]; /* simple ones first; ends with an empty one */

/* ---- what is found ----------------------------------------------------------------------------
 */

/* The formula that gives C. False: none, or several do. `text` is a sentence. */
bool explain_values(struct study *study, struct fit *fit, struct explanation *out);

/* Where the elements are that have this state; `out` gets name, text and hint. False: nowhere in
 * particular. */
bool explain_region(const struct study *study, enum state state, struct explanation *out);

/* ---- words (explain.c) ---- */

/* Appends to the text, as far as there is room. */
void explain_say(struct explanation *out, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
