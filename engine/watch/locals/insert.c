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
#define _POSIX_C_SOURCE 200809L /* getdelim */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Noreturn void trouble(const char *what) {
    fprintf(stderr, "insert: %s\n", what);
    exit(3);
}

/* --- tokens ----------------------------------------------------------------------------------- */

/* Where the text stands: # 12 "file" 1 3. Flag 3: a system header, or one of its macros in the
 * middle of a file that is none. */
struct place {
    int line;
    const char *file; /* as the linemarker has it, with its quotes */
    size_t file_length;
    bool system;
};

static struct token {
    const char *at;
    size_t length;
    struct place place;
} * tokens;
static size_t token_count;

/* With room for one more behind `count`: there is always room for a power of two. */
static void *with_room(void *list, size_t count, size_t size) {
    if (count & (count - 1)) return list;
    list = realloc(list, (count ? 2 * count : 1) * size);
    if (!list) trouble("out of memory");
    return list;
}

/* The end of a string or character literal that begins at `at`. */
static const char *end_of_literal(const char *at) {
    const char quote = *at++;
    while (*at && *at != quote && *at != '\n') at += *at == '\\' && at[1] ? 2 : 1;
    return *at ? at + 1 : at;
}

static bool in_name(char c) { return isalnum((unsigned char)c) || c == '_' || c == '$'; }

static const char *end_of_token(const char *at) {
    static const char *const marks[] = {"<<=", ">>=", "->*", "...", "::", "->", "<<", "&&",
                                        "||",  "++",  "--",  "==",  "!=", "<=", ">=", "+=",
                                        "-=",  "*=",  "/=",  "%=",  "&=", "|=", "^="};
    if (*at == '"' || *at == '\'') return end_of_literal(at);
    if (isdigit((unsigned char)*at) || (*at == '.' && isdigit((unsigned char)at[1]))) {
        while (in_name(*at) || *at == '.' || (*at == '\'' && in_name(at[1])) ||
               ((*at == '+' || *at == '-') && strchr("eEpP", at[-1])))
            at++;
        return at;
    }
    if (in_name(*at)) {
        while (in_name(*at)) at++;
        return at;
    }
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (strncmp(at, marks[i], strlen(marks[i])) == 0) return at + strlen(marks[i]);
    return at + 1;
}

static struct place after_marker(const char *at, struct place now) {
    int line = 0, used = 0;
    if (sscanf(at, "# %d \"%n", &line, &used) != 1 || !used) return now;
    const char *file = at + used - 1, *end = end_of_literal(file);
    const char *newline = end + strcspn(end, "\n");
    const bool same =
        (size_t)(end - file) == now.file_length && memcmp(file, now.file, now.file_length) == 0;
    bool system = false;
    for (const char *flag = end; flag < newline; flag++) system |= *flag == '3';
    if (same) system = now.system; /* only a macro is another file's */
    return (struct place){line - 1, file, (size_t)(end - file), system || file[1] == '<'};
}

/* Of the student's files alone. */
static void read_tokens(const char *text) {
    struct place place = {.file = "", .system = true};
    bool begins = true; /* a line */
    for (const char *at = text; *at;) {
        if (*at == '\n') {
            place.line++;
            begins = true;
            at++;
        } else if (begins && *at == '#') {
            place = after_marker(at, place);
            at += strcspn(at, "\n");
        } else if (place.system) {
            at += strcspn(at, "\n");
        } else if (isspace((unsigned char)*at)) {
            at++;
        } else {
            const char *end = end_of_token(at);
            tokens = with_room(tokens, token_count, sizeof *tokens);
            tokens[token_count++] = (struct token){at, (size_t)(end - at), place};
            begins = false;
            for (; at < end; at++) place.line += *at == '\n';
        }
    }
}

static bool is(size_t i, const char *text) {
    return i < token_count && strlen(text) == tokens[i].length &&
           memcmp(tokens[i].at, text, tokens[i].length) == 0;
}

static bool is_one_of(size_t i, const char *const *words) {
    for (; *words; words++)
        if (is(i, *words)) return true;
    return false;
}

static bool is_name(size_t i) {
    return i < token_count && in_name(*tokens[i].at) && !isdigit((unsigned char)*tokens[i].at);
}

/* Behind the bracket that closes the one at i; else i + 1. */
static size_t behind(size_t i) {
    static const char open[] = "([{", close[] = ")]}";
    size_t depth = 0;
    if (i >= token_count || tokens[i].length != 1 || !strchr(open, *tokens[i].at)) return i + 1;
    for (; i < token_count; i++) {
        if (tokens[i].length != 1) continue;
        depth += strchr(open, *tokens[i].at) != NULL;
        depth -= strchr(close, *tokens[i].at) != NULL;
        if (!depth) return i + 1;
    }
    return i;
}

/* From i on, the first such token outside of brackets; `end` where there is none. */
static size_t find(size_t i, size_t end, const char *text) {
    while (i < end && !is(i, text)) i = behind(i);
    return i < end ? i : end;
}

/* --- what is inserted ------------------------------------------------------------------------- */

/* In the order of the text. */
static struct insertion {
    const char *at; /* it comes before */
    size_t name;    /* token */
    bool valued, in_for;
} * insertions;
static size_t insertion_count;

static void insert(size_t before, size_t name, bool valued, bool in_for) {
    insertions = with_room(insertions, insertion_count, sizeof *insertions);
    insertions[insertion_count++] = (struct insertion){tokens[before].at, name, valued, in_for};
}

static void print_insertion(const struct insertion *i, size_t number) {
    const struct token *t = &tokens[i->name];
    if (i->in_for)
        printf(" = ::emulator::no_value{%zuu, \"%.*s\", %.*s, %d}", number, (int)t->length, t->at,
               (int)t->place.file_length, t->place.file, t->place.line);
    else
        printf(" ::emulator::in_scope emulator_local_%zu(%.*s, %zuu, %s, \"%.*s\", %.*s, %d); ",
               number, (int)t->length, t->at, number, i->valued ? "true" : "false", (int)t->length,
               t->at, (int)t->place.file_length, t->place.file, t->place.line);
}

/* --- declarations ----------------------------------------------------------------------------- */

/* Behind a template's arguments that begin at i; i where these are none. */
static size_t behind_arguments(size_t i, size_t end) {
    size_t at = i, depth = 0;
    do {
        if (is(at, "<")) depth++;
        if (is(at, ">")) depth--;
        if (is(at, ">>")) depth = depth > 2 ? depth - 2 : 0;
        if (is(at, ";") || is(at, "&&") || is(at, "||") || is(at, "=")) return i;
        at = behind(at);
    } while (depth && at < end);
    return depth ? i : at;
}

/* What has brackets, and is no function. */
static const char *const with_brackets[] = {
    "alignas", "decltype", "__attribute__", "__align__", "typeof", "__typeof__", NULL};

/* Behind what comes before a declaration's first name and its *; i where it is no declaration. */
static size_t behind_type(size_t i, size_t end) {
    static const char *const none[] = {
        "return",        "goto",         "break",  "continue", "using",    "typedef",
        "static",        "extern",       "throw",  "delete",   "new",      "asm",
        "__asm__",       "thread_local", "friend", "template", "operator", "__thread",
        "static_assert", "constexpr",    "public", "sizeof",   "else",     NULL};
    const size_t begin = i;
    bool type = false;
    while (i < end) {
        if (is_one_of(i, none)) return begin;
        if (is_one_of(i, with_brackets) && is(i + 1, "(")) {
            type |= is(i, "decltype") || is(i, "typeof") || is(i, "__typeof__");
            i = behind(i + 1);
        } else if (is(i, "[") && is(i + 1, "[")) {
            i = behind(i);
        } else if (is(i, "::")) {
            i++;
        } else if (is_name(i)) {
            const size_t next = is(i + 1, "<") ? behind_arguments(i + 1, end) : i + 1;
            const bool last = !is_name(next) && !is(next, "*") && !is(next, "&") &&
                              !is(next, "::") && !(is(next, "[") && is(next + 1, "["));
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
        while (is(i, "*") || is(i, "const") || is(i, "__restrict__") || is(i, "volatile")) i++;
        if (!is_name(i)) return;
        const size_t name = i++;
        const bool array = is(i, "[");
        while (is(i, "[")) i = behind(i);
        if (i == end || is(i, ",")) {
            if (!in_for || !array) insert(in_for ? i : end + 1, name, false, in_for);
        } else if (!in_for && (is(i, "{") || (is(i, "=") && is(i + 1, "{")))) {
            insert(end + 1, name, true, false);
        }
        i = find(i, end, ",") + 1;
    }
}

static void read_declaration(size_t i, size_t end, bool in_for) {
    const size_t declarators = behind_type(i, end);
    if (declarators > i && end + 1 < token_count) read_declarators(declarators, end, in_for);
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
    static const char *const classes[] = {"struct", "class", "union", "enum", NULL};
    bool declares = !in_switch; /* a declaration may begin here */
    for (i++; i < token_count && !is(i, "}");) {
        if (is(i, "{")) {
            i = read_block(i, false);
        } else if (is(i, "if") || is(i, "while") || is(i, "switch") || is(i, "for")) {
            const bool loop = is(i, "for"), cases = is(i, "switch");
            i += is(i + 1, "constexpr") ? 2 : 1;
            const size_t end = find(i + 1, behind(i) - 1, ";");
            if (loop && is(end, ";")) read_declaration(i + 1, end, true);
            i = behind(i);
            if (cases && is(i, "{")) i = read_block(i, true);
            declares = !in_switch && is(i, "{");
            continue;
        } else if (is(i, "else") || is(i, "do") || is(i, "try")) {
            i++;
            declares = false;
            continue;
        } else if (is(i, "case") || is(i, "default") || (is_name(i) && is(i + 1, ":"))) {
            i = find(i, token_count, ":") + 1;
            continue;
        } else {
            const size_t end = find(i, token_count, ";");
            if (declares && is_one_of(i, classes)) read_class(i, end);
            if (declares && !is_one_of(i, classes)) read_declaration(i, end, false);
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
        if (is(i, "=")) return false;
        if (is_one_of(i, with_brackets) && is(i + 1, "("))
            i++;
        else
            parameters |= is(i, "(");
    }
    return parameters;
}

/* Namespaces and classes have functions in them. */
static bool has_functions(size_t i, size_t brace) {
    static const char *const words[] = {"namespace", "struct", "class", "union", "extern", NULL};
    for (; i < brace; i = behind(i))
        if (is_one_of(i, words)) return true;
    return false;
}

static void read_scope(void) {
    size_t begin = 0; /* of a declaration */
    for (size_t i = 0; i < token_count;) {
        if (is(i, ";") || is(i, "}")) {
            begin = ++i;
        } else if (!is(i, "{")) {
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

static const char *read_all(FILE *file) {
    char *text = NULL;
    size_t room = 0;
    const ssize_t length = getdelim(&text, &room, '\0', file);
    if (!feof(file)) trouble("the text cannot be read"); /* or has a zero */
    return length < 0 ? "" : text;
}

int main(int argc, char **argv) {
    FILE *header = argc == 2 ? fopen(argv[1], "r") : NULL;
    if (!header) trouble("usage: insert local.h < kernel.ii > locals.ii");
    const char *prelude = read_all(header), *text = read_all(stdin);
    read_tokens(text);
    read_scope();
    if (!insertion_count) return 1;
    printf("# 1 \"local.h\" 3\n%s\n", prelude);
    for (size_t i = 0; i < insertion_count; i++) {
        fwrite(text, 1, (size_t)(insertions[i].at - text), stdout);
        text = insertions[i].at;
        print_insertion(&insertions[i], i + 1);
    }
    fputs(text, stdout);
    if (fflush(stdout) != 0 || ferror(stdout)) trouble("the text cannot be written");
    return 0;
}
