/* The program's own file: its symbols and variables. */
#ifndef ENGINE_CUDA_IMAGE_H
#define ENGINE_CUDA_IMAGE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes of static __shared__ memory that `kernel` declares; 0 if the program has no symbols. */
size_t image_static_shared(const void *kernel);

/* The function's symbol, mangled; empty if the program has none for it. */
void image_symbol_name(const void *function, char *name, size_t bytes);

/* Calls visit for each symbol of the program: its name; type, value and size as in ELF. */
struct image_symbol {
    const char *name;
    unsigned type;
    uintptr_t value;
    size_t size;
};
void image_symbols(void (*visit)(const struct image_symbol *symbol, void *data), void *data);

/* A section of the program's file, which stays mapped. False: none, or it is compressed. */
struct image_section {
    const char *bytes;
    size_t size;
};
bool image_find_section(const char *name, struct image_section *found);

#ifdef __cplusplus
}
#endif
#endif
