/* rewrite: turns preprocessed CUDA into C++ that gcc and clang compile.
 *
 *     rewrite kernel.device.i kernel.marked < kernel.i > kernel.ii (engine/kernel.sh)
 *     rewrite --headers < kernel.i        does it include headers of the CUDA toolkit?
 *
 * Nearly all of CUDA's syntax is C++ once the emulator's cuda_runtime.h has defined the names.
 * This program does the rest, between the preprocessor and the compiler:
 *
 *     k<<<g, b>>>(x)               (k->*::emulator::launch_config(g, b))(x)
 *     __shared__ float t[16];      static __thread float t[16];
 *     extern __shared__ float s[]; float (&s)[] = ::emulator::dynamic_shared();
 *     #pragma unroll 4             (an empty line)
 *     __noinline__ float f()       __attribute__((__noinline__)) float f()
 *     k<<<g, b>>>(x)               ...(x, 1.0f)          where k(float *x, float y = 1.0f)
 *
 * For spaces.c it writes a second text, in which attributes stand for __global__, __device__,
 * __host__ and __constant__.
 *
 * It also refuses, in one line that names the place, what runs only on a GPU, what nvcc refuses in
 * the text of a file, and what is nested too deep for a compiler. It is given a file as it reads
 * without __CUDA_ARCH__ and with it, and takes the latter, where only functions for the device
 * differ.
 *
 * It reads the preprocessor's output because macros are expanded there, and touches only text of
 * the student's files: system headers, the emulator's own among them, carry flag 3 on their
 * linemarkers (# 12 "stdio.h" 1 3). It never adds or removes a newline, so the compiler's messages
 * and the checked build name the student's own lines. What it does not understand it leaves as it
 * is, for the compiler to report.
 *
 * The order below: places, nesting, the rules one by one, input and output, main.
 */

#define _GNU_SOURCE
#include "tokens.h"
#include <search.h>
#include <stdarg.h>
#include <unistd.h>

enum exit_status { EXIT_OK = 0, EXIT_REFUSED = 1, EXIT_USAGE = 2 }; /* and EXIT_TROUBLE */

static const char LAUNCH_BEGIN[] = "(";
static const char LAUNCH_OPEN[] = "->*::emulator::launch_config(";
static const char LAUNCH_CLOSE[] = "))";
/* Before the name of a function whose call has the type of the kernel that the arguments choose. */
static const char CHOICE[] = "emulator_choice_of_";

/* One block at a time runs on an OS thread, so a thread's static storage is a block's shared
 * memory. __thread rather than thread_local: it never needs a constructor or an access wrapper.
 * Both compilers want static or extern directly before it. __used__: of a variable that is never
 * stored to they would make a constant, and the checker would not see that it is read. */
static const char STATIC_SHARED[] = "static __thread __attribute__((__used__)) ";

/* Every extern __shared__ array names the same memory, as on a GPU. In a function it becomes a
 * reference, float (&s)[] = ::emulator::dynamic_shared(): an extern declaration would do in clang,
 * but g++ forgets its symbol in templates and takes two names for two objects. Outside, where a
 * reference would be bound in one OS thread only, it becomes an extern declaration with the symbol
 * that the runtime defines. */
static const char DYNAMIC_REFERENCE[] = "__attribute__((unused)) ";
static const char DYNAMIC_REFERENCE_VALUE[] = ") = ::emulator::dynamic_shared()";
static const char DYNAMIC_EXTERN[] = "extern __thread ";
static const char DYNAMIC_EXTERN_SYMBOL[] = " __asm__(\"emulator_dynamic_shared\")";

/* A piece of a file, of a namespace or of a class: a declaration, a function with its body, or just
 * what opens ("namespace x {") or closes such a scope. */
struct piece {
    size_t first, last;      /* tokens; first is NONE where there is no piece */
    size_t name, parameters; /* of a function its name, and the ( of its parameters; or NONE */
    size_t body;             /* the { of a function's body, or NONE */
    bool kernel;             /* __global__ */
    bool device;             /* that, or __device__ */
    bool host;               /* __host__ */
};

static bool begins_with(const struct source *s, size_t i, const char *prefix) {
    const size_t length = strlen(prefix);
    const struct token *t = &s->tokens[i];
    return t->length >= length && memcmp(s->text + t->start, prefix, length) == 0;
}

static bool same_token(const struct source *s, size_t i, const struct source *u, size_t j) {
    const size_t length = s->tokens[i].length;
    return length == u->tokens[j].length &&
           memcmp(s->text + s->tokens[i].start, u->text + u->tokens[j].start, length) == 0;
}

static size_t partner_of(const struct source *s, size_t i) { return s->tokens[i].partner; }

/* The < that the > at token i closes; NONE: there is none in the same statement. */
static size_t opening_angle(const struct source *s, size_t i) {
    size_t depth = 0;
    for (; i != NONE && !is(s, i, "; { }"); i = previous_token(s, i)) {
        if (is(s, i, ")") && (i = partner_of(s, i)) == NONE) return NONE;
        depth += is(s, i, ">");
        if (is(s, i, "<") && --depth == 0) return i;
    }
    return NONE;
}

/* File and line of token i. */
static struct linemarker place_of(const struct source *s, size_t i) {
    struct linemarker place = {.line = 1}, m;
    size_t from = 0;
    for (size_t j = 0; j < i; j++) {
        if (!read_linemarker(s, j, &m)) continue;
        if (m.name == NONE) {
            m.name = place.name;
            m.name_end = place.name_end;
        }
        place = m;
        from = end_of_token(s, j) + 1; /* the line after the marker */
    }
    for (size_t at = from; at < s->tokens[i].start; at++) place.line += s->text[at] == '\n';
    return place;
}

/* Ends the program with "FILE:LINE: message" for the place of token i: what a student sees instead
 * of a wall of compiler errors. */
__attribute__((format(printf, 3, 4))) static _Noreturn void refuse(const struct source *s, size_t i,
                                                                   const char *format, ...) {
    struct linemarker place = place_of(s, i);
    va_list arguments;
    if (place.name == NONE) fputs("<stdin>", stderr);
    for (size_t at = place.name; at < place.name_end; at++) {
        if (s->text[at] == '\\' && at + 1 < place.name_end) at++;
        const unsigned char c = (unsigned char)s->text[at];
        fputc(c < ' ' || c == 0x7f ? '?' : c, stderr);
    }
    fprintf(stderr, ":%zu: ", place.line);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    exit(EXIT_REFUSED);
}

/* A token's length and text, as the %.*s of printf() takes them. */
enum { LONGEST_NAME = 100 };
#define SPELLED(s, i)                                                                              \
    (int)((s)->tokens[i].length < LONGEST_NAME ? (s)->tokens[i].length : LONGEST_NAME),            \
        (s)->text + (s)->tokens[i].start

/* ... or in full. */
#define WHOLE(s, i) (int)(s)->tokens[i].length, (s)->text + (s)->tokens[i].start

/* ---- Functions ------------------------------------------------------------------------------- */

static const char SPACES[] = "__global__ __device__ __host__";
static const char CLASS_KEYS[] = "struct union class";
static const char QUALIFIERS[] = ":: . ->";
/* What can be before a name, and is no type. */
static const char NO_TYPES[] = "return else do case throw goto";
/* What is before or behind a statement. */
static const char AROUND_STATEMENT[] = "; { } ) : else do";

static const char ATTRIBUTES[] = "__attribute__ __attribute alignas";

/* Whether the { at token i opens a namespace or an extern "C" block: between its braces a
 * declaration is still one of the file. */
static bool opens_namespace(const struct source *s, size_t i) {
    size_t before = previous_token(s, i);
    if (s->tokens[before].kind == LITERAL) return is(s, previous_token(s, before), "extern");
    while (!is(s, before, "namespace") && (is_identifier(s, before) || is(s, before, "::")))
        before = previous_token(s, before);
    return is(s, before, "namespace");
}

static bool only_on_device(const struct piece *p) {
    return p->first != NONE && p->device && !p->host && p->parameters != NONE;
}

/* Of a piece that begins with token `first` the > of a template's parameters, or `first` if it is
 * no template; NONE: it is behind token `end`. */
static size_t end_of_head(const struct source *s, size_t first, size_t end) {
    size_t depth = 0;
    if (!is(s, first, "template")) return first;
    for (size_t i = next_token(s, first); i != NONE && i < end; i = next_token(s, i)) {
        if (opens(punctuator(s, i))) i = partner_of(s, i);
        depth += is(s, i, "<");
        if (is(s, i, ">") && --depth == 0) return i;
        if (!depth) return first;
    }
    return NONE;
}

/* The next function, or kernel, by this name, from the piece with number *at on, which becomes that
 * behind it; null: there is none. */
static const struct piece *next_by_name(const struct source *s, size_t name, bool kernel,
                                        size_t *at) {
    while (*at < s->piece_count) {
        const struct piece *p = &s->pieces[(*at)++];
        if (p->name != NONE && same_token(s, name, s, p->name) && (p->kernel || !kernel)) return p;
    }
    return NULL;
}

/* ---- Nesting --------------------------------------------------------------------------------- */

/* C++ asks compilers for 256 open brackets (C++17, Annex B), and clang takes no more. gcc takes any
 * number: with hundreds of thousands it is busy for a minute, or crashes. So it is with what else
 * makes a compiler's tree deep. The other limits are far above what people write, and both
 * compilers need about a second for as much: a statement's tokens without those in its brackets,
 * each ? or < counted as ten, since gcc's time grows with the square of their number; and the
 * else of one chain. */
enum { MOST_OPEN = 256, MOST_ELSE = 1000, LONGEST_STATEMENT = 5000, BRANCH_WEIGHT = 10 };

/* What a bracket opens: ( or [; a file, namespace or class; statements; values, {1, 2}. */
enum level_kind { LEVEL_GROUP, LEVEL_SCOPE, LEVEL_BLOCK, LEVEL_LIST };

struct level {
    enum level_kind kind;
    bool outside; /* of all functions */
    size_t open;  /* the bracket's token; NONE for the file */

    /* Of the statement or declaration that is being read: */
    struct piece piece;
    size_t weight, elses;
    bool class_key;
    bool value; /* = was there, or : behind parameters */
};

struct levels {
    struct level of[MOST_OPEN + 1];
    size_t depth;
};

/* Ends a statement, or a piece that is noted, with token `last`. */
static void end_piece(struct source *s, struct level *level, size_t last) {
    if (level->outside && level->piece.first != NONE && s->tokens[last].user) {
        s->pieces = with_room(s->pieces, s->piece_count, &s->piece_capacity, sizeof *s->pieces);
        level->piece.last = last;
        s->pieces[s->piece_count++] = level->piece;
    }
    level->piece = (struct piece){.first = NONE};
    level->weight = 0;
    level->class_key = level->value = false;
}

/* Whether the { at token i, in `outer`, opens statements, values or a scope. */
static enum level_kind kind_of_braces(const struct source *s, const struct level *outer, size_t i) {
    size_t before = previous_token(s, i);
    if (before == NONE || opens_namespace(s, i)) return LEVEL_SCOPE;
    if (outer->class_key && !is(s, before, ") const noexcept override")) return LEVEL_SCOPE;
    if (outer->kind == LEVEL_SCOPE && outer->piece.parameters != NONE && !outer->value)
        return LEVEL_BLOCK;
    if (is(s, before, ") ; } ] : else do try const noexcept override final mutable"))
        return LEVEL_BLOCK;
    return is(s, before, "{") ? outer->kind : LEVEL_LIST;
}

/* Whether the { behind the ) of `group` begins a function's body: a name is before the parameters,
 * and a type before the name, as no statement has it. */
static bool begins_function(const struct source *s, size_t group) {
    static const char no_names[] =
        "if while for switch catch constexpr consteval requires noexcept throw decltype";
    static const char no_types[] = "else return do new goto case throw sizeof";
    size_t name = previous_token(s, group), type = previous_token(s, name);
    while (is(s, type, "* &")) type = previous_token(s, type);
    return is(s, group, "(") && is_identifier(s, name) && !is(s, name, no_names) &&
           !is(s, name, ATTRIBUTES) && is_identifier(s, type) && !is(s, type, no_types);
}

/* The function whose body is being read; the outermost, if there are several; null: none is. */
static const struct piece *open_function(const struct levels *levels) {
    for (size_t d = 0; d <= levels->depth; d++)
        if (levels->of[d].piece.body != NONE) return &levels->of[d].piece;
    return NULL;
}

static void refuse_inner_function(const struct source *s, const struct piece *outer, size_t brace) {
    const size_t group = partner_of(s, previous_token(s, brace)), name = previous_token(s, group);
    if (s->unbalanced || !outer || !begins_function(s, group)) return;
    refuse(s, name,
           "the function %.*s begins inside %.*s, whose { in line %zu is still open: a } is "
           "missing before this line",
           SPELLED(s, name), SPELLED(s, outer->name), place_of(s, outer->body).line);
}

static void open_level(struct source *s, struct levels *levels, size_t i) {
    struct level *outer = &levels->of[levels->depth];
    struct level inner = {.kind = LEVEL_GROUP, .open = i};
    const size_t before = previous_token(s, i);
    if (levels->depth == MOST_OPEN)
        refuse(s, i, "more than %d brackets are open here; that is too deep for a compiler",
               MOST_OPEN);
    if (is(s, i, "{")) {
        inner.kind = kind_of_braces(s, outer, i);
        inner.outside = outer->outside && inner.kind == LEVEL_SCOPE;
        if (outer->kind == LEVEL_BLOCK) refuse_inner_function(s, open_function(levels), i);
        if (inner.kind == LEVEL_SCOPE)
            end_piece(s, outer, i);
        else if (inner.kind == LEVEL_BLOCK && outer->kind == LEVEL_SCOPE &&
                 outer->piece.parameters != NONE && !is(s, outer->piece.name, "]"))
            outer->piece.body = i;
    } else if (is(s, i, "(") && outer->piece.parameters == NONE && !is(s, before, ATTRIBUTES) &&
               end_of_head(s, outer->piece.first, i) != NONE) {
        outer->piece.parameters = i;
        outer->piece.name = outer->piece.first == i ? NONE : before;
    }
    levels->of[++levels->depth] = inner;
}

/* At a closing bracket. A statement ends with its last }, unless that is a lambda's and more
 * follows. */
static void close_level(struct source *s, struct levels *levels, size_t i, char bracket) {
    struct level *inner = &levels->of[levels->depth];
    const char open = bracket == ')' ? '(' : bracket == ']' ? '[' : '{';
    const size_t next = next_token(s, i);
    if (punctuator(s, inner->open) != open) {
        s->unbalanced = true;
    } else {
        s->tokens[i].partner = inner->open;
        s->tokens[inner->open].partner = i;
    }
    if (levels->depth == 0) return;
    struct level *outer = &levels->of[--levels->depth];
    if (inner->outside) {
        end_piece(s, inner, previous_token(s, i));
        outer->piece.first = i;
        end_piece(s, outer, i);
    }
    if (outer->piece.body == inner->open) end_piece(s, outer, i);
    if (inner->kind == LEVEL_LIST || bracket != '}' || next == NONE) return;
    if (!is_identifier(s, next) && !is(s, next, "}")) return;
    if (inner->kind == LEVEL_BLOCK || outer->kind != LEVEL_SCOPE) end_piece(s, outer, i);
    if (!is(s, next, "else")) outer->elses = 0;
}

/* Reads token i, which is no bracket, as part of its statement. */
static void read_in_statement(struct source *s, struct level *level, size_t i, char c) {
    struct piece *p = &level->piece;
    if (c == ';') {
        end_piece(s, level, i);
        if (!is(s, next_token(s, i), "else")) level->elses = 0;
    } else if (c == ',' && level->kind == LEVEL_LIST) {
        end_piece(s, level, i);
    } else if (is(s, i, "else")) {
        if (++level->elses > MOST_ELSE)
            refuse(s, i, "more than %d else in one chain; that is too deep for a compiler",
                   MOST_ELSE);
    } else {
        const bool behind = p->parameters != NONE;
        level->class_key = level->class_key || is(s, i, CLASS_KEYS);
        level->value = level->value || (behind && is(s, i, ":")) ||
                       (is(s, i, "=") && (behind || !is(s, p->first, "template")));
        p->kernel = p->kernel || is(s, i, "__global__");
        p->device = p->device || p->kernel || is(s, i, "__device__");
        p->host = p->host || is(s, i, "__host__");
    }
}

/* Finds the brackets' partners, and the pieces. Refuses what is nested too deep, a function inside
 * a function, and a file that ends inside one; what else is wrong with brackets the compiler says.
 */
static void read_nesting(struct source *s) {
    struct levels levels = {.of = {{.kind = LEVEL_SCOPE, .outside = true}}};
    for (size_t i = next_token(s, NONE); i != NONE; i = next_token(s, i)) {
        struct level *level = &levels.of[levels.depth];
        char c = punctuator(s, i);
        s->tokens[i].parent = level->open;
        if (level->piece.first == NONE && !closes(c)) level->piece.first = i;
        level->weight += c == '?' || c == '<' ? BRANCH_WEIGHT : 1;
        if (level->weight > LONGEST_STATEMENT && s->tokens[i].user)
            refuse(s, level->piece.first,
                   "what begins here has no end for %d words and signs; that is too deep for a "
                   "compiler: make several statements of it",
                   LONGEST_STATEMENT);
        if (opens(c))
            open_level(s, &levels, i);
        else if (closes(c))
            close_level(s, &levels, i, c);
        else
            read_in_statement(s, level, i, c);
    }
    const struct piece *function = open_function(&levels);
    if (function && !s->unbalanced && s->tokens[function->body].user)
        refuse(s, function->body, "the { of %.*s in this line is never closed: a } is missing",
               SPELLED(s, function->name));
    for (size_t d = 0; d <= levels.depth; d++) end_piece(s, &levels.of[d], s->count - 1);
}

/* ---- Two texts, with __CUDA_ARCH__ and without ----------------------------------------------- */

/* Whether two pieces are the same; if not, and there are two, *at is the first token of the host's
 * that is not the device's. */
static bool same_piece(const struct source *host, const struct piece *h,
                       const struct source *device, const struct piece *d, size_t *at) {
    size_t i = h->first, j = d->first;
    for (*at = i; i != NONE && j != NONE && same_token(host, i, device, j); *at = i) {
        if (i == h->last || j == d->last) return i == h->last && j == d->last;
        i = next_token(host, i);
        j = next_token(device, j);
    }
    return false;
}

static struct piece piece_at(const struct source *s, size_t number) {
    return number < s->piece_count ? s->pieces[number] : (struct piece){.first = NONE};
}

/* The device's text is compiled for both sides. So only functions that a GPU alone runs may be
 * others in the host's. */
static void refuse_arch(const struct source *host, const struct source *device) {
    static const char FOR_BOTH[] =
        "what depends on __CUDA_ARCH__ here is compiled once for host and device on the CPU "
        "backend; test it inside __global__ or __device__ functions only";
    for (size_t i = 0, j = 0; i < host->piece_count || j < device->piece_count;) {
        const struct piece h = piece_at(host, i), d = piece_at(device, j);
        size_t different;
        if (same_piece(host, &h, device, &d, &different)) {
            i++;
            j++;
        } else if (only_on_device(&d)) {
            j++;
        } else if (only_on_device(&h)) {
            i++;
        } else {
            bool earlier = h.first != NONE && d.first != NONE &&
                           place_of(device, d.first).line < place_of(host, h.first).line;
            if (h.first == NONE || earlier) refuse(device, d.first, FOR_BOTH);
            refuse(host, different, FOR_BOTH);
        }
    }
}

/* ---- Rule 1: what runs only on a GPU --------------------------------------------------------- */

/* The beginnings of the names of the CUDA toolkit's headers. */
static const char TOOLKIT[] =
    "builtin_types.h cccl/ channel_descriptor.h common_functions.h cooperative_groups crt/ cub/ "
    "cuComplex.h cublas cuda.h cuda/ cudaEGL cudaGL cudaProfiler cudaTypedefs cudaVDPAU "
    "cuda_awbarrier cuda_bf16 cuda_device_runtime_api.h cuda_egl cuda_fp cuda_gl_interop.h "
    "cuda_occupancy.h cuda_pipeline cuda_profiler_api.h cuda_runtime cuda_stdint.h "
    "cuda_surface_types.h cuda_texture_types.h cuda_vdpau cudalibxt.h cudart_platform.h cudnn "
    "cufile cufft cupti curand cusolver cusparse cute/ cutlass/ device_atomic_functions "
    "device_double_functions device_functions device_launch_parameters.h device_types.h "
    "driver_functions.h driver_types.h fatbinary_section.h generated_cud generated_nvtx "
    "host_config.h host_defines.h library_types.h math_constants.h math_functions mma.h nccl npp "
    "nv/ nvFatbin.h nvJitLink.h nv_decode.h nvblas.h nvPTXCompiler.h nvjpeg.h nvsandboxutils "
    "nvml.h nvperf_ nvrtc.h nvtx3/ nvvm.h sm_1 sm_2 sm_3 sm_6 surface_ texture_ thrust/ "
    "vector_functions vector_types.h Openacc/ Openmp/";

/* Whether a text begins with one of these, which blanks separate. */
static bool begins_with_one(const char *beginnings, const char *text) {
    for (size_t length; *beginnings; beginnings += length + (beginnings[length] == ' ')) {
        length = strcspn(beginnings, " ");
        if (strncmp(text, beginnings, length) == 0) return true;
    }
    return false;
}

/* The part of a header's path that CUDA knows it by, or NULL if it is none of the toolkit's: one
 * that lies beside a cuda_runtime.h, or is not there at all. */
static const char *toolkit_name(const char *path) {
    char beside[4096];
    for (const char *name = path; name; name = strchr(name, '/'), name = name ? name + 1 : NULL) {
        if (!begins_with_one(TOOLKIT, name)) continue;
        snprintf(beside, sizeof beside, "%.*scuda_runtime.h", (int)(name - path), path);
        bool there = access(name == path ? path : beside, F_OK) == 0;
        if (there != (name == path)) return name;
    }
    return NULL;
}

/* The toolkit's own headers, from which the compiler would make pages of errors, or worse, none.
 * The first cuda_runtime.h that is entered is the emulator's, and so is all below its directory. */
static void refuse_toolkit(const struct source *s) {
    char path[4096], ours[4096] = "";
    size_t include = NONE; /* by which the text leaves the student's files */
    for (size_t i = 0; i < s->count; i++) {
        struct linemarker m;
        if (!read_linemarker(s, i, &m) || !m.enters || m.name == NONE) continue;
        if (s->tokens[i].user) include = i;
        snprintf(path, sizeof path, "%.*s", (int)(m.name_end - m.name), s->text + m.name);
        const char *end = strstr(path, "/cuda_runtime.h");
        if (!*ours && end) memcpy(ours, path, (size_t)(end + 1 - path));
        if (*ours && strncmp(path, ours, strlen(ours)) == 0) continue;
        const char *name = toolkit_name(path);
        if (name)
            refuse(s, include == NONE ? i : include,
                   "<%s> of the CUDA toolkit does not work on the CPU backend; take the #include "
                   "out, or build with BACKEND=cuda",
                   strncmp(name, "cccl/", 5) == 0 ? name + 5 : name);
    }
}

/* The beginnings of the names of those functions of CUDA 13's runtime API that the emulator lacks,
 * and of device functions: SIMD within a word, directed rounding, inverse error functions. A test
 * holds them against its headers and, where it is installed, the toolkit's. */
static const char LACKED[] =
    "make_cuda cudaArrayGet cudaChooseDevice cudaCreateChannel cudaCreateSurface "
    "cudaCreateTexture cudaCtx cudaDestroyExternal cudaDestroySurface cudaDestroyTexture "
    "cudaDeviceCan cudaDeviceDisable cudaDeviceEnable cudaDeviceFlush cudaDeviceGetByPCI "
    "cudaDeviceGetCache cudaDeviceGetDefault cudaDeviceGetGraph cudaDeviceGetHost "
    "cudaDeviceGetLimit cudaDeviceGetMem cudaDeviceGetNv cudaDeviceGetP2P cudaDeviceGetPCI "
    "cudaDeviceGetShared cudaDeviceGetStream cudaDeviceGetTexture cudaDeviceGraph "
    "cudaDeviceRegister cudaDeviceSetGraph cudaDeviceSetLimit cudaDeviceSetMem "
    "cudaDeviceSetShared cudaDeviceUnregister cudaEventRecordWith cudaExternal cudaFreeArray "
    "cudaFreeMipmapped cudaFuncGetParam cudaFuncSetShared cudaGetChannel cudaGetDeviceFlags "
    "cudaGetDriver cudaGetExport cudaGetFunc cudaGetKernel cudaGetMipmapped cudaGetSurface "
    "cudaGetTexture cudaGraph cudaHostGetFlags cudaHostRegister cudaHostUnregister cudaImport "
    "cudaInitDevice cudaIpc cudaKernelSet cudaLaunch cudaLibrary cudaLogs cudaMalloc3D "
    "cudaMallocArray cudaMallocFrom cudaMallocMipmapped cudaMemAdvise cudaMemDiscard "
    "cudaMemGetDefault cudaMemGetMem cudaMemPool cudaMemPrefetchBatch cudaMemRange cudaMemSetMem "
    "cudaMemcpy2DArray cudaMemcpy2DFrom cudaMemcpy2DTo cudaMemcpy3D cudaMemcpyArray "
    "cudaMemcpyBatch cudaMemcpyFromArray cudaMemcpyFromSymbolAsync cudaMemcpyPeer "
    "cudaMemcpyToArray cudaMemcpyToSymbolAsync cudaMemset3D cudaMipmapped "
    "cudaOccupancyAvailable cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags "
    "cudaOccupancyMaxActiveClusters cudaOccupancyMaxPotentialBlockSizeVariableSMem "
    "cudaOccupancyMaxPotentialBlockSizeWithFlags cudaOccupancyMaxPotentialCluster "
    "cudaPointerGet cudaSetDeviceFlags cudaSetValid cudaSignalExternal cudaStreamAdd "
    "cudaStreamAttach cudaStreamBegin cudaStreamCopy cudaStreamCreateWithPriority "
    "cudaStreamEnd cudaStreamGet cudaStreamIsCapturing cudaStreamSetAttribute cudaStreamUpdate "
    "cudaThreadExchange cudaUserObject cudaWaitExternal "
    /* of device functions */
    "__vabs __vadd __vavg __vcmp __vhadd __vmax __vmin __vneg __vsad __vset __vsub __dp2a "
    "__fmaf_ieee __double2ll __double2ull __double2uint __double2hiint __double2loint "
    "__hiloint2double __float2ll __float2ull cyl_bessel erfcinv erfcx erfinv normcdfinv "
    "__fadd_rd __fadd_ru __fadd_rz __fsub_rd __fsub_ru __fsub_rz __fmul_rd __fmul_ru __fmul_rz "
    "__fdiv_rd __fdiv_ru __fdiv_rz __frcp_rd __frcp_ru __frcp_rz __fsqrt_rd __fsqrt_ru "
    "__fsqrt_rz __fmaf_rd __fmaf_ru __fmaf_rz __dadd_rd __dadd_ru __dadd_rz __dsub_rd __dsub_ru "
    "__dsub_rz __dmul_rd __dmul_ru __dmul_rz __ddiv_rd __ddiv_ru __ddiv_rz __drcp_rd __drcp_ru "
    "__drcp_rz __dsqrt_rd __dsqrt_ru __dsqrt_rz __fma_rd __fma_ru __fma_rz __double2float_rd "
    "__double2float_ru __double2float_rz __double2int_rd __double2int_ru "
    "__int2float_rd __int2float_ru __int2float_rz __uint2float_rd __uint2float_ru "
    "__uint2float_rz __ll2float_rd __ll2float_ru __ll2float_rz __ll2double_rd __ll2double_ru "
    "__ll2double_rz __ull2float_rd __ull2float_ru __ull2float_rz __ull2double_rd "
    "__ull2double_ru __ull2double_rz";

/* A call of one of them. Not in a file that declares such functions itself, for which *declared is
 * set: what that one means the linker finds out. */
static void refuse_lacked_call(const struct source *s, size_t i, bool *declared) {
    char name[LONGEST_NAME];
    if (!is(s, next_token(s, i), "(")) return;
    snprintf(name, sizeof name, "%.*s", SPELLED(s, i));
    if (!begins_with_one(LACKED, name)) return;
    size_t before = previous_token(s, i);
    *declared = *declared || (is_identifier(s, before) && !is(s, before, NO_TYPES));
    if (!*declared) /* it may be misspelled: that it runs anywhere is not known */
        refuse(s, i, "the CPU backend has no %s(); if CUDA has it, build with BACKEND=cuda", name);
}

/* A call of a warp operation as they were before Volta, of which nvcc knows some and runs none. */
static void refuse_without_mask(const struct source *s, size_t i) {
    static const char names[] = "__shfl __shfl_up __shfl_down __shfl_xor __ballot __any __all";
    if (is(s, i, names) && is(s, next_token(s, i), "(") &&
        !next_by_name(s, i, false, &(size_t){0})) /* the file's own */
        refuse(s, i,
               "%.*s is for GPUs before Volta (compute capability 7.0): write "
               "%.*s_sync(0xffffffff, ...), whose mask says which lanes take part",
               SPELLED(s, i), SPELLED(s, i));
}

/* Whether token i is this word with a capital letter behind it. */
static bool has_capital_behind(const struct source *s, size_t i, const char *word) {
    const char *behind = s->text + s->tokens[i].start + strlen(word);
    return begins_with(s, i, word) && *behind >= 'A' && *behind <= 'Z';
}

/* What token i belongs to, if that runs only on a GPU; else NULL. The headers that define these
 * names exist as empty stubs: an #include that a template left behind does no harm, a use is
 * refused. */
static const char *gpu_only(const struct source *s, size_t i) {
    const bool is_scope = is(s, next_token(s, i), "::");
    if (is(s, i, "asm __asm__ __asm")) return "inline PTX (asm)";
    if (is(s, i, "__pipeline_arrive_on")) return "__pipeline_arrive_on";
    if (is(s, i, "cooperative_groups")) return "cooperative_groups";
    if (is(s, i, "nvcuda") || (is_scope && is(s, i, "wmma"))) return "wmma (tensor cores)";
    if (is_scope && is(s, i, "cuda")) return "the cuda:: library (pipeline, barrier, ...)";
    if (begins_with(s, i, "CUBLAS_") || has_capital_behind(s, i, "cublas")) return "cuBLAS";
    if (begins_with(s, i, "CURAND_") || begins_with(s, i, "curand_") ||
        has_capital_behind(s, i, "curand"))
        return "cuRAND";
    return NULL;
}

/* ---- Rule 2: launches ------------------------------------------------------------------------ */

/* The tokens of a run such as <<<, also written << < or over several lines: its length and, in
 * last[0..2], its last three tokens. */
static size_t read_run(const struct source *s, size_t i, const char *c, size_t last[3]) {
    size_t length = 0;
    for (; is(s, i, c); i = next_token(s, i)) {
        last[0] = last[1];
        last[1] = last[2];
        last[2] = i;
        length++;
    }
    return length;
}

static void replace_run(struct source *s, const size_t run[3], const char *by) {
    s->tokens[run[0]].replacement = by;
    s->tokens[run[1]].replacement = "";
    s->tokens[run[2]].replacement = "";
}

/* The name of what is launched, the token before <<< or its template arguments; NONE: it is none.
 */
static size_t launched_name(const struct source *s, size_t before) {
    if (is(s, before, ">")) before = previous_token(s, opening_angle(s, before));
    return is_identifier(s, before) ? before : NONE;
}

/* Where what is launched begins, which ends with token `last`: k, n::k<16>, table[2], (*pointer).
 */
static size_t begin_of_launched(const struct source *s, size_t last) {
    size_t begin = last, i = last;
    while (i != NONE) {
        if (is(s, i, ") ]")) {
            const bool group = is(s, i, ")");
            if ((begin = partner_of(s, i)) == NONE) return last;
            i = previous_token(s, begin);
            if (group && !is(s, i, "> ]") && (!is_identifier(s, i) || is(s, i, NO_TYPES))) break;
            continue;
        }
        if (is(s, i, ">")) i = previous_token(s, opening_angle(s, i));
        if (!is_identifier(s, i) || is(s, i, NO_TYPES)) break;
        begin = i;
        i = previous_token(s, i);
        if (is(s, i, "template")) i = previous_token(s, i);
        if (is(s, i, "::")) begin = i;
        if (!is(s, i, QUALIFIERS)) break;
        i = previous_token(s, i);
    }
    return begin;
}

/* Whether a name can be something other than a function: it also appears where it is not called,
 * launched or declared with parameters, or behind :: and the like. */
static bool may_be_variable(const struct source *s, size_t name) {
    for (size_t i = 0; i < s->count; i++)
        if (s->tokens[i].user && is_identifier(s, i) && same_token(s, i, s, name) &&
            (!is(s, next_token(s, i), "( <") || is(s, previous_token(s, i), QUALIFIERS)))
            return true;
    return false;
}

static bool names_kernel(const struct source *s, size_t name) {
    return next_by_name(s, name, true, &(size_t){0});
}

/* The launch of a function that is no kernel, where all functions of the name are none. */
static void refuse_no_kernel(const struct source *s, size_t launch, size_t name) {
    const struct piece *found = NULL;
    size_t at = 0;
    for (const struct piece *p; (p = next_by_name(s, name, false, &at));) {
        if (p->kernel) return;
        if (!found || p->device) found = p;
    }
    if (!found || may_be_variable(s, name)) return;
    refuse(s, launch,
           found->device
               ? "a __device__ function call cannot be configured; only kernels are launched "
                 "with <<<grid, block>>>: write __global__ instead of __device__ before it"
               : "a host function call cannot be configured; only kernels are launched with "
                 "<<<grid, block>>>: write __global__ before it");
}

/* How many there are between commas, from token `first` to the one before `end`. */
static size_t count_values(const struct source *s, size_t first, size_t end) {
    size_t count = first != end;
    for (size_t i = first; i != NONE && i < end; i = next_token(s, i)) {
        count += is(s, i, ",");
        if (opens(punctuator(s, i))) i = partner_of(s, i);
    }
    return count;
}

/* The parameters of a kernel, or the arguments of a launch, from their ( to their ), which may be
 * missing: NONE. */
struct list {
    size_t open, end, count;
};

static struct list read_list(const struct source *s, size_t open) {
    const size_t end = partner_of(s, open);
    return (struct list){open, end, end == NONE ? 0 : count_values(s, next_token(s, open), end)};
}

/* Writes the tokens from `first` to before `end`, however long, with a blank where there are some.
 */
static void write_tokens(FILE *out, const struct source *s, size_t first, size_t end) {
    for (size_t i = first, next; i < end; i = next) {
        const struct token *t = &s->tokens[i];
        next = next_token(s, i);
        fwrite(s->text + t->start, 1, t->length, out);
        if (next < end && s->tokens[next].start != t->start + t->length) fputc(' ', out);
    }
}

/* A text that is written piece by piece, and lives as long as the program. */
struct writing {
    FILE *out;
    char *text;
    size_t length;
};

static FILE *begin_text(struct writing *w) {
    w->out = open_memstream(&w->text, &w->length);
    if (!w->out) trouble("out of memory");
    return w->out;
}

static const char *end_text(struct writing *w) {
    if (fclose(w->out) != 0) trouble("out of memory");
    return w->text;
}

/* ", 1.0f, 2": the defaults of all parameters after the first `given`; NULL if one has none. */
static const char *spell_defaults(const struct source *s, const struct list *parameters,
                                  size_t given) {
    struct writing w;
    size_t number = 0, spelled = 0;
    size_t value = NONE; /* behind the = of a parameter whose default is wanted */
    FILE *out = begin_text(&w);
    for (size_t i = parameters->open; i != parameters->end;) {
        i = next_token(s, i);
        if (opens(punctuator(s, i))) i = partner_of(s, i);
        if (is(s, i, "=") && number >= given) value = next_token(s, i);
        if (i != parameters->end && !is(s, i, ",")) continue;
        if (value != NONE) {
            fputs(number ? ", " : " ", out);
            write_tokens(out, s, value, i);
            spelled++;
        }
        number++;
        value = NONE;
    }
    const char *text = end_text(&w);
    if (given + spelled == parameters->count) return text;
    free(w.text);
    return NULL;
}

/* Writes the defaults that a launch leaves to its kernel behind the arguments: a pointer to the
 * kernel, which is what is launched, does not know them. */
static void add_defaults(struct source *s, size_t name, const struct list *given) {
    const char **before = &s->tokens[given->end].before;
    const char *defaults = NULL;
    size_t at = 0;
    for (const struct piece *p; (p = next_by_name(s, name, true, &at));) {
        const struct list list = read_list(s, p->parameters);
        if (given->count == list.count) return; /* another kernel of the name may be meant */
        if (given->count < list.count && !defaults)
            defaults = spell_defaults(s, &list, given->count);
    }
    *before = defaults;
}

/* Whether one of these is in a list. */
static bool list_has(const struct source *s, const struct list *list, const char *words) {
    for (size_t i = list->open; i <= list->end; i++)
        if (is(s, i, words)) return true;
    return false;
}

/* A launch with more arguments than each kernel of the name takes, or with fewer. */
static void refuse_count(const struct source *s, size_t name, const struct list *given) {
    static const char UNCOUNTABLE[] = "< ..."; /* commas between arguments of templates; packs */
    size_t at = 0, wanted = given->count;
    if (list_has(s, given, UNCOUNTABLE)) return;
    for (const struct piece *p; (p = next_by_name(s, name, true, &at));) {
        const struct list list = read_list(s, p->parameters);
        const size_t first = next_token(s, list.open);
        wanted = is(s, first, "void") && next_token(s, first) == list.end ? 0 : list.count;
        if (wanted == given->count || list.end == NONE || list_has(s, &list, UNCOUNTABLE) ||
            (given->count < wanted && list_has(s, &list, "=")))
            return;
    }
    if (may_be_variable(s, name)) return;
    refuse(s, name, "this launch has %zu argument%s, and the kernel %.*s has %zu parameter%s",
           given->count, given->count == 1 ? "" : "s", SPELLED(s, name), wanted,
           wanted == 1 ? "" : "s");
}

/* ---- The kernel of several that a launch's arguments choose ------------------------------------
 *
 * A template without all of its arguments, or several kernels of one name: a pointer to the kernel
 * does not say which one is meant, a call would. So behind each such kernel a function is declared,
 * which is never called, with the same parameters, and whose value is a pointer to such a kernel:
 *
 *     template <class T> __global__ void k(T *p, int n = 1) {}
 *     template <class T> void (*emulator_choice_of_k(T *p, int n = 1))(T *p, int n);
 *
 * The type of emulator_choice_of_k(x) is that of the kernel which k<<<g, b>>>(x) launches. */

static bool is_template(const struct source *s, const struct piece *p) {
    return is(s, p->first, "template");
}

/* Whether token i, by itself, declares something else by the name of a kernel: a variable. */
static bool declares_another(const struct source *s, size_t i) {
    size_t before = previous_token(s, i);
    if (is(s, next_token(s, i), "( <")) return false;
    if (is(s, before, "&")) before = previous_token(s, before);
    return is(s, before, "* >") || (is_identifier(s, before) && !is(s, before, NO_TYPES));
}

/* Whether it does where the launch of the kernel, token `launch`, can see it. */
static bool hides_kernel(const struct source *s, size_t i, size_t launch) {
    const size_t before = previous_token(s, i);
    size_t scope = s->tokens[i].parent, around = launch;
    if (!declares_another(s, i)) return false;
    if (is(s, before, "*") && previous_token(s, before) == scope) /* (*pointer) */
        scope = s->tokens[scope].parent;
    if (!is(s, scope, "(")) {
        while (around != scope && around != NONE) around = s->tokens[around].parent;
        return around == scope;
    }
    for (size_t at = 0; at < s->piece_count; at++) /* a parameter is seen in its function */
        if (s->pieces[at].first <= i && i <= s->pieces[at].last)
            return s->pieces[at].first <= launch && launch <= s->pieces[at].last;
    return false;
}

static bool is_chosen_by_arguments(const struct source *s, size_t name) {
    size_t at = 0, count = 0; /* of all functions: a wrapper may have its kernel's name */
    bool kernel = false, template = false;
    if (is(s, previous_token(s, name), ". ->")) return false;
    for (const struct piece *p; (p = next_by_name(s, name, false, &at)); count++) {
        kernel = kernel || p->kernel;
        template = template || (p->kernel && is_template(s, p));
    }
    if (!kernel || (!template && count < 2)) return false;
    for (size_t i = 0; i < s->count; i++)
        if (s->tokens[i].user && same_token(s, i, s, name) && hides_kernel(s, i, name))
            return false;
    return true;
}

/* Writes a list of parameters; their defaults, if they are not wanted, are left out. */
static void write_parameters(FILE *out, const struct source *s, const struct list *list,
                             bool defaults) {
    size_t angles = 0;
    bool skipped = false;
    for (size_t i = list->open; i != NONE && i <= list->end; i = next_token(s, i)) {
        if (i == list->end || s->tokens[i].parent == list->open) {
            angles += is(s, i, "<");
            if (is(s, i, ">") && angles) angles--;
            if (i == list->end || (is(s, i, ",") && !angles)) skipped = false;
            if (is(s, i, "=") && !angles) skipped = !defaults;
        }
        if (!skipped && !is(s, i, "__shared__")) fprintf(out, "%.*s ", WHOLE(s, i));
    }
}

/* Not behind a specialization, or an instantiation that is asked for: the template has one. */
static void declare_choice(struct source *s, const struct piece *p) {
    const struct list list = read_list(s, p->parameters);
    const size_t head = end_of_head(s, p->first, p->name);
    const bool template = is_template(s, p);
    const char **after = &s->tokens[p->last].after;
    struct writing w;
    if (list.end == NONE || *after) return;
    if (template && (head == p->first || is(s, previous_token(s, head), "<"))) return;
    FILE *out = begin_text(&w);
    if (template) fputc(' ', out);
    if (template) write_tokens(out, s, p->first, next_token(s, head));
    fprintf(out, " void (*%s%.*s", CHOICE, WHOLE(s, p->name));
    write_parameters(out, s, &list, true);
    fputc(')', out);
    write_parameters(out, s, &list, false);
    fputc(';', out);
    *after = end_text(&w);
}

/* Has a using declaration of such a kernel, whose name is token i, declare the function, too. */
static void declare_choice_used(struct source *s, size_t i) {
    const size_t end = next_token(s, i);
    size_t begin = i, at = 0;
    struct writing w;
    if (!is(s, end, ";") || s->tokens[end].after || !is(s, previous_token(s, i), "::")) return;
    const size_t space = previous_token(s, previous_token(s, i));
    while (is_identifier(s, begin) || is(s, begin, "::")) {
        if (is(s, begin, "using")) break;
        begin = previous_token(s, begin);
    }
    if (!is(s, begin, "using")) return;
    for (const struct piece *p; (p = next_by_name(s, i, true, &at));) {
        const size_t around = previous_token(s, s->tokens[p->first].parent);
        if (is(s, space, "using") ? around != NONE : !same_token(s, around, s, space)) continue;
        FILE *out = begin_text(&w);
        fputc(' ', out);
        write_tokens(out, s, begin, i);
        fprintf(out, "%s%.*s;", CHOICE, WHOLE(s, i));
        s->tokens[end].after = end_text(&w);
        return;
    }
}

/* Whether a launch's arguments can be written once more: neither a lambda nor a line of the
 * preprocessor's is among them. */
static bool can_be_repeated(const struct source *s, const struct list *given) {
    for (size_t i = given->open; i <= given->end; i++) {
        const size_t before = previous_token(s, i);
        if (s->tokens[i].kind == DIRECTIVE ||
            memchr(s->text + s->tokens[i].start, '\n', s->tokens[i].length) ||
            (is(s, i, "[") && !is_identifier(s, before) && !is(s, before, ") ]")))
            return false;
    }
    return true;
}

/* ").checked(noexcept(k(x))))" for the >>> of a launch of k: compilers say of a kernel's own call
 * in one line what is wrong with its arguments. */
static void check_arguments(struct source *s, size_t name, size_t close, const struct list *given) {
    struct writing w;
    FILE *out = begin_text(&w);
    fputs(").checked(noexcept(", out);
    write_tokens(out, s, name, next_token(s, name));
    write_tokens(out, s, given->open, given->end + 1);
    fputs(")))", out);
    s->tokens[close].replacement = end_text(&w);
}

#define PASSED "(static_cast<decltype(emulator_x)>(emulator_x)...)"

/* Makes what is launched, from token `begin` to before its <<<, the kernel that the arguments
 * choose: "(decltype(emulator_choice_of_k(x)))k". Where they cannot be repeated, they are those of
 * a lambda around the launch. */
static void choose_by_arguments(struct source *s, size_t begin, size_t name, size_t open,
                                size_t close, const struct list *given) {
    const bool repeated = can_be_repeated(s, given);
    struct writing w;
    size_t at = 0;
    for (const struct piece *p; (p = next_by_name(s, name, true, &at));) declare_choice(s, p);
    for (size_t i = 0; i < s->count; i++)
        if (s->tokens[i].user && same_token(s, i, s, name)) declare_choice_used(s, i);
    FILE *out = begin_text(&w);
    fprintf(out, "%s%s(decltype(", repeated ? "" : "[&](auto &&...emulator_x) { ", LAUNCH_BEGIN);
    write_tokens(out, s, begin, name);
    fputs(CHOICE, out);
    write_tokens(out, s, name, open);
    if (repeated)
        write_tokens(out, s, given->open, given->end + 1);
    else
        fputs(PASSED, out);
    fputs("))", out);
    s->tokens[begin].before = end_text(&w);
    if (!repeated) s->tokens[close].replacement = "))" PASSED "; }";
}

/* ---- What nvcc refuses in the head of a kernel, and what the device cannot have -------------- */

/* The names of template parameter packs, and of function parameter packs: a tree of words. */
static void *packs;

static int compare_words(const void *a, const void *b) { return strcmp(a, b); }

static char *word_of(const struct source *s, size_t i) {
    char *word = strndup(s->text + s->tokens[i].start, s->tokens[i].length);
    if (!word) trouble("out of memory");
    return word;
}

/* A pack's name follows on ... where it is declared. */
static void find_packs(const struct source *s) {
    for (size_t i = next_token(s, NONE); i != NONE; i = next_token(s, i)) {
        if (!is(s, i, "...") || !is_identifier(s, next_token(s, i))) continue;
        char *word = word_of(s, next_token(s, i));
        char **kept = tsearch(word, &packs, compare_words);
        if (!kept) trouble("out of memory");
        if (*kept != word) free(word);
    }
}

static bool names_pack(const struct source *s, size_t i) {
    char *word = word_of(s, i);
    const bool found = strcmp(word, "auto") == 0 || tfind(word, &packs, compare_words);
    free(word);
    return found && is_identifier(s, i);
}

/* Whether the parenthesis at token `open` is a list of parameters, or of arguments: not one of an
 * expression, such as the fold (f(values), ...). */
static bool follows_on_name(const struct source *s, size_t open) {
    static const char before_expression[] =
        "return else do throw case sizeof delete typeof and or not xor new if for while switch "
        "co_return co_yield co_await";
    size_t before = previous_token(s, open);
    return is(s, before, "]") || (is_identifier(s, before) && !is(s, before, before_expression));
}

/* Whether the ... at token i ends a function's parameters as C has it, (int n, ...) or (int n...):
 * it is no pack, and expands none. */
static bool takes_any_arguments(const struct source *s, size_t i) {
    const size_t before = previous_token(s, i), open = s->tokens[i].parent;
    const bool comma = is(s, before, ",");
    bool pack = false;
    size_t angles = 0;
    if (!is(s, next_token(s, i), ")")) return false;
    if (before == open) return !is(s, previous_token(s, open), "catch");
    for (size_t j = before; j > open; j = previous_token(s, j)) {
        angles += is(s, j, ">");
        if (is(s, j, "<") && angles) angles--;
        if (is(s, j, ",") && s->tokens[j].parent == open && !comma && !angles) break;
        pack = pack || names_pack(s, j);
    }
    return !pack || (comma && follows_on_name(s, open));
}

/* Refuses a variable number of arguments in what runs on the device. nvcc takes it but in kernels;
 * here a structure that is passed so would be read without a word to the checker: gcc announces no
 * such access. */
static void refuse_ellipsis(const struct source *s, const struct piece *p) {
    static const char INSTEAD[] =
        "in device code does not work on the CPU backend; make a template "
        "of the function: template <class... T> f(T... values)";
    size_t begin = p->first;
    while (!s->tokens[begin].user) begin = next_token(s, begin); /* a piece may begin in a header */
    for (size_t i = begin; i != NONE && i <= p->last; i = next_token(s, i)) {
        if (is(s, i, "...") && takes_any_arguments(s, i))
            refuse(s, i, "a variable number of arguments (...) %s", INSTEAD);
        if (is_identifier(s, i) && begins_with(s, i, "__builtin_va_"))
            refuse(s, i, "%.*s (va_list, va_arg, ...) %s", SPELLED(s, i), INSTEAD);
    }
}

/* Refuses what nvcc does where functions and variables for the device are declared. __thread, which
 * it takes there, means nothing to it: the variable is one for all threads. */
static void read_device_words(struct source *s, const struct piece *p) {
    for (size_t i = p->first; i != NONE && i <= p->last; i = next_token(s, i)) {
        if (!s->tokens[i].user) continue;
        if (is(s, i, "thread_local"))
            refuse(s, i,
                   "cannot use thread_local specifier for variable declarations in device code");
        if (is(s, i, "goto") && is(s, next_token(s, i), "*"))
            refuse(s, i,
                   "address of label extension is not supported in __device__/__global__ "
                   "functions");
        if (is(s, i, "__thread")) s->tokens[i].replacement = "";
    }
}

/* Refuses a kernel that returns something, where its head says so in words that are no names of
 * types: what those stand for the compiler knows. */
static void refuse_return_type(const struct source *s, const struct piece *p) {
    static const char types[] =
        "char short int long float double bool * unsigned signed size_t & float2 float4";
    const size_t arrow = next_token(s, partner_of(s, p->parameters));
    const bool void_behind = is(s, arrow, "->") && !is(s, next_token(s, arrow), types);
    size_t type = NONE;
    for (size_t i = previous_token(s, p->name); is_identifier(s, i) || is(s, i, "* & ::");
         i = previous_token(s, i))
        if (is(s, i, types) || (is(s, i, "auto") && !void_behind)) type = i;
    if (type != NONE && is_identifier(s, p->name))
        refuse(s, type,
               "the kernel %.*s must return void: write __global__ void, and store its results "
               "in memory",
               SPELLED(s, p->name));
}

/* Marks who runs the body of a function. */
static void mark_body(struct source *s, const struct piece *p) {
    const bool device = only_on_device(p);
    for (size_t i = p->body; i < p->last; i++) {
        /* A lambda or class in host code can be for the device. */
        if (!device && is(s, i, SPACES)) break;
        s->tokens[i].device = device;
        s->tokens[i].host = !device;
    }
}

/* Looks at all functions, and marks what only a GPU runs. */
static void check_functions(struct source *s) {
    find_packs(s);
    for (size_t i = 0; i < s->piece_count; i++) {
        const struct piece *p = &s->pieces[i];
        if (p->body != NONE) mark_body(s, p);
        if (p->device) refuse_ellipsis(s, p);
        if (p->device) read_device_words(s, p);
        if (p->kernel && p->name != NONE) refuse_return_type(s, p);
    }
}

/* A launch that is written k<<grid, block>>(x), a statement of its own: no value of a kernel's can
 * be shifted. The << are the tokens `open` to `last`. */
static void refuse_two_brackets(const struct source *s, size_t open, size_t last) {
    const size_t name = launched_name(s, previous_token(s, open));
    size_t before = previous_token(s, name);
    if (!names_kernel(s, name)) return;
    while (is(s, before, "::")) before = previous_token(s, previous_token(s, before));
    if (before != NONE && !is(s, before, AROUND_STATEMENT)) return;
    for (size_t i = next_token(s, last); i != NONE; i = next_token(s, i)) {
        if (opens(punctuator(s, i))) i = partner_of(s, i);
        if (i == NONE || is(s, i, AROUND_STATEMENT)) return;
        if (is(s, i, ">") && is(s, next_token(s, i), ">"))
            refuse(
                s, open,
                "a launch has three angle brackets on each side, %.*s<<<grid, block>>>(...), and "
                "this one has two",
                SPELLED(s, name));
    }
}

/* Of a launch with its configuration in the tokens from `first` to the one before `end`. */
static void refuse_configuration(const struct source *s, size_t open, size_t first, size_t end) {
    const size_t values = count_values(s, first, end);
    if (list_has(s, &(struct list){.open = first, .end = end}, "<"))
        return; /* of a template, which may have commas */
    if (values < 2 || values > 4)
        refuse(s, open,
               "a launch has two to four values between <<< and >>>: grid, block, bytes of dynamic "
               "shared memory, stream; this one has %zu",
               values);
}

/* The >>> of the launch whose <<< ends with token i: the last three of a run, which may begin with
 * the end of a template argument list, k<<<g, size<int>>>>(x). False: there is none. */
static bool find_launch_end(const struct source *s, size_t i, size_t run[3]) {
    while ((i = next_token(s, i)) != NONE && !is(s, i, "; ) ] }")) {
        if (opens(punctuator(s, i)) && (i = partner_of(s, i)) == NONE) return false;
        if (is(s, i, "<") && read_run(s, i, "<", run) == 3) return false;
        if (!is(s, i, ">")) continue;
        const size_t length = read_run(s, i, ">", run);
        i = run[2];
        if (length >= 3 && is(s, next_token(s, i), "(")) return true;
    }
    return false;
}

static void rewrite_launch(struct source *s, const size_t open[3]) {
    const size_t before = previous_token(s, open[0]), name = launched_name(s, before);
    size_t close[3] = {NONE, NONE, NONE};
    if (s->tokens[open[0]].device && !s->unbalanced)
        refuse(s, open[0],
               "a kernel cannot launch a kernel (dynamic parallelism) here; launch it from "
               "host code");
    refuse_no_kernel(s, open[0], name);
    if (!find_launch_end(s, open[2], close))
        refuse(s, open[0], "the launch that opens here with <<< is not closed by >>>(arguments)");
    refuse_configuration(s, open[0], next_token(s, open[2]), close[0]);
    const size_t begin = begin_of_launched(s, before);
    s->tokens[begin].before = LAUNCH_BEGIN;
    replace_run(s, open, LAUNCH_OPEN);
    replace_run(s, close, LAUNCH_CLOSE);
    const struct list given = read_list(s, next_token(s, close[2]));
    if (given.end == NONE) return;
    add_defaults(s, name, &given);
    const bool chosen = is_chosen_by_arguments(s, name);
    if (chosen) choose_by_arguments(s, begin, name, open[0], close[0], &given);
    if (name != before || !names_kernel(s, name) || is(s, previous_token(s, name), QUALIFIERS))
        return;
    refuse_count(s, name, &given);
    if (!chosen && can_be_repeated(s, &given)) check_arguments(s, name, close[0], &given);
}

/* At the first < of a run. Returns the run's last token. C++ itself has three in a row only in
 * operator<< <T>. */
static size_t read_launch(struct source *s, size_t i) {
    size_t run[3] = {i, i, i};
    const size_t length = read_run(s, i, "<", run);
    if (length == 2) refuse_two_brackets(s, i, run[2]);
    if (length == 3 && !is(s, previous_token(s, i), "operator")) rewrite_launch(s, run);
    return run[2];
}

/* ---- Rule 3: shared memory ------------------------------------------------------------------- */

/* The last token of the attribute, alignas(16) or [[...]], that begins at token i; NONE: none does.
 */
static size_t end_of_attribute(const struct source *s, size_t i) {
    size_t next = next_token(s, i);
    if (is(s, i, ATTRIBUTES)) return is(s, next, "(") ? partner_of(s, next) : i;
    return is(s, i, "[") && is(s, next, "[") ? partner_of(s, i) : NONE;
}

/* Removes extern and static from the words and attributes before the __shared__ at token `at`.
 * True: extern was there. */
static bool drop_storage_before(struct source *s, size_t at) {
    bool dynamic = false;
    for (size_t i = previous_token(s, at); i != NONE; i = previous_token(s, i)) {
        if (is(s, i, ")")) i = previous_token(s, partner_of(s, i));
        if (!is_identifier(s, i) || is(s, i, "__shared__")) break;
        dynamic = dynamic || is(s, i, "extern");
        if (is(s, i, "extern static")) s->tokens[i].replacement = "";
    }
    return dynamic;
}

/* A declarator of a __shared__ declaration, such as s[4] in `float s[4], t[4];`. */
struct declarator {
    size_t name;
    size_t end;  /* its last token, attributes behind it left out */
    size_t last; /* ... and with them */
    size_t stop; /* the , or ; behind it, or what ends the declaration wrongly */
};

static _Noreturn void refuse_initializer(const struct source *s, size_t i) {
    refuse(s, i,
           "a __shared__ variable cannot have an initializer; store its first values in the "
           "kernel, then __syncthreads()");
}

/* Whether the ( at token i follows on the declarator's name and so holds its first value, as in
 * `float t(0)`: a word that is no type is before it, and a type before that. In `float (t)[4]` and
 * in `decltype(x) t` it does not, nor in `part t()`, which declares a function. */
static bool opens_value(const struct source *s, size_t i) {
    static const char types[] = "char short int long float double bool unsigned signed wchar_t "
                                "const volatile decltype typename";
    static const char no_types[] =
        "const volatile typename struct class union enum __shared__ static extern inline";
    size_t name = previous_token(s, i), type = previous_token(s, name);
    if (!is_identifier(s, name) || is(s, name, types) || is(s, next_token(s, i), ")")) return false;
    return is(s, type, "> * & ,") || (is_identifier(s, type) && !is(s, type, no_types));
}

/* Reads a declarator, the first with the type before it, from token i of the declaration whose
 * __shared__ is token `at`. An initializer is refused. */
static struct declarator read_declarator(const struct source *s, size_t i, size_t at) {
    struct declarator d = {.end = at, .last = at};
    size_t angles = 0;
    bool class_body = false, array = false;
    for (; i != NONE; d.last = i, i = next_token(s, i)) {
        char c = punctuator(s, i);
        size_t attribute = end_of_attribute(s, i);
        if (c == ';' || closes(c) || (c == ',' && !angles)) break;
        if (attribute != NONE) {
            i = attribute;
            continue;
        }
        if (c == '=') refuse_initializer(s, at);
        if (c == '{' && !class_body) {
            if (is(s, d.last, ")")) break; /* a function's body: this declares no variable */
            refuse_initializer(s, at);
        }
        if (c == '(' && !angles && opens_value(s, i)) refuse_initializer(s, at);
        class_body = class_body || is(s, i, "struct union class enum");
        array = array || c == '[';
        angles = c == '<' ? angles + 1 : c == '>' && angles ? angles - 1 : angles;
        if (is_identifier(s, i) && !array && !angles) d.name = i;
        if (opens(c) && (i = partner_of(s, i)) == NONE) break;
        d.end = i;
    }
    d.stop = i;
    return d;
}

/* Makes a declarator of an extern __shared__ declaration name the dynamic shared memory. The symbol
 * goes before attributes: gcc takes no other order. */
static void place_dynamic(struct source *s, const struct declarator *d, bool file_scope) {
    if (d->name == NONE) return;
    if (file_scope) {
        s->tokens[d->end].after = DYNAMIC_EXTERN_SYMBOL;
        return;
    }
    s->tokens[d->name].before = "(&";
    s->tokens[d->name].after = ")";
    s->tokens[d->last].after = DYNAMIC_REFERENCE_VALUE + (d->last != d->name); /* one ) */
}

static const char SHARED_IN_HOST[] =
    "a __shared__ variable declaration is not allowed inside a host function; if this is a kernel, "
    "write __global__ before it";

/* Rewrites the declaration with its __shared__ at token `at`, and returns its last token. The words
 * __shared__, static and extern go; their replacement comes in before the first word behind them
 * that is no attribute, where both compilers take it. */
static size_t rewrite_shared(struct source *s, size_t at) {
    const size_t around = s->tokens[at].parent;
    const bool file_scope = around == NONE || (is(s, around, "{") && opens_namespace(s, around));
    bool dynamic = drop_storage_before(s, at);
    size_t first = at, attribute;
    for (;; first = next_token(s, first)) {
        if (first == NONE) return s->count;
        if (is(s, first, "__shared__ static extern")) {
            dynamic = dynamic || is(s, first, "extern");
            s->tokens[first].replacement = "";
        } else if ((attribute = end_of_attribute(s, first)) != NONE) {
            first = attribute;
        } else {
            break;
        }
    }
    if (!dynamic && s->tokens[at].host) refuse(s, at, SHARED_IN_HOST);
    s->tokens[first].before = !dynamic     ? STATIC_SHARED
                              : file_scope ? DYNAMIC_EXTERN
                                           : DYNAMIC_REFERENCE;
    for (size_t i = first;;) {
        const struct declarator d = read_declarator(s, i, at);
        if (dynamic) place_dynamic(s, &d, file_scope);
        if (!is(s, d.stop, ",")) return d.last;
        i = next_token(s, d.stop);
    }
}

/* ---- Rule 4: #pragma unroll ------------------------------------------------------------------ */

/* The pragma is advice about a GPU's registers; here it is left out, which changes no result and,
 * measured on tiled kernels, no time. Kept, it would do harm. gcc, whose spelling is GCC unroll,
 * makes as many copies as asked for even of a loop whose length it does not know (65534 take it
 * many minutes), and warns about some loops in templates without an option to stop it. Both
 * compilers refuse it before anything but a loop, where nvcc only warns, and a count that is a
 * macro's name, which neither preprocessor expands. */
static const char UNROLL[] = "unroll";

/* Whether token i is a line that begins with #pragma and this word. */
static bool is_pragma(const struct source *s, size_t i, const char *word) {
    if (s->tokens[i].kind != DIRECTIVE) return false;
    const size_t pragma = skip_blanks(s, s->tokens[i].start + 1);
    if (strncmp(s->text + pragma, "pragma", 6) != 0) return false;
    const size_t at = skip_blanks(s, pragma + 6);
    return has_word(word, s->text + at, skip_identifier(s, at) - at);
}

/* ---- Rule 5: execution and memory spaces ------------------------------------------------------
 */

/* What the words become in the marked text; spaces.c says what is made of it. */
static const char MARK_DEVICE[] = "__attribute__((patchable_function_entry(1, 0), aligned(4096)))";
static const char MARK_GLOBAL[] = "__attribute__((patchable_function_entry(2, 1)))";
static const char MARK_BOTH[] = "__attribute__((patchable_function_entry(3, 2)))";
static const char MARK_BOTH_DEFAULTED[] = "__attribute__((patchable_function_entry(3, 2))) =";
static const char MARK_CONSTANT[] = "__attribute__((aligned(8192)))";
/* In its body: gcc and clang want an attribute in different places of a declarator. */
static const char *const MARK_LAMBDA[] = {"{ ::emulator::of_device();", "{ ::emulator::of_both();"};

/* Whether a word before token i, in the same declaration, is one of these. */
static bool is_behind(const struct source *s, size_t i, const char *words) {
    while ((i = previous_token(s, i)) != NONE) {
        if (is(s, i, ")")) {
            i = previous_token(s, partner_of(s, i));
            if (!is(s, i, ATTRIBUTES)) return false;
        } else if (!is_identifier(s, i) && !is(s, i, "::")) {
            return false;
        } else if (is(s, i, words)) {
            return true;
        }
    }
    return false;
}

/* ... or a word at or behind it, as far as what the declaration declares. */
static bool is_among(const struct source *s, size_t i, const char *word) {
    for (; is_identifier(s, i) || is(s, i, "::"); i = next_token(s, i)) {
        if (is(s, i, word)) return true;
        size_t attribute = end_of_attribute(s, i);
        if (attribute != NONE) i = attribute;
    }
    return false;
}

/* The { of the lambda whose [captures] end before token i; NONE: it is none. */
static size_t body_of_lambda(const struct source *s, size_t i) {
    size_t before = previous_token(s, i);
    if (!is(s, before, "]")) return NONE;
    size_t open = partner_of(s, before);
    if (open == NONE || is(s, next_token(s, open), "[")) return NONE; /* [[an attribute]] */
    while (i != NONE && !is(s, i, "{ ; =")) i = is(s, i, "(") ? partner_of(s, i) : next_token(s, i);
    return is(s, i, "{") ? i : NONE;
}

/* Takes one of the words out. In the marked text the first one of a declaration becomes the mark of
 * all of them; none does where it is part of a type or a parameter. */
static void mark_space(struct source *s, size_t i) {
    const bool both = is_among(s, i, "__host__") && is_among(s, i, "__device__");
    const size_t lambda = body_of_lambda(s, i);
    s->tokens[i].replacement = "";
    if (lambda != NONE) {
        if (is_among(s, i, "__device__")) s->tokens[lambda].marked = MARK_LAMBDA[both];
        return;
    }
    if (is(s, s->tokens[i].parent, "(") || is_behind(s, i, SPACES) ||
        is_behind(s, i, "typedef using struct class union"))
        return;
    if (is_among(s, i, "__global__"))
        s->tokens[i].marked = MARK_GLOBAL;
    else if (is_among(s, i, "__device__"))
        s->tokens[i].marked = both ? MARK_BOTH : MARK_DEVICE;
}

/* Whether the parenthesis at token `open` holds an expression, and declares no variable. */
static bool is_expression(const struct source *s, size_t open) {
    for (size_t i = next_token(s, open); i < partner_of(s, open); i = next_token(s, i))
        if (s->tokens[i].parent == open &&
            (is(s, i, "; {") || (is(s, i, "=") && !is(s, next_token(s, i), "=") &&
                                 !is(s, previous_token(s, i), "= ! + - * / % & | ^"))))
            return false;
    return true;
}

/* Compilers drop the body of an if (0), which nvcc checks, too. Of this condition they cannot know
 * the value. */
static void mark_condition(struct source *s, size_t i) {
    const size_t open = next_token(s, i);
    if (!is(s, open, "(") || partner_of(s, open) == NONE || !is_expression(s, open)) return;
    s->tokens[open].marked = "(::emulator::may_be() || (";
    s->tokens[partner_of(s, open)].marked = "))";
}

/* An attribute that would take the place of a mark, or have calls left out; another name of it is
 * none that compilers know. */
static const char *unknown_attribute(const struct source *s, size_t i) {
    static const char *const names[][2] = {
        {"optimize __optimize__", "emulator_optimize"},
        {"pure __pure__", "emulator_pure"},
        {"patchable_function_entry __patchable_function_entry__", "emulator_entry"},
    };
    for (size_t each = 0; each < sizeof names / sizeof *names; each++)
        if (is(s, i, names[each][0])) return names[each][1];
    const size_t outer = s->tokens[s->tokens[i].parent].parent; /* of __attribute__((const)) */
    const bool listed = is(s, outer, "[") || is(s, previous_token(s, outer), ATTRIBUTES);
    return listed && is(s, i, "const __const__") ? "emulator_const" : NULL;
}

/* What else is other in the marked text. A function that is defaulted is for those who call it, and
 * none is compiled into its callers. */
static void mark_others(struct source *s, size_t i) {
    struct token *t = &s->tokens[i];
    const char *unknown = t->user ? unknown_attribute(s, i) : NULL;
    if (unknown) t->marked = unknown;
    if (t->user && is(s, i, "if while")) mark_condition(s, i);
    if (t->user && is_pragma(s, i, "GCC")) t->marked = ""; /* options for what comes next */
    if (is(s, i, "__constant__")) {
        t->replacement = "";
        t->marked = MARK_CONSTANT;
    } else if (is(s, i, "always_inline") || (t->user && is(s, i, "__always_inline__"))) {
        t->marked = "noinline";
    } else if (t->user && is(s, i, "thread_local __thread")) {
        t->marked = ""; /* a variable of the host's, as any other; __shared__ ones are __thread */
    } else if (is(s, i, "default") && t->user && is(s, previous_token(s, i), "=")) {
        s->tokens[previous_token(s, i)].marked = MARK_BOTH_DEFAULTED;
    }
}

/* ---- All rules over the whole file ----------------------------------------------------------- */

/* Refuses the name of a barrier or fence that is a statement without its parentheses: nothing
 * happens there. nvcc says so, too, in a warning. */
static void refuse_uncalled(const struct source *s, size_t i) {
    static const char names[] =
        "__syncthreads __syncwarp __threadfence __threadfence_block __threadfence_system";
    if (is(s, i, names) && is(s, next_token(s, i), ";") &&
        is(s, previous_token(s, i), AROUND_STATEMENT))
        refuse(s, i, "%.*s without parentheses does nothing: write %.*s();", SPELLED(s, i),
               SPELLED(s, i));
}

static void rewrite(struct source *s) {
    bool declared = false;
    size_t shared_end = 0; /* the token after the last shared declaration */
    check_functions(s);
    for (size_t i = 0; i < s->count; i++) {
        /* gcc says that what a macro of a system header gives comes from there. */
        if (is(s, i, SPACES)) mark_space(s, i);
        mark_others(s, i);
        if (!s->tokens[i].user) continue;
        if (is_pragma(s, i, UNROLL)) s->tokens[i].replacement = "";
        if (is_identifier(s, i)) {
            const char *what = gpu_only(s, i);
            if (what)
                refuse(s, i,
                       "%s runs only on a GPU; build with BACKEND=cuda on a machine that has one",
                       what);
            refuse_lacked_call(s, i, &declared);
            refuse_without_mask(s, i);
            refuse_uncalled(s, i);
            /* No macro: libstdc++'s <memory> has an __attribute__((__noinline__)), which stays. */
            if (is(s, i, "__noinline__") && !is(s, previous_token(s, i), "( ,")) {
                s->tokens[i].before = "__attribute__((";
                s->tokens[i].after = "))";
            }
        }
        if (is(s, i, "<")) i = read_launch(s, i);
        if (!is(s, i, "__shared__")) continue;
        if (is(s, s->tokens[i].parent, "(") || i < shared_end)
            s->tokens[i].replacement = ""; /* a parameter is just a pointer */
        else
            shared_end = rewrite_shared(s, i) + 1;
    }
}

/* ---- Input, output, main --------------------------------------------------------------------- */

static const char USAGE[] = "usage: rewrite [DEVICE.ii [MARKED.ii]] < preprocessed.ii > plain.ii\n"
                            "       rewrite --headers < preprocessed.ii\n";

/* The text to compile: that of the device, which is read here, if it differs from the host's. */
static struct source *read_device(struct source *host, const char *name) {
    static struct source device; /* until the program ends */
    FILE *in = fopen(name, "r");
    if (!in) {
        fprintf(stderr, "rewrite: '%s': %s\n%s", name, strerror(errno), USAGE);
        exit(EXIT_USAGE);
    }
    read_input(&device, in);
    fclose(in);
    if (host->length == device.length && memcmp(host->text, device.text, host->length) == 0)
        return host;
    tokenize(&device);
    read_nesting(&device);
    refuse_arch(host, &device);
    return &device;
}

/* The text with the replacements; or, if that is wanted, the marked one. */
static void write_output(const struct source *s, FILE *out, bool marked) {
    size_t done = 0;
    for (size_t i = 0; i < s->count; i++) {
        const struct token *t = &s->tokens[i];
        const char *replacement = marked && t->marked ? t->marked : t->replacement;
        if (!t->before && !replacement && !t->after) continue;
        fwrite(s->text + done, 1, t->start - done, out);
        if (t->before) fputs(t->before, out);
        done = replacement ? end_of_token(s, i) : t->start;
        if (replacement) fputs(replacement, out);
        fwrite(s->text + done, 1, end_of_token(s, i) - done, out);
        if (t->after) fputs(t->after, out);
        done = end_of_token(s, i);
    }
    fwrite(s->text + done, 1, s->length - done, out);
}

static void write_marked(const struct source *s, const char *name) {
    FILE *out = fopen(name, "w");
    if (out) write_output(s, out, true);
    if (!out || ferror(out) | fclose(out)) {
        fprintf(stderr, "rewrite: '%s': %s\n", name, strerror(errno));
        exit(EXIT_TROUBLE);
    }
}

int main(int argc, char **argv) {
    const char *argument = argc >= 2 ? argv[1] : "";
    if (argc > 3 || (argument[0] == '-' && strcmp(argument, "--headers") != 0)) {
        fprintf(stderr, "rewrite: unexpected argument '%s'\n%s", argv[argc - 1], USAGE);
        return EXIT_USAGE;
    }
    static struct source host; /* until the program ends */
    read_input(&host, stdin);
    tokenize(&host);
    refuse_toolkit(&host);
    if (argument[0] != '-') {
        read_nesting(&host);
        struct source *s = argc >= 2 ? read_device(&host, argument) : &host;
        rewrite(s);
        if (argc == 3) write_marked(s, argv[2]);
        write_output(s, stdout, false);
        if (fflush(stdout) != 0 || ferror(stdout)) trouble("cannot write standard output");
    }
    return EXIT_OK;
}
