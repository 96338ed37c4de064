/* What a symbol's name says about where it comes from (Itanium C++ ABI, 5.1), and how to show it.
 */
#ifndef EMULATOR_SPACES_NAMES_H
#define EMULATOR_SPACES_NAMES_H
#include <stdbool.h>
#include <stddef.h>

/* Of the C++ library: std::, __gnu_cxx::. */
bool name_is_std(const char *symbol);
/* std::allocator, which nobody writes: its container is named. */
bool name_is_allocators(const char *symbol);
/* Of CUDA's runtime. */
bool name_is_cudas(const char *symbol);
/* Of the emulator's headers, in whose functions no student's code is. */
bool name_is_emulators(const char *symbol);
/* What __syncthreads() calls: a function for each place in the text, or the runtime's. */
bool name_is_barriers(const char *symbol);
/* What compilers put there: tables of classes, guards, initialization, calls around exceptions. */
bool name_is_compilers(const char *symbol);
/* A variable of a function, static or shared. */
bool name_is_local_variable(const char *symbol);
/* A constructor, destructor or assignment, which compilers make where a class has none. */
bool name_may_be_implicit(const char *symbol);
/* A constructor that a class has inherited (using Base::Base). */
bool name_is_inherited(const char *symbol);
/* The same function; of a constructor or destructor any of its kinds. */
bool names_are_of_one_function(const char *a, const char *b);
/* A function of a lambda's; where the lambda is in a function, that one's mangled name, without _Z,
 * is *in, of *length bytes, else of none. */
bool name_is_lambdas(const char *symbol, const char **in, size_t *length);
/* An instance of a template, or in one. */
bool name_is_template(const char *symbol);
/* What throws or catches an exception. */
bool name_is_exceptions(const char *symbol);

/* Of what the object does not define, or the C++ library does in its headers: whether device code
 * can call it. */
bool name_is_device_function(const char *symbol);

/* "helper" for _Z6helperIfET_S0_, "S::get", "std::max": without parameters, types and template
 * arguments. */
void name_show(const char *symbol, char *shown, size_t bytes);

#endif
