/* Prefix sums: what the mistakes are called, and what is said of them. */
#include "mistakes.h"

/* As explain.c calls what comes out. */
static const char *const causes[MISTAKES] = {[SAY_EXCLUSIVE] = "exclusive",
                                             [SAY_BLOCKS_APART] = "blocks-not-added",
                                             [SAY_OWN_SUM_ADDED] = "own-sum-added"};

static const char *const rows[SENTENCES] = {
    [SAY_EXCLUSIVE] = "each element of out lacks its own element of in",
    [SAY_BLOCKS_APART] = "the elements of a block lack the sum of the blocks before it",
    [SAY_OWN_SUM_ADDED] = "the elements of a block also have the block's own sum added",
    [SAY_LAST_STORE] = "launch %d of %d is the last one that stores out, here\n"};

const struct lab_lessons lab_lessons = {causes, MISTAKES, {rows, SENTENCES}};
