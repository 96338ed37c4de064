/* The structure of kernel.cu's text, as far as findings need it: which loops and ifs a line is in,
 * and where there are barriers. */
#ifndef ENGINE_EXPLAIN_OUTLINE_H
#define ENGINE_EXPLAIN_OUTLINE_H
#include <stdbool.h>

enum construct_kind { CONSTRUCT_FUNCTION, CONSTRUCT_LOOP, CONSTRUCT_IF };

enum { COMPARED = 24 }; /* longer names are not noted */

/* From its first line, that of the keyword or the function's name, to its last one. */
struct construct {
    enum construct_kind kind;
    int first, last;
    bool kernel; /* a function that is __global__ */
    /* A loop or an if that ends with a ; before the body that it looks to have: this body's line.
     */
    int cut_off;
    /* Of a loop whose condition is that this variable is less, or greater, than itself: its name.
     */
    char itself[COMPARED];
    bool declares_it; /* the loop */
};

enum { CONSTRUCTS = 400, BARRIERS = 100 };
struct structure {
    int count, barriers;
    struct construct constructs[CONSTRUCTS]; /* inner ones before those around them */
    int barrier[BARRIERS];                   /* lines of __syncthreads() and the like */
};

/* Reads a text in CUDA C++. False: its brackets do not match (preprocessor branches, macros), or it
 * is too long; then nothing is known. */
bool structure_read(struct structure *s, const char *text);

/* The innermost construct of that kind around a line; null: none. A lambda is a function. */
const struct construct *structure_around(const struct structure *s, enum construct_kind kind,
                                         int line);
/* The innermost, or the outermost, of those around a line that are not around another one. */
const struct construct *structure_innermost_without(const struct structure *s,
                                                    enum construct_kind kind, int line, int other);
const struct construct *structure_outermost_without(const struct structure *s,
                                                    enum construct_kind kind, int line, int other);
/* The innermost around both. */
const struct construct *structure_common(const struct structure *s, enum construct_kind kind,
                                         int line, int other);
/* A line with a barrier, from `first` to `last`; 0: none. */
int structure_barrier_between(const struct structure *s, int first, int last);

#endif
