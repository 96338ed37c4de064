/* From the symptoms of a mistake to the mistake itself.
 *
 * A shape went wrong: the checker noted an access, or C is not A B. What that shows depends on
 * luck. What the kernel computes does not: it runs once more, on a shape on which each number has
 * one meaning (evidence.c), and from the accesses of that run (record.h, index.h) follow the
 * mistakes below, or nothing.
 *
 *   rules.c         which of them it is
 *   situation.c     what the rules share
 *   cause_launch.c  of grid and block, and of what the wrapper passes
 *   cause_index.c   of index expressions
 *   cause_guard.c   of conditions: loads and stores that are left out, or are not
 *   lessons.c       what they are called, and what is said of them */
#ifndef LAB_SITUATION_H
#define LAB_SITUATION_H
#include "../../engine/explain/index/index.h"
#include "../../engine/explain/outcome.h"
#include "../../engine/report/text/text.h"
#include "../sgemm.h"

enum sgemm_cause {
    BEFORE_CAUSES = LAB_CAUSES - 1,
#define CAUSE(name, ...) CAUSE_##name,
#include "causes.def"
    CAUSES
};

enum {
#define SENTENCE(name, ...) SAY_##name,
#include "causes.def"
};

/* The sizes in the order of enum size; each matrix's rows are that many elements long, and it has
 * so many of them. */
enum size { SIZE_M, SIZE_N, SIZE_K, SIZES };
extern const enum size cause_columns[MATRIX_COUNT], cause_rows[MATRIX_COUNT];

/* One of the accesses that an SGEMM has, and the index that it uses. */
struct view {
    const struct recovered *access; /* null: there is none whose index was recovered */
    struct layout layout;           /* of an element of the matrix */
    unsigned varied;                /* as in struct recovered */
    bool alone;                     /* no other line has such an access */
};

/* What is known about one launch of a wrapper that went wrong. */
struct situation {
    struct shape shape; /* of the run that is the evidence */
    struct index_size size[SIZES];
    const struct recovery *recovery;
    const struct outcome *failed;        /* the run that went wrong */
    const struct finding_launch *launch; /* the same launch of that run */
    /* No other launch loads A or B, and none after this one stores elements of C: whatever C needs
     * is done here. Neither is so of a run that was stopped: it may not have got to one. */
    bool whole;
    bool only_store; /* no other launch stores elements of C */
    /* And it is known whole, as are all others: what it does not load or store is nowhere, nor is
     * it loaded of a copy. */
    bool seen_all;
    union { /* loads of A and B from global memory, the store of C; all three by matrix */
        struct {
            struct view load[2], store;
        };
        struct view global[MATRIX_COUNT];
    };
    struct view use[2]; /* the elements that reach the products, be it through shared memory */
    bool known; /* everything that decides which these are is known, with right row lengths */
    struct cause *cause; /* to be set, by the rule that proves it */
};

/* --- for the rules ---------------------------------------------------------------------------- */

/* A rule: true, and *s->cause, if this is the mistake. */
typedef bool cause_rule(const struct situation *s);

cause_rule cause_matrices_exchanged, cause_sizes_exchanged, cause_launch_exchanged,
    cause_block_shape, cause_grid;
cause_rule cause_row_length, cause_store_transposed, cause_block_exchanged, cause_thread_exchanged,
    cause_phase, cause_some_phases, cause_loop_count, cause_steps, cause_constant,
    cause_tile_not_stored, cause_tile_overwritten, cause_store_in_loop, cause_tile_type, cause_sum;
cause_rule cause_guard;

/* Of its views, what `known` says. */
bool cause_is_known(const struct situation *s);

/* All that the launch accesses: for (EACH_ACCESS(a, s)). */
#define EACH_ACCESS(a, s)                                                                          \
    const struct recovered *a = (s)->recovery->access;                                             \
    a < (s)->recovery->access + (s)->recovery->count;                                              \
    a++
/* The first load, or store, of an array; null: there is none. */
const struct recovered *cause_access_of(const struct situation *s, int array, bool write);

/* Of an index: the rows of A, or the columns of B, are also C's; the other part is along k. */
static inline const struct index_formula *cause_own(const struct layout *l, int matrix) {
    return matrix == MATRIX_A ? &l->row : &l->col;
}
static inline const struct index_formula *cause_other(const struct layout *l, int matrix) {
    return cause_own(l, !matrix);
}

/* How many rows or columns a part of an access's index runs through in such a grid, from 0 on, by
 * these variables alone. */
long long cause_extent(const struct situation *s, const struct recovered *access,
                       const unsigned grid[3], const struct index_formula *part,
                       unsigned variables);

/* The first and the last row of B that its loads get to, by their indices: what lies beyond the
 * last column is no row. False: some load's index is not known. */
bool cause_rows_of_b(const struct situation *s, long long *first, long long *last);

/* Whether it is about which elements are stored, which no load decides. */
bool cause_is_of_stores(const struct finding *f);
/* Whether a mistake in the loads, or the store, of this matrix can be behind the finding. */
bool cause_concerns(const struct situation *s, int matrix);

/* For each word of a shared array, whether the first block stores and reads it; null: out of
 * memory. The caller frees it. */
enum { WORD_STORED = 1, WORD_READ = 2 };
unsigned char *cause_uses_of_words(const struct situation *s, int array);

/* Begins a cause at an access of the kernel, or at the launch. */
void cause_at_access(const struct situation *s, enum sgemm_cause kind,
                     const struct recovered *access);
void cause_at_launch(const struct situation *s, enum sgemm_cause kind);

/* Says a sentence in it: CAUSE_SAY(its name, its words). */
#define CAUSE_SAY(...) SENTENCES_ADD(&s->cause->said, &lab_lessons.sentences, __VA_ARGS__)

/* Of the first part of an index, and of the second. */
extern const char *const cause_direction[2], *const cause_directions[2];

/* Words of a sentence: "A", or of a shared array, its own name; */
#define NAME(array) W(recover_array_name(s->recovery, array))
/* and "loads B[...]", with the index as recovered; with a line that is not the cause's own. */
#define ACCESS(access) W(cause_say_access(s, access).text)
struct cause_phrase {
    char text[400];
};
struct cause_phrase cause_say_access(const struct situation *s, const struct recovered *access);

#endif
