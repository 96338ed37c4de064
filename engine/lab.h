/* lab.h: the form of a lab. A lab is a folder with one description of this form; the engine's host,
 * the plain program, make check and the grader know it by nothing else.
 *
 *     lab.c      `lab`: what it is. Names, parameters, arrays, the order of
 *                arguments. Data alone.
 *     call.cu    `lab_call`: calls the submission's wrapper. The only file with
 *                the wrapper's types.
 *     *.c        `lab_truth`: what is correct. Values of inputs, the verdict on
 *                outputs, work, shapes. In lab.c where it is short.
 *     mistakes/  `lab_lessons`, the mistakes that it knows, in words; and
 *                `lab_rules` (explain/outcome.h), which proves them. Or none.
 *
 * They are apart because of who is linked with a submission: what runs one for the grader gets
 * lab.c and call.cu, and neither a seed nor a correct result. Only make check has the rules.
 *
 * Everywhere: parameters in the order of lab.params, arrays in the order of lab.arrays, the last
 * index of an array running fastest and without padding, indices from 0. A list ends with the first
 * member whose name is null. */
#ifndef ENGINE_LAB_H
#define ENGINE_LAB_H
#include "engine.h"
#include "report/record/sentences.h"
#include "report/text/text.h"
#include "report/words/vocabulary.h"
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    LAB_PARAMS = 6,
    LAB_ARRAYS = ENGINE_ARRAYS,
    LAB_ARGUMENTS = LAB_PARAMS + LAB_ARRAYS,
    LAB_FILLS = 12,
    LAB_COMPARISONS = 8,
    LAB_CRITERIA = 8,
    LAB_FORMULAS = 8
};

struct lab_param {
    const char *name;           /* "m": on the command line, in cases, in records */
    const char *type;           /* of the wrapper's argument: "int" */
    int64_t least, most, usual; /* usual: where the command line gives none */
    const char *what;           /* "rows of A and C" */
};

/* Values of a lab's parameters. */
struct shape {
    int64_t of[LAB_PARAMS];
};

/* of[param] + plus; where param is negative, plus alone. */
struct lab_extent {
    int param, plus;
};

struct lab_array {
    const char *name; /* "A" */
    enum element element;
    const char *type; /* of an element in the wrapper's signature: "float" */
    enum role role;
    int dimensions;
    struct lab_extent extent[ENGINE_DIMENSIONS];
    int phase_axis, axis_of[3]; /* as in struct engine_array */
};

/* A way to give sizes on the command line, for --help. */
struct lab_usage {
    const char *sizes; /* "M K N"; "": none. Null ends the list */
    const char *what;  /* "A (M x K) by B (K x N)" */
};

/* A kind of values for the inputs. */
struct lab_fill {
    const char *name; /* "random" */
    const char *what; /* for --help: lines separated by \n */
    /* Those of lab_truth.comparisons that a test case with it may ask for; none: any. */
    const char *comparisons[LAB_COMPARISONS];
};

/* A mistake that makes all of the only output wrong in one way. Whether it did, lab_truth.value
 * says; make check then names it where the output was stored for the last time. */
struct lab_formula {
    const char *name;  /* "exclusive": in JSON, in records. Null ends the list */
    const char *claim; /* the output with it: "each element of out lacks its own element of in" */
    const char *hint;  /* one idea that points at the mistake, not its solution */
    bool in_blocks;    /* it depends on a block's number of elements: powers of two are tried */
};

enum { SUM_FACTORS = 4, SUM_TERM = -1 };

/* An element of an output as a sum of products of elements of inputs, for what follows sums. */
struct array_sum {
    int output;    /* an array's number, as all here */
    int64_t terms; /* 0: there is no such sum */
    int factors;
    struct {
        int array;
        /* For each of its axes the axis of the output that has the same index; SUM_TERM: the number
         * of the term. */
        int index[ENGINE_DIMENSIONS];
    } factor[SUM_FACTORS];
};

/* Where the page draws an array: in which row and which column of panels, and with which array's
 * rows, or columns, its own are to line up; -1: with none. */
struct lab_panel {
    int row, col, rows_with, cols_with;
};

struct lab {
    const char *name;    /* "scan": of programs and of the lab in records */
    const char *title;   /* "C = A B" */
    const char *kernel;  /* that a submission defines; null: any */
    const char *wrapper; /* that is called: "run_scan" */
    struct lab_param params[LAB_PARAMS];
    struct lab_array arrays[LAB_ARRAYS];
    /* Of the wrapper, by name of parameter or array; "float alpha": another one, whose value
     * lab_call has. */
    const char *arguments[LAB_ARGUMENTS];
    const char *command_line[LAB_PARAMS]; /* parameters in the order in which they are typed */
    bool one_for_all;                     /* a single size stands for all of them */
    struct lab_usage usage[4];
    /* What to write first, null as all here: nothing is said; in a sentence with a \n in its
     * middle, for a student who has written nothing; and what is behind "are NaN" in a result, with
     * shared memory and without. */
    const char *first_step, *nan_with_shared, *nan;
    const char *time;    /* lab_truth.seconds in words: "10, and 1 more for ..." */
    const char *naive;   /* loads of the plainest kernel, as a formula: "2 m n k"; null: it is not
                            spoken of. Where lab_truth.operations says as many, each kernel has
                            these */
    const char *beside;  /* what kernels are timed beside on a GPU: "cuBLAS", of lab_speed; null:
                            it has none, and they are timed beside a copy of as many bytes */
    const char *version; /* of the assignment: what --version prints and grades record */
    struct lab_fill fills[LAB_FILLS]; /* the first one is the usual one */
    int counting_fill;                /* the one that is easiest to follow by hand */
    /* What its test cases may ask for beside a correct result and clean memory, each a file NAME.py
     * of grader/criteria/ or of criteria/ in its folder. */
    const char *criteria[LAB_CRITERIA];
    struct lab_formula formulas[LAB_FORMULAS];
    struct array_sum sum;    /* no factors: there is none */
    int sum_terms;           /* the parameter that says how many terms it has */
    struct vocabulary words; /* but for the output's name and the wrapper's: lab_words() */
    struct lab_panel panels[LAB_ARRAYS]; /* all of them 0: arrays lie below each other */
    /* The usual index of each array, where a kernel has shared arrays and where it has none; null:
     * nothing is said. */
    struct {
        const char *shared, *plain;
    } textbook[LAB_ARRAYS];
};

extern const struct lab lab;

/* The submission's wrapper: its address, and a call of it. The arrays are on the device. */
struct lab_call {
    const void *wrapper;
    void (*call)(const struct shape *shape, void *const arrays[LAB_ARRAYS]);
};

extern const struct lab_call lab_call;

/* Defines lab_call, behind a declaration of the wrapper: LAB_CALL(wrapper, arguments), where p[i]
 * is a parameter and a[i] an array. */
#ifdef __cplusplus
#define LAB_CALL(function, ...)                                                                    \
    static void call_wrapper(const struct shape *s, void *const a[LAB_ARRAYS]) {                   \
        const int64_t *const p = s->of;                                                            \
        function(__VA_ARGS__);                                                                     \
    }                                                                                              \
    extern "C" const struct lab_call lab_call = {(const void *)function, call_wrapper};
#endif

/* The mistakes that runs of this lab can prove. */
struct lab_lessons {
    const char *const *causes; /* their names: "row-length", in JSON, in records */
    int count;
    struct sentence_table sentences; /* that are said of them */
};

extern const struct lab_lessons lab_lessons;

/* --- what is right ---------------------------------------------------------------------------- */

/* One set of inputs, and how strictly the outputs are judged. */
struct lab_case {
    struct shape shape;
    uint64_t seed;
    int fill;       /* a position in lab.fills */
    int comparison; /* a position in lab_truth.comparisons */
};

/* Rows and columns of an output, both ends included; empty when row_first > row_last. */
struct box {
    int row_first, row_last, col_first, col_last;
};

static inline struct box empty_box(void) {
    const struct box box = {INT_MAX, -1, INT_MAX, -1};
    return box;
}

/* Makes it large enough for this element, too. */
static inline void box_add(struct box *box, int row, int col) {
    if (row < box->row_first) box->row_first = row;
    if (row > box->row_last) box->row_last = row;
    if (col < box->col_first) box->col_first = col;
    if (col > box->col_last) box->col_last = col;
}

static inline uint64_t box_elements(const struct box *box) {
    return (uint64_t)(box->row_last - box->row_first + 1) *
           (uint64_t)(box->col_last - box->col_first + 1);
}

struct wrong_element {
    int row, col;                /* row: all its indices but the last one, as one number */
    double got, expected, bound; /* bound: |got - expected| may be so large */
};

enum { FIRST_WRONG = 8, MAP_ROWS = 20, MAP_COLS = 60 };

/* What an element is; in a cell of the map, the set of what its elements are. */
enum element_state { IS_RIGHT = 1, IS_WRONG = 2, IS_UNWRITTEN = 4 };

struct verdict {
    bool passed;
    int array;         /* the output that counts, boxes, map and list are of: the first wrong one */
    bool exact;        /* elements have to be equal */
    uint64_t compared; /* elements of all outputs */
    uint64_t unwritten; /* its elements that no thread wrote */
    uint64_t wrong;     /* those that were written, and are wrong */
    uint64_t nan;       /* those of them that are NaN */
    bool not_float32;   /* COMPARE_FLOAT32: all within the bound, but less precise than float32 */
    double max_error_u; /* |C - ref| / (u G) over the finite elements with G > 0: largest */
    double rms_error_u; /* and root of the mean square */
    int first_count;    /* the first wrong elements in row-major order */
    struct wrong_element first[FIRST_WRONG];
    struct box wrong_box, unwritten_box;
    /* A map of the output: a cell has what cell_rows x cell_cols elements are. */
    int map_rows, map_cols, cell_rows, cell_cols;
    unsigned char map[MAP_ROWS][MAP_COLS];
};

/* form/verdict.c: of an output so large, of which no element is known yet. Cells of the map are
 * multiples of `cell` elements in each direction. */
void verdict_begin(struct verdict *verdict, int array, int64_t rows, int64_t cols, int cell);
/* One more element that is not right: counts, the boxes, and the first wrong ones, of which the
 * caller adds the values. */
void verdict_note(struct verdict *verdict, enum element_state state, int row, int col);
/* One more element. */
static inline void verdict_add(struct verdict *v, enum element_state state, int row, int col) {
    v->map[row / v->cell_rows][col / v->cell_cols] |= (unsigned char)state;
    if (state != IS_RIGHT) verdict_note(v, state, row, col);
}
/* What another thread has found of other elements of the same output. */
void verdict_merge(struct verdict *verdict, const struct verdict *other);

/* What a wrong C is instead of A B, found by computing what common mistakes would give. */
struct explanation {
    char formula[64];             /* a name for programs: "k-cut", "b-transposed", ... */
    bool about_nan;               /* it explains elements that are NaN */
    bool sum_changed;             /* the right elements are multiplied: C is A B times a number */
    bool explains_values;         /* it gives all wrong elements but NaN; no other mistake does */
    char text[2 * MESSAGE_SIZE];  /* what C is, and for how many elements; one paragraph */
    char claim[2 * MESSAGE_SIZE]; /* the same without numbers of elements and the point at its end;
                                     empty: it has none */
    char hint[MESSAGE_SIZE];      /* one idea that points at the mistake, not its solution */
    uint64_t explained, of;       /* numbers of wrong (or unwritten) elements */
    /* Where this one mistake explains all that is wrong or unwritten: the part of the products
     * A[i][p] * B[p][j] that are in C, up to 1. Else 0. */
    double products;
    /* Where elements were never written: those in this row or a later one, and in this column or a
     * later one; all others were. 0: they lie otherwise. */
    int row_end, col_end;
};

enum { EXPLANATIONS = 3 }; /* at most: where C was not written, where NaN came from, the rest */

/* What a shape is for. `width`: of the submission's shared arrays or blocks, 16 where that is not
 * known.
 */
enum lab_purpose {
    SHAPE_CHECK, /* small ones, each of which catches something that those before it let through */
    SHAPE_TELL,  /* on which each parameter can be recognized in an index, and edges exist: distinct
                    primes that suit the width; the first one shows most */
    SHAPE_COUNT, /* whose loads and stores are shown */
    SHAPE_WHOLE, /* without edges, as SHAPE_TELL has them */
    SHAPE_PHASES, /* of which a block can be followed by hand */
    SHAPE_PAGE    /* for the walkthrough: one block whole, and the edges of the next ones */
};

/* What is not null is a lab's own; a lab has to give fill, and reference or verify. */
struct lab_truth {
    /* Writes the values of all inputs, a pure function of the case. */
    void (*fill)(const struct lab_case *which, void *const arrays[LAB_ARRAYS]);

    /* The correct outputs, each of its own type, for these inputs; in the others right[] is null.
     * Elements are compared bit by bit, unless `bound` says how far one may be off. */
    void (*reference)(const struct lab_case *which, const void *const inputs[LAB_ARRAYS],
                      void *const right[LAB_ARRAYS]);
    double (*bound)(const struct lab_case *which, const void *const inputs[LAB_ARRAYS], int array,
                    int64_t element);
    /* Or a verdict of its own, and reference is null: compares outputs with what they should be,
     * for these inputs. False: no memory; *verdict is then meaningless. */
    bool (*verify)(const struct lab_case *which, const void *const arrays[LAB_ARRAYS],
                   struct verdict *verdict);
    /* Whether an element of the first output, by its number, is wrong; *right is what it should be.
     * For the page; null: reference and bound say so, or none is marked. */
    bool (*is_wrong)(const struct shape *shape, const void *const arrays[LAB_ARRAYS],
                     int64_t element, double *right);
    /* How strictly: names for test cases. The first is the strictest that the fill allows. */
    const char *comparisons[LAB_COMPARISONS];
    /* What wrong outputs are instead: see struct explanation. Null, as all below: description.c has
     * what is usual. */
    int (*explain)(const struct lab_case *which, const void *const arrays[LAB_ARRAYS],
                   const struct verdict *verdict, struct explanation *out);
    /* Or, where explain is null: element i of the only output with the mistake
     * lab.formulas[formula], in blocks of so many elements. right[] has the output as reference
     * gives it. */
    double (*value)(const struct lab_case *which, const void *const inputs[LAB_ARRAYS],
                    const void *const right[LAB_ARRAYS], int formula, int64_t block, int64_t i);

    /* Lines that say how to read values of this fill, for whoever looks at wrong ones; and about a
     * result that is not as precise as it should be. Null: there is nothing to say. */
    void (*say_fill)(const struct lab_case *which, FILE *out);
    void (*say_precision)(const struct verdict *verdict, char text[MESSAGE_SIZE]);

    /* Of these parameters: arithmetic operations; elements that the plainest kernel loads from
     * global memory; seconds that a plain run of one call may take. */
    double (*operations)(const struct shape *shape);
    double (*naive_loads)(const struct shape *shape);
    double (*seconds)(const struct shape *shape);

    /* The number-th shape for a purpose, 0 for the first. False: there are no more. */
    bool (*shape)(enum lab_purpose purpose, int number, int width, struct shape *shape);
    /* Whether kernels may be called with these parameters, each of which is in its range; if not,
     * why, in one line. */
    bool (*allows)(const struct shape *shape, char message[MESSAGE_SIZE]);
};

extern const struct lab_truth lab_truth;

/* The same, or what is usual: form/description.c, form/verdict.c. Naive loads: 0 where they are not
 * known. */
bool truth_verify(const struct lab_case *which, const void *const arrays[LAB_ARRAYS],
                  struct verdict *verdict);
/* The first elements of the first output that were written and are wrong: how many, up to `most`.
 */
int truth_wrong(const struct lab_case *which, const void *const arrays[LAB_ARRAYS], int most,
                struct wrong_element *wrong);
int truth_explain(const struct lab_case *which, const void *const arrays[LAB_ARRAYS],
                  const struct verdict *verdict, struct explanation *out);
/* What a verdict that is not passed says, as a finding without a place. False: it is passed. */
bool verdict_finding(const struct verdict *verdict, const struct shape *shape,
                     struct finding *finding);
/* And what the result is instead (report/words/print.h). */
struct explained;
bool judge_verdict(const struct lab_case *which, const void *const arrays[LAB_ARRAYS],
                   const struct verdict *verdict, struct finding *finding,
                   struct explained *explained);
double truth_operations(const struct shape *shape);
double truth_naive_loads(const struct shape *shape);
double truth_seconds(const struct shape *shape);
bool truth_shape(enum lab_purpose purpose, int number, int width, struct shape *shape);
bool truth_allows(const struct shape *shape, char message[MESSAGE_SIZE]);

/* For fills: 64 random bits, and a value on (-1, 1), symmetric about 0 and never 0, which are pure
 * functions of all three; each array has a stream of its own. */
uint64_t lab_random(uint64_t seed, int stream, uint64_t index);
float lab_uniform(uint64_t seed, int stream, uint64_t index);

/* For shapes: the first prime from this number on. */
int64_t lab_prime_from(int64_t number);

/* --- speed ------------------------------------------------------------------------------------ */

/* What submissions are timed beside on a GPU, and a verdict there, for a lab that has something:
 * `lab_speed`, in speed.cu. (For others it is grader/clock/copy.c: a copy, and lab_truth on the
 * host.) No code of a submission runs in its process. All of it works on the default stream of the
 * CUDA context that is current. What returns a text returns null, or in one line what failed, which
 * is the machine's fault. */
struct speed {
    const void *in[LAB_ARRAYS]; /* values of the inputs; null where there are none */
    void *out[LAB_ARRAYS]; /* outputs, which verify() judges, likewise. Both on the device or on
                              the host; the caller may set others */
};

struct lab_speed {
    /* Memory for it; the caller ends it with end(). */
    const char *(*begin)(const struct shape *shape, struct speed **speed);
    /* New values of all inputs, a pure function of the seed, and what is right for them. */
    const char *(*fill)(struct speed *speed, uint64_t seed);
    /* Whether run() computes the outputs, which are on the device then; else it computes none. */
    bool computes;
    /* What is timed, once. Asynchronous; allocates nothing. */
    const char *(*run)(struct speed *speed);
    /* Waits for the device first. */
    const char *(*verify)(struct speed *speed, struct verdict *verdict);
    void (*end)(struct speed *speed);
};

extern const struct lab_speed lab_speed;

/* --- of any lab: form/description.c ----------------------------------------------------------- */

/* How many parameters and arrays it has. */
int lab_params(const struct lab *lab);
int lab_arrays(const struct lab *lab);

/* Extents of an array with these parameters, and their product. */
void lab_extents(const struct lab_array *array, const struct shape *shape,
                 int64_t extent[ENGINE_DIMENSIONS]);
int64_t lab_elements(const struct lab_array *array, const struct shape *shape);

/* The widest extent of any array. */
int64_t lab_widest(const struct lab *lab, const struct shape *shape);

/* "m=34 k=35 n=36": in the order of the command line. */
struct shape_text {
    char of[LAB_PARAMS * 40];
};
struct shape_text lab_shape_text(const struct lab *lab, const struct shape *shape);

/* Its parameters as members, in their order. */
struct json;
void json_shape(struct json *json, const struct lab *lab, const struct shape *shape);

/* Where the command line says it: "35 70 20". */
struct shape_text lab_shape_words(const struct lab *lab, const struct shape *shape);

/* Reads them in that order from the first of so many words. Returns how many they are; 0: there are
 * too few, or one is no number within its limits. */
int lab_shape_read(const struct lab *lab, int count, char **words, struct shape *shape);

/* The least that any kernel loads: each element of an input once. */
uint64_t lab_least_loads(const struct lab *lab, const struct shape *shape);

/* The first output: threads are launched for its elements. */
int lab_first_output(const struct lab *lab);
/* lab.words, with the names of the output and of the wrapper. */
struct vocabulary lab_words(const struct lab *lab);

/* All outputs together. */
uint64_t lab_outputs(const struct lab *lab, const struct shape *shape);

/* The position of a parameter, of a fill, or of a formula, of this name; -1: there is none. */
int lab_param(const struct lab *lab, const char *name);
/* The position of the i-th parameter of the command line; -1: it has no more. */
int lab_typed(const struct lab *lab, int i);
int lab_fill(const struct lab *lab, const char *name);
int lab_formula(const struct lab *lab, const char *name);

#ifdef __cplusplus
}
#endif
#endif
