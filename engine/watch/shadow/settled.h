/* Words of global memory that another plain read in the running launch adds nothing to: a byte a
 * word says so, for the short path (access.c), where no array is known to be an input. */
#ifndef ENGINE_WATCH_SHADOW_SETTLED_H
#define ENGINE_WATCH_SHADOW_SETTLED_H
#include <stddef.h>
#include <stdint.h>

/* The words from `begin` on, and for each the launch in which it was settled, as one of 1 to 255.
 */
struct settled_span {
    uintptr_t begin;
    size_t words;
    unsigned char *launch;
};

/* Of allocations, and of the program, where kernel.cu's constants lie. */
enum { SETTLED_MEMORY, SETTLED_PROGRAM, SETTLED_SPANS };
struct settled {
    struct settled_span span[SETTLED_SPANS];
    unsigned char now;
};

/* With the first allocation, from its beginning on: others have higher addresses. */
void settled_make(uintptr_t begin);
/* Of the program, from its beginning to its end. */
void settled_make_program(uintptr_t begin, uintptr_t end);
/* Of the running launch; no words where there is no memory for it. */
struct settled settled_now(void);
/* Before its first block. */
void settled_begin_launch(void);
/* Under the word's lock. */
void settled_set(uintptr_t word);
/* Before a write. */
void settled_clear(uintptr_t word);

#endif
