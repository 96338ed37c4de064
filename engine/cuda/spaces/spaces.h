/* What spaces reads in kernel.cu's object: its symbols and references, and which side each is for.
 * main.c judges them. */
#ifndef ENGINE_CUDA_SPACES_SPACES_H
#define ENGINE_CUDA_SPACES_SPACES_H
#include "../program/program.h"

/* --- object.c ---------------------------------------------------------------------------------
 *
 * A relocatable object that was compiled with a section for each function and variable. */

enum { NO_SYMBOL = 0 }; /* as in ELF: the first symbol is none */

/* A relocation: at `offset` of section `section`, the value of `symbol`, or an address so many
 * bytes behind it. */
struct reference {
    unsigned section, symbol, type;
    size_t offset;
    long addend;
    unsigned table; /* where the next one is: in this section of relocations, with this number */
    size_t next;
};

/* The only object of this program. */
extern struct elf_file object;
static inline const char *object_name(unsigned symbol) { return elf_symbol_name(&object, symbol); }

/* Opens it, and finds its marks. Returns NULL, or what is wrong with the file. */
const char *object_open(const char *path);

/* The first symbol of a function or data in a section. */
unsigned object_first_in(unsigned section);

/* The function or data that a reference leads to: its symbol, where it names a section the symbol
 * in there. NO_SYMBOL: nothing that has a name, as a string. */
unsigned object_target(const struct reference *r);
/* A call, by which nothing else can be done than to call it. */
bool object_is_call(const struct reference *r);

/* The next relocation of r->section, from the first one on where nothing else in *r is set. False:
 * there are no more. */
bool object_next(struct reference *r);

/* --- its marks --------------------------------------------------------------------------------
 *
 * Which functions and variables are for the device. ../rewrite.c writes attributes in place of
 * CUDA's words, which compilers leave in the object:
 *
 *     __device__              patchable_function_entry(1, 0), and aligned(4096) for a variable
 *     __constant__            aligned(4096)
 *     __global__              patchable_function_entry(2, 1)
 *     __host__ __device__     patchable_function_entry(3, 2)
 *
 * Of each function with the first, the section __patchable_function_entries has an address: that of
 * the function, or one or two instructions before it. */

/* CUDA's execution spaces. */
enum space {
    SPACE_HOST,
    SPACE_DEVICE,
    SPACE_GLOBAL,
    SPACE_BOTH,
    SPACE_IMPLICIT, /* a class's own function that the compiler made: as its callers */
    SPACE_NONE      /* the emulator's or the compiler's: not checked */
};

/* The space of each symbol that is a function. */
extern enum space *spaces;

/* A variable of the device's memory. */
bool marks_is_device_variable(unsigned symbol);

/* A constant structure of the host's: nvcc knows the values of its members. */
bool marks_is_constant_structure(unsigned symbol);

/* --- names.c: what a name says of its origin (Itanium C++ ABI, 5.1), and how to show it ------- */

enum name_kind {
    NAME_STD,             /* of the C++ library: std::, __gnu_cxx:: */
    NAME_ALLOCATORS,      /* std::allocator, which nobody writes: its container is named */
    NAME_CUDAS,           /* of CUDA's runtime */
    NAME_EMULATORS,       /* of the emulator's headers, in whose functions no student's code is */
    NAME_BARRIERS,        /* what __syncthreads() calls: a function for each place in the text, or
                             the runtime's */
    NAME_COMPILERS,       /* what compilers put there: tables of classes, guards, initialization,
                             calls around exceptions */
    NAME_LOCAL_VARIABLE,  /* of a function, static or shared */
    NAME_MAY_BE_IMPLICIT, /* a constructor, destructor or assignment, which compilers make where a
                             class has none */
    NAME_INHERITED,       /* a constructor that a class has inherited (using Base::Base) */
    NAME_EXCEPTIONS,      /* what throws or catches an exception */
    NAME_STREAMS          /* stdout, std::cout and their kind, which are data */
};
bool name_is(enum name_kind kind, const char *symbol);
/* The same function; of a constructor or destructor any of its kinds. */
bool names_are_of_one_function(const char *a, const char *b);
/* A function of a lambda's; where the lambda is in a function, that one's mangled name, without _Z,
 * is *in, of *length bytes, else of none. */
bool name_is_lambdas(const char *symbol, const char **in, size_t *length);
/* An instance of a template, or in one. */
bool name_is_template(const char *symbol);

/* Of what the object does not define, or the C++ library does in its headers: whether device code
 * can call it. */
bool name_is_device_function(const char *symbol);

/* "helper" for _Z6helperIfET_S0_, "S::get", "std::max": without parameters, types and template
 * arguments. */
struct shown_name {
    char text[128];
};
struct shown_name name_show(const char *symbol);

#endif
