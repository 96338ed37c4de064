/* Preprocessed C++ as tokens: for rewrite.c, which turns CUDA into C++, and for what reads its
 * output
 * (../watch/locals/insert.c). All of it in this file, since each of them is a program of one file.
 *
 * #define _GNU_SOURCE before it. */
#ifndef EMULATOR_TOKENS_H
#define EMULATOR_TOKENS_H
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum token_kind {
    IDENTIFIER,
    LITERAL,    /* number, string or character constant */
    PUNCTUATOR, /* one character, or one of :: -> <= >= ... */
    DIRECTIVE,  /* a whole line that starts with #, without its newline */
};

/* A token and what the rules want to be done to it; white space lies between tokens and is always
 * copied. The strings are NULL for nothing, and live as long as the program. */
struct token {
    size_t start;
    size_t length;
    const char *before;
    const char *replacement;
    const char *after;
    const char *marked; /* the replacement in the marked text, if it is another one */
    size_t parent;      /* the bracket that is open here, the innermost; NONE: none is */
    size_t partner; /* of a bracket the one that it closes, or that closes it; NONE: none does */
    enum token_kind kind;
    bool user;   /* in a file of the student's, not in a system header */
    bool device; /* in the body of a function that only a GPU runs */
    bool host;   /* in the body of one that the host can run */
};

struct source {
    char *text; /* with a zero behind it */
    size_t length;
    struct token *tokens;
    size_t count;
    size_t capacity;
    /* rewrite.c's: */
    struct piece *pieces; /* of the student's files */
    size_t piece_count;
    size_t piece_capacity;
    bool unbalanced; /* a bracket closes another kind of bracket than is open */
};

/* No token, or no place in the text: the first token has no characters, and is none. So what looks
 * at the neighbor of a token finds one, if only this. */
enum { NONE = 0 };

enum { EXIT_TROUBLE = 3 };

static inline _Noreturn void trouble(const char *what) {
    fprintf(stderr, "%s: %s\n", program_invocation_short_name, what);
    exit(EXIT_TROUBLE);
}

/* The array, twice as large if it is full. */
static inline void *with_room(void *array, size_t count, size_t *capacity, size_t element) {
    if (count < *capacity) return array;
    *capacity = *capacity ? *capacity * 2 : 1024;
    array = reallocarray(array, *capacity, element);
    if (!array) trouble("out of memory");
    return array;
}

static const char BLANKS[] = " \t\r\f\v";

static inline bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* Every byte above ASCII counts: identifiers may be in any alphabet. */
static inline bool is_identifier_char(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || is_digit(c) ||
           c == '$' || (unsigned char)c >= 0x80;
}

static inline size_t skip_blanks(const struct source *s, size_t at) {
    return at + strspn(s->text + at, BLANKS);
}

static inline size_t skip_identifier(const struct source *s, size_t at) {
    while (is_identifier_char(s->text[at])) at++;
    return at;
}

/* A number: 0x1F, 1.5f, 1'000'000. Of 1.5e-3f three tokens are made, which does no harm. */
static inline size_t skip_number(const struct source *s, size_t at) {
    const char *c = s->text + at;
    while (*c == '.' || is_identifier_char(*c) || (*c == '\'' && is_identifier_char(c[1]))) c++;
    return (size_t)(c - s->text);
}

/* A string or character constant, from its opening quote. One that is not closed ends with its
 * line, so that the lines after it are still read as code. */
static inline size_t skip_quoted(const struct source *s, size_t at) {
    char quote = s->text[at++];
    while (at < s->length && s->text[at] != '\n') {
        if (s->text[at] == quote) return at + 1;
        if (s->text[at] == '\\' && at + 1 < s->length && s->text[at + 1] != '\n') at++;
        at++;
    }
    return at;
}

/* R"delimiter(...)delimiter", from its quote; may go over many lines. */
static inline size_t skip_raw_string(const struct source *s, size_t at) {
    enum { LONGEST_DELIMITER = 16 }; /* C++ allows no longer one */
    const char *delimiter = s->text + at + 1;
    const size_t size = strcspn(delimiter, "(\"\n"), inside = at + size + 2; /* behind the ( */
    char end[LONGEST_DELIMITER + 3];
    if (delimiter[size] != '(' || size > LONGEST_DELIMITER) return skip_quoted(s, at);
    const int length = snprintf(end, sizeof end, ")%.*s\"", (int)size, delimiter);
    const char *found = memmem(s->text + inside, s->length - inside, end, (size_t)length);
    return found ? (size_t)(found - s->text) + (size_t)length : s->length;
}

/* Whether a text is one of these words, which blanks separate. */
static inline bool has_word(const char *words, const char *text, size_t length) {
    for (size_t own; *words; words += own + (words[own] == ' ')) {
        own = strcspn(words, " ");
        if (own == length && memcmp(words, text, length) == 0) return true;
    }
    return false;
}

/* Only what the rules must not take for several tokens: the > of -> or >= ends no launch. */
static inline size_t skip_punctuator(const struct source *s, size_t at) {
    static const char *const longer[] = {"::", "->", "<=", ">=", "..."};
    for (size_t i = 0; i < sizeof longer / sizeof *longer; i++) {
        const size_t length = strlen(longer[i]);
        if (strncmp(s->text + at, longer[i], length) == 0) return at + length;
    }
    return at + 1;
}

static inline size_t end_of_token(const struct source *s, size_t i) {
    return s->tokens[i].start + s->tokens[i].length;
}

/* What `# 12 "kernel.cu" 1 3` or `#line 12 "kernel.cu"` says about the line after it. */
struct linemarker {
    size_t line;
    size_t name; /* where the file's name starts, or NONE */
    size_t name_end;
    bool enters; /* a file that was included */
    bool system;
};

/* False: token i is neither. */
static inline bool read_linemarker(const struct source *s, size_t i, struct linemarker *m) {
    const size_t end = end_of_token(s, i);
    size_t at = skip_blanks(s, s->tokens[i].start + 1);
    char *behind;
    if (s->tokens[i].kind != DIRECTIVE) return false;
    if (strncmp(s->text + at, "line", 4) == 0) at = skip_blanks(s, at + 4);
    if (!is_digit(s->text[at])) return false;
    *m = (struct linemarker){.line = strtoul(s->text + at, &behind, 10)};
    at = skip_blanks(s, (size_t)(behind - s->text));
    if (s->text[at] != '"') return true;
    m->name = at + 1;
    at = skip_quoted(s, at);
    m->name_end = at - 1;
    for (; at < end; at++) {
        m->enters = m->enters || s->text[at] == '1';
        m->system = m->system || s->text[at] == '3';
    }
    return true;
}

/* Whether a marker names the file of the first one, the student's. What is a macro's there is the
 * system's for the preprocessor, and a marker that says so of more can be written in a file. */
static inline bool is_first_name(const struct source *s, const struct linemarker *m) {
    struct linemarker first;
    const size_t length = m->name_end - m->name;
    return read_linemarker(s, 1, &first) && first.name_end - first.name == length &&
           memcmp(s->text + first.name, s->text + m->name, length) == 0;
}

static inline void add_token(struct source *s, enum token_kind kind, size_t start, size_t end,
                             bool user) {
    s->tokens = with_room(s->tokens, s->count, &s->capacity, sizeof *s->tokens);
    s->tokens[s->count++] =
        (struct token){.start = start, .length = end - start, .kind = kind, .user = user};
}

/* The kind of the token that begins at this place, which is no directive, and where it ends. */
static inline enum token_kind read_token(const struct source *s, size_t at, size_t *end) {
    const char c = s->text[at];
    if (is_digit(c) || (c == '.' && is_digit(s->text[at + 1]))) {
        *end = skip_number(s, at);
        return LITERAL;
    }
    if (c == '"' || c == '\'') {
        *end = skip_quoted(s, at);
        return LITERAL;
    }
    if (!is_identifier_char(c)) {
        *end = skip_punctuator(s, at);
        return PUNCTUATOR;
    }
    *end = skip_identifier(s, at);
    if (s->text[*end] != '"' || !has_word("R LR uR UR u8R", s->text + at, *end - at))
        return IDENTIFIER;
    *end = skip_raw_string(s, *end);
    return LITERAL;
}

static inline void tokenize(struct source *s) {
    bool user = true, line_start = true;
    add_token(s, PUNCTUATOR, 0, 0, user); /* NONE */
    for (size_t at = 0, end; at < s->length; at = end) {
        const char c = s->text[at];
        end = at + 1;
        line_start = line_start || c == '\n';
        if (c == '\n' || memchr(BLANKS, c, sizeof BLANKS - 1)) continue;
        if (c == '#' && line_start) {
            struct linemarker m;
            while (end < s->length && s->text[end] != '\n') end++;
            add_token(s, DIRECTIVE, at, end, user);
            if (read_linemarker(s, s->count - 1, &m) && m.name != NONE)
                user = !m.system || is_first_name(s, &m);
        } else {
            const enum token_kind kind = read_token(s, at, &end);
            add_token(s, kind, at, end, user);
            line_start = false;
        }
    }
}

/* --- places in the list ----------------------------------------------------------------------- */

/* The neighbors that the compiler sees: linemarkers can be anywhere, even inside a launch. */
static inline size_t next_token(const struct source *s, size_t i) {
    while (++i < s->count)
        if (s->tokens[i].kind != DIRECTIVE) return i;
    return NONE;
}

static inline size_t previous_token(const struct source *s, size_t i) {
    while (i > 0 && s->tokens[--i].kind == DIRECTIVE) continue;
    return i;
}

/* Whether token i is one of these words and signs, which blanks separate. */
static inline bool is(const struct source *s, size_t i, const char *words) {
    const struct token *t = &s->tokens[i];
    return (t->kind == IDENTIFIER || t->kind == PUNCTUATOR) &&
           has_word(words, s->text + t->start, t->length);
}

static inline bool is_identifier(const struct source *s, size_t i) {
    return s->tokens[i].kind == IDENTIFIER;
}

/* The character of a punctuator of one character, else 0. */
static inline char punctuator(const struct source *s, size_t i) {
    const struct token *t = &s->tokens[i];
    return t->kind == PUNCTUATOR && t->length == 1 ? s->text[t->start] : '\0';
}

static inline bool opens(char c) { return c == '(' || c == '[' || c == '{'; }
static inline bool closes(char c) { return c == ')' || c == ']' || c == '}'; }

/* --- the text --------------------------------------------------------------------------------- */

static inline void read_input(struct source *s, FILE *in) {
    size_t capacity = 0, got;
    do {
        s->text = with_room(s->text, s->length + 1, &capacity, 1);
        got = fread(s->text + s->length, 1, capacity - s->length - 1, in);
        s->length += got;
    } while (got > 0);
    s->text[s->length] = '\0';
    if (ferror(in)) trouble("cannot read its input");
}

#endif
