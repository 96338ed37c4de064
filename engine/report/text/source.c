/* Source: which file the program was built from, whether it has changed since, and the command to
 * try next. */
#define _GNU_SOURCE /* readlink */
#include "source.h"
#include "json.h"
#include "text.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The folder of the lab, or nothing, where it is the usual one; kernel.cu's name; and its text:
 * each with a zero byte behind it. A program that is built without it (the grader's plain one, the
 * tests') knows no source. */
extern const char kernel_source[] __attribute__((weak));
extern const char kernel_source_end[] __attribute__((weak));

static const char *behind(const char *text) { return text + strlen(text) + 1; }

const char *source_name(void) { return kernel_source ? behind(kernel_source) : NULL; }

bool source_is_of_another_lab(void) { return kernel_source && *kernel_source; }

const char *source_text(void) { return kernel_source ? behind(source_name()) : NULL; }

bool source_may_say(const char *word) { return !source_text() || strstr(source_text(), word); }

bool source_is(const char *file) {
    if (!source_name()) return false;
    const char *name = path_from_here(source_name());
    const size_t length = strlen(file), expected = strlen(name);
    return expected && length >= expected && strcmp(file + length - expected, name) == 0;
}

/* --- which array is indexed there ------------------------------------------------------------- */

enum { LINE_BYTES = 512 };

/* The replacement of an object-like macro of the file's own; null: the word names none. */
static const char *replacement(const char *word, size_t length, size_t *bytes) {
    for (const char *at = source_text(); (at = strstr(at, "#define"));) {
        at += strlen("#define");
        at += strspn(at, " \t");
        if (strncmp(at, word, length) != 0 || (at[length] != ' ' && at[length] != '\t')) continue;
        at += length + strspn(at + length, " \t");
        *bytes = strcspn(at, "\n");
        for (size_t i = 0; i < *bytes; ++i) /* a comment */
            if (at[i] == '/' && (at[i + 1] == '/' || at[i + 1] == '*')) *bytes = i;
        while (*bytes && strchr(" \t", at[*bytes - 1])) --*bytes;
        return at;
    }
    return NULL;
}

/* A line as the preprocessor writes it, which is what a compiler counts columns in. */
static void preprocess(const char *text, size_t length, char line[LINE_BYTES], int depth) {
    for (const char *at = text, *const end = text + length; at < end;) {
        const size_t spaces = strspn(at, " \t"), word = strspn(at, characters_of_words);
        size_t bytes = spaces ? spaces : word ? word : 1;
        const char *instead = word && depth ? replacement(at, word, &bytes) : NULL;
        if (instead)
            preprocess(instead, bytes, line, depth - 1);
        else
            append(line, LINE_BYTES, "%.*s", at > text && spaces ? 1 : (int)bytes, at);
        at += instead ? word : bytes;
    }
}

static const char *before_spaces(const char *begin, const char *at) {
    while (at > begin && strchr(" \t", at[-1])) --at;
    return at;
}

/* From behind a ] to the [ that it closes; null: not on this line. */
static const char *opening(const char *begin, const char *at) {
    for (int depth = 0; at > begin;) {
        --at;
        depth += (*at == ']') - (*at == '[');
        if (!depth) return at;
    }
    return NULL;
}

/* From behind the last ] to where the variable's name begins; null: there is none. */
static const char *first_name(const char *begin, const char *at) {
    for (;;) {
        while (at && at > begin && at[-1] == ']')
            if ((at = opening(begin, at))) at = before_spaces(begin, at);
        const char *const end = at;
        while (at && at > begin && strchr(characters_of_words, at[-1])) --at;
        if (at == end) return NULL;
        const char *const before = before_spaces(begin, at);
        if (before - begin >= 2 && before[-2] == '-' && before[-1] == '>') return NULL;
        if (before == begin || before[-1] != '.') return at;
        at = before_spaces(begin, before - 1);
    }
}

bool source_array_at(const char *file, int line, int column, char *name, size_t bytes) {
    char own[LINE_BYTES] = "";
    const char *text = source_is(file) ? text_line(source_text(), line) : NULL;
    if (text) preprocess(text, strcspn(text, "\n"), own, 2);
    if (column < 1 || strlen(own) < (size_t)column) return false;
    const char *at = own + column - 1;
    if (*at == ']')
        at = first_name(own, at + 1);
    else if (at > own && strchr(characters_of_words, at[-1]))
        at = NULL;
    const size_t length = at ? strspn(at, characters_of_words) : 0;
    const char *const behind = at ? at + length + strspn(at + length, " \t") : NULL;
    if (!length || (*behind != '[' && *behind != '.')) return false;
    snprintf(name, bytes, "%.*s", (int)length, at);
    return length < bytes;
}

/* --- whether it has changed ------------------------------------------------------------------- */

/* A relative name starts from where make ran, the program's own directory. */
static FILE *open_source(void) {
    char path[2 * PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", path, PATH_MAX);
    while (length > 0 && path[length - 1] != '/') length--;
    if (*source_name() == '/' || length < 0) length = 0;
    snprintf(path + length, PATH_MAX, "%s", source_name());
    struct stat status;
    bool regular = stat(path, &status) == 0 && S_ISREG(status.st_mode);
    return regular ? fopen(path, "rb") : NULL;
}

enum source_state source_state(void) {
    FILE *file = kernel_source ? open_source() : NULL;
    if (!file) return SOURCE_GONE;
    const char *text = source_text();
    bool same = true;
    for (int c = getc(file); same && c != EOF; c = getc(file))
        same = text < kernel_source_end && (unsigned char)*text++ == c;
    same = same && text == kernel_source_end && !ferror(file);
    fclose(file);
    return same ? SOURCE_UNCHANGED : SOURCE_CHANGED;
}

/* " KERNEL=...", quoted so that a shell reads this name; make takes it as it is. */
static void print_kernel(const char *name, FILE *out) {
    static const char plain[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./+-";
    bool quote = name[strspn(name, plain)] != '\0';
    fprintf(out, " KERNEL=%s", quote ? "'" : "");
    for (; *name; name++) {
        if (*name == '\'')
            fputs("'\\''", out);
        else
            putc(*name, out);
    }
    fputs(quote ? "'" : "", out);
}

/* What make takes where no KERNEL is given. */
static bool is_usual_kernel(void) {
    const size_t folder = strlen(kernel_source);
    return strncmp(source_name(), kernel_source, folder) == 0 &&
           strcmp(source_name() + folder, folder ? "/kernel.cu" : "kernel.cu") == 0;
}

void source_print_next(enum source_state state, const char *program, const char *rebuild,
                       const char *next, FILE *out) {
    if (!kernel_source) return;
    if (state == SOURCE_CHANGED) {
        bool color = use_color(out);
        fprintf(out, "%swarning:%s %s has changed since %s was built\n", color ? "\33[1;33m" : "",
                color ? "\33[0m" : "", source_name(), program);
        next = rebuild;
    }
    if (!next) return;
    fprintf(out, "next: %s", next);
    if (source_is_of_another_lab()) fprintf(out, " LAB=%s", kernel_source);
    if (!is_usual_kernel()) print_kernel(source_name(), out);
    fputc('\n', out);
}

void source_json(struct json *json, enum source_state state) {
    static const char *const changed[] = {"false", "true", "null"};
    if (!kernel_source) {
        json_text(json, "source", NULL);
        return;
    }
    json_open(json, "source", '{');
    json_text(json, "file", source_name());
    json_value(json, "changed", "%s", changed[state]);
    json_close(json, '}');
}
