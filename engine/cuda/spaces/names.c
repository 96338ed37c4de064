#include "spaces.h"
#include <regex.h>

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

static const char *const patterns[] = {
    [NAME_STD] = "_ZG?V?Z?(St|NV?K?S[tabsiod]|NK?9__gnu_cxx|S[absiod]).*|_ZN10__cxxabiv1.*",
    [NAME_ALLOCATORS] = "_ZNK?(Sa|St15__new_allocator).*",
    [NAME_CUDAS] = "_ZL?[0-9]+cuda[A-Z].*|cuda[A-Z].*",
    [NAME_EMULATORS] = "emulator_.*|_ZZ?N?K?8emulator.*|_ZL?[0-9]+emulator_.*",
    [NAME_BARRIERS] = "emulator_barrier|_ZL?21emulator_barrier_here.*",
    [NAME_COMPILERS] = "_Z(T|GV|GR).*|_GLOBAL_.*|__cxx_global_.*|_Z41__static_initialization_.*|"
                       "__tls_init|__clang_call_terminate|DW\\.ref\\..*|.*\\..*",
    [NAME_LOCAL_VARIABLE] = "_ZZ.*",
    [NAME_MAY_BE_IMPLICIT] = "_Z[NZ].*(C[I12345].*|D[0124]Ev|aS.*)",
    [NAME_INHERITED] = "_Z[NZ].*CI[12].*",
    [NAME_EXCEPTIONS] = "__cxa_(throw|rethrow|allocate_exception|begin_catch|end_catch|"
                        "get_exception_ptr)",
    [NAME_STREAMS] = "stdin|stdout|stderr|_ZSt(3cin|4cout|4cerr|4clog)",
};

bool name_is(enum name_kind kind, const char *symbol) { return matches(symbol, patterns[kind]); }

bool names_are_of_one_function(const char *a, const char *b) {
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

/* _ZZ<function>E<name>, where the function's name can have such a part itself: `_ZZ1kvENKUlvE_clEv`
 * is in `1kv`. */
bool name_is_lambdas(const char *symbol, const char **in, size_t *length) {
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

/* Behind a name, I begins a list of template arguments. */
bool name_is_template(const char *symbol) {
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

bool name_is_device_function(const char *symbol) {
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
            !name_is(NAME_EXCEPTIONS, symbol));
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

struct shown_name name_show(const char *symbol) {
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
