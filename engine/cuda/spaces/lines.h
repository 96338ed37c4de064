/* The line table of an object: DWARF 4, section 6.2. */
#ifndef EMULATOR_SPACES_LINES_H
#define EMULATOR_SPACES_LINES_H
#include "object.h"

struct source_line {
    char file[1024]; /* as the compiler was told; "" where it is not known */
    unsigned line;
};

/* Where the instruction at this offset of this section comes from. */
struct source_line lines_find(const struct object *o, unsigned section, size_t offset);

#endif
