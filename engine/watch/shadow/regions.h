/* Allocations of device memory: which there are, and which of them are arrays of the run; and
 * kernel.cu's variables. */
#ifndef ENGINE_WATCH_SHADOW_REGIONS_H
#define ENGINE_WATCH_SHADOW_REGIONS_H
#include "array.h"
#include "cells.h"

/* An allocation. It is never removed, only marked as freed. */
struct region {
    struct region *next;
    const struct engine_array *array; /* null: an allocation of the wrapper's */
    int number;                       /* the array's, in the run */
    uintptr_t begin;
    size_t bytes;
    struct {
        uintptr_t begin;
        size_t bytes;
    } allocated; /* an array may be only a part of it */
    bool on_device, freed, in_wrapper;
    struct cells cells; /* of everything but inputs, which have none */
    void *frames[16];   /* who allocated it */
    int frame_count;
};

void region_add(char *begin, size_t bytes, bool on_device, bool in_wrapper);
void region_free(char *begin);
/* The bytes count as written before any launch. */
void region_written(struct region *r, const char *to, size_t bytes);
/* The allocation that these elements are in is this array, the number-th; `array` must outlive the
 * run. An input loses its cells. */
void region_name(int number, const struct engine_array *array);

/* Null: none. A freed one is found until its addresses are allocated again. */
struct region *region_find(uintptr_t address);
/* Whether the address is in the region's allocation, if perhaps outside of the array. */
bool region_reaches(const struct region *r, uintptr_t address);
/* Of those that are not freed. */
struct region *region_nearest(uintptr_t address);
/* All of them, the last allocated first. */
struct region *region_first(void);
/* Null: no array has that number, or it is freed. */
const struct region *region_of_array(int number);
/* The array of that number, freed or not; null: the run has none. */
const struct engine_array *region_array(int number);
/* The first array that has a phase axis; the first one that is written. Null: none. */
const struct region *region_with_phases(void);
const struct region *region_output(void);

static inline bool region_is_input(const struct region *r) {
    return r->array && r->array->role == ROLE_INPUT;
}

/* --- global.c ---------------------------------------------------------- */

/* The cells of the allocation that the address is in, or else of kernel.cu's variables, and where
 * they begin; null: none. Kernels access __device__ and managed variables as they do other global
 * memory. */
struct cells *global_cells(uintptr_t address, uintptr_t *begin);

/* --- settled words ----------------------------------------------------------------------------
 *
 * Words of global memory that another plain read in the running launch adds nothing to: a byte a
 * word says so, for the short path (access.c), where no array is known to be an input. */

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
