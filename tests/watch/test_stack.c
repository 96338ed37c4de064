/* Tests of engine/watch/stack.h: which stores change what a function returns with. */
#include "../../engine/watch/stack.h"
#include "../check.h"

__thread struct running_index running_index;

/* As gcc lays it out for an aligned local variable: the registers that a function saves, one of
 * which points behind the true return address; its frame, with a copy of that; and the address. */
enum { POINTER = 3, FRAME = SAVED, TRUE_ADDRESS = FRAME + 8, WORDS = TRUE_ADDRESS + 4 };
static uintptr_t stack[WORDS];

static bool is_returned_with(size_t word) {
    const bool of_frame = word == FRAME || word == FRAME + 1;
    return of_frame || (SAVED && (word == POINTER || word == TRUE_ADDRESS));
}

TEST(what_the_checker_calls_with_is_no_local_variable) {
    struct watch w = {.memory.stacks.begin = (char *)stack};
    const struct frame *callee = (const struct frame *)&stack[FRAME];
    for (uintptr_t at = (uintptr_t)stack; at < (uintptr_t)(stack + WORDS); ++at)
        CHECK(stack_is_local(&w, at, callee) == (at >= (uintptr_t)(callee + 1)));
}

TEST(no_byte_of_what_a_function_returns_with_may_change) {
    const struct frame *frame = (const struct frame *)&stack[FRAME];
    const uintptr_t begin = (uintptr_t)stack, end = begin + sizeof stack;
    stack[FRAME + 1] = stack[TRUE_ADDRESS] = (uintptr_t)&running_index;
    stack[POINTER] = (uintptr_t)&stack[TRUE_ADDRESS + 1];
    for (uintptr_t at = begin; at < end; ++at) {
        const struct store store = {at, at + 1};
        CHECK(meets_frame(store, frame, end) == is_returned_with((at - begin) / sizeof *stack));
    }
}
