/* Reads the structure of a text: see explain.h. A parser of statements; expressions are skipped,
 * but for the functions (lambdas) in them. */
#define _GNU_SOURCE
#include "../report/text/source.h"
#include "explain.h"
#include <ctype.h>
#include <string.h>

enum { MOST_NESTED = 100 };

/* An identifier or number, or one other character. */
struct token {
    const char *at;
    int length, line; /* length 0: the end */
};

struct parser {
    struct structure *to;
    const char *text, *at;
    int line, last_line; /* last_line: of the token before */
    bool line_begins;    /* nothing but white space so far: a # begins a directive */
    int nested;
    bool failed;
    struct token token;
};

/* --- tokens ----------------------------------------------------------------------------------- */

/* One character further. */
static void step(struct parser *p) {
    if (*p->at == '\n') {
        p->line++;
        p->line_begins = true;
    } else if (!isspace((unsigned char)*p->at)) {
        p->line_begins = false;
    }
    p->at++;
}

/* Up to this character, or the end of the line, which a \ continues. */
static void skip_to(struct parser *p, char end) {
    for (; *p->at && *p->at != end && *p->at != '\n'; step(p))
        if (*p->at == '\\' && p->at[1]) step(p);
}

static void skip_what_is_no_token(struct parser *p) {
    for (;;) {
        const char c = *p->at;
        if (isspace((unsigned char)c)) {
            step(p);
        } else if ((c == '#' && p->line_begins) || (c == '/' && p->at[1] == '/')) {
            skip_to(p, '\n');
        } else if (c == '/' && p->at[1] == '*') {
            step(p), step(p);
            while (*p->at && !(p->at[0] == '*' && p->at[1] == '/')) step(p);
            if (*p->at) step(p), step(p);
        } else if (c == '"' || c == '\'') {
            step(p);
            skip_to(p, c);
            if (*p->at == c) step(p);
        } else {
            return;
        }
    }
}

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

static void next(struct parser *p) {
    p->last_line = p->token.line;
    skip_what_is_no_token(p);
    p->token = (struct token){p->at, 0, p->line};
    if (!*p->at) return;
    do step(p);
    while (is_word(p->at[-1]) && (is_word(*p->at) || (*p->at == '\'' && isdigit(p->at[-1]))));
    p->token.length = (int)(p->at - p->token.at);
}

static bool at_end(const struct parser *p) { return !p->token.length; }

static bool is(const struct parser *p, const char *text) {
    return p->token.length == (int)strlen(text) &&
           strncmp(p->token.at, text, (size_t)p->token.length) == 0;
}

/* --- what is found ---------------------------------------------------------------------------- */

static struct construct *add(struct parser *p, enum construct_kind kind, int first) {
    static struct construct no_room;
    if (p->to->count == CONSTRUCTS) p->failed = true;
    struct construct *c = p->failed ? &no_room : &p->to->constructs[p->to->count++];
    *c = (struct construct){.kind = kind, .first = first, .last = p->last_line};
    return c;
}

static void note_barrier(struct parser *p) {
    static const char name[] = "__syncthreads";
    if (p->token.length < (int)strlen(name) || strncmp(p->token.at, name, strlen(name)) != 0)
        return;
    if (p->to->barriers == BARRIERS)
        p->failed = true;
    else
        p->to->barrier[p->to->barriers++] = p->token.line;
}

/* --- statements ------------------------------------------------------------------------------- */

static void statement(struct parser *p);

static void expect(struct parser *p, const char *text) {
    if (is(p, text))
        next(p);
    else
        p->failed = true;
}

static void block(struct parser *p) {
    expect(p, "{");
    if (++p->nested > MOST_NESTED) p->failed = true;
    while (!p->failed && !at_end(p) && !is(p, "}")) statement(p);
    p->nested--;
    expect(p, "}");
}

/* From one round bracket to its match. */
static void condition(struct parser *p) {
    int depth = 0;
    do {
        depth += is(p, "(") - is(p, ")");
        note_barrier(p);
        next(p);
    } while (depth > 0 && !at_end(p));
    if (depth) p->failed = true;
}

/* How far a token's line is indented. */
static int indentation(const struct parser *p, const struct token *t) {
    const char *line = t->at;
    while (line > p->text && line[-1] != '\n') line--;
    return (int)strspn(line, " \t");
}

/* The body of what begins with this keyword. Returns the line of what comes next, if the body is a
 * ; alone, and what comes next looks like the body: it is in braces, or further to the right. */
static int body(struct parser *p, const struct token *keyword) {
    const bool empty = is(p, ";");
    const int end = p->token.line;
    statement(p);
    const bool like_body =
        is(p, "{") || (p->token.line > end && indentation(p, &p->token) > indentation(p, keyword));
    return empty && like_body && !at_end(p) && !is(p, "}") ? p->token.line : 0;
}

static bool is_name(const struct token *t) {
    return t->length && is_word(*t->at) && !isdigit((unsigned char)*t->at);
}

static bool same(const struct token *a, const struct token *b) {
    return a->length == b->length && strncmp(a->at, b->at, (size_t)a->length) == 0;
}

/* Goes past what is before the condition of a for. Returns the last name that is declared there. */
static struct token declaration(struct parser *p) {
    struct token before = {0}, declared = {0};
    bool is_one = false; /* it begins with two names: a type and a variable */
    for (int i = 0; !at_end(p) && !is(p, ";"); i++, next(p)) {
        if (i == 1) is_one = is_name(&before) && is_name(&p->token);
        if (is_one && is(p, "=")) declared = before;
        before = p->token;
    }
    next(p);
    return declared;
}

/* Notes whether the loop goes on while a variable is less, or greater, than itself. `p`: behind the
 * keyword. */
static void note_itself(struct parser p, bool is_for, struct construct *c) {
    struct token declared = {0};
    next(&p);
    if (is_for) declared = declaration(&p);
    const struct token left = p.token;
    next(&p);
    const bool compares = is(&p, "<") || is(&p, ">");
    next(&p);
    if (!compares || !is_name(&left) || !same(&left, &p.token) || left.length >= COMPARED) return;
    next(&p);
    if (!is(&p, is_for ? ";" : ")")) return;
    memcpy(c->itself, left.at, (size_t)left.length);
    c->declares_it = same(&declared, &left);
}

static void loop(struct parser *p) {
    const struct token keyword = p->token;
    const bool tested_last = is(p, "do"), is_for = is(p, "for");
    int cut_off = 0;
    next(p);
    const struct parser begin = *p;
    if (tested_last) {
        statement(p);
        expect(p, "while");
        condition(p);
        expect(p, ";");
    } else {
        condition(p);
        cut_off = body(p, &keyword);
    }
    struct construct *added = add(p, CONSTRUCT_LOOP, keyword.line);
    added->cut_off = cut_off;
    if (!tested_last) note_itself(begin, is_for, added);
}

static void branch(struct parser *p) {
    const struct token keyword = p->token;
    next(p);
    if (is(p, "constexpr")) next(p);
    condition(p);
    const int condition = p->last_line;
    int cut_off = body(p, &keyword), other = 0;
    if (is(p, "else")) {
        other = p->token.line;
        next(p);
        statement(p);
        cut_off = 0;
    }
    struct construct *added = add(p, CONSTRUCT_IF, keyword.line);
    added->cut_off = cut_off;
    added->condition = condition;
    added->other = other;
}

static void add_function(struct parser *p, int first, bool kernel, const struct token *name) {
    struct construct *c = add(p, CONSTRUCT_FUNCTION, first);
    c->kernel = kernel;
    c->name = name->at;
    c->name_length = is_name(name) ? name->length : 0;
}

/* A declaration or expression, up to its semicolon; a function, up to its end. */
static void other(struct parser *p) {
    const int first = p->token.line;
    const struct token none = {0};
    struct token before = none, name = none; /* of a function, or of what is set to a lambda */
    int depth = 0;
    bool parameters = false; /* a list in brackets has ended; since then, words and a type */
    bool kernel = false, lambda = false;
    while (!p->failed && !at_end(p)) {
        if (is(p, "{")) {
            block(p);
            if (parameters) add_function(p, first, kernel && depth == 0, depth ? &none : &name);
            if (depth == 0) return;
            continue;
        }
        if (is(p, "}") && depth == 0) return;
        const bool end = is(p, ";") && depth == 0;
        lambda |= depth == 0 && is(p, "[") && same(&before, &(struct token){"=", 1, 0});
        if (depth == 0 && !lambda && (is(p, "(") || is(p, "="))) name = before;
        before = p->token;
        depth += is(p, "(") + is(p, "[") - is(p, ")") - is(p, "]");
        if (depth < 0 || is(p, "}")) p->failed = true;
        parameters =
            is(p, ")") || (parameters && (is_word(*p->token.at) || strchr("<>:&*-", *p->token.at)));
        kernel |= is(p, "__global__");
        note_barrier(p);
        next(p);
        if (end) return;
    }
}

static void statement(struct parser *p) {
    if (++p->nested > MOST_NESTED) p->failed = true;
    if (p->failed || at_end(p))
        p->failed = true;
    else if (is(p, "{"))
        block(p);
    else if (is(p, "for") || is(p, "while") || is(p, "do"))
        loop(p);
    else if (is(p, "if"))
        branch(p);
    else if (is(p, "switch"))
        next(p), condition(p), statement(p);
    else
        other(p);
    p->nested--;
}

static struct parser at_begin_of(const char *text) {
    return (struct parser){.text = text, .at = text, .line = 1, .line_begins = true};
}

bool structure_read(struct structure *s, const char *text) {
    struct parser p = at_begin_of(text);
    p.to = s;
    s->text = text;
    s->count = s->barriers = 0;
    next(&p);
    while (!p.failed && !at_end(&p)) {
        if (is(&p, "}")) p.failed = true;
        if (!p.failed) statement(&p);
    }
    if (p.failed) s->count = s->barriers = 0;
    return !p.failed;
}

const struct structure *structure_of(const char *file) {
    static struct structure structure;
    static bool read, known;
    if (!source_is(file)) return NULL;
    if (!read) known = structure_read(&structure, source_text());
    read = true;
    return known ? &structure : NULL;
}

/* --- asking ----------------------------------------------------------------------------------- */

static bool has(const struct construct *c, int line) { return c->first <= line && line <= c->last; }

const struct construct *structure_innermost(const struct structure *s, enum construct_kind kind,
                                            int line, int with, int without) {
    for (int i = 0; i < s->count; ++i) {
        const struct construct *c = &s->constructs[i];
        if (c->kind == kind && has(c, line) && has(c, with) && !has(c, without)) return c;
    }
    return NULL;
}

const struct construct *structure_outermost(const struct structure *s, enum construct_kind kind,
                                            int line, int without) {
    for (int i = s->count - 1; i >= 0; --i) {
        const struct construct *c = &s->constructs[i];
        if (c->kind == kind && has(c, line) && !has(c, without)) return c;
    }
    return NULL;
}

int structure_barrier_between(const struct structure *s, int first, int last) {
    for (int i = 0; i < s->barriers; ++i)
        if (first <= s->barrier[i] && s->barrier[i] <= last) return s->barrier[i];
    return 0;
}

/* Goes on to the next token of these lines. */
static bool next_within(struct parser *p, const struct construct *c) {
    do next(p);
    while (!at_end(p) && p->token.line < c->first);
    return !at_end(p) && p->token.line <= c->last;
}

static bool is_any(const struct parser *p, const char *const words[]) {
    while (*words && !is(p, *words)) words++;
    return *words;
}

/* Whether a preprocessor's line has these letters, or includes a file that may have them. */
static bool may_be_in_macro(const char *text, const char *letters, int length) {
    for (const char *line = text, *end; *line; line = end + (*end != '\0')) {
        end = line + strcspn(line, "\n");
        if (line[strspn(line, " \t")] != '#') continue;
        while (*end && end > line && end[-1] == '\\') end += 1 + strcspn(end + 1, "\n");
        if (memmem(line, (size_t)(end - line), letters, (size_t)length) ||
            memmem(line, (size_t)(end - line), "include \"", 9))
            return true;
    }
    return false;
}

bool structure_leaves(const struct structure *s, const struct construct *function, int first,
                      int last) {
    static const char *const words[] = {"return", "goto", "asm", "__asm__", NULL};
    const struct construct lines = {.first = first, .last = last};
    struct parser p = at_begin_of(s->text);
    for (int i = 0; words[i]; ++i)
        if (may_be_in_macro(s->text, words[i], (int)strlen(words[i]))) return true;
    while (next_within(&p, &lines))
        if (is_any(&p, words) && structure_around(s, CONSTRUCT_FUNCTION, p.token.line) == function)
            return true;
    return false;
}

/* A token behind an element: = alone, or behind an operator; or ++, --. */
static bool assigns(const char *at) {
    if (*at == '=') return at[1] != '=';
    return (strchr("+-*/%&|^", *at) && at[1] == '=') || (strchr("+-", *at) && at[1] == *at);
}

int structure_store(const struct structure *s, const struct construct *in, const char *name) {
    struct parser p = at_begin_of(s->text);
    int found = 0, line = 0, depth = 0;
    bool indexed = false;
    while (next_within(&p, in)) {
        if (!depth && is(&p, name)) {
            line = p.token.line;
            indexed = false;
        } else if (line && (is(&p, "[") || is(&p, "]"))) {
            depth += is(&p, "[") - is(&p, "]");
            indexed = true;
        } else if (!depth) {
            if (line && indexed && assigns(p.token.at)) found = line;
            line = 0;
        }
        if (depth < 0) line = depth = 0; /* it is in the index of another array */
    }
    return found;
}

static bool is_only_one(const struct structure *s, const struct construct *function) {
    if (!function->name_length) return false;
    for (int i = 0; i < s->count; ++i) {
        const struct construct *c = &s->constructs[i];
        if (c != function && c->name_length == function->name_length &&
            memcmp(c->name, function->name, (size_t)c->name_length) == 0)
            return false;
    }
    return !may_be_in_macro(s->text, function->name, function->name_length);
}

/* Any mention of its name counts as a call. */
int structure_next_call(const struct structure *s, const struct construct *function, int line,
                        int after) {
    const struct construct *called = structure_around(s, CONSTRUCT_FUNCTION, line);
    struct parser p = at_begin_of(s->text);
    if (!called || called == function || !is_only_one(s, called)) return 0;
    while (next_within(&p, function)) {
        if (p.token.line > after && !has(called, p.token.line) &&
            p.token.length == called->name_length &&
            memcmp(p.token.at, called->name, (size_t)called->name_length) == 0)
            return p.token.line;
    }
    return 0;
}

int structure_line_in(const struct structure *s, const struct construct *function, int line) {
    if (structure_around(s, CONSTRUCT_FUNCTION, line) == function) return line;
    const int call = structure_next_call(s, function, line, 0);
    const bool only = call && !structure_next_call(s, function, line, call);
    return only && structure_around(s, CONSTRUCT_FUNCTION, call) == function ? call : 0;
}
