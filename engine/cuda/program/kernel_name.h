/* A kernel's name as its author writes it, from its symbol; for C and C++, in programs that a C++
 * compiler links. */
#ifndef ENGINE_CUDA_PROGRAM_KERNEL_NAME_H
#define ENGINE_CUDA_PROGRAM_KERNEL_NAME_H
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
#include <cxxabi.h>
#else
char *__cxa_demangle(const char *symbol, char *buffer, size_t *bytes, int *status);
#endif

/* Where a function's parameters begin: at the parenthesis that the last one closes, for a template
 * argument or an anonymous namespace may have others. */
static inline size_t kernel_name_length(const char *name) {
    const char *end = strrchr(name, ')'), *begin = end;
    for (int open = end != NULL; begin > name && open; open += (*begin == ')') - (*begin == '('))
        --begin;
    return begin ? (size_t)(begin - name) : strlen(name);
}

/* "tiled<16>" of "_Z5tiledILi16EEviiiPKfS1_Pf": without its parameters. */
static inline void kernel_name(const char *symbol, char *name, size_t bytes) {
    int status;
#ifdef __cplusplus
    char *readable = abi::__cxa_demangle(symbol, NULL, NULL, &status);
#else
    char *readable = __cxa_demangle(symbol, NULL, NULL, &status);
#endif
    const char *found = readable ? readable : symbol;
    if (strncmp(found, "void ", 5) == 0) found += 5; /* so begins an instance of a template */
    snprintf(name, bytes, "%.*s", (int)kernel_name_length(found), found);
    free(readable);
}

#endif
