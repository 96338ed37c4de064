/* What the program says that is embedded in make check: see writers_program.c. */
#ifndef ENGINE_HOST_WRITERS_PROGRAM_H
#define ENGINE_HOST_WRITERS_PROGRAM_H
#include "../../cuda/runtime/runtime.h"

struct plain_run {
    struct writers writers;
    bool correct; /* the result */
};

#endif
