/* From an address in shared memory to A_s[3][7]: names and shapes of shared arrays. */
#ifndef ENGINE_CUDA_PROGRAM_NAMES_H
#define ENGINE_CUDA_PROGRAM_NAMES_H
#include "../../report/element_type.h"
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* A shared array, as the program's debug information knows it. */
enum { NAME_DIMENSIONS = 4 };
struct shared_name {
    char name[64];
    size_t offset, bytes; /* in thread-local storage */
    size_t element;       /* bytes; 0: not known */
    enum element type;    /* of an element; ELEMENT_BYTES: a structure's, or not known */
    int dimensions;
    size_t dimension[NAME_DIMENSIONS];
};

/* Not a variable of the program's: the flag that gcc keeps beside a shared array of float4, because
 * in the checked build those have constructors (vector_types.h). The poison in it says "done". */
static inline bool name_is_guard(const struct shared_name *name) {
    return strncmp(name->name, "_ZGV", 4) == 0;
}
/* The indices of the element with this number in an array of these dimensions, of which the first
 * is not looked at. */
void name_indices(size_t *index, const size_t *dimension, int dimensions, size_t element);
/* The variable that holds byte `offset` of the thread-local storage. False: none, or no symbols. */
bool name_find(size_t offset, struct shared_name *found);
/* Likewise of a __device__, __constant__ or __managed__ variable, by its address: its offset is the
 * address's in it, and dimensions are not known. */
bool name_of_variable(const void *address, struct shared_name *found);
/* The last one that begins at or before it. */
bool name_before(size_t offset, struct shared_name *found);
/* All of them, in order of their offsets, without dimensions; what the runtime keeps there is not
 * among them. */
int name_list(const struct shared_name **list);
/* Bytes of what variables and parameters of this name point to; 0: not known, or they differ. */
size_t name_points_to(const char *name);
/* The one name that the program gives to dynamic shared memory; null where it has several or none.
 */
const char *name_of_dynamic(void);
/* Whether it has any. */
bool name_has_dynamic(void);
/* Whether some variable's dimensions end as those of `type` ("float [16]"); its name is empty if
 * several do. */
bool name_any_ends_as(const char *type, struct shared_name *found);
/* The variable whose array of that type an access with a bad index was meant for: where the index,
 * taken back, leads from the access at `offset` to the start of a row. The access itself may lie in
 * another variable, or in none. */
bool name_of_index(size_t offset, const char *type, long index, struct shared_name *found);

#endif
