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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SHOWN = 3, MOST_KEPT = 64, DEEPEST = 16 };

struct mistake {
    struct place place;
    char text[768];
};

struct check {
    const char *path;
    const struct elf_file *object;
    enum space *spaces;
    bool *on_device; /* of functions for both, and of implicit ones: device code calls them */
    struct mistake mistakes[MOST_KEPT];
    int count;
};

/* A function's references, while they are visited; those of an implicit function, by one of whose
 * callers' references, `site`, it is reached. */
struct visit {
    struct check *check;
    unsigned function;
    const struct reference *site;
    int depth;
    bool grown; /* on_device has */
    bool of_template;
};

static const char *const SPACE_WORDS[] = {
    "__host__", "__device__", "__global__", "__host__ __device__", "", ""};

/* --- mistakes --------------------------------------------------------------------------------- */

/* With a message as printf() makes it. */
__attribute__((format(printf, 3, 4))) static void add(struct visit *v, const struct reference *r,
                                                      const char *format, ...) {
    struct check *c = v->check;
    va_list arguments;
    if (c->count == MOST_KEPT) return;
    struct mistake *m = &c->mistakes[c->count];
    if (v->site) r = v->site;
    m->place = place_in_object(c->path, elf_section_name(c->object, r->section), r->offset);
    va_start(arguments, format);
    vsnprintf(m->text, sizeof m->text, format, arguments);
    va_end(arguments);
    for (int i = 0; i < c->count; i++)
        if (place_same_line(&c->mistakes[i].place, &m->place)) return; /* one of a line is enough */
    c->count++;
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

static struct shown_name show(const struct visit *v, unsigned symbol) {
    return name_show(elf_symbol_name(v->check->object, symbol));
}

static void add_call_of_host(struct visit *v, const struct reference *r, unsigned called,
                             bool of_library) {
    const char *symbol = elf_symbol_name(v->check->object, called), *in;
    const struct shown_name name = show(v, called);
    size_t length;
    enum space space = v->check->spaces[v->function];
    if (space == SPACE_IMPLICIT) space = SPACE_DEVICE;
    const bool lambda = name_is_lambdas(symbol, &in, &length);
    add(v, r, "calling a __host__ function (%s) from a %s function (%s) is not allowed; %s%s%s",
        lambda ? "a lambda" : name.text, SPACE_WORDS[space], show(v, v->function).text,
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
        name_show(called).text, SPACE_WORDS[v->check->spaces[v->function]],
        show(v, v->function).text);
}

static void add_call_of_kernel(struct visit *v, const struct reference *r, unsigned called) {
    const struct shown_name name = show(v, called);
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
    const struct elf_file *o = v->check->object;
    struct reference r = {.section = o->symbols[v->function].st_shndx};
    while (object_next(o, &r)) visit(v, &r);
}

/* --- device code ------------------------------------------------------------------------------ */

static void visit_device(struct visit *v, const struct reference *r);

/* A reference of device code to a function that the object defines. */
static void device_function(struct visit *v, const struct reference *r, unsigned target) {
    struct check *c = v->check;
    const char *symbol = elf_symbol_name(c->object, target);
    const bool of_both = c->spaces[v->function] == SPACE_BOTH;
    switch (c->spaces[target]) {
    case SPACE_HOST:
        if (!of_both && !name_is_device_function(symbol) && !name_is(NAME_ALLOCATORS, symbol))
            add_call_of_host(v, r, target,
                             name_is(NAME_STD, symbol) || name_is(NAME_CUDAS, symbol));
        break;
    case SPACE_GLOBAL:
        if (object_is_call(c->object, r)) add_call_of_kernel(v, r, target);
        break;
    case SPACE_IMPLICIT:
        if (v->depth < DEEPEST) {
            struct visit inner = {.check = c,
                                  .function = target,
                                  .site = v->site ? v->site : r,
                                  .depth = v->depth + 1};
            if (!of_both) visit_references(&inner, visit_device);
        }
        break;
    default: break;
    }
}

/* ... to something of a library's. */
static void device_undefined(struct visit *v, const struct reference *r, unsigned target) {
    const char *symbol = elf_symbol_name(v->check->object, target);
    static const char *const host_only[] = {"cudaDeviceSynchronize", "cudaMemcpy"};
    static const char *const data[] = {"stdin",     "stdout",    "stderr",   "_ZSt3cin",
                                       "_ZSt4cout", "_ZSt4cerr", "_ZSt4clog"};
    for (size_t i = 0; i < sizeof data / sizeof *data; i++)
        if (strcmp(symbol, data[i]) == 0) add_use_of_data(v, r, symbol);
    if (!object_is_call(v->check->object, r) || name_is(NAME_EMULATORS, symbol)) return;
    if (name_is(NAME_EXCEPTIONS, symbol)) {
        add(v, r, "device code does not support exception handling: take throw, try and catch out");
        return;
    }
    bool refused = !name_is_device_function(symbol) && !name_is(NAME_ALLOCATORS, symbol) &&
                   (strncmp(symbol, "_Z", 2) != 0 || name_is(NAME_STD, symbol));
    for (size_t i = 0; i < sizeof host_only / sizeof *host_only; i++)
        refused |= strcmp(symbol, host_only[i]) == 0;
    if (refused) add_call_of_host(v, r, target, true);
}

static void device_variable(struct visit *v, const struct reference *r, unsigned target) {
    const struct elf_file *o = v->check->object;
    const char *symbol = elf_symbol_name(o, target);
    if (name_is(NAME_LOCAL_VARIABLE, symbol) || name_is(NAME_COMPILERS, symbol) ||
        name_is(NAME_EMULATORS, symbol) || marks_is_device_variable(o, target) ||
        marks_is_constant_structure(o, target))
        return;
    add_use_of_data(v, r, symbol);
}

static void visit_device(struct visit *v, const struct reference *r) {
    const struct elf_file *o = v->check->object;
    const unsigned target = object_target(o, r);
    if (!target) return;
    const Elf64_Sym *symbol = &o->symbols[target];
    const int type = ELF64_ST_TYPE(symbol->st_info);
    if (symbol->st_shndx == SHN_UNDEF) {
        if (v->check->spaces[v->function] != SPACE_BOTH) device_undefined(v, r, target);
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
    const struct elf_file *o = v->check->object;
    const unsigned target = object_target(o, r);
    if (!target || !object_is_call(o, r)) return;
    const char *symbol = elf_symbol_name(o, target);
    if (name_is(NAME_BARRIERS, symbol))
        add_call_of_device(v, r, "__syncthreads()");
    else if (strcmp(symbol, "emulator_warp_active") == 0)
        add_call_of_device(v, r, "__activemask()");
    else if (o->symbols[target].st_shndx == SHN_UNDEF || name_is(NAME_EMULATORS, symbol))
        return;
    else if (v->check->spaces[target] == SPACE_GLOBAL)
        add_call_of_kernel(v, r, target);
    else if (v->check->spaces[target] == SPACE_DEVICE && !v->of_template)
        add_call_of_device(v, r, symbol);
}

/* --- all functions ---------------------------------------------------------------------------- */

static bool is_for_device(const struct check *c, unsigned function) {
    return c->spaces[function] == SPACE_DEVICE || c->spaces[function] == SPACE_GLOBAL ||
           c->on_device[function];
}

static void visit_reached(struct visit *v, const struct reference *r) {
    const unsigned target = object_target(v->check->object, r);
    const enum space space = target ? v->check->spaces[target] : SPACE_NONE;
    if ((space != SPACE_BOTH && space != SPACE_IMPLICIT) || v->check->on_device[target]) return;
    v->check->on_device[target] = v->grown = true;
}

static bool visit_function(struct check *c, unsigned function, visitor *visit) {
    struct visit v = {.check = c,
                      .function = function,
                      .of_template = name_is_template(elf_symbol_name(c->object, function))};
    visit_references(&v, visit);
    return v.grown;
}

/* Of the names for one function's code, one. */
static bool is_function(const struct elf_file *o, unsigned symbol) {
    const Elf64_Sym *s = &o->symbols[symbol];
    return ELF64_ST_TYPE(s->st_info) == STT_FUNC && s->st_shndx != SHN_UNDEF &&
           s->st_shndx < o->section_count && object_first_in(s->st_shndx) == symbol;
}

static void check_functions(struct check *c) {
    const struct elf_file *o = c->object;
    for (bool grown = true; grown;) {
        grown = false;
        for (unsigned i = 1; i < o->symbol_count; i++)
            if (is_function(o, i) && is_for_device(c, i))
                grown |= visit_function(c, i, visit_reached);
    }
    for (unsigned i = 1; i < o->symbol_count; i++) {
        if (!is_function(o, i)) continue;
        if (c->spaces[i] != SPACE_IMPLICIT && is_for_device(c, i))
            visit_function(c, i, visit_device);
        if (c->spaces[i] == SPACE_BOTH ||
            (c->spaces[i] == SPACE_HOST && !name_is(NAME_STD, elf_symbol_name(o, i))))
            visit_function(c, i, visit_host);
    }
}

static int by_place(const void *a, const void *b) {
    const struct mistake *x = a, *y = b;
    int order = strcmp(x->place.file, y->place.file);
    return order ? order : (x->place.line > y->place.line) - (x->place.line < y->place.line);
}

int main(int argc, char **argv) {
    static struct elf_file object;
    static struct check check = {.object = &object};
    if (argc != 2) {
        fputs("usage: spaces OBJECT\n", stderr);
        return 2;
    }
    check.path = argv[1];
    const char *wrong = object_open(&object, argv[1]);
    if (!wrong) {
        check.spaces = marks_read(&object);
        check.on_device = calloc(object.symbol_count, sizeof *check.on_device);
        if (!check.spaces || !check.on_device) wrong = "is too large";
    }
    if (wrong) {
        fprintf(stderr, "spaces: %s %s\n", argv[1], wrong);
        return 3;
    }
    check_functions(&check);
    qsort(check.mistakes, (size_t)check.count, sizeof *check.mistakes, by_place);
    for (int i = 0; i < check.count && i < MOST_SHOWN; i++) {
        const struct mistake *m = &check.mistakes[i];
        if (m->place.line)
            fprintf(stderr, "%s:%d: %s\n", m->place.file, m->place.line, m->text);
        else
            fprintf(stderr, "kernel.cu: %s\n", m->text);
    }
    return check.count > 0;
}
