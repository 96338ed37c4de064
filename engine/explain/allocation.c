/* Names of allocations, from the line of source that made them: see explain.h.
 *
 * A program that carries its source along has it at hand; headers are read where they lie. Of
 * several calls in one line, the first to stand there is taken for the first in the program's code.
 */
#define _GNU_SOURCE
#include "../cuda/program/program.h"
#include "../report/text/source.h"
#include "../report/text/text.h"
#include "explain.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const char function[] =
    "cudaMalloc"; /* and what begins so: cudaMallocManaged, Pitch, Async */

/* --- the source ------------------------------------------------------------------------------- */

static char *whole_file(const char *path) {
    char *text = NULL;
    size_t bytes = 0;
    FILE *file = fopen(path, "re");
    if (!file) return NULL;
    if (getdelim(&text, &bytes, '\0', file) < 0) {
        free(text);
        text = NULL;
    }
    fclose(file);
    return text;
}

static const char *line_of(const char *text, int line) {
    while (text && --line > 0) {
        text = strchr(text, '\n');
        if (text) text++;
    }
    return text;
}

/* The number-th call, from 0, that begins in this line; null: there is none. What follows its name.
 */
static const char *call_in(const char *line, int number) {
    const char *end = line + strcspn(line, "\n"), *at = line;
    while ((at = strstr(at, function)) && at < end) {
        const bool begins = at == line || !(isalnum((unsigned char)at[-1]) || at[-1] == '_');
        at += strlen(function);
        at += strspn(at, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz");
        if (*at == '<') at += strcspn(at, "(\n"); /* cudaMalloc<float>( */
        at += strspn(at, " ");
        if (begins && *at == '(' && number-- == 0) return at + 1;
    }
    return NULL;
}

static bool has_semicolon(const char *begin, const char *end) {
    return memchr(begin, ';', (size_t)(end - begin)) != NULL;
}

/* The number-th call of this line; or the one of a statement that begins some lines above the one
 * that the compiler names, or goes on in the next. */
static const char *call_near(const char *text, int line, int number) {
    enum { LINES_ABOVE = 3 };
    const char *here = line_of(text, line);
    if (!here) return NULL;
    if (call_in(here, 0)) return call_in(here, number);
    for (int above = 1; above <= LINES_ABOVE && above < line; above++) {
        const char *found = call_in(line_of(text, line - above), 0);
        if (found) return has_semicolon(found, here) ? NULL : found;
    }
    const char *next = line_of(here, 2);
    return next && !has_semicolon(here, next) ? call_in(next, 0) : NULL;
}

/* --- the argument ----------------------------------------------------------------------------- */

static const char *after_spaces(const char *at) { return at + strspn(at, " \t\n"); }

static const char *after_parenthesis(const char *open) {
    int depth = 0;
    for (const char *at = open; *at; at++) {
        if (*at == '(') depth++;
        if (*at == ')' && --depth == 0) return at + 1;
    }
    return open + strlen(open);
}

/* Behind casts: (void **)&p, reinterpret_cast<void **>(&p). */
static const char *after_casts(const char *at) {
    at = after_spaces(at);
    for (const char *word = strstr(at, "_cast"); word == at + strcspn(at, "_ (&,");) {
        at = after_spaces(at + strcspn(at, "("));
        return *at == '(' ? after_spaces(at + 1) : at;
    }
    while (*at == '(') {
        const char *inside = after_spaces(at + 1);
        const char *behind = after_spaces(after_parenthesis(at));
        const bool cast = *behind == '&' || *behind == '(' || isalpha((unsigned char)*behind);
        at = cast ? behind : inside; /* (&p) is no cast */
    }
    return at;
}

/* "d_in" of "&d_in, bytes)": up to the comma or parenthesis that ends the argument. */
static bool take_variable(const char *argument, char *text, size_t size) {
    const char *at = after_casts(argument);
    size_t used = 0;
    int depth = 0;
    if (*at == '&') at = after_spaces(at + 1);
    for (; *at && *at != '\n' && used + 1 < size; at++) {
        if (depth == 0 && (*at == ',' || *at == ')')) break;
        depth += (*at == '(' || *at == '[') - (*at == ')' || *at == ']');
        if (*at != ' ') text[used++] = *at;
    }
    text[used] = '\0';
    return used && depth == 0 && (isalpha((unsigned char)text[0]) || text[0] == '_');
}

/* --- which call ------------------------------------------------------------------------------- */

static struct place place_of(const struct region *r) {
    return place_find(r->frames, r->frame_count);
}

/* The innermost frame in the program's own functions. */
static uintptr_t caller_of(const struct region *r) {
    for (int i = 0; i < r->frame_count; i++)
        if (program_is_kernels_code((uintptr_t)r->frames[i])) return (uintptr_t)r->frames[i];
    return 0;
}

/* How many calls in the same line come before this one in the program's code. */
static int calls_before(const struct region *r, const struct place *place) {
    const uintptr_t own = caller_of(r);
    uintptr_t seen[8] = {0};
    int count = 0;
    for (const struct region *other = region_first(); other; other = other->next) {
        const uintptr_t caller = caller_of(other);
        bool counted = caller >= own;
        for (int i = 0; i < count; i++) counted |= seen[i] == caller;
        if (counted || count == (int)(sizeof seen / sizeof *seen)) continue;
        const struct place there = place_of(other);
        if (place_same_line(&there, place)) seen[count++] = caller;
    }
    return count;
}

/* Calls of a host's code outside of kernel.cu have no caller in it, but lines. */
static bool is_only(const struct region *r, const struct place *place) {
    const uintptr_t own = caller_of(r);
    for (const struct region *other = region_first(); other; other = other->next) {
        if (other == r || caller_of(other) != own) continue;
        const struct place there = place_of(other);
        if (own || place_same_line(&there, place)) return false;
    }
    return true;
}

bool allocation_name(const struct region *r, struct allocation_name *name) {
    const struct place place = place_of(r);
    if (!place.line) return false;
    char *read = source_name() && source_is(place.file) ? NULL : whole_file(place.file);
    const char *text = source_name() && source_is(place.file) ? source_text() : read;
    const char *argument = text ? call_near(text, place.line, calls_before(r, &place)) : NULL;
    const bool found = argument && take_variable(argument, name->text, sizeof name->text);
    free(read);
    if (!found) return false;
    name->element = name_points_to(name->text);
    name->only = is_only(r, &place);
    return true;
}
