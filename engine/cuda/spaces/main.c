/* spaces: who calls whom, and who uses whose data, in what nvcc calls execution and memory spaces.
 *
 *     spaces OBJECT
 *
 * OBJECT is kernel.cu's, compiled by kernel.sh from the text that ../rewrite.c has marked:
 * without optimization, so that each call and each use of data is a relocation. What nvcc refuses
 * is named, one line for each place, the first few, in nvcc's words. Exit status: 0; 1 if something
 * was refused; 3 if OBJECT cannot be read. What nvcc only warns about (a host function that reads a
 * __device__ variable, a __host__ __device__ function that calls a host function) is no mistake
 * here. */
#include "spaces.h"
#include <stdarg.h>

enum { MOST_SHOWN = 3, MOST_KEPT = 64, DEEPEST = 16 };

static const char *path;
static bool *on_device; /* of functions for both, and of implicit ones: device code calls them */

static struct mistake {
    struct place place;
    char text[768];
} mistakes[MOST_KEPT];
static int mistake_count;

/* A function's references, while they are visited; those of an implicit function, by one of whose
 * callers' references, `site`, it is reached. */
struct visit {
    unsigned function;
    const struct reference *site;
    int depth;
};

static const char *const SPACE_WORDS[] = {
    "__host__", "__device__", "__global__", "__host__ __device__", "", ""};

/* --- mistakes --------------------------------------------------------------------------------- */

/* With a message as printf() makes it. */
__attribute__((format(printf, 3, 4))) static void add(struct visit *v, const struct reference *r,
                                                      const char *format, ...) {
    va_list arguments;
    if (mistake_count == MOST_KEPT) return;
    struct mistake *m = &mistakes[mistake_count];
    if (v->site) r = v->site;
    m->place = place_in_object(path, elf_section_name(&object, r->section), r->offset);
    va_start(arguments, format);
    vsnprintf(m->text, sizeof m->text, format, arguments);
    va_end(arguments);
    for (int i = 0; i < mistake_count; i++)
        if (place_same_line(&mistakes[i].place, &m->place)) return; /* one of a line is enough */
    mistake_count++;
}

/* What may be written instead of a function of the library. */
static const char *instead_of(const char *called) {
    static const char *const better[][2] = {
        {"std::min", "CUDA's own min() can be called"},
        {"std::max", "CUDA's own max() can be called"},
        {"std::swap", "swap by hand, with a variable in between"},
        {"fprintf", "printf() can be called"},
        {"puts", "printf() can be called"},
        {"putchar", "printf() can be called"},
        {"memmove", "memcpy() can be called"},
        {"exit", "return from the kernel"},
        {"abort", "return from the kernel, or call __trap()"},
    };
    for (size_t i = 0; i < sizeof better / sizeof *better; i++)
        if (strcmp(called, better[i][0]) == 0) return better[i][1];
    if (name_is(NAME_CUDAS, called)) return "call it in host code";
    return "the GPU does not have it; compute it in host code, or write it as a __device__ "
           "function";
}

static struct shown_name show(unsigned symbol) { return name_show(object_name(symbol)); }

static void add_call_of_host(struct visit *v, const struct reference *r, unsigned called,
                             bool of_library) {
    const char *symbol = object_name(called), *in;
    const struct shown_name name = show(called);
    size_t length;
    enum space space = spaces[v->function];
    if (space == SPACE_IMPLICIT) space = SPACE_DEVICE;
    const bool lambda = name_is_lambdas(symbol, &in, &length);
    add(v, r, "calling a __host__ function (%s) from a %s function (%s) is not allowed; %s%s%s",
        lambda ? "a lambda" : name.text, SPACE_WORDS[space], show(v->function).text,
        of_library ? instead_of(name.text) : "write __device__ before ",
        of_library ? ""
        : lambda   ? "its parameters, and compile with --extended-lambda"
                   : name.text,
        of_library || lambda ? "" : ", or __host__ __device__ if host code calls it, too");
}

static void add_call_of_device(struct visit *v, const struct reference *r, const char *called) {
    add(v, r,
        "calling a __device__ function (%s) from a %s function (%s) is not allowed; only kernels "
        "and __device__ functions can call it",
        name_show(called).text, SPACE_WORDS[spaces[v->function]], show(v->function).text);
}

static void add_call_of_kernel(struct visit *v, const struct reference *r, unsigned called) {
    const struct shown_name name = show(called);
    add(v, r,
        "a __global__ function call must be configured: host code launches %s with "
        "%s<<<grid, block>>>(...)",
        name.text, name.text);
}

static void add_use_of_data(struct visit *v, const struct reference *r, const char *symbol) {
    add(v, r,
        "identifier \"%s\" is undefined in device code: it is a variable of the host's; pass its "
        "value to the kernel, or make it __constant__ or __device__",
        name_show(symbol).text);
}

/* --- references ------------------------------------------------------------------------------- */

typedef void visitor(struct visit *v, const struct reference *r);

/* Of the function's code. */
static void visit_references(struct visit *v, visitor *visit) {
    struct reference r = {.section = object.symbols[v->function].st_shndx};
    while (object_next(&r)) visit(v, &r);
}

/* --- device code ------------------------------------------------------------------------------ */

static void visit_device(struct visit *v, const struct reference *r);

/* A reference of device code to a function that the object defines. */
static void device_function(struct visit *v, const struct reference *r, unsigned target) {
    const char *symbol = object_name(target);
    const bool of_both = spaces[v->function] == SPACE_BOTH;
    switch (spaces[target]) {
    case SPACE_HOST:
        if (!of_both && !name_is_device_function(symbol) && !name_is(NAME_ALLOCATORS, symbol))
            add_call_of_host(v, r, target,
                             name_is(NAME_STD, symbol) || name_is(NAME_CUDAS, symbol));
        break;
    case SPACE_GLOBAL:
        if (object_is_call(r)) add_call_of_kernel(v, r, target);
        break;
    case SPACE_IMPLICIT:
        if (v->depth < DEEPEST) {
            struct visit inner = {
                .function = target, .site = v->site ? v->site : r, .depth = v->depth + 1};
            if (!of_both) visit_references(&inner, visit_device);
        }
        break;
    default: break;
    }
}

/* ... to something of a library's. */
static void device_undefined(struct visit *v, const struct reference *r, unsigned target) {
    const char *symbol = object_name(target);
    if (name_is(NAME_STREAMS, symbol)) add_use_of_data(v, r, symbol);
    if (!object_is_call(r) || name_is(NAME_EMULATORS, symbol)) return;
    if (name_is(NAME_EXCEPTIONS, symbol))
        add(v, r, "device code does not support exception handling: take throw, try and catch out");
    else if (!name_is_device_function(symbol) && !name_is(NAME_ALLOCATORS, symbol) &&
             (strncmp(symbol, "_Z", 2) != 0 || name_is(NAME_STD, symbol)))
        add_call_of_host(v, r, target, true);
}

static void device_variable(struct visit *v, const struct reference *r, unsigned target) {
    const char *symbol = object_name(target);
    if (name_is(NAME_LOCAL_VARIABLE, symbol) || name_is(NAME_COMPILERS, symbol) ||
        name_is(NAME_EMULATORS, symbol) || marks_is_device_variable(target) ||
        marks_is_constant_structure(target))
        return;
    add_use_of_data(v, r, symbol);
}

static void visit_device(struct visit *v, const struct reference *r) {
    const unsigned target = object_target(r);
    if (!target) return;
    const Elf64_Sym *symbol = &object.symbols[target];
    const int type = ELF64_ST_TYPE(symbol->st_info);
    if (symbol->st_shndx == SHN_UNDEF) {
        if (spaces[v->function] != SPACE_BOTH) device_undefined(v, r, target);
    } else if (type == STT_FUNC) {
        device_function(v, r, target);
    } else if (type == STT_OBJECT) {
        device_variable(v, r, target);
    }
}

/* --- host code -------------------------------------------------------------------------------- */

/* A call of device code by a function that is the host's, too. In a template, nvcc lets what
 * depends on its arguments pass. */
static void visit_host(struct visit *v, const struct reference *r) {
    const unsigned target = object_target(r);
    if (!target || !object_is_call(r)) return;
    const char *symbol = object_name(target);
    if (name_is(NAME_BARRIERS, symbol))
        add_call_of_device(v, r, "__syncthreads()");
    else if (strcmp(symbol, "emulator_warp_active") == 0)
        add_call_of_device(v, r, "__activemask()");
    else if (object.symbols[target].st_shndx == SHN_UNDEF || name_is(NAME_EMULATORS, symbol))
        return;
    else if (spaces[target] == SPACE_GLOBAL)
        add_call_of_kernel(v, r, target);
    else if (spaces[target] == SPACE_DEVICE && !name_is_template(object_name(v->function)))
        add_call_of_device(v, r, symbol);
}

/* --- all functions ---------------------------------------------------------------------------- */

static bool is_for_device(unsigned function) {
    return spaces[function] == SPACE_DEVICE || spaces[function] == SPACE_GLOBAL ||
           on_device[function];
}

static bool grown; /* on_device has */

static void visit_reached(struct visit *v, const struct reference *r) {
    const unsigned target = object_target(r);
    const enum space space = target ? spaces[target] : SPACE_NONE;
    (void)v;
    if ((space != SPACE_BOTH && space != SPACE_IMPLICIT) || on_device[target]) return;
    on_device[target] = grown = true;
}

/* Of the names for one function's code, one. */
static bool is_function(unsigned symbol) {
    const Elf64_Sym *s = &object.symbols[symbol];
    return ELF64_ST_TYPE(s->st_info) == STT_FUNC && s->st_shndx != SHN_UNDEF &&
           s->st_shndx < object.section_count && object_first_in(s->st_shndx) == symbol;
}

static void check_functions(void) {
    do {
        grown = false;
        for (unsigned i = 1; i < object.symbol_count; i++)
            if (is_function(i) && is_for_device(i))
                visit_references(&(struct visit){.function = i}, visit_reached);
    } while (grown);
    for (unsigned i = 1; i < object.symbol_count; i++) {
        struct visit v = {.function = i};
        if (!is_function(i)) continue;
        if (spaces[i] != SPACE_IMPLICIT && is_for_device(i)) visit_references(&v, visit_device);
        if (spaces[i] == SPACE_BOTH ||
            (spaces[i] == SPACE_HOST && !name_is(NAME_STD, object_name(i))))
            visit_references(&v, visit_host);
    }
}

static int by_place(const void *a, const void *b) {
    const struct mistake *x = a, *y = b;
    int order = strcmp(x->place.file, y->place.file);
    return order ? order : (x->place.line > y->place.line) - (x->place.line < y->place.line);
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fputs("usage: spaces OBJECT\n", stderr);
        return 2;
    }
    path = argv[1];
    const char *wrong = object_open(path);
    if (!wrong && !(on_device = calloc(object.symbol_count, sizeof *on_device)))
        wrong = "is too large";
    if (wrong) {
        fprintf(stderr, "spaces: %s %s\n", path, wrong);
        return 3;
    }
    check_functions();
    qsort(mistakes, (size_t)mistake_count, sizeof *mistakes, by_place);
    for (int i = 0; i < mistake_count && i < MOST_SHOWN; i++) {
        const struct mistake *m = &mistakes[i];
        if (m->place.line)
            fprintf(stderr, "%s:%d: %s\n", m->place.file, m->place.line, m->text);
        else
            fprintf(stderr, "kernel.cu: %s\n", m->text);
    }
    return mistake_count > 0;
}
