/* Local variables of kernel.cu, in the program that knows when each of them comes into scope and
 * goes out of it (locals/insert.c): what they begin with, and whose they are, can be changed there,
 * for a run that shows whether a mistake comes from that. */
#ifndef ENGINE_WATCH_LOCALS_LOCALS_H
#define ENGINE_WATCH_LOCALS_LOCALS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LOCALS = 64 };

/* A variable that a run has come by. */
struct local_variable {
    bool seen;
    char name[64], file[512];
    int line;
    bool valued;  /* its declaration gives it a value */
    bool divided; /* threads of a block have stored to different parts of it before they waited at a
                     barrier */
    size_t bytes;
};

/* Numbered as insert.c numbers them; beyond LOCALS there are none. */
struct locals {
    struct local_variable variable[LOCALS];
};

/* What a run is to do with them: sets of numbers, as bits. */
struct locals_change {
    uint64_t zero;   /* each begins with zeros; a pointer, with the address of zeros */
    uint64_t shared; /* all threads of a block have one of them */
};

/* From now on the variables that this process's kernels come by are noted in `seen`, which must
 * outlive the run, and are changed like that. Those without a value that are not changed begin with
 * a pattern, whatever the compiler does. Blocks must run one after the other; once, before the
 * first launch. `zeros`: device memory, for pointers to point to. */
void locals_watch(struct locals *seen, const struct locals_change *change, void *zeros);

#endif
