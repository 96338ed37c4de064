/* insert: finds the local variables of kernel.cu, and lets the checker know of each that it exists.
 *
 *     insert local.h < kernel.ii > locals.ii
 *
 * reads what engine/cuda/rewrite.c has made, and puts behind declarations without a value, and
 * behind those of arrays, an object whose constructor and destructor say when the variable comes
 * into scope and goes out of it (local.h):
 *
 *     float sum;                   float sum; ::emulator::in_scope emulator_local_1(sum, 1, false,
 * ...); for (int i; i < k; ++i)      for (int i = ::emulator::no_value{2, ...}; i < k; ++i)
 *
 * No parser: what does not look like such a declaration is left as it is. What comes of it serves
 * experiments alone (../locals.c), and nothing is lost where it does not compile. No newline is
 * added or removed. Exit status: 0; 1, and no output, where there is no such variable; 3 where
 * something cannot be read or written.
 *
 * The order below: tokens, declarations, statements, functions, main. */
#define _GNU_SOURCE
#include "../../cuda/tokens.h"

/* --- tokens ----------------------------------------------------------------------------------- */

static struct source source;

/* The tokens of the student's files, without directives, and macros of system headers included. */
static struct code {
    size_t token;
    struct linemarker place;
} * code;
static size_t code_count, code_capacity;

static bool same_file(const struct linemarker *a, const struct linemarker *b) {
    const size_t length = a->name_end - a->name;
    return b->name_end - b->name == length &&
           memcmp(source.text + a->name, source.text + b->name, length) == 0;
}

static void read_code(void) {
    struct linemarker now = {.system = true}, m;
    size_t at = 0;
    for (size_t i = 0; i < source.count; i++) {
        for (; at < source.tokens[i].start; at++) now.line += source.text[at] == '\n';
        if (read_linemarker(&source, i, &m) && m.name != NONE) {
            m.line--;
            m.system = m.system || source.text[m.name] == '<';
            if (same_file(&m, &now)) m.system = now.system; /* only a macro is another file's */
            now = m;
        } else if (source.tokens[i].kind != DIRECTIVE && !now.system) {
            code = with_room(code, code_count, &code_capacity, sizeof *code);
            code[code_count++] = (struct code){i, now};
        }
    }
}

/* Whether it is one of these. */
static bool code_is(size_t i, const char *words) {
    return i < code_count && is(&source, code[i].token, words);
}

static bool is_name(size_t i) { return i < code_count && is_identifier(&source, code[i].token); }

static char bracket(size_t i) { return punctuator(&source, code[i].token); }

/* Behind the bracket that closes the one at i; else i + 1. */
static size_t behind(size_t i) {
    size_t depth = 0;
    if (i >= code_count || !opens(bracket(i))) return i + 1;
    for (; i < code_count; i++) {
        depth += opens(bracket(i));
        depth -= closes(bracket(i));
        if (!depth) return i + 1;
    }
    return i;
}

/* From i on, the first such token outside of brackets; `end` where there is none. */
static size_t find(size_t i, size_t end, const char *text) {
    while (i < end && !code_is(i, text)) i = behind(i);
    return i < end ? i : end;
}

/* --- what is inserted ------------------------------------------------------------------------- */

/* In the order of the text. */
static struct insertion {
    size_t at;   /* it comes before this place in the text */
    size_t name; /* of `code` */
    bool valued, in_for;
} * insertions;
static size_t insertion_count, insertion_capacity;

static void insert(size_t before, size_t name, bool valued, bool in_for) {
    insertions = with_room(insertions, insertion_count, &insertion_capacity, sizeof *insertions);
    insertions[insertion_count++] =
        (struct insertion){source.tokens[code[before].token].start, name, valued, in_for};
}

static void print_insertion(const struct insertion *i, size_t number) {
    const struct token *t = &source.tokens[code[i->name].token];
    const struct linemarker *m = &code[i->name].place;
    const int length = (int)t->length, file_length = (int)(m->name_end - m->name);
    const char *name = source.text + t->start, *file = source.text + m->name;
    if (i->in_for)
        printf(" = ::emulator::no_value{%zuu, \"%.*s\", \"%.*s\", %zu}", number, length, name,
               file_length, file, m->line);
    else
        printf(
            " ::emulator::in_scope emulator_local_%zu(%.*s, %zuu, %s, \"%.*s\", \"%.*s\", %zu); ",
            number, length, name, number, i->valued ? "true" : "false", length, name, file_length,
            file, m->line);
}

/* --- declarations ----------------------------------------------------------------------------- */

/* Behind a template's arguments that begin at i; i where these are none. */
static size_t behind_arguments(size_t i, size_t end) {
    size_t at = i, depth = 0;
    do {
        depth += code_is(at, "<");
        depth -= code_is(at, ">");
        if (code_is(at, "; = |") || (code_is(at, "&") && code_is(at + 1, "&"))) return i;
        at = behind(at);
    } while (depth && at < end);
    return depth ? i : at;
}

/* What has brackets, and is no function. */
static const char with_brackets[] = "alignas decltype __attribute__ __align__ typeof __typeof__";

/* Behind what comes before a declaration's first name and its *; i where it is no declaration. */
static size_t behind_type(size_t i, size_t end) {
    static const char none[] =
        "return goto break continue using typedef static extern throw delete new asm __asm__ "
        "thread_local friend template operator __thread static_assert constexpr public sizeof else";
    const size_t begin = i;
    bool type = false;
    while (i < end) {
        if (code_is(i, none)) return begin;
        if (code_is(i, with_brackets) && code_is(i + 1, "(")) {
            type |= code_is(i, "decltype typeof __typeof__");
            i = behind(i + 1);
        } else if (code_is(i, "[") && code_is(i + 1, "[")) {
            i = behind(i);
        } else if (code_is(i, "::")) {
            i++;
        } else if (is_name(i)) {
            const bool arguments = code_is(i + 1, "<") && !code_is(i + 2, "<"); /* x << y */
            const size_t next = arguments ? behind_arguments(i + 1, end) : i + 1;
            const bool last = !is_name(next) && !code_is(next, "* & ::") &&
                              !(code_is(next, "[") && code_is(next + 1, "["));
            if (last) return type ? i : begin;
            type = true;
            i = next;
        } else {
            return type ? i : begin;
        }
    }
    return begin;
}

/* What declares names in the tokens from i to `end`, which is the statement's semicolon. */
static void read_declarators(size_t i, size_t end, bool in_for) {
    while (i < end) {
        while (code_is(i, "* const __restrict__ volatile")) i++;
        if (!is_name(i)) return;
        const size_t name = i++;
        const bool array = code_is(i, "[");
        while (code_is(i, "[")) i = behind(i);
        if (i == end || code_is(i, ",")) {
            if (!in_for || !array) insert(in_for ? i : end + 1, name, false, in_for);
        } else if (!in_for && (code_is(i, "{") || (code_is(i, "=") && code_is(i + 1, "{")))) {
            insert(end + 1, name, true, false);
        }
        i = find(i, end, ",") + 1;
    }
}

static void read_declaration(size_t i, size_t end, bool in_for) {
    const size_t declarators = behind_type(i, end);
    if (declarators > i && end + 1 < code_count) read_declarators(declarators, end, in_for);
}

/* struct { float a[16][16], b[16][16]; } shared; */
static void read_class(size_t i, size_t end) {
    const size_t body = find(i, end, "{");
    if (body < end)
        read_declarators(behind(body), end, false);
    else
        read_declaration(i, end, false);
}

/* --- statements ------------------------------------------------------------------------------- */

/* Behind the block whose { is at i. In a switch no declaration may be jumped over. */
static size_t read_block(size_t i, bool in_switch) {
    static const char classes[] = "struct class union enum";
    bool declares = !in_switch; /* a declaration may begin here */
    for (i++; i < code_count && !code_is(i, "}");) {
        if (code_is(i, "{")) {
            i = read_block(i, false);
        } else if (code_is(i, "if while switch for")) {
            const bool loop = code_is(i, "for"), cases = code_is(i, "switch");
            i += code_is(i + 1, "constexpr") ? 2 : 1;
            const size_t end = find(i + 1, behind(i) - 1, ";");
            if (loop && code_is(end, ";")) read_declaration(i + 1, end, true);
            i = behind(i);
            if (cases && code_is(i, "{")) i = read_block(i, true);
            declares = !in_switch && code_is(i, "{");
            continue;
        } else if (code_is(i, "else do try")) {
            i++;
            declares = false;
            continue;
        } else if (code_is(i, "case default") || (is_name(i) && code_is(i + 1, ":"))) {
            i = find(i, code_count, ":") + 1;
            continue;
        } else {
            const size_t end = find(i, code_count, ";");
            if (declares && code_is(i, classes)) read_class(i, end);
            if (declares && !code_is(i, classes)) read_declaration(i, end, false);
            i = end + 1;
        }
        declares = !in_switch;
    }
    return i + 1;
}

/* --- functions -------------------------------------------------------------------------------- */

/* Whether a { ends a function's head, which begins at i. */
static bool is_function(size_t i, size_t brace) {
    bool parameters = false;
    for (; i < brace; i = behind(i)) {
        if (code_is(i, "=")) return false;
        if (code_is(i, with_brackets) && code_is(i + 1, "("))
            i++;
        else
            parameters |= code_is(i, "(");
    }
    return parameters;
}

/* Namespaces and classes have functions in them. */
static bool has_functions(size_t i, size_t brace) {
    static const char words[] = "namespace struct class union extern";
    for (; i < brace; i = behind(i))
        if (code_is(i, words)) return true;
    return false;
}

static void read_scope(void) {
    size_t begin = 0; /* of a declaration */
    for (size_t i = 0; i < code_count;) {
        if (code_is(i, "; }")) {
            begin = ++i;
        } else if (!code_is(i, "{")) {
            i = behind(i);
        } else if (is_function(begin, i)) {
            begin = i = read_block(i, false);
        } else if (has_functions(begin, i)) {
            begin = ++i;
        } else {
            i = behind(i);
        }
    }
}

/* --- input and output ------------------------------------------------------------------------- */

int main(int argc, char **argv) {
    static struct source header; /* until the program ends */
    FILE *local = argc == 2 ? fopen(argv[1], "r") : NULL;
    size_t done = 0;
    if (!local) trouble("usage: insert local.h < kernel.ii > locals.ii");
    read_input(&header, local);
    read_input(&source, stdin);
    tokenize(&source);
    read_code();
    read_scope();
    if (!insertion_count) return 1;
    printf("# 1 \"local.h\" 3\n%s\n", header.text);
    for (size_t i = 0; i < insertion_count; i++) {
        fwrite(source.text + done, 1, insertions[i].at - done, stdout);
        done = insertions[i].at;
        print_insertion(&insertions[i], i + 1);
    }
    fwrite(source.text + done, 1, source.length - done, stdout);
    if (fflush(stdout) != 0 || ferror(stdout)) trouble("cannot write standard output");
    return 0;
}
