/* spaces: who calls whom, and who uses whose data, in what nvcc calls execution and memory spaces.
 *
 *     spaces OBJECT
 *
 * OBJECT is kernel.cu's, compiled by kernel.sh from the text that rewrite.c has marked:
 * without optimization, so that each call and each use of data is a relocation. What nvcc refuses
 * is named, one line for each place, the first few, in nvcc's words. Exit status: 0; 1 if something
 * was refused; 3 if OBJECT cannot be read. What nvcc only warns about (a host function that reads a
 * __device__ variable, a __host__ __device__ function that calls a host function) is no mistake
 * here. */
#include "../report/device.h"
#include "program/program.h"
#include <regex.h>
#include <stdarg.h>

/* --- what a name says of its origin (Itanium C++ ABI, 5.1), and how to show it ---------------- */

/* The whole name has to match. */
static bool matches(const char *symbol, const char *pattern) {
    regex_t compiled;
    char whole[4096];
    snprintf(whole, sizeof whole, "^(%s)$", pattern);
    if (regcomp(&compiled, whole, REG_EXTENDED | REG_NOSUB) != 0) return false;
    bool found = regexec(&compiled, symbol, 0, NULL, 0) == 0;
    regfree(&compiled);
    return found;
}

/* Of the C++ library. */
static const char NAME_STD[] =
    "_ZG?V?Z?(St|NV?K?S[tabsiod]|NK?9__gnu_cxx|S[absiod]).*|_ZN10__cxxabiv1.*";
/* std::allocator, which nobody writes: its container is named. */
static const char NAME_ALLOCATORS[] = "_ZNK?(Sa|St15__new_allocator).*";
/* Of CUDA's runtime. */
static const char NAME_CUDAS[] = "_ZL?[0-9]+cuda[A-Z].*|cuda[A-Z].*";
/* Of the emulator's headers, in whose functions no student's code is. */
static const char NAME_EMULATORS[] = "emulator_.*|_ZZ?N?K?8emulator.*|_ZL?[0-9]+emulator_.*";
/* What __syncthreads() calls: a function for each place in the text, or the runtime's. */
static const char NAME_BARRIERS[] = "emulator_barrier|_ZL?21emulator_barrier_here.*";
/* What compilers put there: tables of classes, guards, initialization, calls around exceptions. */
static const char NAME_COMPILERS[] =
    "_Z(T|GV|GR).*|_GLOBAL_.*|__cxx_global_.*|_Z41__static_initialization_.*|"
    "__tcf_[0-9]+|__tls_init|__clang_call_terminate|DW\\.ref\\..*|.*\\..*";
/* Of them, what initializes variables before main() does: one function does so for all, or one for
 * each. */
static const char NAME_INITIALIZERS[] = "_Z41__static_initialization_.*|__cxx_global_var_init.*";
/* What is called around the initialization of a variable. */
static const char NAME_AROUND_INITIALIZATION[] =
    "__cxa_(atexit|guard_.*)|__dso_handle|_ZGV.*|_Unwind_Resume";
/* Of a function, static or shared. */
static const char NAME_LOCAL_VARIABLE[] = "_ZZ.*";
/* A constructor, destructor or assignment, which compilers make where a class has none. */
static const char NAME_MAY_BE_IMPLICIT[] = "_Z[NZ].*(C[I12345].*|D[0124]Ev|aS.*)";
/* A constructor that a class has inherited (using Base::Base). */
static const char NAME_INHERITED[] = "_Z[NZ].*CI[12].*";
/* What throws or catches an exception. */
static const char NAME_EXCEPTIONS[] =
    "__cxa_(throw|rethrow|allocate_exception|begin_catch|end_catch|get_exception_ptr)";
/* What is called where an array gets a length that is no constant. */
static const char NAME_ARRAY_LENGTHS[] = "__ubsan_handle_vla_bound_.*";
/* stdout, std::cout and their kind, which are data. */
static const char NAME_STREAMS[] = "stdin|stdout|stderr|_ZSt(3cin|4cout|4cerr|4clog)";

/* The same function; of a constructor or destructor any of its kinds. */
static bool names_are_of_one_function(const char *a, const char *b) {
    for (char before = 0; *a && *b; before = *a++, b++)
        if (*a != *b &&
            !((before == 'C' || before == 'D') && *a >= '0' && *a <= '5' && *b >= '0' && *b <= '5'))
            return false;
    return *a == *b;
}

/* Whether the E that ends a function's name is in front of one of the functions of a lambda in
 * there: of `Ul<parameters>E<number>_`, or $_<number> as clang has it. */
static bool is_lambda(const char *end) {
    return matches(end, "ENK?(Ul.*E[0-9]*_|[0-9]+\\$_[0-9]+)(cl|cv|8__invoke|4_FUN|C|D).*");
}

/* A function of a lambda's; where the lambda is in a function, that one's mangled name, without _Z,
 * is *in, of *length bytes, else of none. Of _ZZ<function>E<name> the function's name can have such
 * a part itself: `_ZZ1kvENKUlvE_clEv` is in `1kv`. */
static bool name_is_lambdas(const char *symbol, const char **in, size_t *length) {
    *in = symbol + 2;
    *length = 0;
    if (strncmp(symbol, "_ZZ", 3) != 0)
        return strncmp(symbol, "_Z", 2) == 0 &&
               matches(symbol, "_ZNK?(.*M)?(Ul.*E[0-9]*_|[0-9]+\\$_[0-9]+).*");
    const char *last = NULL;
    for (const char *at = symbol; (at = strchr(at, 'E')); at++)
        if (is_lambda(at)) last = at;
    if (!last) return false;
    *in = symbol + 3;
    *length = (size_t)(last - *in);
    return true;
}

/* An instance of a template, or in one: behind a name, I begins a list of template arguments. */
static bool name_is_template(const char *symbol) {
    for (const char *at = symbol; (at = strpbrk(at, "0123456789")); at++) {
        char *end;
        size_t length = strtoul(at, &end, 10);
        if (length < strlen(end) && end[length] == 'I') return true;
        at = length < strlen(end) ? end + length - 1 : end - 1;
    }
    return strncmp(symbol, "_Z", 2) == 0 && matches(symbol, "_ZN?K?(ix|cl|pl|mi|ml|cv.*)I.*");
}

/* CUDA's headers declare these for the device, too; std:: of them in <cmath> and <cstdlib>. The
 * names beginning with two underscores are the compiler's own, but for those that C's headers make
 * of names that are not for the device. */
#define OF_MATH                                                                                    \
    "acos|acosh|asin|asinh|atan|atan2|atanh|cbrt|ceil|copysign|cos|cosh|erf|erfc|exp|exp10|exp2|"  \
    "expm1|fabs|fdim|floor|fma|fmax|fmin|fmod|frexp|hypot|ilogb|j0|j1|jn|ldexp|lgamma|llrint|"     \
    "llround|log|log10|log1p|log2|logb|lrint|lround|modf|nan|nearbyint|nextafter|pow|remainder|"   \
    "remquo|rint|round|scalbln|scalbn|sin|sincos|sinh|sqrt|tan|tanh|tgamma|trunc|y0|y1|yn"

/* Of what the object does not define, or the C++ library does in its headers: whether device code
 * can call it. */
static bool name_is_device_function(const char *symbol) {
    if (matches(symbol, "cudaDeviceSynchronize|cudaMemcpy")) return false;
    return matches(symbol,
                   "(" OF_MATH ")f?|abs|labs|llabs|clock|printf|vprintf|malloc|free|memcpy|"
                   "memset|_Z(n[wa]|d[la])[mPv].*|"
                   "_Unwind_Resume|_ZSt9terminatev|cuda.*|"
                   "_ZL?[0-9]+cuda(Malloc|Memset|MemcpyAsync|Event|Stream|Func|Occ)[^H].*") ||
           matches(symbol, "_ZSt[0-9]+(" OF_MATH "|abs|isnan|isinf|isfinite|signbit|move|forward)"
                           "([fdilxjmy]|PK?[fdil]|I.*|N9__gnu_cxx.*)+") ||
           matches(symbol, "_ZNK?St16initializer_list.*|_ZSt(5begin|3end)I.*initializer_list.*") ||
           (strncmp(symbol, "__", 2) == 0 && !matches(symbol, "__((ctype_|iso).*|.*_chk)") &&
            !matches(symbol, NAME_EXCEPTIONS));
}

/* Removes template arguments and parameters, those of functions around it, too; and const. */
static void drop_brackets(char *name) {
    static const char nameless[] = "(anonymous namespace)", call[] = "operator()";
    char *to = name;
    int depth = 0;
    for (char *at = name; *at; at++) {
        size_t kept = strncmp(at, "operator", 8) == 0 ? 8 + strspn(at + 8, "<>=-") : 0;
        if (strncmp(at, nameless, sizeof nameless - 1) == 0) kept = sizeof nameless - 1;
        if (strncmp(at, call, sizeof call - 1) == 0) kept = sizeof call - 1;
        if (kept && depth == 0) {
            memmove(to, at, kept);
            to += kept;
            at += kept - 1;
            continue;
        }
        depth += *at == '<' || *at == '(';
        if (depth == 0) *to++ = *at;
        depth -= (*at == '>' || *at == ')') && depth > 0;
    }
    *to = '\0';
    if (to - name > 6 && strcmp(to - 6, " const") == 0) to[-6] = '\0';
}

/* The name itself, without the type that a template's function returns before it. */
static const char *behind_type(const char *name) {
    const char *start = name;
    for (const char *at = name; *at && strncmp(at, "operator", 8) != 0; at++)
        if (*at == ' ' && strncmp(at + 1, "namespace)", 10) != 0) start = at + 1;
    return start;
}

/* "helper" for _Z6helperIfET_S0_, "S::get", "std::max": without parameters, types and template
 * arguments. */
struct shown_name {
    char text[128];
};
static struct shown_name name_show(const char *symbol) {
    struct shown_name shown;
    char *name = strncmp(symbol, "_Z", 2) == 0 ? __cxa_demangle(symbol, NULL, NULL, NULL) : NULL;
    const char *start = symbol;
    if (name) {
        drop_brackets(name);
        start = behind_type(name);
        if (strncmp(start, "std::__cxx11::basic_string", 26) == 0) start = "std::string";
    }
    snprintf(shown.text, sizeof shown.text, "%s", start);
    free(name);
    return shown;
}

/* --- the object, which has a section for each function and variable --------------------------- */

static const char *path;
static struct elf_file object;
static const char *object_name(unsigned symbol) { return elf_symbol_name(&object, symbol); }
static bool is_aarch64(void) { return object.header->e_machine == EM_AARCH64; }

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

/* Symbols of functions and data: the first of each section, and behind each symbol the next one. */
static unsigned *first_in, *next_in;

static bool is_named_thing(const Elf64_Sym *symbol) {
    int type = ELF64_ST_TYPE(symbol->st_info);
    return type == STT_FUNC || type == STT_OBJECT || type == STT_TLS;
}

/* The function or data that a reference leads to: its symbol, where it names a section the symbol
 * in there. NO_SYMBOL: nothing that has a name, as a string. */
static unsigned object_target(const struct reference *r) {
    const Elf64_Sym *symbol = &object.symbols[r->symbol];
    if (ELF64_ST_TYPE(symbol->st_info) != STT_SECTION)
        return symbol->st_shndx == SHN_UNDEF || is_named_thing(symbol) ? r->symbol : NO_SYMBOL;
    return symbol->st_shndx < object.section_count ? first_in[symbol->st_shndx] : NO_SYMBOL;
}

/* Of the names for one function's code, one. */
static bool is_function(unsigned symbol) {
    const Elf64_Sym *s = &object.symbols[symbol];
    return ELF64_ST_TYPE(s->st_info) == STT_FUNC && s->st_shndx != SHN_UNDEF &&
           s->st_shndx < object.section_count && first_in[s->st_shndx] == symbol;
}

/* The function whose code has this place. */
static unsigned function_at(unsigned section, size_t offset) {
    unsigned found = NO_SYMBOL;
    for (unsigned i = first_in[section]; i; i = next_in[i]) {
        if (ELF64_ST_TYPE(object.symbols[i].st_info) != STT_FUNC) continue;
        if (!found || object.symbols[i].st_value <= offset) found = i;
        if (offset >= object.symbols[i].st_value &&
            offset - object.symbols[i].st_value < object.symbols[i].st_size)
            return i;
    }
    return found;
}

/* A call, by which nothing else can be done than to call it. */
static bool object_is_call(const struct reference *r) {
    if (is_aarch64()) return r->type == R_AARCH64_CALL26 || r->type == R_AARCH64_JUMP26;
    if (r->type != R_X86_64_PC32) return r->type == R_X86_64_PLT32;
    /* Of a local function's address, too; then call or jmp is the byte before. */
    const struct image_section code = elf_bytes(&object, r->section);
    if (r->offset == 0 || r->offset > code.size) return false;
    const unsigned char before = (unsigned char)code.bytes[r->offset - 1];
    return before == 0xe8 || before == 0xe9;
}

/* The next relocation of r->section, from the first one on where nothing else in *r is set. False:
 * there are no more. */
static bool object_next(struct reference *r) {
    for (; r->table < object.section_count; r->table++, r->next = 0) {
        size_t count = 0;
        const Elf64_Shdr *section = &object.sections[r->table];
        if (section->sh_type != SHT_RELA || section->sh_info != r->section) continue;
        const Elf64_Rela *list = elf_table(&object, r->table, sizeof *list, &count);
        while (r->next < count) {
            const Elf64_Rela *relocation = &list[r->next++];
            r->symbol = (unsigned)ELF64_R_SYM(relocation->r_info);
            r->type = (unsigned)ELF64_R_TYPE(relocation->r_info);
            r->offset = relocation->r_offset;
            r->addend = relocation->r_addend;
            if (r->symbol < object.symbol_count) return true;
        }
    }
    return false;
}

/* A section of debug information with its relocations applied, in memory that lasts. All sections
 * of code begin at 0. Absolute addresses are all that there is in debug information. */
static struct image_section debug_section(const char *name) {
    const unsigned section = elf_find_section(&object, name);
    const struct image_section found = elf_bytes(&object, section);
    char *bytes = found.size ? malloc(found.size) : NULL;
    if (!bytes) return (struct image_section){NULL, 0};
    memcpy(bytes, found.bytes, found.size);
    for (struct reference r = {.section = section}; object_next(&r);) {
        const uint64_t value = object.symbols[r.symbol].st_value + (uint64_t)r.addend;
        const bool wide = r.type == (is_aarch64() ? R_AARCH64_ABS64 : R_X86_64_64);
        const size_t size = wide ? 8 : 4;
        if (r.offset <= found.size && size <= found.size - r.offset)
            memcpy(bytes + r.offset, &value, size); /* both machines are little-endian */
    }
    return (struct image_section){bytes, found.size};
}

/* --- its marks ---------------------------------------------------------------------------------
 *
 * Which functions and variables are for the device. rewrite.c writes attributes in place of
 * CUDA's words, which compilers leave in the object:
 *
 *     __device__              patchable_function_entry(1, 0), and aligned(4096) for a variable
 *     __constant__            aligned(8192)
 *     __global__              patchable_function_entry(2, 1)
 *     __host__ __device__     patchable_function_entry(3, 2)
 *
 * and in a lambda's body a call. Of each function with an attribute, the section
 * __patchable_function_entries has an address: that of the function, or one or two instructions
 * before it. */

/* CUDA's execution spaces. */
enum space {
    SPACE_HOST,
    SPACE_DEVICE,
    SPACE_GLOBAL,
    SPACE_BOTH,
    SPACE_IMPLICIT, /* a class's own function that the compiler made: as its callers */
    SPACE_NONE      /* the emulator's or the compiler's: not checked */
};

enum { DEVICE_ALIGNMENT = 4096, CONSTANT_ALIGNMENT = 8192 };

static enum space *spaces; /* of each symbol that is a function */
static bool *on_device;    /* of functions for both, and of implicit ones: device code calls them */
static bool *is_used;      /* of functions: false for a static __device__ one that nothing needs */

static void mark(const struct reference *r) {
    const Elf64_Sym *symbol = &object.symbols[r->symbol];
    if (symbol->st_shndx >= object.section_count) return;
    const size_t at = symbol->st_value + (size_t)r->addend, instruction = is_aarch64() ? 4 : 1;
    const unsigned function = function_at(symbol->st_shndx, at);
    const size_t start = object.symbols[function].st_value;
    const enum space space = at >= start                 ? SPACE_DEVICE
                             : start - at == instruction ? SPACE_GLOBAL
                                                         : SPACE_BOTH;
    /* Names for the same code: the two kinds of a constructor. */
    for (unsigned i = first_in[symbol->st_shndx]; function && i; i = next_in[i])
        if (object.symbols[i].st_value == start) spaces[i] = space;
}

/* --- what the compiler made itself ------------------------------------------------------------ */

/* The debug information's entries of functions, types and variables. */
static struct dwarf_entries entries;

static void read_entries(void) {
    if (!entries.list) entries = dwarf_read(debug_section);
}

/* The entry with this linkage name, or of a variable without one this name. */
static const struct dwarf_entry *entry_named(enum dwarf_tag tag, const char *symbol) {
    for (size_t i = 0; i < entries.count; i++) {
        const struct dwarf_entry *e = &entries.list[i];
        const char *name = e->linkage_name         ? e->linkage_name
                           : tag == DWARF_VARIABLE ? e->name
                                                   : NULL;
        if (e->tag == tag && name && names_are_of_one_function(name, symbol)) return e;
    }
    return NULL;
}

static bool is_implicit(const char *symbol) {
    if (!matches(symbol, NAME_MAY_BE_IMPLICIT)) return false;
    if (matches(symbol, NAME_INHERITED)) return true;
    read_entries();
    const struct dwarf_entry *e = entry_named(DWARF_FUNCTION, symbol);
    return e && e->artificial;
}

/* --- all functions ---------------------------------------------------------------------------- */

static enum space space_of(unsigned function);

/* A lambda is for the same side, host or device, as the function around it. */
static enum space space_around(const char *in, size_t length) {
    if (!length) return SPACE_HOST;
    for (unsigned i = 1; i < object.symbol_count; i++) {
        const char *name = object_name(i);
        if (ELF64_ST_TYPE(object.symbols[i].st_info) == STT_FUNC && strncmp(name, "_Z", 2) == 0 &&
            strlen(name + 2) == length && strncmp(name + 2, in, length) == 0) {
            const enum space space = space_of(i);
            return space == SPACE_GLOBAL ? SPACE_DEVICE : space;
        }
    }
    return SPACE_NONE; /* around it is an extern "C" function, or one that is not there */
}

static enum space space_of(unsigned function) {
    const char *name = object_name(function), *in;
    size_t length;
    if (spaces[function] != SPACE_HOST) return spaces[function];
    if (matches(name, NAME_EMULATORS) || matches(name, NAME_COMPILERS)) return SPACE_NONE;
    if (is_implicit(name)) return SPACE_IMPLICIT;
    if (name_is_lambdas(name, &in, &length)) return space_around(in, length);
    return SPACE_HOST;
}

/* Of a lambda that has a mark in its body. */
static void mark_lambda(const struct reference *r) {
    const char *name = object_name(object_target(r));
    const bool both = strcmp(name, "_ZN8emulator7of_bothEv") == 0;
    if (both || strcmp(name, "_ZN8emulator9of_deviceEv") == 0)
        spaces[function_at(r->section, r->offset)] = both ? SPACE_BOTH : SPACE_DEVICE;
}

static bool has_marks(unsigned section) {
    return strcmp(elf_section_name(&object, section), "__patchable_function_entries") == 0;
}

/* Opens the object, and finds its marks. Returns NULL, or what is wrong with the file. */
static const char *object_open(void) {
    const char *wrong = elf_open(&object, path);
    if (wrong) return wrong;
    if (object.header->e_type != ET_REL) return "is no object file";
    if (!object.symbol_count) return "has no symbols";
    first_in = calloc(object.section_count, sizeof *first_in);
    next_in = calloc(object.symbol_count, sizeof *next_in);
    spaces = calloc(object.symbol_count, sizeof *spaces);
    on_device = calloc(object.symbol_count, sizeof *on_device);
    is_used = calloc(object.symbol_count, sizeof *is_used);
    if (!first_in || !next_in || !spaces || !on_device || !is_used) return "is too large";
    for (unsigned i = object.symbol_count; i-- > 1;) {
        const unsigned section = object.symbols[i].st_shndx;
        if (!is_named_thing(&object.symbols[i]) || section >= object.section_count) continue;
        next_in[i] = first_in[section];
        first_in[section] = i;
    }
    for (unsigned i = 1; i < object.section_count; i++) {
        if (!has_marks(i) && !(object.sections[i].sh_flags & SHF_EXECINSTR)) continue;
        for (struct reference r = {.section = i}; object_next(&r);)
            (has_marks(i) ? mark : mark_lambda)(&r);
    }
    for (unsigned i = 1; i < object.symbol_count; i++)
        if (ELF64_ST_TYPE(object.symbols[i].st_info) == STT_FUNC &&
            object.symbols[i].st_shndx != SHN_UNDEF)
            spaces[i] = space_of(i);
    return NULL;
}

/* --- variables -------------------------------------------------------------------------------- */

/* The word that makes a variable one of the device's memory; null: it is none. */
static const char *marks_of_variable(unsigned symbol) {
    const unsigned section = object.symbols[symbol].st_shndx;
    if (strcmp(elf_section_name(&object, section), "emulator_managed") == 0) return "__managed__";
    const size_t alignment = object.sections[section].sh_addralign;
    return alignment >= CONSTANT_ALIGNMENT ? "__constant__"
           : alignment >= DEVICE_ALIGNMENT ? "__device__"
                                           : NULL;
}
static bool marks_is_device_variable(unsigned symbol) { return marks_of_variable(symbol) != NULL; }

/* table for _ZL5table and, in a namespace without a name, _ZN12_GLOBAL__N_15tableE: by which the
 * debug information knows what no other file can see. Empty: it has another name. */
struct local_name {
    char text[256];
};
static struct local_name local_name(const char *symbol) {
    static const char nameless[] = "12_GLOBAL__N_1";
    struct local_name name = {""};
    const char *at = strstr(symbol, nameless);
    at = strncmp(symbol, "_ZL", 3) == 0 ? symbol + 3 : at ? at + strlen(nameless) : symbol;
    char *end;
    const unsigned long length = strtoul(at, &end, 10);
    if (length && length < sizeof name.text && length <= strlen(end))
        snprintf(name.text, length + 1, "%s", end);
    return name;
}

static const struct dwarf_entry *entry_of_variable(unsigned symbol) {
    const char *name = object_name(symbol);
    read_entries();
    const struct dwarf_entry *e = entry_named(DWARF_VARIABLE, name);
    return e ? e : entry_named(DWARF_VARIABLE, local_name(name).text);
}

/* A constant structure of the host's: nvcc knows the values of its members. */
static bool marks_is_constant_structure(unsigned symbol) {
    const struct dwarf_entry *e = entry_of_variable(symbol);
    bool constant = false;
    for (int depth = 0; e && depth < 16; depth++) {
        constant |= e->tag == DWARF_CONST;
        if (e->tag == DWARF_STRUCTURE || e->tag == DWARF_CLASS || e->tag == DWARF_UNION)
            return constant;
        if (e->tag == DWARF_ARRAY || e->tag == DWARF_REFERENCE) return false;
        e = dwarf_entry_at(&entries, e->type);
    }
    return false;
}

/* --- mistakes --------------------------------------------------------------------------------- */

enum { MOST_SHOWN = 3, MOST_KEPT = 64, DEEPEST = 16 };

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
    int line; /* of a variable's declaration, where that is to be shown; or 0 */
};

static const char *const SPACE_WORDS[] = {
    "__host__", "__device__", "__global__", "__host__ __device__", "", ""};

/* Each search starts a program: of the first ones, what was found is kept. */
static struct place place_of(const struct reference *r) {
    static struct {
        unsigned section;
        size_t offset;
        struct place place;
    } known[256];
    static size_t count;
    for (size_t i = 0; i < count; i++)
        if (known[i].section == r->section && known[i].offset == r->offset) return known[i].place;
    const struct place place =
        place_in_object(path, elf_section_name(&object, r->section), r->offset);
    if (count < sizeof known / sizeof *known) {
        known[count].section = r->section;
        known[count].offset = r->offset;
        known[count++].place = place;
    }
    return place;
}

/* With a message as printf() makes it. */
__attribute__((format(printf, 3, 4))) static void add(struct visit *v, const struct reference *r,
                                                      const char *format, ...) {
    va_list arguments;
    if (mistake_count == MOST_KEPT) return;
    struct mistake *m = &mistakes[mistake_count];
    if (v->site) r = v->site;
    m->place = place_of(r);
    if (m->place.line && v->line) m->place.line = v->line;
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
    if (matches(called, NAME_CUDAS)) return "call it in host code";
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
    if (!is_used[v->function]) return; /* nvcc lets it pass, too */
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

/* nvcc says nothing: CUDA C++ Programming Guide, "Function Pointers". Seen on an H200: a kernel
 * that calls there ends with cudaErrorMisalignedAddress. */
static void add_address_of_device(struct visit *v, const struct reference *r, const char *symbol) {
    const struct shown_name name = name_show(symbol);
    add(v, r,
        "the address of a __device__ function (%s) that host code takes is not its address on the "
        "GPU; take it in device code, or keep it in a __device__ variable, which "
        "cudaMemcpyFromSymbol() copies",
        name.text);
}

static void add_call_of_kernel(struct visit *v, const struct reference *r, unsigned called) {
    const struct shown_name name = show(called);
    add(v, r,
        "a __global__ function call must be configured: host code launches %s with "
        "%s<<<grid, block>>>(...)",
        name.text, name.text);
}

static void add_use_of_data(struct visit *v, const struct reference *r, const char *symbol) {
    if (!is_used[v->function]) return;
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

/* --- dynamic initialization --------------------------------------------------------------------
 *
 * A variable of the device's gets its first value from the program's file. nvcc refuses one that
 * code would have to compute, but for a constructor or destructor that does nothing. */

/* Whether the code is that of an empty function of cuda_runtime.h's, or only calls such ones. */
static bool is_empty(unsigned function, int depth) {
    const Elf64_Sym *own = &object.symbols[function];
    bool calls = false;
    if (own->st_shndx == SHN_UNDEF || depth == DEEPEST) return false;
    const char *code = elf_bytes(&object, own->st_shndx).bytes;
    for (unsigned i = 1; code && i < object.symbol_count; i++) {
        const Elf64_Sym *empty = &object.symbols[i];
        if (!is_function(i) || !matches(object_name(i), "_ZN8emulator5empty.*")) continue;
        if (own->st_size == empty->st_size &&
            memcmp(code + own->st_value,
                   elf_bytes(&object, empty->st_shndx).bytes + empty->st_value,
                   empty->st_size) == 0)
            return true;
    }
    for (struct reference r = {.section = own->st_shndx}; object_next(&r);) {
        const unsigned target = object_target(&r);
        if (!target || ELF64_ST_TYPE(object.symbols[target].st_info) == STT_OBJECT) continue;
        if (!is_empty(target, depth + 1)) return false;
        calls = true;
    }
    return calls;
}

/* What an initialization refers to, besides the variable. */
struct initialization {
    bool some, more; /* empty functions; something else */
};

static void read_initialization(struct initialization *found, const struct reference *r) {
    const unsigned target = object_target(r);
    if (!target || matches(object_name(target), NAME_AROUND_INITIALIZATION)) return;
    if (ELF64_ST_TYPE(object.symbols[target].st_info) == STT_OBJECT) return;
    const bool empty = is_empty(target, 0);
    found->some |= empty;
    found->more |= !empty;
}

static bool is_dynamic(const struct initialization *found) { return found->more || !found->some; }

/* Of a static variable in a function, by which its guard is acquired. */
static void visit_guarded(struct visit *v, const struct reference *acquires) {
    struct reference r = *acquires;
    struct initialization found = {false, false};
    while (object_next(&r) && strcmp(object_name(r.symbol), "__cxa_guard_release") != 0)
        read_initialization(&found, &r);
    if (is_dynamic(&found))
        add(v, acquires,
            "dynamic initialization is not supported for a static variable of device code; give "
            "it a constant, or take static out");
}

/* Whether a line is in the declaration of this variable, and in no other's but the device's. Of a
 * declaration of several lines that is known only where all variables are. */
static bool is_declared_at(unsigned variable, size_t line) {
    const struct dwarf_entry *own = entry_of_variable(variable);
    if (!own || !own->line || own->line > line) return false;
    for (unsigned i = 1; i < object.symbol_count; i++) {
        const int type = ELF64_ST_TYPE(object.symbols[i].st_info);
        if ((type != STT_OBJECT && type != STT_TLS) || i == variable ||
            object.symbols[i].st_shndx >= object.section_count ||
            matches(object_name(i), NAME_COMPILERS))
            continue;
        const struct dwarf_entry *other = entry_of_variable(i);
        if (other && other->file != own->file) continue;
        const size_t its = other ? other->line : line;
        if (its > own->line && its <= line) return false;
        if (its == own->line && other && !marks_is_device_variable(i)) return false;
    }
    return true;
}

static bool is_device_variable(unsigned symbol) {
    return symbol && ELF64_ST_TYPE(object.symbols[symbol].st_info) == STT_OBJECT &&
           object.symbols[symbol].st_shndx < object.section_count &&
           marks_is_device_variable(symbol);
}

/* The reference; or where clang, which has a function for each variable, leaves out its line, one
 * of the same function that has one. */
static struct reference with_line(const struct reference *r) {
    const unsigned function = function_at(r->section, r->offset);
    if (place_of(r).line || !matches(object_name(function), "__cxx_.*")) return *r;
    for (struct reference other = {.section = r->section}; object_next(&other);)
        if (function_at(r->section, other.offset) == function && place_of(&other).line)
            return other;
    return *r;
}

/* A reference of an initializer's. */
static void visit_initializer(struct visit *v, const struct reference *r) {
    const unsigned variable = object_target(r);
    struct initialization found = {false, false};
    if (!is_device_variable(variable) || mistake_count >= MOST_SHOWN) return;
    const struct reference lined = with_line(r);
    const struct place here = place_of(&lined);
    if (!is_declared_at(variable, (size_t)here.line)) return;
    for (struct reference other = {.section = r->section}; object_next(&other);) {
        const struct reference near = with_line(&other);
        const struct place there = place_of(&near);
        if (strcmp(here.file, there.file) == 0 && is_declared_at(variable, (size_t)there.line))
            read_initialization(&found, &other);
    }
    if (!is_dynamic(&found)) return;
    v->line = (int)entry_of_variable(variable)->line;
    add(v, &lined,
        "dynamic initialization is not supported for a %s variable (%s); give it a constant, or "
        "copy its first value there with cudaMemcpyToSymbol()",
        marks_of_variable(variable), show(variable).text);
}

/* --- constant memory -------------------------------------------------------------------------- */

enum { MOST_CONSTANT = 65536 };

static bool is_constant(unsigned symbol) {
    return is_device_variable(symbol) && strcmp(marks_of_variable(symbol), "__constant__") == 0;
}

/* What is added there has the line of the variable's declaration, where that is known. */
static struct visit at_declaration(unsigned variable) {
    const struct dwarf_entry *e = entry_of_variable(variable);
    return (struct visit){.line = e ? (int)e->line : 0};
}

/* A reference to a variable; an empty one: there is none. */
static struct reference reference_to(unsigned variable) {
    for (unsigned i = 1; i < object.symbol_count; i++) {
        struct reference r = {.section = object.symbols[i].st_shndx};
        while (is_function(i) && object_next(&r))
            if (object_target(&r) == variable) return r;
    }
    return (struct reference){0};
}

/* As ptxas, which counts those that no kernel uses, too; gaps between them are left out here. */
static void check_constants(void) {
    size_t bytes = 0;
    unsigned last = NO_SYMBOL;
    for (unsigned i = 1; i < object.symbol_count; i++) {
        if (!is_constant(i)) continue;
        bytes += object.symbols[i].st_size;
        last = last && bytes - object.symbols[i].st_size > MOST_CONSTANT ? last : i;
    }
    if (bytes <= MOST_CONSTANT) return;
    const struct reference r = reference_to(last);
    struct visit v = at_declaration(last);
    add(&v, &r,
        "file uses too much global constant data (%zu bytes, %d max); make %s a __device__ "
        "variable, "
        "or memory that cudaMalloc() gives",
        bytes, MOST_CONSTANT, show(last).text);
}

/* --- static shared memory --------------------------------------------------------------------- */

/* What one kernel uses, and the functions that it calls. */
static struct {
    bool *counted; /* of variables and functions */
    size_t bytes, most;
    struct reference largest; /* to the variable of so many bytes */
} shared;

static void visit_shared(struct visit *v, const struct reference *r) {
    const unsigned target = object_target(r);
    (void)v;
    if (!target || shared.counted[target] || matches(object_name(target), NAME_EMULATORS)) return;
    if (is_function(target) && object_is_call(r)) {
        shared.counted[target] = true;
        visit_references(&(struct visit){.function = target}, visit_shared);
    } else if (ELF64_ST_TYPE(object.symbols[target].st_info) == STT_TLS) {
        const size_t bytes = object.symbols[target].st_size;
        shared.counted[target] = true;
        shared.bytes += bytes;
        if (bytes <= shared.most) return;
        shared.most = bytes;
        shared.largest = *r;
    }
}

/* As ptxas; gaps between the variables are left out here. */
static void check_shared(unsigned kernel) {
    shared.bytes = shared.most = 0;
    shared.counted = calloc(object.symbol_count, sizeof *shared.counted);
    if (shared.counted) visit_references(&(struct visit){.function = kernel}, visit_shared);
    free(shared.counted);
    if (shared.bytes <= SHARED_PER_BLOCK) return;
    const unsigned largest = object_target(&shared.largest);
    struct visit v = at_declaration(largest);
    add(&v, &shared.largest,
        "entry function %s uses too much shared data (%zu bytes, %d max); make %s smaller, or give "
        "its size at the launch, with extern __shared__ and "
        "cudaFuncAttributeMaxDynamicSharedMemorySize",
        show(kernel).text, shared.bytes, SHARED_PER_BLOCK, show(largest).text);
}

/* --- addresses of device functions in variables of the host's --------------------------------- */

static void check_addresses(unsigned variable) {
    const unsigned section = object.symbols[variable].st_shndx;
    const char *name = object_name(variable);
    if (strncmp(elf_section_name(&object, section), ".data.rel.ro", 12) == 0 ||
        matches(name, NAME_COMPILERS) || matches(name, NAME_EMULATORS) ||
        matches(name, NAME_LOCAL_VARIABLE))
        return; /* device code can use the value of a constant */
    struct reference r = {.section = section};
    unsigned target = NO_SYMBOL;
    while (spaces[target] != SPACE_DEVICE && object_next(&r)) target = object_target(&r);
    if (spaces[target] != SPACE_DEVICE) return;
    const struct reference used = reference_to(variable);
    struct visit v = at_declaration(variable);
    if (used.section) /* else no code uses the variable */
        add_address_of_device(&v, &used, object_name(target));
}

static void check_host_variables(void) {
    for (unsigned i = 1; i < object.symbol_count; i++) {
        const Elf64_Sym *symbol = &object.symbols[i];
        if (ELF64_ST_TYPE(symbol->st_info) == STT_OBJECT &&
            symbol->st_shndx < object.section_count && symbol->st_shndx != SHN_UNDEF &&
            !marks_is_device_variable(i))
            check_addresses(i);
    }
}

/* --- device code ------------------------------------------------------------------------------ */

static void visit_device(struct visit *v, const struct reference *r);

/* A reference of device code to a function that the object defines. */
static void device_function(struct visit *v, const struct reference *r, unsigned target) {
    const char *symbol = object_name(target);
    const bool of_both = spaces[v->function] == SPACE_BOTH;
    switch (spaces[target]) {
    case SPACE_HOST:
        if (!of_both && !name_is_device_function(symbol) && !matches(symbol, NAME_ALLOCATORS))
            add_call_of_host(v, r, target,
                             matches(symbol, NAME_STD) || matches(symbol, NAME_CUDAS));
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
    if (matches(symbol, NAME_STREAMS)) add_use_of_data(v, r, symbol);
    if (!object_is_call(r) || matches(symbol, NAME_EMULATORS)) return;
    if (matches(symbol, NAME_EXCEPTIONS))
        add(v, r, "device code does not support exception handling: take throw, try and catch out");
    else if (!name_is_device_function(symbol) && !matches(symbol, NAME_ALLOCATORS) &&
             (strncmp(symbol, "_Z", 2) != 0 || matches(symbol, NAME_STD)))
        add_call_of_host(v, r, target, true);
}

static void device_variable(struct visit *v, const struct reference *r, unsigned target) {
    const char *symbol = object_name(target);
    if (matches(symbol, NAME_LOCAL_VARIABLE) || matches(symbol, NAME_COMPILERS) ||
        matches(symbol, NAME_EMULATORS) || marks_is_device_variable(target) ||
        marks_is_constant_structure(target))
        return;
    add_use_of_data(v, r, symbol);
}

static void visit_device(struct visit *v, const struct reference *r) {
    const unsigned target = object_target(r);
    if (!target) return;
    const Elf64_Sym *symbol = &object.symbols[target];
    const int type = ELF64_ST_TYPE(symbol->st_info);
    if (strcmp(object_name(target), "__cxa_guard_acquire") == 0) {
        visit_guarded(v, r);
    } else if (matches(object_name(target), NAME_ARRAY_LENGTHS)) {
        add(v, r,
            "expression must have a constant value: the length of an array in device code is known "
            "when it is compiled");
    } else if (symbol->st_shndx == SHN_UNDEF) {
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
    if (!target) return;
    const char *symbol = object_name(target);
    if (!object_is_call(r)) {
        if (spaces[v->function] == SPACE_HOST && spaces[target] == SPACE_DEVICE)
            add_address_of_device(v, r, symbol);
        return;
    }
    if (matches(symbol, NAME_BARRIERS))
        add_call_of_device(v, r, "__syncthreads()");
    else if (strcmp(symbol, "emulator_warp_active") == 0)
        add_call_of_device(v, r, "__activemask()");
    else if (object.symbols[target].st_shndx == SHN_UNDEF || matches(symbol, NAME_EMULATORS))
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

static bool grown; /* is_used has, or on_device */

static void visit_used(struct visit *v, const struct reference *r) {
    const unsigned target = object_target(r);
    (void)v;
    if (target && !is_used[target]) is_used[target] = grown = true;
}

/* All but static __device__ functions; and of those what a used one or a variable refers to. */
static void find_used(void) {
    for (unsigned i = 1; i < object.symbol_count; i++)
        is_used[i] =
            ELF64_ST_BIND(object.symbols[i].st_info) != STB_LOCAL || spaces[i] != SPACE_DEVICE;
    for (unsigned i = 1; i < object.section_count; i++) {
        const size_t flags = object.sections[i].sh_flags;
        if (!(flags & SHF_ALLOC) || (flags & SHF_EXECINSTR) ||
            strcmp(elf_section_name(&object, i), ".eh_frame") == 0 || has_marks(i))
            continue;
        for (struct reference r = {.section = i}; object_next(&r);) visit_used(NULL, &r);
    }
    do {
        grown = false;
        for (unsigned i = 1; i < object.symbol_count; i++)
            if (is_function(i) && is_used[i])
                visit_references(&(struct visit){.function = i}, visit_used);
    } while (grown);
}

static void visit_reached(struct visit *v, const struct reference *r) {
    const unsigned target = object_target(r);
    const enum space space = target ? spaces[target] : SPACE_NONE;
    (void)v;
    if ((space != SPACE_BOTH && space != SPACE_IMPLICIT) || on_device[target]) return;
    on_device[target] = grown = true;
}

static void check_functions(void) {
    find_used();
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
            (spaces[i] == SPACE_HOST && !matches(object_name(i), NAME_STD)))
            visit_references(&v, visit_host);
        if (spaces[i] == SPACE_GLOBAL) check_shared(i);
        if (matches(object_name(i), NAME_INITIALIZERS)) visit_references(&v, visit_initializer);
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
    const char *wrong = object_open();
    if (wrong) {
        fprintf(stderr, "spaces: %s %s\n", path, wrong);
        return 3;
    }
    check_functions();
    check_constants();
    check_host_variables();
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
