/* The shadow of kernel.cu's variables: see regions.h. */
#include "../../cuda/program/program.h"
#include "../machine.h"
#include "regions.h"
#include "settled.h"

extern const char __executable_start[], _end[];

static struct {
    uintptr_t begin, end;
    struct cells cells;
} watched[PROGRAM_EXTENTS];

__attribute__((constructor)) static void make_cells(void) {
    settled_make_program((uintptr_t)__executable_start, (uintptr_t)_end);
    for (int i = 0; i < PROGRAM_EXTENTS; ++i) {
        program_extent(i, &watched[i].begin, &watched[i].end);
        watched[i].begin = watched[i].begin / WORD * WORD;
        if (!cells_make(&watched[i].cells, (watched[i].end - watched[i].begin) / WORD + 1))
            machine_fault("out of memory for watching kernel.cu's variables");
        cells_set_written(&watched[i].cells, 0, watched[i].cells.words); /* by initializers */
    }
}

const struct cells *variables_cells(uintptr_t address, uintptr_t *begin) {
    for (int i = 0; i < PROGRAM_EXTENTS; ++i) {
        *begin = watched[i].begin;
        if (address >= watched[i].begin && address < watched[i].end) return &watched[i].cells;
    }
    return NULL;
}

const struct cells *variables_number(int number, uintptr_t *begin) {
    if (number >= PROGRAM_EXTENTS) return NULL;
    *begin = watched[number].begin;
    return &watched[number].cells;
}
