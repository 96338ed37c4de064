/* Prefix sums: what the lab is. The usual solution takes several launches: each block scans its
 * part, the blocks' sums are scanned in turn, and added to the parts behind them. */
#include "scan.h"

const struct lab lab = {
    .name = "scan",
    .title = "out[i] = in[0] + ... + in[i]",
    .kernel = "scanBlock",
    .wrapper = "prefixSum",
    .params = {[PARAM_N] = {"n", "int", 1, 1 << 26, 1000000, "elements"}},
    .arrays =
        {[ARRAY_IN] = {"in", ELEMENT_I32, "int", ROLE_INPUT, 1, {{PARAM_N, 0}}, -1, {0, -1, -1}},
         [ARRAY_OUT] =
             {"out", ELEMENT_I32, "int", ROLE_OUTPUT, 1, {{PARAM_N, 0}}, -1, {0, -1, -1}}},
    .arguments = {"n", "in", "out"},
    .command_line = {"n"},
    .usage = {{"", "sums of 1,000,000 elements"}, {"N", "of N elements"}},
    .first_step = "prefixSum launches scanBlock with enough threads, and\n"
                  "each element of out is stored by one of them.",
    .time = "10, and 1 more for every 100,000 elements",
    .naive = "n (n + 1) / 2",
    .version = "1",
    .fills = {[FILL_RANDOM] = {"random", "-1000 to 1000"},
              [FILL_ONES] = {"ones", "out[i] is i + 1"},
              [FILL_CANCEL] = {"cancel", "1, -1, 1, -1, ...: out is 1, 0, 1, 0, ..."},
              [FILL_COUNTING] = {"counting", "1, 2, 3, ... to 1000, and again"},
              [FILL_WRAP] = {"wrap", "any 32 bits: sums wrap around"}},
    .counting_fill = FILL_COUNTING,
    .criteria = {"work"},
    .formulas =
        {[EXCLUSIVE] = {"exclusive", "each element of out lacks its own element of in",
                        "does out[i] include in[i]?", false},
         [BLOCKS_APART] = {"blocks-not-added",
                           "the elements of a block lack the sum of the blocks before it",
                           "what do the elements of a block need from the blocks before it?", true},
         [OWN_SUM_ADDED] =
             {"own-sum-added", "the elements of a block also have the block's own sum added",
              "which sum does a block need: its own, or that of the blocks before it?", true},
         [COPIED] = {"copied", "out is a copy of in", "where are sums stored?", false}},
    .words =
        {.hints =
             {[FINDING_SHARED_RACE] = "within one step, which threads read what others write? Two "
                                      "buffers, or a barrier between reading and writing",
              [FINDING_GLOBAL_RACE] = "blocks run in any order: may one of them need what another "
                                      "one stores?",
              [FINDING_DIVERGENT_BARRIER] = "a thread that has nothing to add still has to reach "
                                            "every barrier",
              [FINDING_EARLY_RETURN] = "a thread without an element still has barriers to reach",
              [FINDING_OUT_OF_BOUNDS] = "how many elements does the last block have?",
              [FINDING_SHARED_OUT_OF_BOUNDS] = "how far does the last step of the tree reach?",
              [FINDING_UNINITIALIZED_SHARED] =
                  "does each thread store its element in every step, and a 0 if it has none?",
              [FINDING_UNINITIALIZED_GLOBAL] = "are the sums of all blocks there before they are "
                                               "added?",
              [FINDING_UNWRITTEN] = "which thread stores the last element, and the first one of "
                                    "each block?",
              [FINDING_WRONG_RESULT] = "which is the smallest of ./scan 8, 33, 1025 and 5000 that "
                                       "fails with --fill ones? out[i] should be i + 1"}},
    .panels = {[ARRAY_IN] = {0, 0, -1, -1}, [ARRAY_OUT] = {1, 0, -1, ARRAY_IN}},
};
